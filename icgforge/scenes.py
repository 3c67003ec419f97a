"""Drawn cases as a dataset: documents with drawn facts, one edit each, written case by case, so that it resumes."""

from __future__ import annotations

import atexit
import hashlib
import io
import itertools
import json
import os
import random
import re
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from icgforge.derive import Box, Derived, Edit, Node, derive, twin_of
from icgforge.page import Browser, Document, browser, documents
from icgforge.worlds import kinds
from icgkit.cases.case import Case, Target
from icgkit.errors import UnknownName
from icgkit.files import write_whole
from icgkit.taxonomy import subtype

VERSION = "0.1"
CANARY = "icg-scenes canary 5d0c1c0e-8f43-4c55-9a57-2f7c7b1d94a6: benchmark data, not to be trained on"
"""Stands in every text file of the set, so that a corpus that holds it can be found."""
HELD_OUT = 0.3
"""Share of the worlds that are held out."""
DRAWS = 24
"""Draws of the facts of a document at most."""
LETTERS = ("[A]", "[B]", "[C]")
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
    """A case with its pictures as files: before, what differs after, those of its twins; and the twins themselves."""

    case: Case
    files: dict[str, bytes]
    twins: tuple[Case, ...]


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


def _look(name: str, one: str, two: str) -> str:
    """Return a change of style as a reader sees it."""
    if name in ("color", "bg", "border"):
        return f"its {WORD[name]} turns from {_color(one)} to {_color(two)}"
    if name in ("weight", "size", "opacity"):
        a, b = (float(re.sub(r"[^\d.]", "", x) or 0) for x in (one, two))
        if name == "size" and a and b:
            return f"its letters become {'larger' if b > a else 'smaller'}, {b / a:.1f} times as high"
        words = {
            "weight": ("lighter", "bolder"),
            "opacity": ("paler", "stronger"),
            "size": ("smaller", "larger"),
        }
        return f"it becomes {words[name][b > a]}"
    if name == "slant":
        return "it becomes italic" if two == "italic" else "it is no longer italic"
    if name == "line":
        return "it is struck through or underlined" if two != "none" else "its line goes"
    return f"its {WORD.get(name, name)} changes"


def update(made: Derived, node: Node) -> tuple[str, dict[str, Any]]:
    """Return what a node has to become, for a reader and as a predicate for a program."""
    world = made.edit.document.of
    if node.flipped:
        words, predicate = update(made, replace(node, flipped=""))
        return words, predicate | {"flipped": node.flipped}
    if node.shift is not None:
        dx, dy = node.shift
        ways = [
            f"{abs(d)} px {w[d > 0]}"
            for d, w in ((dx, ("to the left", "to the right")), (dy, ("up", "down")))
            if abs(d) > 1
        ]
        return f"moves {' and '.join(ways)}", {"moved": [dx, dy]}
    if "vanishes" in node.change:
        return (f"“{node.was}” goes" if node.was else f"{_region(made, node)} goes"), {
            "absent": node.was or True
        }
    if "appears" in node.change:
        return (f"“{node.now}” is added" if node.now else f"{_region(made, node)} is added"), {
            "present": node.now or True
        }
    if "content" in node.change and node.was and node.now and node.was != node.now:
        return f"“{node.was}” becomes “{node.now}”", {"text": node.now, "was": node.was}
    if "content" in node.change:
        was, now = (world.text(node.fact, v) for v in node.value)
        seen = re.sub(r"\ba (?=[aeiou])", "an ", f"shows {now} instead of {was}")
        return seen, {"value": node.value[1], "was": node.value[0]}
    said, what = [], {}
    for change in node.change:
        if change.startswith("look: "):
            name = change.removeprefix("look: ")
            a, b = made.looks[node.key]
            one, two = a.get(name, ""), b.get(name, "")
            said.append(_look(name, one, two))
            what[name] = two
    return "; ".join(said), {"look": what}


