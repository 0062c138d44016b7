"""Moves of one customer below a fixed base measure, and the weights that they are drawn by.

As `engines.core.hierarchy`, for one document whose parent nu does not change: ``counts`` are c
and t [2, levels, topics], ``totals`` their sums [2, levels], ``weights`` A0 and B1 of every entry.
"""

from citeweave.compiled import hot_kernel
from citeweave.engines.core.arrays import level_table
from citeweave.engines.core.random import uniform
from citeweave.engines.core.stirling import weight_pair

__all__ = [
    "accept",
    "addition_depth",
    "citing_rate",
    "move_burst",
    "move_customer",
    "nested_weight",
    "opening_scales",
    "pick",
    "removal_depth",
]


@hot_kernel
def _refresh(tables_of, counts, weights, level, k):
    """Renew A0 and B1 of a topic on one level."""
    stay, opened = weight_pair(
        level_table(tables_of, level), counts[0, level, k], counts[1, level, k]
    )
    weights[0, level, k] = stay
    weights[1, level, k] = opened


@hot_kernel
def opening_scales(discount, concentration, totals, scales):
    """Factors of a new table, (beta + alpha T) / (beta_parent + C_parent); nu sums to 1."""
    for level in range(discount.shape[0]):
        above = 1.0 if level == 0 else concentration[level - 1] + totals[0, level - 1]
        scales[level] = (concentration[level] + discount[level] * totals[1, level]) / above


@hot_kernel
def nested_weight(weights, scales, nodes, node, level, k):
    """Weight of a topic on a level before division by (beta + C): A0 + B1 s (...)."""
    value = nodes[node, k]
    for upper in range(level + 1):
        value = weights[0, upper, k] + weights[1, upper, k] * scales[upper] * value
    return value


@hot_kernel
def removal_depth(rng, counts, level, k):
    """Draw how many levels a customer takes a table along, u ~ Bernoulli(t / c); -1 if blocked."""
    depth = 0
    for upper in range(level, -1, -1):
        c = counts[0, upper, k]
        t = counts[1, upper, k]
        if t < c:
            if uniform(rng) * c >= t:
                return depth
            if t == 1:
                return -1
        depth += 1
    return depth


@hot_kernel
def addition_depth(rng, weights, scales, nodes, node, level, k):
    """Draw on how many levels a new customer opens a table."""
    depth = 0
    for upper in range(level, -1, -1):
        stay = weights[0, upper, k]
        if (
            stay > 0.0
            and uniform(rng) * nested_weight(weights, scales, nodes, node, upper, k) < stay
        ):
            return depth
        depth += 1
    return depth


@hot_kernel
def move_customer(tables_of, counts, totals, weights, level, k, depth, sign):
    """Add or remove a customer who has a table of its own on ``depth`` levels."""
    for step in range(min(depth, level) + 1):
        upper = level - step
        counts[0, upper, k] += sign
        totals[0, upper] += sign
        if step < depth:
            counts[1, upper, k] += sign
            totals[1, upper] += sign
        _refresh(tables_of, counts, weights, upper, k)


@hot_kernel
def move_burst(burst, run, k, table, sign):
    """Add or remove a customer of phi'_dk at the word at hand, with a table or without."""
    run[0, k] += sign
    run[1, k] += sign * table
    burst[0, k] += sign
    burst[1, k] += sign * table


@hot_kernel
def pick(rng, masses, total):
    """Draw a place by its mass."""
    target = uniform(rng) * total
    last = 0
    for k in range(masses.shape[0]):
        if target < masses[k]:
            return k
        target -= masses[k]
        if masses[k] > 0.0:
            last = k
    return last


@hot_kernel
def citing_rate(base_arrays, counts, totals, node, seen):
    """Rate of citing any training document, ``theta' @ rate``, theta' by eq:recover_vector."""
    _, nodes, discount, concentration, rate, _, _ = base_arrays
    total = 0.0
    for k in range(nodes.shape[1]):
        mean = nodes[node, k]
        for level in range(seen + 1):
            own = counts[0, level, k] - discount[level] * counts[1, level, k]
            share = concentration[level] + discount[level] * totals[1, level]
            mean = (share * mean + own) / (concentration[level] + totals[0, level])
        total += mean * rate[k]
    return total


@hot_kernel
def accept(rng, before, after, n_links):
    """Whether a move stands that changes the rate of citing, under ``rate ** -n_links``."""
    return after <= before or uniform(rng) < (before / after) ** n_links
