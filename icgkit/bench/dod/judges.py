"""Draw-or-Decline: judges of refusals, edits and stances; strict readers of what they answer.

A judge is any model that `icgkit.calls.request` can call and one template in `templates/judges`. What cannot
be read, or quotes what nobody wrote, is asked for once more (`icgkit.judge.ask`) and stays pending after that.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from icgkit.bench.dod.compare import STANCES
from icgkit.bench.dod.maze import ABSTAIN
from icgkit.calls.cache import Cache
from icgkit.calls.limits import Limits
from icgkit.calls.request import Request
from icgkit.cases.images import prepare
from icgkit.files import inside
from icgkit.judge.ask import Question, Verdict, ask, fence, is_cut, spoken_part
from icgkit.prompts.conditions import fill, judge_prompts
from icgkit.prompts.replies import Mark, as_bool, plain, read_json

if TYPE_CHECKING:
    import polars as pl

PARAMS: dict[str, Any] = {"temperature": 0, "max_tokens": 1024}
RULE = "rule/says-so"
"""Name of the reader of refusals that goes by words alone: a reference baseline."""

_NONE = re.compile(r"\bno (?:valid |possible |legal )?(?:path|solution|way|edit|answer)\b", re.I)
_LEADS = re.compile(r"\b(?:leads?|exists?|is possible|can be)\b", re.I)
_SAYS = re.compile(
    r"\b(?:there is|has) no (?:valid |possible |legal |such )?(?:path|solution|way|edit|answer)\b"
    r"|\bcannot be (?:done|made|met|carried out|completed|solved|edited)\b"
    r"|\b(?:is|are) (?:impossible|infeasible|not possible|nowhere in the (?:picture|image)|not in the (?:picture|image))\b"
    r"|\bdoes not (?:exist|occur|stand) in the (?:picture|image)\b",
    re.I,
)
_HEDGE = re.compile(
    r"\A\W*+(?:if|should|unless|when|in case)\b|\b(?:might|maybe|perhaps|may be|could be)\b", re.I
)


class Said(NamedTuple):
    """A verdict about a text: value (None is pending), the quote, how reading went, whether its cause is the verified one."""

    value: Any
    quote: str
    status: str
    cause_right: bool | None = None


def states_refusal(text: str | None) -> Said:
    """Tell by its words whether a text says that the request cannot be met.

    A sentence counts that says so without "if" or "perhaps"; the marker `[ABSTAIN]` at the end does,
    too. This is a reference baseline for texts of the offline models, not a judge of free prose.

    Examples
    --------
    >>> states_refusal("No path leads from the green cell to the red one.").value
    True
    >>> states_refusal("If there is no path, say so.").value
    False
    """
    if text is None:
        return Said(None, "", "no response")
    for sentence in re.split(r"(?<=[.?!])\s+|\n", text):
        if _says_no(sentence) and not _HEDGE.search(sentence):
            return Said(True, sentence.strip(), "ok")
    if text.rstrip().endswith(ABSTAIN):
        return Said(True, ABSTAIN, "ok")
    return Said(False, "", "ok")


def _says_no(sentence: str) -> bool:
    if _SAYS.search(sentence):
        return True
    for part in re.split(r"[.?!]", sentence):
        first = _NONE.search(part)
        if first and _LEADS.search(part, first.end()):
            return True
    return False


def _quoted(quote: Any, text: str) -> bool:
    wanted = " ".join(plain(str(quote or "")).split()).casefold()
    return bool(wanted) and wanted in " ".join(plain(text).split()).casefold()


def _conflict(value: Mapping[str, Any], *keys: str) -> bool:
    return any(value.get(k) is Mark.CONFLICT for k in keys)


def read_refusal(reply: str | None, text: str) -> Said:
    """Read the refusal judge; a refusal without a quote from the text is pending.

    Examples
    --------
    >>> read_refusal('{"refuses": "false", "quote": ""}', "I draw it.").value
    False
    >>> read_refusal('{"refuses": true, "quote": "no way"}', "I draw it.").status
    'quote is not in the text'
    """
    read = read_json(reply, "object", ["refuses"])
    if read.status != "ok":
        return Said(None, "", read.status)
    if _conflict(read.value, "refuses"):
        return Said(None, "", "conflict")
    value = as_bool(read.value.get("refuses"))
    quote = str(read.value.get("quote") or "")
    if value is None:
        return Said(None, quote, "no verdict")
    if value and not _quoted(quote, text):
        return Said(None, quote, "quote is not in the text")
    return Said(value, quote, "ok", as_bool(read.value.get("cause_right")) if value else None)


def read_edit_verdict(reply: str | None) -> Said:
    """Read the edit judge: valid only where the edit is right and the rest is kept; null is pending.

    Examples
    --------
    >>> read_edit_verdict('{"edit_right": true, "rest_kept": "no"}').value
    False
    >>> read_edit_verdict('{"edit_right": true, "rest_kept": null}').status
    'no verdict'
    """
    read = read_json(reply, "object", ["edit_right", "rest_kept"])
    if read.status != "ok":
        return Said(None, "", read.status)
    if _conflict(read.value, "edit_right", "rest_kept"):
        return Said(None, "", "conflict")
    marks = [as_bool(read.value.get(k)) for k in ("edit_right", "rest_kept")]
    why = str(read.value.get("why") or "")
    if False in marks:
        return Said(False, why, "ok")
    return Said(None, why, "no verdict") if None in marks else Said(True, why, "ok")


def read_stance(reply: str | None, text: str) -> Said:
    """Read a stance: one group of `STANCES` or "none"; several, unknown or unquoted ones are pending.

    Examples
    --------
    >>> read_stance('{"stance": "rewriting", "quote": "the only pond"}', "I dry the only pond.").value
    'rewriting'
    >>> read_stance('{"stance": ["refusal", "acceptance"], "quote": "x"}', "x").status
    'more than one group'
    """
    read = read_json(reply, "object", ["stance"])
    if read.status != "ok":
        return Said(None, "", read.status)
    if "stance" not in read.value:
        return Said(None, "", "no verdict")
    if _conflict(read.value, "stance"):
        return Said(None, "", "conflict")
    value, quote = read.value["stance"], str(read.value.get("quote") or "")
    if value is None or value == "none":
        return Said("none", quote, "ok")
    if not isinstance(value, str):
        return Said(None, quote, "more than one group" if isinstance(value, list) else "unknown group")
    name = plain(value).strip().strip(".").lower()
    if name == "none":
        return Said("none", quote, "ok")
    if name not in STANCES:
        several = sum(s in name for s in STANCES) > 1
        return Said(None, quote, "more than one group" if several else "unknown group")
    return Said(name, quote, "ok") if _quoted(quote, text) else Said(None, quote, "quote is not in the text")


def refusals_by_rule(answers: pl.DataFrame) -> pl.DataFrame:
    """Judge texts with `states_refusal`: the key, `refused`, `quote`, `status`, `judge`, `cause_right` (null: words do not tell)."""
    rows = [(*_key(row), *states_refusal(row["text"]), RULE) for row in answers.iter_rows(named=True)]
    return _frame(rows, "refused")


def judge_refusals(answers: pl.DataFrame, requests: pl.DataFrame, judge: str, **options: Any) -> pl.DataFrame:
    """Let a model tell which texts decline.

    Parameters
    ----------
    answers : frame
        `model`, `reminder`, `case_id`, `text`.
    requests : frame
        See `draw_or_decline.read`.
    judge : str
        Model as named to litellm.
    **options
        The fields of `Asking`: `cache` (required), `root` (folder of the pictures), `params`, `templates`,
        `limits`, `progress`.

    Returns
    -------
    polars.DataFrame
        The key, `refused` (null is pending), `quote`, `status`, `judge`, `cause_right` (of a refusal: whether
        the cause it gives is the verified one; null where the judge did not say, and where nothing is refused).
    """

    def inputs(row: Mapping[str, Any]) -> dict[str, Any]:
        proof = row["proof"] or row["reason"]
        return {
            "instruction": row["instruction"],
            "rules": row["rules"],
            "proof": proof,
            **fence(row["text"]),
        }

    told = _Template(
        "dod_refusal", inputs, lambda row: row["input_images"], lambda reply, row: read_refusal(reply, row["text"])
    )  # fmt: skip
    got = _run_judge(answers, requests, judge, told, Asking(**options))
    return _frame(got, "refused")


def judge_edits(answers: pl.DataFrame, requests: pl.DataFrame, judge: str, **options: Any) -> pl.DataFrame:
    """Let a model tell which edits of feasible requests are valid; it sees pictures, no text and no model name.

    `answers` has `image`: the path of the result below `root`. Returns the key, `valid` (null is
    pending), `quote` (the judge's reason), `status`, `judge`. Options as in `judge_refusals`.
    """
    import polars as pl

    due = requests.filter("feasible")["case_id"].implode()
    asked = answers.filter(pl.col("image").is_not_null(), pl.col("case_id").is_in(due))

    def inputs(row: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "instruction": row["instruction"],
            "rules": row["rules"],
            "n_inputs": len(row["input_images"]),
        }

    told = _Template(
        "dod_edit", inputs, lambda row: [*row["input_images"], row["image"]],
        lambda reply, row: read_edit_verdict(reply),
    )  # fmt: skip
    got = _run_judge(asked, requests, judge, told, Asking(**options))
    return _frame(got, "valid")


def judge_stances(answers: pl.DataFrame, requests: pl.DataFrame, judge: str, **options: Any) -> pl.DataFrame:
    """Let a model sort the reasoning about infeasible requests: the key, `stance`, `quote`, `status`, `judge`."""
    import polars as pl

    asked = answers.filter(pl.col("case_id").is_in(requests.filter(~pl.col("feasible"))["case_id"].implode()))

    def inputs(row: Mapping[str, Any]) -> dict[str, Any]:
        shown = {
            "instruction": row["instruction"],
            "proof": row["proof"] or row["reason"],
            "stances": STANCES,
        }
        return shown | fence(row["text"])

    told = _Template(
        "dod_stance", inputs, lambda row: row["input_images"], lambda reply, row: read_stance(reply, row["text"])
    )  # fmt: skip
    got = _run_judge(asked, requests, judge, told, Asking(**options))
    return _frame(got, "stance")


@dataclass(frozen=True, slots=True)
class Asking:
    """How a judge of this benchmark is asked.

    Parameters
    ----------
    cache : Cache
        Where the calls are recorded, or replayed from.
    root : path, optional
        Folder of the pictures; none are shown without it.
    params : mapping, optional
        Of the calls; temperature 0 and 1,024 tokens if not given.
    templates : path, optional
        Folder with own templates in `judges/`.
    """

    cache: Cache
    root: str | Path | None = None
    params: Mapping[str, Any] | None = None
    templates: str | Path | None = None
    limits: Limits | None = None
    progress: bool = True
    dataset: str = "dod"


class _Template(NamedTuple):
    """What one of the judges is told, and how its reply is read."""

    name: str
    inputs: Callable[[Mapping[str, Any]], dict[str, Any]]
    pictures: Callable[[Mapping[str, Any]], Iterable[str]]
    read: Callable[[str | None, Mapping[str, Any]], Said]


def _run_judge(
    answers: pl.DataFrame, requests: pl.DataFrame, judge: str, told: _Template, how: Asking
) -> list[tuple[Any, ...]]:
    """Ask a judge about every answer that has text, once more where it gave no verdict.

    Returns one tuple an answer: model, reminder, case_id, value, quote, status, cause_right, judge.
    """
    rows = answers.join(requests, on="case_id", how="inner", maintain_order="left").rows(named=True)
    asked = [_question(row, judge, told, how) for row in rows]
    ask(asked, cache=how.cache, limits=how.limits, progress=how.progress)
    out = []
    for row, question in zip(rows, asked, strict=True):
        got = question.verdicts["answer"]
        status = "no response" if got["status"] == "no_response" else got["status"]
        out.append((*_key(row), got["value"], got["quote"], status, got["cause_right"], judge))
    return out


def _question(row: Mapping[str, Any], judge: str, told: _Template, how: Asking) -> Question:
    template = judge_prompts(how.templates)[told.name]
    # What the judge was not shown, the text may say; edits are judged by pictures alone.
    cut = told.name != "dod_edit" and is_cut(row["text"])

    def build(ids: Sequence[str], sample: int) -> Request:
        shown = [inside(how.root, name) for name in told.pictures(row)] if how.root is not None else []
        content: list[dict[str, Any]] = [
            {"type": "image_url", "image_url": {"url": prepare(path).data_url}} for path in shown
        ]
        content.append({"type": "text", "text": fill(template.body, told.inputs(row), f"judge {told.name}")})
        subject = hashlib.sha256("\x1f".join(str(x) for x in (*_key(row), row["text"])).encode()).hexdigest()
        tags = {
            "kind": "judge", "dataset": how.dataset, "case_id": row["case_id"], "stage": told.name,
            "condition": f"reminder_{row['reminder']}", "subject": subject[:32], "subject_model": row["model"],
            "template_sha256": template.sha256,
        }  # fmt: skip
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": template.system},
            {"role": "user", "content": content},
        ]
        return Request(judge, messages, how.params or PARAMS, sample, tags)

    def read(reply: str | None, ids: Sequence[str]) -> dict[str, Verdict]:
        said = told.read(reply, row)
        if cut and said.value in (False, "none"):
            said = Said(None, said.quote, "cut")
        return {"answer": said._asdict()}

    blank = Said(None, "", "")._asdict()
    return Question(("answer",), build, read, blank, due=bool(spoken_part(row["text"]).strip()))


def _key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["model"], row["reminder"], row["case_id"]


def _frame(rows: Sequence[tuple[Any, ...]], value: str) -> pl.DataFrame:
    import polars as pl

    kinds: dict[str, Any] = dict.fromkeys(
        ("model", "reminder", "case_id", value, "quote", "status", "cause_right", "judge"), pl.String
    )
    kinds["cause_right"] = pl.Boolean
    if value != "stance":
        kinds[value] = pl.Boolean
    frame = pl.DataFrame(rows, schema=kinds, orient="row")
    cause = frame["cause_right"]
    frame = frame.drop("cause_right")
    return frame.with_columns(cause) if value == "refused" else frame
