"""Frames as typeset tables: HTML with caption and scopes, LaTeX with booktabs, a picture.

A table keeps its numbers: formatting happens when it is shown, and the CSV beside it holds the
frame in full precision. A missing value is an en dash, never a zero.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from icgkit.cases.show import environment
from icgkit.errors import SchemaError
from icgkit.prompts.conditions import conditions
from icgkit.report.render import DPI, font_file, font_with, strange_signs, warn_of_boxes
from icgkit.taxonomy import CATEGORIES, SUBTYPES

if TYPE_CHECKING:
    from jinja2 import Template
    from PIL import Image

MISSING = "–"
HEADERS = {
    "model": "Model", "condition": "Condition", "category": "Category", "source": "Source", "n_cases": "Cases",
    "n_nodes": "Nodes", "n_scored": "Verdicts", "n_missing": "Missing", "n_pairs": "Pairs", "shown": "Estimate",
    "delta": "Δ ICG-O − Direct", "p_exact": "McNemar p", "p_permutation": "Permutation p", "p_value": "p",
    "p_adjusted": "Holm p", "p_equivalence": "Equivalence p", "conclusion": "Conclusion",
    "status": "Status", "coefficient": "Coefficient", "se": "Robust SE", "n": "n", "share": "Share",
}  # fmt: skip
"""What the columns that many tables share are called; conditions have their short labels."""
_FORMATS = {
    "p_exact": ".2g",
    "p_permutation": ".2g",
    "p_value": ".2g",
    "p_adjusted": ".2g",
    "p_equivalence": ".2g",
    "d": ".2f",
    "delta": "+.3f",
    "rate_gap": "+.3f",
}
"""How the columns that many tables share are formatted."""

TABLE_STYLE = (
    ".icg-table.icg-table{border-collapse:collapse;table-layout:auto;margin:0;font:13px/1.45 system-ui,sans-serif}"
    ".icg-table.icg-table caption{text-align:left;max-width:60em;padding-bottom:.4em}"
    ".icg-table.icg-table th,.icg-table.icg-table td{padding:.2em .7em;font-weight:normal;max-width:34em;"
    "vertical-align:top;white-space:normal}"
    ".icg-table.icg-table .right{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    ".icg-table.icg-table .left{text-align:left}.icg-table.icg-table th[scope=colgroup]{text-align:center}"
    ".icg-table.icg-table thead tr:last-child th{border-bottom:1px solid}"
    ".icg-table.icg-table tfoot td{text-align:left;border-top:1px solid;font-size:90%;max-width:60em}"
)
"""Rules of a table outside the gallery; each class twice, so that JupyterLab's own rules do not win."""


class Col(NamedTuple):
    """How one column is shown."""

    name: str
    header: str
    align: str
    spec: str


class _Cell(NamedTuple):
    """One formatted cell."""

    text: str
    align: str
    bold: bool


@dataclass(frozen=True)
class Table:
    """A frame with caption, headers, number formats and notes; immutable.

    In Jupyter it shows itself; `to_html`, `to_latex` and `to_picture` give the three forms.
    """

    id: str
    frame: pl.DataFrame
    caption: str
    columns: tuple[Col, ...]
    notes: tuple[str, ...] = ()
    bold: frozenset[tuple[int, str]] = frozenset()
    spanners: tuple[str | None, ...] = ()
    """One label a column, or nothing; equal neighbours are joined."""

    def rows(self) -> Iterator[list[_Cell]]:
        """Yield the formatted rows."""
        for i, row in enumerate(self.frame.iter_rows(named=True)):
            yield [
                _Cell(format_value(row[c.name], c.spec), c.align, (i, c.name) in self.bold)
                for c in self.columns
            ]

    def span_cells(self) -> list[tuple[str, int]]:
        """Return label and width of the cells above the header."""
        return [(label or "", len(list(run))) for label, run in groupby(self.spanners)]

    def to_html(self) -> str:
        """Return an HTML table with caption and header scopes; everything is escaped."""
        return environment().get_template("tables/table.html.j2").render(table=self)

    def to_latex(self) -> str:
        """Return a `table` environment that needs the package booktabs."""
        return latex_template().render(table=self)

    def to_picture(self) -> Image.Image:
        """Return the table drawn as an image."""
        return draw_table(self)

    def _repr_html_(self) -> str:
        return f"<style>{TABLE_STYLE}</style>{self.to_html()}"


