"""UniKE: do text edits of a unified model reach its images? Data file, its rules, the judge's reply.

A record is one edit of a subject; an attribute edit has up to four stages, a relation edit one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from icgkit.bench.common import listed, read_list, texts
from icgkit.prompts.replies import Mark, as_bool, plain, read_json

FAMILY_CATEGORIES = {
    "attribute": ("color", "material", "pattern", "shape", "size"),
    "relation": ("affiliation", "creator", "location", "occupation"),
}
STAGES = {"attribute": 4, "relation": 1}
_FIELDS = ("prompt", "gt", "gt_target", "image_prompt", "visual_target", "vqa_question")
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
_UNSPACED = re.compile(
    "[\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\U00020000-\U0003ffff]"
)
"""Letters of scripts that set no blanks between words, or put endings to them."""
Fault = Callable[[str, str, object], None]


class Edits(NamedTuple):
    """What a data file holds.

    instances : one row a stage: edit_id, instance_id, subject, category, source, stage, and the six
        fields of the stage.
    problems : place (record or stage), kind, detail: what is not of the documented form.
    """

    instances: pl.DataFrame
    problems: pl.DataFrame


def load_edits(path: str | Path) -> Edits:
    """Read a UniKE data file: a JSON list of records with `subject`, `category`, `source`, `stage_1` ...

    A stage that lacks a field of `_FIELDS` is left out and listed; a stage that is absent or null was found
    unsuitable by the makers and is no problem, unless it is the first. Edits are numbered in the
    order of the file, so the same subject may occur twice. A prompt with one `{}` gets its subject.
    """
    rows: list[dict[str, Any]] = []
    problems: list[tuple[str, str, str]] = []

    def fault(where: str, kind: str, detail: object) -> None:
        problems.append((where, kind, str(detail)[:200]))

    for place, record in enumerate(read_list(Path(path), "records")):
        rows += _stages(record, f"e{place:05d}", fault)
    kinds = texts("edit_id", "instance_id", "subject", "category", "source", "stage", *_FIELDS) | {
        "stage": pl.Int64
    }
    return Edits(pl.DataFrame(rows, schema=kinds), listed(problems, "place", "kind", "detail"))


def _stages(record: Mapping[str, Any], edit: str, fault: Fault) -> list[dict[str, Any]]:
    source, subject = record.get("source"), record.get("subject")
    source = source.strip().lower() if isinstance(source, str) else ""
    if source not in FAMILY_CATEGORIES:
        fault(edit, "unknown source", record.get("source"))
        return []
    if not isinstance(subject, str) or not subject.strip():
        fault(edit, "no subject", subject)
        return []
    category = str(record.get("category", "")).strip().lower()
    if category not in FAMILY_CATEGORIES[source]:
        fault(edit, "unknown category", record.get("category"))
    allowed = {f"stage_{k}": k for k in range(1, STAGES[source] + 1)}
    rows = []
    for name in sorted(k for k in record if k.startswith("stage_")):
        if name not in allowed:
            fault(f"{edit}.{name}", "unexpected stage", name)
        elif record[name] is not None and record[name] != {}:
            place, given = f"{edit}.s{allowed[name]}", record[name] if isinstance(record[name], dict) else {}
            fields = {
                f: given[f].strip() for f in _FIELDS if isinstance(given.get(f), str) and given[f].strip()
            }
            if absent := [f for f in _FIELDS if f not in fields]:
                fault(place, "missing field", ", ".join(absent))
                continue
            fields["prompt"] = filled(fields["prompt"], subject.strip())
            head = {"edit_id": edit, "instance_id": place, "subject": subject.strip(), "category": category}
            rows.append(head | {"source": source, "stage": allowed[name]} | fields)
    if not rows or rows[0]["stage"] != 1:
        fault(edit, "no stage 1", "")
    return rows


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Return a text as names are compared: without case, accents, hyphens and the possessive 's.

    Accents are dropped from Latin, Greek and Cyrillic letters; marks of other scripts are part of the
    letter and stay. So do `+`, `#`, `%`, `&` and signs of currencies, which tell names apart.
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
    """
    template = prompt.count("{") == prompt.count("}") == prompt.count("{}") == 1
    return prompt.replace("{}", subject) if template and not _holds(prompt, subject) else prompt


def _holds(prompt: str, subject: str) -> bool:
    """Say whether the public loader finds the subject: anywhere, whatever its case."""
    return subject.casefold() in prompt.casefold()


