"""What the measurements of `vision` mean for an edit, as findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from icgforge.baselines.findings import Finding
from icgforge.baselines.seeing import Line, Sight, likeness, squeeze
from icgforge.baselines.task import Edit
from icgforge.baselines.vision import hue_name
from icgforge.baselines.world import SEASON_OF_MONTH, season_of, worlds

Look = Callable[[Edit, Sight, Line, dict[str, Any]], Iterator[Finding]]


def _below(box: Any, target: Line) -> str:
    dy = (box[1] + box[3]) / 2 - target.centre[1]
    dx = (box[0] + box[2]) / 2 - target.centre[0]
    if abs(dy) > abs(dx) * 0.6:
        return "below" if dy > 0 else "above"
    return "beside"


def mirror(edit: Edit, sight: Sight, target: Line, seen: dict[str, Any]) -> Iterator[Finding]:
    """Flipped copies: left-right in a mirror, upside down in a shiny surface.

    What tells is how far one way of flipping stands out from the others: letters resemble their
    own mirror images a little everywhere.
    """
    scores = [copy["score"] for copy in seen["mirror"]]
    for copy in seen["mirror"]:
        box, flip = copy["box"], copy["flip"]
        margin = copy["score"] - max([v for v in scores if v != copy["score"]], default=copy["score"])
        score = (
            min(0.3 + 3.4 * margin, 0.98)
            if margin > 0.07 and copy["score"] > 0.5
            else 0.12 + 0.15 * copy["score"]
        )
        where = f"{_below(box, target)} the edited text at the {sight.place(box)}"
        if flip == "v":
            yield Finding(
                "physical_reflection",
                f'the upside-down reflection of "{edit.old}" in the shiny or wet surface {where}',
                f'redraw the reflection so that it shows "{edit.new}"',
                "the glossy surface reflects the edited letters, so the old reflection would contradict the new text",
                score, tuple(box),
            )  # fmt: skip
        elif flip == "h":
            yield Finding(
                "spatial_mirror",
                f'the laterally reversed "{edit.old}" in the mirror or glass {where}',
                f'the mirror image has to show "{edit.new}" reversed',
                "a mirror in the picture repeats the edited text the wrong way round",
                score, tuple(box),
            )  # fmt: skip


def shadow(edit: Edit, sight: Sight, target: Line, seen: dict[str, Any]) -> Iterator[Finding]:
    """A darker copy of the letters beside them."""
    if seen["shadow"]:
        side = {1: "right", -1: "left", 0: ""}[seen["shadow"]["dx"]]
        low = {1: "below", -1: "above", 0: "beside"}[seen["shadow"]["dy"]]
        yield Finding(
            "physical_shadow",
            f'the shadow of the letters "{edit.old}" {low} {side} on the wall or ground behind them at the {sight.place(target.box)}'.replace("  ", " "),
            f'redraw the cast shadow so that its outline follows the letters "{edit.new}"',
            "the raised letters cast a shadow whose shape follows their outline, and the letters change",
            min(0.5 + 0.45 * (seen["shadow"]["score"] - 1.0), 0.97), target.box,
        )  # fmt: skip


def perspective(edit: Edit, sight: Sight, target: Line, seen: dict[str, Any]) -> Iterator[Finding]:
    """Text whose base line or size runs along a slanted face."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = target.quad
    left, right = ((ax - dx) ** 2 + (ay - dy) ** 2) ** 0.5, ((bx - cx) ** 2 + (by - cy) ** 2) ** 0.5
    taper = abs(left - right) / max(left, right, 1)
    tilt = abs(target.slant)
    score = min(0.25 * max(tilt - 1.2, 0) + 3.5 * max(taper - 0.07, 0), 0.95)
    kin = [
        o for o in sight.lines if o is not target and abs(o.slant - target.slant) < 4 and abs(o.slant) > 1.2
    ]
    for line in kin[:2]:
        yield Finding(
            "physical_perspective",
            f'the line "{line.text}" on the same slanted surface at the {sight.place(line.box)}',
            f'set "{line.text}" anew along the vanishing lines of the surface, with the foreshortening kept',
            "it stands with the edited text on a face seen at an angle, so both follow the same perspective",
            score, line.box, line.text,
        )  # fmt: skip
    yield Finding(
        "physical_perspective",
        f'the slanted face around the edited text at the {sight.place(target.box)}',
        f'"{edit.new}" and the lines with it have to follow the vanishing lines of the surface',
        "the surface is seen at an angle, so the foreshortening of the lettering must be kept in perspective",
        score * 0.8, target.box,
    )  # fmt: skip


def occlusion(edit: Edit, sight: Sight, target: Line, seen: dict[str, Any]) -> Iterator[Finding]:
    """Letters that cannot be read although they should be there."""
    alike = likeness(squeeze(edit.old), target.key)
    covered = 1.0 - alike + max(0.9 - target.score, 0)
    third = max(seen["cover"] - 0.03, 0) * 3.2
    yield Finding(
        "physical_occlusion",
        f'the object in front that covers part of "{edit.old}" at the {sight.place(target.box)}',
        f'work out which parts of "{edit.new}" show beside the object and which stay hidden behind it',
        "something stands in front of the lettering, so that other letters are covered or become visible",
        min(max(covered * 1.6, third), 0.95), target.box,
    )  # fmt: skip


