"""Judge the responses of a cache folder and keep the verdicts beside them as Parquet."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.cache import Cache
from icgkit.errors import SchemaError, UnknownName
from icgkit.judges import JUDGES, judge_plan, judge_precision, judge_recall
from icgkit.load import Dataset, load_dataset, load_responses
from icgkit.paths import named_folder
from icgkit.planning_set import marked_constraints
from icgkit.prompts import conditions
from icgkit.schemas import schema
from icgkit.untrusted import toml_table

if TYPE_CHECKING:
    import polars as pl

PRIMARY = ("offline/judge", "offline/judge-strict")
PRECISION = ("icg_self", "nl_self")
"""Conditions whose proposals the precision judge marks unless others are asked for."""


def judge_cache(
    cache: str | Path,
    judges: Sequence[str] = PRIMARY,
    *,
    kinds: Sequence[str] = ("recall",),
    dataset: str | Path = "",
    only: Iterable[str] = (),
    templates: str | Path | None = None,
    progress: bool = True,
    pack: bool = True,
) -> dict[str, pl.DataFrame]:
    """Judge what a cache holds and write one Parquet file for each kind of judging.

    Parameters
    ----------
    cache : str or path
        Name below `data/cache/`, or a folder.
    judges : sequence of str
        Models as named to litellm. Verdicts of other judges stay in the file; those of the same
        judge on the same responses are replaced.
    kinds : sequence of str
        Of `JUDGES`. `adversarial` reads labels and calls nobody; `leakage` asks about the
        dataset's reasons.
    dataset : str or path, optional
        Instead of the one that run.toml names.
    only : iterable of str, optional
        Conditions; by default those that `marks` names. Plans are marked on the constraints of
        `icgkit.planning_set.marked_constraints`.
    templates : path, optional
        Folder with own templates in `judges/`.
    pack : bool
        Fold the calls into `calls.parquet` at the end.

    Returns
    -------
    dict of polars.DataFrame
        Frame by the name of its file: judgments, precision, plan, adversarial, leakage.

    Raises
    ------
    UnknownName, SchemaError
        For an unknown cache, kind or dataset.
    """
    for kind in kinds:
        if kind not in JUDGES:
            raise UnknownName.among("kind of judging", kind, JUDGES)
    folder = named_folder("cache", cache)
    data = load_dataset(dataset or _dataset_of(folder))
    store = Cache(folder)
    wanted = set(only)
    out = {}
    for kind in kinds:
        new = _judge(kind, judges, store, data, wanted, templates, progress)
        out[JUDGES[kind].frame] = merge_verdicts(
            folder / f"{JUDGES[kind].frame}.parquet", JUDGES[kind].frame, new
        )
    if pack:
        store.pack()
    return out


def _dataset_of(folder: Path) -> str:
    path = folder / "run.toml"
    name = toml_table(path.read_bytes(), str(path)).get("dataset") if path.is_file() else None
    if not name:
        raise SchemaError(f"{path} names no dataset", remedy="say which with --dataset")
    return str(name)


def _judge(
    kind: str,
    judges: Sequence[str],
    store: Cache,
    data: Dataset,
    only: set[str],
    templates: str | Path | None,
    progress: bool,
) -> pl.DataFrame:
    import polars as pl

    if kind == "adversarial":
        from icgkit.adversarial import read_adversarial

        return read_adversarial(store, dataset=data.name)
    if kind == "leakage":
        from icgkit.leakage import probe_leakage

        parts = [probe_leakage(data, j, cache=store, templates=templates, progress=progress) for j in judges]
        return pl.concat(parts)
    work: dict[str, Callable[..., pl.DataFrame]] = {
        "recall": judge_recall,
        "precision": judge_precision,
        "plan": judge_plan,
    }
    frame = load_responses(store.folder, dataset=data.name)
    right = [
        c
        for c in frame["condition"].unique().sort()
        if marks(kind, c, asked=only) and (not only or c in only)
    ]
    frame = frame.filter(pl.col("condition").is_in(right))
    more: dict[str, Any] = {"cache": store, "templates": templates, "progress": progress}
    if kind == "plan":
        more["selection"] = marked_constraints(data)
    return pl.concat([work[kind](frame, data, judge, **more) for judge in judges])


def marks(kind: str, condition: str, family: str = "", *, asked: Container[str] = ()) -> bool:
    """Say whether responses under a condition are marked by a kind of judging: the one rule of every command.

    Parameters
    ----------
    kind : {"recall", "precision", "plan"}
        Recall marks every discovery condition, plan every planning one. Precision asks about each
        proposal, which is dear: it marks the conditions in `PRECISION`, and others that show no truth
        where they are `asked` for by name.
    condition : str
        Id of the condition.
    family : str, optional
        Its family; looked up among the shipped conditions where not given. An unknown condition counts
        as discovery.
    asked : container of str
        Conditions that the user named.

    Examples
    --------
    >>> marks("precision", "direct"), marks("precision", "direct", asked=["direct"]), marks("plan", "plan_oracle")
    (False, True, True)
    """
    known = conditions()
    family = family or (known[condition].family if condition in known else "core")
    plans = family in ("planning", "two_stage")
    if kind == "plan":
        return plans
    if plans or condition == "adversarial":
        return False
    return kind == "recall" or condition in PRECISION or (family != "oracle" and condition in asked)


def merge_verdicts(path: Path, name: str, new: pl.DataFrame) -> pl.DataFrame:
    """Write verdicts into a file: over what it had for the same keys, beside the rest; return the whole."""
    import polars as pl

    form = schema(name)
    if path.is_file():
        old = form.check(pl.read_parquet(path)).select(*form.columns)
        new = pl.concat([old.join(new, on=form.key, how="anti", nulls_equal=True), new.select(*form.columns)])
    new = form.check(new.sort(form.key))
    scratch = path.with_suffix(".part")
    new.write_parquet(scratch, compression="zstd", compression_level=19, statistics=False)
    scratch.replace(path)
    return new
