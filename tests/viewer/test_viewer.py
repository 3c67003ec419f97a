"""The explorer of a run: what it holds, that nothing of it can run, and how it behaves in real Chromium."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import icgkit as ig
from icgkit.errors import UnknownName
from icgkit.viewer.page import write_view
from icgkit.viewer.payload import Payload
from icgkit.viewer.widget import explore

HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">\n\u2028Mind the total."


@pytest.fixture(scope="module")
def run() -> ig.Results:
    return ig.load_results("icg-teb-mllm")


def made_run(folder: Path, *, judged: bool = True) -> ig.Results:
    """Return a run of two cases with a hostile answer, as `icgkit import` makes it."""
    from icgkit.study.exchange import import_answers, import_verdicts

    data = folder / "data"
    (data / "images").mkdir(parents=True)
    cases = []
    for k in range(2):
        Image.new("RGB", (300, 200), (200, 40 * k, 90)).save(data / "images" / f"{k}.png")
        nodes = tuple(
            ig.Constraint(id=f"n{i}", region=f"total {i} <b>", subtype="semantic_numerical", expected_update=f"becomes {i}", reason="a sum", bbox=(10 * i, 10, 10 * i + 8, 40))
            for i in (1, 2)
        )  # fmt: skip
        target = ig.Target(element="a", region="top", action="becomes b", bbox=(1, 1, 9, 9))
        cases.append(ig.Case(id=f"c{k}", image=f"images/{k}.png", image_size=(300, 200), instruction=f"Edit {k} <i>.", target=target, constraint_nodes=nodes, source="made"))  # fmt: skip
    ig.write_cases(cases, data / "cases.jsonl")
    (data / "dataset.toml").write_text(
        'name = "tiny"\nversion = "1"\nimage_root = "."\nlicence = "none"\nprovenance = "made"\n'
    )
    dataset = ig.load_dataset(data)
    rows = [
        {"case_id": f"c{k}", "condition": c, "model": "m", "text": HOSTILE if c == "direct" else f"Plain {k}. The total 1 becomes 1."}
        for k in range(2) for c in ("direct", "nl_self")
    ]  # fmt: skip
    (folder / "answers.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    import_answers(folder / "answers.jsonl", folder / "run", dataset, collected="by hand")
    if judged:
        marks = [
            {"case_id": "c0", "condition": "direct", "node_id": f"n{i}", "judge": "j", "region": True, "update": i == 1, "reason": True}
            for i in (1, 2)
        ]  # fmt: skip
        (folder / "verdicts.jsonl").write_text("".join(json.dumps(r) + "\n" for r in marks))
        import_verdicts(folder / "verdicts.jsonl", folder / "run", dataset)
    return ig.load_results(folder / "run", dataset=data, judge="j")


def test_the_head_says_what_the_frames_say(run: ig.Results) -> None:
    payload = Payload(run)
    head = payload.head()
    assert len(head["answers"]) == run.responses.height
    marks = dict(zip(head["judges"], head["marks"], strict=True))
    for judge in run.judges:
        rows = run.all_judgments.filter(judge=judge)
        signs = "".join(marks[judge].values())
        assert signs.count("7") == rows["found"].sum()
        assert len(signs) - signs.count("?") == rows["found"].count()
    row = run.all_judgments.filter(~run.all_judgments["found"]).row(0, named=True)
    place = next(
        k for k, a in enumerate(head["answers"])
        if (head["cases"][a[0]]["id"], head["conditions"][a[1]]["id"], head["models"][a[2]], a[3]) == tuple(row[c] for c in ("case_id", "condition", "model", "sample"))
    )  # fmt: skip
    nodes = [n["id"] for n in head["cases"][head["answers"][place][0]]["nodes"]]
    sign = int(marks[row["judge"]][place][nodes.index(row["node_id"])])
    assert sign == 4 * row["region"] + 2 * row["update"] + row["reason"]
    text = run.responses.filter(case_id=row["case_id"], condition=row["condition"])["text"].item()
    assert payload.texts[head["answers"][place][8]] == text


def test_the_cases_behind_a_cell_are_those_of_its_verdicts(run: ig.Results) -> None:
    wanted = {"model": run.models()[0], "condition": "direct", "subtype": "style_layout"}
    cases = run.cases_behind(**wanted, found=False)
    rows = run.judgments.filter(condition="direct", subtype="style_layout", found=False)
    assert sorted(c.id for c in cases) == sorted(set(rows["case_id"]))
    assert cases.cases
    with pytest.raises(UnknownName, match="condition"):
        run.cases_behind(condition="dirct")


def test_the_widget_answers_what_its_page_asks_and_nothing_else(run: ig.Results) -> None:
    shown = explore(run, condition=["direct", "nl_self"], found=False, case="teb-002")
    assert shown.wish == {
        "models": [],
        "conditions": ["direct", "nl_self"],
        "case": "teb-002",
        "outcome": "missed",
    } or shown.wish["conditions"] == ["direct", "nl_self"]
    place = [c["id"] for c in shown.head["cases"]].index("teb-002")
    assert "[user]" in shown.reply({"what": "prompt", "k": place, "condition": "direct"})
    assert shown.reply({"what": "text", "k": 0}) == shown.payload.texts[0]
    for odd in (
        {},
        {"what": "text", "k": -1},
        {"what": "text", "k": 10**9},
        {"what": "picture", "k": "0"},
        {"what": "prompt", "k": 0, "condition": "../x"},
    ):
        assert shown.reply(odd) == ""
    with pytest.raises(UnknownName, match="model"):
        explore(run, model="gpt-9")


def test_a_run_that_is_not_judged_yet_is_shown(tmp_path: Path) -> None:
    page = write_view(made_run(tmp_path, judged=False), tmp_path / "view")
    assert "Not judged yet" in page.read_text(encoding="utf-8")


def chromium() -> str:
    pytest.importorskip("playwright", reason="needs Playwright (extra forge)")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        pytest.skip("needs Chromium (apt-get install chromium)")
    return program


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.mark.parametrize("most", [10**8, 0], ids=["one file", "folder"])
def test_the_page_opens_from_disk_and_steps_and_filters(browser: Any, tmp_path: Path, most: int) -> None:
    page_file = write_view(made_run(tmp_path), tmp_path / "view", one_file=most)
    assert (page_file.parent / "cases").exists() == (most == 0)
    context = browser.new_context(offline=True, viewport={"width": 1300, "height": 800})
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda e: wrong.append(str(e)))
    page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    page.goto(page_file.as_uri() + "#conditions=direct,nl_self&case=c0")
    page.locator(".x-text", has_text="Mind the total").first.wait_for()
    assert page.title() != "taken"
    assert page.locator(".x-panel").count() == 2
    assert HOSTILE.split("\n")[0] in page.locator(".x-text").first.inner_text()
    page.locator('.x-pic img[src*="jp"]').wait_for()
    assert page.locator(".x-pic img").evaluate("e => e.decode().then(() => e.naturalWidth)") == 300
    assert page.locator(".x-nodes li").count() == page.locator(".x-pic g[data-node]").count() == 2
    assert re.findall(r"j: (\S) (\w+)", page.locator(".x-nodes").inner_text())[:1] == [("✓", "found")]
    page.hover(".x-nodes li >> nth=0")
    assert page.locator(".x-pic g.lit").get_attribute("data-node") == "n1"
    assert "total 1 becomes 1" in page.locator(".x-panel >> nth=1").locator("mark").inner_text()
    page.locator(".x-list").focus()
    page.keyboard.press("ArrowRight")
    assert "case=c1" in page.evaluate("location.hash")
    page.get_by_label("Outcome").select_option("missed")
    assert page.locator(".x-count").inner_text() == "1 of 2 cases"
    assert "case=c0" in page.evaluate("location.hash")
    page.locator("details summary").first.click()
    page.locator("details .x-text", has_text="Edit 0 <i>.").first.wait_for()
    assert wrong == []
    context.close()


def test_without_javascript_every_answer_can_be_read(browser: Any, tmp_path: Path) -> None:
    page_file = write_view(made_run(tmp_path), tmp_path / "view", one_file=0)
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(page_file.as_uri())
    page.get_by_role("link", name="c1").click()
    page.locator("summary").first.click()
    assert "Mind the total." in page.locator("pre").first.inner_text()
    assert page.locator("pre img").count() == 0
    context.close()


def test_the_explorer_holds_in_jupyterlab(browser: Any, tmp_path: Path) -> None:
    """A real server, a real kernel, a real page: light and dark, the host's rules for text do not win."""
    import os
    import socket
    import subprocess
    import sys
    import time
    import urllib.request

    import nbformat

    made_run(tmp_path)
    code = 'import icgkit as ig\nig.explore(ig.load_results("./run", dataset="./data", judge="j"), condition=["direct", "nl_self"])'
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])  # type: ignore[no-untyped-call]
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "look.ipynb")  # type: ignore[no-untyped-call]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = {
        "HOME": str(tmp_path),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "c"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "r"),
        "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "s"),
    }
    command = [
        "-m",
        "jupyterlab",
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--ip=127.0.0.1",
        "--IdentityProvider.token=t",
        f"--ServerApp.root_dir={tmp_path}",
    ]
    server = subprocess.Popen([sys.executable, *command], env=os.environ | home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        end = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api?token=t", timeout=2).close()
                break
            except OSError:
                assert (time.monotonic() < end, server.poll()) == (True, None), "the server does not start"
                time.sleep(0.2)
        page = browser.new_page(viewport={"width": 1500, "height": 950})
        page.goto(f"http://127.0.0.1:{port}/lab/tree/look.ipynb?token=t")
        page.wait_for_selector(".jp-CodeCell", timeout=60_000)
        page.get_by_text("| Idle").first.wait_for(timeout=60_000)
        page.keyboard.press("Escape")
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        page.wait_for_selector(".icgx .x-nodes li", timeout=60_000)
        page.locator(".icgx .x-text", has_text="Mind the total").first.wait_for(timeout=30_000)
        assert page.locator(".icgx .x-panel").count() == 2
        assert page.evaluate("getComputedStyle(document.querySelector('.icgx .x-text')).textAlign") in (
            "left",
            "start",
        )
        page.locator('.icgx .x-pic img[src^="data:image/jpeg"]').wait_for(timeout=30_000)
        page.locator(".icgx .x-list").focus()
        page.keyboard.press("ArrowDown")
        assert page.locator(".icgx [aria-current=true] b").inner_text() == "c1"
        page.screenshot(path=str(tmp_path / "lab.png"))
        page.close()
    finally:
        server.terminate()
        server.wait(20)
