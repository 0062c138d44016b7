"""The joint log density of a state, against the listed posterior and against plain formulas."""

import math
from dataclasses import replace

import numpy as np
import pytest

from citeweave.engines.core.log_stirling import log_rising, log_stirling, stirling_logs
from citeweave.engines.core.posterior import LogPosterior
from citeweave.engines.core.spec import preset
from citeweave.engines.core.stirling import DENSE_LIMIT, build_ratio_table
from citeweave.engines.threads.workers import WorkerPool
from reference.posterior import TinyPosterior
from reference.tiny import tiny_chain

MODELS = {
    "two papers of one author": ("scntm", {}),
    "an empty paper": (
        "scntm",
        {
            "documents": ((0, 0), (1,), ()),
            "groups": (0, 0, 1),
            "citations": ((0, 1), (2, 0)),
        },
    ),
    "unknown self-citations": ("scntm", {"self_citations": "left-out"}),
    "a new topic": ("bursty-hdp-lda", {"topics": 4, "documents": ((0, 0), (0, 1))}),
    "words choose authors": ("np-atm", {}),
    "text alone": ("cntm-text", {}),
    "words weigh less": (replace(preset("scntm"), word_weight=0.3), {}),
    "neither burstiness nor background": (preset("cntm-text").without("phi'", "gamma"), {}),
}


def listed(chain):
    """Log weight of the chain's state in the listed posterior."""
    listing, state, layout = TinyPosterior(chain), chain.state, chain.layout
    z = tuple(int(k) for k in state.assignments.topic)
    y = tuple(int(k) for k in state.assignments.citing_topic) if chain.spec.citations else ()
    path = state.assignments.path if len(state.assignments.path) else np.zeros(len(z), int)
    leaves = layout.leaf[layout.leaf_start[listing.document] + path]
    tables = {n: tuple(row) for n, row in enumerate(state.topics.tables.tolist()) if n > 0}
    drawn = state.assignments.self_topic[:, :, None] == np.arange(listing.n_topics)
    own = drawn.sum(axis=1).ravel().tolist()
    value = next(v for found, v in listing.topic_side(leaves, z, y, own) if found == tables)
    bursts = {}
    bits = state.assignments.burst_table if chain.shape.burst else np.ones(len(z), int)
    for d, w, k, bit in zip(listing.document, layout.word, z, bits, strict=True):
        bursts[d, k, w] = bursts.get((d, k, w), 0) + int(bit)
    gamma = state.words.background_tables if chain.shape.background else None
    for burst, phi, background, more in listing.word_side(z):
        same = gamma is None or np.array_equal(background, gamma)
        if same and burst == bursts and np.array_equal(phi, state.words.tables):
            return value + more
    raise AssertionError("a state that the list does not have")


def rate_of(chain):
    if chain.spec.citations is None:
        return math.nan
    chain.rebuild_exponent()
    sums = chain.exponent
    return float(chain.state.parameters.topic_scale @ (sums.cite_sum * sums.cited_sum))


@pytest.mark.parametrize("model", MODELS)
def test_states_differ_as_in_the_listed_posterior(model):
    spec, corpus = MODELS[model]
    chain = tiny_chain(spec, **corpus)
    starts = chain.layout.level_start
    betas = chain.state.parameters.topic_concentration
    betas[:] = betas[np.repeat(starts[:-1], np.diff(starts))]  # one a level, as the model says
    found, expected = [], []
    for _ in range(12):
        info = chain.step()
        assert info.log_posterior == chain.log_posterior(rate_of(chain))
        found.append(info.log_posterior)
        expected.append(listed(chain))
    assert np.ptp(expected) > 0.5
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=0, atol=1e-9)


@pytest.mark.parametrize("pooled", [True, False])
def test_parameters_weigh_as_their_formula_says(pooled):
    """Gamma priors of one concentration a level, or one a node; degrees with x_ii = 1."""
    chain = tiny_chain("scntm", groups=(0, 1), self_citations="paper")
    if not pooled:  # a copy: the levels of a preset are everybody's
        sides = {
            side: tuple(replace(level, shared_concentration=False) for level in levels)
            for side, levels in (
                ("topic_side", chain.spec.topic_side),
                ("word_side", chain.spec.word_side),
            )
        }
        chain.spec = replace(chain.spec, **sides)
    measure = LogPosterior(chain)
    assert measure.settings.concentration_prior == (1.0, 1.0)
    measure.settings = chain.settings._replace(
        concentration_prior=(2.0, 3.0), propensity_prior=(1.5, 0.5)
    )
    parameters, starts = chain.state.parameters, chain.layout.level_start
    random = np.random.default_rng(1)
    found, expected = [], []
    for _ in range(6):
        drawn = random.gamma(2.0, size=len(parameters.topic_concentration))
        first = np.repeat(starts[:-1], np.diff(starts))
        parameters.topic_concentration[:] = drawn[first] if pooled else drawn
        parameters.topic_word_concentration[:] = random.gamma(2.0, size=1 if pooled else 2)
        parameters.word_concentration[:] = random.gamma(2.0, size=2)
        for values in (parameters.cite, parameters.cited, parameters.topic_scale):
            values[:] = random.gamma(2.0, size=len(values))
        free = [parameters.topic_concentration[starts[:-1]] if pooled else drawn]
        free += [parameters.topic_word_concentration[: 1 if pooled else None]]
        free += [parameters.word_concentration]
        value = listed(chain) + sum(float(np.log(b).sum() - 3.0 * b.sum()) for b in free)
        for values, degree in zip(
            (parameters.cite, parameters.cited), ([2, 1], [1, 2]), strict=True
        ):
            value += float(np.array(degree) @ np.log(values))
        for values in (parameters.cite, parameters.cited, parameters.topic_scale):
            value += float(0.5 * np.log(values).sum() - 0.5 * values.sum())
        expected.append(value)
        found.append(measure(chain.state, rate_of(chain)))
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=0, atol=1e-9)


def test_threads_measure_the_same():
    chain = tiny_chain("scntm")
    chain.step()
    workers = WorkerPool(3)
    rate = rate_of(chain)
    assert chain._posterior(chain.state, rate, workers) == chain.log_posterior(rate)
    workers.close()


@pytest.mark.parametrize("discount", [0.0, 0.5, 0.9])
def test_logarithms_of_stirling_numbers(discount):
    """By the recurrence in logarithms, from the dense table into what lies beyond it."""
    logs = stirling_logs(build_ratio_table(discount))
    row = np.array([0.0])
    for c in range(DENSE_LIMIT + 80):
        tables = np.arange(1, c + 2)
        new = np.full(c + 2, -np.inf)
        new[1:] = row[: c + 1]
        if c:
            stay = row[1:] + np.log(c - tables[:-1] * discount)
            new[1 : c + 1] = np.logaddexp(new[1 : c + 1], stay)
        row = new
        if c + 1 in {3, 40, DENSE_LIMIT, DENSE_LIMIT + 1, DENSE_LIMIT + 80}:
            for t in sorted({1, 2, (c + 1) // 3 or 1, (c + 1) // 2 or 1, c or 1, c + 1}):
                assert log_stirling(logs, c + 1, t) == pytest.approx(row[t], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("step", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("count", [0, 1, 64, 65, 5000])
def test_logarithms_of_rising_products(step, count):
    expected = np.log(0.3 + step * np.arange(count)).sum()
    assert log_rising(0.3, step, count) == pytest.approx(expected, rel=1e-12, abs=1e-11)
