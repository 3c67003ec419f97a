"""Documents in real Chromium: what differs is a node, and what breaks a rule is rejected."""

from __future__ import annotations

import io
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import icgkit as ig
from icgforge.dataset import DRAWN, Order, build, card
from icgforge.derive import Derived, Edit, contrast, derive, twin_of
from icgforge.page import Browser, Document, browser, documents
from icgforge.scenes import candidates, graph, make
from icgforge.worlds import World, worlds

pytest.importorskip("playwright", reason="drawing documents needs Playwright (extra forge)")
if not (shutil.which("chromium") or shutil.which("chromium-browser")):
    pytest.skip("drawing documents needs Chromium (apt-get install chromium)", allow_module_level=True)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as page:
        yield page


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World("shop", labels={"p": "the price", "n": "the number"})
    world.draw = lambda _: {"p": 5, "n": 3, "note": "today"}
    world.derive("total", "product", lambda p, n: p * n, label="the total")
    world.derive("dear", "classification", lambda total: total > 20, shown=lambda v: "DEAR" if v else "CHEAP")
    world.edit("p", lambda v, _: v["p"] + 4)
    world.cut("total", note="yesterday")
    monkeypatch.setitem(worlds(), "shop", world)
    return world


PAGE = """<style>body{font:30px/40px Inter;background:#fff;color:#222}p{position:absolute;left:40px;margin:0;white-space:nowrap}</style>
<p style="top:30px">Price {{ x("p") }}</p><p style="top:90px">Number {{ x("n") }}</p><p style="top:150px">{{ note }}: {{ x("total") }}</p>
"""


def doc(body: str = PAGE) -> Document:
    edits = ({"target": "p", "place": "in the first line"},)
    return Document(
        "d", "shop", "menu", "en", (400, 300), ("Inter",), edits, {"total": "the sum in the third line"}, body
    )


def edit_of(document: Document) -> Edit:
    facts = document.of.draw(random.Random(0))
    return Edit(document, facts, "p", "p", 9, "in the first line")


def test_what_follows_is_a_node_and_nothing_else(chromium: Browser, shop: World) -> None:
    made = derive(chromium, edit_of(doc()))
    assert made.rejected == []
    assert [(n.fact, n.kind, n.was, n.now) for n in made.nodes] == [("total", "product", "15", "27")]
    row = graph(made)[0]
    assert (row["region"], row["subtype"], row["expected_update"]) == (
        "the sum in the third line",
        "semantic_numerical",
        "“15” becomes “27”",
    )
    assert row["predicate"] == {"text": "27", "was": "15"}
    x0, y0, x1, y1 = row["bbox"]
    ink: np.ndarray = np.asarray((made.before[int(y0) : int(y1), int(x0) : int(x1)] < 247).any(2))
    assert [side.any() for side in (ink[0], ink[-1], ink[:, 0], ink[:, -1])] == [True] * 4, (
        "the box is that of the letters"
    )


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ('<div style="position:absolute;left:300px;top:200px;width:{{ p }}px;height:20px;background:#444"></div>', "pixels differ"),
        ('<p style="top:210px;font-size:11px">small print</p>', "small"),
        ('<p style="top:155px">printed over it</p>', "overlap"),
        ('<p style="top:210px;left:380px">over the edge</p>', "edge"),
        ('<p style="top:210px;color:#ddd">{{ x("dear") }}</p>', "pale"),
        ('<p style="top:210px">of {{ x("total", "again") }} pounds</p><p style="top:260px;color:#fff">{{ x("dear") }}</p>', "cannot be seen"),
        ('{{ x("total", "wash", tag="div", style="position:absolute;z-index:-1;inset:0;padding:120px;color:transparent;background:" + ("#fff" if p < 9 else "#fec")) }}', "too large"),
        ('<p style="top:210px">{% if p < 9 %}only now{% endif %}</p>', "a fixed text changes"),
        ('<p style="top:210px;width:60px;overflow:hidden">{{ x("total", "cut", style="display:block;overflow:hidden;width:14px") }}</p>', "clipped"),
    ],
)  # fmt: skip
def test_a_document_that_breaks_a_rule_is_rejected(
    chromium: Browser, shop: World, more: str, why: str
) -> None:
    made = derive(chromium, edit_of(doc(PAGE + more)))
    assert any(why in reason for reason in made.rejected), made.rejected


