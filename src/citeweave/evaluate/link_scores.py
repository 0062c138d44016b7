"""Scores of pairs of documents: of SCNTM, of PMTLM, and of the likeness of their words.

Each is a product of something of the citing with something of the cited document, so a row a
document is all that is stored, and scores are made for the pairs or rows asked for.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.evaluate._arrays import as_pairs

if TYPE_CHECKING:
    from citeweave.baselines import PMTLM
    from citeweave.model import SCNTM

__all__ = ["LinkScores", "pmtlm_scores", "scntm_scores", "tfidf_scores"]

_CHUNK_PAIRS = 50_000


@dataclass(frozen=True)
class LinkScores:
    """Scores s_ij = citing_i . cited_j of all pairs of documents, made when asked for.

    Attributes
    ----------
    citing, cited : ndarray or sparse csr_array, shape (D, K)
        What each document brings as the citing, and as the cited one.

    Examples
    --------
    >>> import numpy as np
    >>> scores = LinkScores(np.eye(3), np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8]]))
    >>> scores.pairs([(0, 1), (2, 0)]).tolist(), scores.rows([1]).tolist()
    ([3.0, 2.0], [[1.0, 4.0, 7.0]])
    """

    citing: Any
    cited: Any

    def __post_init__(self) -> None:
        """Check that the two belong together and are finite."""
        if self.citing.shape != self.cited.shape or len(self.citing.shape) != 2:
            raise ParameterError(
                "'citing' and 'cited' must have one shape, (documents, features). "
                f"Got {self.citing.shape} and {self.cited.shape} instead."
            )
        for name in ("citing", "cited"):
            side: Any = getattr(self, name)
            values = side if isinstance(side, np.ndarray) else side.data
            if not np.isfinite(values).all():
                raise ParameterError(
                    f"'{name}' must hold finite numbers. Got "
                    f"{np.count_nonzero(~np.isfinite(values))} values that are not."
                )

    @property
    def n_documents(self) -> int:
        """Number of documents, D."""
        return int(self.citing.shape[0])

    def pairs(self, pairs: Any) -> np.ndarray:
        """Return the scores of pairs (citing, cited), shape (n,)."""
        given = as_pairs(pairs, self.n_documents, "pairs")
        out = np.empty(len(given))
        for begin in range(0, len(given), _CHUNK_PAIRS):
            i, j = given[begin : begin + _CHUNK_PAIRS].T
            product = self.citing[i] * self.cited[j]
            out[begin : begin + _CHUNK_PAIRS] = np.asarray(product.sum(axis=1)).ravel()
        return out

    def rows(self, citing: Any) -> np.ndarray:
        """Return the scores of some citing documents with all others, dense, shape (n, D)."""
        found = self.citing[np.asarray(citing)] @ self.cited.T
        dense = found if isinstance(found, np.ndarray) else found.toarray()
        return np.asarray(dense, dtype=np.float64)


def scntm_scores(model: "SCNTM") -> LinkScores:
    """Return the rates lambda+_i lambda-_j sum_k lambdaT_k theta'_ik theta'_jk of a fitted SCNTM.

    From posterior means; the mean of the product would need every kept sample.

    Parameters
    ----------
    model : SCNTM
        Fitted, of a kind with citations.
    """
    theta = np.asarray(model.doc_topic_, dtype=np.float64)
    return LinkScores(
        citing=model.cite_propensity_[:, None] * theta * model.topic_scale_,
        cited=model.cited_propensity_[:, None] * theta,
    )


def pmtlm_scores(model: "PMTLM") -> LinkScores:
    """Return the rates S_i S_j sum_z eta_z theta_iz theta_jz of a fitted PMTLM."""
    carried = model.popularity_[:, None] * model.doc_topic_
    return LinkScores(citing=carried * model.topic_scale_, cited=carried)


def tfidf_scores(corpus: Corpus) -> LinkScores:
    """Return the cosines of the documents' tf-idf vectors, 0 for one without words.

    A word weighs its count times log(D / df) + 1, with df the documents that hold it.
    """
    counts: Any = sparse.csr_array(
        (
            np.ones(corpus.n_tokens),
            corpus.tokens.astype(np.int64),
            corpus.offsets.astype(np.int64),
        ),
        shape=(corpus.n_documents, corpus.vocabulary_size),
    )
    counts.sum_duplicates()
    held = np.bincount(counts.indices, minlength=corpus.vocabulary_size)
    weight = np.log(corpus.n_documents / np.maximum(held, 1)) + 1.0
    counts.data *= weight[counts.indices]
    rows = np.repeat(np.arange(corpus.n_documents), np.diff(counts.indptr))
    length = np.sqrt(np.bincount(rows, weights=counts.data**2, minlength=corpus.n_documents))
    counts.data /= length[rows]
    return LinkScores(citing=counts, cited=counts)
