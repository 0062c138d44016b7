"""The posterior of papers drawn into categories, listed; and chains that draw them, noted."""

import itertools
import math
from collections import defaultdict

import numpy as np

from citeweave.engines.dense.words import TURNS
from reference.loops import loop
from reference.posterior import TinyPosterior


class CategoryPosterior(TinyPosterior):
    """Exact posterior of assignments, categories and tables of the topic side."""

    def __init__(self, chain):
        super().__init__(chain)
        self.layout = chain.layout._replace(parent=chain.layout.parent.copy())
        self.unlabelled = chain.unlabelled
        self.known = chain.state.assignments.category.copy()
        self.n_categories = len(self.level_nodes(1))
        self.prior = chain.settings.category_prior

    def distribution(self):
        """Give the probability of every (z, y, categories, tables)."""
        found = defaultdict(float)
        documents = [range(self.n_topics)] * len(self.layout.word)
        citations = len(self.layout.citing) if self.spec.citations else 0
        shared = range(1, len(self.layout.parent))
        words = {z: self._word_total(z) for z in itertools.product(*documents)}
        for drawn in itertools.product(range(self.n_categories), repeat=len(self.unlabelled)):
            category = self.known.copy()
            category[self.unlabelled] = drawn
            papers = slice(self.layout.level_start[2], self.layout.level_start[3])
            self.layout.parent[papers] = self.layout.level_start[1] + category
            prior = math.prod(
                math.gamma(self.prior / self.n_categories + np.count_nonzero(category == c))
                for c in range(self.n_categories)
            )
            for z, total in words.items():
                leaves = self.layout.leaf[self.document]
                for y in itertools.product(range(self.n_topics), repeat=citations):
                    for tables, value in self.topic_side(leaves, z, y):
                        flat = tuple(t for n in shared for t in tables[n])
                        key = z + y + tuple(category.tolist()) + flat
                        found[key] += math.exp(value) * total * prior
        total = sum(found.values())
        return {tuple(int(x) for x in key): weight / total for key, weight in found.items()}

    def _word_total(self, z):
        return sum(math.exp(value) for *_, value in self.word_side(z))


def make_category_runner(word_sweep, citation_sweep, rebuild_exponent, category_sweep):
    """Build the loop around a set of kernels: the real ones, or broken variants of them."""

    @loop
    def run(sweeps, level, model, state, cache, work, exponent, papers, records):
        shape, layout, tables = model
        word_work, citation_work, category_work = work
        documents, turns, unlabelled, prior = papers
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
            category_sweep(
                layout,
                tables,
                state,
                unlabelled,
                prior,
                category_work,
                exponent,
                shape.network > 0,
            )
            at = 0
            for value in state.assignments.topic:
                records[sweep, at] = value
                at += 1
            if shape.network > 0:
                for value in state.assignments.citing_topic:
                    records[sweep, at] = value
                    at += 1
            for value in state.assignments.category:
                records[sweep, at] = value
                at += 1
            for value in state.topics.tables[1:].ravel():
                records[sweep, at] = value
                at += 1

    return run


def run_categories(chain, runner, sweeps):
    """Run and return the visited states of the topic side, one a row."""
    assignments = chain.state.assignments
    width = len(assignments.topic) + len(assignments.category) + chain.state.topics.tables[1:].size
    if chain.spec.citations:
        width += len(chain.layout.citing)
    records = np.zeros((sweeps, width), np.int8)
    runner(
        sweeps,
        chain.citation_level,
        (chain.shape, chain.layout, chain.tables),
        chain.state,
        chain.cache,
        (chain._work, chain._citation_work, chain.category_work),
        chain.exponent,
        ((0, chain.n_documents), TURNS, chain.unlabelled, chain.settings.category_prior),
        records,
    )
    return records
