"""The annotator: what is saved stays, nobody sees another's nodes, and what comes out is a dataset; then in real JupyterLab."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

import icgkit as ig
from icgkit.cases import annotating
from icgkit.cases.dataset import load_annotations
from icgkit.cli import app
from icgkit.errors import ImageError, SchemaError, UnknownName

HOSTILE = "</script><img src=x onerror=\"document.title='taken'\">\n\u2028=1+1\ud800"
TARGET = {"element": "50%", "region": "top", "action": "becomes 30%", "bbox": [1, 1, 40, 20]}


def node(k: int, x: float, **more: Any) -> dict[str, Any]:
    words = {
        "region": f"price {k}",
        "subtype": "semantic_numerical",
        "expected_update": "more",
        "reason": "sum",
    }
    return {"id": f"n{k}", **words, "where": "else", "strength": "strong", "bbox": [x, 30, x + 40, 60]} | more


def draft(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"instruction": "Change 50% to 30%.", "target": TARGET, "nodes": list(nodes)} | more


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "own"
    made.mkdir()
    for k in range(3):
        Image.new("RGB", (300, 200), (200, 70 * k, 90)).save(made / f"{k}.png")
    done = CliRunner().invoke(app, ["new", "dataset", str(made)])
    assert (done.exit_code, "3 pictures" in done.output) == (0, True)
    return made


def test_a_folder_of_pictures_begins_a_dataset(folder: Path) -> None:
    rows = annotating.read_pictures(folder)
    assert [(r["image"], r["image_size"]) for r in rows] == [(f"{k}.png", [300, 200]) for k in range(3)]
    assert rows[0]["image_sha256"] == ig.annotate(folder, annotator="a").pictures[0]["image_sha256"]
    again = CliRunner().invoke(app, ["new", "dataset", str(folder)])
    assert (again.exit_code != 0, "already" in again.output) == (True, True)
    (folder / "pictures.jsonl").unlink()
    (folder / "broken.png").write_bytes(b"no picture")
    with pytest.raises(ImageError, match=r"broken\.png"):
        annotating.new_dataset(folder)


def test_a_cut_last_line_is_repaired_and_nothing_saved_is_lost(folder: Path) -> None:
    journal = annotating.Journal(folder, "a")
    journal.put("case-001", draft(node(1, 10)))
    journal.put("case-002", draft(node(2, 10)))
    with open(journal.path, "ab") as stream:
        stream.write(b'{"case_id": "case-003", "dra')
    again = annotating.Journal(folder, "a")
    assert "cut last line" in again.repaired
    assert again.drafts == journal.drafts
    again.put("case-003", draft(node(3, 10)))
    third = annotating.Journal(folder, "a")
    assert (sorted(third.drafts), third.repaired) == (["case-001", "case-002", "case-003"], "")
    for name in ("../x", "", "a/b", "a" * 41):
        with pytest.raises(SchemaError, match="annotator"):
            annotating.Journal(folder, name)


def test_hostile_texts_and_half_drafts_are_kept_and_named(folder: Path) -> None:
    shown = ig.annotate(folder, annotator="a")
    said = shown.reply(
        {"what": "put", "k": 0, "draft": draft(node(1, 10, region=HOSTILE, bbox=[10, 10, 900, 20]))}
    )
    assert any("outside the image" in p for p in said["problems"])
    odd: tuple[dict[str, Any], ...] = (
        {},
        {"nodes": "x"},
        {"nodes": [3]},
        {"nodes": [{"bbox": "x"}], "target": []},
        draft(node(1, 1), node(1, 9)),
    )
    for wrong in odd:
        assert shown.reply({"what": "put", "k": 1, "draft": wrong})["problems"]
        assert annotating.Journal(folder, "a").drafts["case-002"] == wrong
    assert (
        "NOT SAVED" in shown.reply({"what": "put", "k": 1, "draft": {"instruction": "x" * 300_000}})["error"]
    )
    assert (
        "NOT SAVED" in shown.reply({"what": "put", "k": 1, "draft": {"instruction": float("nan")}})["error"]
    )
    for asked in ({}, {"k": -1, "what": "picture"}, {"k": 0, "what": "put"}, {"k": "0"}):
        assert "error" in shown.reply(asked)
    assert shown.reply({"k": 0, "what": "picture"}).startswith("data:image/")
    (folder / "pictures.jsonl").write_text(
        json.dumps({"id": "x", "image": "../../x.png", "image_size": [3, 3]}) + "\n"
    )
    with pytest.raises(ImageError):
        ig.annotate(folder, annotator="a").reply({"k": 0, "what": "picture"})


def test_boxes_in_fractions_are_converted_and_said(folder: Path, tmp_path: Path) -> None:
    rows = [
        {"case_id": "case-001", "bbox": [0.1, 0.5, 0.5, 1.0], "region": "r"},
        {"case_id": "case-001", "bbox": [1, 2, 30, 40]},
    ]
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    shown = ig.annotate(folder, annotator="a", boxes=tmp_path / "b.jsonl")
    nodes = shown.head["drafts"]["case-001"]["nodes"]
    assert [n["bbox"] for n in nodes] == [[30, 100, 150, 200], [1, 2, 30, 40]]
    assert all(n["proposed"] and n["made_by"] == "b.jsonl" for n in nodes)
    assert shown.note.startswith("1 boxes of b.jsonl were fractions")
    with pytest.raises(SchemaError, match="boxes"):
        ig.annotate(folder, annotator="a", boxes="nobody")


def test_the_second_annotator_is_blind_unless_they_ask(folder: Path) -> None:
    annotating.Journal(folder, "a").put("case-001", draft(node(1, 10, region="secret")))
    assert "secret" not in json.dumps(ig.annotate(folder, annotator="b").head)
    asked = ig.annotate(folder, annotator="b", boxes="a")
    assert "not a blind" in asked.note
    assert "secret" in json.dumps(asked.head)
    shipped = ig.annotate(ig.load_dataset("icg-teb"), annotator="never-saved")
    assert not any(d["nodes"] for d in shipped.head["drafts"].values())


def test_export_gives_the_dataset_back_with_both_annotators_and_every_decision(folder: Path) -> None:
    annotating.Journal(folder, "a").put("case-001", draft(node(1, 10), node(2, 100)))
    annotating.Journal(folder, "b").put("case-001", draft(node(1, 12)))
    table = annotating.compare_annotators(folder, "a", "b")
    assert table.filter(measure="existence")["estimate"].item() == pytest.approx(2 / 3)
    shown = ig.annotate(folder, annotator="judge", adjudicate=("a", "b"))
    assert shown.head["drafts"]["case-001"] == draft()
    pairs = shown.head["pairs"]["case-001"]
    assert [(p["key"], sorted(p["nodes"])) for p in pairs] == [("n1+n1", ["a", "b"]), ("a:n2", ["a"])]
    with pytest.raises(UnknownName, match="annotator"):
        ig.annotate(folder, annotator="judge", adjudicate=("a", "c"))
    decisions = {"n1+n1": {"decision": "took a", "why": "=tighter", "named_by": "a + b"}, "a:n2": {"decision": "dropped", "why": "", "named_by": "a"}}  # fmt: skip
    chosen = annotating.Journal(folder, "judge")
    chosen.put(
        "case-001",
        draft(node(1, 10, made_by="a", follows=None), node(5, 50, proposed=True), decisions=decisions),
    )
    chosen.put("case-002", draft(node(1, 10, reason="")))
    done = CliRunner().invoke(app, ["export", "dataset", str(folder), "--annotator", "judge"])
    assert (done.exit_code, "left out case-002" in done.output, "reason" in done.output) == (1, True, True)
    data = ig.load_dataset(folder)
    assert [[n.id for n in c.constraint_nodes] for c in data] == [["n1"]]
    assert data[0].metadata["boxes_made_by"] == {"n1": "a"}
    assert data.missing_images() == []
    written = load_annotations(data)
    assert written is not None
    assert sorted(written["annotator"]) == ["a", "a", "b"]
    with open(folder / "adjudication.csv", newline="") as stream:
        assert [r["why"] for r in csv.DictReader(stream)] == ["'=tighter", ""]


def test_a_box_is_there_again_after_the_kernel_was_killed(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("playwright", reason="needs Playwright (extra forge)")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        pytest.skip("needs Chromium (apt-get install chromium)")
    import nbformat
    from playwright.sync_api import sync_playwright

    code = 'import os\nfrom pathlib import Path\nimport icgkit as ig\n_ = Path("pid").write_text(str(os.getpid()))\nig.annotate("./own", annotator="me")'
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])  # type: ignore[no-untyped-call]
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "mark.ipynb")  # type: ignore[no-untyped-call]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = {"HOME": str(tmp_path), **{f"JUPYTER_{k}_DIR": str(tmp_path / k) for k in ("CONFIG", "RUNTIME")}, "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "s")}  # fmt: skip
    options = ["--no-browser", "--allow-root", f"--port={port}", "--ip=127.0.0.1", "--IdentityProvider.token=t", f"--ServerApp.root_dir={tmp_path}"]  # fmt: skip
    server = subprocess.Popen([sys.executable, "-m", "jupyterlab", *options], env=os.environ | home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    saved = folder / "annotations-me.jsonl"
    try:
        end = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api?token=t", timeout=2).close()
                break
            except OSError:
                assert (time.monotonic() < end, server.poll()) == (True, None), "the server does not start"
                time.sleep(0.2)
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": 1500, "height": 950})

            def opened() -> None:
                page.goto(f"http://127.0.0.1:{port}/lab/tree/mark.ipynb?token=t")
                page.wait_for_selector(".jp-CodeCell", timeout=60_000)
                page.get_by_text("| Idle").first.wait_for(timeout=60_000)
                page.keyboard.press("Escape")
                page.get_by_role("menuitem", name="Run", exact=True).click()
                page.get_by_text("Run All Cells", exact=True).click()
                page.locator('.icgx .a-pic img[src^="data:"]').wait_for(timeout=60_000)

            opened()
            place = page.locator(".a-pic").bounding_box()
            assert place
            scale = place["width"] / 300
            page.mouse.move(place["x"] + 50 * scale, place["y"] + 40 * scale)
            page.mouse.down()
            page.mouse.move(place["x"] + 120 * scale, place["y"] + 90 * scale, steps=4)
            page.mouse.up()
            page.get_by_label("Subtype").select_option("semantic_numerical")
            assert "Numerical when" in page.locator(".a-rules").inner_text()
            page.locator(".icgx").focus()
            page.keyboard.press("ArrowRight")
            page.keyboard.press("Control+ArrowDown")
            page.get_by_label("Reason").press_sequentially("a sum")
            page.locator(".a-saved", has_text="saved").wait_for()
            os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
            kept = annotating.Journal(folder, "me").drafts["case-001"]["nodes"]
            assert kept[0]["bbox"] == pytest.approx([51, 50, 121, 100], abs=2)
            assert (kept[0]["subtype"], kept[0]["reason"], kept[0]["made_by"]) == (
                "semantic_numerical",
                "a sum",
                "me",
            )
            page.close()
            page = browser.new_page(viewport={"width": 1500, "height": 950})
            page.on("dialog", lambda d: d.accept())
            opened()
            page.locator('.a-node[data-node="n1"]').click()
            assert page.get_by_label("Reason").input_value() == "a sum"
            page.get_by_role("button", name="Delete node").click()
            page.get_by_role("button", name="Undo").click()
            assert page.locator('.a-pic g[data-node="n1"]').count() == 1
            page.locator('.a-node[data-node="n1"]').click()
            page.screenshot(path=str(tmp_path / "lab.png"))
            browser.close()
    finally:
        server.terminate()
        server.wait(20)
    assert saved.read_bytes().endswith(b"\n")
