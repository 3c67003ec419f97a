"""Words: tokens, stems, concepts and weights shared by the offline models and judges."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


def _words(text: str) -> list[str]:
    return text.split()


STOP = frozenset(
    _words(
        """
    a an the and or but if then than that this these those of in on at to from by for with within
    without into onto over as is are was were be been being it its itself they them their there here
    which who whose what when where while will would shall should can could may might must has have had
    do does did so such not no nor only also too very just any all each every both either neither some
    more most other another one same still else because since therefore hence due thus about we you your
    our i he she his her up out off again once now
    """
    )
)
# Words that nearly every text about an edit uses; they tell little.
WEAK = frozenset(
    _words(
        """
    text word image picture change edit new old edited update show shown need replace read part element
    area place region thing stay keep match consistent become name line side near next beside around
    main make set reflect say follow longer depend relate give look find fit agree correspond instead
    remain present current original value letter state carry state right left top bottom upper lower
    centre center middle above below under behind front corner edge small large big first second third
    """
    )
)
_CONCEPTS = """
reflection: reflection reflect reflected reflects puddle wet glossy shiny polished gloss sheen glare chrome asphalt varnish lacquer shine
water: water lake sea river wave pond
mirror: mirror mirrored reversed laterally flipped backwards looking-glass
shadow: shadow shade cast silhouette
perspective: perspective slant slanted vanishing foreshortened foreshortening angle angled tilt tilted oblique skew skewed curved receding convergence converge
occlusion: occlude occluded occlusion cover covered covers hidden hide hides overlap overlaps overlapped obscured obstruct partly concealed conceal
symmetry: symmetry symmetric symmetrical balance balanced counterpart partner twin pendant opposite axis
repetition: repeat repeated repeats repetition again duplicate copy copies recur recurring elsewhere identical twice
price: price cost amount fee fare tariff charge payable pay euro dollar
total: total sum subtotal balance grand altogether
calculate: calculate compute computed recalculate recalculated derive derived work worked arithmetic multiply multiplied product subtract add added deduct percentage percent ratio quotient
discount: discount reduction rebate saving save off sale offer deal bargain promotion promotional
slogan: slogan tagline burst claim copy blurb advert advertising campaign sticker badge banner splash headline
chart: chart graph bar column plot diagram pie slice gauge dial needle axis meter curve histogram thermometer wedge segment sector
length: length height size long tall short extent proportion proportional scale
legend: legend key caption label tag entry index contents menu heading title
section: section chapter page heading paragraph step item button link tab reference refer
category: class kind species breed category type sort genus brand variety
describe: describe description attribute property ingredient feature specification detail allergen fact note
date: date day weekday month year calendar season time hour clock o'clock deadline morning evening night schedule
weekday: monday tuesday wednesday thursday friday saturday sunday weekday
season: winter summer spring autumn fall season snow sunny snowflake
tone: tone register formal informal slang casual solemn polite language custom etiquette culture cultural greeting script
scene: scene setting backdrop background surroundings landscape environment depicted pictured scenery
ornament: ornament decoration flourish embellishment garland
font: font typeface weight bold italic serif sans typography lettering style case capital uppercase lowercase
colour: color colour hue tint shade red orange yellow green blue purple pink brown turquoise coloured colored palette scheme tinted
layout: layout room space spacing wrap shift move resize shrink width overflow gap margin align alignment reflow crowd run
material: material texture grain carve carved engrave engraved stitch stitched embroider paint painted chalk wood metal stone paper fabric surface etched emboss weave thread
below: below under beneath underneath foot down lower bottom
above: above over top upper overhead
background: background backdrop wallpaper
capsule: plate panel capsule pill field tag chip frame outline button
rule: rule line stroke underline bar divider dash stripe band strip
text: lettering letters wording words writing
sign: sign signboard signage board plaque plate panel placard nameplate
poster: poster flyer leaflet placard card sheet
shop: shop store window storefront shopfront
ground: ground floor pavement street road asphalt tile
wall: wall facade brick plaster
box: box package packaging carton pack lid tin
number: number figure digit numeral count quantity
picture: photo photograph illustration drawing icon symbol pictogram emblem logo
adjust: adjust adapt alter modify revise amend redo redraw redrawn rework recompute
"""
CONCEPT: dict[str, str] = {}


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Cut common English endings off a lower-case word.

    Examples
    --------
    >>> [stem(w) for w in ("prices", "worked", "carving", "categories", "class")]
    ['price', 'work', 'carv', 'category', 'class']
    """
    w = word.removesuffix("'s")
    if len(w) > 4 and w.endswith("ies"):
        return w[:-3] + "y"
    if len(w) > 4 and w.endswith(("ches", "shes", "sses", "xes")):
        return w[:-2]
    if len(w) > 3 and w.endswith("s") and not w.endswith(("ss", "us", "is")):
        w = w[:-1]
    for end in ("ingly", "edly", "ing", "ed"):
        if len(w) > len(end) + 2 and w.endswith(end):
            w = w[: -len(end)]
            if len(w) > 3 and w[-1] == w[-2] and w[-1] not in "lse":
                w = w[:-1]
            break
    return w