def _region(made: Derived, node: Node) -> str:
    if node.mirrors:
        return f"the {node.seen_in}: {_region(made, _mirrored(made, node))}"
    names, world = made.edit.document.names, made.edit.document.of
    bare = node.key.rsplit("#", 1)[0]
    if node.shift is not None:
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


def _mirrored(made: Derived, node: Node) -> Node:
    return next(n for n in [made.target, *made.nodes] if n.key == node.mirrors)


def graph(made: Derived) -> list[dict[str, Any]]:
    """Return the nodes of a case as the fields of `Constraint`, in reading order."""
    world, edit = made.edit.document.of, made.edit
    ordered = _ordered(made)
    ids = {node.key: f"n{k}" for k, node in enumerate(ordered, 1)}
    by_fact: dict[str, str] = {}
    for node in ordered:
        if not node.mirrors:
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
        if node.mirrors:
            reason, many = kinds()[node.kind].say([_region(made, _mirrored(made, node))]), 1
        elif node.kind == "reflow" or node.kind == "copy":
            of = world.label(edit.on if edit.on in world.labels else edit.fact)
            reason, many = kinds()[node.kind].say([of]), 1
        else:
            reason = world.reason(node.fact, edit.fact)
            many = min(3, len(world.derivations[node.fact].of))
        follows = ids.get(node.mirrors) if node.mirrors else None
        if not node.mirrors and node.kind != "reflow":
            follows = parent(node.fact)
        first, last = _seen_at(node), node.after
        row = {
            "id": ids[node.key], "region": _region(made, node), "subtype": kinds()[node.kind].subtype, "expected_update": said, "reason": reason,
            "region_clean": _where(first, made.before.shape[1::-1]), "reason_anon": kinds()[node.kind].say(LETTERS[:many]),
            "bbox": [float(v) for v in first], "predicate": predicate, "follows": follows if follows != ids[node.key] else None, "subtype_also": list(node.also),
        }  # fmt: skip
        if last and last != first:
            row["bbox_after"] = [float(v) for v in last]
        rows.append(row)
    return rows


def _where(box: Box, size: Sequence[int]) -> str:
    """Return a place in words that tell nothing of what stands there."""
    x, y = ((box[0] + box[2]) / 2 / size[0], (box[1] + box[3]) / 2 / size[1])
    rows, columns = ("upper", "middle", "lower"), ("left", "centre", "right")
    part = f"{rows[min(2, int(3 * y))]} {columns[min(2, int(3 * x))]}"
    return f"the spot {100 * x:.0f} % across from the left and {100 * y:.0f} % down from the top ({part})"


