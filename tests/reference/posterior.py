"""The whole posterior of a tiny corpus, listed state by state from the paper's equations.

Nothing here is shared with the sampler but the arrays that describe the corpus: counts are
built from scratch, Stirling numbers by their recurrence, the citation exponential by summing
eq:approx_network_likelihood over all pairs of documents.
"""

import itertools
import math
from collections import defaultdict
from functools import cache

import numpy as np


@cache
def stirling(c, t, discount):
    if c == 0 and t == 0:
        return 1.0
    if t < 1 or t > c:
        return 0.0
    return stirling(c - 1, t - 1, discount) + (c - 1 - t * discount) * stirling(c - 1, t, discount)


def log_node(customers, tables, discount, beta):
    """log f* of one node (eq:modularized_likelihood)."""
    value = sum(math.log(beta + j * discount) for j in range(sum(tables)))
    value -= sum(math.log(beta + j) for j in range(sum(customers)))
    for c, t in zip(customers, tables, strict=True):
        if c:
            value += math.log(stirling(c, t, discount))
    return value


def log_root(customers, discount, beta):
    """log f of mu: a GEM, with topics in slots that are all alike."""
    slots = len(customers)
    used = sum(c > 0 for c in customers)
    value = log_node(customers, [min(c, 1) for c in customers], discount, beta)
    return value + math.lgamma(slots - used + 1) - math.lgamma(slots + 1)


def table_choices(customers):
    """All table counts with 1 <= t <= c where c > 0."""
    flat = [range(1, c + 1) if c else (0,) for c in customers]
    return itertools.product(*flat)


