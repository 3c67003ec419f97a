"""Drawn cases as a dataset: documents with drawn facts, one edit each, written case by case, so that it resumes."""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from icgforge.derive import Box, Derived, Edit, Node, derive, twin_of
from icgforge.page import Browser, Document, browser, documents
from icgforge.worlds import kinds
from icgkit.cases.case import Case
from icgkit.errors import UnknownName
from icgkit.files import write_whole

VERSION = "0.1"
MOST = 8
"""Cases of one document at most."""
SAME = 3
"""Of these, at most so many with the same surface edited."""
TRIES = 3
"""Draws of the facts of a document for each case that is wanted of it."""
OWN_LANGUAGE = 0.3
"""Share of instructions in the document's own language, where it has frames."""
WORD = {
    "color": "colour",
    "bg": "ground",
    "weight": "weight",
    "slant": "slant",
    "size": "size",
    "line": "line",
    "opacity": "strength",
    "border": "frame",
    "image": "ground",
    "family": "typeface",
}


@dataclass(frozen=True, slots=True)
class Made:
    """A case with its pictures as files: before, what differs after, and the twin's both, if it has one."""

    case: Case
    files: dict[str, bytes]
    twin: Case | None


@cache
def _frames() -> dict[str, dict[str, list[str]]]:
    table: dict[str, dict[str, list[str]]] = tomllib.loads(
        resources.files("icgforge").joinpath("frames.toml").read_text(encoding="utf-8")
    )
    return table


def instruction(made: Derived, rng: random.Random) -> str:
    """Return how somebody asks for the edit; the place is named where the old text stands more than once."""
    edit, target = made.edit, made.target
    old, new = target.was or "", target.now or ""
    once = _stands_once(made, old)
    own = _frames().get(edit.document.lang, {}).get("plain", [])
    if once and own and edit.document.lang != "en" and rng.random() < OWN_LANGUAGE:
        frame = rng.choice(own)
    else:
        frame = rng.choice(_frames()["en"]["plain" if once and rng.random() < 0.6 else "placed"])
    said = frame.format(old=old, new=new, place=edit.place)
    return said[:1].upper() + said[1:] if frame.startswith("{place}") else said


def _stands_once(made: Derived, text: str) -> bool:
    return sum(text in said for said in made.texts) == 1


def _color(rgb: str) -> str:
    numbers = [float(x) for x in re.findall(r"[\d.]+", rgb)[:3]]
    if len(numbers) < 3:
        return rgb
    names = {
        "black": (0, 0, 0), "white": (255, 255, 255), "grey": (128, 128, 128), "red": (200, 30, 40), "dark red": (120, 20, 30), "orange": (230, 130, 30),
        "yellow": (245, 205, 60), "green": (40, 140, 70), "dark green": (20, 80, 45), "light green": (150, 205, 130), "blue": (40, 100, 200), "dark blue": (20, 40, 100),
        "light blue": (140, 190, 235), "purple": (125, 60, 155), "pink": (235, 140, 180), "brown": (120, 75, 45), "beige": (235, 220, 190), "turquoise": (40, 160, 165),
    }  # fmt: skip
    return min(names, key=lambda n: sum((a - b) ** 2 for a, b in zip(names[n], numbers, strict=True)))


def update(made: Derived, node: Node) -> tuple[str, dict[str, Any]]:
    """Return what a node has to become, for a reader and as a predicate for a program."""
    world = made.edit.document.of
    if node.kind == "reflow" and node.shift is not None:
        dx, dy = node.shift
        ways = [
            f"{abs(d)} px {w[d > 0]}"
            for d, w in ((dx, ("to the left", "to the right")), (dy, ("up", "down")))
            if abs(d) > 1
        ]
        return f"moves {' and '.join(ways)}", {"moved": [dx, dy]}
    if "vanishes" in node.change:
        return (f"“{node.was}” goes" if node.was else f"{world.label(node.fact)} goes"), {
            "absent": node.was or True
        }
    if "appears" in node.change:
        return (f"“{node.now}” is added" if node.now else f"{world.label(node.fact)} is added"), {
            "present": node.now or True
        }
    if "content" in node.change and node.was and node.now and node.was != node.now:
        return f"“{node.was}” becomes “{node.now}”", {"text": node.now, "was": node.was}
    if "content" in node.change:
        was, now = (world.text(node.fact, v) for v in node.value)
        return f"shows {now} instead of {was}", {"value": node.value[1], "was": node.value[0]}
    said, what = [], {}
    for change in node.change:
        if change.startswith("look: "):
            name = change.removeprefix("look: ")
            a, b = made.looks[node.key]
            one, two = a.get(name, ""), b.get(name, "")
            if name in ("color", "bg", "border"):
                said.append(f"its {WORD[name]} turns from {_color(one)} to {_color(two)}")
            else:
                said.append(f"its {WORD.get(name, name)} changes from {one} to {two}")
            what[name] = two
    return "; ".join(said), {"look": what}


