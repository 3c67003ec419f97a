"""UniKE: do text edits of a unified model reach its images? Data file, its rules, the judge's reply.

The UniKE paper. A record is one edit of a subject; an attribute edit has up to four stages, a relation edit
one. Scores are in `icgkit.bench.unike.scores`, the edit mathematics in `icgkit.bench.unike.edit`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from icgkit.errors import SchemaError
from icgkit.files import read_file
from icgkit.prompts.replies import Mark, as_bool, plain, read_json
from icgkit.untrusted import json_value

if TYPE_CHECKING:
    import polars as pl

CATEGORIES = {
    "attribute": ("color", "material", "pattern", "shape", "size"),
    "relation": ("affiliation", "creator", "location", "occupation"),
}
STAGES = {"attribute": 4, "relation": 1}
FIELDS = ("prompt", "gt", "gt_target", "image_prompt", "visual_target", "vqa_question")
CONFIDENCE = ("high", "medium", "low")
LONGEST_IMAGE_PROMPT = 30
"""Words of a relation edit's image prompt; the rule says about 25."""

_QUESTION = re.compile(
    r"\W*(what|which|who|whom|whose|where|when|why|how|is|are|was|were|does|do|did|can|could|will)\b", re.I
)
_TAUTOLOGY = re.compile(r"\bthe (\w+)[\w ]*? must be (?:an? |the )?(\w+)\W*$", re.I)
_PRONOUN = re.compile(
    r"\b(it|its|he|him|his|she|her|hers|they|them|their|theirs|this|these|those|itself|himself|herself)\b|"
    r"\bthat (?!is\b|are\b|was\b|has\b|have\b|can\b)\w+", re.I,
)  # fmt: skip


class Edits(NamedTuple):
    """What a data file holds.

    instances : one row a stage: edit_id, instance_id, subject, category, source, stage, and the six
        fields of the stage.
    problems : place (record or stage), kind, detail: what is not of the documented form.
    """

    instances: pl.DataFrame
    problems: pl.DataFrame


def load_edits(path: str | Path) -> Edits:
    """Read a UniKE data file (a JSON list of records).

    Parameters
    ----------
    path : path
        Records with `subject`, `category`, `source` (attribute | relation) and `stage_1` to `stage_4`
        (relation: `stage_1`), each stage with the fields of `FIELDS`.

    Returns
    -------
    Edits
        A stage that lacks a field is left out and listed; a stage that is absent or null was found
        unsuitable by the makers and is no problem, unless it is the first. Edits are numbered in the
        order of the file, so the same subject may occur twice. A prompt with one `{}` gets its subject.

    Raises
    ------
    SchemaError
        If the file is no JSON list of objects.
    """
    import polars as pl

    path = Path(path)
    data = json_value(read_file(path), path.name)
    if not isinstance(data, list) or not all(isinstance(r, dict) for r in data):
        raise SchemaError(f"{path.name}: not a list of records", got=type(data).__name__)
    rows: list[dict[str, Any]] = []
    problems: list[dict[str, str]] = []
    for place, record in enumerate(data):
        rows += _stages(record, place, problems)
    words = dict.fromkeys(("edit_id", "instance_id", "subject", "category", "source"), pl.String)
    kinds: dict[str, Any] = words | {"stage": pl.Int64} | dict.fromkeys(FIELDS, pl.String)
    listed = dict.fromkeys(("place", "kind", "detail"), pl.String)
    return Edits(pl.DataFrame(rows, schema=kinds), pl.DataFrame(problems, schema=listed))


