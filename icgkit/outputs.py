"""Save one table or figure: data, picture or typeset table, and a sidecar that says what it shows.

Every result is a handful of files that share an id. `id.csv` (the numbers), `id.json` (caption,
n, dataset, models, published values) and `id.thumb.png` (a small picture) are light enough for git;
`id.pdf`, `id.svg`, `id.png`, `id.html` and `id.tex` are the full form. The same input gives the same
bytes: no dates, no software names, no random ids.
"""

from __future__ import annotations

import base64
import html
import io
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from icgkit.errors import SchemaError
from icgkit.paths import project_root

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

THUMB_WIDTH = 900
"""Width of the small picture, pixels."""
THUMB_BYTES = 60_000
"""Most bytes of the small picture."""
SIGNIFICANT = 10
"""Significant digits of a float in a CSV: more would differ between processors."""
LIGHT = (".csv", ".json", ".thumb.png")
"""Endings of the files that are committed."""
TABLE_MARKS = ("<!-- table -->", "<!-- /table -->")
"""What the fragment stands between in `id.html`."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")
_COMPARED = ("quantity", "ours", "published")


class TypesetTable(Protocol):
    """What a table has to offer to be saved."""

    def to_html(self) -> str:
        """Return an HTML fragment."""

    def to_latex(self) -> str:
        """Return LaTeX source."""

    def to_figure(self) -> Figure:
        """Return the table as a picture."""


@dataclass(frozen=True)
class Saved:
    """What was written; in Jupyter it shows the result with its caption."""

    id: str
    folder: Path = field(repr=False)
    files: tuple[str, ...]
    caption: str = field(repr=False)
    shown: str = field(repr=False)

    def _repr_html_(self) -> str:
        return f"<figure>{self.shown}<figcaption>{html.escape(self.caption)}</figcaption></figure>"


def save(
    id: str,
    *,
    out: str | Path,
    data: pl.DataFrame,
    figure: Figure | None = None,
    table: TypesetTable | None = None,
    caption: str,
    n: int | str | Mapping[str, int],
    dataset: str,
    models: Sequence[str] = (),
    cache: str | None = None,
    note: str | Sequence[str] | None = None,
    published: pl.DataFrame | None = None,
    simulated: bool = False,
    seed: int | None = None,
    params: Mapping[str, Any] | None = None,
) -> Saved:
    """Write a figure or a table with its data and its sidecar.

    Parameters
    ----------
    id : str
        Name of the result (`T2`, `S-cases`); the stem of every file.
    out : str or Path
        Folder to write to; empty for `figures/` of the project.
    data : polars.DataFrame
        The numbers that are shown, flat columns only. Floats are written with 10 significant digits.
    figure : matplotlib Figure, optional
        Saved as PDF, SVG and PNG, then closed.
    table : optional
        Anything with `to_html()`, `to_latex()` and `to_figure()`; saved as HTML, LaTeX and PNG.
        At least one of `figure` and `table` is due; with both, the pictures are of the figure, and
        `id.table.thumb.png` is a small one of the table.
    caption : str
        One paragraph, plain text.
    n : int, str or mapping
        What the numbers rest on: `461`, `"461 cases"` or `{"cases": 461, "nodes": 776}`.
    dataset, cache : str
        Their names.
    models : sequence of str
        The models shown.
    note : str or sequence of str, optional
        What a reader has to know (missing verdicts, exploratory, pooling).
    published : polars.DataFrame, optional
        Columns `quantity`, `ours`, `published` (numbers), and any of `where`, `unit`, `model`,
        `condition`, `group`, `note`: the paper's value beside ours. The difference is added.
    simulated : bool
        Whether the numbers come from the effect model and not from a model's answers.
    seed : int, optional
        Seed of resampling.
    params : mapping, optional
        Further parameters of the notebook that shape the result; `seed` may be among them.

    Returns
    -------
    Saved
        Id, folder and names of the files written.

    Raises
    ------
    SchemaError
        For an id that is no file name, neither figure nor table, an empty caption, a nested column
        or NaN in `data`, or `published` without its three columns.
    """
    if not _ID.fullmatch(id):
        raise SchemaError("id of a result", got=id, allowed="letters, digits, - and _")
    if figure is None and table is None:
        raise SchemaError(f"{id}: nothing to show", remedy="give figure= or table=")
    if not caption.strip():
        raise SchemaError(f"{id}: caption is empty", allowed="a paragraph that stands alone")
    files = {".csv": csv_bytes(data, id)}
    beside = _compared(published, id)
    shown = ""
    if table is not None:
        shown = table.to_html()
        files[".html"] = _page(id, shown).encode()
        files[".tex"] = table.to_latex().encode()
        pictures = _pictures(table.to_figure(), vector=False)
        if figure is None:
            files |= pictures
        else:
            files[".table.thumb.png"] = pictures[".thumb.png"]
    if figure is not None:
        files |= _pictures(figure, vector=True)
        code = base64.b64encode(files[".thumb.png"]).decode()
        shown += f'<img alt="{html.escape(id)}" src="data:image/png;base64,{code}">'
    params = dict(params or {})
    sidecar: dict[str, Any] = {
        "id": id,
        "kind": " and ".join(k for k, v in (("table", table), ("figure", figure)) if v is not None),
        "caption": caption.strip(),
        "n": dict(n) if isinstance(n, Mapping) else n,
        "dataset": dataset,
        "models": list(models),
        "cache": cache,
        "note": [note] if isinstance(note, str) else list(note or ()),
        "simulated": simulated,
        "seed": params.pop("seed", None) if seed is None else seed,
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


def csv_bytes(data: pl.DataFrame, name: str = "data") -> bytes:
    r"""Return a frame as CSV: UTF-8, line feeds, floats with 10 significant digits, null empty.

    Raises
    ------
    SchemaError
        For a nested or binary column, or one with NaN or infinity.

    Examples
    --------
    >>> import polars as pl
    >>> csv_bytes(pl.DataFrame({"model": ["a"], "recall": [1 / 3]}))
    b'model,recall\na,0.3333333333\n'
    """
    import polars as pl

    for column, dtype in data.schema.items():
        if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
            raise SchemaError(f"{name}: column {column}", got=str(dtype), allowed="flat columns in a CSV")
        if dtype.is_float() and not data.get_column(column).drop_nulls().is_finite().all():
            raise SchemaError(f"{name}: column {column} holds NaN or infinity", allowed="numbers or null")
    floats = pl.selectors.float().round_sig_figs(SIGNIFICANT)
    unsigned = pl.when(floats == 0).then(0.0).otherwise(floats)  # -0.0 is written as 0.0
    return data.with_columns(unsigned.name.keep()).write_csv().encode()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old or the new content, never half of one."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _page(id: str, fragment: str) -> str:
    start, end = TABLE_MARKS
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{html.escape(id)}</title></head>\n'
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


def _pictures(figure: Any, *, vector: bool) -> dict[str, bytes]:
    """Render a figure to PNG and thumbnail, and to PDF and SVG if asked; close it."""
    import matplotlib as mpl

    silent: dict[str, dict[str, Any]] = {
        "png": {"Software": None},
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }
    files = {}
    with mpl.rc_context({"svg.hashsalt": "icgkit", "pdf.fonttype": 42}):
        # Laid out and measured once, instead of once for each format.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        box = figure.get_tightbbox().padded(0.1)
        for kind in ("png", "svg", "pdf") if vector else ("png",):
            stream = io.BytesIO()
            figure.savefig(stream, format=kind, metadata=silent[kind], dpi=200, bbox_inches=box)
            files[f".{kind}"] = stream.getvalue()
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close(figure)
    return files | {".thumb.png": thumbnail(files[".png"])}


def thumbnail(png: bytes) -> bytes:
    """Return a palette PNG at most 900 pixels wide and 60 KB large.

    Colours go first, width second; a picture that is small already is not enlarged.
    """
    from PIL import Image

    full = Image.open(io.BytesIO(png))
    rgba = full.convert("RGBA")
    picture = Image.new("RGB", rgba.size, "white")
    picture.paste(rgba, mask=rgba.getchannel("A"))
    # Median cut keeps the exact colours of a drawing; the octree is quick and small for photographs.
    cut, tree = Image.Quantize.MEDIANCUT, Image.Quantize.FASTOCTREE
    tries = [(900, 256, cut), (900, 256, tree), (900, 64, tree), (720, 64, tree), (560, 64, tree)]
    content = b""
    for width, colors, method in (*tries, (400, 48, tree), (240, 24, tree)):
        wide = min(width, picture.width)
        size = (wide, max(1, round(picture.height * wide / picture.width)))
        small = picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=3).quantize(
            colors, method, dither=Image.Dither.NONE
        )
        stream = io.BytesIO()
        small.save(stream, "PNG", compress_level=9)
        content = stream.getvalue()
        if len(content) <= THUMB_BYTES:
            break
    return content
