"""The likelihood of a fitted model at its posterior means, by which single chains are compared.

`citeweave.model.scoring` computes the same figure for the chains of one run, from their sums; here
it is computed from the attributes of a fitted model, so that fits with different seeds can be
compared.
"""

from typing import TYPE_CHECKING

import numpy as np

from citeweave.engines.core.spec import LEFT_OUT

if TYPE_CHECKING:
    from citeweave.model import SCNTM

__all__ = ["exponential_terms_near_one", "log_likelihood"]

_CHUNK = 1 << 16
_TINY = np.finfo(np.float64).tiny
_NEAR_ONE = 0.99


def log_likelihood(model: "SCNTM") -> float:
    """Return the log likelihood of all training words and citations, topics summed out.

    sum_dn log sum_k theta_dk phi_kw + sum_ij x_ij log rate_ij - sum_ij rate_ij, with
    rate_ij = lambda+_i lambda-_j sum_k lambdaT_k theta'_ik theta'_jk; pairs i = j count unless the
    model leaves self-citations out. It uses training data, so it is only for comparing fits of one
    model to one corpus.
    """
    corpus = model.corpus_
    spec = model.spec_
    theta = model.doc_word_topic_ if spec.n_document > 1 else model.doc_topic_
    phi = np.asarray(model.topic_word_, np.float64).T
    document = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    total = 0.0
    for begin in range(0, corpus.n_tokens, _CHUNK):
        part = slice(begin, begin + _CHUNK)
        chance = np.einsum("nk,nk->n", theta[document[part]], phi[corpus.tokens[part]])
        total += float(np.log(np.maximum(chance, _TINY)).sum())
    if spec.citations is None:
        return total
    seen = np.asarray(model.doc_topic_, np.float64)
    citing = model.cite_propensity_[:, None] * seen * model.topic_scale_
    cited = model.cited_propensity_[:, None] * seen
    for begin in range(0, corpus.n_citations, _CHUNK):
        i, j = corpus.citations[begin : begin + _CHUNK].T
        rate = np.einsum("ek,ek->e", citing[i], cited[j])
        total += float(np.log(np.maximum(rate, _TINY)).sum())
    if model.self_citations == LEFT_OUT:
        total += float(np.einsum("dk,dk->", citing, cited))
    return total - float(citing.sum(axis=0) @ cited.sum(axis=0))


def exponential_terms_near_one(model: "SCNTM") -> float:
    """Return the share of a citing topic's exponential terms that lie between 0.99 and 1.

    The terms are exp(-lambda+_i lambda-_j lambdaT_k theta'_ik theta'_jk), for all citations (i, j)
    and all topics k, at posterior means. The paper leaves them out of its proposal of citing
    topics, because almost all of them are near 1 (eq:proposal_y).
    """
    corpus = model.corpus_
    seen = np.asarray(model.doc_topic_, np.float64)
    citing = model.cite_propensity_[:, None] * seen * model.topic_scale_
    cited = model.cited_propensity_[:, None] * seen
    near = total = 0
    for begin in range(0, corpus.n_citations, _CHUNK):
        i, j = corpus.citations[begin : begin + _CHUNK].T
        terms = np.exp(-citing[i] * cited[j])
        near += int(np.count_nonzero(terms >= _NEAR_ONE))
        total += terms.size
    return near / total if total else 1.0