def format_value(value: Any, spec: str = "") -> str:
    """Format one value; null is an en dash, a minus sign is a real one.

    Examples
    --------
    >>> format_value(-0.044, "+.3f"), format_value(None, ".3f"), format_value(0.9376, ".3f")
    ('−0.044', '–', '0.938')
    """
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return format(value, spec).replace("-", "−")
    return str(value)


def typeset(
    frame: pl.DataFrame,
    *,
    id: str,
    caption: str,
    columns: Sequence[str] | None = None,
    headers: Mapping[str, str] | None = None,
    formats: Mapping[str, str] | None = None,
    spanners: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    bold: Callable[[dict[str, Any], str], bool] | None = None,
) -> Table:
    """Make a table of a frame.

    Parameters
    ----------
    frame : polars.DataFrame
        What is shown, in this order of rows and columns.
    id : str
        Name of the table, as in the study ("T2").
    caption : str
        What it shows, with n, kind of interval and seed.
    columns : sequence of str, optional
        Columns to show, in this order; those that the frame lacks are left out. If it lacks all,
        its status is shown. Default: every column.
    headers : mapping, optional
        Column to header, over those of `HEADERS` and the labels of conditions; any other column
        is called by its name with blanks for underscores. Ids of subtypes and categories get their labels.
    formats : mapping, optional
        Column to format specification, over `_FORMATS`; default ".3f" for floats, ",d" for integers.
    spanners : mapping, optional
        Column to a label above the header.
    notes : sequence of str
        Lines below the table.
    bold : callable, optional
        Called with each row and column name; True sets the cell in bold.

    Raises
    ------
    SchemaError
        If formats or spanners name a column that the frame lacks, unless it holds nothing but a status.

    Examples
    --------
    >>> import polars as pl
    >>> t = typeset(pl.DataFrame({"model": ["a"], "recall": [0.5]}), id="T", caption="Demo, n = 2")
    >>> [c.text for c in next(t.rows())]
    ['a', '0.500']
    """
    headers = HEADERS | condition_labels() | dict(headers or {})
    formats, spanners = dict(formats or {}), dict(spanners or {})
    if columns is not None or frame.columns == ["status"]:
        columns = columns or []
        frame = frame.select([c for c in columns if c in frame.columns] or ["status"])
        formats = {c: f for c, f in formats.items() if c in frame.columns}
        spanners = {c: s for c, s in spanners.items() if c in frame.columns}
    for kind, names in (("formats", formats), ("spanners", spanners)):
        if unknown := [n for n in names if n not in frame.columns]:
            raise SchemaError(f"table {id}: {kind} for unknown column", got=unknown, allowed=frame.columns)
    frame = _with_labels(frame)
    shown = []
    for name, dtype in frame.schema.items():
        spec = (_FORMATS | formats).get(
            name, ".3f" if dtype.is_float() else ",d" if dtype.is_integer() else ""
        )
        words = name.replace("_", " ")
        header = headers.get(name, words[:1].upper() + words[1:] if len(words) > 2 else words)
        shown.append(Col(name, header, "right" if dtype.is_numeric() else "left", spec))
    heavy = frozenset(
        (i, name)
        for i, row in enumerate(frame.iter_rows(named=True))
        for name in frame.columns
        if bold and bold(row, name)
    )
    over = tuple(spanners.get(n) for n in frame.columns) if spanners else ()
    return Table(id, frame, caption, tuple(shown), tuple(n for n in notes if n), heavy, over)


