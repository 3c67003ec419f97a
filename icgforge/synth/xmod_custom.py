"""Cultural templates: tone of invitations, letters and chats, conventions of a country."""

from __future__ import annotations

from icgforge.synth.base import Ctx, Design, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.icons import glyph
from icgforge.synth.parts import bunting, edge, fit, ink_on, node, notes, paper, planks, shade
from icgforge.synth.scenery import mix
from icgforge.synth.words import Item

# One call, one stroke, one row a line.
# fmt: off

CULT, SCENE = "xmod_cultural", "xmod_scene"


def _tone(a: Item, b: Item) -> bool:
    """Accept a formal and a casual line in either order."""
    return {a["register"], b["register"]} == {"formal", "casual"}


DRESS = {"formal": "Black tie and evening dress", "casual": "Come as you are, socks optional"}
REPLY = {"formal": "The favour of a reply is requested", "casual": "Ping us if you can make it"}
CLOSE = {"formal": "Yours faithfully", "casual": "Laters, big hug"}
EMBLEM = {"formal": ("crest", "coat of arms"), "casual": ("smiley", "grinning face")}
TONE = {"formal": "solemn", "casual": "chummy"}


@template("xmod_cult_invitation", nodes=(CULT, CULT, CULT), edits=("phrase",))
def invitation(ctx: Ctx) -> Design:
    """An invitation card: opening line, emblem, dress line, reply line."""
    edit, size = ctx.edit(_tone), ctx.size()
    w, h = size
    serif, sans = ctx.face(ctx.rng.choice(["serif", "script", "display"])), ctx.face("serif")
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    fs = fit([edit.old.text, edit.new.text], serif, w - 170, 46)
    k = round(min(w, h) * (0.2 if ctx.salient else 0.14))
    host = ctx.rng.choice(["The Harbour Society", "House Aldermere", "The Orchard Trust", "Friends of the Pier"])
    ground = ctx.rng.choice([(112, 40, 46), (38, 60, 86), (60, 84, 66), (96, 84, 110)])

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), ground, seed, 5)
        shade(c, (44, 40, w - 44, h - 40), 2, 8, 90)
        paper(c, (44, 40, w - 44, h - 40), (251, 247, 236), seed + 1, 1.2)
        c.rect((58, 54, w - 58, h - 54), None, outline=(186, 150, 84), width=2)
        top = h - 54 - k - 22 if ctx.far else 70
        with c.element("emblem"):
            c.paste(glyph("flower" if twin else v["emblem"], k), (w / 2 - k / 2, top))
        y = h * 0.2 if ctx.far else 70 + k + 46
        with c.element("target"):
            c.text((w / 2, y), v["target"], (serif, fs), (52, 44, 48), anchor="mm")
        c.text((w / 2, y + 54), f"{host}, annual evening", (sans, 22), (90, 80, 80), anchor="mm")
        ys = h * 0.46 if ctx.far else y + (h - y) * 0.4
        if ctx.n > 1:
            with c.element("dress"):
                c.text((w / 2, ys), v["dress"], (sans, 24 if ctx.salient else 18), (120, 70, 60), anchor="mm")
        if ctx.n > 2:
            with c.element("reply"):
                c.text((w / 2, ys + 40), v["reply"], (sans, 18), (90, 80, 80), anchor="mm")
        notes(c, lines, (70, ys + 52, w - 70, (top if ctx.far else h) - 60), sans, (150, 140, 132), 12)

    def vals(i: int) -> dict[str, object]:
        r = (edit.old, edit.new)[i]["register"]
        return {"emblem": EMBLEM[r][0], "sign": EMBLEM[r][1], "dress": DRESS[r], "reply": REPLY[r], "tone": TONE[r]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"dress": "Second floor, blue room", "reply": "Trams 4 and 7 stop here"},
        target_region=["opening line of the card, {where}", "main sentence of the invitation", "large sentence, {where}"],
        nodes=[
            node("emblem", CULT, "emblem on the card, {where}|the {b_sign} on the invitation|drawn {b_sign}, {where}",
                 "the drawing on the middle axis|small coloured drawing, {where}|the one ornament of the card",
                 "a {a_sign} would go with it, the {b_sign} does not|put a {a_sign} there|trade the {b_sign} for a {a_sign}",
                 "a {b_sign} is {b_tone} while “{new}” is {a_tone}|people who write “{new}” do not use a {b_sign}|it sets a {b_tone} tone that the opening gave up",
                 "an ornament of one social register stands next to words of another|degree of formality of sign and words drift apart|the ornament belongs to circles that would not speak so"),
            node("dress", CULT, "what to wear, {where}|line “{b_dress}”|dress line of the invitation",
                 "a line in a warmer colour, {where}|reddish line on the card|text under the middle, {where}",
                 "guests should read “{a_dress}”|“{b_dress}” goes, “{a_dress}” comes|ask for “{a_dress}”",
                 "“{b_dress}” was meant for a {b_tone} evening|the host who says “{new}” expects other clothes|clothes asked for have to suit a {a_tone} opening",
                 "the clothes asked for fit a different degree of formality|etiquette of the two sentences clashes|what guests should put on presumes the former manner of address"),
            node("reply", CULT, "request for an answer, {where}|line “{b_reply}”|last sentence of the invitation",
                 "lower of two short sentences|a plain sentence, {where}|grey sentence in the {where}",
                 "word it as “{a_reply}”|make it {a_tone}: “{a_reply}”|“{b_reply}” is reworded to “{a_reply}”",
                 "one host does not sound {a_tone} first and {b_tone} after|“{b_reply}” clings to the {b_tone} manner|manners of “{new}” ask for “{a_reply}”",
                 "politeness level shifts between two sentences of one speaker|the same voice would be heard in two manners|the closing request keeps the former level of courtesy"),
        ],
        edges=[edge("emblem", "dress", "same register", "ornament and clothes belong to one social occasion|both mark how grand the evening is|emblem and dress set one tone"),
               edge("dress", "reply", "same register", "both sentences address the guest in one manner|the host's voice is one|tone must not break between them")],
    )


