"""Promotional templates: slogans, bursts and claims that only suit the offer as it was."""

from __future__ import annotations

from icgforge.synth.base import Ctx, Design, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.icons import glyph
from icgforge.synth.parts import edge, fit, ink_on, node, notes, paper, planks, shade, star_burst
from icgforge.synth.scenery import mix
from icgforge.synth.words import Item

# One call, one stroke, one row a line.
# fmt: off

PROMO = "semantic_promotional"


def _tier(cuts: tuple[int, int], value: int) -> int:
    """Return 0, 1 or 2: below the first cut, between, from the second on."""
    return sum(value >= c for c in cuts)


@template("semantic_offer_sale", nodes=(PROMO, PROMO, PROMO), edits=("percent",))
def sale(ctx: Ctx) -> Design:
    """A sale poster: a large percentage, a burst, a slogan, a warning to hurry."""
    cuts = (25, 50)
    edit, pal, size = ctx.edit(lambda a, b: _tier(cuts, a["value"]) != _tier(cuts, b["value"])), ctx.palette(), ctx.size("tall")
    w, h = size
    head, sans = ctx.face("display"), ctx.face("sans")
    lines, seed = ctx.copy(ctx.distractors), ctx.seed()
    burst = ("nice\nextra", "real\nbargain", "half price\nor less")
    slogan = ("A small thank-you on every item", "A good reason to drop in", "Never before so cheap")
    rush = ("No need to rush, it lasts", "Worth a detour this week", "Queue early, shelves empty fast")
    goods = ctx.rng.choice(["coats", "carpets", "sofas", "bicycles", "lamps"])
    left, r = ctx.chance(0.5), 92 if ctx.salient else 66

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), pal.accent, seed, 2)
        c.rect((30, 30, w - 30, h - 30), pal.bg)
        c.text((w / 2, 90), f"Sale on {goods}", (head, 50), pal.ink, anchor="mm")
        ty = h * 0.33
        with c.element("target"):
            c.text((w / 2, ty), v["target"], (head, 150), pal.accent, anchor="mm")
        c.text((w / 2, ty + 92), "off", (sans, 32), pal.ink, anchor="mm")
        bx, by = (w * 0.25 if left else w * 0.75), (h * 0.76 if ctx.far else h * 0.57)
        star_burst(c, bx, by, r, pal.accent2)
        rows = v["burst"].split("\n")
        fs = min(fit([x for t in burst for x in t.split("\n")] + ["open", "daily"], sans + "-bold", r * 1.5, 30), 26)
        with c.element("burst"):
            for k, row in enumerate(rows):
                c.text((bx, by + (k - 0.5) * fs * 1.15), row, (sans + "-bold", fs), ink_on(pal.accent2), anchor="mm")
        sx = w * 0.5
        sy = h * 0.56 if ctx.far else h * 0.76
        if ctx.n > 1:
            with c.element("slogan"):
                c.text((sx, sy), v["slogan"], (sans, fit(slogan, sans, w - 100, 30)), pal.ink, anchor="mm")
        if ctx.n > 2:
            with c.element("rush"):
                c.text((sx, sy + 42), v["rush"], (sans, 20), pal.muted, anchor="mm")
        notes(c, lines, (40, h * 0.88, w - 40, h - 40), sans, pal.muted, 13)

    def vals(i: int) -> dict[str, object]:
        t = _tier(cuts, (edit.old, edit.new)[i]["value"])
        return {"burst": burst[t], "slogan": slogan[t], "rush": rush[t], "flat": burst[t].replace("\n", " ")}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"burst": "open\ndaily", "slogan": "Everything for house and hall", "rush": "Parking behind the shop"},
        target_region=["huge percentage on the poster", "figure above “off”, {where}", "largest characters of the poster"],
        nodes=[
            node("burst", PROMO, "toothed disc with “{b_flat}”|words in the star, {where}|lettering on the burst, {where}",
                 "lettering on a toothed disc|two words on a round ground, {where}|star-shaped sticker, {where}",
                 "let the star say “{a_flat}”|“{b_flat}” is no longer honest; “{a_flat}” would be|swap in “{a_flat}”",
                 "“{b_flat}” praises {old}, the shop now grants {new}|at {new} nobody would call it “{b_flat}”|the star boasts of a reduction that is not given any more",
                 "a shout praises a size of offer that no longer exists|acclaim and offer have to be in keeping|the exclamation overstates or understates what is granted"),
            node("slogan", PROMO, "slogan of the poster, {where}|sentence “{b_slogan}”|advertising line, {where}",
                 "a sentence across the sheet, {where}|a line as wide as the sheet|larger of the sentences, {where}",
                 "advertise with “{a_slogan}”|the slogan might be “{a_slogan}”|drop “{b_slogan}” for “{a_slogan}”",
                 "with {new} the claim “{b_slogan}” rings false|“{b_slogan}” was written for {old}|shoppers compare slogan and reduction",
                 "copy and offer contradict each other in spirit|what is claimed is not backed by the offer now|the message was built around the former offer"),
            node("rush", PROMO, "line about hurrying, {where}|sentence “{b_rush}”|small print on when to come",
                 "fainter sentence, {where}|minor sentence, {where}|a sentence in small type",
                 "advise “{a_rush}”|tone it to “{a_rush}”|“{b_rush}” is replaced with “{a_rush}”",
                 "{new} draws another crowd than {old}|“{b_rush}” fits a reduction of {old}|whether people queue depends on what they save",
                 "the urgency conveyed suits another generosity|pressure to act must be in line with what is offered|the appeal presupposes the former attraction"),
        ],
        edges=[edge("burst", "slogan", "same message", "star and slogan praise one offer|both are as loud as the offer is large|they sell the same reduction"),
               edge("slogan", "rush", "same message", "the appeal follows from the claim|who is told that is told to come so|claim and urgency go together")],
    )


