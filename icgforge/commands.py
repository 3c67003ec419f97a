"""Commands that `icgkit` finds by the entry points `icgkit.commands`; light, so that `icgkit --help` stays fast."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from icgkit.cli import clear_errors


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
    photographs: Annotated[int, typer.Option(min=0, help="So many of them as path-traced photographs.")] = 0,
    jobs: Annotated[int, typer.Option(min=0, help="Processes; 0 is one a core.")] = 0,
) -> None:
    """Draw cases from worlds and documents: whatever an edit forces to change follows from the world."""
    import os

    from tqdm import tqdm

    from icgforge.dataset import DRAWN, SHOT, Order, build, fresh_seed

    with clear_errors():
        known = out / "seed.txt"
        if fresh:
            seed = known.read_text(encoding="utf-8").strip() if known.is_file() else fresh_seed()
            out.mkdir(parents=True, exist_ok=True)
            known.write_text(seed + "\n", encoding="utf-8")
            held_out_seed = seed
        chosen = tuple(d for d in names.split(",") if d)
        order = Order(
            n or (100 if fresh else 340),
            seed,
            held_out_seed,
            chosen,
            jobs or os.cpu_count() or 1,
            photographs,
        )
        wish = order.draw()
        with tqdm(total=wish.each * len(wish.names), desc="candidates", mininterval=2) as bar:
            cases = build(out, order, bar.update)
        nodes = sum(len(c.constraint_nodes) for c in cases)
        typer.echo(f"{len(cases)} cases, {nodes} nodes in {out}; {out / DRAWN} and {SHOT} may be removed")
