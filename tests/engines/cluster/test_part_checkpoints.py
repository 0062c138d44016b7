"""Checkpoints of a divided chain: written by its parts, read by others, and whole or ignored."""

import errno
import shutil

import numpy as np
import pytest
from part_tools import differences, draw_corpus, plans_of, request_for

from citeweave import Corpus
from citeweave.corpus.shard_words import ShardWords
from citeweave.corpus.sharded import ShardedCorpus
from citeweave.engines.cluster import worker
from citeweave.engines.cluster.in_process import InProcessChain
from citeweave.engines.core.data import ClusterWorkers
from citeweave.engines.core.estimates import new_sums
from citeweave.engines.core.row_files import read_header
from citeweave.engines.slots.snapshot import SparseSnapshotChain
from citeweave.engines.staged import open_chain, state_after
from citeweave.engines.threads.chain import SnapshotChain
from citeweave.errors import CorpusError, RunError
from citeweave.runs.checkpoint import (
    Checkpoint,
    Identity,
    flatten,
    read_latest,
    remove_leftovers,
    restore_state,
    write_checkpoint,
)

IDENTITY = Identity("corpus", "plan", 0)
STEPS, KEPT = 5, (2, 4, 5)
FROZEN = 1
"""Steps after which nothing adapts: tables of proposals are made once more, as phi' joins."""


ENGINES = {5: SnapshotChain, 300: SparseSnapshotChain}
"""By number of topics: the engine of threads that has the same draws."""


@pytest.fixture(scope="module", params=ENGINES)
def wanted(request):
    """Ask for a chain whose citations join after one iteration and whose phi' after two."""
    return request_for(draw_corpus(), topics=request.param, network_from=1, burst_from=2)


def in_threads(request):
    return open_chain(ENGINES[request.settings.topics], request)


@pytest.fixture(scope="module")
def expected(wanted):
    chain = in_threads(wanted)
    sums = new_sums(chain)
    chain.start()
    advance(chain, sums, STEPS)
    return all_of(chain, sums)


def in_parts(request, workers):
    return open_chain(InProcessChain, request._replace(workers=ClusterWorkers(workers)))


def advance(chain, sums, steps):
    while chain.iteration < steps:
        if chain.iteration == FROZEN:
            chain.freeze()
        if chain.step().iteration in KEPT:
            chain.keep_sample(sums)


def all_of(chain, sums):
    chain.collect_samples(sums)
    out = {name: np.array(array) for name, array in flatten(chain.state).items()}
    out |= {f"proposal.{name}": array for name, array in chain.extra_state().items()}
    chain.close()
    return out | {name: array.copy() for name, array in flatten(sums, "sums.").items()}


def save(chain, folder):
    beside = Checkpoint(chain.iteration, {}, None, {}, chain.extra_state())
    path = write_checkpoint(folder, IDENTITY, beside, chain.write_parts)
    chain.go_back_to(path)
    return path


def begun(request, folder, workers=2, steps=4):
    chain = in_parts(request, workers)
    sums = chain.empty_sums()
    chain.lodge(folder.parent)
    chain.start()
    for done in range(1, steps + 1):
        advance(chain, sums, done)
        save(chain, folder)
    return chain, sums


def go_on(request, folder, workers):
    stored, _ = read_latest(folder, IDENTITY, by_workers=True)
    chain = in_parts(request, workers)
    sums = chain.empty_sums()
    chain.restore_from(stored.path, sums if stored.samples else None)
    advance(chain, sums, STEPS)
    return all_of(chain, sums)


def go_on_in_threads(request, folder):
    stored, _ = read_latest(folder, IDENTITY)
    chain = in_threads(request)
    chain.restore(restore_state(stored, state_after(chain, stored.iteration)), stored.proposal)
    advance(chain, stored.sums, STEPS)
    return all_of(chain, stored.sums)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_other_numbers_of_workers_go_on_in_the_same_bytes(wanted, expected, folder, workers):
    chain, sums = begun(wanted, folder, workers)
    advance(chain, sums, STEPS)
    assert differences(all_of(chain, sums), expected) == []
    names = sorted(path.name.partition("-")[2][:8] for path in folder.iterdir())
    assert names == ["00000003"] * 2 + ["00000004"] * 2  # the newest two, each with its parts
    for others in (1, 2, 3):
        assert differences(go_on(wanted, folder, others), expected) == []


def test_threads_go_on_from_parts_and_parts_from_threads(wanted, expected, folder):
    begun(wanted, folder)[0].close()
    assert differences(go_on_in_threads(wanted, folder), expected) == []
    shutil.rmtree(folder)
    chain = in_threads(wanted)
    sums = new_sums(chain)
    chain.start()
    advance(chain, sums, 4)
    stored = Checkpoint(4, flatten(chain.state), sums, {}, chain.extra_state())
    write_checkpoint(folder, IDENTITY, stored)
    chain.close()
    assert differences(go_on(wanted, folder, 2), expected) == []


