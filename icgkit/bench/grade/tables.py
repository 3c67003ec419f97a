"""GRADE's tables: ours beside the published ones, what can be recomputed, counts of printed figures."""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from icgkit.bench.common import count_of
from icgkit.bench.grade.files import PARTS
from icgkit.bench.grade.scores import MEASURES, WEIGHTS
from icgkit.cases.dataset import load_published
from icgkit.report.published import beside_rows
from icgkit.report.tables import interval

PROGRAMMED = "programmed, drawn set"
"""What rows of the drawn set are called: each editor is a program that does what its name says."""
_ABLATED = ("reasoning", "consistency", "readability", "strict")
_PRINTED = ("reasoning", "consistency", "readability", "strict_accuracy")


def printed_n() -> dict[str, int]:
    """Return the sizes that the paper states: `tasks` (the set) and `ablation` (the subset of Table 5)."""
    return {name: int(n) for name, n in load_published("grade_facts").select("id", "value").iter_rows()}


def _counted(value: float | None, n: int) -> dict[str, Any]:
    """Return a printed percentage as `k` of n, `k_low`, `k_high` (its interval), and `count` in words."""
    got = count_of(value, n)
    many = (
        "no k" if got["k_low"] is None else "-".join(dict.fromkeys((str(got["k_low"]), str(got["k_high"]))))
    )
    return {
        "k": got["k"],
        "k_low": got["low"],
        "k_high": got["high"],
        "count": None if value is None else f"{many} of {n}",
    }


def leaderboard() -> pl.DataFrame:
    """Return the published leaderboard (percent), `relaxed_set` of its dimensions, what does not fit in it.

    A model for which two sources disagree has a row for each, and says so in `flag`; neither is corrected.
    """
    rows = []
    for row in load_published("grade").filter(id="leaderboard").iter_rows(named=True):
        note = row.pop("note") or ""
        numbers = [float(x) for x in re.findall(r"(?<![\w.])\d+\.\d+", note.replace("FLUX.2", ""))]
        if len(numbers) < len(_PRINTED):
            rows.append(row | {"flag": note or None})
            continue
        other = row | dict(zip(_PRINTED, numbers, strict=False)) | {"where": "GRADE Table 1"}
        values = "; ".join(f"{n.split('_')[0]} {row[n]} or {other[n]}" for n in _PRINTED)
        flag = f"two published values, both kept: {values}"
        if len(numbers) > len(_PRINTED):
            flag += f"; the text beside Table 1 says consistency {numbers[4]}"
        rows += [row | {"flag": flag}, other | {"flag": flag}]
    total = pl.sum_horizontal([pl.col(n) * w for n, w in WEIGHTS.items()])
    frame = pl.DataFrame(rows, infer_schema_length=None).with_columns(relaxed_set=total)
    return frame.select("model", "where", *_PRINTED, "relaxed_set", "flag")


def _intervals(rows: pl.DataFrame, *columns: str) -> pl.Series:
    shown = [interval(e, low, high, ".1f") for e, low, high in rows.select(columns).iter_rows()]
    return pl.Series("interval", shown, dtype=pl.String)


def board_beside(scores: pl.DataFrame) -> pl.DataFrame:
    """Put set scores of our editors (`set_scores` by model) below the published leaderboard.

    `model`, `where`, `programmed`, the measures in percent (null where the source prints none; the printed
    strict accuracy is `strict_public`), `interval` of strict accuracy (printed: exact, of the count; ours:
    bootstrap), `k`, `k_low`, `k_high`, `count` (see `counted`), `n`, `flag`.
    """
    wide = scores.pivot("measure", index="model", values="estimate", maintain_order=True)
    strict = scores.filter(measure="strict").select("model", "low", "high", n="n_scored", _e="estimate")
    ours = wide.join(strict, on="model", how="left", maintain_order="left")
    ours = ours.with_columns(_intervals(ours, "_e", "low", "high"), where=pl.lit(PROGRAMMED), programmed=True)
    size, theirs = printed_n()["tasks"], leaderboard().rename({"strict_accuracy": "strict_public"})
    found = pl.DataFrame([_counted(v, size) for v in theirs["strict_public"]], infer_schema_length=None)
    theirs = pl.concat([theirs, found], how="horizontal")
    exact = _intervals(theirs, "strict_public", "k_low", "k_high")
    theirs = theirs.with_columns(exact, n=pl.lit(size, pl.Int64), programmed=False)
    tail = ["interval", "k", "k_low", "k_high", "count", "n", "flag"]
    return beside_rows(ours, theirs, ["model", "where", "programmed", *MEASURES, *tail])