@template("xmod_cult_letter", nodes=(CULT, CULT), edits=("phrase",))
def letter(ctx: Ctx) -> Design:
    """A letter sheet: first line, closing, wax seal or sticker."""
    edit, size = ctx.edit(_tone), ctx.size("tall")
    w, h = size
    face, seed, lines = ctx.rng.choice(["typewriter", "bookish", "comic", "office"]), ctx.seed(), ctx.copy(ctx.distractors)
    signer = ctx.rng.choice(["A. Moreno", "T. Brandt", "Noor H.", "E. Featherstone"])
    fs = fit([edit.old.text, edit.new.text], face, w - 200, 30)
    right = ctx.chance(0.5)
    k = round(w * (0.2 if ctx.salient else 0.14))
    blind = [[ctx.rng.uniform(0.72, 0.98) for _ in range(3)] for _ in range(3)]

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        planks(c, (0, 0, w, h), (92, 72, 58), seed, 9)
        shade(c, (50, 36, w - 50, h - 36), 0, 8, 120)
        paper(c, (50, 36, w - 50, h - 36), (250, 247, 238), seed, 1.5)
        notes(c, lines[:3], (60, 48, w - 60, 92), face, (140, 134, 128), 12)
        with c.element("target"):
            c.text((86, 150), v["target"], (face, fs), (40, 40, 56), anchor="lm")
        y = 196
        for block in blind:
            for f in block:
                c.rect((86, y, 86 + (w - 172) * f, y + 7), (204, 200, 194), radius=3)
                y += 22
            y += 16
        cy = h * (0.77 if ctx.far else 0.68)
        with c.element("close"):
            c.text((w - 90 if right else 86, cy), v["close"], (face, 28 if ctx.salient else 21), (40, 40, 56), anchor="rm" if right else "lm")
        c.text((w - 90 if right else 86, cy + 46), signer, ("lively", 30), (40, 60, 120), anchor="rm" if right else "lm")
        x = 90 if right else w - 90 - k
        if ctx.n > 1:
            with c.element("token"):
                c.paste(glyph("cup" if twin else v["token"], k), (x, cy - k / 2 + 20))
        notes(c, lines[3:], (60, h - 84, w - 60, h - 44), face, (140, 134, 128), 12)

    def vals(i: int) -> dict[str, object]:
        r = (edit.old, edit.new)[i]["register"]
        return {"close": CLOSE[r], "token": {"formal": "seal", "casual": "balloons"}[r], "thing": {"formal": "wax seal", "casual": "balloon sticker"}[r], "tone": TONE[r]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"close": "Page one of two"},
        target_region=["first line of the letter", "opening words, {where}", "words above the paragraphs"],
        nodes=[
            node("close", CULT, "closing formula above the signature|“{b_close}” at the end of the letter|words before the name, {where}",
                 "words over the blue handwriting|short line near the end of the sheet|text next to a signature, {where}",
                 "sign off with “{a_close}”|end on “{a_close}” rather than “{b_close}”|the formula must be “{a_close}”",
                 "who begins “{new}” does not end “{b_close}”|“{b_close}” is the {b_tone} way, the start is {a_tone} now|beginning and end of a letter keep one manner",
                 "first and last words of one writer differ in courtesy|conventions of correspondence pair certain openings with certain endings|the farewell is of the former style"),
            node("token", CULT, "{b_thing} beside the signature|the {b_thing}, {where}|what is stuck to the sheet, {where}",
                 "coloured thing at the bottom edge, {where}|small object on the sheet, {where}|item across from the signature",
                 "use a {a_thing}|a {a_thing} replaces the {b_thing}|take off the {b_thing} and put on a {a_thing}",
                 "a {b_thing} makes the sheet {b_tone}|with “{new}” one expects a {a_thing}|nobody adds a {b_thing} to a {a_tone} letter",
                 "what is attached conveys ceremony or play, contrary to the words|an attachment carries the former mood|the look of the sheet implies another relation between the writers"),
        ],
        edges=[edge("close", "token", "same register", "farewell and attachment are of one style|both end the letter in one mood|seal and formula go together by custom")],
    )


