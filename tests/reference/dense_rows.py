"""Counts of nodes as plain arrays: what `CompactRows` must be equal to, write by write."""

import numpy as np


class DenseRows:
    """Customers and tables of nodes, with the topics that a list of each node would hold."""

    def __init__(self, nodes, topics):
        self.counts = np.zeros((2, nodes, topics), np.int32)

    def write(self, column, node, topic, value):
        self.counts[column, node, topic] = value

    def listed(self, node):
        """Topics that are not zero in either column, ascending, with both counts."""
        topics = np.flatnonzero(self.counts[:, node].any(axis=0))
        return topics, self.counts[:, node, topics].T
