"""Offline form of rewriting a request for an editor, or declining it because its target is not there.

Models that do not look take the request as it is. Those that read look for the text that is to be
replaced and say so when they do not find it; they abstain where the prompt offers that, and write an
instruction nevertheless where it does not.
"""

from __future__ import annotations

from icgforge.baselines.baselines import sees, sight_of
from icgforge.baselines.seeing import Line, Sight, likeness, squeeze
from icgforge.baselines.task import Task

LEAST = 0.8
"""Likeness to the wanted text from which a line counts as showing it."""


def rewrites(task: Task) -> bool:
    """Say whether a prompt asks for an instruction to an editor."""
    return "refined edit instruction" in task.cues


def rewrite_or_decline(model: str, task: Task) -> str:
    """Return the answer: what was looked for and found, then the instruction or the marker."""
    edit = task.edit
    line = f'REFINED EDIT INSTRUCTION: Replace the text "{edit.old}" by "{edit.new}" and leave everything else as it is.'
    sight = sight_of(model, task.image)
    if sight is None:
        return f'The request is about the text "{edit.old}"; afterwards it reads "{edit.new}".\n{line}'
    place = find_text(sight, edit.old, joined=sees(model)[1])
    if place:
        return f'The text "{edit.old}" stands at the {place}; afterwards it reads "{edit.new}".\n{line}'
    said = f'The text "{edit.old}" is not in the picture, so that this request cannot be met.'
    return f"{said}\n[ABSTAIN]" if "[abstain]" in task.cues else f"{said}\n{line}"


def find_text(sight: Sight, text: str, *, joined: bool) -> str:
    """Return where a text stands, in words, or nothing; `joined` also looks across neighbouring lines."""
    if found := sight.find(text, LEAST):
        return sight.place(found.box)
    if joined:
        want = squeeze(text)
        lines = sorted(sight.lines, key=lambda at: (at.centre[1], at.centre[0]))
        for first in lines:
            run = [first]
            while len(run) < 4 and (after := _next(run[-1], lines)) is not None:
                run.append(after)
                if likeness(want, "".join(at.key for at in run)) >= LEAST:
                    return sight.place(first.box)
    return ""


def _next(line: Line, lines: list[Line]) -> Line | None:
    """Return the line that follows: right of it at the same height, or the next one below it."""
    x0, _, x1, y1 = line.box
    near = [
        (abs(o.centre[1] - line.centre[1]) + 0.3 * abs(o.box[0] - x1), o) for o in lines
        if o is not line and o.box[0] >= x1 - line.height and abs(o.centre[1] - line.centre[1]) < 0.5 * line.height
    ] + [
        (o.box[1] - y1 + line.height, o) for o in lines
        if o is not line and o.centre[1] > y1 and o.box[1] - y1 < 1.2 * line.height and o.box[0] < x1 and o.box[2] > x0
    ]  # fmt: skip
    return min(near, key=lambda pair: pair[0])[1] if near else None
