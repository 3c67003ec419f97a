"""What can be said without looking: guesses from the edit alone."""

from __future__ import annotations

from icgforge.baselines.findings import Finding
from icgforge.baselines.task import Edit

# Guessed share of each kind of constraint by kind of edit: common sense, not fitted to any data set.
LIKELY: dict[str, tuple[tuple[str, float], ...]] = {
    "percent": (("semantic_numerical", 0.85), ("semantic_promotional", 0.75), ("style_font", 0.45), ("semantic_visual_data", 0.5), ("spatial_repetition", 0.5), ("style_layout", 0.3)),
    "price": (("semantic_numerical", 0.8), ("semantic_promotional", 0.6), ("spatial_repetition", 0.5), ("style_font", 0.4), ("semantic_visual_data", 0.35)),
    "number": (("semantic_numerical", 0.7), ("semantic_visual_data", 0.7), ("spatial_repetition", 0.45), ("semantic_functional", 0.35), ("style_font", 0.3)),
    "date": (("xmod_temporal", 0.9), ("xmod_scene", 0.35), ("spatial_repetition", 0.5), ("semantic_functional", 0.3)),
    "month": (("xmod_temporal", 0.9), ("xmod_scene", 0.5), ("xmod_cultural", 0.35)),
    "weekday": (("xmod_temporal", 0.85), ("spatial_repetition", 0.4), ("semantic_functional", 0.3)),
    "time": (("xmod_temporal", 0.85), ("xmod_scene", 0.45), ("semantic_functional", 0.3)),
    "year": (("xmod_temporal", 0.75), ("semantic_numerical", 0.6), ("xmod_cultural", 0.3)),
    "phrase": (("xmod_cultural", 0.75), ("style_layout", 0.65), ("xmod_scene", 0.5), ("style_font", 0.45), ("semantic_promotional", 0.35)),
    "word": (("spatial_repetition", 0.65), ("style_layout", 0.6), ("xmod_scene", 0.55), ("style_font", 0.6), ("physical_reflection", 0.45), ("physical_shadow", 0.45), ("semantic_categorical", 0.5), ("style_material", 0.45), ("style_color", 0.45), ("semantic_functional", 0.45), ("spatial_mirror", 0.35), ("spatial_symmetry", 0.35), ("physical_perspective", 0.35), ("physical_occlusion", 0.35)),
}  # fmt: skip
_FLOOR = 0.2

# region, update, reason; {old} and {new} are filled in.
GUESS: dict[str, tuple[str, str, str]] = {
    "physical_reflection": ("the wet or shiny surface below the text", "redraw the reflection so that it shows {new}", "a glossy surface reflects the edited letters"),
    "physical_shadow": ("the shadow that the letters cast on the wall", "redraw the shadow so that its outline follows {new}", "raised letters cast a shadow that follows their shape"),
    "physical_perspective": ("the slanted face that carries the text", "set {new} along the vanishing lines", "the surface is seen at an angle, so perspective has to be kept"),
    "physical_occlusion": ("the object in front of the text", "work out which letters of {new} stay hidden", "the object covers part of the lettering"),
    "spatial_mirror": ("the mirror behind the text", "the mirror image shows {new} reversed", "a mirror repeats the text the wrong way round"),
    "spatial_symmetry": ("the counterpart on the opposite side", "change the counterpart so that it stays balanced with {new}", "the design is symmetric"),
    "spatial_repetition": ("a second place where {old} stands, such as the footer or a small print line", "change {old} to {new} there too", "the same text is repeated and has to stay identical"),
    "semantic_numerical": ("the price or total that is calculated from {old}", "work out the number again from {new}", "the number is computed from the edited value"),
    "semantic_categorical": ("the description line below {old}", "replace the attributes by those of {new}", "the attributes describe {old} and do not hold for {new}"),
    "semantic_functional": ("the entry in the menu, legend or contents list that points to {old}", "rename the entry to {new}", "the entry refers to the edited heading by its name"),
    "semantic_promotional": ("the slogan or burst beside the offer", "reword the slogan so that it fits {new}", "the promotional message only makes sense with the old offer of {old}"),
    "semantic_visual_data": ("the bar or needle of the chart for {old}", "redraw its length or angle so that it shows {new}", "the chart draws the edited value"),
    "style_font": ("the other headings and labels in the same font", "keep the typeface and weight of {new} the same as theirs", "sibling texts share one typeface as a group"),
    "style_color": ("the elements in the same colour as the text", "recolour them to fit {new}", "a colour code links them with the edited text"),
    "style_layout": ("the neighbouring text beside the edited one", "move or resize it so that {new} has room", "the new text takes another width and changes the spacing"),
    "style_material": ("the surface around the letters", "rebuild the texture where {old} was", "the letters are worked into a material whose grain goes on around them"),
    "xmod_scene": ("the background scene behind the text", "replace the scene by one that fits {new}", "the picture contradicts what {new} names"),
    "xmod_temporal": ("the weekday, date or season shown near {old}", "bring it in line with {new}", "it states a time that has to agree with the edited one"),
    "xmod_cultural": ("the decoration and the other lines of text", "adapt their tone to {new}", "their register or custom clashes with the new text"),
}  # fmt: skip


def guesses(edit: Edit, *, spread: bool) -> list[Finding]:
    """Return guesses for an edit, the likelier first.

    Parameters
    ----------
    edit : Edit
        What the instruction says.
    spread : bool
        False keeps to what the instruction itself suggests (arithmetic, time, copies, length);
        True adds every subtype with its prior.
    """
    likely = dict(LIKELY[edit.kind])
    if not spread:
        plain = (
            "semantic_numerical",
            "xmod_temporal",
            "spatial_repetition",
            "style_layout",
            "style_font",
            "xmod_cultural",
        )
        likely = {k: v * 0.9 for k, v in likely.items() if k in plain}
    if edit.growth > 1.4 or edit.growth < 0.7:
        likely["style_layout"] = max(likely.get("style_layout", 0), 0.7)
    names = GUESS if spread else likely
    out = []
    for name in names:
        region, update, reason = (
            part.format(old=f'"{edit.old}"', new=f'"{edit.new}"') for part in GUESS[name]
        )
        out.append(Finding(name, region, update, reason, likely.get(name, _FLOOR)))
    return sorted(out, key=lambda f: (-f.score, f.subtype))
