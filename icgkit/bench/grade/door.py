"""GRADE: discipline-informed image editing, scored by the public rules and set beside its paper.

The GRADE paper and the public repository VisionXLab/GRADE. Three dimensions a sample: reasoning R (0..1),
consistency C and readability L (0, 1, 2).

    tasks = grade.load_tasks("result.json")
    samples = grade.load_scores("my-model", tasks).samples
    grade.set_scores(samples, by=["model", "discipline"])

This file is the door; files are read in `grade_files`, scored in `grade_scores`, compared in
`grade_compare`, judged in `grade_judge`; `grade_diagrams` holds the drawn set.
"""

from __future__ import annotations

from icgkit.bench.grade.compare import compare_instructions as compare_instructions
from icgkit.bench.grade.compare import judge_error as judge_error
from icgkit.bench.grade.compare import leaderboard as leaderboard
from icgkit.bench.grade.files import DISCIPLINES as DISCIPLINES
from icgkit.bench.grade.files import PARTS as PARTS
from icgkit.bench.grade.files import Scores as Scores
from icgkit.bench.grade.files import discipline_of as discipline_of
from icgkit.bench.grade.files import load_scores as load_scores
from icgkit.bench.grade.files import load_tasks as load_tasks
from icgkit.bench.grade.judge import judge_samples as judge_samples
from icgkit.bench.grade.judge import write_scores as write_scores
from icgkit.bench.grade.scores import MEASURES as MEASURES
from icgkit.bench.grade.scores import WEIGHTS as WEIGHTS
from icgkit.bench.grade.scores import WITHOUT as WITHOUT
from icgkit.bench.grade.scores import add_scores as add_scores
from icgkit.bench.grade.scores import score as score
from icgkit.bench.grade.scores import set_scores as set_scores
from icgkit.bench.grade.scores import strict_accuracy as strict_accuracy
