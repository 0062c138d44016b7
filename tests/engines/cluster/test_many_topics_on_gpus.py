"""From 256 topics on, parts on the kernels' twin give the bytes of a chain over slots."""

import numpy as np
import pytest
from host_device import HostDevice
from part_tools import advance, differences, draw_corpus, in_venues, request_for, run
from test_part_checkpoints import IDENTITY, all_of, save

import citeweave.engines.cuda.proposals as proposals_module
from citeweave.engines.cluster import cuda_part
from citeweave.engines.cluster.in_process import InProcessChain
from citeweave.engines.core.capabilities import CUDA
from citeweave.engines.core.compact_rows import TOPICS as LIST_START
from citeweave.engines.core.data import ClusterWorkers
from citeweave.engines.core.estimates import new_sums
from citeweave.engines.core.spec import LEFT_OUT, PAPER
from citeweave.engines.cuda import chain as cuda_chain
from citeweave.engines.cuda.chain import CudaChain
from citeweave.engines.slots.snapshot import SparseSnapshotChain
from citeweave.engines.staged import open_chain, state_after
from citeweave.runs.checkpoint import read_latest, restore_state

TOPICS = 300
FROZEN = 3
"""Steps after which proposals are frozen; before that they are made anew with every step."""
CASES = {
    "authors": {"rounds": 3},
    "phi' that joins later": {"rounds": 1, "burst_from": 3},
    "authors who are not listed": {"most_listed": 8, "rounds": 2},
    "a divided group": {"corpus": {"authors": 2}, "rounds": 2},
    "a divided group that is not listed": {"corpus": {"authors": 3}, "most_listed": 8},
    "authors within venues": {"levels": ("venue",), "rounds": 3},
    "authors who are not listed, within venues": {"levels": ("venue",), "most_listed": 8},
    "self-citations as in the paper": {"self_citations": PAPER, "rounds": 1},
    "no level of authors": {"without": "nu"},
    "text alone": {"model": "bursty-hdp-lda"},
    "authors, text alone": {"model": "cntm-text", "most_listed": 8, "rounds": 3},
    "fixed rates": {"sample_concentrations": False, "sample_propensities": False},
}


@pytest.fixture(scope="module", autouse=True)
def twin():
    """Let chains on a GPU run on the kernels' twin."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda_chain, "CudaDevice", HostDevice)
        yield


def ask(corpus=None, *, without=None, **options):
    made = draw_corpus(**corpus or {})
    made = in_venues(made) if options.get("levels") else made
    wanted = request_for(made, topics=TOPICS, **{"self_citations": LEFT_OUT} | options)
    if without is not None:
        data = wanted.data._replace(parents=wanted.data.parents[1:])
        data = data._replace(parents=(np.zeros_like(data.parents[0]), *data.parents[1:]))
        wanted = wanted._replace(spec=wanted.spec.without(without), data=data)
    return wanted


def in_parts(request, workers, device=CUDA):
    return InProcessChain.open(request._replace(workers=ClusterWorkers(workers, device=device)))


@pytest.fixture(scope="module", params=CASES)
def case(request):
    """Give a request, and what comes out of a chain in one piece."""
    options = dict(CASES[request.param])
    most_listed = options.pop("most_listed", 64)
    wanted = ask(**options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proposals_module, "MOST_LISTED", most_listed)
        yield wanted, run(open_chain(CudaChain, wanted), frozen=FROZEN)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_parts_give_the_bytes_of_the_whole(case, workers):
    wanted, expected = case
    found = run(in_parts(wanted, workers), frozen=FROZEN)
    assert differences(found, expected) == []
    assert expected["proposal.frozen"].all()


def test_the_cases_are_what_they_say():
    """Groups are divided and left out of slots, and self-citations are drawn."""
    chain = in_parts(ask(corpus={"authors": 3}), 3)
    assert chain.division.divided
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proposals_module, "MOST_LISTED", 8)
        found = run(chain)
    assert not found["proposal.listed"].all()
    assert (found["assignments.self_topic"] >= 0).any()


def test_parts_store_lists_as_the_whole_does():
    """Copies, too. Kernels are the same for all, and for the whole."""
    wanted = ask(corpus={"authors": 20})
    whole, parts = CudaChain.open(wanted), in_parts(wanted, 3)
    parts.start()
    parts.step()
    for one in (worker.chain for worker in parts._team.workers):
        assert one._program == whole._program
        listed = one.state.topics.customers.row[:, LIST_START] >= 0
        assert listed[one.layout.level_start[one.citation_level] :].all()
        assert not listed[0]
    parts.close()


def test_copies_are_listed_as_by_their_owners(monkeypatch):
    """Their counts may be older: those of the last sweep."""
    monkeypatch.setattr(cuda_part.CudaPartChain, "complete_listed", lambda _: None)
    monkeypatch.setattr(proposals_module, "MOST_LISTED", 8)
    wanted = ask(corpus={"authors": 12}, rounds=1)
    expected = run(open_chain(CudaChain, wanted))
    assert "topics.customers" in differences(run(in_parts(wanted, 3)), expected)


@pytest.mark.parametrize("forgotten", ["_WORDS", "_NODES"])
def test_a_part_that_forgets_a_change_is_seen(monkeypatch, forgotten):
    """The comparison of bytes fails where one message is wrong."""
    wanted = ask(rounds=1)
    expected = run(open_chain(CudaChain, wanted))
    plain = cuda_part.DeviceRows.take_lists

    def forget(self, names, rows, *, clear=False):
        found = plain(self, names, rows, clear=clear)
        if names == getattr(cuda_part, forgotten):
            found.customers[:1] = 0
        return found

    monkeypatch.setattr(cuda_part.DeviceRows, "take_lists", forget)
    assert "topics.customers" in differences(run(in_parts(wanted, 2)), expected)


STEPS = 5


@pytest.fixture(scope="module")
def wanted():
    """Ask for a chain whose citations join after one iteration and whose phi' after two."""
    return ask(corpus={"authors": 3}, network_from=1, burst_from=2)


