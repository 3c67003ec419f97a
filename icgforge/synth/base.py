"""Templates of synthetic cases: how one is written, and how a case is made from it.

A template is a function that plans one picture. It draws all its randomness from `ctx` and
returns a `Design`, whose `draw` paints the picture for given values. `draw` must be pure: it is
called for the picture before the edit, after the correct edit, and for the twin without the
dependency. A complete template:

    from icgforge.synth.base import Ctx, Design, EdgeSpec, NodeSpec, template
    from icgforge.synth.canvas import Canvas

    @template("shelf_offer", nodes=("semantic_numerical", "semantic_promotional"), edits=("percent",))
    def shelf_offer(ctx: Ctx) -> Design:
        edit = ctx.edit()                                  # old and new item, from the shared pools
        pal, size = ctx.palette(), ctx.size("wide")        # shared pools of palettes and formats
        head, body = ctx.face("display"), ctx.face("sans") # font families, by role
        price = ctx.rng.randrange(40, 200, 20)
        sale = lambda item: f"${price * (100 - item['value']) / 100:.0f}"
        tiers = lambda item: "HALF PRICE!" if item["value"] == 50 else "SPRING DEALS"
        w, h = size
        x = ctx.rng.choice([0.1, 0.5])                     # plan now, draw later
        extras = ctx.copy(ctx.distractors)                 # unrelated short lines, as many as the knob says

        def draw(c: Canvas, v: Values, twin: bool) -> None:
            c.rect((0, 0, w, h), pal.bg)
            with c.element("target"):                      # the element "target" is the edited text
                c.text((x * w, 60), v["target"], (head, 72), pal.ink)
            with c.element("sale"):
                c.text((x * w, 200), v["sale"], (body, 40), pal.accent)
            if ctx.n > 1:                                  # only the first ctx.n nodes exist in the picture
                with c.element("burst"):
                    c.text((0.7 * w, h - 90), v["burst"], (body, 22), pal.ink)
            for i, line in enumerate(extras):
                c.text((40, 260 + 26 * i), line, (body, 16), pal.muted)

        return Design(
            size, draw, edit,
            before={"sale": sale(edit.old), "burst": tiers(edit.old)},   # "target" is added
            after={"sale": sale(edit.new), "burst": tiers(edit.new)},    # only what changes
            twin={"sale": f"${price + 7}", "burst": "NEW SEASON"},       # values of the twin (and twin=True)
            target_region=["headline, {where}", "the large figure at the {where}"],
            nodes=[
                NodeSpec("sale", "semantic_numerical",
                    region=["price below the headline, {where}", ...],   # >= 3 variants of each
                    clean=["a short line of text, {where}", ...],
                    update=["{b_sale} becomes {a_sale}", ...],
                    reason=["the price is ${price} less {new}" ...],     # f-strings are fine too
                    anon=["one value is derived from the edited one", ...]),
                ...],
            edges=[EdgeSpec("sale", "burst", "agreement", ["both speak of the same reduction", ...])],
            facts=[Fact("percent_off", "sale", before={...}, after={...})],
        )

Contract
--------
- `nodes=` lists the subtypes of all nodes that the template can make, in order; `ctx.n` says how many
  of them this case has (`min_nodes` .. all). Return at least those (what is beyond `ctx.n` is cut), and do
  not let the cut ones be true in the picture: their element is not drawn, or drawn as in the twin.
  Edges whose ends are cut are cut as well.
- Elements: `c.element(name)`, masks through layers and warps included. The picture before and after may
  differ only inside target and nodes, and must differ in each; so a change that moves something
  else must be a node (or fall inside the box of one). Boxes are made from the masks before and after.
  Use `c.mark(name, box)` where what changes is not one drawn thing.
- Phrases are format strings: {old} {new} (the edited texts), {b_key} {a_key} (values before/after), {where}
  ("lower right", from the node's box). Give >= 3 variants a field, of your template's own wording, with
  frames that no other template uses; `clean` must give away neither type nor reason, `anon` no region, object,
  number or quoted text.
- Knobs: `ctx.n`; `ctx.distractors` (0..6 unrelated texts or objects like those that matter);
  `ctx.far` (True: put nodes far from the target, False: near); `ctx.salient` (True: nodes large and
  in contrast, False: small and faint but readable). What came of them is measured on the picture.
- Twin: `draw(c, before | twin, True)` paints the same picture without the dependency (price unrelated,
  window matt, mirror shows something else), so that the same edit forces nothing.
- `facts` let the audit recompute with code of its own. Kinds and keys (numbers, not text):
  percent_off: list, percent, result | product: factors, result | sum: terms, result | ratio: part, whole, percent
  difference: start, end, result (minutes or units) | weekday: iso, weekday | season: month (1-12), season
  length: value (the extent of the node's mask along `axis` "x"|"y" is proportional, `zero` pixels subtracted)
  angle: value, full (share of a circle; not measured) | same: source, copy (texts that must agree)
  Every fact has `before` and `after` with these keys.
- The surround (wall, desk, screen ...), tone and post effects (noise, light, blur, JPEG) are added
  outside, from pools shared by all, the same before and after.
- Textures and other random pixels: fix a seed when planning (`s = ctx.seed()`), and use
  `numpy.random.default_rng(s)` when drawing.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from icgforge.synth.canvas import Canvas
from icgforge.synth.words import Edit, Item, draw_edit
from icgkit.errors import SchemaError, UnknownName
from icgkit.taxonomy import SUBTYPES

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Palette:
    """Five colours that go together."""

    bg: tuple[int, int, int]
    panel: tuple[int, int, int]
    ink: tuple[int, int, int]
    accent: tuple[int, int, int]
    accent2: tuple[int, int, int]
    muted: tuple[int, int, int]
    dark: bool


def _rgb(code: str) -> tuple[int, int, int]:
    return int(code[:2], 16), int(code[2:4], 16), int(code[4:], 16)


def _palette(row: str, dark: bool) -> Palette:
    bg, panel, ink, accent, accent2, muted = (_rgb(code) for code in row.split())
    return Palette(bg, panel, ink, accent, accent2, muted, dark)


PALETTES = tuple(
    _palette(row, dark)
    for row, dark in (
        ("f5efe3 e8dcc5 2f2a26 b5452c 2f6f73 857a6c", False),
        ("fafaf7 e9ecef 20262d 1f6fb2 e08a1e 76818c", False),
        ("eef3ee d5e2d6 1f3329 2d7d4f c2572b 71837a", False),
        ("fdf1ec f6d7cc 3a2226 c23b54 3d5a98 8d7478", False),
        ("f3f0fa ddd6ee 2a2440 6247aa d9822b 7d7691", False),
        ("fff8dc f6e6a8 33302a d1495b 00798c 8a8163", False),
        ("1d2430 2b3546 f2f0e9 f2b134 5fb0b7 97a3b3", True),
        ("24201d 37312c f6ead7 e2793f 86b49b a99f92", True),
        ("12312f 1f4744 f3f1e4 f0c05a e3735e 9bb5ae", True),
        ("2b1b33 412a4c f8eef5 f27ea9 7fc8d8 b09fb9", True),
        ("e7eef4 cfdde9 1b2b3c c8553d 3f7cac 6f8294", False),
        ("f7f4ef e5ded2 262626 8c2f39 4a6c6f 807a72", False),
    )
)

SIZES = {
    "wide": ((760, 520), (800, 560), (720, 540), (780, 500)),
    "square": ((640, 640), (680, 620), (620, 660)),
    "tall": ((560, 760), (580, 720), (600, 780)),
}

# Short lines of copy that nothing depends on.
COPY = (
    "Ask us about delivery", "Est. on the corner of Mill Lane", "Members of the guild", "Printed on recycled stock",
    "Mind the step", "Ring twice for service", "Follow the arrows", "Wheelchair access at the side",
    "Free tap water", "Lost property at the desk", "Please queue here", "Dogs are welcome", "Cloakroom downstairs",
    "Card and cash", "Photography allowed", "Made by hand", "No ball games", "Quiet area", "Bring your own bag",
    "Second floor", "Use the bell", "Back by popular demand", "Serving the valley", "Locally owned",
    "Independent since the start", "Keep dry", "This way up", "Handle with care", "Thank you for waiting",
    "Scan for more", "Tell your neighbours", "Open to all",
)  # fmt: skip


class Ctx:
    """What a template plans with: one random stream, the knobs, and the shared pools."""

    def __init__(
        self, template: Template, seed: int, *, n: int, distractors: int, far: bool, salient: bool, kind: str
    ) -> None:
        self.template, self.key = template, f"{template.id}/{seed}"
        self.rng = random.Random(self.key)
        self.n, self.distractors, self.far, self.salient, self.kind = n, distractors, far, salient, kind
        self.scripts: set[str] = set()

    def edit(self, ok: Callable[[Item, Item], bool] | None = None) -> Edit:
        """Draw the edit of this case; its type is `ctx.kind`, one of the template's `edits`."""
        return draw_edit(self.kind, random.Random(self.key + "/edit"), ok)

    def seed(self) -> int:
        """Return a seed for pixels that are random but fixed (textures)."""
        return self.rng.getrandbits(32)

    def palette(self, dark: bool | None = None) -> Palette:
        """Pick one of the shared palettes, on request a dark or a light one."""
        return self.rng.choice([p for p in PALETTES if dark is None or p.dark == dark])

    def size(self, shape: str = "any") -> tuple[int, int]:
        """Pick a format: "wide", "square", "tall" or "any"."""
        pool = [s for v in SIZES.values() for s in v] if shape == "any" else list(SIZES[shape])
        return self.rng.choice(pool)

    def face(self, role: str = "sans", script: str = "latin") -> str:
        """Pick a font family by role (sans, serif, display, mono, hand, slab, condensed ...)."""
        if script != "latin":
            self.scripts.add(script)
        try:
            from icgforge.synth import fonts
        except ImportError:
            pools = {"serif": ["DejaVuSerif", "DejaVuSerif-Bold"], "mono": ["DejaVuSansMono"],
                     "display": ["DejaVuSans-Bold", "DejaVuSerif-Bold"], "hand": ["DejaVuSerif-Italic"]}  # fmt: skip
            return self.rng.choice(pools.get(role, ["DejaVuSans", "DejaVuSans-Bold"]))
        return fonts.pick(self.rng, role, script)

    def copy(self, k: int) -> list[str]:
        """Return k unrelated short lines for distractors."""
        return self.rng.sample(COPY, k)

    def chance(self, p: float) -> bool:
        """Return True with probability p."""
        return self.rng.random() < p


