"""Draw-or-Decline (Shi et al., arXiv 2610.07887): pairs of a feasible and an infeasible request."""

from __future__ import annotations

import json
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from icgkit.bench.common import json_lines, texts
from icgkit.errors import SchemaError, UnknownName
from icgkit.prompts.replies import as_bool

CATEGORIES = {
    "maze": "Maze", "material_modification": "Material", "medium_interaction": "Medium",
    "motion_state_change": "Motion", "pose_adjustment": "Pose", "spatial_arrangement": "Spatial",
    "temporal_evolution": "Temporal", "text": "Text (icg-scenes)",
}  # fmt: skip
"""Category to short label; `text` is icgkit's own (see `icgforge.mazes.text_pairs`)."""
ASKED, CRITERIA = "instruction.jsonl", "ground_truth_criteria.jsonl"
EVIDENCE = ("grid_evidence", "program_verification")
"""What a program verified of a request; mazes have it."""
_SPELLINGS = {"spatial_arangement": "spatial_arrangement", "maze_solving": "maze"}
_COLUMNS: dict[str, Any] = texts(
    "case_id", "pair_id", "paired_case_id", "category", "feasible", "instruction", "prompt", "rules",
    "input_image", "input_images", "reference_image", "expected_response", "reason", "proof", "evidence",
    "source", "training_response", "training_output_image",
) | {"feasible": pl.Boolean, "input_images": pl.List(pl.String)}  # fmt: skip
Record = dict[str, Any]


class Requests(NamedTuple):
    """What the two public files hold.

    requests : one row a request: case_id, pair_id, paired_case_id, category, feasible, instruction,
        prompt, rules, input_image, input_images (list), reference_image, expected_response, reason,
        proof (witness or certificate, as JSON), evidence (the grid of a maze and what a program verified,
        as JSON), source (as JSON), and of the training set training_response, training_output_image.
    repairs : file, line, case_id, field, was, now.
    problems : file, line, case_id, detail: what could not be repaired.
    """

    requests: pl.DataFrame
    repairs: pl.DataFrame
    problems: pl.DataFrame


def read_lines(path: Path, name: str = "") -> dict[str, tuple[int, Record]]:
    """Read a JSONL file to line number and record by case id; one missing or used twice is an error."""
    found: dict[str, tuple[int, Record]] = {}
    for number, place, record in json_lines(path, name):
        case_id = record.get("case_id") if isinstance(record, dict) else None
        if not isinstance(case_id, str) or not case_id:
            raise SchemaError(f"{place}: case_id", got=case_id, allowed="a text that is not empty")
        if case_id in found:
            raise SchemaError(
                f"{place}, case {case_id!r}: id used twice, first on line {found[case_id][0]}",
                remedy="give each request an id of its own",
            )
        found[case_id] = number, record
    return found


def _named(folder: Path, name: str) -> Path | None:
    """Return the file of a name in a folder, plain or .gz."""
    return next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)


def _files(instructions: Path, criteria: Path | None) -> list[tuple[Path, Path, str]]:
    """Return the pairs of files to read, and what their names begin with in reports."""
    if not instructions.is_dir():
        beside = criteria or _named(instructions.parent, CRITERIA) or instructions.with_name(CRITERIA)
        return [(instructions, beside, "")]
    folders = [instructions]
    if _named(instructions, ASKED) is None:
        folders = sorted(p for p in instructions.iterdir() if p.is_dir() and _named(p, ASKED)) or folders
    found = []
    for folder in folders:
        asked, truth = (_named(folder, name) or folder / name for name in (ASKED, CRITERIA))
        found.append((asked, criteria or truth, "" if folder == instructions else f"{folder.name}/"))
    return found


def read(instructions: str | Path, criteria: str | Path | None = None) -> Requests:
    """Read `instruction.jsonl` and `ground_truth_criteria.jsonl`, plain or .gz.

    `instructions` is the first file, the folder of both, or a folder with one such folder a category (the
    training set). Repaired are misspelt categories and truth values as text; problems are a request in one
    file only and pairs that are none. A line that is not JSON, an id used twice or a missing label is a
    SchemaError that names the line.
    """
    rows: list[Record] = []
    repairs: list[tuple[Any, ...]] = []
    problems: list[tuple[Any, ...]] = []
    met: dict[str, str] = {}
    for first, second, prefix in _files(Path(instructions), Path(criteria) if criteria else None):
        for path in (first, second):
            if not path.is_file():
                remedy = "give the folder that holds both files"
                raise SchemaError("file not found", got=str(path), remedy=remedy)
        here, there = f"{prefix}{first.name}", f"{prefix}{second.name}"
        asked, truth = read_lines(first, here), read_lines(second, there)
        for name in asked:
            if name in met:
                raise SchemaError(f"{here}, case {name!r}: id used twice, first in {met[name]}")
            met[name] = here
        for file, other_file, one, other in ((here, there, asked, truth), (there, here, truth, asked)):
            lone = [name for name in one if name not in other]
            problems += [(file, one[name][0], name, f"not in {other_file}") for name in lone]
        both = [name for name in asked if name in truth]
        found = [
            _request(asked[name][1], truth[name][1], (there, truth[name][0], name), repairs) for name in both
        ]
        problems += _pair_problems(found, there)
        rows += found
    place: dict[str, Any] = {"file": pl.String, "line": pl.Int64, "case_id": pl.String}
    return Requests(
        pl.DataFrame(rows, schema=_COLUMNS),
        pl.DataFrame(repairs, schema=place | texts("field", "was", "now"), orient="row"),
        pl.DataFrame(problems, schema=place | texts("detail"), orient="row"),
    )


