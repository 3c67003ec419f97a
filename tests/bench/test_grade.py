"""GRADE: files as they are in use, both relaxed scores, strict accuracy, pairs, judges, drawn diagrams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import icgkit as ig
from icgforge.baselines import reply
from icgforge.diagrams import tasks as drawn
from icgforge.diagrams.pen import EDITS, Drawn
from icgkit.bench.grade import scores as grade
from icgkit.bench.grade import tables as grade_tables
from icgkit.bench.grade.files import load_scores, load_tasks, yes_or_no
from icgkit.bench.grade.judge import Job, judge_samples, public_records, read_answer, write_scores
from icgkit.calls.cache import Cache
from icgkit.cases.dataset import load_published
from icgkit.errors import CacheMiss, SchemaError, UnknownName
from icgkit.files import project_root
from icgkit.metrics.mean import mean

DATA = project_root() / "data" / "bench" / "grade"


def task(
    name: str, kind: str = "overall", weights: tuple[Any, ...] = (0.5, 0.5), **more: Any
) -> dict[str, Any]:
    questions = [{"id": f"Q{i}", "question": f"point {i}", "score": w} for i, w in enumerate(weights)]
    return {
        "image_path": f"in/{name}.png", "editing_path": f"out/{name}.png", "gt": f"gt/{name}.png", "text": "do it",
        "task_id": name, "consistency": kind, "sub_task": "Sub", "questions": questions,
    } | more  # fmt: skip


def answers(
    name: str, *marks: Any, weights: tuple[float, ...] = (0.5, 0.5), score: Any = None
) -> dict[str, Any]:
    vqa = [
        {"question": f"point {i}", "answer": m, "reason": "", "id": name, "score": w}
        for i, (m, w) in enumerate(zip(marks, weights, strict=False))
    ]
    got = sum(w for m, w in zip(marks, weights, strict=False) if str(m).lower().startswith("yes"))
    return {"vqa": vqa, "score": got if score is None else score}


def final(name: str, score: Any) -> dict[str, Any]:
    return {"Final Score": score, "Reason": "", "task_id": name}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A result folder with everything that is found in such folders."""
    tasks = [
        task("eco_a_1"), task("math_a_1", "style"), task("engineering_1", "none"), task("board_1"),
        task("his_1"), task("music_1"), task("chemistry_1"), task("physics_1", weights=(0.33, 0.33, 0.33)),
    ]  # fmt: skip
    third = (0.33, 0.33, 0.33)
    files = {
        "result.json": tasks,
        "gemini_flash_eval_1.json": [
            answers("board_1", "Yes", "no"), answers("eco_a_1", "Yes", "Yes, it is"), answers("engineering_1", "Yes", "Yes"),
            answers("math_a_1", "Yes"), answers("his_1", "Yes", "Yes or No"), answers("music_1", "Yes", "Yes", score=0.5),
            answers("physics_1", "Yes", "Yes", "Yes", weights=third),
        ],
        "gemini_flash_consis_4.json": [
            final("physics_1", 2), final("his_1", 2), final("engineering_1", "none"), final("eco_a_1", "2"),
            final("math_a_1", 1), final("board_1", "none"), final("music_1", 3), final("chemistry_1", 0),
        ],
        "gemini_flash_read_4.json": [
            final("music_1", 2), final("eco_a_1", 2), final("engineering_1", "1"), final("math_a_1", "bad response"),
            final("board_1", 1.5), final("his_1", 2), final("chemistry_1", 2), final("chemistry_1", 1), final("physics_1", 2),
        ],
    }  # fmt: skip
    for name, content in files.items():
        text = json.dumps(content, indent=4, ensure_ascii=False)
        (tmp_path / name).write_bytes((b"\xef\xbb\xbf" if name == "result.json" else b"") + text.encode())
    return tmp_path


def row(samples: pl.DataFrame, name: str) -> dict[str, Any]:
    return samples.filter(task_id=name).row(0, named=True)


