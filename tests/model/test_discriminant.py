"""Linear discriminants: the correction of initial categories, and evidence of few labels."""

import numpy as np
import pytest
from scipy.special import softmax

from citeweave.model.discriminant import SHRINKAGE, STEPS, correct_clusters, learn_discriminant


def likelihoods(rows, labels):
    """Log density of rows under the normal distribution of each cluster, up to a constant."""
    means = np.stack([rows[labels == kind].mean(axis=0) for kind in np.unique(labels)])
    around = rows - means[labels]
    spread = around.T @ around / len(rows)
    even = np.trace(spread) / len(spread) * np.eye(len(spread))
    inverse = np.linalg.inv((1 - SHRINKAGE) * spread + SHRINKAGE * even)
    apart = rows[:, None, :] - means
    return -np.einsum("dcr,rs,dcs->dc", apart, inverse, apart) / 2


def by_definition(labels, *views):
    """Assign rows to clusters, none of which is empty, by the density of each."""
    shares = np.log(np.bincount(labels) / len(labels))
    return (shares + sum(likelihoods(rows, labels) for rows in views)).argmax(axis=1)


@pytest.fixture(scope="module")
def wide():
    """Three clusters, wide in a direction that tells them apart little, as k-means divides them."""
    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1, 2], [150, 100, 50])
    centres = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.0, 1.0, 2.0]])
    rows = centres[truth] + rng.standard_normal((300, 3)) * [2.0, 0.5, 0.5]
    closest = ((rows[:, None, :] - centres) ** 2).sum(axis=2).argmin(axis=1)
    return rows, truth, closest


def test_documents_go_where_they_are_most_probable(wide):
    rows, truth, closest = wide
    found = correct_clusters([rows], closest, 3)
    np.testing.assert_array_equal(found, by_definition(closest, rows))
    assert np.mean(found == truth) > np.mean(closest == truth)


def test_numbers_of_clusters_do_not_matter(wide):
    rows, _, closest = wide
    found = correct_clusters([rows], closest, 3)
    order = np.array([4, 0, 2])  # clusters 1 and 3 are empty
    np.testing.assert_array_equal(correct_clusters([rows], order[closest], 5), order[found])


def test_clusters_without_spread_stay():
    labels = np.array([0, 0, 1, 1, 1])
    np.testing.assert_array_equal(correct_clusters([np.eye(2)[labels]], labels, 2), labels)
    np.testing.assert_array_equal(correct_clusters([np.zeros((5, 2))], labels, 2), labels)


def test_no_cluster_is_emptied():
    """A single document amid a large cluster would be drawn into it."""
    rows = np.random.default_rng(1).standard_normal((50, 2))
    rows[7] = rows.mean(axis=0)
    labels = np.zeros(50, np.int64)
    labels[7] = 1
    assert set(by_definition(labels, rows)) == {0}
    np.testing.assert_array_equal(correct_clusters([rows], labels, 2), labels)


def test_sets_of_coordinates_count_as_independent(wide):
    """Side by side they would be correlated; the same set twice counts twice."""
    rows, _, closest = wide
    other = np.random.default_rng(5).standard_normal((len(rows), 2)) + closest[:, None]
    expected = by_definition(closest, rows, other)
    np.testing.assert_array_equal(correct_clusters([rows, other], closest, 3), expected)
    without = correct_clusters([rows, np.zeros((len(rows), 2))], closest, 3)
    np.testing.assert_array_equal(without, correct_clusters([rows], closest, 3))


def half_labelled(seed=5, papers=400, labelled=10):
    """Two groups along the second of three axes, much wider along the first."""
    rng = np.random.default_rng(seed)
    group = np.arange(papers) % 2
    rows = rng.standard_normal((papers, 3)) * [2.0, 0.4, 0.4]
    rows[:, 1] += group
    known = np.full(papers, -1)
    known[:labelled] = group[:labelled]
    return rows, group, known


def plain_discriminant(rows, known, clusters):
    """The same in the plainest words, with every document in a loop of EM over all of them."""
    weight = np.where(known >= 0, 1.0, (known >= 0).sum() / (known < 0).sum())
    member = np.zeros((len(rows), clusters))
    member[known >= 0] = np.eye(clusters)[known[known >= 0]]
    spread = np.cov(rows.T, bias=True)
    means = np.stack([rows[known == c].mean(axis=0) for c in range(clusters)])
    share = np.ones(clusters) / clusters
    for step in range(STEPS + 1):
        evenly = np.trace(spread) / len(spread) * np.eye(len(spread))
        inverse = np.linalg.inv((1 - SHRINKAGE) * spread + SHRINKAGE * evenly)
        scores = rows @ inverse @ means.T - 0.5 * np.diag(means @ inverse @ means.T)
        if step == STEPS:
            return scores
        odds = softmax(scores + np.log(share), axis=1)
        member[known < 0] = odds[known < 0]
        weighed = member * weight[:, None]
        size = weighed.sum(axis=0)
        means, share = weighed.T @ rows / size[:, None], size / size.sum()
        spread = (
            sum(
                weighed[d, c] * np.outer(rows[d] - means[c], rows[d] - means[c])
                for d in range(len(rows))
                for c in range(clusters)
            )
            / size.sum()
        )
    raise AssertionError


def test_a_discriminant_of_few_labels_equals_the_plain_one():
    rows, _, known = half_labelled(papers=60)
    expected = plain_discriminant(rows, known, 2)
    np.testing.assert_allclose(learn_discriminant(rows, known).scores(rows), expected, rtol=1e-9)


def test_papers_without_a_label_show_what_does_not_tell_groups_apart():
    """With ten labels, means differ along the wide axis by chance; the others correct that."""
    right, alone = [], []
    for seed in range(10):
        rows, group, known = half_labelled(seed)
        found = learn_discriminant(rows, known).scores(rows).argmax(axis=1)
        right.append((found == group)[10:].mean())
        means = np.stack([rows[:10][group[:10] == c].mean(axis=0) for c in range(2)])
        nearest = np.square(rows[:, None] - means).sum(axis=2).argmin(axis=1)
        alone.append((nearest == group)[10:].mean())
    assert np.mean(right) > np.mean(alone) + 0.05


def test_a_discriminant_without_spread_says_nothing():
    known = np.array([0, 1, -1, -1])
    np.testing.assert_array_equal(learn_discriminant(np.ones((4, 3)), known).slopes, 0.0)


def test_a_discriminant_of_labelled_papers_alone():
    rows, group, _ = half_labelled(papers=40)
    found = learn_discriminant(rows, group).scores(rows).argmax(axis=1)
    assert np.mean(found == group) > 0.8
