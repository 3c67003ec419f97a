"""Worlds: typed facts and what follows from them. A graph is not written, it follows.

A world file makes one `World`, names its facts, and says what is derived from what:

    world = World("cafe", lang="fr", labels={"p2": "the price of the second dish"})
    world.facts(lambda rng: {"p1": rng.choice([650, 750]), "p2": 1150, "menu": 1500})
    world.derive("total", "sum", lambda p1, p2: p1 + p2, label="the sum")
    world.edit("p2", lambda v, rng: v["p2"] + rng.choice([100, 200]))
    world.holds("the menu is cheaper than its parts", lambda menu, total: menu < total)
    world.cut("total", sum_label="hier soir")

The arguments of a derivation are the names of what it is worked out from, so the graph is in the signatures.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import random
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from icgkit.errors import SchemaError, UnknownName

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a derivation is: the subtype of its node and the words of its reason."""

    id: str
    subtype: str
    reason: str
    alone: str = ""

    def say(self, words: Sequence[str]) -> str:
        """Return the reason with the names of what it follows from."""
        of = " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
        return (self.alone if self.alone and len(words) == 1 else self.reason).format(of=of)


@cache
def kinds() -> dict[str, Kind]:
    """Return the label rule: kind of derivation to subtype and reason."""
    table = tomllib.loads(resources.files("icgforge").joinpath("kinds.toml").read_text(encoding="utf-8"))
    return {name: Kind(name, **row) for name, row in table.items()}


@dataclass(frozen=True, slots=True)
class Derivation:
    """A value that follows from others; `of` are their names, in the order of the function's arguments."""

    name: str
    kind: str
    of: tuple[str, ...]
    work_out: Callable[..., Any]


@dataclass
class World:
    """Facts, what is derived from them, which facts an edit may change, and what must hold afterwards."""

    name: str
    lang: str = "en"
    labels: dict[str, str] = field(default_factory=dict)
    """What a fact or derived value is called in the words of a reason."""
    formats: dict[str, Callable[[Any], str]] = field(default_factory=dict)
    """How a value is written, by name; other values are written by `str`."""
    derivations: dict[str, Derivation] = field(default_factory=dict)
    edits: dict[str, Callable[[Values, random.Random], Any]] = field(default_factory=dict)
    """New value of a fact, given all values and a source of chance."""
    invariants: list[tuple[str, tuple[str, ...], Callable[..., bool]]] = field(default_factory=list)
    cuts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Facts under which a derivation no longer follows, by its name: what the twin says instead."""
    draw: Callable[[random.Random], Values] = field(default=lambda _: {})

    def facts(self, draw: Callable[[random.Random], Values]) -> Callable[[random.Random], Values]:
        """Set the function that draws the facts; all choices come from its argument."""
        self.draw = draw
        return draw

    def derive(
        self,
        name: str,
        kind: str,
        work_out: Callable[..., Any],
        *,
        of: Sequence[str] = (),
        label: str = "",
        shown: Callable[[Any], str] | None = None,
    ) -> None:
        """Add a value that follows from others: the arguments of `work_out` are their names, unless `of` gives them.

        Raises
        ------
        UnknownName
            For a kind that `kinds.toml` does not have.
        """
        if kind not in kinds():
            raise UnknownName.among("kind of derivation", kind, kinds())
        self.derivations[name] = Derivation(
            name, kind, tuple(of) or tuple(inspect.signature(work_out).parameters), work_out
        )
        if label:
            self.labels[name] = label
        if shown is not None:
            self.formats[name] = shown

    def edit(self, fact: str, change: Callable[[Values, random.Random], Any]) -> None:
        """Let an edit change a fact; `change` returns the new value, or None if there is none that fits."""
        self.edits[fact] = change

    def holds(self, what: str, test: Callable[..., bool]) -> None:
        """Add what must be true before and after an edit; its arguments are names of values."""
        self.invariants.append((what, tuple(inspect.signature(test).parameters), test))

    def cut(self, derived: str, **facts: Any) -> None:
        """Say which facts make it credible that a derived value no longer follows: for the twin."""
        self.cuts[derived] = facts

    def values(self, facts: Mapping[str, Any], frozen: Mapping[str, Any] | None = None) -> Values:
        """Work out everything; names in `frozen` keep the value given there.

        Raises
        ------
        SchemaError
            If a derivation names what there is not (yet): derivations stand in the order of their graph.
        """
        out = dict(facts)
        for name, d in self.derivations.items():
            if frozen and name in frozen:
                out[name] = frozen[name]
                continue
            try:
                out[name] = d.work_out(*(out[o] for o in d.of))
            except KeyError as exc:
                raise SchemaError(
                    f"world {self.name}: {name} is derived from {exc}, which is not known there"
                ) from None
        return out

    def broken(self, values: Mapping[str, Any]) -> list[str]:
        """Return what does not hold of values."""
        return [what for what, names, test in self.invariants if not test(*(values[n] for n in names))]

    def behind(self, name: str, fact: str) -> bool:
        """Whether a derived value depends on a fact, over any number of steps."""
        d = self.derivations.get(name)
        return d is not None and any(o == fact or self.behind(o, fact) for o in d.of)

    def text(self, name: str, value: Any) -> str:
        """Return how a value is written; a list item `name:key` is written as `name` is."""
        form = self.formats.get(name) or self.formats.get(name.rstrip("0123456789"))
        return form(value) if form else str(value)

    def label(self, name: str) -> str:
        """Return what a value is called in a sentence."""
        return self.labels.get(name) or name.replace("_", " ")

    def reason(self, name: str, fact: str) -> str:
        """Return why a derived value follows, in words; only what depends on the edited fact is named."""
        d = self.derivations[name]
        names = list(dict.fromkeys(self.label(o) for o in d.of if o == fact or self.behind(o, fact)))
        # A name such as b3 tells a reader nothing.
        others = (o for o in d.of if o in self.labels or o.isalpha())
        rest = [x for x in dict.fromkeys(map(self.label, others)) if x not in names]
        return kinds()[d.kind].say(names + rest[: max(0, 3 - len(names))])


@cache
def worlds() -> dict[str, World]:
    """Return all worlds by name: every module of this package has one."""
    found: dict[str, World] = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            found[module.name] = importlib.import_module(f"{__name__}.{module.name}").world
    return found
