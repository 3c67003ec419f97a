from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fault_server import serve
from PIL import Image

from icgkit.calls.cache import Cache
from icgkit.calls.models import Model
from icgkit.calls.recorded import load_responses
from icgkit.cases import images as images_module
from icgkit.cases.case import Case, Constraint, Edge, Target
from icgkit.cases.dataset import load_dataset, write_cases
from icgkit.errors import CacheMiss, CallError, ImageError, SchemaError, UnknownName
from icgkit.files import project_root
from icgkit.study import run as study_run
from icgkit.study.batch import run_batch
from icgkit.study.elicit import elicit
from icgkit.study.file import Study, stratified
from icgkit.study.plan import Elicitation

KEY = "sk-test-secret-0123456789"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project of its own with the dataset `small`: four cases, one without edges between nodes."""
    monkeypatch.setenv("ICGKIT_HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    folder = tmp_path / "data" / "cases" / "small"
    (folder / "images").mkdir(parents=True)
    kinds = ["semantic_numerical", "style_font", "xmod_scene", "semantic_numerical"]
    cases = []
    for i, kind in enumerate(kinds):
        Image.new("RGB", (30, 20), (i * 40, 0, 0)).save(folder / "images" / f"{i}.png")
        nodes = [
            Constraint(id=f"n{k}", region=f"region {k}", subtype=kind, expected_update=f"update {k}", reason=f"reason {k}")
            for k in (1, 2)
        ]  # fmt: skip
        edges = [Edge(between=("n1", "n2"), type="agree", description="both")] if i else []
        cases.append(
            Case(
                id=f"c{i}", image=f"{i}.png", image_size=(30, 20), instruction=f"Edit {i}.", source="drawn",
                target=Target(element="a", region="b", action="c"), constraint_nodes=tuple(nodes), inter_constraints=tuple(edges),
            )
        )  # fmt: skip
    write_cases(cases, folder / "cases.jsonl")
    text = 'name="small"\nversion="1"\nlicence="CC0"\nprovenance="drawn"\nimage_root="images"\n'
    (folder / "dataset.toml").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with serve() as state:
        yield state


def study(server: Any, tmp_path: Path, **change: Any) -> Study:
    base = {
        "dataset": "small", "models": ["openai/a", "gpt-4o"], "conditions": ["direct", "oracle_no_inter"],
        "cache": str(tmp_path / "run"), "params": {"api_base": server.url, "temperature": 0, "user": tmp_path.name},
        "limits": {"backoff": 0.02},
    }  # fmt: skip
    return Study.of({**base, **change})


def test_a_study_runs_once(server: Any, tmp_path: Path) -> None:
    before = sum(server.seen.values())
    done = study_run.run(study(server, tmp_path), progress=False)
    assert done.responses.height == done.wanted == 2 * (4 + 3)
    assert done.left_out == {"oracle_no_inter": 1}
    assert set(done.responses["status"]) == {"ok"}
    assert sum(server.seen.values()) - before == 14
    again = study_run.run(study(server, tmp_path), progress=False)
    assert again.responses.equals(done.responses)
    assert (again.summary.called, again.summary.cached) == (0, 14)
    assert sum(server.seen.values()) - before == 14
    assert load_responses(tmp_path / "run").height == 14
    replayed = elicit(
        load_dataset("small"), ["direct"], ["gpt-4o"], cache=Cache(tmp_path / "run", mode="replay"),
        how=Elicitation(done.study.params), progress=False,
    )  # fmt: skip
    assert replayed.height == 4
    with pytest.raises(CacheMiss, match="'cot' for case 'c0'"):
        elicit(
            load_dataset("small"),
            ["cot"],
            ["gpt-4o"],
            cache=Cache(tmp_path / "run", mode="replay"),
            progress=False,
        )


def test_estimate_counts_and_prices_without_a_call(server: Any, tmp_path: Path) -> None:
    before = sum(server.seen.values())
    asked = study(server, tmp_path, judges=[{"name": "hosted_vllm/j", "params": {"api_base": server.url}}])
    frame = study_run.estimate(asked).frame()
    rows = {r["model"]: r for r in frame.iter_rows(named=True)}
    assert {m: r["calls"] for m, r in rows.items()} == {"openai/a": 7, "gpt-4o": 7, "hosted_vllm/j": 14}
    assert rows["openai/a"]["cost"] is None
    assert 0 < rows["gpt-4o"]["cost"] <= rows["gpt-4o"]["cost_at_most"]
    assert sum(server.seen.values()) == before
    study_run.run(study(server, tmp_path), progress=False)
    assert study_run.estimate(study(server, tmp_path)).frame()["calls"].sum() == 0


def test_judging_streams_behind_eliciting(server: Any, tmp_path: Path) -> None:
    asked = study(server, tmp_path, conditions=["direct", "plan_oracle"], judges=[
        {"name": "openai/j", "kinds": ["recall", "plan"], "params": {"api_base": server.url}}])  # fmt: skip
    done = study_run.run(asked, progress=False)
    assert done.judgments["judgments"].height == 2 * 4 * 2
    assert (
        done.judgments["judgments"]["found"].null_count() == 16
    )  # the stub's echo is no verdict: missing, not false
    assert done.judgments["plan"].height == 16
    frame = Cache(tmp_path / "run").frame()
    streamed = frame.filter((pl.col("kind") == "judge") & (pl.col("sample") == 0))
    assert streamed.height == 16
    assert streamed["subject_model"].unique().sort().to_list() == ["gpt-4o", "openai/a"]
    assert (tmp_path / "run" / "judgments.parquet").is_file()


def test_chains_run_as_recorded_stages(server: Any, tmp_path: Path) -> None:
    asked = study(
        server, tmp_path, models=["openai/a"], conditions=["ocr_assisted", "plan_nl_self", "discover_verify"]
    )
    done = study_run.run(asked, progress=False)
    frame = Cache(tmp_path / "run").frame()
    assert frame.filter(pl.col("stage") == "ocr_transcript").height == 4
    assert frame.filter(pl.col("condition") == "nl_self").height == 4  # shared by two chains
    # The stub's verification is no JSON: the two-stage responses are missing, and said to be.
    assert set(done.responses["condition"]) == {"ocr_assisted", "plan_nl_self", "nl_self"}
    assert "responses are missing" in done.text() or done.responses.height >= done.wanted
    ocr = frame.filter((pl.col("condition") == "ocr_assisted") & (pl.col("kind") == "elicit"))
    assert set(ocr["subject"]) == set(frame.filter(pl.col("stage") == "ocr_transcript")["key"])


def test_failures_are_done_again_and_only_they(server: Any, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    head = "---\nlabel: X\nshort: X\norder: 0\nfamily: core\ninputs: [instruction]\noutput: text\nsystem: S\n---\n"
    (own / "direct.md").write_text(
        head + f"[[400:1]] {tmp_path.name} {{{{ instruction }}}}", encoding="utf-8"
    )
    asked = study(server, tmp_path, models=["openai/a"], conditions=["direct"], templates=str(own))
    first = study_run.run(asked, progress=False)
    assert first.responses["status"].to_list() == ["error"] * 4
    assert first.responses["text"].null_count() == 4
    second = study_run.run(asked, progress=False)
    assert second.responses["status"].to_list() == ["ok"] * 4
    assert second.summary.called == 4
    assert study_run.run(asked, progress=False).summary.called == 0


def test_bad_images_stop_before_the_first_call(server: Any, tmp_path: Path) -> None:
    images = tmp_path / "data" / "cases" / "small" / "images"
    (images / "1.png").write_bytes((images / "1.png").read_bytes()[:50])
    (images / "2.png").unlink()
    before = sum(server.seen.values())
    for work in (study_run.estimate, lambda s: study_run.run(s, progress=False)):
        with pytest.raises(ImageError, match=r"2 of 4 images.*c1.*c2"):
            work(study(server, tmp_path))
    assert sum(server.seen.values()) == before


def test_batch_is_submitted_closed_and_collected_later(server: Any, tmp_path: Path) -> None:
    asked = study(server, tmp_path, models=["gpt-4o"], conditions=["direct"])
    before = sum(server.seen.values())
    assert "4 submitted now" in run_batch(asked).text()
    assert "4 still with the provider, 0 submitted" in run_batch(asked).text()
    assert "4 answers collected, 0 still with the provider, 0 submitted" in run_batch(asked).text()
    assert sum(server.seen.values()) - before == 4
    done = study_run.run(asked, progress=False)
    assert done.summary.called == 0
    assert done.responses["cost"].to_list() == pytest.approx([100 * 1.25e-6 + 20 * 5e-6] * 4)  # half price
    assert not list((tmp_path / "run" / "batches").glob("*"))


def test_an_image_that_is_broken_inside_is_never_sent(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file begins and ends well: only decoding finds it, which is held here until calls are made."""
    folder = tmp_path / "data" / "cases" / "small"
    Image.new("RGB", (30, 20), "red").save(folder / "images" / "3.jpg")
    data = (folder / "images" / "3.jpg").read_bytes()
    (folder / "images" / "3.jpg").write_bytes(data[:-20] + b"\xff\xd8" + data[-20:])  # begins anew inside
    cases = (folder / "cases.jsonl").read_text(encoding="utf-8")
    (folder / "cases.jsonl").write_text(cases.replace("3.png", "3.jpg"), encoding="utf-8")
    slowly = {"concurrency": 1, "backoff": 0.02}
    asked = study(server, tmp_path, models=["openai/a"], conditions=["direct"], limits=slowly)

    def sent(text: str) -> int:
        return sum(n for prompt, n in server.seen.items() if text in prompt)

    before, decode, begun = sent("Edit"), images_module._broken, sent("Edit 3.")

    def held(path: str) -> str | None:
        until = time.monotonic() + 5
        while path.endswith("3.jpg") and sent("Edit") == before and time.monotonic() < until:
            time.sleep(0.01)
        return decode(path)

    monkeypatch.setattr(images_module, "_broken", held)
    with pytest.raises(ImageError, match="c3"):
        study_run.run(asked, progress=False)
    assert sent("Edit") - before == 3  # the others were answered, and are recorded
    assert len(Cache(tmp_path / "run")) == 3
    assert sent("Edit 3.") == begun


