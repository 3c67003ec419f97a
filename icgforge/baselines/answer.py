"""Put findings into words, in the form that a prompt asks for."""

from __future__ import annotations

import json

from icgforge.baselines.attention import told
from icgforge.baselines.baselines import candidates, sees, sight_of, target_line
from icgforge.baselines.findings import Finding
from icgforge.baselines.task import Edit, Task
from icgforge.baselines.verify import check_node, guess_subtype, overlap
from icgkit.taxonomy import category

_LOCAL = (
    "Set the new text in the typeface, size and colour of the old one, keep its alignment, and clean "
    "up the background where letters go away."
)


def answer(model: str, task: Task) -> str:
    """Return the baseline's answer to a task (every form but those of the stages)."""
    if task.form in ("nodes", "labels"):
        return _about_nodes(model, task)
    if task.form == "list":
        return _about_list(model, task)
    if task.form == "plan":
        return _plan(model, task)
    found = told(candidates(model, task.edit, task.image), task)
    if task.form == "json_graph":
        return _graph(model, task, found)
    if task.form == "json_array":
        return json.dumps([_node(f) for f in found], ensure_ascii=False, indent=1)
    if task.form == "markdown":
        rows = [
            f"| {_cell(f.region)} | {_family(f)} | {_cell(f.update)} | {_cell(f.reason)} |" for f in found
        ]
        return "\n".join(
            ["| Region | Constraint type | Expected update | Reason |", "|---|---|---|---|", *rows]
        )
    return _prose(model, task, found)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _family(finding: Finding) -> str:
    return category(finding.subtype).label.lower()


def _node(finding: Finding) -> dict[str, str]:
    return {
        "region": finding.region,
        "constraint_type": _family(finding),
        "expected_update": finding.update,
        "reason": finding.reason,
    }


def _sentence(finding: Finding) -> str:
    return f"{finding.region[:1].upper()}{finding.region[1:]}: {finding.update}, because {finding.reason}."


def _where(model: str, task: Task) -> str:
    sight = sight_of(model, task.image)
    line = target_line(sight, task.edit) if sight else None
    if line and sight:
        return f'The edited element is "{line.text}" at the {sight.place(line.box)}.'
    return f'The edited element is "{task.edit.old}".'


def _prose(model: str, task: Task, found: list[Finding]) -> str:
    head = [_where(model, task)]
    if not task.names(r"implicit constraint"):
        head.append(_LOCAL)
    if task.names(r"one paragraph a constraint|plain prose"):
        body = [f"{_sentence(f)} The type is {_family(f)}." for f in found]
        return "\n\n".join(body or ["Nothing else has to change."])
    marks = [f"- {_sentence(f)}" for f in found] or ["- Nothing else in the picture has to change."]
    return "\n".join([*head, "", *marks])


def _graph(model: str, task: Task, found: list[Finding]) -> str:
    nodes = [
        {"id": f"n{k}"} | _node(f) | {"strength": "strong" if f.score > 0.6 else "weak"}
        for k, f in enumerate(found, 1)
    ]
    pairs = [
        {
            "between": [nodes[a]["id"], nodes[b]["id"]],
            "type": "agreement",
            "description": "both follow the same edit",
        }
        for a in range(len(found))
        for b in range(a + 1, len(found))
        if category(found[a].subtype).id == category(found[b].subtype).id
    ]
    target = {"element": task.edit.old, "region": _where(model, task), "action": f"becomes {task.edit.new}"}
    graph = {"edit_target": target, "constraint_nodes": nodes, "inter_constraints": pairs[:4]}
    return json.dumps(graph, ensure_ascii=False, indent=1)


def _about_nodes(model: str, task: Task) -> str:
    checks = [(n, check_node(model, task, n)) for n in task.nodes]
    lines = []
    if task.form == "labels":
        lines += [f"{n.get('id', '?')}: {'VALID' if c.holds else 'INVALID'}" for n, c in checks]
        lines.append("")
    for node, check in checks:
        name = node.get("id", "?")
        if check.holds:
            lines.append(
                f"{name}: {node.get('region', '')} can be located; {check.why}. The update is right: "
                f"{node.get('expected_update', '')}. Reason: {node.get('reason', '')}."
            )
        else:
            lines.append(
                f"{name}: not confirmed; {_doubt(model, check.why)}. No update can be supported here."
            )
    held = {n.get("id") for n, c in checks if c.holds}
    for edge in task.relations:
        ends = edge.get("between") or []
        if len(ends) == 2:
            verdict = "has to hold" if set(ends) <= held else "cannot be judged"
            lines.append(f"Relation {ends[0]} with {ends[1]}: {verdict}.")
    return "\n".join([*lines, *_missing(model, task)])