@template("semantic_offer_cocoa", nodes=(PROMO, PROMO), edits=("percent",))
def cocoa(ctx: Ctx) -> Design:
    """A bar wrapper or bottle with a content claim and two lines of praise."""
    cuts = (25, 50)
    edit, pal, size = ctx.edit(lambda a, b: _tier(cuts, a["value"]) != _tier(cuts, b["value"])), ctx.palette(), ctx.size("wide")
    w, h = size
    head, sans, serif = ctx.face("display"), ctx.face("sans"), ctx.face("serif")
    lines, seed = ctx.copy(ctx.distractors), ctx.seed()
    what, claims, seals = ctx.rng.choice([
        ("cocoa", ("Milky as a lullaby", "The golden mean", "Dark as a winter night"), ("for kids", "for all", "for the brave")),
        ("fruit", ("Just a hint of orchard", "Well mixed, well liked", "Almost nothing but orchard"), ("light", "mild", "packed")),
        ("wool", ("Easy care, thin as a shirt", "A bit of warmth for autumn", "Warm enough for the pole"), ("summer", "spring", "winter")),
    ])
    brand = ctx.rng.choice(["Nordhaven", "Mirabel", "Toller & Son", "Casa Lumen"])
    x0, x1, y0, y1 = 90, w - 90, h * 0.2, h * 0.8
    flip = ctx.far

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        planks(c, (0, 0, w, h), (188, 160, 128), seed, 5)
        shade(c, (x0, y0, x1, y1), 6, 9, 120)
        c.rect((x0, y0, x1, y1), pal.accent, radius=4)
        for k in range(18):
            for xx in (x0, x1):
                c.polygon([(xx - 7, y0 + (y1 - y0) * k / 18), (xx + 7, y0 + (y1 - y0) * (k + 0.5) / 18), (xx - 7, y0 + (y1 - y0) * (k + 1) / 18)], mix(pal.accent, (255, 255, 255), 0.25))
        c.rect((x0 + 30, y0 + 24, x1 - 30, y1 - 24), pal.bg)
        c.text((x0 + 56, y0 + 64), brand, (head, 46), pal.ink, anchor="lm")
        px = x0 + 56 if not flip else x1 - 56
        with c.element("target"):
            c.text((px, (y0 + y1) / 2 + 16), v["target"], (sans + "-bold", 74), pal.accent, anchor="lm" if not flip else "rm")
        c.text((px, (y0 + y1) / 2 + 70), what, (sans, 26), pal.ink, anchor="lm" if not flip else "rm")
        qx = (x1 - 56) if not flip else (x0 + 56)
        with c.element("claim"):
            c.text((qx, y1 - 56), v["claim"], (serif, 27 if ctx.salient else 20), pal.ink, anchor="rm" if not flip else "lm")
        if ctx.n > 1:
            sx, r = (x1 - 110 if not flip else x0 + 330), 52
            c.ellipse((sx - r, y0 + 38, sx + r, y0 + 38 + 2 * r), pal.accent2)
            c.ellipse((sx - r + 5, y0 + 43, sx + r - 5, y0 + 33 + 2 * r), mix(pal.accent2, (255, 255, 255), 0.15))
            with c.element("seal"):
                c.text((sx, y0 + 38 + r), v["seal"], (sans + "-bold", fit([*seals, "150 g"], sans + "-bold", 86, 22)), ink_on(pal.accent2), anchor="mm")
        notes(c, lines[:3], (40, 8, w - 40, y0 - 12), sans, (70, 50, 36), 14)
        notes(c, lines[3:], (40, y1 + 16, w - 40, h - 8), sans, (70, 50, 36), 14)

    def vals(i: int) -> dict[str, object]:
        t = _tier(cuts, (edit.old, edit.new)[i]["value"])
        return {"claim": claims[t], "seal": seals[t]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"claim": "A family firm in the old town", "seal": "150 g"},
        target_region=[f"content figure above “{what}”", "heavy percentage on the wrapper", "share printed on the pack, {where}"],
        nodes=[
            node("claim", PROMO, "praise on the wrapper, {where}|wrapper text “{b_claim}”|poetic line on the pack",
                 "serif line on the pack, {where}|a phrase near the lower rim|elegant small wording, {where}",
                 "praise it as “{a_claim}”|the pack would boast “{a_claim}”|“{b_claim}” is dropped, “{a_claim}” printed",
                 f"a product with {{new}} {what} is not “{{b_claim}}”|“{{b_claim}}” sells {{old}} {what}|the praise lives on the {what} content",
                 "praise refers to a strength that the goods no longer have|the character promised goes with the former content|image and make-up of the goods part ways"),
            node("seal", PROMO, "word “{b_seal}” in the round seal|seal on the pack, {where}|whom or what the seal promises",
                 "word on the round spot|round spot, {where}|little disc with a word",
                 "the seal becomes “{a_seal}”|stamp “{a_seal}” on it|put “{a_seal}” into the circle",
                 f"“{{b_seal}}” recommends it for its {{old}} {what}|with {{new}} the seal should recommend it otherwise|the target group of {{new}} is another",
                 "a recommendation addresses those who wanted the former make-up|the label positions the goods for other buyers|positioning of the goods hangs on their content"),
        ],
        edges=[edge("claim", "seal", "same message", "seal and praise court the same buyers|both present one character|they position one product")],
    )


