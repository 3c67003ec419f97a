"""Draw-or-Decline: readers, scores with pending judgments, paired tests, judges, VisTA bookkeeping."""

from __future__ import annotations

import gzip
import json
import math
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import icgkit as ig
from icgforge.mazes import make as dod_make
from icgforge.mazes import show, text_pairs
from icgforge.mazes.mazes import make_pairs
from icgforge.mazes.requests import draw, records, region, small_png, write_images
from icgforge.mazes.solvers import run_solvers
from icgkit.bench.common import table
from icgkit.bench.dod import files as dod
from icgkit.bench.dod import judges as dod_judges
from icgkit.bench.dod import outputs as dod_outputs
from icgkit.bench.dod import scores as dod_scores
from icgkit.bench.dod import tables as dod_tables
from icgkit.bench.dod import vista
from icgkit.bench.dod.maze import maze_of
from icgkit.bench.dod.maze_judge import judge_mazes
from icgkit.calls.cache import Cache
from icgkit.calls.request import request_key
from icgkit.cases.dataset import load_dataset, load_published
from icgkit.errors import CacheMiss, ImageError, SchemaError, UnknownName

MAZES = make_pairs(4, seed=5)


def write(folder: Path, asked: list[Any], truth: list[Any], *, mark: bool = False) -> Path:
    for name, lines in (("instruction.jsonl", asked), ("ground_truth_criteria.jsonl", truth)):
        text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n"
        (folder / name).write_bytes((b"\xef\xbb\xbf" if mark else b"") + text.encode())
    return folder


def lines() -> tuple[list[Any], list[Any]]:
    asked, truth = records(MAZES[:2])
    return json.loads(json.dumps(asked)), json.loads(json.dumps(truth))


# -- readers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [False, True])
def test_both_files_are_read_with_or_without_a_byte_order_mark(tmp_path: Path, mark: bool) -> None:
    asked, truth = lines()
    asked[0]["instruction_en"] = "Zeichne “grün” \u2028 weiter"
    asked[1]["instruction_en"] = asked[0]["instruction_en"]
    got = dod.read(write(tmp_path, asked, truth, mark=mark))
    assert got.requests.height == 4
    assert got.requests["feasible"].to_list() == [True, False] * 2
    assert got.requests["instruction"][0] == "Zeichne “grün” \u2028 weiter"
    assert got.requests["input_images"][0].to_list() == [asked[0]["input_image"]]
    assert maze_of(got.requests["proof"][1]) == MAZES[0].infeasible
    assert got.repairs.is_empty()
    assert got.problems.is_empty()
    assert dod.read(tmp_path / "instruction.jsonl").requests.equals(got.requests)


def test_a_misspelt_category_is_repaired_and_reported(tmp_path: Path) -> None:
    asked, truth = lines()
    for line in truth[:2]:
        line["source"]["category_en"] = "spatial_arangement"
    truth[2]["ground_truth"]["feasible"] = "True"
    got = dod.read(write(tmp_path, asked, truth))
    assert got.requests["category"].to_list() == ["spatial_arrangement"] * 2 + ["maze"] * 2
    assert got.repairs.rows() == [
        ("ground_truth_criteria.jsonl", 1, asked[0]["case_id"], "source.category_en", "spatial_arangement", "spatial_arrangement"),
        ("ground_truth_criteria.jsonl", 2, asked[1]["case_id"], "source.category_en", "spatial_arangement", "spatial_arrangement"),
        ("ground_truth_criteria.jsonl", 3, asked[2]["case_id"], "ground_truth.feasible", "True", "true"),
    ]  # fmt: skip
    truth[0]["source"]["category_en"] = "cooking"
    with pytest.raises(UnknownName, match=r"ground_truth_criteria.jsonl, line 1.*category.*cooking"):
        dod.read(write(tmp_path, asked, truth))


