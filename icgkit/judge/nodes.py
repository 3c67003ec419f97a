"""Let a judge mark responses: recall, precision, plans. Missing verdicts stay missing.

A judge is any model that `icgkit.calls.engine` can call, and one file in `templates/judges`. What it does
not answer, or answers twice, becomes a row with nulls and a status, after one more try.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from icgkit.calls.cache import Cache, Record
from icgkit.calls.engine import call_many
from icgkit.calls.limits import Limits
from icgkit.calls.models import Model
from icgkit.calls.request import Request, merged
from icgkit.cases.case import Case, Constraint
from icgkit.cases.dataset import Dataset
from icgkit.errors import SchemaError, UnknownName
from icgkit.prompts.conditions import Condition, build_messages, judge_prompts
from icgkit.prompts.replies import read_proposals, read_verdicts, strip_thinking
from icgkit.schemas import schema

if TYPE_CHECKING:
    import polars as pl

MAX_RESPONSE = 60_000
"""How many characters of a response a judge is shown."""
MAX_ITEM = 4000
"""From how many characters on the fields of a proposal are cut."""
PARAMS: dict[str, Any] = {"temperature": 0, "max_tokens": 4096}


@dataclass(frozen=True, slots=True)
class Judge:
    """One kind of judging: its template, what it answers for each node or item, and the frame it fills."""

    id: str
    label: str
    fields: tuple[str, ...]
    frame: str


TEMPLATES = {"leakage": ("leakage", "leakage_region"), "adversarial": ()}
"""Templates of a kind of judging, where not the one of its name."""
JUDGES: dict[str, Judge] = {
    j.id: j
    for j in (
        Judge("recall", "Recall", ("region", "update", "reason"), "judgments"),
        Judge("precision", "Precision", ("valid",), "precision"),
        Judge("plan", "Plan satisfaction", ("satisfied",), "plan"),
        Judge("adversarial", "Adversarial labels (read, no judge model)", ("valid",), "adversarial"),
        Judge("leakage", "Leakage probe", ("subtype", "region"), "leakage"),
    )
}


class _Job(NamedTuple):
    """One response with what is asked about it."""

    row: dict[str, Any]
    case: Case
    ids: tuple[str, ...]
    inputs: Callable[[Sequence[str]], dict[str, Any]]


def node_json(nodes: Iterable[Constraint]) -> str:
    """Return nodes as the JSON list that judges are shown: one node a line, no boxes."""
    shown = [
        {
            "id": n.id,
            "region": n.region,
            "constraint_type": n.subtype,
            "expected_update": n.expected_update,
            "reason": n.reason,
        }
        for n in nodes
    ]
    return "[\n" + ",\n".join(json.dumps(n, ensure_ascii=False) for n in shown) + "\n]"


def fence(text: str) -> dict[str, str]:
    """Return a response as the template's inputs `response` and `mark`.

    The judge is not shown the thoughts. The mark is a hash of the response itself, so that the
    response cannot contain it and pretend to end early. One that is too long is cut, and the judge is
    told so behind the same mark.
    """
    spoken = spoken_part(text)
    mark = hashlib.sha256(spoken.encode("utf-8", "replace")).hexdigest()[:32]
    if len(spoken) > MAX_RESPONSE:
        note = (
            f"[CUT {mark}: these are the first {MAX_RESPONSE:,} of {len(spoken):,} characters. "
            "What the rest says is not known.]"
        )
        spoken = f"{spoken[:MAX_RESPONSE]}\n\n{note}"
    return {"response": spoken, "mark": mark}


def spoken_part(text: str | None) -> str:
    """Return a response without its thoughts; unchanged if there are none, empty if there is nothing else."""
    spoken = strip_thinking(text or "")
    return spoken if spoken == text else spoken.strip()


def is_cut(text: str | None) -> bool:
    """Say whether a judge is shown only a part of a response."""
    return len(text or "") > MAX_RESPONSE and len(spoken_part(text)) > MAX_RESPONSE


def judge_recall(
    responses: pl.DataFrame,
    dataset: Dataset,
    judge: str | Model,
    *,
    cache: Cache,
    templates: str | Path | None = None,
    params: Mapping[str, Any] | None = None,
    sample: int = 0,
    limits: Limits | None = None,
    progress: bool = True,
) -> pl.DataFrame:
    """Mark for every response which ground-truth nodes it brings up.

    Parameters
    ----------
    responses : polars.DataFrame
        Schema `responses`. One without text (refused, truncated, failed) gets rows with status
        `no_response`.
    dataset : Dataset
        The cases with their nodes.
    judge : str or Model
        Model as named to litellm, or one with a label and parameters of its own.
    cache : Cache
        Where the judge's calls are recorded, or replayed from.
    templates : path, optional
        Folder with own templates in `judges/`.
    params : mapping, optional
        Parameters of the judge's calls, temperature 0 and 4,096 tokens by default.
    sample : int
        Index of a repeated judging; from 1 on it is added to the judge's name as `#1`.

    Returns
    -------
    polars.DataFrame
        Schema `judgments`: one row for each response and node. `found` is true where region,
        update and reason are. A node without a usable verdict after one more try is null.

    Raises
    ------
    UnknownName
        If a response belongs to a case that the dataset lacks.
    CacheMiss
        In replay mode, for a call that is not recorded.
    """
    jobs = _jobs(responses, dataset, lambda case: case.constraint_nodes)
    asked = as_model(judge, params)
    got = _run(jobs, JUDGES["recall"], asked, cache, templates, sample, limits, progress)
    name = judge_name(asked, "recall", templates, sample)
    rows = []
    for job, verdicts in zip(jobs, got, strict=True):
        for node_id in job.ids:
            v = verdicts[node_id]
            marks = [v[f] for f in JUDGES["recall"].fields]
            found = None if None in marks else all(marks)
            rows.append(_call_key(job.row) | v | {"node_id": node_id, "judge": name, "found": found})
    return schema("judgments").frame(rows)


def judge_plan(
    responses: pl.DataFrame,
    dataset: Dataset,
    judge: str | Model,
    *,
    cache: Cache,
    selection: pl.DataFrame | None = None,
    templates: str | Path | None = None,
    params: Mapping[str, Any] | None = None,
    sample: int = 0,
    limits: Limits | None = None,
    progress: bool = True,
) -> pl.DataFrame:
    """Mark for every plan which of the selected constraints its steps satisfy (schema `plan`).

    Parameters
    ----------
    responses, dataset, judge, cache, templates, params, sample
        As in `judge_recall`; the responses are plans.
    selection : polars.DataFrame, optional
        Columns `case_id`, `node_id`: the constraints that count. All nodes if not given.
    """
    chosen: dict[str, set[str]] | None = None
    if selection is not None:
        chosen = {}
        for case_id, node_id in selection.select("case_id", "node_id").iter_rows():
            chosen.setdefault(case_id, set()).add(node_id)

    def nodes(case: Case) -> Sequence[Constraint]:
        if chosen is None:
            return case.constraint_nodes
        return [n for n in case.constraint_nodes if n.id in chosen.get(case.id, ())]

    jobs = _jobs(responses, dataset, nodes)
    asked = as_model(judge, params)
    got = _run(jobs, JUDGES["plan"], asked, cache, templates, sample, limits, progress)
    name = judge_name(asked, "plan", templates, sample)
    rows = [
        _call_key(job.row) | verdicts[i] | {"node_id": i, "judge": name}
        for job, verdicts in zip(jobs, got, strict=True)
        for i in job.ids
    ]
    return schema("plan").frame(rows)


class Extracted(NamedTuple):
    """Proposed constraints, and how the reading of each response went."""

    proposals: pl.DataFrame
    """Schema `proposals`."""
    replies: pl.DataFrame
    """One row a response: its key, `status` (ok | none | unreadable ...), `form`, `n_items`."""


def extract_proposals(responses: pl.DataFrame) -> Extracted:
    """Read the constraints that responses propose, from JSON, Markdown tables or free text.

    A response that cannot be read is a row of `replies` with its status, not a response without
    proposals.
    """
    import polars as pl

    items, replies = [], []
    for row in responses.iter_rows(named=True):
        key = _call_key(row)
        usable = row["status"] == "ok"
        read = read_proposals(row["text"] if usable else None)
        status = read.status if usable else "no_response"
        replies.append({**key, "status": status, "form": read.form, "n_items": len(read.items)})
        items += [{**key, "item": k, **item} for k, item in enumerate(read.items)]
    calls = schema("responses").dtypes
    kinds = {k: calls[k] for k in schema("responses").key}
    kinds |= {"status": pl.String, "form": pl.String, "n_items": pl.Int64}
    return Extracted(schema("proposals").frame(items), pl.DataFrame(replies, schema=kinds))


def judge_precision(
    responses: pl.DataFrame,
    dataset: Dataset,
    judge: str | Model,
    *,
    cache: Cache,
    templates: str | Path | None = None,
    params: Mapping[str, Any] | None = None,
    sample: int = 0,
    limits: Limits | None = None,
    progress: bool = True,
) -> pl.DataFrame:
    """Mark every constraint that a response proposes as valid or not (schema `precision`).

    Responses that cannot be read, or propose nothing, have no rows here; `extract_proposals`
    counts them.
    """
    usable = responses.filter(status="ok")
    read = _by_response(extract_proposals(usable).proposals)
    jobs = []
    for row in usable.iter_rows(named=True):
        items = read.get(tuple(_call_key(row).values()))
        if items:
            jobs.append(_precision_job(row, dataset[row["case_id"]], items))
    asked = as_model(judge, params)
    got = _run(jobs, JUDGES["precision"], asked, cache, templates, sample, limits, progress)
    name = judge_name(asked, "precision", templates, sample)
    rows = [
        _call_key(job.row) | verdicts[i] | {"item": int(i), "judge": name}
        for job, verdicts in zip(jobs, got, strict=True)
        for i in job.ids
    ]
    return schema("precision").frame(rows)


def _by_response(proposals: pl.DataFrame) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in proposals.iter_rows(named=True):
        item = {k: row[k] for k in ("item", "region", "type", "update", "reason")}
        found.setdefault(tuple(_call_key(row).values()), []).append(item)
    return found


def _precision_job(row: dict[str, Any], case: Case, items: list[dict[str, Any]]) -> _Job:
    def inputs(ids: Sequence[str]) -> dict[str, Any]:
        shown = [{k: v for k, v in i.items() if v is not None} for i in items if str(i["item"]) in ids]
        lines = ",\n".join(_item_json(i) for i in shown)
        return {"nodes_json": node_json(case.constraint_nodes), "proposals_json": f"[\n{lines}\n]"}

    return _Job(row, case, tuple(str(i["item"]) for i in items), inputs)


def _item_json(item: dict[str, Any]) -> str:
    """Return a proposal as whole JSON; the fields of one that is too long are cut, and say so."""
    text = json.dumps(item, ensure_ascii=False)
    if len(text) <= MAX_ITEM:
        return text
    most = MAX_ITEM // 4
    return json.dumps(
        {k: f"{v[:most]} [... cut]" if isinstance(v, str) and len(v) > most else v for k, v in item.items()},
        ensure_ascii=False,
    )


def _call_key(row: Mapping[str, Any]) -> dict[str, Any]:
    return {k: row[k] for k in schema("responses").key}


def as_model(judge: str | Model, params: Mapping[str, Any] | None = None) -> Model:
    """Return a judge as a model with parameters: temperature 0 and 4,096 tokens where none are given."""
    if isinstance(judge, Model):
        return judge if params is None else replace(judge, params=merged(judge.params, params))
    return Model(judge, params or PARAMS)


def judge_name(judge: str | Model, kind: str, templates: str | Path | None = None, sample: int = 0) -> str:
    """Return the name under which a judge's verdicts stand.

    It is the label, or the model's name, with the first eight digits of the template's hash where
    the words are not the shipped ones: a judge asked otherwise is another judge.

    Examples
    --------
    >>> judge_name("gpt-4o", "recall"), judge_name("gpt-4o", "recall", sample=1)
    ('gpt-4o', 'gpt-4o#1')
    """
    asked = as_model(judge)
    name = asked.shown
    if templates is not None and not asked.label:
        own, shipped = judge_prompts(templates), judge_prompts()
        used = [own[t].sha256 for t in TEMPLATES.get(kind, (kind,)) if t in own]
        if used != [shipped[t].sha256 for t in TEMPLATES.get(kind, (kind,)) if t in shipped]:
            digest = used[0] if len(used) == 1 else hashlib.sha256("".join(used).encode()).hexdigest()
            name += f"@{digest[:8]}"
    return name if sample == 0 else f"{name}#{sample}"


def _jobs(
    responses: pl.DataFrame, dataset: Dataset, nodes: Callable[[Case], Sequence[Constraint]]
) -> list[_Job]:
    cases = {case.id: case for case in dataset}
    jobs = []
    for row in schema("responses").check(responses).iter_rows(named=True):
        if row["case_id"] not in cases:
            raise UnknownName.among(f"case in {dataset.name}", row["case_id"], cases)
        case = cases[row["case_id"]]
        ids = tuple(n.id for n in nodes(case))
        if ids:
            jobs.append(_Job(row, case, ids, _node_inputs(case, row["text"] or "")))
    return jobs


def _node_inputs(case: Case, text: str) -> Callable[[Sequence[str]], dict[str, Any]]:
    def inputs(ids: Sequence[str]) -> dict[str, Any]:
        asked = [n for n in case.constraint_nodes if n.id in ids]
        return {"nodes_json": node_json(asked), **fence(text)}

    return inputs


def _run(
    jobs: list[_Job],
    kind: Judge,
    judge: Model,
    cache: Cache,
    templates: str | Path | None,
    sample: int,
    limits: Limits | None,
    progress: bool,
) -> list[dict[str, dict[str, Any]]]:
    """Ask about every job, once more about what came back without a verdict."""
    known = judge_prompts(templates)
    if kind.id not in known:
        raise SchemaError(f"no template {kind.id}.md for judges", allowed=known)
    template = known[kind.id]
    blank = dict.fromkeys(kind.fields)
    out = [{i: {**blank, "status": "no_response"} for i in job.ids} for job in jobs]
    todo = {
        k: list(job.ids)
        for k, job in enumerate(jobs)
        if job.row["status"] == "ok" and spoken_part(job.row["text"]).strip()
    }
    for attempt in (0, 1):
        # The second try asks about the missing nodes only, and is a call of its own.
        calls = [
            _request(jobs[k], ids, kind, template, judge, 2 * sample + attempt) for k, ids in todo.items()
        ]
        records, _ = call_many(calls, cache=cache, limits=limits, progress=progress and attempt == 0)
        for (k, ids), record in zip(list(todo.items()), records, strict=True):
            if record is None:  # the run stopped: what the first try gave stands
                if attempt == 0:
                    out[k] |= {i: {**blank, "status": "not_asked"} for i in ids}
                continue
            got = verdicts_of(record, ids, kind.fields)
            if kind.id != "precision" and is_cut(jobs[k].row["text"]):
                got = {i: _as_far_as_shown(v, kind.fields) for i, v in got.items()}
            out[k] |= got
        todo = {
            k: again
            for k, ids in todo.items()
            if (again := [i for i in ids if out[k][i]["status"] not in ("ok", "not_applicable", "cut")])
        }
        if not todo:
            break
    return out


def _as_far_as_shown(verdict: dict[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Return a verdict on a response that was cut: what was found counts, what was not found is not known."""
    if verdict["status"] != "ok" or all(verdict[f] for f in fields):
        return verdict
    return {**dict.fromkeys(fields), "status": "cut"}


