"""Mazes: proofs, duplicates, twins, and a judge that finds known faults through compression."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from PIL import Image
from polars.testing import assert_frame_equal

from icgforge.mazes import faults as maze_faults
from icgforge.mazes.faults import CHANGES, KINDS, confusion, jpeg, judge_edited, make_edited, resized
from icgforge.mazes.mazes import canonical, carve, make_pairs, twin
from icgforge.mazes.requests import Pair, draw, draw_step, region, solve
from icgforge.mazes.solvers import SOLVERS, moves, pen, refined_instruction, rewriter
from icgkit.bench.dod.maze import CELL, SIZES, Maze
from icgkit.bench.dod.maze_judge import Thresholds, judge
from icgkit.bench.dod.maze_read import find_maze, register
from icgkit.errors import IcgError


def read_maze(image: Image.Image) -> Maze | None:
    found = find_maze(image)
    return found[0] if found else None


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return make_pairs(24, seed=7)


def test_pairs_are_proved_by_search(pairs: list[Pair]) -> None:
    for pair in pairs:
        maze, path = pair.feasible, pair.path
        floor = [(r, c) for r in range(maze.size) for c in range(maze.size) if maze.floor((r, c))]
        # A spanning tree: all connected, and one link fewer than cells.
        assert region(maze, maze.start) == set(floor)
        assert sum(len(list(maze.neighbours(c))) for c in floor) == 2 * (len(floor) - 1)
        assert (path[0], path[-1]) == (maze.start, maze.end)
        assert all(b in maze.neighbours(a) for a, b in pairwise(path))
        assert solve(pair.infeasible) is None
        parts = [region(pair.infeasible, c) for c in (maze.start, maze.end)]
        assert min(map(len, parts)) >= 5
        assert sum(map(len, parts)) == len(floor) - 1
        at = path.index(pair.walled)
        assert min(at, len(path) - 1 - at) >= 4
        assert len(list(maze.neighbours(pair.walled))) == 2
        edge = {0, maze.size - 1}
        assert not any(r in edge or c in edge for r, c in floor)
        assert sorted({abs(maze.start[k] - maze.end[k]) for k in (0, 1)}) == [maze.size - 3]


def test_pictures_of_a_pair_differ_in_one_cell(pairs: list[Pair]) -> None:
    for pair in pairs[:6]:
        changed = np.asarray(draw(pair.feasible)) != np.asarray(draw(pair.infeasible))
        rows, cols = np.nonzero(changed.any(axis=2))
        r, c = pair.walled
        assert {(int(y) // CELL, int(x) // CELL) for y, x in zip(rows, cols, strict=True)} == {(r, c)}
        assert draw(pair.feasible).size == (pair.feasible.size * 48,) * 2


def test_no_duplicates_under_the_eight_symmetries(pairs: list[Pair]) -> None:
    assert len({canonical(p.feasible) for p in pairs}) == len(pairs)
    maze = pairs[1].feasible
    grid = np.array([list(row) for row in maze.rows])
    turned = Maze(
        tuple("".join(row) for row in np.rot90(grid)),
        (maze.size - 1 - maze.start[1], maze.start[0]),
        (maze.size - 1 - maze.end[1], maze.end[0]),
    )
    assert turned.rows != maze.rows
    assert canonical(turned) == canonical(maze)
    assert canonical(maze) != canonical(maze._replace(start=maze.end, end=maze.start)) or maze.size == 0


def test_the_same_seed_gives_the_same_pairs(pairs: list[Pair]) -> None:
    assert make_pairs(24, seed=7) == pairs
    assert make_pairs(3, seed=8) != pairs[:3]
    assert {p.feasible.size for p in pairs} == set(SIZES)


def test_a_twin_needs_a_path_and_a_cell() -> None:
    walled = Maze(("#####", "#.#.#", "#####", "#####", "#####"), (1, 1), (1, 3))
    with pytest.raises(IcgError, match="needs a maze with a path"):
        twin(walled, random.Random(1))
    # Seven moves: no cell is four moves from both ends.
    short = Maze(
        ("#######", "#...###", "###.###", "###...#", "#####.#", "#####.#", "#######"), (1, 1), (4, 5)
    )
    assert solve(short) is not None
    assert twin(short, random.Random(1)) is None


@pytest.mark.parametrize("method", ["dfs", "kruskal"])
def test_both_ways_to_carve(method: str) -> None:
    maze = carve(9, random.Random(3), method)
    assert sum(row.count(".") for row in maze.rows) == 2 * 16 - 1


def few(pairs: list[Pair]) -> list[Pair]:
    return [p for p in pairs if p.feasible.size < 11]


def test_there_are_96_kinds_of_edits_and_both_verdicts_are_common() -> None:
    due = [k.due for k in KINDS.values()]
    assert len(due) >= 96
    assert 0.3 < due.count("valid") / len(due) < 0.7
    assert len(set(due)) >= 9


@pytest.mark.parametrize("part", range(4))
def test_edits_drawn_by_another_pen_are_judged_as_is_due(pairs: list[Pair], part: int) -> None:
    judged = judge_edited(make_edited(few(pairs), 1, kinds=list(KINDS)[part::4], seed=part))
    agreed = judged.select(pl.col("agrees").fill_null(False).mean()).item()
    assert agreed >= 0.97, judged.filter(~judged["agrees"])
    assert judged.select(pl.col("placed").mean()).item() >= 0.9


@pytest.mark.parametrize("how", ["jpeg 50", "half size", "larger", "moved, warped, turned, noisy"])
def test_what_happens_to_a_picture_changes_no_verdict(pairs: list[Pair], how: str) -> None:
    changes: dict[str, list[tuple[str, float]]] = {
        "jpeg 50": [("jpeg", 50)], "half size": [("size", 0.5)], "larger": [("size", 1.7)],
        "moved, warped, turned, noisy": [("side", 720), ("warp", 1.5), ("turn", 0.6), ("noise", 6), ("jpeg", 80)],
    }  # fmt: skip

    def then(image: Image.Image) -> Image.Image:
        for name, strength in changes[how]:
            image = CHANGES[name](image, strength)
        return image

    kinds = [
        "plain",
        "line 18 px",
        "gap of 14 px",
        "corner cut, 14 px",
        "wall removed",
        "floor grey",
        "through a wall, 14 px",
    ]
    judged = judge_edited(make_edited(few(pairs), 2, kinds=kinds), then=then)
    assert judged["agrees"].all(), judged.filter(~judged["agrees"])


@pytest.mark.parametrize(
    ("kind", "number", "low", "high"),
    [
        ("gap of 20 px", "gap", 16, 24), ("dots, gaps of 12 px", "gap", 8, 16), ("spike of 18 px into a wall", "excursion", 15, 20),
        ("line 6 px", "width", 4.5, 7.5), ("line 28 px", "width", 24, 34), ("turned 1.5 deg", "turn", 1.2, 1.8),
        ("1024 px", "scale", 93, 147), ("branch of 30 px", "branch", 26, 34),
    ],
)  # fmt: skip
def test_what_is_measured_is_in_pixels(
    pairs: list[Pair], kind: str, number: str, low: float, high: float
) -> None:
    judged = judge_edited(make_edited(pairs, 4, kinds=[kind]))
    assert judged[number].is_between(low, high).all(), judged[number]


def test_thresholds_are_parameters(pairs: list[Pair]) -> None:
    (edit,) = make_edited(pairs, 1, kinds=["gap of 8 px"])
    assert judge(edit.maze, edit.image).main == "path broken"
    assert judge(edit.maze, edit.image, limits=Thresholds(gap=12)).valid
    (edit,) = make_edited(pairs, 1, kinds=["spike of 10 px into a wall"])
    assert judge(edit.maze, edit.image).main == "wall crossed"
    assert judge(edit.maze, edit.image, limits=Thresholds(excursion=14)).valid


@pytest.mark.parametrize(
    "kind", ["real style", "real style, numbers in the margin", "dark walls", "grey margin of 16 px"]
)
def test_mazes_of_another_look_are_read_and_solved(pairs: list[Pair], kind: str) -> None:
    look = KINDS[kind].look
    from icgforge.mazes.faults import _Sheet

    for pair in pairs[:3]:
        shown = {True: _Sheet(pair.feasible, look).done(), False: _Sheet(pair.infeasible, look).done()}
        assert read_maze(shown[True]) == pair.feasible
        assert read_maze(jpeg(shown[False], 70)) == pair.infeasible
        solved = SOLVERS["offline/maze-search"](shown[True], "ask").image
        assert solved is not None
        assert solved.size == shown[True].size
        assert judge(pair.feasible, solved).valid
        assert SOLVERS["offline/maze-search"](shown[False], "ask").image is None


def test_a_picture_without_a_maze_is_pending_and_another_maze_is_wrong(pairs: list[Pair]) -> None:
    pair, other = few(pairs)[:2]
    rng = np.random.default_rng(3)
    noise = Image.fromarray(rng.integers(0, 255, (336, 336, 3), dtype=np.uint8))
    for picture in (noise, Image.new("RGB", (300, 300), "black"), Image.new("RGB", (5, 900), "white")):
        verdict = judge(pair.feasible, picture)
        assert (verdict.valid, verdict.main) == (None, "unreadable")
    verdict = judge(pair.feasible, draw(other.feasible))
    assert (verdict.valid, verdict.main) == (False, "wall changed")


def test_registration_undoes_scale_place_and_turn(pairs: list[Pair]) -> None:
    pair = pairs[0]
    image = draw(pair.feasible, pair.path)
    framed = Image.new("RGB", (image.width + 100, image.height + 60), (248, 248, 240))
    framed.paste(image, (70, 20))
    for factor in (0.6, 1.0, 2.3):
        found = register(resized(framed, factor), pair.feasible)
        assert found is not None
        assert found.agreement == 1.0
        corners = np.array(
            [found.frame.at(r, c) for r, c in ((0, 0), (pair.feasible.size, pair.feasible.size))]
        )
        assert corners == pytest.approx(
            factor * np.array([(70, 20), (70 + image.width, 20 + image.height)]), abs=1.5 * factor + 0.5
        )


def test_a_confusion_table_counts_every_edit(pairs: list[Pair]) -> None:
    table = confusion(judge_edited(make_edited(few(pairs), 1, kinds=list(KINDS)[::9])))
    assert table["n"].sum() == len(list(KINDS)[::9])
    verdicts = [c for c in table.columns if c not in ("due", "kinds", "n", "agrees", "right", "placed")]
    assert table.select(verdicts).sum_horizontal().to_list() == table["n"].to_list()


def test_what_the_judge_tells_of_other_pictures(pairs: list[Pair]) -> None:
    pair = pairs[0]
    assert judge(pair.feasible, draw(pair.feasible, pair.path).convert("RGBA")).valid
    # The path of the feasible twin runs through the walled cell.
    verdict = judge(pair.infeasible, draw(pair.infeasible, pair.path))
    assert verdict.main == "wall crossed"
    assert verdict.broken[0].cells == (pair.walled,)
    # A detour into a dead end.
    ends = [c for c in region(pair.feasible, pair.path[0]) if len(list(pair.feasible.neighbours(c))) == 1]
    away = next(c for c in ends if c not in pair.path)
    back = solve(pair.feasible._replace(end=away)) or []
    image = draw(pair.feasible, pair.path)
    from PIL import ImageDraw

    for a, b in pairwise(back):
        draw_step(ImageDraw.Draw(image), a, b)
    assert judge(pair.feasible, image).main == "side branch"
    # A few pixels to the side are undone.
    moved = Image.new("RGB", image.size, (173, 216, 230))
    moved.paste(draw(pair.feasible, pair.path), (5, 0))
    assert judge(pair.feasible, moved).valid


def test_reading_a_maze(pairs: list[Pair]) -> None:
    for pair in pairs[:6]:
        assert read_maze(jpeg(draw(pair.infeasible), 60)) == pair.infeasible
    assert read_maze(Image.new("RGB", (336, 336), "white")) is None


def test_solvers(pairs: list[Pair]) -> None:
    pair = pairs[2]
    shown = {True: draw(pair.feasible), False: draw(pair.infeasible)}
    got = {(name, kind): s(image, "ask") for name, s in SOLVERS.items() for kind, image in shown.items()}

    def edited(name: str, kind: bool) -> Image.Image:
        image = got[name, kind].image
        assert image is not None
        return image

    assert judge(pair.feasible, edited("offline/maze-search", True)).valid
    assert got["offline/maze-search", False].image is None
    assert got["offline/maze-search", False].text.endswith("[ABSTAIN]")
    assert judge(pair.infeasible, edited("offline/maze-draws", False)).main == "wall crossed"
    assert got["offline/maze-declines", True].image is None
    assert judge(pair.feasible, edited("offline/maze-rewriter + pen", True)).valid
    # Without the offer the first stage has to write an instruction, with it it may abstain.
    assert got["offline/maze-rewriter + pen", False].image is not None
    assert SOLVERS["offline/maze-rewriter + pen"](shown[False], "or end with [ABSTAIN]").image is None
    assert pen(shown[True], moves(list(pair.path))).tobytes() == draw(pair.feasible, pair.path).tobytes()
    assert refined_instruction(rewriter(shown[True], "ask")).status == "ok"


@pytest.mark.parametrize(
    ("text", "instruction", "status"),
    [
        ("Thinking.\nREFINED EDIT INSTRUCTION: Paint it red.  \n", "Paint it red.", "ok"),
        ("REFINED EDIT INSTRUCTION: Paint it.\nThat is all.", None, "no line"),
        ("REFINED EDIT INSTRUCTION:", None, "no line"),
        ("I write REFINED EDIT INSTRUCTION: in the middle", None, "no line"),
        ("Not there.\n[ABSTAIN]", None, "abstained"),
        ("REFINED EDIT INSTRUCTION: Paint it. [ABSTAIN]", None, "abstained"),
        ("[ABSTAIN]\nREFINED EDIT INSTRUCTION: Paint it.", "Paint it.", "ok"),
        ("", None, "no line"),
        (None, None, "no line"),
    ],
)
def test_only_the_last_line_reaches_the_editor(
    text: str | None, instruction: str | None, status: str
) -> None:
    assert refined_instruction(text) == (instruction, status)


@pytest.mark.parametrize("part", [0, 1])
def test_kept_verdicts_are_those_of_today_s_judge(part: int) -> None:
    asked = json.loads((maze_faults.home() / "made.json").read_text())
    pairs = make_pairs(asked["n_pairs"], seed=asked["seed"])
    kept = pl.read_parquet(maze_faults.home() / "edits.parquet")
    assert set(kept["fault"]) == set(KINDS)
    some = kept.gather_every(2 * asked["n_each"], offset=part * asked["n_each"] + 5)
    by_id = {pair.pair_id: pair for pair in pairs}
    again = judge_edited(
        edit
        for row in some.iter_rows(named=True)
        if (
            edit := maze_faults.make_edit(
                by_id[row["pair_id"]], row["fault"], row["draw"], seed=asked["seed"]
            )
        )
    )
    assert_frame_equal(again, some)
    one = maze_faults.first_of(kept, ["line 3 px"], pairs)[0]
    assert (one.fault, one.pair_id) == ("line 3 px", kept.filter(fault="line 3 px")["pair_id"][0])


def test_other_parameters_are_judged_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, ...]] = []

    def judge_kinds(pairs: list[Pair], n_each: int, n_tolerance: int, *, seed: int) -> None:
        asked.append((len(pairs), n_each, n_tolerance, seed))

    monkeypatch.setattr(maze_faults, "judge_kinds", judge_kinds)
    pairs = make_pairs(150)
    assert maze_faults.load(pairs).edits.height == 12 * len(KINDS)
    maze_faults.load(pairs[:2])
    maze_faults.load(pairs, n_each=3)
    maze_faults.load(pairs, seed=1)
    assert asked == [(2, 12, 1, 42), (150, 3, 1, 42), (150, 12, 1, 1)]
