"""Datasets and runs in the forms of other programs: each is opened by that program."""

from __future__ import annotations

import base64
import importlib.util
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from PIL import Image
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import icgkit as ig
from icgkit.cli import app
from icgkit.errors import CallError, SchemaError
from icgkit.exchange import boxes, harnesses, hub, inspect_tasks, other

datasets = pytest.importorskip("datasets", reason="extra exchange is not installed")
inspect_ai = pytest.importorskip("inspect_ai", reason="extra exchange is not installed")


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    # Inspect counts tokens with a vocabulary that it would download; litellm's wheel has the same file.
    (package,) = importlib.util.find_spec("litellm").submodule_search_locations  # type: ignore[union-attr,misc]
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", f"{package}/litellm_core_utils/tokenizers")


@pytest.fixture(scope="module")
def few() -> ig.Dataset:
    data = ig.load_dataset("icg-scenes")
    return data.subset([case.id for case in data][:5])


def texts(data: ig.Dataset) -> list[str]:
    return [case.to_json() for case in data]


def test_a_dataset_goes_to_a_hub_folder_and_comes_back_the_same(few: ig.Dataset, tmp_path: Path) -> None:
    folder = hub.write_hub(few, tmp_path / "hub")
    opened = datasets.load_dataset(str(folder), few.name, split="test")
    assert opened["case_id"] == [case.id for case in few]
    first, case = opened[0], few[0]
    assert first["image"].size == case.image_size
    assert [n["subtype"] for n in first["nodes"]] == [n.subtype for n in case.constraint_nodes]
    assert first["nodes"][0]["bbox"] == pytest.approx(case.constraint_nodes[0].bbox)
    back = hub.read_hub(folder, tmp_path / "back")
    assert texts(back) == texts(few)
    assert (back.version, back.licence, back.provenance) == (few.version, few.licence, few.provenance)
    assert [c.image_path.read_bytes() for c in back] == [c.image_path.read_bytes() for c in few]


def test_a_hub_folder_of_a_stranger_leads_nowhere(few: ig.Dataset, tmp_path: Path) -> None:
    folder = hub.write_hub(few, tmp_path / "hub")
    path = folder / "data" / "test.parquet"
    table = pl.read_parquet(path)
    odd = table.with_columns(pl.col("case").str.replace(few[0].image, "../../out.png", literal=True))
    odd.write_parquet(path)
    with pytest.raises(ig.errors.ImageError, match="out"):
        hub.read_hub(folder, tmp_path / "back")
    assert not (tmp_path / "out.png").exists()
    table.drop("case").write_parquet(path)
    with pytest.raises(SchemaError, match="no column case"):
        hub.read_hub(folder, tmp_path / "back")
    with pytest.raises(SchemaError, match="is missing"):
        hub.read_hub(tmp_path, tmp_path / "back")


def test_a_run_goes_out_and_its_answers_come_back(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr", reason="the run's models are offline ones")
    run = ig.load_results("offline")
    folder = hub.write_hub_run(run, tmp_path)
    opened = datasets.load_dataset(str(folder), "responses", split="test")
    assert opened.num_rows == run.responses.height
    judged = datasets.load_dataset(str(folder), "judgments", split="test")
    assert judged.num_rows == run.all_judgments.height
    card = yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])
    assert [c["config_name"] for c in card["configs"]] == ["responses", "judgments"]
    some = pl.read_parquet(folder / "data/responses.parquet").filter(condition="direct").head(40)
    some.write_parquet(tmp_path / "some.parquet")
    told = CliRunner().invoke(
        app,
        ["import", "answers", str(tmp_path / "some.parquet"), "--cache", str(tmp_path / "c"), "--dataset", run.dataset.name],
    )  # fmt: skip
    assert told.exit_code == 0, told.output
    again = ig.load_responses(tmp_path / "c")
    key = ["case_id", "model", "condition", "sample"]
    assert_frame_equal(again.select(*key, "text").sort(key), some.select(*key, "text").sort(key))


