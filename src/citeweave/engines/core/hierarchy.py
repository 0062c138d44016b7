"""Moves on the topic side: one customer climbs from a node towards the root.

A customer of a node either sits at a table that is there (the climb ends) or opens one and
becomes a customer of the parent too. How many levels it reaches is its *depth*: 1 for the
node alone, up to the number of levels. The depth is all that the table indicators u of one
token say, so a move is (topic, depth) and can be undone exactly.
"""

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.arrays import level_table
from citeweave.engines.core.random import uniform
from citeweave.engines.core.stirling import weight_pair

__all__ = [
    "draw_addition",
    "draw_removal",
    "move_customer",
    "new_topic_weight",
    "node_weights",
    "opening_scale",
    "path_weight",
    "root_weight",
]


@inlined
def new_topic_weight(counts, parameters):
    """Weight at mu of one free slot, before division by (beta + C); 0 where the cap binds.

    A new topic weighs beta + alpha K; the free slots share it evenly, so they are exchangeable.
    """
    used = counts.total_tables[0]
    free = counts.customers.shape[1] - used
    new = parameters.topic_concentration[0] + parameters.topic_discount[0] * used
    return new / max(free, 1)


@inlined
def root_weight(counts, parameters, new, topic):
    """Weight of a topic at mu before division by (beta + C).

    The GEM seats each topic at its one table: c_k - alpha for a topic in use; a free slot
    weighs ``new``.
    """
    customers = counts.customers[0, topic]
    return customers - parameters.topic_discount[0] if customers > 0 else new


@inlined
def opening_scale(counts, parameters, level, node, parent):
    """Factor of a new table: (beta + alpha T) / (beta_parent + C_parent)."""
    top = (
        parameters.topic_concentration[node]
        + parameters.topic_discount[level] * counts.total_tables[node]
    )
    return top / (parameters.topic_concentration[parent] + counts.total_customers[parent])


@hot_kernel
def path_weight(tables, layout, counts, parameters, level, node, topic, path, climb):
    """Probability of the next customer of ``node`` having topic k, its tables summed out.

    ``path[l]`` and ``climb[l]`` receive, for each level l on the way, the node and its weight
    before division by (beta + C): A0 + B1 s (...), the nested eq:conditional_posterior.
    """
    n = node
    for lower in range(level, -1, -1):
        path[lower] = n
        n = layout.parent[n]
    weight = root_weight(counts, parameters, new_topic_weight(counts, parameters), topic)
    climb[0] = weight
    for lower in range(1, level + 1):
        n = path[lower]
        stay, opened = weight_pair(
            level_table(tables.topic, lower), counts.customers[n, topic], counts.tables[n, topic]
        )
        weight *= opening_scale(counts, parameters, lower, n, path[lower - 1])
        weight = stay + opened * weight
        climb[lower] = weight
    return weight / (parameters.topic_concentration[node] + counts.total_customers[node])


@hot_kernel
def node_weights(tables, layout, counts, parameters, level, node, path, weights):
    """Fill ``weights`` with every topic's ``path_weight``, up to one common factor."""
    n = node
    for lower in range(level, -1, -1):
        path[lower] = n
        n = layout.parent[n]
    n_topics = weights.shape[0]
    new = new_topic_weight(counts, parameters)
    for k in range(n_topics):
        weights[k] = root_weight(counts, parameters, new, k)
    for lower in range(1, level + 1):
        n = path[lower]
        scale = opening_scale(counts, parameters, lower, n, path[lower - 1])
        table = level_table(tables.topic, lower)
        for k in range(n_topics):
            weights[k] *= scale
        for k in range(n_topics):
            c = counts.customers[n, k]
            if c > 0:  # few topics have customers, so this branch is cheaper than its lookups
                stay, opened = weight_pair(table, c, counts.tables[n, k])
                weights[k] = stay + opened * weights[k]


@hot_kernel
def draw_addition(rng, tables, counts, level, topic, path, climb):
    """Draw how far a new customer climbs (eq:sample_counts), given ``path_weight``'s climb."""
    depth = 1
    for lower in range(level, 0, -1):
        n = path[lower]
        stay, _ = weight_pair(
            level_table(tables.topic, lower), counts.customers[n, topic], counts.tables[n, topic]
        )
        if stay > 0.0 and uniform(rng) * climb[lower] < stay:
            return depth
        depth += 1
    return depth


@inlined
def draw_removal(rng, layout, counts, level, node, topic):
    """Draw how far the customer that leaves ``node`` had climbed: u ~ Bernoulli(t / c) a level.

    Returns 0 where the removal is blocked: the customer holds the only table of others, so
    the state without it has probability zero and it must come back just as it was.
    """
    depth = 1
    n = index(node)
    topic = index(topic)
    for _ in range(level):
        c = counts.customers[n, topic]
        t = counts.tables[n, topic]
        if t < c:
            if uniform(rng) * c >= t:
                return depth
            if t == 1:
                return 0
        n = index(layout.parent[n])
        depth += 1
    return depth


@inlined
def move_customer(layout, counts, level, node, topic, depth, sign):
    """Add (sign 1) or remove (sign -1) a customer that climbs ``depth`` levels."""
    n = index(node)
    topic = index(topic)
    for step in range(depth):
        counts.customers[n, topic] += sign
        counts.total_customers[n] += sign
        if step < level:
            if step + 1 < depth:
                counts.tables[n, topic] += sign
                counts.total_tables[n] += sign
        else:  # the root: a topic's table stands while anybody sits there
            standing = 1 if counts.customers[n, topic] > 0 else 0
            counts.total_tables[n] += standing - counts.tables[n, topic]
            counts.tables[n, topic] = standing
        n = index(layout.parent[n])
