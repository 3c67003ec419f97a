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
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import ValidationError

from icgkit.bench.common import listed, texts
from icgkit.cases.case import Case, Target
from icgkit.cases.dataset import write_cases
from icgkit.cases.images import opened, prepare, upright_rgb
from icgkit.errors import ImageError, SchemaError
from icgkit.files import inside, read_file, write_whole
from icgkit.study.forms import spreadsheet_safe
from icgkit.untrusted import json_value

HALVES = {"data_manual_production": "manual", "data_web-sourced_instances": "web"}
METHODS = ("text_change", "text_relocation", "text_delete", "scaling", "text_insert", "text_attribute")
DIFFICULTIES = ("easy", "medium", "hard")
_SOURCES = ("human_annotation", "model_generated")
_KNOWN = {"editing_method": METHODS, "difficulty": DIFFICULTIES, "source_tag": _SOURCES}
_SPELLINGS = {
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
"""Spellings in the public files to the word that is meant."""
_SCORE = re.compile(r"\s*([0-9]{1,3})?\s*\(\s*([0-9]{1,3}(?:\s*,\s*[0-9]{1,3}){0,30})\s*,?\s*\)\s*")
_PICTURES = (".jpg", ".jpeg", ".png", ".webp")
_MARKS = {"prompt", "input_image", "editing_method"}
_MAX_ID = 80
_COLUMNS: dict[str, Any] = texts(
    "case_id", "half", "topic", "folder", "id", "prompt", "editing_method", "difficulty", "score",
    "score_parts", "input_image", "output_image", "masks", "source_tag", "knowledge_prompt", "file",
) | {"score": pl.Int64, "score_parts": pl.List(pl.Int64), "masks": pl.List(pl.String)}  # fmt: skip
Record = dict[str, Any]
_Box = tuple[int, int, int, int]


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
    root: Path
    file: str = ""
    repairs: list[tuple[str, ...]] = field(default_factory=list)
    problems: list[tuple[str, ...]] = field(default_factory=list)

    def repair(self, kind: str, name: str, was: str, now: str) -> None:
        self.repairs.append((self.file, kind, name, was, now))

    def problem(self, kind: str, detail: str) -> None:
        self.problems.append((self.file, kind, detail))


def read(path: str | Path) -> Import:
    """Read every annotation file below the public folder, or one above it."""
    root = Path(path)
    files = sorted(p for p in root.rglob("*.json") if _regular(root, p))
    if not files:
        raise SchemaError(f"{root}: no annotation file", allowed="the folder with data_manual_production/")
    log = _Log(root)
    rows = [row for file in files for row in _records(file, log)]
    like = [row.pop("_like") for row in rows]
    if not any(like):
        raise SchemaError(
            f"{root}: this is no TextEditBench folder", got=files[0].relative_to(root).as_posix(),
            allowed="instances with prompt, editing_method and input_image",
            remedy="give the folder with data_manual_production/ and data_web-sourced_instances/",
        )  # fmt: skip
    _tell_apart(rows)
    seen = Counter(row["id"] for row in rows)
    for row in rows:
        if seen[row["id"]] > 1:
            log.file = row["file"]
            log.repair("id used more than once", "id", row["id"], row["case_id"])
    return Import(
        pl.DataFrame(rows, schema=_COLUMNS), listed(log.repairs, "file", "kind", "field", "was", "now"),
        listed(log.problems, "file", "kind", "detail"),
    )  # fmt: skip


def _records(file: Path, log: _Log) -> Iterator[Record]:
    root, folder = log.root, file.parent
    log.file = file.relative_to(root).as_posix()
    data = _parse(read_file(file), log)
    if isinstance(data, dict):
        log.repair("bare record", "", "object", "list of one object")
        data = [data]
    if not isinstance(data, list) or not all(isinstance(r, dict) for r in data):
        log.problem("not a record", f"{type(data).__name__} at the top")
        return
    half = next((HALVES[p] for p in file.parts if p in HALVES), "other")
    named = f"{half}-{_slug(folder.parent.name)}-{_slug(folder.name)}"
    for k, raw in enumerate(data, 1):
        words = ("id", "prompt", "topic", "editing_method", "difficulty", "source_tag")
        row: Record = {name: _text(raw, name, log) for name in words}
        row |= {
            "case_id": f"{named}-{k}" if len(data) > 1 else named, "half": half,
            "folder": folder.relative_to(root).as_posix(), "knowledge_prompt": _knowledge(raw, log),
            "file": log.file, "input_image": _image(folder, raw.get("input_image"), "input_image", log),
            "output_image": _image(folder, raw.get("output_image"), "output_image", log),
            "_like": len(_MARKS & set(raw)) > 1,
        }  # fmt: skip
        row["masks"] = _masks(root, folder, row["input_image"])
        row["score"], row["score_parts"] = _score(raw.get("difficulty_score"), log)
        for name, known in _KNOWN.items():
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


def _text(raw: Record, name: str, log: _Log) -> str | None:
    value = raw.get(name)
    if value is None:
        log.problem("missing field", name)
        return None
    text = str(value).strip()
    if name != "prompt" and text != str(value):
        log.repair("blank at the edge", name, str(value), text)
    meant = _SPELLINGS.get(name, {}).get(text, text)
    if meant != text:
        log.repair(f"spelling of {name}", name, text, meant)
    return meant


def _knowledge(raw: Record, log: _Log) -> str | None:
    for key, value in raw.items():
        if key != "prompt" and re.sub(r"[^a-z]", "", key.lower()).endswith("edgeprompt"):
            if key != "knowledge_prompt":
                log.repair("spelling of a key", key, key, "knowledge_prompt")
            return str(value).strip() or None
    return None


def _image(folder: Path, value: Any, name: str, log: _Log) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return None
    if value != value.strip():
        log.repair("blank at the end of an image name", name, value, value.strip())
    for candidate in (value, value.strip()):
        if path := _regular(log.root, folder / candidate):
            return path
    if name != "input_image":
        return None
    # Masks are no input; the folder's only other picture is.
    shown = [p for p in folder.iterdir() if p.suffix.lower() in _PICTURES and not p.stem.endswith("_mask")]
    pictures = [found for p in shown if (found := _regular(log.root, p))]
    if len(pictures) != 1:
        log.problem("image not here", value)
        return None
    log.repair("image name that does not exist", name, value, Path(pictures[0]).name)
    return pictures[0]


def _masks(root: Path, folder: Path, image: str | None) -> list[str]:
    """Return the masks of a folder, that of the input first."""
    own = f"{Path(image).stem}_mask" if image else ""
    found = [
        p for p in sorted(folder.glob("*_mask.*")) if p.suffix.lower() in _PICTURES and _regular(root, p)
    ]
    return [p.relative_to(root).as_posix() for p in sorted(found, key=lambda p: p.stem != own)]


def mask_of(path: Path, size: tuple[int, int]) -> NDArray[np.bool_]:
    """Read a mask as true where it is white (128 and above), at the size (width, height) of its image."""
    with opened(path) as (image, _):
        grey = upright_rgb(image, path.name).convert("L")
    if grey.size != size:
        grey = grey.resize(size, resample=0)
    return np.asarray(grey) >= 128


def _region(root: Path, row: Record, size: tuple[int, int]) -> tuple[_Box | None, str]:
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
    if match is None or len(parts) != 10 or any(p > 2 for p in parts):
        log.problem("difficulty_score is not ten parts of 0 to 2", str(value))
        return None, None
    if match[1] and int(match[1]) != sum(parts):
        log.problem("difficulty_score is not the sum of its parts", str(value))
    return sum(parts), parts


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")


def _tell_apart(rows: list[Record]) -> None:
    """Give case ids that are too long, or that two folders share, an end made of the folder's own name."""
    seen = Counter(row["case_id"] for row in rows)
    for row in rows:
        if seen[row["case_id"]] > 1 or len(row["case_id"]) > _MAX_ID:
            end = hashlib.sha256(row["folder"].encode(errors="replace")).hexdigest()[:8]
            row["case_id"] = f"{row['case_id'][: _MAX_ID - 9]}-{end}"


def write_dataset(found: Import, root: str | Path, out: str | Path, *, name: str = "texteditbench") -> int:
    """Write the records whose image is here as a dataset that `icgkit run` takes; return how many.

    The cases carry no constraint graph: they can be elicited from, and judged once annotated. The images come
    along (as links of the file system where it has them, else as copies), so that the folder stands alone.
    `repairs.csv` and `problems.csv` lie beside the cases. Without any image it is an error.
    """
    root, folder = Path(root), Path(out)
    cases: list[Case] = []
    problems: list[tuple[str, str, str]] = []
    for row in found.records.drop_nulls("input_image").iter_rows(named=True):
        case, told = _case(root, row)
        cases += [case] if case else []
        problems += [(row["file"], kind, detail) for kind, detail in told]
    if not cases:
        raise ImageError(
            f"{root}: no record has its image", remedy="point to the folder that holds the .jpg files"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for image in dict.fromkeys(case.image for case in cases):
        path, place = inside(root, image), inside(folder / "images", image)
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
    every = pl.concat([found.problems, listed(problems, *found.problems.columns)])
    safe = pl.col(pl.String).map_elements(spreadsheet_safe, return_dtype=pl.String)
    for frame, file in ((found.repairs, "repairs.csv"), (every, "problems.csv")):
        write_whole(folder / file, frame.with_columns(safe).write_csv().encode())
    return len(cases)


def _case(root: Path, row: Record) -> tuple[Case | None, list[tuple[str, str]]]:
    """Return the case of a record, and its problems (kind, detail)."""
    try:
        image = prepare(inside(root, row["input_image"]), max_side=100_000)
    except ImageError as exc:
        return None, [("image cannot be read", str(exc))]
    size, words = (image.width, image.height), str(row["prompt"] or "")
    box, fault = _region(root, row, size)
    problems = [("no target region", fault)] if fault else []
    kept = ("id", "half", "topic", "editing_method", "difficulty", "score", "knowledge_prompt")
    try:
        target = Target(
            element=words[:200], region="white in the mask" if box else "named in the instruction",
            action=row["editing_method"] or "changes", bbox=box,
        )  # fmt: skip
        case = Case(
            id=row["case_id"], image=row["input_image"], image_size=size, instruction=words,
            source="TextEditBench", target=target, metadata={k: row[k] for k in kept if row[k] is not None},
        )  # fmt: skip
    except ValidationError as exc:
        why = exc.errors(include_url=False, include_input=False)[0]
        detail = f"{'.'.join(map(str, why['loc']))}: {why['msg']}"
        return None, [*problems, ("no case can be made of it", detail)]
    return case, problems


def report(found: Import) -> pl.DataFrame:
    """Count repairs and problems by kind: kind, repaired (bool), n (places), files."""
    parts = [
        frame.select("kind", "file", repaired=pl.lit(done))
        for frame, done in ((found.repairs, True), (found.problems, False))
    ]
    counted = pl.concat(parts).group_by("kind", "repaired").agg(
        n=pl.len().cast(pl.Int64), files=pl.col("file").n_unique().cast(pl.Int64)
    )  # fmt: skip
    return counted.sort("repaired", "n", "kind", descending=[True, True, False])
