"""Read datasets and published figures into validated objects and checked frames."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from icgkit.cases.case import Case
from icgkit.errors import ImageError, SchemaError, UnknownName
from icgkit.files import inside, named_folder, project_root, read_csv, read_file, read_text
from icgkit.schemas import schema
from icgkit.untrusted import json_value, toml_table


@dataclass(frozen=True)
class Dataset:
    """A named, versioned list of cases with the folder of their images.

    Iterating gives cases; `dataset["case-id"]` gives one, and so does `dataset[0]`, its place. The frames are `cases`, `nodes` and
    `edges`, with the columns of the schemas of those names.
    """

    name: str
    version: str
    licence: str
    provenance: str
    image_root: Path
    cases: tuple[Case, ...] = field(repr=False)
    folder: Path | None = None

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def __len__(self) -> int:
        return len(self.cases)

    def __getitem__(self, case_id: str | int) -> Case:
        if isinstance(case_id, int) and not isinstance(case_id, bool):
            if -len(self) <= case_id < len(self):
                return self.cases[case_id]
            raise UnknownName(f"case in {self.name} by place", got=case_id, allowed=f"0 to {len(self) - 1}")
        for case in self.cases:
            if case.id == case_id:
                return case
        raise UnknownName.among(f"case in {self.name}", str(case_id), (c.id for c in self.cases))

    def subset(self, case_ids: Iterable[str]) -> Dataset:
        """Return the dataset with these cases only, in the order given."""
        kept = tuple(self[i] for i in case_ids)
        return Dataset(
            self.name, self.version, self.licence, self.provenance, self.image_root, kept, self.folder
        )

    def frame(self) -> pl.DataFrame:
        """Return one row a case (schema `cases`)."""
        return schema("cases").frame([_case_row(c) for c in self.cases])

    def nodes(self) -> pl.DataFrame:
        """Return one row a constraint node (schema `nodes`)."""
        return schema("nodes").frame([row for c in self.cases for row in _node_rows(c)])

    def edges(self) -> pl.DataFrame:
        """Return one row an edge (schema `edges`): edit to node, and node to node."""
        return schema("edges").frame([row for c in self.cases for row in _edge_rows(c)])

    @property
    def cluster(self) -> str:
        """The column of `frame()` by which cases belong together: `template` if all are drawn, else `image`."""
        return "template" if self.cases and all(_template(c) for c in self.cases) else "image"

    def missing_images(self) -> list[Case]:
        """Return the cases whose image file is not there."""
        return [c for c in self.cases if not c.image_path.is_file()]

    def _repr_html_(self) -> str:
        from icgkit.cases.show import dataset_html

        return dataset_html(self)


def _case_row(case: Case) -> dict[str, Any]:
    return {
        "dataset": case.dataset,
        "case_id": case.id,
        "instruction": case.instruction,
        "target_element": case.target.element,
        "target_region": case.target.region,
        "source": case.source,
        "image": case.image,
        "width": case.image_size[0],
        "height": case.image_size[1],
        "n_nodes": len(case.constraint_nodes),
        "n_inter": len(case.inter_constraints),
        "template": _template(case),
        "metadata": json.dumps(case.metadata, ensure_ascii=False, sort_keys=True),
    }


def _template(case: Case) -> str | None:
    name = case.metadata.get("template")
    return name if isinstance(name, str) and name else None


def _node_rows(case: Case) -> Iterator[dict[str, Any]]:
    for node in case.constraint_nodes:
        row = node.model_dump(
            exclude={"id", "bbox", "bbox_after", "follows", "predicate", "subtype_also", "disputed"}
        )
        row |= dict(zip(("x0", "y0", "x1", "y1"), node.bbox or (None,) * 4, strict=True))
        yield row | {
            "dataset": case.dataset,
            "case_id": case.id,
            "node_id": node.id,
            "category": node.category.id,
            "indirectness": node.kind.indirectness,
            "chain": case.chain(node.id),
        }


def _edge_rows(case: Case) -> Iterator[dict[str, Any]]:
    key = {"dataset": case.dataset, "case_id": case.id}
    for node in case.constraint_nodes:
        yield key | {"source": "edit", "target": node.id, "type": "edit", "description": None}
    for edge in case.inter_constraints:
        a, b = edge.between
        yield key | {"source": a, "target": b, "type": edge.type, "description": edge.description}


def read_cases(path: str | Path) -> list[Case]:
    """Read a `cases.jsonl` file: one case a line, UTF-8 with or without a byte-order mark.

    Raises
    ------
    SchemaError
        Naming file, line, case and field; an id used twice names both lines.
    """
    path = Path(path)
    text = read_text(path)
    cases: list[Case] = []
    line_of: dict[str, int] = {}
    # Only a line feed ends a line: JSON strings may hold U+2028 and U+0085.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        case = Case.from_json(line, place=f"{path.name}, line {number}")
        if case.id in line_of:
            raise SchemaError(
                f"{path.name}, line {number}, case {case.id!r}: id used twice, first on line {line_of[case.id]}",
                remedy="give each case an id of its own",
            )
        line_of[case.id] = number
        cases.append(case)
    return cases


def write_cases(cases: Iterable[Case], path: str | Path) -> None:
    """Write cases as JSON lines; `read_cases` gives the same cases back."""
    text = "".join(case.to_json() + "\n" for case in cases)
    Path(path).write_text(text, encoding="utf-8", newline="\n")


def load_dataset(name: str | Path) -> Dataset:
    """Load a dataset folder (`dataset.toml`, `cases.jsonl`, images) by name or path.

    The images lie, in this order, in the folders that the environment variable ICGKIT_IMAGES_<NAME>
    names (upper case, `-` as `_`; several parted as in PATH), in those of `image_root_elsewhere` in
    dataset.toml that exist (from the project root; only pictures with the case's own `image_sha256`
    are taken there), or in `image_root`, a folder below the dataset's own.

    Raises
    ------
    UnknownName, SchemaError
        If there is no such dataset, or one of its files is wrong.
    """
    folder = named_folder("cases", name)
    meta = _dataset_toml(folder / "dataset.toml")
    roots, known = _image_roots(folder, meta)
    path = folder / "cases.jsonl"
    stat = path.stat() if path.is_file() else None
    cases = _cases(path, stat and (stat.st_mtime_ns, stat.st_size, stat.st_ino), roots, known, meta["name"])
    return Dataset(
        meta["name"], meta["version"], meta["licence"], meta["provenance"], roots[0], cases, folder
    )


@lru_cache(maxsize=4)
def _cases(
    path: Path, _stamp: tuple[int, ...] | None, roots: tuple[Path, ...], known: bool, name: str
) -> tuple[Case, ...]:
    """Read a dataset's cases, once as long as the file is the same; cases are frozen."""
    return tuple(case.within(roots, name, known_images=known) for case in read_cases(path))


