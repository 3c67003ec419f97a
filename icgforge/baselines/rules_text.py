"""Rules over lines of text: what an attentive reader with arithmetic and a calendar would notice."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator

from icgforge.baselines.findings import Finding
from icgforge.baselines.lexicon import CONCEPT, fold, stem
from icgforge.baselines.numbers import amounts, relations
from icgforge.baselines.seeing import Line, Sight, likeness, squeeze
from icgforge.baselines.task import MONTHS, WEEKDAYS, Edit
from icgforge.baselines.world import (
    ANSWERS_TO,
    PROMOTION,
    REFERENCE,
    SEASON_WORDS,
    TIME_PARTS,
    season_of,
    tone,
    worlds,
)

Rule = Callable[[Edit, Sight, "Line | None"], Iterator[Finding]]


def _at(line: Line, sight: Sight) -> str:
    return f'the text "{line.text}" at the {sight.place(line.box)}'


def _others(sight: Sight, target: Line | None) -> Iterator[Line]:
    return (line for line in sight.lines if line is not target)


def repetition(edit: Edit, sight: Sight, target: Line | None) -> Iterator[Finding]:
    """Find the edited text elsewhere."""
    old = squeeze(edit.old)
    for line in _others(sight, target):
        alike = likeness(old, line.key)
        if target is None or len(old) < 2 or alike < 0.8:
            continue
        if re.fullmatch(r"\d+", old) and old != line.key and not re.search(rf"(?<!\d){old}(?!\d)", line.text):
            continue
        yield Finding(
            "spatial_repetition",
            f'the second occurrence of "{edit.old}" in the line "{line.text}" at the {sight.place(line.box)}',
            f'change "{edit.old}" to "{edit.new}" there too',
            f'the same text "{edit.old}" is repeated in this place, and both copies have to stay identical',
            0.7 + 0.28 * alike if alike > 0.9 or old in line.key else 0.55 * alike, line.box, line.text,
        )  # fmt: skip


def numerical(edit: Edit, sight: Sight, target: Line | None) -> Iterator[Finding]:
    """Find numbers that are computed from the edited one."""
    if edit.kind not in ("percent", "price", "number", "year"):
        return
    for rel in relations(edit.old, edit.new, amounts(sight.lines, target)):
        line = rel.result.line
        yield Finding(
            "semantic_numerical",
            _at(line, sight),
            f'"{rel.result.written}" becomes "{rel.becomes}"',
            f"this number is calculated from the edited value: {rel.how} gives {rel.becomes}",
            rel.score, line.box, line.text,
        )  # fmt: skip


def _day(text: str) -> datetime.date | None:
    low = text.lower()
    month = next((i + 1 for i, m in enumerate(MONTHS) if re.search(rf"\b{m[:3]}", low)), None)
    day = re.search(r"\b(\d{1,2})(?:st|nd|rd|th)?\b", low)
    year = re.search(r"\b((?:19|20)\d\d)\b", low)
    try:
        if month and day and year:
            return datetime.date(int(year[1]), month, int(day[1]))
    except ValueError:
        return None
    return None


def temporal(edit: Edit, sight: Sight, target: Line | None) -> Iterator[Finding]:
    """Find weekdays, dates, seasons and hours that have to agree with an edited time."""
    feast = "festive" in (tone(edit.old), tone(edit.new))
    if edit.kind not in ("date", "month", "weekday", "time", "year") and not feast:
        return
    year = next((m[0] for line in sight.lines if (m := re.search(r"\b20\d\d\b", line.text))), "")
    date = _day(edit.new) or (_day(f"{edit.new} {year}") if year else None)
    for line in _others(sight, target):
        low = line.text.lower()
        words = set(re.findall(r"[a-z]+", low))
        day = next((d for d in WEEKDAYS if d in words or d[:3] in words), None)
        month = next((m for m in MONTHS if m in words or (m[:3] in words and m != "may")), None)
        what = "feast" if feast else edit.kind
        why = f"it has to agree with the {what} that is edited from {edit.old} to {edit.new}"
        if day:
            to = (
                f'"{day.title()}" becomes "{WEEKDAYS[date.weekday()].title()}"'
                if date
                else f'"{line.text}" becomes the weekday that belongs to {edit.new}'
            )
            yield Finding(
                "xmod_temporal",
                _at(line, sight),
                to,
                f"the weekday follows from the date; {why}",
                0.9 if edit.kind != "year" else 0.7,
                line.box,
                line.text,
            )
        elif month or (feast and re.search(r"\b\d{1,2}[./]\d{1,2}", low)):
            yield Finding(
                "xmod_temporal",
                _at(line, sight),
                f'"{line.text}" is brought in line with {edit.new}',
                f"this date or month belongs to the same time; {why}",
                0.8,
                line.box,
                line.text,
            )
        elif (season := words & SEASON_WORDS.keys()) and edit.kind in ("date", "month"):
            clash = SEASON_WORDS[sorted(season)[0]] != season_of(edit.new)
            yield Finding(
                "xmod_temporal",
                _at(line, sight),
                f'"{line.text}" is replaced by wording for {season_of(edit.new) or "the new season"}',
                f"these words speak of another season than {edit.new}; {why}",
                0.85 if clash else 0.3,
                line.box,
                line.text,
            )
        elif edit.kind == "time" and (words & TIME_PARTS or re.search(r"\d{1,2}[:.]\d{2}|\b[ap]m\b", low)):
            yield Finding(
                "xmod_temporal",
                _at(line, sight),
                f'"{line.text}" is changed so that it fits {edit.new}',
                f"this time of day depends on the edited hour; {why}",
                0.75,
                line.box,
                line.text,
            )
        elif re.search(r"\b(?:19|20)\d\d\b|\d+\s*years|anniversary|since|est\.?\b", low) and edit.kind in (
            "year",
            "date",
        ):
            yield Finding(
                "xmod_temporal",
                _at(line, sight),
                f'"{line.text}" is worked out again for {edit.new}',
                f"the year or age follows from the edited date; {why}",
                0.7,
                line.box,
                line.text,
            )


def promotional(edit: Edit, sight: Sight, target: Line | None) -> Iterator[Finding]:
    """Find advertising copy that goes with the old offer."""
    if edit.kind not in ("percent", "price", "number", "phrase", "word"):
        return
    x = 0.85 if edit.kind in ("percent", "price") else 0.4
    for line in _others(sight, target):
        low = line.text.lower()
        if hits := PROMOTION.findall(low):
            yield Finding(
                "semantic_promotional",
                f'the slogan "{line.text}" at the {sight.place(line.box)}',
                f'reword "{line.text}" so that it fits {edit.new}',
                f"this promotional message only makes sense with the old offer of {edit.old}",
                x + 0.05 * min(len(hits), 3), line.box, line.text,
            )  # fmt: skip


def functional(edit: Edit, sight: Sight, target: Line | None) -> Iterator[Finding]:
    """Find lines that refer to the edited text by its place or role."""
    old_words = set(re.findall(r"[a-z]{4,}", edit.old.lower()))
    for line in _others(sight, target):
        low = line.text.lower()
        shared = old_words & set(re.findall(r"[a-z]{4,}", low))
        points = REFERENCE.search(low)
        if not (shared or points) or likeness(squeeze(edit.old), line.key) > 0.95:
            continue
        score = 0.9 if shared and points else 0.62 if points else 0.55
        yield Finding(
            "semantic_functional",
            f'the line "{line.text}" at the {sight.place(line.box)}',
            f'"{line.text}" has to refer to "{edit.new}" instead of "{edit.old}"',
            "this entry points to the edited heading or label by its name, so the reference would lead nowhere",
            score, line.box, line.text,
        )  # fmt: skip


def categorical(edit: Edit, sight: Sight, target: Line | None) -> Iterator[Finding]:
    """Find descriptions that belong to the old class or name."""
    if edit.kind not in ("word", "phrase"):
        return
    for line in _others(sight, target):
        low = line.text.lower()
        words = [CONCEPT.get(fold(stem(w)), "") for w in re.findall(r"[a-z]+", low)]
        told = "describe" in words or "category" in words or ":" in line.text or ANSWERS_TO.search(low)
        if not told:
            continue
        below = target is not None and 0 < line.centre[1] - target.centre[1] < sight.height * 0.3
        yield Finding(
            "semantic_categorical",
            f'the description "{line.text}" at the {sight.place(line.box)}',
            f'replace "{line.text}" by what is true of {edit.new}',
            f"this line states an attribute of {edit.old}, which does not hold for {edit.new}",
            0.7 if below else 0.55, line.box, line.text,
        )  # fmt: skip


def visual_data(edit: Edit, sight: Sight, target: Line | None) -> Iterator[Finding]:
    """Suspect a chart where many short numbers stand in a row or column."""
    numeric = [n for n in sight.lines if re.fullmatch(r"[^a-z]{0,2}\d[\d.,]*[%kKmM]?", n.text)]
    if edit.kind in ("number", "percent", "price") and len(numeric) >= 3:
        near = sight.place(target.box) if target else "centre"
        yield Finding(
            "semantic_visual_data",
            f"the bar, slice or needle of the chart that belongs to the label {edit.old} at the {near}",
            f"redraw the bar, slice or pointer so that it shows {edit.new}",
            f"the chart draws the edited value; its length or angle encodes {edit.old}",
            min(0.4 + 0.07 * len(numeric), 0.8), target.box if target else None,
        )  # fmt: skip


def font(edit: Edit, sight: Sight, target: Line | None) -> Iterator[Finding]:
    """Find siblings of the same size and colour."""
    if target is None:
        return
    near = [o for o in _others(sight, target) if abs(o.height - target.height) < 0.25 * target.height]
    kin = [o for o in near if _alike(o.ink, target.ink, 110) or _in_line(o, target)]
    for line in kin[:3]:
        yield Finding(
            "style_font",
            f'the sibling text "{line.text}" at the {sight.place(line.box)}',
            f'keep typeface, weight, size and case of "{line.text}" and "{edit.new}" the same',
            "both texts are set in one font style as a group, so the new lettering has to match its siblings",
            0.62 if _in_line(line, target) else 0.45, line.box, line.text,
        )  # fmt: skip


def layout(edit: Edit, sight: Sight, target: Line | None) -> Iterator[Finding]:
    """Find neighbours that a longer or shorter text pushes."""
    if target is None or 0.8 < edit.growth < 1.25:
        return
    h, more = target.height, edit.growth > 1
    for line in _others(sight, target):
        beside = abs(line.centre[1] - target.centre[1]) < 0.7 * h and 0 <= line.box[0] - target.box[2] < 4 * h
        under = 0 <= line.box[1] - target.box[3] < 0.8 * h and abs(line.centre[0] - target.centre[0]) < 3 * h
        if beside or under:
            yield Finding(
                "style_layout",
                f'the neighbouring text "{line.text}" {"beside" if beside else "below"} the edited text at the {sight.place(line.box)}',
                f'move or resize "{line.text}" so that the layout makes room for "{edit.new}"' if more else f'move "{line.text}" closer, so that no gap is left by "{edit.new}"',
                f"the new text is {'longer' if more else 'shorter'} and takes {'more' if more else 'less'} space, so the spacing changes",
                (0.8 if beside else 0.5) * (1 if edit.growth > 1.4 or edit.growth < 0.7 else 0.75), line.box, line.text,
            )  # fmt: skip


def cultural(edit: Edit, sight: Sight, target: Line | None) -> Iterator[Finding]:
    """Notice a change of tone or language, and lines in the old one."""
    old, new = tone(edit.old), tone(edit.new)
    if not new or old == new:
        return
    for line in _others(sight, target):
        here = tone(line.text)
        if here and here != new:
            yield Finding(
                "xmod_cultural",
                _at(line, sight),
                f'reword "{line.text}" in the {new} tone of "{edit.new}"',
                f'its {here} register or custom clashes with the {new} tone of the new text',
                0.8, line.box, line.text,
            )  # fmt: skip


def scene(edit: Edit, sight: Sight, target: Line | None) -> Iterator[Finding]:
    """Find lines that belong to another world than the new text."""
    new = worlds(edit.new)
    for line in _others(sight, target):
        here = worlds(line.text)
        if here and new and not here & new:
            yield Finding(
                "xmod_scene",
                _at(line, sight),
                f'replace "{line.text}" by something that fits {edit.new}',
                f"it belongs to a {sorted(here)[0]} scene and contradicts {edit.new}",
                0.75, line.box, line.text,
            )  # fmt: skip


def symmetry(edit: Edit, sight: Sight, target: Line | None) -> Iterator[Finding]:
    """Find a counterpart on the other side of the middle axis."""
    if target is None:
        return
    cx, cy = target.centre
    if abs(cx - sight.width / 2) < 0.12 * sight.width:
        return
    for line in _others(sight, target):
        x, y = line.centre
        if (
            abs(sight.width - x - cx) < 0.06 * sight.width
            and abs(y - cy) < target.height
            and abs(line.height - target.height) < 0.2 * target.height
        ):
            yield Finding(
                "spatial_symmetry",
                f'the counterpart "{line.text}" on the opposite side at the {sight.place(line.box)}',
                f'adapt "{line.text}" so that both halves stay balanced with "{edit.new}"',
                "the two texts face each other across the axis of a symmetric design",
                0.7, line.box, line.text,
            )  # fmt: skip


def _in_line(line: Line, target: Line) -> bool:
    """Say whether two lines share a row, a left side or a middle axis."""
    row = abs(line.centre[1] - target.centre[1]) < target.height * 0.6
    left = abs(line.box[0] - target.box[0]) < target.height
    return row or left or abs(line.centre[0] - target.centre[0]) < target.height


def _alike(a: tuple[int, ...], b: tuple[int, ...], limit: int) -> bool:
    return sum(abs(p - q) for p, q in zip(a, b, strict=True)) < limit


RULES: dict[str, Rule] = {
    "spatial_repetition": repetition,
    "semantic_numerical": numerical,
    "xmod_temporal": temporal,
    "semantic_promotional": promotional,
    "semantic_functional": functional,
    "semantic_categorical": categorical,
    "semantic_visual_data": visual_data,
    "style_font": font,
    "style_layout": layout,
    "xmod_cultural": cultural,
    "xmod_scene": scene,
    "spatial_symmetry": symmetry,
}