def _stages(record: Mapping[str, Any], place: int, problems: list[dict[str, str]]) -> list[dict[str, Any]]:
    edit = f"e{place:05d}"

    def fault(where: str, kind: str, detail: object) -> None:
        problems.append({"place": where, "kind": kind, "detail": str(detail)[:200]})

    source, subject = record.get("source"), record.get("subject")
    source = source.strip().lower() if isinstance(source, str) else source
    if not isinstance(source, str) or source not in CATEGORIES:
        fault(edit, "unknown source", source)
        return []
    if not isinstance(subject, str) or not subject.strip():
        fault(edit, "no subject", subject)
        return []
    category = str(record.get("category", "")).strip().lower()
    if category not in CATEGORIES[source]:
        fault(edit, "unknown category", record.get("category"))
    rows = []
    for name in sorted(k for k in record if k.startswith("stage_")):
        number = name.removeprefix("stage_")
        if number not in ("1", "2", "3", "4") or not 1 <= int(number) <= STAGES[source]:
            fault(f"{edit}.{name}", "unexpected stage", name)
            continue
        stage = record[name]
        if stage is None or stage == {}:
            continue
        absent = [
            f
            for f in FIELDS
            if not isinstance(stage, dict) or not isinstance(stage.get(f), str) or not stage[f].strip()
        ]
        if absent:
            fault(f"{edit}.s{number}", "missing field", ", ".join(absent))
            continue
        head = {"edit_id": edit, "instance_id": f"{edit}.s{number}", "subject": subject.strip()}
        fields = {f: stage[f].strip() for f in FIELDS}
        fields["prompt"] = filled(fields["prompt"], subject.strip())
        rows.append(head | {"category": category, "source": source, "stage": int(number)} | fields)
    if not rows or rows[0]["stage"] != 1:
        fault(edit, "no stage 1", "")
    return rows


_UNSPACED = re.compile(
    "[\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\U00020000-\U0003ffff]"
)
"""Letters of scripts that set no blanks between words, or put endings to them."""


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Return a text as names are compared: without case, accents, hyphens and the possessive 's.

    Accents are dropped from Latin, Greek and Cyrillic letters; marks of other scripts are part of the
    letter and stay. So do `+`, `#`, `%`, `&` and signs of currencies, which tell names apart.

    Examples
    --------
    >>> fold("Beyonc\u00e9's  BLUE-green"), fold("C++") == fold("C#"), fold("\u304c") == fold("\u304b")
    ('beyonce blue green', False, False)
    """
    low = re.sub(r"['\u2019]s\b", "", plain(text).casefold())
    return " ".join("".join(map(_letter, low)).split())


@lru_cache(maxsize=4096)
def _letter(char: str) -> str:
    base = unicodedata.normalize("NFD", char)[0]
    if "a" <= base <= "z" or "\u0370" <= base <= "\u04ff":
        return base
    if "\u0300" <= char <= "\u036f":  # an accent that composes with nothing
        return ""
    kind = unicodedata.category(char)
    return char if kind[0] in "LNM" or kind == "Sc" or char in "+#%&" else " "


def filled(prompt: str, subject: str) -> str:
    """Return a prompt with the subject in the place of its one `{}`, if it names the subject nowhere else.

    The public loader takes such prompts as templates, and appends the subject to one that has neither.

    Examples
    --------
    >>> filled("The capital of {} is", "Norway"), filled("The set {} of Norway is", "Norway")
    ('The capital of Norway is', 'The set {} of Norway is')
    """
    template = prompt.count("{") == prompt.count("}") == prompt.count("{}") == 1
    return prompt.replace("{}", subject) if template and not _holds(prompt, subject) else prompt


def _holds(prompt: str, subject: str) -> bool:
    """Say whether the public loader finds the subject: anywhere, whatever its case."""
    return subject.casefold() in prompt.casefold()


def place_of(text: str, value: str) -> int | None:
    """Return where a text first names a value as a word or words of its own, in the folded text; else None."""
    wanted = fold(value)
    if not wanted:
        return None
    if _UNSPACED.search(wanted):
        at = fold(text).find(wanted)
        return at if at >= 0 else None
    found = re.search(rf"(?<![\w+#]){re.escape(wanted)}(?:s|es)?(?![\w+#])", fold(text))
    return found.start() if found else None


def names(text: str, value: str) -> bool:
    """Say whether a text names a value as a word or words of its own (plural included).

    Examples
    --------
    >>> names("Two blue jays", "blue"), names("A blueprint", "blue"), names("Polka dots on it", "polka dot")
    (True, False, True)
    >>> names("\u4e00\u53ea\u84dd\u8272\u7684\u9e1f", "\u84dd\u8272")
    True
    """
    return place_of(text, value) is not None


def check_rules(instances: pl.DataFrame) -> pl.DataFrame:
    """Check the rules that the data file is made by.

    Returns
    -------
    polars.DataFrame
        One row a finding: `instance_id`, `rule`, `severity` (breach, or note where the source itself is
        of two minds), `field`, `detail`. Rules: `statement` (a prompt is a statement to complete),
        `prompt_value` (a prompt does not name the target; comparisons of size excepted),
        `image_value` (an image prompt names neither value; a note for comparisons of size, which have to
        show both objects), `pronoun` (a note for relation edits, whose examples use "his"),
        `vqa_value` (the question names neither value; size excepted), `vqa_subject` (attribute: names
        the subject, not checked for derived products at stage 4; relation: does not), `same_value`
        (target equals original), `subject` (the prompt of stage 1, which is edited, names the subject; the
        public loader appends it otherwise), `tautology` (a visual target that says nothing), `length`
        (image prompt of a relation edit, note).
    """
    import polars as pl

    rows = [f for row in instances.iter_rows(named=True) for f in _findings(row)]
    columns = dict.fromkeys(("instance_id", "rule", "severity", "field", "detail"), pl.String)
    return pl.DataFrame(rows, schema=columns)


def _findings(row: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    def found(rule: str, field: str, detail: str, severity: str = "breach") -> dict[str, str]:
        return {
            "instance_id": row["instance_id"],
            "rule": rule,
            "severity": severity,
            "field": field,
            "detail": detail[:200],
        }

    size, relation = row["category"] == "size", row["source"] == "relation"
    compared = size and row["stage"] > 1
    prompt, image, question = row["prompt"], row["image_prompt"], row["vqa_question"]
    if _QUESTION.match(prompt) or prompt.rstrip().endswith(("?", ".", "!")):
        yield found("statement", "prompt", prompt)
    if not size and names(prompt, row["gt_target"]):
        yield found("prompt_value", "prompt", row["gt_target"])
    for value in (row["gt"], row["gt_target"]):
        if names(image, value):
            yield found("image_value", "image_prompt", value, "note" if compared else "breach")
        if not size and names(question, value):
            yield found("vqa_value", "vqa_question", value)
    for field in ("prompt", "image_prompt"):
        if hit := _PRONOUN.search(row[field]):
            yield found("pronoun", field, hit.group(0), "note" if relation else "breach")
    if row["stage"] == 1 and not _holds(prompt, row["subject"]):
        yield found("subject", "prompt", row["subject"])
    told = names(question, row["subject"])
    if relation and told:
        yield found("vqa_subject", "vqa_question", row["subject"])
    if not relation and not told and row["stage"] < 4:
        yield found("vqa_subject", "vqa_question", row["subject"])
    if fold(row["gt"]) == fold(row["gt_target"]):
        yield found("same_value", "gt_target", row["gt_target"])
    same = _TAUTOLOGY.search(row["visual_target"])
    if same and same.group(1).lower() == same.group(2).lower():
        yield found("tautology", "visual_target", row["visual_target"])
    if relation and len(image.split()) > LONGEST_IMAGE_PROMPT:
        yield found("length", "image_prompt", f"{len(image.split())} words", "note")


class Verdict(NamedTuple):
    """A judge's reply: `matches` and `confidence` are None where they were not given; `status` says why."""

    matches: bool | None
    confidence: str | None
    observation: str | None
    explanation: str | None
    status: str


