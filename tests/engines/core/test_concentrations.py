"""Concentrations under citations: the slice sampler against the density it should have."""

import numpy as np
import pytest

from citeweave.engines.core.concentrations import draw_topic_concentrations
from reference.densities import draws_have_density
from reference.posterior import TinyPosterior, log_node, log_root
from reference.tiny import tiny_chain

CORPUS = {
    "documents": ((0, 0, 1, 2), (0, 1, 1), (2, 2)),
    "groups": (0, 0, 1),
    "citations": ((0, 1), (2, 0), (1, 2)),
    "n_words": 3,
}
PRIOR = np.array([2.0, 1.5])


def log_density(chain, nodes, beta):
    """log of prior x f* x exp(-E) as a function of the concentration that ``nodes`` share."""
    parameters = chain.state.parameters
    kept = parameters.topic_concentration.copy()
    parameters.topic_concentration[nodes] = beta
    counts = chain.state.topics
    customers = {n: row.tolist() for n, row in enumerate(counts.customers)}
    tables = {n: row.tolist() for n, row in enumerate(counts.tables)}
    value = (PRIOR[0] - 1) * np.log(beta) - PRIOR[1] * beta
    value -= TinyPosterior(chain).rate(customers, tables)
    for n in nodes:
        discount = float(parameters.topic_discount[1])
        if n == 0:
            value += log_root(customers[0], discount, beta)
        else:
            value += log_node(customers[n], tables[n], discount, beta)
    parameters.topic_concentration[:] = kept
    return value


@pytest.mark.parametrize(("level", "pooled"), [(0, 1), (1, 1), (2, 1), (2, 0)])
def test_draws_have_the_mean_and_spread_of_their_density(level, pooled):
    chain = tiny_chain("scntm", topics=3, **CORPUS)
    chain.state.parameters.cite[:] *= 3.0  # an exponential that matters
    starts = chain.layout.level_start
    nodes = list(range(starts[level], starts[level + 1]))
    share = nodes if pooled else nodes[:1]
    parameters = chain.state.parameters
    fixed = parameters.topic_concentration.copy()
    fixed[nodes] = 1.0
    draws = []
    value = 1.0
    for _ in range(12_000):
        parameters.topic_concentration[:] = fixed
        parameters.topic_concentration[share] = value
        chain.rebuild_exponent()
        draw_topic_concentrations(
            chain.layout,
            chain.state,
            PRIOR,
            np.full(4, pooled, np.uint8),
            chain.citation_level,
            chain.exponent,
            level,
            level + 1,
        )
        value = parameters.topic_concentration[share[0]]
        draws.append(value)
    parameters.topic_concentration[:] = fixed
    draws_have_density(draws, lambda beta: log_density(chain, share, beta))
