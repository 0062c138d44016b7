"""Options that `import` and `query` share, and what they mean together."""

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
"""The settings of preparation that have an option; --config sets all."""


@dataclass(frozen=True)
class ImportOptions:
    """From where to where: what `import` and `query` are told besides settings."""

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
            help="Columns of a table of your own: title=Titel,authors=Autor.",
            rich_help_panel=READING,
        ),
    ] = None
    citations: Annotated[
        list[str] | None,
        typer.Option(
            help="Separate list of citations (citing id, cited id); may be repeated.",
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
        """Put options over the file of settings, or over the defaults."""
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
    """Read files, take the records that `select` gives, and make a corpus of them."""
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
    """Read ``field=column,field=column``; columns may hold spaces, but no commas.

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
                f"--columns must be written field=column,field=column. Got {part.strip()!r} in it."
            )
        columns[field] = column
    return columns
