"""Conditions as files, and the chat messages that a model gets for a case under one of them.

A condition is one Markdown file: YAML front matter says what it is and which fields of a case it
shows, the body is the user prompt (Jinja2, sandboxed, no undefined names). Dropping a file into
`templates/conditions/`, or into a folder of one's own, adds or replaces a condition.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import yaml
from jinja2 import StrictUndefined, Template, TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import StrictBool, StrictInt, ValidationError
from pydantic.dataclasses import dataclass

from icgkit.cases.case import Case, Constraint
from icgkit.cases.images import MAX_SIDE, prepare
from icgkit.errors import SchemaError, UnknownName
from icgkit.files import read_file
from icgkit.taxonomy import CATEGORIES, SUBTYPES

SYSTEM = ("system", "user")
Message = dict[str, Any]
Family = Literal[
    "core", "oracle", "decomposition", "format", "assisted", "planning", "two_stage", "gated", "stage"
]
FAMILIES: tuple[str, ...] = get_args(Family)
Need = Literal["nodes", "inter", "region_clean", "reason_anon"]
_HERE = Path(__file__).parents[1] / "templates"
_FILTERS = "capitalize count d default e escape first indent join last length list lower sort title tojson trim unique upper"
_LOOPS, _SUMS = 3, 20
_WRONG = (
    TemplateError,
    ArithmeticError,
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    RecursionError,
    MemoryError,
)
"""What filling in a stranger's prompt may raise."""


def has(case: Case, need: Need) -> bool:
    """Say whether a case has an annotation on each of its nodes."""
    if need == "inter":
        return bool(case.inter_constraints)
    found = case.constraint_nodes
    return bool(found) and (need == "nodes" or all(getattr(node, need) for node in found))


_ELSEWHERE = (nodes.Macro, nodes.CallBlock, nodes.Include, nodes.FromImport, nodes.Import, nodes.Extends)


class _Words(ImmutableSandboxedEnvironment):
    """Where prompts are filled in: they may be somebody else's, so that neither time nor memory runs away."""

    intercepted_binops = frozenset(["*", "**"])

    def __init__(self) -> None:
        super().__init__(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False)
        self.globals.clear()
        self.filters = {name: self.filters[name] for name in _FILTERS.split()}

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" or not all(isinstance(x, int | float) for x in (left, right)):
            raise SecurityError(f"only numbers are multiplied, not {type(left).__name__} {operator}")
        return super().call_binop(context, operator, left, right)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        reads = isinstance(obj, Mapping) and attr in ("items", "keys", "values", "get")
        return (reads or not callable(value)) and super().is_safe_attribute(obj, attr, value)

    def checked(self, words: str) -> Template:
        """Compile a prompt after a look at what it is made of."""
        tree = self.parse(words)
        if any(tree.find_all(_ELSEWHERE)):
            raise SecurityError("a prompt has no macros and names no other file")
        if _nested(tree) > _LOOPS:
            raise SecurityError(f"more than {_LOOPS} loops within each other")
        if sum(1 for _ in tree.find_all((nodes.Concat, nodes.Add))) > _SUMS:
            raise SecurityError(f"more than {_SUMS} sums of texts")
        return self.from_string(words)


def _nested(node: nodes.Node) -> int:
    inner = max((_nested(child) for child in node.iter_child_nodes()), default=0)
    return inner + isinstance(node, nodes.For)


_ENV = _Words()


@dataclass(frozen=True)
class Condition:
    """What a model is told: one template file.

    `inputs` are the fields shown (see `_FIELDS`; others come from earlier stages), `needs` the annotations
    without which a case cannot be asked under this condition, `judging` what a judge's template judges,
    where, and what it answers (see `icgkit.judge.kinds`).
    """

    id: str
    label: str
    short: str
    order: StrictInt
    family: Family
    inputs: tuple[str, ...]
    output: Literal["text", "json", "markdown"]
    body: str
    system: str = ""
    stage: Literal["single", "multi"] = "single"
    needs: tuple[Need, ...] = ()
    image: StrictBool = True
    judging: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def sha256(self) -> str:
        """Hash of the words and of what is shown, as recorded with every call (32 hex digits)."""
        words = json.dumps([self.system, self.body, list(self.inputs), self.image])
        return hashlib.sha256(words.encode()).hexdigest()[:32]

    def applies(self, case: Case) -> bool:
        """Say whether the case has the annotations that this condition shows."""
        return all(has(case, need) for need in self.needs)