def test_parts_store_lists_from_256_topics_on(wanted, folder):
    begun(wanted, folder)[0].close()
    path = max(folder.glob("checkpoint-*.npz"))
    many = wanted.settings.topics >= 256
    assert read_header(path)["version"] == (3 if many else 2)
    for part in folder.glob("*.parts-*/*.npz"):
        with np.load(part) as stored:
            counts = {name for name in stored.files if name.startswith("state.topics.")}
        assert ("state.topics.lists.topic" in counts) == many
        assert ("state.topics.customers" in counts) != many


@pytest.mark.parametrize("workers", [1, 3])
def test_parts_with_rows_of_all_topics_are_continued(
    wanted, expected, folder, monkeypatch, workers
):
    """As earlier releases wrote them, by any number of workers and in threads."""
    plain = worker.owned_arrays

    def in_rows(plan, state, sums):
        return {name: np.asarray(array) for name, array in plain(plan, state, sums).items()}

    with monkeypatch.context() as patch:
        patch.setattr(worker, "owned_arrays", in_rows)
        begun(wanted, folder)[0].close()
    assert read_header(max(folder.glob("checkpoint-*.npz")))["version"] == 2
    assert differences(go_on(wanted, folder, workers), expected) == []
    if workers == 1:
        assert differences(go_on_in_threads(wanted, folder), expected) == []


def test_a_checkpoint_that_lacks_a_part_is_ignored(wanted, expected, folder):
    begun(wanted, folder)[0].close()
    newest = next(folder.glob("checkpoint-00000004.parts-*"))
    (newest / "00001.npz").unlink()
    stored, refused = read_latest(folder, IDENTITY, by_workers=True)
    assert stored.iteration == 3
    assert "00001.npz' is missing" in refused[0]
    assert differences(go_on(wanted, folder, 3), expected) == []


def test_parts_that_were_damaged_are_refused(wanted, folder):
    begun(wanted, folder)[0].close()
    part = next(folder.glob("checkpoint-00000004.parts-*")) / "00000.npz"
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    stored, refused = read_latest(folder, IDENTITY)
    assert stored.iteration == 3
    assert "truncated or damaged" in refused[0]


def test_parts_without_a_checkpoint_are_leftovers(wanted, folder):
    begun(wanted, folder)[0].close()
    (folder / "checkpoint-00000004.npz").unlink()  # killed before it was moved into place
    remove_leftovers(folder)
    assert sorted(path.name[:19] for path in folder.iterdir()) == ["checkpoint-00000003"] * 2


def test_a_worker_that_does_not_see_the_run_says_so(wanted, folder, tmp_path):
    chain = in_parts(wanted, 2)
    chain.lodge(tmp_path / "elsewhere")
    chain.start()
    with pytest.raises(RunError, match=r"does not see the run folder '.*all nodes share"):
        chain.step()
    chain.close()
    with pytest.raises(RunError, match=r"does not see the run folder"):
        begun(wanted, folder / "elsewhere")


def test_a_full_disk_leaves_earlier_checkpoints(wanted, folder, monkeypatch):
    chain, sums = begun(wanted, folder)
    advance(chain, sums, STEPS)

    def full(path, rows, arrays):  # noqa: ARG001
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(worker, "write_rows", full)
    with pytest.raises(RunError, match=r"No space left on device.*Earlier checkpoints are intact"):
        save(chain, folder)
    chain.close()
    assert read_latest(folder, IDENTITY)[0].iteration == 4


def test_workers_open_their_own_shards_and_the_driver_no_word(
    wanted, expected, folder, tmp_path, monkeypatch
):
    read = []
    plain = ShardWords.of_documents

    def watch(self, documents=None):
        read.append(None if documents is None else len(documents))
        return plain(self, documents)

    def refuse(self, name):
        assert name != "tokens", "the words of the whole corpus"
        return lazily(self, name)

    lazily = ShardedCorpus.__getattr__
    corpus = Corpus.load(draw_corpus().save(tmp_path / "shards", shard=17))
    monkeypatch.setattr(ShardWords, "of_documents", watch)
    monkeypatch.setattr(ShardedCorpus, "__getattr__", refuse)
    sharded = request_for(corpus, topics=wanted.settings.topics, network_from=1, burst_from=2)
    chain, sums = begun(sharded, folder)
    assert sorted(n for n in read if n is not None) == sorted(
        plan.part.n_documents for plan in plans_of(chain)
    )
    assert None not in read  # nor did a worker open all of them
    assert "layout" not in chain.__dict__
    advance(chain, sums, STEPS)
    assert differences(all_of(chain, sums), expected) == []


def test_shards_that_a_node_lacks_are_told(tmp_path):
    corpus = Corpus.load(draw_corpus().save(tmp_path / "shards", shard=17))
    chain = in_parts(request_for(corpus), 2)
    chain.start()
    shutil.rmtree(tmp_path / "shards" / "shards")
    with pytest.raises(CorpusError, match=r"cannot open its part of the corpus: .*all nodes share"):
        chain.step()
    chain.close()
