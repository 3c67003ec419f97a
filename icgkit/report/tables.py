"""Frames as typeset tables: HTML with caption and scopes, LaTeX with booktabs, a picture.

A table keeps its numbers: formatting happens when it is shown, and the CSV beside it holds the
frame in full precision. A missing value is an en dash, never a zero.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from icgkit.errors import SchemaError

if TYPE_CHECKING:
    import polars as pl
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
FORMATS = {
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


class Cell(NamedTuple):
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
        from icgkit.cases.show import environment

        return environment().get_template("tables/table.html.j2").render(table=self)

    def to_latex(self) -> str:
        """Return a `table` environment that needs the package booktabs."""
        return latex_template().render(table=self)

    def to_picture(self) -> Image.Image:
        """Return the table drawn as an image."""
        from icgkit.report.table_figure import draw_table

        return draw_table(self)

    def with_notes(self, *notes: str) -> Table:
        """Return the table with further notes below it; empty ones are left out."""
        return replace(self, notes=(*self.notes, *(n for n in notes if n)))

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
        is called by its name with blanks for underscores.
    formats : mapping, optional
        Column to format specification, over `FORMATS`; default ".3f" for floats, ",d" for integers.
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
    headers = HEADERS | _condition_labels() | dict(headers or {})
    formats, spanners = dict(formats or {}), dict(spanners or {})
    if columns is not None or frame.columns == ["status"]:
        columns = columns or []
        frame = frame.select([c for c in columns if c in frame.columns] or ["status"])
        formats = {c: f for c, f in formats.items() if c in frame.columns}
        spanners = {c: s for c, s in spanners.items() if c in frame.columns}
    for kind, names in (("formats", formats), ("spanners", spanners)):
        if unknown := [n for n in names if n not in frame.columns]:
            raise SchemaError(f"table {id}: {kind} for unknown column", got=unknown, allowed=frame.columns)
    shown = []
    for name, dtype in frame.schema.items():
        spec = (FORMATS | formats).get(
            name, ".3f" if dtype.is_float() else ",d" if dtype.is_integer() else ""
        )
        header = headers.get(name, name.replace("_", " "))
        shown.append(Col(name, header, "right" if dtype.is_numeric() else "left", spec))
    heavy = frozenset(
        (i, name)
        for i, row in enumerate(frame.iter_rows(named=True))
        for name in frame.columns
        if bold and bold(row, name)
    )
    over = tuple(spanners.get(n) for n in frame.columns) if spanners else ()
    return Table(id, frame, caption, tuple(shown), tuple(n for n in notes if n), heavy, over)


def _condition_labels() -> dict[str, str]:
    from icgkit.prompts.conditions import conditions

    return {name: c.short for name, c in conditions().items()}


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
    import polars as pl

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
    from jinja2 import Environment, PackageLoader, StrictUndefined

    env = Environment(
        loader=PackageLoader("icgkit"), undefined=StrictUndefined, trim_blocks=True,
        block_start_string="<%", block_end_string="%>", variable_start_string="<<", variable_end_string=">>",
    )  # fmt: skip
    env.filters["tex"] = tex_escape
    return env.get_template("tables/table.tex.j2")
