"""Options that `import` and `query` share, and what they mean together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citeweave.errors import ParameterError

if TYPE_CHECKING:
    from citeweave.preparing import Settings

__all__ = [
    "Citations",
    "Columns",
    "Config",
    "Files",
    "Format",
    "Language",
    "Names",
    "Out",
    "Overwrite",
    "Quiet",
    "ReportTo",
    "make_settings",
    "parse_columns",
]

READING = "Reading"
PREPARING = "Preparing"

Files = Annotated[
    list[str],
    typer.Argument(
        help="Export files, folders, archives; - for standard input.",
        metavar="FILES",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Folder for the corpus (default: named after the first file).", show_default=False
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        help="Format of all files (default: each file's content tells).",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Columns of a table of your own: title=Titel,authors=Autor.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Citations = Annotated[
    list[str] | None,
    typer.Option(
        help="A list of citations that comes apart: citing id, cited id. May be given again.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        help="Settings of preparation, in TOML (docs/preparation.md).",
        rich_help_panel=PREPARING,
        show_default=False,
    ),
]
Language = Annotated[
    str | None,
    typer.Option(
        help="Keep papers in this language: en, de, ...; none keeps all (default: en).",
        rich_help_panel=PREPARING,
        show_default=False,
    ),
]
Names = Annotated[
    str | None,
    typer.Option(
        help="When two names are one author: initials, compatible or full (default: initials).",
        rich_help_panel=PREPARING,
        show_default=False,
    ),
]
ReportTo = Annotated[
    list[Path] | None,
    typer.Option(
        help="Write the report to a file, .html or .json. May be given again.", show_default=False
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a corpus of that name.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Write errors only.")]


def make_settings(config: Path | None, language: str | None, names: str | None) -> Settings:
    """Put options over a file of settings, or over the defaults."""
    from citeweave.preparing import Settings  # noqa: PLC0415 (only commands that import need it)

    settings = Settings() if config is None else Settings.from_toml(config)
    if language is not None:
        settings = replace(settings, language=None if language == "none" else language)
    if names is not None:
        settings = replace(settings, author_names=names)  # type: ignore[arg-type]  # it checks
    return settings


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
