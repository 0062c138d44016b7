"""Estimates against plain NumPy, and what sums must satisfy."""

import numpy as np
import pytest

from citeweave import SCNTM
from citeweave.engines.core.estimates import Sums, add_sample, merge_sums, new_sums, take_means
from citeweave.engines.dense.chain import DenseChain
from citeweave.model.groups import build_tree
from citeweave.model.parameters import make_plan
from citeweave.model.results import name_estimates


def run_chain(corpus, *, model="scntm", seed=1, iterations=12):
    plan = make_plan(
        SCNTM(topics=5, iterations=iterations, network_from=4, model=model, chains=1).get_params()
    )
    tree = build_tree(corpus, plan.spec, eta=0, unknown="shared")
    chain = DenseChain(plan.spec, tree.data, plan.settings, seed=seed)
    chain.start()
    for _ in range(iterations):
        chain.step()
    return chain


def node_means(chain):
    """Posterior means of all nodes by eq:recover_vector, one node at a time."""
    counts, parameters, layout = chain.state.topics, chain.state.parameters, chain.layout
    means = np.zeros(counts.customers.shape)
    for level in range(len(layout.level_start) - 1):
        for node in range(layout.level_start[level], layout.level_start[level + 1]):
            a = parameters.topic_discount[level]
            b = parameters.topic_concentration[node]
            parent = means[layout.parent[node]] if level else 0.0
            own = counts.customers[node] - a * counts.tables[node]
            total = counts.total_tables[node]
            means[node] = (own + (a * total + b) * parent) / (b + counts.total_customers[node])
    return means


def rows(matrix):
    return matrix / matrix.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def chain(small):
    return run_chain(small)


def test_one_sample_equals_numpy(chain, small):
    sums = new_sums(chain)
    add_sample(chain, sums)
    means = node_means(chain)
    starts = chain.layout.level_start
    np.testing.assert_allclose(sums.nodes, rows(means[: starts[2]]), rtol=1e-12)
    theta_prime = means[starts[2] : starts[3]]
    np.testing.assert_allclose(sums.documents[0], rows(theta_prime), rtol=1e-5)
    np.testing.assert_allclose(sums.documents[1], rows(means[starts[3] :]), rtol=1e-5)
    citing, cited = small.citations.T
    weight = chain.state.parameters.topic_scale * theta_prime[citing] * theta_prime[cited]
    np.testing.assert_allclose(sums.citing, rows(weight), rtol=1e-5, atol=1e-12)


def test_word_side_equals_numpy(chain):
    sums = new_sums(chain)
    add_sample(chain, sums)
    words, parameters = chain.state.words, chain.state.parameters
    a = parameters.word_discount
    b = parameters.word_concentration[0]
    customers, tables = words.background_totals
    base = 1 / len(words.background_customers)
    own = words.background_customers - a[0] * words.background_tables
    gamma = (own + (b + a[0] * tables) * base) / (b + customers)
    np.testing.assert_allclose(sums.background, gamma, rtol=1e-12)
    b = parameters.topic_word_concentration
    phi = words.customers - a[1] * words.tables
    phi = (phi + (b + a[1] * words.total_tables) * gamma[:, None]) / (b + words.total_customers)
    used = chain.state.topics.customers[0] > 0
    np.testing.assert_allclose(sums.topic_word[:, used], phi[:, used], rtol=1e-12)
    np.testing.assert_array_equal(sums.topic_word[:, ~used], 0.0)


def test_rates_do_not_change_with_the_scale(chain):
    sums = new_sums(chain)
    add_sample(chain, sums)
    assert sums.cite.mean() == pytest.approx(1.0)
    assert sums.cited.mean() == pytest.approx(1.0)
    p = chain.state.parameters
    before = p.cite[3] * p.cited[7] * p.topic_scale
    np.testing.assert_allclose(sums.cite[3] * sums.cited[7] * sums.topic_scale, before, rtol=1e-10)


def test_means_of_equal_samples_are_the_sample(chain):
    once, thrice = new_sums(chain), new_sums(chain)
    add_sample(chain, once)
    for _ in range(3):
        add_sample(chain, thrice)
    assert thrice.samples[0] == 3
    take_means(once)
    take_means(thrice)
    for name in set(Sums._fields) - {"samples", "topic_samples"}:
        np.testing.assert_allclose(getattr(thrice, name), getattr(once, name), rtol=1e-5)


def test_topics_never_used_have_the_words_of_the_corpus(chain):
    sums = new_sums(chain)
    add_sample(chain, sums)
    sums.topic_samples[2] = 0
    sums.topic_word[:, 2] = 0.0
    means = take_means(sums)
    np.testing.assert_array_equal(means.topic_word[:, 2], means.background)
    np.testing.assert_allclose(means.topic_word.sum(axis=0), 1.0)


def test_merging_a_renamed_copy_doubles(chain):
    order = np.array([3, 0, 4, 1, 2])
    sums, other = new_sums(chain), new_sums(chain)
    add_sample(chain, sums)
    add_sample(chain, other)
    without_topics = {"samples", "background", "cite", "cited", "category"}
    without_topics |= {"contribution", "contribution_squared", "contribution_prior"}
    renamed = Sums(
        *(
            array.copy() if name in without_topics else array[..., np.argsort(order)]
            for name, array in zip(Sums._fields, other, strict=True)
        )
    )
    # topic order[k] of the renamed copy is topic k of the original
    np.testing.assert_array_equal(renamed.nodes[:, order], other.nodes)
    merge_sums(sums, renamed, order)
    for name in Sums._fields:
        np.testing.assert_allclose(getattr(sums, name), 2 * getattr(other, name), rtol=1e-6)


def test_mixtures_of_authors(small):
    chain = run_chain(small, model="np-atm")
    sums = new_sums(chain)
    add_sample(chain, sums)
    means = node_means(chain)
    layout = chain.layout
    for d in range(0, small.n_documents, 7):
        leaves = layout.leaf[layout.leaf_start[d] : layout.leaf_start[d + 1]]
        tokens = slice(layout.document_start[d], layout.document_start[d + 1])
        mixture = means[leaves[chain.state.assignments.path[tokens]]].mean(axis=0)
        np.testing.assert_allclose(sums.mixture[d], mixture / mixture.sum(), rtol=1e-5)
    assert sums.documents.shape[0] == 0
    assert sums.citing.shape[0] == 0


def test_spread_over_samples_equals_numpy(small):
    chain = run_chain(small)
    sums = new_sums(chain)
    samples = []
    for _ in range(4):
        chain.step()
        add_sample(chain, sums)
        samples.append(rows(node_means(chain)[: len(sums.nodes)]))
    tree = build_tree(small, chain.spec, eta=0, unknown="shared")
    named = name_estimates(chain.spec, sums, tree, small)
    spread = np.std(samples, axis=0, ddof=1)
    np.testing.assert_allclose(named["topic_share_sd"], spread[0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(named["level1_topic_sd"], spread[1:], rtol=1e-6, atol=1e-9)


def test_no_spread_where_a_part_of_the_samples_is_unknown(chain, small):
    tree = build_tree(small, chain.spec, eta=0, unknown="shared")
    sums, older = new_sums(chain), new_sums(chain)
    for part in (sums, older):
        add_sample(chain, part)
    older.nodes_squared[:] = np.nan  # as of a checkpoint of an older release
    merge_sums(sums, older, np.arange(5))
    named = name_estimates(chain.spec, sums, tree, small)
    assert "level1_topic" in named
    assert not [name for name in named if name.endswith("_sd")]
