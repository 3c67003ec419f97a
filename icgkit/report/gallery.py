"""The gallery: one page of all results with what they rest on, one page of ours beside the paper's."""

from __future__ import annotations

import contextlib
import html
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, Literal

import nh3
from pydantic import BaseModel, ValidationError

from icgkit.cases.show import environment
from icgkit.errors import SchemaError
from icgkit.files import open_file, project_root, read_file, write_whole
from icgkit.prompts.conditions import conditions
from icgkit.report.save import TABLE_MARKS
from icgkit.untrusted import toml_table

MAIN = ("T1", "F1", "F2", "T2", "T3", "F3", "T4")
"""Ids of the study's main text, in its order."""
_FORMATS = (".csv", ".pdf", ".svg", ".png", ".html", ".tex", ".json")
"""Endings in the order in which the gallery offers them."""
_MAX_SIDECAR = 1 << 25
SHOWN_PUBLISHED = 12
"""Published values shown beside a result before the rest is folded away."""


def read_results(folder: str | Path) -> list[dict[str, Any]]:
    """Read the sidecars of a folder, in the order of the gallery, with what is there to show.

    Beside the sidecar's fields: `group` (heading), `title` (first sentence of the caption), `rest`, `picture`
    (file name or None), `size` (pixels), `fragment` (a table's HTML or None), `n_text`, `links`, `absent`.
    """
    folder = Path(folder)
    results = []
    for path in folder.glob("*.json"):
        result = _sidecar(path)
        if result is None:
            continue
        id = path.stem
        files = {e: f"{id}{e}" for e in _FORMATS if (folder / f"{id}{e}").is_file()}
        picture = next((f"{id}{e}" for e in (".png", ".thumb.png") if (folder / f"{id}{e}").is_file()), None)
        title, rest = _split(result["caption"])
        fragment = _fragment(folder / f"{id}.html")
        # Notes that stand below the table need not be said again.
        result["note"] = [n for n in result["note"] if not fragment or html.escape(n) not in fragment]
        results.append(
            result
            | {"group": _group(id), "title": title, "rest": rest, "picture": picture, "links": files}
            | {"size": _size(folder / picture) if picture else (0, 0), "n_text": n_text(result["n"])}
            | {"fragment": fragment, "absent": _absent(result, folder / f"{id}.csv")}
        )
    return sorted(results, key=lambda r: _order(r["id"]))


def _absent(result: dict[str, Any], data: Path) -> bool:
    """Return whether a result shows nothing because its cache lacks what it needs."""
    if result.get("rows") == 0 or (result.get("columns") or {}).keys() == {"status"}:
        return True
    with contextlib.suppress(SchemaError):
        with open_file(data) as stream:
            head = stream.read(300).decode("utf-8", "replace").splitlines()
        return len(head) == 2 and "status" in head[0].split(",") and "not in this cache" in head[1]
    return False


def write_gallery(folder: str | Path) -> Path:
    """Write `index.html` and `published.html` for the results of a folder; return the first.

    The pages need nothing but the files beside them, follow the reader's light or dark setting, and
    name for each result its caption, n, dataset and models.
    """
    folder = Path(folder)
    results = read_results(folder)
    pages = environment("templates/gallery", lstrip_blocks=True)
    pages.filters["number"] = number
    labels = {name: condition.short for name, condition in conditions().items()}
    pages.filters["condition"] = lambda name: labels.get(name, name)
    _drop_repeated_gaps(results)
    groups = list(dict.fromkeys(r["group"] for r in results if not r["absent"]))
    rows = [{"id": r["id"], "simulated": r["simulated"], **row} for r in results for row in r["published"]]
    others = [p.parent.name for p in sorted(folder.glob("*/index.html"))]
    simulated = [r["simulated"] for r in results]
    common = {
        "results": [r for r in results if not r["absent"]],
        "absent": [r for r in results if r["absent"]],
        "run": _run_name(results),
        "papers": _papers(),
        "all_simulated": bool(results) and all(simulated),
        "some_simulated": any(simulated),
        "others": [(name, f"{name}/index.html") for name in others]
        or ([("all galleries", "../index.html")] if (folder.parent / "index.html").is_file() else []),
        "groups": groups,
        "rows": rows,
        "shown": SHOWN_PUBLISHED,
        "datasets": sorted({r["dataset"] for r in results}),
    }
    for page in ("published.html", "index.html"):
        text = pages.get_template(f"{page}.j2").render(common)
        write_whole(folder / page, text.encode())
    return folder / "index.html"


def _run_name(results: list[dict[str, Any]]) -> str:
    """Say which run a gallery is of: the cache that most of its results rest on, and the dataset."""
    caches = Counter((r["cache"], r["dataset"]) for r in results if r["cache"])
    if not caches:
        return "no run"
    (cache, dataset), _ = caches.most_common(1)[0]
    return f"{cache} on {dataset}"


def _papers() -> list[dict[str, Any]]:
    """Return the papers whose figures stand beside ours."""
    path = project_root() / "data" / "published" / "papers.toml"
    return list(toml_table(read_file(path), path.name).get("paper", [])) if path.is_file() else []