def _region(made: Derived, node: Node) -> str:
    names, world = made.edit.document.names, made.edit.document.of
    bare = node.key.rsplit("#", 1)[0]
    if node.kind == "reflow":
        parts = [
            f"“{made.said.get(k) or k.rsplit('#', 1)[0].removeprefix('static:')}”" for k in node.keys[:2]
        ]
        return (
            "the place of "
            + " and ".join(parts)
            + (" and what moves with them" if len(node.keys) > 2 else "")
        )
    name = names.get(bare) or names.get(node.fact) or world.label(node.fact)
    item = bare.split(":", 1)[1] if ":" in bare else ""
    return f"{name} ({item})" if item and bare not in names and node.fact in names else name


def graph(made: Derived) -> list[dict[str, Any]]:
    """Return the nodes of a case as the fields of `Constraint`, in reading order."""
    world, edit = made.edit.document.of, made.edit
    ordered = _ordered(made)
    ids = {node.key: f"n{k}" for k, node in enumerate(ordered, 1)}
    by_fact: dict[str, str] = {}
    for node in ordered:
        by_fact.setdefault(node.fact, ids[node.key])

    def parent(name: str) -> str | None:
        d = world.derivations.get(name)
        for o in d.of if d else ():
            if o != edit.fact and world.behind(o, edit.fact):
                found = by_fact.get(o) if o != edit.on else None
                if found or (found := parent(o)):
                    return found
        return None

    rows = []
    for node in ordered:
        said, predicate = update(made, node)
        if node.kind == "reflow" or node.kind == "copy":
            of = world.label(edit.on if edit.on in world.labels else edit.fact)
            reason = kinds()[node.kind].reason.format(of=of)
        else:
            reason = world.reason(node.fact, edit.fact)
        follows = None if node.kind == "reflow" else parent(node.fact)
        first, last = _seen_at(node), node.after
        row = {
            "id": ids[node.key], "region": _region(made, node), "subtype": kinds()[node.kind].subtype, "expected_update": said, "reason": reason,
            "bbox": [float(v) for v in first], "predicate": predicate, "follows": follows if follows != ids[node.key] else None, "subtype_also": list(node.also),
        }  # fmt: skip
        if last and last != first:
            row["bbox_after"] = [float(v) for v in last]
        rows.append(row)
    return rows


def candidates(doc: Document, seed: str) -> Iterator[tuple[str, Edit]]:
    """Yield edits of a document with a name each: every draw of its facts, every surface that may be edited."""
    world = doc.of
    for k in range(MOST * TRIES):
        rng = random.Random(f"{seed}/{doc.name}/{k}")
        facts = world.draw(rng)
        values = world.values(facts)
        if world.broken(values):
            continue
        surfaces = list(doc.edits)
        rng.shuffle(surfaces)
        for row in surfaces:
            fact = row.get("fact", row["target"].split(":")[0])
            new = world.edits[fact](values, rng)
            if (
                new is not None
                and new != facts[fact]
                and not world.broken(world.values({**facts, fact: new}))
            ):
                yield (
                    f"{doc.name}-{k}-{row['target']}".replace(":", "."),
                    Edit(doc, facts, row["target"], fact, new, row["place"]),
                )


def make(chromium: Browser, edit: Edit, name: str) -> tuple[Made | None, list[str]]:
    """Make one case, or say why it is rejected."""
    made = derive(chromium, edit)
    reasons = list(made.rejected)
    if not made.nodes and not reasons:
        reasons.append("nothing follows")
    if reasons:
        return None, reasons
    rng = random.Random(f"words/{name}")
    height, width = made.before.shape[:2]
    files = {f"images/{name}.webp": _webp(made.before), f"after/{name}.webp": _patch(made.before, made.after)}
    target = made.target
    data: dict[str, Any] = {
        "id": name, "image": f"images/{name}.webp", "image_size": [width, height], "instruction": instruction(made, rng),
        "image_sha256": hashlib.sha256(files[f"images/{name}.webp"]).hexdigest(),
        "target": {"element": target.was, "region": edit.place, "action": f"becomes {target.now}", "bbox": [float(v) for v in target.before or ()]},
        "constraint_nodes": graph(made), "source": "icgforge",
        "metadata": {"template": edit.document.name, "world": edit.document.world, "kind": edit.document.kind, "lang": edit.document.lang, "script": edit.document.script,
                     "setting": "flat", "fact": edit.fact, "target_after": [int(v) for v in target.after or ()]},
    }  # fmt: skip
    case = Case.model_validate(data)
    return Made(case, files, _twin(chromium, made, case, files)), []


