"""Topics judged by their words: NPMI coherence on a corpus, and diversity."""

from typing import Any

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.evaluate._arrays import check_integer
from citeweave.naming import option

__all__ = ["npmi_coherence", "top_words", "topic_diversity"]


def top_words(topic_word: Any, *, top: int = 10) -> np.ndarray:
    """Return the ids of each topic's most probable words, best first; ties go to the smaller id.

    Parameters
    ----------
    topic_word : array-like, shape (K, V)
        phi, or any weights of words by topic.
    top : int
        Number of words per topic.

    Returns
    -------
    ndarray of int, shape (K, top)

    Examples
    --------
    >>> from citeweave.evaluate import top_words
    >>> top_words([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]], top=2).tolist()
    [[1, 2], [0, 2]]
    """
    weights = np.asarray(topic_word, dtype=np.float64)
    if weights.ndim != 2 or 0 in weights.shape or not np.isfinite(weights).all():
        raise ParameterError(
            "'topic_word' must be an array of finite numbers of shape (topics, words). "
            f"Got shape {weights.shape}, {np.count_nonzero(~np.isfinite(weights))} of the values "
            "not finite, instead."
        )
    count = check_integer(top, "top", lowest=1)
    if count > weights.shape[1]:
        raise ParameterError(
            f"{option('top')} must be at most the number of words, {weights.shape[1]}. "
            f"Got {top} instead."
        )
    return np.asarray(np.argsort(-weights, axis=1, kind="stable")[:, :count])


def topic_diversity(topic_word: Any, *, top: int = 25) -> float:
    """Share of different words among the top words of all topics (Dieng et al. 2020).

    1 if no two topics share a top word, 1/K if all have the same. Leave out topics that are not in
    use (for `SCNTM`, those where `topic_samples_` is 0): their words are those of the corpus.

    Examples
    --------
    >>> topic_diversity([[0.9, 0.1, 0.0], [0.0, 0.1, 0.9]], top=2)
    0.75
    """
    words = top_words(topic_word, top=top)
    return len(np.unique(words)) / words.size


def npmi_coherence(topic_word: Any, corpus: Corpus, *, top: int = 10) -> np.ndarray:
    """Return the mean normalised pointwise mutual information of each topic's top words.

    With p_i the share of documents that contain word i, and p_ij the share that contain both,

        NPMI(i, j) = log(p_ij / (p_i p_j)) / -log p_ij,

    between -1 (never together; also if a word does not occur at all) and 1 (never apart).

    Parameters
    ----------
    topic_word : array-like, shape (K, V)
        phi. Leave out topics that are not in use, as for `topic_diversity`.
    corpus : Corpus
        The corpus in which words are counted, with the same vocabulary: the training corpus or
        another one.
    top : int
        Number of words per topic, at least 2.

    Returns
    -------
    ndarray, shape (K,)
        One value per topic; their mean is the coherence of the model.

    Examples
    --------
    >>> from citeweave import Corpus
    >>> from citeweave.evaluate import npmi_coherence
    >>> corpus = Corpus.from_lists(tokens=[["soil", "crop"], ["soil", "crop"], ["cave"]])
    >>> npmi_coherence([[0.5, 0.4, 0.1]], corpus, top=2).round(6).tolist()
    [1.0]
    """
    words = top_words(topic_word, top=check_integer(top, "top", lowest=2))
    width = np.shape(topic_word)[1]
    if width != corpus.vocabulary_size:
        raise ParameterError(
            "'topic_word' must have a column for each word of the corpus. "
            f"Got {width} columns and a vocabulary of {corpus.vocabulary_size} words instead."
        )
    chosen, place = np.unique(words, return_inverse=True)
    place = place.reshape(words.shape)
    together = _documents_with_both(corpus, chosen)
    alone = together.diagonal()
    first, second = np.triu_indices(words.shape[1], k=1)
    left, right = place[:, first], place[:, second]
    joint = np.asarray(together[left.ravel(), right.ravel()], dtype=np.float64).reshape(left.shape)
    values = _npmi(joint, alone[left], alone[right], corpus.n_documents)
    return np.asarray(values.mean(axis=1))


def _npmi(both: np.ndarray, first: np.ndarray, second: np.ndarray, documents: int) -> np.ndarray:
    """NPMI of pairs from the numbers of documents that hold both words, and either."""
    out = np.full(both.shape, -1.0)
    some = (both > 0) & (both < documents)
    share = both[some] / documents
    out[some] = np.log(
        share * documents * documents / (first[some].astype(np.float64) * second[some])
    )
    out[some] /= -np.log(share)
    # 0/0 where both are in every document: the limit of two words that are never apart
    out[both == documents] = 1.0
    return out


def _documents_with_both(corpus: Corpus, words: np.ndarray) -> Any:
    """Count for each pair of these words the documents that hold both: X' X with X Boolean.

    Other words are dropped before the product, so its cost is that of the top words alone.
    """
    column = np.full(corpus.vocabulary_size, -1, dtype=np.int64)
    column[words] = np.arange(len(words))
    place = column[corpus.tokens]
    kept = place >= 0
    row = np.repeat(np.arange(corpus.n_documents), corpus.lengths)[kept]
    keys = np.unique(row * len(words) + place[kept])
    held = sparse.csr_array(
        (np.ones(len(keys), dtype=np.int64), (keys // len(words), keys % len(words))),
        shape=(corpus.n_documents, len(words)),
    )
    # as many words as topics times top at most: a small square, looked up by pairs
    return (held.T @ held).toarray()
