"""A photographed case: the pass of light finds each part of the page, nothing outside the nodes changes."""

import shutil

import numpy as np
import pytest

pytest.importorskip("mitsuba", reason="photographing documents needs Mitsuba (extra forge)")
pytest.importorskip("pyoidn", reason="photographing documents needs pyoidn (extra forge)")
pytest.importorskip("playwright", reason="drawing documents needs Playwright (extra forge)")
if not (shutil.which("chromium") or shutil.which("chromium-browser")):
    pytest.skip("Chromium is not installed", allow_module_level=True)

from icgforge.derive import derive
from icgforge.page import browser, documents
from icgforge.photograph import Film, photograph
from icgforge.scenes import candidates
from icgforge.settings import SETTINGS


def test_a_photograph_differs_only_about_target_and_nodes() -> None:
    with browser() as page:
        edits = (edit for _, edit in candidates(documents()["departures_board"], "1"))
        flat = next(d for d in (derive(page, e) for e in edits) if not d.rejected and d.nodes)
    seen = photograph(flat, SETTINGS["hall"], Film(256, 176, 8))
    outside = np.ones(seen.before.shape[:2], bool)
    assert all(node.before for node in [seen.target, *seen.nodes])
    for node in [seen.target, *seen.nodes]:
        for x0, y0, x1, y1 in filter(None, (node.before, node.after)):
            assert y1 - y0 < 20
            outside[max(0, y0 - 6) : y1 + 6, max(0, x0 - 6) : x1 + 6] = False
    assert not (seen.before != seen.after).any(2)[outside].any()
    assert (seen.before != seen.after).any()
    assert any(r.startswith("too small") for r in seen.rejected)
