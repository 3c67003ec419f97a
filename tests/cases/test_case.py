from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import icgkit as ig
from icgkit.errors import ImageError, SchemaError


def spoil(case: ig.Case, **changes: object) -> str:
    """Return the case as JSON with dotted fields replaced."""
    data = json.loads(case.to_json())
    for dotted, value in changes.items():
        *path, last = dotted.split("__")
        place = data
        for step in path:
            place = place[int(step)] if step.isdigit() else place[step]
        place[last] = value
    return json.dumps(data)


def test_json_round_trip_loses_nothing(case: ig.Case) -> None:
    again = ig.Case.from_json(case.to_json())
    assert again == case
    assert again.to_json() == case.to_json()
    assert again.metadata["note"] == "a\u2028b"


@given(text=st.text(min_size=1).filter(lambda t: t.strip() and not t.isspace()))
def test_any_text_survives(text: str) -> None:
    case = ig.Case(
        id="c", image="i.png", image_size=(9, 9), instruction=text, source="s",
        target=ig.Target(element="e", region="r", action="a"), metadata={"t": text},
    )  # fmt: skip
    again = ig.Case.from_json(case.to_json())
    assert again.instruction == case.instruction
    assert again.metadata["t"] == text
    assert "\n" not in case.to_json()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"constraint_nodes__0__subtype": "semantic_numeric"}, "constraint_nodes.0.subtype: unknown subtype"),
        ({"constraint_nodes__0__region": "  "}, "constraint_nodes.0.region"),
        ({"constraint_nodes__1__id": "n1"}, "duplicate id n1"),
        ({"inter_constraints__0__between": ["n1", "n9"]}, "edge to a missing node 'n9'"),
        ({"inter_constraints__0__between": ["n1", "n1"]}, "to itself"),
        ({"constraint_nodes__0__bbox": [30, 300, 700, 340]}, "constraint_nodes.n1.bbox: box outside the image"),
        ({"target__bbox": [10, 10, 10, 60]}, "empty box"),
        ({"constraint_nodes__0__strenght": "weak"}, "Extra inputs are not permitted"),
        ({"image_size": [0, 480]}, "image_size.0"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named_with_file_line_and_case(
    case: ig.Case, changes: dict[str, object], says: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        ig.Case.from_json(spoil(case, **changes), place="cases.jsonl, line 7")
    message = str(caught.value)
    assert says in message
    assert "cases.jsonl, line 7" in message
    assert "demo-1" in message


def test_every_problem_is_listed(case: ig.Case) -> None:
    with pytest.raises(SchemaError) as caught:
        ig.Case.from_json(spoil(case, instruction="", source=""))
    assert "instruction" in str(caught.value)
    assert "source" in str(caught.value)


def test_not_json_and_not_an_object(case: ig.Case) -> None:
    with pytest.raises(SchemaError, match="not JSON"):
        ig.Case.from_json("{")
    with pytest.raises(SchemaError):
        ig.Case.from_json("[1]")


def test_half_a_surrogate_pair_is_replaced(case: ig.Case) -> None:
    text = case.to_json().replace("50% OFF", "50\\ud800 OFF")
    ig.Case.from_json(text).to_json().encode("utf-8")


def test_cases_are_frozen(case: ig.Case) -> None:
    with pytest.raises(ValidationError):
        case.instruction = "other"


def test_image_path_stays_within_the_root(case: ig.Case, tmp_path: Path) -> None:
    assert case.within(tmp_path).image_path == tmp_path / "demo.png"
    with pytest.raises(ImageError, match="no image root"):
        _ = case.image_path
    outside = case.model_copy(update={"image": "../secret.png"}).within(tmp_path)
    with pytest.raises(ImageError, match="outside its folder"):
        _ = outside.image_path


def test_oracle_json_shows_the_graph_and_hides_what_it_should(case: ig.Case) -> None:
    full = json.loads(case.oracle_json())
    assert [n["id"] for n in full["constraint_nodes"]] == ["n1", "n2"]
    assert full["constraint_nodes"][0]["constraint_type"] == "semantic_numerical"
    assert len(full["inter_constraints"]) == 1
    assert "inter_constraints" not in json.loads(case.oracle_json(inter=False))
    assert "bbox" not in case.oracle_json()
    assert "derived from the edited one" not in case.oracle_json()


def test_chains_are_counted_and_circles_refused() -> None:
    def case(**follows: str | None) -> ig.Case:
        nodes = [
            ig.Constraint(
                id=i,
                region=f"place {i}",
                subtype="semantic_numerical",
                expected_update="u",
                reason="r",
                follows=f,
            )
            for i, f in follows.items()
        ]
        target = ig.Target(element="a", region="b", action="c")
        return ig.Case(
            id="c",
            image="i.png",
            image_size=(9, 9),
            instruction="do",
            target=target,
            constraint_nodes=tuple(nodes),
            source="s",
        )

    made = case(n1=None, n2="n1", n3="n2")
    assert [made.chain(n.id) for n in made.constraint_nodes] == [1, 2, 3]
    assert ig.Case.from_json(made.to_json()) == made
    for wrong in ({"n1": "n9"}, {"n1": "n1"}, {"n1": "n2", "n2": "n1"}):
        with pytest.raises(ValueError, match="follows"):
            case(**wrong)
