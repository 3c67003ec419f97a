"""Every reader of files that others wrote, with a bounded number of damaged ones: a result or an error of ours."""

from __future__ import annotations

import copy
import io
import json
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

import icgkit as ig
from icgkit.bench.dod import files as draw_or_decline
from icgkit.bench.grade import files as grade_files
from icgkit.bench.texteditbench import files as texteditbench
from icgkit.bench.unike import files as unike
from icgkit.bench.unike import scores as unike_scores
from icgkit.calls.cache import Cache
from icgkit.calls.ledger import Ledger
from icgkit.calls.limits import Limits
from icgkit.calls.recorded import dataset_of, load_judgments, read_run
from icgkit.cases.dataset import load_audit
from icgkit.cases.images import prepare
from icgkit.errors import IcgError
from icgkit.files import parquet_rows, read_csv
from icgkit.prompts.conditions import build_messages, read_condition
from icgkit.report.gallery import read_results
from icgkit.reproduce.compare import compare_folders
from icgkit.reproduce.notebooks import read_notebook
from icgkit.schemas import schema
from icgkit.study.batch import collect
from icgkit.study.file import Study
from icgkit.study.forms import read_form

BOUNDED = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

ODD: list[Any] = [
    None, True, -1, 2**63, 2**70, 10**400, 0.5, float("nan"), float("inf"), "", " ", "\0", "a" * 400, "../../x",
    "/etc/passwd", "\ud800", "\u2028", "{{ 1/0 }}", "=cmd()", [], [None], {}, {"a": {}}, [[[]]], "9" * 5000,
]  # fmt: skip


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the place of every value within a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(p for k, v in inner for p in paths(v, (*at, k)))]


def changed(value: Any, place: tuple[Any, ...], odd: Any, drop: bool) -> Any:
    """Return the value with something odd, or nothing, at a place."""
    if not place:
        return odd
    value = copy.deepcopy(value)
    at = value
    for key in place[:-1]:
        at = at[key]
    if drop:
        del at[place[-1]]
    else:
        at[place[-1]] = odd
    return value


def damaged(good: Any) -> st.SearchStrategy[Any]:
    """Return values like a good one with one to three odd places."""
    one = st.tuples(st.sampled_from(paths(good)), st.sampled_from(ODD), st.booleans())

    def apply(steps: list[tuple[Any, ...]]) -> Any:
        value = good
        for place, odd, drop in steps:
            with suppress(KeyError, IndexError, TypeError):  # an earlier step has taken the place away
                value = changed(value, place, odd, drop)
        return value

    return st.lists(one, min_size=1, max_size=3).map(apply)


def bytes_of(value: Any) -> bytes:
    return json.dumps(value).encode()


def cut(data: bytes) -> st.SearchStrategy[bytes]:
    """Return byte strings like a good one that were cut, doubled in part, or hold foreign bytes."""
    place = st.integers(0, len(data))
    piece = st.sampled_from(
        [b"", b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"[" * 20_000, b"9" * 5000, b"\n", b'"', b"---\n"]
    )
    return st.tuples(place, place, piece).map(lambda t: data[: t[0]] + t[2] + data[t[1] :])


def survives(run: Callable[[], object]) -> None:
    """Run a reader: what comes is a result, or an error that says what is wrong."""
    try:
        run()
    except IcgError as exc:
        said = str(exc)
    else:
        return
    assert said.strip()
    said.encode()  # fit for a terminal
    assert "\x1b" not in said


CASE = {
    "id": "a", "image": "a.png", "image_size": [9, 9], "instruction": "i", "source": "s",
    "target": {"element": "e", "region": "r", "action": "a", "bbox": [0, 0, 4, 4]},
    "constraint_nodes": [
        {"id": "n1", "region": "r", "subtype": "semantic_numerical", "expected_update": "u", "reason": "w", "bbox": [0, 0, 2, 2]},
        {"id": "n2", "region": "r", "subtype": "style_font", "expected_update": "u", "reason": "w"},
    ],
    "inter_constraints": [{"between": ["n1", "n2"], "type": "t", "description": "d"}],
    "metadata": {"a": [1, {"b": "c"}]},
}  # fmt: skip
DATASET = 'name = "x"\nversion = "1"\nlicence = "l"\nprovenance = "p"\nimage_root = "images"\nimage_root_elsewhere = ["x"]\n'


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    Image.new("RGB", (9, 9)).save(tmp_path / "images" / "a.png")
    (tmp_path / "dataset.toml").write_text(DATASET)
    (tmp_path / "cases.jsonl").write_bytes(bytes_of(CASE))
    return tmp_path


