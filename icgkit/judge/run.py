"""Judge the responses of a run: the same code behind `icgkit run`, `icgkit judge` and a batch."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from icgkit.calls.cache import Cache
from icgkit.calls.limits import Limits
from icgkit.calls.models import different_names
from icgkit.calls.record import Record
from icgkit.calls.request import Request
from icgkit.cases.dataset import Dataset
from icgkit.errors import UnknownName
from icgkit.files import read_parquet, replacing
from icgkit.judge.ask import Judge, Question, ask
from icgkit.judge.kinds import Kind, find_kind, judge_name, kinds, marks
from icgkit.judge.nodes import Nodes, nodes_of, question_of, verdict_frame
from icgkit.judge.probes import guesses, probe_leakage, read_adversarial
from icgkit.schemas import Schema, schema

Answered = tuple[Mapping[str, Any], Judge, Question]


@dataclass
class Panel:
    """Judges with the kinds that each marks, at work on the responses of one dataset."""

    dataset: Dataset
    judges: Sequence[tuple[Judge, Sequence[str]]]
    families: Mapping[str, str] = field(default_factory=dict)
    named: Container[str] = ()
    _asked: dict[tuple[Any, ...], Question] = field(default_factory=dict, init=False, repr=False)
    _nodes: dict[str, Nodes | None] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Every kind is known, and no two judges of one kind are called the same."""
        for name in self.kinds():
            names = [judge_name(judge, name) for judge, own in self.judges if name in own]
            different_names(f"judges of {name}", names)
        self._cases = {case.id: case for case in self.dataset}

    def kinds(self) -> list[str]:
        """Return the kinds that are marked, in the order of the rule book."""
        known: dict[str, None] = {}
        for judge, own in self.judges:
            for name in own:
                find_kind(name, judge.templates)
            known |= dict.fromkeys(kinds(judge.templates))
        return [name for name in known if any(name in own for _, own in self.judges)]

    def marked(self, judge: Judge, own: Iterable[str], condition: str) -> Iterator[Kind]:
        """Yield the kinds that a judge marks responses under a condition by."""
        known = kinds(judge.templates)
        for name in own:
            rule = known[name]
            if rule.of_responses and marks(
                rule, condition, self.families.get(condition, ""), asked=self.named
            ):
                yield rule

    def questions(self, row: Mapping[str, Any]) -> Iterator[tuple[Kind, Answered]]:
        """Yield what is asked about one response (a row of schema `responses`); asked once, whoever comes first."""
        case = self._cases.get(row["case_id"])
        if case is None:
            raise UnknownName.among(f"case in {self.dataset.name}", row["case_id"], self._cases)
        for judge, own in self.judges:
            for rule in self.marked(judge, own, row["condition"]):
                if rule.id not in self._nodes:
                    self._nodes[rule.id] = nodes_of(rule, self.dataset)
                place = (*(row[k] for k in schema("responses").key), row["key"], rule.id, id(judge))
                question = self._asked.get(place)
                if question is None:
                    made = question_of(rule, judge, row, case, self._nodes[rule.id])
                    if made is None:
                        continue
                    question = self._asked[place] = made
                yield rule, (row, judge, question)

    def follow(self, record: Record) -> Iterable[Request]:
        """Return the judges' calls about a response as soon as it is there: what `Plan.then` is."""
        if record.status != "ok" or not record.text:
            return
        row = {name: getattr(record, name) for name in schema("responses").columns}
        row["model"] = record.label or record.model
        for _, (_, _, question) in self.questions(row):
            if question.due:
                yield question.request()

    def requests(self, responses: pl.DataFrame) -> Iterator[Request]:
        """Yield the first call of everything that would be asked; of a leakage probe, its guesses."""
        for row in responses.iter_rows(named=True):
            if row["case_id"] in self._cases:
                for _, (_, _, question) in self.questions(row):
                    if question.due:
                        yield question.request()
        for judge, own in self.judges:
            if any(find_kind(name, judge.templates).about == "reasons" for name in own):
                for guess in guesses(self.dataset, judge):
                    yield guess.question.request()

    def judge(
        self, responses: pl.DataFrame, cache: Cache, *, limits: Limits | None = None, progress: bool = True
    ) -> dict[str, pl.DataFrame]:
        """Ask what has yet to be asked about responses, and lay out all verdicts: frame by name of its file."""
        by_kind: dict[str, list[Answered]] = {}
        rules: dict[str, Kind] = {}
        for row in schema("responses").check(responses).iter_rows(named=True):
            for rule, answered in self.questions(row):
                rules[rule.id] = rule
                by_kind.setdefault(rule.id, []).append(answered)
        ask((a[2] for many in by_kind.values() for a in many), cache=cache, limits=limits, progress=progress)
        found: dict[str, list[pl.DataFrame]] = {}
        for name in self.kinds():
            if name in by_kind:
                found.setdefault(rules[name].frame, []).append(verdict_frame(rules[name], by_kind[name]))
        for judge, own in self.judges:
            for name in own:
                rule = find_kind(name, judge.templates)
                if rule.about == "reasons":
                    got = probe_leakage(self.dataset, judge, cache=cache, limits=limits, progress=progress)
                    found.setdefault(rule.frame, []).append(got)
                elif rule.about == "labels" and rule.frame not in found:
                    found[rule.frame] = [read_adversarial(cache, dataset=self.dataset.name)]
        return {name: pl.concat(parts, how="diagonal") for name, parts in found.items()}

    def schema_of(self, frame: str) -> Schema:
        """Return the columns of one of the frames that `judge` gives."""
        for judge, own in self.judges:
            for name in own:
                if (rule := find_kind(name, judge.templates)).frame == frame:
                    return rule.schema()
        return schema(frame)

    def keep(self, frames: Mapping[str, pl.DataFrame], folder: Path) -> dict[str, pl.DataFrame]:
        """Write frames of verdicts into a cache's folder, over what was there; return the whole of each."""
        return {
            name: merge_verdicts(folder / f"{name}.parquet", self.schema_of(name), frame)
            for name, frame in frames.items()
        }


