"""The command `import`: from export files to a corpus, with a report."""

from typing import Any

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.import_options import SET_BY_OPTION, Files, ImportOptions, import_records
from citeweave.cli.options import gathers

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("import")(import_files)


@guarded
@gathers(options=ImportOptions, settings=SET_BY_OPTION)
def import_files(*, files: Files, options: ImportOptions, settings: dict[str, Any]) -> None:
    """Make a corpus of bibliographic exports, and tell what was read, matched and dropped.

    Reads OpenAlex, BibTeX, RIS, Web of Science, Scopus, PubMed, arXiv and more,
    and any table with titles; several files at once, packed or not.
    """
    import_records(files, options, settings, lambda records: records)
