"""Results of a fold-in: topics and groups of new documents, and how they were found."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from citeweave.errors import ParameterError
from citeweave.model.groups import KINDS, Groups
from citeweave.model.placing import columns_of

__all__ = ["FoldIn", "LikelyGroup", "describe"]


class LikelyGroup(NamedTuple):
    """A group that a document may belong to."""

    kind: str
    """author, category, unknown, or corpus for the root."""
    name: str
    probability: float


@dataclass(frozen=True, eq=False, repr=False)
class FoldIn:
    """Topics of documents that the model was not fitted to.

    Attributes
    ----------
    doc_topic : ndarray of float32, shape (D, K)
        theta' (the document level that citations see).
    doc_word_topic : ndarray of float32, shape (D, K)
        theta (the last document level); equal to `doc_topic` if the model has only one.
    group_posterior : sparse csr_array, shape (D, B + 1)
        Probability that the document belongs to each group. Columns are the rows of
        `SCNTM.groups_`, then those of the levels above, if any; the last is the root.
    used : ndarray of bool, shape (tokens of the new corpus,)
        Tokens used for the estimates. Only the others may be scored.
    known : ndarray of bool, shape (tokens of the new corpus,)
        Tokens whose words are in the model's vocabulary.
    word : ndarray of int64, shape (tokens of the new corpus,)
        Index of each token in the model's vocabulary, -1 if unseen.
    unseen_words : ndarray of int64, shape (D,)
        Number of tokens of each document that are not in the vocabulary.
    common_unseen : list of (str, int)
        The most frequent of these.
    unseen_authors : int
        Number of authors of the new documents without a training document.
    matched_citations : int
        Number of citations to training documents that were used.
    ignored_citations : int
        Number of citations of the new corpus that do not lead to a training document.
    category : ndarray of int32, shape (D,), or None
        Most probable category (id in the training corpus); None if the model has learned none. For
        a document below a category, that category; otherwise it is inferred from words and
        citations, with the labels of the author's training documents as prior.
    category_probability : ndarray of float32, shape (D,), or None
        Its probability.
    protocol : dict
        Description of what was used and how.
    burst_topic, burst_word : ndarray, or None
        For ``method="gibbs"``: theta and phi' as a further word of the document sees them (see
        `citeweave.foldin.Means`); `burst_word` has one entry per token, 0 if it was not used.
    levels : tuple of Groups
        The nodes behind the columns of `group_posterior`, upper level first.

    Examples
    --------
    >>> import citeweave
    >>> found = citeweave.example_model().fold_in(citeweave.example_corpus().subset([0, 1]))
    >>> found.doc_topic.shape
    (2, 3)
    """

    doc_topic: np.ndarray
    doc_word_topic: np.ndarray
    group_posterior: Any
    used: np.ndarray
    known: np.ndarray
    word: np.ndarray
    unseen_words: np.ndarray
    common_unseen: list[tuple[str, int]]
    unseen_authors: int
    matched_citations: int
    ignored_citations: int
    category: np.ndarray | None
    category_probability: np.ndarray | None
    protocol: dict[str, Any]
    burst_topic: np.ndarray | None = field(default=None)
    burst_word: np.ndarray | None = field(default=None)
    levels: tuple[Groups, ...] = field(default=())

    @property
    def labels(self) -> np.ndarray:
        """Dominant topic of each document [D]."""
        return np.asarray(self.doc_topic.argmax(axis=1))

    @property
    def category_names(self) -> list[str | None]:
        """Name of each document's most probable category, None if there is none."""
        corpus = self.levels[-1].corpus if self.levels else None
        if self.category is None or corpus is None:
            return [None] * len(self.doc_topic)
        names = corpus.category_names
        return [names[c] for c in self.category.tolist()]

    def likely_groups(self, document: int, n: int = 3) -> list[LikelyGroup]:
        """Return the most probable groups of one document, the likeliest first.

        Examples
        --------
        >>> import citeweave
        >>> found = citeweave.example_model().fold_in(citeweave.example_corpus().subset([0, 1]))
        >>> len(found.likely_groups(0, n=2)) <= 2
        True
        """
        if not 0 <= document < len(self.doc_topic):
            raise ParameterError(
                f"There is no document {document}; positions run from 0 to "
                f"{len(self.doc_topic) - 1}."
            )
        rows = self.group_posterior
        part = slice(rows.indptr[document], rows.indptr[document + 1])
        columns, values = rows.indices[part], rows.data[part]
        order = np.argsort(-values, kind="stable")[:n]
        return [self._group(int(columns[i]), float(values[i])) for i in order]

    def group_names(self, document: int, n: int = 3) -> list[str]:
        """Return the names of `likely_groups`.

        Examples
        --------
        >>> import citeweave
        >>> found = citeweave.example_model().fold_in(citeweave.example_corpus().subset([0, 1]))
        >>> len(found.group_names(0, n=1))
        1
        """
        return [group.name for group in self.likely_groups(document, n)]

    def _group(self, column: int, probability: float) -> LikelyGroup:
        starts = columns_of(self.levels)
        for number, groups in enumerate(self.levels):
            row = column - starts[number]
            if 0 <= row < len(groups):
                return LikelyGroup(KINDS[groups.kind[row]], groups.names[row], probability)
        return LikelyGroup("corpus", "corpus", probability)

    def __repr__(self) -> str:
        """Describe how much was folded in and how."""
        return (
            f"FoldIn({len(self.doc_topic):,} documents, {int(self.used.sum()):,} words used, "
            f"{int(self.unseen_words.sum()):,} unseen, {self.matched_citations:,} citations, "
            f"method {self.protocol['method']!r}, labels {self.protocol['labels']!r})"
        )


_WORDS_USED = {
    "all": "all words of each document",
    "title": "the words of titles",
    "none": "no words",
}
_LABELS_USED = {
    "hidden": "labels hidden (categories of new documents are never read; groups are inferred)",
    "seen": "labels seen (the paper's protocol)",
}
_METHOD_USED = {
    "paper": "the paper's: independent topics, tables half the customers (rounded up), mean of "
    "Monte-Carlo samples",
    "gibbs": "collapsed Gibbs sampling of the document's own levels below fixed nu and phi",
}


def describe(
    spec_name: str,
    concentrations: dict[str, float],
    *,
    words: Any,
    citations: Any,
    method: str,
    labels: str,
    samples: int,
    burn_in: int,
    seed: int,
    inferred: int,
    exact: bool,
) -> dict[str, Any]:
    """Describe how a fold-in was done."""
    share = f"a random share of {words} of each document's words"
    used = {False: "none", True: "to training documents", "both": "to and from training documents"}
    text = {
        "words_used": _WORDS_USED[words] if isinstance(words, str) else share,
        "citations_used": used[citations],
        "labels_used": _LABELS_USED[labels],
        "method_used": "exact: words are independent given nu and phi"
        if exact
        else _METHOD_USED[method],
    }
    numbers_used: dict[str, Any] = {
        "model": spec_name,
        "method": method,
        "words": words,
        "labels": labels,
        "citations": citations,
        "samples": int(samples),
        "burn_in": int(burn_in) if method == "gibbs" else 0,
        "seed": int(seed),
        "groups_inferred": inferred,
        "concentrations": concentrations,
    }
    return {**numbers_used, **text}
