"""What a prompt draws attention to, and which findings are told because of it."""

from __future__ import annotations

import re
from functools import lru_cache

from icgforge.baselines.findings import Finding, best_first
from icgforge.baselines.task import Task
from icgkit.taxonomy import SUBTYPES

BASE = 0.9
"""Evidence without which a finding is not told unasked."""

_CUES = {
    "physical_reflection": r"shiny|gloss|wet\b|reflect",
    "spatial_mirror": r"mirror",
    "physical_shadow": r"shadow",
    "physical_perspective": r"slanted|curved face|perspective|foreshorten",
    "physical_occlusion": r"\bcover|occlu|\bhidden",
    "spatial_symmetry": r"symmetr|counterpart",
    "spatial_repetition": r"same text|repeats? |repetition|second place|copies",
    "semantic_numerical": r"numbers? (?:that|is|are)|another number|comput|worked out|calculat",
    "semantic_categorical": r"class or brand|attributes|captions? that speak",
    "semantic_functional": r"place or role|legends?\b|table of contents",
    "semantic_promotional": r"slogan|advert|promotion",
    "semantic_visual_data": r"chart|gauge",
    "style_font": r"typeface|whose style|\bfont",
    "style_color": r"colou?r (?:scheme|code)",
    "style_layout": r"neighbours? to move|new length|room it takes",
    "style_material": r"carved|stitched|material",
    "xmod_scene": r"the scene\b|scene (?:around|shows)",
    "xmod_temporal": r"weekday|seasons?|clocks?|\bdates?\b|time that no longer",
    "xmod_cultural": r"customs?|\btone\b|language",
}
_FAMILY = {
    "physical": r"\bphysical|\blight\b|depth",
    "spatial": r"\bspatial|balance",
    "semantic": r"\bsemantic|through meaning",
    "style": r"\bstyl|through design",
    "cross_modal": r"cross-modal|pictured world|world that the picture",
}
_WIDE = r"whole picture|whole image|entire (?:picture|image)|other elements|every region|search the picture|every other part"
_DOUBT = r"in doubt, report|be thorough|leave nothing out|report it"
_STRICT = r"no evidence|only what the (?:picture|image)|really shows"


@lru_cache(maxsize=512)
def thresholds(cues: str) -> dict[str, float]:
    """Return for each subtype how much evidence a prompt with these words asks for.

    A kind that the prompt names needs least; a family that it names, a call to look at the whole
    picture, or to report when in doubt, lower the bar by less.

    Examples
    --------
    >>> plain, asked = thresholds("write down every point"), thresholds("look at shiny surfaces")
    >>> plain["physical_reflection"] > asked["physical_reflection"]
    True
    """
    wide = 0.16 if re.search(_WIDE, cues) else 0.0
    doubt = 0.1 if re.search(_DOUBT, cues) else 0.0
    strict = 0.04 if re.search(_STRICT, cues) else 0.0
    out = {}
    for name, sub in SUBTYPES.items():
        named = 0.42 if re.search(_CUES[name], cues) else 0.0
        family = 0.14 if re.search(_FAMILY[sub.category], cues) else 0.0
        out[name] = max(BASE - wide - doubt - named - family + strict, 0.3)
    return out


def told(found: list[Finding], task: Task) -> list[Finding]:
    """Choose the findings that an answer to this prompt would name.

    A prompt that asks for nothing in particular gets the few that stand out; one that names
    things to look for gets what was found of each, weak evidence included.
    """
    bar = thresholds(task.cues)
    passed = [f for f in found if f.score >= bar[f.subtype]]
    asked = sum(v <= BASE - 0.25 for v in bar.values())
    limit = 3 + (3 if min(bar.values()) < BASE - 0.05 else 0) + min(asked, 8)
    each: dict[str, int] = {}
    kept = []
    for f in best_first(passed, 60):
        each[f.subtype] = each.get(f.subtype, 0) + 1
        if each[f.subtype] <= 3:
            kept.append(f)
    return kept[:limit]