@BOUNDED
@given(value=damaged(CASE))
def test_cases(value: Any, dataset: Path) -> None:
    (dataset / "cases.jsonl").write_bytes(bytes_of(value))

    def use() -> None:
        data = ig.load_dataset(dataset)
        for frame in (data.frame(), data.nodes(), data.edges()):
            frame.write_json()
        assert all(c._repr_html_() and build_messages(c, "direct") for c in data)

    survives(use)


@BOUNDED
@given(data=cut(bytes_of(CASE)))
def test_bytes_of_cases(data: bytes, dataset: Path) -> None:
    (dataset / "cases.jsonl").write_bytes(data)
    survives(lambda: ig.load_dataset(dataset).nodes())


def toml(value: dict[str, Any]) -> str:
    """Write a flat table; strings as JSON, which TOML reads alike but for what it refuses."""
    words = {"None": "[]", "nan": "nan", "inf": "inf"}
    return "".join(f"{k} = {words.get(str(v), json.dumps(v))}\n" for k, v in value.items())


META = {
    "name": "x",
    "version": "1",
    "licence": "l",
    "provenance": "p",
    "image_root": "images",
    "image_root_elsewhere": ["x"],
}
STUDY = {
    "dataset": "icg-teb",
    "models": ["offline/priors"],
    "conditions": ["direct"],
    "samples": 1,
    "budget": 1.0,
    "subset": 3,
}


@BOUNDED
@given(value=damaged(META))
def test_dataset_toml(value: Any, dataset: Path) -> None:
    text = toml(value) if isinstance(value, dict) else json.dumps(value)
    (dataset / "dataset.toml").write_text(text, encoding="utf-8", errors="surrogatepass")
    survives(lambda: ig.load_dataset(dataset).frame())


@BOUNDED
@given(value=damaged(STUDY))
def test_study_files(value: Any, tmp_path: Path) -> None:
    text = toml(value) if isinstance(value, dict) else json.dumps(value)
    (tmp_path / "study.toml").write_text(text, encoding="utf-8", errors="surrogatepass")
    survives(lambda: Study.read(tmp_path / "study.toml"))


FRONT = b"---\nlabel: a\nshort: b\norder: 3\nfamily: core\ninputs: [instruction]\noutput: text\nneeds: [nodes]\nsystem: s\n---\nSay {{ instruction }}\n"
WORDS = [
    b"{{ 1/0 }}", b"{% include 'x' %}", b"{{ instruction.x.y }}", b"{% for i in range(10**9) %}x{% endfor %}", b"{{ 'a' * 10**10 }}",
    b"order: x", b"order: .inf", b"inputs: 5", b"inputs: [[a]]", b"needs: 5", b"label: &a [*a]", b"family: {}", b"{{ self }}", b"inputs: {a: b}",
    b"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", b"a: &a [x,x]\nb: &b [*a,*a]\nlabel: [*b,*b]", b"{{ instruction | map('x') | list }}",
]  # fmt: skip


@BOUNDED
@given(data=cut(FRONT), words=st.sampled_from(WORDS), place=st.integers(0, len(FRONT)))
def test_templates(data: bytes, words: bytes, place: int, dataset: Path) -> None:
    folder = dataset / "t" / "conditions"
    folder.mkdir(parents=True, exist_ok=True)
    case = ig.load_dataset(dataset)[0]
    lines = FRONT.split(b"\n")
    at = place % len(lines)
    for text in (
        data,
        FRONT[:place] + words + FRONT[place:],
        b"\n".join([*lines[:at], words, *lines[at + 1 :]]),
    ):
        (folder / "mine.md").write_bytes(text)
        survives(lambda: read_condition(folder / "mine.md"))
        survives(lambda: build_messages(case, "mine", templates=dataset / "t"))


RECORD = {"kind": "elicit", "key": "k", "dataset": "d", "case_id": "c", "condition": "direct", "model": "m", "sample": 0, "text": "t", "cost": 0.5,
          "completion_tokens": 7, "status": "ok", "finish_reason": "stop", "params": "{}", "raw": "{}"}  # fmt: skip