def test_scores_as_they_are_in_use(files: Path) -> None:
    got = load_scores(files, load_tasks(files / "result.json"), model="m")
    shown = (
        "reasoning",
        "reasoning_status",
        "consistency",
        "consistency_status",
        "readability",
        "readability_status",
    )
    want = {
        "eco_a_1": (1.0, "ok", 2.0, "ok", 2.0, "ok"),  # quoted score, words behind the yes
        "math_a_1": (None, "incomplete", 1.0, "ok", None, "failed"),  # one answer of two; failure text
        "engineering_1": (1.0, "ok", None, "none", 1.0, "ok"),
        "board_1": (0.5, "ok", None, "failed", None, "out_of_range"),  # "none" where a score was due; 1.5
        "his_1": (None, "incomplete", 2.0, "ok", 2.0, "ok"),  # "Yes or No" is no answer
        "music_1": (1.0, "ok", None, "out_of_range", 2.0, "ok"),
        "chemistry_1": (None, "missing", 0.0, "ok", None, "conflict"),
    }
    for name, values in want.items():
        assert tuple(row(got.samples, name)[c] for c in shown) == values, name
    assert got.samples["discipline"].to_list()[:4] == ["economics", "mathematics", "physics", "sports"]
    assert row(got.samples, "music_1")["stored"] == 0.5
    kinds = set(got.problems["kind"])
    assert {"stored score differs", "incomplete", "failed", "missing", "out_of_range", "conflict"} == kinds


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        ("Yes", True), ("no.", False), ("**Yes** - no other edge is red", True), ("No, yes would need a label", False),
        ("Yes or No", None), ("yes/no", None), ("Yesterday", None), ("maybe yes", None), (True, True), (1, None),
    ],
)  # fmt: skip
def test_answers_to_points(answer: Any, want: bool | None) -> None:
    assert yes_or_no(answer) is want


def test_answers_in_another_order_keep_their_weights(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps([task("eco_1", weights=(0.9, 0.1))]))
    record = answers("eco_1", "No", "Yes", weights=(0.9, 0.1))
    record["vqa"][0]["question"], record["vqa"][1]["question"] = "point 1", "point 0"
    for name, content in (("j_eval_1", [record]), ("j_consis_4", []), ("j_read_4", [])):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    got = load_scores(tmp_path, load_tasks(tmp_path / "t.json"))
    # The public scorer weighs by place and stores 0.1; the point that holds is the one of weight 0.9.
    assert got.samples.select("reasoning", "stored").row(0) == (0.9, 0.1)
    assert got.problems["kind"].to_list() == ["stored score differs", "missing", "missing"]


def test_order_of_the_files_does_not_matter(files: Path) -> None:
    tasks = load_tasks(files / "result.json")
    before = load_scores(files, tasks).samples
    for path in files.glob("gemini*.json"):
        path.write_text(json.dumps(json.loads(path.read_text())[::-1]))
    assert load_scores(files, tasks).samples.equals(before)
    assert set(load_scores(files).samples["task_id"]) == set(tasks["task_id"])  # without the task list


def test_single_files_read_like_the_merged_one(files: Path) -> None:
    tasks = load_tasks(files / "result.json").filter(pl.col("task_id") != "chemistry_1")  # has two records
    before = load_scores(files, tasks).samples
    for path in files.glob("gemini*.json"):
        (folder := files / path.stem).mkdir()
        for k, record in enumerate(json.loads(path.read_text())):
            (folder / f"{k}.json").write_text(json.dumps(record))
        path.unlink()
    assert load_scores(files, tasks).samples.equals(before)


def test_a_merged_file_older_than_its_folder_is_a_problem(files: Path) -> None:
    merged = next(p for p in files.glob("*_read_*.json"))
    records = json.loads(merged.read_text())
    (folder := files / merged.stem).mkdir()
    for k, record in enumerate(records):
        (folder / f"{k}.json").write_text(json.dumps(record))
    assert not load_scores(files).problems["kind"].str.contains("merged").any()
    (folder / "new.json").write_text(json.dumps({"task_id": "math_99", "Final Score": 2}))
    (folder / "0.json").write_text(json.dumps(records[0] | {"Final Score": "other"}))
    told = load_scores(files).problems.filter(pl.col("kind").str.contains("merged"))
    assert told.select("task_id", "kind").rows() == [
        (records[0]["task_id"], "another record in the folder than in the merged file"),
        ("math_99", "in the folder, not in the merged file"),
    ]