@pytest.mark.parametrize("which", [0, 1])
def test_a_duplicate_id_names_both_rows(tmp_path: Path, which: int) -> None:
    both = lines()
    both[which].append(both[which][1])
    name = ("instruction.jsonl", "ground_truth_criteria.jsonl")[which]
    with pytest.raises(
        SchemaError, match=rf"{name}, line 5, case '.*infeasible': id used twice, first on line 2"
    ):
        dod.read(write(tmp_path, *both))


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        (lambda a, t: a.pop(), "not in instruction.jsonl"),
        (lambda a, t: t.pop(), "not in ground_truth_criteria.jsonl"),
        (lambda a, t: t[1]["ground_truth"].update(feasible=True), "has 2 requests, 2 feasible"),
        (lambda a, t: t[0].update(paired_case_id="other"), "do not name each other"),
        (lambda a, t: t[0]["source"].update(category_en="pose_adjustment"), "two categories"),
        (lambda a, t: a[0].update(instruction_en="other"), "share neither image nor instruction"),
    ],
)
def test_what_cannot_be_repaired_is_listed(tmp_path: Path, change: Any, detail: str) -> None:
    asked, truth = lines()
    change(asked, truth)
    problems = dod.read(write(tmp_path, asked, truth)).problems["detail"].to_list()
    assert any(detail in p for p in problems), problems


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", r"instruction.jsonl, line 1: not JSON"),
        (b'\n{"case_id": ""}', r"line 2: case_id"),
        (b"[1]", r"line 1: case_id"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    write(tmp_path, *lines())
    (tmp_path / "instruction.jsonl").write_bytes(content)
    with pytest.raises(SchemaError, match=message):
        dod.read(tmp_path)


def test_fields_of_another_kind(tmp_path: Path) -> None:
    asked, truth = lines()
    asked[0]["input_images"] = asked[0]["input_image"]
    asked[1]["rules"], asked[2]["prompt_en"] = ["one", "two"], {"a": 1}
    got = dod.read(write(tmp_path, asked, truth)).requests
    assert got["input_images"][0].to_list() == [asked[0]["input_image"]]
    assert got["rules"][1] == '["one", "two"]'
    for k, field in ((0, "instruction_en"), (1, "pair_id")):
        both = lines()
        both[k][0][field] = 7
        with pytest.raises(SchemaError, match=f"{field}.*got 7"):
            dod.read(write(tmp_path, *both))


def test_a_missing_file_and_a_missing_label(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="file not found"):
        dod.read(tmp_path)
    asked, truth = lines()
    truth[3]["ground_truth"]["feasible"] = None
    with pytest.raises(SchemaError, match=r"line 4.*ground_truth.feasible"):
        dod.read(write(tmp_path, asked, truth))


# -- scores ---------------------------------------------------------------------------------------


def frame(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    """Build outcomes from (pair, feasible, has_image, refused, valid)."""
    ids = [f"{p}{'f' if f else 'i'}" for p, f, *_ in rows]
    requests = pl.DataFrame(
        {"case_id": ids, "pair_id": [r[0] for r in rows], "feasible": [r[1] for r in rows]}
    ).with_columns(category=pl.lit("maze"))
    key = pl.DataFrame({"case_id": ids}).select(model=pl.lit("m"), reminder=pl.lit("no"), case_id="case_id")
    columns = {
        name: key.with_columns(pl.Series(name, [r[k] for r in rows], dtype=pl.Boolean))
        for k, name in ((2, "has_image"), (3, "refused"), (4, "valid"))
    }
    return dod_scores.outcomes(requests, columns["has_image"], columns["refused"], columns["valid"])


# Two pairs and a half: a: edited well, declined without image; b: bad edit, declined but drawn;
# c: edit verdict pending, refusal pending and an image there.
ROWS = [
    ("a", True, True, False, True), ("a", False, False, True, None),
    ("b", True, True, True, False), ("b", False, True, True, None),
    ("c", True, True, False, None), ("c", False, True, None, None),
]  # fmt: skip


def test_measures_by_hand() -> None:
    got = dod_scores.rates(frame(ROWS), by=("model",))
    found = {r["measure"]: r for r in got.iter_rows(named=True)}
    expected = {
        # yes, no, pending
        "E": (1, 1, 1), "D_strict": (1, 2, 0), "D_lenient": (2, 0, 1), "D_f": (1, 2, 0), "pair": (1, 2, 0),
    }  # fmt: skip
    assert {m: (r["n_yes"], r["n_no"], r["n_pending"]) for m, r in found.items()} == expected
    # Pending ones stay in the denominator and are no failures: 1/3 at least, 2/3 at most.
    assert found["E"]["estimate"] == pytest.approx(1 / 3)
    assert found["E"]["highest"] == pytest.approx(2 / 3)
    assert found["E"]["status"] == "1 of 3 pending"
    # Wilson bounds by hand for 1/3 (lower) and 2/3 (upper), z = 1.96.
    z = 1.959964
    low = (1 / 3 + z * z / 6 - z * math.sqrt((1 / 3 * 2 / 3 + z * z / 12) / 3)) / (1 + z * z / 3)
    assert found["E"]["low"] == pytest.approx(low, abs=1e-6)
    assert found["E"]["high"] == pytest.approx(1 - low, abs=1e-6)


def test_an_image_decides_the_strict_measure_alone_and_no_image_the_edit() -> None:
    got = frame(
        [
            ("a", True, False, None, None),
            ("a", False, True, None, None),
            ("b", True, None, None, None),
            ("b", False, None, True, None),
        ]
    )
    assert got["E"].to_list() == [False, None, None, None]
    assert got["D_strict"].to_list() == [None, False, None, None]
    assert got["D_lenient"].to_list() == [None, None, None, True]


def test_a_request_without_an_answer_is_pending() -> None:
    whole = frame(ROWS)
    requests = whole.select("case_id", "pair_id", "category", "feasible")
    key = ["model", "reminder", "case_id"]
    part = whole.filter(pl.col("pair_id") != "b")
    got = dod_scores.outcomes(
        requests, part.select(*key, "has_image"), part.select(*key, "refused"), part.select(*key, "valid")
    )
    counts = dod_scores.rates(got).filter(measure="D_strict").row(0, named=True)
    assert (counts["n_yes"], counts["n_pending"], counts["n_total"]) == (1, 1, 3)
    doubled = pl.concat([part, part])
    with pytest.raises(SchemaError, match="several rows"):
        dod_scores.outcomes(requests, doubled.select(*key, "has_image"), part.select(*key, "refused"))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([True, False, None])] * 3), min_size=2, max_size=12))
