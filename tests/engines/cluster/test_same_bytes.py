"""A chain in parts gives the bytes of the whole one, whatever the parts."""

import pytest
from part_tools import differences, draw_corpus, in_parts, request_for, run

from citeweave.engines.cluster.partition import crossing_share, divide_documents
from citeweave.engines.core.spec import LEFT_OUT, PAPER
from citeweave.engines.threads.chain import SnapshotChain

CASES = {
    "authors": {},
    "self-citations as in the paper": {"self_citations": PAPER},
    "a group of half the papers": {"corpus": {"authors": 2}},
    "no authors": {"model": "bursty-hdp-lda"},
    "text alone": {"model": "cntm-text"},
    "many topics": {"topics": 120, "rounds": 1},
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    options = {"self_citations": LEFT_OUT} | CASES[request.param]
    wanted = request_for(draw_corpus(**options.pop("corpus", {})), **options)
    return wanted, run(SnapshotChain.open(wanted))


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_parts_give_the_bytes_of_the_whole(case, workers):
    wanted, expected = case
    assert differences(run(in_parts(wanted, workers, threads=workers)), expected) == []


def test_parts_are_balanced_and_cite_each_other():
    wanted = request_for(draw_corpus())
    part = divide_documents(wanted.data, 2, 3)
    sizes = [int((part == p).sum()) for p in range(3)]
    assert min(sizes) > 10
    assert 0.2 < crossing_share(wanted.data, part) < 0.9  # else nothing would be exchanged
