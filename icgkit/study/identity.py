"""What the answers in a cache were made of: its dataset, its words, its models and judges, by hash.

`run.toml` in the cache's folder says it for people and for later commands; `cases.json` beside it
has the hash of each case. What was asked one way is not silently mixed with what is asked another.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from icgkit.calls.keys import mask_keys
from icgkit.calls.models import Model
from icgkit.calls.recorded import (
    CASES,
    RUN,
    case_hashes,
    cases_sha256,
    check_cases,
    differing,
    read_hashes,
    read_run,
    table_of,
)
from icgkit.calls.request import sent_params
from icgkit.cases.dataset import Dataset, load_dataset
from icgkit.errors import SchemaError
from icgkit.files import __version__, project_root, read_file, read_parquet, replacing, write_whole
from icgkit.judge.ask import Judge
from icgkit.judge.kinds import judge_name
from icgkit.judge.kinds import kinds as judging_kinds
from icgkit.prompts.conditions import judge_prompts
from icgkit.study.chains import CHAINS
from icgkit.study.plan import Plan
from icgkit.untrusted import toml_table

if TYPE_CHECKING:
    from icgkit.study.file import Study

VERDICTS = ("judgments", "precision", "plan", "adversarial", "leakage")
"""Frames that are made from recorded calls and the cases' nodes, besides those of kinds of judging of one's own."""


def accept_cases(folder: Path, dataset: Dataset) -> list[str]:
    """Take the cases as they are now for those of a cache; return the ids of the ones that differed.

    Verdicts on them are dropped, since they are about other nodes; no call is lost.
    """
    old = [name for names in differing(folder, dataset) for name in names]
    for path in sorted(folder.glob("*.parquet")) if old else ():
        if path.name == "calls.parquet":
            continue
        frame = read_parquet(path)
        if path.stem in VERDICTS or {"case_id", "judge", "status"} <= set(frame.columns):
            kept = frame.filter(~(pl.col("case_id").is_in(old) & (pl.col("dataset") == dataset.name)))
            if kept.height < frame.height:
                with replacing(path) as stream:
                    kept.write_parquet(stream, compression="zstd", statistics=False)
    meta = read_run(folder)
    meta.setdefault("dataset", dataset.name)
    _write(folder, *_with_cases(folder, meta, dataset))
    return old


def _with_cases(
    folder: Path, meta: dict[str, Any], dataset: Dataset
) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """Return run.toml and cases.json with a dataset's cases as they are now."""
    meta["datasets"] = {**table_of(meta, "datasets"), dataset.name: _dataset_row(dataset)}
    return meta, read_hashes(folder) | {dataset.name: case_hashes(dataset)}


def _dataset_row(dataset: Dataset) -> dict[str, Any]:
    place = dataset.folder.absolute() if dataset.folder else None
    shipped = place is not None and place == project_root() / "data" / "cases" / place.name
    hashes = case_hashes(dataset)
    return {
        "folder": (place.name if shipped else str(place)) if place else "",
        "version": dataset.version,
        "n": len(hashes),
        "cases_sha256": cases_sha256(hashes),
    }


def _asked(model: Model, conditions: Iterable[str]) -> dict[str, Any]:
    """Return what a model's answers hang on: its name, where the system text goes, parameters by condition."""
    params = {c: json.dumps(sent_params(model.under(c)), sort_keys=True, default=str) for c in conditions}
    return {"name": model.name, "system": model.system, "params": params}


def _judged(model: Model, kinds: Sequence[str], templates: str | Path | None) -> dict[str, dict[str, Any]]:
    """Return what a judge's verdicts hang on, by the name under which they stand."""
    known, rules = judge_prompts(templates), judging_kinds(templates)
    rows: dict[str, dict[str, Any]] = {}
    for kind in kinds:
        used = [known[t].sha256 for t in rules[kind].templates if t in known] if kind in rules else []
        if used:
            row = rows.setdefault(
                judge_name(Judge(model, templates), kind), _asked(model, ()) | {"templates": {}}
            )
            row["templates"][kind] = "+".join(used)
            row["params"][kind] = _asked(model, [kind])["params"][kind]
    return rows


