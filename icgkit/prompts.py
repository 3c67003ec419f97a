"""Conditions as files, and the chat messages that a model gets for a case under one of them.

A condition is one Markdown file: YAML front matter says what it is and which fields of a case it
shows, the body is the user prompt (Jinja2, sandboxed, no undefined names). Dropping a file into
`templates/conditions/`, or into a folder of one's own, adds or replaces a condition.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from icgkit.errors import SchemaError, UnknownName
from icgkit.graph import Case, Constraint
from icgkit.images import MAX_SIDE, prepare
from icgkit.taxonomy import CATEGORIES, SUBTYPES

FAMILIES = ("core", "oracle", "decomposition", "format", "assisted", "planning", "two_stage", "stage")
OUTPUTS = ("text", "json", "markdown")
SYSTEM = ("system", "user")
NEEDS: dict[str, Callable[[Case], bool]] = {
    "nodes": lambda case: bool(case.constraint_nodes),
    "inter": lambda case: bool(case.inter_constraints),
    "region_clean": lambda case: (
        bool(case.constraint_nodes) and all(n.region_clean for n in case.constraint_nodes)
    ),
    "reason_anon": lambda case: (
        bool(case.constraint_nodes) and all(n.reason_anon for n in case.constraint_nodes)
    ),
}
_HERE = Path(__file__).parent / "templates"
_REQUIRED = ("label", "short", "order", "family", "inputs", "output")
_ENV = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False)

Message = dict[str, Any]


@dataclass(frozen=True)
class Condition:
    """What a model is told: one template file.

    `inputs` are the fields shown (see `FIELDS`; others come from earlier stages), `needs` the
    annotations without which a case cannot be asked under this condition.
    """

    id: str
    label: str
    short: str
    order: int
    family: str
    stage: str
    inputs: tuple[str, ...]
    output: str
    system: str
    body: str
    needs: tuple[str, ...] = ()
    image: bool = True

    @property
    def sha256(self) -> str:
        """Hash of the words, as recorded with every call (32 hex digits)."""
        words = json.dumps([self.system, self.body, list(self.inputs), self.image])
        return hashlib.sha256(words.encode()).hexdigest()[:32]

    def applies(self, case: Case) -> bool:
        """Say whether the case has the annotations that this condition shows."""
        return all(NEEDS[need](case) for need in self.needs)


def _types(case: Case) -> list[str]:
    return [f"{n.category.label}: {n.kind.label}" for n in case.constraint_nodes]


def _families(case: Case) -> list[str]:
    return [c.plain for c in CATEGORIES.values()]


def _taxonomy(case: Case) -> list[dict[str, Any]]:
    return [
        {"label": c.label, "subtypes": [s for s in SUBTYPES.values() if s.category == c.id]}
        for c in CATEGORIES.values()
    ]


def describe_node(node: Constraint) -> str:
    """Put one constraint into a sentence, as planning prompts list it."""
    return f"{node.region}: {node.expected_update} ({node.reason})"


FIELDS: dict[str, Callable[[Case], Any]] = {
    "instruction": lambda case: case.instruction,
    "families": _families,
    "taxonomy": _taxonomy,
    "graph_json": lambda case: case.oracle_json(),
    "graph_json_no_inter": lambda case: case.oracle_json(inter=False),
    "regions": lambda case: [n.region_clean for n in case.constraint_nodes],
    "reasons": lambda case: [n.reason_anon for n in case.constraint_nodes],
    "types": _types,
    "node_list": lambda case: bullet_list(describe_node(n) for n in case.constraint_nodes),
}
"""Fields that a template can ask for by name in `inputs`, computed from the case."""


def bullet_list(items: Iterable[str]) -> str:
    """Join items to a list with a dash before each."""
    return "\n".join(f"- {item}" for item in items)


def read_condition(path: Path) -> Condition:
    """Read one template file.

    Raises
    ------
    SchemaError
        If front matter is missing, lacks a field or has a value that is not allowed, or if the
        words are no Jinja2 template.
    """
    text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    parts = text.split("---\n", 2)
    if len(parts) != 3 or parts[0].strip():
        raise SchemaError(
            f"{path.name}: no front matter", allowed="a block between two lines of three dashes"
        )
    try:
        meta = yaml.safe_load(parts[1])
    except yaml.YAMLError as exc:
        raise SchemaError(f"{path.name}: front matter is not YAML: {exc}") from None
    if not isinstance(meta, dict) or (absent := [k for k in _REQUIRED if k not in meta]):
        missing = absent if isinstance(meta, dict) else _REQUIRED
        raise SchemaError(f"{path.name}: missing field {', '.join(missing)}", allowed=list(_REQUIRED))
    choices = {"family": FAMILIES, "output": OUTPUTS, "stage": ("single", "multi")}
    for field, allowed in choices.items():
        if meta.get(field, "single") not in allowed:
            raise SchemaError(f"{path.name}: {field}", got=meta[field], allowed=allowed)
    if unknown := [n for n in meta.get("needs", ()) if n not in NEEDS]:
        raise SchemaError(f"{path.name}: needs", got=unknown, allowed=NEEDS)
    condition = Condition(
        id=path.stem,
        label=str(meta["label"]),
        short=str(meta["short"]),
        order=int(meta["order"]),
        family=meta["family"],
        stage=meta.get("stage", "single"),
        inputs=tuple(meta["inputs"]),
        output=meta["output"],
        system=str(meta.get("system") or "").strip(),
        body=parts[2].strip(),
        needs=tuple(meta.get("needs", ())),
        image=bool(meta.get("image", True)),
    )
    for words in (condition.system, condition.body):
        try:
            _template(words)
        except TemplateError as exc:
            raise SchemaError(f"{path.name}: not a Jinja2 template: {exc}") from None
    return condition


@cache
def _template(words: str) -> Template:
    return _ENV.from_string(words)


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
        if not NEEDS[need](case):
            raise SchemaError(
                f"case {case.id} has no {need} for condition {told.id}",
                remedy="leave the case out, or annotate it",
            )
    shown = {}
    for name in told.inputs:
        if inputs is not None and name in inputs:
            shown[name] = inputs[name]
        elif name in FIELDS:
            shown[name] = FIELDS[name](case)
        else:
            raise SchemaError(
                f"condition {told.id} needs the input {name!r}",
                allowed=[*FIELDS, "values given as inputs="],
                remedy="multi-step conditions get it from an earlier stage: use icgkit.elicit",
            )
    try:
        before = _template(told.system).render(shown).strip()
        text = _template(told.body).render(shown)
    except TemplateError as exc:
        raise SchemaError(
            f"condition {told.id}: {exc}", allowed=told.inputs, remedy="list the field under inputs"
        ) from None
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
