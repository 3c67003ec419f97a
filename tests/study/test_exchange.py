"""Prompts out, answers and verdicts in: nothing is lost, and what does not fit is named by its line."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image
from typer.testing import CliRunner

import icgkit as ig
from icgkit.calls.recorded import load_judgments, load_responses
from icgkit.cli import app
from icgkit.errors import SchemaError
from icgkit.files import project_root
from icgkit.metrics import recall
from icgkit.report.results import load_results
from icgkit.study.exchange import export_prompts, import_answers, import_verdicts

SHARED = project_root().parent / "shared" / "data"


@pytest.fixture
def data(case: ig.Case, tmp_path: Path) -> ig.Dataset:
    folder = tmp_path / "set"
    (folder / "images").mkdir(parents=True)
    Image.linear_gradient("L").resize((640, 480)).convert("RGB").save(folder / "images" / "demo.png")
    other = case.model_copy(update={"id": "demo-2", "instruction": 'Change "A" to "B".'})
    ig.write_cases([case, other], folder / "cases.jsonl")
    (folder / "dataset.toml").write_text(
        'name = "set"\nversion = "1"\nlicence = "CC0"\nprovenance = "test"\nimage_root = "images"\n'
    )
    return ig.load_dataset(folder)


def answers(data: ig.Dataset, **more: Any) -> list[dict[str, Any]]:
    row = {"condition": "direct", "model": "me", "text": "The price changes to $70."}
    return [{"case_id": c.id, **row, **more} for c in data]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".parquet":
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(path)
    elif path.suffix == ".csv":
        pl.DataFrame(rows, infer_schema_length=None).write_csv(path)
    else:
        path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_answers_come_in_from_every_kind_of_file(kind: str, data: ig.Dataset, tmp_path: Path) -> None:
    rows = answers(data, cost=0.5, input_tokens=7, finish_reason="stop", sample=0)
    rows[1] |= {"finish_reason": "length"}
    done = import_answers(write(tmp_path / f"a.{kind}", rows), tmp_path / "c", data, collected="by hand")
    assert (done.n, done.rejected) == (2, ())
    frame = ig.load_responses(tmp_path / "c").sort("case_id")
    assert frame["text"].to_list() == [r["text"] for r in rows]
    assert frame["status"].to_list() == ["ok", "truncated"]
    assert frame["cost"].to_list() == [0.5, 0.5]
    mark = {
        "condition": "direct",
        "node_id": "n1",
        "judge": "ann",
        "region": True,
        "update": True,
        "reason": True,
    }
    import_verdicts(write(tmp_path / "v.jsonl", [{"case_id": "demo-1", **mark}]), tmp_path / "c", data)
    run = ig.load_results(tmp_path / "c")
    assert "How the answers were collected: by hand" in run.notes()
    # Once more is no second answer.
    import_answers(tmp_path / f"a.{kind}", tmp_path / "c", data)
    assert ig.load_responses(tmp_path / "c").height == 2


def test_bad_rows_are_named_by_line_and_kept(data: ig.Dataset, tmp_path: Path) -> None:
    good = answers(data)
    bad = [
        good[0] | {"case_id": "demo-9"},
        good[0] | {"condition": "dirct"},
        good[0] | {"condition": "discover_verify"},
        good[0] | {"model": ""},
        good[0] | {"text": 5, "sample": 1},
        good[0] | {"sample": -1},
        good[0] | {"cost": "much", "sample": 2},
        good[0] | {"prompt_sha256": "0" * 32, "sample": 3},
        good[0],
    ]
    done = import_answers(write(tmp_path / "a.jsonl", [*good, *bad]), tmp_path / "c", data)
    assert done.n == 2
    assert [place for place, _ in done.rejected] == [f"line {n}" for n in range(3, 12)]
    whys = ("demo-9", "dirct", "chain", "model", "text", "sample", "cost", "another prompt", "line 1 as well")
    for (_, why), word in zip(done.rejected, whys, strict=True):
        assert word in why
    assert done.kept is not None
    kept = [json.loads(line) for line in done.kept.read_text().splitlines()]
    assert [{k: v for k, v in row.items() if k not in ("place", "why")} for row in kept] == bad
    assert ig.load_responses(tmp_path / "c").height == 2


@pytest.mark.parametrize("content", ["", "{}", '{"case_id": "demo-1"}', "[1]", '{"a": ' + "[" * 500])
def test_a_file_that_is_none_is_refused(content: str, data: ig.Dataset, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(content)
    with pytest.raises(SchemaError, match=r"a\.jsonl"):
        import_answers(tmp_path / "a.jsonl", tmp_path / "c", data)
    assert not (tmp_path / "c").exists()


def test_a_folder_worked_through_by_hand_comes_back(data: ig.Dataset, tmp_path: Path) -> None:
    out = tmp_path / "todo"
    assert export_prompts(data, ["direct", "nl_self"], out) == 4
    prompt = (out / "direct" / "demo-1" / "prompt.md").read_text(encoding="utf-8")
    assert data["demo-1"].instruction in prompt
    picture = out / "direct" / "demo-1" / prompt.split("](", 1)[1].split(")", 1)[0]
    with Image.open(picture) as image:
        assert image.size == (640, 480)
    (out / "direct" / "demo-1" / "answer.md").write_text("One thing.\n", encoding="utf-8")
    rows = pl.read_csv(out / "answers.csv").to_dicts()
    for row in rows:
        row["model"] = "a person"
    with (out / "answers.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    done = import_answers(out, tmp_path / "c", data)
    assert (done.n, done.stated) == (1, {"checked": 1})
    assert ig.load_responses(tmp_path / "c")["text"].to_list() == ["One thing."]
    # Written again, nothing that was filled in is lost.
    export_prompts(data, ["direct", "nl_self"], out)
    assert (out / "direct" / "demo-1" / "answer.md").read_text(encoding="utf-8") == "One thing.\n"


def test_a_batch_file_holds_what_would_be_sent(data: ig.Dataset, tmp_path: Path) -> None:
    export_prompts(data, ["direct"], tmp_path / "b", form="batch", model="gpt-4o", params={"max_tokens": 9})
    lines = [json.loads(x) for x in (tmp_path / "b" / "batch.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [x["custom_id"] for x in lines] == ["demo-1.direct", "demo-2.direct"]
    body = lines[0]["body"]
    assert body["messages"] == ig.build_messages(data["demo-1"], "direct")
    assert (body["model"], body["max_tokens"]) == ("gpt-4o", 9)
    export_prompts(data, ["direct"], tmp_path / "j", form="jsonl")
    line = json.loads((tmp_path / "j" / "prompts.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert (tmp_path / "j" / line["images"][0]).is_file()
    assert "base64" not in json.dumps(line)


def test_verdicts_on_nodes_and_proposals_come_in(data: ig.Dataset, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    nodes = [{"region": "the price", "type": "Semantic", "update": "$70", "reason": "discount"}]
    text = json.dumps({"constraint_nodes": nodes})
    import_answers(
        write(tmp_path / "a.jsonl", [*answers(data), *answers(data, condition="icg_self", text=text)]),
        cache,
        data,
    )
    row = {
        "case_id": "demo-1",
        "condition": "direct",
        "node_id": "n1",
        "judge": "ann",
        "region": True,
        "update": "yes",
        "reason": True,
    }
    rows = [
        row,
        row | {"node_id": "n2", "reason": None},
        row | {"node_id": "n9"},
        row | {"judge": "bo", "update": "maybe"},
        row,
    ]
    done = import_verdicts(write(tmp_path / "v.jsonl", rows), cache, data)
    assert [place for place, _ in done.rejected] == ["line 3", "line 4", "line 5"]
    frame = ig.load_judgments(cache).sort("node_id")
    assert frame["found"].to_list() == [True, None]  # a mark that is missing is not false
    assert frame["status"].to_list() == ["ok", "incomplete"]
    item = {"case_id": "demo-1", "condition": "icg_self", "item": 0, "judge": "ann", "valid": False}
    done = import_verdicts(write(tmp_path / "p.jsonl", [item, item | {"item": 1}]), cache, data)
    assert (done.n, [p for p, _ in done.rejected]) == (1, ["line 2"])
    assert pl.read_parquet(cache / "precision.parquet")["valid"].to_list() == [False]


def test_the_commands(data: ig.Dataset, tmp_path: Path) -> None:
    run = CliRunner()
    folder, cache = str(data.folder), str(tmp_path / "c")
    done = run.invoke(
        app,
        ["export", "prompts", "--dataset", folder, "--conditions", "direct", "--out", str(tmp_path / "o")],
    )
    assert done.exit_code == 0, done.output
    assert "2 prompts" in done.output
    file = write(
        tmp_path / "a.jsonl",
        [*answers(data), {"case_id": "x", "condition": "direct", "model": "m", "text": "t"}],
    )
    done = run.invoke(app, ["import", "answers", str(file), "--cache", cache, "--dataset", folder])
    assert done.exit_code == 1, done.output
    assert "2 rows taken, 1 not" in done.output
    assert "line 3: unknown case" in done.output


@pytest.mark.skipif(not (SHARED / "answers").is_dir(), reason="the shared answers are not here")
def test_the_shipped_answers_are_the_shared_ones() -> None:
    """Word for word, but for answers to prompts that version 2.0 asks otherwise; no verdict on other words than it was given on."""
    source, shipped = SHARED / "answers" / "icg-teb", project_root() / "data" / "cache" / "icg-teb-mllm"
    key = ["case_id", "condition"]
    told = pl.read_ndjson(source / "answers.jsonl").select(*key, "text")
    kept = load_responses(shipped).select(*key, "text")
    assert kept.join(told, on=[*key, "text"], how="anti").is_empty()
    left = told.join(kept, on=key, how="anti")
    assert set(left.filter(pl.col("condition") != "oracle")["case_id"]) == {"teb-062"}, (
        "its instruction was mended"
    )
    assert kept.height == 700 - left.height
    marks = ["region", "update", "reason"]
    given = pl.read_ndjson(source / "verdicts.jsonl").select(*key, "node_id", "judge", *marks)
    made = load_judgments(shipped).filter(pl.col("found").is_not_null())
    verdicts = made.select(*key, "node_id", "judge", *marks)
    then = verdicts.filter(pl.col("judge") != LATER)
    assert then.height > 1500
    assert then.join(given, on=then.columns, how="anti", nulls_equal=True).is_empty()


LATER = "claude (interactive) 3"


def test_verdicts_given_later_stand_apart_and_fill_what_the_first_judge_left() -> None:
    key = ["case_id", "condition", "node_id"]
    made = load_judgments("icg-teb-mllm")
    first, later = (made.filter(judge=who) for who in ("claude (interactive) 1", LATER))
    left = first.filter(pl.col("found").is_null())
    assert left.height > 400
    assert left.join(later, on=key, how="anti").is_empty()
    both = first.join(later, on=key).filter(pl.col("found").is_not_null())
    assert both.height > 400
    assert (both["found"] == both["found_right"]).mean() > 0.95  # type: ignore[operator]
    counted = load_results("icg-teb-mllm")
    assert counted.judge == "claude (interactive) 1"
    assert set(counted.judgments["judge"]) == {counted.judge}


def test_the_card_says_what_the_later_verdicts_would_change() -> None:
    card = (project_root() / "data" / "cases" / "icg-teb" / "README.md").read_text(encoding="utf-8")
    key = ["case_id", "condition", "model", "sample", "node_id"]
    first, later = (load_results("icg-teb-mllm", judge=who).judgments for who in ("", LATER))
    filled = first.join(later.select(*key, later="found"), on=key, how="left")
    filled = filled.with_columns(found=pl.coalesce("found", "later"))
    rows = [
        {r["condition"]: r for r in recall(frame, by=["condition"], average=how, ci=None).to_dicts()}
        for frame in (first, filled)
        for how in ("macro", "micro")
    ]
    for condition in rows[0]:
        cells = []
        for macro, micro in (rows[:2], rows[2:]):
            m = micro[condition]
            cells += [f"{macro[condition]['estimate']:.3f}", f"{m['estimate']:.3f}"]
            cells += [f"{m['n_scored']} of {m['n_total']}"]
        assert f"| {condition} | {' | '.join(cells)} |" in card
