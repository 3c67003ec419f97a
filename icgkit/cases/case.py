"""The data model: a case, its constraint nodes and the edges between them.

All classes are frozen and validated when built. A problem raises `SchemaError` that names file,
line, case and field; `Case.to_json` and `Case.from_json` lose nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    StringConstraints,
    ValidationError,
    model_validator,
)

from icgkit.errors import ImageError, SchemaError
from icgkit.files import inside, read_file
from icgkit.taxonomy import SUBTYPES, Category, Subtype, category, subtype
from icgkit.untrusted import json_value


@lru_cache(maxsize=4096)
def _sha256(path: Path, _stamp: int) -> str:
    """Return the hash of a picture, computed once as long as the file is the same."""
    return hashlib.sha256(read_file(path, error=ImageError)).hexdigest()


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]
Box = tuple[float, float, float, float]
"""Pixel box x0, y0, x1, y1; origin at the top left, x1 and y1 exclusive."""


def _known_subtype(value: str) -> str:
    if value not in SUBTYPES:
        raise ValueError(f"unknown subtype; allowed: {', '.join(SUBTYPES)}")
    return value


def _proper_box(box: Box) -> Box:
    x0, y0, x1, y1 = box
    if not (x0 < x1 and y0 < y1):
        raise ValueError("empty box; allowed: x0 < x1 and y0 < y1, in pixels")
    return box


ProperBox = Annotated[Box, AfterValidator(_proper_box)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Target(_Frozen):
    """What the instruction edits: the element, where it is, and what happens to it."""

    element: Text
    region: Text
    action: Text
    bbox: ProperBox | None = None


class Constraint(_Frozen):
    """One implicit constraint: a region that the edit forces to change.

    `where` says whether the region lies elsewhere than the edited text, or is that text itself and how
    it has to be drawn. `follows` names the node that this one is worked out from; null: the edit itself.
    `region_clean` names the region without giving away type or reason; `reason_anon` gives the
    reason with every region, object, number and quoted text replaced by a placeholder. Both are
    null until they have been made.
    """

    id: Id
    region: Text
    subtype: Annotated[str, AfterValidator(_known_subtype)]
    expected_update: Text
    reason: Text
    strength: Literal["strong", "weak"] = "strong"
    where: Literal["else", "target"] = "else"
    subtype_also: tuple[Annotated[str, AfterValidator(_known_subtype)], ...] = ()
    """Further subtypes that are right as well."""
    follows: Id | None = None
    bbox: ProperBox | None = None
    bbox_after: ProperBox | None = None
    """Where it is after the edit, if elsewhere."""
    predicate: dict[str, Any] | None = None
    """What a program can check after the edit, such as `{"text": "€26.00"}`."""
    disputed: tuple[str, ...] = ()
    """Fields on which two annotators disagreed before adjudication."""
    region_clean: Text | None = None
    reason_anon: Text | None = None

    @property
    def kind(self) -> Subtype:
        """The subtype with its label, definition and level."""
        return subtype(self.subtype)

    @property
    def category(self) -> Category:
        """The category of the subtype."""
        return category(self.subtype)


class Edge(_Frozen):
    """A consistency requirement between two constraint nodes of one case."""

    between: tuple[Id, Id]
    type: Text
    description: Text


class Case(_Frozen):
    """An image, an instruction, the edit target and the ground-truth constraint graph.

    The edges from the edit to every node are implied; `inter_constraints` holds those between
    nodes. `image` is a path below the image root of the dataset.

    Examples
    --------
    >>> case = Case(
    ...     id="demo", image="demo.png", image_size=(640, 480),
    ...     instruction='Change "50% OFF" to "30% OFF".', source="synthetic",
    ...     target=Target(element="50% OFF", region="banner", action="becomes 30% OFF"),
    ...     constraint_nodes=[Constraint(
    ...         id="n1", region="price tag", subtype="semantic_numerical",
    ...         expected_update="$50 becomes $70", reason="the price is 100 less the discount")])
    >>> Case.from_json(case.to_json()) == case
    True
    """

    id: Id
    image: Text
    image_size: tuple[Annotated[int, Field(gt=0)], Annotated[int, Field(gt=0)]]
    image_sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    instruction: Text
    target: Target
    constraint_nodes: tuple[Constraint, ...] = ()
    inter_constraints: tuple[Edge, ...] = ()
    source: Text
    metadata: dict[str, Any] = Field(default_factory=dict)

    _dataset: str = PrivateAttr(default="")
    _image_roots: tuple[Path, ...] = PrivateAttr(default=())
    _known_images: bool = PrivateAttr(default=False)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = [node.id for node in self.constraint_nodes]
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(f"constraint_nodes: duplicate id {', '.join(twice)}; allowed: each id once")
        for k, edge in enumerate(self.inter_constraints):
            for end in edge.between:
                if end not in ids:
                    raise ValueError(
                        f"inter_constraints.{k}.between: edge to a missing node {end!r}; "
                        f"allowed: {', '.join(ids) or 'no nodes here'}"
                    )
            if edge.between[0] == edge.between[1]:
                raise ValueError(f"inter_constraints.{k}.between: edge from {edge.between[0]!r} to itself")
        for k, node in enumerate(self.constraint_nodes):
            if node.follows is not None and (node.follows not in ids or not self.chain(node.id)):
                raise ValueError(
                    f"constraint_nodes.{k}.follows: {node.follows!r}; allowed: another node of the case, in no circle"
                )
        width, height = self.image_size
        boxes = {f"constraint_nodes.{n.id}.bbox": n.bbox for n in self.constraint_nodes}
        boxes |= {f"constraint_nodes.{n.id}.bbox_after": n.bbox_after for n in self.constraint_nodes}
        boxes["target.bbox"] = self.target.bbox
        for field, box in boxes.items():
            if box and (box[0] < 0 or box[1] < 0 or box[2] > width or box[3] > height):
                raise ValueError(
                    f"{field}: box outside the image, {box}; allowed: within 0 0 {width} {height}"
                )
        return self

    @property
    def dataset(self) -> str:
        """Name of the dataset that the case was read from, empty for a case built by hand."""
        return self._dataset

    @property
    def image_path(self) -> Path:
        """Where the image lies.

        Raises
        ------
        ImageError
            If the case belongs to no dataset, or its path leads out of the image root.
        """
        if not self._image_roots:
            raise ImageError(
                f"case {self.id} has no image root",
                remedy="load it with icgkit.load_dataset, or call case.within(folder)",
            )
        paths = [inside(root, self.image) for root in self._image_roots]
        path = next((p for p in paths if p.is_file()), paths[0])
        if (
            self._known_images
            and path.is_file()
            and _sha256(path, path.stat().st_mtime_ns) != self.image_sha256
        ):
            raise ImageError(
                f"image of case {self.id} is another one than the case names",
                got=self.image,
                allowed="a picture with the image_sha256 of the case",
            )
        return path

    def within(
        self, image_root: str | Path | Sequence[Path], dataset: str = "", *, known_images: bool = False
    ) -> Case:
        """Return the case tied to the folder that its image path starts from; of several, the first that has it.

        With `known_images`, only a picture with the case's own `image_sha256` is taken.
        """
        bound = self.model_copy()
        bound._image_roots = (Path(image_root),) if isinstance(image_root, str | Path) else tuple(image_root)
        bound._known_images = known_images
        bound._dataset = dataset or self._dataset
        return bound

    def node(self, node_id: str) -> Constraint:
        """Return one node by id."""
        for node in self.constraint_nodes:
            if node.id == node_id:
                return node
        raise SchemaError(
            f"case {self.id}: no such node", got=node_id, allowed=[n.id for n in self.constraint_nodes]
        )

    def chain(self, node_id: str) -> int:
        """Return how many steps lie between the edit and a node: 1 if it follows from the edit itself."""
        behind = {node.id: node.follows for node in self.constraint_nodes}
        steps, at = 1, behind.get(node_id)
        while at is not None and steps <= len(behind):
            steps, at = steps + 1, behind.get(at)
        return steps if at is None else 0

    def to_json(self) -> str:
        """Return one line of JSON; fields that are null or empty by default are left out."""
        data = self.model_dump(mode="json", exclude_defaults=True)
        return json.dumps(data, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str, *, place: str = "case") -> Case:
        """Read a case from JSON text.

        Parameters
        ----------
        text : str
            One JSON object.
        place : str
            File and line for the error message.

        Raises
        ------
        SchemaError
            If the text is not JSON or a field is wrong; every problem is listed.
        """
        data = json_value(text, place)
        name = data.get("id") if isinstance(data, dict) else None
        try:
            return cls.model_validate(data)
        except ValidationError as exc:
            problems = [
                f"{'.'.join(map(str, e['loc'])) or 'graph'}: {e['msg'].removeprefix('Value error, ')}"
                + (f" (got {e['input']!r:.120})" if e["loc"] and e["type"] != "missing" else "")
                for e in exc.errors(include_url=False)
            ]
            raise SchemaError(f"{place}, case {name!r}: " + " | ".join(problems)) from None

    def oracle_json(self, *, inter: bool = True) -> str:
        """Return the ground-truth graph as the JSON text that oracle conditions show a model.

        Boxes, cleaned and anonymised fields are left out; `inter=False` leaves out the edges
        between nodes.
        """
        fields = {"id", "region", "subtype", "expected_update", "reason", "strength"}
        graph: dict[str, Any] = {
            "edit_target": self.target.model_dump(mode="json", exclude={"bbox"}),
            "constraint_nodes": [
                {
                    ("constraint_type" if k == "subtype" else k): v
                    for k, v in n.model_dump(include=fields).items()
                }
                for n in self.constraint_nodes
            ],
        }
        if inter:
            graph["inter_constraints"] = [e.model_dump(mode="json") for e in self.inter_constraints]
        return json.dumps(graph, ensure_ascii=False, indent=2)

    def _repr_html_(self) -> str:
        from icgkit.cases.show import case_html

        return case_html(self)
