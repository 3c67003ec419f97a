"""icgkit: measure which implicit constraints of a text edit multimodal models discover.

    import icgkit as ig

The names below are imported when first used, so that `import icgkit` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_WHERE = {
    "Request": "calls.request",
    "Limits": "calls.limits",
    "estimate": "study.run",
    "Elicitation": "study.plan",
    "elicit": "study.elicit",
    "__version__": "files",
    "Case": "cases.case",
    "Constraint": "cases.case",
    "Edge": "cases.case",
    "Target": "cases.case",
    "CaseView": "cases.show",
    "Dataset": "cases.dataset",
    "load_dataset": "cases.dataset",
    "load_kept": "cases.dataset",
    "load_published": "cases.dataset",
    "load_judgments": "calls.recorded",
    "judge_recall": "judge.nodes",
    "judge_precision": "judge.nodes",
    "judge_plan": "judge.nodes",
    "probe_leakage": "judge.probes",
    "Judge": "judge.ask",
    "run": "study.run",
    "Study": "study.file",
    "Cache": "calls.cache",
    "load_responses": "calls.recorded",
    "conditions": "prompts.conditions",
    "build_messages": "prompts.conditions",
    "read_cases": "cases.dataset",
    "write_cases": "cases.dataset",
    "save": "report.save",
    "Provenance": "report.save",
    "Results": "report.results",
    "load_results": "report.results",
    "annotate": "viewer.annotator",
    "review": "viewer.review",
    "explore": "viewer.widget",
    "write_view": "viewer.page",
    "beside": "report.published",
    "counts_beside": "report.published",
    "CATEGORIES": "taxonomy",
    "SUBTYPES": "taxonomy",
    "Bootstrap": "metrics",
    "Contrast": "metrics",
    "Sandwich": "metrics",
    "Wilson": "metrics",
}
_MODULES = {
    "taxonomy": "taxonomy",
    "schemas": "schemas",
    "errors": "errors",
    "metrics": "metrics",
    "tables": "report.tables",
    "plots": "report.plots",
    "case_figures": "report.case_figures",
    "views": "report.views",
    "bench": "bench",
}

__all__ = [*_WHERE, *_MODULES]

if TYPE_CHECKING:
    from icgkit.calls.cache import Cache as Cache
    from icgkit.calls.limits import Limits as Limits
    from icgkit.calls.recorded import load_judgments as load_judgments
    from icgkit.calls.recorded import load_responses as load_responses
    from icgkit.calls.request import Request as Request
    from icgkit.cases.case import Case as Case
    from icgkit.cases.case import Constraint as Constraint
    from icgkit.cases.case import Edge as Edge
    from icgkit.cases.case import Target as Target
    from icgkit.cases.dataset import Dataset as Dataset
    from icgkit.cases.dataset import load_dataset as load_dataset
    from icgkit.cases.dataset import load_kept as load_kept
    from icgkit.cases.dataset import load_published as load_published
    from icgkit.cases.dataset import read_cases as read_cases
    from icgkit.cases.dataset import write_cases as write_cases
    from icgkit.cases.show import CaseView as CaseView
    from icgkit.files import __version__ as __version__
    from icgkit.judge.ask import Judge as Judge
    from icgkit.judge.nodes import judge_plan as judge_plan
    from icgkit.judge.nodes import judge_precision as judge_precision
    from icgkit.judge.nodes import judge_recall as judge_recall
    from icgkit.judge.probes import probe_leakage as probe_leakage
    from icgkit.metrics import Bootstrap as Bootstrap
    from icgkit.metrics import Contrast as Contrast
    from icgkit.metrics import Sandwich as Sandwich
    from icgkit.metrics import Wilson as Wilson
    from icgkit.prompts.conditions import build_messages as build_messages
    from icgkit.prompts.conditions import conditions as conditions
    from icgkit.report.published import beside as beside
    from icgkit.report.published import counts_beside as counts_beside
    from icgkit.report.results import Results as Results
    from icgkit.report.results import load_results as load_results
    from icgkit.report.save import Provenance as Provenance
    from icgkit.report.save import save as save
    from icgkit.study.elicit import elicit as elicit
    from icgkit.study.file import Study as Study
    from icgkit.study.plan import Elicitation as Elicitation
    from icgkit.study.run import estimate as estimate
    from icgkit.study.run import run as run
    from icgkit.taxonomy import CATEGORIES as CATEGORIES
    from icgkit.taxonomy import SUBTYPES as SUBTYPES
    from icgkit.viewer.annotator import annotate as annotate
    from icgkit.viewer.page import write_view as write_view
    from icgkit.viewer.review import review as review
    from icgkit.viewer.widget import explore as explore


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"icgkit.{_WHERE[name]}"), name)
    if name in _MODULES:
        return import_module(f"icgkit.{_MODULES[name]}")
    raise AttributeError(f"module 'icgkit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
