"""Subsets of a corpus, and the split into training and test documents."""

import numbers
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.corpus.build import Parts, freeze, missing_counts
from citeweave.corpus.report import CorpusReport
from citeweave.corpus.text import SubsetText
from citeweave.errors import CorpusError, ParameterError
from citeweave.naming import parameter

if TYPE_CHECKING:
    from citeweave.corpus.corpus import Corpus

__all__ = ["Links", "Split", "split_citations", "split_corpus", "subset_parts"]


@dataclass(frozen=True)
class Links:
    """Citations between test and training documents, for folding test documents in.

    Attributes
    ----------
    citing : ndarray of int32, shape (n, 2)
        Rows (test position, train position) in which the test document cites the training document.
    cited : ndarray of int32, shape (n, 2)
        Rows (test position, train position) in which the training document cites the test document.

    Examples
    --------
    >>> import citeweave
    >>> links = citeweave.example_corpus().split(test=0.25, seed=0).links
    >>> links.citing.shape[1], links.cited.shape[1]
    (2, 2)
    """

    citing: np.ndarray
    cited: np.ndarray


@dataclass(frozen=True)
class Split:
    """A corpus in two parts; `train_index` and `test_index` are positions in the whole corpus.

    Examples
    --------
    >>> import citeweave
    >>> parts = citeweave.example_corpus().split(test=0.25, seed=0)
    >>> parts.train.n_documents, parts.test.n_documents, len(parts.test_index)
    (60, 20, 20)
    """

    train: "Corpus"
    test: "Corpus"
    train_index: np.ndarray
    test_index: np.ndarray
    links: Links


def gather_rows(
    values: np.ndarray, offsets: np.ndarray, index: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gather rows of a ragged array: concatenate `values[offsets[i]:offsets[i + 1]]` over i."""
    lengths = (offsets[1:] - offsets[:-1])[index]
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
    shift = np.repeat(offsets[index] - starts[:-1], lengths)
    return values[np.arange(starts[-1]) + shift], starts


def subset_parts(corpus: "Corpus", index: Any) -> Parts:
    """Select documents by position, in the given order, or by a mask; see `Corpus.subset`."""
    chosen = _positions(index, corpus.n_documents)
    tokens, offsets = gather_rows(corpus.tokens, corpus.offsets, chosen)
    author_ids, author_offsets = gather_rows(corpus.author_ids, corpus.author_offsets, chosen)
    place = np.full(corpus.n_documents, -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    ends = place[corpus.citations]
    inside = ends[(ends >= 0).all(axis=1)]
    citations = inside[np.lexsort((inside[:, 1], inside[:, 0]))]
    categories = corpus.categories[chosen]
    report = CorpusReport(
        outside_citations=corpus.n_citations - len(citations),
        **missing_counts(offsets, author_offsets, categories, citations),
    )
    return Parts(
        tokens=freeze(tokens, np.int32),
        offsets=freeze(offsets, np.int64),
        vocabulary_size=corpus.vocabulary_size,
        title_lengths=freeze(corpus.title_lengths[chosen], np.int32),
        author_ids=freeze(author_ids, np.int32),
        author_offsets=freeze(author_offsets, np.int64),
        n_authors=corpus.n_authors,
        categories=freeze(categories, np.int32),
        n_categories=corpus.n_categories,
        citations=freeze(citations, np.int32),
        report=report,
        preparation=corpus.preparation,
        text=SubsetText(corpus.text, chosen),
    )


def split_corpus(corpus: "Corpus", *, test: float, seed: int | None) -> Split:
    """Split documents by a random permutation; see `Corpus.split`."""
    if not isinstance(test, numbers.Real) or isinstance(test, bool) or not 0 < test < 1:
        raise ParameterError(
            f"The {parameter('test', 'split')} must be a number between 0 and 1, the share of test "
            f"documents. Got {test!r} instead."
        )
    if seed is not None and (not isinstance(seed, numbers.Integral) or seed < 0):
        raise ParameterError(
            f"The {parameter('seed', 'split')} must be an integer of at least 0 or None. "
            f"Got {seed!r} instead."
        )
    documents = corpus.n_documents
    if documents < 2:
        raise CorpusError("A corpus of one document cannot be split; it needs at least two.")
    size = min(max(round(float(test) * documents), 1), documents - 1)
    order = np.random.default_rng(seed).permutation(documents)
    test_index, train_index = np.sort(order[:size]), np.sort(order[size:])

    position = np.empty(documents, dtype=np.int64)
    position[test_index] = np.arange(size)
    position[train_index] = np.arange(documents - size)
    in_test = np.zeros(documents, dtype=bool)
    in_test[test_index] = True
    citing, cited = corpus.citations[:, 0], corpus.citations[:, 1]
    outward = in_test[citing] & ~in_test[cited]
    inward = ~in_test[citing] & in_test[cited]
    links = Links(
        citing=_pairs(position[citing[outward]], position[cited[outward]]),
        cited=_pairs(position[cited[inward]], position[citing[inward]]),
    )
    return Split(
        train=corpus.subset(train_index),
        test=corpus.subset(test_index),
        train_index=freeze(train_index, np.int64),
        test_index=freeze(test_index, np.int64),
        links=links,
    )


def _pairs(test: np.ndarray, train: np.ndarray) -> np.ndarray:
    order = np.lexsort((train, test))
    return freeze(np.stack([test[order], train[order]], axis=1), np.int32)


def split_citations(
    corpus: "Corpus", share: float, rng: np.random.Generator
) -> tuple["Corpus", np.ndarray]:
    """Hold out a random share of the citations; return the rest and the held-out rows.

    If two documents cite each other, both citations are held out or both are kept, so that the rest
    does not reveal them. All documents are kept. At least one pair of linked documents is held out,
    and at least one is kept.
    """
    low, high = np.sort(corpus.citations.astype(np.int64), axis=1).T
    keys, place = np.unique(low * corpus.n_documents + high, return_inverse=True)
    if len(keys) < 2:
        raise CorpusError(
            f"The corpus has citations between {len(keys)} pairs of documents; to hold some out it "
            "needs at least 2."
        )
    count = min(max(round(float(share) * len(keys)), 1), len(keys) - 1)
    chosen = np.zeros(len(keys), dtype=bool)
    chosen[rng.permutation(len(keys))[:count]] = True
    out = chosen[place]
    kept = corpus.citations[~out]
    kept.flags.writeable = False
    linked = np.zeros(corpus.n_documents, dtype=bool)
    linked[kept.ravel()] = True
    report = replace(corpus.report, documents_without_citations=int(np.count_nonzero(~linked)))
    train = replace(corpus, citations=kept, report=report, _stored_fingerprint=None)
    return train, corpus.citations[out]


def _positions(index: Any, documents: int) -> np.ndarray:
    array = np.asarray(index)
    if array.dtype == np.bool_ and array.shape == (documents,):
        array = np.flatnonzero(array)
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) == 0:
        raise CorpusError(
            "A subset needs a non-empty list of document positions, or a mask with one entry per "
            f"document ({documents}); got {index!r}."
        )
    chosen = array.astype(np.int64)
    if chosen.min() < 0 or chosen.max() >= documents:
        bad = chosen[(chosen < 0) | (chosen >= documents)][0]
        raise CorpusError(
            f"Position {bad} of a subset is outside the corpus, which has {documents} documents."
        )
    repeated = np.flatnonzero(np.bincount(chosen) > 1)
    if len(repeated):
        raise CorpusError(f"Position {repeated[0]} occurs more than once in a subset.")
    return chosen
