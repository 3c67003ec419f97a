"""Seeded cases with exact truth, drawn as images.

    from icgforge.synth import make_case, make_dataset, write_dataset

`base` says how a template is written, `case` makes a case of it, `dataset` composes many,
`check` compares pictures with what is said of them, `audit` looks for give-aways, `twins` loads the
pictures without the dependency, on which what a model claims is a false alarm.
"""

from __future__ import annotations

from icgforge.synth.base import templates as templates
from icgforge.synth.case import Knobs as Knobs
from icgforge.synth.case import Made as Made
from icgforge.synth.case import make_case as make_case
from icgforge.synth.dataset import make_dataset as make_dataset
from icgforge.synth.dataset import remake as remake
from icgforge.synth.dataset import write_dataset as write_dataset

__all__ = ["Knobs", "Made", "make_case", "make_dataset", "remake", "templates", "write_dataset"]
