"""The four reference baselines: what each of them can find for an edit and an image."""

from __future__ import annotations

from functools import lru_cache

from icgforge.baselines.findings import Finding
from icgforge.baselines.priors import guesses
from icgforge.baselines.rules_image import LOOKS, unread
from icgforge.baselines.rules_text import RULES
from icgforge.baselines.seeing import Line, Sight, look
from icgforge.baselines.task import Edit
from icgforge.baselines.vision import observe
from icgkit.errors import UnknownName

MODELS: dict[str, str] = {
    "instruction-only": "reads the instruction and nothing else",
    "priors": "guesses what such an edit usually entails, without looking",
    "ocr-rules": "reads the text in the image and applies rules to it",
    "ocr-vision": "adds classical vision to the rules",
}
"""Name below `offline/` to what the baseline does."""


def sees(model: str) -> tuple[bool, bool]:
    """Return whether a baseline reads text in the image, and whether it looks at the rest."""
    if model not in MODELS:
        raise UnknownName.among("offline model", model, MODELS)
    return model in ("ocr-rules", "ocr-vision"), model == "ocr-vision"


def sight_of(model: str, image: bytes | None) -> Sight | None:
    """Return what the baseline reads from the image; None for one that does not look."""
    return look(image) if image and sees(model)[0] else None


@lru_cache(maxsize=4096)
def _candidates(model: str, edit: Edit, image: bytes | None) -> tuple[Finding, ...]:
    reads, watches = sees(model)
    if not reads or image is None:
        return tuple(guesses(edit, spread=model != "instruction-only"))
    sight = look(image)
    target = target_line(sight, edit)
    found = [f for rule in RULES.values() for f in rule(edit, sight, target)]
    if watches and target is not None:
        seen = observe(sight, target, edit.old)
        found += [f for rule in LOOKS for f in rule(edit, sight, target, seen)]
    elif watches:
        found += unread(edit)
    # What nothing was found of remains a weak guess.
    have = {f.subtype for f in found}
    found += [f.scored(0.6) for f in guesses(edit, spread=True) if f.subtype not in have]
    return tuple(sorted(found, key=lambda f: (-f.score, f.subtype, f.region)))


def candidates(model: str, edit: Edit, image: bytes | None) -> list[Finding]:
    """Return everything the baseline can say about the edit, with its evidence, best first."""
    return list(_candidates(model, edit, image))


def target_line(sight: Sight, edit: Edit) -> Line | None:
    """Return the line of text that the edit is about.

    Where the text stands more than once the larger one is taken.
    """
    return sight.find(edit.old, 0.9) or sight.find(edit.old, 0.6)
