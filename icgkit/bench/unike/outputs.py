"""UniKE: what its public tools write, read into outcomes.

A run is a folder with `edit_case/<n>_edits-case_<id>.json` (efficacy of each stage),
`reasoning/reasoning_*.json` (rationales), and the judge's `results/vqa_results.json` (with reasoning)
and `results_no_reasoning/vqa_results.json` (direct). A case is a place in the data file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from icgkit.bench.common import flag, inner, listed
from icgkit.bench.unike.files import load_edits, read_verdict
from icgkit.bench.unike.scores import (
    COLUMNS,
    INSTANCE,
    KEY,
    Rule,
    contains_target,
    family_scores,
    public_verdict,
    says,
)  # fmt: skip
from icgkit.errors import SchemaError
from icgkit.files import read_file
from icgkit.untrusted import json_value

PROTOCOL_FOLDERS = {"reasoning_augmented": "results", "direct": "results_no_reasoning"}
"""Protocol to the folder of a run that holds its judgments."""
_Problem = tuple[str, str, str]


def read_run(
    folder: str | Path, instances: pl.DataFrame, *, model: str = "", editor: str = ""
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read a run of the public tools, `results/<model>/<editor>/run_<k>`, on the edits that it was made on.

    Outcomes as of `load_outcomes`, a row an instance and protocol that was judged (all as reasoning-augmented
    where nothing was), and the problems: place, kind, detail. Efficacy is the tools' own mark, for a text of
    it is not kept. Reasoning and VQA are marked anew from the texts, with the tools' marks in `*_public`; a
    text that was not kept leaves theirs in both places. An instance without a mark is missing; the public
    report counts it as wrong, and leaves out a VQA with an error.
    """
    root = Path(folder)
    problems: list[_Problem] = []
    edited = _cases(root, ["edit_case/*_edits-case_*.json", "*_edits-case_*.json"], problems)
    thought = _cases(root, ["reasoning/reasoning_*.json", "reasoning_*.json"], problems)
    judged = {
        protocol: _cases(root, [f"{place}/vqa_results.json"], problems)
        for protocol, place in PROTOCOL_FOLDERS.items()
    }
    if (root / "vqa_results.json").is_file():
        judged["reasoning_augmented" if thought else "direct"] |= _cases(root, ["vqa_results.json"], problems)
    seen = {case for part in (edited, thought, *judged.values()) for case in part}
    if not seen:
        raise SchemaError(
            "no results of UniKE", got=str(root),
            allowed="a run with edit_case/, reasoning/ or vqa_results.json",
            remedy="give the folder run_... that edit and judge wrote to",
        )  # fmt: skip
    known = set(instances["edit_id"])
    problems += [(case, "not in the data file", "") for case in sorted(seen - known)]
    if not seen & known:
        raise SchemaError("no case belongs to the data file", got=sorted(seen)[:3],
                          remedy="give the file that the run was made on")  # fmt: skip
    path = root.resolve()
    head = {"model": model or path.parent.parent.name, "editor": editor or path.parent.name}
    protocols = [p for p in PROTOCOL_FOLDERS if judged[p] or (p == "reasoning_augmented" and thought)]
    rows = []
    for protocol in protocols or ["reasoning_augmented"]:
        for row in instances.iter_rows(named=True):
            at = row["edit_id"]
            marks, told = _marks(row, edited.get(at), thought.get(at), judged[protocol].get(at), protocol)
            problems += [(f"{row['instance_id']}, {protocol}", kind, detail) for kind, detail in told]
            rows.append({c: row[c] for c in INSTANCE} | head | {"protocol": protocol} | marks)
            expected = inner(edited.get(at), "post").get("category")
            if row["stage"] == 1 and isinstance(expected, str) and expected.lower() != row["category"]:
                problems.append((at, "another category than in the data file", expected))
    found = listed(problems, "place", "kind", "detail").unique(maintain_order=True)
    return pl.DataFrame(rows, schema=COLUMNS), found


Marks = tuple[dict[str, Any], list[tuple[str, str]]]
"""Marks of one instance, and what is missing (kind, detail)."""


