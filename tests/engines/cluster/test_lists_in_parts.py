"""Parts store counts as lists, with room for whatever papers of all parts bring."""

import numpy as np
import pytest
from part_tools import differences, draw_corpus, in_parts, plans_of, request_for
from part_tools import run as run_and_close

from citeweave import Corpus
from citeweave.engines.cluster import in_process, part_rooms
from citeweave.engines.cluster.partition import level_starts
from citeweave.engines.cluster.plans import make_plan
from citeweave.engines.core.arrays import flatten
from citeweave.engines.core.compact_rows import ROOM, TOPICS, USED, CompactRows
from citeweave.engines.core.count_lists import count_rooms, dense_counts
from citeweave.engines.core.estimates import new_sums
from citeweave.engines.core.setting_up import lay_out, node_rooms
from citeweave.engines.core.spec import LEFT_OUT, ZERO
from citeweave.engines.slots.snapshot import SparseSnapshotChain
from citeweave.errors import RunError

STEPS = 5


def short_papers(authors=14, documents=60):
    """Papers without words, of one word and of two, that cite each other, among longer ones."""
    corpus = draw_corpus(authors=authors, documents=documents)
    lengths = np.diff(corpus.offsets)
    lengths[: documents // 2] = np.arange(documents // 2) % 3
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    taken = [corpus.tokens[a : a + n] for a, n in zip(corpus.offsets, lengths, strict=False)]
    return Corpus.from_arrays(
        tokens=np.concatenate(taken),
        offsets=offsets,
        author_ids=corpus.author_ids,
        author_offsets=corpus.author_offsets,
        citations=corpus.citations,
    )


def ask(topics=300, corpus=None, **options):
    return request_for(
        short_papers(**corpus or {}), topics=topics, **{"self_citations": LEFT_OUT} | options
    )


def chains_of(divided_chain):
    return [worker.chain for worker in divided_chain._team.workers]


def run(chain, steps=STEPS, check=lambda _: None):
    """Start, take steps and keep samples, calling ``check`` after each."""
    sums = new_sums(chain)
    chain.start()
    for _ in range(steps):
        chain.step()
        check(chain)
        chain.keep_sample(sums)
        check(chain)
    return sums


def expect_nothing_lost(chain):
    for part in chains_of(chain):
        assert part.state.topics.customers.lost[0] == 0


@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {"topics": 256},
        {"topics": 4096, "rounds": 3},
        {"topics": 4096, "corpus": {"authors": 2}},
        {"topics": 300, "rounds": 1, "self_citations": ZERO},
    ],
    ids=lambda options: str(options.get("topics")) + "-" + "-".join(list(options)[1:]),
)
def test_no_list_is_ever_too_short(options, workers):
    """Papers of one and two words use all the room they have, and no topic is refused."""
    chain = in_parts(ask(**options), workers)
    run(chain, check=expect_nothing_lost)
    fullest = 0.0
    for part in chains_of(chain):
        rows = part.state.topics.customers
        listed = rows.row[:, TOPICS] >= 0
        assert not listed[0]
        assert listed[-part.n_documents :].all()
        fullest = max(
            fullest, (rows.row[listed, USED] / np.maximum(rows.row[listed, ROOM], 1)).max()
        )
    assert fullest == 1.0
    chain.close()


def test_lists_take_less_memory_than_rows():
    chain = in_parts(ask(topics=4096), 3)
    chain.start()
    chain.step()
    for part in chains_of(chain):
        rows = part.state.topics.customers
        assert isinstance(rows, CompactRows)
        taken = sum(array.nbytes for array in (rows.row, rows.topic, rows.counts))
        assert taken < 8 * rows.size / 20
    assert isinstance(chain.state.topics.customers, CompactRows)  # as the driver assembles them
    chain.close()


def test_rooms_are_those_of_the_whole_chain():
    wanted = ask(corpus={"authors": 3})
    spec, data, settings = wanted.spec, wanted.data, wanted.settings
    layout = lay_out(spec, data, np.zeros(0, np.int32))
    rooms = count_rooms(layout, 2, settings.topics, citation_level=2, most_self=16)
    plans = plans_of(in_parts(wanted, 3))
    assert plans[0].divided
    starts = level_starts(data)
    held = np.zeros(len(rooms), int)
    for plan in plans:
        assert plan.rooms.dtype == np.int16
        number = plan.part.node
        own = np.isin(plan.part.document, plan.part.document[: plan.part.n_documents])
        cites = np.zeros(len(own), bool)
        made = plan.data.citing < plan.part.n_documents
        cites[plan.data.cited[made]] = True
        read = np.concatenate([np.ones(len(number) - 2 * len(own), bool), own | cites, own])
        np.testing.assert_array_equal(plan.rooms, np.where(read, rooms[number], 0))
        assert (plan.rooms[~read] == 0).all()
        assert not read.all()
        held[number] += 1
    assert (held > 0).all()
    assert (held[: starts[2]] > 1).any()


def test_a_chain_without_room_for_other_parts_papers_stops(monkeypatch):
    """The tests above find rooms that are too small: here those of a part's own papers."""

    wanted = ask(topics=4096, corpus={"authors": 20})

    def local(division, p):
        plan = make_plan(division, p)
        layout = lay_out(wanted.spec, plan.data, np.zeros(0, np.int32))
        rooms = node_rooms(wanted.spec, layout, wanted.settings)
        return plan._replace(rooms=rooms.astype(np.int16))

    monkeypatch.setattr(in_process, "make_plan", local)
    chain = in_parts(wanted, 3)
    with pytest.raises(RunError, match=r"more topics than"):
        run(chain)
    chain.close()


class DenseRowsChain(SparseSnapshotChain):
    """A chain whose state is like that of a GPU, or of an earlier release."""

    compact_counts = False


@pytest.mark.parametrize("dense", [True, False])
def test_states_of_threads_are_continued(dense):
    """Whether their counts are lists or rows of all topics."""
    wanted = ask(rounds=2)
    whole = (DenseRowsChain if dense else SparseSnapshotChain).open(wanted)
    run(whole, 4)
    parts = in_parts(wanted, 3)
    parts.restore(whole.state, whole.extra_state())
    for chain in (parts, whole):  # the parts read the state when they first need it
        for _ in range(2):
            chain.step()
    expect_nothing_lost(parts)
    expected, found = (
        {name: np.asarray(array) for name, array in flatten(chain.state).items()}
        for chain in (whole, parts)
    )
    assert differences(found, expected) == []
    again = DenseRowsChain.open(wanted)  # and back
    again.restore(parts.state, parts.extra_state())
    for chain in (whole, again):
        chain.step()
    for mine, theirs in zip(
        dense_counts(again.state.topics), dense_counts(whole.state.topics), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)
    for chain in (whole, parts, again):
        chain.close()


def test_short_papers_give_the_bytes_of_threads():
    """At 4,096 topics, where authors have lists too."""
    wanted = ask(topics=4096, rounds=2)
    expected = run_and_close(SparseSnapshotChain.open(wanted))
    for workers in (2, 3):
        assert differences(run_and_close(in_parts(wanted, workers)), expected) == []


def test_few_topics_need_no_rooms(monkeypatch):
    """Nor are they computed."""
    monkeypatch.setattr(part_rooms, "node_rooms", None)
    few = in_parts(request_for(draw_corpus(documents=9, citations=9), topics=5), 2)
    assert [plan.rooms for plan in plans_of(few)] == [None, None]
