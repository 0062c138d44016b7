"""The command `query`: pick the papers of a large dump by keywords, labelled by category."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
from pathlib import Path
from typing import Annotated

import typer

from citeweave.cli import import_options as options
from citeweave.cli.errors import guarded
from citeweave.errors import ParameterError

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("query")(query_dump)


@guarded
def query_dump(
    *,
    dump: options.Files,
    preset: Annotated[
        str | None,
        typer.Option(help="Keywords of the paper: ml, m10 or avs.", show_default=False),
    ] = None,
    query: Annotated[
        Path | None,
        typer.Option(help="Keywords of your own, in TOML or YAML.", show_default=False),
    ] = None,
    out: options.Out = None,
    format: options.Format = None,  # noqa: A002 (the option's name)
    columns: options.Columns = None,
    citations: options.Citations = None,
    config: options.Config = None,
    language: options.Language = None,
    names: options.Names = None,
    report: options.ReportTo = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
) -> None:
    """Make a corpus of those papers of a dump that match the keywords of one category.

    Papers of several categories are dropped, as in the paper.
    """
    from citeweave.cli.import_run import run_import
    from citeweave.preparing import Query, read

    if (preset is None) == (query is None):
        raise ParameterError(
            "query needs keywords: either --preset ml, m10 or avs, or --query FILE."
        )
    chosen = Query.preset(preset) if preset is not None else Query.from_file(query or "")
    settings = options.make_settings(config, language, names)
    run_import(
        lambda: read(
            *dump,
            format=format,
            columns=options.parse_columns(columns),
            citations=citations or None,
        ).select(chosen),
        settings,
        files=dump,
        out=out,
        reports=report or [],
        overwrite=overwrite,
        quiet=quiet,
    )