def place_of(text: str, value: str) -> int | None:
    """Return where the folded text first names a value as a word or words of its own; else None."""
    wanted = fold(value)
    if not wanted:
        return None
    if _UNSPACED.search(wanted):
        at = fold(text).find(wanted)
        return at if at >= 0 else None
    found = re.search(rf"(?<![\w+#]){re.escape(wanted)}(?:s|es)?(?![\w+#])", fold(text))
    return found.start() if found else None


def names(text: str, value: str) -> bool:
    """Say whether a text names a value as a word or words of its own (plural included)."""
    return place_of(text, value) is not None


def check_rules(instances: pl.DataFrame) -> pl.DataFrame:
    """Check the rules that the data file is made by: instance, `rule`, `severity`, `field`, `detail`.

    `statement`: a prompt is a statement to complete. `prompt_value`: it does not name the target (comparisons
    of size excepted). `image_value`: an image prompt names neither value; a note for comparisons of size,
    which have to show both objects. `pronoun`: none; a note for relation edits, whose examples use "his".
    `vqa_value`: the question names neither value (size excepted). `vqa_subject`: attribute: it names the
    subject (not checked for derived products at stage 4); relation: it does not. `same_value`: target equals
    original. `subject`: the prompt of stage 1, which is edited, names the subject (the public loader appends
    it otherwise). `tautology`: a visual target that says nothing. `length`: of the image prompt of a relation
    edit, a note.
    """
    rows = []
    for row in instances.iter_rows(named=True):
        for rule, field, broken, detail, *note in _checked(row):
            if broken:
                severity = "note" if any(note) else "breach"
                rows.append((row["instance_id"], rule, severity, field, detail[:200]))
    return listed(rows, "instance_id", "rule", "severity", "field", "detail")


def _checked(row: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return each check of a row: rule, field, whether it is broken, detail, whether that is a note."""
    size, relation, stage = row["category"] == "size", row["source"] == "relation", row["stage"]
    prompt, image, question, target = (
        row[f] for f in ("prompt", "image_prompt", "vqa_question", "gt_target")
    )
    asks = _QUESTION.match(prompt) or prompt.rstrip().endswith(("?", ".", "!"))
    told = names(question, row["subject"])
    same = _TAUTOLOGY.search(row["visual_target"])
    empty = same is not None and same.group(1).lower() == same.group(2).lower()
    words = len(image.split())
    pronouns = {field: _PRONOUN.search(row[field]) for field in ("prompt", "image_prompt")}
    values = (row["gt"], target)
    return [
        ("statement", "prompt", asks, prompt),
        ("prompt_value", "prompt", not size and names(prompt, target), target),
        *(("image_value", "image_prompt", names(image, v), v, size and stage > 1) for v in values),
        *(("vqa_value", "vqa_question", not size and names(question, v), v) for v in values),
        *(("pronoun", field, hit, hit.group(0) if hit else "", relation) for field, hit in pronouns.items()),
        ("subject", "prompt", stage == 1 and not _holds(prompt, row["subject"]), row["subject"]),
        ("vqa_subject", "vqa_question", told if relation else not told and stage < 4, row["subject"]),
        ("same_value", "gt_target", fold(row["gt"]) == fold(target), target),
        ("tautology", "visual_target", empty, row["visual_target"]),
        ("length", "image_prompt", relation and words > LONGEST_IMAGE_PROMPT, f"{words} words", True),
    ]


class VqaVerdict(NamedTuple):
    """A judge's reply: `matches` and `confidence` are None where they were not given; `status` says why."""

    matches: bool | None
    confidence: str | None
    observation: str | None
    explanation: str | None
    status: str


def read_verdict(text: str | None) -> VqaVerdict:
    """Read the judge's JSON strictly.

    Only true and false, as such or as the words true, false, yes, no, are verdicts: `"false"` is false,
    which a test for truth would take for true; 1, 0, "maybe" or a missing key are none. `status`: ok, empty,
    truncated, unreadable (no JSON object), incomplete (no verdict in it) or conflict (the key twice, with
    different values).
    """
    parsed = read_json(text, "object", ["matches_target"])
    if parsed.status != "ok" or not isinstance(parsed.value, dict):
        return VqaVerdict(None, None, None, None, "unreadable" if parsed.status == "ok" else parsed.status)
    raw = parsed.value.get("matches_target")
    said = {k: v for k, v in parsed.value.items() if isinstance(v, str)}
    matches, sure = as_bool(raw), said.get("confidence", "").strip().lower()
    status = "ok" if matches is not None else "conflict" if raw is Mark.CONFLICT else "incomplete"
    kept = sure if sure in CONFIDENCE else None
    return VqaVerdict(matches, kept, said.get("observation"), said.get("explanation"), status)
