"""Draw-or-Decline: pairs of a feasible and an infeasible request; edits that succeed, refusals that are due.

Shi et al., Visual Abstention in Unified Multimodal Models (arXiv 2610.07887). The public files are
read as they are; every measure keeps what is not judged yet apart from what failed.
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from icgkit.bench.dod_compare import STANCES as STANCES
from icgkit.bench.dod_compare import balanced_sample as balanced_sample
from icgkit.bench.dod_compare import compare as compare
from icgkit.bench.dod_compare import judge_quality as judge_quality
from icgkit.bench.dod_compare import labels_of_errors as labels_of_errors
from icgkit.bench.dod_compare import stance_shares as stance_shares
from icgkit.bench.dod_compare import within_pairs as within_pairs
from icgkit.bench.dod_scores import MEASURES as MEASURES
from icgkit.bench.dod_scores import outcomes as outcomes
from icgkit.bench.dod_scores import rates as rates
from icgkit.errors import SchemaError, UnknownName
from icgkit.replies import as_bool

if TYPE_CHECKING:
    import polars as pl

CATEGORIES = {
    "maze": "Maze", "material_modification": "Material", "medium_interaction": "Medium",
    "motion_state_change": "Motion", "pose_adjustment": "Pose", "spatial_arrangement": "Spatial",
    "temporal_evolution": "Temporal", "text": "Text (icg-synth)",
}  # fmt: skip
"""Category to short label; `text` is icgkit's own (see `icgkit.bench.text_pairs`)."""
SPELLINGS = {"spatial_arangement": "spatial_arrangement", "maze_solving": "maze"}


class Requests(NamedTuple):
    """What the two public files hold.

    requests : one row a request: case_id, pair_id, paired_case_id, category, feasible, instruction,
        prompt, rules, input_image, input_images (list), reference_image, expected_response, reason,
        proof (witness or certificate, as JSON).
    repairs : file, line, case_id, field, was, now.
    problems : file, line, case_id, detail: what could not be repaired.
    """

    requests: pl.DataFrame
    repairs: pl.DataFrame
    problems: pl.DataFrame


def _lines(path: Path) -> dict[str, tuple[int, dict[str, Any]]]:
    """Read a JSONL file to line number and record by case id."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise SchemaError(f"{path.name}: not UTF-8: {exc}", remedy="save the file as UTF-8") from None
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{path.name}, line {number}"
        try:
            record = json.loads(line)
        except ValueError as exc:
            raise SchemaError(f"{place}: not JSON: {exc}") from None
        name = record.get("case_id") if isinstance(record, dict) else None
        if not isinstance(name, str) or not name:
            raise SchemaError(f"{place}: case_id", got=name, allowed="a text that is not empty")
        if name in found:
            raise SchemaError(
                f"{place}, case {name!r}: id used twice, first on line {found[name][0]}",
                remedy="give each request an id of its own",
            )
        found[name] = number, record
    return found


def read(instructions: str | Path, criteria: str | Path | None = None) -> Requests:
    """Read `instruction.jsonl` and `ground_truth_criteria.jsonl`.

    Parameters
    ----------
    instructions : path
        The first file, or the folder of both.
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
    first = Path(instructions)
    if first.is_dir():
        first, second = first / "instruction.jsonl", first / "ground_truth_criteria.jsonl"
    elif criteria is None:
        second = first.with_name("ground_truth_criteria.jsonl")
    else:
        second = Path(criteria)
    for path in (first, second):
        if not path.is_file():
            raise SchemaError("file not found", got=str(path), remedy="give the folder that holds both files")
    asked, truth = _lines(first), _lines(second)
    rows: list[dict[str, Any]] = []
    repairs: list[dict[str, Any]] = []
    problems = [
        {"file": here.name, "line": number, "case_id": name, "detail": f"not in {there.name}"}
        for here, there, one, other in ((first, second, asked, truth), (second, first, truth, asked))
        for name, (number, _) in one.items()
        if name not in other
    ]
    for name, (_, record) in asked.items():
        if name in truth:
            rows.append(_request(name, record, second.name, *truth[name], repairs))
    problems += _pair_problems(rows, second.name)
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
    said = str(source.get("category_en", ""))
    category = category_of(said, place)
    if said != category and said.strip().lower().replace(" ", "_") != category:
        repair("source.category_en", said, category)
    proof = {k: truth[k] for k in ("witness", "certificate") if k in truth}
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
            "reference_image", "expected_response", "reason", "proof")  # fmt: skip
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
