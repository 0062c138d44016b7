"""What clusters of a network are about, by the words of their papers."""

from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.networks.counting import incidence
from citeweave.networks.network import WeightedNetwork

__all__ = ["cluster_names"]


def cluster_names(corpus: Corpus, network: WeightedNetwork, *, words: int = 3) -> list[str]:
    """Name the clusters of a network, starting with the first.

    In a network of words, a cluster is named by its largest words. In other networks it is named by
    words that its papers contain more often than the corpus does, each weighted by its term of the
    Kullback-Leibler divergence between the two. Words within a longer phrase of the name are not
    repeated.

    Parameters
    ----------
    corpus : Corpus
    network : WeightedNetwork
        With `groups`; without `papers`, or for a corpus without words, clusters are named by their
        largest nodes.
    words : int
        Number of words in each name.
    """
    groups = network.groups
    if groups is None:
        return []
    number = int(groups.max(initial=-1)) + 1
    if network.of == "word" or network.papers is None or not corpus.n_tokens:
        labels = network.labels or network.names
        order = np.lexsort((np.arange(len(groups)), -network.sizes))
        return [
            ", ".join([labels[i] for i in order if groups[i] == g][:words]) for g in range(number)
        ]
    held = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    table: Any = incidence(held, corpus.tokens, (corpus.n_documents, corpus.vocabulary_size))
    everywhere = np.asarray(table.sum(axis=0)) / table.sum()
    member: Any = incidence(np.arange(len(groups)), groups, (len(groups), number))
    counts = ((network.papers @ member).T @ table).toarray()
    names = []
    for row in counts:
        share = row / max(float(row.sum()), 1.0)
        seen = row >= min(2.0, float(row.max(initial=1.0)))  # a word of one paper names none
        score = np.zeros(len(share))
        score[seen] = share[seen] * np.log(share[seen] / everywhere[seen])
        best = np.argsort(-score, kind="stable")[: 5 * words].tolist()
        names.append(", ".join(_without_repeats([corpus.vocabulary[w] for w in best], words)))
    return names


def _without_repeats(found: list[str], most: int) -> list[str]:
    """Leave out words that are part of a phrase before or after them, plurals included."""
    kept: list[str] = []
    for word in (word.replace("_", " ") for word in found):
        if len(kept) == most:
            break
        stem = word.rstrip("s")
        if not any(stem in other or other.rstrip("s") in word for other in kept):
            kept.append(word)
    return kept