def test_a_batch_keeps_to_the_budget_and_says_why_calls_failed(server: Any, tmp_path: Path) -> None:
    """Room is held for two of four; one of them fails at the provider, and is not paid."""
    cases = tmp_path / "data" / "cases" / "small" / "cases.jsonl"
    cases.write_text(cases.read_text().replace("Edit 0.", "Edit 0. [[500]]"), encoding="utf-8")
    asked = study(
        server,
        tmp_path,
        models=["gpt-4o"],
        conditions=["direct"],
        params={"api_base": server.url, "max_tokens": 1000},
    )
    one = (
        study_run.estimate(asked).frame().select(pl.col("cost_at_most").sum()).item() / 4 / 2
    )  # batches cost half
    first = run_batch(asked, budget=2.5 * one)
    assert (first.submitted, first.left, first.stopped) == (2, 2, "budget")
    assert "2 calls were not submitted" in first.text()
    assert Cache(tmp_path / "run").ledger.path.is_file()
    ledger = Cache(tmp_path / "run").ledger
    ledger.refresh()
    assert one < ledger.held <= 2.5 * one
    assert run_batch(asked, budget=2.5 * one).submitted == 0  # what is held counts
    back = run_batch(asked, budget=2.5 * one)
    assert (back.collected, len(back.failed_now), back.failed) == (1, 1, True)
    assert "1 x gpt-4o: HTTP 500" in back.text()
    ledger.refresh()
    assert ledger.spent.cost == pytest.approx(100 * 1.25e-6 + 20 * 5e-6)