def test_an_invariant_that_breaks_rejects_the_edit(chromium: Browser, shop: World) -> None:
    shop.holds("cheap", lambda total: total < 20)
    assert derive(chromium, edit_of(doc())).rejected == ["invariant: cheap"]


def test_small_shifts_are_prevented_and_large_ones_are_nodes(chromium: Browser, shop: World) -> None:
    line = '<p style="top:210px">all {{ x("total", "line") }} pounds</p>'
    made = derive(chromium, edit_of(doc(PAGE + line)))
    assert made.rejected == []
    assert {n.kind for n in made.nodes} == {"product"}
    wide = '<p style="top:210px">all {{ x("dear", style="letter-spacing:.3em") }} <span>fixed</span></p>'
    made = derive(chromium, edit_of(doc(PAGE + wide)))
    moved = [n for n in made.nodes if n.kind == "reflow"]
    assert made.rejected == []
    assert len(moved) == 1
    assert moved[0].shift is not None
    assert moved[0].shift[0] < -16


def test_the_twin_cuts_the_tie_in_words(chromium: Browser, shop: World) -> None:
    edit = edit_of(doc())
    made = derive(chromium, edit)
    cut = twin_of(edit, made)
    assert cut is not None
    twin, frozen, gone = cut
    same = derive(chromium, twin, frozen)
    assert same.rejected == []
    assert same.nodes == []
    assert gone == {"total#1"}
    assert (same.before != made.before).any(), "the picture says that the tie is cut"


def test_a_cut_that_the_page_does_not_show_makes_no_twin(chromium: Browser, shop: World) -> None:
    edit = edit_of(doc(PAGE.replace("{{ note }}", "today")))
    assert twin_of(edit, derive(chromium, edit)) is None


def test_what_follows_from_a_cut_value_is_left_open(chromium: Browser, shop: World) -> None:
    made, reasons = make(chromium, edit_of(doc(PAGE + '<p style="top:210px">{{ x("dear") }}</p>')), "d-0-p")
    assert made is not None, reasons
    twin = made.twins[0].metadata
    assert (twin["free"], twin["undetermined"]) == (["n1"], ["n2"])


def test_contrast_is_that_of_the_standard() -> None:
    grey = np.full((9, 3), 118, np.uint8)  # #767676 on white: 4.54, the classic example
    assert contrast(grey, np.full((9, 3), 255, np.uint8)) == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("name", sorted(documents()))
def test_a_shipped_document_makes_cases(chromium: Browser, name: str, tmp_path: Path) -> None:
    """Drawn afresh: at least one edit of a few holds, its fonts are the ones it names, and the patch gives the picture after."""
    document = documents()[name]
    good: list[Derived] = []
    for seed in range(4):
        rng = random.Random(seed)
        facts = document.of.draw(rng)
        row = document.edits[seed % len(document.edits)]
        fact = row.get("fact", row["target"].split(":")[0])
        new = document.of.edits[fact](document.of.values(facts), rng)
        if new is not None:
            made = derive(chromium, Edit(document, facts, row["target"], fact, new, row["place"]))
            good += [made] if not made.rejected and made.nodes else []
        if good:
            break
    assert good
    families = chromium.fonts()
    assert all(any(f.startswith(own) for own in document.fonts) for f in families), families