USABLE = ("ok", "not_applicable", "no_response")
"""Statuses of rows that a judge need not be asked about again: a verdict, or nothing to judge."""


def without_verdict(frame: pl.DataFrame) -> int:
    """Return how many rows have no usable verdict although there was a response to judge."""
    if "status" not in frame.columns:
        return 0
    return frame.filter(~frame["status"].is_in(USABLE)).height


def verdict_lines(frames: Mapping[str, pl.DataFrame]) -> list[str]:
    """Return one line for each frame of verdicts: rows, those without a verdict and why, by judge."""
    lines = []
    for name, frame in frames.items():
        line = f"{name}: {frame.height:,d} rows"
        if "status" not in frame.columns:
            lines.append(line)
            continue
        silent = frame.filter(pl.col("status") == "no_response").height
        line += f", {without_verdict(frame):,d} without a verdict"
        lines.append(line + (f", {silent:,d} without a response to judge" if silent else ""))
        bad = frame.filter(~pl.col("status").is_in(USABLE))
        by = [c for c in ("judge", "status") if c in bad.columns]
        counts = (
            bad.group_by(by)
            .agg(pl.len(), pl.col("case_id").min())
            .sort("len", *by, descending=[True] + [False] * len(by))
        )
        for *names, n, case_id in counts.head(3).iter_rows():
            lines.append(f"  {n:,d} x {': '.join(names)} (e.g. case {case_id})")
    return lines


def merge_verdicts(path: Path, form: Schema, new: pl.DataFrame) -> pl.DataFrame:
    """Write verdicts into a file: over what it had for the same keys, beside the rest; return the whole."""

    def own(frame: pl.DataFrame) -> pl.DataFrame:
        return form.check(frame).select(c for c in form.columns if c in frame.columns)

    if "status" in new.columns:  # what a stopped judging did not come to takes nobody's place
        new = new.filter(pl.col("status").ne_missing("not_asked"))
    if path.is_file():
        old = own(read_parquet(path)).join(new, on=form.key, how="anti", nulls_equal=True)
        new = pl.concat([old, own(new)], how="diagonal")
    new = form.check(new.sort(form.key))
    with replacing(path, sync=True) as stream:
        new.write_parquet(stream, compression="zstd", compression_level=19, statistics=False)
    return new
