"""The plan of a part, made from the division alone, is the one that follows from all parts."""

from itertools import pairwise

import numpy as np
import pytest
from part_tools import draw_corpus, in_venues, request_for

import citeweave
from citeweave import SCNTM, Corpus
from citeweave.engines.cluster import in_process, plans, ray_team
from citeweave.engines.cluster.chain import RayChain
from citeweave.engines.cluster.in_process import InProcessChain
from citeweave.engines.cluster.partition import divide, owned_rows
from citeweave.engines.cluster.plans import make_plan
from citeweave.engines.cluster.state_parts import own_rows
from citeweave.engines.core.data import ClusterWorkers, Data
from citeweave.engines.core.propensities import degrees
from citeweave.engines.core.setting_up import all_arrays
from citeweave.engines.core.spec import LEFT_OUT, PAPER
from citeweave.engines.registry import ENGINES
from reference.plans import plan_of

PARTS = (1, 2, 3, 16)


def without_authors(share, **options):
    """Leave a share of the papers without an author: they are below one group."""
    corpus = draw_corpus(**options)
    lacks = np.arange(corpus.n_documents) < share * corpus.n_documents
    teams = np.diff(corpus.author_offsets)
    kept = np.repeat(~lacks, teams)
    return Corpus.from_arrays(
        tokens=corpus.tokens,
        offsets=corpus.offsets,
        author_ids=corpus.author_ids[kept],
        author_offsets=np.concatenate([[0], np.cumsum(np.where(lacks, 0, teams))]),
        citations=corpus.citations,
    )


def drawn_tree(seed, levels, documents=50, citations=150):
    """Draw a tree with empty nodes and groups of all sizes, and citations with self-citations."""
    rng = np.random.default_rng(seed)
    sizes = [1, *rng.integers(3, 15, size=levels - 1)]
    parents = [rng.integers(above, size=n) for above, n in pairwise(sizes)]
    parents += [(sizes[-1] * rng.random(documents) ** 3).astype(np.int32), np.arange(documents)]
    offsets = np.concatenate([[0], np.cumsum(rng.integers(9, size=documents))])
    ends = rng.integers(documents, size=(2, citations)).astype(np.int32)
    return Data(
        rng.integers(20, size=offsets[-1]).astype(np.int32),
        offsets,
        20,
        tuple(parents),
        np.arange(documents),
        np.arange(documents + 1),
        *ends,
    )


def of_corpus(corpus, **options):
    wanted = request_for(corpus, **options)
    return wanted.data, wanted.spec.n_shared


CASES = {
    "authors": lambda: of_corpus(draw_corpus()),
    "two authors": lambda: of_corpus(draw_corpus(authors=2)),
    "papers without author": lambda: of_corpus(without_authors(0.4)),
    "authors in venues": lambda: of_corpus(in_venues(draw_corpus(authors=4)), levels=["venue"]),
    "no level of groups": lambda: of_corpus(draw_corpus(), model="bursty-hdp-lda"),
    "no citations": lambda: of_corpus(draw_corpus(citations=0)),
    "self-citations": lambda: (drawn_tree(1, 2), 2),
    "empty nodes on three levels": lambda: (drawn_tree(2, 4), 4),
}


def division_of(data, n_shared, parts, known=LEFT_OUT):
    ends = degrees(data.citing, data.cited, len(data.offsets) - 1, self_citations=known)
    return divide(data, ends, n_shared, parts), ends


@pytest.fixture(params=CASES)
def chain(request):
    return CASES[request.param]()


def as_lists(route):
    return [[array.tolist() for array in arrays] for arrays in route]


def shown(plan):
    """Show a plan as `reference.plans` does."""
    data, part = plan.data, plan.part
    return {
        "nodes": [tuple(as_lists(route)) for route in plan.nodes],
        "parents": [tuple(as_lists(route)) for route in plan.parents],
        "tokens": data.tokens.tolist(),
        "offsets": data.offsets.tolist(),
        "above": [array.tolist() for array in data.parents],
        "citing": data.citing.tolist(),
        "cited_documents": data.cited.tolist(),
        "token_start": plan.token_start.tolist(),
        "document": part.document.tolist(),
        "node": part.node.tolist(),
        "level_end": part.level_end.tolist(),
        "cited": tuple(as_lists(plan.cited)),
        "citations": tuple(as_lists(plan.citations)),
        "citation": plan.citation.tolist(),
        "divided": plan.divided,
    }