def material(edit: Edit, sight: Sight, target: Line, seen: dict[str, Any]) -> Iterator[Finding]:
    """Grain beside the letters."""
    ground = hue_name(target.paper)
    stuff = {
        "brown": "wood",
        "orange": "wood",
        "grey": "stone or metal",
        "white": "paper or plaster",
        "black": "slate or board",
    }
    name = stuff.get(ground, "fabric or painted")
    yield Finding(
        "style_material",
        f"the {ground} {name} surface around the edited text at the {sight.place(target.box)}",
        f'rebuild the {name} texture where the letters of "{edit.old}" were and work "{edit.new}" into it',
        "the letters are carved, printed or written into a material whose grain and texture go on around them",
        (0.5 if seen["texture"] > 1 else 0.4) if ground in stuff and ground != "white" else 0.2, target.box,
    )  # fmt: skip


_NAMES = (
    "red",
    "blue",
    "green",
    "orange",
    "purple",
    "yellow",
    "pink",
    "brown",
    "turquoise",
    "grey",
    "black",
    "white",
)


def color(edit: Edit, sight: Sight, target: Line, seen: dict[str, Any]) -> Iterator[Finding]:
    """Areas in the colour that the text names or has, or that stand out by colour at all."""
    named = next((n for n in _NAMES if n in edit.old.lower().split()), "")
    areas = [a for a in seen["areas"] if named and a["hue"] == named]
    score = 0.92
    if not areas:
        areas, score = seen["same_color"], 0.6
    if not areas:
        areas = [a for a in seen["areas"] if a["share"] < 0.2]
        score = 0.5 if edit.kind in ("percent", "number", "date", "month", "time") else 0.4
    for k, area in enumerate(areas[:3]):
        shape = "line or band" if area.get("slim") else "area, badge or marker"
        yield Finding(
            "style_color",
            f"the {area['hue']} {shape} at the {sight.place(area['box'])}",
            f'recolour it from {area["hue"]} to the colour that goes with "{edit.new}"',
            f"a colour code links it with the edited text: it is drawn in the {area['hue']} tint of \"{edit.old}\"",
            score - 0.08 * k, tuple(area["box"]),
        )  # fmt: skip


def plate(edit: Edit, sight: Sight, target: Line, seen: dict[str, Any]) -> Iterator[Finding]:
    """The panel behind the text, or a rule under it, made to its measure."""
    strength = 0.85 if edit.growth > 1.4 or edit.growth < 0.7 else 0.55
    long = "longer" if edit.growth > 1 else "shorter"
    if seen["plate"]:
        yield Finding(
            "style_layout",
            f"the plate, panel or capsule behind the edited text at the {sight.place(seen['plate'])}",
            f'resize the plate to the length of "{edit.new}" with the same margin',
            f"the plate fits the old text with an even padding, and the new text is {long}",
            strength, tuple(seen["plate"]),
        )  # fmt: skip
    if seen["rule"]:
        yield Finding(
            "style_layout",
            f"the rule or line {_below(seen['rule'], target)} the edited text at the {sight.place(seen['rule'])}",
            f'stretch or shorten the rule to the width of "{edit.new}"',
            f"the rule is as wide as the text, and the new text is {long}",
            strength, tuple(seen["rule"]),
        )  # fmt: skip


def chart(edit: Edit, sight: Sight, target: Line, seen: dict[str, Any]) -> Iterator[Finding]:
    """The bar, or the round instrument, that belongs to an edited value."""
    bars = seen["bars"]
    valued = edit.kind in ("number", "percent", "price", "time")
    if bars:
        along = (
            (lambda b: abs((b[0] + b[2]) / 2 - target.centre[0]))
            if bars["way"] == "column"
            else (lambda b: abs((b[1] + b[3]) / 2 - target.centre[1]))
        )
        box = min(bars["boxes"], key=along)
        yield Finding(
            "semantic_visual_data",
            f'the bar of the chart that belongs to "{edit.old}" at the {sight.place(box)}',
            f'redraw the bar with a length that fits {edit.new}',
            f"the bar chart draws the edited value, so the height of the bar encodes {edit.old}",
            0.92 if valued else 0.2, tuple(box),
        )  # fmt: skip
    for box in seen["rounds"][:2]:
        if edit.kind == "time":
            yield Finding(
                "xmod_temporal",
                f"the clock face at the {sight.place(box)}",
                f"set the hands of the clock to {edit.new}",
                f"the clock shows {edit.old}, the time that is edited",
                0.7,
                tuple(box),
            )
        elif valued:
            yield Finding(
                "semantic_visual_data",
                f"the gauge, dial or pie chart at the {sight.place(box)}",
                f"turn the needle or redraw the slice so that it shows {edit.new}",
                f"the instrument draws the edited value; its angle encodes {edit.old}",
                0.66, tuple(box),
            )  # fmt: skip


