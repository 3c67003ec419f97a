"""Read what models say of graphs with one false node: VALID or INVALID for each node shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icgkit.calls.cache import Cache
from icgkit.errors import SchemaError
from icgkit.prompts.replies import read_labels
from icgkit.schemas import schema
from icgkit.untrusted import json_value

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
        shown = _shown(record.extra, record.key)
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


def _shown(extra: str, key: str) -> dict[str, str]:
    """Return the node behind each id that a call showed; the false one is called `false`."""
    found = json_value(extra, f"call {key}: extra")
    ids, false = (found.get("ids"), found.get("false_node")) if isinstance(found, dict) else (None, None)
    if not isinstance(ids, dict) or not all(isinstance(x, str) for x in [*ids.values(), false]):
        raise SchemaError(f"call {key}: extra", got=extra[:80], allowed="ids (id by node) and false_node")
    return {v: k for k, v in ids.items()} | {str(false): "false"}
