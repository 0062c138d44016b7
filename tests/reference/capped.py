"""The posterior of partitions: which tokens and citations share a topic, under any cap on topics.

Topics that are all alike need not be told apart, so that a few assignments stand for all.
"""

import math

import numpy as np

from reference.posterior import TinyPosterior
from reference.run import distinct_rows


class CappedPosterior(TinyPosterior):
    """The exact posterior of a chain's assignments up to the names of topics.

    All topics must have the same lambdaT and beta. No more are listed than there are tokens and
    citations; the others, up to the cap, are empty.
    """

    def __init__(self, chain):
        super().__init__(chain)
        self.cap = chain.settings.topics
        n_citations = len(self.layout.citing) if self.spec.citations else 0
        self.n_topics = min(len(self.layout.word) + n_citations, self.cap)

    @property
    def n_items(self):
        return len(self.layout.word) + (len(self.layout.citing) if self.spec.citations else 0)

    def rate(self, customers, tables):
        kept = self.parameters
        self.parameters = kept._replace(topic_scale=kept.topic_scale[: self.n_topics])
        try:
            return super().rate(customers, tables)
        finally:
            self.parameters = kept

    def partitions(self):
        """Give the probability of each assignment whose topics are numbered as they come."""
        n_tokens = len(self.layout.word)
        leaves = [self.layout.leaf[self.layout.leaf_start[d]] for d in self.document]
        weights = {}
        words = {}
        for topics in growing(self.n_items, self.n_topics):
            z, y = topics[:n_tokens], topics[n_tokens:]
            if z not in words:
                words[z] = sum(math.exp(value) for *_, value in self.word_side(z))
            side = sum(math.exp(value) for _, value in self.topic_side(leaves, z, y))
            # so many assignments are this one with other names of its topics, among those listed;
            # mu's density there is one over as many, and that it is under the cap too
            names = math.perm(self.n_topics, max(topics, default=-1) + 1)
            weights[topics] = words[z] * side * names
        total = sum(weights.values())
        return {topics: weight / total for topics, weight in weights.items()}


def growing(length, most):
    """List all assignments of topics that are numbered as they come."""
    if length == 0:
        yield ()
        return
    for shorter in growing(length - 1, most):
        for k in range(min(max(shorter, default=-1) + 2, most)):
            yield (*shorter, k)


def number_as_they_come(rows):
    """Rename the topics of assignments, one a row."""
    distinct, place = distinct_rows(rows, return_inverse=True)
    renamed = []
    for row in distinct.tolist():
        names = {}
        renamed.append([names.setdefault(k, len(names)) for k in row])
    return np.array(renamed, np.int8)[place.ravel()]
