"""Self-citations offered over the topics of nodes are those offered over all topics."""

import numpy as np
import pytest
from citation_tools import SPECS, cited_data
from test_slot_chain import expect_bits

from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.setting_up import all_arrays
from citeweave.engines.core.spec import LEFT_OUT
from citeweave.engines.slots import SparseSnapshotChain, snapshot_citations
from citeweave.engines.slots import snapshot as snapshot_module
from citeweave.engines.slots.change_lists import entries_needed
from citeweave.engines.threads import SnapshotChain

DOCUMENTS = 60


def make(kind, model, topics, **options):
    """Make a chain that expects a self-citation or two of many papers."""
    settings = ChainSettings(topics=topics, network_from=0, self_citations=LEFT_OUT)
    data = cited_data(SPECS[model], documents=DOCUMENTS)
    return kind(SPECS[model], data, settings, seed=1, **options)


def begun(model, topics, **options):
    chain = make(SparseSnapshotChain, model, topics, **options)
    chain.start()
    for _ in range(2):
        chain.step()
    chain.state.parameters.topic_scale[:] *= 30.0
    chain.rebuild_exponent()
    return chain


@pytest.mark.parametrize("rounds", [1, 3, DOCUMENTS])
@pytest.mark.parametrize(
    ("model", "topics"), [("authors", 70), ("no authors", 12), ("fields above authors", 130)]
)
def test_they_are_those_of_dense_snapshots(model, topics, rounds):
    """From the same state and streams, however many snapshots a sweep has."""
    chain = begun(model, topics, rounds=rounds, threads=2)
    dense = make(SnapshotChain, model, topics, rounds=rounds)
    dense.restore(chain.state)
    dense.rebuild_exponent()
    seen = set()
    for turn in range(12):
        if turn == 6:  # many have come; now most of them go
            for each in (chain, dense):
                each.state.parameters.topic_scale[:] /= 1e4
                each.rebuild_exponent()
        before = (chain.state.assignments.self_topic >= 0).sum(axis=1)
        chain.draw_self_citations()
        dense.draw_self_citations()
        for mine, theirs in zip(all_arrays(chain.state), all_arrays(dense.state), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        for mine, theirs in zip(chain.exponent[:4], dense.exponent[:4], strict=True):
            np.testing.assert_array_equal(mine, theirs)
        expect_bits(chain)
        seen |= set(((chain.state.assignments.self_topic >= 0).sum(axis=1) - before).tolist())
    assert {-1, 1} <= seen
    check_state(chain.spec, chain.layout, chain.state)
    chain.close()
    dense.close()


def test_rows_are_empty_afterwards(monkeypatch):
    """Also where no row of an author stays."""
    monkeypatch.setattr(snapshot_citations, "_MOST_BYTES", 1)
    chain = begun("authors", 70)
    chain.draw_self_citations()
    here = chain._buffers.workers[0].citations
    assert not here.topics.customers.any()
    assert not here.topics.tables.any()
    assert (here.place == -1).all()
    assert here.rows[3] == 1


def test_lists_have_room_for_them(monkeypatch):
    """Each paper may change every node above it at one topic."""
    monkeypatch.setattr(snapshot_module, "rows_kept", lambda *given: (1, entries_needed(*given)))
    chain = begun("authors", 70, rounds=1)
    chain.state.parameters.topic_scale[:] *= 1e3
    chain.rebuild_exponent()
    chain.draw_self_citations()
    check_state(chain.spec, chain.layout, chain.state)
