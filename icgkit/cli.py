"""The command line: thin doors to functions of the package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from icgkit.errors import IcgError

app = typer.Typer(
    name="icgkit",
    help="Measure which implicit constraints of a text edit multimodal models discover.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def main() -> None:
    """Keep the commands as sub-commands even while there is only one."""


@app.command("reproduce")
def reproduce_command(
    only: Annotated[
        list[str] | None, typer.Option(help="Name of a notebook, or part of one; repeatable.")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option(help="name=value for the notebooks that have it; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the results; figures/ if not given.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Run what is up to date as well.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Regenerate elsewhere and name every number that differs.")
    ] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Notebooks at the same time.")] = None,
    cell_seconds: Annotated[int, typer.Option(min=1, help="Longest time for one cell.")] = 600,
    tolerance: Annotated[float, typer.Option(min=0, help="Relative; for --check.")] = 1e-6,
) -> None:
    """Make every stale table and figure, and the gallery; fail if a notebook or the check fails."""
    from icgkit import reproduce as door
    from icgkit.notebooks import parse_parameters

    with _clear_errors():
        options: dict[str, Any] = {
            "only": only or (),
            "parameters": parse_parameters(param or ()),
            "jobs": jobs,
            "cell_seconds": cell_seconds,
        }
        if check:
            report, differences = door.check(committed=out, tolerance=tolerance, **options)
            typer.echo(door.check_text(report, differences, tolerance))
        else:
            report, differences = door.reproduce(out=out, force=force, **options), []
            typer.echo(str(report))
    if report.failed or differences:
        raise typer.Exit(1)


@app.command("doctor")
def doctor_command(
    write_checksums: Annotated[
        bool, typer.Option("--write-checksums", help="Write data/CHECKSUMS.sha256 anew.")
    ] = False,
) -> None:
    """Say what is installed, which data are there, and whether their checksums hold."""
    from icgkit import doctor

    with _clear_errors():
        if write_checksums:
            typer.echo(f"{doctor.write_checksums()} checksums written")
        findings = doctor.examine()
    typer.echo(doctor.report_text(findings))
    if any(f.status == "broken" for f in findings):
        raise typer.Exit(1)


@contextmanager
def _clear_errors() -> Iterator[None]:
    """Show errors that icgkit raises on purpose as one line, without a traceback."""
    try:
        yield
    except IcgError as exc:
        typer.secho(f"{type(exc).__name__}: {exc}", fg=typer.colors.RED, err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.secho("interrupted; what was finished is kept", err=True)
        raise typer.Exit(130) from None


@app.command("import")
def import_command(
    benchmark: Annotated[str, typer.Argument(help="texteditbench")],
    path: Annotated[Path, typer.Argument(help="The benchmark's public folder.")],
    out: Annotated[Path, typer.Option(help="Folder of the dataset to write.")] = Path("texteditbench"),
) -> None:
    """Read a public benchmark folder as it is, report every repair, write a dataset."""
    from icgkit.errors import UnknownName

    with _clear_errors():
        if benchmark != "texteditbench":
            raise UnknownName.among("benchmark", benchmark, ["texteditbench"])
        from icgkit.bench import texteditbench

        found = texteditbench.read(path)
        written = texteditbench.write_dataset(found, path, out)
        for kind, repaired, n, _files in texteditbench.report(found).iter_rows():
            typer.echo(f"{'repaired' if repaired else 'problem ':8s}  {n:6,d}  {kind}")
        typer.echo(
            f"{found.records.height:,d} records read, {written:,d} cases with an image written to {out}"
        )


if __name__ == "__main__":
    app()