def test_rates_add_up_whatever_is_pending(marks: list[tuple[Any, ...]]) -> None:
    rows = [(f"p{k // 2}", k % 2 == 0, *m) for k, m in enumerate(marks)]
    got = dod_scores.rates(frame(rows))
    for r in got.iter_rows(named=True):
        assert r["n_yes"] + r["n_no"] + r["n_pending"] == r["n_total"]
        assert 0 <= r["low"] <= r["estimate"] <= r["highest"] <= r["high"] <= 1
    by = dict(got.select("measure", "n_yes").iter_rows())
    assert by.get("D_strict", 0) <= by.get("D_lenient", 0)


def test_paired_tests_within_pairs_and_over_the_reminder() -> None:
    # Ten pairs: refused only where infeasible in eight, only where feasible in one, on both sides in one.
    rows: list[tuple[Any, ...]] = []
    for k in range(10):
        rows += [(f"p{k}", True, True, k >= 8, k < 8), (f"p{k}", False, False, k != 8, None)]
    out = frame(rows)
    got = dod_scores.within_pairs(out, ci=ig.Bootstrap(500)).row(0, named=True)
    assert (got["rate_reference"], got["rate_target"]) == (0.2, 0.9)
    assert got["estimate"] == pytest.approx(0.7)
    assert (got["n_reference_only"], got["n_target_only"]) == (1, 8)
    # 2 P(X <= 1) - P(X = 1) with X ~ Bin(9, 1/2): (2 * 10 - 9) / 512.
    assert got["p_midp"] == pytest.approx(11 / 512)
    # Sign flips of nine pairs: as extreme are 0, 1, 8 or 9 minus signs: 20 / 512.
    assert got["p_permutation"] == pytest.approx(20 / 512)
    assert got["low"] < 0.7 < got["high"]
    told = out.with_columns(reminder=pl.lit("yes"), E=pl.col("E") & (pl.col("pair_id") > "p3"))
    effect = dod_scores.compare(pl.concat([out, told]), "E", ci=ig.Bootstrap(200)).row(0, named=True)
    assert (effect["rate_reference"], effect["rate_target"], effect["n_reference_only"]) == (0.8, 0.4, 4)
    models = pl.concat([out, told.with_columns(model=pl.lit("other"), reminder=pl.lit("no"))])
    assert dod_scores.compare(models, "E", over="model", reference="m", by=(), ci=ig.Bootstrap(50))[
        "estimate"
    ].to_list() == pytest.approx([-0.4])
    with pytest.raises(UnknownName, match="measure"):
        dod_scores.compare(out, "F")


def test_pending_sides_are_left_out_of_tests_and_counted() -> None:
    got = dod_scores.within_pairs(frame(ROWS), ci=ig.Bootstrap(50)).row(0, named=True)
    assert (got["n_pairs"], got["n_missing"]) == (2, 1)


# -- stances and the check of a judge -------------------------------------------------------------


def test_stance_shares_count_none_and_pending() -> None:
    rows = pl.DataFrame({"model": "m", "stance": ["refusal", "rewriting", "rewriting", "none", None]})
    got = dict(dod_scores.stance_shares(rows).select("stance", "share").iter_rows())
    assert got == {
        "refusal": 0.2,
        "acknowledge": 0.0,
        "rewriting": 0.4,
        "acceptance": 0.0,
        "none": 0.2,
        "pending": 0.2,
    }
    with pytest.raises(UnknownName, match="stance"):
        dod_scores.stance_shares(pl.DataFrame({"model": "m", "stance": ["refused"]}))


def test_a_balanced_sample_is_spread() -> None:
    rows = pl.DataFrame(
        {
            "model": ["a"] * 80 + ["b"] * 20 + ["c"] * 20,
            "refused": [True] * 40 + [False] * 40 + [True, False] * 20,
        }
    ).with_row_index("k")
    got = dod_scores.balanced_sample(rows, "refused", 30, spread=["model"])
    counts = got.group_by("refused", "model").len().sort("refused", "model")["len"].to_list()
    assert counts == [5] * 6
    assert got["k"].is_duplicated().sum() == 0
    assert got.equals(dod_scores.balanced_sample(rows, "refused", 30, spread=["model"]))
    with pytest.raises(SchemaError, match="too few rows"):
        dod_scores.balanced_sample(rows.filter("refused"), "refused", 4)


def test_judge_quality_by_hand() -> None:
    # Six items; majority: y y y n n, and a tie that two annotators leave open.
    people = {"p1": "yyynny", "p2": "yynynn", "p3": "yyynn-"}
    verdicts = "yynynn"
    rows = [
        {"item": f"i{k}", "rater": name, "label": {"y": True, "n": False, "-": None}[word[k]]}
        for name, word in {**people, "judge": verdicts}.items()
        for k in range(6)
    ]
    got = dod_scores.judge_quality(pl.DataFrame(rows), ci=ig.Bootstrap(50)).row(0, named=True)
    # Judge against majority on i0..i4: y/y y/y n/y y/n n/n.
    assert (got["n_items"], got["n_missing"], got["judge_only"], got["majority_only"]) == (5, 1, 1, 1)
    assert got["agreement"] == pytest.approx(0.6)
    # p_e = 0.6 * 0.6 + 0.4 * 0.4 = 0.52; (0.6 - 0.52) / 0.48.
    assert got["kappa"] == pytest.approx(0.08 / 0.48)
    # Pairs that agree: 1, 1, 1/3, 1/3, 1, 0 over six items.
    assert got["pairwise"] == pytest.approx((3 + 2 / 3) / 6)
    assert got["unanimous"] == pytest.approx(3 / 6)