@template("semantic_offer_lunch", nodes=(PROMO, PROMO), edits=("price",))
def lunch(ctx: Ctx) -> Design:
    """A web banner with one price and copy that calls it cheap or grand."""
    cuts = (60, 120)
    edit, pal, size = ctx.edit(lambda a, b: _tier(cuts, a["value"]) != _tier(cuts, b["value"])), ctx.palette(), ctx.size("wide")
    w, h = size
    head, sans = ctx.face("display"), ctx.face("sans")
    lines = ctx.copy(ctx.distractors)
    what, art = ctx.rng.choice([("Boat trip", "ship"), ("Bike for a week", "bicycle"), ("Tennis class", "racket"), ("Weekend by coach", "bus"), ("Flight over the bay", "plane")])
    copy = ("For the price of a pizza or two", "Fair and square", "A treat you will tell of for years")
    ribbon = ("pocket money", "good value", "pure luxury")
    left = ctx.chance(0.5)
    k = round(h * (0.52 if ctx.salient else 0.4))
    img = glyph(art, k)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), pal.panel)
        c.rect((0, 0, w, 54), pal.bg)
        for j, t in enumerate(("Trips", "Shop", "Help")):
            c.text((w - 60 - 90 * j, 27), t, (sans, 17), pal.muted, anchor="rm")
        c.text((40, 27), "wayfarer", (sans + "-bold", 22), pal.accent, anchor="lm")
        ix = 50 if left else w - 50 - k
        c.ellipse((ix - 10, h * 0.54 - k / 2 - 10, ix + k + 10, h * 0.54 + k / 2 + 10), mix(pal.panel, pal.accent2, 0.35))
        c.paste(img, (ix, h * 0.54 - k / 2))
        tx, anchor = (ix + k + 50, "lm") if left else (50, "lm")
        c.text((tx, h * 0.26), what, (head, fit([what], head, w - k - 150, 54)), pal.ink, anchor=anchor)
        with c.element("target"):
            c.text((tx, h * 0.44), v["target"], (sans + "-bold", 64), pal.accent, anchor=anchor)
        cy = h * 0.74 if ctx.far else h * 0.58
        with c.element("copy"):
            c.text((tx, cy), v["copy"], (sans, fit([*copy, "Board at pier four, rain or shine"], sans, w - k - 140, 26)), pal.ink, anchor=anchor)
        if ctx.n > 1:
            ry = h * 0.6 if ctx.far else h * 0.74
            c.rect((tx, ry - 22, tx + 200, ry + 22), pal.accent2, radius=22)
            with c.element("ribbon"):
                c.text((tx + 100, ry), v["ribbon"], (sans + "-bold", 22), ink_on(pal.accent2), anchor="mm")
        notes(c, lines, (30, h * 0.86, w - 30, h - 8), sans, pal.muted, 13)

    def vals(i: int) -> dict[str, object]:
        t = _tier(cuts, (edit.old, edit.new)[i]["value"])
        return {"copy": copy[t], "ribbon": ribbon[t]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"copy": "Board at pier four, rain or shine", "ribbon": "book online"},
        target_region=["price on the banner, {where}", "bold amount under the headline", "amount in dollars, {where}"],
        nodes=[
            node("copy", PROMO, "copy under the price, {where}|banner text “{b_copy}”|running text of the banner",
                 "a sentence of normal weight, {where}|text line in the column of words|a sentence below others, {where}",
                 "write “{a_copy}” instead|let the copy say “{a_copy}”|“{b_copy}” → “{a_copy}”",
                 "for {new} one cannot write “{b_copy}”|“{b_copy}” made sense at {old}|visitors would find “{b_copy}” odd next to {new}",
                 "the pitch talks about another level of expense|whether it is presented as cheap or grand hangs on what it costs|persuasion and cost no longer fit each other"),
            node("ribbon", PROMO, "pill with “{b_ribbon}”|coloured pill, {where}|badge beside the copy, {where}",
                 "rounded coloured shape, {where}|pill-shaped field|words in an oblong field",
                 "badge it “{a_ribbon}”|the pill reads “{a_ribbon}”|“{b_ribbon}” gets replaced, “{a_ribbon}” fits",
                 "“{b_ribbon}” is not what {new} is|the badge classes {old} as “{b_ribbon}”|{new} belongs to “{a_ribbon}”",
                 "a badge classes the offer by its former cost|the verdict on the cost comes out otherwise|a judgement was passed on the former amount"),
        ],
        edges=[edge("copy", "ribbon", "same message", "copy and badge judge the price alike|both sell it as one thing|cheap in one, cheap in the other")],
    )


