"""What the explorer shows of a run, as one object of JSON: cases, answers, verdicts; pictures and long texts apart."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from icgkit.cases.case import Case
from icgkit.cases.images import prepare
from icgkit.errors import IcgError
from icgkit.prompts.conditions import build_messages, conditions
from icgkit.report.results import Results
from icgkit.taxonomy import SUBTYPES, category

THUMBNAIL = 176
"""Pixels of the longer side of a thumbnail."""
SHOWN = 1024
"""Pixels of the longer side of a picture."""
UNKNOWN = "?"
"""Mark of a node without a verdict."""


@dataclass
class Payload:
    """A run as the explorer needs it.

    Parameters
    ----------
    run : Results
        The run; a run that is still going is shown as far as it has come.
    """

    run: Results
    _rows: dict[int, dict[str, Any]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def cases(self) -> list[Case]:
        """The cases that have an answer, in the order of the dataset."""
        asked = set(self.answers["case_id"].unique())
        return [case for case in self.run.dataset if case.id in asked]

    @cached_property
    def answers(self) -> pl.DataFrame:
        """Every answer of the run's dataset, in a fixed order."""
        frame = self.run.responses.filter(dataset=self.run.dataset.name)
        return frame.sort("case_id", "condition", "model", "sample")

    @cached_property
    def conditions(self) -> list[str]:
        """Conditions that have an answer, in the study's order."""
        have = set(self.answers["condition"].unique())
        return [c for c in conditions() if c in have] + sorted(have - set(conditions()))

    @cached_property
    def models(self) -> list[str]:
        """Models that have an answer."""
        return self.answers["model"].unique().sort().to_list()

    def head(self) -> dict[str, Any]:
        """Return all but texts and pictures: names, cases with their nodes, answers and verdicts as rows of numbers."""
        known = conditions()
        return {
            "run": self.run.name,
            "dataset": f"{self.run.dataset.name} {self.run.dataset.version}",
            "notes": self._notes(),
            "conditions": [{"id": c, "label": known[c].label if c in known else c} for c in self.conditions],
            "models": self.models,
            "judges": self.judges,
            "subtypes": [
                {"id": s.id, "label": s.label, "color": category(s.id).color}
                for s in SUBTYPES.values()
                if any(n.subtype == s.id for case in self.cases for n in case.constraint_nodes)
            ],
            "cases": [_case(case) for case in self.cases],
            "answers": self._answer_rows(),
            "marks": self._marks(),
            "why": self._why(),
        }

    @cached_property
    def judges(self) -> list[str]:
        """Judges with verdicts, the run's own first; none where nothing has been judged."""
        frame = self._judgments
        if frame is None:
            return []
        names = frame["judge"].unique().sort().to_list()
        return sorted(names, key=lambda j: j != self.run.judge)

    @cached_property
    def _judgments(self) -> pl.DataFrame | None:
        try:
            return self.run.all_judgments.filter(dataset=self.run.dataset.name)
        except IcgError:  # a run that has not been judged
            return None

    def _notes(self) -> list[str]:
        try:
            return self.run.notes()
        except IcgError:
            return ["Not judged yet."]

    def _answer_rows(self) -> list[list[Any]]:
        """Return [case, condition, model, sample, status, cost, latency, tokens, text] by answer; names by their place."""
        cases, conds, models = (
            {name: k for k, name in enumerate(names)}
            for names in ([c.id for c in self.cases], self.conditions, self.models)
        )
        columns = ("case_id", "condition", "model", "sample", "status", "cost", "latency", "output_tokens")
        return [
            [
                cases.get(c, -1),
                conds[k],
                models[m],
                sample,
                status,
                _short(cost),
                _short(seconds),
                tokens,
                text,
            ]
            for (c, k, m, sample, status, cost, seconds, tokens), text in zip(
                self.answers.select(columns).iter_rows(), self.text_of, strict=True
            )
        ]

    @cached_property
    def _places(self) -> dict[tuple[Any, ...], int]:
        key = self.answers.select("case_id", "condition", "model", "sample")
        return {row: k for k, row in enumerate(key.iter_rows())}

    def _marks(self) -> list[dict[int, str]]:
        """Return for each judge what it says by answer: one sign a node, 0 to 7 for region, update, reason, ? for none."""
        if self._judgments is None:
            return []
        order = {case.id: {n.id: k for k, n in enumerate(case.constraint_nodes)} for case in self.cases}
        found: dict[str, dict[int, list[str]]] = {judge: {} for judge in self.judges}
        bits = sum(
            pl.col(c).fill_null(False).cast(pl.Int8) * w
            for c, w in (("region", 4), ("update", 2), ("reason", 1))
        )
        sign = pl.when(pl.col("found").is_null()).then(-1).when(pl.col("found")).then(7).otherwise(bits)
        rows = self._judgments.select(
            "judge", "case_id", "condition", "model", "sample", "node_id", sign.alias("sign")
        )
        for judge, case, condition, model, sample, node, mark in rows.iter_rows():
            place = self._places.get((case, condition, model, sample))
            if place is None or node not in order.get(case, {}):
                continue
            signs = found[judge].setdefault(place, [UNKNOWN] * len(order[case]))
            signs[order[case][node]] = UNKNOWN if mark < 0 else str(mark)
        return [{k: "".join(v) for k, v in found[judge].items()} for judge in self.judges]

    def _why(self) -> list[dict[int, dict[str, str]]]:
        """Return for each judge its one-line reasons, by answer and node, where it gave any."""
        frame = self._judgments
        if frame is None or "why" not in frame.columns:
            return [{} for _ in self.judges]
        out: dict[str, dict[int, dict[str, str]]] = {judge: {} for judge in self.judges}
        rows = frame.filter(pl.col("why").is_not_null())
        for judge, case, condition, model, sample, node, why in rows.select(
            "judge", "case_id", "condition", "model", "sample", "node_id", "why"
        ).iter_rows():
            if (place := self._places.get((case, condition, model, sample))) is not None:
                out[judge].setdefault(place, {})[node] = why
        return [out[judge] for judge in self.judges]

    @cached_property
    def texts(self) -> list[str]:
        """Every text that an answer has, once; `text_of` says which is whose."""
        return self.answers["text"].drop_nulls().unique(maintain_order=True).to_list()

    @cached_property
    def text_of(self) -> list[int]:
        """The place in `texts` of each answer's text, -1 where it has none."""
        places = {text: k for k, text in enumerate(self.texts)}
        return [-1 if text is None else places[text] for text in self.answers["text"].to_list()]

    def prompt(self, case: Case, condition: str) -> str:
        """Return the words of the prompt as it is built today; a chain's or an unknown condition's are not shown."""
        known = conditions().get(condition)
        if known is None or known.stage != "single" or not known.applies(case):
            return ""
        said = []
        for message in build_messages(case, known):
            parts = (
                message["content"] if isinstance(message["content"], list) else [{"text": message["content"]}]
            )
            said += [f"[{message['role']}]"] + [p.get("text") or "(picture)" for p in parts]
        return "\n\n".join(said)


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def _case(case: Case) -> dict[str, Any]:
    nodes = [
        {
            "id": n.id, "subtype": n.subtype, "region": n.region, "update": n.expected_update, "reason": n.reason,
            "where": n.where, "bbox": n.bbox, "chain": case.chain(n.id),
        }
        for n in case.constraint_nodes
    ]  # fmt: skip
    target = case.target
    return {
        "id": case.id, "instruction": case.instruction, "size": case.image_size, "source": case.source,
        "target": {"element": target.element, "region": target.region, "action": target.action, "bbox": target.bbox}, "nodes": nodes,
    }  # fmt: skip


