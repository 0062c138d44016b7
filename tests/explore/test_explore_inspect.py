"""The counts behind a document: the identities of the paper's worked example."""

import numpy as np
import pytest

from citeweave import SCNTM
from citeweave.engines.dense.chain import DenseChain
from citeweave.errors import NotFoundError, RunError
from citeweave.explore import Exploration, inspect
from citeweave.model.groups import build_tree
from citeweave.model.last_state import LastState, last_state
from citeweave.model.parameters import make_plan
from citeweave.runs.checkpoint import flatten


@pytest.mark.parametrize("chain", [None, 0, 1])
def test_tables_and_citations_are_the_customers_above(view, chain):
    for d in range(0, 90, 7):
        found = view.inspect(d, chain=chain)
        assert found.levels == ["theta", "theta'"]
        for row in found.rows:
            low, high = row.levels
            assert low.customers == row.words
            assert high.customers == low.tables + row.cites + row.cited + 2 * row.drawn
            assert (low.tables > 0) == (low.customers > 0)
            assert low.tables <= low.customers
            assert 1 <= high.tables <= high.customers
        assert sum(row.words for row in found.rows) == found.words == view.corpus.lengths[d]
        assert sum(row.cites for row in found.rows) == found.cites
        assert sum(row.cited for row in found.rows) == found.cited


def test_the_words_are_those_of_the_document(view):
    found = view.inspect(12)
    words = {word.replace("_", " ") for word in view.corpus.words(12)}
    for row in found.rows:
        assert {text.split(" ×")[0] for text in row.examples} <= words


def test_the_sentences_say_the_sums(view):
    found = view.inspect(12)
    row = found.rows[0]
    low, high = row.levels
    text = " ".join(found.text)
    assert (
        f"c(theta', {row.topic}) = {low.tables} + {row.cites + row.cited + 2 * row.drawn} = "
        in text
    )
    assert f"= {high.customers}" in text
    assert f"chain {view.model.combination_['best']} after iteration 40" in text


def test_other_chains_are_shown_under_the_matched_numbers(view):
    chain = 1 - view.model.combination_["best"]
    order = view.model.combination_["orders"][chain]
    state = last_state(view.model, chain).arrays
    start, end = view.corpus.offsets[5:7]
    counts = np.bincount(state["assignments.topic"][start:end], minlength=view.n_topics)
    found = view.inspect(5, chain=chain)
    assert {row.topic: row.words for row in found.rows if row.words} == {
        k: int(counts[own]) for k, own in enumerate(order) if counts[own]
    }


def test_a_model_in_memory_has_its_last_state(supervised):
    found = supervised.inspect(3)
    assert found.iteration == 40
    assert sum(row.words for row in found.rows) == found.words


def test_one_document_level(corpus):
    model = SCNTM(topics=3, iterations=6, seed=1, model="bursty-hdp-lda", chains=1).fit(corpus)
    found = Exploration(model).inspect(2)
    assert found.levels == ["theta"]
    assert found.citation_level is None
    assert sum(row.levels[0].customers for row in found.rows) == found.words


def test_words_choose_authors(corpus):
    model = SCNTM(topics=3, iterations=6, seed=1, model="np-atm", chains=1).fit(corpus)
    found = Exploration(model).inspect(2)
    assert found.levels == []
    assert sum(row["words"] for row in found.by_author) == found.words
    assert {row["author"] for row in found.by_author} <= set(corpus.authors(2))


def test_before_the_network_is_on(supervised, corpus, monkeypatch):
    """A chain that lags behind the others of an unfinished run may be there still."""
    plan = make_plan(supervised.model.get_params())
    tree = build_tree(corpus, plan.spec, eta=plan.eta, unknown=plan.unknown)
    chain = DenseChain(plan.spec, tree.data, plan.settings, seed=1)
    chain.start()
    state = LastState(0, 0, flatten(chain.state))
    monkeypatch.setattr(inspect, "last_state", lambda *_: state)
    found = supervised.inspect(2)
    assert not found.network
    assert all(row.levels[1].customers == row.levels[0].tables for row in found.rows)
    assert "were not used yet" in " ".join(found.text)


def test_no_such_chain_or_document(view):
    with pytest.raises(RunError, match="no chain 7; chains run from 0 to 1"):
        view.inspect(0, chain=7)
    with pytest.raises(NotFoundError, match="no paper 90"):
        view.inspect(90)
