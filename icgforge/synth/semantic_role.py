"""Functional templates: headings, buttons, rooms and steps that other parts refer to by name."""

from __future__ import annotations

from icgforge.synth.base import Ctx, Design, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.parts import edge, fit, ink_on, node, notes, paper, shade
from icgforge.synth.scenery import mix
from icgforge.synth.words import LABELS

# One call, one stroke, one row a line.
# fmt: off

FUN = "semantic_functional"


def _others(ctx: Ctx, k: int, *texts: str) -> list[str]:
    return ctx.rng.sample([x for x in LABELS if x not in texts and len(x) < 15], k)


@template("semantic_role_contents", nodes=(FUN, FUN), edits=("label", "dish", "place"), max_distractors=4)
def contents(ctx: Ctx) -> Design:
    """An open brochure: a heading on the right page, contents and a cross-reference on the left."""
    edit, pal, size = ctx.edit(), ctx.palette(dark=False), ctx.size("wide")
    w, h = size
    head, serif = ctx.face("display"), ctx.face("serif")
    seed, lines = ctx.seed(), ctx.copy(min(4, ctx.distractors))
    names = _others(ctx, 3, edit.old.text, edit.new.text)
    at, page = ctx.rng.randrange(4), ctx.rng.randrange(4, 8)
    fs = fit([edit.old.text, edit.new.text], head, w * 0.36, 36)
    es = fit([edit.old.text, edit.new.text], serif, w * 0.27, 21 if ctx.salient else 17)
    ref = [f"For maps see “{i.text}”." for i in (edit.old, edit.new)]
    rs = fit([*ref, "For maps ask at the information desk."], serif, w * 0.37, 19)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), mix(pal.accent2, (60, 60, 60), 0.4), seed, 5)
        shade(c, (34, 40, w - 34, h - 40), 2, 8, 120)
        c.rect((34, 40, w - 34, h - 40), (252, 250, 244))
        for k in range(14):
            c.rect((w / 2 - 14 + k, 40, w / 2 - 13 + k, h - 40), mix((252, 250, 244), (190, 184, 174), k / 14))
        c.text((64, 66), "Contents", (head, 30), pal.accent)
        rows = [*names[:at], None, *names[at:]]
        for k, name in enumerate(rows):
            y = 140 + 42 * k
            if name is None:
                with c.element("entry"):
                    c.text((64, y), v["entry"], (serif, es), pal.ink, anchor="lm")
            else:
                c.text((64, y), name, (serif, 19), pal.ink, anchor="lm")
            c.text((w / 2 - 46, y), str(page + 9 * k), (serif, 19), pal.muted, anchor="rm")
        ry = h - 110 if ctx.far else 330
        if ctx.n > 1:
            with c.element("ref"):
                c.text((64, ry), v["ref"], (serif, rs), pal.accent2, anchor="lm")
        notes(c, lines, (60, ry + 20, w / 2 - 30, h - 50), serif, pal.muted, 13)
        x, y = w / 2 + 34, 90
        with c.element("target"):
            c.text((x, y), v["target"], (head, fs), pal.accent, anchor="lm")
        c.text((w - 60, h - 62), str(page + 9 * at), (serif, 18), pal.muted, anchor="rm")
        rng_rows = (h - 240) // 24
        for k in range(rng_rows):
            if k % 6 != 5:
                c.rect((x, y + 50 + 24 * k, w - 62 - 60 * (k % 6 == 4) - (k * 37 + seed) % 22, y + 58 + 24 * k), (206, 202, 196), radius=3)

    return Design(
        size, draw, edit, before={"entry": edit.old.text, "ref": ref[0]}, after={"entry": edit.new.text, "ref": ref[1]},
        twin={"entry": "Index", "ref": "For maps ask at the information desk."},
        target_region=["heading of the right page", "title above the text, {where}", "large heading, {where}"],
        nodes=[
            node("entry", FUN, "line of the contents that points to that page|entry for page " + str(page + 9 * at) + "|one entry of the list, {where}",
                 "one line in a list with numbers|a row of the list, {where}|list row, {where}",
                 "its wording has to be “{new}” as well|rename this entry to “{new}”|enter “{new}” before the page number",
                 "it leads readers to the page that is now headed “{new}”|a contents list gives headings as they stand|“{old}” can no longer be looked up",
                 "a directory line points to the edited element by its wording|navigation relies on the wording being identical|the pointer would lead to nothing of that name"),
            node("ref", FUN, "cross-reference under the contents|sentence beginning “For maps”|coloured sentence, {where}",
                 "a coloured sentence, {where}|sentence on the left|a full sentence, {where}",
                 "refer to “{new}”|it must send readers to “{new}”|put “{new}” between its quotation marks",
                 "it sends the reader to a part called “{old}”, which is gone|the part meant bears the title “{new}” now|readers would search in vain for “{old}”",
                 "a sentence sends readers to the edited element by name|following the pointer must stay possible|a mention serves as a pointer"),
        ],
        edges=[edge("entry", "ref", "same reference", "entry and sentence lead to one part|both must use one title|who follows either ends on one page")],
    )


