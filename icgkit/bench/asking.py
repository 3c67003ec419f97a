"""How a judge of a sibling benchmark is asked about pictures: one question a call, by `icgkit.judge.ask`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icgkit.calls.cache import Cache
from icgkit.calls.limits import Limits
from icgkit.calls.request import Request
from icgkit.cases.images import prepare
from icgkit.judge.ask import Question, Verdict, ask
from icgkit.prompts.conditions import Condition, fill, judge_prompts


@dataclass(frozen=True, slots=True)
class Asking:
    """How a judge is asked: cache (recorded, or replayed), folder of the pictures, parameters of the calls.

    templates : folder with own templates in `judges/`.
    show_reference : GRADE: whether consistency is judged with the reference picture, too. The public judge
        does not see it; `offline/pixels` needs it to know what had to change.
    """

    cache: Cache
    root: str | Path | None = None
    params: Mapping[str, Any] | None = None
    templates: str | Path | None = None
    limits: Limits | None = None
    progress: bool = True
    dataset: str = ""
    show_reference: bool = False

    def template(self, name: str) -> Condition:
        """Return the template of a judge."""
        return judge_prompts(self.templates)[name]

    def ask(self, questions: Iterable[Question]) -> None:
        """Ask all that has yet to be asked."""
        ask(questions, cache=self.cache, limits=self.limits, progress=self.progress)


@dataclass(frozen=True, slots=True)
class Told:
    """What a judge is told of one answer: pictures with the label before each ("" for none), inputs, tags."""

    pictures: Callable[[], Iterable[tuple[str, Path]]]
    inputs: Mapping[str, Any]
    tags: Mapping[str, Any]


def question(
    judge: str, template: Condition, told: Told, read: Callable[[str | None], Verdict],
    *, params: Mapping[str, Any], blank: Mapping[str, Any], due: bool = True,
) -> Question:  # fmt: skip
    """Return a question about one answer; its verdict is `verdicts["answer"]`."""

    def build(_ids: Sequence[str], sample: int) -> Request:
        content: list[dict[str, Any]] = []
        for label, path in told.pictures():
            content += [{"type": "text", "text": label}] if label else []
            content.append({"type": "image_url", "image_url": {"url": prepare(path).data_url}})
        words = fill(template.body, told.inputs, f"judge {template.id}")
        content.append({"type": "text", "text": words})
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": template.system}, {"role": "user", "content": content},
        ]  # fmt: skip
        tags = {"kind": "judge", **told.tags, "template_sha256": template.sha256}
        return Request(judge, messages, params, sample, tags)

    def answered(reply: str | None, _ids: Sequence[str]) -> dict[str, Verdict]:
        return {"answer": read(reply)}

    return Question(("answer",), build, answered, blank, due=due)
