"""The five categories and nineteen subtypes of implicit constraints.

The names and the decision rules follow the study; wording is ours. `indirectness` says how far
the dependency lies from the edit: 0 can be computed from the edit itself, 1 is a direct spatial or
visual relation to the target, 2 needs a search across regions, 3 needs knowledge from outside the
image. The study states the level of four subtypes; for the others `indirectness_stated` is False
and the level is our reading of its definitions.
"""

from __future__ import annotations

from dataclasses import dataclass

from icgkit.errors import UnknownName


@dataclass(frozen=True, slots=True)
class Category:
    """One of the five families of constraints."""

    id: str
    label: str
    order: int
    color: str
    plain: str
    """How a prompt names the family to somebody who knows no taxonomy."""


@dataclass(frozen=True, slots=True)
class Subtype:
    """One of the nineteen kinds of constraint."""

    id: str
    label: str
    category: str
    order: int
    definition: str
    example: str
    question: str
    """The checklist question that the taxonomy-only condition asks."""
    indirectness: int
    indirectness_stated: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """How to decide between subtypes that look alike."""

    between: tuple[str, ...]
    rule: str


# Colours: the Okabe-Ito set, told apart under every common colour-vision deficiency.
CATEGORIES: dict[str, Category] = {
    c.id: c
    for c in (
        Category("physical", "Physical", 0, "#0072B2", "physical (light, shape and depth)"),
        Category("spatial", "Spatial", 1, "#009E73", "spatial (copies, mirror images, balance)"),
        Category("semantic", "Semantic", 2, "#D55E00", "semantic (meaning, numbers, structure)"),
        Category("style", "Style", 3, "#CC79A7", "stylistic (type, colour, layout, surface)"),
        Category("cross_modal", "Cross-modal", 4, "#E69F00", "cross-modal (text against the pictured world)"),
    )
}


