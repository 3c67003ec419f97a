"""What is specific to the cross-modal templates: calendar, moon, tones, pictures of every kind."""

from __future__ import annotations

import calendar
import datetime
from typing import Any

import numpy as np
import pytest

from icgforge.synth.base import templates
from icgforge.synth.case import Knobs, make_case
from icgforge.synth.icons import ICONS, glyph
from icgforge.synth.scenery import KINDS, picture
from icgforge.synth.words import SIGN_WORDS, WEEKDAYS
from icgforge.synth.world import FEASTS, GOODS, PLATES, feast_day
from icgforge.synth.xmod_clock import moon, moon_age
from icgkit.errors import UnknownName

OURS = sorted(t for t in templates() if t.startswith("xmod_"))


def _full(name: str, seed: int) -> Any:
    return make_case(name, seed, Knobs(nodes=len(templates()[name].nodes)))


@pytest.mark.parametrize("subtype", ["scene", "temporal", "cultural"])
def test_at_least_four_templates_a_subtype(subtype: str) -> None:
    assert sum(f"xmod_{subtype}" in templates()[t].nodes for t in OURS) >= 4


@pytest.mark.parametrize("name", OURS)
def test_weekdays_and_ages_hold_in_the_calendar(name: str) -> None:
    for seed in range(6):
        for fact in _full(name, seed).design.facts:
            for side in (fact.before, fact.after):
                if fact.kind == "weekday":
                    year, month, day = map(int, side["iso"].split("-"))
                    assert WEEKDAYS[calendar.weekday(year, month, day)] == side["weekday"]
                elif fact.kind == "difference":
                    assert side["end"] - side["start"] == side["result"]


def test_the_grid_of_the_calendar_differs_in_column_or_length() -> None:
    for seed in range(60):
        d = _full("xmod_time_calendar", seed).design
        assert (d.before["first"], d.before["days"]) != (d.after["first"], d.after["days"])


def _easter(year: int) -> datetime.date:
    # Anonymous Gregorian computus.
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    f = (b + 8) // 25
    g = (b - f + 1) // 3
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return datetime.date(year, month, day + 1)


@pytest.mark.parametrize("year", [2024, 2025, 2026, 2027])
def test_feasts_fall_where_they_should(year: int) -> None:
    assert feast_day("Happy Easter", year) == _easter(year)
    # Lunar new year and Diwali are both kept at a new moon (civil dates differ by up to two days).
    for name in ("Happy Lunar New Year", "Happy Diwali"):
        age = moon_age(feast_day(name, year))
        assert min(age, 1 - age) < 0.07
    assert all(feast_day(name, year).year == year for name in FEASTS)


def test_known_moons() -> None:
    assert (
        abs(moon_age(datetime.date(2024, 4, 8)) - 1) < 0.04 or moon_age(datetime.date(2024, 4, 8)) < 0.04
    )  # solar eclipse
    assert abs(moon_age(datetime.date(2025, 3, 14)) - 0.5) < 0.04  # lunar eclipse
    bright = [np.asarray(moon(60, a).convert("L"), float).mean() for a in (0.02, 0.25, 0.5)]
    assert bright == sorted(bright)


def test_every_word_with_goods_is_in_the_pool_and_every_picture_exists() -> None:
    assert set(GOODS) <= set(SIGN_WORDS)
    glyph("bread", 8)
    named = (
        {g for g, _ in GOODS.values()}
        | {p for p, _ in PLATES.values()}
        | {str(f["picture"]) for f in FEASTS.values()}
    )
    assert named <= set(ICONS)


def test_pictures_are_pure_and_differ_by_kind_and_seed() -> None:
    picture("beach", (8, 8), 0)
    seen = {picture(k, (60, 40), 3).tobytes() for k in KINDS}
    assert len(seen) == len(KINDS)
    assert picture("forest", (60, 40), 1).tobytes() == picture("forest", (60, 40), 1).tobytes()
    assert picture("forest", (60, 40), 1).tobytes() != picture("forest", (60, 40), 2).tobytes()
    with pytest.raises(UnknownName, match="did you mean 'forest'"):
        picture("forrest", (8, 8), 0)


def test_tone_templates_always_cross_from_one_register_to_the_other() -> None:
    for name in ("xmod_cult_invitation", "xmod_cult_letter", "xmod_cult_chat"):
        for seed in range(5):
            edit = make_case(name, seed).design.edit
            assert {edit.old["register"], edit.new["register"]} == {"formal", "casual"}


def test_greetings_in_other_scripts_have_their_glyphs() -> None:
    from icgforge.synth import fonts
    from icgforge.synth.world import CITIES

    for name, row in CITIES.items():
        family = {"TOKYO": "gothic"}.get(name, "office")
        assert fonts.covers(family, f"{row['hello']}{row['currency']}")


@pytest.mark.parametrize("name", OURS)
def test_every_field_has_three_wordings(name: str) -> None:
    for spec in _full(name, 0).design.nodes:
        for field in (spec.region, spec.clean, spec.update, spec.reason, spec.anon):
            assert len(set(field)) >= 3
