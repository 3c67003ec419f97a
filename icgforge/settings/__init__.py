"""Settings: where a document hangs, stands or shines, as a table of geometry for Mitsuba; every module has one."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from icgforge.settings._lib import Setting


@cache
def settings() -> dict[str, Setting]:
    """Return all settings by name."""
    names = [m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")]
    return {name: importlib.import_module(f"{__name__}.{name}").SETTING for name in names}
