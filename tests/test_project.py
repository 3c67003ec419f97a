"""What the project's own files promise to each other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def locked() -> dict[str, list[str]]:
    """Return the versions that requirements.lock pins, by name."""
    pins: dict[str, list[str]] = {}
    for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"([A-Za-z0-9._-]+)==([^ ;\\]+)", line):
            pins.setdefault(match[1].lower(), []).append(match[2])
    return pins


def declared() -> list[Requirement]:
    extras = PYPROJECT["project"]["optional-dependencies"].values()
    return [Requirement(r) for r in [*PYPROJECT["project"]["dependencies"], *(r for e in extras for r in e)]]


def test_every_declared_package_is_locked_within_its_range() -> None:
    pins = locked()
    for need in declared():
        assert need.name.lower() in pins, f"{need.name} is not in requirements.lock"
        assert any(need.specifier.contains(v, prereleases=True) for v in pins[need.name.lower()]), str(need)


def test_the_lock_has_hashes_and_no_index() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text)
    assert all("--hash=sha256:" in e for e in entries if "==" in e)
    assert not re.search(r"://|--index|--find-links|@ file", text)


def test_environment_yml_names_the_locked_versions() -> None:
    conda = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    pairs = dict(d.split("=") for d in conda if isinstance(d, str) and "=" in d)
    pairs |= dict(d.split("==") for d in next(d for d in conda if isinstance(d, dict))["pip"] if "==" in d)
    pairs.pop("python")
    pins = locked()
    wrong = {name: version for name, version in pairs.items() if version not in pins.get(name, [])}
    assert not wrong
    assert {r.name.lower() for r in declared()} <= set(pairs)


def test_readme_has_both_commands_and_ci_uses_the_second() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    (.*bootstrap\.sh.*)$", readme, re.M)
    assert len(commands) == 2
    assert "icgkit reproduce" in commands[0]
    assert "pytest" in commands[1]
    assert "README.md" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_versions_agree() -> None:
    import icgkit

    assert icgkit.__version__ == PYPROJECT["project"]["version"]
    assert f"version: {icgkit.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {icgkit.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_import_is_light_and_opens_no_socket() -> None:
    code = (
        "import sys, socket\n"
        "def no(*a, **k): raise SystemExit('socket opened')\n"
        "socket.socket.connect = no\n"
        "import icgkit\n"
        "heavy = {'litellm', 'statsmodels', 'matplotlib', 'rapidocr', 'cv2', 'pandas', 'scipy', 'polars', 'pydantic'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names_exist() -> None:
    import icgkit

    for name in icgkit.__all__:
        assert getattr(icgkit, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = icgkit.nonsense


def test_imports_run_downwards() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"}
    )
    assert done.returncode == 0, done.stdout


def test_every_promise_of_security_md_names_a_test_that_is_there() -> None:
    promised = set(
        re.findall(r"`(test_\w+|tests/[\w/.]+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8"))
    )
    defined = {
        m for p in (ROOT / "tests").rglob("*.py") for m in re.findall(r"^def (test_\w+)", p.read_text(encoding="utf-8"), re.M)
    }  # fmt: skip
    assert len(promised) > 20
    absent = {p for p in promised if not ((ROOT / p).is_file() if "/" in p else p in defined)}
    assert not absent


def test_every_tool_is_installed_by_its_hash() -> None:
    installs = re.findall(r"pip install .*", (ROOT / "bootstrap.sh").read_text(encoding="utf-8"))
    assert len(installs) == 3
    assert all("--require-hashes" in line or "--editable ." in line for line in installs)
    picked = subprocess.run(
        ["awk", "/^[A-Za-z]/ { on = /^uv==/ } on", "requirements.lock"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout
    assert picked.startswith("uv==")
    assert len(re.findall("^[a-z]", picked, re.M)) == 1
    assert "--hash=sha256:" in picked
