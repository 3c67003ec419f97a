"""Reference baselines: they see what the message holds, answer in its form, and differ in ability."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

import icgkit as ig
from icgforge import baselines as offline
from icgforge.baselines import stages
from icgforge.baselines.attention import thresholds
from icgforge.baselines.numbers import amounts, relations
from icgforge.baselines.seeing import Line, look
from icgforge.baselines.task import read_edit, read_task
from icgkit.errors import UnknownName
from icgkit.prompts.conditions import build_messages, conditions
from icgkit.prompts.proposals import read_proposals
from icgkit.prompts.replies import read_json, read_labels

TEXTS = {
    (40, 30): ("Copper kettle", 44),
    (40, 110): ("List price $120", 34),
    (40, 180): ("50% OFF", 60),
    (40, 290): ("You pay $60", 34),
    (330, 290): ("HALF PRICE DEAL", 26),
    (40, 380): ("Offer 50% OFF ends Sunday", 24),
}


@pytest.fixture(scope="module")
def picture() -> bytes:
    import matplotlib

    font = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans-Bold.ttf"
    image = Image.new("RGB", (640, 440), (250, 246, 238))
    draw = ImageDraw.Draw(image)
    for place, (text, size) in TEXTS.items():
        draw.text(place, text, font=ImageFont.truetype(str(font), size), fill=(30, 34, 60))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


@pytest.fixture(scope="module", autouse=True)
def store(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("store")
    old = os.environ.get("ICGKIT_OFFLINE_STORE")
    os.environ["ICGKIT_OFFLINE_STORE"] = str(folder)
    yield folder
    if old is None:
        del os.environ["ICGKIT_OFFLINE_STORE"]
    else:
        os.environ["ICGKIT_OFFLINE_STORE"] = old


@pytest.fixture
def kettle(case: ig.Case, picture: bytes, tmp_path: Path) -> ig.Case:
    (tmp_path / "demo.png").write_bytes(picture)
    nodes = [
        n.model_copy(
            update={
                "expected_update": "“You pay $60” becomes “You pay $84”",
                "region": "price below the offer",
            }
        )
        if n.id == "n1"
        else n.model_copy(
            update={
                "region": "“HALF PRICE DEAL” beside the price",
                "region_clean": "a short line at the right",
                "reason_anon": "a slogan elsewhere praises the old offer",
            }
        )
        for n in case.constraint_nodes
    ]
    return case.model_copy(
        update={"constraint_nodes": tuple(nodes), "image_size": (640, 440), "target": case.target}
    ).within(tmp_path, "demo")


def ask(case: ig.Case, condition: str, model: str, **inputs: Any) -> str:
    return offline.reply(model, build_messages(case, condition, inputs=inputs))


@pytest.mark.parametrize("model", list(offline.MODELS))
def test_every_condition_gets_its_form(kettle: ig.Case, model: str) -> None:
    for name, condition in conditions().items():
        if condition.stage != "single":
            continue
        text = ask(kettle, name, model)
        assert text.strip()
        assert text == ask(kettle, name, model)
        if name == "icg_self":
            graph = read_json(text, "object").value
            assert set(graph) == {"edit_target", "constraint_nodes", "inter_constraints"}
        if name == "format_json":
            assert isinstance(json.loads(text), list)
        if name == "format_markdown":
            assert text.startswith("| Region |")
        if name in ("region_only", "reason_only", "type_only"):
            assert [line.split(".")[0] for line in text.splitlines()] == ["1", "2"]
        if name.startswith("oracle"):
            assert text.splitlines()[0].startswith("n1:")
        if name.startswith("plan"):
            assert text.startswith("1. Replace")


def test_the_form_is_read_from_the_words_alone(kettle: ig.Case) -> None:
    messages = build_messages(kettle, "direct")
    text = messages[1]["content"][1]["text"]
    messages[1]["content"][1]["text"] = (
        text + "\nAnswer as a Markdown table with the columns | Region | Update |"
    )
    assert offline.reply("ocr-rules", messages).startswith("| Region |")


def test_nothing_is_known_but_what_the_message_holds(kettle: ig.Case) -> None:
    """The truth of the case does not change an answer under a condition that does not show it."""
    bare = kettle.model_copy(update={"constraint_nodes": (), "inter_constraints": ()}).within(
        kettle.image_path.parent, "demo"
    )
    for model in offline.MODELS:
        assert ask(kettle, "signal_guided", model) == ask(bare, "signal_guided", model)


def test_ability_and_sight(kettle: ig.Case) -> None:
    """Only models that read the image give the price that the picture shows, worked out anew."""
    answers = {m: ask(kettle, "taxonomy_only", m) for m in offline.MODELS}
    for model in ("ocr-rules", "ocr-vision"):
        assert '"$60" becomes "$84"' in answers[model]
        assert "HALF PRICE DEAL" in answers[model]
        assert "ends Sunday" in answers[model]
    for model in ("instruction-only", "priors"):
        assert "$60" not in answers[model]
        assert "HALF PRICE DEAL" not in answers[model]
    assert len(set(answers.values())) == 4


def test_what_a_prompt_names_is_looked_for() -> None:
    plain, asked = thresholds("which issues could come up?"), thresholds("look for shiny surfaces")
    assert asked["physical_reflection"] < plain["physical_reflection"]
    assert asked["style_font"] == plain["style_font"]


def test_guided_prompts_bring_up_more(kettle: ig.Case) -> None:
    counts = [
        len(read_proposals(ask(kettle, c, "ocr-vision")).items)
        for c in ("direct", "signal_guided", "taxonomy_only")
    ]
    assert counts[0] < counts[1] <= counts[2] + 1


def test_a_false_number_is_called_invalid(kettle: ig.Case) -> None:
    node = {
        "id": "n1",
        "region": "price below the offer",
        "constraint_type": "semantic_numerical",
        "expected_update": "“You pay $60” becomes “You pay $99”",
        "reason": "worked out from the list price",
    }
    true = node | {"id": "n2", "expected_update": "“You pay $60” becomes “You pay $84”"}
    mixed = json.dumps({"constraint_nodes": [node, true], "inter_constraints": []})
    labels = read_labels(ask(kettle, "adversarial", "ocr-rules", mixed_graph_json=mixed), ["n1", "n2"])
    assert [r.value for r in labels.values()] == [False, True]


def test_transcript_reads_the_picture(kettle: ig.Case) -> None:
    from icgkit.prompts.conditions import stages as prompts_of_stages

    messages = build_messages(kettle, prompts_of_stages()["ocr_transcript"])
    text = offline.reply("ocr-rules", messages)
    assert '"You pay $60"' in text
    assert offline.reply("priors", messages) == "No text can be read."


def test_multi_step_inputs_are_used(kettle: ig.Case) -> None:
    plan = ask(
        kettle, "plan_nl_self", "ocr-rules", constraints="- The lid: repaint it green, because it matches."
    )
    assert "repaint it green" in plan
    verify = offline.reply(
        "ocr-rules",
        build_messages(
            kettle,
            __import__("icgkit.prompts.conditions", fromlist=["stages"]).stages()["verify"],
            inputs={"candidates": ['the line "You pay $60": "$60" becomes "$84"; worked out from the offer']},
        ),
    )
    assert json.loads(verify) == [{"item": 1, "locatable": True, "dependent": True, "needed": True}]


@pytest.mark.parametrize(
    ("instruction", "old", "new", "kind"),
    [
        ('Change "50% OFF" to "30% OFF".', "50% OFF", "30% OFF", "percent"),
        ("It should read \u201cMay 3\u201d instead of \u201cMay 9\u201d.", "May 9", "May 3", "date"),
        ("Replace the word OPEN by CLOSED.", "OPEN", "CLOSED", "word"),
        ("Where it says '19:30', write '20:15'.", "19:30", "20:15", "time"),
        ("Change the year from 1987 to 1990", "1987", "1990", "year"),
        ("Make it prettier", "Make it prettier", "", "word"),
    ],
)
def test_instructions(instruction: str, old: str, new: str, kind: str) -> None:
    edit = read_edit(instruction)
    assert (edit.old, edit.new, edit.kind) == (old, new, kind)


def lines(*texts: str) -> tuple[Line, ...]:
    return tuple(
        Line(
            t,
            ((0, 40.0 * k), (90, 40.0 * k), (90, 40.0 * k + 20), (0, 40.0 * k + 20)),
            1.0,
            (0, 0, 0),
            (255, 255, 255),
        )
        for k, t in enumerate(texts)
    )


@pytest.mark.parametrize(
    ("old", "new", "texts", "number", "becomes"),
    [
        ("50%", "30%", ("$100", "$50"), "$50", "$70"),
        ("$140", "$96", ("6 pieces", "$840"), "$840", "$576"),
        ("$48", "$36", ("4 instalments of $12",), "$12", "$9"),
        ("$20", "$30", ("$15", "$5", "Total $40"), "$40", "$50"),
        ("1998", "2004", ("2026", "28 years"), "28", "22"),
    ],
)
def test_arithmetic(old: str, new: str, texts: tuple[str, ...], number: str, becomes: str) -> None:
    found = {r.result.written: r.becomes for r in relations(old, new, amounts(lines(*texts)))}
    assert found[number] == becomes


def test_deidentification_leaves_nothing_behind() -> None:
    region = "sale price under the kettle, lower right"
    reason = 'The sale price "$50" is worked out from 100 less 50% on Kettle Street.'
    anon = stages.anonymise(reason, region)
    assert stages.anonymity_faults(anon, region) == []
    assert stages.anonymity_faults(reason, region)
    assert "reflection" not in stages.clean_region('reflection of "OPEN" in the wet street')


def test_a_broken_image_is_an_error(kettle: ig.Case) -> None:
    messages = build_messages(kettle, "direct")
    junk = base64.b64encode(b"<html>").decode()
    messages[1]["content"][0]["image_url"]["url"] = f"data:image/png;base64,{junk}"
    with pytest.raises(ig.errors.ImageError):
        offline.reply("ocr-rules", messages)


def test_a_planted_store_file_is_made_anew(picture: bytes, store: Path) -> None:
    look(picture)
    files = sorted(store.glob("ocr-*.json"))
    assert files
    files[0].write_bytes(b"\x80\x04cos\nsystem\n")
    from icgforge.baselines import store as module

    module._MEMORY.clear()
    assert any("kettle" in line.text for line in look(picture).lines)


def test_unknown_model() -> None:
    with pytest.raises(UnknownName, match="offline model"):
        offline.reply("offline/ocr-visoin", [{"role": "user", "content": "Change A to B"}])


def test_tasks_without_an_image_or_instruction() -> None:
    task = read_task([{"role": "user", "content": "Hello"}])
    assert task.image is None
    for model in offline.MODELS:
        assert isinstance(offline.reply(model, [{"role": "user", "content": "Hello"}]), str)


def test_through_litellm(kettle: ig.Case) -> None:
    """One process of its own, since litellm's import is slow and changes global state."""
    code = (
        "import asyncio, json, sys, litellm\n"
        "from icgforge import baselines as offline\n"
        "offline.register(); offline.register()\n"
        "ask = json.load(sys.stdin)\n"
        "a = litellm.completion(model='offline/priors', messages=ask, temperature=0)\n"
        "b = asyncio.run(litellm.acompletion(model='offline/priors', messages=ask))\n"
        "print(a.choices[0].message.content == b.choices[0].message.content, a.choices[0].finish_reason,\n"
        "      sum(p['provider'] == 'offline' for p in litellm.custom_provider_map))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps([{"role": "user", "content": 'Change "A" to "B".'}]),
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    )
    assert done.stdout.split() == ["True", "stop", "1"], done.stderr[-2000:]
