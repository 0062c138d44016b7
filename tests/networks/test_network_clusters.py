"""Clusters: communities found, numbered by size, each in one piece, and named."""

import networkx as nx
import numpy as np
import pytest

from citeweave.corpus import Corpus
from citeweave.networks import WeightedNetwork, cluster, network_of
from citeweave.networks.describing import cluster_names

TWO = [(a, b, 5) for group in ("abcd", "wxyz") for a in group for b in group if a < b]


def test_two_cliques_are_two_clusters_the_larger_first() -> None:
    sizes = dict.fromkeys("abcd", 1) | dict.fromkeys("wxyz", 9)
    network = WeightedNetwork.from_edges([*TWO, ("a", "z", 1)], of="letter", sizes=sizes)
    found = cluster(network)
    assert dict(zip(found.names, found.groups.tolist(), strict=True)) == (
        dict.fromkeys("wxyz", 0) | dict.fromkeys("abcd", 1)
    )
    assert cluster(network, seed=3).groups.tolist() == found.groups.tolist()


def test_resolution_makes_clusters_smaller() -> None:
    network = WeightedNetwork.from_edges([*TWO, ("a", "z", 4)], of="letter")
    one = cluster(network, resolution=0.01).groups
    many = cluster(network, resolution=5.0).groups
    assert one.max() == 0
    assert many.max() == 7


def test_parts_without_a_link_are_clusters_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nx.community, "louvain_communities", lambda graph, **_: [set(graph.nodes)])
    found = cluster(WeightedNetwork.from_edges(TWO, of="letter"))
    assert np.bincount(found.groups).tolist() == [4, 4]


def test_clusters_are_named_by_words_of_their_papers_that_others_lack() -> None:
    # papers 0 to 2 are cited by 6, 3 to 5 by 7
    tokens = [["common", "red_fox", "red"]] * 3 + [["common", "blue", "blue"]] * 3
    tokens += [["common"], ["common"]]
    citations = [(6, 0), (6, 1), (6, 2), (7, 3), (7, 4), (7, 5)]
    corpus = Corpus.from_lists(tokens=tokens, citations=citations)
    network = network_of(corpus, "co-citation")
    names = cluster_names(corpus, network, words=1)
    of_paper = {
        int(key): names[g] for key, g in zip(network.keys, network.groups.tolist(), strict=True)
    }
    assert of_paper[0] in {"red fox", "red"}
    assert of_paper[3] == "blue"
    three = cluster_names(corpus, network, words=3)
    assert not any("red" in name.split(", ") and "red fox" in name for name in three)


def test_clusters_of_words_are_named_by_their_largest() -> None:
    corpus = Corpus.from_lists(tokens=[["a", "b"]] * 3 + [["a"], ["c", "d"], ["c", "d"], ["c"]])
    network = network_of(corpus, "co-words")
    assert cluster_names(corpus, network, words=1) == ["a", "c"]