def _backdrop(zones: list[list[int]]) -> set[str]:
    """Guess the scene from the mean colours of the upper and the lower third."""
    top, foot = zones[1], zones[7]
    blue = top[2] > top[0] + 25 and top[2] > 120
    out = set()
    if foot[1] > foot[0] + 12 and foot[1] > foot[2] + 12:
        out |= {"forest", "farm", "summer"}
    if foot[0] > 175 and foot[1] > 150 and foot[2] < foot[0] - 35:
        out |= {"beach", "desert", "summer"}
    if min(foot) > 205 and blue:
        out |= {"snow", "winter"}
    if max(foot) - min(foot) < 24 and 50 < sum(foot) / 3 < 170:
        out |= {"city"}
    if top[0] > 150 and top[0] > top[2] + 30 and foot[0] > foot[2] + 20 and foot[1] < foot[0] - 25:
        out |= {"autumn", "desert"}
    return out


def scene(edit: Edit, sight: Sight, target: Line, seen: dict[str, Any]) -> Iterator[Finding]:
    """A backdrop that does not go with the new text."""
    there = _backdrop(seen["zones"])
    old, new = worlds(edit.old), worlds(edit.new)
    place = "the background picture behind the text"
    if new and old != new:
        names = sorted(old or there & {"beach", "snow", "desert", "city", "forest", "farm"}) or ["old"]
        clash = bool(there & old) or not there & new
        yield Finding(
            "xmod_scene",
            f"{place}, the {names[0]} landscape scene",
            f"replace the {names[0]} scene by one that shows {sorted(new)[0]}, as {edit.new} demands",
            f"the scene still shows {names[0]}, which contradicts the place that {edit.new} names",
            0.8 if clash else 0.5, (0, 0, sight.width, sight.height),
        )  # fmt: skip
    season = season_of(edit.new)
    before = season_of(edit.old)
    if season and season != before and edit.kind in ("month", "date", "word", "phrase"):
        clash = bool(there & set(SEASON_OF_MONTH.values())) and season not in there
        yield Finding(
            "xmod_temporal",
            f"{place}, the {before or 'old'} landscape with its trees and ground",
            f"redraw the picture as a {season} scene",
            f"the picture shows {before or 'another season'}, but {edit.new} lies in {season}",
            0.75 if clash else 0.5, (0, 0, sight.width, sight.height),
        )  # fmt: skip


def balance(edit: Edit, sight: Sight, target: Line, seen: dict[str, Any]) -> Iterator[Finding]:
    """A design whose halves are alike."""
    x0, y0, x1, y1 = target.box
    box = (sight.width - x1, y0, sight.width - x0, y1)
    if abs(target.centre[0] - sight.width / 2) < 0.12 * sight.width or seen["symmetric"] < 0.55:
        return
    twin = next((o for o in sight.lines if o is not target and _inside(o.centre, box)), None)
    words = f' "{twin.text}"' if twin else ""
    yield Finding(
        "spatial_symmetry",
        f"the counterpart{words} of the edited text on the opposite side at the {sight.place(box)}",
        f'change or resize the counterpart{words} so that both halves stay balanced with "{edit.new}"',
        "the design is symmetric, and the two panels face each other across its axis",
        (seen["symmetric"] - 0.3) * 1.1, box, twin.text if twin else "",
    )  # fmt: skip


def flanks(edit: Edit, sight: Sight, target: Line, seen: dict[str, Any]) -> Iterator[Finding]:
    """Ornaments at both ends of a centred line."""
    for box in seen["flanks"] or ():
        side = "left" if box[0] < target.centre[0] else "right"
        yield Finding(
            "spatial_symmetry",
            f"the ornament or decoration on the {side} side of the edited text at the {sight.place(box)}",
            f'move the {side} ornament so that it keeps its distance to the end of "{edit.new}"',
            "ornaments flank the centred text evenly on both sides, so they follow its width",
            0.7 if edit.growth > 1.3 or edit.growth < 0.75 else 0.5, tuple(box),
        )  # fmt: skip


def unread(edit: Edit) -> list[Finding]:
    """Say what may be the matter where the text that is edited cannot be read in the picture."""
    return [
        Finding(
            "physical_occlusion",
            f'the object in front that covers part of "{edit.old}"',
            f'work out which parts of "{edit.new}" show beside the object and which stay hidden behind it',
            "the text cannot be read as a whole, so something stands in front of the lettering",
            0.5,
        )
    ]


def _inside(point: tuple[float, float], box: tuple[float, float, float, float]) -> bool:
    pad = (box[3] - box[1]) * 0.6
    return box[0] - pad <= point[0] <= box[2] + pad and box[1] - pad <= point[1] <= box[3] + pad


LOOKS: tuple[Look, ...] = (
    mirror,
    shadow,
    perspective,
    occlusion,
    material,
    color,
    plate,
    chart,
    scene,
    balance,
    flanks,
)
