"""People's review of a judge, in a notebook: one verdict after another, the judge's own mark not shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import polars as pl
import traitlets

from icgkit import metrics
from icgkit.errors import SchemaError, UnknownName
from icgkit.judge.run import merge_verdicts
from icgkit.report.results import Results, load_results
from icgkit.schemas import schema
from icgkit.study.forms import N_GOLD
from icgkit.viewer.payload import SHOWN, data_url, picture
from icgkit.viewer.widget import asset


class Review(anywidget.AnyWidget):
    """Verdicts to be labelled; `agreement()` and `corrected()` use what is labelled so far."""

    _esm = asset("review.js")
    _css = asset("explorer.css")
    head = traitlets.Dict().tag(sync=True)

    def __init__(self, run: Results, *, n: int = N_GOLD, seed: int = 42) -> None:
        self.run = run
        self.path = run.folder / "gold.parquet"
        rows = run.judgments.filter(pl.col("found").is_not_null())
        if not rows.height:
            raise SchemaError("no verdicts to review", remedy=run.commands()[1])
        # Drawn at random within each cell, as `metrics.corrected` needs: never by the verdict itself.
        cells = rows.sort(schema("gold").key).partition_by("model", "condition", maintain_order=True)
        share = max(1, n // len(cells))
        drawn = pl.concat([c.sample(min(share, c.height), seed=seed) for c in cells])
        self.drawn = drawn.sample(fraction=1.0, shuffle=True, seed=seed)
        call = ("dataset", "case_id", "condition", "model", "sample")
        texts = {tuple(r[c] for c in call): r["text"] for r in run.responses.iter_rows(named=True)}
        done = {
            tuple(r[k] for k in schema("gold").key): r["gold"] for r in self.labels().iter_rows(named=True)
        }
        items = []
        for row in self.drawn.iter_rows(named=True):
            case = run.dataset[row["case_id"]]
            node = case.node(row["node_id"])
            items.append(
                {
                    "instruction": case.instruction, "region": node.region, "update": node.expected_update, "reason": node.reason,
                    "text": texts.get(tuple(row[c] for c in call)) or "", "gold": done.get(tuple(row[k] for k in schema("gold").key)),
                    "bbox": node.bbox, "size": case.image_size,
                }
            )  # fmt: skip
        super().__init__(head={"items": items})
        self.on_msg(lambda _, content, __: self.send({"id": content.get("id"), "value": self.reply(content)}))

    def labels(self) -> pl.DataFrame:
        """Return the labels so far (schema `gold`), those of a form too."""
        return self.run.need("gold")[0]

    def reply(self, asked: dict[str, Any]) -> str:
        """Return a picture, or put a label on the disk and return what is known by now."""
        k = asked.get("k")
        if not isinstance(k, int) or not 0 <= k < self.drawn.height:
            return ""
        row = self.drawn.row(k, named=True)
        if asked.get("what") == "picture":
            return data_url(picture(self.run.dataset[row["case_id"]], SHOWN))
        if not isinstance(asked.get("gold"), bool):
            return ""
        columns = [c for c in schema("gold").columns if c in row]
        frame = pl.DataFrame(
            [{c: row[c] for c in columns} | {"gold": asked["gold"]}], infer_schema_length=None
        )
        form = schema("gold")
        merge_verdicts(self.path, form, form.frame(frame.to_dicts()))
        agreed = self.agreement().row(0, named=True)
        kappa = "undefined yet" if agreed["kappa"] is None else f"{agreed['kappa']:.2f}"
        return f"saved · {agreed['n_pairs']} labelled, kappa {kappa}"

    def agreement(self) -> pl.DataFrame:
        """Return `icgkit.metrics.agreement` of the judge and the labels."""
        key = [c for c in schema("gold").key if c != "judge"]
        both = self.labels().select(*key, "found", "gold")
        sides = [
            both.select(*key, found=c, judge=pl.lit(n)) for c, n in (("found", "judge"), ("gold", "people"))
        ]
        return metrics.agreement(pl.concat(sides), ci=None)

    def corrected(self) -> pl.DataFrame:
        """Return `icgkit.metrics.corrected`, by model and condition."""
        return metrics.corrected(self.run.judgments, self.labels())


def review(run: Results | str | Path, *, kind: str = "gold", n: int = N_GOLD, seed: int = 42) -> Review:
    """Label a judge's verdicts blind: picture, node and answer are shown, the judge's mark is not.

    Parameters
    ----------
    run : Results, str or Path
        A judged run.
    kind : str
        "gold"; the other forms are CSV (`icgkit form`).
    n : int
        Verdicts, in equal shares of models and conditions, at random within each. Not balanced by verdict:
        a sample that looks at the verdict would bias sensitivity, specificity and the corrected recall.
    seed : int
        Of the draw.

    Returns
    -------
    Review
        A widget; labels go to `gold.parquet` of the run at once, where `icgkit form gold --read` puts its own.
    """
    if kind != "gold":
        raise UnknownName(
            "review", got=kind, allowed="gold", remedy=f"icgkit form {kind} writes a form for it"
        )
    return Review(run if isinstance(run, Results) else load_results(run), n=n, seed=seed)
