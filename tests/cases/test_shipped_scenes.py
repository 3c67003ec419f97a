"""icg-scenes as it is shipped: what the card says is counted, what the set promises holds, others' tools can read it."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from importlib import resources

import numpy as np
import pytest
from PIL import Image

import icgkit as ig
from icgforge.choose import Wishes, report
from icgforge.dataset import card, croissant
from icgforge.scenes import CANARY
from icgkit.cases.dataset import read_cases, sha256_of
from icgkit.cases.twins import absent_nodes, load_twins
from icgkit.files import project_root

FOLDER = project_root() / "data" / "cases" / "icg-scenes"
DATA = ig.load_dataset("icg-scenes")
SOME = DATA.cases[:: max(1, len(DATA) // 16)]


def test_bounds_and_shares_hold() -> None:
    told, wishes = report(DATA.cases), Wishes()
    assert told["cases"] >= 250
    assert told["one_node"] <= 0.35
    assert told["mixed"] >= wishes.mixed
    assert told["chains"] >= 1 / 3
    assert told["other_scripts"] >= wishes.other_scripts
    assert max(Counter(c.metadata["template"] for c in DATA).values()) <= wishes.of_document
    assert {len(c.constraint_nodes) for c in DATA} <= set(range(1, wishes.most_nodes + 1))
    assert len({c.metadata["script"] for c in DATA}) >= 8
    assert all(n >= wishes.nodes and docs >= wishes.documents for n, docs in told["subtypes"].values())


def test_letters_that_are_turned_over_say_so() -> None:
    ways = {"physical_reflection": "vertical", "spatial_mirror": "horizontal"}
    for case in DATA:
        for node in (n for n in case.constraint_nodes if n.subtype in ways):
            flipped = (node.predicate or {}).get("flipped")
            if case.metadata["setting"] == "flat":
                assert flipped == ways[node.subtype], node.region
            else:  # a wall mirror and a shop window turn left and right, a floor up and down
                assert flipped in ("vertical", "horizontal", "both"), (case.id, node.region)


def test_photographs_stand_in_several_settings_and_keep_their_size() -> None:
    shots = [c for c in DATA if c.metadata["setting"] != "flat"]
    assert len(shots) >= 40
    assert len({c.metadata["setting"] for c in shots}) >= 8
    for case in shots[::6]:
        assert case.image_path.suffix == ".jpg"
        assert sha256_of(case.image_path) == case.image_sha256
        with Image.open(case.image_path) as picture:
            assert picture.size == case.image_size


def test_no_world_is_on_both_sides() -> None:
    sides = {
        s: {c.metadata["world"] for c in DATA if c.metadata["split"] == s} for s in ("public", "held_out")
    }
    assert not sides["public"] & sides["held_out"]
    assert 0.2 <= sum(c.metadata["split"] == "held_out" for c in DATA) / len(DATA) <= 0.4


def test_card_and_description_are_what_the_files_give() -> None:
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == card(FOLDER)
    assert json.loads((FOLDER / "croissant.json").read_text(encoding="utf-8")) == croissant(FOLDER)
    meta = tomllib.loads((FOLDER / "dataset.toml").read_text(encoding="utf-8"))
    assert len(meta["seed_held_out_sha256"]) == 64


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_croissant_is_read_by_its_own_library() -> None:
    import mlcroissant as mlc

    data = mlc.Dataset(jsonld=FOLDER / "croissant.json")
    assert not data.metadata.ctx.issues.errors
    assert data.metadata.conforms_to == [
        "http://mlcommons.org/croissant/1.1",
        "http://mlcommons.org/croissant/RAI/1.0",
    ]
    for field in (
        "data_collection",
        "data_biases",
        "data_limitations",
        "data_use_cases",
        "data_annotation_protocol",
    ):
        assert getattr(data.metadata, field), field
    rows = list(data.records(record_set="cases"))
    assert [r["cases/id"].decode() for r in rows] == [c.id for c in DATA]
    assert rows[0]["cases/instruction"].decode() == DATA.cases[0].instruction


def test_the_canary_stands_in_every_text_file() -> None:
    files = [p for p in FOLDER.rglob("*") if p.is_file() and p.suffix not in (".webp", ".jpg")]
    assert len(files) >= 6
    for path in files:
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines() if path.suffix == ".jsonl" else [text]
        assert all(CANARY in line for line in lines), path.name


def test_pictures_are_those_that_the_cases_name_and_nothing_lies_about() -> None:
    twins = read_cases(FOLDER / "twins.jsonl")
    for case in SOME:
        assert sha256_of(case.image_path) == case.image_sha256
    wanted = {c.image for c in [*DATA, *twins]} | {f"after/{c.id}.webp" for c in DATA}
    there = (p for name in ("images", "after", "twins") for p in (FOLDER / name).iterdir())
    assert {str(p.relative_to(FOLDER)) for p in there} == wanted


@pytest.mark.parametrize("case", SOME, ids=lambda c: c.id)
def test_a_reference_edit_changes_every_node_and_nothing_else(case: ig.Case) -> None:
    with Image.open(case.image_path) as picture, Image.open(FOLDER / "after" / f"{case.id}.webp") as patch:
        assert picture.size == patch.size == case.image_size
        differs = np.asarray(patch.convert("RGBA"))[..., 3] > 0
    reach = 3 if case.metadata["setting"] == "flat" else 12  # lenses and rough surfaces blur
    covered = np.zeros_like(differs)
    nodes = [[b for b in (n.bbox, n.bbox_after) if b] for n in case.constraint_nodes]
    for boxes in [*nodes, [b for b in (case.target.bbox, case.metadata["target_after"]) if b]]:
        whole = np.zeros_like(differs)
        for x0, y0, x1, y1 in ([int(v) for v in b] for b in boxes):
            whole[max(0, y0 - reach) : y1 + reach, max(0, x0 - reach) : x1 + reach] = True
        assert (differs & whole).any()
        covered |= whole
    assert not (differs & ~covered).any()


def test_texts_of_predicates_stand_in_the_sentence_that_a_reader_sees() -> None:
    for node in (n for c in DATA for n in c.constraint_nodes):
        assert node.predicate
        assert node.region_clean
        assert node.reason_anon
        if "text" in node.predicate:
            assert f"“{node.predicate['was']}” becomes “{node.predicate['text']}”" == node.expected_update


def test_a_twin_frees_nodes_of_its_case() -> None:
    twins = load_twins(DATA)
    for twin in absent_nodes(twins, DATA):
        assert twin.constraint_nodes
        assert twin.target.element == DATA[twin.metadata["twin_of"]].target.element
    infeasible = load_twins(DATA, kind="infeasible")
    assert all(t.target.element not in (DATA[t.metadata["twin_of"]].target.element,) for t in infeasible)
    assert len(infeasible) >= 0.85 * len(DATA)


def test_instructions_have_sixty_frames_at_least() -> None:
    table = tomllib.loads(resources.files("icgforge").joinpath("frames.toml").read_text(encoding="utf-8"))
    assert sum(len(frames) for lang in table.values() for frames in lang.values()) >= 60
    assert len({c.instruction for c in DATA}) > 0.95 * len(DATA)


def test_on_unseen_documents_the_instruction_tells_neither_subtype_nor_number_of_nodes() -> None:
    """A linear machine on the words of the instruction, documents never parted over folds: within .15 of the commonest answer."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.model_selection import GroupKFold
    from sklearn.svm import LinearSVC

    words = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), min_df=2)
    told = words.fit_transform([c.instruction for c in DATA])
    documents = [c.metadata["template"] for c in DATA]
    for answers in (
        np.array([c.constraint_nodes[0].subtype for c in DATA]),
        np.array([len(c.constraint_nodes) for c in DATA]),
    ):
        hits = common = 0
        for seen, unseen in GroupKFold(5).split(told, answers, documents):
            guess = LinearSVC(random_state=0).fit(told[seen], answers[seen]).predict(told[unseen])
            names, counts = np.unique(answers[seen], return_counts=True)
            hits += int((guess == answers[unseen]).sum())
            common += int((answers[unseen] == names[counts.argmax()]).sum())
        assert (hits - common) / len(DATA) <= 0.15


def test_the_demo_of_a_new_project_is_some_of_the_public_part() -> None:
    demo = ig.load_dataset(project_root() / "icgkit" / "demo")
    assert len(demo) == 12
    for case in demo:
        assert case.to_json() == DATA[case.id].to_json()
        assert case.metadata["split"] == "public"
        assert sha256_of(case.image_path) == case.image_sha256
