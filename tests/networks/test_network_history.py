"""Historiograph and main paths, against small histories followed by hand."""

import numpy as np
import pytest

from citeweave.corpus import Corpus
from citeweave.errors import NotFoundError
from citeweave.networks import historiograph, main_path, search_path_counts
from networks.six_papers import make_corpus

DIAMOND = [(1, 0), (2, 0), (3, 1), (3, 2), (4, 2), (4, 3)]


def history(citations: list[tuple[int, int]], years: list[int | None] | None = None) -> Corpus:
    number = 1 + max(max(pair) for pair in citations)
    metadata = None if years is None else {"year": years}
    return Corpus.from_lists(tokens=[["w"]] * number, citations=citations, metadata=metadata)


def counts_of(corpus: Corpus) -> dict[tuple[int, int], float]:
    ends, logs = search_path_counts(corpus)
    return dict(zip(map(tuple, ends.tolist()), np.exp(logs).round(6).tolist(), strict=True))


def test_search_paths_are_counted_as_by_hand() -> None:
    # from 4 to 0: 4310, 4320, 420
    assert counts_of(history(DIAMOND)) == {
        (1, 0): 1,
        (2, 0): 2,
        (3, 1): 1,
        (3, 2): 1,
        (4, 2): 1,
        (4, 3): 2,
    }


def test_many_paths_do_not_overflow() -> None:
    # each paper cites the two before it: as many paths as a Fibonacci number of 700 digits or so
    citations = [(d, d - back) for d in range(2, 4000) for back in (1, 2)]
    _, logs = search_path_counts(history(citations))
    assert np.isfinite(logs).all()
    assert logs.max() > 1500


def test_the_main_path_follows_the_largest_counts() -> None:
    network = main_path(history(DIAMOND, [2000, 2001, 2001, 2002, 2003]), top=1)
    assert network.keys.tolist() == [0, 2, 3, 4]
    links = {tuple(network.keys[link].tolist()) for link in network.links}
    assert links == {(4, 3), (3, 2), (2, 0)}
    assert network.main.all()
    both = main_path(history(DIAMOND), top=6)
    assert len(both.links) == 6
    assert both.main.sum() == 3
    assert both.weights.max() == 1.0
    assert both.weights.min() == pytest.approx(0.5)


def test_circles_lose_the_citations_that_go_against_time() -> None:
    corpus = history([(0, 1), (1, 0), (2, 1)], [2000, 2001, 2002])
    assert set(counts_of(corpus)) == {(1, 0), (2, 1)}
    assert any("1 citations that close circles" in note for note in main_path(corpus).notes)


def test_circles_without_years_are_opened_where_least_is_lost() -> None:
    # 0 is cited by three papers and cites one of them: that citation goes
    corpus = history([(1, 0), (2, 0), (3, 0), (0, 3), (3, 2), (2, 1)])
    assert (0, 3) not in counts_of(corpus)
    assert len(counts_of(corpus)) == 5


def test_the_historiograph_has_the_most_cited_papers_and_their_citations() -> None:
    citations = [(1, 0), (2, 0), (3, 0), (2, 1), (3, 1), (3, 2), (4, 3)]
    corpus = history(citations, [2000, 2001, 2002, 2003, 2004])
    network = historiograph(corpus, top=2)
    assert network.directed
    assert network.keys.tolist() == [0, 1]
    assert network.links.tolist() == [[1, 0]]
    assert network.sizes.tolist() == [3, 2]
    assert network.years.tolist() == [2000, 2001]
    assert historiograph(corpus, min_size=2).keys.tolist() == [0, 1]


def test_papers_without_a_year_are_left_out_of_the_historiograph() -> None:
    corpus = history([(1, 0), (2, 0), (2, 1), (3, 1), (3, 2)], [2000, None, 2002, 2003])
    network = historiograph(corpus)
    assert network.keys.tolist() == [0, 2]
    assert any("1 cited papers without a year" in note for note in network.notes)


def test_what_a_history_needs_is_said() -> None:
    with pytest.raises(NotFoundError, match=r"no historiograph: .* have no years"):
        historiograph(history(DIAMOND))
    for build in (historiograph, main_path):
        with pytest.raises(NotFoundError, match="no citations among its papers"):
            build(make_corpus(citations=None))
    with pytest.raises(NotFoundError, match="none of its papers cites another"):
        historiograph(make_corpus(), top=1)