def test_boxes_are_opened_by_coco_tools_and_come_back(few: ig.Dataset, tmp_path: Path) -> None:
    from pycocotools.coco import COCO

    path = boxes.write_coco(few, tmp_path)
    coco = COCO(str(path))
    names = {c["id"]: c["name"] for c in coco.loadCats(coco.getCatIds())}
    for case in few:
        (image,) = [i for i in coco.dataset["images"] if i["file_name"] == case.image]
        found = coco.loadAnns(coco.getAnnIds(imgIds=[image["id"]]))
        want = [(n.subtype, n.bbox) for n in case.constraint_nodes if n.bbox]
        got = [
            (names[a["category_id"]], (a["bbox"][0], a["bbox"][1], a["bbox"][0] + a["bbox"][2], a["bbox"][1] + a["bbox"][3]))
            for a in found
            if a["node_id"]
        ]  # fmt: skip
        assert got == want
        with Image.open(tmp_path / "data" / case.image) as picture:
            assert picture.size == (image["width"], image["height"])
    back = boxes.read_coco(path)
    assert {row["case_id"] for row in back} == {case.id for case in few}
    assert [r["subtype"] for r in back if "subtype" in r] == [
        n.subtype for c in few for n in c.constraint_nodes
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "no COCO file"),
        ('{"images": [{}], "annotations": []}', "need id and file_name"),
        ('{"images": [], "annotations": [{"bbox": [1, 2, 3]}]}', "annotation 0"),
    ],
)
def test_a_broken_coco_file_says_where(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(SchemaError, match=said):
        boxes.read_coco(tmp_path / "x.json")


def theirs(test: Callable[..., None]) -> Callable[..., None]:
    """Let pass what Inspect itself does with deprecated parameters and streams that it leaves open."""
    for words in (
        "ignore::DeprecationWarning",
        "ignore::ResourceWarning",
        "ignore::pytest.PytestUnraisableExceptionWarning",
    ):
        test = pytest.mark.filterwarnings(words)(test)
    return test


def asked(dataset: ig.Dataset, folder: Path, **options: Any) -> Path:
    """Let Inspect itself run the task; its own mock model answers with a fixed text."""
    from inspect_ai.model import ModelOutput, get_model

    outputs = [ModelOutput.from_content("mockllm/model", f"1. answer {k}") for k in range(20)]
    model = get_model("mockllm/model", custom_outputs=outputs)
    task = inspect_tasks.make_task(dataset, "nl_self")
    (log,) = inspect_ai.eval(
        task,
        model=model,
        log_dir=str(folder),
        display="none",
        max_connections=1,
        log_format="eval",
        **options,
    )
    assert log.status == "success", log.error
    return Path(log.location.removeprefix("file://"))


@theirs
def test_inspect_asks_what_we_would_ask_and_its_answers_come_in(few: ig.Dataset, tmp_path: Path) -> None:
    path = asked(few, tmp_path / "logs", epochs=2)
    cache = tmp_path / "cache"
    told = CliRunner().invoke(
        app, ["import", "answers", str(path), "--cache", str(cache), "--dataset", few.name]
    )
    assert told.exit_code == 0, told.output
    got = ig.load_responses(cache)
    assert got.height == 10
    assert set(got["case_id"]) == {case.id for case in few}
    assert got["text"].str.starts_with("1. answer").all()
    assert set(got["condition"]) == {"nl_self"}
    # What Inspect sent is what we send: the import checks the hash of prompt and picture.
    task = inspect_tasks.make_task(few, "nl_self")
    sent: Any = task.dataset[0].input[-1].content  # type: ignore[union-attr]
    ours = ig.build_messages(few[0], "nl_self")[-1]["content"]
    assert [p.image for p in sent if p.type == "image"] == [
        p["image_url"]["url"] for p in ours if p["type"] == "image_url"
    ]
    assert [p.text for p in sent if p.type == "text"] == [p["text"] for p in ours if p["type"] == "text"]


@theirs
def test_any_log_of_inspect_is_compared_in_pairs_and_clusters(tmp_path: Path) -> None:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import includes

    right = {"a": "1100 1010", "b": "1110 1111"}
    for name, marks in right.items():
        marks = marks.replace(" ", "")
        samples = [
            Sample(input=f"q{k}", target="yes", id=k, metadata={"passage": f"p{k // 2}"})
            for k in range(len(marks))
        ]
        outputs = [ModelOutput.from_content("mockllm/model", "yes" if m == "1" else "no") for m in marks]
        model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
        inspect_ai.eval(
            Task(dataset=samples, scorer=includes(), name=f"task-{name}"), model=model, log_dir=str(tmp_path),
            display="none", max_connections=1, max_samples=1,
        )  # fmt: skip
    frame = inspect_tasks.read_logs(tmp_path, keep=["passage"])
    assert frame.height == 16
    assert frame.columns[:6] == ["log", "task", "model", "case_id", "sample", "scorer"]
    means = ig.metrics.mean(frame, "value", by="task", ci=ig.Bootstrap(200, cluster="passage"))
    assert means.sort("task")["estimate"].to_list() == [4 / 8, 7 / 8]
    assert means["n_clusters"].to_list() == [4, 4]
    contrast = ig.Contrast("task", "task-a", on="case_id")
    found = ig.metrics.differences(
        frame, contrast, value="value", by=(), ci=ig.Bootstrap(200, cluster="passage")
    )
    assert found["estimate"].to_list() == [pytest.approx(3 / 8)]


def test_what_is_no_log_or_not_ours_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.eval").write_bytes(b"PK nothing")
    with pytest.raises(SchemaError, match="no log of Inspect"):
        inspect_tasks.read_logs(tmp_path / "x.eval")
    with pytest.raises(CallError, match=r"icgkit\[exchange\]"):
        other("no_such_package_anywhere")


def test_harness_forms_hold_prompt_and_picture(few: ig.Dataset, tmp_path: Path) -> None:
    path = harnesses.write_vlmevalkit(few, "nl_self", tmp_path)
    table = pl.read_csv(path, separator="\t")
    assert table["index"].to_list() == [0, 1, 2, 3, 4]
    assert Image.open(io.BytesIO(base64.b64decode(table["image"][0]))).size[0] > 100
    assert few[0].instruction in table["question"][0]
    task = harnesses.write_lmms_eval(few, "nl_self", tmp_path / "lmms")
    yaml.SafeLoader.add_constructor("!function", lambda loader, node: node.value)
    config = yaml.safe_load(task.read_text())
    rows = datasets.load_dataset(config["dataset_path"], split="test", **config["dataset_kwargs"])
    spec = importlib.util.spec_from_file_location("utils", task.parent / "utils.py")
    assert spec is not None
    assert spec.loader is not None
    utils = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(utils)
    assert utils.doc_to_text(rows[0]) == table["question"][0]
    assert utils.doc_to_visual(rows[0])[0].mode == "RGB"
    assert utils.process_results(rows[0], [" "]) == {"answered": 0.0}
    with pytest.raises(SchemaError, match="chain"):
        harnesses.write_vlmevalkit(few, "discover_verify", tmp_path)


def test_the_commands_write_and_read(few: ig.Dataset, tmp_path: Path) -> None:
    small = tmp_path / "small"
    hub.read_hub(hub.write_hub(few, tmp_path / "h"), small)
    run = CliRunner()
    for words in (
        ["export", "hub", str(small), "--out", str(tmp_path / "hub")],
        ["import", "hub", str(tmp_path / "hub"), "--out", str(tmp_path / "again")],
        ["export", "coco", "--dataset", str(small), "--out", str(tmp_path / "coco")],
        ["import", "coco", str(tmp_path / "coco/labels.json"), "--out", str(tmp_path / "boxes.jsonl")],
        [
            "export",
            "harness",
            "vlmevalkit",
            "--dataset",
            str(small),
            "--condition",
            "direct",
            "--out",
            str(tmp_path / "v"),
        ],
    ):
        told = run.invoke(app, words)
        assert told.exit_code == 0, (words, told.output)
    assert texts(ig.load_dataset(tmp_path / "again")) == texts(few)
    rows = [json.loads(line) for line in (tmp_path / "boxes.jsonl").read_text().splitlines()]
    assert len(rows) == sum(1 + len(c.constraint_nodes) for c in few)
    wrong = run.invoke(
        app, ["export", "harness", "vlmeval", "--dataset", str(small), "--condition", "direct", "--out", "x"]
    )
    assert wrong.exit_code == 2
    assert "vlmevalkit" in wrong.output
