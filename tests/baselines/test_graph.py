"""Communities of the citation graph: moves that raise modularity, planted parts found."""

import numpy as np
import pytest
from scipy import sparse

from citeweave.baselines import Louvain, SpectralClustering
from citeweave.baselines._graph_kernels import move_nodes
from citeweave.baselines.graph import _keep_largest, _merge, modularity
from citeweave.baselines.matching import undirected
from citeweave.corpus import Corpus
from citeweave.errors import CorpusError, ParameterError
from citeweave.evaluate import nmi
from reference.planted import dense, planted_corpus

BOTH = pytest.mark.parametrize("kind", [Louvain, SpectralClustering])


@pytest.fixture(scope="module")
def corpus():
    return planted_corpus(groups=4, size=60, inside=10.0, outside=2.0, spread=0.6, seed=3)


def dense_modularity(links, labels, resolution=1.0):
    """Newman's sum over all pairs of nodes."""
    degrees, whole = links.sum(axis=1), links.sum()
    same = labels[:, None] == labels[None, :]
    return ((links - resolution * np.outer(degrees, degrees) / whole) * same).sum() / whole


def ring_of_cliques(cliques=6, size=5):
    """Complete graphs, each tied to the next by one link: their communities are known."""
    pairs = []
    for c in range(cliques):
        nodes = range(c * size, (c + 1) * size)
        pairs += [(i, j) for i in nodes for j in nodes if i < j]
        pairs.append((c * size, ((c + 1) % cliques) * size + 1))
    return Corpus.from_lists(tokens=[["a", "b"]] * (cliques * size), citations=pairs)


@pytest.mark.parametrize("resolution", [0.5, 1.0, 2.0])
def test_modularity_is_the_sum_over_pairs(corpus, resolution):
    labels = np.random.default_rng(0).integers(0, 5, corpus.n_documents)
    found = modularity(undirected(corpus), labels, resolution=resolution)
    assert found == pytest.approx(dense_modularity(dense(corpus)[1], labels, resolution))


def test_no_sweep_lowers_modularity_and_a_moved_node_is_at_its_best(corpus):
    graph = undirected(corpus)
    links = dense(corpus)[1]
    degrees = links.sum(axis=1)
    community = np.arange(corpus.n_documents)
    arrays = (graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data)
    rng = np.random.default_rng(1)
    before = modularity(graph, community)
    for _ in range(3):
        moved = move_nodes(*arrays, degrees, rng.permutation(len(degrees)), 1.0, community)
        after = modularity(graph, community)
        assert after >= before
        assert moved > 0 or after == before
        before = after
    # one node alone: its community is now the best of all for it
    node = 7
    move_nodes(*arrays, degrees, np.array([node]), 1.0, community)
    values = []
    for c in np.unique(community):
        other = community.copy()
        other[node] = c
        values.append(dense_modularity(links, other))
    assert modularity(graph, community) == pytest.approx(max(values))


def test_merging_keeps_modularity(corpus):
    graph = undirected(corpus)
    labels = np.random.default_rng(2).integers(0, 6, corpus.n_documents)
    merged = _merge(graph, labels)
    assert modularity(merged, np.arange(6)) == pytest.approx(modularity(graph, labels))
    assert merged.sum() == graph.sum()


def test_louvain_finds_the_cliques_of_a_ring():
    corpus = ring_of_cliques()
    model = Louvain(seed=0, restarts=3).fit(corpus)
    assert nmi(model.labels_, np.arange(corpus.n_documents) // 5) == 1.0
    assert model.facts_["communities_found"] == 6
    found = modularity(undirected(corpus), model.labels_)
    assert model.facts_["modularity"] == pytest.approx(found)


@BOTH
def test_planted_parts_are_found_and_seeds_repeat(corpus, kind):
    model = kind(topics=4, seed=5).fit(corpus)
    assert nmi(model.labels_, corpus.categories) > 0.85
    assert model.doc_topic_.sum(axis=1) == pytest.approx(np.ones(corpus.n_documents))
    assert model.topic_word_.sum(axis=1) == pytest.approx(np.ones(4))
    again = kind(topics=4, seed=5).fit(corpus)
    assert again.doc_topic_.tobytes() == model.doc_topic_.tobytes()
    # the largest cluster is topic 0
    sizes = np.bincount(model.labels_, minlength=4)
    assert (np.diff(sizes) <= 0).all()


@BOTH
def test_words_have_no_say(corpus, kind):
    rng = np.random.default_rng(0)
    other = Corpus.from_lists(
        tokens=rng.integers(0, 60, (corpus.n_documents, 5)).tolist(),
        vocabulary=corpus.vocabulary,
        citations=corpus.citations,
    )
    first, second = (kind(topics=4, seed=1).fit(part) for part in (corpus, other))
    assert (first.labels_ == second.labels_).all()


@BOTH
def test_documents_without_links_have_the_sizes_of_clusters(kind):
    links = ring_of_cliques(cliques=3)
    corpus = Corpus.from_lists(tokens=[["a"]] * 18, citations=links.citations)
    model = kind(topics=3, seed=0).fit(corpus)
    assert model.facts_["documents_without_links"] == 3
    assert model.doc_topic_[15:] == pytest.approx(np.full((3, 3), 1 / 3))


@BOTH
def test_new_documents_go_where_their_citations_lead(corpus, kind):
    model = kind(topics=4, seed=1).fit(corpus)
    new = Corpus.from_lists(tokens=[["x"], ["x"], ["x"]])
    theta = model.transform(new, links=[(0, 5), (1, 5), (1, 70), (1, 6)])
    assert theta[0] == pytest.approx(model.doc_topic_[5])
    assert theta[1] == pytest.approx(model.doc_topic_[[5, 6, 70]].mean(axis=0))
    assert theta[2] == pytest.approx(model.doc_topic_.mean(axis=0))
    with pytest.raises(ParameterError, match=r"Got \[0, 240\] in row 0"):
        model.transform(new, links=[(0, 240)])
    with pytest.raises(ParameterError, match=r"shape \(n, 2\)"):
        model.transform(new, links=[0, 1])


def test_small_communities_join_those_they_are_tied_to():
    # two large communities, a pair tied to the second, and a pair tied to none
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3])
    pairs = np.array([(0, 1), (2, 3), (4, 5), (5, 6), (7, 8), (8, 6), (9, 10), (3, 4)])
    links = np.zeros((11, 11))
    links[pairs[:, 0], pairs[:, 1]] = links[pairs[:, 1], pairs[:, 0]] = 1
    found = _keep_largest(sparse.csr_array(links), labels, 2)
    assert found.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0]
    assert _keep_largest(sparse.csr_array(links), labels, 9) is labels


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (Louvain(topics=0), "'topics' parameter of Louvain must be an integer of at least 1, or"),
        (Louvain(resolution=0.0), "greater than 0. Got 0.0"),
        (SpectralClustering(restarts=0), "Got 0"),
        (SpectralClustering(topics=None), "Got None"),
    ],
)
def test_bad_parameters(corpus, model, text):
    with pytest.raises(ParameterError, match=text):
        model.fit(corpus)


def test_corpora_that_lack_links(corpus):
    with pytest.raises(CorpusError, match="Louvain clusters documents by their citations"):
        Louvain().fit(Corpus.from_lists(tokens=[["a"], ["b"]]))
    with pytest.raises(CorpusError, match="too few for 240 spectral clusters"):
        SpectralClustering(topics=240).fit(corpus)