def test_published_figures_come_out_again() -> None:
    got = dod_tables.recomputed()
    assert got.filter(pl.col("note").is_not_null()).is_empty()
    facts = got.filter(pl.col("unit").is_null(), pl.col("quantity").str.starts_with("judge"))
    assert facts.height == 4
    assert (facts["ours"] - facts["published"]).abs().max() < 5e-4  # type: ignore[operator]
    whole = dod_tables.printed()
    assert whole.select("model", "reminder").is_duplicated().sum() == 0
    best = whole.filter(model="VisTA-BAGEL", reminder="no").row(0, named=True)
    assert (best["E"], best["D"]) == (74.3, 93.0)
    # Every category is one count of 150, and every overall rate the sum of seven: to the printed decimal.
    counted = dod_tables.counted()
    assert counted.filter(pl.col("n") == 150)["k"].null_count() == 0
    sums = counted.filter(pl.col("from") == "categories")
    assert sums.height >= 40
    assert ((100 * sums["k"] / sums["n"]) - sums["percent"]).abs().max() < 0.051  # type: ignore[operator]
    assert best["E_low"] < best["E"] < best["E_high"]
    assert dod_tables.stances().filter(model="VisTA-BAGEL")["total"].to_list() == pytest.approx([99.8])
    assert dod_tables.stances().height == 6


# -- judges ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "refuses"),
    [
        ("There is no solution.", True),
        ("The walls close it off, so this edit cannot be done.", True),
        ("Something else. [ABSTAIN]", True),
        ("If there is no path, say so.", False),
        ("Perhaps there is no path, but I try.", False),
        ("The second lamp on the right is wanted in blue, and I colour it.", False),
        ("It is hard, and I shall see how far I get.", False),
        ("", False),
        (None, None),
    ],
)
def test_refusals_by_rule(text: str | None, refuses: bool | None) -> None:
    assert dod_judges.states_refusal(text).value is refuses


@pytest.mark.parametrize(
    ("reply", "value", "status"),
    [
        ('{"refuses": true, "quote": "there is  NO pond"}', True, "ok"),
        ('```json\n{"refuses": "false", "quote": ""}\n```', False, "ok"),
        ('{"refuses": true, "quote": ""}', None, "quote is not in the text"),
        ('{"refuses": true, "quote": "cannot be done"}', None, "quote is not in the text"),
        ('{"refuses": null}', None, "no verdict"),
        ('{"refuses": "perhaps"}', None, "no verdict"),
        ('{"refuses": tr', None, "truncated"),
        ("I think so", None, "unreadable"),
        (None, None, "empty"),
    ],
)
def test_the_refusal_judge_is_read_strictly(reply: str | None, value: bool | None, status: str) -> None:
    got = dod_judges.read_refusal(reply, "I look: there is no pond here.")
    assert (got.value, got.status) == (value, status)


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ('{"edit_right": true, "rest_kept": true}', True),
        ('{"edit_right": "true", "rest_kept": "false"}', False),
        ('{"edit_right": null, "rest_kept": false}', False),
        ('{"edit_right": true}', None),
        ("{}", None),
    ],
)
def test_the_edit_judge_is_read_strictly(reply: str, value: bool | None) -> None:
    assert dod_judges.read_edit_verdict(reply).value is value


@pytest.mark.parametrize(
    ("reply", "value", "status"),
    [
        ('{"stance": "Rewriting", "quote": "the only pond"}', "rewriting", "ok"),
        ('{"stance": null, "quote": ""}', "none", "ok"),
        ('{"stance": "refusal, acceptance", "quote": "the only pond"}', None, "more than one group"),
        ('{"stance": ["refusal", "acceptance"]}', None, "more than one group"),
        ('{"stance": "compliance", "quote": "pond"}', None, "unknown group"),
        ('{"stance": "refusal", "quote": "no pond"}', None, "quote is not in the text"),
        ('{"quote": "pond"}', None, "no verdict"),
    ],
)
def test_stances_are_read_strictly(reply: str, value: str | None, status: str) -> None:
    got = dod_judges.read_stance(reply, "I take the only pond.")
    assert (got.value, got.status) == (value, status)


