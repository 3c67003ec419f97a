"""Draw-or-Decline: typeset tables with captions that stand alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icgkit.report.tables import typeset

if TYPE_CHECKING:
    import polars as pl

    from icgkit.report.tables import Table

_PERCENT = ("E", "D", "D_strict", "D_lenient", "D_f", "pair", "apart", "average")


def _percent(frame: pl.DataFrame) -> dict[str, str]:
    return {c: ".1f" for c in _PERCENT if c in frame.columns}


def board(frame: pl.DataFrame) -> Table:
    """Typeset `dod_views.printed` of the mazes."""
    return _printed(frame, "B-dod-mazes-board", "Mazes of Draw-or-Decline")


def overall(frame: pl.DataFrame) -> Table:
    """Typeset `dod_views.printed`."""
    return _printed(frame, "B-dod", "Leaderboard of Draw-or-Decline")


def _printed(frame: pl.DataFrame, id: str, what: str) -> Table:
    import polars as pl

    n = int(frame["n"][0])
    spans = [
        pl.format("{}-{}", pl.col(f"{m}_low").round(1), pl.col(f"{m}_high").round(1)).alias(f"{m}_interval")
        for m in ("E", "D", "D_f")
    ]
    columns = [c for m in ("E", "D", "D_f") for c in (m, f"{m}_k", f"{m}_interval")]
    shown = frame.with_columns(spans).select("model", "reminder", *columns, "average")
    return typeset(
        shown, id=id, formats=_percent(shown),
        caption=f"{what} as printed, percent of {n:,} requests of each kind. k: the count out of {n:,} that a printed rate stands "
        "for; interval: 95 %, Clopper-Pearson, from that count. E: valid edits of feasible requests; D: infeasible ones declined "
        "in text; D_f: feasible ones declined in text.",
        notes=[
            "Overall counts are sums over the seven categories where these are printed; no count where a rate fits several.",
            "The paper's reminder asks to say that there is no solution and why; it does not ask for a marker.",
        ],
    )  # fmt: skip


def programs(frame: pl.DataFrame) -> Table:
    """Typeset `dod_views.shares` of the programs for mazes."""
    n = max(frame["n"].to_list())
    return typeset(
        frame, id="B-dod-programs", formats=_percent(frame),
        caption=f"Programmed: four programs on {n} pairs of mazes, percent. Each rate is 0 or 100 by what the program does; the "
        "table shows that the measures tell programs apart, and says nothing about models.",
        notes=["Our reminder asks for [ABSTAIN] at the end, unlike the paper's: not the same treatment."],
    )  # fmt: skip


def texts(frame: pl.DataFrame) -> Table:
    """Typeset `dod_views.text_table`."""
    n = max(frame["n"].to_list())
    return typeset(
        frame, id="B-dod-text", formats=_percent(frame),
        caption=f"Abstention on text edits of icg-synth, percent of {n} pairs: the case's own instruction, and one whose "
        "target does not stand in the picture. strict: the marker and no instruction for an editor; apart: D lenient "
        "minus D_f.",
        notes=[
            "No image editor runs here: E is pending (last column) wherever an instruction was written, and no failure.",
            "Programmed baselines: two never look at the picture, two read its text; whether they abstain is a rule in them.",
            "Our reminder asks for [ABSTAIN] at the end, unlike the paper's: not the same treatment.",
        ],
    )  # fmt: skip


def confusion(frame: pl.DataFrame, note: str) -> Table:
    """Typeset `maze_faults.confusion`."""
    return typeset(
        frame, id="B-dod-mazes", formats={"agrees": ".3f", "right": ".3f", "placed": ".3f"},
        caption=f"Verdicts of the maze judge on {frame['n'].sum():,} drawn edits of {frame['kinds'].sum()} kinds, by the verdict "
        "that is due. agrees: share judged valid or not as is due; right: share with the very verdict; placed: of those found "
        "faulty, share where a cell of the fault is named.",
        notes=[
            "The pen that draws the edits shares no code with the one that draws the requests. The thresholds were set on the "
            "same kinds, drawn on mazes of seeds 1 to 3, and not changed after that.",
            note,
        ],
    )  # fmt: skip


def stances(frame: pl.DataFrame) -> Table:
    """Typeset `dod_views.stances`."""
    from icgkit.bench.dod.compare import STANCES

    n = int(frame["n"][0])
    return typeset(
        frame.drop("n"), id="B-dod-stances", formats=dict.fromkeys((*STANCES, "total"), ".1f"),
        caption=f"How models deal with an infeasible request, as printed, percent of {n:,} (one group at most): refusal; acknowledged "
        "and yet complied with; request rewritten; premise accepted. k: the count that a share stands for, where one fits.",
        notes=["Two annotators, who agreed on 96.4 % before discussion."],
    )  # fmt: skip