def test_what_the_files_must_not_lack(files: Path) -> None:
    (files / "gemini_flash_read_4.json").rename(files / "other.json")
    with pytest.raises(SchemaError, match=r"\*_read_\*\.json"):
        load_scores(files)
    (files / "result.json").write_text("{}")
    with pytest.raises(SchemaError, match="not a list of tasks"):
        load_tasks(files / "result.json")
    (files / "result.json").write_text(json.dumps([task("a_1"), task("a_1")]))
    with pytest.raises(SchemaError, match="task_id twice"):
        load_tasks(files / "result.json")


def test_faults_of_a_task_are_named(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(
        json.dumps(
            [
                task("a_1", "part"),
                task("a_2", weights=(0.5, 0.2)),
                task("a_3", weights=("0.5", 0.5)),
                task("a_4", weights=()),
            ]
        )
    )
    assert load_tasks(path)["status"].to_list() == [
        "consistency 'part'", "weights add up to 0.7", "ok", "no questions",
    ]  # fmt: skip


def samples(rows: list[tuple[Any, ...]], model: str = "m") -> pl.DataFrame:
    frame = pl.DataFrame(
        rows, orient="row",
        schema={"task_id": pl.String, "reasoning": pl.Float64, "consistency": pl.Float64, "readability": pl.Float64,
                "consistency_status": pl.String},
    )  # fmt: skip
    return frame.with_columns(model=pl.lit(model))


def public_scorer(rows: list[tuple[Any, ...]]) -> tuple[float, float, float]:
    """What sum.py prints: relaxed total over dimension means, mean of its per-sample scores, accuracy."""
    n = len(rows)
    r = sum(x[1] * 100 for x in rows) / n
    with_c = [x for x in rows if x[4] != "none"]
    c = sum(x[2] * 50 for x in with_c) / len(with_c)
    low = sum(x[3] * 50 for x in rows) / n
    single = [
        0.8 * x[1] * 100 + 0.2 * x[3] * 50
        if x[4] == "none"
        else 60 * x[1] + 0.3 * x[2] * 50 + 0.1 * x[3] * 50
        for x in rows
    ]
    passed = sum(x[1] > 0.99 and (x[4] == "none" or x[2] == 2) and x[3] == 2 for x in rows)
    return 0.6 * r + 0.3 * c + 0.1 * low, sum(single) / n, 100 * passed / n


def test_both_relaxed_scores_by_hand() -> None:
    # R 1, 0.5; C 2, none; L 2, 1. Set: 0.6*75 + 0.3*100 + 0.1*75 = 82.5. Samples: 100 and 80*0.5+20*0.5 = 50, mean 75.
    rows = [("a", 1.0, 2.0, 2.0, "ok"), ("b", 0.5, None, 1.0, "none")]
    got = grade.set_scores(samples(rows), ci=ig.Bootstrap(200))
    value = dict(got.select("measure", "estimate").iter_rows())
    assert value == pytest.approx(
        {
            "reasoning": 75,
            "consistency": 100,
            "readability": 75,
            "relaxed_set": 82.5,
            "relaxed_sample": 75,
            "strict": 50,
            "strict_public": 50,
        }
    )
    one = got.filter(measure="consistency").row(0, named=True)
    assert (one["n_scored"], one["n_missing"], one["n_not_asked"], one["n_total"]) == (1, 0, 1, 2)
    assert list(value) == list(grade.MEASURES)


SAMPLE = st.tuples(
    st.sampled_from([0.0, 0.33, 0.5, 1.0]),
    st.sampled_from([0.0, 1.0, 2.0]),
    st.sampled_from([0.0, 1.0, 2.0]),
    st.booleans(),
)


@settings(deadline=None, max_examples=30, derandomize=True)
@given(st.lists(SAMPLE, min_size=2, max_size=12))
def test_the_same_as_the_public_scorer(drawn_rows: list[tuple[float, float, float, bool]]) -> None:
    rows = [
        (f"t{i}", r, None if free and i else c, low, "none" if free and i else "ok")
        for i, (r, c, low, free) in enumerate(drawn_rows)
    ]
    got = grade.set_scores(samples(rows), ci=ig.Bootstrap(20))
    value = dict(got.select("measure", "estimate").iter_rows())
    assert (value["relaxed_set"], value["relaxed_sample"], value["strict"]) == pytest.approx(
        public_scorer(rows)
    )


def test_missing_is_never_false() -> None:
    rows = [("a", 1.0, 2.0, 2.0, "ok"), ("b", 1.0, None, 2.0, "failed"), ("c", None, 2.0, 2.0, "ok")]
    assert grade.add_scores(samples(rows))["strict"].to_list() == [True, None, None]
    got = grade.strict_accuracy(
        samples(rows).with_columns(reasoning_status=pl.Series(["ok", "ok", "missing"])), ci=ig.Bootstrap(50)
    )
    only = got.row(0, named=True)
    assert (only["estimate"], only["n_scored"], only["n_total"], only["n_missing"]) == (1.0, 1, 3, 2)
    assert only["public"] == 0.5  # one pass over two samples with a reasoning record
    with pytest.raises(SchemaError, match="missing column consistency_status"):
        grade.add_scores(samples(rows).drop("consistency_status"))


def test_weights_of_a_third_can_be_full(files: Path) -> None:
    got = grade.add_scores(load_scores(files, load_tasks(files / "result.json")).samples)
    physics = row(got, "physics_1")
    assert physics["reasoning"] == pytest.approx(0.99)
    assert physics["strict"]  # the public scorer asks for more than 0.99 and fails it
    both = grade.strict_accuracy(got.filter(task_id="physics_1"), ci=ig.Bootstrap(20)).row(0, named=True)
    assert (both["estimate"], both["public"]) == (1.0, 0.0)
    value = dict(
        grade.set_scores(got.filter(task_id="physics_1"), ci=ig.Bootstrap(20))
        .select("measure", "estimate")
        .iter_rows()
    )
    assert (value["strict"], value["strict_public"]) == (100, 0)  # the second is what the paper prints


def test_pairs_of_instructions_by_hand() -> None:
    # Strict: implicit F F F T, explicit T T F T; task d lacks the explicit side: b = 0, c = 2, exact p = 2 * 1/4 = 0.5.
    full, half = (1.0, 2.0, 2.0, "ok"), (0.5, 2.0, 2.0, "ok")
    before = samples([("a", *half), ("b", *half), ("c", *half), ("d", *full), ("e", *full)])
    after = samples([("a", *full), ("b", *full), ("c", *half), ("d", None, 2.0, 2.0, "ok"), ("e", *full)])
    both = pl.concat(
        [
            before.with_columns(instruction=pl.lit("implicit")),
            after.with_columns(instruction=pl.lit("explicit")),
        ]
    )
    got = grade.compare_instructions(both, ci=ig.Bootstrap(200))
    strict = got.filter(measure="strict").row(0, named=True)
    assert (strict["n_pairs"], strict["n_missing"], strict["estimate"], strict["p_value"]) == (
        4,
        1,
        50.0,
        0.5,
    )
    reasoning = got.filter(measure="reasoning").row(0, named=True)
    # Differences 50, 50, 0, 0: mean 25; of the 4 sign patterns of two differences 2 are as extreme.
    assert (reasoning["estimate"], reasoning["mean_reference"], reasoning["mean_target"]) == (
        25.0,
        62.5,
        87.5,
    )
    assert reasoning["p_value"] == 0.5
    assert reasoning["low"] <= 25 <= reasoning["high"]
    with pytest.raises(UnknownName, match="did you mean 'explicit'"):
        grade.compare_instructions(both, target="explict")


def test_judge_against_five_experts_by_hand() -> None:
    # Readability: experts' means 2, 1 (of 0..2), judge 1, 1: errors on 0..1 are -0.5 and 0. MAE 0.25,
    # signed sd = 0.5 / sqrt 2 = 0.3536, sd of absolute errors the same.
    experts = pl.DataFrame(
        [(t, f"e{k}", 1.0, 2.0, r) for t, r in (("a", 2.0), ("b", 1.0)) for k in range(5)],
        schema=["task_id", "expert", "reasoning", "consistency", "readability"], orient="row",
    )  # fmt: skip
    judged = pl.DataFrame(
        {
            "task_id": ["a", "b"],
            "reasoning": [0.5, None],
            "consistency": [2.0, 2.0],
            "readability": [1.0, 1.0],
        },
        schema_overrides={"reasoning": pl.Float64},
    )
    got = {r["dimension"]: r for r in grade.judge_error(judged, experts).iter_rows(named=True)}
    low = got["readability"]
    assert (low["mae"], low["bias"], low["n"], low["n_experts"]) == (0.25, -0.25, 2, "5 to 5")
    assert low["sd"] == pytest.approx(0.353553, abs=1e-6)
    assert (got["reasoning"]["mae"], got["reasoning"]["n"], got["reasoning"]["n_missing"]) == (0.5, 1, 1)


def test_leaderboard_keeps_both_values_and_flags_them() -> None:
    board = grade_tables.leaderboard()
    two = board.filter(model="FLUX.2 dev")
    assert two["consistency"].to_list() == [17.6, 56.4]
    assert two["strict_accuracy"].to_list() == [0.2, 2.1]
    assert all("both kept" in f and "17.6" in f for f in two["flag"])
    assert board["flag"].count() == 2
    # The only relaxed score that is printed is the one over dimension means.
    printed = load_published("grade").filter(id="relaxed")["relaxed"][0]
    pro = board.filter(model="Nano Banana Pro")["relaxed_set"][0]
    assert round(pro, 1) == printed == 82.9


def test_means_of_a_degenerate_cell() -> None:
    frame = pl.DataFrame(
        {"m": ["a", "a", "b"], "t": ["x", "y", "x"], "v": [1.0, 1.0, None]},
        schema_overrides={"v": pl.Float64},
    )
    got = mean(frame, ["v"], by=["m"], ci=ig.Bootstrap(50, cluster="t"))
    assert got["status"].to_list() == [
        "constant over clusters: no interval",
        "nothing scored: every value is missing",
    ]
    assert got["estimate"].to_list() == [1.0, None]


# -- judges ---------------------------------------------------------------------------------


def judge_one(folder: Path, edit: str, tasks: list[Drawn], cache: Cache) -> dict[str, list[dict[str, Any]]]:
    return drawn.judge_edits(tasks, folder, cache=cache, edits=[edit])[edit].records


def test_judging_is_recorded_replayed_and_read_back(tmp_path: Path) -> None:
    tasks = drawn.draw_tasks(1)[:1] + drawn.draw_tasks(1)[4:5]
    drawn.write_pictures(tasks, tmp_path, ["solved", "over"])
    cache = Cache(tmp_path / "cache")
    made = judge_one(tmp_path, "over", tasks, cache)
    cache.close()
    replay = Cache(tmp_path / "cache", mode="replay")
    assert judge_one(tmp_path, "over", tasks, replay) == made
    with pytest.raises(CacheMiss):
        judge_one(tmp_path, "solved", tasks, replay)
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(drawn.records(tasks, edit="over")))
    todo = load_tasks(path)
    again = judge_samples(
        todo, "offline/pixels", root=tmp_path, cache=replay, dataset="grade-drawn", show_reference=True
    )
    assert again.records == made
    write_scores(again, tmp_path / "m", name="gemini_flash")
    got = load_scores(tmp_path / "m", todo)
    # A bar that was not to change stands higher: the last point fails, consistency is 1. The view has no consistency.
    assert got.samples.select("reasoning", "consistency", "readability", "consistency_status").rows() == [
        (0.7, 1.0, 2.0, "ok"), (pytest.approx(0.99), None, 2.0, "none"),
    ]  # fmt: skip
    assert got.problems.is_empty()
    with pytest.raises(SchemaError, match="no editing_path"):
        judge_samples(
            todo.with_columns(editing_path=pl.lit(None)), "offline/pixels", root=tmp_path, cache=replay
        )


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('{"score": "2"}', (2, "ok")), ('{"score": 3}', (None, "out_of_range")), ('{"score": 1.5}', (None, "out_of_range")),
        ('{"score": null}', (None, "unreadable")), ("", (None, "empty")),
    ],
)  # fmt: skip
def test_scores_of_judges_are_read_strictly(text: str, want: tuple[Any, str]) -> None:
    assert read_answer(Job({}, "readability", "grade_readability"), text) == want