def test_a_set_is_written_resumes_and_loads(chromium: Browser, tmp_path: Path) -> None:
    out, order = tmp_path / "few", Order(2, names=("invoice_joiner",))
    cases = build(out, order, chromium=chromium)
    stamp = {p: p.stat().st_mtime_ns for p in (out / DRAWN / "images").iterdir()}
    log = out / DRAWN / "made.jsonl"
    log.write_bytes(log.read_bytes()[:-40])  # cut off in the middle of its last line
    told: list[int] = []
    again = build(out, order, told.append, chromium)
    assert [c.to_json() for c in again] == [c.to_json() for c in cases]
    same = [p for p in stamp if p.stat().st_mtime_ns == stamp[p]]
    assert len(same) == len(stamp) - 1, "what is there is not drawn again, what was cut off is"
    assert sum(told) == order.draw().each
    data = ig.load_dataset(out)
    case = data.cases[0]
    before = Image.open(case.image_path).convert("RGBA")
    patch = Image.open(io.BytesIO((out / "after" / f"{case.id}.webp").read_bytes()))
    after = np.asarray(Image.alpha_composite(before, patch.convert("RGBA")).convert("RGB"))
    differs = (after != np.asarray(before.convert("RGB"))).any(2)
    assert differs.any()
    for node in case.constraint_nodes:
        x0, y0, x1, y1 = (int(v) for v in node.bbox or ())
        assert differs[y0:y1, x0:x1].any(), node.id
    told_of = json.loads((out / "build.json").read_text())
    assert told_of["candidates"] == order.draw().each
    assert (out / "README.md").read_text(encoding="utf-8") == card(out)


def test_another_seed_draws_other_pictures_and_no_line_of_the_first_is_taken(
    chromium: Browser, tmp_path: Path
) -> None:
    first = build(tmp_path, Order(1, names=("invoice_joiner",)), chromium=chromium)
    other = build(tmp_path, Order(1, "2", names=("invoice_joiner",)), chromium=chromium)
    assert first[0].image_sha256 != other[0].image_sha256
    with Image.open(ig.load_dataset(tmp_path).cases[0].image_path) as picture:
        assert picture.size == other[0].image_size


def test_twins_cut_one_tie_or_cannot_be_done(chromium: Browser, shop: World) -> None:
    edit = edit_of(doc())
    shop.draw = lambda rng: {"p": rng.choice([6, 8]), "n": 3, "note": "today"}
    made, reasons = make(chromium, edit, "d-0-p")
    assert made is not None, reasons
    twin, infeasible = made.twins
    assert (twin.metadata["free"], twin.constraint_nodes) == (["n1"], ())
    assert twin.image in made.files
    assert twin.image_sha256 != made.case.image_sha256
    assert infeasible.target.element in ("6", "8")
    assert infeasible.constraint_nodes == ()


def test_a_node_has_words_that_give_nothing_away(chromium: Browser, shop: World) -> None:
    made = derive(chromium, edit_of(doc()))
    row = graph(made)[0]
    assert (
        row["region_clean"] == "the spot 39 % across from the left and 56 % down from the top (middle centre)"
    )
    assert row["reason_anon"] == "it is the product of [A] and [B]"
    assert "15" not in row["region_clean"] + row["reason_anon"]


@pytest.mark.parametrize("k", [0, 1, 2])
def test_a_shipped_case_is_drawn_again(chromium: Browser, k: int) -> None:
    """Texts equal, boxes within two pixels, the picture the same up to the rendering of another machine."""
    flat = (c for c in ig.load_dataset("icg-scenes") if c.metadata["setting"] == "flat")
    public = [c for c in flat if c.metadata["split"] == "public"]
    case = public[(2 * k + 1) * len(public) // 6]
    edit = dict(candidates(documents()[case.metadata["template"]], "1"))[case.id]
    made, reasons = make(chromium, edit, case.id)
    assert made is not None, reasons
    assert made.case.instruction == case.instruction
    for now, shipped in zip(made.case.constraint_nodes, case.constraint_nodes, strict=True):
        assert (now.expected_update, now.subtype, now.follows) == (
            shipped.expected_update,
            shipped.subtype,
            shipped.follows,
        )
        assert now.bbox is not None
        assert shipped.bbox is not None
        assert np.abs(np.subtract(now.bbox, shipped.bbox)).max() <= 2
    with Image.open(io.BytesIO(made.files[made.case.image])) as one, Image.open(case.image_path) as two:
        assert np.abs(np.asarray(one, np.int16) - np.asarray(two, np.int16)).mean() < 2