def _twin(chromium: Browser, made: Derived, case: Case, files: dict[str, bytes]) -> Case | None:
    cut = twin_of(made.edit, made)
    if cut is None:
        return None
    edit, frozen, gone = cut
    twin = derive(chromium, edit, frozen)
    if twin.rejected or {n.key for n in twin.nodes} & gone or twin.target.was != made.target.was:
        return None
    files[f"twins/{case.id}.webp"] = _patch(made.before, twin.before)
    nodes = graph(twin)
    free = [n.id for n, node in zip(case.constraint_nodes, _ordered(made), strict=True) if node.key in gone]
    shown = np.array(twin.before)
    return case.model_copy(
        update={
            "id": f"{case.id}-twin", "image": f"twins/{case.id}.webp", "image_sha256": None, "constraint_nodes": Case.model_validate(json.loads(case.to_json()) | {"constraint_nodes": nodes}).constraint_nodes,
            "metadata": case.metadata | {"twin_of": case.id, "twin_kind": "counterfactual", "free": free, "sha256_pixels": hashlib.sha256(shown.tobytes()).hexdigest()},
        }
    )  # fmt: skip


def _ordered(made: Derived) -> list[Node]:
    return sorted(made.nodes, key=lambda n: (_seen_at(n)[1] // 24, _seen_at(n)[0]))


def _seen_at(node: Node) -> Box:
    box = node.before or node.after
    assert box is not None
    return box


def _webp(pixels: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "WEBP", lossless=True, quality=60, method=4)
    return out.getvalue()


def _patch(before: np.ndarray, after: np.ndarray) -> bytes:
    """Return what differs as a picture that is clear everywhere else: laid over `before` it gives `after`."""
    alpha = np.where((before != after).any(2), 255, 0).astype(np.uint8)
    rgba = np.dstack([np.where(alpha[..., None] > 0, after, 0), alpha])
    out = io.BytesIO()
    Image.fromarray(rgba, "RGBA").save(out, "WEBP", lossless=True, quality=60, method=4, exact=True)
    return out.getvalue()


@dataclass
class Log:
    """What has been made and rejected so far, one line each, so that a stopped run goes on where it was."""

    folder: Path

    def __post_init__(self) -> None:
        """Read what is there; a line that was cut off is made again."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / "made.jsonl"
        self.rows: dict[str, dict[str, Any]] = {}
        for line in self.path.read_text(encoding="utf-8").split("\n") if self.path.is_file() else ():
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue
            self.rows[row["name"]] = row

    def row(self, chromium: Browser, edit: Edit, name: str) -> dict[str, Any]:
        """Return the line of a case, made now if it is not there yet."""
        if name in self.rows:
            return self.rows[name]
        made, reasons = make(chromium, edit, name)
        for path, data in made.files.items() if made else ():
            (self.folder / path).parent.mkdir(exist_ok=True)
            write_whole(self.folder / path, data)
        row = {
            "name": name, "reasons": reasons, "case": made.case.to_json() if made else None,
            "twin": made.twin.to_json() if made and made.twin else None,
        }  # fmt: skip
        with open(self.path, "a", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
        self.rows[name] = row
        return row


def build(
    out: Path,
    n: int,
    seed: str = "1",
    names: Iterable[str] = (),
    progress: Callable[[int], Any] | None = None,
    chromium: Browser | None = None,
) -> tuple[list[Case], Counter[str]]:
    """Draw `n` cases, evenly over documents, into a folder; what is there already is kept. Return cases and rejects by reason.

    Raises
    ------
    UnknownName
        For a document that there is not.
    """
    known = documents()
    chosen = list(names) or list(known)
    for name in chosen:
        if name not in known:
            raise UnknownName.among("document", name, known)
    log, rejects = Log(out), Counter[str]()
    rows: list[dict[str, Any]] = []
    opened: AbstractContextManager[Browser] = nullcontext(chromium) if chromium else browser()
    with opened as page:
        for name in chosen:
            rows += _of_document(
                known[name], min(MOST, -(-n // len(chosen))), seed, log, page, rejects, progress
            )
    rows = rows[:n]
    cases = [Case.from_json(row["case"]) for row in rows]
    twins = [Case.from_json(row["twin"]) for row in rows if row["twin"]]
    for path, many in (("cases.jsonl", cases), ("twins.jsonl", twins)):
        write_whole(out / path, "".join(c.to_json() + "\n" for c in many).encode())
    toml = (
        f'name = "{out.name}"\nversion = "{VERSION}"\nlicence = "CC0-1.0"\nimage_root = "."\n'
        'provenance = "Drawn by icgforge from worlds, documents and edits; every graph follows from its world."\n'
    )
    write_whole(out / "dataset.toml", toml.encode())
    return cases, rejects


def _of_document(
    doc: Document,
    most: int,
    seed: str,
    log: Log,
    chromium: Browser,
    rejects: Counter[str],
    progress: Callable[[int], Any] | None,
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    used = Counter[str]()
    for name, edit in candidates(doc, seed):
        if len(rows) >= most:
            break
        if used[edit.on] >= SAME:
            continue
        row = log.row(chromium, edit, name)
        rejects.update(reason.split(":")[0] for reason in row["reasons"][:1])
        if row["case"]:
            rows.append(row)
            used[edit.on] += 1
            if progress:
                progress(1)
    return rows
