"""Abstention on the study's own cases: a text edit that can be made, and one whose target is not there.

Both halves of a pair share the picture. The feasible request is the case's own instruction; the
infeasible one comes from the case's twin and asks to replace a text that the picture does not show.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgforge.mazes.solvers import refined_instruction
from icgkit.calls.cache import Cache
from icgkit.calls.engine import complete_many
from icgkit.calls.limits import Limits
from icgkit.calls.request import Request
from icgkit.cases import subset as sampling
from icgkit.cases.case import Case
from icgkit.cases.dataset import Dataset
from icgkit.cases.twins import load_twins
from icgkit.prompts.conditions import build_messages, read_condition

if TYPE_CHECKING:
    import polars as pl

MODELS = ("offline/instruction-only", "offline/priors", "offline/ocr-rules", "offline/ocr-vision")
TEMPLATE = Path(__file__).parents[2] / "icgkit" / "templates" / "bench" / "decline.md"
_ENDS = {True: "feasible", False: "infeasible"}


def make_text_pairs(dataset: Dataset, per_subtype: int = 4, *, seed: int = 42) -> list[tuple[Case, Case]]:
    """Draw cases of a drawn dataset that have an infeasible twin, so many for each subtype, and pair them with it."""
    twins = {t.metadata["twin_of"]: t for t in load_twins(dataset, kind="infeasible")}
    pool = dataset.subset([c.id for c in dataset if c.id in twins])
    drawn = sampling.stratified(
        sampling.strata(pool.nodes(), by="subtype"), per_stratum=per_subtype, seed=seed
    )
    return [(case, twins[case.id].within(dataset.image_root, dataset.name)) for case in pool.subset(drawn)]


def text_records(pairs: Sequence[tuple[Case, Case]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the pairs as lines of the two public files, category `text`."""
    asked, truth = [], []
    for pair in pairs:
        names = {True: f"{pair[0].id}-feasible", False: f"{pair[0].id}-infeasible"}
        for feasible, case in zip((True, False), pair, strict=True):
            asked.append(
                {
                    "case_id": names[feasible], "input_image": case.image, "input_images": [case.image],
                    "instruction_en": case.instruction, "rules": None, "prompt_en": case.instruction,
                }
            )  # fmt: skip
            there = "stands" if feasible else "does not stand"
            truth.append(
                {
                    "case_id": names[feasible], "pair_id": case.metadata.get("twin_of", case.id),
                    "paired_case_id": names[not feasible],
                    "ground_truth": {
                        "feasible": feasible, "reason": f'the text "{case.target.element}" {there} in the picture',
                        "witness" if feasible else "certificate": {"target": case.target.element},
                    },
                    "reference_image": None, "expected_response": "edit" if feasible else "decline",
                    "source": {"category_en": "text"},
                }
            )  # fmt: skip
    return asked, truth


def requests_of(pairs: Sequence[tuple[Case, Case]], models: Sequence[str] = MODELS) -> list[Request]:
    """Build the calls: both halves of every pair, without and with the reminder, for every model."""
    told = read_condition(TEMPLATE)
    calls = []
    for pair in pairs:
        for feasible, case in zip((True, False), pair, strict=True):
            for reminder in ("no", "yes"):
                inputs = {"instruction": case.instruction, "reminder": reminder == "yes"}
                messages = build_messages(case, told, inputs=inputs)
                tags = {
                    "kind": "elicit", "dataset": case.dataset, "case_id": f"{pair[0].id}-{_ENDS[feasible]}",
                    "condition": f"reminder_{reminder}", "template_sha256": told.sha256,
                }  # fmt: skip
                params = {"temperature": 0, "max_tokens": 1024}
                calls += [Request(model, messages, params, 0, tags) for model in models]
    return calls


def ask(
    pairs: Sequence[tuple[Case, Case]], models: Sequence[str] = MODELS, *, cache: Cache,
    limits: Limits | None = None, progress: bool = True,
) -> pl.DataFrame:  # fmt: skip
    """Ask models about both halves of every pair; calls are recorded in `cache`, or replayed.

    Returns
    -------
    polars.DataFrame
        See `load_answers`.
    """
    complete_many(requests_of(pairs, models), cache=cache, limits=limits, progress=progress)
    return load_answers(cache.folder)


def load_answers(folder: str | Path) -> pl.DataFrame:
    """Read recorded answers of a cache folder.

    Returns
    -------
    polars.DataFrame
        `model`, `reminder`, `case_id`, `text`, `has_image`, `status`. `has_image` says whether the rule of
        decoupled pipelines would have an editor draw; a failed call has neither text nor that.
    """
    import polars as pl

    rows = []
    for record in Cache(Path(folder), mode="replay").records():
        text = record.text if record.status == "ok" else None
        draws = None if text is None else refined_instruction(text).instruction is not None
        reminder = record.condition.removeprefix("reminder_")
        rows.append((record.model, reminder, record.case_id, text, draws, record.status))
    kinds: dict[str, Any] = dict.fromkeys(("model", "reminder", "case_id", "text"), pl.String)
    kinds |= {"has_image": pl.Boolean, "status": pl.String}
    return pl.DataFrame(rows, schema=kinds, orient="row").sort("model", "reminder", "case_id")
