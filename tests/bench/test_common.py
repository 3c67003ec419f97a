"""What the sibling benchmarks share: counts behind printed rates, paired means, words of tables."""

from __future__ import annotations

import tomllib
from pathlib import Path

import polars as pl
import pytest

import icgkit as ig
from icgkit.bench import common
from icgkit.errors import SchemaError

ROOT = Path(__file__).resolve().parents[2]
WORDS = tomllib.loads((ROOT / "icgkit" / "bench" / "tables.toml").read_text(encoding="utf-8"))
IDS = [name for name in WORDS if name.startswith("B-")]


def test_a_printed_rate_as_a_count_by_hand() -> None:
    # 51.3 % of 150 is 77 (51.33); of 2,000 it is 1,025 to 1,027; 24.7 % of 520 is none.
    assert common.count_of(51.3, 150)["k"] == 77
    wide = common.count_of(51.3, 2000)
    assert (wide["k"], wide["k_low"], wide["k_high"]) == (None, 1025, 1027)
    assert wide["low"] < 51.25 < 51.35 < wide["high"]
    assert set(common.count_of(24.7, 520).values()) == set(common.count_of(None, 520).values()) == {None}


def test_means_of_pairs_by_hand() -> None:
    rows = pl.DataFrame(
        {"m": "a", "case_id": ["w", "x", "y", "z"], "one": [1.0, 0.0, 0.0, None], "two": [1.0, 1.0, 1.0, 9.0]}
    )
    got = common.paired_means(rows, "one", "two", by=["m"], ci=ig.Bootstrap(50)).row(0, named=True)
    # z has no first side: three pairs, means 1/3 and 1.
    assert (got["n_pairs"], got["n_missing"], got["two"]) == (3, 1, 1.0)
    assert (got["one"], got["estimate"]) == (pytest.approx(1 / 3), pytest.approx(2 / 3))


def test_lines_name_their_place(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": "\xe2\x80\xa8"}\n\n[1]\n')
    assert list(common.json_lines(path)) == [
        (1, "a.jsonl, line 1", {"a": "\u2028"}),
        (3, "a.jsonl, line 3", [1]),
    ]
    path.write_bytes(b"{}\n{")
    with pytest.raises(SchemaError, match=r"x/a\.jsonl, line 2: not JSON"):
        list(common.json_lines(path, "x/a.jsonl"))


@pytest.mark.parametrize("name", IDS)
def test_words_of_a_table_are_used_and_name_its_columns(name: str) -> None:
    notebooks = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "notebooks").glob("B_*.ipynb"))
    assert f'\\"{name}\\"' in notebooks
    told = WORDS[WORDS[name]["like"]] | WORDS[name] if "like" in WORDS[name] else WORDS[name]
    stored = (ROOT / "figures" / f"{name}.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    formatted = {c for columns in told.get("formats", {}).values() for c in columns}
    spanned = {c for columns in told.get("spanners", {}).values() for c in columns}
    shown = set(told.get("columns", stored))
    assert formatted | spanned <= shown | {"D_interval"}
    # Steps of UniKE are pivoted, and ratios are shown with their intervals.
    assert shown - set(stored) <= {"efficacy", "reasoning", "vqa", "shown"}
