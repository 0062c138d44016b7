"""Run the import of an OpenAlex snapshot under a progress display, and show the report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from citeweave.cli.fit import free_folder
from citeweave.cli.import_options import ImportOptions
from citeweave.cli.import_progress import open_import_display
from citeweave.cli.import_run import check_places, corpus_name, show_import
from citeweave.cli.show import make_console
from citeweave.errors import ParameterError
from citeweave.preparing.snapshot import import_snapshot

__all__ = ["run_snapshot"]


def run_snapshot(
    files: Sequence[str],
    options: ImportOptions,
    settings: Mapping[str, Any],
    *,
    where: str | None,
    workers: int,
) -> None:
    """Import a snapshot, which stands alone, and print the report.

    A folder named by default would be another one when the import is started again, so one that
    is taken is refused.
    """
    if len(files) > 1:
        raise ParameterError(
            f"An OpenAlex snapshot is imported alone; got {len(files)} files and folders. Import "
            "the others by themselves."
        )
    for name in ("format", "columns", "citations"):
        if getattr(options, name):
            raise ParameterError(f"--{name} is not for OpenAlex snapshots; leave it out.")
    place = options.out or _default(files[0])
    reports = options.report or []
    check_places(place, reports, overwrite=options.overwrite)
    chosen = options.settings(settings)
    with open_import_display(None if options.quiet else make_console(stderr=True)) as display:
        _, report = import_snapshot(
            files[0],
            place,
            where=where,
            settings=chosen,
            workers=workers,
            overwrite=options.overwrite,
            progress=display,
        )
    show_import(report, reports, place, quiet=options.quiet)


def _default(snapshot: str) -> Path:
    """Name the corpus after the snapshot; an import that was interrupted goes on under its name."""
    place = Path(f"{corpus_name([snapshot])}-corpus")
    return place if place.with_name(f".{place.name}.import").is_dir() else free_folder(place)
