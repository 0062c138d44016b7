"""Counts and weights of every kind of network, against those found by hand."""

from math import sqrt

import numpy as np
import pytest

from citeweave.corpus import Corpus
from citeweave.errors import NotFoundError, ParameterError
from citeweave.networks import WeightedNetwork, network_of
from networks.six_papers import make_corpus

# who occurs with whom, counted by hand: full and fractional
BY_HAND = {
    "co-citation": {
        ("Paper 0", "Paper 1"): (2, 0.5 + 1),  # cited by 3 (three references) and 4 (two)
        ("Paper 0", "Paper 2"): (1, 0.5),
        ("Paper 1", "Paper 2"): (1, 0.5),
    },
    "coupling": {
        ("Paper 3", "Paper 4"): (2, 1 + 0.5),  # 0 is cited by two papers, 1 by three
        ("Paper 3", "Paper 5"): (1, 0.5),
        ("Paper 4", "Paper 5"): (1, 0.5),
    },
    "author-coupling": {
        # 0 and 1 are cited by all four authors, 2 by three of them
        ("Ann Ash", "Bo Birch"): (3, 2 / 3 + 1 / 2),
        ("Ann Ash", "Cy Cedar"): (3, 2 / 3 + 1 / 2),
        ("Bo Birch", "Cy Cedar"): (3, 2 / 3 + 1 / 2),
        ("Ann Ash", "Di Dogwood"): (2, 2 / 3),
        ("Bo Birch", "Di Dogwood"): (2, 2 / 3),
        ("Cy Cedar", "Di Dogwood"): (2, 2 / 3),
    },
    "co-authors": {
        ("Ann Ash", "Bo Birch"): (2, 1 + 0.5),
        ("Bo Birch", "Cy Cedar"): (2, 1 + 0.5),
        ("Ann Ash", "Cy Cedar"): (1, 0.5),
        ("Cy Cedar", "Di Dogwood"): (1, 1),
    },
    "co-institutions": {
        ("ANU", "NUS"): (2, 1 + 0.5),  # papers 0 and 2
        ("ANU", "UTS"): (1, 0.5),
        ("NUS", "UTS"): (1, 0.5),
    },
    "co-countries": {("Australia", "Singapore"): (2, 2)},
    "co-words": {
        ("Bark", "Trees"): (2, 1 + 0.5),
        ("Bark", "roots"): (2, 1 + 0.5),
        ("Trees", "roots"): (1, 0.5),
    },
}


def pairs(network: WeightedNetwork, values: np.ndarray) -> dict[tuple[str, str], float]:
    names = network.names
    rows = zip(network.links.tolist(), values.tolist(), strict=True)
    return {tuple(sorted((names[a], names[b]))): value for (a, b), value in rows}


@pytest.mark.parametrize("kind", BY_HAND)
def test_pairs_are_counted_as_by_hand(kind: str) -> None:
    for place, counting in enumerate(("full", "fractional")):
        network = network_of(make_corpus(), kind, counting=counting, weight="raw")
        wanted = {pair: counts[place] for pair, counts in BY_HAND[kind].items()}
        assert pairs(network, network.counts) == pytest.approx(wanted)
        assert network.weights.tolist() == network.counts.tolist()


def test_the_papers_of_an_author_and_citations_of_a_paper_are_sizes() -> None:
    people = network_of(make_corpus(), "co-authors")
    sizes = dict(zip(people.names, people.sizes.tolist(), strict=True))
    assert sizes == {"Ann Ash": 3, "Bo Birch": 3, "Cy Cedar": 3, "Di Dogwood": 2}
    years = dict(zip(people.names, people.years.tolist(), strict=True))
    assert years["Ann Ash"] == pytest.approx((2000 + 2001 + 2003) / 3)
    cited = network_of(make_corpus(), "co-citation")
    assert cited.sizes.tolist() == [2, 3, 1]
    assert cited.years.tolist() == [2000, 2001, 2002]
    assert cited.labels == ("Ash (2000)", "Ash and Birch (2001)", "Birch and Cedar (2002)")


