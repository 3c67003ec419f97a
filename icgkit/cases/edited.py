"""Edited images of a drawn dataset, scored by program: cases and picture files brought to `icgkit.metrics.edits`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.cases.case import Case
from icgkit.cases.dataset import Dataset
from icgkit.cases.images import opened, upright_rgb
from icgkit.errors import ImageError, SchemaError
from icgkit.files import inside
from icgkit.metrics.edits import Pixels, Region, score_edit

_REGION_ROW = {
    "dataset": pl.String, "case_id": pl.String, "editor": pl.String, "node_id": pl.String, "subtype": pl.String,
    "status": pl.String, "to_reference": pl.Float64, "to_original": pl.Float64, "n_pixels": pl.Int64, "text": pl.String,
}  # fmt: skip
_PICTURE_ROW = {
    "dataset": pl.String, "case_id": pl.String, "editor": pl.String, "registered": pl.Boolean, "preserved": pl.Float64,
    "n_invented": pl.Int64, "overlap": pl.Float64, "shift_x": pl.Float64, "shift_y": pl.Float64, "scale": pl.Float64,
    "colour": pl.Float64,
}  # fmt: skip
MOST_SKEW = 0.02
"""Most by which the sides of an editor's picture may be stretched against each other."""


def reference_edit(case: Case, folder: Path) -> tuple[Pixels, Pixels]:
    """Return the original and the reference edit of a drawn case: its picture, and the patch in `after/` laid over it.

    Raises
    ------
    ImageError
        If the dataset has no patch for the case.
    """
    before = _pixels(case.image_path)
    path = inside(folder, f"after/{case.id}.webp")
    if not path.is_file():
        raise ImageError(
            f"case {case.id} has no reference edit", got=str(path), allowed="a drawn dataset with after/"
        )
    with opened(path) as (picture, _):
        patch = np.asarray(picture.convert("RGBA"))
    if patch.shape[:2] != before.shape[:2]:
        raise ImageError(f"case {case.id}: the reference edit has another size", got=patch.shape[1::-1])
    return before, np.where(patch[..., 3:] > 0, patch[..., :3], before).astype(np.uint8)


def regions_of(case: Case) -> list[Region]:
    """Return the target and the nodes of a case as regions to score."""
    after = case.metadata.get("target_after")
    box = tuple(float(v) for v in after) if isinstance(after, list) and len(after) == 4 else case.target.bbox
    found = [Region("target", "", case.target.bbox, box)]  # type: ignore[arg-type]
    nodes = (n for n in case.constraint_nodes if n.bbox)
    return found + [Region(n.id, n.subtype, n.bbox, n.bbox_after or n.bbox, n.predicate) for n in nodes]


def score_edits(
    dataset: Dataset,
    outputs: Mapping[str, str | Path],
    *,
    editor: str = "",
    read: Callable[[Pixels], str] | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score an editor's pictures for the cases of a drawn dataset.

    Parameters
    ----------
    dataset : Dataset
        Drawn cases with reference edits (`icg-scenes`).
    outputs : mapping
        Case id to picture file; any size of the same proportions. Cases that are not named are left out.
    editor : str
        Label of the editor in the frames.
    read : callable, optional
        Reads the text of a piece of a picture; see `icgkit.metrics.edits.score_edit`.

    Returns
    -------
    (regions, pictures)
        One row a node and target, one row a case; columns as in `score_edit`. Shares come from
        `ig.metrics.mean`, after a column such as `done = status == "done"`.

    Raises
    ------
    ImageError
        For a picture that cannot be read, or is stretched.
    SchemaError
        If the dataset has no folder of reference edits.
    """
    if dataset.folder is None or not (dataset.folder / "after").is_dir():
        raise SchemaError(
            f"{dataset.name} has no reference edits", remedy="use a drawn dataset: icgkit scenes --out F"
        )
    regions: list[dict[str, Any]] = []
    pictures: list[dict[str, Any]] = []
    for case_id, path in outputs.items():
        case = dataset[case_id]
        before, reference = reference_edit(case, dataset.folder)
        found = score_edit(
            _fitted(Path(path), before.shape[1::-1]), before, reference, regions_of(case), read=read
        )
        head = {"dataset": dataset.name, "case_id": case.id, "editor": editor}
        regions += [head | row for row in found.regions]
        pictures.append(head | found.picture)
    return pl.DataFrame(regions, schema=_REGION_ROW), pl.DataFrame(pictures, schema=_PICTURE_ROW)


def score_folder(folder: Path, dataset: Dataset) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score a folder of an editor's pictures, named by the cases: `CASE_ID.png` (or jpg, webp).

    Returns
    -------
    (table, problems)
        Table: `category` ("target", a subtype, or "picture"), `measure` (share of regions `done`, `left`, `wrong`,
        `unreadable`, `unknown`; of a picture `preserved`, `overlap`, and `invented`: changes a picture), `estimate`,
        `n_total`, `status`. Problems: `what`, `which`: pictures that belong to no case, cases without a picture.
    """
    files = sorted(p for p in folder.iterdir() if p.suffix.lower() in (".png", ".jpg", ".jpeg", ".webp"))
    known = {c.id for c in dataset}
    outputs = {p.stem: p for p in files if p.stem in known}
    if not outputs:
        raise SchemaError(
            f"no picture in {folder} is named after a case", got=", ".join(p.name for p in files[:3]) or "no pictures",
            allowed=f"CASE_ID.png, such as {dataset.cases[0].id}.png",
        )  # fmt: skip
    regions, pictures = score_edits(dataset, outputs)
    named = regions.with_columns(
        category=pl.when(pl.col("subtype") == "").then(pl.lit("target")).otherwise("subtype"),
        status=pl.col("status").fill_null("unknown"),
    )
    rows: list[dict[str, Any]] = []
    for (category,), part in named.group_by("category", maintain_order=True):
        for status in ("done", "left", "wrong", "unreadable", "unknown"):
            share = (part["status"] == status).mean()
            rows.append(
                {
                    "category": category,
                    "measure": status,
                    "estimate": share,
                    "n_total": part.height,
                    "status": "ok",
                }
            )
    for measure, column in (("preserved", "preserved"), ("overlap", "overlap"), ("invented", "n_invented")):
        seen = pictures[column].drop_nulls()
        rest = "ok" if seen.len() == pictures.height else f"{pictures.height - seen.len()} not registered"
        rows.append(
            {
                "category": "picture",
                "measure": measure,
                "estimate": seen.mean(),
                "n_total": seen.len(),
                "status": rest,
            }
        )
    problems = [("no such case", p.name) for p in files if p.stem not in known]
    problems += [("no picture", i) for i in sorted(known - set(outputs))]
    return pl.DataFrame(rows), pl.DataFrame(problems, schema=["what", "which"], orient="row")


def _pixels(path: Path) -> NDArray[np.uint8]:
    with opened(path) as (picture, _):
        return np.asarray(upright_rgb(picture, path.name))


def _fitted(path: Path, size: tuple[int, ...]) -> Pixels:
    from PIL.Image import Resampling

    with opened(path) as (picture, _):
        upright = upright_rgb(picture, path.name)
        skew = upright.width / upright.height / (size[0] / size[1])
        if abs(skew - 1) > MOST_SKEW:
            raise ImageError(
                f"{path.name} has other proportions", got=upright.size, allowed=f"those of {size}"
            )
        same = upright.size == (size[0], size[1])
        return np.asarray(upright if same else upright.resize((size[0], size[1]), Resampling.LANCZOS))
