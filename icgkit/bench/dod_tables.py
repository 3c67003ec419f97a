"""Draw-or-Decline: typeset tables with captions that stand alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icgkit.tables import typeset

if TYPE_CHECKING:
    import polars as pl

    from icgkit.tables import Table

_PERCENT = ("E", "D", "D_strict", "D_lenient", "D_f", "pair", "apart", "average", "E_again", "D_again")


def _percent(frame: pl.DataFrame) -> dict[str, str]:
    return {c: ".1f" for c in _PERCENT if c in frame.columns}


def board(frame: pl.DataFrame) -> Table:
    """Typeset `dod_views.leaderboard` of the mazes."""
    return typeset(
        frame, id="B-dod-mazes-board", formats=_percent(frame),
        caption="Mazes of Draw-or-Decline, percent of 150 requests of each kind: reference baselines here, models in "
        "the paper. E: valid edits of feasible requests; D: infeasible ones declined in text (strict: and no image); "
        "D_f: feasible ones declined in text; pair: both halves right (strict).",
        notes=[
            "The mazes are of one kind but not the same: ours are made by the rules of the paper.",
            "Our D is read by a rule from texts that the baselines word themselves, the paper's by a model; the paper's D is the lenient one.",
            "Pending judgments stay in the denominator; pending: how many there are in all four measures.",
        ],
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
            "Reference baselines: two never look at the picture, two read its text.",
        ],
    )  # fmt: skip


def paired(frame: pl.DataFrame, *, n_resamples: int, seed: int) -> Table:
    """Typeset `dod_views.paired_table`."""
    return typeset(
        frame, id="B-dod-tests",
        formats={"rate_reference": ".3f", "rate_target": ".3f", "p_midp": ".2g", "p_permutation": ".2g"},
        caption="Paired tests of the reference baselines: refusals of the two halves of a pair, and each measure with and "
        "without the reminder on the same requests. Comparisons without a discordant pair are in the data only.",
        notes=[
            f"McNemar mid-p; sign flips of pairs and percentile bootstrap over pairs, {n_resamples:,} resamples, seed {seed}. "
            "No interval where every pair says the same."
        ],
    )  # fmt: skip


def overall(frame: pl.DataFrame) -> Table:
    """Typeset `dod_views.overall`."""
    return typeset(
        frame, id="B-dod", formats=_percent(frame),
        caption="Leaderboard of Draw-or-Decline as printed, percent of 1,050 requests of each kind, with E and D worked "
        "out again from the seven printed categories.",
        notes=["Two figures that differ by 0.1 do so by rounding: each category is printed with one decimal."],
    )  # fmt: skip


def confusion(frame: pl.DataFrame, note: str) -> Table:
    """Typeset `maze_faults.confusion`."""
    return typeset(
        frame, id="B-dod-mazes", formats={"agrees": ".3f", "right": ".3f", "placed": ".3f"},
        caption=f"Verdicts of the maze judge on {frame['n'].sum():,} drawn edits of {frame['kinds'].sum()} kinds, by the verdict "
        "that is due. agrees: share judged valid or not as is due; right: share with the very verdict; placed: of those found "
        "faulty, share where a cell of the fault is named.",
        notes=[
            "The pen that draws the edits shares no code with the one that draws the requests. The thresholds were set on "
            "mazes of seeds 1 to 3 and not changed after that.",
            note,
        ],
    )  # fmt: skip


def stances(frame: pl.DataFrame) -> Table:
    """Typeset `dod_stances.beside`."""
    shown = ("refusal", "acknowledge", "rewriting", "acceptance", "none", "pending")
    return typeset(
        frame, id="B-dod-stances", formats=dict.fromkeys(shown, ".1f"),
        caption="How answers deal with an infeasible request, percent of the infeasible requests (one group at most): "
        "refusal; acknowledged and yet complied with; request rewritten; premise accepted. Reference baselines here, "
        "models in the paper.",
        notes=["Ours by a rule on words, the paper's by two annotators who agreed on 96.4 % before discussion."],
    )  # fmt: skip
