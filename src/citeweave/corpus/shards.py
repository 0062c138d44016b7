"""A corpus as a folder of shards: one manifest, and below it a folder for each range of documents.

    manifest.json                  as of a plain corpus, with version 2 and counts per shard
    shards/00000/arrays/*.npy      arrays of the documents of one shard
    shards/00000/documents.parquet
    vocabulary.parquet, authors.parquet, categories.parquet
    import.json                    report of the import, if any

Offsets are relative to the shard; words, authors, categories and both ends of citations are
numbered across the whole corpus. A citation is in the shard of the citing document.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from citeweave.corpus import storage
from citeweave.corpus.check import check_array
from citeweave.corpus.report import CorpusReport
from citeweave.corpus.text import TextStore, hash_blocks
from citeweave.errors import CorpusError, ParameterError
from citeweave.files import absolute, parquet_errors, parquet_reason
from citeweave.naming import parameter

if TYPE_CHECKING:
    from types import ModuleType

    from citeweave.corpus.corpus import Corpus

__all__ = [
    "Shard",
    "ShardArrays",
    "Shards",
    "finish_shards",
    "shard_name",
    "write_shard",
    "write_shards",
]

_COUNTED = ("documents", "tokens", "author_mentions", "citations")


class Shard(NamedTuple):
    """One range of the documents of a corpus.

    Attributes
    ----------
    name : str
        Name of its folder below that of the corpus, with a slash at the end.
    first : int
        Number of its first document.
    counts : dict
        Its numbers of documents, tokens, author mentions and citations.
    """

    name: str
    first: int
    counts: dict[str, int]

    @property
    def last(self) -> int:
        """Number of its last document plus one."""
        return self.first + self.counts["documents"]


def shard_name(number: int) -> str:
    """Return the name of the folder of a shard."""
    return f"shards/{number:05d}/"


class Shards:
    """The shards in a folder, each opened and checked on first use.

    Parameters
    ----------
    folder : Path
        Folder of the corpus.
    manifest : dict
        Its manifest.
    mmap : bool
        Map the arrays of shards into memory instead of reading them.
    """

    def __init__(self, folder: Path, manifest: dict[str, Any], *, mmap: bool) -> None:
        self.folder = folder
        self._manifest = manifest
        self._mmap = mmap
        self._open: dict[int, ShardArrays] = {}
        try:
            counts = {name: int(value) for name, value in manifest["counts"].items()}
            self.sizes = (counts["vocabulary"], counts["authors"], counts["categories"])
            rows = [{name: int(row[name]) for name in _COUNTED} for row in manifest["shards"]]
            total = {name: sum(row[name] for row in rows) for name in _COUNTED}
            wrong = [name for name in _COUNTED if total[name] != counts[name]]
            if wrong or not rows:
                raise ValueError(f"shards do not sum to {wrong[0] if wrong else 'a corpus'}")  # noqa: TRY301
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CorpusError(
                f"'{folder / 'manifest.json'}' is damaged ({type(error).__name__}: {error}); "
                "create the corpus again."
            ) from error
        self.counts = counts
        ends = np.cumsum([0, *(row["documents"] for row in rows)])
        self.all = [
            Shard(shard_name(number), int(ends[number]), row) for number, row in enumerate(rows)
        ]
        self.ends = ends[1:]

    def __getstate__(self) -> dict[str, Any]:
        """Leave open shards out of the copy for another process, which opens them again."""
        return self.__dict__ | {"_open": {}}

    def __len__(self) -> int:
        """Return the number of shards."""
        return len(self.all)

    def arrays(self, number: int) -> "ShardArrays":
        """Return the arrays of one shard, each read and checked on first use."""
        if number not in self._open:
            self._open[number] = ShardArrays(self, number)
        return self._open[number]

    def read(self, number: int, name: str) -> np.ndarray:
        """Read one array of one shard, as stored in its file."""
        shard = self.all[number]
        shape = storage.array_shapes(shard.counts)[name]
        return storage.read_array(
            self.folder, self._manifest, name, shape, mmap=self._mmap, below=shard.name
        )

    def blocks(self, name: str, *, keep: bool = True) -> Iterator[np.ndarray]:
        """Yield the blocks of an array of the whole corpus, one per shard, in order.

        Without `keep`, each is closed after use, so that memory holds one shard at a time.
        """
        base = 0
        for number in range(len(self.all)):
            arrays = self.arrays(number)
            block = arrays[name]
            if name.endswith("offsets"):
                yield block[:1] if number == 0 else block[:0]
                yield block[1:] + base
                base += int(block[-1])
            else:
                yield block
            if not keep:
                arrays.close()

    def array(self, name: str) -> np.ndarray:
        """Return an array of the whole corpus; that of a single shard is not copied."""
        if len(self.all) == 1:
            return self.arrays(0)[name]
        whole = np.concatenate(list(self.blocks(name)))
        whole.flags.writeable = False
        return whole


class ShardArrays(Mapping[str, np.ndarray]):
    """The arrays of one shard, each read and checked on first use.

    Parameters
    ----------
    shards : Shards
    number : int
        Number of the shard.
    """

    def __init__(self, shards: Shards, number: int) -> None:
        self._shards, self._shard = shards, shards.all[number]
        self._number = number
        self._read: dict[str, np.ndarray] = {}
        self._checked: set[str] = set()

    def __getitem__(self, name: str) -> np.ndarray:
        """Return an array; with `mmap` it stays on disk until its values are used."""
        if name not in storage.ARRAYS:
            raise KeyError(name)
        shards, shard = self._shards, self._shard
        if name not in self._read:
            self._read[name] = shards.read(self._number, name)
        if name not in self._checked:
            self._checked.add(name)  # first, because arrays are checked against each other
            place, documents = shards.folder / shard.name, shards.counts["documents"]
            totals = {
                "offsets": shard.counts["tokens"],
                "author_offsets": shard.counts["author_mentions"],
            }
            try:
                check_array(place, name, self, shards.sizes, documents, shard.first, totals)
            except CorpusError:
                self._checked.discard(name)
                raise
        return self._read[name]

    def close(self) -> None:
        """Forget the arrays; they are read again when they are next used."""
        self._read.clear()

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(storage.ARRAYS)

    def __len__(self) -> int:
        """Return the number of arrays."""
        return len(storage.ARRAYS)


def write_shards(
    corpus: "Corpus", folder: str | os.PathLike[str], size: int, *, overwrite: bool = False
) -> Path:
    """Save a corpus as shards of at most `size` documents; see `Corpus.save`."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ParameterError(
            f"The {parameter('shard', 'save')} must be a number of documents of at least 1, or "
            f"None for a corpus in one piece. Got {size!r} instead."
        )
    target = absolute(folder)
    pl = storage.needs_polars("Saving a corpus")
    with storage.making(target, overwrite=overwrite) as temporary:
        storage.write_names(corpus.text, temporary, pl)
        counts = []
        examples = _examples(corpus)
        for number, first in enumerate(range(0, corpus.n_documents, size)):
            last = min(first + size, corpus.n_documents)
            documents = {
                name: corpus.text.column("documents", name)[first:last]
                for name in ("id", "title", *corpus.metadata)
            }
            frame = pl.DataFrame(
                [
                    storage.document_series(pl, name, [*values, examples[name]])[:-1]
                    for name, values in documents.items()
                ]
            )
            counts.append(write_shard(temporary, number, _range(corpus, first, last), frame))
        finish_shards(
            temporary,
            counts,
            sizes=(corpus.vocabulary_size, corpus.n_authors, corpus.n_categories),
            metadata=list(corpus.metadata),
            report=corpus.report,
            preparation=corpus.preparation,
            import_report=corpus.import_report,
            fingerprint=corpus.fingerprint,
        )
    return target