class TinyPosterior:
    """Exact posterior of the assignments and table counts of a chain's corpus."""

    def __init__(self, chain):
        self.layout = chain.layout
        self.spec = chain.spec
        self.parameters = chain.state.parameters
        self.n_topics = chain.settings.topics
        self.n_levels = len(chain.spec.topic_side)
        self.n_words = chain.state.words.customers.shape[0]
        self.n_documents = len(self.layout.document_start) - 1
        self.citation_level = self.n_levels - 1 - chain.spec.below_citations
        self.document = np.repeat(np.arange(self.n_documents), np.diff(self.layout.document_start))

    def level_nodes(self, level):
        return range(self.layout.level_start[level], self.layout.level_start[level + 1])

    def topic_side(self, leaves, topics, citing_topics, own=()):
        """Yield (tables of all nodes below the root, log weight), level by level upwards.

        ``own`` are the numbers of self-citations by document and topic, one after the other.
        """
        zero = {n: [0] * self.n_topics for n in range(len(self.layout.parent))}
        for leaf, k in zip(leaves, topics, strict=True):
            zero[leaf][k] += 1
        yield from self._climb(self.n_levels - 1, zero, {}, 0.0, (citing_topics, own))

    def _climb(self, level, customers, tables, value, network):
        citing_topics, own = network
        if level == self.citation_level and self.spec.citations:
            customers = {n: list(c) for n, c in customers.items()}
            for e, k in enumerate(citing_topics):
                customers[self.layout.citation_node + self.layout.citing[e]][k] += 1
                customers[self.layout.citation_node + self.layout.cited[e]][k] += 1
            for i, n in enumerate(own):
                d, k = divmod(i, self.n_topics)
                customers[self.layout.citation_node + d][k] += 2 * n
        discount = float(self.parameters.topic_discount[level])
        if level == 0:
            value += log_root(customers[0], discount, self.parameters.topic_concentration[0])
            if self.spec.citations:
                value -= self.rate(customers, tables)
                value += sum(math.log(self.parameters.topic_scale[k]) for k in citing_topics)
                value += sum(self._self_weight(i, n) for i, n in enumerate(own))
            yield tables, value
            return
        nodes = list(self.level_nodes(level))
        for choice in itertools.product(*(list(table_choices(customers[n])) for n in nodes)):
            above = {n: list(c) for n, c in customers.items()}
            here = dict(tables)
            more = value
            for n, t in zip(nodes, choice, strict=True):
                here[n] = t
                more += log_node(customers[n], t, discount, self.parameters.topic_concentration[n])
                for k in range(self.n_topics):
                    above[self.layout.parent[n]][k] += t[k]
            yield from self._climb(level - 1, above, here, more, network)

    def _self_weight(self, i, n):
        """Log of (lambda+_d lambda-_d lambdaT_k)^n / n!, its customers and exponential apart."""
        p, (d, k) = self.parameters, divmod(i, self.n_topics)
        return n * math.log(p.cite[d] * p.cited[d] * p.topic_scale[k]) - math.lgamma(n + 1)

    def means(self, customers, tables):
        """Posterior means of all nodes by eq:recover_vector, root first."""
        means = {}
        for level in range(self.citation_level + 1):
            discount = self.parameters.topic_discount[level]
            for n in self.level_nodes(level):
                c = np.array(customers[n], float)
                t = np.minimum(c, 1.0) if level == 0 else np.array(tables[n], float)
                beta = self.parameters.topic_concentration[n]
                above = np.zeros(self.n_topics) if level == 0 else means[self.layout.parent[n]]
                means[n] = (discount * t.sum() + beta) * above + c - discount * t
                means[n] /= beta + c.sum()
        return means

    def rate(self, customers, tables):
        """Sum of lambda+_i lambda-_j lambdaT_k theta'_ik theta'_jk over all i, j and k."""
        means = self.means(customers, tables)
        total = 0.0
        for i in range(self.n_documents):
            for j in range(self.n_documents):
                pair = means[self.layout.citation_node + i] * means[self.layout.citation_node + j]
                total += (
                    self.parameters.cite[i]
                    * self.parameters.cited[j]
                    * float(pair @ self.parameters.topic_scale)
                )
        return total

    def word_side(self, topics):
        """Yield (burst tables by token run, phi tables, gamma tables, log weight)."""
        for *tables, value in self._seatings(topics):
            yield *tables, self.spec.word_weight * value

    def _seatings(self, topics):
        """Yield the same, words counting in full."""
        p = self.parameters
        burst = self.spec.word_level("document-topic") is not None
        runs = defaultdict(int)
        for d, w, k in zip(self.document, self.layout.word, topics, strict=True):
            runs[d, k, w] += 1
        keys = sorted(runs)
        choices = (
            itertools.product(*(range(1, runs[key] + 1) for key in keys))
            if burst
            else [tuple(runs[key] for key in keys)]
        )
        for choice in choices:
            value = 0.0
            if burst:
                nodes = defaultdict(lambda: ([], []))
                for (d, k, w), t in zip(keys, choice, strict=True):
                    nodes[d, k][0].append(runs[d, k, w])
                    nodes[d, k][1].append(t)
                for c, t in nodes.values():
                    value += log_node(c, t, p.word_discount[2], p.word_concentration[1])
            phi = np.zeros((self.n_words, self.n_topics), int)
            for (_, k, w), t in zip(keys, choice, strict=True):
                phi[w, k] += t
            for flat in table_choices(phi.ravel()):
                phi_tables = np.array(flat).reshape(phi.shape)
                more = value + sum(
                    log_node(
                        phi[:, k].tolist(),
                        phi_tables[:, k].tolist(),
                        p.word_discount[1],
                        p.topic_word_concentration[k],
                    )
                    for k in range(self.n_topics)
                )
                gamma = phi_tables.sum(axis=1)
                if self.spec.word_level("corpus") is None:
                    yield (
                        dict(zip(keys, choice, strict=True)),
                        phi_tables,
                        gamma,
                        more - int(gamma.sum()) * math.log(self.n_words),
                    )
                    continue
                for gamma_tables in table_choices(gamma):
                    last = more + log_node(
                        gamma.tolist(), gamma_tables, p.word_discount[0], p.word_concentration[0]
                    )
                    last -= sum(gamma_tables) * math.log(self.n_words)
                    yield (
                        dict(zip(keys, choice, strict=True)),
                        phi_tables,
                        np.array(gamma_tables),
                        last,
                    )

    def _self_choices(self, most):
        """All numbers of self-citations by document and topic, at most so many together."""
        if most == 0:
            return [()]
        places = self.n_documents * self.n_topics
        every = itertools.product(range(most + 1), repeat=places)
        return [own for own in every if sum(own) <= most]

    def distribution(self, *, most_self=0):
        """Give the marginal of (z, path, y, topic-side tables) and of (z, word-side tables).

        With ``most_self``, self-citations are unknown, and their numbers follow y.
        """
        topic_keys = defaultdict(float)
        word_keys = defaultdict(float)
        n_tokens = len(self.layout.word)
        n_citations = len(self.layout.citing) if self.spec.citations else 0
        first = self.layout.leaf_start
        options = [range(first[d + 1] - first[d]) for d in self.document]
        shared = list(range(1, len(self.layout.parent)))
        for z in itertools.product(range(self.n_topics), repeat=n_tokens):
            words = [
                (self._word_key(z, burst, phi, gamma), math.exp(value))
                for burst, phi, gamma, value in self.word_side(z)
            ]
            word_total = sum(weight for _, weight in words)
            topic_total = 0.0
            for path in itertools.product(*options):
                leaves = [
                    self.layout.leaf[first[d] + p] for d, p in zip(self.document, path, strict=True)
                ]
                prior = -sum(math.log(len(o)) for o in options)
                for y in itertools.product(range(self.n_topics), repeat=n_citations):
                    for own in self._self_choices(most_self):
                        for tables, value in self.topic_side(leaves, z, y, own):
                            flat = tuple(t for n in shared for t in tables[n])
                            shown = path if self.spec.words_choose_author else ()
                            weight = math.exp(value + prior)
                            topic_keys[z + shown + y + own + flat] += weight * word_total
                            topic_total += weight
            for key, weight in words:
                word_keys[key] += weight * topic_total
        return _normalise(topic_keys), _normalise(word_keys)

    def _word_key(self, z, burst, phi, gamma):
        bits = []
        left = dict(burst)
        if self.spec.word_level("document-topic") is not None:
            for d, w, k in zip(self.document, self.layout.word, z, strict=True):
                bits.append(1 if left[d, k, w] > 0 else 0)
                left[d, k, w] -= 1
        tail = gamma.tolist() if self.spec.word_level("corpus") is not None else []
        return tuple(z) + tuple(bits) + tuple(phi.ravel().tolist()) + tuple(tail)


def _normalise(weights):
    total = sum(weights.values())
    return {tuple(int(x) for x in key): weight / total for key, weight in weights.items()}