def test_points_without_an_answer_are_no_no(tmp_path: Path) -> None:
    job = Job(task("a_1") | {"kind": "none"}, "reasoning", "grade_reasoning")
    answer, status = read_answer(
        job, '{"verdicts": [{"id": "Q0", "met": "Yes"}, {"id": "Q1", "met": "perhaps"}]}'
    )
    assert (answer, status) == ({"Q0": True, "Q1": None}, "incomplete")
    written = public_records([job], [answer])
    assert [v["answer"] for v in written["reasoning"][0]["vqa"]] == ["Yes"]
    assert written["consistency"] == [{"Final Score": "none", "task_id": "a_1"}]
    assert (
        public_records([Job(task("a_1"), "readability", "")], [None])["readability"][0]["Final Score"]
        == "bad response"
    )


def test_without_a_reference_the_pixel_judge_says_nothing() -> None:
    picture = {"type": "image_url", "image_url": {"url": _url(drawn.draw_tasks(1)[0].pictures["solved"])}}
    said = reply(
        "offline/pixels", [{"role": "user", "content": [picture, picture, {"type": "text", "text": "{}"}]}]
    )
    assert json.loads(said)["score"] is None


def _url(picture: Any) -> str:
    import base64
    import io

    picture.save(stream := io.BytesIO(), "PNG")
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()