def _examples(corpus: "Corpus") -> dict[str, Any]:
    """Find a value for each column, so that a shard without values gets the type of the others."""
    return {
        name: next((v for v in corpus.text.column("documents", name) if v is not None), None)
        for name in ("id", "title", *corpus.metadata)
    }


def _range(corpus: "Corpus", first: int, last: int) -> dict[str, np.ndarray]:
    """Cut the documents from `first` to `last` out of a corpus."""
    offsets, teams = corpus.offsets[first : last + 1], corpus.author_offsets[first : last + 1]
    begin, end = np.searchsorted(corpus.citations[:, 0], [first, last])
    return {
        "tokens": corpus.tokens[offsets[0] : offsets[-1]],
        "offsets": offsets - offsets[0],
        "title_lengths": corpus.title_lengths[first:last],
        "author_ids": corpus.author_ids[teams[0] : teams[-1]],
        "author_offsets": teams - teams[0],
        "categories": corpus.categories[first:last],
        "citations": corpus.citations[begin:end],
    }


def write_shard(
    folder: Path, number: int, arrays: Mapping[str, np.ndarray], documents: Any
) -> dict[str, int]:
    """Write one shard of an unfinished corpus.

    Parameters
    ----------
    folder : Path
        Folder of the corpus.
    number : int
        Number of the shard.
    arrays : mapping
        Its seven arrays.
    documents : polars.DataFrame
        Ids, titles and the metadata columns of its documents.

    Returns
    -------
    dict
        Its counts, for `finish_shards`.
    """
    place = folder / shard_name(number)
    place.mkdir(parents=True)
    storage.write_array_files(arrays, place)
    documents.write_parquet(place / "documents.parquet")
    return {
        "documents": len(arrays["categories"]),
        "tokens": len(arrays["tokens"]),
        "author_mentions": len(arrays["author_ids"]),
        "citations": len(arrays["citations"]),
    }