def _dataset_toml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise SchemaError(f"{path} is missing", remedy="a dataset is dataset.toml, cases.jsonl and images/")
    meta = toml_table(read_file(path), str(path))
    need = ["name", "version", "licence", "provenance", "image_root"]
    if absent := [k for k in need if k not in meta]:
        raise SchemaError(f"{path}: missing field {', '.join(absent)}", allowed=need)
    meta.setdefault("image_root_elsewhere", [])
    for key in need:
        if not isinstance(meta[key], str) or not meta[key].strip():
            raise SchemaError(f"{path}: {key}", got=repr(meta[key])[:80], allowed="a text")
    if not isinstance(meta["image_root_elsewhere"], list) or not all(
        isinstance(p, str) for p in meta["image_root_elsewhere"]
    ):
        raise SchemaError(
            f"{path}: image_root_elsewhere",
            got=repr(meta["image_root_elsewhere"])[:80],
            allowed="a list of texts",
        )
    return meta


def _image_roots(folder: Path, meta: dict[str, Any]) -> tuple[tuple[Path, ...], bool]:
    """Return the folders of a dataset's images, and whether only pictures with known hashes count.

    The user's setting may name any folders. A file may name one below its own folder; those that it
    names elsewhere give only pictures whose SHA-256 the cases state, so that no file can have a
    picture sent that its author does not have.
    """
    variable = "ICGKIT_IMAGES_" + re.sub(r"\W", "_", meta["name"].upper())
    if setting := os.environ.get(variable):
        return tuple(Path(p).expanduser() for p in setting.split(os.pathsep) if p), False
    elsewhere = tuple(
        p for p in (project_root() / p for p in meta["image_root_elsewhere"]) if os.path.isdir(p)
    )
    if elsewhere:
        return elsewhere, True
    try:
        return (inside(folder, meta["image_root"]),), False
    except ImageError as exc:
        raise SchemaError(
            f"{folder / 'dataset.toml'}: image_root leads out of the dataset",
            got=meta["image_root"],
            allowed="a folder below it",
            remedy=f"set {variable}=<folder> if the images lie elsewhere",
        ) from exc


