"""The columns of every frame: dtype, unit, what null means. One source for code, docs and tests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from icgkit.errors import SchemaError, UnknownName

if TYPE_CHECKING:
    import polars as pl

CASE_KEY = ("dataset", "case_id")
CALL_KEY = (*CASE_KEY, "condition", "model", "sample")
JUDGMENT_KEY = (*CALL_KEY, "node_id", "judge")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: polars dtype by name, what it holds (with unit), what null means."""

    dtype: str
    doc: str
    null: str | None = None
    """Meaning of null; None where null is not allowed."""
    optional: bool = False
    """Whether a frame may lack the column."""


@dataclass(frozen=True)
class Schema:
    """Columns and key of one kind of frame."""

    name: str
    key: tuple[str, ...]
    columns: dict[str, Column]

    @cached_property
    def dtypes(self) -> dict[str, Any]:
        """Column name to polars dtype."""
        import polars as pl

        return {name: getattr(pl, column.dtype) for name, column in self.columns.items()}

    def frame(self, rows: list[dict[str, Any]]) -> pl.DataFrame:
        """Build a checked frame from dicts; absent fields become null, optional columns need one value."""
        import polars as pl

        data = {name: [row.get(name) for row in rows] for name in self.columns}
        for name, column in self.columns.items():
            if column.optional and not any(value is not None for value in data[name]):
                del data[name]
        dtypes = {name: self.dtypes[name] for name in data}
        return self.check(pl.DataFrame(data, schema=dtypes, strict=True))

    def check(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return `frame` with the documented columns first, or raise.

        Further columns are kept. Integers where floats are due are cast; nothing else is.

        Raises
        ------
        SchemaError
            For a missing column, another dtype, a null that is not allowed, NaN, or a key twice.
        """
        import polars as pl

        missing = [c for c, column in self.columns.items() if c not in frame.columns and not column.optional]
        if missing:
            raise SchemaError(
                f"{self.name}: missing column {', '.join(missing)}",
                got=frame.columns,
                allowed=list(self.columns),
            )
        casts = []
        present = {name: column for name, column in self.columns.items() if name in frame.columns}
        for name in present:
            dtype = self.dtypes[name]
            got = frame.schema[name]
            if got != dtype:
                if got == pl.Null or (got.is_numeric() and dtype.is_numeric()):
                    casts.append(pl.col(name).cast(dtype, strict=True))
                else:
                    raise SchemaError(f"{self.name}.{name}: dtype", got=str(got), allowed=str(dtype))
        frame = frame.with_columns(casts)
        for name, column in present.items():
            values = frame.get_column(name)
            if column.null is None and values.null_count():
                raise SchemaError(
                    f"{self.name}.{name}: {values.null_count()} nulls", allowed="no null in this column"
                )
            if values.dtype.is_float() and values.is_nan().any():
                raise SchemaError(f"{self.name}.{name}: NaN", allowed="numbers or null")
        if self.key:
            twice = frame.filter(pl.struct(self.key).is_duplicated())
            if twice.height:
                raise SchemaError(
                    f"{self.name}: {twice.height} rows share a key",
                    got=twice.select(self.key).row(0),
                    allowed=f"one row for each {', '.join(self.key)}",
                )
        return frame.select(*present, pl.exclude(*present))


_CASE = {
    "dataset": Column("String", "name of the dataset"),
    "case_id": Column("String", "case, unique within its dataset"),
}
_CALL = {
    **_CASE,
    "condition": Column("String", "what the model was told, an id of a condition template"),
    "model": Column("String", "model as named to litellm"),
    "sample": Column("Int64", "repeat of the same call, from 0"),
}
_WHY = Column("String", "the judge's one line of reasons", "none given", optional=True)
_BOX = {
    axis: Column("Float64", f"{axis} of the region's box, pixels from the top left", "no box drawn")
    for axis in ("x0", "y0", "x1", "y1")
}

SCHEMAS: dict[str, Schema] = {
    s.name: s
    for s in (
        Schema(
            "cases",
            CASE_KEY,
            {
                **_CASE,
                "instruction": Column("String", "what the editor is asked to do"),
                "target_element": Column("String", "what is edited"),
                "target_region": Column("String", "where it is"),
                "source": Column("String", "where the case comes from"),
                "image": Column("String", "path below the image root"),
                "width": Column("Int64", "image width, pixels"),
                "height": Column("Int64", "image height, pixels"),
                "n_nodes": Column("Int64", "constraint nodes of the case"),
                "n_inter": Column("Int64", "edges between nodes"),
                "template": Column("String", "template that drew the case", "not drawn from a template"),
                "metadata": Column("String", "free metadata, a JSON object"),
            },
        ),
        Schema(
            "nodes",
            (*CASE_KEY, "node_id"),
            {
                **_CASE,
                "node_id": Column("String", "node, unique within its case"),
                "category": Column("String", "one of 5 categories"),
                "subtype": Column("String", "one of 19 subtypes"),
                "indirectness": Column("Int64", "0..3, distance of the dependency from the edit"),
                "region": Column("String", "region as annotated"),
                "region_clean": Column("String", "region without hint at type or reason", "not made yet"),
                "expected_update": Column("String", "what has to change"),
                "reason": Column("String", "why"),
                "reason_anon": Column("String", "reason without names, texts, numbers", "not made yet"),
                "strength": Column("String", "strong | weak"),
                "where": Column("String", "else: elsewhere than the edited text | target: that text itself"),
                "chain": Column("Int64", "steps from the edit: 1 follows from it, 2 from what follows, ..."),
                **_BOX,
            },
        ),
        Schema(
            "edges",
            (),
            {
                **_CASE,
                "source": Column("String", "node id, or 'edit' for the edit target"),
                "target": Column("String", "node id"),
                "type": Column("String", "kind of the edge; 'edit' for an implied one"),
                "description": Column("String", "what has to stay consistent", "implied edge"),
            },
        ),
        Schema(
            "responses",
            CALL_KEY,
            {
                **_CALL,
                "status": Column("String", "ok | truncated | refused | empty | error"),
                "text": Column("String", "the reply's text", "the call gave no text"),
                "key": Column("String", "content address of the call in its cache"),
                "finish_reason": Column("String", "as the provider gave it", "not given"),
                "output_tokens": Column("Int64", "tokens", "not reported"),
                "reasoning_tokens": Column("Int64", "tokens", "not reported"),
                "cost": Column("Float64", "US dollars", "no known price"),
                "latency": Column("Float64", "seconds", "not measured"),
            },
        ),
        Schema(
            "proposals",
            (*CALL_KEY, "item"),
            {
                **_CALL,
                "item": Column("Int64", "position in the reply, from 0"),
                "region": Column("String", "region as the model names it", "not named"),
                "type": Column("String", "type as the model names it", "not named"),
                "update": Column("String", "what the model would change", "not named"),
                "reason": Column("String", "why, as the model says", "not named"),
            },
        ),
        Schema(
            "judgments",
            JUDGMENT_KEY,
            {
                **_CALL,
                "node_id": Column("String", "ground-truth node"),
                "judge": Column("String", "judge model as named to litellm"),
                "region": Column("Boolean", "the response names the region", "no verdict"),
                "update": Column("Boolean", "the response says that it has to change", "no verdict"),
                "reason": Column("Boolean", "the response gives the reason", "no verdict"),
                "found": Column("Boolean", "all three", "no verdict: missing, never false"),
                "status": Column(
                    "String",
                    "ok | incomplete | conflict | not_applicable | unreadable | truncated | empty | refused | "
                    "error | cut (not found in the part of an overlong response that the judge was shown) | "
                    "not_asked (the judging stopped before) | "
                    "no_response (the judged response itself is missing)",
                ),
                "why": _WHY,
            },
        ),
        Schema(
            "calls",
            (),
            {
                "key": Column("String", "content address of what was sent"),
                "kind": Column("String", "elicit | judge | stage | ..."),
                **_CALL,
                "stage": Column("String", "stage or judge template", "a plain response"),
                "subject": Column("String", "key of the call that this one builds on or judges", "none"),
                "subject_model": Column("String", "model that gave the judged response", "none"),
                "status": Column("String", "ok | truncated | refused | empty | error"),
                "text": Column("String", "the reply's text", "the call gave no text"),
                "raw": Column("String", "the reply as received, JSON; '$text' stands for text", "no reply"),
                "finish_reason": Column("String", "as the provider gave it", "not given"),
                "refusal": Column("String", "the provider's refusal, or the error", "none"),
                "input_tokens": Column("Int64", "tokens", "not reported"),
                "output_tokens": Column("Int64", "tokens", "not reported"),
                "reasoning_tokens": Column("Int64", "tokens", "not reported"),
                "cost": Column("Float64", "US dollars", "no known price"),
                "latency": Column("Float64", "seconds", "not measured"),
                "attempts": Column("Int64", "times the call was sent"),
                "answered_model": Column("String", "model that the provider says answered", "not given"),
                "created": Column("Float64", "seconds since 1970", "not kept"),
                "prompt_sha256": Column("String", "hash of the messages' text", "not made"),
                "image_sha256": Column("String", "hash of the image bytes sent", "no image"),
                "template_sha256": Column("String", "hash of the template's words", "no template"),
                "params": Column("String", "effective parameters, a JSON object"),
                "endpoint": Column("String", "base address of the server", "the provider's own"),
                "extra": Column("String", "further tags, a JSON object", "none"),
                "label": Column("String", "what the model is called in results", "its name"),
            },
        ),
        Schema(
            "precision",
            (*CALL_KEY, "item", "judge"),
            {
                **_CALL,
                "item": Column("Int64", "position of the proposed constraint in the reply, from 0"),
                "judge": Column("String", "judge model as named to litellm"),
                "valid": Column("Boolean", "the proposed constraint holds", "no verdict"),
                "status": Column("String", "as in judgments"),
                "why": _WHY,
            },
        ),
        Schema(
            "adversarial",
            (*CALL_KEY, "node_id"),
            {
                **_CALL,
                "node_id": Column("String", "node shown to the model"),
                "planted": Column("Boolean", "the node is the false one that was mixed in"),
                "valid": Column("Boolean", "the model calls the node VALID", "no label read"),
                "status": Column("String", "as in judgments"),
            },
        ),
        Schema(
            "plan",
            (*CALL_KEY, "node_id", "judge"),
            {
                **_CALL,
                "node_id": Column("String", "selected ground-truth node"),
                "judge": Column("String", "judge model as named to litellm"),
                "satisfied": Column("Boolean", "the plan has a step that satisfies it", "no verdict"),
                "status": Column("String", "as in judgments"),
                "why": _WHY,
            },
        ),
        Schema(
            "leakage",
            (*CASE_KEY, "node_id", "model", "form"),
            {
                **_CASE,
                "node_id": Column("String", "node whose reason was shown"),
                "model": Column("String", "model that guesses"),
                "form": Column("String", "anon | orig: which reason was shown"),
                "category": Column("String", "true category"),
                "subtype": Column("String", "true subtype"),
                "subtype_guess": Column("String", "guessed subtype", "no usable guess"),
                "subtype_exact": Column("Boolean", "the guess is right", "no usable guess"),
                "region_match": Column("String", "match | partial | none", "no usable guess"),
                "status": Column("String", "of the guess, as in judgments", "not kept", optional=True),
            },
        ),
        Schema(
            "human",
            (*CASE_KEY, "node_id", "annotator", "condition"),
            {
                **_CASE,
                "node_id": Column("String", "ground-truth node"),
                "annotator": Column("String", "who answered"),
                "condition": Column("String", "what the annotator was told"),
                "found": Column("Boolean", "the answer names region, update and reason", "not answered"),
            },
        ),
        Schema(
            "audit",
            (*CASE_KEY, "node_id", "annotator"),
            {
                **_CASE,
                "node_id": Column("String", "re-verified node"),
                "annotator": Column("String", "who re-verified it, blind"),
                "exists": Column("Boolean", "the constraint exists", "not answered"),
                "region": Column("Boolean", "the region is right", "not answered"),
                "update": Column("Boolean", "the update is right", "not answered"),
                "reason": Column("Boolean", "the reason is right", "not answered"),
            },
        ),
        Schema(
            "labels",
            (*CASE_KEY, "node_id", "annotator"),
            {
                **_CASE,
                "node_id": Column("String", "node to be classified"),
                "annotator": Column("String", "who classified it"),
                "subtype": Column("String", "chosen subtype", "not answered"),
            },
        ),
        Schema(
            "failures",
            (*CALL_KEY, "node_id"),
            {
                **_CALL,
                "node_id": Column("String", "node that was missed although it was told"),
                "source": Column(
                    "String", "visual grounding | constraint interpretation | instruction override"
                ),
            },
        ),
        Schema(
            "gold",
            JUDGMENT_KEY,
            {
                **_CALL,
                "node_id": Column("String", "ground-truth node"),
                "judge": Column("String", "judge model as named to litellm"),
                "found": Column("Boolean", "the judge's verdict", "no verdict"),
                "gold": Column("Boolean", "a person's verdict on the same response", "not labelled"),
            },
        ),
        Schema(
            "published",
            (),
            {
                "id": Column("String", "what is measured"),
                "where": Column("String", "place in the source"),
                "quantity": Column("String", "in words"),
                "model": Column("String", "model, or 'all'", "no single model"),
                "condition": Column("String", "condition", "not tied to a condition"),
                "group": Column("String", "category, subtype, source or subset", "no group"),
                "value": Column("Float64", "as printed"),
                "unit": Column("String", "unit of value"),
                "note": Column("String", "what else the source says", "nothing"),
            },
        ),
    )
}


def schema(name: str) -> Schema:
    """Look up a schema by name.

    Examples
    --------
    >>> schema("cases").key
    ('dataset', 'case_id')
    """
    if name not in SCHEMAS:
        raise UnknownName.among("schema", name, SCHEMAS)
    return SCHEMAS[name]


def verdict_schema(name: str, place: str, fields: tuple[str, ...]) -> Schema:
    """Return the columns of a kind of judging that is not among `SCHEMAS`, one row a verdict.

    Parameters
    ----------
    place : {"node_id", "item"}
        What a verdict is about: a true node, or the place of a proposal in its response.
    fields : tuple of str
        What is answered, each true or false.

    Examples
    --------
    >>> verdict_schema("tone", "node_id", ("polite",)).columns["polite"].null
    'no verdict'
    """
    about = {
        "node_id": Column("String", "ground-truth node"),
        "item": Column("Int64", "position of the proposed constraint in the reply, from 0"),
    }
    columns = {**_CALL, place: about[place], "judge": Column("String", "judge model as named to litellm")}
    columns |= {field: Column("Boolean", "the judge's answer", "no verdict") for field in fields}
    columns |= {"status": Column("String", "as in judgments"), "why": _WHY}
    return Schema(name, (*CALL_KEY, place, "judge"), columns)
