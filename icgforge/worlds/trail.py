"""A hiking signpost: distance and climb give walking time, grade, colour, arrival and the longest way."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import by, clock, other

PLACES = {  # what is there, the side it lies on
    "Lärchhütte": ("hut", "left"), "Brunnalm": ("hut", "right"), "Finsterhütte": ("hut", "right"), "Grauspitz": ("peak", "left"), "Rotkogel": ("peak", "right"),
    "Hochwart": ("peak", "right"), "Tiefsee": ("lake", "left"), "Lacke am Joch": ("lake", "right"), "Moosweiher": ("lake", "left"),
}  # fmt: skip
THERE = {"hut": "Einkehr und Nachtlager", "peak": "Gipfelkreuz und Rundblick", "lake": "Badeplatz am Ufer"}
COLOUR = {"leicht": "blue", "mittel": "red", "schwer": "black"}
NTH = {"1": "first", "2": "second", "3": "third", "4": "fourth"}

world = World(
    "trail",
    lang="de",
    labels={f"{k}{i}": f"the {w} of the {n} way" for i, n in NTH.items() for k, w in (("z", "destination"), ("km", "length"), ("up", "climb"))}
    | {"start": "the hour of setting out", "here": "the height of the signpost"},
    formats={"km": lambda v: f"{v / 10:.1f} km".replace(".", ","), "up": lambda v: f"{v} m", "start": clock, "here": lambda v: f"{v} m"},
)  # fmt: skip


def hours(minutes: int) -> str:
    """Write a walking time as signposts do."""
    return f"{minutes // 60} h {minutes % 60:02d}"


def grade(km: int, up: int) -> str:
    """Return how hard a way is, by its climb for each kilometre and its length."""
    steep = 10 * up / km
    return "schwer" if steep > 130 or up > 900 else "mittel" if steep > 75 or km > 90 else "leicht"


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    out: Values = {"here": rng.randrange(980, 1420, 10), "start": rng.choice([450, 480, 510, 540]), "ended": "an bei Aufbruch um", "village": rng.choice(["Oberlehn", "St. Veitl", "Hinterau"])}  # fmt: skip
    spots = rng.sample(list(PLACES), 4)
    for i, spot in enumerate(spots, 1):
        km = rng.randrange(22, 110, 3)
        out |= {f"z{i}": spot, f"km{i}": km, f"up{i}": rng.randrange(4, 17) * km // 10 * 10}
    return out


for i, n in NTH.items():
    world.derive(
        f"t{i}",
        "duration",
        lambda km, up: round((km * 1.5 + up / 5) / 5) * 5,
        of=(f"km{i}", f"up{i}"),
        label=f"the walking time of the {n} way",
        shown=hours,
    )
    world.derive(f"g{i}", "classification", grade, of=(f"km{i}", f"up{i}"), label=f"the grade of the {n} way")
    world.derive(f"c{i}", "colour_code", lambda g: COLOUR[g], of=(f"g{i}",), label=f"the dot of the {n} way")
    world.derive(
        f"at{i}",
        "clock",
        lambda start, t: start + t,
        of=("start", f"t{i}"),
        label=f"the arrival on the {n} way",
        shown=clock,
    )
    world.derive(
        f"top{i}",
        "sum",
        lambda here, up: here + up,
        of=("here", f"up{i}"),
        label=f"the height of the {n} destination",
        shown=lambda v: f"{v} m",
    )
    world.derive(
        f"s{i}",
        "pictogram",
        lambda z: PLACES[z][0],
        of=(f"z{i}",),
        label=f"the sign of the {n} destination",
        shown=lambda v: {"hut": "a hut", "peak": "a peak with a cross", "lake": "waves"}[v],
    )
    world.derive(
        f"way{i}",
        "pointer",
        lambda z: PLACES[z][1],
        of=(f"z{i}",),
        label=f"the arrow of the {n} sign",
        shown=lambda v: f"an arrow to the {v}",
    )
    world.derive(
        f"is{i}",
        "attribute",
        lambda z: THERE[PLACES[z][0]],
        of=(f"z{i}",),
        label=f"what the {n} destination offers",
    )
    world.derive(
        f"bar{i}",
        "bar",
        lambda top: top,
        of=(f"top{i}",),
        label=f"the column of the {n} destination",
        shown=lambda v: f"a column up to {v} m",
    )
ALL_T = tuple(f"t{i}" for i in NTH) + tuple(f"z{i}" for i in NTH)
world.derive(
    "longest", "rank", lambda *a: max(zip(a[:4], a[4:], strict=True))[1], of=ALL_T, label="the longest way"
)
world.derive(
    "shortest", "rank", lambda *a: min(zip(a[:4], a[4:], strict=True))[1], of=ALL_T, label="the shortest way"
)
world.derive("key", "legend", lambda g1, g2, g3, g4: sorted({g1, g2, g3, g4}), label="the key to the grades")
world.derive("tour", "sum", lambda t1, t2: t1 + t2, label="the time of the tour", shown=hours)
world.derive(
    "boots",
    "claim",
    lambda g1, g2, g3, g4: "schwer" in (g1, g2, g3, g4),
    label="the notice on boots",
    shown=lambda v: "Bergschuhe und Stöcke nötig" if v else "alle Wege mit festem Schuh",
)
world.holds(
    "ways are of a day's length", lambda t1, t2, t3, t4: all(40 <= t <= 420 for t in (t1, t2, t3, t4))
)
world.holds("no two of one length", lambda t1, t2, t3, t4: len({t1, t2, t3, t4}) == 4)
world.holds("four destinations", lambda z1, z2, z3, z4: len({z1, z2, z3, z4}) == 4)
world.holds("peaks lie higher than lakes", lambda up1, up2, up3, up4: min(up1, up2, up3, up4) >= 80)
world.cut("at1", ended="gestern an nach Start um")
for k, i in enumerate(NTH):
    world.edit(f"km{i}", by(f"km{i}", -14, 21, 35, 48))
    world.edit(f"up{i}", by(f"up{i}", -120, 210, 340))
    world.edit(
        f"z{i}",
        other(
            [f"z{j}" for j in NTH],
            k,
            PLACES,
            lambda x, y: PLACES[x][0] != PLACES[y][0] and PLACES[x][1] != PLACES[y][1],
        ),
    )
world.edit("start", lambda v, rng: v["start"] + rng.choice([-60, -30, 30, 60]))
world.edit("here", lambda v, rng: v["here"] + rng.choice([-120, 60, 140]))
