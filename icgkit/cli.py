"""The command line: thin doors to functions of the package."""

from __future__ import annotations

import typer

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


if __name__ == "__main__":
    app()
