"""Draw-or-Decline: judges of refusals, edits and stances; strict readers of what they answer.

What cannot be read, or quotes what nobody wrote, is asked for once more and stays pending after that.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from icgkit.bench.asking import Asking, Told, question
from icgkit.bench.common import texts
from icgkit.bench.dod.maze import ABSTAIN
from icgkit.bench.dod.scores import STANCES
from icgkit.files import inside
from icgkit.judge.ask import Question, Verdict, fence, is_cut, spoken_part
from icgkit.prompts.replies import Mark, as_bool, plain, read_json

_PARAMS: dict[str, Any] = {"temperature": 0, "max_tokens": 1024}
RULE = "rule/says-so"
"""Name of the reader of refusals that goes by words alone: a reference baseline."""
_NONE = re.compile(r"\bno (?:valid |possible |legal )?(?:path|solution|way|edit|answer)\b", re.I)
_LEADS = re.compile(r"\b(?:leads?|exists?|is possible|can be)\b", re.I)
_SAYS = re.compile(
    r"\b(?:there is|has) no (?:valid |possible |legal |such )?(?:path|solution|way|edit|answer)\b"
    r"|\bcannot be (?:done|made|met|carried out|completed|solved|edited)\b"
    r"|\b(?:is|are) (?:impossible|infeasible|not possible|(?:nowhere|not) in the (?:picture|image))\b"
    r"|\bdoes not (?:exist|occur|stand) in the (?:picture|image)\b",
    re.I,
)
_HEDGE = re.compile(
    r"\A\W*+(?:if|should|unless|when|in case)\b|\b(?:might|maybe|perhaps|may be|could be)\b", re.I
)
_UNQUOTED = "quote is not in the text"
_Row = Mapping[str, Any]


class Said(NamedTuple):
    """A verdict about a text (None is pending), its quote, how reading went, whether its cause is right."""

    value: Any
    quote: str
    status: str
    cause_right: bool | None = None


def states_refusal(text: str | None) -> Said:
    """Tell by its words whether a text says that the request cannot be met.

    A sentence counts that says so without "if" or "perhaps"; the marker `[ABSTAIN]` at the end does,
    too. This is a reference baseline for texts of the offline models, not a judge of free prose.
    """
    if text is None:
        return Said(None, "", "no response")
    for sentence in re.split(r"(?<=[.?!])\s+|\n", text):
        if _says_no(sentence) and not _HEDGE.search(sentence):
            return Said(True, sentence.strip(), "ok")
    declines = text.rstrip().endswith(ABSTAIN)
    return Said(declines, ABSTAIN if declines else "", "ok")


def _says_no(sentence: str) -> bool:
    if _SAYS.search(sentence):
        return True
    firsts = [(part, _NONE.search(part)) for part in re.split(r"[.?!]", sentence)]
    return any(first and _LEADS.search(part, first.end()) for part, first in firsts)


def quotes(quote: Any, text: str) -> bool:
    """Say whether a quote stands in a text, whatever its case and blanks."""
    wanted = " ".join(plain(str(quote or "")).split()).casefold()
    return bool(wanted) and wanted in " ".join(plain(text).split()).casefold()


def _fields(reply: str | None, *keys: str) -> tuple[_Row, str]:
    """Return the object of a reply, and how reading went."""
    read = read_json(reply, "object", list(keys))
    if read.status != "ok":
        return {}, str(read.status)
    return read.value, "conflict" if any(read.value.get(k) is Mark.CONFLICT for k in keys) else "ok"


def read_refusal(reply: str | None, text: str) -> Said:
    """Read the refusal judge; a refusal without a quote from the text is pending."""
    told, status = _fields(reply, "refuses")
    if status != "ok":
        return Said(None, "", status)
    value, quote = as_bool(told.get("refuses")), str(told.get("quote") or "")
    if value is None:
        return Said(None, quote, "no verdict")
    if value and not quotes(quote, text):
        return Said(None, quote, _UNQUOTED)
    return Said(value, quote, "ok", as_bool(told.get("cause_right")) if value else None)


def read_edit_verdict(reply: str | None) -> Said:
    """Read the edit judge: valid only where the edit is right and the rest is kept; null is pending."""
    told, status = _fields(reply, "edit_right", "rest_kept")
    if status != "ok":
        return Said(None, "", status)
    valid = both_hold(as_bool(told.get("edit_right")), as_bool(told.get("rest_kept")))
    return Said(valid, str(told.get("why") or ""), "no verdict" if valid is None else "ok")


def both_hold(*marks: bool | None) -> bool | None:
    """Return false if one is false, else None if one is not known, else true."""
    return False if False in marks else None if None in marks else True


def read_stance(reply: str | None, text: str) -> Said:
    """Read a stance: one group of `STANCES` or "none"; several, unknown or unquoted ones are pending."""
    told, status = _fields(reply, "stance")
    if status != "ok" or "stance" not in told:
        return Said(None, "", status if status != "ok" else "no verdict")
    value, quote = told["stance"], str(told.get("quote") or "")
    name = plain(value).strip().strip(".").lower() if isinstance(value, str) else value
    if name is None or name == "none":
        return Said("none", quote, "ok")
    if isinstance(name, str) and name in STANCES:
        return Said(name, quote, "ok") if quotes(quote, text) else Said(None, quote, _UNQUOTED)
    several = isinstance(name, list) or (isinstance(name, str) and sum(s in name for s in STANCES) > 1)
    return Said(None, quote, "more than one group" if several else "unknown group")


def refusals_by_rule(answers: pl.DataFrame) -> pl.DataFrame:
    """Judge texts with `states_refusal`: as `judge_refusals`, `cause_right` null (words do not tell)."""
    told = [(*_key(row), *states_refusal(row["text"]), RULE) for row in answers.iter_rows(named=True)]
    return judgments(told, "refused")


def judge_refusals(answers: pl.DataFrame, requests: pl.DataFrame, judge: str, **options: Any) -> pl.DataFrame:
    """Let a model (as named to litellm) tell which texts decline; `options` are the fields of `Asking`.

    `answers` has `model`, `reminder`, `case_id`, `text`. Returns the key, `refused` (null is pending),
    `quote`, `status`, `judge`, `cause_right` (of a refusal: whether the cause it gives is the verified one;
    null where the judge did not say, and where nothing is refused).
    """
    return judgments(_asked(answers, requests, judge, "dod_refusal", Asking(**options)), "refused")


def judge_edits(answers: pl.DataFrame, requests: pl.DataFrame, judge: str, **options: Any) -> pl.DataFrame:
    """Let a model tell which edits of feasible requests are valid; it sees pictures, no text, no model name.

    `answers` has `image`: the path of the result below `root`. Returns the key, `valid` (null is
    pending), `quote` (the judge's reason), `status`, `judge`. Options as in `judge_refusals`.
    """
    due = requests.filter("feasible")["case_id"].implode()
    shown = answers.filter(pl.col("image").is_not_null(), pl.col("case_id").is_in(due))
    return judgments(_asked(shown, requests, judge, "dod_edit", Asking(**options)), "valid")


def judge_stances(answers: pl.DataFrame, requests: pl.DataFrame, judge: str, **options: Any) -> pl.DataFrame:
    """Let a model sort the reasoning about infeasible requests: key, `stance`, `quote`, `status`, `judge`."""
    due = requests.filter(~pl.col("feasible"))["case_id"].implode()
    reasoned = answers.filter(pl.col("case_id").is_in(due))
    return judgments(_asked(reasoned, requests, judge, "dod_stance", Asking(**options)), "stance")


def _asked(
    answers: pl.DataFrame, requests: pl.DataFrame, judge: str, name: str, how: Asking
) -> list[tuple[Any, ...]]:
    """Ask a judge about every answer that has text; return the rows of `judgments`."""
    rows = answers.join(requests, on="case_id", how="inner", maintain_order="left").rows(named=True)
    asked = [_question(row, judge, name, how) for row in rows]
    how.ask(asked)
    out = []
    for row, one in zip(rows, asked, strict=True):
        got = one.verdicts["answer"]
        status = "no response" if got["status"] == "no_response" else got["status"]
        out.append((*_key(row), got["value"], got["quote"], status, got["cause_right"], judge))
    return out


_READ: dict[str, Callable[[str | None, str], Said]] = {
    "dod_refusal": read_refusal, "dod_stance": read_stance,
    "dod_edit": lambda reply, _text: read_edit_verdict(reply),
}  # fmt: skip
"""Template of a judge to the reader of its reply."""


def _question(row: _Row, judge: str, name: str, how: Asking) -> Question:
    # What the judge was not shown, a text may say; edits are judged by pictures alone.
    edit = name == "dod_edit"
    cut = not edit and is_cut(row["text"])

    def read(reply: str | None) -> Verdict:
        said = _READ[name](reply, row["text"])
        return (Said(None, said.quote, "cut") if cut and said.value in (False, "none") else said)._asdict()

    def pictures() -> list[tuple[str, Path]]:
        shown = [*row["input_images"], row["image"]] if edit else row["input_images"]
        return [] if how.root is None else [("", inside(how.root, picture)) for picture in shown]

    inputs = {
        "instruction": row["instruction"], "rules": row["rules"], "proof": row["proof"] or row["reason"],
        "stances": STANCES, "n_inputs": len(row["input_images"]), **fence(row["text"]),
    }  # fmt: skip
    subject = hashlib.sha256("\x1f".join(str(x) for x in (*_key(row), row["text"])).encode()).hexdigest()
    tags = {
        "dataset": how.dataset or "dod", "case_id": row["case_id"], "stage": name,
        "condition": f"reminder_{row['reminder']}", "subject": subject[:32], "subject_model": row["model"],
    }  # fmt: skip
    blank, due = Said(None, "", "")._asdict(), bool(spoken_part(row["text"]).strip())
    told = Told(pictures, inputs, tags)
    return question(judge, how.template(name), told, read, params=how.params or _PARAMS, blank=blank, due=due)


def _key(row: _Row) -> tuple[str, str, str]:
    return row["model"], row["reminder"], row["case_id"]


def judgments(rows: Sequence[tuple[Any, ...]], value: str) -> pl.DataFrame:
    """Return judgments as a frame; `cause_right` is told of refusals only.

    The rows are model, reminder, case_id, value, quote, status, cause_right, judge.
    """
    kinds = texts("model", "reminder", "case_id", value, "quote", "status", "cause_right", "judge")
    kinds |= {"cause_right": pl.Boolean} | ({} if value == "stance" else {value: pl.Boolean})
    frame = pl.DataFrame(rows, schema=kinds, orient="row")
    last = ["cause_right"] if value == "refused" else []
    return frame.select(pl.exclude("cause_right"), *last)
