"""The posterior of papers that several authors share, listed; and chains that draw it, noted."""

import itertools
import math
from collections import defaultdict

import numpy as np

from citeweave.engines.dense.words import TURNS
from reference.loops import loop
from reference.posterior import TinyPosterior, log_node, table_choices


def splits(total, parts):
    """All ways to share a number of tables out."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in splits(total - first, parts - 1):
            yield (first, *rest)


class AuthorPosterior(TinyPosterior):
    """Exact posterior of assignments, tables, who serves them and who serves the next.

    Contributions are summed out: a paper's tables and the next one are a draw from a
    Dirichlet-multinomial.
    """

    def __init__(self, chain):
        super().__init__(chain)
        self.layout = chain.layout._replace(parent=chain.layout.parent.copy())
        self.mass = chain.author_work.authors @ chain.state.parameters.contribution_prior
        self.first = int(chain.layout.level_start[chain.spec.n_shared])
        self.shared = np.flatnonzero(np.diff(self.layout.server_start))

    def servers(self, d):
        """Give the places of a paper's authors."""
        return range(self.layout.server_start[d], self.layout.server_start[d + 1])

    def distribution(self):
        """Give the probability of every (z, y, tables, tables served, servers)."""
        found = defaultdict(float)
        topics = range(self.n_topics)
        citations = len(self.layout.citing) if self.spec.citations else 0
        leaves = self.layout.leaf[self.document]
        nodes = range(1, len(self.layout.parent))
        for z in itertools.product(topics, repeat=len(self.layout.word)):
            words = sum(math.exp(value) for *_, value in self.word_side(z))
            for lead in itertools.product(*(self.servers(d) for d in self.shared)):
                self.layout.parent[self.first + self.shared] = self.layout.server[list(lead)]
                self.lead = dict(zip(self.shared.tolist(), lead, strict=True))
                for y in itertools.product(topics, repeat=citations):
                    for (tables, served), value in self.topic_side(leaves, z, y):
                        flat = tuple(t for n in nodes for t in tables[n])
                        whose = tuple(t for a in sorted(served) for t in served[a])
                        server = tuple(self.lead.get(d, -1) for d in range(self.n_documents))
                        found[z + y + flat + whose + server] += math.exp(value) * words
        total = sum(found.values())
        return {tuple(int(x) for x in key): weight / total for key, weight in found.items()}

    def _climb(self, level, customers, tables, value, network):
        """Climb as the model of one author does, but where papers have several."""
        if level != self.spec.n_shared:
            shown = self.served if level < self.spec.n_shared else {}
            for here, more in super()._climb(level, customers, tables, value, network):
                yield ((here, dict(shown)), more) if level == 0 else (here, more)
            return
        yield from self._serve(customers, tables, value, network)

    def _serve(self, customers, tables, value, network):
        level = self.spec.n_shared
        citing_topics, _ = network
        if level == self.citation_level and self.spec.citations:
            customers = {n: list(c) for n, c in customers.items()}
            for e, k in enumerate(citing_topics):
                customers[self.layout.citation_node + self.layout.citing[e]][k] += 1
                customers[self.layout.citation_node + self.layout.cited[e]][k] += 1
        discount = float(self.parameters.topic_discount[level])
        nodes = list(self.level_nodes(level))
        for choice in itertools.product(*(list(table_choices(customers[n])) for n in nodes)):
            here, more = dict(tables), value
            options = []
            for d, (n, t) in enumerate(zip(nodes, choice, strict=True)):
                here[n] = t
                more += log_node(customers[n], t, discount, self.parameters.topic_concentration[n])
                options.append(list(self._shares(d, t)))
            for shares in itertools.product(*options):
                above = {n: list(c) for n, c in customers.items()}
                last = more
                self.served = {}
                for d, (share, weight) in enumerate(shares):
                    last += weight
                    for a, t in share.items():
                        node = self.layout.server[a] if a >= 0 else self.layout.parent[nodes[d]]
                        for k in range(self.n_topics):
                            above[node][k] += t[k]
                        if a >= 0:
                            self.served[a] = t
                yield from self._climb(level - 1, above, here, last, network)

    def _shares(self, d, tables):
        """Yield who serves which of a paper's tables, with log weights."""
        authors = list(self.servers(d))
        if not authors:
            yield {-1: tables}, 0.0
            return
        for split in itertools.product(*(list(splits(t, len(authors))) for t in tables)):
            served = {a: tuple(topic[i] for topic in split) for i, a in enumerate(authors)}
            value = 0.0
            for topic in split:
                value += math.lgamma(sum(topic) + 1) - sum(math.lgamma(t + 1) for t in topic)
            total = 0
            for a in authors:
                count = sum(served[a]) + (self.lead[d] == a)
                value += math.lgamma(self.mass[a] + count) - math.lgamma(self.mass[a])
                total += count
            whole = sum(self.mass[a] for a in authors)
            yield served, value + math.lgamma(whole) - math.lgamma(whole + total)


def make_author_runner(word_sweep, citation_sweep, rebuild_exponent, author_sweep):
    """Build the loop around a set of kernels: the real ones, or broken variants of them."""

    @loop
    def run(sweeps, level, model, state, cache, work, exponent, papers, records):
        shape, layout, tables = model
        word_work, citation_work, author_work = work
        documents, turns, held = papers
        tally = np.zeros(6, np.int64)
        for sweep in range(sweeps):
            if shape.network > 0:
                rebuild_exponent(layout, state.topics, state.parameters, level, exponent)
            mode = turns[sweep % len(turns)]
            word_sweep(
                shape, layout, tables, state, cache, word_work, exponent, documents, mode, tally
            )
            if shape.network > 0:
                citation_sweep(level, layout, tables, state, citation_work, exponent, tally)
                rebuild_exponent(layout, state.topics, state.parameters, level, exponent)
            author_sweep(layout, tables, state, author_work, exponent, held, shape.network > 0)
            at = 0
            for value in state.assignments.topic:
                records[sweep, at] = value
                at += 1
            if shape.network > 0:
                for value in state.assignments.citing_topic:
                    records[sweep, at] = value
                    at += 1
            for value in state.topics.tables[1:].ravel():
                records[sweep, at] = value
                at += 1
            for value in state.assignments.served.ravel():
                records[sweep, at] = value
                at += 1
            for value in state.assignments.server:
                records[sweep, at] = value
                at += 1

    return run


def run_authors(chain, runner, sweeps):
    """Run and return the visited states of the topic side, one a row."""
    assignments = chain.state.assignments
    parts = (assignments.topic, chain.state.topics.tables[1:], assignments.served)
    width = sum(part.size for part in parts) + len(assignments.server)
    if chain.spec.citations:
        width += len(chain.layout.citing)
    records = np.zeros((sweeps, width), np.int8)
    runner(
        sweeps,
        chain.citation_level,
        (chain.shape, chain.layout, chain.tables),
        chain.state,
        chain.cache,
        (chain._work, chain._citation_work, chain.author_work),
        chain.exponent,
        ((0, chain.n_documents), TURNS, np.zeros(0)),
        records,
    )
    return records
