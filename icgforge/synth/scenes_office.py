"""Scenes of offices and meetings that set off several subtypes: a dashboard, badges."""

from __future__ import annotations

from icgforge.synth.base import Ctx, Design, EdgeSpec, Fact, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas, fit_size
from icgforge.synth.textures import surface


@template(
    "scenes_dashboard", nodes=("semantic_visual_data", "semantic_numerical", "semantic_functional", "style_color"),
    edits=("number",), min_nodes=2,
)  # fmt: skip
def dashboard(ctx: Ctx) -> Design:
    """A report page: a column's label is edited; column, sum, caption and legend follow."""
    edit = ctx.edit()
    size, pal = ctx.size("wide"), ctx.palette()
    w, h = size
    face, head = ctx.rng.choice(["plain", "office", "narrow"]), ctx.face("display")
    names = ctx.rng.sample(["East", "West", "Port", "Hill", "Lake", "Moor"], 4)
    low, high = sorted((edit.old["value"], edit.new["value"]))
    rival = ctx.rng.randint(low + 1, high - 1)
    rest = [ctx.rng.randint(max(6, low // 2), max(7, low - 1)) for _ in range(2)]
    others = [rival, *rest]
    slot, extras = ctx.rng.randrange(4), ctx.copy(min(4, ctx.distractors))
    what = ctx.rng.choice(["Parcels a day", "Visits a week", "Loans a month", "Repairs a week"])
    full = 110
    base_y, tall = h * 0.74, h * 0.46

    def leads(x: int) -> str:
        return names[0] if x > rival else names[1]

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), pal.bg)
        c.text((36, 40), what, (head, 30), pal.ink, anchor="lm")
        for g in range(0, 101, 25):
            y = base_y - g / full * tall
            c.rect((70, y, w * 0.68, y + 1), pal.panel)
            c.text((60, y), str(g), (face, 14), pal.muted, anchor="rm")
        values: list[int | None] = list(others)
        values.insert(0, None)
        order = [1, 2, 3]
        order.insert(slot, 0)
        step = (w * 0.68 - 80) / 4
        for k, i in enumerate(order):
            x = 90 + k * step
            value = v["value"] if i == 0 else others[i - 1]
            size_ = value / full * tall
            top = v["lead"] == names[i]
            color = pal.accent if top and ctx.n > 3 and not twin else pal.accent2
            if i == 0 and twin:
                size_ = 60
            with c.element(
                "column"
                if i == 0
                else "other"
                if color == pal.accent2 and ctx.n < 4
                else f"c{i}"
                if i > 1
                else "rival"
            ):
                c.rect((x, base_y - round(size_), x + step - 34, base_y), color)
            y = base_y - (v["label_at"] if i == 0 else size_) - 16
            with c.element("target" if i == 0 else f"v{i}"):
                c.text(
                    (x + (step - 34) / 2, y),
                    v["target"] if i == 0 else str(value),
                    (f"{face}-bold", 20 if ctx.salient else 17),
                    pal.ink,
                    anchor="mm",
                )
            c.text((x + (step - 34) / 2, base_y + 18), names[i], (face, 17), pal.ink, anchor="mm")
        c.rect((70, base_y, w * 0.68, base_y + 2), pal.muted)
        px = w * 0.74
        c.rect((px - 14, 80, w - 24, 190), pal.panel, radius=8)
        c.text((px, 106), "all four" if not twin else "target for all", (face, 16), pal.muted, anchor="lm")
        with c.element("sum"):
            c.text((px, 148), str(v["sum"]), (f"{face}-bold", 42), pal.ink, anchor="lm")
        if ctx.n > 2 or twin:
            with c.element("caption"):
                text = f"Fig. 3. {v['lead']} is ahead." if not twin else "Fig. 3. Columns not to scale."
                c.text((70, base_y + 52), text, (face, 18), pal.ink, anchor="lm")
        for i, line in enumerate(extras):
            c.text((px - 10, 220 + 24 * i), line, (face, 14), pal.muted, anchor="lm")
        c.text(
            (70, h - 20),
            "leading column in the strong colour" if ctx.n > 3 and not twin else "internal use",
            (face, 13),
            pal.muted,
            anchor="lm",
        )

    a, b = edit.old["value"], edit.new["value"]

    def values_of(x: int) -> dict[str, object]:
        return {"value": x, "sum": x + sum(others), "lead": leads(x), "label_at": x / full * tall}

    return Design(
        size, draw, edit, values_of(a), values_of(b), twin={"sum": 200, "label_at": 60},
        target_region=["figure on top of a column, {where}", f"value of {names[0]}", "number over one of the columns"],
        nodes=[
            NodeSpec(
                "column", "semantic_visual_data",
                region=[f"column {names[0]}", f"bar over the word {names[0]}", "column under the figure, {where}"],
                clean=["upright block, {where}", "one of the blocks of the diagram", "block below a figure"],
                update=["its height goes from {old} to {new} on the axis", "let the column end at {new}", "redraw it {new} units high"],
                reason=["column height and figure show one count", "the axis puts {new} at another height than {old}", "a column states in length what its label states in digits"],
                anon=["a length encodes the edited quantity", "the drawing shows on a scale what the text says", "extent and quantity are proportional"],
            ),
            NodeSpec(
                "sum", "semantic_numerical",
                region=["count for all four", "large figure in the side panel", "panel “all four”, {where}"],
                clean=["the largest figure", "figure in the panel, {where}", "panel at the {where}"],
                update=["{b_sum} gives way to {a_sum}", "the panel has to say {a_sum}", "put {a_sum} there"],
                reason=[f"{' + '.join(map(str, others))} + {{new}} is {{a_sum}}", "the panel counts all columns together, and one of them has changed", "four columns add up to {a_sum}, not {b_sum}"],
                anon=["a grand count includes the edited part", "the whole is made of parts, one of which differs", "parts and whole must tally"],
            ),
            NodeSpec(
                "caption", "semantic_functional",
                region=["caption under the diagram", "sentence “Fig. 3”", "text line below the columns"],
                clean=["sentence beneath the drawing", "line of text, {where}", "the sentence in the lower part"],
                update=["“{b_lead} is ahead” becomes “{a_lead} is ahead”", "name {a_lead} as the one ahead", "the caption says that {a_lead} leads"],
                reason=["the caption refers to the highest column, which is {a_lead} now", f"with {{new}} against {rival} the order of {names[0]} and {names[1]} is reversed", "a caption has to describe the figure it stands under"],
                anon=["a remark refers to an order that is reversed", "a statement about the data depends on a comparison", "what the remark points at is another item now"],
            ),
            NodeSpec(
                "rival", "style_color",
                region=[f"fill of the column {names[1]}", f"{names[1]}’s column", "neighbouring column, {where}"],
                clean=["another block, {where}", "one more block of the diagram", "block in the {where}"],
                update=["it swaps its fill with the edited column", "fill it as the note demands now", "strong colour and pale colour change places"],
                reason=["a note gives the strong colour to the leader, and the lead has changed", f"{names[1]} {'falls behind' if b > rival else 'takes the lead'}, so its fill changes", "the strong fill belongs to whoever is ahead"],
                anon=["a fill marks the leading item and the lead has changed", "emphasis by hue depends on rank", "two items swap rank and with it their hue"],
            ),
        ],
        edges=[EdgeSpec("column", "sum", "same data", ["column and sum come from one table", "what grows in the column grows in the sum"]),
               EdgeSpec("column", "caption", "reading", ["the caption reads the columns", "caption and column heights agree"])],
        facts=[Fact("length", "column", {"value": a}, {"value": b}),
               Fact("sum", "sum", {"terms": [a, *others], "result": a + sum(others)}, {"terms": [b, *others], "result": b + sum(others)})],
    )  # fmt: skip


@template(
    "scenes_badges", nodes=("spatial_repetition", "semantic_functional", "physical_perspective", "physical_shadow"), edits=("person",), min_nodes=2,
)  # fmt: skip
def badges(ctx: Ctx) -> Design:
    """A speaker's table: badge, list of talks, folded name card at an angle, monogram."""
    edit = ctx.edit(lambda a, b: [p[0] for p in a.text.split()] != [p[0] for p in b.text.split()])
    size, seed, pal = ctx.size("wide"), ctx.seed(), ctx.palette(dark=False)
    w, h = size
    face, head = ctx.rng.choice(["office", "plain", "slab", "narrow"]), ctx.face("display")
    event = ctx.rng.choice(["TYPE DAYS", "SOIL FORUM", "ROBOT FAIR", "CANAL SUMMIT"])
    talks = ctx.rng.sample(["On hinges", "Quiet engines", "A map of moss", "Seven wells", "Paper bridges"], 3)
    people = ctx.rng.sample(["Ola Berg", "Rita Sanz", "Hugo Marsh", "Ines Faro", "Pavel Orr"], 2)
    extras, slot = ctx.copy(min(4, ctx.distractors)), ctx.rng.randrange(3)
    bx, by, bw, bh = w * 0.08, h * 0.2, w * 0.38, h * 0.5
    px = min(
        fit_size(t.text, f"{face}-bold", bw - 36, 34 if ctx.salient else 28) for t in (edit.old, edit.new)
    )

    def initials(name: str) -> str:
        return "".join(part[0] for part in name.split())

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(surface("wood", size, seed, (196, 168, 130)))
        c.paste(surface("cloth", (w, int(h * 0.36)), seed + 1, (112, 124, 140)), (0, 0))
        name = v["target"]
        other = name if not twin else "Guest"
        # programme sheet
        sx, sy = w * 0.54, h * 0.08
        c.rect((sx, sy, w * 0.94, sy + h * 0.4), (252, 250, 245))
        c.text((sx + 20, sy + 30), "Talks this morning", (head, 22), pal.ink, anchor="lm")
        rows: list[str | None] = list(people)
        rows.insert(slot, None)
        for i, (who, talk) in enumerate(zip(rows, talks, strict=True)):
            y = sy + 74 + i * 42
            c.text((sx + 20, y), talk, (face, 16), pal.muted, anchor="lm")
            with c.element("row" if who is None else f"r{i}"):
                text = who or other
                c.text(
                    (w * 0.94 - 16, y + 18),
                    text,
                    (face, fit_size(text, face, w * 0.3, 17)),
                    pal.ink,
                    anchor="rm",
                )
        # badge on its lanyard
        c.line([(bx + bw * 0.5, by), (bx + bw * 0.3, 0)], pal.accent, 12)
        c.line([(bx + bw * 0.5, by), (bx + bw * 0.7, 0)], pal.accent, 12)
        sh = c.layer()
        sh.rect((bx + 6, by + 10, bx + bw + 6, by + bh + 10), (0, 0, 0), radius=12)
        c.put(sh, blur=7, opacity=0.4)
        c.rect((bx, by, bx + bw, by + bh), (253, 252, 249), radius=12)
        c.rect((bx, by, bx + bw, by + 46), pal.accent, radius=12)
        c.rect((bx, by + 30, bx + bw, by + 46), pal.accent)
        c.text((bx + bw / 2, by + 24), event, (head, 22), (255, 255, 255), anchor="mm")
        my = by + 92
        c.ellipse((bx + bw / 2 - 34, my - 34, bx + bw / 2 + 34, my + 34), pal.panel)
        if ctx.n > 1:
            with c.element("mono"):
                c.text(
                    (bx + bw / 2, my),
                    initials(name) if not twin else "no. 7",
                    ("novel-bold" if not twin else "plain", 30 if not twin else 20),
                    pal.ink,
                    anchor="mm",
                )
        else:
            c.ellipse((bx + bw / 2 - 12, my - 22, bx + bw / 2 + 12, my + 2), pal.muted)
            c.pie((bx + bw / 2 - 22, my + 2, bx + bw / 2 + 22, my + 46), 180, 360, pal.muted)
        with c.element("target"):
            c.text((bx + bw / 2, by + 156), name, (f"{face}-bold", px), (40, 38, 42), anchor="mm")
        c.text((bx + bw / 2, by + 190), "speaker", (face, 18), pal.muted, anchor="mm")
        # folded card
        quad = [(w * 0.56, h * 0.66), (w * 0.86, h * 0.60), (w * 0.92, h * 0.80), (w * 0.58, h * 0.90)]
        c.polygon(
            [quad[0], quad[1], (quad[1][0] - 30, quad[1][1] - 10), (quad[0][0] - 20, quad[0][1] - 6)],
            (214, 208, 198),
        )
        card = Canvas((360, 130), (250, 248, 242))
        card.rect((0, 112, 360, 130), pal.accent)
        if ctx.n > 2:
            with card.element("card"):
                text = other
                card.text(
                    (180, 60),
                    text,
                    (f"{face}-bold", fit_size(text, f"{face}-bold", 320, 44)),
                    (48, 46, 50),
                    anchor="mm",
                )
        c.warp(card, quad)
        if ctx.n > 3 and not twin:  # cut-out letters at the front edge throw a shadow
            fit = fit_size(initials(name), "office-black", 130, 60)
            sub = c.layer()
            with sub.element("shade"):
                sub.text(
                    (w * 0.3 + 14, h * 0.87 + 12),
                    initials(name),
                    ("office-black", fit),
                    (0, 0, 0),
                    anchor="mm",
                )
            c.put(sub, blur=3, opacity=0.45)
            with c.element("shade"):
                c.text((w * 0.3, h * 0.87), initials(name), ("office-black", fit), pal.accent2, anchor="mm")
        if extras:
            c.text((sx + 20, sy + h * 0.4 - 14), extras[0], (face, 12), pal.muted, anchor="lm")
        if len(extras) > 2:
            c.text((sx + 20, h - 18), extras[2], (face, 12), (90, 70, 50), anchor="lm")

    return Design(
        size, draw, edit, {"initials": initials(edit.old.text)}, {"initials": initials(edit.new.text)},
        target_region=["name on the badge, {where}", "badge holder's name", "bold line of the badge"],
        nodes=[
            NodeSpec(
                "row", "spatial_repetition",
                region=["speaker in the list of talks", "programme sheet, name beside a talk", "printed name in the programme, {where}"],
                clean=["a line on the sheet of paper", "entry of the paper, {where}", "right-aligned text on the paper"],
                update=["the programme lists {new} for {old}", "exchange the name in the programme: {new}", "{new} gives this talk now"],
                reason=["badge and programme speak of one person", "who wears the badge also stands in the programme", "the name in the programme is a second print of that on the badge"],
                anon=["a person is named at two places", "a schedule repeats the name", "one identity is printed more than once"],
            ),
            NodeSpec(
                "mono", "semantic_functional",
                region=["initials in the round field of the badge", "monogram {b_initials}", "letters in the circle, {where}"],
                clean=["content of the circle", "round field, {where}", "the two or three big letters"],
                update=["{b_initials} → {a_initials}", "the circle holds {a_initials}", "set the letters {a_initials} in the circle"],
                reason=["the circle stands in for a portrait with the first letters of the name", "{new} is abbreviated {a_initials}", "initials point to the holder, who is {new}"],
                anon=["an abbreviation refers to the edited words", "a sign made of first letters stands for its owner", "the short form is built from the long one"],
            ),
            NodeSpec(
                "card", "physical_perspective",
                region=["folded name card on the table", "tent card that stands askew", "slanting card, {where}"],
                clean=["tilted paper, {where}", "object at the {where}", "leaning white face"],
                update=["write {new} on the card, slanting with its edges", "{new} runs along the tilted face of the card", "letter the tent card with {new}, shortened by the slant"],
                reason=["the card names the speaker and is seen askew", "the same name lies on a face that turns away", "letters on a turned card converge with it"],
                anon=["a face turned from the viewer bears a double of the text", "the double obeys the tilt of its carrier", "convergence of edges governs a second copy"],
            ),
            NodeSpec(
                "shade", "physical_shadow",
                region=["cut-out initials with their cast shadow", "standing letters on the table edge", "letters that throw a shade, {where}"],
                clean=["coloured shapes in front", "thing at the {where}", "shapes near the lower edge"],
                update=["cut out {a_initials} and let them cast their own shade", "the shade takes the outline of {a_initials}", "shapes and shade show {a_initials}"],
                reason=["letters that stand in the light throw their outline on the table", "{a_initials} blocks the light in other places than {b_initials}", "a shade is drawn by whatever letters stand there"],
                anon=["a projected outline belongs to solid shapes that spell the edited text in short", "light is blocked by other outlines now", "solid and projection change as one"],
            ),
        ],
        edges=[EdgeSpec("row", "mono", "one person", ["initials and programme name one person", "the monogram abbreviates the name in the programme"]),
               EdgeSpec("mono", "card", "one person", ["card and monogram belong to one speaker", "initials are those of the name on the card"]),
               EdgeSpec("mono", "shade", "same initials", ["circle and cut-out letters agree", "both spell the same initials"])],
    )  # fmt: skip