@dataclass(frozen=True)
class NodeSpec:
    """One node: its element on the canvas, its subtype, and phrase variants of its fields."""

    element: str
    subtype: str
    region: Sequence[str]
    clean: Sequence[str]
    update: Sequence[str]
    reason: Sequence[str]
    anon: Sequence[str]
    strength: str = "strong"


@dataclass(frozen=True)
class EdgeSpec:
    """Two nodes, by element, that must agree."""

    a: str
    b: str
    type: str
    description: Sequence[str]


@dataclass(frozen=True)
class Fact:
    """What an independent check can recompute; kinds and keys stand in the module docstring."""

    kind: str
    node: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    axis: str = "y"
    zero: float = 0


@dataclass(frozen=True)
class Design:
    """A planned picture: everything that is needed to draw it and to say what is true of it."""

    size: tuple[int, int]
    draw: Callable[[Canvas, Values, bool], None]
    edit: Edit
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    nodes: Sequence[NodeSpec]
    target_region: Sequence[str]
    twin: Mapping[str, Any] = field(default_factory=dict)
    edges: Sequence[EdgeSpec] = ()
    facts: Sequence[Fact] = ()


@dataclass(frozen=True)
class Template:
    """A registered template."""

    id: str
    plan: Callable[[Ctx], Design]
    nodes: tuple[str, ...]
    edits: tuple[str, ...]
    min_nodes: int = 1
    max_distractors: int = 6

    @property
    def subtypes(self) -> tuple[str, ...]:
        """Subtypes in the order of the taxonomy, each once."""
        return tuple(s for s in SUBTYPES if s in self.nodes)