@template("xmod_cult_chat", nodes=(CULT, CULT), edits=("phrase",), max_distractors=4)
def chat(ctx: Ctx) -> Design:
    """A phone screen: a message, its answer, the sender's picture."""
    edit, pal, size = ctx.edit(_tone), ctx.palette(), ctx.size("tall")
    w, h = size
    sans, lines = ctx.face("sans"), ctx.copy(min(4, ctx.distractors))
    who = ctx.rng.choice(["Concert hall", "Garden club", "Town museum", "Rowing team"])
    answer = {"formal": "I shall be honoured to attend.", "casual": "haha yesss count me in"}
    fs = fit([edit.old.text, edit.new.text], sans, w * 0.56, 25)
    below = ctx.far

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), mix(pal.panel, (70, 74, 84), 0.4))
        c.rect((60, 24, w - 60, h - 24), (26, 26, 30), radius=40)
        c.rect((72, 36, w - 72, h - 36), pal.bg, radius=32)
        c.rect((72, 60, w - 72, 130), pal.accent)
        c.rect((72, 36, w - 72, 70), pal.accent, radius=30)
        c.text((150, 94), who, (sans + "-bold", 26), ink_on(pal.accent), anchor="lm")
        c.ellipse((92, 70, 136, 114), pal.bg)
        if ctx.n > 1:
            with c.element("avatar"):
                c.paste(glyph("ring" if twin else v["avatar"], 34), (97, 75))
        else:
            c.ellipse((104, 82, 124, 102), pal.muted)
        y = 176
        for line in lines[:2]:
            c.rect((92, y - 17, 112 + c.text_size(line, (sans, 16))[0], y + 19), pal.panel, radius=14)
            c.text((102, y), line, (sans, 16), pal.muted, anchor="lm")
            y += 50
        c.rect((92, y, 92 + w * 0.62, y + 72), pal.panel, radius=18)
        with c.element("target"):
            c.text((108, y + 36), v["target"], (sans, fs), pal.ink, anchor="lm")
        y = h - 190 if below else y + 110
        b0 = w - 92 - w * 0.6
        c.rect((b0, y, w - 92, y + 66), pal.accent2, radius=18)
        with c.element("answer"):
            c.text((b0 + 16, y + 33), v["answer"], (sans, 20 if ctx.salient else 17), ink_on(pal.accent2), anchor="lm")
        for k, line in enumerate(lines[2:]):
            c.text((w / 2, (y - 70 if below else y + 110) + 24 * k), line, (sans, 14), pal.muted, anchor="mm")
        c.rect((92, h - 94, w - 92, h - 56), pal.panel, radius=18)

    def vals(i: int) -> dict[str, object]:
        r = (edit.old, edit.new)[i]["register"]
        return {"answer": answer[r], "avatar": EMBLEM[r][0], "sign": EMBLEM[r][1], "tone": TONE[r]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"answer": "Photo received at noon"},
        target_region=["message in the left bubble", "incoming message, {where}", "text of the bubble at the {where}"],
        nodes=[
            node("answer", CULT, "answer in the coloured bubble, {where}|reply “{b_answer}”|outgoing message, {where}",
                 "text in a coloured bubble|the bubble at the right edge|right-hand message, {where}",
                 "it would be answered “{a_answer}”|set the reply to “{a_answer}”|“{b_answer}” becomes “{a_answer}”",
                 "to “{new}” people reply in a {a_tone} way|the reply picks up the {b_tone} tone of “{old}”|one does not answer {b_tone} to something so {a_tone}",
                 "a reply mirrors the manner of what it replies to|the dialogue would mix two levels of speech|conversation partners tune to each other's manner"),
            node("avatar", CULT, "profile picture, {where}|the {b_sign} in the round frame|picture of the sender in the bar",
                 "small round thing in the top bar|round spot, {where}|circle at the beginning of the bar",
                 "choose a {a_sign} for it|from {b_sign} to {a_sign}|a sender like that uses a {a_sign}",
                 "a sender who writes “{new}” does not appear as a {b_sign}|the {b_sign} signals a {b_tone} sender|it presents the sender in the manner of “{old}”",
                 "self-presentation and way of speaking are at odds|how the sender appears conveys another level of formality|the persona shown fits the former words"),
        ],
        edges=[edge("answer", "avatar", "same register", "both reflect how the two address each other|sender's picture and reply set one mood|the reply is as formal as the sender looks")],
    )


