"""Start of a divided chain, joins of citations and phi': no worker holds the whole chain."""

import numpy as np
import pytest
from part_tools import differences, draw_corpus, plans_of, request_for

from citeweave.engines.cluster import worker
from citeweave.engines.cluster.in_process import InProcessChain, ThreadTeam
from citeweave.engines.cluster.team import LostWorkerError
from citeweave.engines.core.arrays import flatten
from citeweave.engines.core.data import ClusterWorkers
from citeweave.engines.core.spec import LEFT_OUT
from citeweave.engines.slots.snapshot import SparseSnapshotChain
from citeweave.engines.staged import open_chain, state_after
from citeweave.engines.threads.chain import SnapshotChain
from citeweave.runs.checkpoint import (
    Checkpoint,
    Identity,
    read_latest,
    restore_state,
    write_checkpoint,
)

ENGINES = {5: SnapshotChain, 300: SparseSnapshotChain}
"""By number of topics: the engine of threads that has the same draws."""
AUTHORS = {"few authors": 2, "many authors": 14}
IDENTITY = Identity("corpus", "plan", 0)
STEPS = 4


@pytest.fixture(scope="module", params=ENGINES)
def topics(request):
    return request.param


def ask(topics, authors=14, **settings):
    """Ask for a chain whose citations join after one iteration and whose phi' after two."""
    joins = {"network_from": 1, "burst_from": 2, "self_citations": LEFT_OUT}
    return request_for(draw_corpus(authors=authors), topics=topics, rounds=3, **joins | settings)


def in_parts(wanted, workers, threads=1):
    divided = wanted._replace(threads=threads * workers, workers=ClusterWorkers(workers))
    return open_chain(InProcessChain, divided)


def in_threads(wanted):
    return open_chain(ENGINES[wanted.settings.topics], wanted)


def all_of(chain):
    """Copy the state, counts as rows of all topics."""
    return {name: np.array(array) for name, array in flatten(chain.state).items()}


def made(chain, steps=STEPS, first=None):
    """Start a chain, and give its state after each step, that of the start first."""
    chain.start(first)
    found = [all_of(chain)]
    for _ in range(steps):
        chain.step()
        found.append(all_of(chain))
    chain.close()
    return found


@pytest.mark.parametrize("authors", AUTHORS.values(), ids=AUTHORS)
@pytest.mark.parametrize("given", [False, True], ids=["random", "given"])
def test_a_start_and_both_joins_are_those_of_threads(topics, authors, given):
    """With two authors, groups are divided between workers."""
    wanted = ask(topics, authors)
    first = np.random.default_rng(3).integers(topics, size=len(wanted.data.tokens))
    first = first if given else None
    expected = made(in_threads(wanted), first=first)
    for workers, threads in ((1, 2), (2, 1), (3, 2)):
        found = made(in_parts(wanted, workers, threads), first=first)
        for step, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
            assert differences(mine, theirs) == [], (step, workers, threads)


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_other_workers_go_on_before_each_join(topics, steps, tmp_path):
    """Stored before any step, before citations join, and before phi' joins."""
    wanted = ask(topics)
    expected = made(in_threads(wanted))[-1]
    folder = tmp_path / "chains" / "chain-0"
    folder.parent.mkdir()
    chain = in_parts(wanted, 2)
    chain.lodge(folder.parent)
    chain.start()
    for _ in range(steps):
        chain.step()
    stored = Checkpoint(chain.iteration, {}, None, {}, chain.extra_state())
    path = write_checkpoint(folder, IDENTITY, stored, chain.write_parts)
    chain.close()
    for workers in (1, 3):
        chain = in_parts(wanted, workers)
        chain.restore_from(path, None)
        for _ in range(STEPS - steps):
            chain.step()
        assert differences(all_of(chain), expected) == []
        chain.close()
    whole, (found, _) = in_threads(wanted), read_latest(folder, IDENTITY)
    whole.restore(restore_state(found, state_after(whole, found.iteration)), found.proposal)
    for _ in range(STEPS - steps):
        whole.step()
    assert differences(all_of(whole), expected) == []
    whole.close()


@pytest.mark.parametrize("operation", ["begin", "step", "join_bursts"])
def test_a_worker_lost_at_a_start_or_join_leaves_no_trace(topics, operation, monkeypatch):
    """It is lost at the end of the operation, when others may have gone on."""
    wanted = ask(topics)
    expected = made(in_threads(wanted))[-1]
    plain, lost = ThreadTeam.call, []

    def call(team, method, arguments=None):
        found = plain(team, method, arguments)
        due = 2 if operation == "step" else 1  # citations join in the second step
        if method == operation and lost.count(method) < due:
            lost.append(method)
            if len(lost) == due:
                raise LostWorkerError(method)
        return found

    monkeypatch.setattr(ThreadTeam, "call", call)
    chain = in_parts(wanted, 2)
    assert differences(made(chain)[-1], expected) == []
    assert chain.recovered == 1


@pytest.mark.parametrize("given", [False, True], ids=["random", "given"])
def test_no_worker_ever_holds_more_than_its_part(topics, given, monkeypatch):
    """Every chain that is made has the words and counts of one part; see `Worker._make`."""
    wanted = ask(topics)
    first = np.random.default_rng(3).integers(topics, size=len(wanted.data.tokens))
    sizes = []
    plain = SnapshotChain.__init__

    def watch(self, *arguments, **options):
        plain(self, *arguments, **options)
        state = self.state
        sizes.append((len(state.assignments.topic), len(state.topics.total_customers)))

    monkeypatch.setattr(SnapshotChain, "__init__", watch)
    begun = []
    enter = worker.PartWorker.begin

    def begin(self, spec, topics):
        begun.append(None if topics is None else len(topics))
        enter(self, spec, topics)

    monkeypatch.setattr(worker.PartWorker, "begin", begin)
    chain = in_parts(wanted, 3)
    made(chain, first=first if given else None)
    plans = plans_of(chain)
    tokens = [int(plan.data.offsets[-1]) for plan in plans]
    assert sum(tokens) == len(wanted.data.tokens)
    assert len(sizes) == 9  # before the start, from it on, and after phi' has joined
    nodes = [len(plan.part.node) for plan in plans]
    assert set(sizes) == set(zip(tokens, nodes, strict=True))
    assert sorted(begun) == sorted(tokens) if given else begun == [None] * 3
