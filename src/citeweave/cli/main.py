"""The `citeweave` command: global options, subcommands and entry point.

Each group of commands is a module in this package with a function ``register(app)``. Slow imports
(NumPy, the compiler, rich) happen inside commands, so that ``citeweave --help`` is fast.
"""

import io
import sys
from typing import Annotated

import typer

import citeweave
from citeweave.cli import app as browser_app
from citeweave.cli import (
    contributors,
    crossvalidate,
    datasets,
    demo,
    evaluate,
    explore,
    fit,
    graph,
    importing,
    info,
    levels,
    plot,
    query,
    report,
    reproduce,
    run,
    scan,
    serve,
    shard,
    verify,
)

__all__ = ["app", "main"]

app = typer.Typer(
    name="citeweave",
    help="Topic models of research literature: text, authors, labels and citations in one model.",
    epilog="To get started: citeweave demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(value: bool) -> None:  # noqa: FBT001 (typer's signature of a callback)
    if value:
        typer.echo(f"citeweave {citeweave.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Handle the global options."""


for group in (
    run,
    importing,
    query,
    datasets,
    fit,
    demo,
    info,
    evaluate,
    explore,
    contributors,
    levels,
    graph,
    plot,
    crossvalidate,
    scan,
    reproduce,
    report,
    serve,
    browser_app,
    shard,
    verify,
):
    group.register(app)


def main() -> None:
    """Run the command line; user errors exit with status 2, Ctrl-C with 130."""
    for stream in (sys.stdout, sys.stderr):
        # names and titles come in all scripts; terminals that lack a character show "?" instead
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="citeweave")


if __name__ == "__main__":
    main()
