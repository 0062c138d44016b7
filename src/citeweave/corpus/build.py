"""Build the parts of a corpus from Python lists or arrays, and validate them."""

import functools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, ParamSpec, TypedDict

import numpy as np

from citeweave.corpus.check import (
    as_integers,
    check_ids,
    check_lengths,
    check_offsets,
    check_strings,
    metadata_column,
    remove_repeats,
    sort_citations,
)
from citeweave.corpus.report import CorpusReport
from citeweave.corpus.text import MemoryText, TextStore
from citeweave.errors import CorpusError

__all__ = ["Parts", "freeze", "missing_counts", "parts_from_arrays", "parts_from_lists"]

P = ParamSpec("P")


class Parts(TypedDict):
    """The validated fields of a `Corpus`."""

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


def freeze(array: np.ndarray, dtype: type) -> np.ndarray:
    """Return a contiguous read-only copy, because the caller may change the original."""
    frozen: np.ndarray = np.array(array, dtype=dtype, order="C")
    frozen.flags.writeable = False
    return frozen


def missing_counts(
    offsets: np.ndarray, author_offsets: np.ndarray, categories: np.ndarray, citations: np.ndarray
) -> dict[str, int]:
    """Count the documents that lack words, authors, a category or citations."""
    documents = len(offsets) - 1
    linked = np.zeros(documents, dtype=bool)
    linked[citations.reshape(-1)] = True
    return {
        "empty_documents": int(np.count_nonzero(np.diff(offsets) == 0)),
        "documents_without_authors": int(np.count_nonzero(np.diff(author_offsets) == 0)),
        "documents_without_category": int(np.count_nonzero(categories < 0)),
        "documents_without_citations": int(documents - np.count_nonzero(linked)),
    }


_RAW = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def _told(make: Callable[P, Parts]) -> Callable[P, Parts]:
    """Check the types of all values first, and turn any remaining error into a `CorpusError`."""

    @functools.wraps(make)
    def checked(*args: P.args, **values: P.kwargs) -> Parts:
        for name, value in values.items():
            _check_kind(name, value)
        try:
            return make(*args, **values)
        except _RAW as error:
            if isinstance(error, CorpusError):
                raise
            raise CorpusError(
                f"A corpus cannot be built from these values ({type(error).__name__}: {error}). "
                "See help(Corpus.from_lists) for what each must be."
            ) from error

    return checked


def _check_kind(name: str, value: Any) -> None:
    if value is None or name == "vocabulary_size":
        return
    if name in {"metadata", "preparation"}:
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise CorpusError(
                f"{name} must be a dictionary with names as keys; got {_shown(value)}."
            )
    elif isinstance(value, bytes | Mapping) or not hasattr(value, "__iter__"):
        raise CorpusError(f"{name} must be a list or an array; got {_shown(value)}.")


def _shown(value: Any) -> str:
    return f"{repr(value)[:80]} of type {type(value).__name__}"


@_told
def parts_from_arrays(
    *,
    tokens: Any,
    offsets: Any,
    vocabulary: Sequence[str] | None = None,
    vocabulary_size: int | None = None,
    title_lengths: Any = None,
    author_ids: Any = None,
    author_offsets: Any = None,
    author_names: Sequence[str] | None = None,
    categories: Any = None,
    category_names: Sequence[str] | None = None,
    citations: Any = None,
    ids: Sequence[str] | None = None,
    titles: Sequence[str | None] | None = None,
    metadata: Mapping[str, Any] | None = None,
    preparation: Mapping[str, Any] | None = None,
) -> Parts:
    """Validate flat arrays, and generate missing names; see `Corpus.from_arrays`."""
    flat = as_integers(tokens, "tokens")
    starts = as_integers(offsets, "offsets")
    check_offsets(starts, len(flat), "offsets")
    documents = len(starts) - 1
    words = _table("vocabulary", "w", vocabulary, vocabulary_size, flat)
    check_ids(flat, len(words), starts, what="word")

    if (author_ids is None) != (author_offsets is None):
        raise CorpusError("author_ids and author_offsets must be given together.")
    who = as_integers(() if author_ids is None else author_ids, "author_ids")
    who_starts = np.zeros(documents + 1, dtype=np.int64)
    if author_offsets is not None:
        who_starts = as_integers(author_offsets, "author_offsets")
        check_offsets(who_starts, len(who), "author_offsets")
        if len(who_starts) != documents + 1:
            raise CorpusError(
                f"author_offsets must have {documents + 1} entries, one more than the number of "
                f"documents; got {len(who_starts)}."
            )
    people = _table("author_names", "author ", author_names, None, who)
    check_ids(who, len(people), who_starts, what="author")
    who, who_starts, duplicate_authors = remove_repeats(who, who_starts, len(people))

    labels = _by_document(categories, "categories", documents, missing=-1)
    label_names = _table("category_names", "category ", category_names, None, labels)
    check_ids(labels, len(label_names), None, what="category", lowest=-1)

    title_words = _by_document(title_lengths, "title_lengths", documents, missing=0)
    check_lengths(title_words, starts)

    pairs = as_integers(() if citations is None else citations, "citations", width=2)
    edges, self_citations, duplicate_citations = sort_citations(pairs, documents)

    report = CorpusReport(
        self_citations=self_citations,
        duplicate_citations=duplicate_citations,
        duplicate_authors=duplicate_authors,
        **missing_counts(starts, who_starts, labels, edges),
    )
    columns: dict[tuple[str, str], list[Any]] = {
        ("vocabulary", "word"): words,
        ("authors", "name"): people,
        ("categories", "name"): label_names,
        ("documents", "id"): _ids(ids, documents),
        ("documents", "title"): _titles(titles, documents),
    }
    further = _metadata(metadata, documents)
    columns |= {("documents", name): values for name, values in further.items()}
    return Parts(
        tokens=freeze(flat, np.int32),
        offsets=freeze(starts, np.int64),
        vocabulary_size=len(words),
        title_lengths=freeze(title_words, np.int32),
        author_ids=freeze(who, np.int32),
        author_offsets=freeze(who_starts, np.int64),
        n_authors=len(people),
        categories=freeze(labels, np.int32),
        n_categories=len(label_names),
        citations=freeze(edges, np.int32),
        report=report,
        preparation=_plain_json(preparation),
        text=MemoryText(columns, tuple(further)),
    )


