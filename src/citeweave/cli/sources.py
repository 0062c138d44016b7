"""Corpus arguments of commands: a folder, the name of a data set, a matrix, or files."""

# ruff: noqa: PLC0415  readers and data sets are imported only when they are needed
import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from citeweave.corpus import Corpus
from citeweave.corpus.matrix import is_matrix_file
from citeweave.corpus.storage import is_corpus_folder
from citeweave.errors import CorpusError
from citeweave.runs.folder import is_run_folder

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["name_of", "open_corpus", "open_sources"]


def open_corpus(source: Path) -> Corpus:
    """Open a corpus folder, or the copy of the corpus in a run folder."""
    if is_run_folder(source):
        return Corpus.load(source / "corpus")
    if source.is_file():
        raise CorpusError(
            f"'{source}' is a file, not a corpus folder. To create one: citeweave import {source}"
        )
    if source.is_dir() and not is_corpus_folder(source) and (source / "corpus").is_dir():
        raise CorpusError(f"'{source}' is not a corpus. Did you mean '{source / 'corpus'}'?")
    return Corpus.load(source)


def name_of(sources: Sequence[str]) -> str:
    """Name a run after what it is fitted to.

    Examples
    --------
    >>> name_of(["data/my-corpus"]), name_of(["cora"]), name_of(["b.ris", "c.ris"]), name_of(["-"])
    ('my-corpus', 'cora', 'b', 'corpus')
    """
    path = Path(sources[0])
    if sources[0] == "-" or not path.name:
        return "corpus"
    return path.name.split(".")[0] or "corpus" if path.suffix and not path.is_dir() else path.name


def open_sources(sources: Sequence[str], console: "Console | None") -> Corpus:
    """Open a corpus or run folder, a data set or a matrix (.npz), or import files with defaults.

    Local files and folders take precedence over data sets of the same name. There is no output if
    the console is None.
    """
    path = Path(sources[0])
    if len(sources) == 1 and sources[0] != "-":
        if is_run_folder(path) or is_corpus_folder(path):
            return open_corpus(path)
        if path.is_dir() and is_corpus_folder(path / "corpus"):
            return open_corpus(path)  # raises an error that suggests what was meant
        if not path.exists():
            return _open_dataset(sources[0], console)
        if is_matrix_file(path):
            return Corpus.from_matrix(path)
    for source in sources:
        if is_matrix_file(source):
            raise CorpusError(
                f"'{source}' is a matrix, which is a complete corpus and must be given alone."
            )
    return _import(sources, console)


def _open_dataset(name: str, console: "Console | None") -> Corpus:
    from citeweave.cli.fetch_progress import fetching
    from citeweave.cli.import_progress import open_import_display
    from citeweave.cli.import_show import print_short_report
    from citeweave.cli.show import make_console
    from citeweave.datasets import DATASETS, load_with_report

    if name not in DATASETS:
        near = difflib.get_close_matches(name.lower(), DATASETS, 1)
        hint = f" Did you mean the data set {near[0]!r}?" if near else ""
        raise CorpusError(
            f"There is no file, corpus folder or data set '{name}'.{hint} "
            "To list the data sets: citeweave datasets"
        )
    notes = None if console is None else make_console(stderr=True)
    with fetching(notes) as fetched, open_import_display(notes) as display:
        corpus, report = load_with_report(name, progress=display, fetched=fetched)
    if console is not None:
        print_short_report(console, report)
    return corpus


def _import(sources: Sequence[str], console: "Console | None") -> Corpus:
    from citeweave.cli.import_progress import open_import_display
    from citeweave.cli.import_show import print_short_report
    from citeweave.cli.show import make_console
    from citeweave.datasets import DATASETS
    from citeweave.preparing import read

    for source in sources:
        if len(sources) > 1 and source in DATASETS and not Path(source).exists():
            others = ", ".join(repr(other) for other in sources if other != source)
            raise CorpusError(
                f"{source!r} is a data set and must be given alone. Got {others} as well."
            )
        if is_corpus_folder(source):
            raise CorpusError(
                f"'{source}' is a corpus. Pass a single corpus, or the files it was made from."
            )
    with open_import_display(None if console is None else make_console(stderr=True)) as display:
        corpus, report = read(*sources).prepare(progress=display)
    if console is not None:
        print_short_report(console, report)
    return corpus