def checks() -> pl.DataFrame:
    """Return what can be recomputed from the published figures, in the form that `icgkit.save` takes."""
    board = leaderboard()
    relaxed = load_published("grade").filter(id="relaxed").row(0, named=True)
    rows = [
        {"quantity": "relaxed score from the three means", "model": relaxed["model"],
         "where": relaxed["where"], "ours": board.filter(model=relaxed["model"])["relaxed_set"][0],
         "published": relaxed["relaxed"], "unit": "percent",
         "note": "the form over dimension means gives the printed value"},
    ]  # fmt: skip
    readme, seed = board.filter(pl.col("flag").is_not_null()).sort("consistency").iter_rows(named=True)
    for name in _PRINTED:
        rows.append(
            {"quantity": f"{name.replace('_', ' ')}: one source (as ours) and the other",
             "model": readme["model"], "where": f"{readme['where']}; {seed['where']}", "ours": readme[name],
             "published": seed[name], "unit": "percent",
             "note": "published twice with different values; neither is corrected"}
        )  # fmt: skip
    return pl.DataFrame(rows)


def ablation_beside(compared: pl.DataFrame) -> pl.DataFrame:
    """Put our comparison of instructions (`compare_instructions`) below the published one, percent.

    `count_implicit`, `count_explicit` are strict accuracy as counts; "no k of n" shows that samples are
    missing there, so that the two sides are not fully paired. No interval and no test: the paper gives none,
    and what our editors do with each way of instructing is written in their program.
    """
    size = printed_n()["ablation"]
    columns = ["model", "where", "programmed", "measure", "implicit", "explicit", "difference", "n",
               "count_implicit", "count_explicit"]  # fmt: skip
    table = load_published("grade").filter(id="ablation_68").rename({"strict_accuracy": "strict"})
    rows: list[tuple[Any, ...]] = []
    for (model,), sides in table.group_by("model", maintain_order=True):
        one, two = (sides.filter(setting=s).row(0, named=True) for s in ("implicit", "explicit"))
        for measure in _ABLATED:
            a, b = one[measure], two[measure]
            told = [_counted(v, size)["count"] if measure == "strict" else None for v in (a, b)]
            rows.append((model, one["where"], False, measure, a, b, b - a, size, *told))
    theirs = pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)
    ours = compared.filter(pl.col("measure").is_in(list(_ABLATED))).select(
        "model", "measure", where=pl.lit(PROGRAMMED), programmed=pl.lit(True), implicit="mean_reference",
        explicit="mean_target", difference="estimate", n="n_pairs",
    )  # fmt: skip
    return beside_rows(ours, theirs, columns)


def judges_table(errors: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the errors of judges in one row each (0 to 1): the published ones, or ours (`judge_error`).

    The two are no comparison: the published judges marked pictures of models against experts; ours marks
    drawn diagrams whose places stand in the rubric, against what holds by construction.
    """
    if errors is None:
        n, where = pl.lit(printed_n()["ablation"], pl.Int64), pl.lit("GRADE Table 4")
        rows = load_published("grade_judges").select("judge", "dimension", "mae", sd="std", n=n, where=where)
    else:
        rows = errors.select("judge", "dimension", "mae", "sd", "n", where=pl.lit(PROGRAMMED))
    wide = rows.pivot("dimension", index=["judge", "where"], values=["mae", "sd", "n"], maintain_order=True)
    return wide.select("judge", "where", *[f"{what}_{d}" for d in PARTS for what in ("mae", "sd", "n")])
