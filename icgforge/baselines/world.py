"""A little knowledge of the world: seasons, tones, scenes, advertising words. General, not tuned to cases."""

from __future__ import annotations

import re
from functools import lru_cache


def _words(text: str) -> list[str]:
    return text.split()


SEASON_OF_MONTH = {
    "december": "winter", "january": "winter", "february": "winter", "march": "spring", "april": "spring",
    "may": "spring", "june": "summer", "july": "summer", "august": "summer", "september": "autumn",
    "october": "autumn", "november": "autumn",
}  # fmt: skip
SEASON_WORDS = {
    **dict.fromkeys(
        _words(
            """
    winter snow ice ski sledge frost snowman advent skating mulled
    """
        ),
        "winter",
    ),
    **dict.fromkeys(
        _words(
            """
    spring blossom tulips easter bloom
    """
        ),
        "spring",
    ),
    **dict.fromkeys(
        _words(
            """
    summer beach sun sunny swim barbecue pool heat surf
    """
        ),
        "summer",
    ),
    **dict.fromkeys(
        _words(
            """
    autumn fall harvest pumpkin leaves vintage
    """
        ),
        "autumn",
    ),
}
TIME_PARTS = frozenset(
    _words(
        """
    morning noon afternoon evening night midnight breakfast lunch dinner brunch sunrise sunset supper
    dawn dusk late early
    """
    )
)
PROMOTION = re.compile(
    r"\b(half|price|save|saving|savings|sale|free|deal|bargain|cheap|cheapest|lowest|best|hurry|only|limited|"
    r"offer|today|win|bonus|extra|discount|special|big|huge|never|ever|double|triple|unbeatable|everything|off|less|pay)\b"
)
REFERENCE = re.compile(
    r"\b(see|go to|back to|page|p\.|chapter|section|turn to|contents|index|step|next|press|click|tap|"
    r"fig(?:ure)?\.?|key|legend|tab|platform|gate|line \d|you are here)\b|\.{3,}|\u2192|>"
)
ANSWERS_TO = re.compile(
    r"\b(contains?|made of|made with|made from|serves?|with|rich in|origin|from|grows?|lives?|habitat|native|suited|"
    r"ingredients?|allergens?|vegan|vegetarian|organic|genuine|real|family|species|speaks?|capital|currency|founded|by)\b"
)
_TONES: dict[str, frozenset[str]] = {
    "formal": frozenset(_words(
    """
    cordially honour honoured honored esteemed respectfully respect solemn reception request presence
    kindly sincerely remembrance grateful reverence dear sir madam ceremony majesty regret attire rsvp
    mourning
    """)),
    "casual": frozenset(_words(
    """
    hey yo hi folks guys party hang cool awesome snacks biggie dude bring wanna gonna lol fun rock chill
    beer mate bash y'all
    """)),
    "festive": frozenset(_words(
    """
    merry christmas happy diwali easter eid mubarak halloween hanukkah lunar birthday carnival
    thanksgiving ramadan feast holi xmas santa
    """)),
    "foreign": frozenset(_words(
    """
    joyeux feliz buon frohe bonne noel navidad gracias merci bienvenue willkommen danke hola ciao
    bonjour
    """)),
}  # fmt: skip
_WORLDS: dict[str, frozenset[str]] = {
    "beach": frozenset(
        _words(
            """
    beach palm surf coral lagoon island sea ocean sand bay coast sunset tropical wave shell swim
    """
        )
    ),
    "snow": frozenset(
        _words(
            """
    snow ski glacier ice alpine alps winter frost lodge peak sledge snowfield arctic polar
    """
        )
    ),
    "desert": frozenset(
        _words(
            """
    desert cactus dune oasis mesa canyon camel sahara arid
    """
        )
    ),
    "city": frozenset(
        _words(
            """
    city metro skyline plaza station downtown street tower urban subway harbour tram
    """
        )
    ),
    "forest": frozenset(
        _words(
            """
    forest wood pine fern cedar mossy creek woodland trail oak timber
    """
        )
    ),
    "farm": frozenset(["farm", "barn", "field", "hay", "cow", "milk", "tractor", "orchard"]),
    "food": frozenset(
        _words(
            """
    menu bakery cafe bread coffee tea pizza soup kitchen diner grill
    """
        )
    ),
    "office": frozenset(["office", "bank", "law", "clinic", "insurance", "dental"]),
}


def season_of(text: str) -> str:
    """Return the season that a text names or its month lies in, or nothing.

    Examples
    --------
    >>> season_of("3 July"), season_of("Monday")
    ('summer', '')
    """
    words = re.findall(r"[a-z]+", text.lower())
    for w in words:
        full = next((m for m in SEASON_OF_MONTH if m == w or (len(w) == 3 and m.startswith(w))), None)
        if full:
            return SEASON_OF_MONTH[full]
        if w in SEASON_WORDS:
            return SEASON_WORDS[w]
    return ""


@lru_cache(maxsize=20_000)
def tone(text: str) -> str:
    """Return formal, casual, festive or foreign, or nothing where no word tells.

    Examples
    --------
    >>> tone("You are cordially invited"), tone("Lid")
    ('formal', '')
    """
    if re.search(r"[\u0370-\u03ff\u0400-\u04ff\u0590-\u06ff\u3040-\u30ff\u4e00-\u9fff]", text):
        return "foreign"
    words = set(re.findall(r"[a-z']+", text.lower()))
    scores = {name: len(words & marks) for name, marks in _TONES.items()}
    best = max(scores, key=lambda n: scores[n])
    return best if scores[best] else ""


@lru_cache(maxsize=20_000)
def worlds(text: str) -> frozenset[str]:
    """Return the scenes that the words of a text belong to."""
    words = {w.removesuffix("s") for w in re.findall(r"[a-z]+", text.lower())}
    return frozenset(name for name, marks in _WORLDS.items() if words & marks)