def _subtypes() -> dict[str, Subtype]:
    rows = [
        (
            "physical_reflection",
            "Reflection",
            1,
            False,
            "A shiny or wet surface shows the edited text, so its reflection has to be redrawn with it.",
            "A neon word over a wet street: the glow on the asphalt spells the old word.",
            "Does a glossy, wet or metallic surface throw back the edited text?",
        ),
        (
            "physical_shadow",
            "Shadow",
            1,
            False,
            "The edited letters cast a shadow whose outline follows their shape.",
            "Raised letters on a wall: a narrower letter throws a narrower shadow.",
            "Do the edited letters throw a shadow that would get another outline?",
        ),
        (
            "physical_perspective",
            "Perspective",
            1,
            False,
            "The surface that carries the text is seen at an angle; text that belongs with it on the "
            "same surface has to be re-set along the same vanishing lines.",
            "The side of a box: a longer name pushes the line under it along the slanted face.",
            "Does the text lie on a slanted or curved face whose foreshortening must be kept?",
        ),
        (
            "physical_occlusion",
            "Occlusion",
            2,
            False,
            "Something stands in front of part of the text, and what shows of the new text changes "
            "where the covered part begins and ends.",
            "A plant in front of a shop sign: other letters now peep out beside its leaves.",
            "Does an object cover part of the text, so that other parts become visible or hidden?",
        ),
        (
            "spatial_mirror",
            "Mirror",
            1,
            False,
            "A mirror in the picture already shows the text laterally reversed and has to repeat the new content.",
            "A salon window seen in the mirror behind the chair.",
            "Is there a mirror image that repeats the text's content?",
        ),
        (
            "spatial_symmetry",
            "Symmetry",
            2,
            False,
            "The text has a counterpart across an axis of the design; both halves have to stay balanced.",
            "Two banners left and right of a stage: one changes, so does its partner.",
            "Does the design balance the text against a counterpart on the other side?",
        ),
        (
            "spatial_repetition",
            "Repetition",
            2,
            False,
            "The same text stands in further places of the picture.",
            "A brand name on the box, on the lid and on the leaflet.",
            "Does the same text occur again elsewhere?",
        ),
        (
            "semantic_numerical",
            "Numerical",
            0,
            True,
            "Another value can be computed from the edited one.",
            "A discount of 50 % becomes 30 %: the sale price has to be worked out again.",
            "Is another number computed from the edited one?",
        ),
        (
            "semantic_categorical",
            "Categorical",
            2,
            False,
            "The edited class or name fixes attributes that are described elsewhere.",
            "The dish changes from beef to tofu: the allergen line and the icon no longer fit.",
            "Does the edited class or brand fix attributes that are described elsewhere?",
        ),
        (
            "semantic_functional",
            "Functional",
            2,
            False,
            "The edited text plays a part in a structure that other parts refer to.",
            "A chapter heading is renamed: the contents page still points to the old one.",
            "Does another part refer to the text by its place or role (heading, button, legend)?",
        ),
        (
            "semantic_promotional",
            "Promotional",
            1,
            False,
            "Advertising copy elsewhere only makes sense together with the old offer; nothing is to be computed.",
            "An offer of 50 % becomes 20 %: the burst that says HALF PRICE is now wrong.",
            "Does a slogan or offer elsewhere stop making sense?",
        ),
        (
            "semantic_visual_data",
            "Visual data",
            0,
            True,
            "A chart, gauge or table draws the edited value.",
            "A label of a bar goes from 40 to 65: the bar has to grow.",
            "Does a chart, gauge, map or table draw the edited value or name?",
        ),
        (
            "style_font",
            "Font",
            2,
            False,
            "Sibling texts share a typeface, weight or case with the edited text and have to keep matching it.",
            "One of three matching headings is set in a new typeface.",
            "Do other texts have to share the typeface, weight or case of the edited text?",
        ),
        (
            "style_color",
            "Color",
            2,
            False,
            "A colour code links the text with other elements.",
            "A line named RED becomes BLUE: its stripe on the map is drawn in red.",
            "Does a colour scheme or colour code tie other elements to the text?",
        ),
        (
            "style_layout",
            "Layout",
            1,
            False,
            "The new text takes more or less room, so that neighbours have to move, wrap or be resized.",
            "A short name becomes a long one and runs into the icon beside it.",
            "Does the new length force neighbours to move, wrap or be resized?",
        ),
        (
            "style_material",
            "Material",
            1,
            False,
            "The text is made of or laid into a material whose texture continues around it.",
            "Carved letters in wood: grain and chisel marks have to be rebuilt where the old letters were.",
            "Is the text carved, printed, stitched or written into a visible material?",
        ),
        (
            "xmod_scene",
            "Scene",
            3,
            True,
            "The new text no longer fits what the scene shows, other than by time or by tone.",
            "A beach bar is renamed to a ski lodge: palms and surfboards contradict it.",
            "Does the new text contradict what the scene shows?",
        ),
        (
            "xmod_temporal",
            "Temporal",
            2,
            False,
            "The text names a time, and other parts of the picture show or state another one.",
            "A poster goes from July to December: the weekday and the sunny beach no longer fit.",
            "Are there dates, weekdays, seasons or clocks that have to agree with the text?",
        ),
        (
            "xmod_cultural",
            "Cultural",
            3,
            True,
            "The register, language or custom of the new text clashes with its surroundings.",
            "A formal invitation gets a slang greeting, while crest and script stay solemn.",
            "Does the tone, language or custom of the new text clash with its surroundings?",
        ),
    ]
    prefix = {"physical": "physical", "spatial": "spatial", "semantic": "semantic", "style": "style"}
    prefix["xmod"] = "cross_modal"
    return {
        sid: Subtype(
            sid, label, prefix[sid.split("_")[0]], i, definition, example, question, level, stated
        )
        for i, (sid, label, level, stated, definition, example, question) in enumerate(rows)
    }  # fmt: skip


SUBTYPES: dict[str, Subtype] = _subtypes()

INDIRECTNESS: dict[int, str] = {
    0: "computable from the edit itself",
    1: "direct spatial or visual relation",
    2: "search across regions",
    3: "knowledge from outside the image",
}

RULES: tuple[Rule, ...] = (
    Rule(
        ("physical_reflection", "spatial_mirror"),
        "Reflection when the optics of a reflection have to be made right; mirror when an existing "
        "mirror image has to repeat the new content.",
    ),
    Rule(
        ("semantic_categorical", "semantic_functional"),
        "Categorical when the tie is what the element describes; functional when it is what the "
        "element does in a structure.",
    ),
    Rule(
        ("semantic_numerical", "semantic_promotional"),
        "Numerical when the new value can be computed; promotional when the message has to cohere "
        "and nothing is computed. One edit may set off both, each in a node of its own.",
    ),
    Rule(
        ("xmod_temporal", "xmod_cultural", "xmod_scene"),
        "Temporal when a time is named, cultural when tone or register is at stake, scene for every "
        "other clash of text and picture.",
    ),
)


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
