"""Several caches in one table, and which nodes tables count."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import icgkit as ig
from icgkit.errors import SchemaError, UnknownName
from icgkit.files import project_root

BOTH = "icg-teb-mllm,offline-teb"


def test_rows_of_both_and_means_without_the_baselines() -> None:
    run = ig.load_results(BOTH)
    parts = [ig.load_results(name) for name in BOTH.split(",")]
    assert run.judgments.height == sum(p.judgments.height for p in parts)
    assert run.models() == sorted(m for p in parts for m in p.models())
    scores = ig.metrics.recall(run.full, by=("model", "condition"), ci=None)
    for part in parts:
        own = ig.metrics.recall(part.full, by=("model", "condition"), ci=None)
        for row in own.iter_rows(named=True):
            same = scores.filter(model=row["model"], condition=row["condition"])["estimate"].item()
            assert same == row["estimate"]
    assert not any(m.startswith("offline/") for m in run.compared["model"].unique())
    assert parts[1].compared.height == parts[1].full.height, "baselines alone are what is compared"
    notes = "\n".join(run.notes())
    assert all(p.judge in notes and p.name in notes for p in parts)
    assert "interactively" in notes


def test_what_cannot_stand_in_one_table_is_refused() -> None:
    with pytest.raises(SchemaError, match="different datasets"):
        ig.load_results("offline,offline-teb")
    with pytest.raises(SchemaError, match="simulated"):
        ig.load_results("offline,simulated")
    with pytest.raises(SchemaError, match="stands in offline-teb and offline-teb"):
        ig.load_results("offline-teb,offline-teb")
    with pytest.raises(UnknownName, match="nodes"):
        ig.load_results("offline-teb", nodes="target")


def test_nodes_on_the_edited_text_are_counted_only_when_asked_for(tmp_path: Path) -> None:
    """A copy of a shipped run in which one node of one case is marked as lying on the target."""
    data, cache = tmp_path / "data", tmp_path / "run"
    shutil.copytree(project_root() / "data" / "cases" / "icg-teb", data)
    shutil.copytree(project_root() / "data" / "cache" / "icg-teb-mllm", cache)
    lines = (data / "cases.jsonl").read_text(encoding="utf-8").split("\n")
    place = next(k for k, line in enumerate(lines) if line and all(n.get("where") != "target" for n in json.loads(line)["constraint_nodes"]) and len(json.loads(line)["constraint_nodes"]) > 1)  # fmt: skip
    case = json.loads(lines[place])
    case["constraint_nodes"][0]["where"] = "target"
    lines[place] = json.dumps(case, ensure_ascii=False)
    (data / "cases.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (cache / "cases.json").unlink()
    meta = (cache / "run.toml").read_text(encoding="utf-8")
    (cache / "run.toml").write_text(
        "\n".join(x for x in meta.split("\n") if "sha256" not in x), encoding="utf-8"
    )
    elsewhere, everything = (ig.load_results(cache, dataset=data, nodes=n) for n in ("else", "all"))
    node = {"case_id": case["id"], "node_id": case["constraint_nodes"][0]["id"]}
    assert elsewhere.judgments.filter(**node).is_empty()
    left = everything.judgments.height - elsewhere.judgments.height
    assert left >= everything.judgments.filter(**node).height > 0
    assert f"Left out: {left:,d} verdicts on how the edited text itself" in "\n".join(elsewhere.notes())
    rows = ig.views.on_all_nodes(elsewhere, elsewhere.full, by=("model", "condition"))
    assert rows.height
    assert rows["n_total"].sum() == everything.full.height
    assert ig.views.on_all_nodes(everything, everything.full, by=("model", "condition")).is_empty()