@template("xmod_cult_traveller", nodes=(CULT, CULT, SCENE, CULT), edits=("city",))
def traveller(ctx: Ctx) -> Design:
    """A poster of a city: greeting, currency of the fare, landmark, pennants."""
    edit, pal, size = ctx.edit(lambda a, b: a["hello"] != b["hello"] and a["currency"] != b["currency"]), ctx.palette(), ctx.size("tall")
    w, h = size
    ctx.scripts |= {"cjk" for i in (edit.old, edit.new) if i.text == "TOKYO"} | {"greek" for i in (edit.old, edit.new) if i.text == "ATHENS"}
    head, lines = ctx.face("display"), ctx.copy(ctx.distractors)
    fs = fit([edit.old.text, edit.new.text], head, w - 120, 92)
    k = round(h * (0.36 if ctx.salient else 0.28))
    base = ctx.rng.choice([40, 60, 80, 120])
    sky = ctx.rng.choice([((250, 214, 160), (236, 150, 110)), ((186, 220, 234), (236, 240, 226)), ((206, 196, 226), (250, 220, 210))])
    face = {"TOKYO": "gothic-bold", "ATHENS": "office-bold"}

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        for y in range(0, h, 4):
            c.rect((0, y, w, y + 4), mix(sky[0], sky[1], y / h))
        gy = h * 0.74
        c.rect((0, gy, w, h), mix(pal.accent, (40, 40, 50), 0.35))
        with c.element("landmark") if ctx.n > 2 else c.element("deco"):
            if ctx.n > 2 and not twin:
                c.paste(glyph(v["landmark"], k), (w / 2 - k / 2, gy - k * 0.94))
            else:
                c.paste(glyph("plane", k), (w / 2 - k / 2, gy - k * 0.98))
        if ctx.n > 3:
            with c.element("flags"):
                bunting(c, 0, w, 24, 34, [(190, 170, 90), (230, 214, 150)] if twin else v["colors"])
        with c.element("target"):
            c.text((w / 2, h * 0.22), v["target"], (head, fs), (46, 36, 44), anchor="mm")
        hy = h * (0.82 if ctx.far else 0.335)
        with c.element("hello"):
            c.text((w / 2, hy), v["hello"], (v["face"], 32 if ctx.salient else 25), (252, 248, 238) if ctx.far else (110, 52, 52), anchor="mm")
        fy = h * 0.335 if ctx.far else h * 0.82
        if ctx.n > 1:
            with c.element("fare"):
                c.text((w / 2, fy), v["fare"], ("office-bold", 26), (252, 248, 238) if not ctx.far else (110, 52, 52), anchor="mm")
        notes(c, lines, (20, h * 0.86, w - 20, h - 10), "narrow", (236, 230, 222), 14)

    def vals(i: int) -> dict[str, object]:
        a = (edit.old, edit.new)[i]
        return {"landmark": a["landmark"], "hello": f"{a['hello']}!", "face": face.get(a.text, "office-bold"), "fare": f"Day pass {a['currency']}{base // 10 * int(a['rate'])}",
                "colors": a["bunting"], "language": a["language"], "country": a["country"], "money": a["currency"]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"hello": "Travel light", "face": "office-bold", "fare": "Bags up to 20 kg"},
        target_region=["name of the city, {where}", "huge word on the poster", "city name in display letters"],
        nodes=[
            node("hello", CULT, "greeting in {b_language}, {where}|word of welcome on the poster, {where}|exclamation “{b_hello}”",
                 "an exclamation on the poster, {where}|single short word, {where}|brief wording at the {where}",
                 "welcome people with “{a_hello}”|“{b_hello}” is to be “{a_hello}”|say it in {a_language}: “{a_hello}”",
                 "the language of {new} is {a_language}|“{b_hello}” is {b_language}, spoken in {old}|in {new} one is greeted in {a_language}",
                 "locals of the new destination speak differently|the tongue used is that of the former destination|custom and language of a destination go together"),
            node("fare", CULT, "price of the pass, {where}|“{b_fare}” on the poster|amount with the {b_money} sign",
                 "line with a price, {where}|words and a figure, {where}|line of two words and an amount",
                 "quote it in {a_money}, such as “{a_fare}”|money of {a_country} is due: “{a_fare}”|change the sign {b_money} to {a_money}, and the amount with it",
                 "in {a_country} one does not pay in {b_money}|{b_money} is money of {b_country}|people in {new} pay with {a_money}",
                 "another country uses another money|the currency sign is a convention of the former country|amounts follow the usage of the place"),
            node("landmark", SCENE, "landmark in the middle of the poster|building above the ground line|the drawn {b_landmark}",
                 "the large drawing, {where}|central figure of the poster|what rises above the dark band",
                 "draw what {new} is known for: {a_landmark}|{b_landmark} off, {a_landmark} on|show the {a_landmark} of {new}",
                 "the {b_landmark} stands in {old}|nobody finds that building in {new}|{new} is recognised by another building",
                 "what is pictured stands somewhere else in the world|the structure identifies the former destination|visitors would recognise a different destination"),
            node("flags", CULT, "string of pennants across the top|pennants in the colours of {b_country}|bunting, {where}",
                 "string of small triangles|row of triangles at the top edge|hanging decoration, {where}",
                 "dye the pennants in colours of {a_country}|use the colours of {a_country}|colours of {b_country} are replaced by those of {a_country}",
                 "they carry the colours of {b_country}|{new} lies in {a_country}|national colours follow the country",
                 "those colours stand for another nation|the colour sequence is a national custom|a nation's colours hang over the wrong destination"),
        ],
        edges=[edge("hello", "fare", "same country", "language and money are those of one country|where that language is spoken one pays so|both are usage of one country"),
               edge("landmark", "hello", "same city", "the building stands where that language is spoken|greeting and building belong to one city|both identify the city"),
               edge("landmark", "flags", "same country", "the pennants show the colours of the building's country|colours and landmark are of one nation|building and flags identify one country")],
    )