@pytest.mark.parametrize(
    ("weight", "wanted"),
    [
        # totals of links are 3, 3 and 2, of all 4
        ("association", [8 * 2 / 9, 8 / 6, 8 / 6]),
        # citations are 2, 3 and 1
        ("salton", [2 / sqrt(6), 1 / sqrt(2), 1 / sqrt(3)]),
        ("jaccard", [2 / 3, 1 / 2, 1 / 3]),
        ("equivalence", [4 / 6, 1 / 2, 1 / 3]),
        ("raw", [2, 1, 1]),
    ],
)
def test_weights_are_those_of_their_formulas(weight: str, wanted: list[float]) -> None:
    network = network_of(make_corpus(), "co-citation", weight=weight)
    assert network.links.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert network.weights == pytest.approx(wanted)


def test_association_strength_is_one_where_links_are_as_by_chance() -> None:
    # every two of four papers are cited together once
    corpus = Corpus.from_lists(tokens=[["w"]] * 5, citations=[(4, d) for d in range(4)])
    weights = network_of(corpus, "co-citation").weights
    assert weights == pytest.approx([2 * 6 * 1 / 9] * 6)


def test_words_of_the_text_count_once_a_paper() -> None:
    network = network_of(make_corpus(), "co-words", terms="text", weight="raw")
    assert pairs(network, network.counts) == {
        ("bark", "tree"): 2,
        ("bark", "root"): 2,
        ("root", "tree"): 1,
        ("leaf", "tree"): 1,
    }
    sizes = dict(zip(network.names, network.sizes.tolist(), strict=True))
    assert sizes == {"tree": 4, "bark": 3, "root": 2, "leaf": 2}


def test_a_corpus_without_keywords_gives_words_of_the_text() -> None:
    corpus = make_corpus(metadata=None)
    assert "leaf" in network_of(corpus, "co-words").names
    with pytest.raises(NotFoundError, match="no keywords; take terms='text'"):
        network_of(corpus, "co-words", terms="keywords")


def test_words_that_occur_with_everything_give_way_to_telling_ones() -> None:
    # "the" is in every paper; the others keep company with their own kind
    tokens = [["the", f"a{i % 3}", f"a{(i + 1) % 3}"] for i in range(12)]
    tokens += [["the", f"b{i % 3}", f"b{(i + 1) % 3}"] for i in range(12)]
    chosen = network_of(Corpus.from_lists(tokens=tokens), "co-words", top=5)
    assert "the" not in chosen.names
    assert len(chosen.names) == 5


def test_the_largest_are_chosen_and_what_has_no_link_is_left_out() -> None:
    network = network_of(make_corpus(), "co-citation", top=2)
    assert network.keys.tolist() == [0, 1]
    assert "2 of 3 papers are chosen, by citations." in network.notes
    few = network_of(make_corpus(), "co-authors", min_count=2)
    assert set(few.names) == {"Ann Ash", "Bo Birch", "Cy Cedar"}
    assert "1 of 4 authors without a link are left out." in few.notes
    assert network_of(make_corpus(), "co-authors", min_size=3).names == few.names


def test_coupling_chooses_papers_that_share_most_not_those_most_cited() -> None:
    # 0 to 9 are cited much and cite nothing; 10 and 11 are never cited and share all references
    citations = [(citing, cited) for citing in (10, 11) for cited in range(9)]
    citations += [(12, 9), (13, 9)]
    corpus = Corpus.from_lists(tokens=[["w"]] * 14, citations=citations)
    network = network_of(corpus, "coupling", top=2)
    assert network.keys.tolist() == [10, 11]
    assert network.counts.tolist() == [9]


def test_chosen_nodes_do_not_change_what_an_event_weighs() -> None:
    # three authors wrote paper 3; though but two are chosen each pair counts 1/2
    network = network_of(make_corpus(), "co-authors", top=2, counting="fractional", weight="raw")
    assert network.names == ("Ann Ash", "Bo Birch")
    assert network.counts.tolist() == [1.5]