# -- the drawn set --------------------------------------------------------------------------


def test_drawn_tasks_are_sound(tmp_path: Path) -> None:
    tasks = drawn.draw_tasks(2)
    (tmp_path / "data.json").write_text(json.dumps(drawn.records(tasks)))
    got = load_tasks(tmp_path / "data.json")
    assert set(got["status"]) == {"ok"}
    assert set(got["discipline"]) >= {
        "mathematics",
        "geography",
        "music",
        "computer science",
        "physics",
        "chemistry",
    }
    assert set(got["kind"]) == {"overall", "style", "none"}
    for one in tasks:
        assert all(one.pictures[e].tobytes() != one.pictures["solved"].tobytes() for e in EDITS[1:]), (
            one.task_id
        )
        assert one.pictures["no_op"].tobytes() == one.pictures["original"].tobytes()
        assert {len(m) for m in one.met.values()} == {len(one.points)}
    again = drawn.draw_tasks(2)
    assert [t.pictures["solved"].tobytes() for t in again] == [t.pictures["solved"].tobytes() for t in tasks]


def test_the_stored_set_is_what_its_script_draws() -> None:
    stored = json.loads((DATA / "data.json").read_text())
    assert stored == drawn.records(drawn.draw_tasks())
    held = drawn.truth(drawn.draw_tasks()).select(
        "task_id", "edit", "reasoning", "consistency", "readability"
    )
    names = {
        "reasoning_true": "reasoning",
        "consistency_true": "consistency",
        "readability_true": "readability",
    }
    told = drawn.load_edits().select("task_id", "edit", *names).rename(names)
    both = held.join(told, on=["task_id", "edit"], suffix="_b")
    assert both.height == held.height
    for name in names.values():
        apart = (pl.col(name) - pl.col(f"{name}_b")).abs() > 1e-9
        assert both.filter(apart | (pl.col(name).is_null() ^ pl.col(f"{name}_b").is_null())).is_empty()


