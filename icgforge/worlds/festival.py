"""A pair of greeting cards for Indian festivals: greeting, picture, colour, dress, sweet, month and wish follow from the festival."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, day_month, weekday

FESTIVALS = {  # English, greeting, in English, picture, colour, month and day in 2026, dish, dress, wish, season
    "दीपावली": ("Diwali", "शुभ दीपावली", "Happy Diwali", "lamp", "purple", (11, 8), "लड्डू", "रेशमी साड़ी और कुर्ता", "रोशनी और समृद्धि", "शरद"),
    "होली": ("Holi", "होली मुबारक", "Happy Holi", "colour", "pink", (3, 4), "गुझिया", "पुराने सफ़ेद कपड़े", "रंग और उमंग", "वसंत"),
    "राखी": ("Rakhi", "शुभ रक्षाबंधन", "Happy Rakhi", "thread", "red", (8, 28), "घेवर", "पारंपरिक पोशाक", "प्यार और रक्षा", "वर्षा"),
    "पोंगल": ("Pongal", "पोंगल की बधाई", "Happy Pongal", "pot", "orange", (1, 15), "मीठा पोंगल", "धोती और सूती साड़ी", "अच्छी फ़सल और सुख", "शिशिर"),
    "ओणम": ("Onam", "ओणम की बधाई", "Happy Onam", "flower", "green", (8, 26), "पायसम", "सफ़ेद और सुनहरी साड़ी", "सुख और समानता", "वर्षा"),
}  # fmt: skip
EN_WISH = {
    "Diwali": "light and prosperity",
    "Holi": "colour and joy",
    "Rakhi": "love and shelter",
    "Pongal": "a good harvest",
    "Onam": "joy for everyone",
}

world = World(
    "festival",
    lang="hi",
    labels={"fest": "the festival", "day": "the date", "family": "the name of the family", "hour": "the hour of the feast", "guests": "the number of guests", "plates": "the seats at a table"},
    formats={"hour": lambda h: f"शाम {h} बजे", "guests": lambda v: f"{v} मेहमान"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {
        "fest": rng.choice(list(FESTIVALS)),
        "family": rng.choice(["मेहता", "जोशी", "कपूर", "वर्मा"]),
        "hour": rng.choice([5, 6, 7]),
        "guests": rng.choice([24, 30, 36, 48]),
        "plates": 6,
        "next_label": "हमारे घर पर",
    }


world.derive(
    "english", "translation", lambda fest: FESTIVALS[fest][0], label="the English name of the festival"
)
world.derive("greet", "greeting", lambda fest: FESTIVALS[fest][1], label="the greeting")
world.derive(
    "greet_en",
    "translation",
    lambda greet: next(f[2] for f in FESTIVALS.values() if f[1] == greet),
    label="the greeting in English",
)
world.derive(
    "art",
    "picture",
    lambda fest: FESTIVALS[fest][3],
    label="the picture",
    shown=lambda v: {
        "lamp": "an oil lamp",
        "colour": "heaps of coloured powder",
        "thread": "a thread for the wrist",
        "pot": "a pot boiling over",
        "flower": "a carpet of flowers",
    }[v],
)
world.derive("hue", "colour_code", lambda fest: FESTIVALS[fest][4], label="the colour of the card")
world.derive("sweet", "custom", lambda fest: FESTIVALS[fest][6], label="the dish")
world.derive("wear", "dress", lambda fest: FESTIVALS[fest][7], label="what to wear")
world.derive("wish", "custom", lambda fest: FESTIVALS[fest][8], label="the wish")
world.derive("wish_en", "translation", lambda english: EN_WISH[english], label="the wish in English")
world.derive(
    "date",
    "date",
    lambda fest: Date(2026, *FESTIVALS[fest][5]),
    label="the date of the festival",
    shown=day_month("hi", "{d} {m} {y}"),
)
world.derive("weekday", "weekday", lambda date: weekday("hi")(date), label="the weekday")
world.derive(
    "season", "season", lambda fest: FESTIVALS[fest][9], label="the season", shown=lambda v: f"{v} ऋतु"
)
world.derive("twin_word", "counterpart", lambda fest: fest, label="the name on the facing card")
world.derive("seal", "abbreviation", lambda family: family[0], label="the letter of the seal")
world.derive("from_", "copy", lambda family: family, shown=lambda v: f"{v} परिवार की ओर से")
world.derive(
    "end", "clock", lambda hour: hour + 3, label="the end of the feast", shown=lambda h: f"रात {h} बजे"
)
world.derive(
    "boxes",
    "ratio",
    lambda guests, plates: guests // plates,
    label="the number of tables",
    shown=lambda v: f"{v} मेज़ें",
)
world.holds("guests fill the tables", lambda guests, plates: guests % plates == 0)
world.cut("end", next_label="कल का कार्यक्रम")
world.edit("fest", lambda v, rng: rng.choice([f for f in FESTIVALS if f != v["fest"]]))
world.edit(
    "family", lambda v, rng: rng.choice([f for f in ("मेहता", "जोशी", "कपूर", "वर्मा") if f != v["family"]])
)
world.edit("hour", lambda v, rng: v["hour"] + rng.choice([-1, 1]))
world.edit("guests", lambda v, rng: v["guests"] + rng.choice([-6, 6, 12]))