def _marks(row: dict[str, Any], edited: Any, thought: Any, judged: Any, protocol: str) -> Marks:
    stage = f"stage_{row['stage']}"
    efficacy = flag(inner(inner(edited, "post"), "stage_efficacy"), stage)
    shown = inner(inner(judged, "stages"), stage)
    out: dict[str, Any] = {"efficacy": efficacy, "efficacy_public": efficacy}
    told = [("no efficacy", "")] if efficacy is None else []
    parts = [_vqa(inner(shown, "vqa"))]
    if protocol == "reasoning_augmented":
        parts.insert(0, _reasoning(row, inner(inner(thought, "stages"), stage), inner(shown, "reasoning")))
    for marks, missing in parts:
        out, told = out | marks, told + missing
    return out, told


def _reasoning(row: dict[str, Any], thought: dict[str, Any], shown: dict[str, Any]) -> Marks:
    text, told = thought.get("reasoning_output"), []
    text = text if isinstance(text, str) else None
    public, again = (
        flag(thought or shown, "contains_target"),
        contains_target(text, row["gt_target"], row["category"]),
    )
    if again is not None and public is not None and again != public:
        told.append(("contains_target differs from the text", f"{public} in the file"))
    ours = says(text, row["gt_target"], row["gt"]) if text is not None else public
    if ours is None:
        told.append(("no rationale", ""))
    return {"reasoning": ours, "reasoning_public": public if public is not None else again}, told


def _vqa(vqa: dict[str, Any]) -> Marks:
    fault = next((str(vqa[k]) for k in ("error", "skipped_reason") if k in vqa), None)
    if not vqa or fault is not None:
        return {"verdict_status": f"failed: {fault}"[:80] if fault else "not judged"}, [
            ("no VQA", fault or "")
        ]
    reply, public = vqa.get("raw_response"), flag(vqa, "vqa_correct")
    if not isinstance(reply, str):
        sure = public if vqa.get("parse_success") is not False else None
        return {"vqa": sure, "vqa_public": public, "verdict_status": "reply not kept"}, []
    verdict, told = read_verdict(reply), []
    if verdict.matches is None:
        told.append(("VQA reply unreadable", verdict.status))
    elif verdict.matches != public:
        told.append(("VQA mark differs from the reply", f"{public} in the file"))
    return {
        "vqa": verdict.matches, "confidence": verdict.confidence, "verdict_status": verdict.status,
        "vqa_public": public if public is not None else public_verdict(reply),
    }, told  # fmt: skip


def _cases(root: Path, patterns: list[str], problems: list[_Problem]) -> dict[str, Any]:
    """Return the records of the files of the first pattern that finds some, by edit."""
    files: list[Path] = next((sorted(f) for p in patterns if (f := list(root.glob(p)))), [])
    out: dict[str, Any] = {}
    for path in files:
        shown = path.relative_to(root).as_posix()
        data = json_value(read_file(path), shown)
        data = data["results"] if isinstance(data, dict) and isinstance(data.get("results"), list) else data
        for record in data if isinstance(data, list) else [data]:
            case = record.get("case_id") if isinstance(record, dict) else None
            if not isinstance(case, int) or isinstance(case, bool) or case < 0:
                problems.append((shown, "no case_id", str(case)[:80]))
                continue
            if out.setdefault(f"e{case:05d}", record) != record:
                raise SchemaError(f"{shown}: case_id twice, with other content", got=case,
                                  remedy="keep the files of one run")  # fmt: skip
    return out


def score(
    folder: str | Path, data: str | Path, *, rule: Rule = "published", model: str = "", editor: str = ""
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score a run (`read_run`) of the data file by family and overall, by a rule of `scores.RULES`.

    The rows of `family_scores` that were measured, and the problems.
    """
    edits = load_edits(data)
    outcomes, problems = read_run(folder, edits.instances, model=model, editor=editor)
    table = family_scores(outcomes, by=KEY, rule=rule)
    asked = (pl.col("measure") != "reasoning") | (pl.col("protocol") != "direct")
    return table.filter(asked), pl.concat([edits.problems, problems])