_REGISTRY: dict[str, Template] = {}


def template(
    id: str, *, nodes: Sequence[str], edits: Sequence[str], min_nodes: int = 1, max_distractors: int = 6
) -> Callable[[Callable[[Ctx], Design]], Callable[[Ctx], Design]]:
    """Register a planning function as template `id` (see the module docstring)."""
    if unknown := [s for s in nodes if s not in SUBTYPES]:
        raise UnknownName.among("subtype", unknown[0], SUBTYPES)
    if id in _REGISTRY:
        raise SchemaError("template id used twice", got=id)

    def register(plan: Callable[[Ctx], Design]) -> Callable[[Ctx], Design]:
        _REGISTRY[id] = Template(id, plan, tuple(nodes), tuple(edits), min_nodes, max_distractors)
        return plan

    return register


def templates() -> dict[str, Template]:
    """Return all templates by id, after importing every template module of this package.

    Modules are found by name: physical_*, spatial_*, semantic_*, style_*, xmod_*, scenes_*.
    """
    _load_templates()
    return dict(sorted(_REGISTRY.items()))


@cache
def _load_templates() -> None:
    for path in sorted(Path(__file__).parent.glob("*_*.py")):
        if path.name.split("_")[0] in ("physical", "spatial", "semantic", "style", "xmod", "scenes"):
            import_module(f"icgforge.synth.{path.stem}")


def stable_hash(text: str) -> int:
    """Return 64 bits that depend on the text alone (Python's own hash varies by process)."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def where(box: Sequence[float], size: tuple[int, int]) -> str:
    """Say in words where the centre of a box lies in a picture.

    Examples
    --------
    >>> where((500, 400, 600, 480), (640, 480))
    'lower right'
    """
    x, y = (box[0] + box[2]) / 2 / size[0], (box[1] + box[3]) / 2 / size[1]
    column = "left" if x < 0.38 else "right" if x > 0.62 else ""
    row = "upper" if y < 0.36 else "lower" if y > 0.64 else ""
    if row and column:
        return f"{row} {column}"
    if row:
        return {"upper": "top centre", "lower": "bottom centre"}[row]
    return f"middle {column}" if column else "centre"
