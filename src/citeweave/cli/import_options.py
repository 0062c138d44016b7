"""Options shared by `import` and `query`."""

# ruff: noqa: PLC0415  heavy imports inside the functions, so that other commands start at once
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citeweave.errors import ParameterError
from citeweave.parameters import check_values
from citeweave.parameters.preparation import SETTINGS

if TYPE_CHECKING:
    from citeweave.preparing import Records, Settings

__all__ = ["SET_BY_OPTION", "Files", "ImportOptions", "import_records", "parse_columns"]

READING = "Reading"
PREPARING = "Preparing"

Files = Annotated[
    list[str],
    typer.Argument(
        help="Export files, folders or archives; - for standard input.", metavar="FILES"
    ),
]

SET_BY_OPTION = [
    SETTINGS[name].left_open().but(group=PREPARING)
    for name in ("language", "author_names", "people", "keep_words", "keep_apart", "join")
]
"""Preparation settings that have an option; --config can set all of them."""


@dataclass(frozen=True)
class ImportOptions:
    """Input and output of `import` and `query`."""

    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the corpus (default: named after the first file)."),
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            help="Format of all files (default: detected from the content of each).",
            rich_help_panel=READING,
        ),
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(
            help="Columns of a table with other names, as FIELD=COLUMN: title=Titel,authors=Autor.",
            rich_help_panel=READING,
        ),
    ] = None
    citations: Annotated[
        list[str] | None,
        typer.Option(
            help="Separate file of citations, with one citation per row (citing id, cited id); may "
            "be repeated.",
            rich_help_panel=READING,
        ),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            help="Preparation settings, in TOML (docs/how-to/preparation.md).",
            rich_help_panel=PREPARING,
        ),
    ] = None
    report: Annotated[
        list[Path] | None,
        typer.Option(help="Write the report to a file (.html or .json); may be repeated."),
    ] = None
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing corpus of that name.")
    ] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Write errors only.")] = False

    def settings(self, changes: Mapping[str, Any]) -> "Settings":
        """Merge options into the settings file, or into the defaults."""
        from citeweave.preparing import Settings

        rules = {name: SETTINGS[name].rule for name in changes}
        check_values(rules, changes, lambda name: f"option {SETTINGS[name].option}")
        settings = Settings() if self.config is None else Settings.from_toml(self.config)
        return replace(settings, **changes)


def import_records(
    files: list[str],
    options: ImportOptions,
    settings: Mapping[str, Any],
    select: "Callable[[Records], Records]",
) -> None:
    """Read files, filter the records with `select`, and make a corpus of them."""
    from citeweave.cli.import_run import import_matrix, run_import
    from citeweave.corpus.matrix import is_matrix_file
    from citeweave.preparing import read

    if any(map(is_matrix_file, files)):
        import_matrix(files, out=options.out, overwrite=options.overwrite, quiet=options.quiet)
        return
    run_import(
        lambda: select(
            read(
                *files,
                format=options.format,
                columns=parse_columns(options.columns),
                citations=options.citations or None,
            )
        ),
        options.settings(settings),
        files=files,
        out=options.out,
        reports=options.report or [],
        overwrite=options.overwrite,
        quiet=options.quiet,
    )


def parse_columns(text: str | None) -> dict[str, str] | None:
    """Parse ``field=column,field=column``; column names may contain spaces but no commas.

    Examples
    --------
    >>> parse_columns("title=Titel, authors=Wer schrieb")
    {'title': 'Titel', 'authors': 'Wer schrieb'}
    """
    if text is None:
        return None
    columns = {}
    for part in text.split(","):
        field, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or not field or not column:
            raise ParameterError(
                "--columns must have the form field=column,field=column. It contains "
                f"{part.strip()!r}."
            )
        columns[field] = column
    return columns