def describe_node(node: Constraint) -> str:
    """Put one constraint into a sentence, as planning prompts list it."""
    return f"{node.region}: {node.expected_update} ({node.reason})"


_FIELDS: dict[str, Callable[[Case], Any]] = {
    "instruction": lambda case: case.instruction,
    "families": lambda _: [c.plain for c in CATEGORIES.values()],
    "taxonomy": lambda _: [
        {"label": c.label, "subtypes": [s for s in SUBTYPES.values() if s.category == c.id]}
        for c in CATEGORIES.values()
    ],
    "graph_json": lambda case: case.oracle_json(),
    "graph_json_no_inter": lambda case: case.oracle_json(inter=False),
    "regions": lambda case: [n.region_clean for n in case.constraint_nodes],
    "reasons": lambda case: [n.reason_anon for n in case.constraint_nodes],
    "types": lambda case: [f"{n.category.label}: {n.kind.label}" for n in case.constraint_nodes],
    "node_list": lambda case: bullet_list(describe_node(n) for n in case.constraint_nodes),
}
"""Fields that a template can ask for by name in `inputs`, computed from the case."""


def bullet_list(items: Iterable[str]) -> str:
    """Join items to a list with a dash before each."""
    return "\n".join(f"- {item}" for item in items)


def read_condition(path: Path) -> Condition:
    """Read one template file."""
    try:
        text = read_file(path, limit=1 << 20).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as exc:
        raise SchemaError(f"{path.name}: not UTF-8, byte {exc.start + 1}") from None
    parts = text.split("---\n", 2)
    if len(parts) != 3 or parts[0].strip():
        raise SchemaError(
            f"{path.name}: no front matter", allowed="a block between two lines of three dashes"
        )
    try:
        meta = yaml.safe_load(parts[1])
    except (yaml.YAMLError, ValueError, RecursionError) as exc:
        raise SchemaError(f"{path.name}: front matter is not YAML: {exc}") from None
    if not isinstance(meta, dict):
        raise SchemaError(f"{path.name}: front matter", got=type(meta).__name__, allowed="names and values")
    told = {name: meta[name] for name in _FRONT if name in meta}
    told |= {"id": path.stem, "body": parts[2].strip(), "system": meta.get("system") or ""}
    try:
        condition = Condition(**told)
        condition = replace(condition, system=condition.system.strip())
    except ValidationError as exc:
        raise SchemaError(f"{path.name}: {problems(exc)}") from None
    for words in (condition.system, condition.body):
        try:
            _template(words)
        except (TemplateError, RecursionError, MemoryError, ValueError) as exc:
            raise SchemaError(f"{path.name}: not a Jinja2 template: {exc}") from None
    return condition


_FRONT = [f.name for f in fields(Condition)]


def problems(exc: ValidationError) -> str:
    """Say which fields are missing or wrong."""
    errors = exc.errors(include_url=False)
    missing = [str(e["loc"][0]) for e in errors if e["type"] == "missing"]
    wrong = [
        f"{'.'.join(map(str, e['loc']))}: {e['msg']} (got {e['input']!r:.80})"
        for e in errors
        if e["type"] != "missing"
    ]
    return " | ".join([f"missing field {', '.join(missing)}"] * bool(missing) + wrong)


def fill(words: str, values: Mapping[str, Any], what: str) -> str:
    """Put values into the words of a prompt."""
    try:
        return _template(words).render(values)
    except _WRONG as exc:
        raise SchemaError(
            f"{what}: {exc}", allowed=sorted(values), remedy="list the field under inputs"
        ) from None


@cache
def _template(words: str) -> Template:
    return _ENV.checked(words)


def _discover(kind: str, own: str | Path | None) -> dict[str, Condition]:
    folders = [_HERE / kind]
    if own is not None:
        own = _own_folder(own)
        folders.append(own / kind if (own / kind).is_dir() else own)
    found = {p.stem: read_condition(p) for folder in folders for p in sorted(folder.glob("*.md"))}
    ordered = sorted(found.values(), key=lambda c: (c.order, c.id))
    return {c.id: c for c in ordered}


