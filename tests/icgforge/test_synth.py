"""Drawn cases: truth of boxes and pictures, twins, knobs, equal bytes, composition."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from icgforge.synth import Knobs, make_case, make_dataset, remake, templates, write_dataset
from icgforge.synth.audit import truth
from icgforge.synth.canvas import Canvas, mask_box
from icgforge.synth.check import check_truth, problems, truth_rows
from icgforge.synth.dataset import choose_templates, recipe, wishes
from icgforge.synth.words import FRAMES, POOLS, draw_edit
from icgkit.cases.dataset import load_dataset
from icgkit.errors import SchemaError, UnknownName
from icgkit.files import project_root
from icgkit.taxonomy import SUBTYPES

SAMPLE = ("scenes_window", "style_color_status", "style_layout_nav", "style_material_carved")


def test_every_subtype_has_three_templates_and_there_are_six_scenes() -> None:
    leading = Counter(t.nodes[0] for t in templates().values())
    anywhere = Counter(s for t in templates().values() for s in t.subtypes)
    assert not {s for s in SUBTYPES if anywhere[s] < 3}
    assert sum(leading.values()) >= 57
    assert sum(len(t.subtypes) >= 3 for t in templates().values() if t.id.startswith("scenes_")) >= 6


@pytest.mark.parametrize("name", SAMPLE)
def test_case_is_true_of_its_pictures(name: str) -> None:
    assert problems(make_case(name, 11)) == []


def test_truth_check_notices_a_change_outside_the_boxes() -> None:
    made = make_case("style_layout_sign", 3)
    made.drawn_after.rect((0, 0, 9, 9), "red")
    assert check_truth(made).outside > 0


def test_same_seed_gives_the_same_bytes_in_another_process() -> None:
    made = make_case("style_font_lockup", 5)
    here = hashlib.sha256(made.encoded() + made.case.to_json().encode()).hexdigest()
    code = (
        "import hashlib; from icgforge.synth import make_case; m = make_case('style_font_lockup', 5);"
        "print(hashlib.sha256(m.encoded() + m.case.to_json().encode()).hexdigest())"
    )
    env = {**os.environ, "PYTHONHASHSEED": "77", "OMP_NUM_THREADS": "1"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert run.stdout.strip() == here


def test_case_can_be_made_again_from_its_metadata_alone() -> None:
    made = make_case("style_color_line", 8)
    assert remake(made.case).encoded() == made.encoded()
    with pytest.raises(SchemaError, match="not drawn"):
        remake(made.case.model_copy(update={"metadata": {}}))


def test_knobs_are_kept_and_recorded() -> None:
    made = make_case(
        "style_color_status", 2, Knobs(nodes=2, distractors=3, far=True, salient=False, edit="percent")
    )
    knobs = made.case.metadata["knobs"]
    assert (knobs["nodes"], knobs["distractors"], knobs["far"], knobs["salient"]) == (2, 3, True, False)
    assert made.case.metadata["edit_type"] == "percent"
    assert len(made.case.constraint_nodes) == 2
    assert 0 < knobs["distance"] < 1
    assert set(made.case.metadata["per_node"]) == {"n1", "n2"}


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        (Knobs(nodes=9), "number of nodes"),
        (Knobs(distractors=99), "distractors"),
        (Knobs(edit="dish"), "edit type"),
    ],
)
def test_knob_out_of_range_names_what_is_allowed(knobs: Knobs, words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        make_case("style_color_status", 1, knobs)


def test_unknown_names_are_told_apart() -> None:
    with pytest.raises(UnknownName, match="style_font_lockup"):
        make_case("style_font_lockupp", 1)
    with pytest.raises(UnknownName):
        choose_templates(["nothing_like_it"])
    with pytest.raises(UnknownName):
        wishes(None, None, "middling", "")


def test_twins_keep_the_edit_and_lose_the_dependency() -> None:
    made = make_case("scenes_menu_price", 4)
    twin, impossible = made.counterfactual(), made.infeasible()
    assert twin.constraint_nodes == impossible.constraint_nodes == ()
    assert twin.instruction == made.case.instruction
    assert impossible.image == made.case.image
    shown = " ".join(made.drawn_before.texts).casefold()
    assert impossible.target.element.casefold() not in shown
    assert (np.asarray(made.image("twin")) != np.asarray(made.image())).any()


def test_masks_follow_flips_and_warps() -> None:
    sub = Canvas((100, 40))
    with sub.element("spot"):
        sub.rect((0, 0, 20, 40), "black")
    flat, bent = Canvas((200, 100), "white"), Canvas((200, 100), "white")
    flat.put(sub, (50, 20), flip="h")
    box = flat.box("spot")
    assert box is not None
    assert box[0] >= 128
    assert box[2] <= 151
    bent.warp(sub, [(20, 10), (120, 30), (120, 60), (20, 90)])
    changed = (np.asarray(bent.img) != 255).any(axis=-1)
    box, drawn = bent.box("spot"), mask_box(changed)
    assert box is not None
    assert drawn is not None
    assert box[0] <= drawn[0]
    assert box[1] <= drawn[1]


@pytest.mark.parametrize("kind", sorted(POOLS))
def test_pools_give_two_different_texts(kind: str) -> None:
    import random

    for seed in range(20):
        edit = draw_edit(kind, random.Random(seed))
        assert edit.old.text != edit.new.text
    assert all("{old}" in f and "{new}" in f for f in FRAMES)


def test_dataset_on_disk_loads_with_checksums(tmp_path: Path) -> None:
    made = make_dataset(3, 9, names=["style_layout_nav"], knobs=Knobs(nodes=2))
    cases = write_dataset(made, tmp_path / "set", name="set", twins=True, after=True)
    stale = {".jpg": ".png", ".png": ".jpg"}[Path(cases[0].image).suffix]
    (tmp_path / "set" / cases[0].image).with_suffix(stale).write_bytes(b"of an earlier set")
    write_dataset(made, tmp_path / "set", name="set", twins=True, after=True)
    assert not (tmp_path / "set" / cases[0].image).with_suffix(stale).exists()
    loaded = load_dataset(tmp_path / "set")
    assert [c.id for c in loaded] == [c.id for c in cases]
    for case in loaded:
        assert hashlib.sha256(case.image_path.read_bytes()).hexdigest() == case.image_sha256
    twins = [
        json.loads(line)
        for line in (tmp_path / "set" / "twins.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert Counter(t["metadata"]["twin_kind"] for t in twins) == {"counterfactual": 3, "infeasible": 3}
    assert len(list((tmp_path / "set" / "after").iterdir())) == 3
    assert len({(c.target.element, c.instruction) for c in cases}) == 3


def test_recipe_holds_the_totals_of_the_study() -> None:
    rows = [(templates()[t], n) for t, row in recipe().items() for n, _ in row]
    nodes = Counter(s for t, n in rows for s in t.nodes[:n])
    assert len(rows) == 461
    assert nodes.total() == 776
    assert min(nodes[s] for s in SUBTYPES) >= 14
    assert Counter(SUBTYPES[s].category for s in nodes.elements()) == {
        "physical": 169, "spatial": 56, "semantic": 164, "style": 174, "cross_modal": 213,
    }  # fmt: skip


def test_shipped_set_is_what_the_code_draws() -> None:
    folder = project_root() / "data" / "cases" / "icg-synth"
    if not (folder / "cases.jsonl").is_file():
        pytest.skip("icg-synth is not there; make it with: icgkit synth --out data/cases/icg-synth")
    shipped = load_dataset("icg-synth")
    assert len(shipped) == 461
    assert sum(len(c.constraint_nodes) for c in shipped) == 776
    assert sum(bool(c.inter_constraints) for c in shipped) == 228
    assert max(len(c.constraint_nodes) for c in shipped) <= 5
    images = {p.relative_to(folder).as_posix(): p.stat().st_size for p in (folder / "images").iterdir()}
    assert set(images) == {c.image for c in shipped}
    assert sum(images.values()) <= 15_000_000
    recorded = truth(shipped)
    assert sorted(recorded.select("case_id", "element").iter_rows()) == sorted(
        (c.id, e) for c in shipped for e in ("target", *(n.id for n in c.constraint_nodes))
    )
    for case in shipped.cases[::46]:
        made = remake(case)
        assert truth_rows(made) == recorded.filter(case_id=case.id).to_dicts()
        assert hashlib.sha256(made.encoded()).hexdigest() == case.image_sha256
        assert made.case.model_copy(update={"image_sha256": case.image_sha256}).to_json() == case.to_json()


def test_a_twin_whose_target_lies_elsewhere_is_sound() -> None:
    case = next(c for c in load_dataset("icg-synth").cases if c.metadata["template"] == "scenes_dashboard")
    assert problems(remake(case)) == []
