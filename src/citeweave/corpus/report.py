"""Counts of what was removed while a corpus was built, and its summary figures."""

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from citeweave.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citeweave.corpus.corpus import Corpus

__all__ = ["CorpusReport", "percent_repeated", "summarise"]


@dataclass(frozen=True)
class CorpusReport:
    """Counts of what was removed from a corpus or is missing in it.

    Attributes
    ----------
    self_citations
        Self-citations that were removed.
    duplicate_citations
        Repetitions of a (citing, cited) pair that were removed.
    outside_citations
        Citations to or from documents outside a subset, removed when the subset was taken.
    duplicate_authors
        Repetitions of an author within one document that were removed.
    empty_documents
        Documents without words (they are kept).
    documents_without_authors, documents_without_category, documents_without_citations
        Documents that lack this part (they are kept); a document has citations if it cites or is
        cited.

    Examples
    --------
    >>> from citeweave import Corpus
    >>> corpus = Corpus.from_lists(tokens=[["a"], []], citations=[(0, 1), (0, 1), (1, 1)])
    >>> corpus.report.duplicate_citations, corpus.report.self_citations
    (1, 1)
    >>> corpus.report.empty_documents
    1
    """

    self_citations: int = 0
    duplicate_citations: int = 0
    outside_citations: int = 0
    duplicate_authors: int = 0
    empty_documents: int = 0
    documents_without_authors: int = 0
    documents_without_category: int = 0
    documents_without_citations: int = 0

    def as_dict(self) -> dict[str, int]:
        """Return the counts as a plain dictionary.

        Examples
        --------
        >>> from citeweave import Corpus
        >>> corpus = Corpus.from_lists(tokens=[["a"], []], citations=[(0, 1), (1, 1)])
        >>> corpus.report.as_dict()["self_citations"]
        1
        """
        return asdict(self)

    @classmethod
    def from_dict(cls, counts: "Mapping[str, Any]") -> Self:
        """Create a report from `as_dict`; unknown or non-integer entries are errors.

        Examples
        --------
        >>> from citeweave.corpus import CorpusReport
        >>> CorpusReport.from_dict({"self_citations": 2}).self_citations
        2
        """
        known = {field.name for field in fields(cls)}
        for name, value in counts.items():
            if name not in known or type(value) is not int:
                raise CorpusError(
                    f"A corpus report cannot contain {name!r}: {value!r}; it contains integers "
                    f"named {', '.join(sorted(known))}."
                )
        return cls(**counts)


def percent_repeated(tokens: np.ndarray, offsets: np.ndarray, vocabulary_size: int) -> float:
    """Return the mean percentage of a document's distinct words that occur more than once in it.

    This is the last column of the paper's tbl:datasets; documents without words are ignored.
    """
    return _mean(*_repeated_shares(tokens, offsets, vocabulary_size))


def _mean(total: float, documents: int) -> float:
    return 100.0 * total / documents if documents else 0.0


def _repeated_shares(
    tokens: np.ndarray, offsets: np.ndarray, vocabulary_size: int
) -> tuple[float, int]:
    """Return the sum of the shares of repeated words, and the number of documents with words."""
    if len(tokens) == 0:
        return 0.0, 0
    lengths = np.diff(offsets)
    documents = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    pairs = documents * vocabulary_size + tokens
    pairs.sort()
    starts = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1])))
    repeated = np.diff(np.append(starts, len(pairs))) > 1
    owner = pairs[starts] // vocabulary_size
    unique_words = np.bincount(owner, minlength=len(lengths))
    repeated_words = np.bincount(owner, weights=repeated, minlength=len(lengths))
    present = unique_words > 0
    shares = repeated_words[present] / unique_words[present]
    return float(shares.sum()), len(shares)


def summarise(corpus: "Corpus") -> dict[str, Any]:
    """Return the figures of the paper's tbl:datasets and counts of missing data."""
    report = corpus.report
    used = np.zeros(corpus.vocabulary_size, dtype=bool)
    shares, with_words = 0.0, 0
    for tokens, offsets in corpus.token_blocks():
        used[tokens] = True
        total, some = _repeated_shares(tokens, offsets, corpus.vocabulary_size)
        shares, with_words = shares + total, with_words + some
    return {
        "documents": corpus.n_documents,
        "tokens": corpus.n_tokens,
        "vocabulary": corpus.vocabulary_size,
        "vocabulary_used": int(np.count_nonzero(used)),
        "words_per_document": corpus.n_tokens / corpus.n_documents,
        "percent_repeat": _mean(shares, with_words),
        "authors": corpus.n_authors,
        "authors_used": int(np.count_nonzero(np.bincount(corpus.author_ids))),
        "categories": corpus.n_categories,
        "citations": corpus.n_citations,
        "documents_without_words": report.empty_documents,
        "documents_without_authors": report.documents_without_authors,
        "documents_without_category": report.documents_without_category,
        "documents_without_citations": report.documents_without_citations,
    }
