"""Every command that an error or a result names exists, with the options that stand there."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from icgkit.cli import app
from icgkit.errors import IcgError

ROOT = Path(__file__).resolve().parents[1]
GROUP = typer.main.get_command(app)
CODE = re.compile(r"\bicgkit ((?:[a-z]+|--?[a-z-]+|[A-Z_=.\"']+|\{\}|\S*\{\}\S*)(?: |$|[,;.:`)]))+")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
SOURCES = sorted(p for room in ("icgkit", "icgforge") for p in (ROOT / room).rglob("*.py"))
TEMPLATES = sorted((ROOT / "icgkit" / "templates").rglob("*.j2"))


def texts(path: Path) -> Iterator[str]:
    """Yield every text of a module that can be shown, with {} for what is filled in; not its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    plain = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
    } | {id(v) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for v in node.values}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in plain:
            yield node.value


def options(command: object) -> set[str]:
    return {o for p in getattr(command, "params", ()) for o in (*p.opts, *p.secondary_opts)}


def every_command() -> dict[tuple[str, ...], object]:
    found: dict[tuple[str, ...], object] = {}
    context = typer.Context(GROUP)
    for name in GROUP.list_commands(context):  # type: ignore[attr-defined]
        command = GROUP.get_command(context, name)  # type: ignore[attr-defined]
        found[(name,)] = command
        found |= {(name, inner): c for inner, c in getattr(command, "commands", {}).items()}
    return found


PROSE = {"itself", "does", "anew", "as", "home", "raises", "on", "is", "has"}
"""What follows the package's name in a sentence and is no command."""
COMMANDS = every_command()
ALL_OPTIONS = set().union(*map(options, COMMANDS.values()))
SAID = [(p, m.group()) for p in SOURCES for text in texts(p) for m in CODE.finditer(text)]


def wrong(said: str) -> str | None:
    """Return what is wrong with a command as it stands in a text: no such command, no such option."""
    try:
        words = shlex.split(said)[1:]
    except ValueError:
        words = said.split()[1:]
    words = [w.strip(",;.:`)'\"") for w in words]
    if not words or words[0] in PROSE or "{}" in words[0]:
        return None
    if words[0] not in {name[0] for name in COMMANDS}:
        return f"no command {words[0]!r}"
    name = tuple(words[:2]) if tuple(words[:2]) in COMMANDS else (words[0],)
    absent = [w for w in words if w.startswith("--") and w not in options(COMMANDS[name]) | {"--help"}]
    return f"no option {absent[0]}" if absent else None


@pytest.mark.parametrize(("path", "said"), SAID, ids=[f"{p.name}-{s[:40]}" for p, s in SAID])
def test_a_command_that_is_named_exists(path: Path, said: str) -> None:
    assert wrong(said) is None, f"{path}: {said}"


def test_this_test_sees_what_does_not_exist() -> None:
    assert wrong("icgkit jugde --cache X")
    assert wrong("icgkit judge --cahce X")
    assert wrong("icgkit judge --cache X") is None
    assert len(SAID) > 12


def remedies() -> Iterator[tuple[str, str]]:
    """Yield every text that is given as what helps, or as what is allowed."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in {"remedy", "allowed"}:
                for part in ast.walk(node.value):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield path.name, part.value


def test_every_option_and_setting_that_helps_is_read_somewhere() -> None:
    code = "\n".join(p.read_text(encoding="utf-8") for p in SOURCES)
    code += (ROOT / "icgkit" / "calls" / "providers.toml").read_text(encoding="utf-8")
    for name, text in remedies():
        for option in OPTION.findall(text):
            assert option in ALL_OPTIONS, f"{name}: {text}"
        for setting in re.findall(r"ICGKIT_[A-Z_]+[A-Z]", text):
            assert f'"{setting}' in code or f"'{setting}" in code, f"{name}: {text}"


@pytest.mark.parametrize(
    "words", [("run", "--models", "\x1b]0;x\x07"), ("judge", "--cache", "a\nb"), ("doctor",)]
)
def test_bad_input_on_the_command_line_is_one_error_without_a_traceback(
    words: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ICGKIT_HOME", str(tmp_path))
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code in {1, 2}
    assert isinstance(done.exception, SystemExit)
    assert "\x1b]" not in done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (OSError(28, "No space left on device", "/data/x"), "make room on the disk"),
        (PermissionError(13, "Permission denied", "x"), "may read and write"),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"), "ICGKIT_TRACEBACK=1"),
    ],
)
def test_what_the_system_refuses_is_said_in_plain_words(
    fault: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from icgkit import doctor

    def broken() -> None:
        raise fault

    monkeypatch.setattr(doctor, "examine", broken)
    done = CliRunner().invoke(app, ["doctor"])
    assert (done.exit_code, type(done.exception)) == (2, SystemExit)
    assert said in done.output
    monkeypatch.setenv("ICGKIT_TRACEBACK", "1")
    assert isinstance(CliRunner().invoke(app, ["doctor"]).exception, type(fault))


def test_no_terminal_obeys_an_error() -> None:
    shown = str(
        IcgError("no image a\x1b]0;owned\x07\u202e", got="\x1b[2J", allowed=["\x9b"], remedy="rm \x1b")
    )
    assert not set(shown) & set("\x1b\x07\x9b\u202e")
    assert r"\x1b]0;owned\x07" in shown
