"""Offline forms of the intermediate steps: transcript, cleaned region, anonymised reason, false node, verification."""

from __future__ import annotations

import json
import re

from icgforge.baselines.baselines import candidates, sees, sight_of
from icgforge.baselines.lexicon import CONCEPT, quoted, stem
from icgforge.baselines.priors import GUESS, guesses
from icgforge.baselines.task import Task
from icgforge.baselines.verify import CONFIRM, check_node, guess_subtype, kind_of, overlap

_FIELD = re.compile(r"^\s*(region|reason|hidden type|type)\s*[:\uff1a]\s*(.+)$", re.I | re.M)
# Words that tell the kind of dependency, and the neutral word that stands in for them.
_NEUTRAL = {
    "reflection": "surface", "mirror": "surface", "shadow": "patch", "perspective": "surface",
    "occlusion": "object", "symmetry": "element", "repetition": "line of text", "price": "line of text",
    "total": "line of text", "discount": "line of text", "slogan": "line of text", "chart": "drawing",
    "legend": "line of text", "date": "line of text", "weekday": "line of text", "season": "area",
    "material": "surface", "scene": "area", "number": "line of text", "category": "line of text",
    "describe": "line of text", "calculate": "line of text", "font": "line of text", "tone": "line of text",
}  # fmt: skip
_ABOUT_TEXT = (
    "style_font",
    "style_layout",
    "semantic_",
    "spatial_repetition",
    "xmod_temporal",
    "xmod_cultural",
)
_PLAIN = frozenset(
    [
        "text",
        "line",
        "element",
        "value",
        "place",
        "part",
        "thing",
        "object",
        "other",
        "another",
        "edited",
        "new",
        "old",
        "same",
        "surface",
        "area",
    ]
)


def stage_answer(model: str, task: Task) -> str | None:
    """Return the answer to a stage's prompt, or None when the task is none."""
    fields = {k.lower(): v.strip() for k, v in _FIELD.findall(task.text)}
    if task.form == "transcript":
        return transcript(model, task)
    if task.form == "clean_region":
        return clean_region(fields.get("region", ""))
    if task.form == "anonymise":
        return anonymise(fields.get("reason", ""), fields.get("region", ""))
    if task.form == "false_node":
        return json.dumps(false_node(model, task), ensure_ascii=False)
    if task.form == "verify":
        return _verify(model, task)
    if task.form == "restate":
        return "\n".join(f"- {item}" for item in task.items) or "Nothing else in the picture has to change."
    return None


def transcript(model: str, task: Task) -> str:
    """List the text that OCR reads, top to bottom; a model that does not look reads nothing."""
    sight = sight_of(model, task.image)
    if sight is None or not sight.lines:
        return "No text can be read."
    rows = sorted(sight.lines, key=lambda line: (round(line.centre[1] / max(line.height, 1)), line.centre[0]))
    return "\n".join(f'"{r.text}", {sight.place(r.box)}, on a ground of its own' for r in rows)


def clean_region(region: str) -> str:
    """Take from a region name the words that hint at type or reason.

    Examples
    --------
    >>> clean_region('reflection of "OPEN" in the wet street, lower left')
    'surface in the street, lower left'
    """
    out = re.sub(
        r"\s*\(?(?:of|reading|saying|with)?\s*[\"\u201c\u201e'\u2018][^\"\u201d\u201c'\u2019]{1,80}[\"\u201d\u201c'\u2019]\)?",
        "",
        region,
    )
    words: list[str] = []
    for word in re.findall(r"[\w'-]+|[^\w\s]", out):
        concept = CONCEPT.get(stem(word.lower()).removesuffix("e"), "")
        if re.search(r"\d", word):
            continue
        if concept in _NEUTRAL:
            neutral = _NEUTRAL[concept]
            if word.lower() in (
                "wet",
                "shiny",
                "glossy",
                "mirrored",
                "reversed",
                "repeated",
                "second",
                "same",
            ):
                continue
            if not words or words[-1] != neutral:
                words.append(neutral)
        else:
            words.append(word)
    text = re.sub(r"\s+([,.;)])", r"\1", " ".join(words)).strip(" ,.;")
    return re.sub(r"(,\s*)+,", ",", text) or "a place in the picture"