def test_batch_is_refused_where_there_is_none(server: Any, tmp_path: Path) -> None:
    with pytest.raises(CallError, match="no batches"):
        run_batch(study(server, tmp_path, models=["offline/priors"], params={}))


def test_gemini_exception_of_the_study_can_be_said() -> None:
    text = {
        "dataset": "small", "conditions": ["direct", "cot"],
        "models": [{"name": "gemini/gemini-2.5-flash", "conditions": {"cot": {"max_tokens": 16384}}}],
    }  # fmt: skip
    (model,) = Study.of(text).plan().models
    assert model.under("direct") == {"temperature": 0, "max_tokens": 4096}
    assert model.under("cot") == {"temperature": 0, "max_tokens": 16384}
    assert Model("x").under("cot") == {"temperature": 0, "max_tokens": 4096}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"condition": ["direct"]}, "condition: .*known: dataset, models"),
        ({"samples": 0}, "samples"),
        ({"models": []}, "models"),
        ({"limits": {"rpms": 3}}, "limits: .*'rpms'"),
        ({"judges": [{"name": "x", "kinds": ["recal"]}]}, "judges.0.kinds"),
    ],
)
def test_mistakes_in_a_study_name_the_field(change: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Study.of({"dataset": "small", "models": ["a"], "conditions": ["direct"], **change}, "x.toml")


def test_unknown_names_are_said(server: Any, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'direct'"):
        study_run.run(study(server, tmp_path, conditions=["dircet"]), progress=False)
    with pytest.raises(UnknownName, match="small"):
        study_run.run(study(server, tmp_path, dataset="smal"), progress=False)


def test_subset_is_stratified_and_seeded() -> None:
    dataset = load_dataset("small")
    assert stratified(dataset, 3) == stratified(dataset, 3)
    drawn = dataset.subset(stratified(dataset, 3))
    assert sorted(n.category.id for c in drawn for n in c.constraint_nodes[:1]) == [
        "cross_modal",
        "semantic",
        "style",
    ]
    assert stratified(dataset, 4) == [c.id for c in dataset]
    with pytest.raises(SchemaError, match="at most 4"):
        stratified(dataset, 5)


def test_the_command_line(server: Any, tmp_path: Path) -> None:
    file = tmp_path / "demo.toml"
    file.write_text(
        f'dataset="small"\ncache="{tmp_path / "run"}"\nmodels=["openai/a"]\nconditions=["direct"]\n'
        f'[params]\napi_base="{server.url}"\n',
        encoding="utf-8",
    )

    def icgkit(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "icgkit.cli", "run", str(file), *options],
            capture_output=True,
            text=True,
            check=False,
        )

    dry = icgkit("--dry-run")
    assert "openai/a" in dry.stdout
    assert "no price" in dry.stdout
    assert icgkit().returncode == 0
    again = icgkit()
    assert "4 calls were recorded already, 0 were made" in again.stdout
    wrong = icgkit("--models", "no-such-model-xyz")
    assert wrong.returncode != 0
    assert "unknown model" in wrong.stderr
    assert "Traceback" not in wrong.stderr
    assert json.loads(json.dumps(KEY)) not in again.stdout + again.stderr + wrong.stderr


def test_a_second_run_keeps_the_verdicts_of_the_first(tmp_path: Path) -> None:
    """Two runs over one cache with other conditions: the file of verdicts holds both."""
    common = {"dataset": "small", "cache": str(tmp_path / "two"), "models": ["offline/instruction-only"],
              "judges": ["offline/judge"]}  # fmt: skip
    (tmp_path / "two").mkdir()
    for condition in ("direct", "cot"):
        study_run.run({**common, "conditions": [condition]}, progress=False)
    kept = pl.read_parquet(tmp_path / "two" / "judgments.parquet")
    assert set(kept["condition"]) == {"direct", "cot"}
    assert kept.filter(condition="direct").height == kept.filter(condition="cot").height > 0


@pytest.mark.parametrize("name", ["transcripts", "adversarial", "planning"])
def test_study_files_of_the_shipped_cache_ask_for_nothing_that_it_lacks(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ICGKIT_HOME")
    found = study_run.estimate(project_root() / "data" / "cache" / "offline" / f"{name}.toml")
    assert found.missing == 0
    assert found.cached > 300


def test_the_answer_that_a_chain_builds_on_does_not_stand_for_the_one_that_is_missing(
    server: Any, tmp_path: Path
) -> None:
    asked = {"dataset": "small", "models": ["offline/priors"], "conditions": ["plan_nl_self"]}
    study = Study.of(asked | {"cache": str(tmp_path / "c")})
    done = study_run.run(study, progress=False)
    assert set(done.responses["condition"]) == {"nl_self", "plan_nl_self"}
    assert "missing" not in done.text()
    kept = done.responses.filter(pl.col("condition") == "nl_self")
    assert f"{done.wanted} of {done.wanted} responses are missing" in replace(done, responses=kept).text()
