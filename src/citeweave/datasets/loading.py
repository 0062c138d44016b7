"""Load data sets as corpora, prepared once and stored in the cache."""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import replace
from functools import cache
from importlib import metadata, resources
from typing import TYPE_CHECKING, Any

from citeweave import __version__
from citeweave.corpus import Corpus
from citeweave.datasets.fetch import FetchProgress, get
from citeweave.datasets.places import cache_folder
from citeweave.datasets.registry import Dataset, find_dataset
from citeweave.errors import CorpusError
from citeweave.preparing import Imported, Report, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from citeweave.datasets.places import HeldFiles
    from citeweave.preparing import Progress, Records, Settings
    from citeweave.reading import Record, Reference

__all__ = ["load", "load_with_report"]

_PARTS = ("reading", "preparing", "corpus", "datasets")
_PACKAGES = ("py3langid", "stopwordsiso")


def load(
    name: str,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
    fetched: FetchProgress | None = None,
) -> Corpus:
    """Load a data set as a corpus.

    The files are looked up in the folder set by ``CITEWEAVE_DATA``, then in the cache, and then
    downloaded. The prepared corpus is stored in the cache too, under a key made of its files, its
    settings and the code that prepared it, so that it is only opened the next time.

    Parameters
    ----------
    name : str
        Name of the data set, such as "cora"; see `DATASETS`.
    settings : Settings or None
        Preparation settings (default: those in the registry).
    progress : callable or None
        Called with the name of a step, the amount done and the total.
    fetched : callable or None
        Called with a URL, the number of bytes received and the total.

    Returns
    -------
    Corpus
        The data set.

    Raises
    ------
    ParameterError
        There is no data set of this name.
    CorpusError
        The data set is not on this computer and cannot be downloaded.

    Examples
    --------
    >>> from citeweave import datasets
    >>> datasets.load("cora").n_documents
    2708
    """
    return load_with_report(name, settings=settings, progress=progress, fetched=fetched).corpus


def load_with_report(
    name: str,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
    fetched: FetchProgress | None = None,
) -> Imported:
    """Load a data set as a corpus, with its import report; see `load`.

    Examples
    --------
    >>> from citeweave import datasets
    >>> corpus, report = datasets.load_with_report("cora")
    >>> report.documents == corpus.n_documents
    True
    """
    dataset = find_dataset(name)
    held = get(dataset, progress=fetched)
    used = dataset.settings if settings is None else settings
    place = _place(dataset, used)
    if place is not None and place.is_dir():
        try:
            corpus = Corpus.load(place)
            report = Report.of(corpus)
            if report is not None:
                return Imported(corpus, report)
        except CorpusError:
            pass  # a damaged copy is replaced
    made = _records(dataset, held).prepare(used, progress=progress)
    if place is not None:
        _keep(made.corpus, place)
    return made


def _place(dataset: Dataset, settings: Settings) -> Path | None:
    """Return the folder of the prepared corpus; None if there is no cache."""
    key = {
        "name": dataset.name,
        "files": [file.sha256 for holding in dataset.holdings for file in holding],
        "settings": settings.as_dict(),
        "named": [_digest(path) for path in _named_files(settings)],
        "citeweave": __version__,
        "code": _code(),
        "packages": [metadata.version(package) for package in _PACKAGES],
    }
    text = json.dumps(key, sort_keys=True).encode()
    try:
        folder = cache_folder() / "corpora"
    except CorpusError:
        return None
    return folder / f"{dataset.name}-{hashlib.sha256(text).hexdigest()[:16]}"


def _named_files(settings: Settings) -> list[str]:
    thesauri = (settings.author_thesaurus, settings.word_thesaurus)
    named = (*thesauri, settings.people, settings.stop_words)
    return [path for path in named if path is not None and path not in {"auto", "none"}]


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (keeps the name as given by the user)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""  # the preparation reports what is wrong with it


@cache
def _code() -> str:
    """Hash the code that prepares corpora, so that changed code never uses outdated results."""
    digest = hashlib.sha256()
    for part in _PARTS:
        for file in _files_below(resources.files("citeweave") / part):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _files_below(folder: Traversable) -> Iterator[Traversable]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir() and item.name != "__pycache__":
            yield from _files_below(item)
        elif item.is_file():
            yield item


def _keep(corpus: Corpus, place: Path) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        corpus.save(place, overwrite=True)
    except (CorpusError, OSError) as error:
        warnings.warn(
            f"The prepared data set could not be cached: {error}", RuntimeWarning, stacklevel=4
        )


def _records(dataset: Dataset, held: HeldFiles) -> Records:
    """Read the files of a data set, using the details in the registry."""
    lists = [path for path, file in zip(held.paths, held.files, strict=True) if file.citations]
    # the other files of a set lie next to the first one and are found by name
    records = read(held.paths[0], citations=lists or None)
    changes: list[Callable[[Iterable[Record]], Iterator[Record]]] = []
    if dataset.categories:
        changes.append(_naming(dataset.categories))
    if dataset.columns:
        changes.append(_all_columns(dataset.columns))
    changes.extend(_citing(_references(other)) for other in dataset.needs)
    for change in changes:
        records = records.map(change)
    return records


def _naming(names: Any) -> Callable[[Iterable[Record]], Iterator[Record]]:
    def change(records: Iterable[Record]) -> Iterator[Record]:
        for record in records:
            label = record.category
            yield replace(record, category=names.get(label, label))

    return change


def _all_columns(columns: int) -> Callable[[Iterable[Record]], Iterator[Record]]:
    """Return a name for every word column in the files, so that unused words are counted too."""
    digits = len(str(columns - 1))
    names = [f"w{place:0{digits}d}" for place in range(columns)]

    def change(records: Iterable[Record]) -> Iterator[Record]:
        first = True
        for record in records:
            if first and record.words is not None:
                numbers = dict.fromkeys(names, 0.0) | dict(record.words)
                yield replace(record, words=tuple(numbers.items()))
                first = False
            else:
                yield record

    return change


def _references(name: str) -> dict[str, tuple[Reference, ...]]:
    dataset = find_dataset(name)
    return {record.id: record.references for record in _records(dataset, get(dataset))}


def _citing(
    references: dict[str, tuple[Reference, ...]],
) -> Callable[[Iterable[Record]], Iterator[Record]]:
    def change(records: Iterable[Record]) -> Iterator[Record]:
        for record in records:
            yield replace(record, references=references.get(record.id, ()))

    return change
