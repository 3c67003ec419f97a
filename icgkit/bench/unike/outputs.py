"""UniKE: what its public tools write, read into outcomes.

A run is a folder with `edit_case/<n>_edits-case_<id>.json` (efficacy of each stage),
`reasoning/reasoning_*.json` (rationales), and the judge's `results/vqa_results.json` (with reasoning)
and `results_no_reasoning/vqa_results.json` (direct). A case is a place in the data file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.bench.unike.files import load_edits, read_verdict
from icgkit.bench.unike.scores import KEY, Rule, columns, contains_target, family_scores, public_verdict, says
from icgkit.errors import SchemaError
from icgkit.files import read_file
from icgkit.untrusted import json_value

if TYPE_CHECKING:
    import polars as pl

JUDGED = {"reasoning_augmented": "results", "direct": "results_no_reasoning"}
"""Protocol to the folder of a run that holds its judgments."""


def read_run(
    folder: str | Path, instances: pl.DataFrame, *, model: str = "", editor: str = ""
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read a run of the public tools.

    Parameters
    ----------
    folder : path
        The run, `results/<model>/<editor>/run_<k>`.
    instances : polars.DataFrame
        Of `load_edits`, on the file that the run was made on.
    model, editor : str
        Names in the result; those of the folders above the run if empty.

    Returns
    -------
    (polars.DataFrame, polars.DataFrame)
        Outcomes as of `load_outcomes`, a row an instance and protocol that was judged (all as
        reasoning-augmented where nothing was), and the problems: place, kind, detail. Efficacy is the
        tools' own mark, for a text of it is not kept. Reasoning and VQA are marked anew from the texts, with
        the tools' marks in `*_public`; a text that was not kept leaves theirs in both places. An instance
        without a mark is missing; the public report counts it as wrong, and leaves out a VQA with an
        error.

    Raises
    ------
    SchemaError
        If nothing of a run is in the folder, a case occurs twice with other content, or no case belongs to the
        data file.
    """
    import polars as pl

    root = Path(folder)
    problems: list[tuple[str, str, str]] = []
    edited = _cases(root, ["edit_case/*_edits-case_*.json", "*_edits-case_*.json"], problems)
    thought = _cases(root, ["reasoning/reasoning_*.json", "reasoning_*.json"], problems)
    judged = {
        protocol: _cases(root, [f"{place}/vqa_results.json"], problems) for protocol, place in JUDGED.items()
    }
    if (root / "vqa_results.json").is_file():
        judged["reasoning_augmented" if thought else "direct"] |= _cases(root, ["vqa_results.json"], problems)
    if not (edited or thought or any(judged.values())):
        raise SchemaError(
            "no results of UniKE", got=str(root), allowed="a run with edit_case/, reasoning/ or vqa_results.json",
            remedy="give the folder run_... that edit and judge wrote to",
        )  # fmt: skip
    known = set(instances["edit_id"])
    seen = {case for part in (edited, thought, *judged.values()) for case in part}
    problems += [(case, "not in the data file", "") for case in sorted(seen - known)]
    if not seen & known:
        raise SchemaError("no case belongs to the data file", got=sorted(seen)[:3],
                          remedy="give the file that the run was made on")  # fmt: skip
    path = root.resolve()
    head = {"model": model or path.parent.parent.name, "editor": editor or path.parent.name}
    protocols = [p for p in JUDGED if judged[p] or (p == "reasoning_augmented" and thought)]
    rows = []
    for protocol in protocols or ["reasoning_augmented"]:
        for row in instances.iter_rows(named=True):
            at, stage = row["edit_id"], f"stage_{row['stage']}"
            marks, told = _marks(row, edited.get(at), thought.get(at), judged[protocol].get(at), protocol)
            problems += [(f"{row['instance_id']}, {protocol}", kind, detail) for kind, detail in told]
            kept = ("edit_id", "instance_id", "subject", "category", "source", "stage")
            rows.append({c: row[c] for c in kept} | head | {"protocol": protocol} | marks)
            expected = _inside(edited.get(at), "post").get("category")
            if stage == "stage_1" and isinstance(expected, str) and expected.lower() != row["category"]:
                problems.append((at, "another category than in the data file", expected))
    shown = dict.fromkeys(("place", "kind", "detail"), pl.String)
    found = pl.DataFrame(problems, schema=shown, orient="row").unique(maintain_order=True)
    return pl.DataFrame(rows, schema=columns()), found


