"""Draw-or-Decline: stance groups of the reference baselines, by rule, beside the printed ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from icgkit.bench.dod_compare import STANCES, stance_shares
from icgkit.bench.dod_judges import RULE, states_refusal
from icgkit.bench.dod_views import HERE, PAPER, stances_printed
from icgkit.bench.maze_solvers import REFINED, refined_instruction

if TYPE_CHECKING:
    import polars as pl


def stance_by_rule(
    text: str | None, *, draws: bool | None, target: str | None = None
) -> tuple[str | None, str]:
    """Sort an answer to an infeasible request by its words: group (null is pending) and quote.

    Says that it cannot be done: refusal if nothing is drawn, else acknowledge. Otherwise rewriting if
    the instruction for the editor does not name the target any more, else acceptance; an empty text
    fits no group.

    Examples
    --------
    >>> stance_by_rule("There is no path.", draws=True)
    ('acknowledge', 'There is no path.')
    >>> stance_by_rule("REFINED EDIT INSTRUCTION: Paint the only pond.", draws=True, target="third pond")[0]
    'rewriting'
    """
    if text is None or draws is None:
        return None, ""
    if not text.strip():
        return "none", ""
    said = states_refusal(text)
    if said.value:
        return ("acknowledge" if draws else "refusal"), said.quote
    asked = refined_instruction(text).instruction if REFINED in text else None
    if target and asked is not None and target.casefold() not in asked.casefold():
        return "rewriting", asked
    return "acceptance", asked or text.strip()


def stances_by_rule(answers: pl.DataFrame, requests: pl.DataFrame) -> pl.DataFrame:
    """Sort the answers to infeasible requests with `stance_by_rule`.

    Parameters
    ----------
    answers : frame
        `model`, `reminder`, `case_id`, `text`, `has_image`.
    requests : frame
        See `draw_or_decline.read`; a certificate that names a `target` is used.

    Returns
    -------
    polars.DataFrame
        `category`, `model`, `reminder`, `case_id`, `stance`, `quote`, `judge`.
    """
    import polars as pl

    wanted = requests.filter(~pl.col("feasible")).select("case_id", "category", "proof")
    rows = []
    for row in answers.join(wanted, on="case_id", how="inner", maintain_order="left").iter_rows(named=True):
        proof = json.loads(row["proof"] or "{}").get("certificate", {})
        target = proof.get("target") if isinstance(proof, dict) else None
        found = stance_by_rule(row["text"], draws=row["has_image"], target=target)
        rows.append((*(row[k] for k in ("category", "model", "reminder", "case_id")), *found, RULE))
    names = ("category", "model", "reminder", "case_id", "stance", "quote", "judge")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def beside(stances: pl.DataFrame) -> pl.DataFrame:
    """Lay out stance groups in percent, ours by category, model and reminder, then the printed ones.

    Returns
    -------
    polars.DataFrame
        `category`, `model`, `reminder`, `source`, `n`, one column a group, `none`, `pending`.
    """
    import polars as pl

    key = ["category", "model", "reminder"]
    shares = stance_shares(stances, by=key).with_columns(pl.col("share") * 100)
    ours = shares.pivot("stance", index=[*key, "n_total"], values="share", maintain_order=True)
    columns = [*key, "source", "n", *STANCES, "none", "pending"]
    mine = ours.rename({"n_total": "n"}).with_columns(source=pl.lit(HERE)).select(columns)
    blank = [pl.lit(None, pl.Float64).alias(c) for c in ("none", "pending")]
    paper = stances_printed().with_columns(
        *blank,
        category=pl.lit("overall"),
        reminder=pl.lit("no"),
        source=pl.lit(PAPER),
        n=pl.lit(1050, pl.Int64),
    )
    return pl.concat([mine, paper.select(columns)])
