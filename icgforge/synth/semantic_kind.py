"""Categorical templates: a dish, a fruit, an animal or a city, and what is said of it elsewhere."""

from __future__ import annotations

from icgforge.synth.base import Ctx, Design, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.icons import glyph
from icgforge.synth.parts import edge, fit, ink_on, node, notes, paper, planks, shade
from icgforge.synth.scenery import mix
from icgforge.synth.world import PLATES

# One call, one stroke, one row a line.
# fmt: off

CAT = "semantic_categorical"


@template("semantic_kind_menu", nodes=(CAT, CAT, CAT), edits=("dish",))
def menu(ctx: Ctx) -> Design:
    """A day's menu: dish, ingredients, allergens, drawing."""
    edit, size = ctx.edit(lambda a, b: PLATES[a.text][0] != PLATES[b.text][0]), ctx.size("tall")
    w, h = size
    chalk = ctx.chance(0.5)
    head, hand = ctx.face("script"), ctx.face("hand")
    bg, ink, soft, acc = ((42, 50, 48), (244, 240, 226), (176, 184, 176), (250, 206, 110)) if chalk else ((250, 244, 230), (54, 44, 40), (140, 126, 112), (166, 62, 48))
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    k = round(w * (0.3 if ctx.salient else 0.22))
    fs = fit([edit.old.text, edit.new.text], head, w - 130, 50)
    price = ctx.rng.choice([9, 11, 13, 14])
    side = ctx.rng.sample(["Bread and oil", "Pickles of the house", "Green salad", "Pot of tea"], 2)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        planks(c, (0, 0, w, h), (134, 94, 62), seed, 10)
        c.rect((34, 34, w - 34, h - 34), (96, 66, 44) if chalk else mix(bg, (90, 70, 50), 0.3))
        paper(c, (46, 46, w - 46, h - 46), bg, seed + 2, 3)
        c.text((w / 2, 86), "Today", (head, 46), acc, anchor="mm")
        ky = h * 0.28 if not ctx.far else h * 0.66
        with c.element("icon"):
            c.paste(glyph("lantern" if twin else v["icon"], k), (w / 2 - k / 2, ky - k / 2))
        ty = h * 0.47 if not ctx.far else h * 0.24
        with c.element("target"):
            c.text((w / 2, ty), v["target"], (head, fs), ink, anchor="mm")
        if ctx.n > 1:
            with c.element("made"):
                c.text((w / 2, ty + 48), v["made"], (hand, fit([v["made"]], hand, w - 120, 22)), soft, anchor="mm")
        if ctx.n > 2:
            with c.element("warn"):
                c.text((w / 2, ty + 82), v["warn"], (hand, 20 if ctx.salient else 16), acc, anchor="mm")
        c.text((w / 2, ty + 124), f"${price}", (hand, 30), ink, anchor="mm")
        y0 = h * 0.72 if not ctx.far else h * 0.8
        for j, s in enumerate(side):
            c.text((w / 2, y0 + 34 * j), s, (hand, 21), ink, anchor="mm")
        notes(c, lines, (60, y0 + 52, w - 60, h - 50), hand, soft, 13)

    def vals(i: int) -> dict[str, object]:
        item = (edit.old, edit.new)[i]
        return {"icon": PLATES[item.text][0], "made": PLATES[item.text][1], "warn": f"Allergens: {item['allergens']}", "family": item["family"]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"made": "from our own kitchen, all week", "warn": "Ask the staff for details"},
        target_region=["name of the dish, {where}", "dish written largest on the menu", "today's dish, {where}"],
        nodes=[
            node("icon", CAT, "drawing of the dish, {where}|picture on the menu|drawn food, {where}",
                 "drawing on the board, {where}|the little picture|coloured drawing, {where}",
                 "draw what {new} looks like|sketch {new} there|it should picture {new}, not {old}",
                 "the drawing stands for {old}|{new} is other food than what is drawn|it depicts the main thing in {old}",
                 "the depicted item is of the former class|another class has another look|the depiction identifies what the name said before"),
            node("made", CAT, "ingredients under the dish|line “{b_made}”|what the dish is made of, {where}",
                 "softer line right under larger lettering|the list with commas, {where}|faint handwriting, {where}",
                 "list {a_made}|“{b_made}” is exchanged for “{a_made}”|name the ingredients of {new}: {a_made}",
                 "{new} is not cooked from {b_made}|these go into {old}|what a dish contains depends on the dish",
                 "components listed belong to the former class|composition is an attribute of the named class|the list describes something that is no longer offered"),
            node("warn", CAT, "allergen line, {where}|warning for guests, {where}|“{b_warn}” on the menu",
                 "small coloured line, {where}|short line with a colon|a line above the amount, {where}",
                 "state “{a_warn}”|“{b_warn}” has to be corrected to “{a_warn}”|declare for {new}: {a_warn}",
                 "the allergens of {new} are others than those of {old}|guests must be warned of what is in {new}|{old} brought along what the line declares",
                 "a declaration goes by what is served|a safety notice describes the former class|hazards differ from class to class"),
        ],
        edges=[edge("icon", "made", "same class", "drawing and ingredients describe one dish|what is drawn is among the ingredients|both characterise the same food"),
               edge("made", "warn", "derived", "allergens come from the ingredients|each warning has its ingredient|the warning follows from the list")],
    )


