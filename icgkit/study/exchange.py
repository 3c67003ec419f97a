"""Answers and verdicts that were made elsewhere: prompts out, answers and verdicts in.

A console, a batch service or a person can answer what `export_prompts` writes; `import_answers`
puts the answers into a cache beside those that icgkit asked for itself. A row that does not fit is
named by its line and kept in a file of its own; nothing is dropped silently.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import mimetypes
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from icgkit.calls.cache import Cache
from icgkit.calls.models import PAPER
from icgkit.calls.record import Record
from icgkit.calls.recorded import load_responses
from icgkit.calls.reply import read_reply
from icgkit.calls.request import Prompt, Request, address, record_for, sent_params
from icgkit.cases.case import Case
from icgkit.cases.dataset import Dataset
from icgkit.errors import SchemaError
from icgkit.files import inside, read_file, read_parquet, read_text, write_rows, write_whole
from icgkit.judge.run import merge_verdicts
from icgkit.prompts.conditions import Condition, build_messages, conditions
from icgkit.prompts.proposals import extract_proposals
from icgkit.prompts.replies import as_bool
from icgkit.schemas import schema
from icgkit.study.identity import note_import
from icgkit.study.plan import find_conditions
from icgkit.untrusted import json_value

ELSEWHERE = "made-elsewhere"
"""What stands for the address of a call that icgkit did not make; it is part of the call's key."""
TOKENS = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
NUMBERS = ("cost", "latency", "created")
READ = frozenset(
    (
        "case_id",
        "condition",
        "model",
        "text",
        "sample",
        "finish",
        "finish_reason",
        "prompt_sha256",
        *TOKENS,
        *NUMBERS,
    )
)
"""Columns of an answer; others are kept with its record."""
FORMS = ("folder", "jsonl", "batch")
Row = dict[str, Any]
Key = tuple[str | int, ...]
Wrong = tuple[str, str, Row]
"""Place of a row that was not taken, why, and the row."""
T = TypeVar("T")


