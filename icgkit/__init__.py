"""icgkit: measure which implicit constraints of a text edit multimodal models discover.

    import icgkit as ig

The names below are imported when first used, so that `import icgkit` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "Case": "graph",
    "Constraint": "graph",
    "Edge": "graph",
    "Target": "graph",
    "Dataset": "load",
    "load_dataset": "load",
    "load_published": "load",
    "load_judgments": "load",
    "judge_recall": "judges",
    "judge_precision": "judges",
    "judge_plan": "judges",
    "run": "study_run",
    "Study": "study",
    "Cache": "cache",
    "load_responses": "load",
    "conditions": "prompts",
    "build_messages": "prompts",
    "read_cases": "load",
    "write_cases": "load",
    "save": "outputs",
    "Results": "results",
    "load_results": "results",
    "beside": "published",
    "counts_beside": "published",
    "CATEGORIES": "taxonomy",
    "SUBTYPES": "taxonomy",
    "Bootstrap": "metrics",
    "Wilson": "metrics",
}
_MODULES = (
    "taxonomy",
    "graph",
    "load",
    "schemas",
    "errors",
    "metrics",
    "tables",
    "plots",
    "diagrams",
    "views",
    "display",
    "bench",
)

__all__ = [*_WHERE, *_MODULES, "__version__"]

if TYPE_CHECKING:
    from icgkit.cache import Cache as Cache
    from icgkit.graph import Case as Case
    from icgkit.graph import Constraint as Constraint
    from icgkit.graph import Edge as Edge
    from icgkit.graph import Target as Target
    from icgkit.judges import judge_plan as judge_plan
    from icgkit.judges import judge_precision as judge_precision
    from icgkit.judges import judge_recall as judge_recall
    from icgkit.load import Dataset as Dataset
    from icgkit.load import load_dataset as load_dataset
    from icgkit.load import load_judgments as load_judgments
    from icgkit.load import load_published as load_published
    from icgkit.load import load_responses as load_responses
    from icgkit.load import read_cases as read_cases
    from icgkit.load import write_cases as write_cases
    from icgkit.metrics import Bootstrap as Bootstrap
    from icgkit.metrics import Wilson as Wilson
    from icgkit.outputs import save as save
    from icgkit.prompts import build_messages as build_messages
    from icgkit.prompts import conditions as conditions
    from icgkit.published import beside as beside
    from icgkit.published import counts_beside as counts_beside
    from icgkit.results import Results as Results
    from icgkit.results import load_results as load_results
    from icgkit.study import Study as Study
    from icgkit.study_run import run as run
    from icgkit.taxonomy import CATEGORIES as CATEGORIES
    from icgkit.taxonomy import SUBTYPES as SUBTYPES


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"icgkit.{_WHERE[name]}"), name)
    if name in _MODULES:
        return import_module(f"icgkit.{name}")
    raise AttributeError(f"module 'icgkit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
