"""Compiled steps of the graph baselines and of placing words (docs/understand/baselines.md).

Kernels here call none from other files, because Numba's cache would not notice a change there.
"""

import numpy as np

from citeweave.compiled import kernel

__all__ = ["move_nodes", "place_words"]

_LEAST_GAIN = 1e-12


@kernel
def move_nodes(
    offsets: np.ndarray,
    neighbours: np.ndarray,
    weights: np.ndarray,
    degrees: np.ndarray,
    order: np.ndarray,
    resolution: float,
    community: np.ndarray,
) -> int:
    """Move each node, in this order, to where modularity grows most; return the number moved.

    The gain of a node i that joins community c is, in plain NumPy::

        weights_to[c] - resolution * degrees[i] * degrees[community == c].sum() / degrees.sum()

    Links of a node with itself (loops of merged nodes) are the same wherever it goes.
    """
    nodes = len(degrees)
    total = np.zeros(nodes)
    whole = 0.0
    for i in range(nodes):
        total[community[i]] += degrees[i]
        whole += degrees[i]
    weight_to = np.zeros(nodes)
    near = np.empty(nodes, dtype=np.int64)
    moved = 0
    for i in order:
        old = community[i]
        count = 1
        near[0] = old
        for entry in range(offsets[i], offsets[i + 1]):
            j = neighbours[entry]
            if j == i:
                continue
            c = community[j]
            if weight_to[c] == 0.0 and c != old:
                near[count] = c
                count += 1
            weight_to[c] += weights[entry]
        total[old] -= degrees[i]
        best = old
        best_gain = weight_to[old] - resolution * degrees[i] * total[old] / whole
        for place in range(count):
            c = near[place]
            gain = weight_to[c] - resolution * degrees[i] * total[c] / whole
            if gain > best_gain + _LEAST_GAIN:
                best, best_gain = c, gain
            weight_to[c] = 0.0
        total[best] += degrees[i]
        community[i] = best
        if best != old:
            moved += 1
    return moved


@kernel
def place_words(
    offsets: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    word_topic: np.ndarray,
    prior: np.ndarray,
    steps: int,
    out: np.ndarray,
) -> None:
    """Estimate topics of documents from their words, with phi and the Dirichlet prior fixed.

    For each document, it repeats (in plain NumPy)::

        q = theta * word_topic[words]                    # [n, K], rows scaled to sum to 1
        theta = prior + (counts[:, None] * q).sum(0)     # then scaled to sum to 1

    A document without (known) words keeps the mean of the prior.
    """
    topics = len(prior)
    base = prior.sum()
    weights = np.empty(topics)
    sums = np.empty(topics)
    for d in range(len(out)):
        for z in range(topics):
            out[d, z] = prior[z] / base
        if offsets[d] == offsets[d + 1]:
            continue
        for _ in range(steps):
            sums[:] = prior
            mass = base
            for entry in range(offsets[d], offsets[d + 1]):
                total = 0.0
                for z in range(topics):
                    weights[z] = out[d, z] * word_topic[words[entry], z]
                    total += weights[z]
                if total > 0.0:
                    mass += counts[entry]
                    for z in range(topics):
                        sums[z] += counts[entry] * weights[z] / total
            change = 0.0
            for z in range(topics):
                share = sums[z] / mass
                change = max(change, abs(share - out[d, z]))
                out[d, z] = share
            if change < 1e-6:
                break