def _same(what: str, name: str, then: Mapping[str, Any], now: Mapping[str, Any], remedy: str) -> None:
    for field, new in now.items():
        old = then.get(field)
        pairs = (
            [(f"{field} of {k}", old.get(k), v) for k, v in new.items() if k in old]
            if isinstance(new, Mapping) and isinstance(old, Mapping)
            else [(field, old, new)]
        )
        for place, before, after in pairs:
            if before is not None and before != after:
                raise SchemaError(
                    f"{what} {name!r} was asked otherwise in this cache ({place})", got=after,
                    allowed=f"as it was: {before}", remedy=remedy,
                )  # fmt: skip


def _same_words(meta: Mapping[str, Any], prompts: Mapping[str, str], remedy: str) -> dict[str, Any]:
    """Return the hashes of a cache's prompts with some more, after a look whether those of a name are the same."""
    before = table_of(meta, "prompts")
    for name, digest in prompts.items():
        if before.get(name, digest) != digest:
            raise SchemaError(
                f"the words of {name!r} are others than those that this cache was made with", remedy=remedy
            )
    return {**before, **prompts}


def describe(study: Study, plan: Plan, folder: Path) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """Return run.toml and cases.json as a study's run leaves them; raise if the cache was made otherwise."""
    meta = read_run(folder)
    whole = load_dataset(study.dataset)
    check_cases(folder, whole, meta)
    prompts = {c.id: c.sha256 for c in plan.conditions}
    for c in plan.conditions:
        used = CHAINS[c.id].stages if c.id in CHAINS else ()
        prompts |= {f"{c.id}/{stage}": plan.stages[stage].sha256 for stage in used if stage in plan.stages}
    own_name = "give the template a name of its own (a condition more), or use another cache (--cache)"
    words = _same_words(meta, prompts, own_name)
    names = [c.id for c in plan.conditions]
    models = {m.shown: _asked(m, names) for m in plan.models}
    judges: dict[str, dict[str, Any]] = {}
    for entry in study.judges:
        judges |= _judged(entry.model(), entry.kinds, study.templates)
    asked = _with(table_of(meta, "asked"), models, "model")
    judged = _with(table_of(meta, "judged"), judges, "judge")
    merged = meta | {
        "dataset": whole.name,
        "simulated": bool(meta.get("simulated", False)),
        "models": _union(meta.get("models"), models),
        "conditions": _union(meta.get("conditions"), study.conditions),
        "samples": max(study.samples, meta["samples"] if isinstance(meta.get("samples"), int) else 1),
        "params": json.dumps(sent_params(study.params), sort_keys=True),
        "icgkit": __version__,
    }
    merged, hashes = _with_cases(folder, merged, whole)
    merged |= {"prompts": words, "asked": asked}
    _note_judges(merged, judges, judged)
    return merged, hashes


def _with(
    known: Mapping[str, Any], rows: Mapping[str, dict[str, Any]], what: str
) -> dict[str, dict[str, Any]]:
    """Return a table with more rows, after a look whether those of the same names say the same."""
    out = {k: dict(v) for k, v in known.items() if isinstance(v, Mapping)}
    for name, row in rows.items():
        entry = f'[{{ name = "{row["name"]}", label = "{name} (2)", ... }}]'
        file = " in a study file" if what == "judge" else ""
        more = "; icgkit judge takes it by --study" if what == "judge" else ""
        remedy = f"give it a label{file} ({what}s = {entry}{more}), or use another cache (--cache)"
        _same(what, name, out.get(name, {}), row, remedy)
        old = out.get(name, {})
        out[name] = old | {
            k: {**table_of(old, k), **v} if isinstance(v, dict) else v for k, v in row.items()
        }  # fmt: skip
    return out


def _union(old: Any, new: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*(old if isinstance(old, list) else []), *new]))


def _note_judges(
    meta: dict[str, Any], judges: Mapping[str, Any], judged: Mapping[str, dict[str, Any]]
) -> None:
    if judges:
        meta.setdefault("primary_judge", next(iter(judges)))
        meta["judges"] = _union(meta.get("judges"), judges)
        meta["judged"] = dict(judged)


