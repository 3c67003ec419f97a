"""Judge the responses of a cache folder and keep the verdicts beside them as Parquet."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.calls.cache import Cache
from icgkit.calls.limits import Limits
from icgkit.calls.models import Model
from icgkit.calls.recorded import dataset_of, load_responses
from icgkit.calls.request import Request
from icgkit.cases.dataset import Dataset
from icgkit.errors import SchemaError, UnknownName
from icgkit.files import named_folder, read_parquet, replacing
from icgkit.judge.nodes import JUDGES, first_request, judge_name, judge_plan, judge_precision, judge_recall
from icgkit.judge.planning_set import marked_constraints
from icgkit.prompts.conditions import conditions
from icgkit.schemas import schema
from icgkit.study.file import JudgeEntry, Study
from icgkit.study.identity import note_judges
from icgkit.study.plan import different_names

if TYPE_CHECKING:
    import polars as pl

    from icgkit.study.estimate import Survey

PRIMARY = ("offline/judge", "offline/judge-strict")
PRECISION = ("icg_self", "nl_self")
"""Conditions whose proposals the precision judge marks unless others are asked for."""


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
        Conditions; by default those that `marks` names. Plans are marked on the constraints of
        `icgkit.judge.planning_set.marked_constraints`.
    templates : path, optional
        Folder with own templates in `judges/`.
    limits : Limits, optional
        Speed, budget and prices of the judges' calls.

    Returns
    -------
    dict of polars.DataFrame
        Frame by the name of its file: judgments, precision, plan, adversarial, leakage. What a
        judging that stopped did not come to is not in it.

    Raises
    ------
    UnknownName, SchemaError
        For an unknown cache, kind or dataset.
    CallError
        Before the first call: unknown model, missing key, a budget without a price.
    """
    store = cache if isinstance(cache, Cache) else Cache(named_folder("cache", cache))
    folder = store.folder
    data = dataset_of(folder, dataset)
    wanted = set(only)
    asked = _asked(judges, kinds)
    every = [k for k in JUDGES if any(k in own for _, own in asked)]
    for kind in every:
        names = [judge_name(model, kind, templates) for model, own in asked if kind in own]
        different_names(f"judges of {kind}", names)
    note_judges(folder, data, asked, templates, write=False)
    more: dict[str, Any] = {"templates": templates, "limits": limits, "progress": progress}
    out = {}
    for kind in every:
        chosen = [model for model, own in asked if kind in own]
        new = _judge(kind, chosen, store, data, wanted, more)
        out[JUDGES[kind].frame] = merge_verdicts(
            folder / f"{JUDGES[kind].frame}.parquet", JUDGES[kind].frame, new
        )
    note_judges(folder, data, asked, templates)
    if not any(run.stopped for run in store.runs):
        store.pack()
    return out


def _asked(judges: Sequence[str | JudgeEntry], kinds: Sequence[str]) -> list[tuple[Model, tuple[str, ...]]]:
    """Return each judge as a model with the kinds that it marks."""
    for kind in kinds:
        if kind not in JUDGES:
            raise UnknownName.among("kind of judging", kind, JUDGES)
    entries = [j if isinstance(j, JudgeEntry) else JudgeEntry(name=j) for j in judges]
    return [(j.model(), tuple(kinds) or j.kinds) for j in entries]


