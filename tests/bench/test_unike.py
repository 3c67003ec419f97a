"""UniKE: data file and its rules, strict verdicts, scores and cascade by hand, edit mathematics by hand."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import icgkit as ig
from icgforge.memory import edit
from icgforge.memory import toy as unike_toy
from icgkit.bench.unike import files as unike
from icgkit.bench.unike import outputs, scores, tables
from icgkit.cases.dataset import load_published
from icgkit.errors import SchemaError, UnknownName
from icgkit.files import project_root

DATA = project_root() / "data" / "bench" / "unike"


@pytest.fixture
def lemon() -> dict[str, Any]:
    return copy.deepcopy(unike_toy.records()[0])


def read(path: Path, *records: Any) -> unike.Edits:
    path.write_text(json.dumps(records))
    return unike.load_edits(path)


# -- the data file ----------------------------------------------------------------------------


def test_the_small_file_keeps_every_rule(tmp_path: Path) -> None:
    got = read(tmp_path / "a.json", *unike_toy.records())
    assert got.problems.is_empty()
    assert (got.instances["edit_id"].n_unique(), got.instances.height) == (19, 52)
    found = unike.check_rules(got.instances)
    assert found.filter(severity="breach").is_empty()
    # A comparison of sizes has to show both objects: noted, not counted as a breach.
    assert set(found["rule"]) == {"image_value"}
    assert {c for _, c in got.instances.select("source", "category").unique().iter_rows()} == {
        c for kind in unike.FAMILY_CATEGORIES.values() for c in kind
    }


@pytest.mark.parametrize(
    ("stage", "field", "text", "rule"),
    [
        (1, "prompt", "What is the color of the lemon?", "statement"),
        (1, "prompt", "The color of the lemon is purple, that is", "prompt_value"),
        (2, "image_prompt", "A yellow lemon on a table.", "image_value"),
        (2, "image_prompt", "A lemon in its Purple bowl.", "image_value"),
        (3, "image_prompt", "A photo of this lemon.", "pronoun"),
        (3, "prompt", "The color of that lemon is", "pronoun"),
        (1, "vqa_question", "Is the lemon yellow?", "vqa_value"),
        (2, "vqa_question", "What color does the fruit have?", "vqa_subject"),
        (1, "prompt", "The color of the fruit is", "subject"),
        (1, "gt_target", "Yellow", "same_value"),
        (1, "visual_target", "The lemon must be a lemon.", "tautology"),
    ],
)
def test_each_rule_finds_its_breach(
    tmp_path: Path, lemon: dict[str, Any], stage: int, field: str, text: str, rule: str
) -> None:
    lemon[f"stage_{stage}"][field] = text
    found = unike.check_rules(read(tmp_path / "a.json", lemon).instances)
    hits = found.filter(rule=rule, severity="breach")
    assert hits["instance_id"].to_list() == [f"e00000.s{stage}"]


def test_words_within_words_are_no_breach(tmp_path: Path, lemon: dict[str, Any]) -> None:
    lemon["stage_1"]["image_prompt"] = "A lemon on a purplish cloth that is folded, with items beside."
    assert unike.check_rules(read(tmp_path / "a.json", lemon).instances).is_empty()


def test_relation_edits_follow_their_own_examples(tmp_path: Path) -> None:
    record = copy.deepcopy(unike_toy.records()[-1])
    record["stage_1"]["image_prompt"] = "A photo of Ines Okafor at her job"
    record["stage_1"]["vqa_question"] = "What does Ines Okafor do?"
    found = unike.check_rules(read(tmp_path / "a.json", record).instances)
    assert dict(found.select("rule", "severity").iter_rows()) == {"pronoun": "note", "vqa_subject": "breach"}


def test_what_is_not_of_the_form_is_listed(tmp_path: Path, lemon: dict[str, Any]) -> None:
    del lemon["stage_2"]["gt"]
    lemon |= {"stage_3": None, "stage_5": lemon["stage_1"]}
    odd = {**lemon, "category": "smell", "stage_1": {}, "stage_2": None, "stage_5": None}
    got = read(tmp_path / "a.json", lemon, odd, {"subject": "x", "source": "other"}, {"source": "relation"})
    assert got.instances["instance_id"].to_list() == ["e00000.s1", "e00000.s4", "e00001.s4"]
    assert got.problems.select("place", "kind").rows() == [
        ("e00000.s2", "missing field"), ("e00000.stage_5", "unexpected stage"), ("e00001", "unknown category"),
        ("e00001.stage_5", "unexpected stage"), ("e00001", "no stage 1"), ("e00002", "unknown source"),
        ("e00003", "no subject"),
    ]  # fmt: skip
    (tmp_path / "b.json").write_text("{}")
    with pytest.raises(SchemaError, match="not a list of records"):
        unike.load_edits(tmp_path / "b.json")


def test_a_source_in_capitals_and_a_template_are_read(tmp_path: Path, lemon: dict[str, Any]) -> None:
    lemon |= {"source": " Attribute "}
    lemon["stage_1"]["prompt"] = "The color of the {} is"
    got = read(tmp_path / "a.json", lemon)
    assert got.problems.is_empty()
    assert got.instances["prompt"][0] == "The color of the lemon is"
    assert unike.check_rules(got.instances).is_empty()


# -- a run of the public tools --------------------------------------------------------------------


def public_run(root: Path) -> tuple[Path, Path]:
    """One attribute edit (case 0) and one relation edit (case 1), as the public tools write them."""
    records = [unike_toy.records()[0], unike_toy.records()[-1]]
    data, run = root / "UniKE.json", root / "results" / "Model" / "PMET" / "run_000"
    data.write_text(json.dumps(records))

    def put(name: str, content: Any) -> None:
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_text(json.dumps(content))

    efficacy = ({"stage_1": True, "stage_2": False, "stage_3": False, "stage_4": False}, {"stage_1": True})
    for case, (record, marks) in enumerate(zip(records, efficacy, strict=True)):
        post = {"source": record["source"], "category": record["category"], "stage_efficacy": marks}
        put(f"edit_case/2_edits-case_{case}.json", {"case_id": case, "num_edits": 2, "post": post})
    texts = (["normally yellow, now purple", "a purple lemon", "yellow", "yellow"], ["She is a diver."])
    found = ([True, True, False, False], [True])
    listed = [
        {"case_id": case, "source": r["source"], "stages": {
            f"stage_{k}": {"reasoning_output": text, "contains_target": mark}
            for k, (text, mark) in enumerate(zip(texts[case], found[case], strict=True), 1)
        }}
        for case, r in enumerate(records)
    ]  # fmt: skip
    put("reasoning/reasoning_0_2.json", listed)

    def vqa(reply: str, mark: bool) -> dict[str, Any]:
        return {"vqa": {"vqa_correct": mark, "raw_response": reply, "parse_success": True}}

    lemon_stages = {
        "stage_1": vqa('{"matches_target": "false"}', True),
        "stage_2": vqa('{"matches_target": true}', True),
        "stage_3": {"vqa": {"vqa_correct": False, "error": "image_not_found"}},
        "stage_4": vqa('{"matches_target": false}', False),
    }
    diver = {"stage_1": vqa('{"matches_target": true}', True)}
    results = [{"case_id": k, "stages": s} for k, s in enumerate((lemon_stages, diver))]
    put("results/vqa_results.json", {"summary": {}, "results": results, "vqa_index": {}})
    return run, data


def test_a_run_of_the_public_tools_is_scored(tmp_path: Path) -> None:
    run, data = public_run(tmp_path)
    table, problems = outputs.score(run, data)
    rows = {(r["family"], r["measure"]): r for r in table.iter_rows(named=True)}
    assert set(table["model"]) == {"Model"}
    assert set(table["editor"]) == {"PMET"}
    # Stage 1: efficacy 2 of 2. The first rationale names yellow first: right by the public rule, not by ours.
    assert rows["overall", "efficacy"]["public"] == 100
    assert (rows["attribute", "reasoning"]["estimate"], rows["attribute", "reasoning"]["public"]) == (0, 100)
    # "false" in quotes: true for the public tools, false here.
    assert (rows["overall", "vqa"]["estimate"], rows["overall", "vqa"]["public"]) == (50, 100)
    kinds = dict(problems.select("place", "kind").iter_rows())
    assert kinds["e00000.s3, reasoning_augmented"] == "no VQA"
    assert kinds["e00000.s1, reasoning_augmented"] == "VQA mark differs from the reply"
    every = outputs.score(run, data, rule="stages")[0].filter(family="attribute", measure="vqa")
    assert (every["n_scored"][0], every["n_missing"][0]) == (3, 1)


def test_what_a_run_must_not_lack(tmp_path: Path) -> None:
    run, data = public_run(tmp_path)
    with pytest.raises(SchemaError, match="no results of UniKE"):
        outputs.score(tmp_path, data)
    other = json.loads((run / "edit_case" / "2_edits-case_0.json").read_text()) | {"num_edits": 9}
    (run / "edit_case" / "9_edits-case_0.json").write_text(json.dumps(other))
    with pytest.raises(SchemaError, match="case_id twice"):
        outputs.score(run, data)


# -- verdicts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "matches", "status"),
    [
        ('{"matches_target": true, "confidence": "HIGH"}', True, "ok"),
        ('{"matches_target": "false"}', False, "ok"),
        ('```json\n{"matches_target": "True"}\n```', True, "ok"),
        ('[{"matches_target": false}]', False, "ok"),
        ('{"matches_target": 1}', None, "incomplete"),
        ('{"matches_target": "partly"}', None, "incomplete"),
        ('{"matches_target": null}', None, "incomplete"),
        ('{"observation": "matches_target: true"}', None, "incomplete"),
        ('{"matches_target": true, "matches_target": false}', None, "conflict"),
        ('{"matches_target": tr', None, "truncated"),
        ("It matches.", None, "unreadable"),
        ("", None, "empty"),
        (None, None, "empty"),
    ],
)
def test_only_plain_verdicts_count(text: str | None, matches: bool | None, status: str) -> None:
    got = unike.read_verdict(text)
    assert (got.matches, got.status) == (matches, status)


@given(st.text(max_size=60))
@settings(deadline=None, max_examples=50, derandomize=True)
def test_no_reply_becomes_a_verdict_by_accident(text: str) -> None:
    got = unike.read_verdict(text)
    assert (got.matches is None) == (got.status != "ok")


def test_confidence_is_one_of_three_words() -> None:
    assert unike.read_verdict('{"matches_target": true, "confidence": "certain"}').confidence is None
    assert unike.read_verdict('{"matches_target": true, "confidence": " Low "}').confidence == "low"


# -- scores ---------------------------------------------------------------------------------------


def outcomes(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    """(edit, stage, source, efficacy, reasoning, vqa) for one model, editor and protocol."""
    kinds = {"edit_id": pl.String, "stage": pl.Int64, "source": pl.String}
    kinds |= dict.fromkeys(scores.STEPS, pl.Boolean)
    frame = pl.DataFrame(rows, schema=kinds, orient="row")
    return frame.with_columns(
        instance_id=pl.format("{}.s{}", "edit_id", "stage"), category=pl.lit("color"), model=pl.lit("m"),
        editor=pl.lit("e"), protocol=pl.lit("reasoning_augmented"),
    )  # fmt: skip


T, F, N = True, False, None
ROWS = [
    ("a", 1, "attribute", T, T, T), ("a", 2, "attribute", F, T, F), ("b", 1, "attribute", T, F, N),
    ("b", 2, "attribute", F, F, F), ("c", 1, "relation", T, T, F), ("d", 1, "relation", T, F, F),
]  # fmt: skip


def test_families_and_overall_by_hand() -> None:
    # Published: stage 1 only. Efficacy of a, b, c, d is 1: 100 everywhere, though stage 2 of a and b is wrong.
    # VQA: a 1, b missing, c 0, d 0: attribute 100 (of 1), relation 0, overall 1 of 3.
    got = scores.family_scores(outcomes(ROWS), ci=ig.Bootstrap(100))
    value = {(f, m): e for f, m, e in got.select("family", "measure", "estimate").iter_rows()}
    assert [value[f, "efficacy"] for f in ("attribute", "relation", "overall")] == [100, 100, 100]
    assert [value[f, "vqa"] for f in ("attribute", "relation", "overall")] == [100, 0, pytest.approx(100 / 3)]
    # Reasoning: attribute 1 of 2, relation 1 of 2.
    assert value["overall", "reasoning"] == 50
    vqa = got.filter(family="attribute", measure="vqa").row(0, named=True)
    assert (vqa["n_scored"], vqa["n_total"], vqa["n_missing"], vqa["n_edits"]) == (1, 2, 1, 1)


def test_overall_is_weighted_by_counts() -> None:
    # One attribute edit right, three relation edits wrong: 25, not the mean of the families (50).
    rows = [("a", 1, "attribute", T, N, N), *((x, 1, "relation", F, N, N) for x in "bcd")]
    got = scores.family_scores(outcomes(rows), ci=ig.Bootstrap(50)).filter(
        measure="efficacy", family="overall"
    )
    assert got["estimate"].to_list() == [25]


def test_other_rules_by_name() -> None:
    # All stages: a 1/2, b 1/2, c 1, d 1: attribute 50, relation 100, overall 75 over edits.
    got = scores.family_scores(outcomes(ROWS), rule="stages", ci=ig.Bootstrap(50))
    value = {(f, m): e for f, m, e in got.select("family", "measure", "estimate").iter_rows()}
    assert (value["attribute", "efficacy"], value["relation", "efficacy"]) == (50, 100)
    assert (value["overall", "efficacy"], value["overall", "vqa"]) == (75, 12.5)
    # Any stage, VQA: a right, b missing (one stage unknown, the other wrong), c and d wrong: 1 of 3.
    some = scores.scores(outcomes(ROWS), rule="any_stage", ci=ig.Bootstrap(50)).filter(measure="vqa")
    assert (some["estimate"][0], some["n_scored"][0], some["n_missing"][0]) == (pytest.approx(100 / 3), 3, 1)
    with pytest.raises(UnknownName, match="rule"):
        scores.scores(outcomes(ROWS), rule="macro")  # type: ignore[arg-type]


def test_what_the_public_report_counts() -> None:
    # Efficacy T, missing: the report counts the missing one as wrong (50), ours leaves it out (100).
    # VQA T, missing: left out by both.
    rows = outcomes([("a", 1, "attribute", T, T, T), ("b", 1, "attribute", N, N, N)])
    marked = rows.with_columns(pl.col(s).alias(f"{s}_public") for s in scores.STEPS)
    got = scores.scores(marked, ci=ig.Bootstrap(50))
    assert got.select("measure", "estimate", "public").rows() == [
        ("efficacy", 100, 50), ("reasoning", 100, 50), ("vqa", 100, 100),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "target", "category", "public", "ours"),
    [
        ("normally blue, but after the edit it is pink", "pink", "color", True, False),
        ("an enormous one", "colossal", "size", True, False),
        ("a microscopic one", "colossal", "size", False, False),
        ("the coffee cup is the larger", "coffee cup", "size", True, True),
        ("a pinkish tone", "pink", "color", True, False),
        ("PINK", "pink", "color", True, True),
        ("\u8fd9\u53ea\u9e1f\u662f\u84dd\u8272\u7684", "\u84dd\u8272", "color", True, True),
        (None, "pink", "color", None, None),
    ],
)
def test_rationales_by_both_rules(
    text: str | None, target: str, category: str, public: bool | None, ours: bool | None
) -> None:
    assert scores.contains_target(text, target, category) is public
    assert scores.says(text, target, "blue") is ours


def test_names_are_words_of_their_own() -> None:
    assert unike.fold("Beyonc\u00e9's  BLUE-green") == "beyonce blue green"
    assert unike.fold("C++") != unike.fold("C#")
    assert unike.fold("\u304c") != unike.fold("\u304b")  # marks of other scripts are part of the letter
    for text, value, named in (
        ("Two blue jays", "blue", True), ("A blueprint", "blue", False), ("Polka dots on it", "polka dot", True),
        ("\u4e00\u53ea\u84dd\u8272\u7684\u9e1f", "\u84dd\u8272", True),
    ):  # fmt: skip
        assert unike.names(text, value) is named
    assert unike.filled("The set {} of Norway is", "Norway") == "The set {} of Norway is"


def test_completions_by_both_rules() -> None:
    assert scores.begins_with(" purple, of course", "purple")
    assert not scores.begins_with("a purple one", "purple")
    assert scores.says("blue, not red", "blue", "red")
    assert scores.says("red", "blue", "red") is False


@pytest.mark.parametrize(
    ("text", "public", "ours"),
    [
        ('{"matches_target": true}', True, True),
        ('{"matches_target": "false"}', True, False),
        ('{"matches_target": 1}', True, None),
        ('{"matches_target": null}', False, None),
        ('```json\n{"matches_target": false}\n```', False, False),
        ("It matches: true.", True, None),
        ("[1]", None, None),
        (None, None, None),
    ],
)
def test_verdicts_by_both_rules(text: str | None, public: bool | None, ours: bool | None) -> None:
    assert scores.public_verdict(text) is public
    assert unike.read_verdict(text).matches is ours


def test_cascade_by_hand() -> None:
    # All stages. Reasoning over edits: 1, 0, 1, 0 = 0.5, efficacy 0.75: ratio 2/3. Of the 4 with efficacy, 2 reason.
    found = scores.cascade(outcomes(ROWS), rule="stages", ci=ig.Bootstrap(500))
    got = {r["step"]: r for r in found.iter_rows(named=True)}
    first = got["efficacy_to_reasoning"]
    assert (first["ratio"], first["conditional"], first["n_from"]) == (pytest.approx(2 / 3), 0.5, 4)
    assert first["low"] <= 2 / 3 <= first["high"]
    # Scored on both: all but b.1. Reasoning a 1, b 0, c 1, d 0; VQA a 1/2, others 0: ratio (1/8) / (1/2).
    last = got["reasoning_to_vqa"]
    assert (last["ratio"], last["n_scored"], last["n_missing"]) == (0.25, 5, 1)
    assert last["conditional"] == pytest.approx(1 / 3)
    # Stage 1: reasoning a, c of a, b, c, d: 2/4 over 4/4.
    stage_1 = scores.cascade(outcomes(ROWS), ci=ig.Bootstrap(50)).filter(step="efficacy_to_reasoning")
    assert (stage_1["ratio"][0], stage_1["n_from"][0]) == (0.5, 4)


def test_cascade_without_anything_to_divide_by() -> None:
    none = scores.cascade(
        outcomes([("a", 1, "attribute", F, N, T), ("b", 1, "attribute", F, N, F)]), ci=ig.Bootstrap(50)
    )
    assert none["status"].to_list() == ["nothing scored", "nothing scored", "nothing at the earlier step"]
    assert none["ratio"].null_count() == 3


def test_drops_over_stages_by_hand() -> None:
    # Efficacy falls from 100 to 0 on both edits; VQA pairs only on a: 100 to 0.
    got = scores.stage_drops(outcomes(ROWS), ci=ig.Bootstrap(50))
    first = got.filter(measure="efficacy").row(0, named=True)
    assert (first["estimate_1"], first["estimate"], first["difference"], first["relative_drop"]) == (
        100,
        0,
        -100,
        1,
    )
    vqa = got.filter(measure="vqa").row(0, named=True)
    assert (vqa["n_pairs"], vqa["n_missing"]) == (1, 1)
    two = pl.concat([outcomes(ROWS), outcomes(ROWS).with_columns(editor=pl.lit("other"))])
    pooled = scores.stage_drops(two, by=["protocol"], ci=ig.Bootstrap(50)).filter(measure="efficacy")
    assert pooled["n_pairs"].to_list() == [4]  # each editor is paired with itself
    with pytest.raises(SchemaError, match="no attribute edit beyond stage 1"):
        scores.stage_drops(outcomes(ROWS[4:]))


def test_recorded_outputs_are_marked(tmp_path: Path) -> None:
    instances = read(tmp_path / "a.json", *unike_toy.records()[:1]).instances
    base: dict[str, str | None] = {"model": "m", "editor": "e", "protocol": "direct"}
    lines: list[dict[str, str | None]] = [
        base
        | {"instance_id": "e00000.s1", "completion": "purple.", "verdict": '{"matches_target": "false"}'},
        base | {"instance_id": "e00000.s2", "completion": "yellow, or purple", "verdict": None},
    ]
    path = tmp_path / "o.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    got = scores.load_outcomes(path, instances)
    assert got.select("efficacy", "reasoning", "vqa", "verdict_status").rows() == [
        (True, None, False, "ok"), (False, None, None, "empty"),
    ]  # fmt: skip
    for broken, match in (
        ({**lines[0], "protocol": "Direct"}, "protocol"),
        ({**lines[0], "instance_id": "x"}, "line 1: instance_id"),
    ):
        path.write_text(json.dumps(broken))
        with pytest.raises(SchemaError, match=match):
            scores.load_outcomes(path, instances)
    path.write_text("\n".join(json.dumps(lines[0]) for _ in "ab"))
    with pytest.raises(SchemaError, match="line 2: twice"):
        scores.load_outcomes(path, instances)


# -- edit mathematics ------------------------------------------------------------------------------


def test_projector_leaves_known_keys_alone() -> None:
    rng = np.random.default_rng(1)
    known, keys = rng.normal(size=(8, 3)), rng.normal(size=(8, 2))
    p = edit.null_projector(edit.second_moment(known), threshold=1e-8)
    assert np.allclose(p @ p, p)
    assert np.allclose(p, p.T)
    assert np.linalg.matrix_rank(p) == 5
    change = edit.layer_update(keys, rng.normal(size=(4, 2)), p, lam=1e-6)
    assert np.abs(change @ known).max() < 1e-8  # what was known answers as before
    free = edit.layer_update(keys, rng.normal(size=(4, 2)), np.eye(8), lam=1e-6)
    assert np.abs(free @ known).max() > 0.01


def test_update_reaches_its_target_and_respects_earlier_edits() -> None:
    rng = np.random.default_rng(2)
    keys, aim = rng.normal(size=(6, 2)), rng.normal(size=(3, 2))
    change = edit.layer_update(keys, aim, np.eye(6), lam=1e-9)
    assert np.allclose(change @ keys, aim, atol=1e-6)
    # The same formula written out with an inverse.
    c = edit.add_keys(None, rng.normal(size=(6, 4)))
    want = aim @ keys.T @ np.linalg.inv(c + keys @ keys.T + 0.5 * np.eye(6))
    assert np.allclose(edit.layer_update(keys, aim, np.eye(6), cached=c, lam=0.5), want)
    p = edit.softened(edit.null_projector(c, threshold=0.5), 0.6)
    want = aim @ keys.T @ p @ np.linalg.inv((c + keys @ keys.T) @ p + 0.5 * np.eye(6))
    assert np.allclose(edit.layer_update(keys, aim, p, cached=c, lam=0.5), want)


def test_softening_and_regularisation_by_hand() -> None:
    p = np.diag([0.0, 1.0])
    assert np.array_equal(edit.softened(p, 1), p)
    assert np.array_equal(edit.softened(p, 0), np.eye(2))
    facts = dict(load_published("unike_facts").select("id", "value").iter_rows())
    assert edit.softened(p, float(facts["alpha.OmniGen2"])).tolist() == [[0.4, 0.0], [0.0, 1.0]]
    moment = np.diag([2.0, 0.005])
    # 0.005 lies below a threshold of 0.01; lifted by 0.01 it no longer counts as a free direction.
    assert np.trace(edit.null_projector(moment, threshold=0.01)) == 1
    lifted = edit.regularised(moment, float(facts["epsilon.BLIP3o-4B"]))
    assert np.trace(edit.null_projector(lifted, threshold=0.01)) == 0
    assert np.diag(lifted).tolist() == [2.01, 0.015]


def test_clipping_keeps_direction_and_small_updates() -> None:
    update, weight = np.array([[6.0, 8.0]]), np.array([[0.0, 10.0]])
    assert edit.clipped(update, weight, 0.5).tolist() == [[3.0, 4.0]]
    assert edit.clipped(update, weight, 1.0).tolist() == update.tolist()


def test_retention_has_the_published_expectation() -> None:
    assert edit.expected_retention(1536, 4096) == 0.375
    rng = np.random.default_rng(3)
    rho = edit.retention(rng.normal(size=(24, 64)), rng.normal(size=(64, 2000)))
    assert rho.shape == (24, 2000)
    assert abs(rho[-1].mean() - 24 / 64) < 0.01
    growth = np.diff(rho.mean(axis=1))
    assert abs(growth * 64 - 1).max() < 0.15  # near-linear growth, 1/n a step
    one = edit.retention(np.eye(3)[:2], [1.0, 0.0, 0.0])
    assert one[-1] == 1.0


def test_drift_by_hand() -> None:
    assert edit.drift([[3.0], [4.0]], [[3.0], [4.385]]) == pytest.approx(0.077)
    assert edit.drift([1.0, 0.0], [1.0, 0.0]) == 0


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: edit.softened(np.eye(2), 1.2), "alpha"),
        (lambda: edit.softened(np.ones((2, 3)), 0.5), "square"),
        (lambda: edit.layer_update(np.ones((2, 1)), np.ones((2, 2)), np.eye(2)), "one a key"),
        (lambda: edit.layer_update(np.ones((2, 1)), np.ones((2, 1)), np.eye(2), lam=0), "above 0"),
        (lambda: edit.layer_update([[np.nan]], [[1.0]], [[1.0]]), "finite"),
        (lambda: edit.retention(np.eye(2), [0.0, 0.0]), "differ from zero"),
        (lambda: edit.drift([0.0], [1.0]), "not zero"),
        (lambda: edit.clipped(np.ones((1, 2)), np.ones((2, 1)), 1), "that of the weight"),
        (lambda: edit.expected_retention(5, 4), "k <= n"),
    ],
)
def test_mathematics_says_what_it_needs(call: Any, match: str) -> None:
    with pytest.raises(SchemaError, match=match):
        call()


# -- beside the paper ----------------------------------------------------------------------------


def test_what_the_published_cells_are_made_of() -> None:
    # Every cell is k/n to two decimals for one n only; the overall is the sum of both.
    facts = dict(load_published("unike_facts").select("id", "value").iter_rows())
    for family, tried in (("attribute", range(900, 1000)), ("relation", range(1990, 2020))):
        fit = tables.denominators(family, tried)
        assert fit.row(0) == (int(facts[f"scored_{family}"]), 45, 45)
        assert fit["n_fit"][1] < 20
    counts = tables.published_counts()
    assert counts["k"].null_count() == 0
    wide = counts.pivot("family", index=["protocol", "model", "editor", "measure"], values="k")
    assert (wide["attribute"] + wide["relation"] == wide["overall"]).all()
    # 49.01 % of 959 is 470 (470 / 959 = .49009), by hand.
    first = counts.filter(protocol="direct", model="Ovis-U1", editor="MEMIT", measure="efficacy").row(
        0, named=True
    )
    assert (first["n"], first["k"]) == (959, 470)
    assert first["low"] < first["estimate"] < first["high"]


def test_published_conversions_are_what_the_paper_says(tmp_path: Path) -> None:
    _, got = unike_toy.load_toy()
    both = tables.conversion_beside(got, ci=ig.Bootstrap(20))
    direct = both.filter(where="UniKE Table 3", protocol="direct", step="efficacy_to_vqa")
    best = direct.group_by("model").agg(pl.col("ratio").max())["ratio"]
    assert best.is_between(0.12, 0.25).all()  # "about one eighth to one quarter"


def test_the_stored_outputs_are_what_the_script_makes(tmp_path: Path) -> None:
    assert json.loads((DATA / "edits.json").read_text()) == unike_toy.records()
    unike_toy.make(tmp_path)
    _, fresh = unike_toy.load_toy(tmp_path)
    edits, stored = unike_toy.load_toy()
    assert fresh.equals(stored)
    assert stored.height == edits.instances.height * 6
    assert set(stored["verdict_status"]) == {"ok", "truncated"}
    quoted = [ln for ln in (DATA / "outcomes.jsonl").read_text().splitlines() if r"\"false\"" in ln]
    assert quoted  # verdicts as words in quotes are among them


def test_the_memory_shows_the_cascade() -> None:
    edits, got = unike_toy.load_toy()
    table = tables.table_beside(got, ci=ig.Bootstrap(20))
    toy = table.filter(where="toy memory, noise set by hand")
    assert toy["simulated"].all()
    assert not table.filter(where="UniKE Table 3")["simulated"].any()
    assert (toy["efficacy_overall"] > toy["vqa_overall"]).all()
    # By the paper's rule the toy is right at every stage 1; over all stages it is not.
    assert toy.filter(rule="published")["efficacy_attribute"].to_list() == [100] * 6
    assert (toy.filter(rule="stages")["efficacy_attribute"] < 70).all()
    curve = unike_toy.retention_curve(edits.instances)
    end = curve.group_by("editor").agg(pl.col("rho").last())["rho"]
    assert end.is_between(0.3, 0.45).all()
    with pytest.raises(SchemaError, match=r"no edits\.json"):
        unike_toy.load_toy(DATA.parent)
