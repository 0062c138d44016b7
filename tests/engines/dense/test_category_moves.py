"""What the category sweep keeps up to date, and what it leaves alone."""

import numpy as np
import pytest

from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.spec import preset
from citeweave.engines.dense.chain import DenseChain

PAPERS, CATEGORIES = 30, 3


def new_chain(unlabelled, **settings):
    """Papers of three kinds, each with its own words and citations of its own kind."""
    rng = np.random.default_rng(4)
    kind = np.arange(PAPERS) % CATEGORIES
    tokens = np.concatenate([rng.integers(0, 8, 12) + 8 * k for k in kind]).astype(np.int32)
    pairs = [(d, (d + 3 * step) % PAPERS) for d in range(PAPERS) for step in (1, 4)]
    citing, cited = np.array(sorted(pairs), np.int32).T.copy()
    places = np.arange(PAPERS)
    data = Data(
        tokens=tokens,
        offsets=12 * np.arange(PAPERS + 1),
        n_words=8 * CATEGORIES,
        parents=(np.zeros(CATEGORIES, int), rng.integers(0, CATEGORIES, PAPERS), places),
        leaf=places,
        leaf_start=np.arange(PAPERS + 1),
        citing=citing,
        cited=cited,
        unlabelled=np.array(unlabelled, np.int32),
    )
    spec = preset("scntm").with_categories()
    return DenseChain(spec, data, ChainSettings(topics=5, **settings), seed=3)


@pytest.fixture(scope="module")
def chain():
    made = new_chain(range(PAPERS), debug=True)  # which checks all counts after each step
    made.start()
    for _ in range(10):
        made.step()
    return made


def test_sums_of_the_exponential_stay_those_of_the_counts(chain):
    for _ in range(5):
        chain.sweep_categories()
        kept = [array.copy() for array in chain.exponent[:4]]
        chain.rebuild_exponent()
        for mine, anew in zip(kept, chain.exponent[:4], strict=True):
            np.testing.assert_allclose(mine, anew, rtol=1e-9, atol=1e-9)
    visited, blocked, accepted, moved = chain.category_work.tally
    assert visited == PAPERS
    assert moved <= accepted <= visited - blocked
    assert accepted > PAPERS / 2  # the proposal is near to what is drawn


def test_papers_hang_below_their_categories(chain):
    check_state(chain.spec, chain.layout, chain.state)
    chain.layout.parent[chain.layout.level_start[2]] += 1
    with pytest.raises(AssertionError, match="parents of papers"):
        check_state(chain.spec, chain.layout, chain.state)
    chain.restore(chain.state)
    check_state(chain.spec, chain.layout, chain.state)


def test_papers_with_a_label_do_not_move():
    drawn = [0, 7, 8]
    chain = new_chain(drawn, debug=True)
    before = chain.state.assignments.category.copy()
    chain.start()
    for _ in range(10):
        chain.step()
    changed = np.flatnonzero(chain.state.assignments.category != before)
    assert set(changed.tolist()) <= set(drawn)
    assert len(changed)


def test_papers_stay_while_parts_of_the_model_are_to_come():
    chain = new_chain(range(PAPERS), network_from=2)
    before = chain.state.assignments.category.copy()
    chain.start()
    for _ in range(2):
        chain.step()
        np.testing.assert_array_equal(chain.state.assignments.category, before)
    chain.step()
    assert (chain.state.assignments.category != before).any()


def test_the_log_posterior_has_the_prior_of_categories(chain):
    state, prior = chain.state, chain.settings.category_prior
    whole = chain.log_posterior(0.0)
    sizes = np.bincount(state.assignments.category, minlength=CATEGORIES)
    shares = [prior / CATEGORIES + np.arange(size) for size in sizes]
    expected = sum(float(np.log(one).sum()) for one in shares)
    kept = state.assignments.category.copy()
    state.assignments.category[:] = 0
    alone = float(np.log(prior / CATEGORIES + np.arange(PAPERS)).sum())
    assert whole - chain.log_posterior(0.0) == pytest.approx(expected - alone)
    state.assignments.category[:] = kept