def picture(case: Case, side: int, quality: int = 82) -> bytes | None:
    """Return a case's picture as JPEG, its longer side at most `side`; None if the picture is not there."""
    from PIL import Image

    try:
        made = prepare(case.image_path, side)
    except IcgError:
        return None
    if made.media_type == "image/jpeg":
        return made.data
    out = io.BytesIO()
    with Image.open(io.BytesIO(made.data)) as image:
        image.convert("RGB").save(out, "JPEG", quality=quality, optimize=True)
    return out.getvalue()


def data_url(jpeg: bytes | None) -> str:
    """Return a JPEG as a data URL, empty if there is none."""
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}" if jpeg else ""


def wish(
    head: Mapping[str, Any], *, model: str | Sequence[str] = "", condition: str | Sequence[str] = "", judge: str = "",
    subtype: str = "", found: bool | None = None, case: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Return what the explorer opens with; names that the run does not have are refused.

    Raises
    ------
    UnknownName
        For a model, condition, judge, subtype or case that the run does not have.
    """
    from icgkit.errors import UnknownName

    def checked(kind: str, given: str | Sequence[str], known: Sequence[str]) -> list[str]:
        names = [given] if isinstance(given, str) else list(given)
        for name in names:
            if name and name not in known:
                raise UnknownName.among(kind, name, known)
        return [n for n in names if n]

    out: dict[str, Any] = {
        "models": checked("model", model, head["models"]),
        "conditions": checked("condition", condition, [c["id"] for c in head["conditions"]]),
        "judge": "".join(checked("judge", judge, head["judges"])),
        "subtype": "".join(checked("subtype", subtype, [s["id"] for s in head["subtypes"]])),
        "case": "".join(checked("case", case, [c["id"] for c in head["cases"]])),
        "outcome": {None: "", True: "found", False: "missed"}[found],
    }
    return {k: v for k, v in out.items() if v}
