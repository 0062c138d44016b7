"""Fold-in of one document by listing every state, from the paper's equations.

Nothing is shared with the kernels: Stirling numbers come from their recurrence, and means are sums
over all assignments, tables and groups.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np

from reference.posterior import log_node, table_choices


class Listed(NamedTuple):
    topic: np.ndarray
    """theta' on the level that citations see."""
    leaf: np.ndarray
    group: np.ndarray
    next_word: np.ndarray
    """Probability of a further token being each word, bursts included."""


def recover(discount, beta, parent, customers, tables):
    """eq:recover_vector, with t_k."""
    c, t = np.asarray(customers, float), np.asarray(tables, float)
    return ((discount * t.sum() + beta) * parent + c - discount * t) / (beta + c.sum())


def normalised(values):
    return np.asarray(values) / np.sum(values)


def independent_groups(base, words, links, members, prior):
    """p(b) prod_n p(w_n | b) prod_j p(cites j | b, cites any), normalised."""
    likelihood = [
        np.prod([base.nodes[b] @ base.word_topic[w] for w in words])
        * np.prod([base.nodes[b] @ base.cited[j] / (base.nodes[b] @ base.rate) for j in links])
        for b in members
    ]
    return normalised(prior * np.array(likelihood))


def half_tables(base, counts, citing):
    """Customers and tables of all levels, leaf last, tables being half the customers."""
    customers, tables = [], []
    below = np.asarray(counts)
    for level in range(len(base.discount) - 1, -1, -1):
        if level == base.seen:
            below = below + citing
        half = (below + 1) // 2
        customers.insert(0, below)
        tables.insert(0, half)
        below = half
    return customers, tables


def vectors(base, node, customers, tables):
    out = []
    parent = base.nodes[node]
    for level in range(len(base.discount)):
        parent = recover(
            base.discount[level], base.concentration[level], parent, customers[level], tables[level]
        )
        out.append(parent)
    return out


def list_paper(base, words, links, members, prior):
    """Expectation of the paper's estimate over all its draws."""
    n_topics = base.nodes.shape[1]
    group = independent_groups(base, words, links, members, prior)
    topic, leaf = np.zeros(n_topics), np.zeros(n_topics)
    nothing = np.zeros(n_topics, int)
    for share, node in zip(group, members, strict=True):
        chances = [normalised(base.nodes[node] * base.word_topic[w]) for w in words]
        for z in itertools.product(range(n_topics), repeat=len(words)):
            weight = share * np.prod([p[k] for p, k in zip(chances, z, strict=True)])
            counts = np.bincount(np.array(z, int), minlength=n_topics)
            first = vectors(base, node, *half_tables(base, counts, nothing))[base.seen]
            cited = [normalised(base.cited[j] * first) for j in links]
            for y in itertools.product(range(n_topics), repeat=len(links)):
                chance = weight * np.prod([p[k] for p, k in zip(cited, y, strict=True)])
                citing = np.bincount(np.array(y, int), minlength=n_topics)
                found = vectors(base, node, *half_tables(base, counts, citing))
                topic += chance * found[base.seen]
                leaf += chance * found[-1]
    return Listed(topic, leaf, group, np.zeros(0))


def list_posterior(base, words, links, members, prior):
    """The exact posterior of (group, z, y, tables, burst tables) below fixed nu and phi.

    The number of citations is given: each counts as one among all that might be made.
    """
    n_topics = base.nodes.shape[1]
    bursting = base.burst_concentration < math.inf
    group = np.zeros(len(members))
    topic, leaf = np.zeros(n_topics), np.zeros(n_topics)
    following = np.zeros(len(base.word_topic))
    for z in itertools.product(range(n_topics), repeat=len(words)):
        leaf_counts = np.bincount(np.array(z, int), minlength=n_topics)
        bursts = list(burst_choices(base, words, z)) if bursting else [none_burst(base, words, z)]
        for y in itertools.product(range(n_topics), repeat=len(links)):
            citing = np.bincount(np.array(y, int), minlength=n_topics)
            log_cited = sum(math.log(base.cited[j, k]) for j, k in zip(links, y, strict=True))
            for customers, tables, log_topics in climb(
                base, len(base.discount) - 1, leaf_counts, citing
            ):
                top = np.array(tables[0])
                by_group = np.array(
                    [p * np.prod(base.nodes[b] ** top) for p, b in zip(prior, members, strict=True)]
                )
                rates = [
                    vectors(base, b, customers, tables)[base.seen] @ base.rate for b in members
                ]
                by_group /= np.array(rates) ** len(links)
                for log_words, word_vectors in bursts:
                    weights = by_group * math.exp(log_topics + log_cited + log_words)
                    group += weights
                    for weight, node in zip(weights, members, strict=True):
                        found = vectors(base, node, customers, tables)
                        topic += weight * found[base.seen]
                        leaf += weight * found[-1]
                        following += weight * (found[-1] @ word_vectors)
    total = group.sum()
    return Listed(topic / total, leaf / total, group / total, following / total)


def climb(base, level, below, citing):
    """Yield (customers and tables by level, log weight without nu)."""
    if level < 0:
        yield [], [], 0.0
        return
    customers = below + citing if level == base.seen else below
    for tables in table_choices(customers.tolist()):
        value = log_node(
            customers.tolist(), tables, base.discount[level], base.concentration[level]
        )
        for upper_customers, upper_tables, more in climb(base, level - 1, np.array(tables), citing):
            yield [*upper_customers, customers], [*upper_tables, tables], value + more


def none_burst(base, words, z):
    value = sum(math.log(base.word_topic[w, k]) for w, k in zip(words, z, strict=True))
    return value, base.word_topic.T


def burst_choices(base, words, z):
    """Yield (log weight, phi'_k of all topics) for all table counts of phi'."""
    n_words, n_topics = base.word_topic.shape
    counts = np.zeros((n_topics, n_words), int)
    for w, k in zip(words, z, strict=True):
        counts[k, w] += 1
    for flat in table_choices(counts.ravel().tolist()):
        tables = np.array(flat).reshape(counts.shape)
        value = 0.0
        rows = []
        for k in range(n_topics):
            discount, beta = base.burst_discount, base.burst_concentration
            value += log_node(counts[k].tolist(), tables[k].tolist(), discount, beta)
            value += float((tables[k] * np.log(base.word_topic[:, k])).sum())
            rows.append(recover(discount, beta, base.word_topic[:, k], counts[k], tables[k]))
        yield value, np.array(rows)
