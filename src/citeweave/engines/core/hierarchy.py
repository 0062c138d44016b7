"""Weights of topics at the nodes of the topic side, from the root down."""

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.arrays import level_table
from citeweave.engines.core.row_places import count_at, n_places, pair_at, topic_at
from citeweave.engines.core.stirling import weight_pair

__all__ = [
    "climb_weight",
    "new_topic_weight",
    "node_weights",
    "opening_scale",
    "path_weight",
    "root_weight",
]


@inlined
def new_topic_weight(counts, parameters):
    """Weight at mu of one unused topic, before division by (beta + C); 0 if all are in use.

    A new topic has weight beta + alpha K; unused topics share it evenly, so they are exchangeable.
    """
    used = counts.total_tables[0]
    free = counts.customers.shape[1] - used
    new = parameters.topic_concentration[0] + parameters.topic_discount[0] * used
    return new / max(free, 1)


@inlined
def root_weight(counts, parameters, new, topic):
    """Return the weight of a topic at mu before division by (beta + C).

    The GEM seats each topic at its one table: c_k - alpha for a topic in use; any other has weight
    ``new``.
    """
    customers = counts.customers[0, topic]
    return customers - parameters.topic_discount[0] if customers > 0 else new


@inlined
def opening_scale(counts, parameters, level, node, parent):
    """Return the factor of a new table: (beta + alpha T) / (beta_parent + C_parent).

    If authors share a paper, it is multiplied by the contribution of the one who serves it.
    """
    top = (
        parameters.topic_concentration[node]
        + parameters.topic_discount[level] * counts.total_tables[node]
    )
    if parameters.share.shape[0] > 0:
        top *= parameters.share[node]
    return top / (parameters.topic_concentration[parent] + counts.total_customers[parent])


@inlined
def climb_weight(tables, counts, parameters, path, level, climb):
    """Return the weight of the path's topic for its node's next customer, tables summed out.

    ``climb`` receives the weights of each level l along the path, before division by (beta + C):
    A0 + B1 s (...), the nested eq:conditional_posterior.
    """
    column = index(path.column)
    weight = root_weight(counts, parameters, new_topic_weight(counts, parameters), column)
    for lower in range(1, level + 1):
        n = path.row[lower]
        weight *= opening_scale(counts, parameters, lower, n, path.row[lower - 1])
        customers, seated = pair_at(counts.customers, counts.tables, index(n), column)
        stay, opened = weight_pair(level_table(tables.topic, lower), customers, seated)
        weight = stay + opened * weight
        climb.stay[lower] = stay
        climb.weight[lower] = weight
    return weight


@hot_kernel
def path_weight(tables, counts, parameters, path, level, climb):
    """Return the probability of the path's topic for its node's next customer (`climb_weight`)."""
    weight = climb_weight(tables, counts, parameters, path, level, climb)
    node = path.row[level]
    return weight / (parameters.topic_concentration[node] + counts.total_customers[node])


@hot_kernel
def node_weights(tables, counts, parameters, row, level, weights):
    """Fill ``weights`` with every topic's weight at the node of a path, up to one common factor.

    ``row`` (int64 [levels]) has the nodes from the root to that of ``level``.
    """
    n_topics = weights.shape[0]
    new = new_topic_weight(counts, parameters)
    for k in range(n_topics):
        weights[k] = root_weight(counts, parameters, new, k)
    for lower in range(1, level + 1):
        n = row[lower]
        scale = opening_scale(counts, parameters, lower, n, row[lower - 1])
        table = level_table(tables.topic, lower)
        for k in range(n_topics):
            weights[k] *= scale
        for j in range(n_places(counts.customers, n)):
            c = count_at(counts.customers, n, j)
            if c > 0:  # few topics have customers, so this branch is cheaper than its lookups
                stay, opened = weight_pair(table, c, count_at(counts.tables, n, j))
                k = topic_at(counts.customers, n, j)
                weights[k] = stay + opened * weights[k]
