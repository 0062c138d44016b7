"""Words smoothed over citations, against dense matrices written out."""

import numpy as np
import pytest

from citeweave.corpus import Corpus
from citeweave.model.smoothing import low_pass, normalised_graph, smooth, smooth_new, tfidf


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(4)
    tokens = rng.integers(0, 12, (9, 6)).tolist()
    pairs = [(0, 1), (1, 0), (1, 2), (3, 1), (4, 5), (5, 6), (2, 6)]  # 7 and 8 have none
    return Corpus.from_lists(tokens=[[f"w{w}" for w in row] for row in tokens], citations=pairs)


def dense_graph(corpus, *, loops):
    links = np.zeros((corpus.n_documents,) * 2)
    links[tuple(corpus.citations.T)] = 1.0
    links = np.maximum(links, links.T) + np.eye(len(links)) * loops
    root = np.sqrt(np.maximum(links.sum(axis=1), 1.0))
    return links / root[:, None] / root


def test_words_weigh_by_their_rarity(corpus):
    counts = np.zeros((corpus.n_documents, corpus.vocabulary_size))
    rows = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    np.add.at(counts, (rows, corpus.tokens), 1.0)
    held = (counts > 0).sum(axis=0)
    wanted = np.where(counts > 0, 1.0 + np.log(np.maximum(counts, 1.0)), 0.0)
    wanted *= np.log((1 + len(counts)) / (1 + held))
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    assert tfidf(corpus).toarray() == pytest.approx(wanted)
    some = corpus.subset([3, 1])
    assert tfidf(some, corpus).toarray() == pytest.approx(wanted[[3, 1]])
    assert tfidf(some).toarray() != pytest.approx(wanted[[3, 1]])


@pytest.mark.parametrize("loops", [True, False])
def test_the_graph_is_normalised_on_both_sides(corpus, loops):
    wanted = dense_graph(corpus, loops=loops)
    graph = normalised_graph(corpus, loops=loops)
    assert graph.toarray() == pytest.approx(wanted)
    half = low_pass(graph)
    assert half.toarray() == pytest.approx((np.eye(len(wanted)) + wanted) / 2)
    columns = np.random.default_rng(0).normal(size=(len(wanted), 2))
    power = np.linalg.matrix_power(half.toarray(), 3)
    assert smooth(half, columns, 3) == pytest.approx(power @ columns)


@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_new_documents_read_the_training_documents_and_leave_them(corpus, half, steps):
    links = np.array([[0, 1], [0, 6], [1, 4], [0, 1]])  # one of them twice, and a third with none
    rng = np.random.default_rng(1)
    old, new = rng.normal(size=(corpus.n_documents, 2)), rng.normal(size=(3, 2))
    n = corpus.n_documents
    graph = np.zeros((n + 3, n + 3))
    graph[:n, :n] = dense_graph(corpus, loops=True)
    degrees = (dense_graph(corpus, loops=True) > 0).sum(axis=1)
    for i, own in enumerate((3, 2, 1)):
        graph[n + i, n + i] = 1.0 / own
        for j in {j for k, j in links.tolist() if k == i}:
            graph[n + i, j] = 1.0 / np.sqrt(own * degrees[j])
    if half:
        graph = (np.eye(n + 3) + graph) / 2
    wanted = np.linalg.matrix_power(graph, steps) @ np.concatenate([old, new])
    found = smooth_new(corpus, old, new, links, steps, half=half)
    assert found == pytest.approx(wanted[n:])