@pytest.mark.parametrize("parts", PARTS)
def test_a_plan_is_that_from_all_members_of_all_parts(chain, parts):
    division, ends = division_of(*chain, parts, PAPER)
    part = division.owners[-1].tolist()
    assert set(part) == set(range(parts))
    for p in range(parts):
        plan = make_plan(division, p)
        found, expected = shown(plan), plan_of(*chain, part, p)
        assert set(found) == set(expected)
        for name, value in expected.items():
            assert found[name] == value, (p, name)
        assert plan.part.n_citations == part_count(part, chain[0].citing, p)
        for mine, whole in zip(plan.degrees, ends, strict=True):
            assert mine.dtype == whole.dtype
            np.testing.assert_array_equal(mine, whole[plan.part.document])


def part_count(part, ends, p):
    return int((np.asarray(part)[ends] == p).sum())


def test_citations_are_read_in_blocks(chain, monkeypatch):
    division, _ = division_of(*chain, 3)
    expected = [shown(make_plan(division, p)) for p in range(3)]
    monkeypatch.setattr("citeweave.engines.cluster.holders._BLOCK", 7)
    assert [shown(make_plan(division, p)) for p in range(3)] == expected


def test_the_driver_lists_owned_rows_without_a_plan(chain):
    division, _ = division_of(*chain, 3)
    for p in range(3):
        pairs = zip(owned_rows(division, p), own_rows(make_plan(division, p)), strict=True)
        for found, expected in pairs:
            np.testing.assert_array_equal(found, expected)


def arrays_in(value):
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from arrays_in(one)


def test_a_plan_shares_no_array_with_the_division(chain):
    """In Ray's object store, the division is read-only, and workers do not hold on to it."""
    division, _ = division_of(*chain, 2)
    for array in arrays_in(division):
        array.flags.writeable = False
    division = division._replace(rooms=np.ones(division.level_start[-1], np.int16))
    for array in arrays_in(make_plan(division, 1)):
        assert array.flags.writeable
        assert not any(np.shares_memory(array, whole) for whole in arrays_in(division))


def test_a_driver_holds_a_byte_per_paper_and_group_and_degrees():
    """Its arrays of the model are those of the data, and it has no plans."""
    wanted = request_for(draw_corpus(documents=200, authors=40, citations=900))
    held = InProcessChain.open(wanted._replace(workers=ClusterWorkers(16))).division
    whole = {id(array) for array in arrays_in(wanted.data)}
    own = [array for array in arrays_in(held) if id(array) not in whole]
    groups = len(wanted.data.parents[0])
    assert sum(array.nbytes for array in own) <= 200 * (1 + 2 * 4) + groups + 100


OPTIONS = {"topics": 5, "iterations": 6, "burn_in": 3, "network_from": 1, "burst_from": 2}
OPTIONS |= {"seed": 1, "chains": 1, "exactly": True, "rounds": 2, "thin": 1}


@pytest.mark.usefixtures("ray_started")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("stored", [True, False], ids=["run folder", "in memory"])
@pytest.mark.parametrize("topics", [5, 260])
def test_the_driver_of_workers_on_ray_makes_no_plan(tmp_path, monkeypatch, stored, topics):
    """Neither to fit shards, nor to collect the state and the estimates itself."""
    options = OPTIONS | {"topics": topics}
    corpus = draw_corpus()
    expected = SCNTM(**options, sweep="snapshot", device="cpu").fit(corpus)
    corpus.save(tmp_path / "shards", shard=17)

    def refuse(division, p):  # noqa: ARG001
        raise AssertionError(f"the driver makes the plan of part {p}")

    for module in (plans, in_process, ray_team):  # actors import theirs in other processes
        monkeypatch.setattr(module, "make_plan", refuse)
    monkeypatch.setitem(ENGINES, "ray", RayChain)
    model = SCNTM(**options, engine="ray", workers=3).fit(
        tmp_path / "shards", out=tmp_path / "run" if stored else None
    )
    found = citeweave.load(tmp_path / "run") if stored else model
    for name in ("doc_topic_", "topic_word_", "citing_topic_"):
        assert np.asarray(getattr(found, name)).tobytes() == getattr(expected, name).tobytes()


@pytest.mark.usefixtures("ray_started")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("topics", [5, 300])
def test_workers_take_their_own_rows_of_a_given_state(topics):
    """The state, which is read-only in Ray's object store, is that of another number of parts."""
    wanted = request_for(draw_corpus(), topics=topics)
    first = InProcessChain.open(wanted._replace(workers=ClusterWorkers(3)))
    first.start()
    for _ in range(4):
        first.step()
    state, extra = first.state, first.extra_state()
    second = RayChain.open(wanted._replace(workers=ClusterWorkers(2)))
    second.restore(state, extra)
    for one in (first, second):
        one.step()
    pairs = zip(all_arrays(second.state), all_arrays(first.state), strict=True)
    for found, expected in pairs:
        np.testing.assert_array_equal(found, expected)
    for one in (first, second):
        one.close()