@BOUNDED
@given(value=damaged(RECORD), data=cut(bytes_of(RECORD)))
def test_cache_lines(value: Any, data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("cache")
    good = bytes_of(RECORD | {"key": "good"})
    (folder / "calls-1.jsonl").write_bytes(b"\n".join([bytes_of(value), data, good, b""]))

    def use() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cache = Cache(folder, mode="replay")
            frame = cache.frame()
            frame.write_json()
            assert frame.height <= 3
            cache.close()

    survives(use)


HUMAN = "dataset,case_id,node_id,annotator,condition,region,update,reason\nx,a,n1,ann,direct,true,no,true\n"


@BOUNDED
@given(data=cut(HUMAN.encode()))
def test_human_marks(data: bytes, dataset: Path) -> None:
    (dataset / "h.csv").write_bytes(data)
    survives(lambda: read_form(dataset / "h.csv", "human", ig.load_dataset(dataset)))


GRADE = [{"task_id": "math_1", "consistency": "overall", "text": "t", "image_path": "a.png", "gt": "b.png", "editing_path": "c.png",
          "questions": [{"id": "Q1", "question": "q", "score": 1.0}]}]  # fmt: skip
SCORES = [{"task_id": "math_1", "vqa": [{"id": "Q1", "answer": "yes"}], "score": 2}]
EDITS = [{"subject": "s", "category": "color", "source": "attribute", "stage_1": {
    "edit_prompt": "p", "original": "o", "target": "t", "image_prompt": "i", "question": "q", "reasoning_prompt": "r"}}]  # fmt: skip
ASKED = {
    "case_id": "c1",
    "pair_id": "p",
    "paired_case_id": "c2",
    "category": "maze",
    "input_images": ["a.png"],
    "instruction": "i",
    "prompt": "p",
}
TRUTH = {"case_id": "c1", "feasible": True, "witness": {"grid": [[0]]}, "expected_response": "r"}
TEB = [{"id": "A_1", "topic": "t", "prompt": "p", "editing_method": "text_change", "difficulty": "easy",
        "difficulty_score": "5(1,2,1,0,0,0,0,1,0,0)", "input_image": "1.jpg"}]  # fmt: skip


@BOUNDED
@given(value=damaged(GRADE), scores=damaged(SCORES), data=cut(bytes_of(GRADE)))
def test_grade(value: Any, scores: Any, data: bytes, tmp_path: Path) -> None:
    for content in (bytes_of(value), data):
        (tmp_path / "tasks.json").write_bytes(content)
        survives(lambda: grade_files.load_tasks(tmp_path / "tasks.json").write_json())
    folder = tmp_path / "scores"
    folder.mkdir(exist_ok=True)
    for name in ("m_reasoning_score.json", "m_consistency_score.json", "m_readability_score.json"):
        (folder / name).write_bytes(bytes_of(scores))
    survives(lambda: grade_files.load_scores(folder))


@BOUNDED
@given(value=damaged(EDITS), data=cut(bytes_of(EDITS)))
def test_unike(value: Any, data: bytes, tmp_path: Path) -> None:
    for content in (bytes_of(value), data):
        (tmp_path / "edits.json").write_bytes(content)
        survives(lambda: unike.load_edits(tmp_path / "edits.json"))


@BOUNDED
@given(
    value=damaged(
        {
            "instance_id": "e00000.s1",
            "editor": "x",
            "measure": "efficacy",
            "text": "a\u2028b",
            "success": True,
        }
    )
)
def test_unike_outcomes(value: Any, tmp_path: Path) -> None:
    (tmp_path / "edits.json").write_bytes(bytes_of(EDITS))
    (tmp_path / "outcomes.jsonl").write_bytes(bytes_of(value))

    def use() -> pl.DataFrame:
        return unike_scores.load_outcomes(
            tmp_path / "outcomes.jsonl", unike.load_edits(tmp_path / "edits.json").instances
        )

    survives(use)


@BOUNDED
@given(asked=damaged(ASKED), truth=damaged(TRUTH))
def test_draw_or_decline(asked: Any, truth: Any, tmp_path: Path) -> None:
    (tmp_path / "instruction.jsonl").write_bytes(bytes_of(asked))
    (tmp_path / "ground_truth_criteria.jsonl").write_bytes(bytes_of(truth))
    survives(lambda: draw_or_decline.read(tmp_path).requests.write_json())


@BOUNDED
@given(value=damaged(TEB), data=cut(bytes_of(TEB)))
def test_texteditbench(value: Any, data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("teb")
    for number, content in (
        ("001", bytes_of(value)),
        ("002", data),
        ("a b", bytes_of(TEB)),
        ("a_b", bytes_of(TEB)),
    ):
        folder = root / "data_manual_production" / ("T" * 90) / number
        folder.mkdir(parents=True)
        (folder / "x.json").write_bytes(content)
        Image.new("RGB", (8, 8)).save(folder / "1.jpg")

    def use() -> None:
        found = texteditbench.read(root)
        texteditbench.write_dataset(found, root, root / "out")
        assert len(ig.load_dataset(root / "out")) >= 2  # what is whole comes through, whatever lies beside it

    survives(use)


SIDE = {"id": "T2", "kind": "table", "caption": "c", "n": {"cases": 1}, "dataset": "d", "models": ["m"], "cache": None, "note": ["n"],
        "simulated": False, "seed": 1, "published": [{"quantity": "q", "ours": 1.0, "published": 1.0, "difference": 0.0}]}  # fmt: skip


@BOUNDED
@given(value=damaged(SIDE), data=cut(bytes_of(SIDE)))
def test_sidecars(value: Any, data: bytes, tmp_path: Path) -> None:
    for content in (bytes_of(value), data):
        (tmp_path / "T2.json").write_bytes(content)
        survives(lambda: read_results(tmp_path))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP"])
def test_pictures(kind: str, tmp_path: Path) -> None:
    import io

    out = io.BytesIO()
    Image.linear_gradient("L").resize((40, 30)).convert("RGB").save(out, kind)
    good = out.getvalue()

    @BOUNDED
    @given(
        data=cut(good),
        flips=st.lists(st.tuples(st.integers(0, len(good) - 1), st.integers(0, 255)), max_size=8),
    )
    def run(data: bytes, flips: list[tuple[int, int]]) -> None:
        wrong = bytearray(good)
        for at, value in flips:
            wrong[at] = value
        for content in (data, bytes(wrong)):
            (tmp_path / "x.png").write_bytes(content)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                survives(lambda: prepare(tmp_path / "x.png"))

    run()


# -- files of results, verdicts, money and batches --------------------------------------------------

AUDIT = "case_id,node_id,annotator,exists,region,update,reason\na,n1,ann,yes,no,yes,\n"
PUBLISHED = "source,quantity,value\nTable 1,recall,0.5\n"


@BOUNDED
@given(data=cut(AUDIT.encode()))
def test_audits(data: bytes, dataset: Path) -> None:
    (dataset / "audit.csv").write_bytes(data)
    survives(lambda: load_audit(ig.load_dataset(dataset)))


@pytest.mark.parametrize("kind", ["audit", "labels", "gold"])
def test_forms(kind: str, dataset: Path) -> None:
    columns = schema(kind).columns
    good = (",".join(columns) + "\n" + ",".join("yes" for _ in columns) + "\n").encode()

    @BOUNDED
    @given(data=cut(good))
    def run(data: bytes) -> None:
        (dataset / "form.csv").write_bytes(data)
        survives(lambda: read_form(dataset / "form.csv", kind))

    run()


@BOUNDED
@given(data=cut(PUBLISHED.encode()))
def test_csv_tables(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(data)
    survives(lambda: read_csv(tmp_path / "t.csv", columns=["source", "value"]))
    survives(lambda: read_csv(tmp_path / "t.csv", as_text=True))
    (tmp_path / "u.csv").write_bytes(PUBLISHED.encode())
    survives(lambda: compared(tmp_path))


def compared(folder: Path) -> object:
    for name in ("a", "b"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "a" / "T.csv").write_bytes((folder / "t.csv").read_bytes())
    (folder / "b" / "T.csv").write_bytes((folder / "u.csv").read_bytes())
    return compare_folders(folder / "a", folder / "b", ids={"T"})


def judgments() -> pl.DataFrame:
    form = schema("judgments")
    return pl.DataFrame({c: [None] for c in form.columns}, schema=form.dtypes)


FRAME = judgments()


@BOUNDED
@given(
    drop=st.sampled_from(["", *FRAME.columns]),
    retype=st.sampled_from(FRAME.columns),
    kind=st.sampled_from([pl.Int64, pl.Binary, pl.List(pl.Int8), pl.Struct({"a": pl.String}), pl.Null]),
    value=st.sampled_from([None, "", "x", "\0"]),
)
def test_frames(drop: str, retype: str, kind: Any, value: Any, tmp_path: Path) -> None:
    frame = FRAME.with_columns(pl.lit(None).cast(kind).alias(retype))
    frame = frame.with_columns(pl.lit(value).alias(c) for c, t in frame.schema.items() if t == pl.String)
    frame.drop(drop, strict=False).write_parquet(tmp_path / "judgments.parquet")
    survives(lambda: load_judgments(str(tmp_path)))


def parquet_bytes() -> bytes:
    out = io.BytesIO()
    FRAME.write_parquet(out)
    return out.getvalue()


PACKED = parquet_bytes()


@BOUNDED
@given(
    data=cut(PACKED),
    flips=st.lists(st.tuples(st.integers(0, len(PACKED) - 1), st.integers(0, 255)), max_size=6),
)
def test_bytes_of_frames(data: bytes, flips: list[tuple[int, int]], tmp_path: Path) -> None:
    wrong = bytearray(PACKED)
    for at, value in flips:
        wrong[at] = value
    for content in (data, bytes(wrong)):
        (tmp_path / "judgments.parquet").write_bytes(content)
        survives(lambda: load_judgments(str(tmp_path)))
        survives(lambda: parquet_rows(tmp_path / "judgments.parquet"))


RUN = {
    "dataset": "x", "models": ["m"], "conditions": ["direct"], "offline": True,
    "datasets": {"x": {"folder": "../x", "version": "1", "cases_sha256": "0"}},
    "prompts": {"direct": "0"}, "asked": {"m": {"params": "{}"}}, "judged": {"j": {"words": "0"}},
}  # fmt: skip


def tables(value: dict[str, Any]) -> str:
    """Write a table with tables within it, each in one line."""

    def one(v: Any) -> str:
        if isinstance(v, dict):
            return "{" + ", ".join(f"{json.dumps(k)} = {one(x)}" for k, x in v.items()) + "}"
        if isinstance(v, list):
            return "[" + ", ".join(map(one, v)) + "]"
        return {"None": "[]", "nan": "nan", "inf": "inf"}.get(str(v), json.dumps(v))

    return "".join(f"{k} = {one(v)}\n" for k, v in value.items())


@BOUNDED
@given(value=damaged(RUN), data=cut(tables(RUN).encode()))
def test_run_toml(value: Any, data: bytes, dataset: Path) -> None:
    folder = dataset / "cache"
    folder.mkdir(exist_ok=True)
    text = tables(value) if isinstance(value, dict) else json.dumps(value)
    for content in (text.encode("utf-8", "surrogatepass"), data):
        (folder / "run.toml").write_bytes(content)
        survives(lambda: read_run(folder))
        survives(lambda: dataset_of(folder, ""))
        survives(lambda: dataset_of(folder, str(dataset)))


HOLD = {"hold": "r-1", "at": 1.0, "model": "m", "key": "k", "amount": 0.5}
SETTLE = {
    "settle": "r-1",
    "at": 2.0,
    "cost": 0.25,
    "by": "usage",
    "status": "ok",
    "tokens_in": 3,
    "tokens_guessed": 2,
}


@BOUNDED
@given(hold=damaged(HOLD), settle=damaged(SETTLE), data=cut(bytes_of(HOLD)))
def test_ledgers(hold: Any, settle: Any, data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("ledger")
    (folder / "spending.jsonl").write_bytes(b"\n".join([bytes_of(hold), bytes_of(settle), data, b""]))

    def use() -> None:
        ledger = Ledger(folder)
        ledger.refresh()
        assert 0 <= ledger.spent.cost < 1e13
        assert 0 <= ledger.held < 1e13

    survives(use)


STUB = {"kind": "elicit", "key": "k", "dataset": "d", "case_id": "c", "condition": "direct", "model": "openai/x", "sample": 0,
        "status": "error", "params": "{}", "endpoint": "http://127.0.0.1:9/v1"}  # fmt: skip
STATE = {"batch": "b1", "api_base": "http://127.0.0.1:9/v1", "held": "r-1"}


@BOUNDED
@given(stub=damaged(STUB), state=damaged(STATE), data=cut(bytes_of(STUB)))
def test_batches(stub: Any, state: Any, data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("batch")
    (folder / "batches").mkdir()
    for content in (bytes_of(stub) + b"\n" + bytes_of(state), data):
        (folder / "batches" / "a.jsonl").write_bytes(content)

        def use() -> None:
            cache = Cache(folder)
            collect(cache, {}, Limits())  # a study without that model: nothing is asked
            cache.close()

        survives(use)


NOTEBOOK = {
    "cells": [{"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": ["a = 1\n", "b = 'x'"]}],
    "metadata": {},
    "nbformat": 4,
}


@BOUNDED
@given(value=damaged(NOTEBOOK), data=cut(bytes_of(NOTEBOOK)))
def test_notebooks(value: Any, data: bytes, tmp_path: Path) -> None:
    for content in (bytes_of(value), data):
        (tmp_path / "n.ipynb").write_bytes(content)
        survives(lambda: read_notebook(tmp_path / "n.ipynb"))
