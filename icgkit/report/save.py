"""Save one table or figure: data, picture or typeset table, and a sidecar that says what it shows.

Every result is a handful of files that share an id. `id.csv` (the numbers), `id.json` (caption,
n, dataset, models, published values) and `id.thumb.png` (a small picture) are light enough for git;
`id.pdf`, `id.svg`, `id.png`, `id.html` and `id.tex` are the full form. The same input gives the same
bytes: no dates, no software names, no random ids.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from icgkit.errors import SchemaError
from icgkit.files import project_root, write_whole
from icgkit.report.render import plain_style, png_bytes, render, thumbnail
from icgkit.report.tables import TABLE_STYLE, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIGNIFICANT = 7
"""Significant digits of a float in a CSV: more would differ between processors."""
LIGHT = (".csv", ".json", ".thumb.png")
"""Endings of the files that are committed."""
TABLE_MARKS = ("<!-- table -->", "<!-- /table -->")
"""What the fragment stands between in `id.html`."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")
_COMPARED = ("quantity", "ours", "published")


@dataclass(frozen=True)
class Saved:
    """What was written; in Jupyter it shows the result with its caption."""

    id: str
    folder: Path = field(repr=False)
    files: tuple[str, ...]
    caption: str = field(repr=False)
    shown: str = field(repr=False)

    def _repr_html_(self) -> str:
        # A table has its caption above it already.
        words = "" if "<caption>" in self.shown else f"<figcaption>{html.escape(self.caption)}</figcaption>"
        style = f"<style>{TABLE_STYLE}</style>"
        return f'<figure class="mathjax_ignore" style="margin:0">{style}{self.shown}{words}</figure>'


class Provenance(NamedTuple):
    """Where a result comes from: what a sidecar says beside the result itself.

    Attributes
    ----------
    dataset, cache : str
        Their names.
    n : int, str or mapping
        What the numbers rest on: `461`, `"461 cases"` or `{"cases": 461, "nodes": 776}`.
    models : sequence of str
        The models shown.
    note : str or sequence of str
        What a reader has to know (missing verdicts, exploratory, pooling), if the table does not say it.
    simulated : bool
        Whether the numbers come from the effect model and not from a model's answers; the CSV then has
        a column `simulated`.
    seed : int, optional
        Seed of resampling.
    params : mapping
        Further parameters of the notebook that shape the result; `seed` may be among them.
    """

    dataset: str
    n: int | str | Mapping[str, int]
    models: Sequence[str] = ()
    cache: str | None = None
    note: str | Sequence[str] = ()
    simulated: bool = False
    seed: int | None = None
    params: Mapping[str, Any] = {}