def test_the_pixel_judge_on_what_it_can_know() -> None:
    edits = drawn.load_edits()
    for name, least in (("reasoning", 0.95), ("consistency", 0.95), ("readability", 1.0)):
        both = edits.filter(pl.col(name).is_not_null() & pl.col(f"{name}_true").is_not_null())
        same = both.select(((pl.col(name) - pl.col(f"{name}_true")).abs() < 1e-6).mean()).item()
        assert same >= least, (name, same)
    whole = edits.filter(pl.col("edit").is_in(["solved", "jpeg", "resized"]))
    assert whole.select(pl.col("reasoning").min()).item() > 0.98
    assert set(whole["consistency"].drop_nulls()) == {2.0}


def test_editors_of_the_stored_set() -> None:
    got = grade.set_scores(drawn.load_drawn(), by=["model", "instruction"], ci=ig.Bootstrap(50))
    strict = {
        (m, i): e
        for m, i, e in got.filter(measure="strict").select("model", "instruction", "estimate").iter_rows()
    }
    assert strict["editor/solver", "implicit"] == 100
    assert strict["editor/no-op", "implicit"] == 0
    assert strict["editor/literal", "explicit"] == 100
    assert got["n_total"].unique().to_list() == [18]
    with pytest.raises(SchemaError, match="no drawn set"):
        drawn.load_drawn(DATA / "implicit")


