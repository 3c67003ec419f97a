"""What is known about cities, feasts, animals, fruits and trades: the facts behind the words.

Pure data. `words` makes edit types of them, the templates draw and reason with the attributes.
"""

from __future__ import annotations

import datetime

# One call, one stroke, one row a line.
# fmt: off

# City: country, airport code, landmark, language, greeting, currency sign, date order, colours of bunting.
CITIES: dict[str, dict[str, object]] = {
    name: dict(zip(("country", "code", "landmark", "language", "hello", "thanks", "currency", "rate", "order", "bunting"), row, strict=True))
    for name, row in {
        "PARIS": ("France", "CDG", "tower", "French", "Bonjour", "Merci", "€", 1, "dmy", ((38, 70, 150), (250, 250, 250), (206, 44, 52))),
        "LONDON": ("United Kingdom", "LHR", "clocktower", "English", "Good day", "Thank you", "£", 1, "dmy", ((32, 52, 120), (250, 250, 250), (196, 38, 52))),
        "TOKYO": ("Japan", "HND", "pagoda", "Japanese", "こんにちは", "ありがとう", "¥", 150, "ymd", ((250, 250, 250), (196, 28, 52), (250, 250, 250))),
        "CAIRO": ("Egypt", "CAI", "pyramid", "Arabic", "Ahlan", "Shukran", "E£", 50, "dmy", ((196, 34, 44), (250, 250, 250), (34, 34, 36))),
        "ROME": ("Italy", "FCO", "arena", "Italian", "Buongiorno", "Grazie", "€", 1, "dmy", ((24, 132, 74), (250, 250, 250), (200, 44, 56))),
        "AMSTERDAM": ("Netherlands", "AMS", "windmill", "Dutch", "Goedendag", "Dank u", "€", 1, "dmy", ((186, 36, 46), (250, 250, 250), (38, 68, 140))),
        "ATHENS": ("Greece", "ATH", "temple", "Greek", "Καλημέρα", "Ευχαριστώ", "€", 1, "dmy", ((30, 96, 174), (250, 250, 250), (30, 96, 174))),
        "NEW YORK": ("United States", "JFK", "skyscraper", "English", "Hi there", "Thanks", "$", 1, "mdy", ((178, 34, 52), (250, 250, 250), (44, 54, 110))),
        "SYDNEY": ("Australia", "SYD", "opera", "English", "G'day", "Cheers", "A$", 2, "dmy", ((22, 40, 110), (250, 250, 250), (206, 36, 52))),
    }.items()
}

# Feast: picture, ground and accent colour, what is eaten, fixed day (month, day) or None for a moving one.
FEASTS: dict[str, dict[str, object]] = {
    name: dict(zip(("picture", "ground", "accent", "food", "day", "moving"), row, strict=True))
    for name, row in {
        "Merry Christmas": ("xmastree", (22, 84, 58), (214, 48, 54), "Gingerbread and mulled wine", (12, 25), None),
        "Happy Halloween": ("pumpkin", (44, 30, 58), (240, 132, 40), "Pumpkin pie and toffee apples", (10, 31), None),
        "Happy Easter": ("egg", (196, 222, 172), (226, 110, 150), "Painted eggs and braided bread", None, "easter"),
        "Happy Lunar New Year": ("lantern", (150, 22, 32), (240, 192, 80), "Dumplings and tangerines", None, "lunar"),
        "Happy Valentine's Day": ("heart", (250, 222, 228), (206, 44, 78), "Chocolates for two", (2, 14), None),
        "Happy Diwali": ("candle", (66, 32, 92), (250, 190, 70), "Laddu and saffron milk", None, "diwali"),
    }.items()
}
# Day (month, day) of the moving feasts by year.
MOVING: dict[str, dict[int, tuple[int, int]]] = {
    "easter": {2024: (3, 31), 2025: (4, 20), 2026: (4, 5), 2027: (3, 28)},
    "lunar": {2024: (2, 10), 2025: (1, 29), 2026: (2, 17), 2027: (2, 6)},
    "diwali": {2024: (10, 31), 2025: (10, 20), 2026: (11, 8), 2027: (10, 29)},
}


def feast_day(name: str, year: int) -> datetime.date:
    """Return the day of a feast in a year (2024 to 2027 for those that move).

    Examples
    --------
    >>> feast_day("Happy Easter", 2026)
    datetime.date(2026, 4, 5)
    """
    fixed = FEASTS[name]["day"]
    month, day = fixed if isinstance(fixed, tuple) else MOVING[str(FEASTS[name]["moving"])][year]
    return datetime.date(year, month, day)


