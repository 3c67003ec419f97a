"""What the sibling benchmarks share: reading files, counts behind printed rates, paired means, tables."""

from __future__ import annotations

import gzip
import io
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from icgkit.errors import SchemaError
from icgkit.files import MAX_BYTES, read_file
from icgkit.metrics.intervals import Bootstrap
from icgkit.metrics.mean import mean
from icgkit.report.published import counts
from icgkit.report.tables import Table, typeset
from icgkit.untrusted import json_value

COUNT = ("k", "k_low", "k_high", "low", "high")


def texts(*columns: str) -> dict[str, Any]:
    """Return a schema of text columns."""
    return dict.fromkeys(columns, pl.String)


def listed(rows: Sequence[Any], *columns: str) -> pl.DataFrame:
    """Return tuples of text, such as problems, as a frame."""
    return pl.DataFrame(rows, schema=texts(*columns), orient="row")


def read_json(path: Path) -> Any:
    """Read a JSON file that others wrote."""
    return json_value(read_file(path), path.name)


def read_list(path: Path, what: str) -> list[Any]:
    """Read a JSON list of objects; `what` names them in the error."""
    data = read_json(path)
    if not isinstance(data, list) or not all(isinstance(record, dict) for record in data):
        raise SchemaError(f"{path.name}: not a list of {what}", got=type(data).__name__)
    return data


def json_lines(path: Path, name: str = "") -> Iterator[tuple[int, str, Any]]:
    """Yield number, place in words and value of each line of a JSONL file, plain or .gz."""
    name, data = name or path.name, read_file(path)
    if path.suffix == ".gz":
        try:
            with gzip.open(io.BytesIO(data)) as stream:
                data = stream.read(MAX_BYTES + 1)
        except (OSError, EOFError, zlib.error) as exc:
            raise SchemaError(f"{name}: no whole gzip file: {exc}", remedy="fetch the file again") from None
        if len(data) > MAX_BYTES:
            raise SchemaError(f"{name}: too large once unpacked", allowed=f"at most {MAX_BYTES:,} bytes")
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            place = f"{name}, line {number}"
            yield number, place, json_value(line, place)


def need_columns(frame: pl.DataFrame, need: Sequence[str], what: str) -> None:
    """Raise if a frame lacks a column."""
    if absent := [c for c in need if c not in frame.columns]:
        raise SchemaError(f"{what}: missing column {', '.join(absent)}", got=frame.columns, allowed=need)


def inner(record: Any, name: str) -> dict[str, Any]:
    """Return the object that a record holds under a name; empty if there is none."""
    found = record.get(name) if isinstance(record, dict) else None
    return found if isinstance(found, dict) else {}


def flag(record: Mapping[str, Any], name: str) -> bool | None:
    """Return a truth value of a record; None for anything else."""
    value = record.get(name)
    return value if isinstance(value, bool) else None


def with_whole(
    rows: pl.DataFrame, column: str, score: Callable[[pl.DataFrame], pl.DataFrame], name: str = "all"
) -> pl.DataFrame:
    """Score all rows together (`column` says `name`), then by the column."""
    return pl.concat([score(rows.with_columns(pl.lit(name).alias(column))), score(rows)])


def count_of(value: float | None, n: int, *, decimals: int = 1, level: float = 0.95) -> dict[str, Any]:
    """Return the count of n that a printed percentage stands for.

    `k` (None if several fit, or none), `k_low`, `k_high` (least and greatest that fits), `low`, `high`
    (percent, Clopper-Pearson over all that fit); see `report.published.counts`.
    """
    fit = pl.DataFrame() if value is None else counts(value, n, decimals=decimals, level=level)
    if fit.is_empty():
        return dict.fromkeys(COUNT)
    first, last = fit.row(0, named=True), fit.row(-1, named=True)
    only = first["k"] if fit.height == 1 else None
    return dict(zip(COUNT, (only, first["k"], last["k"], first["low"], last["high"]), strict=True))


def paired_means(
    sides: pl.DataFrame, first: str, second: str, *, by: Sequence[str], ci: Bootstrap
) -> pl.DataFrame:
    """Average the difference of two columns over the rows that have both, and the columns over these rows.

    The columns `by`, `estimate` (second minus first), `low`, `high`, `n_pairs`, `n_missing`, `status`, both
    means.
    """
    whole = pl.col(first).is_not_null() & pl.col(second).is_not_null()
    both = sides.with_columns(
        pl.when(whole).then(first).alias(first), pl.when(whole).then(second).alias(second),
        _difference=pl.col(second) - pl.col(first),
    )  # fmt: skip
    wide = mean(both, ["_difference", first, second], by=list(by), ci=ci)
    out = wide.filter(measure="_difference").rename({"n_scored": "n_pairs"})
    out = out.select(*by, "estimate", "low", "high", "n_pairs", "n_missing", "status")
    for side in (first, second):
        one = wide.filter(measure=side).select(*by, pl.col("estimate").alias(side))
        out = out.join(one, on=list(by), how="left", nulls_equal=True, maintain_order="left")
    return out


@cache
def _words() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))


def note(benchmark: str) -> str:
    """Return what has to be said of our rows beside a benchmark's published ones."""
    return str(_words()["note"][benchmark])


def table(frame: pl.DataFrame, id: str, **values: Any) -> Table:
    """Typeset a frame with the words of `tables.toml` for this id; `values` fill what stands in braces."""
    values |= {"note": _words()["note"].get(id.split("-")[1])}
    told = _words()[id]
    told = _words()[told["like"]] | told if "like" in told else told
    spans = {c: over for over, columns in told.get("spanners", {}).items() for c in columns}
    formats = {c: spec for spec, columns in told.get("formats", {}).items() for c in columns}
    return typeset(
        frame, id=id, columns=told.get("columns"), spanners=spans,
        headers=_words()["headers"] | told.get("headers", {}),
        formats={c: spec for c, spec in formats.items() if c in frame.columns},
        caption=told["caption"].format(**values), notes=[note.format(**values) for note in told["notes"]],
    )  # fmt: skip
