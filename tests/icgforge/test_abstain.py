"""Offline models that rewrite a request or decline it: what they look for, and when they may abstain."""

from __future__ import annotations

import base64
import io
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from icgforge.baselines.abstain import find_text
from icgforge.baselines.provider import reply
from icgforge.baselines.seeing import Line, Sight

ASK = 'Edit request: Change "{old}" to "Closed".\n\nEnd with a line that begins with "REFINED EDIT INSTRUCTION:".'
OFFER = " If it is not in the picture, end with [ABSTAIN]."


def sight(*rows: tuple[str, float, float, float]) -> Sight:
    """Lay out lines of text: words, left, top, width; each 20 high."""
    lines = tuple(
        Line(text, ((x, y), (x + w, y), (x + w, y + 20), (x, y + 20)), 1.0, (0, 0, 0), (255, 255, 255))
        for text, x, y, w in rows
    )
    return Sight(300, 300, lines, b"")


@pytest.mark.parametrize(
    ("text", "alone", "joined"),
    [
        ("Fresh bread", "upper left", "upper left"),
        ("Garden party tonight", "", "centre"),  # over two lines
        ("Mondays closed", "", "lower left"),  # two boxes of one line
        ("Winter sale", "", ""),
    ],
)
def test_where_a_text_stands(text: str, alone: str, joined: str) -> None:
    shown = sight(
        ("Fresh bread", 20, 10, 100), ("Garden party", 110, 140, 80), ("tonight", 120, 164, 60),
        ("Mondays", 10, 270, 50), ("closed", 66, 271, 40),
    )  # fmt: skip
    assert find_text(shown, text, joined=False) == alone
    assert find_text(shown, text, joined=True) == joined


def ask(model: str, old: str, offer: str = "") -> str:
    image = Image.new("RGB", (320, 120), "white")
    ImageDraw.Draw(image).text((40, 40), "OPEN", fill="black", font=ImageFont.load_default(40))
    stream = io.BytesIO()
    image.save(stream, "PNG")
    url = "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()
    content: list[dict[str, Any]] = [
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "text", "text": ASK.format(old=old) + offer},
    ]
    return reply(f"offline/{model}", [{"role": "user", "content": content}])


@pytest.mark.parametrize("model", ["instruction-only", "priors"])
def test_who_does_not_look_never_declines(model: str) -> None:
    last = ask(model, "Bakery", OFFER).splitlines()[-1]
    assert last.startswith("REFINED EDIT INSTRUCTION:")
    assert '"Bakery"' in last


@pytest.mark.parametrize("model", ["ocr-rules", "ocr-vision"])
def test_who_reads_declines_what_is_not_there(model: str) -> None:
    assert ask(model, "OPEN", OFFER).splitlines()[-1].startswith("REFINED EDIT INSTRUCTION:")
    assert ask(model, "Bakery", OFFER).endswith("[ABSTAIN]")
    # Without the offer it says so and yet has to write an instruction.
    told = ask(model, "Bakery")
    assert "not in the picture" in told
    assert told.splitlines()[-1].startswith("REFINED EDIT INSTRUCTION:")
