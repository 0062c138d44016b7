"""Run an import with a progress display, save the corpus, and print the report."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from citeweave.cli.fit import free_folder
from citeweave.cli.import_progress import open_import_display
from citeweave.cli.import_show import print_report
from citeweave.cli.show import make_console
from citeweave.corpus import Corpus
from citeweave.corpus.storage import is_corpus_folder
from citeweave.errors import CorpusError
from citeweave.preparing import Records, Report, Settings
from citeweave.preparing.report import check_report_name

__all__ = ["check_places", "corpus_name", "import_matrix", "run_import", "show_import"]


def run_import(
    records: Callable[[], Records],
    settings: Settings,
    *,
    files: Sequence[str],
    out: Path | None,
    reports: Sequence[Path],
    overwrite: bool,
    quiet: bool,
) -> None:
    """Import records, save corpus and reports, and print the report.

    Errors that would only show at the end, such as an existing folder or a wrong report name, are
    checked before the work starts.
    """
    place = out if out is not None else free_folder(Path(f"{corpus_name(files)}-corpus"))
    check_places(place, reports, overwrite=overwrite)
    for file in files:
        if is_corpus_folder(file):
            raise CorpusError(
                f"'{file}' is already a corpus. Fit it with `citeweave fit {file}`, or pass the "
                "files it was made from."
            )
    with open_import_display(None if quiet else make_console(stderr=True)) as display:
        corpus, report = records().prepare(settings, progress=display)
        display("saving", 0, None)
        corpus.save(place, overwrite=overwrite)
    show_import(report, reports, place, quiet=quiet)


def show_import(report: Report, reports: Sequence[Path], place: Path, *, quiet: bool) -> None:
    """Save the report to the requested files, print it, and suggest the next step."""
    for path in reports:
        report.save(path)
    if quiet:
        return
    console = make_console()
    print_report(console, report)
    console.print()
    for path in reports:
        console.print(f"The report is in {path}.")
    console.print(f"The corpus is in {place}. Next: citeweave fit {place} --topics 20")


def import_matrix(files: Sequence[str], *, out: Path | None, overwrite: bool, quiet: bool) -> None:
    """Make a corpus from a matrix of counts, which needs no preparation."""
    if len(files) > 1:
        raise CorpusError(
            f"A matrix (.npz) is a complete corpus and must be the only file. Got {len(files)} "
            "files."
        )
    place = out if out is not None else free_folder(Path(f"{corpus_name(files)}-corpus"))
    _check_place(place, overwrite=overwrite)
    corpus = Corpus.from_matrix(files[0])
    corpus.save(place, overwrite=overwrite)
    if not quiet:
        console = make_console()
        console.print(f"{corpus!r}")
        console.print(f"The corpus is in {place}. Next: citeweave fit {place} --topics 20")


def corpus_name(files: Sequence[str]) -> str:
    """Name a corpus after its first file.

    Examples
    --------
    >>> corpus_name(["exports/savedrecs.txt", "b.bib"]), corpus_name(["-"]), corpus_name(["a.b.gz"])
    ('savedrecs', 'corpus', 'a')
    """
    path = Path(files[0])
    if files[0] == "-" or not path.name:
        return "corpus"
    if path.is_dir():
        return path.name
    return path.name.split(".")[0] or "corpus"


def check_places(place: Path, reports: Sequence[Path], *, overwrite: bool) -> None:
    """Check the output paths of the corpus and its reports before starting the work."""
    _check_place(place, overwrite=overwrite)
    for path in reports:
        check_report_name(path)
        _check_writable(path)


def _check_place(place: Path, *, overwrite: bool) -> None:
    if place.exists() or place.is_symlink():
        if not overwrite:
            raise CorpusError(
                f"'{place}' already exists. Choose another folder with --out, or replace it with "
                "--overwrite."
            )
        if not place.is_dir() or (any(place.iterdir()) and not is_corpus_folder(place)):
            raise CorpusError(
                f"'{place}' exists and is not a corpus, so it will not be replaced. Choose another "
                "folder with --out."
            )
    _check_writable(place)


def _check_writable(place: Path) -> None:
    """Check the nearest existing folder, so that a long import does not fail at the end."""
    parent = Path(os.path.abspath(place)).parent  # noqa: PTH100 (keeps symbolic links)
    while not parent.exists() and parent != parent.parent:
        parent = parent.parent
    if not parent.is_dir():
        raise CorpusError(
            f"'{place}' cannot be written: '{parent}' is not a folder. Choose another path."
        )
    if not os.access(parent, os.W_OK):
        raise CorpusError(
            f"'{place}' cannot be written: permission denied in '{parent}'. Choose another path."
        )
