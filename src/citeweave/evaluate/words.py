"""Words to hold out and to score, for models that are given by their topics only."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.model.topic_model import TopicModel

__all__ = [
    "Scored",
    "completion_words",
    "in_sample_perplexity",
    "plain_perplexity",
    "without_words",
]

_CHUNK = 1 << 15


def completion_words(corpus: Corpus) -> str | float:
    """Return which words of test documents to estimate topics from, leaving others to be scored.

    These are title words if most documents have title words and others, as in the paper; otherwise
    half of the words.
    """
    titled = (corpus.title_lengths > 0) & (corpus.lengths > corpus.title_lengths)
    return "title" if titled.mean() > 0.5 else 0.5


def without_words(corpus: Corpus, out: np.ndarray) -> Corpus:
    """Return a corpus without some of its tokens; all documents stay.

    Parameters
    ----------
    corpus : Corpus
    out : ndarray of bool, shape (n_tokens,)
        Tokens to leave out.
    """
    lengths = corpus.lengths
    document = np.repeat(np.arange(corpus.n_documents), lengths)
    within = np.arange(corpus.n_tokens) - np.repeat(corpus.offsets[:-1], lengths)
    in_title = within < np.repeat(corpus.title_lengths, lengths)
    left = np.bincount(document[~out], minlength=corpus.n_documents)
    titles = np.bincount(document[~out & in_title], minlength=corpus.n_documents)
    arrays = {
        "tokens": corpus.tokens[~out],
        "offsets": np.concatenate([[0], np.cumsum(left)]).astype(np.int64),
        "title_lengths": titles.astype(np.int32),
    }
    for array in arrays.values():
        array.flags.writeable = False
    changes: dict[str, Any] = {**arrays, "_stored_fingerprint": None}
    return dataclasses.replace(corpus, **changes)


class Scored(NamedTuple):
    """Perplexity of some tokens, and the number of tokens that are impossible under the model."""

    value: float
    impossible: int

    def explain(self, how: str) -> str:
        """Add the reason for an infinite value to the description of the protocol."""
        if not self.impossible:
            return how
        return (
            f"infinite, as the model gives {self.impossible:,} of these words probability 0; {how}"
        )


def plain_perplexity(
    doc_topic: np.ndarray, topic_word: np.ndarray, document: np.ndarray, word: np.ndarray
) -> Scored:
    """Return exp(-mean log sum_k theta_dk phi_kw) over tokens; infinite if one is impossible.

    Parameters
    ----------
    doc_topic : ndarray, shape (D, K)
    topic_word : ndarray, shape (K, V)
    document, word : ndarray of int, shape (n,)
        Document and word of each token.

    Examples
    --------
    >>> import numpy as np
    >>> plain_perplexity(np.array([[0.5, 0.5]]), np.eye(2), np.array([0, 0]), np.array([0, 1]))
    Scored(value=2.0, impossible=0)
    """
    if len(word) == 0:
        raise ParameterError(
            "No word is left to score; give other 'words', or documents with more of them."
        )
    total, impossible = 0.0, 0
    for begin in range(0, len(word), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        theta = np.asarray(doc_topic[document[part]], np.float64)
        chance = np.einsum("nk,nk->n", theta, topic_word[:, word[part]].T)
        possible = chance > 0.0
        impossible += int(np.count_nonzero(~possible))
        total += float(np.log(chance[possible]).sum())
    value = float("inf") if impossible else float(np.exp(-total / len(word)))
    return Scored(value, impossible)


def in_sample_perplexity(model: TopicModel) -> Scored:
    """Return the perplexity of the training words under the model fitted to them."""
    corpus = model.corpus_
    document = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    return plain_perplexity(model.doc_topic_, model.topic_word_, document, corpus.tokens)
