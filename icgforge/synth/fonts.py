"""Typefaces of the drawn cases: a shelf of open fonts by role and script.

The files stand in ``fonts/`` with their licences. Text is set with Pillow's basic layout, which
is part of the wheel, so that the same string gives the same pixels on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import ImageFont

import icgkit.report
from icgkit.errors import IcgError, UnknownName

if TYPE_CHECKING:
    from random import Random

FOLDER = Path(__file__).with_name("fonts")
SHARED = Path(icgkit.report.__file__).with_name("fonts")
"""Two typefaces with Chinese, Japanese and Korean signs, which figures and tables fall back to as well."""
ROLES = ("display", "serif", "sans", "condensed", "slab", "script", "hand", "mono")
SCRIPTS = ("latin", "greek", "cyrillic", "cjk")


@dataclass(frozen=True, slots=True)
class Family:
    """One typeface: what it is used for, what it can write, which weights are there."""

    roles: tuple[str, ...]
    scripts: tuple[str, ...]
    files: dict[str, str]
    scale: float = 1.0
    """Factor that brings the capitals near those of the other families at the same size."""


def _files(family: str, ext: str, weights: str) -> dict[str, str]:
    return {weight: f"{family}-{weight}.{ext}" for weight in weights.split()}


_WIDE = ("latin", "greek", "cyrillic")

FAMILIES: dict[str, Family] = {
    name: Family(roles, scripts, _files(name, ext, weights), scale)
    for name, roles, scripts, ext, weights, scale in (
        ("poster", ("display", "condensed"), ("latin",), "otf", "bold", 1.0),
        ("geometric", ("display", "sans"), ("latin",), "otf", "regular bold", 1.0),
        ("bookish", ("serif",), _WIDE, "otf", "regular italic", 1.08),
        ("novel", ("serif", "display"), _WIDE, "ttf", "regular bold italic", 1.05),
        ("plain", ("sans",), _WIDE, "ttf", "light regular bold", 0.98),
        ("office", ("sans", "display"), _WIDE, "ttf", "regular bold black", 0.98),
        ("narrow", ("condensed", "sans"), _WIDE, "ttf", "regular bold", 1.0),
        ("slab", ("slab", "display"), _WIDE, "otf", "regular bold", 0.98),
        ("cafe", ("display", "condensed"), ("latin", "cyrillic"), "otf", "regular bold", 1.12),
        ("lively", ("script",), ("latin",), "otf", "bold", 1.1),
        ("diner", ("script", "display"), ("latin",), "otf", "bold", 1.05),
        ("brush", ("script", "hand"), ("latin",), "otf", "regular", 1.0),
        ("comic", ("hand",), ("latin",), "otf", "regular bold", 1.0),
        ("marker", ("hand",), ("latin", "cjk"), "ttf", "regular", 0.95),
        ("code", ("mono",), _WIDE, "ttf", "regular bold", 0.95),
        ("typewriter", ("mono", "slab"), ("latin",), "otf", "regular bold", 1.05),
        ("gothic", ("sans", "display", "condensed"), ("latin", "cjk"), "otf", "regular bold", 0.95),
        ("mincho", ("serif", "display"), ("latin", "cjk"), "otf", "bold", 0.95),
    )
}


def weights(family: str) -> tuple[str, ...]:
    """Name the weights that a family has.

    Examples
    --------
    >>> weights("slab")
    ('regular', 'bold')
    """
    if family not in FAMILIES:
        raise UnknownName.among("font family", family, FAMILIES)
    return tuple(FAMILIES[family].files)


def file_of(family: str, weight: str = "regular") -> Path:
    """Path of a font file; a weight that the family lacks falls back to one it has.

    Raises
    ------
    UnknownName
        If there is no such family.

    Examples
    --------
    >>> file_of("poster", "regular").name
    'poster-bold.otf'
    """
    has = weights(family)
    order = (weight, "bold" if weight in ("black", "bold") else "regular", *has)
    name = FAMILIES[family].files[next(w for w in order if w in has)]
    return next(p for p in (FOLDER / name, SHARED / name) if p.is_file())


@lru_cache(maxsize=512)
def get(family: str, size: float, weight: str = "regular") -> ImageFont.FreeTypeFont:
    """Load a font at a size in pixels; sizes of different families look alike.

    Parameters
    ----------
    family : str
        One of `FAMILIES`, or family and weight in one, as in ``"slab-bold"``.
    size : float
        Size in pixels, above 0; halves and other fractions are kept.
    weight : str
        ``light``, ``regular``, ``bold``, ``black`` or ``italic``; the nearest one that exists is used.

    Raises
    ------
    UnknownName
        If there is no such family.
    IcgError
        If the size is not above 0.

    Examples
    --------
    >>> get("plain-bold", 24).getlength("Open") > get("plain", 24).getlength("Open")
    True
    """
    if not size > 0:
        raise IcgError("font size", got=size, allowed="a number above 0, in pixels")
    name, _, own = family.partition("-")
    path = file_of(name, own or weight)
    return ImageFont.truetype(str(path), size * FAMILIES[name].scale, layout_engine=ImageFont.Layout.BASIC)


def choose(role: str, script: str = "latin") -> list[str]:
    """List the families that play a role and can write a script.

    Raises
    ------
    UnknownName
        If the role or the script is not one of `ROLES`, `SCRIPTS`.
    IcgError
        If no family does both.

    Examples
    --------
    >>> choose("serif", "greek")
    ['bookish', 'novel']
    """
    if role not in ROLES:
        raise UnknownName.among("font role", role, ROLES)
    if script not in SCRIPTS:
        raise UnknownName.among("script", script, SCRIPTS)
    found = [name for name, f in FAMILIES.items() if role in f.roles and script in f.scripts]
    if script == "latin":  # the Latin of a CJK font is a makeshift
        found = [name for name in found if name not in ("gothic", "mincho")]
    if not found:
        fits = [r for r in ROLES if any(r in f.roles and script in f.scripts for f in FAMILIES.values())]
        raise IcgError(f"no font of role {role!r} writes {script}", allowed=fits)
    return found


def pick(rng: Random, role: str | tuple[str, ...], script: str = "latin") -> str:
    """Draw a family at random among those of a role (or of several) that write a script.

    Examples
    --------
    >>> from random import Random
    >>> pick(Random(1), "mono") in {"code", "typewriter"}
    True
    """
    roles = (role,) if isinstance(role, str) else role
    names: list[str] = []
    for each in roles:
        try:
            names += [n for n in choose(each, script) if n not in names]
        except UnknownName:
            raise
        except IcgError:
            continue
    if not names:
        raise IcgError(f"no font of roles {', '.join(roles)} writes {script}", allowed=ROLES)
    return rng.choice(names)


def covers(family: str, text: str) -> bool:
    """Tell whether a family has a glyph for every character of a text.

    Examples
    --------
    >>> covers("slab", "Ωδείο"), covers("diner", "Ωδείο")
    (True, False)
    """
    return all(_has(family, ch) for ch in set(text))


@lru_cache(maxsize=4096)
def _has(family: str, char: str) -> bool:
    """Tell whether every weight of the family draws the character as something else than a gap."""
    for weight in weights(family):
        font = get(family, 20, weight)
        shown, gap = font.getmask(char), font.getmask("\ufffe")
        if not char.isspace() and shown.size == gap.size and bytes(shown) == bytes(gap):
            return False
    return True
