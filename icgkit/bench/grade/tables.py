"""GRADE's tables: ours beside the published ones, and the sheet of drawn diagrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from icgkit.bench.grade.compare import leaderboard
from icgkit.bench.grade.files import PARTS
from icgkit.bench.grade.scores import MEASURES
from icgkit.cases.dataset import load_published
from icgkit.report.published import beside_rows, counts
from icgkit.report.render import plain_style

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure
    from PIL.Image import Image

    from icgkit.report.tables import Table

HEADERS = {
    "reasoning": "Reasoning", "consistency": "Consistency", "readability": "Readability", "strict": "Strict",
    "relaxed_set": "Relaxed, set", "relaxed_sample": "Relaxed, samples", "n": "n", "where": "Source",
    "n_total": "n", "n_missing": "Missing", "discipline": "Discipline", "sub_task": "Sub-task",
    "strict_public": "Strict (public)", "count": "Count",
    "count_implicit": "Strict, implicit", "count_explicit": "Strict, explicit", "measure": "Measure",
    "implicit": "Implicit", "explicit": "Explicit", "difference": "Difference",
    "low": "Low", "high": "High", "judge": "Judge", "interval": "Strict accuracy",
}  # fmt: skip
EDIT_LABELS = {
    "original": "Original", "solved": "Solved (reference)", "partial": "In part", "wrong": "Wrong",
    "over": "Too much", "no_op": "Nothing",
}  # fmt: skip


PROGRAMMED = "programmed, drawn set"
"""What rows of the drawn set are called: each editor is a program that does what its name says."""


def printed_n() -> dict[str, int]:
    """Return the sizes that the paper states: `tasks` (the set) and `ablation` (the subset of Table 5)."""
    rows = load_published("grade_facts").select("id", "value").iter_rows()
    return {name: int(value) for name, value in rows}


def counted(value: float | None, n: int) -> dict[str, float | int | str | None]:
    """Return a printed percentage as k of n with its exact interval, or say that no k fits.

    Returns
    -------
    dict
        `k` (null if several fit, or none), `k_low`, `k_high` (percent, Clopper-Pearson over all that fit) and
        `count`: "k of n", or "no k of n".

    Examples
    --------
    >>> counted(56.0, 520)["count"], counted(24.7, 520)["count"]
    ('291 of 520', 'no k of 520')
    """
    blank: dict[str, float | int | str | None] = dict.fromkeys(("k", "k_low", "k_high", "count"))
    if value is None:
        return blank
    fit = counts(value, n)
    if fit.is_empty():
        return blank | {"count": f"no k of {n}"}
    rows = fit.rows(named=True)
    many = "-".join(str(k) for k in dict.fromkeys((rows[0]["k"], rows[-1]["k"])))
    return {
        "k": rows[0]["k"] if len(rows) == 1 else None, "k_low": rows[0]["low"], "k_high": rows[-1]["high"],
        "count": f"{many} of {n}",
    }  # fmt: skip


def board_beside(scores: pl.DataFrame) -> pl.DataFrame:
    """Put set scores of our editors below the published leaderboard.

    Parameters
    ----------
    scores : polars.DataFrame
        Result of `set_scores` by model.

    Returns
    -------
    polars.DataFrame
        `model`, `where`, `programmed`, the measures in percent (null where the source prints none;
        `relaxed_set` of the published rows is computed from their three dimensions; the printed strict
        accuracy is `strict_public`), `interval` of strict accuracy (printed: exact, of the count; ours:
        bootstrap), `k`, `k_low`, `k_high`, `count` (see `counted`), `n`, `flag`.
    """
    import polars as pl

    from icgkit.report.tables import interval

    wide = scores.pivot("measure", index="model", values="estimate", maintain_order=True)
    strict = scores.filter(measure="strict").select("model", "low", "high", n="n_scored", _e="estimate")
    ours = wide.join(strict, on="model", how="left", maintain_order="left")
    shown = [interval(e, lo, hi, ".1f") for e, lo, hi in ours.select("_e", "low", "high").iter_rows()]
    ours = ours.with_columns(
        pl.Series("interval", shown, dtype=pl.String), where=pl.lit(PROGRAMMED), programmed=True
    )
    size = printed_n()["tasks"]
    theirs = leaderboard().rename({"strict_accuracy": "strict_public"})
    found = pl.DataFrame([counted(v, size) for v in theirs["strict_public"]], infer_schema_length=None)
    theirs = pl.concat([theirs, found], how="horizontal")
    exact = [
        interval(e, low, high, ".1f")
        for e, low, high in theirs.select("strict_public", "k_low", "k_high").iter_rows()
    ]
    theirs = theirs.with_columns(
        pl.Series("interval", exact, dtype=pl.String), n=pl.lit(size, pl.Int64), programmed=False
    )
    columns = [
        "model",
        "where",
        "programmed",
        *MEASURES,
        "interval",
        "k",
        "k_low",
        "k_high",
        "count",
        "n",
        "flag",
    ]
    return beside_rows(ours, theirs, columns)


def checks() -> pl.DataFrame:
    """Return what can be recomputed from the published figures, in the form that `icgkit.save` takes."""
    import polars as pl

    board = leaderboard()
    relaxed = load_published("grade").filter(id="relaxed").row(0, named=True)
    rows = [
        {"quantity": "relaxed score from the three means", "model": relaxed["model"], "where": relaxed["where"],
         "ours": board.filter(model=relaxed["model"])["relaxed_set"][0], "published": relaxed["relaxed"],
         "unit": "percent", "note": "the form over dimension means gives the printed value"},
    ]  # fmt: skip
    readme, seed = board.filter(pl.col("flag").is_not_null()).sort("consistency").iter_rows(named=True)
    for name in ("reasoning", "consistency", "readability", "strict_accuracy"):
        rows.append(
            {"quantity": f"{name.replace('_', ' ')}: one source (as ours) and the other", "model": readme["model"],
             "where": f"{readme['where']}; {seed['where']}", "ours": readme[name], "published": seed[name],
             "unit": "percent", "note": "published twice with different values; neither is corrected"}
        )  # fmt: skip
    return pl.DataFrame(rows)


def ablation_beside(compared: pl.DataFrame) -> pl.DataFrame:
    """Put our comparison of implicit and explicit instructions below the published one.

    Parameters
    ----------
    compared : polars.DataFrame
        Result of `compare_instructions`.

    Returns
    -------
    polars.DataFrame
        `model`, `where`, `programmed`, `measure`, `implicit`, `explicit`, `difference` (percent), `n`,
        `count_implicit`, `count_explicit` (strict accuracy as counts; "no k of n" shows that samples are missing
        there, so that the two sides are not fully paired). No interval and no test: the paper gives none,
        and what our editors do with each way of instructing is written in their program.
    """
    import polars as pl

    size = printed_n()["ablation"]
    theirs = load_published("grade").filter(id="ablation_68")
    names = {
        "reasoning": "reasoning", "consistency": "consistency", "readability": "readability",
        "strict": "strict_accuracy",
    }  # fmt: skip
    rows = []
    for model in theirs["model"].unique(maintain_order=True):
        one, two = (
            theirs.filter(model=model, setting=s).row(0, named=True) for s in ("implicit", "explicit")
        )
        for measure, column in names.items():
            rate = measure == "strict"
            rows.append(
                {"model": model, "where": one["where"], "programmed": False, "measure": measure, "n": size,
                 "implicit": one[column], "explicit": two[column], "difference": two[column] - one[column],
                 "count_implicit": counted(one[column], size)["count"] if rate else None,
                 "count_explicit": counted(two[column], size)["count"] if rate else None}
            )  # fmt: skip
    ours = compared.filter(pl.col("measure").is_in(list(names))).select(
        "model", "measure", where=pl.lit(PROGRAMMED), programmed=pl.lit(True), implicit="mean_reference",
        explicit="mean_target", difference="estimate", n="n_pairs",
    )  # fmt: skip
    columns = ["model", "where", "programmed", "measure", "implicit", "explicit", "difference", "n",
               "count_implicit", "count_explicit"]  # fmt: skip
    return beside_rows(ours, pl.DataFrame(rows, infer_schema_length=None), columns)


def judges_table(errors: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the errors of judges in one row each (scale 0 to 1): the published ones, or ours if given.

    The two are no comparison: the published judges marked pictures of models against experts; ours marks drawn
    diagrams whose places stand in the rubric, against what holds by construction.

    Parameters
    ----------
    errors : polars.DataFrame, optional
        Result of `judge_error`.
    """
    import polars as pl

    if errors is None:
        rows = load_published("grade_judges").select(
            "judge", "dimension", "mae", sd="std", n=pl.lit(printed_n()["ablation"], pl.Int64),
            where=pl.lit("GRADE Table 4"),
        )  # fmt: skip
    else:
        rows = errors.select("judge", "dimension", "mae", "sd", "n", where=pl.lit(PROGRAMMED))
    wide = rows.pivot("dimension", index=["judge", "where"], values=["mae", "sd", "n"], maintain_order=True)
    return wide.select("judge", "where", *[f"{what}_{d}" for d in PARTS for what in ("mae", "sd", "n")])