# Animal: class, food, home, a fact about its move, landscape it lives in.
ANIMALS: dict[str, dict[str, str]] = {
    name: dict(zip(("picture", "group", "food", "home", "scene", "latin"), row, strict=True))
    for name, row in {
        "PENGUINS": ("penguin", "Bird", "krill and fish", "southern coasts", "snow", "Spheniscidae"),
        "LIONS": ("lion", "Mammal", "antelope and zebra", "African savanna", "desert", "Panthera leo"),
        "CAMELS": ("camel", "Mammal", "thorny shrubs", "dry steppe", "desert", "Camelus bactrianus"),
        "OWLS": ("owl", "Bird", "mice and voles", "old woodland", "forest", "Strigidae"),
        "TORTOISES": ("turtle", "Reptile", "leaves and fruit", "warm scrubland", "farm", "Testudinidae"),
        "BEES": ("bee", "Insect", "nectar and pollen", "flower meadows", "spring", "Apis mellifera"),
    }.items()
}

# Fruit: picture, colour, what the label says of it.
FRUITS: dict[str, dict[str, object]] = {
    name: dict(zip(("picture", "rgb", "note", "grown"), row, strict=True))
    for name, row in {
        "Strawberry": ("strawberry", (214, 52, 66), "soft and sweet", "picked in the fields"),
        "Lemon": ("lemon", (238, 200, 44), "sharp and bright", "from coastal groves"),
        "Cherry": ("cherry", (166, 24, 52), "dark and ripe", "stoned by hand"),
        "Blood orange": ("orange", (226, 112, 36), "tangy and warm", "squeezed in winter"),
        "Plum": ("plum", (104, 60, 132), "deep and mellow", "slowly simmered"),
        "Garden apple": ("apple", (190, 54, 50), "crisp and mild", "from old orchards"),
    }.items()
}

# Trade on a shop sign: the goods that a passer-by would see in its window.
GOODS: dict[str, tuple[str, str]] = {
    "BAKERY": ("bread", "loaves"), "BOOKS": ("book", "open books"), "LIBRARY": ("book", "open books"),
    "TEA": ("cup", "steaming cups"), "CAFE": ("cup", "steaming cups"), "FLOWERS": ("flower", "blossoms"),
    "GARDEN": ("cactus", "potted plants"), "RECORDS": ("record", "vinyl discs"),
    "CINEMA": ("film", "clapperboards"), "ICE": ("icecream", "ice-cream cones"), "CERAMICS": ("vase", "vases"),
    "CELLAR": ("bottle", "wine bottles"), "BAR": ("bottle", "wine bottles"), "PRINTS": ("frame", "framed pictures"),
    "GALLERY": ("frame", "framed pictures"), "MUSEUM": ("frame", "framed pictures"), "THEATRE": ("mask", "stage masks"),
    "WORKSHOP": ("hammer", "tools"), "HOTEL": ("bed", "made-up beds"), "DINER": ("pizza", "slices of pizza"),
    "KITCHEN": ("cutlery", "knives and forks"), "MARKET": ("apple", "apples"),
}
# Dish: its picture and the main thing in it.
PLATES: dict[str, tuple[str, str]] = {
    "Beef stew": ("beef", "slow-cooked beef, root vegetables"), "Tofu bowl": ("bowl", "silken tofu, spring onion, rice"),
    "Prawn curry": ("shrimp", "king prawns, coconut, lime"), "Cheese omelette": ("friedegg", "three eggs, aged cheese"),
    "Lentil soup": ("bowl", "red lentils, cumin, carrot"), "Walnut tart": ("tart", "caramel walnuts, butter crust"),
    "Grilled salmon": ("fish", "salmon fillet, dill, potatoes"), "Peanut noodles": ("bowl", "wheat noodles, peanut sauce"),
    "Chicken pie": ("chicken", "chicken, leek, puff pastry"), "Mushroom risotto": ("mushroom", "arborio rice, ceps, parmesan"),
    "Lemon sorbet": ("icecream", "lemon juice, sugar, ice"), "Mussels in broth": ("shell", "mussels, white wine, celery"),
    "Lamb skewers": ("skewer", "marinated lamb, peppers"), "Spinach dumplings": ("dumpling", "spinach, ginger, wheat dough"),
}
