"""What a cache folder records: of which dataset, with which cases, the responses and the verdicts in it."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.calls.cache import Cache
from icgkit.cases.dataset import Dataset, load_dataset
from icgkit.errors import SchemaError, UnknownName
from icgkit.files import folder_of, named_folder, project_root, read_file, read_parquet
from icgkit.schemas import schema
from icgkit.untrusted import json_value, toml_table

if TYPE_CHECKING:
    import polars as pl

RUN, CASES = "run.toml", "cases.json"


def case_hashes(dataset: Dataset) -> dict[str, str]:
    """Return a hash of every case as it is written (16 hex digits), by id."""
    return {c.id: hashlib.sha256(c.to_json().encode()).hexdigest()[:16] for c in dataset}


def cases_sha256(hashes: Mapping[str, str]) -> str:
    """Return the hash of a dataset's cases, whatever their order (32 hex digits)."""
    text = "\n".join(f"{h} {name}" for name, h in sorted(hashes.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read_run(folder: Path) -> dict[str, Any]:
    """Return the content of a cache's run.toml, nothing if it has none."""
    path = folder / RUN
    return toml_table(read_file(path), str(path)) if path.is_file() else {}


def read_hashes(folder: Path) -> dict[str, dict[str, str]]:
    """Return the hash of each case of each dataset that a cache was made with."""
    path = folder / CASES
    if not path.is_file():
        return {}
    found = json_value(read_file(path).decode("utf-8", "replace"), str(path))
    if not isinstance(found, dict):
        raise SchemaError(f"{path}: not an object")
    return {str(k): {str(i): str(h) for i, h in v.items()} for k, v in found.items() if isinstance(v, dict)}


def table_of(meta: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return a table of run.toml, empty where it has none (older versions) or something else there."""
    found: Any = meta
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return dict(found) if isinstance(found, Mapping) else {}


def dataset_folder(folder: Path, meta: Mapping[str, Any] | None = None) -> Path | None:
    """Return where a cache's dataset lies, by what run.toml says; None if it says nothing or it is gone."""
    meta = read_run(folder) if meta is None else meta
    name = meta.get("dataset")
    if not isinstance(name, str) or not name:
        return None
    known = table_of(meta, "datasets", name).get("folder")
    places = []
    if isinstance(known, str) and known:
        places = [folder_of("cases", known, folder)]
    places.append(folder_of("cases", name))
    return next((p for p in places if p.is_dir()), None)


def dataset_of(folder: Path, given: str | Path = "") -> Dataset:
    """Load the dataset that a cache was made with, or the given one if its cases are the same."""
    meta = read_run(folder)
    if given:
        data = load_dataset(given)
    else:
        place = dataset_folder(folder, meta)
        if place is None and not meta.get("dataset"):
            raise SchemaError(f"{folder / RUN} names no dataset", remedy="say which with --dataset")
        if place is None:
            known = table_of(meta, "datasets", str(meta["dataset"])).get("folder")
            base = project_root() / "data" / "cases"
            raise UnknownName(
                f"cache {folder.name} was made with dataset {meta['dataset']!r}"
                + (f" in {known}" if known else "") + ", which is not there",
                allowed=[p.name for p in sorted(base.glob("*")) if p.is_dir()],
                remedy="say where it is now: --dataset FOLDER (for reproduce: --param dataset=FOLDER)",
            )  # fmt: skip
        data = load_dataset(place)
    check_cases(folder, data, meta)
    return data


def differing(folder: Path, dataset: Dataset) -> tuple[list[str], list[str]]:
    """Return the ids of cases that have changed since they were asked about, and of those that are gone."""
    then, now = read_hashes(folder).get(dataset.name, {}), case_hashes(dataset)
    return [i for i, h in then.items() if i in now and now[i] != h], [i for i in then if i not in now]


def check_cases(folder: Path, dataset: Dataset, meta: Mapping[str, Any] | None = None) -> None:
    """Refuse a dataset whose cases are others than those that a cache was made with; further ones are fine."""
    meta = read_run(folder) if meta is None else meta
    known = table_of(meta, "datasets", dataset.name)
    if not known or known.get("cases_sha256") == cases_sha256(case_hashes(dataset)):
        return
    changed, gone = differing(folder, dataset)
    if not changed and not gone:
        return
    shown = ", ".join([*changed, *gone][:5]) + (", ..." if len(changed) + len(gone) > 5 else "")
    where = dataset.folder or dataset.name
    raise SchemaError(
        f"cache {folder.name} was made with other cases of dataset {dataset.name!r}: {len(changed)} differ and "
        f"{len(gone)} are gone ({shown}); they were read from {known.get('folder')}",
        remedy="use the cases as they were (--dataset), or another cache (--cache); or, if the answers hold for "
        f"the cases as they are now: icgkit judge --cache {shlex.quote(str(folder))} --dataset {shlex.quote(str(where))} --accept-cases, which "
        "judges them anew and drops verdicts on the old ones",
    )


def load_responses(
    cache: str | Path, *, kind: str = "elicit", stage: str | None = None, dataset: str | None = None
) -> pl.DataFrame:
    """Read recorded responses from a cache folder (schema `responses`).

    Parameters
    ----------
    cache : str or path
        Name below `data/cache/`, or a folder.
    kind, stage, dataset : str, optional
        Which records: `elicit` for responses, `stage` or `judge` for others, with the name of the
        stage; all datasets unless one is named.

    Returns
    -------
    polars.DataFrame
        One row a call. Where a case was asked again with other words or parameters, the latest
        record counts.
    """
    import polars as pl

    frame = Cache(named_folder("cache", cache), mode="replay").frame().filter(pl.col("kind") == kind)
    if stage is not None:
        frame = frame.filter(pl.col("stage") == stage)
    if dataset is not None:
        frame = frame.filter(pl.col("dataset") == dataset)
    wanted = schema("responses")
    latest = by_label(frame).sort("created", nulls_last=False, maintain_order=True)
    kept = latest.unique(wanted.key, keep="last", maintain_order=True).sort(wanted.key)
    return wanted.check(kept.select(list(wanted.columns)))


def by_label(calls: pl.DataFrame) -> pl.DataFrame:
    """Return recorded calls with the model's label, where it has one, as its name."""
    import polars as pl

    return calls.with_columns(model=pl.coalesce("label", "model"))


def load_judgments(cache: str | Path) -> pl.DataFrame:
    """Read the verdicts of all recall judges from a cache folder (schema `judgments`).

    Parameters
    ----------
    cache : str or path
        Name below `data/cache/`, or a folder.

    Raises
    ------
    UnknownName
        If there is no such cache.
    SchemaError
        If nothing in it has been judged yet, or the file has another form.
    """
    path = named_folder("cache", cache) / "judgments.parquet"
    if not path.is_file():
        raise SchemaError(
            f"cache {Path(cache).name} holds no judgments",
            remedy=f"make them with: {shlex.join(['icgkit', 'judge', '--cache', str(cache)])}",
        )
    return schema("judgments").check(read_parquet(path))