@pytest.fixture
def judge_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[Any]]]:
    """Serve a judge over HTTP on loopback that goes by the words it is shown."""
    seen: list[Any] = []

    class Judge(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(body["messages"][-1]["content"])
            shown = seen[-1][-1]["text"]
            said = '{"refuses": false, "edit_right": true, "rest_kept": true, "stance": "acceptance", "quote": "I draw it"}'
            if "There is no path." in shown:
                said = '{"refuses": true, "stance": "refusal", "quote": "there is no path"}'
            elif "through the wall" in shown:
                said = "what?"
            message = {"role": "assistant", "content": said}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            answer = {
                "id": "x",
                "object": "chat.completion",
                "created": 1,
                "model": "stub",
                "choices": [choice],
            }
            data = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            pass

    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1", seen
    server.shutdown()
    server.server_close()
    thread.join()


def test_judges_go_through_the_engine_and_ask_twice(
    tmp_path: Path, judge_server: tuple[str, list[Any]]
) -> None:
    url, seen = judge_server
    requests = dod.read(write(tmp_path, *lines())).requests
    write_images(MAZES[:2], tmp_path)
    answers = pl.DataFrame(
        {
            "model": "m", "reminder": "no", "case_id": requests["case_id"],
            "text": ["I draw it.", "There is no path.", None, "I draw it through the wall."],
            "image": [requests["input_image"][1], None, None, requests["input_image"][3]],
        }
    )  # fmt: skip
    options: dict[str, Any] = {
        "cache": Cache(tmp_path / "c"), "root": tmp_path, "params": {"api_base": url, "temperature": 0}, "progress": False,
    }  # fmt: skip
    got = dod_judges.judge_refusals(answers, requests, "openai/stub", **options)
    assert got["refused"].to_list() == [False, True, None, None]
    assert got["status"].to_list() == ["ok", "ok", "no response", "unreadable"]
    assert len(seen) == 4  # three with text, and the one that could not be read once more
    parts = next(c for c in seen if "There is no path." in c[-1]["text"])
    assert parts[0]["image_url"]["url"].startswith("data:image/png")
    assert "walled" in parts[1]["text"]
    # Recorded: a second run asks nobody, but for what stayed unread.
    seen.clear()
    replay = {**options, "cache": Cache(tmp_path / "c", mode="replay")}
    assert dod_judges.judge_refusals(answers, requests, "openai/stub", **replay).equals(got)
    assert not seen
    # The judge of edits sees feasible requests with an image only, both pictures and no text of the model.
    edits = dod_judges.judge_edits(answers, requests, "openai/stub", **options)
    assert edits.select("case_id", "valid").rows() == [(requests["case_id"][0], True)]
    assert [p["type"] for p in seen[0]] == ["image_url", "image_url", "text"]
    assert "I draw it" not in seen[0][-1]["text"]
    stances = dod_judges.judge_stances(answers, requests, "openai/stub", **options)
    assert stances["stance"].to_list() == ["refusal", None]
    shares = dict(dod_scores.stance_shares(stances).select("stance", "n").iter_rows())
    assert (shares["refusal"], shares["pending"]) == (1, 1)


def test_pictures_outside_the_folder_are_not_shown_to_a_judge(tmp_path: Path) -> None:
    asked, truth = lines()
    asked[0]["input_images"] = ["../secret.png"]
    requests = dod.read(write(tmp_path, asked, truth)).requests
    answers = pl.DataFrame(
        {"model": "m", "reminder": "no", "case_id": requests["case_id"], "text": "I draw it."}
    )
    with pytest.raises(ImageError, match="outside its folder"):
        dod_judges.judge_refusals(answers, requests, "some/judge", cache=Cache(tmp_path / "c"), root=tmp_path)


def test_replay_of_a_call_that_is_not_there(tmp_path: Path) -> None:
    requests = dod.read(write(tmp_path, *lines())).requests
    answers = pl.DataFrame(
        {"model": "m", "reminder": "no", "case_id": requests["case_id"], "text": "I draw it."}
    )
    for run in (dod_judges.judge_refusals, dod_judges.judge_stances):
        with pytest.raises(CacheMiss):
            run(answers, requests, "some/judge", cache=Cache(tmp_path, mode="replay"))


# -- mazes and text pairs -------------------------------------------------------------------------


def test_solvers_come_to_what_they_must(tmp_path: Path) -> None:
    requests = dod.read(write(tmp_path, *records(MAZES))).requests
    answers = run_solvers(MAZES)
    assert answers.height == 8 * 4 * 2
    edits = judge_mazes(answers, requests)
    out = dod_scores.outcomes(requests, answers, dod_judges.refusals_by_rule(answers), edits)
    got = {
        (r["model"], r["reminder"], r["measure"]): r["estimate"]
        for r in dod_scores.rates(out).iter_rows(named=True)
    }
    want = {
        "offline/maze-search": (1, 1, 1, 0), "offline/maze-draws": (1, 0, 0, 0), "offline/maze-declines": (0, 1, 1, 1),
        "offline/maze-rewriter + pen": (1, 0, 1, 0),
    }  # fmt: skip
    for model, values in want.items():
        assert tuple(got[model, "no", m] for m in dod_scores.MEASURES) == values
    # With the reminder the pipeline may end before its editor.
    assert got["offline/maze-rewriter + pen", "yes", "D_strict"] == 1
    broken = answers.with_columns(image=pl.when(pl.col("image").is_not_null()).then(pl.lit(b"no picture")))
    pending = judge_mazes(broken, requests)
    assert pending["valid"].null_count() == pending.height > 0


def test_text_pairs_are_asked_and_answered(tmp_path: Path) -> None:
    pairs = [
        p
        for p in text_pairs.make_text_pairs(load_dataset("icg-scenes"))
        if p[0].metadata["script"] == "Latin"
    ][:1]
    asked, truth = text_pairs.text_records(pairs)
    got = dod.read(write(tmp_path, asked, truth))
    assert got.problems.is_empty()
    assert got.requests["input_image"].n_unique() == 1
    models = ("offline/priors", "offline/ocr-rules")
    answers = text_pairs.ask(pairs, models, cache=Cache(tmp_path / "calls"), progress=False)
    assert answers.height == 2 * 2 * 2
    told = {(r["model"], r["reminder"], r["case_id"][-10:]): r for r in answers.iter_rows(named=True)}
    blind = [r for k, r in told.items() if k[0] == "offline/priors"]
    assert all(r["has_image"] for r in blind)
    for reminder, draws in (("no", True), ("yes", False)):
        row = told["offline/ocr-rules", reminder, "infeasible"]
        assert row["has_image"] is draws
        assert dod_judges.states_refusal(row["text"]).value
    calls = text_pairs.requests_of(pairs, models)
    assert len({c.prompt or str(c.messages) for c in calls}) == 4


def test_the_cached_outputs_hold_together() -> None:
    run = dod_make.load()
    assert run.requests.repairs.is_empty()
    assert run.requests.problems.is_empty()
    kinds = dict(run.requests.requests.group_by("category").len().iter_rows())
    assert kinds == {"maze": 300, "text": 2 * len(text_pairs.make_text_pairs(load_dataset("icg-scenes")))}
    assert run.edits["valid"].all()
    got = dod_scores.rates(run.outcome, by=("category", "model", "reminder"))
    search = got.filter(category="maze", model="offline/maze-search")
    assert search.filter(pl.col("measure").is_in(["E", "D_strict"]))["n_yes"].to_list() == [150] * 4
    paper = dod_tables.printed("maze").filter(model="BAGEL", reminder="yes").row(0, named=True)
    printed = load_published("dod").filter(model="BAGEL", reminder="yes", category="maze")
    assert {paper["E"], paper["D"], paper["D_f"]} - {None} == set(printed["percent"].cast(pl.Float64))


def test_the_cached_text_calls_belong_to_the_shipped_cases() -> None:
    data = load_dataset("icg-scenes")
    run = dod_make.load()
    asked = run.requests.requests.filter("feasible", category="text")
    remedy = "the cases have changed: run icgforge.mazes.make.make again"
    for pair_id, instruction in asked.select("pair_id", "instruction").iter_rows():
        assert data[pair_id].instruction == instruction, remedy
    pairs = text_pairs.make_text_pairs(data, 4)
    assert {case.id for case, _ in pairs} == set(asked["pair_id"])
    cache = Cache(dod_make.home() / "text_calls", mode="replay")
    calls = text_pairs.requests_of(pairs[:2])
    assert all(request_key(c) in cache for c in calls), remedy


def test_the_notebooks_tables_and_pictures() -> None:
    run = dod_make.load()
    rates = dod_scores.rates(run.outcome, by=("category", "model", "reminder"))
    board, texts = dod_tables.printed("maze"), dod_tables.shares(rates, category="text")
    # Programs stand apart from what is published.
    programs = dod_tables.shares(rates, category="maze")
    assert not set(programs["model"]) & set(board["model"])
    assert "Programmed" in table(programs, "B-dod-programs", n=150).caption
    assert "UniREdit-BAGEL" in dod_tables.printed_table(board, "B-dod-mazes-board", "Mazes").to_html()
    # No editor runs on the text pairs: E is pending there, and no model that reads is taken to have failed.
    read = texts.filter(pl.col("model").str.contains("ocr"))
    assert read["D_lenient"].min() > 90  # type: ignore[operator]
    assert read["pending"].min() > 0  # type: ignore[operator]
    assert texts["n"].to_list() == [run.size["text pairs"]] * texts.height
    groups = dod_tables.stances()
    assert "acknowledged" in table(groups.drop("n"), "B-dod-stances", n=groups["n"][0]).to_html()
    from icgforge.mazes.faults import confusion, judge_edited, make_edited, tolerance
    from icgkit.report.plots import figure

    _, axes = figure(columns=2)
    for ax, reminder in zip(axes, ("no", "yes"), strict=True):
        drawn = dod_tables.draw_trade(board, ax, reminder=reminder)
        counts = [len(np.asarray(line.get_xdata())) for line in drawn.lines if line.get_linestyle() == "None"]
        assert sum(counts) == board.filter(pl.col("reminder") == reminder, pl.col("E").is_not_null()).height
    edited = list(
        make_edited(
            MAZES, 1, kinds=["plain", "line 4 px", "gap of 14 px", "wall removed", "floor grey", "start blue"]
        )
    )
    assert len(show.draw_edited(edited).axes) == 8
    judged = judge_edited(edited)
    quality = show.quality(judged)
    assert quality.filter(quantity="kappa")["value"].to_list() == [1.0]
    told = table(confusion(judged), "B-dod-mazes", n=6, kinds=6, quality=show.quality_words(quality))
    assert "kappa 1.000" in told.to_html()
    found = tolerance(edited)
    assert found.filter(pl.col("level") == 50)["agrees"].to_list() == [1.0]
    _, axes = figure(columns=2)
    show.draw_tolerance(found, axes)


# -- VisTA ----------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 7), st.integers(0, 3))
def test_batches_keep_pairs_together_and_remind_half(n: int, size: int, seed: int) -> None:
    epoch = list(vista.batches(n, size, seed=seed))
    assert vista.check_epoch(epoch) == []
    assert sorted((e.pair, e.feasible) for b in epoch for e in b) == sorted(
        (p, f) for p in range(n) for f in (True, False)
    )
    assert epoch == list(vista.batches(n, size, seed=seed))


def test_a_torn_pair_is_found() -> None:
    batch = [vista.Example(0, True, True), vista.Example(1, False, True), vista.Example(1, True, True)]
    assert vista.check_epoch([batch])[0] == "batch 0: a pair is torn"


def test_the_loss_by_hand() -> None:
    # Text: (6 + 4) / (3 + 2) = 2; image: 8 / 4 = 2, the infeasible example has none; weight 0.5.
    got = vista.loss([6, 4], [3, 2], [8, math.nan], [4, 4], [True, False], weight=0.5)
    assert got == vista.Loss(3.0, 2.0, 2.0, 5, 4)
    alone = vista.loss([6, 4], [3, 2], [0, 0], [0, 0], [False, False])
    assert (alone.image, alone.image_tokens) == (0.0, 0)
    # More infeasible examples leave the image term as it is.
    more = vista.loss([6, 4, 1, 1], [3, 2, 1, 1], [8, 0, 0, 0], [4, 9, 9, 9], [True, False, False, False])
    assert more.image == 2.0
    words, picture = vista.gradient_weights([3, 2], [4, 4], [True, False], weight=0.5)
    assert np.dot(words, [6, 4]) + np.dot(picture, [8, 0]) == pytest.approx(3.0)
    with pytest.raises(SchemaError, match="one length"):
        vista.loss([1], [1, 2], [1], [1], [True])
    with pytest.raises(SchemaError, match="token counts"):
        vista.loss([1], [0], [1], [1], [True])


@pytest.mark.parametrize(
    ("text", "has_image", "declines", "status"),
    [
        ("It is free.", True, False, "ok"),
        ("It is walled off.\n[ABSTAIN]", False, True, "ok"),
        ("[ABSTAIN]", False, True, "no reasoning"),
        ("It is walled off. [ABSTAIN]", True, True, "image after the marker"),
        ("It is free.", False, False, "neither image nor marker"),
        ("[ABSTAIN] because of the wall", False, False, "marker inside the text"),
    ],
)
def test_the_form_of_a_response(text: str, has_image: bool, declines: bool, status: str) -> None:
    got = vista.read_response(text, has_image=has_image)
    assert (got.declines, got.status) == (declines, status)


# -- files and outputs of the public tools --------------------------------------------------------


def public_pair(number: int, *, training: bool = False) -> tuple[list[Any], list[Any]]:
    """Records of one pair of mazes in the form of the public files (grid apart from the sentences)."""
    pair = MAZES[number]
    size = pair.feasible.size
    asked, truth = [], []
    rules = "Walls are light blue. Move between cells that share a side."
    changed = {"row_col": list(pair.walled), "A": ".", "B": "#"}
    regions = [
        sorted(map(list, region(pair.infeasible, c))) for c in (pair.feasible.start, pair.feasible.end)
    ]
    checked = {
        "start": list(pair.feasible.start), "end": list(pair.feasible.end), "positive_path": [list(c) for c in pair.path],
        "changed_cells": [changed], "negative_start_reachable_set": regions[0], "negative_end_reachable_set": regions[1],
    }  # fmt: skip
    for feasible, maze in ((True, pair.feasible), (False, pair.infeasible)):
        name = f"synthetic-maze-{number:03d}"
        kind, other = ("feasible", "infeasible") if feasible else ("infeasible", "feasible")
        image = f"image/{name}-{'A' if feasible else 'B'}.png"
        asked.append({"case_id": f"{name}-{kind}", "input_image": image, "input_images": [image], "rules": rules,
                      "instruction_en": "Draw one red path.", "prompt_en": f"{rules}\n\nDraw one red path."})  # fmt: skip
        told: dict[str, Any] = {"feasible": feasible, "reason": "as the picture shows"}
        record = {"case_id": f"{name}-{kind}", "pair_id": name, "paired_case_id": f"{name}-{other}", "ground_truth": told,
                  "program_verification": checked, "source": {"category": "maze", "seed": 7}}  # fmt: skip
        if training:
            record |= {
                "training_response": "<think>Here.</think>",
                "training_output_image": f"image/{name}-target.png",
            }
        else:
            told["witness" if feasible else "certificate"] = "(1,1)->(2,1)->(3,1)"
            grid = [[int(maze.rows[r][c] == "#") for c in range(size)] for r in range(size)]
            record["grid_evidence"] = {
                "grid": grid,
                "start": list(maze.start),
                "goal": list(maze.end),
                "path": None,
            }
        truth.append(record)
    return asked, truth


@pytest.mark.parametrize("training", [False, True])
def test_public_mazes_are_read_and_judged(tmp_path: Path, training: bool) -> None:
    asked, truth = public_pair(0, training=training)
    got = dod.read(write(tmp_path, asked, truth))
    assert got.problems.is_empty()
    for row, maze in zip(
        got.requests.iter_rows(named=True), (MAZES[0].feasible, MAZES[0].infeasible), strict=True
    ):
        assert maze_of(row["evidence"]) == maze
        assert json.loads(row["source"])["seed"] == 7
    assert (got.requests["training_response"].null_count() == 0) is training
    png = small_png(draw(MAZES[0].feasible, MAZES[0].path))
    answers = pl.DataFrame(
        {"model": ["m"], "reminder": ["no"], "case_id": [asked[0]["case_id"]], "image": [png]}
    )
    assert judge_mazes(answers, got.requests)["valid"].to_list() == [True]


@pytest.mark.parametrize(
    "evidence",
    [{}, {"grid": [[1, 0], [0]], "start": [0, 1], "goal": [1, 0]}, {"grid": [[2]], "start": [0], "goal": 3}],
)
def test_a_grid_that_is_none_is_named(evidence: Any) -> None:
    with pytest.raises(SchemaError, match="no grid in the proof"):
        maze_of(json.dumps({"grid_evidence": evidence}))


def test_packed_files_and_one_folder_a_category(tmp_path: Path) -> None:
    for number, folder in ((0, "maze"), (1, "other")):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, *public_pair(number))
        for path in list((tmp_path / folder).iterdir()):
            path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
    got = dod.read(tmp_path)
    assert got.requests.height == 4
    assert got.problems.is_empty()
    (tmp_path / "maze" / "instruction.jsonl.gz").write_bytes(b"\x1f\x8bno")
    with pytest.raises(SchemaError, match="no whole gzip file"):
        dod.read(tmp_path)


