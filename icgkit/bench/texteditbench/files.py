"""TextEditBench: read the public folder as people left it, list every repair, write a dataset.

One folder an instance, below a half (`data_manual_production`, `data_web-sourced_instances`) and a
topic: an image, perhaps a mask and an edited reference, one JSON file. The files hold byte-order
marks, stray spaces, bare records, misspelt keys and names; nothing is dropped, and every change
that reading makes is a row of `repairs`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icgkit.errors import ImageError, SchemaError
from icgkit.files import inside, read_file, write_whole
from icgkit.judge.human import spreadsheet_safe
from icgkit.untrusted import json_value

if TYPE_CHECKING:
    import polars as pl

HALVES = {"data_manual_production": "manual", "data_web-sourced_instances": "web"}
METHODS = ("text_change", "text_relocation", "text_delete", "scaling", "text_insert", "text_attribute")
DIFFICULTIES = ("easy", "medium", "hard")
SOURCES = ("human_annotation", "model_generated")
# Spellings in the public files -> the word that is meant.
SPELLINGS = {
    "editing_method": {"scalling": "scaling"},
    "difficulty": {"esay": "easy", "meduim": "medium"},
    "source_tag": {"human_anntation": "human_annotation"},
    "topic": {
        "Business &Advertising": "Business & Advertising",
        "Business&Advertising": "Business & Advertising",
        "Craft & Personal Creation": "Crafts & Personal Creations",
        "Environment & Spatital Signage": "Environmental & Spatial Signage",
        "DiMerchandise & Apparel": "Merchandise & Apparel",
        "Digtial Interfaces & Reports": "Digital Interfaces & Reports",
        "Digital Interfaces & Interaction": "Digital Interfaces & Reports",
        "Digital & Interaction": "Digital Interfaces & Reports",
        "Scientific & Technical": "Scientific & Technical Diagrams",
    },
}
_SCORE = re.compile(r"\s*([0-9]{1,3})?\s*\(\s*([0-9]{1,3}(?:\s*,\s*[0-9]{1,3}){0,30})\s*,?\s*\)\s*")
_PICTURES = (".jpg", ".jpeg", ".png", ".webp")
_MARKS = {"prompt", "input_image", "editing_method"}
_MAX_ID = 80
_COLUMNS = ("case_id", "half", "topic", "folder", "id", "prompt", "editing_method", "difficulty", "score",
            "score_parts", "input_image", "output_image", "masks", "source_tag", "knowledge_prompt", "file")  # fmt: skip


class Import(NamedTuple):
    """What the public folder holds.

    records : one row a JSON file: case_id, half, topic, folder, id (as published), prompt,
        editing_method, difficulty, score (0..20, sum of ten parts, null if unreadable), score_parts
        (list), input_image and output_image (paths below the folder, null if the file is not there), masks
        (list of paths, that of the input first), source_tag, knowledge_prompt (null if none), file.
    repairs : file, kind, field, was, now.
    problems : file, kind, detail: what could not be repaired.
    """

    records: pl.DataFrame
    repairs: pl.DataFrame
    problems: pl.DataFrame


@dataclass
class _Log:
    file: str = ""
    repairs: list[dict[str, str]] = field(default_factory=list)
    problems: list[dict[str, str]] = field(default_factory=list)

    def repair(self, kind: str, name: str, was: str, now: str) -> None:
        self.repairs.append({"file": self.file, "kind": kind, "field": name, "was": was, "now": now})

    def problem(self, kind: str, detail: str) -> None:
        self.problems.append({"file": self.file, "kind": kind, "detail": detail})


def read(path: str | Path) -> Import:
    """Read every annotation file below a folder.

    Parameters
    ----------
    path : str or Path
        The public folder, or one above it.

    Raises
    ------
    SchemaError
        If no annotation file is found, or none of them is one of TextEditBench.
    """
    import polars as pl

    root = Path(path)
    files = sorted(p for p in root.rglob("*.json") if _regular(root, p))
    if not files:
        raise SchemaError(f"{root}: no annotation file", allowed="the folder with data_manual_production/")
    log = _Log()
    rows = [row for file in files for row in _records(root, file, log)]
    if not any(row["_like"] for row in rows):
        raise SchemaError(
            f"{root}: this is no TextEditBench folder", got=files[0].relative_to(root).as_posix(),
            allowed="instances with prompt, editing_method and input_image",
            remedy="give the folder with data_manual_production/ and data_web-sourced_instances/",
        )  # fmt: skip
    rows = [{k: v for k, v in row.items() if k != "_like"} for row in rows]
    _tell_apart(rows)
    seen = Counter(row["id"] for row in rows)
    for row in rows:
        if seen[row["id"]] > 1:
            log.file = row["file"]
            log.repair("id used more than once", "id", row["id"], row["case_id"])
    text = dict.fromkeys(("file", "kind", "field", "was", "now"), pl.String)
    records = pl.DataFrame(
        rows,
        schema=dict.fromkeys(_COLUMNS, pl.String)
        | {"score": pl.Int64, "score_parts": pl.List(pl.Int64), "masks": pl.List(pl.String)},
    )
    return Import(
        records,
        pl.DataFrame(log.repairs, schema=text),
        pl.DataFrame(log.problems, schema={"file": pl.String, "kind": pl.String, "detail": pl.String}),
    )


def _records(root: Path, file: Path, log: _Log) -> Iterator[dict[str, Any]]:
    log.file = file.relative_to(root).as_posix()
    data = _parse(read_file(file), log)
    if isinstance(data, dict):
        log.repair("bare record", "", "object", "list of one object")
        data = [data]
    if not isinstance(data, list) or not all(isinstance(r, dict) for r in data):
        log.problem("not a record", f"{type(data).__name__} at the top")
        return
    half = next((HALVES[p] for p in file.parts if p in HALVES), "other")
    topic, folder = file.parent.parent.name, file.parent.name
    for k, raw in enumerate(data):
        row: dict[str, Any] = {
            name: _text(raw, name, log)
            for name in ("id", "prompt", "topic", "editing_method", "difficulty", "source_tag")
        }
        part = f"-{k + 1}" if len(data) > 1 else ""
        row |= {
            "case_id": f"{half}-{_slug(topic)}-{_slug(folder)}{part}",
            "half": half,
            "folder": file.parent.relative_to(root).as_posix(),
            "knowledge_prompt": _knowledge(raw, log),
            "file": log.file,
            "_like": len(_MARKS & set(raw)) > 1,
        }
        for name in ("input_image", "output_image"):
            row[name] = _image(root, file.parent, raw.get(name), name, log)
        row["masks"] = _masks(root, file.parent, row["input_image"])
        row["score"], row["score_parts"] = _score(raw.get("difficulty_score"), log)
        for name, known in (
            ("editing_method", METHODS),
            ("difficulty", DIFFICULTIES),
            ("source_tag", SOURCES),
        ):
            if row[name] not in known:
                log.problem(f"unknown {name}", str(row[name]))
        yield row


def _parse(data: bytes, log: _Log) -> Any:
    if data.startswith(b"\xef\xbb\xbf"):
        log.repair("byte-order mark", "", "at the start", "")
    if b"\r\n" in data:
        log.repair("CRLF line ends", "", "CRLF", "LF")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
        log.repair("Windows code page", "", "cp1252", "UTF-8")
    try:
        return json_value(text, "record")
    except SchemaError as exc:
        # A no-break space between tokens is not white space in JSON; inside strings it stays.
        mended = re.sub(r'("(?:[^"\\]|\\.)*")|\xa0', lambda m: m[1] or " ", text)
        try:
            found = json_value(mended, "record")
        except SchemaError:
            log.problem("not JSON", str(exc))
            return []
        log.repair("no-break space between tokens", "", "U+00A0", "space")
        return found


def _text(raw: dict[str, Any], name: str, log: _Log) -> str | None:
    value = raw.get(name)
    if value is None:
        log.problem("missing field", name)
        return None
    text = str(value)
    if name != "prompt" and text != text.strip():
        log.repair("blank at the edge", name, text, text.strip())
    text = text.strip()
    meant = SPELLINGS.get(name, {}).get(text, text)
    if meant != text:
        log.repair(f"spelling of {name}", name, text, meant)
    return meant


def _knowledge(raw: dict[str, Any], log: _Log) -> str | None:
    for key, value in raw.items():
        if key != "prompt" and re.sub(r"[^a-z]", "", key.lower()).endswith("edgeprompt"):
            if key != "knowledge_prompt":
                log.repair("spelling of a key", key, key, "knowledge_prompt")
            return str(value).strip() or None
    return None


def _image(root: Path, folder: Path, value: Any, name: str, log: _Log) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return None
    if value != value.strip():
        log.repair("blank at the end of an image name", name, value, value.strip())
    for candidate in (value, value.strip()):
        if path := _regular(root, folder / candidate):
            return path
    # Masks are no input; the folder's only other picture is.
    pictures = sorted(
        p.name
        for p in folder.iterdir()
        if p.suffix.lower() in _PICTURES and not p.stem.endswith("_mask") and _regular(root, p)
    )
    if name == "input_image" and len(pictures) == 1:
        log.repair("image name that does not exist", name, value, pictures[0])
        return (folder / pictures[0]).relative_to(root).as_posix()
    if name == "input_image":
        log.problem("image not here", value)
    return None


def _masks(root: Path, folder: Path, image: str | None) -> list[str]:
    """Return the masks of a folder, that of the input first."""
    own = f"{Path(image).stem}_mask" if image else ""
    found = [
        p for p in sorted(folder.glob("*_mask.*")) if p.suffix.lower() in _PICTURES and _regular(root, p)
    ]
    return [p.relative_to(root).as_posix() for p in sorted(found, key=lambda p: p.stem != own)]


def mask_of(path: Path, size: tuple[int, int]) -> NDArray[np.bool_]:
    """Read a mask as true where it is white (128 and above), at the size (width, height) of its image.

    Raises
    ------
    ImageError
        If it cannot be read.
    """
    from icgkit.cases.images import opened, upright_rgb

    with opened(path) as (image, _):
        grey = upright_rgb(image, path.name).convert("L")
    if grey.size != size:
        grey = grey.resize(size, resample=0)
    return np.asarray(grey) >= 128


def _region(
    root: Path, row: dict[str, Any], size: tuple[int, int]
) -> tuple[tuple[int, int, int, int] | None, str]:
    """Return the box that the mask of the input is white in, and what is wrong with the mask."""
    own = f"{Path(row['input_image']).stem}_mask"
    name = next((m for m in row["masks"] if Path(m).stem == own), None)
    if name is None:
        return None, "no mask of the input"
    try:
        mask = mask_of(inside(root, name), size)
    except ImageError as exc:
        return None, str(exc)
    if not mask.any():
        return None, "mask is empty"
    x, y = (np.flatnonzero(mask.any(axis=axis)) for axis in (0, 1))
    return (int(x[0]), int(y[0]), int(x[-1]) + 1, int(y[-1]) + 1), ""


def _regular(root: Path, path: Path) -> str | None:
    """Return the path below the root if a regular file is there, within the root."""
    try:
        name = path.relative_to(root).as_posix()
        return name if inside(root, name).is_file() else None
    except (ImageError, OSError, ValueError):
        return None


def _score(value: Any, log: _Log) -> tuple[int | None, list[int] | None]:
    match = _SCORE.fullmatch(str(value)[:500]) if value is not None else None
    parts = [int(p) for p in match[2].split(",") if p.strip()] if match else []
    if len(parts) != 10 or any(p > 2 for p in parts):
        log.problem("difficulty_score is not ten parts of 0 to 2", str(value))
        return None, None
    if match and match[1] and int(match[1]) != sum(parts):
        log.problem("difficulty_score is not the sum of its parts", str(value))
    return sum(parts), parts


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")


def _tell_apart(rows: list[dict[str, Any]]) -> None:
    """Give case ids that are too long, or that two folders share, an end made of the folder's own name."""
    seen = Counter(row["case_id"] for row in rows)
    for row in rows:
        if seen[row["case_id"]] > 1 or len(row["case_id"]) > _MAX_ID:
            end = hashlib.sha256(row["folder"].encode(errors="replace")).hexdigest()[:8]
            row["case_id"] = f"{row['case_id'][: _MAX_ID - 9]}-{end}"


