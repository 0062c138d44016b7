"""The command `import`: from export files to a corpus, with a report."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.import_options import (
    READING,
    SET_BY_OPTION,
    Files,
    ImportOptions,
    import_records,
)
from citeweave.cli.options import gathers
from citeweave.errors import ParameterError

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("import")(import_files)


@dataclass(frozen=True)
class SnapshotOptions:
    """Options for OpenAlex snapshots."""

    where: Annotated[
        str | None,
        typer.Option(
            help="Conditions on the works of an OpenAlex snapshot: 'type = article, year >= 2000'.",
            rich_help_panel=READING,
        ),
    ] = None
    workers: Annotated[
        int,
        typer.Option(
            help="Number of processes that read a snapshot in parallel.",
            rich_help_panel=READING,
            min=1,
        ),
    ] = 1


@guarded
@gathers(options=ImportOptions, snapshot=SnapshotOptions, settings=SET_BY_OPTION)
def import_files(
    *, files: Files, options: ImportOptions, snapshot: SnapshotOptions, settings: dict[str, Any]
) -> None:
    """Create a corpus from bibliographic exports, and report what was read, matched and dropped.

    Reads OpenAlex, BibTeX, RIS, Web of Science, Scopus, PubMed, arXiv and more,
    and any table with titles; several files at once, compressed or not. The folder of an
    OpenAlex snapshot is read in parts; an interrupted import continues when started again.
    """
    from citeweave.preparing import is_snapshot  # noqa: PLC0415 (keeps other commands fast)

    if any(map(is_snapshot, files)):
        from citeweave.cli.import_snapshot import run_snapshot  # noqa: PLC0415 (imports polars)

        run_snapshot(files, options, settings, where=snapshot.where, workers=snapshot.workers)
        return
    if snapshot.where is not None:
        raise ParameterError(
            "--where selects works of an OpenAlex snapshot, but none was given. To select papers "
            "from other files by keyword, see: citeweave query --help"
        )
    import_records(files, options, settings, lambda records: records)
