"""Models that answer in a worker process on this machine, found by the entry points `icgkit.models`.

A package offers them with a line in its pyproject.toml, below `[project.entry-points."icgkit.models"]`:
`offline = "icgforge.baselines"`. What is named there has `MODELS` and `JUDGES` (names with a line on each) and
`reply(model, messages) -> str`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any, Protocol, cast

from icgkit.errors import CallError

GROUP = "icgkit.models"


class LocalModels(Protocol):
    """What an entry point of `icgkit.models` names."""

    MODELS: Mapping[str, Any]
    JUDGES: Mapping[str, Any]

    def reply(self, model: str, messages: list[dict[str, Any]]) -> str:
        """Return the text that a model answers to chat messages in OpenAI form."""
        ...


@lru_cache
def local_models(provider: str = "offline") -> LocalModels:
    """Return the models of a provider that an installed package offers."""
    offered = entry_points(group=GROUP)
    for entry in offered:
        if entry.name == provider:
            try:
                return cast(LocalModels, entry.load())
            except ImportError as exc:
                raise CallError(
                    f"models {provider}/...: {entry.value} does not import ({exc})",
                    remedy="install what it needs: pip install 'icgkit[offline]'",
                ) from exc
    raise CallError(
        f"no installed package offers models {provider}/...",
        allowed=sorted({entry.name for entry in offered}),
        remedy="install icgkit itself, which registers them: pip install -e . (or bash bootstrap.sh) in its folder",
    )
