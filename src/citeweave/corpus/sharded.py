"""A sharded corpus, used like any other: arrays and strings are read when they are needed."""

import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self, overload

import numpy as np

from citeweave.corpus import storage
from citeweave.corpus.canonical import canonical_column
from citeweave.corpus.corpus import Corpus
from citeweave.corpus.report import CorpusReport
from citeweave.corpus.shard_words import ShardWords
from citeweave.corpus.shards import Shards, fingerprint_of, read_documents
from citeweave.errors import CorpusError

__all__ = ["ShardColumn", "ShardedCorpus", "ShardedText"]

_KEPT = 8  # number of shards of a column kept in memory


class ShardColumn(Sequence[Any]):
    """A column of the table of documents, read one shard at a time.

    It behaves like a read-only list; `take` returns many entries in any order and reads each shard
    only once.
    """

    def __init__(self, text: "ShardedText", name: str) -> None:
        self._text = text
        self._name = name
        self._kept: OrderedDict[int, list[Any]] = OrderedDict()

    def _shard(self, number: int) -> list[Any]:
        if number in self._kept:
            self._kept.move_to_end(number)
        else:
            self._kept[number] = self._text.read(number, self._name)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return self._kept[number]

    def __len__(self) -> int:
        """Return the number of documents."""
        return self._text.shards.counts["documents"]

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        """Return the entry of one document, or a list of entries for a slice."""
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        place = int(index)
        if not -len(self) <= place < len(self):
            raise IndexError(f"There is no document {index}; the corpus has {len(self)}.")
        place %= len(self)
        number = int(np.searchsorted(self._text.shards.ends, place, side="right"))
        return self._shard(number)[place - self._text.shards.all[number].first]

    def take(self, index: np.ndarray) -> list[Any]:
        """Return the entries of documents in the given order."""
        found: list[Any] = [None] * len(index)
        owner = np.searchsorted(self._text.shards.ends, index, side="right")
        for number in np.unique(owner).tolist():
            values, first = self._shard(number), self._text.shards.all[number].first
            for place in np.flatnonzero(owner == number).tolist():
                found[place] = values[int(index[place]) - first]
        return found

    def __iter__(self) -> Iterator[Any]:
        """Iterate over all documents."""
        for number in range(len(self._text.shards)):
            yield from self._shard(number)

    def canonical(self) -> Iterator[bytes]:
        """Yield the bytes of the column that enter the fingerprint, shard by shard."""
        pl = storage.needs_polars("Reading the documents of a corpus")
        for number in range(len(self._text.shards)):
            yield canonical_column(self._text.series(number, self._name), pl)

    def __eq__(self, other: object) -> bool:
        """Compare with another sequence, entry by entry."""
        if not isinstance(other, list | ShardColumn):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Show the column without reading it."""
        return f"ShardColumn({self._name!r}, {len(self)} documents)"


class ShardedText:
    """The strings of a sharded corpus.

    Parameters
    ----------
    shards : Shards
    fingerprint : str or None
        Fingerprint of the loaded corpus; None while it is being created.
    metadata : tuple of str
        Names of further columns of the table of documents.
    """

    def __init__(self, shards: Shards, fingerprint: str | None, metadata: tuple[str, ...]) -> None:
        self.shards = shards
        self._fingerprint = fingerprint
        self._metadata = metadata
        self._columns: dict[str, ShardColumn] = {}
        self._checked: set[int] = set()
        sizes = (shards.counts["documents"], *shards.sizes)
        self._names = storage.StoredText(shards.folder, fingerprint, sizes, metadata)

    @property
    def folder(self) -> Path:
        """Folder of the corpus."""
        return self.shards.folder

    @property
    def metadata_names(self) -> tuple[str, ...]:
        """Names of the further columns of the table of documents."""
        return self._metadata

    def column(self, table: str, name: str) -> Any:
        """Return one column; document columns are read shard by shard."""
        if table != "documents":
            return self._names.column(table, name)
        return self._columns.setdefault(name, ShardColumn(self, name))

    def read(self, number: int, name: str) -> list[Any]:
        """Read a column of one shard as a list."""
        values: list[Any] = self.series(number, name).to_list()
        return values

    def series(self, number: int, name: str) -> Any:
        """Read a column of one shard; its file is verified the first time."""
        pl = storage.needs_polars("Reading the documents of a corpus")
        folder = self.shards.folder
        made = self._fingerprint is not None
        manifest = storage.check_unchanged(folder, self._fingerprint) if made else {}
        if number not in self._checked:
            file = f"{self.shards.all[number].name}documents.parquet"
            try:
                storage.check_file_of(folder, manifest, file)
            except FileNotFoundError:
                raise CorpusError(
                    f"The file '{folder / file}' of the corpus is missing. Create the corpus again."
                ) from None
            self._checked.add(number)
        return read_documents(self.shards, number, name, pl)


class ShardedCorpus(Corpus):
    """A corpus in a folder of shards (`citeweave.corpus.shards`).

    An array of the whole corpus is concatenated from those of the shards on first use, so that code
    that does not need the words does not load them. `shards` gives access to the memory-mapped
    arrays of each shard. Titles and other document columns are read one shard at a time.

    Examples
    --------
    >>> import tempfile
    >>> corpus = Corpus.from_lists(tokens=[["a"], ["b", "a"], ["c"]], citations=[(2, 0)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = corpus.save(f"{folder}/corpus", shard=2)
    ...     loaded = Corpus.load(place)
    ...     len(loaded.shards), loaded.shards.arrays(1)["tokens"], loaded.tokens
    (2, array([2], dtype=int32), array([0, 1, 0, 2], dtype=int32))
    >>> loaded.fingerprint == corpus.fingerprint
    True
    """

    shards: Shards

    @classmethod
    def open(cls, folder: str | os.PathLike[str], manifest: dict[str, Any], *, mmap: bool) -> Self:
        """Open a folder of shards; called by `Corpus.load`."""
        place = Path(folder).absolute()
        shards = Shards(place, manifest, mmap=mmap)
        try:
            fingerprint = str(manifest["fingerprint"])
            report = CorpusReport.from_dict(manifest["report"])
            preparation = dict(manifest["preparation"])
            metadata = tuple(str(name) for name in manifest["metadata"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CorpusError(
                f"'{place / 'manifest.json'}' is damaged ({type(error).__name__}: {error}). Create "
                "the corpus again."
            ) from error
        corpus = cls.__new__(cls)
        # arrays are omitted: they are created on first use
        corpus.__dict__.update(
            vocabulary_size=shards.sizes[0],
            n_authors=shards.sizes[1],
            n_categories=shards.sizes[2],
            report=report,
            preparation=preparation,
            text=ShardedText(shards, fingerprint, metadata),
            _stored_fingerprint=fingerprint,
            import_report=storage.StoredReport.find(place, fingerprint),
            shards=shards,
        )
        return corpus

    def __getattr__(self, name: str) -> Any:
        """Concatenate an array of the whole corpus on first use."""
        if name not in storage.ARRAYS or "shards" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        array = self.__dict__[name] = self.shards.array(name)
        return array

    @property
    def n_documents(self) -> int:
        """Number of documents, D."""
        return self._count("documents", "categories")

    @property
    def n_tokens(self) -> int:
        """Number of tokens in all documents."""
        return self._count("tokens", "tokens")

    @property
    def n_citations(self) -> int:
        """Number of citations inside the corpus."""
        return self._count("citations", "citations")

    def _count(self, name: str, array: str) -> int:
        # a copy with other arrays (`dataclasses.replace`) owns them
        own = self.__dict__.get(array)
        return self.shards.counts[name] if own is None else len(own)

    def stored_words(self) -> ShardWords | None:
        """Return the words on disk, which can be read in parts; None if they are in memory."""
        on_disk = "shards" in self.__dict__ and "tokens" not in self.__dict__
        return ShardWords(self.shards) if on_disk else None

    def token_blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the tokens and offsets of consecutive ranges of documents."""
        if "shards" not in self.__dict__:
            yield from super().token_blocks()
            return
        for number in range(len(self.shards)):
            arrays = self.shards.arrays(number)
            yield arrays["tokens"], arrays["offsets"]

    def _compute_fingerprint(self) -> str:
        if "shards" not in self.__dict__:
            return super()._compute_fingerprint()
        return fingerprint_of(self.shards, self.text)