def anonymise(reason: str, region: str) -> str:
    """Take names, quoted texts, numbers and region words out of a reason.

    Examples
    --------
    >>> anonymise('the price "$50" is 100 less 50%', "the price tag")
    'another element is a value less a value'
    """
    out = reason
    for said in quoted(reason):
        out = re.sub(
            r"[\"\u201c\u201e'\u2018]" + re.escape(said) + r"[\"\u201d\u201c'\u2019]", "another text", out
        )
    out = re.sub(r"[$\u20ac\u00a3\u00a5]?\d+(?:[.,:/]\d+)*\s?(?:%|kg|cm|km|g|am|pm)?", " a value ", out)
    hidden = {stem(w) for w in re.findall(r"[a-z]{3,}", region.lower())} - {stem(w) for w in _PLAIN}
    words: list[str] = []
    for word in re.findall(r"[\w'-]+|[^\w\s]", out):
        inner = words and word[:1].isupper() and not words[-1].endswith((".", ":"))
        words.append("another element" if stem(word.lower()) in hidden or inner else word)
    text = re.sub(r"\s+([,.;:)])", r"\1", " ".join(words))
    for again in ("another element", "another text", "a value"):
        text = re.sub(rf"(?:(?:the|a|an|one) )?{again}(?:(?: |, | of | the | and )*{again})*", again, text)
    return re.sub(r"another element another text", "another element", text).strip(" ,")


def anonymity_faults(anon: str, region: str) -> list[str]:
    """Name what a reason still gives away: region words, quoted texts, numbers.

    Examples
    --------
    >>> anonymity_faults('the tag says "50"', "price tag")
    ['quoted text: 50', 'number: 50', 'region word: tag']
    """
    hidden = {stem(w) for w in re.findall(r"[a-z]{3,}", region.lower())} - {stem(w) for w in _PLAIN}
    hidden -= {stem(w) for w in ("the", "and", "with", "from", "that", "for", "its", "which")}
    said = [f"quoted text: {q}" for q in quoted(anon)]
    said += [f"number: {n}" for n in re.findall(r"\d+(?:[.,]\d+)*", anon)]
    return said + [
        f"region word: {w}"
        for w in dict.fromkeys(re.findall(r"[a-z]{3,}", anon.lower()))
        if stem(w) in hidden
    ]


def false_node(model: str, task: Task) -> dict[str, str]:
    """Invent a believable node that nothing supports: the least supported kind, at a text that is there."""
    known = {kind_of(n) for n in task.nodes}
    seen: dict[str, float] = {}
    for f in candidates(model, task.edit, task.image):
        seen[f.subtype] = max(seen.get(f.subtype, 0.0), f.score)
    usual = {f.subtype: f.score for f in guesses(task.edit, spread=True)}
    # Believable by the kind of edit, not borne out by the picture.
    order = sorted(
        (n for n in GUESS if n not in known and n.startswith(_ABOUT_TEXT)),
        key=lambda n: (seen.get(n, 0.0) - usual.get(n, 0.0), n),
    ) or sorted(GUESS)
    kind = order[len(task.edit.instruction) % min(3, len(order))]
    _, update, reason = (p.format(old=f'"{task.edit.old}"', new=f'"{task.edit.new}"') for p in GUESS[kind])
    region = GUESS[kind][0].format(old=f'"{task.edit.old}"', new=f'"{task.edit.new}"')
    sight = sight_of(model, task.image)
    taken = " ".join(" ".join(n.values()) for n in task.nodes)
    if sight:
        free = [
            r
            for r in sight.lines
            if overlap(r.text, taken) < 0.3 and overlap(r.text, task.edit.old) < 0.3 and len(r.key) > 2
        ]
        if free:
            region = f'the text "{free[0].text}" at the {sight.place(free[0].box)}'
    return {
        "region": region,
        "constraint_type": kind,
        "expected_update": update,
        "reason": reason,
        "strength": "strong",
    }


def _verify(model: str, task: Task) -> str:
    rows = []
    for k, item in enumerate(task.items, 1):
        node = {
            "region": item.split(":")[0],
            "expected_update": item,
            "reason": item,
            "constraint_type": guess_subtype(item),
        }
        check = check_node(model, task, node)
        located = check.score >= CONFIRM * 0.7 if sees(model)[0] else True
        if '"forced"' in task.text:
            rows.append(
                {
                    "item": k,
                    "visible": located,
                    "dependent": check.holds,
                    "forced": check.holds,
                    "concrete": True,
                }
            )
        else:
            rows.append({"item": k, "locatable": located, "dependent": check.holds, "needed": check.holds})
    return json.dumps(rows)