@template("semantic_role_dialog", nodes=(FUN, FUN), edits=("label", "word"))
def dialog(ctx: Ctx) -> Design:
    """A program window: a menu button, a hint that names it, the path line."""
    edit, pal, size = ctx.edit(), ctx.palette(), ctx.size("wide")
    w, h = size
    sans, lines = ctx.face("sans"), ctx.copy(ctx.distractors)
    names = _others(ctx, 4, edit.old.text, edit.new.text)
    at = ctx.rng.randrange(5)
    fs = fit([edit.old.text, edit.new.text], sans, 150, 19)
    hint = [f"Press {i.text} to go on" for i in (edit.old, edit.new)]
    path = [f"Home > {i.text}" for i in (edit.old, edit.new)]
    hs = fit([*hint], sans, w * 0.5, 26 if ctx.salient else 19)
    dots = ctx.chance(0.5)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), mix(pal.accent2, (200, 210, 220), 0.6))
        shade(c, (40, 36, w - 40, h - 36), 12, 8, 120)
        c.rect((40, 36, w - 40, h - 36), pal.bg, radius=12)
        c.rect((40, 36, w - 40, 84), pal.panel, radius=12)
        for k in range(3):
            x = 64 + 24 * k if dots else w - 64 - 24 * k
            c.ellipse((x - 7, 53, x + 7, 67), (pal.accent, pal.accent2, pal.muted)[k])
        rows = [*names[:at], None, *names[at:]]
        for k, name in enumerate(rows):
            y = 124 + 58 * k
            c.rect((60, y - 22, 240, y + 22), pal.accent if name is None else pal.panel, radius=8)
            if name is None:
                with c.element("target"):
                    c.text((76, y), v["target"], (sans, fs), ink_on(pal.accent), anchor="lm")
            else:
                c.text((76, y), name, (sans, 18), pal.ink, anchor="lm")
        mx = (270 + w - 60) / 2
        hy = h - 110 if ctx.far else 180
        if ctx.n > 1:
            with c.element("path"):
                c.text((280, 112), v["path"], (sans, 17), pal.muted, anchor="lm")
        py = 200 if ctx.far else 240
        c.rect((280, py - 60 if ctx.far else py, w - 64, py + (h - 400 if ctx.far else h - 340)), pal.panel, radius=10)
        for k in range(4):
            ph = 20 + (k * 41 + fs * 7) % 60
            bx = 300 + k * (w - 400) / 4
            by = py + (h - 400 if ctx.far else h - 340) - 14
            c.rect((bx, by - ph, bx + 40, by), mix(pal.accent, pal.panel, 0.2 * k))
        with c.element("hint"):
            c.text((mx, hy), v["hint"], (sans, hs), pal.ink, anchor="mm")
        notes(c, lines, (270, h - 96, w - 60, h - 42), sans, pal.muted, 13)

    return Design(
        size, draw, edit, before={"hint": hint[0], "path": path[0]}, after={"hint": hint[1], "path": path[1]},
        twin={"hint": "Your files are up to date", "path": "Home > Inbox"},
        target_region=["highlighted button at the left", "active entry of the menu, {where}", "coloured button, {where}"],
        nodes=[
            node("hint", FUN, "hint in the window, {where}|sentence beginning “Press”|instruction for the user, {where}",
                 "sentence in the main area, {where}|text right of the buttons, {where}|wording in the wide part of the window",
                 "tell users to press {new}|it has to say “{a_hint}”|reword: “{a_hint}”",
                 "users would look for a button {old} that is no longer there|the button it speaks of is labelled {new}|a hint works only if the button bears that label",
                 "an instruction tells which control to use by its label|users could not find the control that is spoken of|control and manual must match"),
            node("path", FUN, "path line of the window|last part of “{b_path}”|trail above the panel",
                 "faint line under the title bar|grey line at the top|a line containing an arrow",
                 "its last step is named {new}|show “{a_path}”|end the trail with {new}",
                 "it repeats which menu entry is open, and that is {new}|the open page took its name from the button|the trail ends with the label of the active entry",
                 "a position indicator shows the label of the active item|where one is, is said in the words of the control|the location is spelled with the control's label"),
        ],
        edges=[edge("hint", "path", "same label", "hint and trail name one button|both quote a single control|one label serves both")],
    )


