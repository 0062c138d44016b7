"""Papers that several authors share: what every engine makes of them."""

import numpy as np
import pytest
from borrowed_engine import BorrowedChain

from citeweave import Corpus, simulate
from citeweave.engines.core.data import ChainSettings, Request
from citeweave.engines.core.estimates import Sums, add_sample, new_sums
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.setting_up import all_arrays
from citeweave.engines.core.spec import preset
from citeweave.engines.registry import ENGINES
from citeweave.model.groups import build_tree
from reference.authors import AuthorPosterior
from reference.run import frequencies, total_variation
from reference.tiny import FIXED, tiny_chain, tiny_data

HELD = (*(name for name in ENGINES if name != "ray"), "borrowed")  # which refuses such models
SPEC = preset("scntm").with_all_authors()


@pytest.fixture(autouse=True)
def _engines(monkeypatch, twin):  # noqa: ARG001 (the GPU's kernels run on the host)
    monkeypatch.setitem(ENGINES, "borrowed", BorrowedChain)


def with_authors(most, seed=0):
    """Make a corpus whose papers have up to so many of eight authors."""
    base = simulate(
        documents=40,
        words_per_document=10,
        vocabulary=40,
        citations=80,
        topics=3,
        authors=8,
        seed=2,
    ).corpus
    rng = np.random.default_rng(seed)
    papers = [
        rng.permutation(8)[: rng.integers(1, most + 1)].tolist() for _ in range(base.n_documents)
    ]
    return Corpus.from_arrays(
        tokens=np.array(base.tokens),
        offsets=np.array(base.offsets),
        citations=np.array(base.citations),
        author_ids=np.array([author for paper in papers for author in paper]),
        author_offsets=np.cumsum([0, *(len(paper) for paper in papers)]),
        author_names=[f"author {i}" for i in range(8)],
    )


def open_engine(name, corpus, spec=SPEC, topics=5, **settings):
    data = build_tree(corpus, spec, eta=0, unknown="shared", contributions="position").data
    chosen = ChainSettings(topics=topics, network_from=2, **settings)
    return ENGINES[name].open(Request(spec, data, chosen, 1, threads=2, rounds=2))


@pytest.mark.parametrize(
    ("name", "topics"), [*((name, 5) for name in HELD), ("cuda", 300)]
)  # with many topics the GPU sweeps over slots
def test_counts_and_samples_follow_from_who_serves(name, topics):
    chain = open_engine(name, with_authors(4), topics=topics)
    chain.start()
    check_state(chain.spec, chain.layout, chain.state)
    sums, expected = new_sums(chain), new_sums(chain)
    for _ in range(6):
        assert np.isfinite(chain.step().rate) or chain.iteration <= 2
        check_state(chain.spec, chain.layout, chain.state)
        chain.keep_sample(sums)
        add_sample(chain, expected)
    chain.collect_samples(sums)
    moved = chain.state.assignments.served
    assert (moved.sum(axis=1) > 0).sum() > len(moved) / 4  # tables went to other authors
    chain.close()
    for field, mine, theirs in zip(Sums._fields, sums, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-6, atol=1e-9, err_msg=field)


@pytest.mark.parametrize("name", HELD)
def test_papers_of_one_author_are_those_of_the_model_of_first_authors(name):
    corpus = with_authors(1)
    chains = [open_engine(name, corpus, spec) for spec in (SPEC, preset("scntm"))]
    for chain in chains:
        chain.start()
        for _ in range(4):
            chain.step()
    for mine, theirs in zip(*(all_arrays(chain.state) for chain in chains), strict=True):
        assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("name", HELD)
def test_a_restored_chain_goes_on_in_the_same_bytes(name):
    chain, other = (open_engine(name, with_authors(4)) for _ in range(2))
    chain.start()
    for _ in range(4):
        chain.step()
    other.restore(chain.state, chain.extra_state())
    for each in (chain, other):
        for _ in range(2):
            each.step()
    for mine, theirs in zip(all_arrays(chain.state), all_arrays(other.state), strict=True):
        assert mine.tobytes() == theirs.tobytes()


TINY = {
    "documents": ((0,), (1,)),
    "groups": (0, 1),
    "servers": ((0, 1), (1, 2)),
    "citations": ((0, 1),),
}
STEPS = 5_000
MANY_STEPS = 100_000
FAR = {STEPS: (0.14, 0.2), MANY_STEPS: (0.04, 0.05)}
"""Total variation that chance may leave in so many steps, of who serves and of whole states."""


@pytest.fixture(scope="module")
def listed():
    reference = tiny_chain(SPEC, **TINY, scale=3.0)
    return reference, AuthorPosterior(reference).distribution()


@pytest.mark.parametrize("steps", [STEPS, pytest.param(MANY_STEPS, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", HELD[:-1])
def test_frequencies_are_those_of_the_listed_posterior(name, steps, listed):
    """Each paper has a snapshot of its own, with which snapshot sweeps are exact."""
    reference, exact = listed
    settings = ChainSettings(topics=2, **FIXED)
    request = Request(SPEC, tiny_data(SPEC, **TINY), settings, 5, rounds=2)
    chain = ENGINES[name].open(request)
    chain.restore(reference.state)
    rows = np.zeros((steps, len(next(iter(exact)))), np.int8)
    for row in rows:
        chain.step()
        assigned, counts = chain.state.assignments, chain.state.topics
        row[:] = [
            *(*assigned.topic, *assigned.citing_topic, *counts.tables[1:].flat),
            *(*assigned.served.flat, *assigned.server),
        ]
    chain.close()
    seen = frequencies(rows)
    width = chain.state.assignments.served.size + 2
    found = total_variation(_last(exact, width), _last(seen, width))
    found_of_all = total_variation(exact, seen)
    print(f"{name}, {steps} steps: {found:.4f}, whole states {found_of_all:.4f}")  # noqa: T201
    assert found < FAR[steps][0]
    assert found_of_all < FAR[steps][1]


def _last(distribution, width):
    out = {}
    for key, weight in distribution.items():
        out[key[-width:]] = out.get(key[-width:], 0.0) + weight
    return out
