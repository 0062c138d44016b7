"""Parameters, topics, words and citations drawn from the model itself, as the state of a chain.

Topic vectors are drawn as vectors (Dirichlet processes, discount 0) and citations from their
Poisson rates, so that nothing here knows of the delta method. What such a chain holds is one draw
of the joint distribution, and so of the posterior given its own data.
"""

import numpy as np

from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.spec import preset
from citeweave.engines.core.word_side import refresh_word_cache
from citeweave.engines.dense.chain import DenseChain
from reference.forward import redraw_words

TOPICS = 12
PRIOR = (3.0, 3.0)
"""Shape and rate of the propensities."""


def _dirichlet(rng, weights):
    """Draw a vector; weights may be as small as they like."""
    logs = np.full(len(weights), -np.inf)
    some = weights > 1e-300
    shapes = weights[some]
    # Gamma(a) = Gamma(a + 1) U^(1/a), in logarithms
    logs[some] = np.log(rng.gamma(shapes + 1.0)) + np.log1p(-rng.random(len(shapes))) / shapes
    values = np.exp(logs - logs.max())
    return values / values.sum()


def _sticks(rng, beta):
    """Draw mu: sticks of a GEM, each at a topic of its own."""
    shares = rng.beta(1.0, beta, TOPICS)
    shares[-1] = 1.0
    left = np.concatenate([[1.0], np.cumprod(1.0 - shares[:-1])])
    return rng.permutation(shares * left)


def _tables(rng, customers, weights):
    """Draw how many tables a node's customers have opened, given its parent's vector times beta."""
    found = np.zeros_like(customers)
    for k, c in enumerate(customers):
        if c:
            later = np.arange(1, c)
            opened = rng.random(c - 1) * (weights[k] + later) < weights[k]
            found[k] = 1 + opened.sum()
    return found


def draw_chain(rng, *, model="scntm", documents=8, authors=3, words=6, vocabulary=8, beta=1.0):
    """Draw a corpus with its truth, and make a chain whose state is that truth."""
    spec = preset(model).with_discounts(topics=0.0)
    author = np.sort(rng.integers(authors, size=documents))
    offsets = words * np.arange(documents + 1)
    mu = _sticks(rng, beta)
    nu = np.array([_dirichlet(rng, beta * mu) for _ in range(authors)])
    seen = np.array([_dirichlet(rng, beta * nu[a]) for a in author])
    theta = np.array([_dirichlet(rng, beta * row) for row in seen])
    z = np.concatenate([rng.choice(TOPICS, words, p=row) for row in theta])
    sizes = (documents, documents, TOPICS)
    cite, cited, scale = (rng.gamma(PRIOR[0], 1 / PRIOR[1], n) for n in sizes)
    networked = spec.citations is not None
    rates = np.einsum("i,j,k,ik,jk->ijk", cite, cited, scale, seen, seen)
    number = rng.poisson(rates) if networked else np.zeros(rates.shape, int)
    own = np.einsum("iik->ik", number).copy()
    np.einsum("iik->ik", number)[:] = 0
    i, j, y = (np.repeat(ends, number[number > 0]) for ends in np.nonzero(number))
    data = Data(
        tokens=np.zeros(offsets[-1], np.int32),
        offsets=offsets.astype(np.int64),
        n_words=vocabulary,
        parents=(np.zeros(authors, int), author, np.arange(documents)),
        leaf=np.arange(documents),
        leaf_start=np.arange(documents + 1),
        citing=i.astype(np.int32),
        cited=j.astype(np.int32),
    )
    settings = ChainSettings(
        topics=TOPICS, concentration=beta, propensity_prior=PRIOR, sample_concentrations=False
    )
    chain = DenseChain(spec, data, settings, seed=int(rng.integers(2**31)))
    state = chain.state
    state.assignments.topic[:] = z
    _seat(rng, chain, (mu, nu, seen), own if networked else None, y)
    if networked:
        state.clock[1] = 1
        state.parameters.cite[:], state.parameters.cited[:] = cite, cited
        state.parameters.topic_scale[:] = scale
    redraw_words(chain, rng)
    refresh_word_cache(chain.tables, state.words, state.parameters, chain.cache)
    return chain


def _seat(rng, chain, vectors, own, y):
    """Fill the counts of the topic side from the leaves up, given all vectors but theta."""
    state, layout = chain.state, chain.layout
    counts, starts = state.topics, layout.level_start
    mu, nu, seen = vectors
    author = layout.parent[starts[2] : starts[3]] - starts[1]
    above = {1: np.repeat(mu[None], len(nu), axis=0), 2: nu[author], 3: seen}
    document = np.repeat(np.arange(len(seen)), np.diff(layout.document_start))
    np.add.at(counts.customers, (layout.leaf[document], state.assignments.topic), 1)
    for level in (3, 2, 1):
        if level == chain.citation_level and own is not None:
            _seat_citations(chain, own, y)
        for place, n in enumerate(range(starts[level], starts[level + 1])):
            weights = state.parameters.topic_concentration[n] * above[level][place]
            counts.tables[n] = _tables(rng, counts.customers[n], weights)
            counts.customers[layout.parent[n]] += counts.tables[n]
    counts.tables[0] = np.minimum(counts.customers[0], 1)
    counts.total_customers[:] = counts.customers.sum(axis=1)
    counts.total_tables[:] = counts.tables.sum(axis=1)


def _seat_citations(chain, own, y):
    """Add the customers of citations, and of self-citations by document and topic."""
    assignments, layout, customers = (
        chain.state.assignments,
        chain.layout,
        chain.state.topics.customers,
    )
    assignments.citing_topic[:] = y
    for ends in (layout.citing, layout.cited):
        np.add.at(customers, (layout.citation_node + ends, y), 1)
    for d, row in enumerate(own):
        drawn = np.repeat(np.arange(TOPICS), row)[: assignments.self_topic.shape[1]]
        assignments.self_topic[d, : len(drawn)] = drawn
        np.add.at(customers[layout.citation_node + d], drawn, 2)


def statistics(chain) -> dict[str, float]:
    """What is compared, the same however topics are numbered."""
    state, layout = chain.state, chain.layout
    used = np.bincount(state.assignments.topic, minlength=TOPICS)
    found = {
        "topics": float((used > 0).sum()),
        "same topic": float(((used / used.sum()) ** 2).sum()),
        "tables at mu": float(state.topics.total_customers[0]),
    }
    if chain.spec.citations is None:
        return found
    documents = len(layout.document_start) - 1
    of = np.zeros((documents, TOPICS))
    document = np.repeat(np.arange(documents), np.diff(layout.document_start))
    np.add.at(of, (document, state.assignments.topic), 1)
    of /= of.sum(axis=1, keepdims=True)
    y = state.assignments.citing_topic
    agreed = of[layout.citing, y] if len(y) else np.zeros(1)
    return found | {
        "y = z": float(agreed.mean()),
        "self-citations": float((state.assignments.self_topic >= 0).sum()),
        "mean lambda+": float(state.parameters.cite.mean()),
        "mean lambdaT": float(state.parameters.topic_scale.mean()),
    }
