"""Counterfactual twins as a dataset: what a model says of pictures without the dependency.

from icgkit.study.elicit import elicit

twins = load_twins("my-set")
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
    """Load the twins of a drawn dataset; they have no nodes, and are named after it with `-twins`.

    Parameters
    ----------
    dataset : str, path or Dataset
        Drawn with `icgkit synth --twins`.
    kind : str
        "counterfactual": the same edit, and nothing depends on it. "infeasible": the text to be edited
        does not occur.

    Raises
    ------
    UnknownName, SchemaError
        If there is no such kind, or the dataset has no twins of it.

    Examples
    --------
    >>> import tempfile
    >>> from icgforge.synth import make_dataset, write_dataset
    >>> folder = tempfile.mkdtemp()
    >>> cases = write_dataset(make_dataset(1, names=["style_layout_sign"]), folder, twins=True)
    >>> twin = load_twins(folder).cases[0]
    >>> twin.metadata["twin_of"] == cases[0].id, twin.constraint_nodes
    (True, ())
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
            f"dataset {data.name} has no {kind} twins",
            remedy="draw it with: icgkit synth --twins --out FOLDER",
        )
    name = f"{data.name}-twins"
    return replace(data, name=name, cases=tuple(c.within(data.image_root, name) for c in found))


def absent_nodes(twins: Dataset, dataset: Dataset) -> Dataset:
    """Return the twins with the nodes of their cases, none of which they have: for a judge only.

    What the recall judge then finds in an answer is a false alarm, and recall over its verdicts is the
    rate of false alarms, 0 to 1, for the same nodes as recall on the cases.

    Raises
    ------
    UnknownName
        If a twin's case is not in the dataset.
    """
    nodes = [dataset[str(t.metadata["twin_of"])].constraint_nodes for t in twins]
    pairs = zip(twins, nodes, strict=True)
    return replace(twins, cases=tuple(t.model_copy(update={"constraint_nodes": n}) for t, n in pairs))
