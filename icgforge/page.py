"""Documents in Chromium: HTML bound to facts, rendered, measured and looked over for faults of typesetting."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import yaml
from markupsafe import Markup, escape
from PIL import Image

from icgforge.worlds import Values, World, worlds
from icgkit.errors import IcgError, SchemaError

FLAGS = (
    "--no-sandbox", "--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb", "--hide-scrollbars",
    "--disable-gpu", "--disable-font-subpixel-positioning", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
LAST = "*{box-sizing:border-box;font-variant-numeric:lining-nums tabular-nums !important}body{margin:0;overflow:hidden;position:relative}"
"""Rules that stand last: tabular figures survive the `font` shorthand, nothing scrolls."""
Element = dict[str, Any]


@dataclass(frozen=True)
class Document:
    """An HTML document bound to the values of a world: front matter, then a Jinja template.

    Front matter: `world`, `kind` (menu, ticket, ...), `lang`, `size` ([width, height]), `fonts` (families in use),
    `edits` (list of `target`, the surface that is edited, `place`, words for where it is, and `fact` if that has another
    name), `names` (surface: what its region is called). A surface is a value as it stands at one place, `name` or `name:key`.
    """

    name: str
    world: str
    kind: str
    lang: str
    size: tuple[int, int]
    fonts: tuple[str, ...]
    edits: tuple[Mapping[str, str], ...]
    names: Mapping[str, str]
    body: str
    script: str = "Latin"

    @property
    def of(self) -> World:
        """The world that it shows."""
        return worlds()[self.world]


def read_document(path: Path) -> Document:
    """Read a document.

    Raises
    ------
    SchemaError
        If its front matter lacks a field or names one that there is not.
    """
    text = path.read_text(encoding="utf-8")
    found = re.match(r"<!--\s*\n(.*?)\n-->\s*\n(.*)", text, re.S)
    if not found:
        raise SchemaError(f"document {path.name}", allowed="front matter between <!-- and -->, then HTML")
    head = yaml.safe_load(found[1])
    try:
        return Document(
            path.stem,
            **head
            | {
                "size": tuple(head["size"]),
                "fonts": tuple(head["fonts"]),
                "edits": tuple(head["edits"]),
                "body": found[2],
            },
        )
    except (TypeError, KeyError) as exc:
        raise SchemaError(f"document {path.name}: front matter: {exc}") from None


@cache
def documents() -> dict[str, Document]:
    """Return all documents by name."""
    folder = Path(str(resources.files("icgforge") / "documents"))
    return {p.stem: read_document(p) for p in sorted(folder.glob("*.html"))}


def html_of(doc: Document, values: Values) -> str:
    """Fill a document with values.

    In a template, `x("total")` writes a value as its world writes it, in an element of its own; `x("total", "foot")`
    is a second place of it; `at("total")` are the attributes alone, for an element that shows a value in another way;
    `v` has all values, `w("total")` the written text alone.
    """
    world = doc.of

    def attributes(name: str, key: str = "") -> Markup:
        return Markup(f'data-fact="{escape(name)}" data-key="{escape(name + (":" + key if key else ""))}"')

    def element(name: str, key: str = "", tag: str = "span", cls: str = "", style: str = "") -> Markup:
        more = (f' class="{escape(cls)}"' if cls else "") + (f' style="{escape(style)}"' if style else "")
        return Markup(
            f"<{tag}{more} {attributes(name, key)}>{escape(world.text(name, values[name]))}</{tag}>"
        )

    env = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    page = env.from_string(doc.body).render(
        **{k: v for k, v in values.items() if k.isidentifier()},
        v=values, x=element, at=attributes, w=lambda name: world.text(name, values[name]),
    )  # fmt: skip
    width, height = doc.size
    return (
        f'<!doctype html><html lang="{doc.lang}"{" dir=rtl" if doc.lang in ("ar", "he") else ""}><meta charset="utf-8">'
        f"<body>{page}<style>{LAST}body{{width:{width}px;height:{height}px}}</style></body></html>"
    )


@dataclass
class Shot:
    """A rendered document: its pixels, its elements by key, and what is wrong with its typesetting."""

    pixels: np.ndarray
    elements: dict[str, Element]
    faults: list[str]


@dataclass
class Browser:
    """A page of headless Chromium."""

    page: Any
    _session: Any = field(default=None, repr=False)

    def render(self, doc: Document, values: Values, slots: Mapping[str, float] | None = None) -> Shot:
        """Render a document for values; `slots` fix the width of elements by key."""
        self.load(doc, values, slots)
        told = self.page.evaluate(_script("measure.js"))
        faults = [" ".join(map(str, row)) for row in self.page.evaluate(_script("lint.js"))]
        return Shot(self.pixels(), told, faults)

    def load(self, doc: Document, values: Values, slots: Mapping[str, float] | None = None) -> None:
        """Show a document."""
        self.page.set_viewport_size({"width": doc.size[0], "height": doc.size[1]})
        self.page.set_content(html_of(doc, values), wait_until="load")
        self.page.evaluate("document.fonts.ready")
        if slots:
            self.page.evaluate(
                _script("slots.js"), [[*key.rsplit("#", 1), width] for key, width in slots.items()]
            )

    def pixels(self) -> np.ndarray:
        """Return the page as an array of height x width x 3 bytes."""
        data = self.page.screenshot(animations="disabled", caret="hide")
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    def without(
        self, doc: Document, values: Values, slots: Mapping[str, float] | None, key: str
    ) -> np.ndarray:
        """Return the page with one element invisible, loaded afresh."""
        self.load(doc, values, slots)
        name, n = key.rsplit("#", 1)
        self.page.evaluate(
            "([k,n])=>{const e=document.querySelectorAll(`[data-key='${k}']`)[n-1];if(e)e.style.setProperty('visibility','hidden','important')}",
            [name, int(n)],
        )
        return self.pixels()

    def fonts(self) -> set[str]:
        """Return the families that the glyphs of the page really come from."""
        if self._session is None:
            self._session = self.page.context.new_cdp_session(self.page)
        for domain in ("DOM", "CSS"):
            self._session.send(f"{domain}.enable")
        root = self._session.send("DOM.getDocument", {"depth": -1})["root"]
        found: set[str] = set()

        def walk(node: dict[str, Any]) -> None:
            if node.get("nodeType") == 1 and any(c.get("nodeType") == 3 for c in node.get("children", [])):
                told = self._session.send("CSS.getPlatformFontsForNode", {"nodeId": node["nodeId"]})
                found.update(f["familyName"] for f in told["fonts"])
            for child in node.get("children", []):
                if child.get("nodeName") not in ("STYLE", "SCRIPT"):
                    walk(child)

        walk(root)
        return found


@contextmanager
def browser() -> Iterator[Browser]:
    """Open headless Chromium, Debian's own; close it afterwards.

    Raises
    ------
    IcgError
        If Playwright or Chromium is not there.
    """
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise IcgError("drawing documents needs Playwright", remedy='pip install "icgkit[forge]"') from None
    if program is None:
        raise IcgError("drawing documents needs Chromium", remedy="apt-get install chromium")
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield Browser(chromium.new_page(viewport={"width": 1024, "height": 704}, device_scale_factor=1))
        finally:
            chromium.close()


@cache
def _script(name: str) -> str:
    return resources.files("icgforge").joinpath("scripts", name).read_text(encoding="utf-8")


def plain(value: Any) -> Any:
    """Return a value as JSON has it, dates and such as text."""
    return json.loads(json.dumps(value, default=str, ensure_ascii=False))
