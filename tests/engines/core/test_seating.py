"""Tokens are seated at the topics that they have, with the weights of their turn."""

from collections import Counter

import numpy as np
import pytest

from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.setting_up import all_arrays
from citeweave.engines.core.starting import with_bursts
from reference.posterior import stirling
from reference.run import total_variation
from reference.tiny import tiny_chain

DRAWS = 4000
ONE_WORD = {"documents": ((0,) * 4,), "groups": (0,), "citations": (), "n_words": 1, "topics": 1}


def copied(state):
    """Copy a state: `with_bursts` takes the arrays over."""
    parts = [
        type(part)(*(array.copy() for array in part)) if isinstance(part, tuple) else part.copy()
        for part in state
    ]
    return type(state)(*parts)


def test_only_the_word_side_is_drawn_anew():
    whole = tiny_chain("scntm", documents=((0, 0, 1, 1, 1), (0, 1, 1)))
    plain = tiny_chain(whole.spec.without("phi'"), documents=((0, 0, 1, 1, 1), (0, 1, 1)))
    for _ in range(3):
        plain.step()
    plain.state.parameters.word_concentration[1] = 0.0  # as some engines leave it
    before = copied(plain.state)
    joined = with_bursts(whole.spec, plain.layout, copied(plain.state), concentration=0.6)
    check_state(whole.spec, plain.layout, joined)
    for mine, theirs in zip(joined.topics, before.topics, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    for name in ("topic", "path", "citing_topic"):
        mine, theirs = (getattr(each.assignments, name) for each in (joined, before))
        np.testing.assert_array_equal(mine, theirs)
    for name in set(before.parameters._fields) - {"word_discount", "word_concentration"}:
        mine, theirs = (getattr(each.parameters, name) for each in (joined, before))
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(
        joined.parameters.word_discount, whole.state.parameters.word_discount
    )
    assert joined.parameters.word_concentration.tolist() == [1.2, 0.6]
    assert joined.random.tolist() != before.random.tolist()
    again = with_bursts(whole.spec, plain.layout, copied(before), concentration=0.6)
    for mine, theirs in zip(all_arrays(joined), all_arrays(again), strict=True):
        assert mine.tobytes() == theirs.tobytes()


def seats(customers, tables, discount, beta):
    """Probability of one dish's seats in a restaurant that serves nothing else."""
    weight = stirling(customers, tables, discount)
    weight *= np.prod([beta + j * discount for j in range(tables)])
    return weight / np.prod([beta + j for j in range(customers)])


def test_seats_of_one_word_are_those_of_its_restaurants():
    """One paper of one word has one seat after the other, and no later token to foresee."""
    whole = tiny_chain("scntm", **ONE_WORD)
    plain = tiny_chain(whole.spec.without("phi'"), **ONE_WORD)
    parameters = plain.state.parameters
    expected = {
        (bursts, tables): seats(4, bursts, 0.7, 0.6)
        * seats(bursts, tables, 0.7, parameters.topic_word_concentration[0])
        for bursts in range(1, 5)
        for tables in range(1, bursts + 1)
    }
    assert sum(expected.values()) == pytest.approx(1)
    seen = Counter()
    for _ in range(DRAWS):
        joined = with_bursts(whole.spec, plain.layout, plain.state, concentration=0.6)
        seen[int(joined.words.customers[0, 0]), int(joined.words.tables[0, 0])] += 1 / DRAWS
    assert total_variation(expected, seen) < 0.03