def _own_folder(folder: str | Path) -> Path:
    own = Path(folder).expanduser()
    if not own.is_dir():
        raise SchemaError(
            "folder of templates not found", got=str(folder), remedy=f"it was looked for as {own.absolute()}"
        )
    return own


@cache
def _shipped(kind: str) -> dict[str, Condition]:
    return _discover(kind, None)


def conditions(folder: str | Path | None = None) -> dict[str, Condition]:
    """Discover the conditions by id, in their order.

    Parameters
    ----------
    folder : path, optional
        Own templates (files directly in it, or in a folder `conditions` below it); each replaces
        the shipped condition of the same name or adds one.

    Examples
    --------
    >>> list(conditions())[:3]
    ['direct', 'cot', 'icg_self']
    """
    return dict(_shipped("conditions")) if folder is None else _discover("conditions", folder)


def stages(folder: str | Path | None = None) -> dict[str, Condition]:
    """Discover the prompts of intermediate stages (`templates/stages`), by id."""
    return _beside("stages", folder)


def judge_prompts(folder: str | Path | None = None) -> dict[str, Condition]:
    """Discover the prompts of judges (`templates/judges`), by id."""
    return _beside("judges", folder)


def _beside(kind: str, folder: str | Path | None) -> dict[str, Condition]:
    """Discover templates that stand in a folder of their own below one's own; it may lack that folder."""
    if folder is None:
        return dict(_shipped(kind))
    own = _own_folder(folder)
    return _discover(kind, own) if (own / kind).is_dir() else dict(_shipped(kind))


def find_condition(name: str, folder: str | Path | None = None) -> Condition:
    """Look up one condition by id."""
    known = conditions(folder)
    if name not in known:
        raise UnknownName.among("condition", name, known)
    return known[name]


def build_messages(
    case: Case,
    condition: Condition | str,
    *,
    templates: str | Path | None = None,
    inputs: Mapping[str, Any] | None = None,
    max_side: int = MAX_SIDE,
    system: str = "system",
) -> list[Message]:
    """Build the chat messages (OpenAI form) for a case under a condition.

    Parameters
    ----------
    case : Case
        Tied to an image root, unless the condition shows no image.
    condition : Condition or str
        A condition, or the id of one.
    templates : path, optional
        Folder of own templates, used when `condition` is an id.
    inputs : mapping, optional
        Values that come from earlier stages (transcript, constraints ...).
    max_side : int
        Longest image edge in pixels.
    system : {"system", "user"}
        Where the system text goes: into a message of its own, or before the user's text, for a
        model without that role.

    Returns
    -------
    list of dict
        A system message, if there is a system text, and a user message; the image is a data URL,
        before the text.

    Raises
    ------
    SchemaError
        If the case lacks an annotation that the condition shows, or an input is not given.
    ImageError
        If the image cannot be read.
    """
    told = find_condition(condition, templates) if isinstance(condition, str) else condition
    for need in told.needs:
        if not has(case, need):
            raise SchemaError(
                f"case {case.id} has no {need} for condition {told.id}",
                remedy="leave the case out, or annotate it",
            )
    shown = {}
    for name in told.inputs:
        if inputs is not None and name in inputs:
            shown[name] = inputs[name]
        elif name in _FIELDS:
            shown[name] = _FIELDS[name](case)
        else:
            raise SchemaError(
                f"condition {told.id} needs the input {name!r}",
                allowed=[*_FIELDS, "values given as inputs="],
                remedy="multi-step conditions get it from an earlier stage: use icgkit.study.elicit",
            )
    before = fill(told.system, shown, f"condition {told.id}").strip()
    text = fill(told.body, shown, f"condition {told.id}")
    if system not in SYSTEM:
        raise SchemaError("where the system text goes", got=system, allowed=SYSTEM)
    if before and system == "user":
        before, text = "", f"{before}\n\n{text}"
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if told.image:
        image = prepare(case.image_path, max_side)
        content.insert(0, {"type": "image_url", "image_url": {"url": image.data_url}})
    first = [{"role": "system", "content": before}] if before else []
    return [*first, {"role": "user", "content": content}]
