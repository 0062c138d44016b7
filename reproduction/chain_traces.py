"""One chain, step by step, with log likelihoods that are not in the usual traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from citeweave.engines.core.estimates import add_sample, new_sums, take_means
from citeweave.model import SCNTM
from citeweave.model.chains import new_chain
from citeweave.model.groups import build_tree
from citeweave.model.parameters import make_plan
from citeweave.model.runner import RunInterrupted

if TYPE_CHECKING:
    import threading
    from collections.abc import Collection

    from citeweave.corpus import Corpus
    from citeweave.engines.protocol import RunningChain

__all__ = ["ChainTraces", "marginal_log_likelihood", "trace_chain"]

_CHUNK = 100_000


class ChainTraces(NamedTuple):
    """Traces of a chain."""

    assigned: np.ndarray
    """log p(w | z, phi') after each iteration (subsec:convergence)."""
    marginal: dict[int, float]
    """log p(w | theta', phi) after some iterations (eq:word_probability)."""
    acceptance: float | None
    """Mean acceptance of Metropolis-Hastings for citing topics while citations were used."""


def trace_chain(
    corpus: Corpus,
    *,
    marginal_at: Collection[int],
    stop: threading.Event | None = None,
    **parameters: Any,
) -> ChainTraces:
    """Run the same chain as `SCNTM.fit`, and record its state on the way.

    Parameters
    ----------
    corpus : Corpus
    marginal_at : collection of int
        Iterations after which the marginal log likelihood is computed.
    stop : threading.Event, optional
        If set, the chain stops after the current iteration.
    **parameters
        Parameters of `SCNTM`.
    """
    plan = make_plan(SCNTM(**{"exactly": True} | parameters).get_params()).for_corpus(
        tokens=corpus.n_tokens, documents=corpus.n_documents, words=corpus.vocabulary_size
    )
    tree = build_tree(corpus, plan.spec, eta=plan.eta, unknown=plan.unknown)
    chain = new_chain(plan, tree.data, 0)
    chain.start()
    assigned = np.empty(plan.iterations)
    marginal = {}
    accepted = []
    while chain.iteration < plan.iterations:
        if stop is not None and stop.is_set():
            raise RunInterrupted(f"Stopped after iteration {chain.iteration}; this part is lost.")
        info = chain.step()
        assigned[info.iteration - 1] = info.log_likelihood
        if not np.isnan(info.acceptance):
            accepted.append(info.acceptance)
        if info.iteration in marginal_at:
            marginal[info.iteration] = _marginal(chain, corpus)
    return ChainTraces(assigned, marginal, float(np.mean(accepted)) if accepted else None)


def _marginal(chain: RunningChain, corpus: Corpus) -> float:
    """Posterior means given the current state, and the likelihood of the words under them."""
    sums = new_sums(chain)
    add_sample(chain, sums)
    means = take_means(sums)
    # the upper document level is theta', whether or not citations use it
    return marginal_log_likelihood(corpus, means.documents[0], means.topic_word)


def marginal_log_likelihood(corpus: Corpus, doc_topic: np.ndarray, word_topic: np.ndarray) -> float:
    """Sum over all words of log p(w | theta', phi) = log sum_k theta'_dk phi_kw.

    Parameters
    ----------
    corpus : Corpus
    doc_topic : ndarray, shape (D, K)
        theta'.
    word_topic : ndarray, shape (V, K)
        phi, a row for each word.
    """
    document = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    total = 0.0
    for begin in range(0, corpus.n_tokens, _CHUNK):
        part = slice(begin, begin + _CHUNK)
        theta = doc_topic[document[part]].astype(np.float64)
        chances = np.einsum("ik,ik->i", theta, word_topic[corpus.tokens[part]])
        total += float(np.log(chances).sum())
    return total
