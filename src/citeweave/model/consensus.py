"""One clustering of the documents from several chains that found different ones.

Two steps. *Alignment* finds a common numbering: each chain's topics are paired with those of the
mean of all chains, by the documents they share, until no pair changes. *Consensus* is a latent
class model over the chains (a mixture for clustering ensembles): a document of class g shows topic
k in chain c with probability p_cgk, independently over chains, and EM finds classes and tables. A
chain that has split or merged a topic still contributes information, whereas it would only blur a
mean of aligned memberships.

Memberships are soft. If papers have many topics and there are few chains, memberships say too
little about each paper to keep classes apart, and EM would drop classes that every chain has.
Memberships are then sharpened (raised to a power) just enough to keep those classes alive; if no
power does, the aligned mean is the consensus.
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

__all__ = ["align_topics", "consensus_memberships"]

_ROUNDS = 50
_STEPS = 300
_FIRST_STEPS, _KEPT = 10, 6
"""If EM starts more often than ``_KEPT``, only the likeliest after a few steps go on."""
_CHANGE = 1e-4
_PSEUDO_COUNT = 0.01
_POWERS = (1.0, 1.5, 2.0, 3.0, 4.0)
_CLASS_SHARE = 0.01
"""A class counts as alive if it has at least this share of the documents."""
_MANY_TOPICS = 50
"""With more topics, EM starts only from the aligned mean: each start costs D C K^2 per step."""


def align_topics(
    memberships: Sequence[np.ndarray], *, centres: int | None = None
) -> list[np.ndarray]:
    """Find a common numbering of the topics of several chains.

    Parameters
    ----------
    memberships : sequence of ndarray, shape (D, K)
        Topics of the documents, one array per chain.
    centres : int, optional
        Begin with each of the first ``centres`` chains in turn; by default, with every chain.

    Returns
    -------
    list of ndarray of int, shape (K,)
        For each chain, its topic for common topic k; the chain that agrees best with the others
        keeps its own numbering.

    Examples
    --------
    >>> theta = np.eye(3)[[0, 0, 1, 2]]
    >>> [order.tolist() for order in align_topics([theta, theta[:, [2, 0, 1]]])]
    [[0, 1, 2], [1, 2, 0]]
    """
    best: tuple[float, list[np.ndarray]] | None = None
    for centre in memberships[:centres]:
        orders = _pair_with_centre(memberships, centre)
        mean = _mean(memberships, orders)
        agreement = sum(
            float(np.vdot(mean, member[:, order]))
            for member, order in zip(memberships, orders, strict=True)
        )
        if best is None or agreement > best[0] * (1 + 1e-12):
            best = agreement, orders
    if best is None:
        return []
    return best[1]


def _pair_with_centre(memberships: Sequence[np.ndarray], centre: np.ndarray) -> list[np.ndarray]:
    orders: list[np.ndarray] = []
    for _ in range(_ROUNDS):
        new = [linear_sum_assignment(centre.T @ member, maximize=True)[1] for member in memberships]
        if orders and all(np.array_equal(a, b) for a, b in zip(new, orders, strict=True)):
            break
        orders = new
        centre = _mean(memberships, orders)
    return orders


def _mean(memberships: Sequence[np.ndarray], orders: Sequence[np.ndarray]) -> np.ndarray:
    total = np.zeros(memberships[0].shape)
    for member, order in zip(memberships, orders, strict=True):
        total += member[:, order]
    return np.asarray(total / len(memberships))


def consensus_memberships(
    memberships: Sequence[np.ndarray], *, starts: int | None = None
) -> np.ndarray:
    """Return the probability of each consensus class for each document, shape (D, K).

    Classes are numbered like the topics of the aligned chains. EM starts from the aligned mean and
    from each chain (if there are many, only the likeliest after a few steps go on), and the highest
    likelihood wins. The procedure is deterministic.

    Parameters
    ----------
    memberships : sequence of ndarray, shape (D, K)
        Topics of the documents, one array per chain.
    starts : int, optional
        Try only the first ``starts`` chains as a start; by default, all of them. Time grows with
        their number times that of all chains.

    Examples
    --------
    >>> theta = np.eye(2)[[0, 0, 0, 1, 1, 1]]
    >>> noisy = np.eye(2)[[0, 0, 0, 0, 1, 1]]
    >>> consensus_memberships([theta, theta[:, ::-1], noisy]).argmax(axis=1).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    if len(memberships) == 1:  # classes of a single soft clustering are not identified
        return np.asarray(memberships[0] / memberships[0].sum(axis=1, keepdims=True))
    orders = align_topics(memberships, centres=starts)
    aligned = [
        np.ascontiguousarray(member[:, order], np.float64)
        for member, order in zip(memberships, orders, strict=True)
    ]
    mean = _mean(memberships, orders)
    for power in _POWERS:
        shown = [_sharpened(member, power) for member in aligned]
        classes = _likeliest_classes(shown, starts)
        if _alive(classes) >= _alive(mean):
            break
    else:
        return mean
    # a class may have moved to another topic's place: renumber by the aligned mean
    order = linear_sum_assignment(mean.T @ classes, maximize=True)[1]
    return np.asarray(classes[:, order])


def _sharpened(member: np.ndarray, power: float) -> np.ndarray:
    raised = member**power
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _alive(classes: np.ndarray) -> int:
    """Count the classes that dominate a sufficient share of the documents."""
    sizes = np.bincount(classes.argmax(axis=1), minlength=classes.shape[1])
    return int((sizes >= _CLASS_SHARE * len(classes)).sum())


def _likeliest_classes(aligned: Sequence[np.ndarray], starts: int | None) -> np.ndarray:
    """Run EM from the mean and from chains; return the classes of highest likelihood."""
    candidates = [np.mean(aligned, axis=0)]
    if candidates[0].shape[1] <= _MANY_TOPICS:
        candidates += aligned[:starts]
    shown = np.concatenate(aligned, axis=1)
    if len(candidates) > _KEPT:
        begun = [_latent_classes(shown, start, _FIRST_STEPS) for start in candidates]
        begun.sort(key=lambda run: -run[0])
        candidates = [classes for _, classes in begun[:_KEPT]]
    runs = [_latent_classes(shown, start, _STEPS) for start in candidates]
    return max(runs, key=lambda run: run[0])[1]


def _latent_classes(shown: np.ndarray, start: np.ndarray, steps: int) -> tuple[float, np.ndarray]:
    """Fit the latent class model by EM; return its log likelihood and the classes' posterior.

    ``shown`` [D, chains K] has the topics of all chains side by side.
    """
    topics = start.shape[1]
    chains = shown.shape[1] // topics
    classes = start / start.sum(axis=1, keepdims=True)
    likelihood = -np.inf
    for _ in range(steps):
        tables = (classes.T @ shown).reshape(topics, chains, topics) + _PSEUDO_COUNT
        tables /= tables.sum(axis=2, keepdims=True)
        scores = shown @ np.log(tables).reshape(topics, chains * topics).T
        scores += np.log(classes.mean(axis=0) + np.finfo(float).tiny)
        peak = scores.max(axis=1, keepdims=True)
        new = np.exp(scores - peak)
        mass = new.sum(axis=1, keepdims=True)
        likelihood = float((np.log(mass) + peak).sum())
        new /= mass
        change = float(np.abs(new - classes).max())
        classes = new
        if change < _CHANGE:
            break
    return likelihood, classes
