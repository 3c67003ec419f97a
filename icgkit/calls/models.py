"""A model as a study names it: its parameters, those under certain conditions, its name in results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from icgkit.calls.request import Params, merged
from icgkit.errors import SchemaError

PAPER: dict[str, Any] = {"temperature": 0, "max_tokens": 4096}
"""The study's settings."""


@dataclass(frozen=True)
class Model:
    """A model with its parameters, and with others under certain conditions.

    `label` is what it is called in results, its name if empty: one model with two settings is two
    models with labels. `system` is "user" for a model without a system role.
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=lambda: dict(PAPER))
    by_condition: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    label: str = ""
    system: str = "system"
    _made: dict[str, Params] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def shown(self) -> str:
        """What the model is called in results."""
        return self.label or self.name

    def under(self, condition: str) -> Params:
        """Return the parameters that hold under a condition."""
        if condition not in self._made:
            self._made[condition] = Params(merged(self.params, self.by_condition.get(condition, {})))
        return self._made[condition]


def different_names(what: str, names: Sequence[str]) -> None:
    """Refuse two rows of results with one name."""
    twice = next((n for k, n in enumerate(names) if n in names[:k]), None)
    if twice is not None:
        raise SchemaError(
            f"two {what} are called {twice!r} in results",
            remedy=f'give one a label: {{ name = "{twice}", label = "{twice} (2)", params = {{ ... }} }}',
        )
