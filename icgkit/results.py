"""One run's results, ready for a notebook: its dataset, responses, judgments, and how to save what they give."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.errors import SchemaError, UnknownName
from icgkit.load import Dataset, load_dataset, load_published
from icgkit.paths import named_folder

if TYPE_CHECKING:
    import polars as pl

    from icgkit.graph import Case
    from icgkit.outputs import Saved

BASELINE_NOTE = "Models named offline/ are reference baselines, no stand-in for multimodal models."
SIMULATED_NOTE = (
    "Simulated: drawn from an effect model fitted to published figures, not answers of any model."
)


@dataclass(frozen=True)
class Results:
    """What a cache folder holds, with its dataset.

    Attributes
    ----------
    name : str
        Name of the cache.
    folder : Path
        Its folder.
    meta : dict
        Content of its run.toml (empty where there is none).
    dataset : Dataset
        The cases that were run.
    judge : str
        The judge whose verdicts `judgments` holds.
    """

    name: str
    folder: Path = field(repr=False)
    meta: dict[str, Any] = field(repr=False)
    dataset: Dataset
    judge: str

    @property
    def simulated(self) -> bool:
        """Whether the numbers come from an effect model and not from a model's answers."""
        return bool(self.meta.get("simulated", False))

    @cached_property
    def responses(self) -> pl.DataFrame:
        """Every response (schema `responses`)."""
        from icgkit.load import load_responses

        return load_responses(self.folder)

    @cached_property
    def all_judgments(self) -> pl.DataFrame:
        """Judgments of all judges, with the node's category, subtype, indirectness and the case's source."""
        import polars as pl

        from icgkit.load import load_judgments

        frame = load_judgments(self.folder)
        if "subtype" in frame.columns:
            return frame
        nodes = self.dataset.nodes().select("case_id", "node_id", "category", "subtype", "indirectness")
        cases = self.dataset.frame().select("case_id", "source")
        return frame.filter(pl.col("dataset") == self.dataset.name).join(
            nodes.join(cases, on="case_id"), on=["case_id", "node_id"], how="left", maintain_order="left"
        )

    @cached_property
    def judgments(self) -> pl.DataFrame:
        """Judgments of the chosen judge, with category, subtype, indirectness and source."""
        frame = self.all_judgments.filter(judge=self.judge)
        if frame.is_empty():
            known = self.all_judgments["judge"].unique().to_list()
            raise UnknownName.among(f"judge in cache {self.name}", self.judge, known)
        return frame

    @property
    def judges(self) -> list[str]:
        """Judges with verdicts in this cache, the primary one first."""
        names = self.all_judgments["judge"].unique().sort().to_list()
        return sorted(names, key=lambda j: j != self.judge)

    def conditions(self, wanted: Sequence[str] = ()) -> list[str]:
        """Return the conditions that have judgments, in the study's order; `wanted` narrows them."""
        from icgkit.prompts import conditions

        have = set(self.judgments["condition"].unique())
        order = [c for c in conditions() if c in have] + sorted(have - set(conditions()))
        return [c for c in order if not wanted or c in wanted]

    def models(self) -> list[str]:
        """Return the models that have judgments."""
        return self.judgments["model"].unique().sort().to_list()

    def lacks(self, *conditions: str) -> str:
        """Return "" if all these conditions are there, else what is missing and how to make it."""
        have = set(self.judgments["condition"].unique())
        missing = [c for c in conditions if c not in have]
        if not missing:
            return ""
        return (
            f"Cache {self.name} lacks {', '.join(missing)}; make them with: icgkit run --dataset "
            f"{self.dataset.name} --conditions {','.join(missing)} --cache {self.name}"
        )

    def extra(self, name: str) -> pl.DataFrame | None:
        """Read a further frame of the cache (`precision`, `adversarial` ...), or None if it is not there."""
        import polars as pl

        path = self.folder / f"{name}.parquet"
        return pl.read_parquet(path) if path.is_file() else None

    def counts(self, frame: pl.DataFrame | None = None) -> dict[str, int]:
        """Return n for a caption: cases, nodes, verdicts and those that are missing."""
        frame = self.judgments if frame is None else frame
        nodes = frame.select("case_id", "node_id").unique().height
        return {
            "cases": frame["case_id"].n_unique(),
            "nodes": nodes,
            "verdicts": frame.height - frame["found"].null_count(),
            "missing": frame["found"].null_count(),
        }

    def size(self, frame: pl.DataFrame | None = None) -> str:
        """Return n in words, for a caption."""
        n = self.counts(frame)
        return f"n = {n['cases']:,d} cases, {n['nodes']:,d} nodes, {n['verdicts']:,d} verdicts"

    def interval(self, n_resamples: int, seed: int) -> str:
        """Return kind, size and seed of the intervals in words, for a caption."""
        return f"95 % cluster bootstrap intervals over cases (B = {n_resamples:,d}, seed {seed})"

    def notes(self, frame: pl.DataFrame | None = None) -> list[str]:
        """Return the lines that every table of this run needs below it."""
        n = self.counts(frame)
        lines = [
            f"Dataset {self.dataset.name} {self.dataset.version}, cache {self.name}, judge {self.judge}; "
            f"{n['verdicts']:,d} verdicts, {n['missing']:,d} missing (left out, not counted as false)."
        ]
        if self.simulated:
            lines.append(SIMULATED_NOTE)
        elif any(m.startswith("offline/") for m in self.models()):
            lines.append(BASELINE_NOTE)
        return lines

    def found(self, case: Case, *, condition: str) -> dict[str, dict[str, bool | None]]:
        """Return who found what in a case: model to verdict by node id, for `icgkit.display.case_html`."""
        rows = self.judgments.filter(case_id=case.id, condition=condition).sort("model")
        by_model: dict[str, dict[str, bool | None]] = {}
        for model, node, verdict in rows.select("model", "node_id", "found").iter_rows():
            by_model.setdefault(model, {})[node] = verdict
        return by_model

    def save(self, id: str, **kwargs: Any) -> Saved:
        """Call `icgkit.save` with dataset, models, cache and the simulated flag of this run filled in."""
        from icgkit.outputs import save

        filled: dict[str, Any] = {
            "dataset": self.dataset.name,
            "models": self.models(),
            "cache": self.name,
            "simulated": self.simulated,
            "note": self.notes(),
            "n": self.counts(),
        }
        return save(id, **(filled | kwargs))


