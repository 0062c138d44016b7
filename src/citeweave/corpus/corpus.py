"""The corpus that models are fitted to: read-only integer arrays and separate strings."""

import html
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from citeweave.corpus import storage
from citeweave.corpus.build import parts_from_arrays, parts_from_lists
from citeweave.corpus.matrix import parts_from_matrix
from citeweave.corpus.report import CorpusReport, summarise
from citeweave.corpus.split import Split, split_corpus, subset_parts
from citeweave.corpus.text import Metadata, TextStore, hash_contents
from citeweave.errors import CorpusError

if TYPE_CHECKING:
    from citeweave.corpus.shard_words import ShardWords

__all__ = ["Corpus"]


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Documents as integer tokens, with authors, categories and citations.

    Build one with `from_lists`, `from_matrix`, `from_arrays` or `load`, which validate their input;
    the constructor does not. All arrays are read-only, whether in memory or memory-mapped.

    Attributes
    ----------
    tokens : ndarray of int32, shape (n_tokens,)
        Word ids w of all documents, concatenated.
    offsets : ndarray of int64, shape (n_documents + 1,)
        Document d has the tokens `tokens[offsets[d]:offsets[d + 1]]`.
    vocabulary_size : int
        Number of words in the vocabulary.
    title_lengths : ndarray of int32, shape (n_documents,)
        Number of leading tokens of each document that come from its title; 0 if unknown.
    author_ids : ndarray of int32
        Authors of all documents, in order; the first author of a document is its dominant author
        a_d.
    author_offsets : ndarray of int64, shape (n_documents + 1,)
        Document d has the authors `author_ids[author_offsets[d]:author_offsets[d + 1]]`.
    n_authors : int
        Number of authors.
    categories : ndarray of int32, shape (n_documents,)
        Category e_d, or -1 if missing.
    n_categories : int
        Number of categories.
    citations : ndarray of int32, shape (n_citations, 2)
        Sorted unique rows (citing, cited), without self-citations.
    report : CorpusReport
        Counts of what was removed or is missing.
    preparation : dict
        Description of the text pipeline that produced the tokens; may be empty.
    import_report : mapping or None
        Report of the import that created the corpus (`citeweave.preparing.Report`). It is stored by
        `save` and read on first use; subsets share the report of the whole corpus. The fingerprint
        does not depend on it.

    Examples
    --------
    >>> corpus = Corpus.from_lists(
    ...     tokens=[["topic", "model"], ["citation", "model", "model"]],
    ...     authors=[["Ann Lee"], ["Bo Chen", "Ann Lee"]],
    ...     citations=[(1, 0), (1, 1)],
    ... )
    >>> corpus
    Corpus(2 documents, 5 tokens, vocabulary 3, 2 authors, 0 categories, 1 citation)
    >>> corpus.tokens
    array([0, 1, 2, 1, 1], dtype=int32)
    >>> corpus.report.self_citations
    1
    """

    tokens: np.ndarray
    offsets: np.ndarray
    vocabulary_size: int
    title_lengths: np.ndarray
    author_ids: np.ndarray
    author_offsets: np.ndarray
    n_authors: int
    categories: np.ndarray
    n_categories: int
    citations: np.ndarray
    report: CorpusReport
    preparation: dict[str, Any]
    text: TextStore
    _stored_fingerprint: str | None = field(default=None)
    import_report: Mapping[str, Any] | None = field(default=None)

    @classmethod
    def from_lists(
        cls,
        *,
        tokens: Iterable[Any],
        vocabulary: Sequence[str] | None = None,
        authors: Iterable[Sequence[str] | None] | None = None,
        categories: Iterable[str | int | None] | None = None,
        citations: Iterable[Any] | None = None,
        titles: Sequence[str | None] | None = None,
        ids: Sequence[str] | None = None,
        title_lengths: Sequence[int] | np.ndarray | None = None,
        metadata: Mapping[str, Any] | None = None,
        preparation: Mapping[str, Any] | None = None,
    ) -> Self:
        """Build a corpus from Python lists with one entry per document.

        Parameters
        ----------
        tokens
            For each document, a list of words, or a list or integer array of word ids.
        vocabulary
            The words by id. If not given, words are collected in order of first use, and word ids
            get the names "w0", "w1", ...
        authors
            For each document, the names of its authors in order; None or [] if unknown.
        categories
            For each document, a label (string or integer); None (or -1) if unknown. Strings are
            numbered in order of first use, integers in ascending order.
        citations
            Pairs (citing, cited), as positions of documents or, if `ids` are given, as ids.
            Self-citations and repetitions are removed and counted in `report`.
        titles, ids
            For each document, its title (or None) and its unique id (default: "0", "1", ...).
        title_lengths
            For each document, the number of leading tokens that come from its title.
        metadata
            Further columns by name, with one value per document (strings, booleans, integers,
            floats or lists of strings; None if missing).
        preparation
            JSON-serialisable description of how the tokens were produced.

        Raises
        ------
        CorpusError
            The input is invalid; the message names the document and the value.

        Examples
        --------
        >>> from citeweave import Corpus
        >>> corpus = Corpus.from_lists(
        ...     tokens=[["soil", "water"], ["protein"]],
        ...     ids=["a", "b"],
        ...     citations=[("b", "a")],
        ...     categories=["Agriculture", None],
        ... )
        >>> corpus.citations.tolist(), corpus.categories.tolist()
        ([[1, 0]], [0, -1])
        """
        return cls(
            **parts_from_lists(
                tokens=tokens,
                vocabulary=vocabulary,
                authors=authors,
                categories=categories,
                citations=citations,
                titles=titles,
                ids=ids,
                title_lengths=title_lengths,
                metadata=metadata,
                preparation=preparation,
            )
        )

    @classmethod
    def from_arrays(
        cls,
        *,
        tokens: np.ndarray,
        offsets: np.ndarray,
        vocabulary: Sequence[str] | None = None,
        vocabulary_size: int | None = None,
        title_lengths: np.ndarray | None = None,
        author_ids: np.ndarray | None = None,
        author_offsets: np.ndarray | None = None,
        author_names: Sequence[str] | None = None,
        categories: np.ndarray | None = None,
        category_names: Sequence[str] | None = None,
        citations: np.ndarray | None = None,
        ids: Sequence[str] | None = None,
        titles: Sequence[str | None] | None = None,
        metadata: Mapping[str, Any] | None = None,
        preparation: Mapping[str, Any] | None = None,
    ) -> Self:
        """Build a corpus from flat arrays with the layout of the attributes of this class.

        Missing names are generated ("w0", "author 0", "category 0") up to the largest id; a larger
        `vocabulary_size` adds further words. The other parameters and the errors are those of
        `from_lists`.

        Examples
        --------
        >>> import numpy as np
        >>> from citeweave import Corpus
        >>> corpus = Corpus.from_arrays(tokens=np.array([0, 1, 1]), offsets=np.array([0, 1, 3]))
        >>> corpus.n_documents, corpus.words(1)
        (2, ['w1', 'w1'])
        """
        return cls(
            **parts_from_arrays(
                tokens=tokens,
                offsets=offsets,
                vocabulary=vocabulary,
                vocabulary_size=vocabulary_size,
                title_lengths=title_lengths,
                author_ids=author_ids,
                author_offsets=author_offsets,
                author_names=author_names,
                categories=categories,
                category_names=category_names,
                citations=citations,
                ids=ids,
                titles=titles,
                metadata=metadata,
                preparation=preparation,
            )
        )

    @classmethod
    def from_matrix(
        cls,
        counts: Any,
        *,
        vocabulary: Sequence[str] | None = None,
        authors: Iterable[Sequence[str] | None] | str | None = None,
        categories: Iterable[str | int | None] | str | None = None,
        citations: Any = None,
        titles: Sequence[str | None] | str | None = None,
        ids: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        preparation: Mapping[str, Any] | None = None,
    ) -> Self:
        """Build a corpus from a matrix of counts with a row per document and a column per word.

        Parameters
        ----------
        counts
            How often each word occurs in each document: a SciPy sparse matrix of any format, a
            NumPy array, a pandas data frame (whose index and columns are ids and words), the path
            of an ``.npz`` file, or an AnnData-like object with ``X``, ``obs`` and ``var``.
        vocabulary
            The words by column (default: "w0", "w1", ...).
        citations
            Pairs as for `from_lists`, or a square matrix, sparse or dense, whose nonzero entries
            mean that the row cites the column. For an AnnData-like object, also the name of a
            matrix in ``obsp``.
        authors, categories, titles
            As for `from_lists`; for an AnnData-like object, also the name of a column of ``obs``.
        ids, metadata, preparation
            As for `from_lists`. For an AnnData-like object, ids are the index of ``obs``, and
            columns of ``obs`` that are not used otherwise become metadata.

        Notes
        -----
        The words of a document are in the order of the columns, because the models treat documents
        as bags of words. An ``.npz`` file is written by `scipy.sparse.save_npz`, or by
        `numpy.savez` with an array ``counts``. Both may also contain arrays ``vocabulary``,
        ``authors`` (names separated by semicolons), ``categories``, ``citations``, ``titles`` and
        ``ids``, and further arrays with one value per document, which become metadata. Objects are
        never unpickled.

        Raises
        ------
        CorpusError
            The input is invalid; the message names the document and the value.

        Examples
        --------
        >>> import numpy as np
        >>> counts = np.array([[1, 0, 2], [0, 3, 0]])
        >>> corpus = Corpus.from_matrix(
        ...     counts, vocabulary=["topic", "soil", "model"], citations=[(1, 0)]
        ... )
        >>> corpus.words(0), corpus.n_citations
        (['topic', 'model', 'model'], 1)
        """
        return cls(
            **parts_from_matrix(
                counts,
                vocabulary=vocabulary,
                authors=authors,
                categories=categories,
                citations=citations,
                titles=titles,
                ids=ids,
                metadata=metadata,
                preparation=preparation,
            )
        )

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, mmap: bool = True) -> Self:
        """Load a saved corpus; with `mmap`, its arrays stay on disk until they are used.

        Strings are read from Parquet on first use; only that needs polars. A folder of shards gives
        a `ShardedCorpus`.

        Examples
        --------
        >>> import citeweave
        >>> folder = citeweave.example_corpus().save("my-corpus")
        >>> citeweave.Corpus.load("my-corpus").n_documents
        80
        """
        manifest = storage.read_manifest_of(Path(folder))
        if manifest["version"] == storage.SHARDED_VERSION:
            from citeweave.corpus.sharded import ShardedCorpus  # noqa: PLC0415 (it imports this module)

            return ShardedCorpus.open(folder, manifest, mmap=mmap)  # type: ignore[return-value]
        parts, fingerprint = storage.read(folder, mmap=mmap)
        report = storage.StoredReport.find(folder, fingerprint)
        return cls(**parts, _stored_fingerprint=fingerprint, import_report=report)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        shard: int | None = None,
    ) -> Path:
        """Save the corpus to a folder, atomically.

        Parameters
        ----------
        folder : path
        overwrite : bool
            Whether to replace an existing corpus.
        shard : int, optional
            Number of documents per shard, for corpora that do not fit into memory
            (docs/how-to/corpus.md). By default the corpus is written in one piece.

        Examples
        --------
        >>> import citeweave
        >>> corpus = citeweave.example_corpus()
        >>> folder = corpus.save("saved-corpus")
        >>> citeweave.Corpus.load("saved-corpus").fingerprint == corpus.fingerprint
        True
        """
        if shard is not None:
            from citeweave.corpus.shards import write_shards  # noqa: PLC0415 (needs polars, rarely used)

            return write_shards(self, folder, shard, overwrite=overwrite)
        return storage.write(self, folder, overwrite=overwrite)

    def subset(self, index: Sequence[int] | np.ndarray) -> Self:
        """Return the documents at the given positions, in that order, or those selected by a mask.

        Vocabulary, authors and categories keep their ids; only citations within the subset are
        kept.

        Examples
        --------
        >>> import citeweave
        >>> corpus = citeweave.example_corpus()
        >>> corpus.subset([0, 3]).titles
        ['Early holocene for ancient dna', 'Rice and soil water in nitrogen']
        """
        return type(self)(**subset_parts(self, index), import_report=self.import_report)

    def split(self, *, test: float = 0.1, seed: int | None = 0) -> Split:
        """Split the documents at random into training and test documents.

        Both parts share the vocabulary and the tables of authors and categories. Each part keeps
        its own citations; citations between the parts are in `Split.links`.

        Examples
        --------
        >>> import citeweave
        >>> parts = citeweave.example_corpus().split(test=0.25, seed=1)
        >>> parts.train.n_documents, parts.test.n_documents
        (60, 20)
        """
        return split_corpus(self, test=test, seed=seed)

    def summary(self) -> dict[str, Any]:
        """Return the figures of the paper's tbl:datasets and counts of missing data.

        Examples
        --------
        >>> import citeweave
        >>> summary = citeweave.example_corpus().summary()
        >>> summary["documents"], summary["citations"]
        (80, 300)
        """
        return summarise(self)

    def verify(self) -> str:
        """Read everything, recompute the fingerprint and compare it; return it if it matches.

        Examples
        --------
        >>> import citeweave
        >>> corpus = citeweave.example_corpus()
        >>> corpus.verify() == corpus.fingerprint
        True
        """
        computed = self._compute_fingerprint()
        if computed != self.fingerprint:
            raise CorpusError(
                f"The contents of the corpus (fingerprint {computed[:12]}) do not match those that "
                f"were saved ({self.fingerprint[:12]}): its files have changed. Create the corpus "
                "again."
            )
        return computed

    def stored_words(self) -> "ShardWords | None":
        """Return the words on disk, which can be read in parts; None if there are no shards.

        Examples
        --------
        >>> import citeweave
        >>> citeweave.example_corpus().stored_words() is None
        True
        """
        return None

    def token_blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the tokens and offsets of consecutive ranges of documents; here a single range.

        Examples
        --------
        >>> import citeweave
        >>> corpus = citeweave.example_corpus()
        >>> sum(len(block) for block, _ in corpus.token_blocks())
        2508
        """
        yield self.tokens, self.offsets

    @property
    def n_documents(self) -> int:
        """Number of documents, D."""
        return len(self.offsets) - 1

    @property
    def n_tokens(self) -> int:
        """Number of tokens in all documents."""
        return len(self.tokens)

    @property
    def n_citations(self) -> int:
        """Number of citations inside the corpus."""
        return len(self.citations)

    @property
    def lengths(self) -> np.ndarray:
        """Number of tokens in each document, N_d."""
        return np.diff(self.offsets)

    @cached_property
    def first_authors(self) -> np.ndarray:
        """Dominant author a_d of each document as int32; -1 if a document has no author."""
        first = np.full(self.n_documents, -1, dtype=np.int32)
        known = np.diff(self.author_offsets) > 0
        first[known] = self.author_ids[self.author_offsets[:-1][known]]
        first.flags.writeable = False
        return first

    @property
    def vocabulary(self) -> list[str]:
        """The words by id; do not modify."""
        return self.text.column("vocabulary", "word")

    @property
    def author_names(self) -> list[str]:
        """The names of authors by id; do not modify."""
        return self.text.column("authors", "name")

    @property
    def category_names(self) -> list[str]:
        """The names of categories by id; do not modify."""
        return self.text.column("categories", "name")

    @property
    def ids(self) -> list[str]:
        """The ids of documents; do not modify."""
        return self.text.column("documents", "id")

    @property
    def titles(self) -> list[str | None]:
        """The titles of documents, None if unknown; do not modify."""
        return self.text.column("documents", "title")

    @property
    def metadata(self) -> Mapping[str, list[Any]]:
        """Further columns by document, each read on first use."""
        return Metadata(self.text)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the arrays and strings; equal contents have equal fingerprints."""
        return self._stored_fingerprint or self._compute_fingerprint()

    def _compute_fingerprint(self) -> str:
        arrays = {name: getattr(self, name) for name in storage.ARRAYS}
        sizes = (self.vocabulary_size, self.n_authors, self.n_categories)
        return hash_contents(arrays, sizes, self.text)

    def words(self, document: int) -> list[str]:
        """Return the words of one document.

        Examples
        --------
        >>> import citeweave
        >>> citeweave.example_corpus().words(0)[:2]
        ['early holocene', 'ancient dna']
        """
        self._check_position(document)
        vocabulary = self.vocabulary
        begin, end = self.offsets[document], self.offsets[document + 1]
        return [vocabulary[word] for word in self.tokens[begin:end].tolist()]

    def authors(self, document: int) -> list[str]:
        """Return the names of the authors of one document, in order.

        Examples
        --------
        >>> import citeweave
        >>> corpus = citeweave.example_corpus()
        >>> set(corpus.authors(0)) <= set(corpus.author_names)
        True
        """
        self._check_position(document)
        names = self.author_names
        begin, end = self.author_offsets[document], self.author_offsets[document + 1]
        return [names[author] for author in self.author_ids[begin:end].tolist()]

    def _check_position(self, document: int) -> None:
        if not 0 <= document < self.n_documents:
            raise CorpusError(
                f"There is no document {document}; positions range from 0 to "
                f"{self.n_documents - 1}."
            )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled copy, with read-only arrays."""
        self.__dict__.update(state)
        for name in storage.ARRAYS:
            if name in self.__dict__:
                self.__dict__[name].flags.writeable = False

    def __repr__(self) -> str:
        """Show the size in one line."""
        return f"Corpus({', '.join(f'{value} {name}'.strip() for name, value in self._sizes())})"

    def _repr_html_(self) -> str:
        """Show the size and the first documents as small tables."""
        sizes = "".join(
            f"<td>{html.escape(f'{value} {name}'.strip())}</td>" for name, value in self._sizes()
        )
        years = self.metadata.get("year")
        columns = ["id", "title", "authors", *(["year"] if years is not None else [])]
        head = "".join(f'<th style="text-align:left">{name}</th>' for name in columns)
        rows = []
        for document in range(min(self.n_documents, 5)):
            authors = self.authors(document)
            cells = [self.ids[document], self.titles[document] or "", ", ".join(authors[:3])]
            cells[2] += f" and {len(authors) - 3} more" if len(authors) > 3 else ""
            if years is not None:
                cells.append("" if years[document] is None else str(years[document]))
            shown = (f'<td style="text-align:left">{html.escape(cell)}</td>' for cell in cells)
            rows.append(f"<tr>{''.join(shown)}</tr>")
        more = self.n_documents - len(rows)
        caption = f"First {len(rows)} documents" if more > 0 else "Documents"
        return (
            f"<table><caption>Corpus {self.fingerprint[:12]}</caption><tr>{sizes}</tr></table>"
            f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table>"
        )

    def _sizes(self) -> list[tuple[str, str]]:
        def count(number: int, one: str, many: str) -> tuple[str, str]:
            return (one if number == 1 else many, f"{number:,}")

        return [
            count(self.n_documents, "document", "documents"),
            count(self.n_tokens, "token", "tokens"),
            ("", f"vocabulary {self.vocabulary_size:,}"),
            count(self.n_authors, "author", "authors"),
            count(self.n_categories, "category", "categories"),
            count(self.n_citations, "citation", "citations"),
        ]
