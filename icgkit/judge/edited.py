"""Edited pictures judged by a model that sees them: what became of each node, and whether the rest was kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from icgkit.calls.cache import Cache
from icgkit.calls.limits import Limits
from icgkit.calls.models import Model
from icgkit.calls.request import Request
from icgkit.cases.case import Case
from icgkit.cases.dataset import Dataset
from icgkit.cases.images import prepare
from icgkit.judge.ask import Judge, Question, Verdict, ask
from icgkit.judge.kinds import judge_name
from icgkit.prompts.conditions import Condition, fill, judge_prompts
from icgkit.prompts.replies import read_verdicts

FIELDS = ("changed", "right")
REST = "rest"
_ROW = {
    "dataset": pl.String, "case_id": pl.String, "editor": pl.String, "judge": pl.String, "node_id": pl.String,
    "subtype": pl.String, "changed": pl.Boolean, "right": pl.Boolean, "verdict": pl.String, "status": pl.String,
}  # fmt: skip


def judge_edited(
    dataset: Dataset,
    outputs: Mapping[str, str | Path],
    judge: str | Model | Judge,
    *,
    cache: Cache,
    editor: str = "",
    limits: Limits | None = None,
    progress: bool = True,
) -> pl.DataFrame:
    """Ask a judge about an editor's pictures, one call a picture; `icgkit.cases.edited.score_edits` needs no judge.

    Parameters
    ----------
    dataset : Dataset
        Cases whose nodes have boxes.
    outputs : mapping
        Case id to picture file.
    judge : str, Model or Judge
        As for `judge_recall`; it has to see pictures.
    cache : Cache
        Where calls are recorded, or replayed from.
    editor : str
        Label of the editor.

    Returns
    -------
    polars.DataFrame
        One row a node elsewhere than on the edited text, one "target" and one "rest" a picture: `changed`, `right`, `verdict` (`done`: changed and
        right; `left`: not changed; `wrong`: changed, not right; of the rest `kept` or `harmed`; null without an
        answer), `status` of the answer.

    Raises
    ------
    UnknownName
        For a case that the dataset lacks.
    CacheMiss
        In replay mode, for a call that is not recorded.
    """
    who = Judge.of(judge)
    template = judge_prompts(who.templates)["edit"]
    asked = {
        case_id: _question(dataset[case_id], Path(path), who, template, editor)
        for case_id, path in outputs.items()
    }
    ask(asked.values(), cache=cache, limits=limits, progress=progress)
    rows = []
    for case_id, question in asked.items():
        subtypes = {n.id: n.subtype for n in dataset[case_id].constraint_nodes}
        for node_id, found in question.verdicts.items():
            head = (
                dataset.name,
                case_id,
                editor,
                judge_name(who, "edit"),
                node_id,
                subtypes.get(node_id, ""),
            )
            rows.append((*head, found["changed"], found["right"], _verdict(node_id, found), found["status"]))
    return pl.DataFrame(rows, schema=_ROW, orient="row")


def _verdict(node_id: str, found: Verdict) -> str | None:
    changed, right = found["changed"], found["right"]
    if changed is None or right is None:
        return None
    if node_id == REST:
        return "harmed" if changed else "kept"
    return ("done" if right else "wrong") if changed else "left"


def _question(case: Case, path: Path, who: Judge, template: Condition, editor: str) -> Question:
    def place(box: Sequence[float]) -> list[float]:
        return [round(100 * v / case.image_size[k % 2], 1) for k, v in enumerate(box)]

    nodes = {
        n.id: {"id": n.id, "region": n.region, "box": place(n.bbox), "update": n.expected_update}
        for n in case.constraint_nodes if n.bbox and n.where == "else"
    }  # fmt: skip
    if case.target.bbox:
        told = {"region": case.target.region, "box": place(case.target.bbox), "update": case.target.action}
        nodes["target"] = {"id": "target", **told}
    nodes[REST] = {"id": REST, "region": "everything else", "update": "as in the original"}

    def build(ids: Sequence[str], sample: int) -> Request:
        listed = "[\n" + ",\n".join(json.dumps(nodes[i], ensure_ascii=False) for i in ids) + "\n]"
        words = fill(template.body, {"instruction": case.instruction, "nodes_json": listed}, "judge edit")
        content: list[dict[str, Any]] = [
            {"type": "image_url", "image_url": {"url": prepare(p).data_url}} for p in (case.image_path, path)
        ]
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": template.system},
            {"role": "user", "content": [*content, {"type": "text", "text": words}]},
        ]
        tags = {
            "kind": "judge", "dataset": case.dataset, "case_id": case.id, "condition": "edit", "stage": "edit",
            "subject": editor, "template_sha256": template.sha256,
        }  # fmt: skip
        return Request(who.asked.name, messages, who.asked.under("edit"), sample, tags)

    def read(reply: str | None, ids: Sequence[str]) -> dict[str, Verdict]:
        return read_verdicts(reply, ids, FIELDS)

    return Question(tuple(nodes), build, read, dict.fromkeys(FIELDS), sample=who.sample)
