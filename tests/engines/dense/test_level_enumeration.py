"""Papers divided by venue: long-run frequencies against the listed posterior of a tree by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_enumeration import RUN

import citeweave.engines.core.word_side as word_side_module
from citeweave import Corpus, preset
from citeweave.engines.dense.chain import DenseChain
from citeweave.model.groups import build_tree
from reference.posterior import TinyPosterior
from reference.run import frequencies, marginal, run_chain, total_variation
from reference.tiny import tiny_chain

SPEC = preset("scntm").with_level("venue")
CORPUS = Corpus.from_lists(
    tokens=[["a", "a"], ["b"], ["b"]],
    authors=[["Ann"], ["Ann"], ["Bo"]],
    citations=[(0, 1)],
    metadata={"venue": ["X", "Y", "X"]},
)
BY_HAND = ([0, 0], [0, 0, 1], [0, 2, 1], [0, 1, 2])
"""Parents of venues, of Ann and Bo in X and Ann in Y, and of both levels of papers."""
SWEEPS = 400_000


def chain_on(data):
    """As ``tiny_chain``, for other papers than those that it makes."""

    def opened(spec, _, settings, seed):
        return DenseChain(spec, data, settings, seed=seed)

    modules = {"chain": SimpleNamespace(DenseChain=opened), "word_side": word_side_module}
    return tiny_chain(SPEC, modules=modules)


@pytest.fixture(scope="module")
def data():
    return build_tree(CORPUS, SPEC, eta=0, unknown="shared").data


@pytest.fixture(scope="module")
def exact(data):
    """List the posterior of the tree as it should be."""
    parents = tuple(np.array(row, np.int32) for row in BY_HAND)
    return TinyPosterior(chain_on(data._replace(parents=parents))).distribution()


def distances(exact, data):
    """Total variation of assignments, and of each side with its tables."""
    chain = chain_on(data)
    topic_seen, word_seen = map(frequencies, run_chain(chain, RUN, SWEEPS))
    width = len(chain.layout.word) + len(chain.layout.citing)
    return (
        total_variation(marginal(exact[0], width), marginal(topic_seen, width)),
        total_variation(exact[0], topic_seen),
        total_variation(exact[1], word_seen),
    )


def test_frequencies_match_the_posterior(exact, data):
    assignments, topic_side, word_side = distances(exact, data)
    assert assignments < 0.015
    assert topic_side < 0.05
    assert word_side < 0.025


def test_an_author_below_the_wrong_venue_is_seen(exact, data):
    venue, _, *papers = data.parents
    wrong = np.array([0, 1, 1], np.int32)  # Bo's node, who is in X alone, hangs below Y
    assert distances(exact, data._replace(parents=(venue, wrong, *papers)))[1] > 0.2
