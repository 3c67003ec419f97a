"""A typeset table as a picture, drawn with Pillow: text and rules need no plotting library."""

from __future__ import annotations

import textwrap
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.report.render import DPI, font_file, font_with, strange_signs, warn_of_boxes

if TYPE_CHECKING:
    from PIL import Image

    from icgkit.report.tables import Table

_EXTRA = 0.68
"""Height of each further line of a cell, in lines: wrapped text is set tighter than rows."""
_LINE, _CHAR = 0.235 * DPI, 0.083 * DPI
"""Height of a line and width of a column's character, pixels."""
_BODY, _SMALL = 9.5, 8.0
"""Sizes of type, points."""
_CAP = 0.76
"""Height of capitals, ems."""
_MARGIN = 0.1 * DPI


class _Sheet:
    """Texts and rules in characters and lines; the picture is as large as they need."""

    def __init__(self) -> None:
        self.texts: list[tuple[float, float, str, str, Any, int]] = []
        self.rules: list[tuple[float, float, float, int]] = []
        self.boxes: dict[str, None] = {}
        self.right = self.bottom = 0.0

    def text(
        self, x: float, y: float, text: str, align: str = "left", *, bold: bool = False, small: bool = False
    ) -> None:
        """Add lines of text whose first one has its top at `y`."""
        size = _SMALL if small else _BODY
        em = size * DPI / 72
        for i, line in enumerate(text.split("\n")):
            baseline = y * _LINE + (_CAP + i * _EXTRA * _LINE / (_BODY * DPI / 72)) * em
            self.bottom = max(self.bottom, baseline + 0.24 * em)
            runs = _runs(line, bold, size)
            width = sum(font.getlength(piece) for piece, font in runs)
            share = {"left": 1.0, "center": 0.5, "right": 0.0}[align]
            self.right = max(self.right, x * _CHAR + share * width)
            self.boxes |= dict.fromkeys(c for c in strange_signs(line) if font_with(c) is None)
            if len(runs) == 1:
                self.texts.append((x * _CHAR, baseline, line, align, runs[0][1], 0x33 if small else 0))
                continue
            at = x * _CHAR - (1 - share) * width
            for piece, font in runs:
                self.texts.append((at, baseline, piece, "left", font, 0x33 if small else 0))
                at += font.getlength(piece)

    def rule(self, x0: float, x1: float, y: float, points: float) -> None:
        """Add a horizontal line."""
        self.rules.append((x0 * _CHAR, x1 * _CHAR, y * _LINE, max(1, round(points * DPI / 72))))
        self.right, self.bottom = max(self.right, x1 * _CHAR), max(self.bottom, y * _LINE)

    def picture(self) -> Image.Image:
        """Draw all in black and grey on white."""
        from PIL import Image, ImageDraw

        if self.boxes:
            warn_of_boxes("".join(self.boxes), "a table")
        size = (round(self.right + 2 * _MARGIN), round(self.bottom + 2 * _MARGIN))
        picture = Image.new("L", size, 255)
        pen = ImageDraw.Draw(picture)
        for x0, x1, y, width in self.rules:
            top = round(y + _MARGIN - width / 2)
            pen.rectangle((round(x0 + _MARGIN), top, round(x1 + _MARGIN) - 1, top + width - 1), fill=0)
        for x, y, line, align, font, grey in self.texts:
            anchor = {"left": "ls", "center": "ms", "right": "rs"}[align]
            pen.text((x + _MARGIN, round(y + _MARGIN)), line, fill=grey, font=font, anchor=anchor)
        return picture


def draw_table(table: Table) -> Image.Image:
    """Draw a table: one line a row, columns as wide as their longest cell."""
    rows = list(table.rows())
    texts = [[c.header for c in table.columns], *[[cell.text for cell in row] for row in rows]]
    wrapped = [[textwrap.fill(t, 46) for t in row] for row in texts]
    widths = [max(max(map(len, t.split("\n"))) for t in column) + 3 for column in zip(*wrapped, strict=True)]
    total = max(sum(widths), 52)
    sheet = _Sheet()
    caption = textwrap.fill(f"{table.id}. {table.caption}", int(total * 1.02))
    sheet.text(0, 0, caption, bold=True)
    y = _EXTRA * caption.count("\n") + 1.55
    left = [sum(widths[:i]) for i in range(len(widths))]
    sheet.rule(0, total, y - 0.25, 1.2)
    if table.spanners:
        start = 0
        for label, span in table.span_cells():
            x0, x1 = left[start], left[start] + sum(widths[start : start + span])
            if label:
                sheet.text((x0 + x1) / 2, y, label, "center")
                sheet.rule(x0 + 1, x1 - 1, y + 0.95, 0.6)
            start += span
        y += 1.15
    for i, row in enumerate(wrapped):
        for j, text in enumerate(row):
            align = table.columns[j].align
            x = left[j] + (widths[j] - 2 if align == "right" else 0)
            sheet.text(x, y, text, align, bold=i > 0 and rows[i - 1][j].bold)
        y += 1.2 + _EXTRA * max(t.count("\n") for t in row)
        if i == 0:
            sheet.rule(0, total, y - 0.12, 0.7)
            y += 0.1
    sheet.rule(0, total, y - 0.02, 1.2)
    y += 0.25
    for note in (textwrap.fill(n, int(total * 1.18)) for n in table.notes):
        sheet.text(0, y, note, small=True)
        y += 0.86 + _EXTRA * 0.86 * note.count("\n")
    return sheet.picture()


@cache
def _font(bold: bool, points: float, path: Path | None = None) -> Any:
    from PIL import ImageFont

    file = path or font_file(bold=bold)
    return ImageFont.truetype(file, points * DPI / 72, layout_engine=ImageFont.Layout.BASIC)


def _runs(line: str, bold: bool, points: float) -> list[tuple[str, Any]]:
    """Cut a line where its font changes: pieces with the font that has their signs."""
    strange = {sign: font_with(sign) for sign in strange_signs(line)}
    if not strange:
        return [(line, _font(bold, points))]
    runs: list[tuple[str, Path | None]] = []
    for sign in line:
        path = strange.get(sign)
        if runs and runs[-1][1] == path:
            runs[-1] = (runs[-1][0] + sign, path)
        else:
            runs.append((sign, path))
    return [(piece, _font(bold, points, path)) for piece, path in runs]
