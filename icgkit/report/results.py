"""One run's results, ready for a notebook: its dataset, responses, judgments, and how to save what they give."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from icgkit.calls.recorded import dataset_of, load_judgments, load_responses, read_run
from icgkit.cases.dataset import Dataset, load_audit
from icgkit.cases.subset import strata, weights
from icgkit.errors import SchemaError, UnknownName
from icgkit.files import folder_of, named_folder, project_root, read_csv, read_parquet
from icgkit.prompts.conditions import conditions
from icgkit.report.render import plain_style
from icgkit.report.save import Provenance, save
from icgkit.schemas import schema

if TYPE_CHECKING:
    from icgkit.cases.case import Case
    from icgkit.report.save import Saved

BASELINE_NOTE = "Models named offline/ are reference baselines, no stand-in for multimodal models."
SIMULATED_NOTE = (
    "Simulated: drawn from an effect model fitted to published figures, not answers of any model."
)


_KINDS = ("precision", "plan", "adversarial", "leakage")


@dataclass(frozen=True)
class Results:
    """What a cache folder holds, with its dataset.

    Attributes
    ----------
    name : str
        Name of the cache.
    folder : Path
        Its folder.
    meta : dict
        Content of its run.toml (empty where there is none).
    dataset : Dataset
        The cases that were run.
    judge : str
        The judge whose verdicts `judgments` holds.
    nodes : {"else", "all"}
        Which nodes tables count: those elsewhere than on the edited text, or how that text itself has to be drawn as well.
    parts : tuple of Results
        The single runs, where several caches are shown in one table.
    """

    name: str
    folder: Path = field(repr=False)
    meta: dict[str, Any] = field(repr=False)
    dataset: Dataset
    judge: str
    wish: str = field(default="", repr=False)
    nodes: str = "else"
    parts: tuple[Results, ...] = field(default=(), repr=False)

    @cached_property
    def cluster(self) -> str:
        """The column that intervals resample: the one asked for, else `template` of drawn cases, `image` of others.

        `case_id` where the cases of the run are not those of the dataset.
        """
        if self.wish:
            return self.wish
        name = self.dataset.cluster
        return "case_id" if self.all_judgments[name].null_count() else name

    @property
    def clusters(self) -> str:
        """What is resampled, in words: cases, templates, images."""
        return "cases" if self.cluster == "case_id" else f"{self.cluster.removesuffix('_id')}s"

    @property
    def simulated(self) -> bool:
        """Whether the numbers come from an effect model and not from a model's answers."""
        return bool(self.meta.get("simulated", False))

    @cached_property
    def responses(self) -> pl.DataFrame:
        """Every response (schema `responses`)."""
        if self.parts:
            return pl.concat([part.responses for part in self.parts], how="diagonal")
        return load_responses(self.folder)

    @cached_property
    def all_judgments(self) -> pl.DataFrame:
        """Judgments of all judges on all nodes, with what is known of the node, and source, template, image of the case."""
        if self.parts:
            return pl.concat([part.all_judgments for part in self.parts], how="diagonal")
        frame = load_judgments(self.folder)
        if "subtype" in frame.columns:
            return self._placed(frame)
        nodes = self.dataset.nodes().select(
            "case_id", "node_id", "category", "subtype", "indirectness", "where", "chain"
        )
        cases = self.dataset.frame().select("case_id", "source")
        frame = frame.filter(pl.col("dataset") == self.dataset.name).join(
            nodes.join(cases, on="case_id"), on=["case_id", "node_id"], how="left", maintain_order="left"
        )
        return self._placed(frame)

    def _placed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Join the columns that a frame's cases can be clustered by: `template` and `image`."""
        names = [c for c in ("template", "image") if c not in frame.columns]
        where = self.dataset.frame().select("case_id", *names)
        return frame.join(where, on="case_id", how="left", maintain_order="left")

    @cached_property
    def judgments(self) -> pl.DataFrame:
        """Judgments of the chosen judge on the nodes that tables count (`nodes`), with what is known of them."""
        return self.counted(self.every_node)

    @cached_property
    def every_node(self) -> pl.DataFrame:
        """Judgments of the chosen judge on all nodes; of several caches, each with the verdicts of its own judge."""
        if self.parts:
            return self._joined(part.every_node for part in self.parts)
        frame = self.all_judgments.filter(judge=self.judge)
        if frame.is_empty():
            known = self.all_judgments["judge"].unique().to_list()
            raise UnknownName.among(f"judge in cache {self.name}", self.judge, known)
        return frame

    def _joined(self, frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """Put the frames of the single runs below each other; their judges stand under one name."""
        both = pl.concat(list(frames), how="diagonal")
        return both.with_columns(judge=pl.lit(self.judge)) if "judge" in both.columns else both

    def counted(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Leave out of a frame with one row a node those that tables do not count."""
        if self.nodes == "all" or "where" not in frame.columns:
            return frame
        return frame.filter(pl.col("where").ne_missing("target"))

    @property
    def compared(self) -> pl.DataFrame:
        """As `full`, without the baselines where models stand beside them: what a mean over models is taken of."""
        models = [m for m in self.models() if not m.startswith("offline/")]
        return self.full.filter(pl.col("model").is_in(models)) if models else self.full

    @property
    def full(self) -> pl.DataFrame:
        """Judgments of the models that were judged on every case, without those run on a subset."""
        if self.parts:
            return self._joined(part.full for part in self.parts)
        cases = self.judgments.group_by("model").agg(pl.col("case_id").n_unique().alias("n"))
        whole = cases.filter(pl.col("n") == pl.col("n").max())["model"].implode()
        return self.judgments.filter(pl.col("model").is_in(whole))

    @property
    def judges(self) -> list[str]:
        """Judges with verdicts in this cache, the primary one first."""
        names = self.all_judgments["judge"].unique().sort().to_list()
        return sorted(names, key=lambda j: j != self.judge)

    def conditions(self, wanted: Sequence[str] = ()) -> list[str]:
        """Return the conditions that have judgments, in the study's order; `wanted` narrows them."""
        have = set(self.judgments["condition"].unique())
        order = [c for c in conditions() if c in have] + sorted(have - set(conditions()))
        return [c for c in order if not wanted or c in wanted]

    def models(self) -> list[str]:
        """Return the models that have judgments."""
        return self.judgments["model"].unique().sort().to_list()

    def lacks(self, *conditions: str) -> str:
        """Return "" if all these conditions were judged, else what is missing and how to make it."""
        have = set(self.judgments["condition"].unique())
        missing = [c for c in conditions if c not in have]
        if not missing:
            return ""
        if self.simulated:
            return f"The simulated cache {self.name} lacks {', '.join(missing)}."
        ask, mark = self.commands(missing)
        return f"Cache {self.name} lacks {', '.join(missing)}; make them with: {ask} && {mark}"

    def commands(self, conditions: Sequence[str] = (), kind: str = "recall") -> tuple[str, str]:
        """Return the shell commands that ask this run's models under conditions, and that mark the answers.

        The first names the cases of this cache by `--subset`, if it does not hold all of the dataset.
        """

        def word(kind: str, name: str, folder: Path | None) -> str:
            bare = folder is None or folder_of(kind, name).resolve() == folder.resolve()
            return name if bare else str(folder)

        dataset = word("cases", self.dataset.name, self.dataset.folder)
        cache = word("cache", self.name, self.folder)
        models = self.meta.get("models") or self.models()
        ask = ["icgkit", "run", "--dataset", dataset, "--models", ",".join(map(str, models))]
        ask += ["--conditions", ",".join(conditions), "--cache", cache]
        held = self.judgments["case_id"].n_unique()
        ask += ["--subset", str(held)] if held < len(self.dataset) else []
        mark = ["icgkit", "judge", "--cache", cache, "--judges", self.judge]
        mark += ["--kinds", kind] if kind != "recall" else []
        mark += ["--dataset", dataset] if dataset != self.meta.get("dataset") else []
        return shlex.join(ask), shlex.join(mark)

    def need(self, name: str) -> tuple[pl.DataFrame, str]:
        """Read a further frame of the cache (of this judge): `precision`, `adversarial`, `plan`, `human` ...

        Returns
        -------
        (polars.DataFrame, str)
            The frame, empty where the cache has none, and then what is missing and how to make it.
        """
        if self.parts:
            found = [part.need(name) for part in self.parts]
            lines = [line for _, line in found if line]
            if name == "audit":  # of the dataset, not of a run
                return found[0]
            return self._joined(frame for frame, _ in found), " ".join(lines)
        path = self.folder / f"{name}.parquet"
        if name == "audit" and not path.is_file() and (frame := load_audit(self.dataset)) is not None:
            return self._placed(frame), ""
        if path.is_file():
            frame = self._placed(schema(name).check(read_parquet(path)))
            return (frame.filter(judge=self.judge) if "judge" in frame.columns else frame), ""
        missing = f"Cache {self.name} lacks {name}; {self._how(name)}"
        return self._placed(schema(name).frame([])), missing

    def _how(self, name: str) -> str:
        """Say with which command a frame comes into the cache."""
        cache = self.commands()[1].split(" --cache ", 1)[1].split(" --judges ", 1)[0]
        form = f"icgkit form {name} --cache {cache}"
        by_people = f"people make it: {form} --out {name}.csv writes a form; when it is filled in: {form} --read {name}.csv"
        if name == "gold":
            by_people = f'label in a notebook: ig.review("{cache}"); or {by_people}'
        return f"make it with: {self.commands(kind=name)[1]}" if name in _KINDS else by_people

    def judge_pairs(self) -> tuple[pl.DataFrame, str]:
        """Read labelled pairs of this run's judge from other responses, without those that it was calibrated on.

        Returns
        -------
        (polars.DataFrame, str)
            `found`, `gold` (see `icgkit.metrics.corrected_outside`), and what is missing where there are none.
        """
        path = project_root() / "data" / "judge_pairs.csv"
        if path.is_file():
            table = read_csv(path, columns=["part", "judge", "found", "gold"])
            rows = table.filter(part="held out", judge=self.judge).select("found", "gold")
            if rows.height:
                return rows, ""
        empty = pl.DataFrame(schema={"found": pl.Boolean, "gold": pl.Boolean})
        return empty, f"There are no labelled pairs of {self.judge}; add them to {path.name} among the data."

    def weighted(self, frame: pl.DataFrame, *, by: str = "category") -> pl.DataFrame:
        """Add the column `weight`: how many cases of the dataset each case of a stratified subset stands for."""
        groups = strata(self.dataset.nodes(), by=by)
        drawn = frame["case_id"].unique().sort().to_list()
        return frame.join(weights(groups, drawn), on="case_id", how="left", maintain_order="left")

    def if_has(
        self, values: Sequence[str], function: Callable[..., pl.DataFrame], frame: pl.DataFrame,
        *, column: str = "condition", **options: Any,
    ) -> pl.DataFrame:  # fmt: skip
        """Call a metric if all `values` occur in a column of the frame, else return one row that says what is missing.

        Examples
        --------
        A table of a cache without the two-stage condition then shows the status instead of numbers.
        """
        have = set(frame[column].unique())
        missing = [v for v in values if v not in have]
        if missing or frame.is_empty():
            what = ", ".join(missing) or "any such row"
            return pl.DataFrame({"status": [f"not in this cache: {what}"]})
        return function(frame, **options)

    def counts(self, frame: pl.DataFrame | None = None) -> dict[str, int]:
        """Return n for a caption: cases, nodes, verdicts and those that are missing."""
        frame = self.judgments if frame is None else frame
        nodes = frame.select("case_id", "node_id").unique().height
        more = {} if self.cluster == "case_id" else {self.clusters: frame[self.cluster].n_unique()}
        return {
            "cases": frame["case_id"].n_unique(),
            **more,
            "nodes": nodes,
            "verdicts": frame.height - frame["found"].null_count(),
            "missing": frame["found"].null_count(),
        }

    def size(self, frame: pl.DataFrame | None = None) -> str:
        """Return n in words, for a caption."""
        n = self.counts(frame)
        groups = n.get(self.clusters, n["cases"])
        of = f" of {groups:,d} {self.clusters}" if groups != n["cases"] else ""
        return f"n = {n['cases']:,d} cases{of}, {n['nodes']:,d} nodes, {n['verdicts']:,d} verdicts"

    def interval(self, n_resamples: int, seed: int, *, over: str = "") -> str:
        """Return kind, size and seed of the intervals in words, for a caption; `over` names what is resampled."""
        return f"95 % bootstrap intervals, whole {over or self.clusters} resampled (B = {n_resamples:,d}, seed {seed})"

    def notes(self, frame: pl.DataFrame | None = None) -> list[str]:
        """Return the lines that every table of this run needs below it."""
        if self.parts:
            given = self.judgments if frame is None else frame
            own = [part.notes(given.filter(pl.col("model").is_in(part.models()))) for part in self.parts]
            mixed = "Each cache has a judge of its own: rows of different caches differ by that as well."
            pooled = (
                "Means over models leave the baselines out."
                if self.compared.height < self.full.height
                else ""
            )
            return [
                *dict.fromkeys(line for lines in own for line in lines),
                mixed,
                *([pooled] if pooled else []),
            ]
        n = self.counts(frame)
        lines = [
            f"Dataset {self.dataset.name} {self.dataset.version}, cache {self.name}, judge {self.judge}; "
            f"{n['verdicts']:,d} verdicts, {n['missing']:,d} missing (left out, not counted as false)."
        ]
        if left := self.every_node.height - self.judgments.height:
            lines.append(
                f"Left out: {left:,d} verdicts on how the edited text itself has to be drawn; nodes='all' counts them."
            )
        if isinstance(how := self.meta.get("collected"), str) and how.strip():
            lines.append(f"How the answers were collected: {how.strip()}")
        if self.simulated:
            lines.append(SIMULATED_NOTE)
        elif any(m.startswith("offline/") for m in self.models()):
            lines.append(BASELINE_NOTE)
        return lines

    def cases_behind(
        self,
        *,
        model: str = "",
        condition: str = "",
        subtype: str = "",
        judge: str = "",
        found: bool | None = None,
    ) -> Dataset:
        """Return the cases behind a cell of a table: those with a verdict that all the given names agree with.

        `found` leaves those with a node found (true), missed (false), or either (None). Look at them with
        `icgkit.explore(run, model=..., condition=..., subtype=..., found=...)`.

        Raises
        ------
        UnknownName
            For a model, condition, subtype or judge that has no verdicts here.
        """
        import polars as pl

        rows = self.all_judgments
        given = {"model": model, "condition": condition, "subtype": subtype, "judge": judge or self.judge}
        for column, name in given.items():
            if name and name not in (known := rows[column].unique().to_list()):
                raise UnknownName.among(column, name, known)
            rows = rows.filter(pl.col(column) == name) if name else rows
        rows = rows if found is None else rows.filter(pl.col("found") == found)
        behind = set(rows["case_id"])
        return self.dataset.subset([case.id for case in self.dataset if case.id in behind])

    def found(self, case: Case, *, condition: str) -> dict[str, dict[str, bool | None]]:
        """Return who found what in a case: model to verdict by node id, for `icgkit.cases.show.case_html`."""
        rows = self.judgments.filter(case_id=case.id, condition=condition).sort("model")
        by_model: dict[str, dict[str, bool | None]] = {}
        for model, node, verdict in rows.select("model", "node_id", "found").iter_rows():
            by_model.setdefault(model, {})[node] = verdict
        return by_model

    def _repr_html_(self) -> str:
        """Show what the run holds: dataset, models, conditions, judges, verdicts."""
        from markupsafe import Markup

        rows = (
            ("Dataset", f"{self.dataset.name} {self.dataset.version}"),
            ("Models", ", ".join(self.models())),
            ("Conditions", ", ".join(self.conditions())),
            ("Judges", ", ".join(self.judges)),
            ("Verdicts", f"{self.size()}, {self.counts()['missing']:,d} missing"),
        )
        cells = Markup("").join(Markup("<br>{}: {}").format(*row) for row in rows)
        note = Markup("<br><small>{}</small>").format(SIMULATED_NOTE) if self.simulated else ""
        return str(
            Markup('<div class="mathjax_ignore">Run <b>{}</b>{}{}</div>').format(self.name, cells, note)
        )

    def save(
        self, id: str, *, part: pl.DataFrame | None = None, n: Any = None, note: Any = None, seed: int | None = None,
        **what: Any,
    ) -> Saved:  # fmt: skip
        """Call `icgkit.save` with dataset, models, cache and the simulated flag of this run as its provenance.

        Parameters
        ----------
        part : polars.DataFrame, optional
            The judgments behind the result, which n counts and the notes speak of; by default all of the run.
        n, note, seed
            As in `Provenance`, where they are others than those of `part`.
        **what
            `data`, `table`, `figure`, `caption`, `published`, `out`: see `icgkit.save`; `models` if fewer are shown.
        """
        if self.simulated and what.get("figure") is not None:
            with plain_style():
                what["figure"].suptitle(SIMULATED_NOTE, size=7, x=0.01, ha="left", color="#AA3377")
        if note is None:
            note = self.notes(part) if what.get("table") is None else ()
        n = self.counts(part) if n is None else n
        models = what.pop("models", self.models())
        about = Provenance(self.dataset.name, n, models, self.name, note, self.simulated, seed)
        return save(id, run=about, **what)


def load_results(
    cache: str | Path, *, dataset: str | Path = "", judge: str = "", cluster: str = "", nodes: str = "else"
) -> Results:
    """Load a cache folder with its dataset, or several for one table.

    Parameters
    ----------
    cache : str or Path
        Name below `data/cache/`, or a folder; several with commas between them. Of several, each keeps the
        verdicts of its own primary judge, and all must be about one dataset.
    dataset : str or Path, optional
        Dataset to use instead of the one that run.toml names.
    judge : str, optional
        Judge whose verdicts count; default is `primary_judge` of run.toml, else `offline/judge`.
    cluster : str, optional
        Column that intervals resample whole; by default what the dataset's cases share: `template` of
        drawn cases, `image` of others (see `Results.cluster`). `case_id` takes cases as independent.
    nodes : {"else", "all"}
        Whether nodes on the edited text itself count in tables.

    Raises
    ------
    UnknownName
        If there is no such cache or dataset.
    SchemaError
        If run.toml names no dataset and none is given, or the dataset's cases are others than those
        that the cache was made with.
    """
    if nodes not in ("else", "all"):
        raise UnknownName.among("nodes", nodes, ("else", "all"))
    names = [name.strip() for name in str(cache).split(",") if name.strip()]
    if len(names) > 1:
        parts = tuple(
            load_results(name, dataset=dataset, judge=judge, cluster=cluster, nodes=nodes) for name in names
        )
        return _together(parts, judge, cluster, nodes)
    folder = named_folder("cache", cache)
    meta = read_run(folder)
    chosen = judge or meta.get("primary_judge", "offline/judge")
    return Results(folder.name, folder, meta, dataset_of(folder, dataset), chosen, cluster, nodes)


def _together(parts: tuple[Results, ...], judge: str, cluster: str, nodes: str) -> Results:
    """Return several runs as one."""
    first = parts[0]
    about = [f"{p.name}: {p.dataset.name} {p.dataset.version}" for p in parts]
    if len({(p.dataset.name, p.dataset.version) for p in parts}) > 1:
        raise SchemaError("caches of different datasets in one table", got=about, allowed="one dataset")
    if len({p.simulated for p in parts}) > 1:
        raise SchemaError("simulated and real answers in one table", got=about, allowed="one or the other")
    seen: dict[str, str] = {}
    for part in parts:
        for model in part.models():
            if model in seen:
                raise SchemaError(
                    f"model {model} stands in {seen[model]} and {part.name}",
                    remedy="give one of them a label",
                )
            seen[model] = part.name
    names, judges = ", ".join(p.name for p in parts), "; ".join(dict.fromkeys(p.judge for p in parts))
    meta = {"simulated": first.simulated}
    return Results(names, first.folder, meta, first.dataset, judge or judges, cluster, nodes, parts)
