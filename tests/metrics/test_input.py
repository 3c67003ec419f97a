"""What goes in: every kind of frame, one rule for missing values, errors that help."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import polars as pl
import pytest

from icgkit import metrics
from icgkit.errors import SchemaError, UnknownName
from icgkit.metrics import _input, _sums

FRAME = pl.DataFrame(
    {
        "dataset": ["d"] * 6,
        "case_id": list("aabbcc"),
        "model": ["m", "k"] * 3,
        "condition": ["direct"] * 6,
        "planted": [True, False, None, True, False, None],
        "found": [True, None, False, True, True, False],
    }
)


class Arrow:
    """Hands over a frame by the Arrow C stream alone."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    def __arrow_c_stream__(self, requested: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested)


def as_pandas(frame: pl.DataFrame) -> Any:
    import pandas as pd

    return pd.DataFrame(frame.to_dict(as_series=False))


def as_pandas_with_nan(frame: pl.DataFrame) -> Any:
    # A Boolean column with gaps often arrives as 1.0, 0.0 and NaN.
    made = as_pandas(frame)
    made["found"] = [math.nan if v is None else float(v) for v in frame["found"]]
    return made


@pytest.mark.parametrize("convert", [pl.DataFrame.lazy, Arrow, as_pandas, as_pandas_with_nan])
def test_every_kind_of_frame(convert: Any) -> None:
    want = metrics.recall(FRAME, ci=metrics.Bootstrap(100))
    assert metrics.recall(convert(FRAME), ci=metrics.Bootstrap(100)).equals(want)


def test_other_things_are_refused_by_name() -> None:
    with pytest.raises(SchemaError, match="not a data frame; got 'list'"):
        metrics.recall([1, 2, 3])
    with pytest.raises(SchemaError, match="missing column model"):
        metrics.recall(FRAME.drop("model"))
    with pytest.raises(UnknownName, match="did you mean 'macro'"):
        metrics.recall(FRAME, average="makro")  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="level"):
        metrics.recall(FRAME, ci=metrics.Bootstrap(level=95))


def test_nan_of_polars_is_an_error() -> None:
    with pytest.raises(SchemaError, match="neither 0 nor 1"):
        metrics.recall(FRAME.with_columns(found=pl.lit(math.nan)))
    with pytest.raises(SchemaError, match="NaN"):
        _input.eager(pl.DataFrame({"x": [math.nan]}), ["x"])


@pytest.mark.parametrize("by", [["model", "planted"], ["planted"], ["dataset", "model"], []])
def test_batches_count_as_groups_do(by: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    unit = ["dataset", "case_id"]
    want = _sums.count(FRAME, pl.col("found"), by, unit)
    monkeypatch.setattr(_sums, "BATCH", 1)
    got = _sums.count(FRAME.lazy(), pl.col("found"), by, unit)
    assert got.cells.equals(want.cells)
    assert got.units.equals(want.units)
    for name in ("positive", "scored", "total"):
        assert (getattr(got, name) == getattr(want, name)).all()


def test_several_datasets_keep_their_cases_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    two = pl.concat([FRAME, FRAME.with_columns(dataset=pl.lit("e"), found=pl.lit(True))])
    by = ["dataset", "condition"]
    want = metrics.recall(two, by=by, pooling="pooled", ci=metrics.Bootstrap(100))
    assert want["n_cases"].to_list() == [3, 3]
    # Scored case-model pairs of d: 1, 0, 1, 1, 0; of e all 1.
    assert want["estimate"].to_list() == pytest.approx([0.6, 1.0])
    monkeypatch.setattr(_sums, "BATCH", 1)
    assert metrics.recall(two.lazy(), by=by, pooling="pooled", ci=metrics.Bootstrap(100)).equals(want)


def test_too_many_cells_fall_back_to_grouping(monkeypatch: pytest.MonkeyPatch) -> None:
    want = metrics.recall(FRAME, ci=metrics.Bootstrap(100))
    monkeypatch.setattr(_sums, "DENSE", 1)
    assert metrics.recall(FRAME.lazy(), ci=metrics.Bootstrap(100)).equals(want)


def test_import_loads_neither_scipy_nor_statsmodels_nor_pandas() -> None:
    code = (
        "import sys, icgkit.metrics;"
        "print([m for m in ('scipy', 'statsmodels', 'pandas', 'matplotlib', 'litellm') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