def _drop_repeated_gaps(results: list[dict[str, Any]]) -> None:
    """Leave out published values without ours where another result has ours, or says so already."""

    def key(row: dict[str, Any]) -> tuple[Any, ...]:
        fields = ("quantity", "model", "condition", "group", "where", "published")
        return tuple(row.get(name) for name in fields)

    said = {key(row) for r in results for row in r["published"] if row["ours"] is not None}
    for result in results:
        kept = []
        for row in result["published"]:
            if row["ours"] is not None or key(row) not in said:
                said.add(key(row))
                kept.append(row)
        result["published"] = kept


def n_text(n: Any) -> str:
    """Say what the numbers rest on."""
    if isinstance(n, dict):
        return ", ".join(f"{v:,} {k}" if isinstance(v, int) else f"{v} {k}" for k, v in n.items())
    return f"{n:,}" if isinstance(n, int) else str(n)


def number(value: Any, unit: str | None = None, *, like: float | None = None, sign: bool = False) -> str:
    """Write a number as a reader compares it: three decimals below 10, an absent one as a dash.

    `like` is a number to which the decimals go, where it is not the number itself.
    """
    if value is None:
        return "–"
    if isinstance(value, str | bool):
        return str(value)
    size = abs(value if like is None else like)
    whole = unit in {"count", "cases", "nodes"} or (
        float(value).is_integer() and (size >= 2 or isinstance(value, int))
    )
    tiny = 0 < size < 0.0005 and not sign
    spec = ",.0f" if whole or size >= 1000 else ".1f" if size >= 10 else ".2g" if tiny else ".3f"
    return format(value, f"+{spec}" if sign and value else spec).replace("-", "−")


def _split(caption: str) -> tuple[str, str]:
    """Cut a caption after its first sentence, or part of a sentence before a semicolon."""
    match = re.match(r"(.{8,160}?)(?:;\s+|[.!?]\s+(?=[A-Z0-9(]))", caption, re.DOTALL)
    if not match:
        return caption.rstrip("."), ""
    rest = caption[match.end() :]
    word = re.match(r"[a-z]{2,}", rest)  # A lone n stays small.
    return match[1], rest[0].upper() + rest[1:] if word else rest


def _group(id: str) -> str:
    if re.fullmatch(r"[TF]\d.*", id):
        return "Main tables and figures"
    return "Supplement" if re.match(r"(ST|SF|S-|S\d)", id) else "Beyond the study"


def _order(id: str) -> tuple[Any, ...]:
    groups = ("Main tables and figures", "Supplement", "Beyond the study")
    base = re.match(r"[A-Z]+\d+", id)
    main = MAIN.index(base[0]) if base and base[0] in MAIN else len(MAIN)
    # Numbered results before named ones, numbers as numbers.
    words = re.split(r"(\d+)", id)
    natural = tuple((1, int(w), "") if w.isdigit() else (2, 0, w) for w in words)
    return groups.index(_group(id)), main, not re.match(r"[A-Z]+\d", id), natural


class _Compared(BaseModel, extra="allow", allow_inf_nan=False):
    """A value of ours beside a published one."""

    quantity: str
    ours: float | None
    published: float | None
    difference: float | None
    unit: str | None = None
    model: str | None = None
    condition: str | None = None
    group: str | None = None
    where: str | None = None


class _Sidecar(BaseModel, extra="allow", allow_inf_nan=False):
    """What the gallery needs to know of a result."""

    id: str
    kind: Literal["table", "figure", "table and figure"]
    caption: str
    n: int | str | dict[str, int | str]
    dataset: str
    models: list[str]
    cache: str | None
    note: list[str]
    simulated: bool
    seed: int | None
    published: list[_Compared]


def _sidecar(path: Path) -> dict[str, Any] | None:
    """Read the sidecar of a result; a JSON file that is something else gives None."""
    try:
        found = json.loads(read_file(path, limit=_MAX_SIDECAR))
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("id") != path.stem:
        return None
    try:
        return _Sidecar.model_validate(found).model_dump(exclude_unset=True)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise SchemaError(
            f"{path.name} is no sidecar of a result: {place}: {first['msg']}",
            remedy=f"remove {path.name} or make the result again with icgkit reproduce",
        ) from None


def _size(path: Path) -> tuple[int, int]:
    from PIL import Image

    try:
        with open_file(path) as stream, Image.open(stream, formats=("PNG",)) as picture:
            return picture.size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise SchemaError(
            f"{path.name} is no PNG",
            remedy=f"remove {path.name} or make the result again with icgkit reproduce",
        ) from None


def _fragment(path: Path) -> str | None:
    if not path.is_file():
        return None
    text = read_file(path, limit=_MAX_SIDECAR).decode("utf-8", errors="replace")
    start, end = (text.find(mark) for mark in TABLE_MARKS)
    if not 0 <= start < end:
        return None
    # A folder may come from anywhere: nothing but the table passes. The page gives the id to the card.
    return nh3.clean(
        text[start + len(TABLE_MARKS[0]) : end].strip(),
        tags={"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "strong", "br"},
        clean_content_tags={"script", "style"},
        attributes={"table": {"class"}, "th": {"class", "scope", "colspan"}, "td": {"class", "colspan"}},
    )
