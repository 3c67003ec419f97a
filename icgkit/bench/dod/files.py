"""Draw-or-Decline: pairs of a feasible and an infeasible request; edits that succeed, refusals that are due.

Shi et al., Visual Abstention in Unified Multimodal Models (arXiv 2610.07887). The public files are
read as they are; every measure keeps what is not judged yet apart from what failed.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from icgkit.bench.dod.compare import STANCES as STANCES
from icgkit.bench.dod.compare import balanced_sample as balanced_sample
from icgkit.bench.dod.compare import compare as compare
from icgkit.bench.dod.compare import judge_quality as judge_quality
from icgkit.bench.dod.compare import labels_of_errors as labels_of_errors
from icgkit.bench.dod.compare import stance_shares as stance_shares
from icgkit.bench.dod.compare import within_pairs as within_pairs
from icgkit.bench.dod.scores import MEASURES as MEASURES
from icgkit.bench.dod.scores import outcomes as outcomes
from icgkit.bench.dod.scores import rates as rates
from icgkit.errors import SchemaError, UnknownName
from icgkit.files import MAX_BYTES, read_file
from icgkit.prompts.replies import as_bool

if TYPE_CHECKING:
    import polars as pl

CATEGORIES = {
    "maze": "Maze", "material_modification": "Material", "medium_interaction": "Medium",
    "motion_state_change": "Motion", "pose_adjustment": "Pose", "spatial_arrangement": "Spatial",
    "temporal_evolution": "Temporal", "text": "Text (icg-synth)",
}  # fmt: skip
"""Category to short label; `text` is icgkit's own (see `icgforge.mazes.text_pairs`)."""
ASKED, CRITERIA = "instruction.jsonl", "ground_truth_criteria.jsonl"
EVIDENCE = ("grid_evidence", "program_verification")
"""What a program verified of a request; mazes have it."""
SPELLINGS = {"spatial_arangement": "spatial_arrangement", "maze_solving": "maze"}


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


def _text_of(path: Path) -> str:
    """Return the text of a file, unpacked if its name ends in .gz, within the bounds of `files.read_file`."""
    data = read_file(path)
    if path.suffix == ".gz":
        try:
            with gzip.open(io.BytesIO(data)) as stream:
                data = stream.read(MAX_BYTES + 1)
        except (OSError, EOFError, zlib.error) as exc:
            raise SchemaError(
                f"{path.name}: no whole gzip file: {exc}", remedy="fetch the file again"
            ) from None
        if len(data) > MAX_BYTES:
            raise SchemaError(
                f"{path.name}: too large once it is unpacked", allowed=f"at most {MAX_BYTES:,} bytes"
            )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise SchemaError(f"{path.name}: not UTF-8: {exc}", remedy="save the file as UTF-8") from None


def read_lines(path: Path, *, shown: str = "") -> dict[str, tuple[int, dict[str, Any]]]:
    """Read a JSONL file, plain or .gz, to line number and record by case id.

    Raises
    ------
    SchemaError
        For a line that is not JSON or has no id, and an id used twice (naming both lines).
    """
    name = shown or path.name
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    for number, line in enumerate(_text_of(path).split("\n"), 1):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as exc:
            raise SchemaError(f"{place}: not JSON: {exc}"[:300]) from None
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
    return [
        (
            _named(f, ASKED) or f / ASKED,
            criteria or _named(f, CRITERIA) or f / CRITERIA,
            "" if f == instructions else f"{f.name}/",
        )
        for f in folders
    ]


def read(instructions: str | Path, criteria: str | Path | None = None) -> Requests:
    """Read `instruction.jsonl` and `ground_truth_criteria.jsonl`, plain or .gz.

    Parameters
    ----------
    instructions : path
        The first file, the folder of both, or a folder with one such folder a category (the layout of
        the training set).
    criteria : path, optional
        The second file.

    Returns
    -------
    Requests
        Requests that both files have, repairs (misspelt categories, truth values as text) and
        problems (a request in one file only, pairs that are none).

    Raises
    ------
    SchemaError
        For a line that is not JSON, an id used twice (naming both lines), a label that is missing.
    UnknownName
        For a category that resembles none.
    """
    rows: list[dict[str, Any]] = []
    repairs: list[dict[str, Any]] = []
    problems: list[dict[str, Any]] = []
    met: dict[str, str] = {}
    for first, second, prefix in _files(Path(instructions), Path(criteria) if criteria else None):
        for path in (first, second):
            if not path.is_file():
                raise SchemaError(
                    "file not found", got=str(path), remedy="give the folder that holds both files"
                )
        here, there = f"{prefix}{first.name}", f"{prefix}{second.name}"
        asked, truth = read_lines(first, shown=here), read_lines(second, shown=there)
        for name in asked:
            if name in met:
                raise SchemaError(f"{here}, case {name!r}: id used twice, first in {met[name]}")
            met[name] = here
        problems += [
            {"file": file, "line": number, "case_id": name, "detail": f"not in {other_file}"}
            for file, other_file, one, other in ((here, there, asked, truth), (there, here, truth, asked))
            for name, (number, _) in one.items()
            if name not in other
        ]
        found = [
            _request(name, record, there, *truth[name], repairs)
            for name, (_, record) in asked.items()
            if name in truth
        ]
        problems += _pair_problems(found, there)
        rows += found
    return _frames(rows, repairs, problems)


