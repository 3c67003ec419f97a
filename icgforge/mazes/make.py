"""Make what `data/bench/dod` holds: 150 pairs of mazes, text pairs, and the answers of reference baselines."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from icgforge.mazes.mazes import make_pairs
from icgforge.mazes.requests import records, write_lines
from icgforge.mazes.solvers import SOLVERS as SOLVERS
from icgforge.mazes.solvers import run_solvers
from icgforge.mazes.text_pairs import MODELS as MODELS
from icgforge.mazes.text_pairs import ask, load_answers, make_text_pairs, text_records
from icgkit.bench.dod.files import Requests, read
from icgkit.bench.dod.judges import refusals_by_rule
from icgkit.bench.dod.maze_judge import judge_mazes
from icgkit.bench.dod.scores import outcomes
from icgkit.calls.cache import Cache
from icgkit.cases.dataset import Dataset
from icgkit.files import project_root
from icgkit.report.save import Provenance

if TYPE_CHECKING:
    import polars as pl


class Run(NamedTuple):
    """Cached outputs with their judgments.

    requests : what the two files hold. answers : model, reminder, case_id, text, has_image.
    edits : verdicts on edited mazes. outcome : see `outcomes`.
    """

    requests: Requests
    answers: pl.DataFrame
    edits: pl.DataFrame
    outcome: pl.DataFrame

    @property
    def size(self) -> dict[str, int]:
        """Number of pairs by category."""
        rows = self.outcome.group_by("category", maintain_order=True).agg(n="pair_id")
        return {f"{c} pairs": len(set(ids)) for c, ids in rows.iter_rows()}

    @property
    def provenance(self) -> Provenance:
        """What `icgkit.save` needs to know of these results."""
        models = self.outcome["model"].unique(maintain_order=True).to_list()
        return Provenance("mazes made by seed; text pairs of icg-scenes", self.size, models)


def home() -> Path:
    """Return the folder of the cached outputs."""
    return project_root() / "data" / "bench" / "dod"


def make(
    dataset: Dataset, out: str | Path = "", *, n_pairs: int = 150, per_subtype: int = 4, seed: int = 42,
    progress: bool = True,
) -> Path:  # fmt: skip
    """Write requests, answers of the maze solvers, and calls of the offline models.

    Parameters
    ----------
    dataset : Dataset
        Drawn cases with infeasible twins (`icg-scenes`), from which the text pairs come.
    out : path, optional
        Folder; `data/bench/dod` if empty.
    n_pairs, per_subtype, seed : int
        Pairs of mazes; cases for each subtype; what fixes both.
    """
    folder = Path(out) if str(out) else home()
    folder.mkdir(parents=True, exist_ok=True)
    mazes = make_pairs(n_pairs, seed=seed)
    texts = make_text_pairs(dataset, per_subtype, seed=seed)
    (asked, truth), (asked_too, truth_too) = records(mazes), text_records(texts)
    write_lines([*asked, *asked_too], folder / "instruction.jsonl")
    write_lines([*truth, *truth_too], folder / "ground_truth_criteria.jsonl")
    run_solvers(mazes).write_parquet(
        folder / "maze_answers.parquet", compression="zstd", compression_level=19
    )
    shutil.rmtree(folder / "text_calls", ignore_errors=True)  # answers to another set's requests would mix in
    cache = Cache(folder / "text_calls")
    ask(texts, MODELS, cache=cache, progress=progress)
    cache.pack()
    return folder


def load(folder: str | Path = "") -> Run:
    """Read cached outputs and judge them: refusals by rule, edited mazes from their pixels."""
    import polars as pl

    root = Path(folder) if str(folder) else home()
    requests = read(root)
    mazes = pl.read_parquet(root / "maze_answers.parquet")
    columns = ["model", "reminder", "case_id", "text", "has_image"]
    texts = load_answers(root / "text_calls")
    answers = pl.concat([mazes.select(columns), texts.select(columns)])
    edits = judge_mazes(mazes, requests.requests)
    parts = []
    for category, part in (("maze", mazes), ("text", texts)):
        of_kind = requests.requests.filter(category=category)
        parts.append(outcomes(of_kind, part, refusals_by_rule(part), edits if category == "maze" else None))
    return Run(requests, answers, edits, pl.concat(parts))
