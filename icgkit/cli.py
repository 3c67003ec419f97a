"""The command line: thin doors to functions of the package."""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from icgkit.errors import IcgError, SchemaError, UnknownName
from icgkit.files import in_project

_BUDGET = "US dollars that everything in the cache may come to, earlier runs included."
_PRICE = "MODEL=IN,OUT in US dollars a million tokens, where litellm knows none; repeatable."


class _Commands(TyperGroup):
    """The commands below, and those that installed packages offer as entry points `icgkit.commands`."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *sorted(entry_points(group="icgkit.commands").names)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        own = super().get_command(ctx, cmd_name)
        for entry in () if own else entry_points(group="icgkit.commands", name=cmd_name):
            offered = typer.Typer()
            offered.command(cmd_name)(entry.load())
            return typer.main.get_command(offered)
        return own


app = typer.Typer(
    name="icgkit",
    cls=_Commands,
    help="Measure which implicit constraints of a text edit multimodal models discover.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from icgkit.files import __version__

        typer.echo(f"icgkit {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version and end.")
    ] = False,
) -> None:
    """Keep the commands as sub-commands even while there is only one."""


@app.command("init")
def init_command(folder: Annotated[Path, typer.Argument(help="Folder to make.")]) -> None:
    """Make a folder to work in: notebooks, a small drawn dataset, a study file."""
    from icgkit.reproduce.project import init

    with clear_errors():
        typer.echo("\n".join(init(folder)))


@app.command("new")
def new_command(
    kind: Annotated[str, typer.Argument(help="dataset.")],
    folder: Annotated[Path, typer.Argument(help="Folder of pictures.")],
) -> None:
    """Start a dataset from a folder of pictures: their sizes and SHA-256, and a dataset.toml."""
    from icgkit.cases.annotating import new_dataset

    with clear_errors():
        if kind != "dataset":
            raise UnknownName("kind of thing to start", got=kind, allowed="dataset")
        typer.echo(f"{len(new_dataset(folder)):,d} pictures in {folder / 'pictures.jsonl'}")
        typer.echo(f'annotate them in a notebook: ig.annotate("{folder}", annotator="me")')


@app.command("list")
def list_command() -> None:
    """Name the datasets, caches, conditions, kinds of judging and keyless models that are here."""
    from icgkit.reproduce.project import listing

    with clear_errors():
        typer.echo("\n".join(listing()))


@app.command("reproduce")
def reproduce_command(
    only: Annotated[
        list[str] | None, typer.Option(help="Notebook, id of a result, or part of a name; repeatable.")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option(help="name=value for the notebooks that have it; repeatable.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the results; figures/, or figures/CACHE for --param cache=."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Run what is up to date as well.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what is stale and why, run nothing.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Regenerate elsewhere and name every number that differs.")
    ] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Notebooks at the same time.")] = None,
    cell_seconds: Annotated[int, typer.Option(min=1, help="Longest time for one cell.")] = 600,
    tolerance: Annotated[float, typer.Option(min=0, help="Relative; for --check.")] = 1e-6,
) -> None:
    """Make every stale table and figure, and the gallery; fail if a notebook or the check fails."""
    from icgkit.reproduce import run as door
    from icgkit.reproduce.notebooks import parse_parameters

    with clear_errors():
        in_project()
        options: dict[str, Any] = {"only": only or (), "jobs": jobs, "cell_seconds": cell_seconds}
        if check and dry_run:
            raise SchemaError("--check with --dry-run", allowed="one of them")
        sets = param is None and out is None
        if not sets:
            options["parameters"] = parse_parameters(param or ())
        if check and sets:
            found = door.check_sets(tolerance=tolerance, **options)
        elif check:
            found = [door.check(committed=out, tolerance=tolerance, **options)]
        elif sets:
            reports = door.reproduce_sets(force=force, dry_run=dry_run, **options)
            found = [(report, []) for report in reports]
        else:
            found = [(door.reproduce(out=out, force=force, dry_run=dry_run, **options), [])]
        for report, differences in found:
            typer.echo(door.check_text(report, differences, tolerance) if check else str(report))
    if any(report.failed or any(not d.order_only for d in differences) for report, differences in found):
        raise typer.Exit(1)


@app.command("simulate")
def simulate_command(
    cases: Annotated[list[int] | None, typer.Option(min=2, help="Number of cases; repeatable.")] = None,
    models: Annotated[int, typer.Option(min=1, help="Models whose mean is compared.")] = 4,
    effect: Annotated[float, typer.Option(help="Difference of macro recall to be seen, e.g. 0.04.")] = 0.04,
    recall: Annotated[float, typer.Option(help="Macro recall under the reference condition.")] = 0.45,
    power: Annotated[float, typer.Option(help="Power to reach.")] = 0.9,
    fitted: Annotated[
        bool, typer.Option("--fitted", help="Subtypes, models and judge error as fitted to the paper.")
    ] = False,
    studies: Annotated[int, typer.Option(min=10, help="Simulated studies for each number of cases.")] = 400,
    seed: Annotated[int, typer.Option(help="Seed of everything.")] = 42,
    out: Annotated[Path | None, typer.Option(help="Write the curve to this CSV file.")] = None,
    write: Annotated[
        Path | None, typer.Option(help="Instead: write a whole simulated study as a cache folder.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="With --write: lay the study out on the nodes of this dataset.")
    ] = None,
) -> None:
    """Say how many cases a study needs (power curve), or write a simulated study; no model is called."""
    from icgkit.simulate import effects as simulate
    from icgkit.simulate import study as simulated
    from icgkit.simulate.power import CASES, Trials, curve_text, power_curve

    with clear_errors():
        if write is not None:
            typer.echo(simulated.make(write, dataset=dataset, cases=(cases or [461])[0], seed=seed))
            return
        curve = power_curve(
            effect=effect, cases=cases or CASES, models=models, recall=recall,
            trials=Trials(studies, power=power, seed=seed), effects=simulate.load_effects() if fitted else None,
        )  # fmt: skip
        if out is not None:
            curve.write_csv(out)
        typer.echo(curve_text(curve, power))


@app.command("view")
def view_command(
    run: Annotated[str, typer.Argument(help="Name of a cache, or its folder.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the page; view-RUN by default.")] = None,
    dataset: Annotated[str, typer.Option(help="Dataset of the run, if it is not where it was.")] = "",
) -> None:
    """Write a run as a page that opens from disk: pictures, whole answers, verdicts."""
    from icgkit.report.results import load_results
    from icgkit.viewer.page import write_view

    with clear_errors():
        results = load_results(run, dataset=dataset)
        typer.echo(f"open {write_view(results, out or Path(f'view-{results.name}'))}")


@app.command("doctor")
def doctor_command(
    write_checksums: Annotated[
        bool, typer.Option("--write-checksums", help="Write data/CHECKSUMS.sha256 anew.")
    ] = False,
) -> None:
    """Say what is installed, which data are there, and whether their checksums hold."""
    from icgkit import doctor

    with clear_errors():
        if write_checksums:
            typer.echo(f"{doctor.write_checksums()} checksums written")
        findings = doctor.examine()
    typer.echo(doctor.report_text(findings))
    if any(f.status == "broken" for f in findings):
        raise typer.Exit(1)


@contextmanager
def clear_errors() -> Iterator[None]:
    """Show errors that icgkit raises on purpose, and those of the system, as one line without a traceback."""
    try:
        yield
    # A disk, a file, a name; a fault of the program keeps its traceback.
    except (OSError, UnicodeError) as exc:
        if os.environ.get("ICGKIT_TRACEBACK") or isinstance(exc, BrokenPipeError):
            raise
        typer.secho(f"{type(exc).__name__}: {_of_system(exc)}", fg=typer.colors.RED, err=True)
        raise typer.Exit(2) from None
    except IcgError as exc:
        typer.secho(f"{type(exc).__name__}: {exc}", fg=typer.colors.RED, err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt as exc:
        typer.secho(str(exc) or "interrupted; what was finished is kept", err=True)
        raise typer.Exit(130) from None


def _of_system(exc: OSError | UnicodeError) -> str:
    """Say in plain words what the system refused, and what helps."""
    place = getattr(exc, "filename", None)
    what = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
    remedies = {
        errno.ENOSPC: "make room on the disk and run the same command again; what is in the cache stays",
        errno.EDQUOT: "make room within your quota and run the same command again; what is in the cache stays",
        errno.EROFS: "choose a folder that can be written to",
        errno.EACCES: "choose a file or folder that you may read and write",
    }
    remedy = remedies.get(getattr(exc, "errno", None) or 0, "ICGKIT_TRACEBACK=1 shows where")
    return str(IcgError(what, got=None if place is None else os.fsdecode(place), remedy=remedy))


def _exit(stopped: str | None, failed: bool) -> None:
    """End with 3 if calls were stopped, 1 if some failed or gave nothing usable."""
    if stopped or failed:
        raise typer.Exit(3 if stopped else 1)


import_app = typer.Typer(
    help="Read what was made elsewhere: answers, verdicts, a public benchmark.", no_args_is_help=True
)
app.add_typer(import_app, name="import")
export_app = typer.Typer(help="Write what others can answer or judge.", no_args_is_help=True)
app.add_typer(export_app, name="export")
_CACHE = Annotated[str, typer.Option(help="Cache to write to: a name below data/cache, or a folder.")]
_DATASET = Annotated[
    str, typer.Option(help="Dataset that was answered: a name below data/cases, or a folder.")
]
_TEMPLATES = Annotated[Path | None, typer.Option(help="Folder of own prompts that were used.")]


@import_app.command("answers")
def import_answers_command(
    path: Annotated[
        Path,
        typer.Argument(
            help="JSONL, CSV or Parquet; a folder that `icgkit export prompts` wrote; a log of Inspect (.eval)."
        ),
    ],
    cache: _CACHE,
    dataset: _DATASET,
    collected: Annotated[
        str, typer.Option(help="How the answers came about; it stands below every table.")
    ] = "",
    templates: _TEMPLATES = None,
) -> None:
    """Put answers that were made elsewhere into a cache; rows that do not fit are named and kept apart."""
    from tempfile import TemporaryDirectory

    from icgkit.cases.dataset import load_dataset
    from icgkit.files import folder_of, write_rows
    from icgkit.study.exchange import import_answers

    with clear_errors(), TemporaryDirectory() as scratch:
        if path.suffix == ".eval":
            from icgkit.exchange.inspect_tasks import answers_of

            rows, path = answers_of(path), Path(scratch) / f"{path.name}.jsonl"
            write_rows(rows, path)
        done = import_answers(
            path, folder_of("cache", cache), load_dataset(dataset), collected=collected, templates=templates
        )
        typer.echo("\n".join(done.lines()))
    if done.rejected:
        raise typer.Exit(1)


@import_app.command("verdicts")
def import_verdicts_command(
    path: Annotated[
        Path, typer.Argument(help="JSONL, CSV or Parquet: verdicts on nodes, or on proposed constraints.")
    ],
    cache: _CACHE,
    dataset: Annotated[str, typer.Option(help="Dataset of the cache, if it is not where it was.")] = "",
) -> None:
    """Put verdicts of judges or people into a cache that holds the judged answers."""
    from icgkit.calls.recorded import dataset_of
    from icgkit.files import named_folder
    from icgkit.study.exchange import import_verdicts

    with clear_errors():
        folder = named_folder("cache", cache)
        done = import_verdicts(path, folder, dataset_of(folder, dataset))
        typer.echo("\n".join(done.lines()))
    if done.rejected:
        raise typer.Exit(1)


@export_app.command("dataset")
def export_dataset_command(
    folder: Annotated[Path, typer.Argument(help="Folder that was annotated.")],
    annotator: Annotated[str, typer.Option(help="Whose annotations become the cases (the adjudicator's).")],
) -> None:
    """Make a dataset of what was annotated; drafts that are no case yet are named and stay."""
    from icgkit.cases.annotating import export

    with clear_errors():
        kept, wrong = export(folder, annotator)
        typer.echo(f"{len(kept):,d} cases in {folder / 'cases.jsonl'}")
        for case, faults in wrong.items():
            typer.echo(f"left out {case}: {' | '.join(faults)}", err=True)
        _exit(None, bool(wrong))


@export_app.command("prompts")
def export_prompts_command(
    dataset: _DATASET,
    conditions: Annotated[str, typer.Option(help="Conditions, separated by commas.")],
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    form: Annotated[
        str,
        typer.Option(
            help="folder: one folder a prompt; jsonl: all in one file; batch: a provider's batch file."
        ),
    ] = "folder",
    model: Annotated[str, typer.Option(help="Model of a batch file, and in answers.csv.")] = "MODEL",
    subset: Annotated[
        int, typer.Option(min=0, help="Only so many cases, drawn evenly over the categories.")
    ] = 0,
    templates: _TEMPLATES = None,
) -> None:
    """Write every message with its image, for any console, batch service or person to answer."""
    from icgkit.cases.dataset import load_dataset
    from icgkit.errors import UnknownName
    from icgkit.study.exchange import FORMS, export_prompts
    from icgkit.study.file import stratified

    with clear_errors():
        if form not in FORMS:
            raise UnknownName.among("form", form, FORMS)
        data = load_dataset(dataset)
        if subset:
            data = data.subset(stratified(data, subset))
        names = [c for c in conditions.split(",") if c]
        n = export_prompts(data, names, out, form=form, model=model, templates=templates)
        typer.echo(
            f"{n:,d} prompts in {out}; fill in answers.csv, then: icgkit import answers {out} --cache NAME --dataset {dataset}"
        )


_OUT = Annotated[Path, typer.Option(help="Folder to write.")]


@export_app.command("hub")
def export_hub_command(
    name: Annotated[str, typer.Argument(help="Dataset (with --run: cache), by name or folder.")],
    out: _OUT,
    run: Annotated[
        bool, typer.Option("--run", help="Answers and verdicts of a cache, not a dataset.")
    ] = False,
) -> None:
    """Write a dataset or a run as a Hugging Face datasets folder: Parquet with pictures, and a card; nothing is sent."""
    from icgkit.exchange import hub

    with clear_errors():
        if run:
            from icgkit.report.results import load_results

            hub.write_hub_run(load_results(name), out)
        else:
            from icgkit.cases.dataset import load_dataset

            hub.write_hub(load_dataset(name), out)
        typer.echo(f'written; open it with: datasets.load_dataset("{out}")')


@import_app.command("hub")
def import_hub_command(
    folder: Annotated[Path, typer.Argument(help="Folder that `icgkit export hub` wrote.")], out: _OUT
) -> None:
    """Make a dataset again from a Hugging Face datasets folder of ours."""
    from icgkit.exchange.hub import read_hub

    with clear_errors():
        typer.echo(f"{len(read_hub(folder, out)):,d} cases in {out}")


@export_app.command("coco")
def export_coco_command(dataset: _DATASET, out: _OUT) -> None:
    """Write regions as COCO instances with their pictures, as FiftyOne and detection tools read them."""
    from icgkit.cases.dataset import load_dataset
    from icgkit.exchange.boxes import write_coco

    with clear_errors():
        typer.echo(f"written: {write_coco(load_dataset(dataset), out)}")


@import_app.command("coco")
def import_coco_command(
    path: Annotated[Path, typer.Argument(help="COCO file of instances.")],
    out: Annotated[Path, typer.Option(help="JSON lines to write.")],
) -> None:
    """Make boxes to begin annotating with from COCO instances."""
    from icgkit.exchange.boxes import read_coco
    from icgkit.files import write_rows

    with clear_errors():
        rows = read_coco(path)
        write_rows(rows, out)
        typer.echo(f"{len(rows):,d} boxes; in a notebook: ig.annotate(FOLDER, boxes={str(out)!r})")


@export_app.command("harness")
def export_harness_command(
    form: Annotated[str, typer.Argument(help="vlmevalkit or lmms-eval.")],
    dataset: _DATASET,
    condition: Annotated[str, typer.Option(help="Id of a condition of a single call.")],
    out: _OUT,
    templates: _TEMPLATES = None,
) -> None:
    """Write a condition as a task of another harness; Inspect finds ours by itself (icgkit/constraints)."""
    from icgkit.cases.dataset import load_dataset
    from icgkit.errors import UnknownName
    from icgkit.exchange import harnesses

    writers = {"vlmevalkit": harnesses.write_vlmevalkit, "lmms-eval": harnesses.write_lmms_eval}
    with clear_errors():
        if form not in writers:
            raise UnknownName.among("harness", form, writers)
        typer.echo(f"written: {writers[form](load_dataset(dataset), condition, out, templates=templates)}")


@import_app.command("texteditbench")
def import_texteditbench_command(
    path: Annotated[Path, typer.Argument(help="The benchmark's public folder.")],
    out: Annotated[Path, typer.Option(help="Folder of the dataset to write.")] = Path("texteditbench"),
) -> None:
    """Read a public benchmark folder as it is, report every repair, write a dataset."""
    with clear_errors():
        from icgkit.bench.texteditbench import files as texteditbench

        found = texteditbench.read(path)
        written = texteditbench.write_dataset(found, path, out)
        for kind, repaired, n, _files in texteditbench.report(found).iter_rows():
            typer.echo(f"{'repaired' if repaired else 'problem ':8s}  {n:6,d}  {kind}")
        typer.echo(
            f"{found.records.height:,d} records read, {written:,d} cases with an image written to {out}\n"
            f"The cases carry no nodes: `icgkit run --dataset {shlex.quote(str(out.resolve()))} ...` asks about them; "
            "their answers can be judged once nodes are annotated, for the public data has none."
        )


@app.command("score")
def score_command(
    benchmark: Annotated[
        str, typer.Argument(help="dod, grade, texteditbench, unike, or edits: pictures named after cases.")
    ],
    folder: Annotated[Path, typer.Argument(help="Folder that the benchmark's own tools wrote.")],
    data: Annotated[
        Path | None,
        typer.Option(
            help="What was asked. dod, texteditbench: the public folder; grade: the task list; unike: UniKE.json; edits: the dataset."
        ),
    ] = None,
    pixels: Annotated[bool, typer.Option(help="dod: judge mazes from their pixels.")] = False,
    rule: Annotated[str, typer.Option(help="unike: published, stages or any_stage.")] = "published",
    out: Annotated[Path | None, typer.Option(help="Write the table to this CSV file.")] = None,
) -> None:
    """Score what a public benchmark's tools wrote: its rules, with n and what is pending."""
    from typing import cast

    from icgkit.errors import UnknownName

    needs = {
        "dod": "FOLDER with instruction.jsonl and ground_truth_criteria.jsonl",
        "unike": "UniKE.json, the data file of the run",
        "edits": "DATASET, a drawn one such as icg-scenes",
    }
    with clear_errors():
        if data is None and benchmark in needs:
            raise SchemaError("no requests", remedy=f"add --data {needs[benchmark]}")
        if benchmark == "dod":
            from icgkit.bench.dod import outputs as dod_outputs

            table, problems = dod_outputs.score(folder, cast("Path", data), pixels=pixels)
        elif benchmark == "unike":
            from icgkit.bench.unike import outputs as unike_outputs

            table, problems = unike_outputs.score(folder, cast("Path", data), rule=cast("Any", rule))
        elif benchmark == "grade":
            from icgkit.bench.grade import scores as grade

            table, problems = grade.score(folder, data)
        elif benchmark == "texteditbench":
            from icgkit.bench.texteditbench import scores as teb_scores

            table, problems = teb_scores.score(folder, data)
        elif benchmark == "edits":
            from icgkit.cases.dataset import load_dataset
            from icgkit.cases.edited import score_folder

            table, problems = score_folder(folder, load_dataset(str(data)))
        else:
            raise UnknownName.among("benchmark", benchmark, [*needs, "grade", "texteditbench"])
        _show_scores(table, problems, out)