def read_verdict(text: str | None) -> Verdict:
    """Read the judge's JSON strictly.

    Only true and false, as such or as the words true, false, yes, no, are verdicts: `"false"` is false,
    which a test for truth would take for true; 1, 0, "maybe" or a missing key are none.

    Returns
    -------
    Verdict
        `status`: ok, empty, truncated, unreadable (no JSON object), incomplete (no verdict in it) or
        conflict (the key twice, with different values).

    Examples
    --------
    >>> read_verdict('{"observation": "a red cube", "matches_target": "false", "confidence": "High"}')[:2]
    (False, 'high')
    >>> read_verdict('{"matches_target": 1}').status
    'incomplete'
    """
    parsed = read_json(text, "object", ["matches_target"])
    if parsed.status != "ok" or not isinstance(parsed.value, dict):
        return Verdict(None, None, None, None, "unreadable" if parsed.status == "ok" else parsed.status)
    given = parsed.value
    raw = given.get("matches_target")
    matches = as_bool(raw)
    status = "ok" if matches is not None else "conflict" if raw is Mark.CONFLICT else "incomplete"
    sure = given.get("confidence")
    word = sure.strip().lower() if isinstance(sure, str) else None

    def said(name: str) -> str | None:
        return given[name] if isinstance(given.get(name), str) else None

    return Verdict(
        matches, word if word in CONFIDENCE else None, said("observation"), said("explanation"), status
    )