def save(
    id: str,
    *,
    data: pl.DataFrame,
    run: Provenance,
    table: Table | None = None,
    figure: Figure | None = None,
    caption: str = "",
    published: pl.DataFrame | None = None,
    out: str | Path = "",
) -> Saved:
    """Write a figure or a table with its data and its sidecar.

    Parameters
    ----------
    id : str
        Name of the result (`T2`, `S-cases`); the stem of every file.
    data : polars.DataFrame
        The numbers that are shown, flat columns only. Floats are written with 7 significant digits.
    run : Provenance
        Dataset, n, models, notes. A `Results` has a `save` of its own that fills this in.
    table : Table, optional
        From `icgkit.tables.typeset`; saved as HTML, LaTeX and PNG. At least one of `figure` and `table` is due; with both, the pictures are of the figure, and
        `id.table.thumb.png` is a small one of the table.
    figure : matplotlib Figure, optional
        Saved as PDF, SVG and PNG, with n below its axes, then closed.
    caption : str
        One paragraph, plain text; by default the table's.
    published : polars.DataFrame, optional
        Columns `quantity`, `ours`, `published` (numbers), and any of `where`, `unit`, `model`,
        `condition`, `group`, `note`: the paper's value beside ours. The difference is added.
    out : str or Path
        Folder to write to; empty for `figures/` of the project.

    Returns
    -------
    Saved
        Id, folder and names of the files written.

    Raises
    ------
    SchemaError
        For an id that is no file name, neither figure nor table, an empty caption, a nested column
        or NaN in `data`, or `published` without its three columns.

    Examples
    --------
    >>> import tempfile
    >>> import icgkit as ig
    >>> import polars as pl
    >>> frame = pl.DataFrame({"recall": [0.5]})
    >>> table = ig.tables.typeset(frame, id="T", caption="Demo.")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save("T", data=frame, table=table, run=Provenance("demo", 2), out=folder).files
    ('T.csv', 'T.html', 'T.json', 'T.png', 'T.tex', 'T.thumb.png')
    """
    if not _ID.fullmatch(id):
        raise SchemaError("id of a result", got=id, allowed="letters, digits, - and _")
    if figure is None and table is None:
        raise SchemaError(f"{id}: nothing to show", remedy="give figure= or table=")
    caption = caption or (table.caption if table is not None else "")
    note = run.note or (table.notes if table is not None else ())
    if not caption.strip():
        raise SchemaError(f"{id}: caption is empty", allowed="a paragraph that stands alone")
    if run.simulated:
        data = data.with_columns(simulated=pl.lit(True))
    files = {".csv": csv_bytes(data, id)}
    beside = _compared(published, id)
    shown = ""
    if table is not None:
        shown = table.to_html()
        files[".html"] = _page(id, shown).encode()
        files[".tex"] = table.to_latex().encode()
        picture = table.to_picture()
        if figure is None:
            files |= {".png": png_bytes(picture), ".thumb.png": thumbnail(picture)}
        else:
            files[".table.thumb.png"] = thumbnail(picture)
    if figure is not None:
        drawn_on = any(ax.axison for ax in figure.axes)
        if run.n and drawn_on and figure.get_layout_engine() is not None:
            write_n(figure, run.n)
        files |= render(figure)
        code = base64.b64encode(files[".thumb.png"]).decode()
        shown += f'<img alt="{html.escape(id)}" src="data:image/png;base64,{code}">'
    params = dict(run.params)
    sidecar: dict[str, Any] = {
        "id": id,
        "kind": " and ".join(k for k, v in (("table", table), ("figure", figure)) if v is not None),
        "caption": caption.strip(),
        "n": dict(run.n) if isinstance(run.n, Mapping) else run.n,
        "dataset": run.dataset,
        "models": list(run.models),
        "cache": run.cache,
        "note": [note] if isinstance(note, str) else list(note),
        "simulated": run.simulated,
        "seed": params.pop("seed", None) if run.seed is None else run.seed,
        "params": {k: v for k, v in params.items() if k not in ("seed", "out")},
        "columns": {name: str(dtype) for name, dtype in data.schema.items()},
        "rows": data.height,
        "published": beside,
        "files": sorted(f"{id}{ending}" for ending in (*files, ".json")),
    }
    text = json.dumps(sidecar, ensure_ascii=False, indent=1, allow_nan=False)
    files[".json"] = (text + "\n").encode()
    folder = Path(out) if str(out) else project_root() / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for ending, content in files.items():
        write_whole(folder / f"{id}{ending}", content)
    return Saved(id, folder, tuple(sidecar["files"]), sidecar["caption"], shown)


def n_words(n: int | str | Mapping[str, int]) -> str:
    """Return n in words: what is counted, without what is none."""
    if isinstance(n, Mapping):
        n = ", ".join(f"{v:,d} {k}" for k, v in n.items() if v or k != "missing")
    return f"n = {n:,d}" if isinstance(n, int) else f"n = {n}"


def write_n(figure: Figure, n: int | str | Mapping[str, int]) -> None:
    """Write n below a figure."""
    with plain_style():
        figure.supxlabel(n_words(n), size=7, x=0.01, ha="left", color="#555555")


def csv_bytes(data: pl.DataFrame, name: str = "data") -> bytes:
    r"""Return a frame as CSV: UTF-8, line feeds, floats with 7 significant digits, null empty."""
    for column, dtype in data.schema.items():
        if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
            raise SchemaError(f"{name}: column {column}", got=str(dtype), allowed="flat columns in a CSV")
        if dtype.is_float() and not data.get_column(column).drop_nulls().is_finite().all():
            raise SchemaError(f"{name}: column {column} holds NaN or infinity", allowed="numbers or null")
    floats = pl.selectors.float().round_sig_figs(SIGNIFICANT)
    unsigned = pl.when(floats == 0).then(0.0).otherwise(floats)  # -0.0 is written as 0.0
    return data.with_columns(unsigned.name.keep()).write_csv().encode()


def _page(id: str, fragment: str) -> str:
    start, end = TABLE_MARKS
    style = f"<style>:root{{color-scheme:light dark}}body{{margin:2em}}{TABLE_STYLE}</style>"
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{html.escape(id)}</title>{style}</head>\n'
        f"<body>\n{start}\n{fragment}\n{end}\n</body>\n</html>\n"
    )


def _compared(published: pl.DataFrame | None, id: str) -> list[dict[str, Any]]:
    """Turn the comparison with the paper into rows with their difference."""
    if published is None:
        return []
    absent = [c for c in _COMPARED if c not in published.columns]
    if absent:
        raise SchemaError(
            f"{id}: published lacks {', '.join(absent)}", got=published.columns, allowed=_COMPARED
        )
    rows = []
    for row in published.iter_rows(named=True):
        ours, theirs = row["ours"], row["published"]
        known = ours is not None and theirs is not None
        rows.append(
            {k: _rounded(v) for k, v in row.items() if v is not None or k in _COMPARED}
            | {"difference": _rounded(ours - theirs) if known else None}
        )
    return rows


def _rounded(value: Any) -> Any:
    return float(f"{value:.{SIGNIFICANT}g}") if isinstance(value, float) else value