@template("semantic_kind_jar", nodes=(CAT, CAT, CAT), edits=("fruit",))
def jar(ctx: Ctx) -> Design:
    """A jar of jam: fruit on the label, taste words, colour of the filling."""
    edit, pal, size = ctx.edit(), ctx.palette(), ctx.size()
    w, h = size
    head, serif = ctx.face("script"), ctx.face("serif")
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    jw, jh = min(w * 0.56, h * 0.62), h * 0.72
    jx = w / 2 - jw / 2 if w < h * 1.1 else (w * 0.08 if ctx.chance(0.5) else w * 0.92 - jw)
    x0, y0, x1, y1 = jx, h * 0.16, jx + jw, h * 0.16 + jh
    lx0, lx1, ly0, ly1 = x0 + 14, x1 - 14, y0 + jh * 0.24, y0 + jh * 0.86
    k = round((ly1 - ly0) * (0.44 if ctx.salient else 0.34))
    fs = fit([edit.old.text, edit.new.text], head, jw - 60, 46)
    wall = mix(pal.panel, (240, 236, 226), 0.4)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), wall, seed, 2)
        planks(c, (0, h * 0.82, w, h), (150, 108, 74), seed, 2)
        c.ellipse((x0 - 10, y1 - 22, x1 + 30, y1 + 16), (60, 44, 34, 90))
        c.rect((x0 + 14, y0 - 44, x1 - 14, y0 + 8), pal.accent2, radius=8)
        for i in range(14):
            c.rect((x0 + 20 + i * (jw - 40) / 14, y0 - 40, x0 + 23 + i * (jw - 40) / 14, y0 + 4), mix(pal.accent2, (0, 0, 0), 0.2))
        c.rect((x0, y0, x1, y1), (226, 236, 238), radius=30)
        if ctx.n > 2:
            with c.element("fill"):
                c.rect((x0 + 6, y0 + 30, x1 - 6, y1 - 6), (150, 150, 156) if twin else v["rgb"], radius=26)
        else:
            c.rect((x0 + 6, y0 + 30, x1 - 6, y1 - 6), (206, 190, 170), radius=26)
        c.rect((x0 + 12, y0 + 40, x0 + 20, y1 - 40), (255, 255, 255, 120), radius=4)
        c.rect((lx0, ly0, lx1, ly1), (252, 248, 238), radius=8)
        c.rect((lx0 + 6, ly0 + 6, lx1 - 6, ly1 - 6), None, radius=6, outline=(120, 84, 60), width=2)
        mid = (lx0 + lx1) / 2
        top = ctx.far
        with c.element("fruit"):
            c.paste(glyph("cup" if twin else v["fruit"], k), (mid - k / 2, ly0 + 18 if top else ly1 - k - 44))
        with c.element("target"):
            c.text((mid, ly1 - 84 if top else ly0 + 42), v["target"], (head, fs), (70, 44, 40), anchor="mm")
        if ctx.n > 1:
            with c.element("taste"):
                c.text((mid, ly1 - 46 if top else ly0 + 84), v["taste"], (serif, 22), (120, 84, 60), anchor="mm")
        c.text((mid, ly1 - 20), "net 340 g", (serif, 15), (140, 120, 104), anchor="mm")
        if w >= h * 1.1:
            rx0, rx1 = (x1 + 40, w - 30) if jx < w / 2 - jw / 2 else (30, x0 - 40)
            c.text(((rx0 + rx1) / 2, h * 0.3), "From the pantry", (head, 30), ink_on(wall), anchor="mm")
            notes(c, lines, (rx0, h * 0.36, rx1, h * 0.72), serif, mix(ink_on(wall), wall, 0.25), 15)
        else:
            notes(c, lines, (20, h * 0.92, w - 20, h - 6), serif, (248, 238, 222), 14)

    def vals(i: int) -> dict[str, object]:
        a = (edit.old, edit.new)[i]
        return {"fruit": a["picture"], "taste": a["note"], "rgb": a["rgb"], "how": a["grown"]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"taste": "keep it cool"},
        target_region=["sort named on the label, {where}", "curved lettering of the jar", "name on the jar, {where}"],
        nodes=[
            node("fruit", CAT, "fruit drawn on the label|the {b_fruit} picture, {where}|illustration on the jar, {where}",
                 "drawing within the frame|figure on the label, {where}|the drawn thing, {where}",
                 "illustrate the label with {new}|the {b_fruit} has to go for a {a_fruit}|show a {a_fruit}",
                 "a jar of {new} does not carry a {b_fruit}|buyers tell the sort by the picture, which shows {old}|label name and illustration would name two sorts",
                 "the illustration shows the former sort|sort and illustration identify the same thing|an image stands for what is inside by name"),
            node("taste", CAT, "taste words on the label, {where}|description “{b_taste}”|serif line next to the lettering",
                 "brown line within the frame|serif words, {where}|a line of three words",
                 "describe it as “{a_taste}”|“{b_taste}” is true of the old sort; write “{a_taste}”|taste words become “{a_taste}”",
                 "nobody calls {new} “{b_taste}”|“{b_taste}” describes {old}|{new} tastes otherwise",
                 "properties ascribed there are those of the former sort|a description by taste depends on the sort|the attribute named is wrong for the new sort"),
            node("fill", CAT, "jam that shows through the glass|colour of the filling around the label|contents of the jar",
                 "what is seen around the label|coloured part of the vessel|the area behind the label",
                 "tint the contents like {new}|seen through the glass it should look like {new}|recolour what is inside for {new}",
                 "cooked {new} has another colour than {old}|the glass shows the colour of {old}|contents and label must be one sort",
                 "the substance visible is of the former sort|what shines through identifies the sort|its look is an attribute of the sort named"),
        ],
        edges=[edge("fruit", "fill", "same sort", "drawn fruit and contents are one sort|the jam is cooked from the drawn fruit|both have the look of one fruit"),
               edge("fruit", "taste", "same sort", "that fruit tastes so|picture and words describe one sort|words characterise the fruit drawn")],
    )


