"""From templates to a dataset: how many cases of which kind, no near-duplicates, files on disk."""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from icgforge.synth.base import templates
from icgforge.synth.case import Knobs, Made, make_case, to_png
from icgforge.synth.words import NoPair
from icgkit.cases.case import Case
from icgkit.cases.dataset import write_cases
from icgkit.errors import SchemaError, UnknownName
from icgkit.taxonomy import SUBTYPES

VERSION = "1.0"
SHIPPED = 461
"""Number of cases of the shipped set; with this number and no other wish the recipe is used."""
LEAST_BITS = 8
"""Two pictures of one template must differ in at least this many of the 256 bits of `print_of`."""


def print_of(image: Image.Image) -> np.ndarray:
    """Return 256 bits: is each cell of a 17 x 16 thumbnail brighter than its left neighbour."""
    small = np.asarray(image.convert("L").resize((17, 16), Image.Resampling.BOX), np.int16)
    return (small[:, 1:] - small[:, :-1] > 2).ravel()


def recipe() -> dict[str, list[tuple[int, int]]]:
    """Return node count and seed of each case of the shipped set, by template (see `compose`)."""
    text = resources.files("icgforge.synth").joinpath("recipe.json").read_text(encoding="utf-8")
    return {t: [(n, seed) for n, seed in row] for t, row in json.loads(text).items()}


def wishes(distractors: int | None, nodes: int | None, distance: str, salience: str) -> Knobs:
    """Read the knobs of the command line.

    Raises
    ------
    UnknownName
        If distance is not near or far, or salience not low or high.

    Examples
    --------
    >>> wishes(None, 2, "far", "").far
    True
    """
    near, strong = {"": None, "near": False, "far": True}, {"": None, "low": False, "high": True}
    if distance not in near:
        raise UnknownName.among("distance", distance, ["near", "far"])
    if salience not in strong:
        raise UnknownName.among("salience", salience, ["low", "high"])
    return Knobs(nodes, distractors, near[distance], strong[salience])


def _even(n: int, names: Sequence[str], knobs: Knobs) -> dict[str, dict[int, int]]:
    """Spread n cases evenly over templates and, where the knob leaves it open, node counts."""
    slots = []
    for name in names:
        t = templates()[name]
        counts = [k for k in range(t.min_nodes, len(t.nodes) + 1) if knobs.nodes in (None, k)]
        slots += [(i, name, k) for i, k in enumerate(counts)]
    if not slots:
        raise SchemaError(
            "no template has that many nodes", got=knobs.nodes, remedy="allow another node count"
        )
    slots.sort()
    out: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for i in range(n):
        _, name, k = slots[i % len(slots)]
        out[name][k] += 1
    return out


def choose_templates(names: Iterable[str] | None = None, indirectness: int | None = None) -> list[str]:
    """Return template ids by name, prefix or subtype, and by the level of their first node.

    Raises
    ------
    UnknownName
        If nothing answers to a name or to the level.
    """
    known = templates()
    chosen: list[str] = []
    for name in names or ():
        hits = [t for t in known if t == name or t.startswith(name) or name in known[t].nodes]
        if not hits:
            raise UnknownName.among("template, prefix or subtype", name, known)
        chosen += [t for t in hits if t not in chosen]
    chosen = chosen or list(known)
    if indirectness is not None:
        chosen = [t for t in chosen if SUBTYPES[known[t].nodes[0]].indirectness == indirectness]
        if not chosen:
            raise UnknownName("no template of that indirectness level", got=indirectness, allowed="0 to 3")
    return chosen


def make_dataset(
    n: int = SHIPPED, seed: int = 1, *, names: Iterable[str] | None = None, knobs: Knobs | None = None,
    indirectness: int | None = None, progress: Callable[[int], Any] | None = None,
) -> list[Made]:  # fmt: skip
    """Make n cases; each differs from the others of its template to the eye and in its words.

    Parameters
    ----------
    n : int
        Number of cases. 461 without further wishes gives the shipped set's composition.
    seed : int
        Fixes everything.
    names : iterable of str, optional
        Template ids, prefixes of them, or subtypes.
    knobs : Knobs, optional
        Settings for all cases.
    indirectness : int, optional
        Level of the first node, 0 to 3.
    progress : callable, optional
        Called with 1 after every case.

    Raises
    ------
    UnknownName, SchemaError
        For a template, level or knob that does not exist.

    Examples
    --------
    >>> [m.case_id for m in make_dataset(2, names=["style_layout"])]
    ['s1-001', 's1-002']
    """
    if n < 1:
        raise SchemaError("number of cases", got=n, allowed="1 or more")
    wish = knobs or Knobs()
    plain = names is None and indirectness is None and wish == Knobs() and n == SHIPPED
    made: list[Made] = []
    for name, rows in sorted(recipe().items()) if plain and seed == 1 else ():
        made += [make_case(name, s, Knobs(nodes=k)) for k, s in rows]
        if progress:
            progress(len(rows))
    if not made:
        counts: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        if plain:
            for name, rows in recipe().items():
                for k, _ in rows:
                    counts[name][k] += 1
        else:
            counts |= _even(n, choose_templates(names, indirectness), wish)
        for name in sorted(counts):
            made += select(name, counts[name], seed, wish, progress)
    random.Random(f"order/{seed}").shuffle(made)
    return [replace(m, case_id=f"s{seed}-{i:03d}") for i, m in enumerate(made, 1)]