def _request(
    record: Record, criteria: Record, at: tuple[str, int, str], repairs: list[tuple[Any, ...]]
) -> Record:
    place = "{}, line {}, case {!r}".format(*at)
    truth, source = criteria.get("ground_truth"), criteria.get("source")
    if not isinstance(truth, dict) or not isinstance(source, dict):
        raise SchemaError(f"{place}: ground_truth and source", allowed="two objects")
    told = truth.get("feasible")
    feasible = as_bool(told)
    if feasible is None:
        raise SchemaError(f"{place}: ground_truth.feasible", got=told, allowed="true or false")
    if told is not feasible:
        repairs.append((*at, "ground_truth.feasible", str(told), str(feasible).lower()))
    said = str(source.get("category_en") or source.get("category") or "")
    category = category_of(said, place)
    if said.strip().lower().replace(" ", "_") != category:
        repairs.append((*at, "source.category_en", said, category))
    for field, given in (("instruction_en", record), ("pair_id", criteria)):
        if not isinstance(value := given.get(field), str) or not value.strip():
            what = f"case {at[-1]!r}: {field}"
            raise SchemaError(what, got=value, allowed="a text that is not empty")
    proof = {k: truth[k] for k in ("witness", "certificate") if k in truth}
    evidence = {k: criteria[k] for k in EVIDENCE if isinstance(criteria.get(k), dict)}
    images = record.get("input_images") or record.get("input_image") or []
    found: Record = {
        "case_id": at[-1], "category": category, "feasible": feasible,
        "instruction": record["instruction_en"], "prompt": record.get("prompt_en"),
        "reason": truth.get("reason"), "proof": proof or None,
        "evidence": evidence | {"feasible": feasible} if evidence else None, "source": source,
    }  # fmt: skip
    found |= {c: record.get(c) for c in ("rules", "input_image")}
    kept = ("pair_id", "paired_case_id", "reference_image", "expected_response", "training_response",
            "training_output_image")  # fmt: skip
    found |= {c: criteria.get(c) for c in kept}
    shown: Record = {c: _text(value, sort=c in ("proof", "evidence", "source")) for c, value in found.items()}
    listed = [images] if isinstance(images, str) else [str(i) for i in images]
    return shown | {"feasible": feasible, "input_images": listed}


def _text(value: Any, *, sort: bool) -> str | None:
    if isinstance(value, str) or value is None:
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=sort)


def category_of(name: str, place: str = "category") -> str:
    """Return the category that a spelling stands for."""
    plain = name.strip().lower().replace(" ", "_").replace("-", "_")
    if plain in CATEGORIES or plain in _SPELLINGS:
        return _SPELLINGS.get(plain, plain)
    if close := get_close_matches(plain, CATEGORIES, n=1, cutoff=0.9):
        return close[0]
    raise UnknownName.among(f"{place}: category", name, CATEGORIES)


def _pair_problems(rows: list[Record], file: str) -> list[tuple[Any, ...]]:
    """List the pairs that are none."""
    pairs: dict[str, list[Record]] = {}
    for row in rows:
        pairs.setdefault(row["pair_id"], []).append(row)
    found = []
    for name, halves in pairs.items():
        first, last = halves[0], halves[-1]
        detail = ""
        if sorted(h["feasible"] for h in halves) != [False, True]:
            detail = f" has {len(halves)} requests, {sum(h['feasible'] for h in halves)} feasible"
        elif (first["paired_case_id"], last["paired_case_id"]) != (last["case_id"], first["case_id"]):
            detail = ": the halves do not name each other"
        elif first["category"] != last["category"]:
            detail = ": halves of two categories"
        elif all(first[k] != last[k] for k in ("input_image", "instruction")):
            detail = ": the halves share neither image nor instruction"
        if detail:
            found.append((file, None, first["case_id"], f"pair {name!r}{detail}"))
    return found
