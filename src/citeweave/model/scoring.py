"""How well a chain explains words and citations: the score by which chains are compared.

The log likelihood that a chain traces is that of the words *given their topics* (as in the paper's
figure). It cannot compare chains: one with fewer topics per document, or one that trades some fit
of the words for a better fit of citations, has a different value without being better or worse.
Here topics are summed out and citations are included, both at the means of the chain's samples.
"""

import numpy as np

from citeweave.corpus import Corpus
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.spec import LEFT_OUT, ModelSpec

__all__ = ["plug_in_log_likelihood"]

_CHUNK = 1 << 16
_TINY = np.finfo(np.float64).tiny


def plug_in_log_likelihood(
    spec: ModelSpec, sums: Sums, corpus: Corpus, *, self_citations: str
) -> float:
    """Compute the log likelihood of all data at a chain's posterior means (eq:word_probability).

    sum_dn log sum_k theta_dk phi_kw + sum_ij x_ij log rate_ij - sum_ij rate_ij, where
    rate_ij = lambda+_i lambda-_j sum_k lambdaT_k theta'_ik theta'_jk; pairs i = j count unless
    ``self_citations`` are left out. Words are scored with estimates learned from them, so this is
    only for comparing chains of one model.
    """
    samples = float(sums.samples[0])
    if spec.words_choose_author:
        of_words = of_citations = sums.mixture
    else:
        of_words = sums.documents[-1]
        of_citations = sums.documents[spec.n_document - 1 - spec.below_citations]
    total = _words(corpus, of_words, sums.topic_word, sums.topic_samples, samples)
    if spec.citations is not None:
        total += _citations(corpus, of_citations, sums, samples)
        if self_citations == LEFT_OUT:
            total += _own_rates(of_citations, sums, samples)
    return total


def _words(
    corpus: Corpus,
    documents: np.ndarray,
    topic_word: np.ndarray,
    topic_samples: np.ndarray,
    samples: float,
) -> float:
    """Sum log p(w); sums of theta are over ``samples``, those of phi over ``topic_samples``."""
    scale = 1.0 / (np.maximum(topic_samples, 1) * samples)
    of_token = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    total = 0.0
    for begin in range(0, corpus.n_tokens, _CHUNK):
        part = slice(begin, begin + _CHUNK)
        words = topic_word[corpus.tokens[part]] * scale
        chance = np.einsum("nk,nk->n", documents[of_token[part]], words)
        total += float(np.log(np.maximum(chance, _TINY)).sum())
    return total


def _citations(corpus: Corpus, documents: np.ndarray, sums: Sums, samples: float) -> float:
    cite, cited = sums.cite / samples, sums.cited / samples
    topic_scale = sums.topic_scale / samples
    total = 0.0
    for begin in range(0, corpus.n_citations, _CHUNK):
        i, j = corpus.citations[begin : begin + _CHUNK].T
        chance = np.einsum("ek,ek,k->e", documents[i], documents[j], topic_scale) / samples**2
        rate = cite[i] * cited[j] * chance
        total += float(np.log(np.maximum(rate, _TINY)).sum())
    out = cite @ documents / samples
    into = cited @ documents / samples
    return total - float(out @ (topic_scale * into))


def _own_rates(documents: np.ndarray, sums: Sums, samples: float) -> float:
    """Sum the rates of all pairs i = i."""
    pair = sums.cite * sums.cited / samples**2
    own = np.einsum("ik,ik,k->i", documents, documents, sums.topic_scale) / samples**3
    return float(pair @ own)