# -- tables ---------------------------------------------------------------------------------------


def test_printed_strict_accuracies_as_counts() -> None:
    samples = drawn.load_drawn().filter(instruction="implicit")
    board = grade_tables.board_beside(grade.set_scores(samples, ci=ig.Bootstrap(20)))
    printed = dict(board.filter(~pl.col("programmed")).select("model", "count").iter_rows())
    # 291 / 520 = 55.96; 24.7 % lies between 128 / 520 = 24.62 and 129 / 520 = 24.81.
    assert (printed["GPT-Image-2"], printed["Seedream 5.0"]) == ("291 of 520", "no k of 520")
    assert printed["Step-1x (think)"] == "no k of 520"
    exact = board.filter(model="OmniGen").row(0, named=True)
    # None of 520: the upper end is 1 - 0.025^(1/520).
    assert (exact["k"], exact["k_low"], exact["k_high"]) == (
        0,
        0,
        pytest.approx(100 * (1 - 0.025 ** (1 / 520))),
    )
    ours = board.filter(pl.col("model").str.starts_with("editor/"))
    assert ours["programmed"].all()
    assert set(ours["where"]) == {"programmed, drawn set"}
    assert ours["strict_public"].null_count() == 0


def test_what_is_programmed_is_not_tested() -> None:
    compared = grade.compare_instructions(drawn.load_drawn(), ci=ig.Bootstrap(20))
    table = grade_tables.ablation_beside(compared)
    assert not {"p_value", "low", "high"} & set(table.columns)
    told = {r["model"]: r for r in table.filter(measure="strict").iter_rows(named=True)}
    # 65.7 % of 68: 44 / 68 = 64.7, 45 / 68 = 66.2, so one sample at least is missing.
    assert told["Nano Banana 2"]["count_implicit"] == "24 of 68"
    assert told["Nano Banana 2"]["count_explicit"] == "no k of 68"
    assert told["editor/literal"]["programmed"]


def test_judges_of_models_and_of_drawings_stand_apart() -> None:
    edits = drawn.load_edits()
    errors = grade.judge_error(edits, drawn.truth(drawn.draw_tasks()), on=["task_id", "edit"])
    assert set(grade_tables.judges_table(errors)["where"]) == {"programmed, drawn set"}
    assert set(grade_tables.judges_table()["where"]) == {"GRADE Table 4"}