@template("semantic_offer_range", nodes=(PROMO, PROMO), edits=("number",))
def choice_of(ctx: Ctx) -> Design:
    """A stall front that counts its sorts, with a claim on the choice."""
    def ok(a: Item, b: Item) -> bool:
        return (a["value"] >= 40) != (b["value"] >= 40)

    edit, pal, size = ctx.edit(ok), ctx.palette(), ctx.size()
    w, h = size
    head, hand = ctx.face("display"), ctx.face("hand")
    lines, seed = ctx.copy(ctx.distractors), ctx.seed()
    what, art = ctx.rng.choice([("flavours", "icecream"), ("cheeses", "cheese"), ("teas", "cup"), ("loaves", "bread"), ("wines", "bottle")])
    claim = ("Few, but chosen with love", "The widest choice in the county")
    tag = ("small and fine", "whatever you fancy")
    stripe = (pal.accent, (250, 248, 242))
    k = round(min(w, h) * (0.22 if ctx.salient else 0.17))
    img = glyph(art, k)
    n_goods = ctx.rng.choice([3, 4, 5])

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), (190, 214, 226), seed, 1.5)
        paper(c, (0, h * 0.84, w, h), (150, 146, 140), seed, 5)
        c.rect((50, 90, w - 50, h * 0.86), pal.bg)
        step = (w - 40) / 12
        for j in range(12):
            c.rect((20 + j * step, 40, 20 + (j + 1) * step, 106), stripe[j % 2])
            c.pie((20 + j * step, 106 - step / 2, 20 + (j + 1) * step, 106 + step / 2), 0, 180, stripe[j % 2])
        y = h * 0.34
        with c.element("target"):
            c.text((w / 2 - 10, y), v["target"], (head, 92), pal.accent, anchor="rm")
        c.text((w / 2 + 8, y + 8), what, (head, 46), pal.ink, anchor="lm")
        sy = h * 0.47 if not ctx.far else h * 0.68
        gy = h * 0.64 if not ctx.far else h * 0.52
        with c.element("claim"):
            c.text((w / 2, sy), v["claim"], (hand, fit([*claim, "Also on market days"], hand, w - 140, 32 if ctx.salient else 23)), pal.ink, anchor="mm")
        for j in range(n_goods):
            c.paste(img, (w * (j + 0.5) / n_goods * 0.8 + w * 0.1 - k / 2, gy - k / 2))
        planks(c, (50, h * 0.76, w - 50, h * 0.88), (140, 98, 64), seed, 2)
        if ctx.n > 1:
            with c.element("tag"):
                c.text((w / 2, h * 0.82), v["tag"], (hand, 28), (252, 244, 226), anchor="mm")
        notes(c, lines, (30, h * 0.9, w - 30, h - 6), hand, (30, 30, 34), 14)

    def vals(i: int) -> dict[str, object]:
        t = (edit.old, edit.new)[i]["value"] >= 40
        return {"claim": claim[t], "tag": tag[t]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"claim": "Also on market days", "tag": "please ring"},
        target_region=[f"count before “{what}”", "large count under the awning", "number on the stall, {where}"],
        nodes=[
            node("claim", PROMO, "claim on the stall, {where}|handwritten “{b_claim}”|boast about the choice, {where}",
                 "handwriting on the stall, {where}|a written sentence, {where}|long handwritten line",
                 "claim “{a_claim}”|better: “{a_claim}”|“{b_claim}” is painted over with “{a_claim}”",
                 f"{{new}} {what} do not warrant “{{b_claim}}”|“{{b_claim}}” was true with {{old}}|the boast rests on how many {what} there are",
                 "the boast rests on a plenty or scarcity that is gone|how large the assortment is decides what may be boasted|self-praise and assortment diverge"),
            node("tag", PROMO, "words on the counter, {where}|“{b_tag}” on the boards|painted words in front",
                 "light words on the boards|words across the counter|painted lettering, {where}",
                 "paint “{a_tag}” there|the counter wants “{a_tag}”|“{b_tag}” has to become “{a_tag}”",
                 "“{b_tag}” and {new} do not go together|with {new} to choose from one says “{a_tag}”|it was painted when there were {old}",
                 "the motto matches an assortment of another size|the attitude advertised came from the former amount|a motto and the facts must be of one mind"),
        ],
        edges=[edge("claim", "tag", "same message", "motto and claim paint one picture of the stall|both are about how much there is|one says big, the other must not say small")],
    )