def write_dataset(found: Import, root: str | Path, out: str | Path, *, name: str = "texteditbench") -> int:
    """Write the records whose image is here as a dataset that `icgkit run` takes; return how many.

    The cases carry no constraint graph: they can be elicited from, and judged once annotated. The
    images come along (as links of the file system where it has them, else as copies), so that the
    folder stands alone. `repairs.csv` and `problems.csv` lie
    beside the cases.

    Raises
    ------
    ImageError
        If no record has its image.
    """
    from pydantic import ValidationError

    from icgkit.cases.case import Case, Target
    from icgkit.cases.dataset import write_cases
    from icgkit.cases.images import prepare

    root = Path(root)
    cases, unreadable = [], []
    kept: dict[str, Path] = {}
    for row in found.records.drop_nulls("input_image").iter_rows(named=True):
        try:
            path = inside(root, row["input_image"])
            image = prepare(path, max_side=100_000)
        except ImageError as exc:
            unreadable.append({"file": row["file"], "kind": "image cannot be read", "detail": str(exc)})
            continue
        box, fault = _region(root, row, (image.width, image.height))
        if fault:
            unreadable.append({"file": row["file"], "kind": "no target region", "detail": fault})
        keep = ("id", "half", "topic", "editing_method", "difficulty", "score", "knowledge_prompt")
        words = str(row["prompt"] or "")
        try:
            case = Case(
                id=row["case_id"],
                image=row["input_image"],
                image_size=(image.width, image.height),
                instruction=words,
                source="TextEditBench",
                target=Target(
                    element=words[:200],
                    region="white in the mask" if box else "named in the instruction",
                    action=row["editing_method"] or "changes",
                    bbox=box,
                ),
                metadata={k: row[k] for k in keep if row[k] is not None},
            )
        except ValidationError as exc:
            why = exc.errors(include_url=False, include_input=False)[0]
            detail = f"{'.'.join(map(str, why['loc']))}: {why['msg']}"
            unreadable.append({"file": row["file"], "kind": "no case can be made of it", "detail": detail})
            continue
        kept[row["input_image"]] = path
        cases.append(case)
    if not cases:
        raise ImageError(
            f"{root}: no record has its image", remedy="point to the folder that holds the .jpg files"
        )
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for image_name, path in kept.items():
        place = inside(folder / "images", image_name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        try:
            os.link(path, place)
        except OSError:
            shutil.copyfile(path, place)
    write_cases(cases, folder / "cases.jsonl")
    text = (
        f'name = "{name}"\nversion = "as published"\nlicence = "see TextEditBench"\n'
        'provenance = "TextEditBench, imported by icgkit; no constraint graphs"\nimage_root = "images"\n'
    )
    write_whole(folder / "dataset.toml", text.encode())
    import polars as pl

    problems = pl.concat([found.problems, pl.DataFrame(unreadable, schema=found.problems.schema)])
    for frame, file in ((found.repairs, "repairs.csv"), (problems, "problems.csv")):
        text = frame.with_columns(
            pl.col(pl.String).map_elements(spreadsheet_safe, return_dtype=pl.String)
        ).write_csv()
        write_whole(folder / file, text.encode())
    return len(cases)


def report(found: Import) -> pl.DataFrame:
    """Count repairs and problems by kind.

    Returns
    -------
    polars.DataFrame
        kind, repaired (bool), n (places), files.
    """
    import polars as pl

    parts = [
        frame.group_by("kind").agg(pl.len().cast(pl.Int64).alias("n"), pl.col("file").n_unique().cast(pl.Int64).alias("files"))
        .with_columns(repaired=pl.lit(done))
        for frame, done in ((found.repairs, True), (found.problems, False))
    ]  # fmt: skip
    return (
        pl.concat(parts)
        .select("kind", "repaired", "n", "files")
        .sort("repaired", "n", "kind", descending=[True, True, False])
    )
