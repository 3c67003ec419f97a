from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from PIL import Image

from icgkit.cases.case import Case, Constraint, Edge, Target
from icgkit.errors import SchemaError, UnknownName
from icgkit.prompts.conditions import build_messages, conditions, read_condition, stages
from icgkit.taxonomy import SUBTYPES

TYPE_WORDS = re.compile(
    r"shadow|reflect|mirror|perspective|occlu|symmetr|repeti|numeric|categor|functional|promotion|chart|"
    r"\bfont|colou?r|layout|material|\bscene|tempor|cultur|physical|spatial|semantic|styl|cross-modal|taxonomy",
    re.I,
)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    Image.new("RGB", (40, 30), "white").save(tmp_path / "a.png")
    nodes = [
        Constraint(
            id="n1", region="REGION-ONE", subtype="semantic_numerical", expected_update="UPDATE-ONE", reason="REASON-ONE",
            region_clean="CLEAN-ONE", reason_anon="ANON-ONE",
        ),
        Constraint(
            id="n2", region="REGION-TWO", subtype="style_font", expected_update="UPDATE-TWO", reason="REASON-TWO",
            region_clean="CLEAN-TWO", reason_anon="ANON-TWO",
        ),
    ]  # fmt: skip
    return Case(
        id="c1", image="a.png", image_size=(40, 30), instruction='Change "A" to "{{ 7*7 }}".', source="x",
        target=Target(element="A", region="middle", action="becomes B"), constraint_nodes=tuple(nodes),
        inter_constraints=(Edge(between=("n1", "n2"), type="agree", description="EDGE-TEXT"),),
    ).within(tmp_path, "demo")  # fmt: skip


EXTRA = {
    "adversarial": {"mixed_graph_json": "MIXED"},
    "ocr_assisted": {"transcript": "TRANSCRIPT"},
    "plan_nl_self": {"constraints": "OWN"},
    "discover_verify": {"constraints": "OWN"},
    "gated": {"constraints": "OWN"},
    "gated_nl_self": {"constraints": "OWN"},
}


def said(case: Case, name: str) -> str:
    messages = build_messages(case, name, inputs=EXTRA.get(name))
    text = [p["text"] for p in messages[1]["content"] if p["type"] == "text"]
    return str(messages[0]["content"]) + "\n\n" + "".join(text)


def test_every_condition_of_the_study_is_there_in_order() -> None:
    assert list(conditions()) == [
        "direct", "cot", "icg_self", "nl_self", "signal_guided", "taxonomy_only", "oracle", "oracle_no_inter",
        "adversarial", "region_only", "reason_only", "type_only", "format_json", "format_markdown", "format_free",
        "ocr_assisted", "plan_direct", "plan_nl_self", "plan_oracle", "discover_verify", "gated", "gated_nl_self",
    ]  # fmt: skip
    assert set(stages()) == {
        "adversarial_node",
        "clean_region",
        "anonymise_reason",
        "ocr_transcript",
        "verify",
        "discover",
        "gate",
    }


@pytest.mark.parametrize("name", list(conditions()))
def test_every_condition_shows_instruction_and_image(case: Case, name: str) -> None:
    messages = build_messages(case, name, inputs=EXTRA.get(name))
    assert [m["role"] for m in messages] == ["system", "user"]
    assert messages[1]["content"][0]["image_url"]["url"].startswith("data:image/png;base64,")
    assert 'Change "A" to "{{ 7*7 }}".' in said(case, name)  # shown, never rendered


@pytest.mark.parametrize("name", ["direct", "cot"])
def test_unguided_conditions_name_no_type(case: Case, name: str) -> None:
    assert not TYPE_WORDS.findall(said(case, name))
    assert "implicit" not in said(case, name).lower()
    assert "constraint" not in said(case, name).lower()


def test_direct_asks_for_considerations_and_issues(case: Case) -> None:
    assert "consideration" in said(case, "direct")
    assert "issues" in said(case, "direct")


def test_cot_has_four_steps(case: Case) -> None:
    assert re.findall(r"^Step (\d)", said(case, "cot"), re.M) == ["1", "2", "3", "4"]


@pytest.mark.parametrize("name", ["icg_self", "nl_self"])
def test_self_conditions_define_and_ask_for_four_fields(case: Case, name: str) -> None:
    text = said(case, name)
    assert "An implicit constraint is" in text
    assert all(
        word in text for word in ("region", "type", "update", "reason", "only what the picture really shows")
    )
    assert all(family in text for family in ("physical", "spatial", "semantic", "stylistic", "cross-modal"))
    assert sum(s.id in text or s.definition in text or s.question in text for s in SUBTYPES.values()) == 0


def test_icg_self_asks_for_the_json_object_and_nl_self_for_none(case: Case) -> None:
    assert all(
        k in said(case, "icg_self") for k in ('"edit_target"', '"constraint_nodes"', '"inter_constraints"')
    )
    assert "json" not in said(case, "nl_self").lower()


def test_signal_guided_gives_cues_but_no_regions_and_no_list(case: Case) -> None:
    text = said(case, "signal_guided")
    assert "When in doubt" in text
    assert "REGION-" not in text
    assert sum(s.question in text for s in SUBTYPES.values()) == 0