@template("semantic_kind_plaque", nodes=(CAT, CAT, CAT), edits=("animal",))
def plaque(ctx: Ctx) -> Design:
    """A plaque at an enclosure: class, food, home."""
    edit, pal, size = ctx.edit(lambda a, b: a["group"] != b["group"]), ctx.palette(), ctx.size("wide")
    w, h = size
    head, sans = ctx.face("slab"), ctx.face("sans")
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    left = ctx.chance(0.5)
    order = ctx.rng.sample([0, 1, 2], 3) if ctx.n == 3 else [0, 1, 2]
    rows = ["group", "food", "home"]
    words = {"group": "Class", "food": "Diet", "home": "Range"}
    fs = fit([edit.old.text, edit.new.text], head, w * 0.5, 60)
    metal = ctx.rng.choice([(178, 150, 92), (150, 156, 164), (122, 142, 124)])

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), (104, 138, 92), seed, 6)
        for x in (w * 0.2, w * 0.8):
            c.rect((x - 12, h * 0.7, x + 12, h), (98, 74, 52))
        shade(c, (50, 40, w - 50, h * 0.84), 12, 8, 120)
        paper(c, (50, 40, w - 50, h * 0.84), metal, seed + 1, 4, streak=True)
        c.rect((60, 50, w - 60, h * 0.84 - 10), None, outline=mix(metal, (30, 26, 20), 0.5), width=3)
        for x, y in ((74, 64), (w - 74, 64), (74, h * 0.84 - 24), (w - 74, h * 0.84 - 24)):
            c.ellipse((x - 6, y - 6, x + 6, y + 6), mix(metal, (30, 26, 20), 0.6))
        dark = (38, 34, 30)
        tx = 100 if left else w - 100
        with c.element("target"):
            c.text((tx, 110), v["target"], (head, fs), dark, anchor="lm" if left else "rm")
        c.rect((100, 152, w - 100, 155), dark)
        y, size_ = h * (0.5 if ctx.far else 0.4), 25 if ctx.salient else 19
        shown = [rows[i] for i in order if i < ctx.n]
        for key in shown:
            c.text((w * 0.28, y), words[key], (sans, size_ - 2), mix(dark, metal, 0.3), anchor="rm")
            with c.element(key):
                c.text((w * 0.31, y), v[key], (sans + "-bold", size_), dark, anchor="lm")
            y += 44
        c.text((w * 0.28, y), "Keeper", (sans, size_ - 2), mix(dark, metal, 0.3), anchor="rm")
        c.text((w * 0.31, y), "R. Okafor", (sans + "-bold", size_), dark, anchor="lm")
        notes(c, lines, (60, h * 0.87, w - 60, h - 8), sans, (244, 246, 236), 14)

    def vals(i: int) -> dict[str, object]:
        a = (edit.old, edit.new)[i]
        return {k: a[k] for k in rows}

    del pal
    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"group": "House 4", "food": "served at noon", "home": "north lawn"},
        target_region=["heading of the plaque, {where}", "engraved name above the rule", "animal named on the plaque"],
        nodes=[
            node("group", CAT, "class on the plaque, {where}|entry “{b_group}” in the table|what follows “Class”",
                 "one entry of the table, {where}|bold entry, {where}|value in a two-column list",
                 "enter {a_group}|{b_group} is to be corrected to {a_group}|state the class {a_group}",
                 "{new} are not counted among that class|{b_group} holds for {old}|zoology puts {new} elsewhere",
                 "taxonomy files the newly named kind elsewhere|the classification is that of the kind before|membership is a property of the kind"),
            node("food", CAT, "diet on the plaque, {where}|entry “{b_food}”|what follows “Diet”",
                 "row of the table, {where}|bold words at the {where}|second thing said, {where}",
                 "they feed on {a_food}|“{b_food}” becomes “{a_food}”|give {a_food} as food",
                 "{new} do not eat {b_food}|that is what {old} are fed|feeding differs between {old} and {new}",
                 "the nourishment listed suits the former kind|what a kind lives on goes with the kind|a fact about the former kind is stated"),
            node("home", CAT, "range on the plaque, {where}|entry “{b_home}”|what follows “Range”",
                 "table row, {where}|words in the right column, {where}|further entry, {where}",
                 "they come from {a_home}|replace {b_home} by {a_home}|name {a_home}",
                 "one does not meet {new} in {b_home}|{b_home} is where {old} live|the origin of {new} is {a_home}",
                 "the region of origin belongs to the former kind|kinds differ in where they live|provenance is tied to what is named"),
        ],
        edges=[edge("group", "food", "same kind", "class and diet are of one animal|both rows describe one kind|rows of one plaque describe one animal"),
               edge("food", "home", "same kind", "the food is found in that range|diet and range fit each other|what is eaten grows or lives there")],
    )


