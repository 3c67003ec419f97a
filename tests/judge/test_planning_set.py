"""Which constraints plans are measured on."""

from __future__ import annotations

import icgkit as ig
from icgkit.judge.kinds import planning_set


def test_at_most_two_a_case_and_the_same_each_time() -> None:
    data = ig.load_dataset("icg-teb")
    picked = planning_set(data, cases=30, constraints=45)
    assert picked.equals(planning_set(data, cases=30, constraints=45))
    assert picked["case_id"].n_unique() == 30
    assert picked.height <= 45
    assert max(picked.group_by("case_id").len()["len"].to_list()) <= 2
    known = {(c.id, n.id) for c in data for n in c.constraint_nodes}
    assert set(picked.rows()) <= known
    assert not picked.equals(planning_set(data, cases=30, constraints=45, seed=1))