def verdicts_of(record: Record, ids: Sequence[str], fields: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Read the verdicts of one recorded judge call; a failed call gives its own status."""
    if record.status != "ok":
        return {i: {**dict.fromkeys(fields), "status": record.status} for i in ids}
    return read_verdicts(record.text, ids, fields)


def first_request(
    kind: str,
    row: Mapping[str, Any],
    case: Case,
    judge: str | Model,
    *,
    params: Mapping[str, Any] | None = None,
    templates: str | Path | None = None,
    only: Container[str] | None = None,
) -> Request | None:
    """Build the first judge call about one response, None if there is nothing to ask.

    It is the very call that `judge_recall`, `judge_plan` or `judge_precision` will make, so that
    judging can stream behind eliciting and be replayed by them. `only` holds the ids of the case's
    nodes that a plan is marked on, where that is a selection.
    """
    if kind == "precision":
        items = [{"item": k, **item} for k, item in enumerate(read_proposals(row["text"]).items)]
        job = _precision_job(dict(row), case, items) if items else None
    else:
        ids = tuple(n.id for n in case.constraint_nodes if only is None or n.id in only)
        asked = ids and spoken_part(row["text"]).strip()
        job = _Job(dict(row), case, ids, _node_inputs(case, row["text"])) if asked else None
    if job is None:
        return None
    template = judge_prompts(templates)[kind]
    return _request(job, job.ids, JUDGES[kind], template, as_model(judge, params), 0)


def _request(
    job: _Job,
    ids: Sequence[str],
    kind: Judge,
    template: Condition,
    judge: Model,
    sample: int,
) -> Request:
    inputs = {"instruction": job.case.instruction, **job.inputs(ids)}
    tags = {
        "kind": "judge",
        "dataset": job.case.dataset,
        "case_id": job.case.id,
        "condition": job.row["condition"],
        "stage": kind.id,
        "subject": job.row["key"],
        "subject_model": job.row["model"],
        "template_sha256": template.sha256,
        "label": judge.label or None,
    }
    messages = build_messages(job.case, template, inputs=inputs, system=judge.system)
    return Request(judge.name, messages, judge.under(kind.id), sample, tags)