@_told
def parts_from_lists(
    *,
    tokens: Iterable[Any],
    vocabulary: Sequence[str] | None = None,
    authors: Iterable[Sequence[str] | None] | None = None,
    categories: Iterable[str | int | None] | None = None,
    citations: Iterable[Any] | None = None,
    titles: Sequence[str | None] | None = None,
    ids: Sequence[str] | None = None,
    title_lengths: Any = None,
    metadata: Mapping[str, Any] | None = None,
    preparation: Mapping[str, Any] | None = None,
) -> Parts:
    """Turn lists into flat arrays and validate them; see `Corpus.from_lists`."""
    documents = list(tokens)
    flat, offsets = _flatten(documents, "tokens", "words or word ids")
    if len(documents) == 0:
        raise CorpusError("A corpus needs at least one document; tokens is empty.")
    if isinstance(flat, list) and flat and isinstance(flat[0], str):
        codes, vocabulary = _encode(flat, offsets, vocabulary)
    else:
        codes = as_integers(flat, "tokens")

    author_ids = author_offsets = author_names = None
    if authors is not None:
        teams = [() if team is None else team for team in authors]
        if len(teams) != len(documents):
            raise CorpusError(
                f"authors must have one list of names per document, {len(documents)} in total "
                f"(None or [] if unknown); got {len(teams)}."
            )
        names, author_offsets = _flatten(teams, "authors", "names")
        author_names = _unique_strings(list(names), author_offsets, "author name")
        place = {name: i for i, name in enumerate(author_names)}
        author_ids = np.fromiter((place[n] for n in names), dtype=np.int64, count=len(names))

    labels, category_names = _categories(categories)
    checked_ids = _ids(ids, len(documents))
    return parts_from_arrays(
        tokens=codes,
        offsets=offsets,
        vocabulary=vocabulary,
        title_lengths=title_lengths,
        author_ids=author_ids,
        author_offsets=author_offsets,
        author_names=author_names,
        categories=labels,
        category_names=category_names,
        citations=_citations(citations, checked_ids if ids is not None else None),
        ids=checked_ids,
        titles=titles,
        metadata=metadata,
        preparation=preparation,
    )


def _flatten(rows: Sequence[Any], name: str, content: str) -> tuple[Any, np.ndarray]:
    """Concatenate rows, as an array if all rows are arrays, otherwise as a list."""
    for position, row in enumerate(rows):
        if isinstance(row, str | bytes) or not hasattr(row, "__len__"):
            raise CorpusError(
                f"{name}[{position}] must be a list of {content}; got {row!r} "
                f"of type {type(row).__name__}."
            )
    lengths = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
    if rows and all(isinstance(row, np.ndarray) and row.dtype.kind in "iu" for row in rows):
        return np.concatenate(rows), offsets
    return list(chain.from_iterable(rows)), offsets


def _unique_strings(values: list[Any], offsets: np.ndarray, what: str) -> list[str]:
    """Return distinct strings in order of first use; errors name the document."""
    try:
        unique = list(dict.fromkeys(values))
    except TypeError:
        unique = values
    for value in unique:
        if not isinstance(value, str) or not value:
            position = next(i for i, v in enumerate(values) if v is value)
            document = int(np.searchsorted(offsets, position, side="right")) - 1
            raise CorpusError(
                f"Document {document} has {value!r} as {what}; it must be a non-empty string."
            )
    return unique


