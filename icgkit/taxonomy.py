"""The five categories and nineteen subtypes of implicit constraints, read from `taxonomy.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icgkit.errors import UnknownName


@dataclass(frozen=True, slots=True)
class Category:
    """One of the five families of constraints; `plain` names it to somebody who knows no taxonomy."""

    id: str
    label: str
    order: int
    color: str
    plain: str


@dataclass(frozen=True, slots=True)
class Subtype:
    """One of the nineteen kinds of constraint.

    Attributes
    ----------
    question : str
        The checklist question that the taxonomy-only condition asks.
    indirectness : int
        0..3, see `INDIRECTNESS`.
    indirectness_stated : bool
        Whether the study states that level; elsewhere it is our reading of its definitions.
    """

    id: str
    label: str
    category: str
    order: int
    definition: str
    example: str
    question: str
    indirectness: int
    indirectness_stated: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """How to decide between subtypes that look alike."""

    between: tuple[str, ...]
    rule: str


_WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

CATEGORIES: dict[str, Category] = {
    id: Category(id=id, order=i, **words) for i, (id, words) in enumerate(_WORDS["category"].items())
}
SUBTYPES: dict[str, Subtype] = {
    id: Subtype(id=id, order=i, **words) for i, (id, words) in enumerate(_WORDS["subtype"].items())
}
INDIRECTNESS: dict[int, str] = dict(enumerate(_WORDS["indirectness"]))
RULES: tuple[Rule, ...] = tuple(Rule(tuple(r["between"]), r["rule"]) for r in _WORDS["rule"])


def subtype(name: str) -> Subtype:
    """Look up a subtype by id.

    Raises
    ------
    UnknownName
        If there is no such subtype.

    Examples
    --------
    >>> subtype("xmod_scene").category
    'cross_modal'
    """
    try:
        return SUBTYPES[name]
    except KeyError:
        raise UnknownName.among("subtype", name, SUBTYPES) from None


def category(name: str) -> Category:
    """Look up a category by its own id or by the id of one of its subtypes.

    Examples
    --------
    >>> category("style_font").label
    'Style'
    """
    if name in CATEGORIES:
        return CATEGORIES[name]
    if name in SUBTYPES:
        return CATEGORIES[SUBTYPES[name].category]
    raise UnknownName.among("category", name, CATEGORIES)
