"""Commands that `icgkit` finds by the entry points `icgkit.commands`; light, so that `icgkit --help` stays fast."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from icgkit.cli import clear_errors


def synth(
    out: Annotated[Path, typer.Option(help="Folder of the dataset that is written.")],
    seed: Annotated[int, typer.Option(min=0, help="Fixes every pixel and every word.")] = 1,
    n: Annotated[int, typer.Option("--n", min=1, help="Number of cases; 461 is the shipped set.")] = 461,
    templates: Annotated[
        str, typer.Option(help="Templates, prefixes or subtypes, separated by commas.")
    ] = "",
    indirectness: Annotated[int | None, typer.Option(min=0, max=3, help="Level of the first node.")] = None,
    distractors: Annotated[int | None, typer.Option(min=0, max=6, help="Unrelated texts.")] = None,
    nodes: Annotated[int | None, typer.Option(min=1, max=5, help="Nodes of each case.")] = None,
    distance: Annotated[str, typer.Option(help="near or far: node from target.")] = "",
    salience: Annotated[str, typer.Option(help="low or high: size and contrast of the nodes.")] = "",
    twins: Annotated[
        bool, typer.Option("--twins", help="Twins without the dependency or the target.")
    ] = False,
    after: Annotated[bool, typer.Option("--after", help="Pictures after the correct edit as well.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compare boxes, edits and twins pixel by pixel: truth.csv.")
    ] = False,
) -> None:
    """Draw cases whose graph is known by construction."""
    from tqdm import tqdm

    from icgforge.synth import dataset as door

    with clear_errors():
        knobs, names = (
            door.wishes(distractors, nodes, distance, salience),
            [t for t in templates.split(",") if t],
        )
        with tqdm(total=n, desc="planned", mininterval=2) as bar:
            made = door.make_dataset(
                n, seed, names=names or None, knobs=knobs, indirectness=indirectness, progress=bar.update
            )
        with tqdm(total=n, desc="drawn", mininterval=2) as bar:
            cases = door.write_dataset(
                made, out, name=out.name, twins=twins, after=after, check=check, progress=bar.update
            )
        typer.echo(f"{len(cases)} cases, {sum(len(c.constraint_nodes) for c in cases)} nodes in {out}")


def scenes(
    out: Annotated[Path, typer.Option(help="Folder of the dataset that is written; a second call goes on.")],
    n: Annotated[int | None, typer.Option("--n", min=1, help="Cases; 340, or 100 of a fresh set.")] = None,
    seed: Annotated[
        str, typer.Option(help="Fixes every fact, pixel and word of the public documents.")
    ] = "1",
    held_out_seed: Annotated[
        str, typer.Option(help="Seed of the documents that are held out; that of the others if empty.")
    ] = "",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Draw from a seed that nobody knew; it is written to seed.txt.")
    ] = False,
    names: Annotated[str, typer.Option("--documents", help="Documents, separated by commas.")] = "",
    jobs: Annotated[int, typer.Option(min=0, help="Processes; 0 is one a core.")] = 0,
) -> None:
    """Draw cases from worlds and documents: whatever an edit forces to change follows from the world."""
    import os

    from tqdm import tqdm

    from icgforge.dataset import DRAWN, Order, build, fresh_seed

    with clear_errors():
        known = out / "seed.txt"
        if fresh:
            seed = known.read_text(encoding="utf-8").strip() if known.is_file() else fresh_seed()
            out.mkdir(parents=True, exist_ok=True)
            known.write_text(seed + "\n", encoding="utf-8")
            held_out_seed = seed
        chosen = tuple(d for d in names.split(",") if d)
        order = Order(n or (100 if fresh else 340), seed, held_out_seed, chosen, jobs or os.cpu_count() or 1)
        wish = order.draw()
        with tqdm(total=wish.each * len(wish.names), desc="candidates", mininterval=2) as bar:
            cases = build(out, order, bar.update)
        nodes = sum(len(c.constraint_nodes) for c in cases)
        typer.echo(f"{len(cases)} cases, {nodes} nodes in {out}; {out / DRAWN} may be removed")