def estimate_judging(
    cache: str | Path | Cache,
    judges: Sequence[str | JudgeEntry] = PRIMARY,
    *,
    kinds: Sequence[str] = (),
    dataset: str | Path = "",
    only: Iterable[str] = (),
    templates: str | Path | None = None,
    limits: Limits | None = None,
) -> Survey:
    """Say what `judge_cache` will call and cost, without a call and without a key; parameters as there.

    The second round, about what stays without a verdict, and the leakage probe's comparisons come on top.
    """
    from icgkit.judge.leakage import guess_requests
    from icgkit.study.estimate import booked, survey_requests

    store = cache if isinstance(cache, Cache) else Cache(named_folder("cache", cache))
    data = dataset_of(store.folder, dataset)
    wanted = set(only)
    cases = {case.id: case for case in data}

    def requests() -> Iterator[Request]:
        selected: dict[str, set[str]] = {}
        for case_id, node_id in marked_constraints(data).select("case_id", "node_id").iter_rows():
            selected.setdefault(case_id, set()).add(node_id)
        for model, own in _asked(judges, kinds):
            for kind in own:
                if kind == "leakage":
                    yield from (request for _, request in guess_requests(data, model, templates=templates))
                elif kind != "adversarial":
                    for row in _to_judge(kind, store, data, wanted).iter_rows(named=True):
                        case = cases.get(row["case_id"])
                        if row["status"] != "ok" or not row["text"] or case is None:
                            continue
                        nodes = selected.get(case.id, ()) if kind == "plan" else None
                        request = first_request(kind, row, case, model, templates=templates, only=nodes)
                        if request is not None:
                            yield request

    found = survey_requests(requests(), store, prices=(limits or Limits()).prices)
    found.booked = booked(store)
    return found


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
    more: dict[str, Any],
) -> pl.DataFrame:
    import polars as pl

    if kind == "adversarial":
        from icgkit.judge.adversarial import read_adversarial

        return read_adversarial(store, dataset=data.name)
    if kind == "leakage":
        from icgkit.judge.leakage import probe_leakage

        return pl.concat([probe_leakage(data, j, cache=store, **more) for j in judges])
    work: dict[str, Callable[..., pl.DataFrame]] = {
        "recall": judge_recall,
        "precision": judge_precision,
        "plan": judge_plan,
    }
    frame = _to_judge(kind, store, data, only)
    if kind == "plan":
        more = more | {"selection": marked_constraints(data)}
    return pl.concat([work[kind](frame, data, judge, cache=store, **more) for judge in judges])


def _to_judge(kind: str, store: Cache, data: Dataset, only: set[str]) -> pl.DataFrame:
    """Return the responses that a kind of judging marks."""
    import polars as pl

    frame = load_responses(store.folder, dataset=data.name)
    right = [
        c
        for c in frame["condition"].unique().sort()
        if marks(kind, c, asked=only) and (not only or c in only)
    ]
    return frame.filter(pl.col("condition").is_in(right))


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


USABLE = ("ok", "not_applicable", "no_response")
"""Statuses of rows that a judge need not be asked about again: a verdict, or nothing to judge."""


def without_verdict(frame: pl.DataFrame) -> int:
    """Return how many rows have no usable verdict although there was a response to judge."""
    if "status" not in frame.columns:
        return 0
    return frame.filter(~frame["status"].is_in(USABLE)).height


def verdict_lines(frames: Mapping[str, pl.DataFrame]) -> list[str]:
    """Return one line for each frame of verdicts: rows, those without a verdict and why, by judge."""
    import polars as pl

    lines = []
    for name, frame in frames.items():
        line = f"{name}: {frame.height:,d} rows"
        if "status" not in frame.columns:
            lines.append(line)
            continue
        silent = frame.filter(pl.col("status") == "no_response").height
        line += f", {without_verdict(frame):,d} without a verdict"
        lines.append(line + (f", {silent:,d} without a response to judge" if silent else ""))
        bad = frame.filter(~pl.col("status").is_in(USABLE))
        by = [c for c in ("judge", "status") if c in bad.columns]
        counts = (
            bad.group_by(by)
            .agg(pl.len(), pl.col("case_id").min())
            .sort("len", *by, descending=[True] + [False] * len(by))
        )
        for *names, n, case_id in counts.head(3).iter_rows():
            lines.append(f"  {n:,d} x {': '.join(names)} (e.g. case {case_id})")
    return lines


def merge_verdicts(path: Path, name: str, new: pl.DataFrame) -> pl.DataFrame:
    """Write verdicts into a file: over what it had for the same keys, beside the rest; return the whole."""
    import polars as pl

    form = schema(name)
    if "status" in form.columns:  # what a stopped judging did not come to takes nobody's place
        new = new.filter(pl.col("status").ne_missing("not_asked"))
    if path.is_file():
        old = form.check(read_parquet(path)).select(*form.columns)
        new = pl.concat([old.join(new, on=form.key, how="anti", nulls_equal=True), new.select(*form.columns)])
    new = form.check(new.sort(form.key))
    with replacing(path, sync=True) as stream:
        new.write_parquet(stream, compression="zstd", compression_level=19, statistics=False)
    return new
