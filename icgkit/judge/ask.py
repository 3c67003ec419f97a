"""Ask a judge: once, and once more for what came back without a verdict or with two. The one loop of every judge.

A question is about one or more things (`ids`). It knows how to build the call about some of them and how to
read the reply; the second call follows from the record of the first (`Request.then`), so that judging runs
alone (`ask`) or streams behind what is judged, and gives the same either way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from icgkit.calls.cache import Cache
from icgkit.calls.engine import call_many
from icgkit.calls.limits import Limits
from icgkit.calls.models import Model
from icgkit.calls.record import Record
from icgkit.calls.request import Request, merged
from icgkit.prompts.replies import strip_thinking

Verdict = dict[str, Any]
"""What a judge says of one thing: its fields, None without a verdict, and a `status`."""
PARAMS: dict[str, Any] = {"temperature": 0, "max_tokens": 4096}
"""Parameters of a judge's calls where none are given."""
SETTLED = ("ok", "not_applicable", "cut")
"""Statuses that a judge is not asked about again."""
MAX_RESPONSE = 60_000
"""How many characters of a response a judge is shown."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Who judges: a model, whose words it is told, and which repeat it is.

    Parameters
    ----------
    model : str or Model
        As named to litellm (temperature 0 and 4,096 tokens then), or with a label and parameters of its own.
    templates : path, optional
        Folder with own templates in `judges/`. A judge that is told other words is another judge, see `icgkit.judge.kinds.judge_name`.
    sample : int
        Index of a repeated judging; from 1 on it is added to the judge's name as `#1`.

    Examples
    --------
    >>> Judge("gpt-4o", sample=1).asked.params["max_tokens"]
    4096
    """

    model: str | Model
    templates: str | Path | None = None
    sample: int = 0

    @property
    def asked(self) -> Model:
        """The model that is called."""
        return self.model if isinstance(self.model, Model) else Model(self.model, PARAMS)

    @classmethod
    def of(cls, judge: str | Model | Judge) -> Judge:
        """Return a judge from whatever names one."""
        return judge if isinstance(judge, Judge) else cls(judge)


@dataclass
class Question:
    """One question to a judge about `ids`: `build` makes the call about some of them, `read` reads its reply.

    `blank` are the fields of a verdict that there is none of; `due` is False where there is nothing to judge.
    """

    ids: tuple[str, ...]
    build: Callable[[Sequence[str], int], Request]
    read: Callable[[str | None, Sequence[str]], dict[str, Verdict]]
    blank: Mapping[str, Any]
    due: bool = True
    sample: int = 0
    verdicts: dict[str, Verdict] = field(init=False)
    record: Record | None = field(default=None, init=False)
    """Of the last call."""

    def __post_init__(self) -> None:
        """Nothing has been asked yet."""
        self.verdicts = self._all(self.ids, "not_asked" if self.due else "no_response")

    def _all(self, ids: Iterable[str], status: str) -> dict[str, Verdict]:
        return {i: {**self.blank, "status": status} for i in ids}

    @property
    def open(self) -> bool:
        """Whether it has yet to be asked."""
        return self.due and self.record is None

    def request(self) -> Request:
        """Return the first call; the second one, if it takes one, follows from it."""
        return self._call(self.ids, 0)

    def _call(self, ids: Sequence[str], attempt: int) -> Request:
        return replace(self.build(ids, 2 * self.sample + attempt), then=partial(self._answered, ids, attempt))

    def _answered(self, ids: Sequence[str], attempt: int, record: Record) -> list[Request]:
        self.record = record
        got = self.read(record.text, ids) if record.status == "ok" else self._all(ids, record.status)
        self.verdicts |= got
        again = [i for i in ids if got[i]["status"] not in SETTLED]
        return [self._call(again, 1)] if again and attempt == 0 else []


def ask(
    questions: Iterable[Question], *, cache: Cache, limits: Limits | None = None, progress: bool = True
) -> None:
    """Ask every question that has yet to be asked; one that a stopped run does not come to stays `not_asked`."""
    due = [question for question in questions if question.open]
    if due:
        call_many([question.request() for question in due], cache=cache, limits=limits, progress=progress)


def with_params(judge: str | Model, params: Mapping[str, Any] | None) -> Model:
    """Return a judge as a model; `params` are laid over its own, or over `PARAMS`."""
    model = Judge.of(judge).asked
    return replace(model, params=merged(model.params, params)) if params else model


def fence(text: str) -> dict[str, str]:
    """Return a response, without its thoughts, as the template's inputs `response` and `mark`.

    The mark is a hash of the response, which so cannot contain it and pretend to end early.
    """
    spoken = spoken_part(text)
    mark = hashlib.sha256(spoken.encode("utf-8", "replace")).hexdigest()[:32]
    if len(spoken) > MAX_RESPONSE:
        note = (
            f"[CUT {mark}: these are the first {MAX_RESPONSE:,} of {len(spoken):,} characters. "
            "What the rest says is not known.]"
        )
        spoken = f"{spoken[:MAX_RESPONSE]}\n\n{note}"
    return {"response": spoken, "mark": mark}


def spoken_part(text: str | None) -> str:
    """Return a response without its thoughts; unchanged if there are none, empty if there is nothing else."""
    spoken = strip_thinking(text or "")
    return spoken if spoken == text else spoken.strip()


def is_cut(text: str | None) -> bool:
    """Say whether a judge is shown only a part of a response."""
    return len(text or "") > MAX_RESPONSE and len(spoken_part(text)) > MAX_RESPONSE