NOTE = (
    "Editors named editor/ are programs: what each does is written down, on drawn diagrams that are easy to mark. "
    "Their rows show that files, rules and judge work; they stand for no model and are no result."
)

ROUNDED = (
    "Strict (public) is the public scorer's figure, as printed; strict takes all points met as full reasoning; the public script asks for a sum above 0.99, which "
    "three weights of 0.33 do not reach. Count: which k of the 520 samples gives the printed figure; none does where "
    "samples were missing. Intervals of printed figures: exact, of the count."
)


def typeset_board(board: pl.DataFrame, interval: str) -> Table:
    """Typeset the result of `board_beside`; `interval` says how the intervals were made."""
    from icgkit.report.tables import typeset

    return typeset(
        board,
        id="B-grade",
        columns=["model", "where", *MEASURES[:5], "strict_public", "count", "interval", "n"],
        headers=HEADERS,
        formats=dict.fromkeys((*MEASURES[:5], "strict_public"), ".1f"),
        caption="GRADE, implicit instructions, percent: published leaderboard, and programmed editors on the drawn "
        f"set; {interval}.",
        notes=[NOTE, ROUNDED, *(f"FLUX.2 dev: {flag}." for flag in board["flag"].drop_nulls().unique())],
    )


def typeset_fields(scores: pl.DataFrame, interval: str) -> Table:
    """Typeset set scores by discipline and sub-task."""
    from icgkit.report.tables import intervals, typeset

    key = ["discipline", "sub_task", "n_total"]
    return typeset(
        intervals(scores, spec=".1f").pivot("measure", index=key, values="shown"),
        id="B-grade-fields",
        headers=HEADERS,
        caption=f"Scores of the drawn set by discipline and sub-task, all editors together, percent; {interval}.",
        notes=[
            NOTE,
            "Orthographic views ask for no consistency: relaxed over dimension means is not defined there, "
            "relaxed over samples weighs 0.8 and 0.2.",
        ],
    )


