from __future__ import annotations

from collections import Counter

import pytest

from icgkit.errors import UnknownName
from icgkit.taxonomy import CATEGORIES, INDIRECTNESS, RULES, SUBTYPES, category, subtype


def test_five_categories_and_nineteen_subtypes_with_the_studys_counts() -> None:
    # 4 physical, 3 spatial, 5 semantic, 4 style, 3 cross-modal (study, section 2)
    counts = Counter(s.category for s in SUBTYPES.values())
    assert counts == {"physical": 4, "spatial": 3, "semantic": 5, "style": 4, "cross_modal": 3}
    assert list(counts) == list(CATEGORIES)


def test_ids_are_prefix_and_name() -> None:
    for name, s in SUBTYPES.items():
        prefix = "xmod" if s.category == "cross_modal" else s.category
        assert name == f"{prefix}_{s.label.lower().replace(' ', '_')}"


def test_levels_that_the_study_states() -> None:
    stated = {s.id: s.indirectness for s in SUBTYPES.values() if s.indirectness_stated}
    assert stated == {
        "semantic_numerical": 0,
        "semantic_visual_data": 0,
        "xmod_scene": 3,
        "xmod_cultural": 3,
    }
    assert {s.indirectness for s in SUBTYPES.values()} == set(INDIRECTNESS)


def test_colors_are_distinct() -> None:
    assert len({c.color for c in CATEGORIES.values()}) == 5


def test_rules_name_known_subtypes() -> None:
    assert {name for rule in RULES for name in rule.between} <= set(SUBTYPES)


def test_unknown_names_say_what_is_close() -> None:
    with pytest.raises(UnknownName, match="did you mean 'style_font'"):
        subtype("style_fonts")
    with pytest.raises(UnknownName, match="unknown category"):
        category("nonsense")
