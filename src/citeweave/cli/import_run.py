"""Run an import under a progress display, save what it gives, and show the report."""

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

    What would fail at the end (a folder that is there, a report with a wrong name) is looked at
    before the work begins.
    """
    place = out if out is not None else free_folder(Path(f"{corpus_name(files)}-corpus"))
    check_places(place, reports, overwrite=overwrite)
    for file in files:
        if is_corpus_folder(file):
            raise CorpusError(
                f"'{file}' is a corpus already. Fit it: citeweave fit {file}. Or give the files it "
                "was made of."
            )
    with open_import_display(None if quiet else make_console(stderr=True)) as display:
        corpus, report = records().prepare(settings, progress=display)
        display("saving", 0, None)
        corpus.save(place, overwrite=overwrite)
    show_import(report, reports, place, quiet=quiet)


def show_import(report: Report, reports: Sequence[Path], place: Path, *, quiet: bool) -> None:
    """Save the report where it is asked for, print it, and say what comes next."""
    for path in reports:
        report.save(path)
    if quiet:
        return
    console = make_console()
    print_report(console, report)
    console.print()
    for path in reports:
        console.print(f"The report is in {path}.")
    console.print(f"The corpus is in {place}. Continue with: citeweave fit {place} --topics 20")


def import_matrix(files: Sequence[str], *, out: Path | None, overwrite: bool, quiet: bool) -> None:
    """Make a corpus of a matrix of counts, which has words and needs no preparation."""
    if len(files) > 1:
        raise CorpusError(
            f"A matrix (.npz) is a corpus by itself; give it alone. Got {len(files)} files."
        )
    place = out if out is not None else free_folder(Path(f"{corpus_name(files)}-corpus"))
    _check_place(place, overwrite=overwrite)
    corpus = Corpus.from_matrix(files[0])
    corpus.save(place, overwrite=overwrite)
    if not quiet:
        console = make_console()
        console.print(f"{corpus!r}")
        console.print(f"The corpus is in {place}. Go on with: citeweave fit {place} --topics 20")


def corpus_name(files: Sequence[str]) -> str:
    """Name a corpus after the first of its files.

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
    """Look at where the corpus and its reports go, before any work is done for them."""
    _check_place(place, overwrite=overwrite)
    for path in reports:
        check_report_name(path)
        _check_writable(path)


def _check_place(place: Path, *, overwrite: bool) -> None:
    if place.exists() or place.is_symlink():
        if not overwrite:
            raise CorpusError(
                f"'{place}' exists already. Choose another folder with --out, or replace it with "
                "--overwrite."
            )
        if not place.is_dir() or (any(place.iterdir()) and not is_corpus_folder(place)):
            raise CorpusError(
                f"'{place}' exists and is no corpus, so it is not replaced. Choose another folder "
                "with --out."
            )
    _check_writable(place)


def _check_writable(place: Path) -> None:
    """Look at the nearest folder that is there: a long import should not fail at its end."""
    parent = Path(os.path.abspath(place)).parent  # noqa: PTH100 (links stay as they are)
    while not parent.exists() and parent != parent.parent:
        parent = parent.parent
    if not parent.is_dir():
        raise CorpusError(f"'{place}' cannot be written: '{parent}' is no folder.")
    if not os.access(parent, os.W_OK):
        raise CorpusError(
            f"'{place}' cannot be written: no permission in '{parent}'. Choose another place."
        )
