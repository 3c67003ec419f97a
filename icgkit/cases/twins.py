"""Twins of drawn cases as a dataset: what a model says of pictures in which the tie is cut.

from icgkit.study.elicit import elicit

twins = load_twins("icg-scenes")
answers = elicit(twins, ["nl_self"], models, cache=cache)
marked = ig.judge_recall(answers, absent_nodes(twins, data), judge, cache=cache)
ig.metrics.recall(marked, by="model")  # the share of absent nodes that were claimed
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from icgkit.cases.dataset import Dataset, load_dataset, read_cases
from icgkit.errors import SchemaError, UnknownName

KINDS = ("counterfactual", "infeasible")


def load_twins(dataset: str | Path | Dataset, *, kind: str = "counterfactual") -> Dataset:
    """Load the twins of a drawn dataset, named after it with `-twins`; their nodes are those that still are forced.

    Parameters
    ----------
    dataset : str, path or Dataset
        One with `twins.jsonl` in its folder.
    kind : str
        "counterfactual": the same edit, and some or none of the nodes depend on it. "infeasible": the text to be
        edited does not occur.

    Raises
    ------
    UnknownName, SchemaError
        If there is no such kind, or the dataset has no twins of it.

    Examples
    --------
    >>> load_twins("icg-scenes", kind="infeasible").cases[0].constraint_nodes
    ()
    """
    if kind not in KINDS:
        raise UnknownName.among("kind of twin", kind, KINDS)
    data = dataset if isinstance(dataset, Dataset) else load_dataset(dataset)
    path = data.folder / "twins.jsonl" if data.folder else None
    found = []
    if path is not None and path.is_file():
        found = [c for c in read_cases(path) if c.metadata.get("twin_kind") == kind]
    if not found:
        raise SchemaError(
            f"dataset {data.name} has no {kind} twins", remedy="draw one that has: icgkit scenes --out FOLDER"
        )
    name = f"{data.name}-twins"
    return replace(data, name=name, cases=tuple(c.within(data.image_root, name) for c in found))


def absent_nodes(twins: Dataset, dataset: Dataset) -> Dataset:
    """Return the twins with the nodes of their cases that are not forced in them: for a judge only.

    Those are the nodes that `metadata["free"]` names, or all if a twin has none. What the recall judge then finds in
    an answer is a false alarm, and recall over its verdicts is the rate of false alarms, 0 to 1, for the same nodes
    as recall on the cases.

    Raises
    ------
    UnknownName
        If a twin's case is not in the dataset.
    """
    out = []
    for twin in twins:
        nodes = dataset[str(twin.metadata["twin_of"])].constraint_nodes
        free = twin.metadata.get("free")
        kept = tuple(n.model_copy(update={"follows": None}) for n in nodes if free is None or n.id in free)
        out.append(twin.model_copy(update={"constraint_nodes": kept, "inter_constraints": ()}))
    return replace(twins, cases=tuple(out))
