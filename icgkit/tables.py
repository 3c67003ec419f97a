"""Frames as typeset tables: HTML with caption and scopes, LaTeX with booktabs, a picture.

A table keeps its numbers: formatting happens when it is shown, and the CSV beside it holds the
frame in full precision. A missing value is an en dash, never a zero.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from icgkit.errors import SchemaError

if TYPE_CHECKING:
    import polars as pl
    from jinja2 import Template
    from matplotlib.figure import Figure

MISSING = "–"


class Col(NamedTuple):
    """How one column is shown."""

    name: str
    header: str
    align: str
    spec: str


class Cell(NamedTuple):
    """One formatted cell."""

    text: str
    align: str
    bold: bool


@dataclass(frozen=True)
class Table:
    """A frame with caption, headers, number formats and notes; immutable.

    In Jupyter it shows itself; `to_html`, `to_latex` and `to_figure` give the three forms.
    """

    id: str
    frame: pl.DataFrame
    caption: str
    columns: tuple[Col, ...]
    notes: tuple[str, ...] = ()
    bold: frozenset[tuple[int, str]] = frozenset()
    spanners: tuple[str | None, ...] = ()
    """One label a column, or nothing; equal neighbours are joined."""

    def rows(self) -> Iterator[list[Cell]]:
        """Yield the formatted rows."""
        for i, row in enumerate(self.frame.iter_rows(named=True)):
            yield [
                Cell(format_value(row[c.name], c.spec), c.align, (i, c.name) in self.bold)
                for c in self.columns
            ]

    def span_cells(self) -> list[tuple[str, int]]:
        """Return label and width of the cells above the header."""
        return [(label or "", len(list(run))) for label, run in groupby(self.spanners)]

    def to_html(self) -> str:
        """Return an HTML table with caption and header scopes; everything is escaped."""
        from icgkit.display import environment

        return environment().get_template("tables/table.html.j2").render(table=self)

    def to_latex(self) -> str:
        """Return a `table` environment that needs the package booktabs."""
        return _latex_template().render(table=self)

    def to_figure(self) -> Figure:
        """Return the table drawn as a figure."""
        return _draw(self)

    def with_notes(self, *notes: str) -> Table:
        """Return the table with further notes below it; empty ones are left out."""
        return replace(self, notes=(*self.notes, *(n for n in notes if n)))

    def _repr_html_(self) -> str:
        style = (
            "<style>.icg-table{border-collapse:collapse}.icg-table caption{text-align:left;max-width:60em;"
            "padding-bottom:.4em}.icg-table th,.icg-table td{padding:.2em .7em;font-weight:normal}"
            ".icg-table .right{text-align:right;font-variant-numeric:tabular-nums}.icg-table .left{text-align:left}"
            ".icg-table thead tr:last-child th{border-bottom:1px solid}.icg-table tfoot td{text-align:left;"
            "border-top:1px solid;font-size:90%;max-width:60em}</style>"
        )
        return style + self.to_html()


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
    headers : mapping, optional
        Column to header; default is the column's name with blanks for underscores. Names that the
        frame lacks are ignored, so that one map of labels serves many tables.
    formats : mapping, optional
        Column to format specification; default ".3f" for floats, ",d" for integers.
    spanners : mapping, optional
        Column to a label above the header.
    notes : sequence of str
        Lines below the table.
    bold : callable, optional
        Called with each row and column name; True sets the cell in bold.

    Raises
    ------
    SchemaError
        If formats or spanners name a column that the frame lacks.

    Examples
    --------
    >>> import polars as pl
    >>> t = typeset(pl.DataFrame({"model": ["a"], "recall": [0.5]}), id="T", caption="Demo, n = 2")
    >>> [c.text for c in next(t.rows())]
    ['a', '0.500']
    """
    headers, formats, spanners = dict(headers or {}), dict(formats or {}), dict(spanners or {})
    for kind, names in (("formats", formats), ("spanners", spanners)):
        if unknown := [n for n in names if n not in frame.columns]:
            raise SchemaError(f"table {id}: {kind} for unknown column", got=unknown, allowed=frame.columns)
    columns = []
    for name, dtype in frame.schema.items():
        spec = formats.get(name, ".3f" if dtype.is_float() else ",d" if dtype.is_integer() else "")
        header = headers.get(name, name.replace("_", " "))
        columns.append(Col(name, header, "right" if dtype.is_numeric() else "left", spec))
    heavy = frozenset(
        (i, name)
        for i, row in enumerate(frame.iter_rows(named=True))
        for name in frame.columns
        if bold and bold(row, name)
    )
    over = tuple(spanners.get(n) for n in frame.columns) if spanners else ()
    return Table(id, frame, caption, tuple(columns), tuple(n for n in notes if n), heavy, over)


