"""From 256 topics on, a chain in parts gives the bytes of sweeps over slots in threads."""

import numpy as np
import pytest
from part_tools import differences, draw_corpus, in_parts, in_venues, request_for, run

import citeweave.engines.slots.snapshot as snapshot_module
from citeweave.engines.cluster import sparse_part
from citeweave.engines.core.spec import LEFT_OUT, PAPER, ZERO
from citeweave.engines.slots.snapshot import SparseSnapshotChain

TOPICS = 300
FROZEN = 3
"""Steps after which proposals are frozen; before that they are made anew with every step."""
CASES = {
    "authors": {"rounds": 3},
    "one snapshot per sweep": {"rounds": 1},
    "self-citations as in the paper": {"self_citations": PAPER},
    "self-citations that are known to be none": {"self_citations": ZERO},
    "a group of half the papers": {"corpus": {"authors": 2}, "rounds": 3},
    "authors within venues": {"levels": ("venue",), "rounds": 3},
    "no level of authors": {"without": "nu"},
    "text alone": {"model": "bursty-hdp-lda"},
    "authors, text alone": {"model": "cntm-text", "rounds": 3},
    "hubs": {"hubs_from": 12, "rounds": 3},
    "hubs that are divided": {"hubs_from": 30, "corpus": {"authors": 3}},
    "hubs within hubs": {"hubs_from": 25, "levels": ("venue",)},
    "more groups than there may be hubs": {
        "hubs_from": 2,
        "corpus": {"authors": 60, "documents": 120},
    },
}


def ask(corpus=None, **options):
    made = draw_corpus(**corpus or {})
    made = in_venues(made) if options.get("levels") else made
    return request_for(made, topics=TOPICS, **{"self_citations": LEFT_OUT} | options)


@pytest.fixture(scope="module", params=CASES)
def case(request):
    """Give a request, and what comes out of threads."""
    options = dict(CASES[request.param])
    many, without = options.pop("hubs_from", 192), options.pop("without", None)
    wanted = ask(**options)
    if without is not None:
        data = wanted.data._replace(parents=wanted.data.parents[1:])
        data = data._replace(parents=(np.zeros_like(data.parents[0]), *data.parents[1:]))
        wanted = wanted._replace(spec=wanted.spec.without(without), data=data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot_module, "MANY_TOPICS", many)
        yield wanted, run(SparseSnapshotChain.open(wanted), frozen=FROZEN)


@pytest.mark.parametrize(("workers", "threads"), [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)])
def test_parts_give_the_bytes_of_the_whole(case, workers, threads):
    wanted, expected = case
    found = run(in_parts(wanted, workers, threads), frozen=FROZEN)
    assert differences(found, expected) == []
    assert expected["proposal.frozen"].all()


def test_topics_decide_on_the_kind_of_sweeps():
    """Fewer than 256 are swept over all of them, others over slots."""
    for topics, kind in ((255, "PartChain"), (256, "SparsePartChain")):
        chain = in_parts(request_for(draw_corpus(documents=9, citations=9), topics=topics), 2)
        chain.start()
        chain.step()
        assert {type(worker.chain).__name__ for worker in chain._team.workers} == {kind}
        chain.close()


def test_hubs_of_other_parts_are_known(monkeypatch):
    """Every part has all hubs, some of which it holds no row of."""
    monkeypatch.setattr(snapshot_module, "MANY_TOPICS", 5)
    chosen = []
    plain = sparse_part.SparsePartChain._choose_hubs

    def watch(self, parts):
        found = plain(self, parts)
        chosen.append((self.exchange.rank, found))
        return found

    monkeypatch.setattr(sparse_part.SparsePartChain, "_choose_hubs", watch)
    chain = in_parts(ask(corpus={"citations": 30}, rounds=1), 3)
    chain.start()
    for _ in range(3):
        chain.step()
    chain.close()
    by_part = [next(found for rank, found in chosen if rank == part) for part in range(3)]
    assert all(int(one.size[0]) > 5 for one in by_part)
    for one in by_part[1:]:
        for name in ("size", "slope", "length", "topic", "own"):
            np.testing.assert_array_equal(getattr(one, name), getattr(by_part[0], name))
    assert any((one.node < 0).any() for one in by_part)


def test_self_citations_come_and_go_in_parts():
    """The cases above say nothing about them unless some are drawn."""
    found = run(in_parts(ask(rounds=2), 2))
    assert (found["assignments.self_topic"] >= 0).any()


@pytest.mark.parametrize("in_rows", [False, True])
def test_changes_are_sent_from_rows_and_from_lists(monkeypatch, in_rows):
    """Whichever takes less memory; here both."""
    wanted = ask(rounds=2)
    expected = run(SparseSnapshotChain.open(wanted))
    plain = snapshot_module.rows_kept
    kept = []

    def keep(layout, levels, topics, threads, rounds, part):
        found = (int(layout.level_start[levels]), 0)
        found = found if in_rows else plain(layout, levels, topics, threads, rounds, part)
        kept.append(found[0])
        return found

    monkeypatch.setattr(snapshot_module, "rows_kept", keep)
    assert differences(run(in_parts(wanted, 3)), expected) == []
    assert (min(kept) > 1) if in_rows else (max(kept) == 1)


def test_a_part_that_forgets_a_change_is_seen(monkeypatch):
    """The comparison of bytes fails where one message is wrong."""
    wanted = ask(rounds=1)
    expected = run(SparseSnapshotChain.open(wanted))
    plain = sparse_part.take_node_changes

    def forget(changes, marks, begin, end):
        return plain(changes, marks, begin, end)[1:]

    monkeypatch.setattr(sparse_part, "take_node_changes", forget)
    assert "topics.customers" in differences(run(in_parts(wanted, 2)), expected)