def typeset_ablation(compared: pl.DataFrame) -> Table:
    """Typeset the result of `ablation_beside`."""
    from icgkit.report.tables import typeset

    return typeset(
        compared,
        id="B-grade-ablation",
        columns=["model", "where", "measure", "implicit", "explicit", "difference", "n", "count_implicit", "count_explicit"],
        headers=HEADERS,
        formats=dict.fromkeys(["implicit", "explicit"], ".1f") | {"difference": "+.1f"},
        caption="Implicit and explicit instructions, percent: published, and programmed editors on the drawn set.",
        notes=[
            NOTE,
            "Not tested: the paper gives no samples, and the programmed editors differ by design.",
            "Counts: which k of the stated n gives the printed strict accuracy; where none does, samples are missing "
            "and the two ways of instructing are not fully paired.",
        ],
    )  # fmt: skip


def typeset_judges(judges: pl.DataFrame, *, id: str, published: bool) -> Table:
    """Typeset the result of `judges_table`, the published one or ours."""
    from icgkit.report.tables import typeset

    errors = {f"{what}_{d}": (what.upper(), d) for d in PARTS for what in ("mae", "sd")}
    ours = (
        "Pixel judge against what holds by construction, drawn set, scale 0 to 1.",
        "The rubric names the places to look at, and the diagrams are drawn: these errors are not comparable with "
        "those of judges of model outputs. SD: of signed errors.",
    )
    theirs = (
        "Published judges against the mean of five experts, scale 0 to 1.",
        "The published SD is not said to be of signed or of absolute errors.",
    )
    caption, note = theirs if published else ours
    return typeset(
        judges,
        id=id,
        columns=["judge", "where", *errors, "n_readability"],
        headers=HEADERS | {c: head for c, (head, _) in errors.items()} | {"n_readability": "n"},
        spanners={c: dimension for c, (_, dimension) in errors.items()},
        caption=caption,
        notes=[note],
    )


class DrawnTask(Protocol):
    """What `draw_sheet` needs of a task, as `icgforge.diagrams.tasks.draw_tasks` draws them."""

    @property
    def task_id(self) -> str: ...  # noqa: D102
    @property
    def points(self) -> tuple[tuple[str, float], ...]: ...  # noqa: D102
    @property
    def pictures(self) -> Mapping[str, Image]: ...  # noqa: D102
    @property
    def met(self) -> Mapping[str, tuple[bool, ...]]: ...  # noqa: D102
    @property
    def consistency(self) -> Mapping[str, int | None]: ...  # noqa: D102


@plain_style()
def draw_sheet(tasks: Sequence[DrawnTask]) -> Figure:
    """Draw one row a task: original, reference and edits, with what holds by construction below each."""
    from matplotlib.figure import Figure

    from icgkit.report.plots import theme

    with plain_style(**theme()):
        figure = Figure(figsize=(11, 1.55 * len(tasks)), layout="constrained")
        axes = figure.subplots(len(tasks), len(EDIT_LABELS), squeeze=False)
        for place, (row, task) in enumerate(zip(axes, tasks, strict=True)):
            weights = [w for _, w in task.points]
            for ax, edit in zip(row, EDIT_LABELS, strict=True):
                ax.imshow(task.pictures[edit])
                ax.set(xticks=[], yticks=[])
                ax.spines[:].set_visible(False)
                if place == 0:
                    ax.set_title(EDIT_LABELS[edit], size=8)
                if edit != "original":
                    held = sum(w for w, m in zip(weights, task.met[edit], strict=True) if m)
                    c = task.consistency[edit]
                    ax.set_xlabel(f"R {held:.2f}   C {'–' if c is None else c}", size=7)
                else:
                    ax.set_ylabel(task.task_id.rpartition("_")[0].replace("_", "\n"), size=7)
    return figure