@pytest.fixture(scope="module")
def expected(wanted):
    chain = open_chain(CudaChain, wanted)
    sums = new_sums(chain)
    chain.start()
    advance(chain, sums, STEPS)
    return all_of(chain, sums)


def test_other_numbers_of_workers_and_one_gpu_go_on_in_the_same_bytes(wanted, expected, folder):
    chain = in_parts(wanted, 2)
    sums = chain.empty_sums()
    chain.lodge(folder.parent)
    chain.start()
    advance(chain, sums, 4)
    save(chain, folder)
    extra = chain.extra_state()
    advance(chain, sums, STEPS)
    assert differences(all_of(chain, sums), expected) == []
    stored, _ = read_latest(folder, IDENTITY, by_workers=True)
    for workers in (1, 3):
        again = in_parts(wanted, workers)
        sums = again.empty_sums()
        again.restore_from(stored.path, sums)
        advance(again, sums, STEPS)
        assert differences(all_of(again, sums), expected) == []
    stored, _ = read_latest(folder, IDENTITY)
    state = restore_state(stored, state_after(open_chain(CudaChain, wanted), stored.iteration))
    alone = open_chain(CudaChain, wanted)
    alone.restore(state, extra)
    advance(alone, stored.sums, STEPS)
    assert differences(all_of(alone, stored.sums), expected) == []


@pytest.mark.parametrize("stops_at", ["complete_listed", "_merge_citations", "_take_words"])
def test_parts_that_were_stopped_in_a_step_go_on_in_the_same_bytes(
    wanted, expected, folder, monkeypatch, stops_at
):
    chain = in_parts(wanted, 2)
    sums = chain.empty_sums()
    chain.lodge(folder.parent)
    chain.start()
    advance(chain, sums, 4)
    path = save(chain, folder)

    def fail(*_, **__):
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(chain._team.workers[1].chain, stops_at, fail)
        with pytest.raises(ZeroDivisionError):
            chain.step()
    again = chain.empty_sums()
    chain.restore_from(path, again)
    advance(chain, again, STEPS)
    assert differences(all_of(chain, again), expected) == []


def test_workers_on_cores_go_on_with_the_tables_of_gpus(wanted):
    """As in one piece: not in the bytes of a GPU, but in those of threads from there."""
    parts = in_parts(wanted, 2)
    parts.start()
    for _ in range(4):
        parts.step()
    state, extra = parts.state, parts.extra_state()
    parts.close()
    cores, threads = in_parts(wanted, 3, device="cpu"), open_chain(SparseSnapshotChain, wanted)
    cores.restore(state, extra)
    threads.restore(state, extra)
    assert cores.step().log_likelihood == threads.step().log_likelihood
    found, expected = (np.array(chain.state.topics.customers) for chain in (cores, threads))
    np.testing.assert_array_equal(found, expected)
    for chain in (cores, threads):
        chain.close()
