"""Keys: read from `.env` and the environment, never shown."""

from __future__ import annotations

import os
import re
from pathlib import Path

from icgkit.paths import project_root

_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)", re.I)
_LIKE_A_KEY = re.compile(r"\b(sk|pk|gsk|xai|AIza|hf|Bearer)[-_ ][A-Za-z0-9_\-.]{8,}|AIza[A-Za-z0-9_\-]{20,}")


def load_env(path: str | Path | None = None) -> list[str]:
    """Read `.env` of the project or working directory; what is set already wins.

    Returns
    -------
    list of str
        Names that were set.
    """
    from dotenv import dotenv_values

    found: list[str] = []
    for file in [Path(path)] if path else [Path.cwd() / ".env", project_root() / ".env"]:
        if not file.is_file():
            continue
        for name, value in dotenv_values(file, encoding="utf-8-sig").items():
            if value and name not in os.environ:
                os.environ[name] = value
                found.append(name)
    return found


def shown(value: str) -> str:
    """Return a key as it may be shown: its first three characters at most.

    Examples
    --------
    >>> shown("sk-abcdefghijkl")
    'sk-...'
    """
    return f"{value[:3]}..." if len(value) > 11 else "..."


def mask(text: str) -> str:
    """Replace every key in a text: values of secret environment variables, and what looks like one.

    Examples
    --------
    >>> mask("Incorrect API key provided: sk-abcdef123456")
    'Incorrect API key provided: sk-...'
    """
    for name, value in os.environ.items():
        if len(value) >= 8 and _NAME.search(name) and value in text:
            text = text.replace(value, shown(value))
    return _LIKE_A_KEY.sub(lambda m: m.group(0)[:3] + "...", text)
