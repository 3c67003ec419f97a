"""Judgments drawn from an effect model: to exercise estimators at scale and to plan studies.

Nothing here is an answer of any model. Every frame has a column `simulated`, and the names of
models, judges and annotators carry the suffix " (simulated)".

The model of one decision: logit P(found) = intercept[model, condition] + offset[condition, subtype]
+ shift[source] + a step[condition] where a case has several nodes + case effect + node effect, both
effects normal. Then the judge errs with a sensitivity and a specificity, and a further judge answers
given the first one's verdict.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError, UnknownName
from icgkit.files import project_root
from icgkit.schemas import schema
from icgkit.taxonomy import SUBTYPES

SUFFIX = " (simulated)"
SOURCES = ("TextEditBench", "Pexels", "other")
Effects = Mapping[str, Any]


def load_effects(path: str | Path | None = None) -> dict[str, Any]:
    """Read an effect model (JSON); by default the one fitted to the published figures."""
    path = Path(path) if path else project_root() / "data" / "cache" / "simulated" / "effects.json"
    if not path.is_file():
        raise SchemaError(f"{path.name}: no such effect model", remedy="run scripts/fit_effects.py")
    effects: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return effects


def design(cases: int = 461, *, nodes: int | None = None, seed: int = 42) -> pl.DataFrame:
    """Lay out cases and nodes with the study's proportions.

    Parameters
    ----------
    cases : int
        Number of cases.
    nodes : int, optional
        Number of nodes; the study's 776 / 461 a case when absent.
    seed : int
        Seed of the layout.

    Returns
    -------
    polars.DataFrame
        One row a node: dataset ("simulated"), case_id, node_id, category, subtype, indirectness,
        source, n_inter (1 where the case has an edge between nodes).

    Examples
    --------
    >>> layout = design()
    >>> layout["case_id"].n_unique(), layout.height, layout.filter(n_inter=1)["case_id"].n_unique()
    (461, 776, 228)
    """
    if cases < 1:
        raise SchemaError("cases", got=cases, allowed="1 or more")
    nodes = round(cases * 776 / 461) if nodes is None else nodes
    if nodes < cases:
        raise SchemaError("nodes", got=nodes, allowed=f"at least one a case ({cases})")
    rng = np.random.default_rng([seed, 1])
    with_inter = min(round(cases * 228 / 461), nodes - cases)
    per_case = np.ones(cases, dtype=np.int64)
    per_case[:with_inter] += 1
    np.add.at(per_case, rng.integers(0, max(with_inter, 1), size=nodes - cases - with_inter), 1)
    case = np.repeat(np.arange(cases), per_case)
    ids = list(SUBTYPES)
    share = np.array([_SHARES[s] for s in ids], dtype=np.float64)
    quota = np.floor(share / share.sum() * nodes + 1e-9).astype(np.int64)
    quota[np.argsort(share)[::-1][: nodes - quota.sum()]] += 1
    kind = rng.permutation(np.repeat(np.arange(len(ids)), quota))
    source = rng.choice(len(SOURCES), size=cases, p=[0.4, 0.35, 0.25])
    first = np.concatenate([[0], np.cumsum(per_case)[:-1]])
    return pl.DataFrame(
        {
            "dataset": ["simulated"] * nodes,
            "case_id": [f"sim-{i + 1:06d}" for i in case],
            "node_id": [f"n{i + 1}" for i in np.arange(nodes) - first[case]],
            "category": [SUBTYPES[ids[k]].category for k in kind],
            "subtype": [ids[k] for k in kind],
            "indirectness": [SUBTYPES[ids[k]].indirectness for k in kind],
            "source": [SOURCES[i] for i in source[case]],
            "n_inter": (per_case[case] > 1).astype(np.int64),
        }
    )


# Nodes a subtype at the paper's scale: categories as in its audit sample (34:11:33:35:43), none below 14.
_SHARES = {
    "physical_reflection": 52, "physical_shadow": 40, "physical_perspective": 45, "physical_occlusion": 32,
    "spatial_mirror": 16, "spatial_symmetry": 14, "spatial_repetition": 26,
    "semantic_numerical": 28, "semantic_categorical": 50, "semantic_functional": 34,
    "semantic_promotional": 26, "semantic_visual_data": 26,
    "style_font": 48, "style_color": 44, "style_layout": 46, "style_material": 36,
    "xmod_scene": 101, "xmod_temporal": 56, "xmod_cultural": 56,
}  # fmt: skip


def probabilities(
    effects: Effects, layout: pl.DataFrame, models: Sequence[str], conditions: Sequence[str], *, seed: int
) -> NDArray[np.float64]:
    """Draw the random effects and return P(found) for every (node, model, condition)."""
    case = case_codes(layout)
    rng = np.random.default_rng([seed, 2])
    noise = effects["case_sd"] * rng.standard_normal(case.max() + 1)[case]
    noise = noise + effects["node_sd"] * rng.standard_normal(layout.height)
    shift = effects.get("source", {})
    if "source" in layout.columns:
        noise = noise + np.array([shift.get(s, 0.0) for s in layout["source"]])
    several = np.bincount(case)[case] > 1
    subtype = layout["subtype"].to_list()
    eta = np.empty((layout.height, len(models), len(conditions)))
    for k, condition in enumerate(conditions):
        offset = np.array([effects["offset"][condition][s] for s in subtype])
        offset = offset + effects.get("several_nodes", {}).get(condition, 0.0) * several
        for m, model in enumerate(models):
            eta[:, m, k] = effects["intercept"][model][condition] + offset + noise
    return np.asarray(1 / (1 + np.exp(-eta)))


def case_codes(layout: pl.DataFrame) -> NDArray[np.int64]:
    """Return a whole number from 0 for each node, the same in one case."""
    return layout.select(dense=layout["case_id"].rank("dense") - 1)["dense"].to_numpy().astype(np.int64)


def judgments(
    effects: Effects | None = None,
    *,
    cases: int | pl.DataFrame = 461,
    models: Sequence[str] | None = None,
    conditions: Sequence[str] | None = None,
    judges: Sequence[str] | None = None,
    missing: float | None = None,
    truth: bool = False,
    seed: int = 42,
) -> pl.DataFrame:
    """Draw judgments of nodes under conditions.

    Parameters
    ----------
    effects : mapping, optional
        Effect model; by default the one fitted to the published figures.
    cases : int or frame
        Number of cases (laid out by `design`), or a frame with one row a node.
    models, conditions : sequence of str, optional
        Some of the effect model's; all by default. `oracle_no_inter` covers cases with edges between
        nodes only.
    judges : sequence of str, optional
        The primary judge alone by default; further judges are added where the model covers the condition.
    missing : float, optional
        Share of verdicts that are missing, 0 to 1; the effect model's own by default.
    truth : bool
        Add a column `truth`: what an unerring judge would say.
    seed : int
        Seed of everything.

    Returns
    -------
    polars.DataFrame
        Schema `judgments`, with `category`, `subtype`, `indirectness`, `source` and `simulated` (true).

    Raises
    ------
    UnknownName
        For a model, condition or judge that the effect model lacks.

    Examples
    --------
    >>> frame = judgments(cases=20, conditions=["direct", "oracle"], seed=1)
    >>> frame["simulated"].all(), sorted(frame["condition"].unique())
    (True, ['direct', 'oracle'])
    """
    effects = load_effects() if effects is None else effects
    layout = design(cases, seed=seed) if isinstance(cases, int) else cases
    usual = [m for m in effects["models"] if m not in effects.get("aside", [])]
    models = _chosen("model", models, usual, effects["models"])
    conditions = _chosen("condition", conditions, effects["conditions"], effects["conditions"])
    primary = effects["primary_judge"]
    judges = _chosen("judge", judges, [primary], [primary, *effects.get("judges", {})])
    share = effects.get("missing", 0.0) if missing is None else missing
    p = probabilities(effects, layout, models, conditions, seed=seed)
    rng = np.random.default_rng([seed, 3])
    real = rng.random(p.shape) < p
    error = effects["judge_error"]
    verdict = np.where(
        real, rng.random(p.shape) < error["sensitivity"], rng.random(p.shape) >= error["specificity"]
    )
    parts = []
    for name in judges:
        rng = np.random.default_rng([seed, 4, *name.encode()])
        for k, condition in enumerate(conditions):
            said = verdict[:, :, k]
            if name != primary:
                table = effects["judges"][name].get(condition)
                if table is None:
                    continue
                said = rng.random(said.shape) < np.where(said, table["if_found"], table["if_not"])
            parts.append(_rows(layout, models, condition, name, said, real[:, :, k], share, rng))
    frame = schema("judgments").check(pl.concat(parts))
    return frame if truth else frame.drop("truth")


def _chosen(kind: str, got: Sequence[str] | None, default: Sequence[str], known: Sequence[str]) -> list[str]:
    if got is None:
        return list(default)
    names = [g if g in known or g + SUFFIX not in known else g + SUFFIX for g in got]
    for name in names:
        if name not in known:
            raise UnknownName.among(kind, name, known)
    return names


def _rows(
    layout: pl.DataFrame, models: Sequence[str], condition: str, judge: str,
    said: NDArray[np.bool_], real: NDArray[np.bool_], share: float, rng: np.random.Generator,
) -> pl.DataFrame:  # fmt: skip
    """Lay out one condition and judge; a verdict "not found" fails in one to three of its parts."""
    keep = (
        (layout["n_inter"] > 0).to_numpy() if condition == "oracle_no_inter" else np.ones(layout.height, bool)
    )
    shown = ("dataset", "case_id", "node_id", "category", "subtype", "indirectness", "source")
    base = layout.filter(keep).select(c for c in shown if c in layout.columns)
    found = said[keep].T.ravel()
    gone = pl.Series(rng.random(found.shape) < share)
    depth = rng.random(found.shape)  # first part that fails: region 70 %, update 18 %, reason 12 %
    parts = {
        "region": found | (depth > 0.7),
        "update": found | (depth > 0.88),
        "reason": found,
        "found": found,
    }
    frame = pl.concat([base.with_columns(model=pl.lit(m)) for m in models])
    verdicts = {name: pl.Series(v).set(gone, None) for name, v in parts.items()}
    return frame.with_columns(
        condition=pl.lit(condition),
        sample=pl.lit(0, dtype=pl.Int64),
        judge=pl.lit(judge),
        status=pl.Series(np.where(gone.to_numpy(), "no_response", "ok").tolist()),
        simulated=pl.lit(True),
        truth=pl.Series(real[keep].T.ravel()),
        **verdicts,
    )


def effect_model(
    *,
    models: int = 4,
    recall: float = 0.45,
    effect: float = 0.04,
    conditions: Sequence[str] = ("direct", "target"),
    case_sd: float = 1.0,
    node_sd: float = 0.7,
    missing: float = 0.0,
) -> dict[str, Any]:
    """Build a small effect model: equal models, a reference recall and one difference.

    Parameters
    ----------
    models : int
        Number of models.
    recall : float
        Mean recall under the first condition, 0 to 1.
    effect : float
        Difference of mean recall under the other conditions.
    case_sd, node_sd : float
        Standard deviations of the random effects, in log odds.

    Examples
    --------
    >>> sorted(effect_model(models=1)["intercept"])
    ['model-1 (simulated)']
    """
    if not 0 < recall < 1 or not 0 < recall + effect < 1:
        raise SchemaError("recall and recall + effect", got=(recall, effect), allowed="between 0 and 1")
    sd = float(np.hypot(case_sd, node_sd))
    levels = [intercept_for(recall, sd), *(intercept_for(recall + effect, sd) for _ in conditions[1:])]
    names = [f"model-{i + 1}{SUFFIX}" for i in range(models)]
    return {
        "simulated": True,
        "models": names,
        "conditions": list(conditions),
        "intercept": {m: dict(zip(conditions, levels, strict=True)) for m in names},
        "offset": {c: dict.fromkeys(SUBTYPES, 0.0) for c in conditions},
        "case_sd": case_sd,
        "node_sd": node_sd,
        "judge_error": {"sensitivity": 1.0, "specificity": 1.0},
        "primary_judge": "unerring judge" + SUFFIX,
        "missing": missing,
    }


def intercept_for(mean: float, sd: float) -> float:
    """Find a with E[1 / (1 + exp(-(a + sd Z)))] = mean, Z standard normal."""
    points, weights = np.polynomial.hermite_e.hermegauss(41)
    weights = weights / weights.sum()
    return bisect(lambda a: float(weights @ (1 / (1 + np.exp(-(a + sd * points))))), mean, 40.0, 80)


def bisect(rising: Callable[[float], float], level: float, bound: float, steps: int) -> float:
    """Find where a rising function is at a level, between -bound and bound, by halving."""
    low, high = -bound, bound
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < level else (low, middle)
    return (low + high) / 2
