"""The drawn set as it is shipped: cases, twins, patches, data card, Croissant description."""

from __future__ import annotations

import hashlib
import json
import random
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2

from icgforge.choose import Wishes, choose, report
from icgforge.page import Browser, documents
from icgforge.scenes import CANARY, Draw, Row, draw_all
from icgkit.cases.case import Case
from icgkit.cases.dataset import read_cases, sha256_of
from icgkit.errors import SchemaError
from icgkit.files import write_whole
from icgkit.taxonomy import CATEGORIES, SUBTYPES

VERSION = "1.0"
LICENCE = "CC0-1.0"
PROVENANCE = (
    "Drawn by icgforge from worlds, documents and edits; every graph follows from its world. See README.md."
)
DRAWN, SHOT = ".drawn", ".shot"
"""Folders of all candidates and of all photographs, by which a stopped run goes on."""
OVER = 4
"""Candidates drawn for each case that is wished for."""


@dataclass(frozen=True, slots=True)
class Order:
    """A set that is to be drawn: how many cases, from which seeds, of which documents (all if none), by how many processes."""

    n: int
    seed: str = "1"
    held_out_seed: str = ""
    """Seed of the documents that are held out; the same one if empty."""
    names: tuple[str, ...] = ()
    jobs: int = 1
    photographs: int = 0
    """How many of the cases are photographs of a document in a path-traced setting."""
    wishes: Wishes = field(default_factory=Wishes)

    def draw(self) -> Draw:
        """Return what has to be drawn so that there is something to choose from."""
        names = list(self.names or documents())
        if self.n < len(names):
            random.Random(f"documents/{self.seed}").shuffle(names)
            names = names[: max(1, self.n)]
        seeds = {"public": self.seed, "held_out": self.held_out_seed or self.seed}
        return Draw(max(2, -(-self.n * OVER // len(names))), seeds, tuple(sorted(names)), self.jobs)


def fresh_seed() -> str:
    """Return a seed that nobody can have known."""
    return secrets.token_hex(16)


def build(
    out: Path, order: Order, progress: Callable[[int], Any] | None = None, chromium: Browser | None = None
) -> list[Case]:
    """Draw a set into a folder and describe it; what is drawn already is kept.

    Raises
    ------
    UnknownName
        For a document that there is not.
    """
    wish = order.draw()
    rows = draw_all(out / DRAWN, wish, progress, chromium)
    made = {row["name"]: row for row in rows if row["case"]}
    twinned = {k for k, row in made.items() if any(_kind(text) == "counterfactual" for text in row["twins"])}
    drawn = [Case.from_json(row["case"]) for row in made.values()]
    seeds = {"public": order.seed, "held_out": order.held_out_seed or order.seed}
    shots = _photographed(out / SHOT, order) if order.photographs else {}
    given = [Case.from_json(row["case"]) for row in shots.values()]
    cases = [*choose(drawn, order.n - len(given), order.wishes, order.seed, twinned, given), *given]
    _write(out, cases, made | shots)
    known = {
        "seed_public": seeds["public"],
        "seed_held_out_sha256": hashlib.sha256(seeds["held_out"].encode()).hexdigest(),
    }
    lines = {"name": out.name, "version": VERSION, "licence": LICENCE, "image_root": ".", "provenance": PROVENANCE, "canary": CANARY, **known}  # fmt: skip
    write_whole(out / "dataset.toml", "".join(f"{k} = {json.dumps(v)}\n" for k, v in lines.items()).encode())
    rejected = Counter(row["reasons"][0].split(":")[0] for row in rows if row["reasons"])
    told: dict[str, Any] = {
        "canary": CANARY,
        "candidates": len(rows),
        "rejected": dict(sorted(rejected.items())),
    }
    if shots:
        tried = json_rows(out / SHOT / "made.jsonl")
        away = Counter(row["reasons"][0].split(":")[0] for row in tried if row["reasons"])
        told["photographs"] = {"candidates": len(tried), "rejected": dict(sorted(away.items()))}
    write_whole(out / "build.json", (json.dumps(told, indent=1) + "\n").encode())
    describe(out)
    return cases


def _photographed(out: Path, order: Order) -> dict[str, Row]:
    from icgforge.photograph import photographs

    rows = photographs(out, order.photographs, order.seed, order.held_out_seed)
    return {row["name"]: row for row in rows}


def json_rows(path: Path) -> list[dict[str, Any]]:
    """Return the last line of each name in a log of candidates."""
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return list({row["name"]: row for row in rows}.values())


def _kind(twin: str) -> str:
    return str(json.loads(twin)["metadata"]["twin_kind"])


def _write(out: Path, cases: Sequence[Case], made: Mapping[str, Row]) -> None:
    """Write the cases, their twins and pictures; pictures of cases that are no longer there go."""
    twins = [Case.from_json(text) for case in cases for text in made[case.id]["twins"]]
    for path, many in (("cases.jsonl", cases), ("twins.jsonl", twins)):
        write_whole(out / path, "".join(c.to_json() + "\n" for c in many).encode())
    wanted = {c.image for c in [*cases, *twins]} | {f"after/{c.id}.webp" for c in cases}
    for folder in ("images", "after", "twins"):
        (out / folder).mkdir(exist_ok=True)
        for old in (out / folder).iterdir():
            if f"{folder}/{old.name}" not in wanted:
                old.unlink()
    for path in sorted(wanted):
        found = next(out / kind / path for kind in (DRAWN, SHOT) if (out / kind / path).is_file())
        shutil.copyfile(found, out / path)


def describe(folder: Path) -> None:
    """Write the data card and the Croissant description of a set from what lies in its folder."""
    write_whole(folder / "README.md", card(folder).encode())
    write_whole(
        folder / "croissant.json",
        (json.dumps(croissant(folder), indent=1, ensure_ascii=False) + "\n").encode(),
    )


@dataclass(frozen=True, slots=True)
class _Read:
    folder: Path
    meta: Mapping[str, Any]
    build: Mapping[str, Any]
    cases: Sequence[Case]
    twins: Sequence[Case]
    ratings: Sequence[Mapping[str, Any]]


def _read(folder: Path) -> _Read:
    import tomllib

    for name in ("dataset.toml", "build.json", "cases.jsonl", "twins.jsonl"):
        if not (folder / name).is_file():
            raise SchemaError(f"{folder / name} is missing", remedy=f"icgkit scenes --out {folder}")
    rated = folder / "ratings.jsonl"
    return _Read(
        folder,
        tomllib.loads((folder / "dataset.toml").read_text(encoding="utf-8")),
        json.loads((folder / "build.json").read_text(encoding="utf-8")),
        read_cases(folder / "cases.jsonl"),
        read_cases(folder / "twins.jsonl"),
        [json.loads(x) for x in rated.read_text(encoding="utf-8").splitlines()] if rated.is_file() else [],
    )


def card(folder: Path) -> str:
    """Return the data card of a set; every number is counted in its files."""
    read = _read(folder)
    cases, nodes = read.cases, [n for c in read.cases for n in c.constraint_nodes]
    counts = report(cases)
    held = [c for c in cases if c.metadata["split"] == "held_out"]
    counterfactual = [t for t in read.twins if t.metadata["twin_kind"] == "counterfactual"]
    files = [p for name in ("images", "after", "twins") for p in (folder / name).iterdir()]
    sizes = Counter(len(c.constraint_nodes) for c in cases)
    chains = Counter(c.chain(n.id) for c in cases for n in c.constraint_nodes)
    scripts = Counter((c.metadata["script"], c.metadata["lang"]) for c in cases)
    kinds = Counter(c.metadata["kind"] for c in cases)
    subtypes = counts["subtypes"]
    env = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)  # fmt: skip
    text = resources.files("icgforge").joinpath("card.md").read_text(encoding="utf-8")
    return env.from_string(text).render(
        meta=read.meta, build=read.build, canary=CANARY, counts=counts, cases=len(cases), nodes=len(nodes),
        held=len(held), held_documents=len({c.metadata["template"] for c in held}), worlds=len({c.metadata["world"] for c in cases}),
        twins=counterfactual, twins_of=len({t.metadata["twin_of"] for t in counterfactual}), freed=sum(len(t.metadata["free"]) for t in counterfactual),
        infeasible=sum(t.metadata["twin_kind"] == "infeasible" for t in read.twins), ties=Counter(e.type for c in cases for e in c.inter_constraints),
        megabytes=f"{sum(p.stat().st_size for p in files) / 1e6:.1f}", widths=_span(c.image_size[0] for c in cases), heights=_span(c.image_size[1] for c in cases),
        sizes=sorted(sizes.items()), chains=sorted(chains.items()), scripts=scripts.most_common(), kinds=sorted(kinds.items()),
        subtypes=[(cat.label, SUBTYPES[s].label, *subtypes[s]) for cat in CATEGORIES.values() for s in SUBTYPES if SUBTYPES[s].category == cat.id],
        short=[SUBTYPES[s].label for s, (n, d) in subtypes.items() if n < Wishes().nodes or d < Wishes().documents],
        settings=Counter(c.metadata["setting"] for c in cases).most_common(),
        wishes=Wishes(), instructions=len({c.instruction for c in cases}), rated=_rated(read.ratings),
    )  # fmt: skip


def _span(values: Any) -> str:
    found = sorted(values)
    return f"{found[0]} to {found[-1]}"


def _rated(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return mean, lowest and number of blind ratings of realism and validity."""
    if not rows:
        return None
    out: dict[str, Any] = {
        "n": len({r["case_id"] for r in rows}),
        "readers": len({r["reader"] for r in rows}),
    }
    for name in ("realism", "validity"):
        given = [r[name] for r in rows]
        out[name] = {
            "mean": f"{sum(given) / len(given):.2f}",
            "low": sum(g < 3 for g in given),
            "n": len(given),
        }
    return out


CONTEXT = {
    "@language": "en", "@vocab": "https://schema.org/", "arrayShape": "cr:arrayShape", "citeAs": "cr:citeAs", "column": "cr:column", "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn", "cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/", "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/", "description": {"@container": "@language"}, "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract", "field": "cr:field", "fileProperty": "cr:fileProperty", "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet", "format": "cr:format", "includes": "cr:includes", "isArray": "cr:isArray", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath",
    "key": "cr:key", "md5": "cr:md5", "name": {"@container": "@language"}, "parentField": "cr:parentField", "path": "cr:path", "recordSet": "cr:recordSet",
    "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated", "replace": "cr:replace", "samplingRate": "cr:samplingRate", "sc": "https://schema.org/",
    "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField", "transform": "cr:transform",
}  # fmt: skip
"""JSON-LD context of Croissant 1.1."""


def croissant(folder: Path) -> dict[str, Any]:
    """Return the Croissant 1.1 description of a set, with the fields of its vocabulary for responsible use (RAI 1.0)."""
    read = _read(folder)
    counts = report(read.cases)
    lines = {"cases": "cases.jsonl", "twins": "twins.jsonl"}
    files: list[dict[str, Any]] = [
        {"@type": "cr:FileObject", "@id": path, "name": path, "contentUrl": path, "encodingFormat": "application/jsonlines", "sha256": sha256_of(folder / path)}
        for path in lines.values()
    ] + [
        {"@type": "cr:FileSet", "@id": f"{name}-files", "name": f"{name}-files", "description": what, "encodingFormat": kind, "includes": f"{name}/*"}
        for name, kind, what in (("images", "image/*", "pictures of the cases: WebP, photographs JPEG"), ("after", "image/webp", "what differs after the reference edit; clear elsewhere"), ("twins", "image/*", "pictures of the counterfactual twins: WebP, photographs JPEG"))
    ]  # fmt: skip
    columns = {"id": ("sc:Text", "name of the case"), "image": ("sc:Text", "path of its picture"), "instruction": ("sc:Text", "the edit that is asked for")}  # fmt: skip
    records = [
        {
            "@type": "cr:RecordSet", "@id": name, "name": name, "key": {"@id": f"{name}/id"},
            "field": [
                {"@type": "cr:Field", "@id": f"{name}/{column}", "name": column, "description": what, "dataType": kind,
                 "source": {"fileObject": {"@id": path}, "extract": {"column": column}}}
                for column, (kind, what) in columns.items()
            ],
        }
        for name, path in lines.items()
    ]  # fmt: skip
    text = resources.files("icgforge").joinpath("rai.json").read_text(encoding="utf-8")
    rai = {f"rai:{k}": v for k, v in json.loads(text).items()}
    return {
        "@context": CONTEXT, "@type": "sc:Dataset", "name": read.meta["name"], "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "description": f"Pictures with one text edit each and all that it forces to change elsewhere: {counts['cases']} cases, {counts['nodes']} constraint nodes, {counts['documents']} documents. {CANARY}.",
        "license": "https://creativecommons.org/publicdomain/zero/1.0/", "url": ".", "version": f"{read.meta['version']}.0", "datePublished": "2026-12-01",
        "creator": {"@type": "Organization", "name": "icgkit"}, "citeAs": f"icgkit: {read.meta['name']} {read.meta['version']}",
        **rai, "distribution": files, "recordSet": records,
    }  # fmt: skip