def test_papers_of_very_many_authors_are_left_out_with_a_word() -> None:
    crowd = [f"Person {i}" for i in range(3000)]
    corpus = make_corpus(authors=[*([["Ann Ash", "Bo Birch"]] * 5), crowd])
    network = network_of(corpus, "co-authors")
    assert network.names == ("Ann Ash", "Bo Birch")
    assert any("1 paper with more than 100 authors left out" in note for note in network.notes)
    everybody = network_of(corpus, "co-authors", max_members=None, top=40)
    assert len(everybody.links) == 1 + 38 * 37 // 2


def test_very_long_lists_of_references_stay_small() -> None:
    citations = [(5000, cited) for cited in range(5000)] + [(5001, cited) for cited in range(30)]
    corpus = Corpus.from_lists(tokens=[["w"]] * 5002, citations=citations)
    network = network_of(corpus, "co-citation", top=30, weight="raw")
    assert network.keys.tolist() == list(range(30))
    assert set(network.counts.tolist()) == {2.0}


@pytest.mark.parametrize(
    ("kind", "part", "reason"),
    [
        ("co-citation", "citations", "no citations among its papers"),
        ("coupling", "citations", "no citations among its papers"),
        ("author-coupling", "citations", "no citations among its papers"),
        ("author-coupling", "authors", "have no authors"),
        ("co-authors", "authors", "have no authors"),
        ("co-institutions", "metadata", "no network of institutions: the corpus names none"),
        ("co-countries", "metadata", "no network of countries: the corpus names none"),
    ],
)
def test_what_a_corpus_lacks_is_said(kind: str, part: str, reason: str) -> None:
    with pytest.raises(NotFoundError, match=reason):
        network_of(make_corpus(**{part: None}), kind)


def test_a_network_of_nothing_is_an_error() -> None:
    alone = make_corpus(authors=[[name] for name in "abcdef"])
    with pytest.raises(NotFoundError, match="no two of its nodes occur together in this corpus"):
        network_of(alone, "co-authors")
    with pytest.raises(NotFoundError, match="with 'min_size' 9"):
        network_of(make_corpus(), "co-citation", min_size=9)
    empty = make_corpus(tokens=[[]] * 6, metadata=None)
    with pytest.raises(NotFoundError, match="no map of words"):
        network_of(empty, "co-words")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"kind": "x"}, r"'kind' must be one of co-citation, coupling, .* Got 'x' instead"),
        ({"counting": "half"}, "'counting' must be one of full, fractional"),
        ({"weight": "x"}, "'weight' must be one of association, raw"),
        ({"top": 0}, "'top' must be at least 1"),
        ({"min_size": -1}, "'min_size' must be at least 0"),
        ({"resolution": -1.0}, "'resolution' must be at least 0"),
        ({"kind": "co-words", "terms": "x"}, "'terms' must be one of auto, keywords, text"),
        ({"kind": "co-authors", "max_members": 0}, "'max_members' must be at least 1"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], reason: str) -> None:
    given = {"kind": "co-citation", **options}
    with pytest.raises(ParameterError, match=reason):
        network_of(make_corpus(), **given)


def test_any_list_of_edges_is_a_network() -> None:
    edges = [("Peru", "Chile", 2), ("Chile", "Peru", 1), ("Cuba", "Chile", 1), ("Cuba", "Cuba", 9)]
    network = WeightedNetwork.from_edges(
        edges, of="country", sizes={"Peru": 7, "Chile": 5, "Cuba": 1}
    )
    assert network.names == ("Peru", "Chile", "Cuba")
    assert network.links.tolist() == [[0, 1], [1, 2]]
    assert network.counts.tolist() == [3, 1]
    assert network.sizes.tolist() == [7, 5, 1]
    assert network.strength.tolist() == [3, 4, 1]
    nodes, links = network.to_rows()
    assert nodes[0]["name"] == "Peru"
    assert links[0] == {"source": "Peru", "target": "Chile", "count": 3.0, "weight": 3.0}
    with pytest.raises(ParameterError, match=r"not negative. Got -1"):
        WeightedNetwork.from_edges([("a", "b", -1)], of="x")