def select(
    name: str, counts: dict[int, int], seed: int, wish: Knobs, progress: Callable[[int], Any] | None = None
) -> list[Made]:
    """Return cases of one template, so many of each node count, none like another."""
    prints: list[np.ndarray] = []
    said: set[str] = set()
    most = templates()[name].max_distractors
    wish = replace(wish, distractors=None if wish.distractors is None else min(most, wish.distractors))
    made = []
    for i, k in enumerate(k for k, count in sorted(counts.items()) for _ in range(count)):
        one = _unlike(name, seed * 100_000 + i * 50, replace(wish, nodes=k), prints, said)
        made.append(replace(one))  # without the picture, which would fill the memory
        if progress:
            progress(1)
    return made


def _unlike(name: str, first: int, knobs: Knobs, prints: list[np.ndarray], said: set[str]) -> Made:
    """Return the first case of up to 50 seeds that resembles none before it."""
    best: tuple[int, Made, np.ndarray] | None = None
    for s in range(first, first + 50):
        try:
            one = make_case(name, s, knobs)
        except NoPair:
            continue
        words = f"{one.design.edit.old.text}>{one.design.edit.new.text}"
        if words in said and s < first + 40:
            continue
        bits = print_of(one.drawn_before.img)
        gap = min((int((bits != p).sum()) for p in prints), default=256)
        if best is None or gap > best[0]:
            best = (gap, one, bits)
        if gap >= LEAST_BITS:
            break
    if best is None:
        raise NoPair(f"template {name}: fifty seeds, and no pair of words fits any of them", got=knobs)
    _, one, bits = best
    prints.append(bits)
    said.add(f"{one.design.edit.old.text}>{one.design.edit.new.text}")
    return one


def write_dataset(
    made: Sequence[Made], out: str | Path, *, name: str = "icg-synth", twins: bool = False, after: bool = False,
    check: bool = False, progress: Callable[[int], Any] | None = None,
) -> list[Case]:  # fmt: skip
    """Write a dataset folder: dataset.toml, cases.jsonl, images/; twins, after images and truth.csv on request.

    `twins` adds twins.jsonl (same form as cases.jsonl, no nodes) and the pictures of the
    counterfactual twins; `after` adds after/ with the picture after the correct edit as PNG;
    `check` draws both as well and adds truth.csv (`icgforge.synth.check.truth_rows`).

    Returns
    -------
    list of Case
        The cases with the checksums of their images.
    """
    folder = Path(out)
    (folder / "images").mkdir(parents=True, exist_ok=True)
    if after:
        (folder / "after").mkdir(exist_ok=True)
    cases, others, truth = [], [], []
    pool = ThreadPoolExecutor(os.cpu_count())  # blurs, warps and encoding let other threads run
    try:
        for case, of_it, rows in pool.map(lambda one: _write_case(one, folder, twins, after, check), made):
            cases.append(case)
            others += of_it
            truth += rows
            if progress:
                progress(1)
    finally:
        pool.shutdown(cancel_futures=True)
    write_cases(cases, folder / "cases.jsonl")
    if twins:
        write_cases(others, folder / "twins.jsonl")
    if check:
        import polars as pl

        pl.DataFrame(truth).write_csv(folder / "truth.csv")
    (folder / "dataset.toml").write_text(
        f'name = "{name}"\nversion = "{VERSION}"\nlicence = "CC0-1.0"\nimage_root = "."\n'
        'provenance = "Drawn by icgforge.synth; the graph of every case is known by construction. '
        'See README.md beside this file."\n',
        encoding="utf-8",
    )
    return cases


def _write_case(
    made: Made, folder: Path, twins: bool, after: bool, check: bool
) -> tuple[Case, list[Case], list[dict[str, object]]]:
    """Write the pictures of one case; return it, its twins with the checksums of their images, its truth."""
    from icgforge.synth.check import truth_rows

    one, others = replace(made), []  # a copy, so that its pictures do not stay in memory
    data = one.encoded()
    case = one.case.model_copy(update={"image_sha256": hashlib.sha256(data).hexdigest()})
    (folder / case.image).write_bytes(data)
    for stale in {".png", ".jpg"} - {one.post.suffix}:  # of a case of that name that was drawn before
        (folder / case.image).with_suffix(stale).unlink(missing_ok=True)
    if twins:
        twin, seen = one.counterfactual(), one.encoded("twin")
        (folder / twin.image).write_bytes(seen)
        others.append(twin.model_copy(update={"image_sha256": hashlib.sha256(seen).hexdigest()}))
        others.append(one.infeasible().model_copy(update={"image_sha256": case.image_sha256}))
    if after:
        (folder / "after" / f"{one.case_id}.png").write_bytes(to_png(one.image("after")))
    return case, others, truth_rows(one) if check else []


def remake(case: Case) -> Made:
    """Return the pictures and plan of a case from its metadata alone.

    Raises
    ------
    SchemaError
        If the case was not drawn by this package.

    Examples
    --------
    >>> made = make_case("style_layout_sign", 4)
    >>> remake(made.case).case == made.case
    True
    """
    meta = case.metadata
    if "template" not in meta or "knobs" not in meta:
        raise SchemaError(
            f"case {case.id} was not drawn by icgforge.synth", remedy="only drawn cases can be made again"
        )
    k = meta["knobs"]
    knobs = Knobs(k["nodes"], k["distractors"], k["far"], k["salient"], meta["edit_type"])
    return make_case(meta["template"], meta["seed"], knobs, case_id=case.id)


def iter_remade(cases: Iterable[Case]) -> Iterator[Made]:
    """Remake cases one by one, so that only one is in memory at a time."""
    for case in cases:
        yield remake(case)