def load_results(cache: str | Path, *, dataset: str | Path = "", judge: str = "") -> Results:
    """Load a cache folder with its dataset.

    Parameters
    ----------
    cache : str or Path
        Name below `data/cache/`, or a folder.
    dataset : str or Path, optional
        Dataset to use instead of the one that run.toml names.
    judge : str, optional
        Judge whose verdicts count; default is `primary_judge` of run.toml, else `offline/judge`.

    Raises
    ------
    UnknownName
        If there is no such cache or dataset.
    SchemaError
        If run.toml names no dataset and none is given.
    """
    folder = named_folder("cache", cache)
    path = folder / "run.toml"
    meta = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    which = dataset or meta.get("dataset")
    if not which:
        raise SchemaError(f"{path} names no dataset", remedy="give dataset=")
    return Results(
        Path(cache).name,
        folder,
        meta,
        load_dataset(which),
        judge or meta.get("primary_judge", "offline/judge"),
    )


def beside(
    ours: pl.DataFrame, *, id: str, source: str = "icg", keys: Sequence[str] = ("model", "condition")
) -> pl.DataFrame:
    """Set estimates beside the published figures of the same quantity.

    Parameters
    ----------
    ours : polars.DataFrame
        Column `estimate` and the columns in `keys`. A model "all" is the study's "all models";
        the suffix " (simulated)" is ignored.
    id : str
        Which published quantity (column `id` of the file).
    source : str
        File in data/published.
    keys : sequence of str
        Columns that identify a cell, of model, condition, group.

    Returns
    -------
    polars.DataFrame
        One row a published value: quantity, model, condition, group, ours (null where this run has
        no such cell), published, where, unit, note.

    Examples
    --------
    >>> import polars as pl
    >>> ours = pl.DataFrame({"model": ["all"], "condition": ["direct"], "estimate": [0.5]})
    >>> beside(ours, id="recall.micro").filter(condition="direct").select("ours", "published").row(0)
    (0.5, 0.447)
    """
    import polars as pl

    rows = load_published(source).filter(pl.col("id") == id)
    if rows.is_empty():
        raise UnknownName.among("published quantity", id, load_published(source)["id"].unique())
    mine = ours.select(*keys, ours=pl.col("estimate").cast(pl.Float64))
    if "model" in keys:
        mine = mine.with_columns(pl.col("model").str.strip_suffix(" (simulated)"))
    joined = rows.join(mine, on=list(keys), how="left", nulls_equal=True, maintain_order="left")
    return joined.select(
        "quantity",
        "model",
        "condition",
        "group",
        "ours",
        pl.col("value").alias("published"),
        "where",
        "unit",
        "note",
    )


def counts_beside(ours: Mapping[str, float], *, source: str = "icg") -> pl.DataFrame:
    """Set plain numbers beside the published ones.

    Parameters
    ----------
    ours : mapping
        Published id (column `id`) to our number; only rows without model, condition and group count.

    Examples
    --------
    >>> counts_beside({"dataset.cases": 461}).select("quantity", "ours", "published").row(0)
    ('cases', 461.0, 461.0)
    """
    import polars as pl

    mine = pl.DataFrame({"id": list(ours), "ours": [float(v) for v in ours.values()]})
    rows = load_published(source).filter(
        pl.col("model").is_null(), pl.col("condition").is_null(), pl.col("group").is_null()
    )
    joined = mine.join(rows, on="id", how="inner", maintain_order="left")
    return joined.select("quantity", "ours", pl.col("value").alias("published"), "where", "unit", "note")