def best_of(columns: Sequence[str]) -> Callable[[dict[str, Any], str], bool]:
    """Return a `bold` rule that marks the highest of these columns in each row.

    Examples
    --------
    >>> rule = best_of(["a", "b"])
    >>> rule({"a": 0.2, "b": 0.3, "c": 0.9}, "b"), rule({"a": 0.2, "b": None, "c": 0.9}, "c")
    (True, False)
    """

    def rule(row: dict[str, Any], name: str) -> bool:
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


_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "−": "$-$", "–": "--", "Δ": r"$\Delta$", "κ": r"$\kappa$", "ρ": r"$\rho$",
    "α": r"$\alpha$", "≥": r"$\geq$", "≤": r"$\leq$", "×": r"$\times$", "→": r"$\rightarrow$", "½": r"$\frac12$",
}  # fmt: skip


def tex_escape(text: str) -> str:
    r"""Escape text for LaTeX.

    Examples
    --------
    >>> print(tex_escape("50% & Δ"))
    50\% \& $\Delta$
    """
    return re.sub("|".join(map(re.escape, _TEX)), lambda m: _TEX[m.group()], str(text))


@cache
def _latex_template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    env = Environment(
        loader=PackageLoader("icgkit"), undefined=StrictUndefined, trim_blocks=True,
        block_start_string="<%", block_end_string="%>", variable_start_string="<<", variable_end_string=">>",
    )  # fmt: skip
    env.filters["tex"] = tex_escape
    return env.get_template("tables/table.tex.j2")


_EXTRA = 0.68
"""Height of each further line of a cell, in lines: wrapped text is set tighter than rows."""


def _draw(table: Table) -> Figure:
    """Draw a table: one line a row, columns as wide as their longest cell."""
    import textwrap

    from matplotlib.figure import Figure

    rows = list(table.rows())
    texts = [[c.header for c in table.columns], *[[cell.text for cell in row] for row in rows]]
    wrapped = [[textwrap.fill(t, 46) for t in row] for row in texts]
    widths = [
        max(max(map(len, t.split("\n"))) for t in column) + 2.5 for column in zip(*wrapped, strict=True)
    ]
    heights = [1 + _EXTRA * max(t.count("\n") for t in row) for row in wrapped]
    total = max(sum(widths), 52)
    caption = textwrap.fill(f"{table.id}. {table.caption}", int(total * 1.02))
    notes = [textwrap.fill(n, int(total * 1.18)) for n in table.notes]
    line, char = 0.235, 0.083
    over = 1 if table.spanners else 0
    n_lines = _EXTRA * caption.count("\n") + 1.9 + over + sum(heights) + 0.5 * len(heights) * 0.4 + 0.4
    n_lines += sum(0.86 + _EXTRA * 0.86 * n.count("\n") for n in notes)
    fig = Figure(figsize=(total * char + 0.3, n_lines * line + 0.25))
    ax = fig.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    ax.set_xlim(-1.5, total + 1.5)
    ax.set_ylim(n_lines + 0.5, -0.5)
    style: dict[str, Any] = {"va": "top", "fontsize": 9.5}
    ax.text(0, 0, caption, weight="bold", **style)
    y = _EXTRA * caption.count("\n") + 1.55
    left = [sum(widths[:i]) for i in range(len(widths))]
    ax.plot([0, total], [y - 0.25] * 2, color="black", lw=1.2)
    if over:
        start = 0
        for label, span in table.span_cells():
            x0, x1 = left[start], left[start] + sum(widths[start : start + span])
            if label:
                ax.text((x0 + x1) / 2, y, label, ha="center", **style)
                ax.plot([x0 + 1, x1 - 1], [y + 0.95] * 2, color="black", lw=0.6)
            start += span
        y += 1.15
    for i, (row, height) in enumerate(zip(wrapped, heights, strict=True)):
        for j, text in enumerate(row):
            right = table.columns[j].align == "right"
            heavy = i > 0 and rows[i - 1][j].bold
            ax.text(
                left[j] + (widths[j] - 1 if right else 0), y, text,
                ha="right" if right else "left", weight="bold" if heavy else "normal", **style,
            )  # fmt: skip
        y += height + 0.2
        if i == 0:
            ax.plot([0, total], [y - 0.12] * 2, color="black", lw=0.7)
            y += 0.1
    ax.plot([0, total], [y - 0.02] * 2, color="black", lw=1.2)
    y += 0.25
    for note in notes:
        ax.text(0, y, note, va="top", fontsize=8, color="#333333")
        y += 0.86 + _EXTRA * 0.86 * note.count("\n")
    return fig
