"""What the delta method leaves out of a state's density: E[exp(-E)] over exp(-E at the means)."""

import numpy as np


def draw_vectors(rng, chain, draws):
    """Draw theta' of all documents given the counts (discount 0): [draws, documents, topics]."""
    counts, layout = chain.state.topics, chain.layout
    beta, starts = chain.state.parameters.topic_concentration, layout.level_start
    vectors = _roots(rng, counts.customers[0], beta[0], draws)[:, None]
    for level in range(1, chain.citation_level + 1):
        nodes = slice(starts[level], starts[level + 1])
        above = vectors[:, layout.parent[nodes] - starts[level - 1]]
        shapes = counts.customers[nodes] + beta[nodes, None] * above
        vectors = rng.standard_gamma(shapes)
        vectors /= np.maximum(vectors.sum(axis=2, keepdims=True), 1e-300)
    return vectors


def _roots(rng, customers, beta, draws):
    """Draw mu: what it keeps for topics not in use is broken like a stick."""
    used = customers > 0
    shares = rng.dirichlet([*customers[used], beta], draws)
    roots = np.zeros((draws, len(customers)))
    roots[:, used] = shares[:, :-1]
    free = np.flatnonzero(~used)
    if len(free):
        cuts = rng.beta(1.0, beta, (draws, len(free)))
        cuts[:, -1] = 1.0
        left = np.cumprod(np.hstack([np.ones((draws, 1)), 1.0 - cuts[:, :-1]]), axis=1)
        roots[:, free] = shares[:, -1:] * cuts * left
    return roots


def log_weight(rng, chain, draws=400):
    """Log of the true density of the state over the one that is sampled, up to a constant."""
    parameters = chain.state.parameters
    vectors = draw_vectors(rng, chain, draws)
    out = np.einsum("i,sik->sk", parameters.cite, vectors)
    into = np.einsum("i,sik->sk", parameters.cited, vectors)
    rates = (out * into) @ parameters.topic_scale
    chain.rebuild_exponent()
    sums = chain.exponent
    plugged = parameters.topic_scale @ (sums.cite_sum * sums.cited_sum)
    return float(np.log(np.mean(np.exp(plugged - rates))))
