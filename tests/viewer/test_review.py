"""A judge's verdicts labelled blind: what is shown, where labels go, what is known at once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import icgkit as ig
from icgkit.errors import UnknownName


def test_labels_are_blind_and_go_where_forms_go(tmp_path: Path) -> None:
    shutil.copytree(ig.load_results("icg-teb-mllm").folder, tmp_path / "run")
    (tmp_path / "run" / "gold.parquet").unlink(missing_ok=True)
    run = ig.load_results(tmp_path / "run")
    shown = ig.review(run, n=40)
    assert '"found"' not in json.dumps(shown.head)
    sizes = shown.drawn.group_by("model", "condition").len()["len"]
    assert sizes.max() == sizes.min()
    assert shown.drawn.equals(ig.review(run, n=40).drawn)
    for k, found in enumerate(shown.drawn["found"][:6]):
        said = shown.reply({"what": "label", "k": k, "gold": found if k else not found})
        assert said.startswith(f"saved · {k + 1} labelled")
    assert shown.labels().height == 6
    assert shown.agreement()["raw"].item() == pytest.approx(5 / 6)
    assert shown.reply({"what": "label", "k": -1, "gold": True}) == ""
    assert [i["gold"] is not None for i in ig.review(run, n=40).head["items"]][:7] == [True] * 6 + [False]
    with pytest.raises(UnknownName, match="gold"):
        ig.review(run, kind="audit")
