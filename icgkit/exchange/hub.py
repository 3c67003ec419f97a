"""Datasets and runs as a Hugging Face `datasets` folder: Parquet with the pictures inside, and a card; nothing is sent."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import yaml

from icgkit.cases.case import Case
from icgkit.cases.dataset import Dataset, load_dataset, write_cases
from icgkit.errors import ImageError, SchemaError
from icgkit.exchange import other, put
from icgkit.files import inside, read_file
from icgkit.report.results import Results

if TYPE_CHECKING:
    import datasets

SPLIT = "test"
FRAMES = {"responses": "responses", "judgments": "all_judgments"}
"""Frames of a run that are written, a configuration each."""


def write_hub(dataset: Dataset, out: str | Path) -> Path:
    """Write a dataset as a folder that `datasets.load_dataset` opens and a hub shows.

    Parameters
    ----------
    dataset : Dataset
        Its pictures have to be there; their bytes are copied as they are.
    out : path
        Folder; `README.md` (card) and `data/test.parquet` are written.

    Returns
    -------
    Path
        The folder. Columns of the table: `case_id`, `image`, `instruction`, `target` (element, region,
        action), `nodes` (id, region, subtype, expected_update, reason, where, bbox in pixels), and `case`,
        the whole case as JSON, from which `read_hub` makes the dataset again.

    Raises
    ------
    ImageError
        If a picture is missing.

    Examples
    --------
    >>> import tempfile, icgkit as ig
    >>> data = ig.load_dataset("icg-scenes")
    >>> folder = write_hub(data.subset([data[0].id]), tempfile.mkdtemp())
    >>> read_hub(folder, tempfile.mkdtemp())[0].to_json() == data[0].to_json()
    True
    """
    hf = other("datasets")
    out = Path(out)
    made = hf.Dataset.from_list(list(_rows(dataset)), features=_features(hf))
    _parquet(made, out / "data" / f"{SPLIT}.parquet")
    _card(
        out, dataset, f"{len(dataset):,d} cases of {dataset.name}.", {dataset.name: f"data/{SPLIT}.parquet"}
    )
    return out


def write_hub_run(run: Results, out: str | Path) -> Path:
    """Write a run's answers and verdicts the same way, a configuration each (`FRAMES`, as far as it has them).

    `icgkit import answers` and `icgkit import verdicts` read `data/responses.parquet` and
    `data/judgments.parquet` back.

    Returns
    -------
    Path
        The folder.
    """
    hf, out, files = other("datasets"), Path(out), {}
    for name, attribute in FRAMES.items():
        frame: pl.DataFrame = getattr(run, attribute)
        if frame.height:
            oldest = pl.CompatLevel.oldest()
            _parquet(hf.Dataset(frame.to_arrow(compat_level=oldest)), out / "data" / f"{name}.parquet")
            files[name] = f"data/{name}.parquet"
    models = ", ".join(run.models())
    about = "Simulated, no model was asked." if run.simulated else f"Models: {models}."
    _card(
        out,
        run.dataset,
        " ".join([f"Answers and verdicts of the run {run.name}.", about, *run.notes()]),
        files,
    )
    return out


def read_hub(folder: str | Path, out: str | Path) -> Dataset:
    """Make a dataset of icgkit from a folder that `write_hub` made; pictures are checked against their hashes.

    Parameters
    ----------
    folder : path
        With `data/test.parquet`. The content is untrusted: cases are validated, pictures go below `out/images`.
    out : path
        Folder of the dataset: `dataset.toml`, `cases.jsonl`, `images/`.

    Raises
    ------
    SchemaError
        For a table without the columns `case` and `image`, or a case that is none.
    """
    folder, out = Path(folder), Path(out)
    path = folder / "data" / f"{SPLIT}.parquet"
    if not path.is_file():
        raise SchemaError(f"{path} is missing", remedy="give the folder that `icgkit export hub` wrote")
    table = pl.read_parquet(path)
    if absent := {"case", "image"} - set(table.columns):
        raise SchemaError(f"{path}: no column {', '.join(sorted(absent))}", got=table.columns)
    cases = []
    for number, row in enumerate(table.select("case", "image").iter_rows(named=True), 1):
        case = Case.from_json(row["case"], place=f"{path.name}, row {number}")
        put(inside(out / "images", case.image), row["image"]["bytes"])
        cases.append(case)
    write_cases(cases, out / "cases.jsonl")
    meta = _front(folder)
    toml = {k: str(meta.get(k) or default) for k, default in UNSAID.items()}
    put(out / "dataset.toml", "".join(f"{k} = {json.dumps(v)}\n" for k, v in toml.items()).encode())
    return load_dataset(out)


UNSAID = {
    "name": "imported", "version": "1.0", "licence": "other", "provenance": "read from a hub folder", "image_root": "images",
}  # fmt: skip


def _features(hf: Any) -> datasets.Features:
    text = hf.Value("string")
    node = dict.fromkeys(("id", "region", "subtype", "expected_update", "reason", "where"), text)
    return hf.Features(
        {
            "case_id": text, "image": hf.Image(), "instruction": text,
            "target": {"element": text, "region": text, "action": text},
            "nodes": hf.List({**node, "bbox": hf.List(hf.Value("float32"))}), "case": text,
        }
    )  # fmt: skip


def _rows(dataset: Dataset) -> Iterator[dict[str, Any]]:
    for case in dataset:
        nodes = [
            {
                "id": n.id, "region": n.region, "subtype": n.subtype, "expected_update": n.expected_update, "reason": n.reason,
                "where": n.where, "bbox": list(n.bbox or ()),
            }
            for n in case.constraint_nodes
        ]  # fmt: skip
        target = {k: getattr(case.target, k) for k in ("element", "region", "action")}
        yield {
            "case_id": case.id, "image": {"bytes": read_file(case.image_path, error=ImageError), "path": Path(case.image).name},
            "instruction": case.instruction, "target": target, "nodes": nodes, "case": case.to_json(),
        }  # fmt: skip


def _parquet(table: datasets.Dataset, path: Path) -> None:
    stream = io.BytesIO()
    table.to_parquet(stream)
    put(path, stream.getvalue())


def _card(out: Path, dataset: Dataset, words: str, files: dict[str, str]) -> None:
    head = {
        "license": "other", "license_name": dataset.licence, "pretty_name": dataset.name, "task_categories": ["image-text-to-text"],
        "configs": [
            {"config_name": name, "data_files": [{"split": SPLIT, "path": path}]} for name, path in files.items()
        ],
        "icgkit": {k: getattr(dataset, k) for k in ("name", "version", "licence", "provenance")},
    }  # fmt: skip
    body = f"# {dataset.name} {dataset.version}\n\n{words}\n\n{dataset.provenance}\n"
    front = yaml.safe_dump(head, allow_unicode=True, sort_keys=False)
    put(out / "README.md", f"---\n{front}---\n\n{body}".encode())


def _front(folder: Path) -> dict[str, Any]:
    card = folder / "README.md"
    parts = card.read_text(encoding="utf-8").split("---\n", 2) if card.is_file() else []
    try:
        meta = yaml.safe_load(parts[1]) if len(parts) == 3 and not parts[0] else {}
    except yaml.YAMLError as exc:
        raise SchemaError(f"{card}: front matter is no YAML", got=str(exc)[:80]) from None
    own = meta.get("icgkit") if isinstance(meta, dict) else None
    return own if isinstance(own, dict) else {}