@template("semantic_kind_luggage", nodes=(CAT, CAT), edits=("city",))
def luggage(ctx: Ctx) -> Design:
    """A luggage label: destination, airport code, country."""
    edit, pal, size = ctx.edit(lambda a, b: a["country"] != b["country"]), ctx.palette(dark=False), ctx.size()
    w, h = size
    head, mono = ctx.face("condensed"), ctx.face("mono")
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    flip = ctx.far
    fabric = ctx.rng.choice([(60, 76, 104), (96, 60, 58), (70, 90, 76), (90, 84, 76)])
    bars = [ctx.rng.choice([2, 3, 4, 6]) for _ in range(34)]
    fs = fit([edit.old.text, edit.new.text], head, w * 0.5, 54)
    x0, x1, y0, y1 = 70, w - 70, h * 0.14, h * 0.86

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), fabric, seed, 5)
        for x in (w * 0.06, w * 0.94):
            c.rect((x - 8, 0, x + 8, h), mix(fabric, (20, 16, 14), 0.5))
        shade(c, (x0, y0, x1, y1), 24, 8, 130)
        c.rect((x0, y0, x1, y1), (250, 248, 242), radius=24)
        c.rect((x0, y0 + 24, x1, y0 + 70), pal.accent)
        c.text(((x0 + x1) / 2, y0 + 47), "Nimbus Airways", (head, 30), (252, 250, 246), anchor="mm")
        c.ellipse((x1 - 60, y0 + 84, x1 - 34, y0 + 110), mix(fabric, (0, 0, 0), 0.2))
        ya, yb = y0 + (y1 - y0) * 0.4, y0 + (y1 - y0) * 0.68
        ty, cy = (ya, yb) if not flip else (yb, ya - 10)
        c.text((x0 + 40, ty - 40), "To", (head, 20), (130, 124, 120), anchor="lm")
        with c.element("target"):
            c.text((x0 + 40, ty), v["target"], (head, fs), (34, 34, 40), anchor="lm")
        with c.element("code"):
            c.text((x0 + 40, cy), v["code"], (mono + "-bold", 84 if ctx.salient else 52), (34, 34, 40), anchor="lm")
        if ctx.n > 1:
            with c.element("country"):
                c.text((x1 - 44, ty + 44 if not flip else cy + 50), v["country"], (head, 26), (90, 86, 84), anchor="rm")
        bx = x1 - 250.0
        for b in bars:
            c.rect((bx, y1 - 84, bx + b * 0.7, y1 - 34), (30, 30, 34))
            bx += b + 2.6
        notes(c, lines[:3], (20, 4, w - 20, y0 - 6), head, (232, 228, 222), 16)
        notes(c, lines[3:], (20, y1 + 8, w - 20, h - 4), head, (232, 228, 222), 16)

    def vals(i: int) -> dict[str, object]:
        a = (edit.old, edit.new)[i]
        return {"code": a["code"], "country": a["country"]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"code": f"{seed % 900 + 100}", "country": "Cabin bag"},
        target_region=["destination on the bag label, {where}", "city after “To”", "city on the tag, {where}"],
        nodes=[
            node("code", CAT, "three-letter code, {where}|airport code {b_code} on the tag|heavy letters {b_code}",
                 "heavy mono-spaced characters, {where}|three characters at the {where}|the thickest lettering of the tag",
                 "the code has to be {a_code}|stamp {a_code} instead of {b_code}|{b_code} > {a_code}",
                 "{b_code} is the airport of {old}|bags to {new} travel under {a_code}|{new} is abbreviated {a_code} in air traffic",
                 "an identifier belongs to the former destination|each destination has a sign of its own|the abbreviation encodes what was named before"),
            node("country", CAT, "country on the tag, {where}|{b_country} at the right|grey name, {where}",
                 "greyish lettering, {where}|right-aligned name, {where}|the paler of two names",
                 "it lies in {a_country}, print that|{a_country} for {b_country}|exchange the country for {a_country}",
                 "{new} is a city of {a_country}|{b_country} is where {old} lies|there is no {new} in {b_country}",
                 "the state the destination lies in is another|a larger unit contains the one named|the attribute describes where the former one lies"),
        ],
        edges=[edge("code", "country", "same city", "the airport lies in that country|code and country are of one city|both describe one destination")],
    )