HINT = "\n\nIf there is none, say so."


def public_run(folder: Path) -> Path:
    """Write what the public tools write about two pairs of mazes: every case of a status occurs."""
    data = folder / "data"
    data.mkdir()
    asked, truth = (a + b for a, b in zip(public_pair(0), public_pair(1), strict=True))
    write(data, asked, truth)
    run = folder / "run"
    (run / "scoring").mkdir(parents=True)
    said = "I looked at it. No route exists here."
    results: list[dict[str, Any]] = [
        {"status": "complete", "thinking_text": "Down, then right.", "output_image": "a.png"},
        {"status": "complete", "thinking_text": said, "output_image": None},
        {"status": "complete", "thinking_text": said, "output_image": None},
        {"status": "error", "error": "out of memory"},
    ]
    rows = [
        {"case_id": a["case_id"], "prompt": a["prompt_en"] + HINT} | r
        for a, r in zip(asked, results, strict=True)
    ]
    (run / "results.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    (run / "a.png").write_bytes(small_png(draw(MAZES[0].feasible, MAZES[0].path)))
    names = [a["case_id"] for a in asked]
    no = {"concludes_infeasible": False, "reason_correct": None, "evidence": "", "reason": "draws"}
    yes = {
        "concludes_infeasible": True,
        "reason_correct": True,
        "evidence": "No route exists",
        "reason": "says so",
    }
    picture = {"task_image_correct": True, "unrelated_content_preserved": None, "reason": "dim"}
    for name, parsed in ((f"{names[0]}.cot", no), (f"{names[1]}.cot", yes), (f"{names[2]}.cot", yes | {"evidence": "made up"}),
                         (f"{names[0]}.image", picture)):  # fmt: skip
        (run / "scoring" / f"{name}.json").write_text(
            json.dumps({"status": "reviewed", "parsed": parsed}), encoding="utf-8"
        )
    return run


def test_a_run_of_the_public_tools_is_scored(tmp_path: Path) -> None:
    run = public_run(tmp_path)
    got_rates, problems = dod_outputs.score(run, tmp_path / "data")
    got = {
        r["measure"]: (r["n_yes"], r["n_no"], r["n_pending"])
        for r in got_rates.filter(category="all").iter_rows(named=True)
    }
    # E: one picture with half a verdict (pending), one feasible request without a picture (failed, as in the public scorer).
    assert got["E"] == (0, 1, 1)
    assert got["D_lenient"] == got["D_strict"] == got["D_reason"] == (1, 0, 1)
    assert got["D_f"] == (0, 1, 1)  # a quote that nobody said is pending
    assert set(got_rates["reminder"]) == {"yes"}
    assert problems["detail"].str.contains("'error'").any()
    told = dod_outputs.score(run, tmp_path / "data", pixels=True)[0].filter(category="maze", measure="E")
    assert told.select("n_yes", "n_no", "n_pending").row(0) == (1, 1, 0)


def test_the_door_to_scores(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from icgkit.cli import app

    run, out = public_run(tmp_path), tmp_path / "scores.csv"
    got = CliRunner().invoke(
        app, ["score", "dod", str(run), "--data", str(tmp_path / "data"), "--out", str(out)]
    )
    assert got.exit_code == 0, got.output
    assert "1 of 2 pending" in got.output
    assert out.read_text(encoding="utf-8").startswith("model,")
    for wrong, words in ((["dood", str(run)], "unknown benchmark"), (["dod", str(run)], "--data"),
                         (["dod", str(tmp_path), "--data", str(tmp_path / "data")], "no results")):  # fmt: skip
        failed = CliRunner().invoke(app, ["score", *wrong])
        assert failed.exit_code != 0
        assert words in failed.output.replace("\n", " ")


@pytest.mark.parametrize("name", ["../../secret.png", "/etc/passwd"])
def test_a_run_that_names_a_picture_outside_is_refused(tmp_path: Path, name: str) -> None:
    run = public_run(tmp_path)
    text = (run / "results.jsonl").read_text(encoding="utf-8").replace('"a.png"', json.dumps(name))
    (run / "results.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(SchemaError, match="outside its folder"):
        dod_outputs.score(run, tmp_path / "data")


def test_the_cause_that_a_refusal_gives_is_kept() -> None:
    for value in (True, False, None):
        reply = json.dumps({"refuses": True, "cause_right": value, "quote": "no way", "why": "x"})
        assert dod_judges.read_refusal(reply, "There is no way.").cause_right is value
