"""Regions as COCO instances, which FiftyOne and every detection tool read, and boxes from there to begin annotating with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from icgkit.cases.dataset import Dataset
from icgkit.errors import ImageError, SchemaError
from icgkit.exchange import put
from icgkit.files import inside, read_file
from icgkit.taxonomy import SUBTYPES
from icgkit.untrusted import json_value

TARGET = "target"
"""Category of the text that is edited."""


def write_coco(dataset: Dataset, out: str | Path) -> Path:
    """Write the regions of a dataset as COCO instances, with its pictures.

    Parameters
    ----------
    dataset : Dataset
        Cases with boxes; several cases of one picture share it.
    out : path
        Folder: `labels.json` and `data/`, as FiftyOne's `COCODetectionDataset` expects.

    Returns
    -------
    Path
        `labels.json`. Boxes are x, y, width, height in pixels; categories are the subtypes and `target`;
        each annotation has `case_id`, `node_id` (null for the target), `description`, `where`.

    Examples
    --------
    >>> import json, tempfile, icgkit as ig
    >>> data = ig.load_dataset("icg-scenes")
    >>> found = json.loads(write_coco(data.subset([data[0].id]), tempfile.mkdtemp()).read_text())
    >>> len(found["images"]), found["annotations"][0]["case_id"]
    (1, 'bakery_front-0-name')
    """
    out = Path(out)
    kinds = {name: k for k, name in enumerate([*SUBTYPES, TARGET], 1)}
    images: dict[str, dict[str, Any]] = {}
    rows: list[dict[str, Any]] = []
    for case in dataset:
        if case.image not in images:
            put(inside(out / "data", case.image), read_file(case.image_path, error=ImageError))
            width, height = case.image_size
            about = {"id": len(images) + 1, "file_name": case.image, "width": width, "height": height}
            images[case.image] = about
        for box, head in _boxes(case):
            x0, y0, x1, y1 = box
            size = {"bbox": [x0, y0, x1 - x0, y1 - y0], "area": (x1 - x0) * (y1 - y0), "iscrowd": 0}
            place = {"id": len(rows) + 1, "image_id": images[case.image]["id"], "case_id": case.id}
            rows.append(place | size | head | {"category_id": kinds[head["category"]]})
    categories = [
        {"id": k, "name": name, "supercategory": SUBTYPES[name].category if name in SUBTYPES else TARGET}
        for name, k in kinds.items()
    ]
    info = {"description": dataset.name, "version": dataset.version, "contributor": dataset.provenance}
    whole = {
        "info": info, "licenses": [{"id": 1, "name": dataset.licence}], "images": list(images.values()),
        "annotations": rows, "categories": categories,
    }  # fmt: skip
    path = out / "labels.json"
    put(path, json.dumps(whole, ensure_ascii=False).encode())
    return path


def _boxes(case: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    if case.target.bbox:
        yield (
            case.target.bbox,
            {"node_id": None, "category": TARGET, "description": case.target.region, "where": TARGET},
        )
    for node in case.constraint_nodes:
        if node.bbox:
            head = {
                "node_id": node.id,
                "category": node.subtype,
                "description": node.region,
                "where": node.where,
            }
            yield node.bbox, head


def read_coco(path: str | Path) -> list[dict[str, Any]]:
    """Read COCO instances as boxes to begin with: rows for `ig.annotate(folder, boxes=FILE)`.

    Parameters
    ----------
    path : path
        A COCO file of instances; it is untrusted.

    Returns
    -------
    list of dict
        `case_id` (the annotation's own, else the picture's file name without ending), `bbox` (x0, y0, x1, y1),
        and `subtype` and `region` where the category is a subtype and a description is given.

    Raises
    ------
    SchemaError
        For a file that is no COCO file, naming the annotation.
    """
    path = Path(path)
    whole = json_value(read_file(path), path.name)
    if not isinstance(whole, dict) or not all(
        isinstance(whole.get(k), list) for k in ("images", "annotations")
    ):
        raise SchemaError(f"{path.name} is no COCO file", allowed="lists images, annotations, categories")
    try:
        names = {i["id"]: Path(i["file_name"]).stem for i in whole["images"]}
        kinds = {c["id"]: c["name"] for c in whole.get("categories", [])}
    except (KeyError, TypeError) as exc:
        raise SchemaError(
            f"{path.name}: images need id and file_name, categories id and name", got=repr(exc)
        ) from None
    out = []
    for k, row in enumerate(whole["annotations"]):
        try:
            x, y, w, h = (float(v) for v in row["bbox"])
            made: dict[str, Any] = {
                "case_id": row.get("case_id") or names[row["image_id"]],
                "bbox": [x, y, x + w, y + h],
            }
        except (KeyError, TypeError, ValueError):
            raise SchemaError(
                f"{path.name}, annotation {k}",
                got=str(row)[:80],
                allowed="image_id and bbox [x, y, width, height]",
            ) from None
        if kinds.get(row.get("category_id")) in SUBTYPES:
            made["subtype"] = kinds[row["category_id"]]
        if isinstance(row.get("description"), str):
            made["region"] = row["description"]
        out.append(made)
    return out
