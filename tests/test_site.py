"""The pages of the site: their Python runs, their commands exist, their links lead somewhere."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_commands import wrong

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if not {"reference", "_build"} & set(p.relative_to(DOCS).parts))
WITH_CODE = [p for p in PAGES if ">>> " in p.read_text(encoding="utf-8")]


def test_there_are_pages_with_code() -> None:
    assert len(WITH_CODE) >= 4


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda p: p.stem)
def test_the_python_of_a_page_gives_what_stands_there(page: Path) -> None:
    blocks = re.findall(r"```python\n(>>> .*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert result.attempted > 0
    assert result.failed == 0, "".join(said)


COMMANDS = [
    (page, line.strip())
    for page in PAGES
    for line in page.read_text(encoding="utf-8").splitlines()
    if re.match(r" {4}icgkit ", line)
]


@pytest.mark.parametrize(("page", "command"), COMMANDS, ids=[f"{p.stem}-{c[:50]}" for p, c in COMMANDS])
def test_a_command_of_a_page_exists_with_its_options(page: Path, command: str) -> None:
    assert wrong(command) is None


def test_links_between_pages_lead_somewhere() -> None:
    lost = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "reference/" not in target and not (page.parent / target).is_file():
                lost.append(f"{page.relative_to(DOCS)}: {target}")
    assert lost == []


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="the site needs the extra docs")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(DOCS), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in ("index", "tutorial", "tasks/model", "reference/metrics", "results"):
        assert (tmp_path / f"{name}.html").is_file()
    page = (tmp_path / "reference" / "metrics.html").read_text(encoding="utf-8")
    assert "Cohen" in page
    assert 'src="http' not in (tmp_path / "index.html").read_text(encoding="utf-8")