def _request(
    name: str, record: dict[str, Any], file: str, line: int, criteria: dict[str, Any], repairs: list[Any]
) -> dict[str, Any]:
    place = f"{file}, line {line}, case {name!r}"
    truth, source = criteria.get("ground_truth"), criteria.get("source")
    if not isinstance(truth, dict) or not isinstance(source, dict):
        raise SchemaError(f"{place}: ground_truth and source", allowed="two objects")

    def repair(field: str, was: str, now: str) -> None:
        repairs.append({"file": file, "line": line, "case_id": name, "field": field, "was": was, "now": now})

    feasible = truth.get("feasible")
    if not isinstance(feasible, bool):
        read = as_bool(feasible)
        if read is None:
            raise SchemaError(f"{place}: ground_truth.feasible", got=feasible, allowed="true or false")
        repair("ground_truth.feasible", str(feasible), str(read).lower())
        feasible = read
    said = str(source.get("category_en") or source.get("category") or "")
    category = category_of(said, place)
    if said != category and said.strip().lower().replace(" ", "_") != category:
        repair("source.category_en", said, category)
    proof = {k: truth[k] for k in ("witness", "certificate") if k in truth}
    evidence = {k: criteria[k] for k in EVIDENCE if isinstance(criteria.get(k), dict)}
    images = record.get("input_images") or record.get("input_image") or []
    words = {"instruction_en": record.get("instruction_en"), "pair_id": criteria.get("pair_id")}
    for field, value in words.items():
        if not isinstance(value, str) or not value.strip():
            raise SchemaError(f"case {name!r}: {field}", got=value, allowed="a text that is not empty")
    return {
        "case_id": name, "pair_id": criteria.get("pair_id"), "paired_case_id": _text(criteria.get("paired_case_id")),
        "category": category, "feasible": feasible, "instruction": record.get("instruction_en"),
        "prompt": _text(record.get("prompt_en")), "rules": _text(record.get("rules")),
        "input_image": _text(record.get("input_image")), "input_images": [images] if isinstance(images, str) else [str(i) for i in images],
        "reference_image": _text(criteria.get("reference_image")),
        "expected_response": _text(criteria.get("expected_response")), "reason": _text(truth.get("reason")),
        "proof": json.dumps(proof, ensure_ascii=False, sort_keys=True) if proof else None,
        "evidence": json.dumps(evidence | {"feasible": feasible}, ensure_ascii=False, sort_keys=True) if evidence else None,
        "source": json.dumps(source, ensure_ascii=False, sort_keys=True),
        "training_response": _text(criteria.get("training_response")),
        "training_output_image": _text(criteria.get("training_output_image")),
    }  # fmt: skip


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) or value is None else json.dumps(value, ensure_ascii=False)


def category_of(name: str, place: str = "category") -> str:
    """Return the category that a spelling stands for.

    Examples
    --------
    >>> category_of("spatial_arangement"), category_of("Pose Adjustment")
    ('spatial_arrangement', 'pose_adjustment')
    """
    plain = name.strip().lower().replace(" ", "_").replace("-", "_")
    if plain in CATEGORIES or plain in SPELLINGS:
        return SPELLINGS.get(plain, plain)
    if close := get_close_matches(plain, CATEGORIES, n=1, cutoff=0.9):
        return close[0]
    raise UnknownName.among(f"{place}: category", name, CATEGORIES)


def _pair_problems(rows: list[dict[str, Any]], file: str) -> list[dict[str, Any]]:
    pairs: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        pairs.setdefault(row["pair_id"], []).append(row)
    found = []
    for name, halves in pairs.items():
        detail = None
        if sorted(h["feasible"] for h in halves) != [False, True]:
            detail = (
                f"pair {name!r} has {len(halves)} requests, {sum(h['feasible'] for h in halves)} feasible"
            )
        elif any(h["paired_case_id"] != o["case_id"] for h, o in zip(halves, halves[::-1], strict=True)):
            detail = f"pair {name!r}: the halves do not name each other"
        elif halves[0]["category"] != halves[1]["category"]:
            detail = f"pair {name!r}: halves of two categories"
        elif all(halves[0][k] != halves[1][k] for k in ("input_image", "instruction")):
            detail = f"pair {name!r}: the halves share neither image nor instruction"
        if detail:
            found.append({"file": file, "line": None, "case_id": halves[0]["case_id"], "detail": detail})
    return found


def _frames(rows: list[Any], repairs: list[Any], problems: list[Any]) -> Requests:
    import polars as pl

    text = ("case_id", "pair_id", "paired_case_id", "category", "instruction", "prompt", "rules", "input_image",
            "reference_image", "expected_response", "reason", "proof", "evidence", "source", "training_response",
            "training_output_image")  # fmt: skip
    kinds: dict[str, Any] = dict.fromkeys(text, pl.String)
    kinds |= {"feasible": pl.Boolean, "input_images": pl.List(pl.String)}
    order = [*text[:4], "feasible", *text[4:8], "input_images", *text[8:]]
    place: dict[str, Any] = {"file": pl.String, "line": pl.Int64, "case_id": pl.String}
    change = place | dict.fromkeys(("field", "was", "now"), pl.String)
    return Requests(
        pl.DataFrame(rows, schema={c: kinds[c] for c in order}),
        pl.DataFrame(repairs, schema=change),
        pl.DataFrame(problems, schema=place | {"detail": pl.String}),
    )