_PLACES = ("model", "editor", "protocol", "reminder", "discipline", "family", "category")


def _show_scores(table: Any, problems: Any, out: Path | None) -> None:
    """Print a table of scores, the first problems; write the table if asked."""
    from icgkit.files import write_whole
    from icgkit.report.save import csv_bytes

    for row in table.iter_rows(named=True):
        place = " ".join(str(row[c]) for c in _PLACES if c in row)
        shown = "-" if row["estimate"] is None else f"{row['estimate']:.3f}"
        public = row.get("public")
        beside = "" if public is None else f"  (public tools: {public:.2f})"
        typer.echo(
            f"{place:40s} {row['measure']:14s} {shown:>7s}  n {row['n_total']:,d}  {row['status']}{beside}"
        )
    for row in problems.head(20).iter_rows():
        typer.echo("problem   " + ": ".join(str(part) for part in row if part))
    if problems.height > 20:
        typer.echo(f"          and {problems.height - 20:,d} more")
    if out is not None:
        write_whole(out, csv_bytes(table))
        typer.echo(f"written to {out}")


@app.command("run")
def run_command(
    study: Annotated[Path | None, typer.Argument(help="Study file (TOML).")] = None,
    dataset: Annotated[str, typer.Option(help="Name or folder of the dataset.")] = "",
    models: Annotated[str, typer.Option(help="Models as litellm names them, separated by commas.")] = "",
    conditions: Annotated[str, typer.Option(help="Ids of conditions, separated by commas.")] = "",
    judges: Annotated[str, typer.Option(help="Judges of recall, separated by commas.")] = "",
    cache: Annotated[
        str,
        typer.Option(help="Name or folder of the cache; the name of the study file or dataset if not given."),
    ] = "",
    samples: Annotated[int | None, typer.Option(min=1, help="Repeats of each call.")] = None,
    subset: Annotated[int | None, typer.Option(min=1, help="So many cases, stratified by category.")] = None,
    templates: Annotated[Path | None, typer.Option(help="Folder of own templates.")] = None,
    budget: Annotated[float | None, typer.Option(min=0, help=_BUDGET)] = None,
    price: Annotated[list[str] | None, typer.Option(help=_PRICE)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would call and cost.")] = False,
    batch: Annotated[
        bool, typer.Option("--batch", help="Submit at batch prices; run again to collect.")
    ] = False,
) -> None:
    """Ask models about cases; what is recorded is not asked again."""
    from icgkit.study import run as study_run

    with clear_errors():
        given = {
            "dataset": dataset, "models": models, "conditions": conditions, "judges": judges, "cache": cache,
            "samples": samples, "subset": subset, "templates": templates,
        }  # fmt: skip
        chosen = study_run.from_options(study, given).priced(price or ())
        if dry_run:
            typer.echo(study_run.estimate(chosen).text())
        elif batch:
            from icgkit.study.batch import run_batch

            told = run_batch(chosen, budget=budget)
            typer.echo(told.text())
            _exit(told.stopped, told.failed)
        else:
            done = study_run.run(chosen, budget=budget)
            typer.echo(done.text())
            _exit(done.stopped, done.failed)


@app.command("judge")
def judge_command(
    cache: Annotated[str, typer.Option(help="Name or folder of the cache with the responses.")],
    judges: Annotated[
        str,
        typer.Option(
            help="Judges as litellm names them, separated by commas; two offline ones if not given."
        ),
    ] = "",
    kinds: Annotated[
        str,
        typer.Option(
            help="recall (if not given), precision, plan, adversarial, leakage; separated by commas."
        ),
    ] = "",
    study: Annotated[
        Path | None, typer.Option(help="Study file: its judges with their labels, kinds and parameters.")
    ] = None,
    dataset: Annotated[str, typer.Option(help="Instead of the one in run.toml.")] = "",
    conditions: Annotated[str, typer.Option(help="Only these, separated by commas.")] = "",
    templates: Annotated[Path | None, typer.Option(help="Folder with own templates in judges/.")] = None,
    accept_cases: Annotated[
        bool,
        typer.Option("--accept-cases", help="Judge the cases as they are now, though they have changed."),
    ] = False,
    budget: Annotated[float | None, typer.Option(min=0, help=_BUDGET)] = None,
    price: Annotated[list[str] | None, typer.Option(help=_PRICE)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would call and cost.")] = False,
) -> None:
    """Mark the responses of a cache; verdicts go beside them, missing ones are counted."""
    from dataclasses import replace

    from icgkit.calls.cache import Cache
    from icgkit.calls.ledger import together
    from icgkit.calls.limits import Limits
    from icgkit.cases.dataset import load_dataset
    from icgkit.files import named_folder
    from icgkit.judge.run import verdict_lines, without_verdict
    from icgkit.study import judging
    from icgkit.study.file import Study, read_prices
    from icgkit.study.identity import accept_cases as accept

    def listed(text: str) -> list[str]:
        return [x.strip() for x in text.split(",") if x.strip()]

    with clear_errors():
        if study is not None and judges:
            raise SchemaError("judges", allowed="either --judges or --study")
        asked: Any = listed(judges) or judging.PRIMARY
        words, limits = None, Limits(budget=budget)
        if study is not None:
            asked, words = judging.judges_of(study)
            limits = Study.read(study).call_limits(budget)
        limits = replace(limits, prices={**limits.prices, **read_prices(price or ())})
        store = Cache(named_folder("cache", cache))
        options: dict[str, Any] = {
            "kinds": listed(kinds),
            "dataset": dataset,
            "only": listed(conditions),
            "templates": templates or words,
            "limits": limits,
        }
        if dry_run:
            typer.echo(judging.estimate_judging(store, asked, **options).text())
            return
        if accept_cases:
            if not dataset:
                raise SchemaError("--accept-cases", remedy="say which cases are meant: --dataset FOLDER")
            old = accept(named_folder("cache", cache), load_dataset(dataset))
            typer.echo(f"{len(old)} cases have changed or are gone; verdicts on them were dropped", err=True)
        done = judging.judge_cache(store, asked, **options)
        calls = together(store.runs)
        typer.echo("\n".join([*verdict_lines(done), *calls.lines()]))
        for name, frame in done.items():
            if not frame.height:
                typer.echo(
                    f"{name}: nothing to judge (no response of these conditions, or cases without nodes)"
                )
        if calls.stopped == "budget":
            typer.echo("stopped at the budget, of which earlier runs are a part; run again with a higher one")
        _exit(calls.stopped, calls.failed() or any(map(without_verdict, done.values())))


@app.command("merge")
def merge_command(
    caches: Annotated[list[str], typer.Argument(help="Names or folders of the caches to bring together.")],
    into: Annotated[str, typer.Option(help="Name or folder of the cache that gets their records.")],
) -> None:
    """Bring the recorded calls of several caches into one; the others stay as they are."""
    from icgkit.calls.cache import Cache, merge
    from icgkit.files import named_folder

    with clear_errors():
        others = [Cache(named_folder("cache", name), mode="replay") for name in caches]
        target = Cache.named(into)
        brought = merge(target, others)
        typer.echo(f"{brought:,d} records brought, {len(target):,d} calls are in {target.folder} now")
        typer.echo("verdicts are not merged: run `icgkit judge` there, its recorded calls are replayed")


@app.command("form")
def form_command(
    kind: Annotated[str, typer.Argument(help="human, audit, labels, failures or gold.")],
    cache: Annotated[str, typer.Option(help="Name or folder of the cache that it is about.")],
    out: Annotated[Path | None, typer.Option(help="Write an empty form (CSV) to this file.")] = None,
    read: Annotated[Path | None, typer.Option(help="Read a filled-in form into the cache.")] = None,
    dataset: Annotated[str, typer.Option(help="Instead of the one in run.toml.")] = "",
) -> None:
    """Write a form for people to fill in, or put what they filled in into a cache."""
    from icgkit.judge.run import merge_verdicts
    from icgkit.report.results import load_results
    from icgkit.schemas import schema
    from icgkit.study.forms import read_form, write_form

    with clear_errors():
        if (out is None) == (read is None):
            raise SchemaError("form", allowed="either --out or --read")
        run = load_results(cache, dataset=dataset)
        if out is not None:
            typer.echo(f"{write_form(run, kind, out):,d} rows to fill in: {out}")
        elif read is not None:
            frame = read_form(read, kind, run.dataset)
            merge_verdicts(run.folder / f"{kind}.parquet", schema(kind), frame)
            typer.echo(f"{frame.height:,d} rows read into {run.folder / kind}.parquet")


if __name__ == "__main__":
    app()
