"""Judge the responses of a cache folder and keep the verdicts beside them as Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from icgkit.calls.cache import Cache
from icgkit.calls.limits import Limits
from icgkit.calls.recorded import dataset_of, load_responses
from icgkit.cases.dataset import Dataset
from icgkit.errors import SchemaError
from icgkit.files import named_folder
from icgkit.judge.kinds import find_kind
from icgkit.judge.run import Panel
from icgkit.prompts.conditions import conditions
from icgkit.study.estimate import Estimate, booked, estimate_requests
from icgkit.study.file import JudgeEntry, Study
from icgkit.study.identity import note_judges

PRIMARY = ("offline/judge", "offline/judge-strict")


def judge_cache(
    cache: str | Path | Cache,
    judges: Sequence[str | JudgeEntry] = PRIMARY,
    *,
    kinds: Sequence[str] = (),
    dataset: str | Path = "",
    only: Iterable[str] = (),
    templates: str | Path | None = None,
    limits: Limits | None = None,
    progress: bool = True,
) -> dict[str, pl.DataFrame]:
    """Judge what a cache holds and write one Parquet file for each kind of judging.

    Parameters
    ----------
    cache : str, path or Cache
        Name below `data/cache/`, or a folder; what the runs did is in `runs` of a `Cache`.
    judges : sequence of str or JudgeEntry
        Models as named to litellm, or entries of a study (`Study.read(file).judges`) with a label
        and parameters of their own. Verdicts of other judges stay in the file; those of the same
        judge on the same responses are replaced. A judge with other words is another judge, see
        `icgkit.judge.nodes.judge_name`.
    kinds : sequence of str
        Of `JUDGES`; by default those of each entry, recall for a name. `adversarial` reads labels and calls nobody; `leakage` asks about the
        dataset's reasons.
    dataset : str or path, optional
        Instead of the one that run.toml names.
    only : iterable of str, optional
        Conditions; by default those that `icgkit.judge.kinds.marks` names. Plans are marked on the
        constraints of `icgkit.judge.kinds.marked_constraints`.
    templates : path, optional
        Folder with own templates in `judges/`.
    limits : Limits, optional
        Speed, budget and prices of the judges' calls.

    Returns
    -------
    dict of polars.DataFrame
        Frame by the name of its file: judgments, precision, plan, adversarial, leakage, or the name of a
        kind of one's own. What a judging that stopped did not come to is not in it.

    Raises
    ------
    UnknownName, SchemaError
        For an unknown cache, kind or dataset.
    CallError
        Before the first call: unknown model, missing key, a budget without a price.
    """
    store = _store(cache)
    folder = store.folder
    data = dataset_of(folder, dataset)
    panel = _panel(data, judges, kinds, only, templates)
    asked = [(judge.asked, own) for judge, own in panel.judges]
    note_judges(folder, data, asked, templates, write=False)
    new = panel.judge(_responses(store, data, only), store, limits=limits, progress=progress)
    for name in panel.kinds():  # what there was nothing to judge by is said as well
        rule = find_kind(name, templates)
        new.setdefault(rule.frame, rule.schema().frame([]))
    whole = panel.keep(new, folder)
    note_judges(folder, data, asked, templates)
    if not any(run.stopped for run in store.runs):
        store.pack()
    return whole


def _store(cache: str | Path | Cache) -> Cache:
    return cache if isinstance(cache, Cache) else Cache(named_folder("cache", cache))


def _panel(
    data: Dataset, judges: Sequence[str | JudgeEntry], kinds: Sequence[str], only: Iterable[str],
    templates: str | Path | None,
) -> Panel:  # fmt: skip
    entries = [j if isinstance(j, JudgeEntry) else JudgeEntry(name=j) for j in judges]
    asked = [(entry.judge(templates), tuple(kinds) or entry.kinds) for entry in entries]
    families = {c.id: c.family for c in conditions(templates).values()}
    return Panel(data, asked, families, frozenset(only))


def _responses(store: Cache, data: Dataset, only: Iterable[str]) -> pl.DataFrame:
    """Return the responses of a cache about a dataset, under certain conditions if any are named."""
    frame = load_responses(store.folder, dataset=data.name)
    named = list(only)
    return frame.filter(pl.col("condition").is_in(named)) if named else frame


def estimate_judging(
    cache: str | Path | Cache,
    judges: Sequence[str | JudgeEntry] = PRIMARY,
    *,
    kinds: Sequence[str] = (),
    dataset: str | Path = "",
    only: Iterable[str] = (),
    templates: str | Path | None = None,
    limits: Limits | None = None,
) -> Estimate:
    """Say what `judge_cache` will call and cost, without a call and without a key; parameters as there."""
    store = _store(cache)
    data = dataset_of(store.folder, dataset)
    panel = _panel(data, judges, kinds, only, templates)
    requests = panel.requests(_responses(store, data, only))
    found = estimate_requests(requests, store, prices=(limits or Limits()).prices)
    found.booked = booked(store)
    return found


def judges_of(study: str | Path) -> tuple[tuple[JudgeEntry, ...], str | None]:
    """Return the judges of a study file, and its folder of templates."""
    found = Study.read(study)
    if not found.judges:
        raise SchemaError(f"study file {study} names no judges", remedy='add judges = ["..."]')
    return found.judges, found.templates