@template("semantic_role_floor", nodes=(FUN, FUN), edits=("label", "word", "animal"))
def floor(ctx: Ctx) -> Design:
    """A floor plan: room names, key, direction board."""
    edit, pal, size = ctx.edit(), ctx.palette(dark=False), ctx.size("wide")
    w, h = size
    sans, lines = ctx.face("sans"), ctx.copy(ctx.distractors)
    names = _others(ctx, 3, edit.old.text, edit.new.text)
    at, turn = ctx.rng.randrange(4), ctx.chance(0.5)
    x0, y0, x1, y1 = 60, 96, w * 0.62, h - 90
    cells = [(x0, y0, (x0 + x1) / 2 - 20, y0 + (y1 - y0) * 0.42), ((x0 + x1) / 2 + 20, y0, x1, y0 + (y1 - y0) * 0.55),
             (x0, y0 + (y1 - y0) * 0.56, (x0 + x1) / 2 - 20, y1), ((x0 + x1) / 2 + 20, y0 + (y1 - y0) * 0.7, x1, y1)]
    ax, _, bx, _ = cells[at]
    fs = fit([edit.old.text, edit.new.text], sans + "-bold", bx - ax - 24, 24)
    ks = fit([edit.old.text, edit.new.text], sans, w * 0.22, 20)
    floor_name = ctx.rng.choice(["Level 2", "Ground floor", "East wing", "Pavilion B"])

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), pal.bg)
        c.text((60, 54), f"You are here: {floor_name}", (sans + "-bold", 28), pal.ink, anchor="lm")
        c.rect((x0 - 10, y0 - 10, x1 + 10, y1 + 10), mix(pal.panel, pal.bg, 0.4), outline=pal.ink, width=5)
        rooms = [*names[:at], None, *names[at:]]
        for k, name in enumerate(rooms):
            a, b, p, q = cells[k]
            c.rect((a, b, p, q), pal.panel, outline=pal.ink, width=3)
            c.rect(((a + p) / 2 - 18, q - 4 if k < 2 else b - 1, (a + p) / 2 + 18, q + 2 if k < 2 else b + 5), pal.bg)
            my = (b + q) / 2
            c.ellipse(((a + p) / 2 - 15, my - 42, (a + p) / 2 + 15, my - 12), pal.accent)
            c.text(((a + p) / 2, my - 27), str(k + 1), (sans + "-bold", 18), ink_on(pal.accent), anchor="mm")
            if name is None:
                with c.element("target"):
                    c.text(((a + p) / 2, my + 10), v["target"], (sans + "-bold", fs), pal.ink, anchor="mm")
            else:
                c.text(((a + p) / 2, my + 10), name, (sans, 18), pal.ink, anchor="mm")
        kx = w * 0.67
        c.text((kx, 106), "Key", (sans + "-bold", 22), pal.accent, anchor="lm")
        for k, name in enumerate(rooms):
            y = 146 + 38 * k
            c.text((kx, y), str(k + 1), (sans + "-bold", 19), pal.accent, anchor="lm")
            if name is None:
                with c.element("key"):
                    c.text((kx + 30, y), v["key"], (sans, ks), pal.ink, anchor="lm")
            else:
                c.text((kx + 30, y), name, (sans, 18), pal.ink, anchor="lm")
        by = h * (0.72 if ctx.far else 0.62)
        if ctx.n > 1:
            c.rect((kx - 6, by - 30, w - 36, by + 34), pal.accent, radius=8)
            mid, s = by + 2, 1 if turn else -1
            px = w - 66 if turn else kx + 22
            c.line([(px - 14 * s, mid), (px + 14 * s, mid)], ink_on(pal.accent), 4)
            c.line([(px + 4 * s, mid - 10), (px + 14 * s, mid), (px + 4 * s, mid + 10)], ink_on(pal.accent), 4)
            with c.element("board"):
                c.text((kx + 10 if turn else kx + 50, mid), v["board"], (sans, ks), ink_on(pal.accent), anchor="lm")
        notes(c, lines, (40, h - 72, w - 40, h - 6), sans, pal.muted, 13)

    return Design(
        size, draw, edit, before={"key": edit.old.text, "board": edit.old.text}, after={"key": edit.new.text, "board": edit.new.text},
        twin={"key": "closed", "board": "All rooms"},
        target_region=["name of a room in the plan, {where}", f"room {at + 1} of the floor plan", "bold room name, {where}"],
        nodes=[
            node("key", FUN, f"entry {at + 1} of the key|the key's line for that room, {{where}}|name after number {at + 1}",
                 "numbered line of the list, {where}|one line right of the plan|list item, {where}",
                 f"number {at + 1} has to be explained as {{new}}|put {{new}} behind the {at + 1}|let the key say {{new}}",
                 f"number {at + 1} marks the room that is called {{new}} now|the key explains what the plan shows|with {{old}} the key names a room the plan lacks",
                 "an explanatory list decodes a sign of the plan|sign and explanation must denote one space|the explanation still uses the former term"),
            node("board", FUN, "direction board with an arrow, {where}|wording beside the arrow|guide to the room, {where}",
                 "text on the coloured strip, {where}|lettering beside an arrow|strip in a strong colour, {where}",
                 "direct people to {new}|it should lead to {new}|letter it {new}",
                 "people following {old} would find no such room|the arrow leads to the room now named {new}|guidance and door must bear one name",
                 "a pointer guides people by the former term|wayfinding breaks if the destination is called otherwise|who follows it must recognise the goal"),
        ],
        edges=[edge("key", "board", "same name", "key and board guide to one room|both bear the room's name|whoever reads one must recognise the other")],
    )