def _encode(
    words: list[Any], offsets: np.ndarray, vocabulary: Sequence[str] | None
) -> tuple[np.ndarray, list[str]]:
    """Replace words by their ids in the vocabulary, which is collected if not given."""
    used = _unique_strings(words, offsets, "a word")
    table = used
    if vocabulary is not None:
        table = check_strings(vocabulary, "vocabulary", size=len(vocabulary), per="word")
    place = {word: i for i, word in enumerate(table)}
    unknown = next((word for word in used if word not in place), None)
    if unknown is not None:
        document = int(np.searchsorted(offsets, words.index(unknown), side="right")) - 1
        raise CorpusError(
            f"Document {document} has the word {unknown!r}, which is not in the vocabulary. Add it "
            "to the vocabulary, remove it from the document, or omit the vocabulary to have it "
            "collected."
        )
    return np.fromiter(map(place.__getitem__, words), dtype=np.int64, count=len(words)), table


def _categories(values: Iterable[Any] | None) -> tuple[np.ndarray | None, list[str] | None]:
    """Turn labels into codes: strings by first use, integers in ascending order (-1: missing)."""
    if values is None:
        return None, None
    labels = values.tolist() if isinstance(values, np.ndarray) else list(values)
    kinds = {type(v) for v in labels if v is not None}
    if kinds == {int}:
        labels = [None if v == -1 else v for v in labels]
        table = sorted({v for v in labels if v is not None})
        if table and table[0] < 0:
            raise CorpusError(
                f"A category must not be negative (-1 means missing); got {table[0]}."
            )
    elif all(issubclass(kind, str) for kind in kinds):
        table = list(dict.fromkeys(v for v in labels if v is not None))
    else:
        bad = next(i for i, v in enumerate(labels) if v is not None and not isinstance(v, str))
        raise CorpusError(
            "categories must be all strings or all integers (None if missing); got "
            f"{labels[bad]!r} for document {bad}."
        )
    place = {label: i for i, label in enumerate(table)} | {None: -1}
    codes = np.fromiter((place[v] for v in labels), dtype=np.int64, count=len(labels))
    return codes, [str(label) for label in table]


def _citations(citations: Iterable[Any] | None, ids: list[str] | None) -> Any:
    """Turn pairs of ids into pairs of positions; pairs of positions pass through."""
    if citations is None or (isinstance(citations, np.ndarray) and citations.dtype.kind in "iu"):
        return citations
    pairs = list(citations)
    for position, pair in enumerate(pairs):
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise CorpusError(f"Citation {position} must be a (citing, cited) pair; got {pair!r}.")
    if not any(isinstance(end, str) for pair in pairs for end in pair):
        return pairs
    if ids is None:
        raise CorpusError(
            f"Citations are given by id, such as {pairs[0]!r}, but ids are missing. Pass ids, or "
            "give citations as positions of documents."
        )
    place = {name: i for i, name in enumerate(ids)}
    flat = list(chain.from_iterable(pairs))
    unknown = next((i for i, end in enumerate(flat) if end not in place), None)
    if unknown is not None:
        raise CorpusError(
            f"Citation {unknown // 2}, {tuple(pairs[unknown // 2])!r}, contains {flat[unknown]!r}, "
            "which is not the id of a document. Omit citations of unknown documents."
        )
    return np.array([place[end] for end in flat], dtype=np.int64).reshape(-1, 2)


def _table(
    name: str, prefix: str, names: Sequence[str] | None, size: int | None, used: np.ndarray
) -> list[str]:
    """Return the names of a table, generated if not given."""
    if names is not None:
        table = check_strings(names, name, size=len(names), per="entry", unique=True)
        if size is not None and size != len(table):
            raise CorpusError(f"{name} has {len(table)} entries, but the given size is {size}.")
        return table
    if size is None:
        size = int(used.max(initial=-1)) + 1
    elif size < 0:
        raise CorpusError(f"The size of {name} must not be negative; got {size}.")
    return [f"{prefix}{i}" for i in range(size)]


def _by_document(values: Any, name: str, documents: int, *, missing: int) -> np.ndarray:
    if values is None:
        return np.full(documents, missing, dtype=np.int64)
    array = as_integers(values, name)
    if len(array) != documents:
        raise CorpusError(
            f"{name} must have one entry per document, {documents} in total; got {len(array)}."
        )
    return array


def _ids(ids: Sequence[str] | None, documents: int) -> list[str]:
    if ids is None:
        return [str(i) for i in range(documents)]
    return check_strings(ids, "ids", size=documents, per="document", unique=True)


def _titles(titles: Sequence[str | None] | None, documents: int) -> list[str | None]:
    if titles is None:
        return [None] * documents
    return check_strings(titles, "titles", size=documents, per="document", optional=True)


def _metadata(metadata: Mapping[str, Any] | None, documents: int) -> dict[str, list[Any]]:
    columns = {}
    for name, values in (metadata or {}).items():
        if not isinstance(name, str) or not name or name in {"id", "title"}:
            raise CorpusError(
                f"A metadata column cannot be named {name!r}; use a non-empty string other than "
                "'id' and 'title', which have their own parameters (ids, titles)."
            )
        columns[name] = metadata_column(values, name, documents)
    return columns


def _plain_json(preparation: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a copy as it would be read back from a manifest."""
    try:
        text = json.dumps(dict(preparation or {}), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise CorpusError(f"preparation must be JSON-serialisable; {error}.") from error
    plain: dict[str, Any] = json.loads(text)
    return plain
