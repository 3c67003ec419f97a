"""Judge the responses of a cache folder and keep the verdicts beside them as Parquet."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.cache import Cache
from icgkit.elicit import Model, different_names
from icgkit.errors import SchemaError, UnknownName
from icgkit.identity import dataset_of, note_judges
from icgkit.judges import JUDGES, judge_name, judge_plan, judge_precision, judge_recall
from icgkit.load import Dataset, load_responses
from icgkit.paths import named_folder
from icgkit.planning_set import marked_constraints
from icgkit.prompts import conditions
from icgkit.schemas import schema
from icgkit.study import JudgeEntry, Study

if TYPE_CHECKING:
    import polars as pl

PRIMARY = ("offline/judge", "offline/judge-strict")
PRECISION = ("icg_self", "nl_self")
"""Conditions whose proposals the precision judge marks unless others are asked for."""


def judge_cache(
    cache: str | Path,
    judges: Sequence[str | JudgeEntry] = PRIMARY,
    *,
    kinds: Sequence[str] = (),
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
    judges : sequence of str or JudgeEntry
        Models as named to litellm, or entries of a study (`Study.read(file).judges`) with a label
        and parameters of their own. Verdicts of other judges stay in the file; those of the same
        judge on the same responses are replaced. A judge with other words is another judge, see
        `icgkit.judges.judge_name`.
    kinds : sequence of str
        Of `JUDGES`; by default those of each entry, recall for a name. `adversarial` reads labels and calls nobody; `leakage` asks about the
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
    data = dataset_of(folder, dataset)
    store = Cache(folder)
    wanted = set(only)
    entries = [j if isinstance(j, JudgeEntry) else JudgeEntry(name=j) for j in judges]
    asked = [(j.model(), tuple(kinds) or j.kinds) for j in entries]
    every = [k for k in JUDGES if any(k in own for _, own in asked)]
    for kind in every:
        names = [judge_name(model, kind, templates) for model, own in asked if kind in own]
        different_names(f"judges of {kind}", names)
    note_judges(folder, data, asked, templates, write=False)
    out = {}
    for kind in every:
        chosen = [model for model, own in asked if kind in own]
        new = _judge(kind, chosen, store, data, wanted, templates, progress)
        out[JUDGES[kind].frame] = merge_verdicts(
            folder / f"{JUDGES[kind].frame}.parquet", JUDGES[kind].frame, new
        )
    note_judges(folder, data, asked, templates)
    if pack:
        store.pack()
    return out


def judges_of(study: str | Path) -> tuple[tuple[JudgeEntry, ...], str | None]:
    """Return the judges of a study file, and its folder of templates.

    Raises
    ------
    SchemaError
        If it names none.
    """
    found = Study.read(study)
    if not found.judges:
        raise SchemaError(f"study file {study} names no judges", remedy='add judges = ["..."]')
    return found.judges, found.templates


def _judge(
    kind: str,
    judges: Sequence[Model],
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
