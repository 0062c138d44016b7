"""Geweke's test: alternate parameter updates with fresh data, and the prior must come back.

If every update leaves p(parameters, latents | data) invariant and data are drawn from
p(data | latents), the parameters' long-run distribution is their prior, whatever the model.
"""

import numpy as np
from scipy import stats

from citeweave.engines.core import propensities as real_propensities
from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.propensities import document_topics
from citeweave.engines.core.spec import preset
from citeweave.engines.core.word_side import refresh_word_cache
from citeweave.engines.dense.chain import DenseChain
from reference.forward import redraw_words
from reference.mutants import mutant
from reference.tiny import tiny_chain, tiny_data


def z_scores(draws, expected):
    """Standardised differences of means, errors by 40 batches of consecutive draws."""
    batches = np.array_split(np.asarray(draws, float), 40)
    means = np.array([batch.mean(axis=0) for batch in batches])
    error = means.std(axis=0, ddof=1) / np.sqrt(len(batches))
    return (means.mean(axis=0) - expected) / error


def test_concentrations_return_their_prior():
    prior = (3.0, 3.0)  # light tails, so that second moments settle
    spec = preset("cntm-text")
    documents = ((0, 1, 2, 0), (1, 1, 2), (0, 2))
    data = tiny_data(spec, documents=documents, groups=(0, 1, 1), citations=(), n_words=4)
    chain = DenseChain(spec, data, ChainSettings(topics=9, concentration_prior=prior), seed=5)
    chain.start()
    rng = np.random.default_rng(7)
    draws = []
    for step in range(10_000):
        redraw_words(chain, rng)
        chain.step()
        if step >= 500:
            draws.append(chain.concentrations())
    draws = np.array(draws)
    assert worst_score(draws, stats.gamma(prior[0], scale=1 / prior[1])) < 4.0


def propensity_draws(module, steps):
    """Alternate citations given lambda with lambda given citations, topics held fixed."""
    prior = np.array([3.0, 3.0])
    n = 9
    chain = tiny_chain(
        "scntm",
        topics=3,
        documents=((0, 0, 1), (0, 1), (1,)) * (n // 3),
        groups=(0, 1, 1) * (n // 3),
        citations=((0, 1),),
    )
    parameters = chain.state.parameters
    level = chain.citation_level
    means = np.zeros((n, 3))
    for d in range(n):
        node = chain.layout.citation_node + d
        document_topics(chain.layout, chain.state.topics, parameters, level, node, means[d])
    rng = np.random.default_rng(11)
    for array in (parameters.cite, parameters.cited, parameters.topic_scale):
        array[:] = rng.gamma(prior[0], 1 / prior[1], len(array))
    draws = []
    for _ in range(steps):
        rates = np.einsum(
            "i,j,k,ik,jk->ijk",
            parameters.cite,
            parameters.cited,
            parameters.topic_scale,
            means,
            means,
        )
        citing, cited, topic = np.nonzero(counts := rng.poisson(rates))
        repeat = counts[citing, cited, topic]
        citing, cited, topic = (np.repeat(x, repeat) for x in (citing, cited, topic))
        layout = chain.layout._replace(citing=citing.astype(np.int32), cited=cited.astype(np.int32))
        state = chain.state._replace(
            assignments=chain.state.assignments._replace(citing_topic=topic.astype(np.int16))
        )
        made, received = real_propensities.degrees(citing, cited, n, self_citations="zero")
        chain.rebuild_exponent()
        module.draw_propensities(level, layout, state, made, received, prior, chain.exponent)
        draws.append(np.concatenate([parameters.cite, parameters.cited, parameters.topic_scale]))
    return np.array(draws), stats.gamma(prior[0], scale=1 / prior[1])


def worst_score(draws, expected):
    """Largest standardised difference of first and second moments."""
    first = np.abs(z_scores(draws, expected.mean())).max()
    return max(first, np.abs(z_scores(draws**2, expected.moment(2))).max())


def test_propensities_return_their_prior():
    assert worst_score(*propensity_draws(real_propensities, 30_000)) < 4.0


def test_stray_scale_in_its_own_rate_is_caught():
    with mutant("stray lambdaT in its own rate") as broken:
        assert worst_score(*propensity_draws(broken["propensities"], 10_000)) > 8.0


def test_a_fresh_draw_of_words_is_a_valid_state():
    spec = preset("cntm-text")
    data = tiny_data(spec, documents=((0, 1, 2, 0), (1, 1)), groups=(0, 1), n_words=4)
    chain = DenseChain(spec, data, ChainSettings(topics=3, debug=True), seed=1)
    chain.start()
    redraw_words(chain, np.random.default_rng(1))
    refresh_word_cache(chain.tables, chain.state.words, chain.state.parameters, chain.cache)
    chain.step()
