"""Photographed cases: rays find each part of the page, boxes lie where the geometry has them, nothing else changes."""

import shutil
from functools import cache

import numpy as np
import pytest

pytest.importorskip("mitsuba", reason="photographing documents needs Mitsuba (extra forge)")
pytest.importorskip("pyoidn", reason="photographing documents needs pyoidn (extra forge)")
pytest.importorskip("playwright", reason="drawing documents needs Playwright (extra forge)")
if not (shutil.which("chromium") or shutil.which("chromium-browser")):
    pytest.skip("Chromium is not installed", allow_module_level=True)

from icgforge.derive import Derived, derive
from icgforge.page import browser, documents
from icgforge.photograph import Film, photograph
from icgforge.scenes import candidates
from icgforge.settings import settings

TINY = Film(0.25, 8, 8)


@cache
def flat() -> Derived:
    """A departures board, one edit of it."""
    with browser() as page:
        edits = (edit for _, edit in candidates(documents()["departures_board"], "1"))
        return next(d for d in (derive(page, e) for e in edits) if not d.rejected and d.nodes)


def test_a_photograph_differs_only_about_target_and_nodes() -> None:
    seen = photograph(flat(), settings()["hall"], TINY).made
    outside = np.ones(seen.before.shape[:2], bool)
    for node in [seen.target, *seen.nodes]:
        assert node.before
        for x0, y0, x1, y1 in filter(None, (node.before, node.after)):
            assert y1 - y0 < 20
            outside[max(0, y0 - 9) : y1 + 9, max(0, x0 - 9) : x1 + 9] = False
    assert not (seen.before != seen.after).any(2)[outside].any()
    assert (seen.before != seen.after).any()
