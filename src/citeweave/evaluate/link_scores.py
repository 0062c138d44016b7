"""Scores of pairs of documents: rates of models, similarity of topics and of words.

Each is a product of a vector of the citing and a vector of the cited document. Only these vectors
are stored; scores are computed for requested pairs or rows.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.evaluate._arrays import as_pairs
from citeweave.model import SCNTM
from citeweave.model.unseen import count_words

if TYPE_CHECKING:
    from citeweave.model.topic_model import TopicModel

__all__ = [
    "LinkScores",
    "model_scores",
    "pmtlm_scores",
    "scntm_scores",
    "tfidf_scores",
    "topic_scores",
]

_CHUNK_PAIRS = 50_000


@runtime_checkable
class PopularityModel(Protocol):
    """A fitted model with rates of undirected links, such as PMTLM."""

    @property
    def doc_topic_(self) -> np.ndarray:
        """Topics theta of the documents [D, K]."""
        ...

    @property
    def popularity_(self) -> np.ndarray:
        """Popularity S of each document [D]."""
        ...

    @property
    def topic_scale_(self) -> np.ndarray:
        """Rate eta of links within each topic [K]."""
        ...


@dataclass(frozen=True)
class LinkScores:
    """Scores s_ij = citing_i . cited_j of all pairs of documents, computed on demand.

    Attributes
    ----------
    citing, cited : ndarray or sparse csr_array, shapes (D, K) and (D', K)
        Vectors of each document as the citing and as the cited one. Both are of the same documents,
        or of new documents that cite those of the training corpus.

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
        """Check that the two match and are finite."""
        if self.citing.shape[1:] != self.cited.shape[1:] or len(self.citing.shape) != 2:
            raise ParameterError(
                "'citing' and 'cited' must have the shapes (documents, features) and one number of "
                "features. "
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
        """Number of documents that may be cited, D'."""
        return int(self.cited.shape[0])

    def pairs(self, pairs: Any) -> np.ndarray:
        """Return the scores of pairs (citing, cited), shape (n,).

        Examples
        --------
        >>> import numpy as np
        >>> scores = LinkScores(np.eye(2), np.array([[0.0, 1.0], [2.0, 3.0]]))
        >>> scores.pairs([(0, 1), (1, 1)]).tolist()
        [2.0, 3.0]
        """
        citing = int(self.citing.shape[0])
        given = as_pairs(pairs, citing, "pairs", cited=self.n_documents)
        out = np.empty(len(given))
        for begin in range(0, len(given), _CHUNK_PAIRS):
            i, j = given[begin : begin + _CHUNK_PAIRS].T
            product = self.citing[i] * self.cited[j]
            out[begin : begin + _CHUNK_PAIRS] = np.asarray(product.sum(axis=1)).ravel()
        return out

    def rows(self, citing: Any) -> np.ndarray:
        """Return the scores of some citing documents with all others, dense, shape (n, D').

        Examples
        --------
        >>> import numpy as np
        >>> scores = LinkScores(np.eye(2), np.array([[0.0, 1.0], [2.0, 3.0]]))
        >>> scores.rows([1]).tolist()
        [[1.0, 3.0]]
        """
        found = self.citing[np.asarray(citing)] @ self.cited.T
        dense = found if isinstance(found, np.ndarray) else found.toarray()
        return np.asarray(dense, dtype=np.float64)


def scntm_scores(
    model: SCNTM, new: np.ndarray | None = None, *, propensities: bool = True
) -> LinkScores:
    """Return the rates lambda+_i lambda-_j sum_k lambdaT_k theta'_ik theta'_jk of a fitted SCNTM.

    Computed from posterior means; the mean of the product would require every kept sample.

    Parameters
    ----------
    model : SCNTM
        Fitted, with citations.
    new : ndarray, shape (D_new, K), optional
        Topics theta' of new documents, which are then the citing documents, all with lambda+ = 1.
    propensities : bool
        If False, lambda+ = lambda- = 1: what the topics alone predict, for pairs with matched
        degrees.

    Returns
    -------
    LinkScores

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.evaluate import scntm_scores
    >>> scores = scntm_scores(citeweave.example_model())
    >>> scores.n_documents, scores.rows([0, 1]).shape
    (80, (2, 80))
    """
    theta = np.asarray(model.doc_topic_, dtype=np.float64)
    if not propensities:
        citing = theta if new is None else np.asarray(new, np.float64)
        return LinkScores(citing=citing * model.topic_scale_, cited=theta)
    cited = model.cited_propensity_[:, None] * theta
    if new is not None:
        return LinkScores(citing=np.asarray(new, np.float64) * model.topic_scale_, cited=cited)
    return LinkScores(
        citing=model.cite_propensity_[:, None] * theta * model.topic_scale_, cited=cited
    )


def pmtlm_scores(
    model: PopularityModel, new: np.ndarray | None = None, *, propensities: bool = True
) -> LinkScores:
    """Return the rates S_i S_j sum_z eta_z theta_iz theta_jz of a fitted PMTLM.

    Parameters
    ----------
    model : PMTLM
        Fitted.
    new : ndarray, shape (D_new, K), optional
        Topics of new documents, which are then the citing documents, all with S = 1.
    propensities : bool
        If False, all documents have S = 1.

    Returns
    -------
    LinkScores

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.baselines import PMTLM
    >>> from citeweave.evaluate import pmtlm_scores
    >>> model = PMTLM(topics=3, iterations=20, seed=1).fit(citeweave.example_corpus())
    >>> pmtlm_scores(model).pairs([(0, 1), (2, 3)]).shape
    (2,)
    """
    theta = np.asarray(model.doc_topic_, np.float64)
    carried = model.popularity_[:, None] * theta if propensities else theta
    citing = carried if new is None else np.asarray(new, np.float64)
    return LinkScores(citing=citing * model.topic_scale_, cited=carried)


def topic_scores(model: "TopicModel", new: np.ndarray | None = None) -> LinkScores:
    """Return sum_k theta_ik theta_jk, the probability of a common topic, for a model without rates.

    Parameters
    ----------
    model : SCNTM or baseline
        Fitted.
    new : ndarray, shape (D_new, K), optional
        Topics of new documents, which are then the citing documents.

    Returns
    -------
    LinkScores

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.evaluate import topic_scores
    >>> scores = topic_scores(citeweave.example_model()).rows([0])
    >>> scores.shape, bool(scores.max() <= 1)
    ((1, 80), True)
    """
    theta = np.asarray(model.doc_topic_, dtype=np.float64)
    return LinkScores(citing=theta if new is None else np.asarray(new, np.float64), cited=theta)


def model_scores(
    model: "TopicModel", new: np.ndarray | None = None, *, propensities: bool = True
) -> tuple[LinkScores, str]:
    """Return the scores of citations that a model itself defines, and a description of them.

    Parameters
    ----------
    model : SCNTM or baseline
        Fitted.
    new : ndarray, shape (D_new, K), optional
        Topics of new documents, which are then the citing documents.
    propensities : bool
        Whether to include the propensities of documents to cite and to be cited.

    Returns
    -------
    LinkScores
    str
        Description of the scores.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.evaluate import model_scores
    >>> scores, how = model_scores(citeweave.example_model())
    >>> how
    'rate of citations at posterior means'
    """
    alike = "" if propensities else ", with all documents equal except for their topics"
    if isinstance(model, SCNTM) and model.spec_.citations is not None:
        rates = scntm_scores(model, new, propensities=propensities)
        return rates, f"rate of citations at posterior means{alike}"
    if isinstance(model, PopularityModel):
        rates = pmtlm_scores(model, new, propensities=propensities)
        return rates, f"rate of links of the fitted PMTLM{alike}"
    return topic_scores(model, new), "similarity of topics (the model has no rate of citations)"


def tfidf_scores(corpus: Corpus, new: Corpus | None = None) -> LinkScores:
    """Return the cosines of the documents' tf-idf vectors; 0 for a document without words.

    The weight of a word is its count times log(D / df) + 1, with df the number of documents that
    contain it.

    Parameters
    ----------
    corpus : Corpus
        The documents that are counted and may be cited.
    new : Corpus, optional
        The citing documents, if they are others; words are matched by spelling.

    Returns
    -------
    LinkScores

    Examples
    --------
    >>> from citeweave import Corpus
    >>> from citeweave.evaluate import tfidf_scores
    >>> corpus = Corpus.from_lists(tokens=[["soil", "crop"], ["crop", "soil"], ["cave"]])
    >>> tfidf_scores(corpus).rows([0]).round(6).tolist()
    [[1.0, 1.0, 0.0]]
    """
    counts = count_words(corpus)
    held = np.bincount(counts.indices, minlength=corpus.vocabulary_size)
    weight = np.log(corpus.n_documents / np.maximum(held, 1)) + 1.0
    cited = _unit_rows(counts, weight)
    citing = cited if new is None else _unit_rows(count_words(new, corpus), weight)
    return LinkScores(citing=citing, cited=cited)


def _unit_rows(counts: Any, weight: np.ndarray) -> Any:
    """Weigh the words of sparse counts and scale each document's vector to length 1."""
    counts.data *= weight[counts.indices]
    documents = counts.shape[0]
    rows = np.repeat(np.arange(documents), np.diff(counts.indptr))
    length = np.sqrt(np.bincount(rows, weights=counts.data**2, minlength=documents))
    counts.data /= length[rows]
    return counts
