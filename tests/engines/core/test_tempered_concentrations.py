"""Concentrations of a word side that weighs less than in full, against their density."""

from dataclasses import replace

import numpy as np
import pytest

from citeweave.engines.core.spec import preset
from citeweave.engines.core.tempered_concentrations import draw_tempered_concentrations
from reference.densities import draws_have_density
from reference.posterior import log_node
from reference.tiny import tiny_chain

PRIOR = np.array([2.0, 1.5])
WEIGHT = 0.3
CORPUS = {"documents": ((0, 0, 1, 2, 2), (0, 1, 1), (2, 2)), "groups": (0, 0, 1), "n_words": 3}


def nodes_of(chain, level):
    """Give customers, tables and discount of the nodes of a level of words, by what they are."""
    words, discount = chain.state.words, chain.state.parameters.word_discount
    if level == "gamma":
        found = [(words.background_customers.tolist(), words.background_tables.tolist())]
    elif level == "phi":
        rows = zip(words.customers.T.tolist(), words.tables.T.tolist(), strict=True)
        found = list(rows)
    else:
        document = np.repeat(np.arange(chain.n_documents), np.diff(chain.layout.document_start))
        shape = (chain.n_documents, chain.settings.topics, len(words.customers))
        counts = np.zeros((2, *shape), int)
        place = (document, chain.state.assignments.topic, chain.layout.word)
        np.add.at(counts[0], place, 1)
        np.add.at(counts[1], place, chain.state.assignments.burst_table)
        found = list(zip(*(each.reshape(-1, shape[2]).tolist() for each in counts), strict=True))
    return found, float(discount[("gamma", "phi", "phi'").index(level)])


@pytest.mark.parametrize("level", ["gamma", "phi", "phi'"])
def test_draws_have_the_mean_and_spread_of_their_density(level):
    chain = tiny_chain(replace(preset("scntm"), word_weight=WEIGHT), topics=3, **CORPUS)
    for _ in range(3):  # several tables somewhere
        chain.step()
    parameters = chain.state.parameters
    draws = []
    for _ in range(12_000):
        draw_tempered_concentrations(
            chain.shape, chain.layout, chain.state, PRIOR, WEIGHT, pooled=True
        )
        values = {
            "gamma": parameters.word_concentration[0],
            "phi": parameters.topic_word_concentration[0],
            "phi'": parameters.word_concentration[1],
        }
        draws.append(values[level])
    nodes, discount = nodes_of(chain, level)

    def log_density(beta):
        seated = sum(log_node(customers, tables, discount, beta) for customers, tables in nodes)
        return (PRIOR[0] - 1) * np.log(beta) - PRIOR[1] * beta + WEIGHT * seated

    draws_have_density(draws, log_density)