def ties(nodes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the edges between nodes: what is worked out from what, and what has to say the same."""
    said: dict[str, str] = {}
    rows = []
    for node in nodes:
        if node["follows"]:
            rows.append(
                {
                    "between": [node["follows"], node["id"]],
                    "type": "derivation",
                    "description": f"{node['region']} is worked out from {node['follows']}",
                }
            )
        text = (node["predicate"] or {}).get("text")
        if text and said.setdefault(text, node["id"]) != node["id"] and node["follows"] != said[text]:
            rows.append(
                {
                    "between": [said[text], node["id"]],
                    "type": "same value",
                    "description": f"both read “{text}”",
                }
            )
    return rows  # fmt: skip


def knobs(made: Derived) -> dict[str, Any]:
    """Return what can make a case hard, as numbers."""
    height, width = made.before.shape[:2]
    middle = _middle(made.target.before or made.target.after)
    changed = {k for node in [made.target, *made.nodes] for k in node.keys}
    rest = [t for k, t in made.said.items() if t and k not in changed]
    grey = made.before.mean(2)
    far, seen = [], []
    for node in made.nodes:
        x0, y0, x1, y1 = _seen_at(node)
        far.append(abs(_middle((x0, y0, x1, y1)) - middle) / abs(complex(width, height)))
        seen.append(
            100 * (x1 - x0) * (y1 - y0) / (width * height) * min(1.0, float(grey[y0:y1, x0:x1].std()) / 64)
        )
    shape = _shape(made.target.was or "")
    return {
        "indirectness": max(subtype(kinds()[n.kind].subtype).indirectness for n in made.nodes), "nodes": len(made.nodes),
        "distractors": len(rest), "same_shape": sum(_shape(t) == shape for t in rest), "distance": round(float(np.mean(far)), 4), "salience": round(float(np.mean(seen)), 3),
    }  # fmt: skip


def _middle(box: Box | None) -> complex:
    x0, y0, x1, y1 = box or (0, 0, 0, 0)
    return complex((x0 + x1) / 2, (y0 + y1) / 2)


def _shape(text: str) -> str:
    """Return what kind of signs a text is made of: figures as 9, letters as a, runs as one."""
    return re.sub(r"(.)\1+", r"\1", "".join("9" if c.isdigit() else "a" if c.isalpha() else c for c in text))


def candidates(doc: Document, seed: str) -> Iterator[tuple[str, Edit]]:
    """Yield edits of a document with a name each: of every draw of its facts, half of the surfaces that may be edited."""
    world = doc.of
    for k in range(DRAWS):
        rng = random.Random(f"{seed}/{doc.name}/{k}")
        facts = world.draw(rng)
        values = world.values(facts)
        if world.broken(values):
            continue
        surfaces = list(doc.edits)
        rng.shuffle(surfaces)
        for row in surfaces[: max(2, -(-len(surfaces) // 2))]:
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
    files = {f"images/{name}.webp": _webp(made.before), f"after/{name}.webp": patch(made.before, made.after)}
    case = case_of(made, name, files, {"setting": "flat"})
    twins = (_twin(chromium, made, case, files), infeasible(made, case))
    return Made(case, files, tuple(t for t in twins if t)), []


def case_of(made: Derived, name: str, files: Mapping[str, bytes], about: Mapping[str, Any]) -> Case:
    """Return the case of an edit; the first of its files is the picture before, `about` goes into its metadata."""
    rng, edit, image = random.Random(f"words/{name}"), made.edit, next(iter(files))
    height, width = made.before.shape[:2]
    target, nodes = made.target, graph(made)
    data: dict[str, Any] = {
        "id": name, "image": image, "image_size": [width, height], "instruction": instruction(made, rng),
        "image_sha256": hashlib.sha256(files[image]).hexdigest(),
        "target": {"element": target.was, "region": edit.place, "action": f"becomes {target.now}", "bbox": [float(v) for v in target.before or ()]},
        "constraint_nodes": nodes, "inter_constraints": ties(nodes), "source": "icgforge",
        "metadata": {"template": edit.document.name, "world": edit.document.world, "kind": edit.document.kind, "lang": edit.document.lang, "script": edit.document.script,
                     "split": split_of(edit.document), **about, "fact": edit.fact, "target_after": [int(v) for v in target.after or ()], "knobs": knobs(made), "canary": CANARY},
    }  # fmt: skip
    return Case.model_validate(data)


def _twin(chromium: Browser, made: Derived, case: Case, files: dict[str, bytes]) -> Case | None:
    cut = twin_of(made.edit, made)
    if cut is None:
        return None
    edit, frozen, gone = cut
    twin = derive(chromium, edit, frozen)
    if twin.rejected or {n.key for n in twin.nodes} & gone or twin.target.was != made.target.was:
        return None
    path = f"twins/{case.id}.webp"
    files[path] = _webp(twin.before)
    return twin_case((made, twin), case, gone, (path, files[path]))


def twin_case(both: tuple[Derived, Derived], case: Case, gone: set[str], picture: tuple[str, bytes]) -> Case:
    """Return a case in the world where the nodes in `gone` are not forced, with its picture's path and bytes."""
    made, twin = both
    nodes = graph(twin)
    ids = {node.key: n.id for n, node in zip(case.constraint_nodes, _ordered(made), strict=True)}
    free = [i for key, i in ids.items() if key in gone]
    still = {node.key for node in twin.nodes} | gone
    open_ = [i for key, i in ids.items() if key not in still]
    target = case.target.model_dump() | {"bbox": [float(v) for v in twin.target.before or ()]}
    data = case.model_dump() | {
        "id": f"{case.id}-twin", "image": picture[0], "image_sha256": hashlib.sha256(picture[1]).hexdigest(), "target": target,
        "constraint_nodes": nodes, "inter_constraints": ties(nodes),
        "metadata": case.metadata | {"twin_of": case.id, "twin_kind": "counterfactual", "free": free} | ({"undetermined": open_} if open_ else {}),
    }  # fmt: skip
    return Case.model_validate(data)


def infeasible(made: Derived, case: Case) -> Case | None:
    """Return the same picture with an edit of a text that does not stand in it, drawn for the same surface."""
    edit, world = made.edit, made.edit.document.of
    rng = random.Random(f"infeasible/{case.id}")
    shown = " ".join(made.texts)
    for _ in range(200):
        values = world.values(world.draw(rng))
        new = world.edits[edit.fact](values, rng)
        if new is None:
            continue
        name = edit.on.split(":")[0]
        after = world.values({**values, edit.fact: new})
        old, said = (world.text(name, v[name]) for v in (values, after))
        if old != said and old not in shown and said != made.target.was:
            frames = _frames()["en"]["plain"]
            return case.model_copy(
                update={
                    "id": f"{case.id}-infeasible", "instruction": rng.choice(frames).format(old=old, new=said),
                    "target": Target(element=old, region="nowhere in the picture", action=f"becomes {said}"),
                    "constraint_nodes": (), "inter_constraints": (),
                    "metadata": case.metadata | {"twin_of": case.id, "twin_kind": "infeasible"},
                }
            )  # fmt: skip
    return None


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


def patch(before: np.ndarray, after: np.ndarray) -> bytes:
    """Return what differs as a picture that is clear everywhere else: laid over `before` it gives `after`."""
    alpha = np.where((before != after).any(2), 255, 0).astype(np.uint8)
    rgba = np.dstack([np.where(alpha[..., None] > 0, after, 0), alpha])
    out = io.BytesIO()
    Image.fromarray(rgba, "RGBA").save(out, "WEBP", lossless=True, quality=60, method=4, exact=True)
    return out.getvalue()


Row = dict[str, Any]
"""A candidate as it is logged: name, reasons for which it is rejected, case and twins as they are written, stamp."""


@cache
def _engine() -> bytes:
    folder = Path(str(resources.files("icgforge")))
    parts = [
        folder / n
        for n in (
            "scenes.py",
            "derive.py",
            "page.py",
            "kinds.toml",
            "frames.toml",
            "worlds/__init__.py",
            "worlds/_lib.py",
        )
    ]
    return b"".join(p.read_bytes() for p in [*parts, *sorted((folder / "scripts").glob("*.js"))])


def stamp_of(doc: Document, seed: str) -> str:
    """Return the hash of all that a document's cases hang on: seed, itself, its world, the label rule, the program."""
    world = resources.files("icgforge") / "worlds" / f"{doc.world}.py"
    data = f"{seed}/{doc!r}".encode() + (world.read_bytes() if world.is_file() else b"")
    return hashlib.sha256(_engine() + data).hexdigest()[:16]


class Log:
    """What has been made and rejected so far, one line each, so that a stopped run goes on where it was."""

    def __init__(self, folder: Path) -> None:
        """Read what is there; a line that was cut off, or made from another version of its document, is made again."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "made.jsonl"
        self.rows: dict[str, Row] = {}
        for line in self.path.read_text(encoding="utf-8").split("\n") if self.path.is_file() else ():
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue
            self.rows[row["name"]] = row

    def get(self, stamp: str, name: str) -> Row | None:
        """Return the line of a candidate if it is still what its document gives."""
        row = self.rows.get(name)
        return row if row and row["stamp"] == stamp else None

    def add(self, row: Row) -> None:
        """Write a line at once."""
        with open(self.path, "a", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
        self.rows[row["name"]] = row


@dataclass(frozen=True, slots=True)
class Task:
    """Some candidates of one document that are to be made."""

    out: Path
    document: str
    seed: str
    stamp: str
    wanted: tuple[str, ...]

    def edits(self) -> dict[str, Edit]:
        """Return the edits that are wanted, by name."""
        return {k: e for k, e in candidates(documents()[self.document], self.seed) if k in self.wanted}


def draw(chromium: Browser, task: Task, known: Mapping[str, Edit], name: str) -> Row:
    """Make one candidate, write its pictures, and return its line."""
    return written(task.out, name, task.stamp, make(chromium, known[name], name))


def written(folder: Path, name: str, stamp: str, told: tuple[Made | None, list[str]]) -> Row:
    """Write the pictures of a candidate, if it is not rejected, and return its line."""
    made, reasons = told
    for path, data in made.files.items() if made else ():
        (folder / path).parent.mkdir(exist_ok=True)
        write_whole(folder / path, data)
    return {
        "name": name, "reasons": reasons, "stamp": stamp, "case": made.case.to_json() if made else None,
        "twins": [t.to_json() for t in made.twins] if made else [],
    }  # fmt: skip


def _draw_in_worker(task: Task) -> list[Row]:
    """Make some candidates of one document in a process of its own, which keeps its browser."""
    edits = task.edits()
    return [draw(_own_browser(), task, edits, k) for k in task.wanted]


def _end_with(parent: int) -> None:
    """End this process when its parent is no longer there, killed or not."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@cache
def _own_browser() -> Browser:
    opened = browser()
    page = opened.__enter__()
    atexit.register(opened.__exit__, None, None, None)
    return page


@dataclass(frozen=True, slots=True)
class Draw:
    """What is drawn: documents by name (all if none), candidates of each, the seed by split, processes."""

    each: int
    seeds: Mapping[str, str] = field(default_factory=lambda: {"public": "1", "held_out": "1"})
    names: tuple[str, ...] = ()
    jobs: int = 1


def draw_all(
    out: Path,
    wish: Draw,
    progress: Callable[[int], Any] | None = None,
    chromium: Browser | None = None,
) -> list[Row]:
    """Make all candidates that are wished for into a folder; what is there already is kept. Return their lines.

    Raises
    ------
    UnknownName
        For a document that there is not.
    """
    known, log, found = documents(), Log(out), []
    tasks: list[Task] = []
    for name in wish.names or known:
        if name not in known:
            raise UnknownName.among("document", name, known)
        seed = wish.seeds[split_of(known[name])]
        stamp = stamp_of(known[name], seed)
        keys = [k for k, _ in itertools.islice(candidates(known[name], seed), wish.each)]
        found += keys
        missing = [k for k in keys if log.get(stamp, k) is None]
        if progress:
            progress(len(keys) - len(missing))
        tasks += [Task(out, name, seed, stamp, tuple(missing[i : i + 4])) for i in range(0, len(missing), 4)]
    rows = _in_processes(tasks, wish.jobs) if wish.jobs > 1 else _one_by_one(tasks, chromium)
    for row in rows:
        log.add(row)
        if progress:
            progress(1)
    return [log.rows[k] for k in found]


def _in_processes(tasks: Sequence[Task], jobs: int) -> Iterator[Row]:
    with ProcessPoolExecutor(jobs, get_context("spawn"), _end_with, (os.getpid(),)) as pool:
        for done in as_completed([pool.submit(_draw_in_worker, task) for task in tasks]):
            yield from done.result()


def _one_by_one(tasks: Sequence[Task], chromium: Browser | None) -> Iterator[Row]:
    opened: AbstractContextManager[Browser] = nullcontext(chromium) if chromium else browser()
    with opened as page:
        for task in tasks:
            edits = task.edits()
            for k in task.wanted:
                yield draw(page, task, edits, k)


def split_of(doc: Document) -> str:
    """Return `public` or `held_out`, by the hash of the document's world: documents of one world are never parted."""
    part = int(hashlib.sha256(f"{doc.world} is held out".encode()).hexdigest()[:8], 16) / 16**8
    return "held_out" if part < HELD_OUT else "public"
