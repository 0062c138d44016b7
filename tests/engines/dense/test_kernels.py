"""Kernels against slow twins: the same numbers from plain NumPy and from the definitions."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from citeweave.engines.core.climb import TopicPath, new_climb
from citeweave.engines.core.exponent import total_rate
from citeweave.engines.core.hierarchy import node_weights, path_weight
from citeweave.engines.core.likelihood import topic_word_means, word_log_likelihood
from citeweave.engines.core.propensities import document_topics
from citeweave.engines.core.random import (
    log_beta_complement,
    new_generator,
    standard_gamma,
    standard_normal,
    uniform,
)
from citeweave.engines.core.word_side import BLOCK
from citeweave.engines.dense.citations import citation_sweep
from citeweave.engines.dense.words import pick_block, pick_in_block, weigh_blocks
from reference.posterior import TinyPosterior, log_node, log_root
from reference.tiny import tiny_chain

CORPUS = {
    "documents": ((0, 0, 1, 2), (0, 1, 1), (2, 2)),
    "groups": (0, 0, 1),
    "citations": ((0, 1), (2, 0), (1, 2)),
    "n_words": 3,
}


@pytest.fixture
def chain():
    chain = tiny_chain("scntm", topics=3, **CORPUS)
    for _ in range(20):
        chain.step()
    return chain


def counts_by_node(chain):
    customers = {n: row.tolist() for n, row in enumerate(chain.state.topics.customers)}
    tables = {n: row.tolist() for n, row in enumerate(chain.state.topics.tables)}
    return customers, tables


def test_document_topics_is_the_recovered_vector(chain):
    means = TinyPosterior(chain).means(*counts_by_node(chain))
    out = np.zeros(3)
    for d in range(3):
        node = chain.layout.citation_node + d
        document_topics(
            chain.layout,
            chain.state.topics,
            chain.state.parameters,
            chain.citation_level,
            node,
            out,
        )
        np.testing.assert_allclose(out, means[node], rtol=1e-12)


def test_total_rate_is_the_sum_over_all_pairs_and_topics(chain):
    chain.rebuild_exponent()
    expected = TinyPosterior(chain).rate(*counts_by_node(chain))
    assert total_rate(chain.exponent, chain.state.parameters) == pytest.approx(expected, rel=1e-12)


def joint(chain, counts):
    """log of the product of f* over all topic-side nodes."""
    parameters = chain.state.parameters
    starts = chain.layout.level_start
    value = log_root(counts.customers[0].tolist(), *_root(parameters))
    for level in range(1, len(starts) - 1):
        for n in range(starts[level], starts[level + 1]):
            value += log_node(
                counts.customers[n].tolist(),
                counts.tables[n].tolist(),
                parameters.topic_discount[level],
                parameters.topic_concentration[n],
            )
    return value


def _root(parameters):
    return float(parameters.topic_discount[0]), float(parameters.topic_concentration[0])


def rows_above(layout, level, node):
    """List the nodes from the root down to one of the given level."""
    row = np.zeros(level + 1, np.int64)
    for lower in range(level, -1, -1):
        row[lower] = node
        node = layout.parent[node]
    return row


@pytest.mark.parametrize("topic", range(3))
def test_path_weight_sums_the_joint_over_all_depths(chain, topic):
    """Add a customer at each possible depth, weighed by f and its binomials: their sum is it."""
    level = chain.citation_level
    node = chain.layout.citation_node
    path = TopicPath(rows_above(chain.layout, level, node), topic)
    weight = path_weight(
        chain.tables, chain.state.topics, chain.state.parameters, path, level, new_climb(4)
    )
    before = joint(chain, chain.state.topics)
    total = 0.0
    for depth in range(1, level + 2):
        counts = type(chain.state.topics)(*(a.copy() for a in chain.state.topics))
        n, indicator = node, 0.0
        for step in range(depth):
            c, t = int(counts.customers[n, topic]), int(counts.tables[n, topic])
            counts.customers[n, topic] += 1
            if step < level:
                opens = step + 1 < depth
                counts.tables[n, topic] += opens
                indicator += math.log(math.comb(c, t) / math.comb(c + 1, t + opens))
            n = chain.layout.parent[n]
        counts.tables[0] = np.minimum(counts.customers[0], 1)
        if (counts.tables == 0)[counts.customers > 0].any():
            continue
        total += math.exp(joint(chain, counts) - before + indicator)
    assert weight == pytest.approx(total, rel=1e-9)


def test_node_weights_are_all_path_weights(chain):
    level, node = chain.citation_level, chain.layout.citation_node + 1
    row, climb, weights = rows_above(chain.layout, level, node), new_climb(4), np.zeros(3)
    common = (chain.tables, chain.state.topics, chain.state.parameters)
    node_weights(*common, row, level, weights)
    each = [path_weight(*common, TopicPath(row, k), level, climb) for k in range(3)]
    np.testing.assert_allclose(weights / weights.sum(), each / np.sum(each), rtol=1e-12)


def test_incremental_exponent_equals_a_rebuild_through_sweeps(chain):
    """The sums kept up to date inside sweeps are those rebuilt from the counts afterwards."""
    names = ("cite_sum", "cited_sum", "cite_weight", "cited_weight")

    def kept_equals_rebuilt():
        kept = [getattr(chain.exponent, name).copy() for name in names]
        chain.rebuild_exponent()
        for name, value in zip(names, kept, strict=True):
            np.testing.assert_allclose(
                value, getattr(chain.exponent, name), rtol=1e-9, atol=1e-12, err_msg=name
            )

    for _ in range(30):
        chain.rebuild_exponent()
        chain.sweep_words()
        kept_equals_rebuilt()
        citation_sweep(
            chain.citation_level,
            chain.layout,
            chain.tables,
            chain.state,
            chain._citation_work,
            chain.exponent,
            np.zeros(4, np.int64),
        )
        kept_equals_rebuilt()
        chain.step()


def test_word_means_sum_to_one_and_likelihood_matches_numpy(chain):
    state, layout = chain.state, chain.layout
    background, means = np.zeros(3), np.zeros((3, 3))
    topic_word_means(chain.shape, state, background, means)
    assert background.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(means.sum(axis=0), 1.0)
    p = state.parameters
    alpha, beta = p.word_discount[2], p.word_concentration[1]
    document = np.repeat(np.arange(3), np.diff(layout.document_start))
    z, bits = state.assignments.topic, state.assignments.burst_table
    total = 0.0
    for d, w, k in zip(document, layout.word, z, strict=True):
        node = (document == d) & (z == k)
        own = node & (layout.word == w)
        value = (
            (alpha * bits[node].sum() + beta) * means[w, k] + own.sum() - alpha * bits[own].sum()
        )
        total += math.log(value / (beta + node.sum()))
    found = word_log_likelihood(chain.shape, layout, state, means)
    assert found == pytest.approx(total, rel=1e-12)


def test_weights_of_blocks_equal_their_numpy_line_and_picks_are_in_proportion():
    rng = np.random.default_rng(1)
    n_blocks, document = 3, (0, 0)
    shape = (n_blocks, BLOCK)
    shared, burst, word_stay, word_open, inverse, opening = rng.random((6, *shape)).astype("f4")
    stay, opened = rng.random((2, 2, *shape)).astype("f4")
    scale = rng.random(2).astype("f4")
    shared[0, ::3] = 0.0
    stay[:, 0, ::3] = 0.0  # topics without weight are never drawn
    background, factor = np.float32(0.3), np.float32(0.7)
    weights = shared
    for i in range(2):
        weights = stay[i] + opened[i] * scale[i] * weights
    weights = factor * weights * burst
    weights *= word_stay * inverse + word_open * opening * background
    rows = (
        shared, stay, opened, scale, burst, word_stay, word_open, inverse, opening, background,
    )  # fmt: skip
    mass = np.zeros(n_blocks, np.float32)
    total = weigh_blocks(document, rows, factor, mass)
    assert total == pytest.approx(weights.sum(), rel=1e-5)
    np.testing.assert_allclose(mass, weights.sum(axis=1), rtol=1e-5)
    correction = np.zeros(weights.size, np.float32)
    corrected = np.full(weights.size, -1)
    corrected[3], correction[3] = 9, 0.5
    weights[0, 3] += 0.5
    mass[0] += 0.5
    running = np.cumsum(weights.ravel())
    pick = (corrected, correction, 9)
    for k in np.flatnonzero(weights):
        middle = np.float32(running[k] - weights.ravel()[k] / 2)
        b, left = pick_block(mass, middle)
        assert pick_in_block(document, rows, factor, b, left, *pick) == k
    beyond = np.float32(1e9)
    last = np.flatnonzero(weights[0])[-1]
    assert pick_in_block(document, rows, factor, 0, beyond, *pick) == last
    assert pick_in_block(document, rows, np.float32(0.0), 1, beyond, *pick) == -1


def test_random_numbers_have_their_distributions():
    rng = new_generator(3)
    draws = np.array([uniform(rng) for _ in range(20_000)])
    assert stats.kstest(draws, "uniform").pvalue > 1e-3
    normal = np.array([standard_normal(rng) for _ in range(20_000)])
    assert stats.kstest(normal, "norm").pvalue > 1e-3
    for shape in (0.2, 1.0, 7.5):
        gamma = np.array([standard_gamma(rng, shape) for _ in range(20_000)])
        assert stats.kstest(gamma, stats.gamma(shape).cdf).pvalue > 1e-3
    logs = np.array([log_beta_complement(rng, 5, 0.3) for _ in range(20_000)])
    assert stats.kstest(np.exp(logs), stats.beta(0.3, 5).cdf).pvalue > 1e-3
    tiny = np.array([log_beta_complement(rng, 10_000_000, 0.001) for _ in range(1000)])
    assert np.isfinite(tiny).all()


SCRIPT = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from reference.tiny import tiny_chain
chain = tiny_chain("scntm", topics=3, documents=((0, 0, 1, 2), (0, 1, 1), (2, 2)), groups=(0, 0, 1),
                   citations=((0, 1), (2, 0), (1, 2)), n_words=3)
for _ in range(5):
    chain.step()
state = chain.state
digest = hashlib.sha256()
for array in (*state.topics, *state.words, *state.assignments, state.random):
    digest.update(array.tobytes())
print(digest.hexdigest())
"""


def test_kernels_run_without_the_compiler_and_draw_the_same_states():
    """NUMBA_DISABLE_JIT=1 gives the very same integers: rounding aside, it is the same program."""
    tests = str(Path(__file__).parents[2])

    def digest(**environment):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, tests],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    assert digest(NUMBA_DISABLE_JIT="1") == digest()