def _with_labels(frame: pl.DataFrame) -> pl.DataFrame:
    """Put labels in place of the ids of subtypes and categories."""
    labels = category_labels() | subtype_labels()
    named = [c for c in ("subtype", "category", "element") if frame.schema.get(c) == pl.String]
    return frame.with_columns(pl.col(named).replace(labels)) if named else frame


def condition_labels() -> dict[str, str]:
    """Return the short label of every condition, in the study's order."""
    return {name: c.short for name, c in conditions().items()}


def category_labels() -> dict[str, str]:
    """Return the label of every category id."""
    return {c.id: c.label for c in CATEGORIES.values()}


def subtype_labels() -> dict[str, str]:
    """Return "Category: Subtype" for every subtype id."""
    return {s.id: f"{CATEGORIES[s.category].label}: {s.label}" for s in SUBTYPES.values()}


def best_of(
    columns: Sequence[str], *, rows: Iterable[str] | None = None
) -> Callable[[dict[str, Any], str], bool]:
    """Return a `bold` rule that marks the highest of these columns in each row, or in those of the models in `rows`.

    Examples
    --------
    >>> rule = best_of(["a", "b"])
    >>> rule({"a": 0.2, "b": 0.3, "c": 0.9}, "b"), rule({"a": 0.2, "b": None, "c": 0.9}, "c")
    (True, False)
    """
    only = None if rows is None else set(rows)

    def rule(row: dict[str, Any], name: str) -> bool:
        if only is not None and row.get("model") not in only:
            return False
        values = [row[c] for c in columns if row.get(c) is not None]
        return name in columns and bool(values) and row[name] == max(values)

    return rule


def interval(estimate: float | None, low: float | None, high: float | None, spec: str = ".3f") -> str:
    """Return "estimate [low, high]", or the estimate alone where there is no interval.

    Examples
    --------
    >>> interval(0.5, 0.4, 0.6, ".2f"), interval(0.5, None, None), interval(None, None, None)
    ('0.50 [0.40, 0.60]', '0.500', '–')
    """
    if estimate is None or low is None or high is None:
        return format_value(estimate, spec)
    return f"{format_value(estimate, spec)} [{format_value(low, spec)}, {format_value(high, spec)}]"


def intervals(
    frame: pl.DataFrame, *, estimate: str = "estimate", low: str = "low", high: str = "high",
    name: str = "shown", spec: str = ".3f",
) -> pl.DataFrame:  # fmt: skip
    """Add a text column "estimate [low, high]" (see `interval`); a frame without estimates is returned as it is."""
    if estimate not in frame.columns:
        return frame
    cells = [interval(e, lo, hi, spec) for e, lo, hi in frame.select(estimate, low, high).iter_rows()]
    return frame.with_columns(pl.Series(name, cells, dtype=pl.String))


_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "−": "$-$", "–": "--", "Δ": r"$\Delta$", "κ": r"$\kappa$", "ρ": r"$\rho$",
    "α": r"$\alpha$", "≥": r"$\geq$", "≤": r"$\leq$", "×": r"$\times$", "→": r"$\rightarrow$", "½": r"$\frac12$",
}  # fmt: skip


def tex_escape(text: str) -> str:
    r"""Escape text for LaTeX; line breaks and runs of white space become one space.

    A paragraph break ends the argument of `\caption` with an error, so there is none.

    Examples
    --------
    >>> print(tex_escape("50% & Δ"))
    50\% \& $\Delta$
    """
    return re.sub("|".join(map(re.escape, _TEX)), lambda m: _TEX[m.group()], " ".join(str(text).split()))


@cache
def latex_template() -> Template:
    """Return the template of a table in LaTeX, read once."""
    marks = {"block_start_string": "<%", "block_end_string": "%>", "variable_start_string": "<<"}
    env = environment(autoescape=False, **marks, variable_end_string=">>")
    env.filters["tex"] = tex_escape
    return env.get_template("tables/table.tex.j2")


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