def load_published(name: str = "icg") -> pl.DataFrame:
    """Load figures from a paper (schema `published` for `icg`, the file's own columns otherwise).

    Parameters
    ----------
    name : str
        File in `data/published/` without its ending: icg, grade, grade_facts, grade_judges, dod, dod_facts,
        unike or unike_facts.
    """
    folder = project_root() / "data" / "published"
    path = folder / f"{name}.csv"
    if not path.is_file():
        raise UnknownName.among("published figures", name, (p.stem for p in folder.glob("*.csv")))
    frame = read_csv(path)
    return schema("published").check(frame) if name == "icg" else frame


def load_kept(name: str, part: str) -> pl.DataFrame:
    """Load a frame that is kept in `data/bench`: what took long to make and notebooks show.

    Parameters
    ----------
    name, part : str
        Folder and file: `data/bench/NAME/PART.parquet`.

    Raises
    ------
    UnknownName
        If there is no such folder or file.

    Examples
    --------
    >>> load_kept("twins", "judgments")["found"].null_count()
    0
    """
    folder = project_root() / "data" / "bench" / name
    found = sorted(p.stem for p in folder.glob("*.parquet"))
    if part not in found:
        raise UnknownName.among(f"frame in data/bench/{name}", part, found)
    return pl.read_parquet(folder / f"{part}.parquet")


def load_audit(data: Dataset) -> pl.DataFrame | None:
    """Read the answers of a dataset's own audit (`audit.csv` in its folder), or None if it has none.

    Returns
    -------
    polars.DataFrame or None
        Schema `audit`: one row a node, the first answers, before anything was repaired.
    """
    path = data.folder / "audit.csv" if data.folder else None
    if path is None or not path.is_file():
        return None
    yes, answers = {"yes": True, "no": False}, ("exists", "region", "update", "reason")
    need = ["case_id", "node_id", *answers]
    rows = [
        {
            "dataset": data.name,
            "case_id": r["case_id"],
            "node_id": r["node_id"],
            "annotator": r.get("annotator") or "second pass",
        }
        | {d: yes.get((r[d] or "").strip().lower()) for d in answers}
        for r in read_csv(path, columns=need, as_text=True).iter_rows(named=True)
    ]
    return schema("audit").frame(rows)


def load_annotations(data: Dataset) -> pl.DataFrame | None:
    """Read what each annotator wrote of a dataset's cases before adjudication, or None if it has no such file.

    Returns
    -------
    polars.DataFrame or None
        `annotations.jsonl` of the folder: one row a node that an annotator named, with `case_id`, `annotator`,
        `where`, `subtype`, `region`, `update`, `x0`, `y0`, `x1`, `y1` (pixels).
    """
    path = data.folder / "annotations.jsonl" if data.folder else None
    if path is None or not path.is_file():
        return None
    rows = [json_value(line, path.name) for line in read_text(path).split("\n") if line.strip()]
    text = ("case_id", "annotator", "where", "subtype", "region", "update")
    columns = dict.fromkeys(text, pl.String) | dict.fromkeys(("x0", "y0", "x1", "y1"), pl.Float64)
    return pl.DataFrame(rows, schema=columns)


def sha256_of(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes, in hex."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