def finish_shards(
    folder: Path,
    counts: Sequence[Mapping[str, int]],
    *,
    sizes: tuple[int, int, int],
    metadata: list[str],
    report: CorpusReport,
    preparation: Mapping[str, Any],
    import_report: Mapping[str, Any] | None = None,
    fingerprint: str | None = None,
) -> str:
    """Write the manifest of a folder of shards with all its tables; return the fingerprint.

    Parameters
    ----------
    folder : Path
    counts : sequence of mappings
        Results of `write_shard`, one per shard.
    sizes : tuple of int
        Numbers of words, authors and categories.
    metadata : list of str
        Columns of the tables of documents besides id and title.
    report, preparation, import_report
        As in `Corpus`.
    fingerprint : str, optional
        Computed from the files, one column at a time, if not given.
    """
    from citeweave.corpus.sharded import ShardedText  # noqa: PLC0415 (it imports this file)

    total = {name: sum(row[name] for row in counts) for name in _COUNTED}
    manifest: dict[str, Any] = {
        "format": storage.FORMAT,
        "version": storage.SHARDED_VERSION,
        "fingerprint": fingerprint,
        "counts": {
            "documents": total["documents"],
            "tokens": total["tokens"],
            "vocabulary": sizes[0],
            "authors": sizes[1],
            "author_mentions": total["author_mentions"],
            "categories": sizes[2],
            "citations": total["citations"],
        },
        "shards": [dict(row) for row in counts],
        "metadata": metadata,
        "report": report.as_dict(),
        "preparation": dict(preparation),
    }
    if fingerprint is None:
        shards = Shards(folder, manifest, mmap=True)
        fingerprint = fingerprint_of(shards, ShardedText(shards, None, tuple(metadata)))
    storage.write_manifest(folder, manifest | {"fingerprint": fingerprint}, import_report)
    return fingerprint


def fingerprint_of(shards: Shards, text: TextStore) -> str:
    """Compute the fingerprint of the whole corpus, reading one column of one shard at a time."""
    blocks = partial(shards.blocks, keep=False)
    return hash_blocks(storage.array_shapes(shards.counts), blocks, shards.sizes, text)


def read_documents(shards: Shards, number: int, name: str, pl: "ModuleType") -> Any:
    """Read a column of the table of documents of one shard, as a polars series."""
    shard = shards.all[number]
    path = shards.folder / shard.name / "documents.parquet"
    try:
        values = pl.read_parquet(path, columns=[name])[name]
    except parquet_errors(pl) as error:
        raise CorpusError(
            f"The column '{name}' of '{path}' cannot be read ({parquet_reason(error)}); create the "
            "corpus again."
        ) from error
    if len(values) != shard.counts["documents"]:
        raise CorpusError(
            f"'{path}' does not match the manifest: it has {len(values)} rows instead of "
            f"{shard.counts['documents']}; create the corpus again."
        )
    return values
