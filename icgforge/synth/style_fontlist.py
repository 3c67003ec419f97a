"""Style templates of lists in which weight marks a rank."""

from __future__ import annotations

from icgforge.synth.base import Ctx, Design, EdgeSpec, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas


@template(
    "style_font_leader",
    nodes=("style_font", "style_font", "style_color"),
    edits=("number", "price", "percent", "year"),
)
def leader(ctx: Ctx) -> Design:
    """A list in which the highest entry alone is set in bold: the edit passes the bold to another."""
    edit = ctx.edit(lambda a, b: abs(a["value"] - b["value"]) >= 4)
    pal, size = ctx.palette(), ctx.size("tall")
    family = ctx.rng.choice(["office", "slab", "narrow", "novel", "plain"])
    w, h = size
    low, high = sorted((edit.old["value"], edit.new["value"]))
    middle = ctx.rng.randint(low + 1, high - 1) if edit.kind != "percent" else (low + high) // 10 * 5
    middle = middle if low < middle < high else (low + high) // 2
    shape = {"price": "${}", "percent": "{}%"}.get(edit.kind, "{}")
    rest = [max(1, low - ctx.rng.randint(1, 6) - 2 * i) for i in range(2 + ctx.distractors // 2)]
    labels = ctx.rng.sample(
        ["Aster", "Birch", "Comet", "Drum", "Ember", "Fjord", "Gale", "Heron", "Iris", "Jet"], len(rest) + 2
    )
    rows = [
        ("target", None),
        ("rival", shape.format(middle)),
        *((f"r{i}", shape.format(x)) for i, x in enumerate(rest)),
    ]
    ctx.rng.shuffle(rows)
    where_t, where_r = (next(i for i, r in enumerate(rows) if r[0] == k) for k in ("target", "rival"))
    if ctx.far and abs(where_t - where_r) < 2:
        rows.insert(0 if where_r > where_t else len(rows), rows.pop(where_t))
    title = ctx.rng.choice(["Club table", "This week’s list", "Standings", "Round by round", "The board"])
    px, step = 28 if ctx.salient else 22, min(72, (h - 210) // len(rows))
    head = ctx.face("display")

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), pal.bg)
        c.text((48, 70), title, (head, 38), pal.ink, anchor="lm")
        c.rect((48, 104, w - 48, 107), pal.accent)
        c.text(
            (48, 128),
            "highest entry in bold" if not twin else "bold: guests of the day",
            (family, 15),
            pal.muted,
            anchor="lm",
        )
        for i, (key, value) in enumerate(rows):
            y = 176 + i * step
            bold = v["bold"] == key
            face = f"{family}-bold" if bold else family
            c.rect((48, y + step / 2 - 1, w - 48, y + step / 2), pal.panel)
            # Where only the value is a node, its label keeps one weight.
            lead = face if key in ("target", "rival") and ctx.n > 1 else family
            with c.element({"target": "target", "rival": "name"}.get(key, "row")):
                c.text((84, y), labels[i], (lead, px), pal.ink, anchor="lm")
            with c.element({"target": "target", "rival": "value"}.get(key, "row")):
                c.text((w - 60, y), value or v["target"], (face, px), pal.ink, anchor="rm")
            if ctx.n > 2 and key in ("target", "rival") and bold:
                with c.element("target" if key == "target" else "dot"):
                    c.ellipse((54, y - 8, 70, y + 8), pal.accent)
        c.text((48, h - 30), "updated by hand", (family, 13), pal.muted, anchor="lm")

    first, then = ("target", "rival") if edit.old["value"] > edit.new["value"] else ("rival", "target")
    gets = then == "rival"
    rival = labels[next(i for i, r in enumerate(rows) if r[0] == "rival")]
    verb, look_ = ("takes over the bold", "bold") if gets else ("loses the bold", "regular")
    return Design(
        size, draw, edit, before={"bold": first}, after={"bold": then}, twin={"bold": "r0"},
        target_region=["entry of the list, {where}", "figure at the end of a row, {where}", "one row of the table, {where}"],
        nodes=[
            NodeSpec(
                "value", "style_font",
                region=[f"figure {shape.format(middle)} beside {rival}", f"{rival}’s entry in the right column", f"value of the row {rival}, {{where}}"],
                clean=["a figure in another row, {where}", "the end of a row at the {where}", "one of the other entries, {where}"],
                update=[f"it {verb} weight", f"is now set in {look_} type", f"{shape.format(middle)} appears in {look_}"],
                reason=[f"only the highest entry is bold, and {shape.format(middle)} {'beats' if gets else 'is beaten by'} {{new}}",
                        f"weight marks the maximum of the list, which with {{new}} is {'this one' if gets else 'the edited one'}",
                        "the note under the title ties bold type to the top value, and the order has changed"],
                anon=["weight singles out the greatest entry, and which one that is has changed",
                      "an emphasis depends on a comparison with the edited value",
                      "a typographic rule stated in the picture picks another item now"],
            ),
            NodeSpec(
                "name", "style_font",
                region=[f"row label {rival}", f"the word {rival} on the left", f"left end of the row with {shape.format(middle)}"],
                clean=["a word at the start of a row, {where}", "left-hand text, {where}", "one of the row titles, {where}"],
                update=[f"{rival} {verb} as well", f"set the word {rival} in {look_} type", f"its weight becomes {look_}"],
                reason=["a row is set in one weight from end to end", f"label and figure of {rival} are one entry and look alike",
                        "bold reaches across the whole of the winning row"],
                anon=["parts of one entry have one weight", "the emphasis covers an entry as a whole", "it is styled like its partner in the same row"],
            ),
            NodeSpec(
                "dot", "style_color",
                region=[f"place for the coloured disc before {rival}", f"marker spot left of {rival}", "round mark in front of the row, {where}"],
                clean=["the margin in front of a row, {where}", "a small spot at the left edge", "left margin at the {where}"],
                update=[f"{'a disc in the accent colour appears' if gets else 'the disc disappears'}",
                        f"{'fill' if gets else 'clear'} the spot before {rival}", f"the accent colour {'moves here' if gets else 'leaves this row'}"],
                reason=["the accent colour marks whoever leads", "colour and weight flag the same row, the leading one",
                        "there is one coloured disc and it stands with the best entry"],
                anon=["a colour flags the leading item, and the lead has changed hands",
                      "the mark moves with the rank", "one accent exists and follows a comparison"],
            ),
        ],
        edges=[EdgeSpec("value", "name", "same weight", ["label and figure of one row change weight together", "one row, one weight"]),
               EdgeSpec("value", "dot", "one winner", ["disc and bold type flag the same row", "whoever is bold also has the disc"])],
    )  # fmt: skip
