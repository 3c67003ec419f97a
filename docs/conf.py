"""The site: `sphinx-build -W docs docs/_build`; the pages are Markdown, the reference comes from the docstrings."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import icgkit

project = "icgkit"
author = "the icgkit team"
release = version = icgkit.__version__
copyright = "MIT"
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx_design"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = f"icgkit {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {
    page: [] for page in ("index", "tutorial", "study", "results", "metrics", "measured", "papers")
}
html_theme_options = {
    "logo": {"text": "icgkit"},
    "navbar_align": "left",
    "show_prev_next": False,
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
}
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"show-inheritance": False}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False
suppress_warnings = ["myst.xref_missing"]

ROOMS = {
    "Cases": ["cases.case", "cases.dataset", "cases.show"],
    "Prompts": ["prompts.conditions", "prompts.replies", "prompts.proposals"],
    "Calls": ["calls.cache", "calls.limits", "calls.request", "calls.recorded"],
    "Judges": ["judge.ask", "judge.nodes", "judge.probes"],
    "Studies": ["study.file", "study.run", "study.elicit", "study.judging", "study.exchange"],
    "Results": ["report.results", "report.save", "report.tables", "report.published"],
    "Looking": ["viewer.widget", "viewer.page", "viewer.annotator", "viewer.review"],
    "Other programs": ["exchange.hub", "exchange.inspect_tasks", "exchange.boxes", "exchange.harnesses"],
}
"""Pages of the reference, and the modules whose public parts they show."""


def _write(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def make_reference(*_: object) -> None:
    """Write a page for each room, and one for the metrics, one entry a function."""
    out = Path(__file__).parent / "reference"
    out.mkdir(exist_ok=True)
    names = []
    for title, modules in ROOMS.items():
        name = title.lower().replace(" ", "-")
        names.append(name)
        parts = [f"```{{eval-rst}}\n.. automodule:: icgkit.{m}\n   :members:\n```" for m in modules]
        heads = [f"## icgkit.{m}\n\n{part}" for m, part in zip(modules, parts, strict=True)]
        _write(out / f"{name}.md", f"# {title}\n\n" + "\n\n".join(heads) + "\n")
    measures = [n for n in icgkit.metrics.__all__ if n != "set_output"]
    parts = [f"## {n}\n\n```{{eval-rst}}\n.. auto{_kind(n)}:: icgkit.metrics.{n}\n```" for n in measures]
    head = "```{eval-rst}\n.. automodule:: icgkit.metrics\n```\n\n"
    _write(out / "metrics.md", "# Metrics\n\n" + head + "\n\n".join(parts) + "\n")
    toc = "\n".join(["metrics", *names])
    _write(
        out / "index.md",
        f"# Reference\n\nMade from the docstrings.\n\n```{{toctree}}\n:maxdepth: 1\n\n{toc}\n```\n",
    )


def _kind(name: str) -> str:
    return "class" if isinstance(getattr(icgkit.metrics, name), type) else "function"


def setup(app: Any) -> None:
    """Leave out names of types: they have no signature to show."""
    app.connect("autodoc-skip-member", lambda *a: True if isinstance(a[3], types.GenericAlias) else None)


make_reference()