def note_run(study: Study, plan: Plan, folder: Path) -> None:
    """Write down what a study asks of whom in a cache, if it can be written to, after the checks of `describe`."""
    meta, hashes = describe(study, plan, folder)
    try:
        _write(folder, meta, hashes)
    except OSError as exc:
        if exc.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise


def note_import(
    folder: Path,
    dataset: Dataset,
    models: Mapping[str, Iterable[str]],
    prompts: Mapping[str, str],
    collected: str,
    *,
    judges: Iterable[str] = (),
) -> None:
    """Write down answers or verdicts that were made elsewhere: `models` by the conditions they answered."""
    meta = read_run(folder)
    check_cases(folder, dataset, meta)
    words = _same_words(meta, prompts, "use another cache (--cache)")
    asked: dict[str, dict[str, Any]] = {
        m: {"name": m, "system": "system", "params": dict.fromkeys(sorted(c), "{}")}
        for m, c in models.items()
    }
    start: dict[str, Any] = {"dataset": dataset.name, "simulated": False, "samples": 1, "params": "{}"}
    meta = start | meta
    meta["models"] = _union(meta.get("models"), models)
    meta["conditions"] = _union(meta.get("conditions"), prompts)
    meta["judges"] = _union(meta.get("judges"), judges)
    if meta["judges"]:
        meta.setdefault("primary_judge", meta["judges"][0])
    if collected:
        meta["collected"] = collected
    meta["icgkit"] = __version__
    meta, hashes = _with_cases(folder, meta, dataset)
    meta |= {"prompts": words, "asked": _with(table_of(meta, "asked"), asked, "model")}
    _write(folder, meta, hashes)


def note_judges(
    folder: Path,
    dataset: Dataset,
    judges: Sequence[tuple[Model, Sequence[str]]],
    templates: str | Path | None,
    *,
    write: bool = True,
) -> None:
    """Check judges against those of a cache, and write them down."""
    rows: dict[str, dict[str, Any]] = {}
    for model, kinds in judges:
        rows |= _judged(model, kinds, templates)
    meta = read_run(folder)
    judged = _with(table_of(meta, "judged"), rows, "judge")
    if not write:
        return
    meta.setdefault("dataset", dataset.name)
    _note_judges(meta, rows, judged)
    hashes = read_hashes(folder)
    if not table_of(meta, "datasets", dataset.name):  # a cache of an older version: from now on it is known
        meta, hashes = _with_cases(folder, meta, dataset)
    _write(folder, meta, hashes)


def _write(folder: Path, meta: Mapping[str, Any], hashes: Mapping[str, Mapping[str, str]]) -> None:
    """Write both files where they would change; comments at the head of run.toml stay."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / RUN
    old = read_file(path).decode("utf-8-sig", "replace") if path.is_file() else ""
    head = [line for line in old.split("\n") if line.startswith("#")] or ["# Written by icgkit."]
    text = mask_keys("\n".join([*head, *_toml(meta)]) + "\n")
    lines = [
        f"{json.dumps(name)}: {json.dumps(dict(sorted(v.items())), indent=0)}" for name, v in hashes.items()
    ]
    found = "{\n" + ",\n".join(lines) + "\n}\n"
    before = folder / CASES
    if not before.is_file() or read_file(before).decode("utf-8", "replace") != found:
        write_whole(before, found.encode())
    if not old or toml_table(old.encode(), str(path)) != toml_table(text.encode(), str(path)):
        write_whole(path, text.encode())


def _toml(table: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Return the lines of a table: its values, then its tables."""
    lines = [f"{_quoted(k)} = {_value(v)}" for k, v in table.items() if not isinstance(v, Mapping)]
    for name, inner in table.items():
        if isinstance(inner, Mapping):
            place = f"{prefix}.{_quoted(name)}" if prefix else _quoted(name)
            own = any(not isinstance(v, Mapping) for v in inner.values()) or not inner
            lines += [*(["", f"[{place}]"] if own else []), *_toml(inner, place)]
    return lines


def _quoted(name: str) -> str:
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_quoted(str(k))} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    return json.dumps(str(value)).replace("\x7f", "\\u007f")
