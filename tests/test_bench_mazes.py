"""Mazes: proofs, duplicates, twins, and a judge that finds known faults through compression."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from icgkit.bench.maze_faults import EXPECTED, confusion, jpeg, judge_edited, make_edited, resized
from icgkit.bench.maze_judge import _misfits, judge, read_maze
from icgkit.bench.maze_solvers import SOLVERS, moves, pen, refined_instruction, rewriter
from icgkit.bench.mazes import (
    CELL,
    SIZES,
    Maze,
    Pair,
    canonical,
    carve,
    draw,
    make_pairs,
    region,
    solve,
    twin,
)
from icgkit.errors import IcgError


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


@pytest.mark.parametrize("fault", EXPECTED)
def test_every_fault_is_named_and_placed(pairs: list[Pair], fault: str) -> None:
    judged = judge_edited(make_edited(pairs, 12, faults=[fault]))
    assert judged["right"].all(), judged.filter(~judged["right"])
    assert judged["placed"].drop_nulls().all()


@pytest.mark.parametrize("how", ["jpeg 50", "half size", "larger", "small and compressed"])
def test_compression_and_resampling_change_no_verdict(pairs: list[Pair], how: str) -> None:
    then = {
        "jpeg 50": lambda i: jpeg(i, 50), "half size": lambda i: resized(i, 0.5),
        "larger": lambda i: resized(i, 1.7), "small and compressed": lambda i: jpeg(resized(i, 0.6), 60),
    }[how]  # fmt: skip
    judged = judge_edited(make_edited(pairs, 32), then=then)
    assert judged["right"].all(), judged.filter(~judged["right"])


def test_a_confusion_table_counts_every_edit(pairs: list[Pair]) -> None:
    table = confusion(judge_edited(make_edited(pairs, 16)))
    assert table["n"].sum() == 16
    verdicts = [c for c in table.columns if c not in ("fault", "due", "n", "right", "placed")]
    assert table.select(verdicts).sum_horizontal().to_list() == table["n"].to_list()


def test_what_the_judge_tells_of_other_pictures(pairs: list[Pair]) -> None:
    pair = pairs[0]
    assert judge(pair.feasible, Image.new("RGB", (300, 300), "black")).valid is False
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

    from icgkit.bench.mazes import draw_step

    for a, b in pairwise(back):
        draw_step(ImageDraw.Draw(image), a, b)
    assert judge(pair.feasible, image).main == "side branch"
    # Two pixels to the side are tolerated, as stated.
    moved = Image.new("RGB", image.size, (173, 216, 230))
    moved.paste(draw(pair.feasible, pair.path), (2, 0))
    assert judge(pair.feasible, moved).valid


def test_reading_a_maze(pairs: list[Pair]) -> None:
    for pair in pairs[:6]:
        assert read_maze(jpeg(draw(pair.infeasible), 60)) == pair.infeasible
    assert read_maze(Image.new("RGB", (336, 336), "white")) is None


def test_solvers(pairs: list[Pair]) -> None:
    pair = pairs[2]
    shown = {True: draw(pair.feasible), False: draw(pair.infeasible)}
    got = {(name, kind): s(image, "ask") for name, s in SOLVERS.items() for kind, image in shown.items()}
    assert judge(pair.feasible, got["offline/maze-search", True].image).valid
    assert got["offline/maze-search", False].image is None
    assert got["offline/maze-search", False].text.endswith("[ABSTAIN]")
    assert judge(pair.infeasible, got["offline/maze-draws", False].image).main == "wall crossed"
    assert got["offline/maze-declines", True].image is None
    assert judge(pair.feasible, got["offline/maze-rewriter + pen", True].image).valid
    # Without the offer the first stage has to write an instruction, with it it may abstain.
    assert got["offline/maze-rewriter + pen", False].image is not None
    assert SOLVERS["offline/maze-rewriter + pen"](shown[False], "or end with [ABSTAIN]").image is None
    assert np.array_equal(pen(shown[True], moves(list(pair.path))), draw(pair.feasible, pair.path))
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


def test_misfits_of_all_moves_are_those_of_each_by_itself() -> None:
    rng = np.random.default_rng(0)
    walls = np.kron(rng.random((7, 7)) < 0.4, np.ones((9, 9), bool))
    shown = np.roll(walls, (3, -6), (0, 1)) ^ (rng.random(walls.shape) < 0.05)
    steps = [-12, -6, -3, 0, 3, 6, 12]
    found = _misfits(walls, shown, steps)
    assert min(found, key=found.__getitem__) == (3, -6)
    for (dy, dx), share in found.items():
        rows, columns = (slice(max(-d, 0), 63 - max(d, 0)) for d in (dy, dx))
        onto, across = (slice(max(d, 0), 63 - max(-d, 0)) for d in (dy, dx))
        assert share == (walls[rows, columns] != shown[onto, across]).mean()
    assert len(found) == 48
