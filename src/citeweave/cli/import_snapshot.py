"""Import an OpenAlex snapshot with a progress display, and print the report."""

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
    """Import a snapshot, which must be the only source, and print the report.

    A default name with a new number would not continue an interrupted import, so an existing folder
    is rejected.
    """
    if len(files) > 1:
        raise ParameterError(
            f"An OpenAlex snapshot must be imported alone. Got {len(files)} files and folders; "
            "import the others separately."
        )
    for name in ("format", "columns", "citations"):
        if getattr(options, name):
            raise ParameterError(f"--{name} does not apply to OpenAlex snapshots; omit it.")
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
    """Name the corpus after the snapshot; an interrupted import continues under its name."""
    place = Path(f"{corpus_name([snapshot])}-corpus")
    return place if place.with_name(f".{place.name}.import").is_dir() else free_folder(place)
