"""Prompts of a condition in the forms of two harnesses for multimodal models: VLMEvalKit (TSV) and lmms-eval (a task folder).

Both bring answers back as rows: VLMEvalKit's result file and lmms-eval's samples have the index or id, and the
text; with columns case_id, condition, model, text they go through `icgkit import answers`.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from icgkit.calls.request import Prompt
from icgkit.cases.dataset import Dataset
from icgkit.errors import SchemaError
from icgkit.exchange import other, put
from icgkit.prompts.conditions import build_messages
from icgkit.study.plan import find_conditions

LMMS_YAML = """\
task: {name}
dataset_path: parquet
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: generate_until
doc_to_visual: !function utils.doc_to_visual
doc_to_text: !function utils.doc_to_text
doc_to_target: ""
process_results: !function utils.process_results
metric_list:
  - metric: answered
    aggregation: mean
    higher_is_better: true
generation_kwargs:
  max_new_tokens: 2048
  temperature: 0
  do_sample: false
metadata:
  version: "{version}"
"""
LMMS_UTILS = '''\
"""Written by icgkit: shows the picture and the prompt as they are; verdicts need a judge, so only answers are counted."""


def doc_to_visual(doc):
    return [doc["image"].convert("RGB")]


def doc_to_text(doc, lmms_eval_specific_kwargs=None):
    return doc["question"]


def process_results(doc, results):
    return {"answered": float(bool(results and results[0].strip()))}
'''


def _prompts(dataset: Dataset, condition: str, templates: str | Path | None) -> Iterator[dict[str, Any]]:
    (found,) = find_conditions([condition], templates)
    if found.stage != "single":
        raise SchemaError(
            f"{condition} is a chain of calls", remedy="run it with icgkit run; a harness asks once"
        )
    for case in dataset:
        if found.applies(case):
            prompt = Prompt.of(build_messages(case, found, system="user"))
            (message,) = prompt.messages
            parts = (
                message["content"] if isinstance(message["content"], list) else [{"text": message["content"]}]
            )
            text = "\n\n".join(str(p["text"]) for p in parts if "text" in p)
            pictures = [base64.b64decode(url.partition(",")[2]) for url in prompt.images]
            yield {"case_id": case.id, "condition": condition, "question": text, "pictures": pictures}


def write_vlmevalkit(
    dataset: Dataset, condition: str, out: str | Path, *, templates: str | Path | None = None
) -> Path:
    """Write a condition as a TSV of VLMEvalKit, to lie in its `LMUData` folder; the system text goes before the question.

    Returns
    -------
    Path
        `<dataset>_<condition>.tsv`: `index`, `image` (base64), `question`, `answer` (empty: there is no single
        right text), `case_id`, `condition`, `model` (empty, to fill in).
    """
    rows = [
        {
            "index": k, "image": base64.b64encode(row["pictures"][0]).decode() if row["pictures"] else "", "question": row["question"],
            "answer": "", "case_id": row["case_id"], "condition": condition, "model": "",
        }
        for k, row in enumerate(_prompts(dataset, condition, templates))
    ]  # fmt: skip
    path = Path(out) / f"{dataset.name}_{condition}.tsv"
    put(path, pl.DataFrame(rows).write_csv(separator="\t").encode())
    return path


def write_lmms_eval(
    dataset: Dataset, condition: str, out: str | Path, *, templates: str | Path | None = None
) -> Path:
    """Write a condition as a task folder of lmms-eval (`--include_path`): YAML, helpers, Parquet with the pictures.

    Returns
    -------
    Path
        `<name>.yaml` in the folder, beside `utils.py` and `<name>.parquet` (`case_id`, `condition`, `image`, `question`).
    """
    hf, out, name = other("datasets"), Path(out).resolve(), f"{dataset.name}_{condition}".replace("-", "_")
    rows = [
        {
            "case_id": r["case_id"],
            "condition": condition,
            "image": {"bytes": r["pictures"][0], "path": None},
            "question": r["question"],
        }
        for r in _prompts(dataset, condition, templates)
        if r["pictures"]
    ]
    text = hf.Value("string")
    features = hf.Features({"case_id": text, "condition": text, "image": hf.Image(), "question": text})
    stream = io.BytesIO()
    hf.Dataset.from_list(rows, features=features).to_parquet(stream)
    put(out / f"{name}.parquet", stream.getvalue())
    put(out / "utils.py", LMMS_UTILS.encode())
    path = out / f"{name}.yaml"
    words = LMMS_YAML.format(name=name, data=out / f"{name}.parquet", version=dataset.version)
    put(path, words.encode())
    return path