@template("semantic_role_steps", nodes=(FUN, FUN), edits=("label", "word"))
def steps(ctx: Ctx) -> Design:
    """A flow of steps with a way back and a note on who is in charge."""
    edit, pal, size = ctx.edit(), ctx.palette(), ctx.size()
    w, h = size
    sans, lines = ctx.face("sans"), ctx.copy(ctx.distractors)
    names = _others(ctx, 3, edit.old.text, edit.new.text)
    at, col = ctx.rng.randrange(2), ctx.rng.choice([0.34, 0.62])
    bw, bh = w * 0.4, (h - 210) / 5.6
    fs = fit([edit.old.text, edit.new.text], sans + "-bold", bw - 30, 25)
    back = [f"if not ok: back to {i.text}" for i in (edit.old, edit.new)]
    duty = [f"Jo Lund looks after {i.text}" for i in (edit.old, edit.new)]
    room = (1 - col if col < 0.5 else col) * w - bw / 2 - 60
    bs = fit(back, sans, room, 20 if ctx.salient else 15, 9)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), pal.bg)
        c.text((w / 2, 50), "How we work", (sans + "-bold", 32), pal.accent, anchor="mm")
        cx = w * col
        rows = [*names[:at], None, *names[at:]]
        for k, name in enumerate(rows):
            y = 96 + k * bh * 1.36
            c.rect((cx - bw / 2, y, cx + bw / 2, y + bh), pal.panel, radius=12, outline=pal.accent2, width=3)
            if name is None:
                with c.element("target"):
                    c.text((cx, y + bh / 2), v["target"], (sans + "-bold", fs), pal.ink, anchor="mm")
            else:
                c.text((cx, y + bh / 2), name, (sans, 21), pal.ink, anchor="mm")
            if k < 3:
                c.line([(cx, y + bh + 3), (cx, y + bh * 1.36 - 4)], pal.accent2, 4)
                c.polygon([(cx - 8, y + bh * 1.36 - 10), (cx + 8, y + bh * 1.36 - 10), (cx, y + bh * 1.36)], pal.accent2)
        s = 1 if col < 0.5 else -1
        edge_x = cx + s * bw / 2
        ya, yb = 96 + at * bh * 1.36 + bh / 2, 96 + 3 * bh * 1.36 + bh / 2
        c.line([(edge_x, yb), (edge_x + 26 * s, yb), (edge_x + 26 * s, ya), (edge_x + 6 * s, ya)], pal.accent, 3)
        c.polygon([(edge_x + 16 * s, ya - 8), (edge_x + 16 * s, ya + 8), (edge_x + 3 * s, ya)], pal.accent)
        with c.element("back"):
            c.text((edge_x + 38 * s, (ya + yb) / 2 if not ctx.far else yb), v["back"], (sans, bs), pal.accent, anchor="lm" if s > 0 else "rm")
        if ctx.n > 1:
            with c.element("duty"):
                c.text((w / 2, h - 74), v["duty"], (sans, 19), pal.ink, anchor="mm")
        notes(c, lines, (40, h - 58, w - 40, h - 6), sans, pal.muted, 13)

    return Design(
        size, draw, edit, before={"back": back[0], "duty": duty[0]}, after={"back": back[1], "duty": duty[1]},
        twin={"back": "if not ok: call us", "duty": "Jo Lund looks after the plants"},
        target_region=["name of one step, {where}", "bold text in a box of the flow", "step in the {where}"],
        nodes=[
            node("back", FUN, "label of the way back, {where}|words at the returning arrow|“back to” remark beside the boxes",
                 "words next to a bent line|coloured remark, {where}|remark outside the boxes, {where}",
                 "send the work back to {new}|the remark needs {new} for {old}|“{b_back}” reads “{a_back}” then",
                 "the arrow ends at the step that is called {new}|no step {old} is left to return to|arrow and remark mean one step",
                 "a return path states its goal by name|the goal of a jump was renamed|a link between stages uses the former name"),
            node("duty", FUN, "line on who is in charge, {where}|sentence about Jo Lund|responsibility at the foot of the chart",
                 "sentence under the boxes|a line near the lower edge, {where}|text across the foot",
                 "Jo Lund is in charge of {new}|say whom {new} belongs to|“{b_duty}” turns into “{a_duty}”",
                 "the duty concerns a step that now goes by {new}|nobody can be in charge of a step {old} that does not exist|duties are assigned by names of steps",
                 "an assignment is made by the name of a stage|a duty hangs on a stage that was renamed|roles are tied to stages through their names"),
        ],
        edges=[edge("back", "duty", "same step", "remark and duty concern one step|both depend on what that step is called|one step, one name")],
    )