def _doubt(model: str, why: str) -> str:
    if not sees(model)[0]:
        return "the request alone does not bear it out"
    return why if why.startswith("worked out") else "nothing in the picture that can be made out bears it out"


def _missing(model: str, task: Task) -> list[str]:
    known = {n.get("constraint_type") for n in task.nodes}
    extra = [f for f in candidates(model, task.edit, task.image) if f.score > 0.9 and f.subtype not in known]
    return [f"Missing: {_sentence(f)}" for f in extra[:2]]


def _about_list(model: str, task: Task) -> str:
    found = candidates(model, task.edit, task.image)
    used: set[int] = set()
    lines = []
    for k, item in enumerate(task.items, 1):
        pick = _pick(task, item, found, used)
        if pick is None:
            lines.append(f"{k}. None of the places that can be made out fits; no change is confirmed.")
            continue
        used.add(pick)
        f = found[pick]
        place = item if task.listed == "region" else f.region
        seen = f" ({f.region})" if task.listed == "region" else ""
        lines.append(f"{k}. {place}{seen}: {f.update}, because {f.reason}.")
    return "\n".join(lines)


def _pick(task: Task, item: str, found: list[Finding], used: set[int]) -> int | None:
    """Return the finding that answers one item of a list, or None."""
    if task.listed == "region":

        def fit(f: Finding) -> float:
            return (
                overlap(item, f"{f.region} {f.shown}") * 0.8
                + 0.4 * f.score
                + (0.25 if places(item, f.region) else 0.0)
            )

        least = 0.5
    else:
        label = item.rsplit(":", 1)[-1].strip().lower()
        kind = _by_label(label) if task.listed == "type" else guess_subtype(item)

        def fit(f: Finding) -> float:
            return f.score + 1 if f.subtype == kind else 0.0

        least = 1.22
    ranked = [(fit(f), -k) for k, f in enumerate(found) if k not in used]
    if not ranked:
        return None
    best, k = max(ranked)
    return -k if best >= least else None


_PLACES = (("upper", "top"), ("lower", "bottom", "foot"), ("left",), ("right",), ("middle", "centre"))


def places(a: str, b: str) -> bool:
    """Say whether two descriptions name the same part of the picture."""

    def named(text: str) -> set[int]:
        return {k for k, words in enumerate(_PLACES) if any(w in text.lower() for w in words)}

    return bool(named(a)) and named(a) - {4} <= named(b)


def _by_label(label: str) -> str:
    from icgkit.taxonomy import SUBTYPES

    return next(
        (s.id for s in SUBTYPES.values() if s.label.lower() == label or s.id == label), guess_subtype(label)
    )


def _plan(model: str, task: Task) -> str:
    """Numbered steps: the edit, then what was given or found, as exact changes."""
    edit: Edit = task.edit
    steps = [f'Replace "{edit.old}" by "{edit.new}". {_LOCAL}']
    if task.items:
        steps += [_given_step(model, task, item) for item in task.items[:14]]
    else:
        found = told(candidates(model, edit, task.image), task)
        steps += [f"{f.region[:1].upper()}{f.region[1:]}: {f.update}." for f in found]
    return "\n".join(f"{k}. {s}" for k, s in enumerate(steps, 1))


def _given_step(model: str, task: Task, item: str) -> str:
    """A step for a constraint that the prompt lists: taken over with what can be seen there."""
    found = candidates(model, task.edit, task.image)
    best = max(found, key=lambda f: overlap(item, f"{f.region} {f.update} {f.shown}"), default=None)
    body = item.rstrip(".")
    if best and best.shown and overlap(item, best.region) > 0.5:
        body += f' (now "{best.shown}")'
    return f"{body}."
