"""Counts of nodes as lists of topics, on the kernels' twin: the bytes of dense rows."""

import numpy as np
import pytest
from cuda_tools import small_data
from host_device import HostDevice
from part_runs import differences, run

from citeweave.engines.core.compact_rows import ROOM, TOPICS, USED, CompactRows
from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.spec import LEFT_OUT, PAPER, preset
from citeweave.engines.cuda.chain import CudaChain
from citeweave.errors import RunError

TOPIC_COUNT = 300
CASES = {
    "authors": {"self_citations": LEFT_OUT},
    "three rounds": {"self_citations": LEFT_OUT, "rounds": 3},
    "authors with rows": {"self_citations": LEFT_OUT, "authors": 3, "rounds": 2},
    "self-citations as in the paper": {"self_citations": PAPER},
    "a level above authors": {"self_citations": LEFT_OUT, "fields": 3, "rounds": 2},
    "no authors": {"model": "bursty-hdp-lda"},
    "text alone": {"model": "cntm-text", "rounds": 2},
}


class InRows(CudaChain):
    """A chain whose counts are dense rows."""

    def _keeps_lists(self, spec, data):  # noqa: ARG002 (asked of every chain)
        return False


def make(kind, *, model="scntm", rounds=1, authors=30, fields=0, **settings):
    spec = preset(model)
    data = small_data(spec, authors=authors)
    if fields:
        spec = spec.with_level("field")
        parents = (np.zeros(fields, np.int64), np.arange(authors) % fields, *data.parents[1:])
        data = data._replace(parents=parents)
    chosen = ChainSettings(TOPIC_COUNT, **{"network_from": 2, "debug": True} | settings)
    return kind(spec, data, chosen, seed=1, rounds=rounds, device=HostDevice())


@pytest.mark.parametrize("case", CASES)
def test_lists_give_the_bytes_of_rows(case):
    lists, rows = (run(make(kind, **CASES[case]), frozen=4) for kind in (CudaChain, InRows))
    assert differences(lists, rows) == []


def test_lists_are_smaller_where_they_are_used():
    chain = make(CudaChain)
    counts = chain.state.topics.customers
    assert isinstance(counts, CompactRows)
    assert {"customers", "tables"} <= chain.arrays.keys()
    assert chain.arrays["customers"].size == 1
    listed = counts.row[:, TOPICS] >= 0
    assert listed.mean() > 0.9
    assert not listed[0]
    assert not make(InRows).lists


def test_lists_are_those_of_the_host():
    """Topics in rising order, unused places empty: equal counts have equal bytes."""
    chain = make(CudaChain, self_citations=LEFT_OUT)
    chain.start()
    for _ in range(4):
        chain.step()
    found = chain.state.topics.customers
    again = make(CudaChain, self_citations=LEFT_OUT)
    again.restore(chain.state)
    written = again.state.topics.customers
    for name in ("row", "topic", "counts"):
        np.testing.assert_array_equal(getattr(found, name), getattr(written, name))
    assert (found.row[:, USED] <= found.row[:, ROOM]).all()
    assert found.row[1:, USED].sum() > 0


def test_runs_go_on_from_rows_and_from_lists():
    chains = [make(kind, self_citations=LEFT_OUT) for kind in (CudaChain, InRows)]
    for chain in chains:
        chain.start()
        for _ in range(3):
            chain.step()
    lists, rows = ((chain.state, chain.extra_state()) for chain in chains)
    for stored, kind in ((rows, CudaChain), (lists, InRows)):
        again = make(kind, self_citations=LEFT_OUT)
        again.restore(*stored)
        expected = make(kind, self_citations=LEFT_OUT)
        expected.restore(*(lists if kind is CudaChain else rows))
        assert again.step().log_likelihood == expected.step().log_likelihood
        np.testing.assert_array_equal(
            np.array(again.state.topics.customers), np.array(expected.state.topics.customers)
        )


def test_given_topics_are_seated_in_lists():
    found = []
    for kind in (CudaChain, InRows):
        chain = make(kind)
        chain.start(np.arange(len(chain.layout.word)) % TOPIC_COUNT)
        chain.step()
        found.append(np.array(chain.state.topics.tables))
    np.testing.assert_array_equal(*found)


def test_a_list_without_room_ends_the_run():
    chain = make(CudaChain, debug=False)
    chain.start()
    row = chain.arrays["count_row"].reshape(-1, 4)
    papers = slice(int(chain.layout.level_start[chain.spec.n_shared]), None)
    row[papers, ROOM] = np.minimum(row[papers, ROOM], 1)
    with pytest.raises(RunError, match="more topics than there is room for"):
        chain.step()
