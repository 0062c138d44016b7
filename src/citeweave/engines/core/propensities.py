"""Gibbs draws of lambda+, lambda- and lambdaT (subsec:hyperparameter_sampling).

The rate of lambdaT_k is that of DESIGN 3.3, without the paper's stray lambdaT_k.
"""

import numpy as np

from citeweave.compiled import kernel
from citeweave.engines.core.random import standard_gamma
from citeweave.engines.core.spec import PAPER

__all__ = ["degrees", "document_topics", "draw_propensities"]


def degrees(
    citing: np.ndarray, cited: np.ndarray, n_documents: int, *, self_citations: str
) -> tuple[np.ndarray, np.ndarray]:
    """Count g+ and g-: citations of the corpus made and received by each document.

    The paper's x_ii = 1 enters only these degrees, never the network counts h. Sampled
    self-citations (`self_citations`) are added separately, to the counts of both.
    """
    known = 1 if self_citations == PAPER else 0
    made = np.bincount(citing, minlength=n_documents) + known
    received = np.bincount(cited, minlength=n_documents) + known
    return made.astype(np.float64), received.astype(np.float64)


@kernel
def document_topics(layout, counts, parameters, level, node, mean):
    """Compute the posterior mean of a node by eq:recover_vector (with t_k), parents first.

    The mass that mu reserves for unseen topics is left out, as in the weights of the sampler.
    """
    n_topics = mean.shape[0]
    path = np.empty(level + 1, np.int64)
    n = node
    for lower in range(level, -1, -1):
        path[lower] = n
        n = layout.parent[n]
    for k in range(n_topics):
        mean[k] = 0.0
    for lower in range(level + 1):
        n = path[lower]
        discount = parameters.topic_discount[lower]
        beta = parameters.topic_concentration[n]
        scale = 1.0 / (beta + counts.total_customers[n])
        share = (beta + discount * counts.total_tables[n]) * scale
        for k in range(n_topics):
            own = counts.customers[n, k] - discount * counts.tables[n, k]
            mean[k] = share * mean[k] + own * scale


@kernel
def draw_propensities(level, layout, state, made, received, prior, exponent):
    """Draw all lambda+, then lambda-, then lambdaT from their Gamma conditionals.

    ``prior`` holds epsilon_0 and epsilon_1. The sums P and M are kept up to date.
    """
    counts = state.topics
    parameters = state.parameters
    rng = state.random
    n_documents = parameters.cite.shape[0]
    n_topics = parameters.topic_scale.shape[0]
    mean = np.empty(n_topics)
    exponent.cite_sum[:] = 0.0
    for d in range(n_documents):
        document_topics(layout, counts, parameters, level, layout.citation_node + d, mean)
        rate = prior[1]
        for k in range(n_topics):
            rate += parameters.topic_scale[k] * mean[k] * exponent.cited_sum[k]
        parameters.cite[d] = standard_gamma(rng, prior[0] + made[d]) / rate
        for k in range(n_topics):
            exponent.cite_sum[k] += parameters.cite[d] * mean[k]
    exponent.cited_sum[:] = 0.0
    for d in range(n_documents):
        document_topics(layout, counts, parameters, level, layout.citation_node + d, mean)
        rate = prior[1]
        for k in range(n_topics):
            rate += parameters.topic_scale[k] * mean[k] * exponent.cite_sum[k]
        parameters.cited[d] = standard_gamma(rng, prior[0] + received[d]) / rate
        for k in range(n_topics):
            exponent.cited_sum[k] += parameters.cited[d] * mean[k]
    citations = np.zeros(n_topics)
    for e in range(layout.citing.shape[0]):
        citations[state.assignments.citing_topic[e]] += 1.0
    for k in state.assignments.self_topic.ravel():
        if k >= 0:
            citations[k] += 1.0
    for k in range(n_topics):
        rate = prior[1] + exponent.cite_sum[k] * exponent.cited_sum[k]
        parameters.topic_scale[k] = standard_gamma(rng, prior[0] + citations[k]) / rate