def fold(s: str) -> str:
    """Drop a final e, so that carve and carving meet."""
    return s.removesuffix("e")


def _load() -> None:
    for line in _CONCEPTS.strip().splitlines():
        concept, _, words = line.partition(":")
        for word in words.split():
            CONCEPT.setdefault(fold(stem(word)), concept)


_load()
_STOP_STEMS = frozenset(fold(stem(w)) for w in STOP) | STOP
_WEAK_STEMS = frozenset(fold(stem(w)) for w in WEAK)


class Token(NamedTuple):
    """One word of a text: stem, concept (or empty), weight, and whether it is a concrete value."""

    stem: str
    concept: str
    weight: float
    value: bool


_TOKEN = re.compile(r"[$\u20ac\u00a3\u00a5]?\d+(?:[.,:/]\d+)*%?|[^\W\d_]+(?:['\u2019-][^\W\d_]+)*", re.U)
_QUOTED = re.compile(
    r"[\"\u201c\u201d\u00ab\u00bb\u201e]([^\"\u201c\u201d\u00ab\u00bb\u201e\n]{1,80})[\"\u201c\u201d\u00ab\u00bb]|(?<![\w])['\u2018]([^'\u2018\u2019\n]{1,60})['\u2019](?!\w)"
)


def quoted(text: str) -> list[str]:
    r"""Return the texts in quotation marks.

    Examples
    --------
    >>> quoted("It says 'Open' and \"50% OFF\"")
    ['Open', '50% OFF']
    """
    return [a or b for a, b in _QUOTED.findall(text)]


def number(word: str) -> str:
    """Return the canonical form of a number word: no currency, no thousands separator.

    Examples
    --------
    >>> [number(w) for w in ("$1,200.00", "50%", "3,5")]
    ['1200', '50%', '3.5']
    """
    tail = "%" if word.endswith("%") else ""
    body = word.strip("$\u20ac\u00a3\u00a5%")
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", body):
        body = body.replace(",", "")
    elif re.fullmatch(r"\d+,\d{1,2}", body):
        body = body.replace(",", ".")
    if re.fullmatch(r"\d+\.\d+", body):
        body = body.rstrip("0").rstrip(".")
    return body + tail


@lru_cache(maxsize=20_000)
def tokens(text: str) -> tuple[Token, ...]:
    """Return the weighted tokens of a text, stop words left out."""
    marked = {w.lower() for q in quoted(text) for w in _TOKEN.findall(q)}
    out = []
    for raw in _TOKEN.findall(text[:8000]):
        low = raw.lower()
        if low[0].isdigit() or low[0] in "$\u20ac\u00a3\u00a5":
            out.append(Token(number(low), "", 1.6, True))
            continue
        is_value = low in marked
        if low in STOP and not is_value:
            continue
        s = fold(stem(low))
        concept = CONCEPT.get(s, "")
        if is_value:
            out.append(Token(s, concept, 1.4, True))
        elif s in _WEAK_STEMS:
            out.append(Token(s, concept, 0.3, False))
        elif s not in _STOP_STEMS:
            out.append(Token(s, concept, 1.0, False))
    return tuple(out)
