"""Read what models say of graphs with one false node: VALID or INVALID for each node shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from icgkit.calls.cache import Cache
from icgkit.prompts.replies import read_labels
from icgkit.schemas import schema

if TYPE_CHECKING:
    import polars as pl


def read_adversarial(cache: Cache, *, dataset: str | None = None) -> pl.DataFrame:
    """Read the labels of all responses under the adversarial condition; no judge model is needed.

    Parameters
    ----------
    cache : Cache
        With responses under `adversarial`; which node is false is recorded with each call.
    dataset : str, optional
        Only this dataset.

    Returns
    -------
    polars.DataFrame
        Schema `adversarial`, one row a node shown. `valid` is null, with a status, where no label
        can be read or the response itself is missing. `node_id` is the id in the dataset; the
        false node is called `false`.
    """
    rows = []
    for record in cache.records():
        if record.kind != "elicit" or record.condition != "adversarial" or not record.extra:
            continue
        if dataset is not None and record.dataset != dataset:
            continue
        extra = json.loads(record.extra)
        shown = {v: k for k, v in extra["ids"].items()} | {extra["false_node"]: "false"}
        shown = dict(sorted(shown.items(), key=lambda item: (len(item[0]), item[0])))
        key = {k: getattr(record, k) for k in schema("responses").key} | {
            "model": record.label or record.model
        }
        usable = record.status == "ok"
        labels = read_labels(record.text if usable else None, list(shown))
        for node, name in shown.items():
            value, status = labels[node]
            row: dict[str, Any] = {"node_id": name, "planted": name == "false", "valid": value}
            rows.append(key | row | {"status": status if usable else "no_response"})
    return schema("adversarial").frame(rows)