def _marks(
    row: dict[str, Any], edited: Any, thought: Any, judged: Any, protocol: str
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the marks of one instance, and what is missing."""
    stage, told = f"stage_{row['stage']}", []
    efficacy = _flag(_inside(_inside(edited, "post"), "stage_efficacy"), stage)
    if efficacy is None:
        told.append(("no efficacy", ""))
    out: dict[str, Any] = {"efficacy": efficacy, "efficacy_public": efficacy}
    reason = _inside(_inside(thought, "stages"), stage)
    shown = _inside(_inside(judged, "stages"), stage)
    if protocol == "reasoning_augmented":
        public = _flag(reason or _inside(shown, "reasoning"), "contains_target")
        text = reason.get("reasoning_output")
        text = text if isinstance(text, str) else None
        again = contains_target(text, row["gt_target"], row["category"])
        if again is not None and public is not None and again != public:
            told.append(("contains_target differs from the text", f"{public} in the file"))
        ours = says(text, row["gt_target"], row["gt"]) if text is not None else public
        out |= {"reasoning": ours, "reasoning_public": public if public is not None else again}
        if ours is None:
            told.append(("no rationale", ""))
    vqa = _inside(shown, "vqa")
    fault = next((str(vqa[k]) for k in ("error", "skipped_reason") if k in vqa), None)
    if judged is None or fault is not None or not vqa:
        told.append(("no VQA", fault or ""))
        return out | {"verdict_status": f"failed: {fault}"[:80] if fault else "not judged"}, told
    reply = vqa.get("raw_response")
    public = _flag(vqa, "vqa_correct")
    if not isinstance(reply, str):
        sure = public if vqa.get("parse_success") is not False else None
        return out | {"vqa": sure, "vqa_public": public, "verdict_status": "reply not kept"}, told
    verdict = read_verdict(reply)
    if verdict.matches is None:
        told.append(("VQA reply unreadable", verdict.status))
    elif verdict.matches != public:
        told.append(("VQA mark differs from the reply", f"{public} in the file"))
    return out | {
        "vqa": verdict.matches, "confidence": verdict.confidence, "verdict_status": verdict.status,
        "vqa_public": public if public is not None else public_verdict(reply),
    }, told  # fmt: skip


def _inside(record: Any, name: str) -> dict[str, Any]:
    found = record.get(name) if isinstance(record, dict) else None
    return found if isinstance(found, dict) else {}


def _flag(record: dict[str, Any], name: str) -> bool | None:
    value = record.get(name)
    return value if isinstance(value, bool) else None


def _cases(root: Path, patterns: list[str], problems: list[tuple[str, str, str]]) -> dict[str, Any]:
    """Return the records of the files of the first pattern that finds some, by edit."""
    files: list[Path] = next((sorted(f) for p in patterns if (f := list(root.glob(p)))), [])
    out: dict[str, Any] = {}
    for path in files:
        shown = path.relative_to(root).as_posix()
        for record in _listed(json_value(read_file(path), shown)):
            case = record.get("case_id") if isinstance(record, dict) else None
            if not isinstance(case, int) or isinstance(case, bool) or case < 0:
                problems.append((shown, "no case_id", str(case)[:80]))
                continue
            name = f"e{case:05d}"
            if name in out and out[name] != record:
                raise SchemaError(f"{shown}: case_id twice, with other content", got=case,
                                  remedy="keep the files of one run")  # fmt: skip
            out[name] = record
    return out


def _listed(data: Any) -> Iterator[Any]:
    if isinstance(data, dict) and isinstance(data.get("results"), list):
        yield from data["results"]
    elif isinstance(data, list):
        yield from data
    else:
        yield data


def score(
    folder: str | Path, data: str | Path, *, rule: Rule = "published", model: str = "", editor: str = ""
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score a run of the public tools by family and overall.

    Parameters
    ----------
    folder : path
        The run, see `read_run`.
    data : path
        The data file (`UniKE.json`).
    rule : {"published", "stages", "any_stage"}
        See `icgkit.bench.unike.scores.scores`.

    Returns
    -------
    (polars.DataFrame, polars.DataFrame)
        The rows of `family_scores` that were measured, and the problems.
    """
    import polars as pl

    edits = load_edits(data)
    outcomes, problems = read_run(folder, edits.instances, model=model, editor=editor)
    table = family_scores(outcomes, by=KEY, rule=rule)
    asked = (pl.col("measure") != "reasoning") | (pl.col("protocol") != "direct")
    return table.filter(asked), pl.concat([edits.problems, problems])
