"""The command `import`: from export files to a corpus, with a report."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
import typer

from citeweave.cli import import_options as options
from citeweave.cli.errors import guarded

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("import")(import_files)


@guarded
def import_files(
    *,
    files: options.Files,
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
    """Make a corpus of bibliographic exports, and tell what was read, matched and dropped.

    Reads OpenAlex, BibTeX, RIS, Web of Science, Scopus, PubMed, arXiv and more,
    and any table with titles; several files at once, packed or not.
    """
    from citeweave.cli.import_run import run_import
    from citeweave.preparing import read

    settings = options.make_settings(config, language, names)
    run_import(
        lambda: read(
            *files,
            format=format,
            columns=options.parse_columns(columns),
            citations=citations or None,
        ),
        settings,
        files=files,
        out=out,
        reports=report or [],
        overwrite=overwrite,
        quiet=quiet,
    )