@dataclass(frozen=True)
class Imported:
    """What an import did."""

    n: int
    rejected: tuple[tuple[str, str], ...] = ()
    kept: Path | None = None
    stated: Mapping[str, int] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Say it in words, one line each."""
        out = [f"{self.n:,d} rows taken, {len(self.rejected):,d} not"]
        if self.stated.get("assumed"):
            out.append(
                f"{self.stated['assumed']:,d} rows state no prompt_sha256: taken for answers to the prompts as they "
                "are now"
            )
        out += [f"{place}: {why}" for place, why in self.rejected[:10]]
        if len(self.rejected) > 10:
            out.append(f"and {len(self.rejected) - 10:,d} more")
        if self.kept:
            out.append(f"the rows that were not taken are in {self.kept}")
        return out


# -- out ----------------------------------------------------------------------------------------


def export_prompts(
    dataset: Dataset,
    names: Sequence[str],
    out: str | Path,
    *,
    form: str = "folder",
    model: str = "MODEL",
    params: Mapping[str, Any] | None = None,
    templates: str | Path | None = None,
) -> int:
    """Write what would be sent for every case under some conditions; return the number of prompts.

    Parameters
    ----------
    dataset : Dataset
        The cases.
    names : sequence of str
        Ids of conditions of a single call; a case that a condition cannot ask about is left out.
    out : path
        Folder that is written: `prompts.jsonl` (form "jsonl": messages with the image's file name),
        `batch.jsonl` (form "batch": a provider's batch file with the image inside), or one folder a
        prompt (form "folder": `prompt.md`, the image, an empty `answer.md`). Each has an
        `answers.csv` to fill in, whose rows state the hash of the prompt.
    model, params : str, mapping
        Model and parameters of a batch file.
    templates : path, optional
        Folder of own templates.

    Raises
    ------
    UnknownName, SchemaError
        For a condition that is not known, or is a chain of calls.
    """
    out = Path(out)
    images = out / "images"
    images.mkdir(parents=True, exist_ok=True)
    rows, lines = [], []
    for case, condition, prompt in _prompts(dataset, _single(names, templates)):
        name = f"{case.id}.{condition.id}"
        shown = [_write_image(url, images) for url in prompt.images]
        head = {"case_id": case.id, "condition": condition.id, "prompt_sha256": prompt.sha256}
        rows.append(head | {"model": model if model != "MODEL" else "", "sample": 0, "text": ""})
        if form == "jsonl":
            lines.append(head | {"images": shown, "messages": _named_images(prompt, shown)})
        elif form == "batch":
            body = {"model": model, "messages": prompt.messages} | dict(PAPER if params is None else params)
            lines.append({"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body})
        else:
            folder = out / condition.id / case.id
            folder.mkdir(parents=True, exist_ok=True)
            text = "\n\n".join(_words(prompt))
            pictures = "\n".join(f"![image](../../{path})" for path in shown)
            write_whole(folder / "prompt.md", f"{pictures}\n\n{text}\n".encode())
            if not (folder / "answer.md").is_file():
                write_whole(folder / "answer.md", b"")
    if lines:
        write_rows(lines, out / ("batch.jsonl" if form == "batch" else "prompts.jsonl"))
    if not (out / "answers.csv").is_file():
        write_whole(out / "answers.csv", pl.DataFrame(rows).write_csv().encode())
    return len(rows)


def _single(names: Iterable[str], templates: str | Path | None) -> list[Condition]:
    chosen = find_conditions(names, templates)
    for condition in chosen:
        if condition.stage != "single":
            raise SchemaError(
                f"{condition.id} is a chain of calls, whose later prompts hang on earlier answers",
                allowed=[c.id for c in conditions(templates).values() if c.stage == "single"],
            )
    return chosen


def _prompts(dataset: Dataset, chosen: Sequence[Condition]) -> Iterator[tuple[Case, Condition, Prompt]]:
    for case in dataset:
        for condition in chosen:
            if condition.applies(case):
                yield case, condition, Prompt.of(build_messages(case, condition))


def _write_image(url: str, folder: Path) -> str:
    head, _, body = url.partition(",")
    data = base64.b64decode(body)
    ending = mimetypes.guess_extension(head.removeprefix("data:").partition(";")[0]) or ".img"
    path = folder / f"{hashlib.sha256(data).hexdigest()[:16]}{ending}"
    if not path.is_file():
        write_whole(path, data)
    return f"images/{path.name}"


def _named_images(prompt: Prompt, shown: Sequence[str]) -> list[dict[str, Any]]:
    names = iter(shown)

    def part(found: Any) -> Any:
        if isinstance(found, dict) and found.get("type") == "image_url":
            return {"type": "image_url", "image_url": {"url": next(names)}}
        return found

    return [
        m | {"content": [part(p) for p in m["content"]] if isinstance(m["content"], list) else m["content"]}
        for m in prompt.messages
    ]


def _words(prompt: Prompt) -> Iterator[str]:
    for message in prompt.messages:
        parts = message["content"] if isinstance(message["content"], list) else [{"text": message["content"]}]
        yield from (str(p["text"]) for p in parts if "text" in p)


# -- in -----------------------------------------------------------------------------------------


def import_answers(
    path: str | Path,
    cache: str | Path,
    dataset: Dataset,
    *,
    collected: str = "",
    templates: str | Path | None = None,
) -> Imported:
    """Read answers that were made elsewhere into a cache.

    Parameters
    ----------
    path : path
        A JSONL, CSV or Parquet file with the columns case_id, condition, model, text, and any of
        sample (0), finish_reason, prompt_sha256, input_tokens, output_tokens, cost (US dollars),
        latency (seconds), created (seconds since 1970); or a folder that `export_prompts` wrote,
        whose `answer.md` are read, with the model's name in `answers.csv`. Other columns are kept
        with the record.
    cache : path
        Folder of the cache.
    dataset : Dataset
        The cases that were answered.
    collected : str
        How the answers came about; it is written into `run.toml` and stands below every table.
    templates : path, optional
        Folder of the templates that were used.

    Returns
    -------
    Imported
        Rows taken and rows that were not, each with its line and reason: an unknown case or
        condition, no model, a text that is none, numbers that are none, a `prompt_sha256` of other
        words or another picture, a key that stands twice.

    Raises
    ------
    SchemaError
        For a file that cannot be read, or lacks a column.
    """
    rows = _rows(Path(path), ("case_id", "condition", "model", "text"))
    cases = {case.id: case for case in dataset}
    known = conditions(templates)
    prompts: dict[tuple[str, str], Prompt] = {}

    def read(row: Row) -> tuple[Key, tuple[Record, str, str, str]]:
        case, condition = _case_and_condition(row, cases, known)
        sample, model = int(_number(row, "sample", whole=True) or 0), _text(row, "model")
        place = (case.id, condition.id)
        if place not in prompts:
            prompts[place] = Prompt.of(build_messages(case, condition))
        prompt, hashed = prompts[place], row.get("prompt_sha256") or ""
        if hashed not in ("", prompt.sha256):
            allowed = f"{prompt.sha256} (as it is now)"
            raise SchemaError("answers another prompt", got=str(hashed)[:40], allowed=allowed)
        record = _record(row, case, condition, model, sample, prompt)
        return (*place, model, sample), (record, model, condition.id, "checked" if hashed else "assumed")

    good, wrong = _taken(rows, read, "case, condition, model and sample stand")
    folder = Path(cache)
    if good:
        store = Cache(folder)
        for record, *_ in good:
            store.put(record)
        store.pack()
        store.close()
        models: dict[str, set[str]] = {}
        for _, model, condition, _ in good:
            models.setdefault(model, set()).add(condition)
        words = {c: known[c].sha256 for c in sorted(set().union(*models.values()))}
        note_import(folder, dataset, models, words, collected)
    return _report(len(good), wrong, folder, "answers", Counter(row[3] for row in good))


def _record(row: Row, case: Case, condition: Condition, model: str, sample: int, prompt: Prompt) -> Record:
    finish = row.get("finish_reason") or row.get("finish") or "stop"
    usage = {new: _number(row, old, whole=True) for old, new in TOKENS.items()}
    text = row.get("text")
    if text is not None and not isinstance(text, str):
        raise SchemaError("text", got=type(text).__name__, allowed="a text")
    reply = {"choices": [{"message": {"content": text}, "finish_reason": finish}], "usage": usage}
    more = {k: v for k, v in row.items() if k not in READ and v not in (None, "")}
    tags = {
        "kind": "elicit",
        "dataset": case.dataset,
        "case_id": case.id,
        "condition": condition.id,
        "template_sha256": condition.sha256,
        "label": None,
    } | ({"imported": more} if more else {})
    request = Request(model, prompt.messages, {"api_base": ELSEWHERE}, sample, tags, None, prompt)
    answer = {k: v for k, v in read_reply(reply).items() if k != "answered_model"}
    numbers = {k: _number(row, k) for k in NUMBERS}
    return record_for(address(request), **answer, **numbers, params=json.dumps(sent_params({})))


def import_verdicts(path: str | Path, cache: str | Path, dataset: Dataset) -> Imported:
    """Read verdicts that judges or people gave elsewhere into a cache, over what it had of the same judge.

    Parameters
    ----------
    path : path
        A JSONL, CSV or Parquet file. Recall verdicts have case_id, condition, node_id, judge, region,
        update, reason (true, false or empty: no verdict); verdicts on proposed constraints have
        case_id, condition, item (from 0), judge, valid. Both may have model (needed where the cache
        has several) and sample.
    cache : path
        Folder of the cache that holds the judged answers.
    dataset : Dataset
        Its cases.

    Returns
    -------
    Imported
        A row is not taken if there is no such answer, node or proposal in the cache, a mark is
        neither true nor false, or its key stands twice.
    """
    folder, file = Path(cache), Path(path)
    rows = _rows(file)
    precision = bool(rows) and all("item" in row for _, row in rows)
    form = schema("precision" if precision else "judgments")
    fields, place = (("valid",), "item") if precision else (("region", "update", "reason"), "node_id")
    _need(rows, ("case_id", "condition", place, "judge", *fields), file)
    responses = load_responses(folder, dataset=dataset.name)
    key = ("case_id", "condition", "model", "sample")
    answers = {tuple(row[k] for k in key): row for row in responses.iter_rows(named=True)}
    models = sorted({answer[2] for answer in answers})
    nodes = {(c.id, n.id) for c in dataset for n in c.constraint_nodes}
    items = (
        set(extract_proposals(responses).proposals.select(*key, "item").iter_rows()) if precision else set()
    )

    def read(row: Row) -> tuple[Key, dict[str, Any]]:
        sample = int(_number(row, "sample", whole=True) or 0)
        model = str(row.get("model") or "") or (models[0] if len(models) == 1 else "")
        if not model:
            raise SchemaError("no model", allowed=models)
        answer = (_text(row, "case_id"), _text(row, "condition"), model, sample)
        if answer not in answers:
            raise SchemaError("no such answer in the cache", got=", ".join(map(str, answer)))
        about = int(_number(row, "item", whole=True) or 0) if precision else _text(row, "node_id")
        if precision and (*answer, about) not in items:
            raise SchemaError("no such proposed constraint in the answer", got=about)
        if not precision and (answer[0], about) not in nodes:
            raise SchemaError("no such node", got=f"{answer[0]}, {about}")
        judge = _text(row, "judge")
        marks = {name: _mark(row, name) for name in fields}
        missing = None in marks.values()
        made = (
            answers[answer]
            | {place: about, "judge": judge, "status": "incomplete" if missing else "ok"}
            | marks
        )
        if not precision:
            made["found"] = None if missing else all(marks.values())
        return (*answer, about, judge), {name: made.get(name) for name in form.columns}

    good, wrong = _taken(rows, read, "the same verdict stands")
    if good:
        merge_verdicts(folder / f"{form.name}.parquet", form, form.frame(good))
        note_import(folder, dataset, {}, {}, "", judges=sorted({str(row["judge"]) for row in good}))
    return _report(len(good), wrong, folder, "verdicts", Counter())


def _taken(
    rows: Iterable[tuple[str, Row]], read: Callable[[Row], tuple[Key, T]], twice: str
) -> tuple[list[T], list[Wrong]]:
    """Read rows; one that does not fit, or has the key of an earlier one, is set aside with the reason."""
    good: list[T] = []
    wrong: list[Wrong] = []
    seen: dict[Key, str] = {}
    for place, row in rows:
        try:
            key, made = read(row)
            if key in seen:
                raise SchemaError(f"{twice} on {seen[key]} as well")
        except SchemaError as exc:
            wrong.append((place, str(exc), row))
        else:
            seen[key] = place
            good.append(made)
    return good, wrong


def _report(n: int, wrong: Sequence[Wrong], folder: Path, what: str, stated: Mapping[str, int]) -> Imported:
    kept = None
    if wrong:
        folder.mkdir(parents=True, exist_ok=True)
        kept = folder / f"rejected-{what}.jsonl"
        lines = [{"place": place, "why": why} | row for place, why, row in wrong]
        write_rows(lines, kept)
    return Imported(n, tuple((place, why) for place, why, _ in wrong), kept, dict(stated))


def _need(rows: Sequence[tuple[str, Row]], columns: Sequence[str], path: Path) -> None:
    if not rows:
        raise SchemaError(f"{path.name} has no rows")
    there = set().union(*(row for _, row in rows))
    if absent := [c for c in columns if c not in there]:
        raise SchemaError(
            f"{path.name}: missing column {', '.join(absent)}", got=sorted(there), allowed=columns
        )


def _rows(path: Path, columns: Sequence[str] = ()) -> list[tuple[str, Row]]:
    """Return the rows of a file that has these columns, each with its place in words."""
    if path.is_dir():
        rows = list(_folder_rows(path))
    elif path.suffix.lower() == ".parquet":
        rows = [(f"row {k}", row) for k, row in enumerate(read_parquet(path).iter_rows(named=True), 1)]
    elif path.suffix.lower() in (".jsonl", ".csv"):
        rows = list((_csv_rows if path.suffix.lower() == ".csv" else _json_rows)(path, read_text(path)))
    else:
        allowed = [".jsonl", ".csv", ".parquet"]
        raise SchemaError(f"{path.name}: kind of file", got=path.suffix or path.name, allowed=allowed)
    if columns:
        _need(rows, columns, path)
    return rows


def _csv_rows(path: Path, text: str) -> Iterator[tuple[str, Row]]:
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            yield f"line {reader.line_num}", {str(k): v for k, v in row.items() if k is not None}
    except csv.Error as exc:
        raise SchemaError(f"{path.name}, line {reader.line_num}: no CSV: {exc}") from None


def _json_rows(path: Path, text: str) -> Iterator[tuple[str, Row]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            row = json_value(line, f"{path.name}, line {number}", lenient=True)
            if not isinstance(row, dict):
                raise SchemaError(f"{path.name}, line {number}", got=type(row).__name__, allowed="an object")
            yield f"line {number}", row


def _folder_rows(folder: Path) -> Iterator[tuple[str, Row]]:
    """Yield the answers of a folder that was worked through by hand; empty ones are no answers."""
    for place, row in _rows(folder / "answers.csv"):
        name = f"{row.get('condition')}/{row.get('case_id')}/answer.md"
        file = inside(folder, name, error=SchemaError)
        if not row.get("text") and file.is_file():
            row = row | {"text": read_file(file).decode("utf-8-sig", "replace").strip()}
        if row.get("text"):
            yield f"answers.csv, {place}", row


def _case_and_condition(
    row: Mapping[str, Any], cases: Mapping[str, Case], known: Mapping[str, Condition]
) -> tuple[Case, Condition]:
    case, condition = cases.get(_text(row, "case_id")), known.get(_text(row, "condition"))
    if case is None:
        raise SchemaError("unknown case", got=row["case_id"])
    if condition is None:
        raise SchemaError("unknown condition", got=row["condition"], allowed=list(known))
    if condition.stage != "single":
        raise SchemaError(f"{condition.id} is a chain of calls")
    if not condition.applies(case):
        raise SchemaError(f"case {case.id} cannot be asked under {condition.id}")
    return case, condition


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > 300 or not value.isprintable():
        raise SchemaError(name, got=repr(value)[:60], allowed="a text of one line")
    return value.strip()


def _number(row: Mapping[str, Any], name: str, *, whole: bool = False) -> float | None:
    value = row.get(name)
    if value is None or value == "":
        return None
    try:
        number = float(value) if not isinstance(value, bool) else float("nan")
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 <= number < 1e15 or (whole and number != int(number)):
        raise SchemaError(
            name, got=repr(value)[:60], allowed="a whole number" if whole else "a number from 0"
        )
    return int(number) if whole else number


def _mark(row: Mapping[str, Any], name: str) -> bool | None:
    value = row.get(name)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    mark = as_bool(value)
    if mark is None:
        raise SchemaError(name, got=repr(value)[:60], allowed="true, false or empty")
    return mark