def test_taxonomy_only_asks_one_question_a_subtype_and_shows_no_node(case: Case) -> None:
    text = said(case, "taxonomy_only")
    assert all(text.count(s.question) == 1 for s in SUBTYPES.values())
    assert "REGION-" not in text


def test_oracle_holds_the_whole_graph(case: Case) -> None:
    text = said(case, "oracle")
    graph = json.loads(text[text.index("{\n") : text.rindex("}") + 1])
    assert [n["id"] for n in graph["constraint_nodes"]] == ["n1", "n2"]
    assert "EDGE-TEXT" in text
    without = said(case, "oracle_no_inter")
    assert "EDGE-TEXT" not in without
    assert "inter_constraints" not in without
    assert text.replace(text[text.index("{\n") : text.rindex("}") + 1], "") == without.replace(
        without[without.index("{\n") : without.rindex("}") + 1], ""
    )


def test_adversarial_asks_for_labels_and_tells_not_which(case: Case) -> None:
    text = said(case, "adversarial")
    assert "VALID" in text
    assert "INVALID" in text
    assert "false" not in text.lower()


@pytest.mark.parametrize(
    ("name", "shown", "hidden"),
    [
        (
            "region_only",
            ["CLEAN-ONE", "CLEAN-TWO"],
            ["REASON", "ANON", "UPDATE", "REGION-", "Numerical", "Font"],
        ),
        (
            "reason_only",
            ["ANON-ONE", "ANON-TWO"],
            ["REASON-", "CLEAN", "UPDATE", "REGION-", "Numerical", "Font"],
        ),
        ("type_only", ["Numerical", "Font"], ["REASON-", "CLEAN", "UPDATE", "REGION-", "ANON"]),
    ],
)
def test_decomposition_shows_one_field(case: Case, name: str, shown: list[str], hidden: list[str]) -> None:
    text = said(case, name)
    assert all(word in text for word in shown)
    assert not [word for word in hidden if word in text]


def test_formats_differ_in_their_last_sentence_only(case: Case) -> None:
    texts = [said(case, f"format_{f}").strip().rsplit("\n\n", 1) for f in ("json", "markdown", "free")]
    assert len({body for body, _ in texts}) == 1
    assert len({last for _, last in texts}) == 3
    assert all(last.count("\n") == 0 for _, last in texts)


def test_ocr_assisted_is_the_direct_prompt_behind_a_transcript(case: Case) -> None:
    direct = said(case, "direct").split("\n\n", 1)[1]
    text = said(case, "ocr_assisted")
    assert text.endswith(direct)
    assert text.index("TRANSCRIPT") < text.index("Requested edit")


def test_plans_differ_only_in_what_is_given(case: Case) -> None:
    last = {
        said(case, n).rsplit("\n\n", 1)[1]
        for n in ("plan_direct", "plan_nl_self", "plan_oracle", "discover_verify")
    }
    assert len(last) == 1
    assert "REGION-ONE: UPDATE-ONE (REASON-ONE)" in said(case, "plan_oracle")


def test_case_without_annotation_is_refused(case: Case) -> None:
    bare = case.model_copy(update={"inter_constraints": ()})
    assert not conditions()["oracle_no_inter"].applies(bare)
    with pytest.raises(SchemaError, match="c1 has no inter"):
        build_messages(bare, "oracle_no_inter")
    with pytest.raises(SchemaError, match="needs the input 'transcript'"):
        build_messages(case, "ocr_assisted")
    with pytest.raises(UnknownName, match="direct"):
        build_messages(case, "direkt")


def test_own_folder_replaces_and_adds(case: Case, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    head = "---\nlabel: Mine\nshort: M\norder: 0\nfamily: core\ninputs: [instruction]\noutput: text\nsystem: S\n---\n"
    (own / "direct.md").write_text(head + "Mine: {{ instruction }}", encoding="utf-8-sig")
    (own / "extra.md").write_text(head + "Extra", encoding="utf-8", newline="\r\n")
    found = conditions(own)
    assert found["direct"].body == "Mine: {{ instruction }}"
    assert found["direct"].sha256 != conditions()["direct"].sha256
    assert "extra" in found
    assert "oracle" in found
    text = build_messages(case, "direct", templates=own)[1]["content"][1]["text"]
    assert text.startswith("Mine: Change")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("{{ secret }}", "secret"),
        ("{{ instruction.__class__.__mro__ }}", "unsafe"),
        ("{% if %}", "not a Jinja2"),
    ],
)
def test_templates_are_sandboxed_and_strict(case: Case, tmp_path: Path, body: str, message: str) -> None:
    head = "---\nlabel: X\nshort: X\norder: 0\nfamily: core\ninputs: [instruction]\noutput: text\nsystem: S\n---\n"
    (tmp_path / "x.md").write_text(head + body, encoding="utf-8")
    with pytest.raises(SchemaError, match=message):
        build_messages(case, read_condition(tmp_path / "x.md"))


def test_front_matter_errors_name_file_and_field(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("---\nlabel: X\n---\nbody", encoding="utf-8")
    with pytest.raises(SchemaError, match=r"x\.md: missing field short, order"):
        read_condition(tmp_path / "x.md")
    (tmp_path / "y.md").write_text("body", encoding="utf-8")
    with pytest.raises(SchemaError, match=r"y\.md: no front matter"):
        read_condition(tmp_path / "y.md")
