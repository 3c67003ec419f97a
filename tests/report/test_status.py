"""Rates of every status: what is due, what is missing."""

from __future__ import annotations

import pytest

from icgkit.cases.dataset import load_dataset
from icgkit.report.views import status_rates
from icgkit.schemas import schema


def test_rates_count_what_is_due_and_sum_to_one() -> None:
    data = load_dataset("icg-teb")
    ids = [case.id for case in data][:4]
    base = {"dataset": data.name, "sample": 0, "key": "k"}
    rows = [
        {**base, "case_id": c, "condition": "nl_self", "model": "a", "status": s, "text": t}
        for c, s, t in zip(ids, ["ok", "ok", "error", "refused"], ["[]", "\x00", None, None], strict=True)
    ]
    rows += [{**base, "case_id": ids[0], "condition": "nl_self", "model": "b", "status": "truncated"}]
    rates = {r["model"]: r for r in status_rates(schema("responses").frame(rows), data).iter_rows(named=True)}
    assert rates["a"]["n"] == rates["b"]["n"] == 4
    assert (rates["b"]["truncated"], rates["b"]["missing"]) == (0.25, 0.75)
    assert (rates["a"]["error"], rates["a"]["refused"], rates["a"]["missing"]) == (0.25, 0.25, 0.0)
    for row in rates.values():
        assert sum(v for k, v in row.items() if k not in ("condition", "model", "n")) == pytest.approx(1.0)
