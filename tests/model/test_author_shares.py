"""Shares of authors in papers: who may serve them, what is read off, new papers, influence."""

import numpy as np
import pytest

import citeweave
from citeweave import SCNTM, Corpus
from citeweave.engines.core.spec import preset
from citeweave.errors import ParameterError
from citeweave.model.author_shares import author_entries, beta_interval, find_servers, share_out
from citeweave.model.groups import build_tree

SPEC = preset("scntm").with_all_authors()
SHORT = {"topics": 3, "iterations": 12, "exactly": True, "chains": 1, "seed": 1, "authors": "all"}


def corpus(authors, categories=None, words=6):
    """Make papers of the authors given, each citing the one before it."""
    rng = np.random.default_rng(1)
    vocabulary = [f"w{i}" for i in range(12)]
    return Corpus.from_lists(
        tokens=[rng.choice(vocabulary, words).tolist() for _ in authors],
        authors=authors,
        categories=categories,
        citations=[(i, i - 1) for i in range(1, len(authors))],
    )


@pytest.fixture(scope="module")
def four():
    return corpus([["a", "b"], ["b", "c", "a"], ["a"], None], ["x", "x", "y", "y"])


def test_papers_of_several_authors_list_them_in_order(four):
    tree = build_tree(four, SPEC, eta=0, unknown="shared")
    names = [group.name for group in tree.levels[-1]]
    servers = tree.data.servers
    assert servers.start.tolist() == [0, 2, 5, 5, 5]
    assert [names[i] for i in servers.group] == ["a", "b", "b", "c", "a"]
    assert servers.authors.tolist() == [[1.0]] * 5
    assert [names[i] for i in tree.levels[-1].of_document] == ["a", "b", "a", "unknown"]
    assert tree.levels[-1].documents.tolist() == [3, 2, 1, 1]


def test_positions_are_first_last_and_between(four):
    tree = build_tree(four, SPEC, eta=0, unknown="shared", contributions="position")
    kinds = tree.data.servers.authors.argmax(axis=1).tolist()
    assert kinds == [0, 1, 0, 2, 1]


@pytest.mark.parametrize(
    ("training", "new", "expected"),
    [
        # training papers have authors in all three positions, new papers in one, two or none known
        ([["a", "b", "c"], ["b", "a"], ["c"]], [["a"]], [1.0]),
        ([["a", "b", "c"], ["b", "a"], ["c"]], [["a", "b"]], None),
        ([["a", "b", "c"], ["b", "a"], ["c"]], [["d"]], None),
        # and the other way round: nobody stood between others in training
        ([["a", "b"], ["b", "a"], ["c"]], [["a", "c", "b"]], None),
    ],
)
def test_new_papers_may_have_authors_in_other_positions(training, new, expected):
    model = SCNTM(**SHORT, contributions="position").fit(corpus(training))
    words = [["w1", "w2"]] * len(new)
    found = model.fold_in(Corpus.from_lists(tokens=words, authors=new), samples=10)
    assert found.doc_topic.sum(axis=1) == pytest.approx(1)
    shares = found.group_posterior[0].data
    assert shares.sum() == pytest.approx(1)
    if expected is not None:
        assert shares.tolist() == expected


def test_authors_of_few_papers_give_way_to_the_category(four):
    tree = build_tree(four, SPEC, eta=2, unknown="shared")
    names = [group.name for group in tree.levels[-1]]
    servers = tree.data.servers
    assert [names[i] for i in servers.group] == ["a", "b", "b", "x", "a"]
    everybody = build_tree(four, SPEC, eta=np.inf, unknown="shared")
    assert len(everybody.data.servers.group) == 0
    assert everybody.shares.part.tolist() == [0.5, 0.5, *[1 / 3] * 3, 1.0]


def test_several_behind_one_category_share_it(four):
    entries = author_entries(four, "group", 3)
    node = np.where(entries.is_author, 0, 1)
    shares = find_servers(four, entries, node, "equal")
    assert shares.servers.authors.tolist() == [[1.0], [1.0], [2.0], [1.0]]
    given = share_out(shares, np.array([0.6, 0.4, 0.7, 0.3]))
    np.testing.assert_allclose(given, [0.6, 0.4, 0.35, 0.35, 0.3, 1.0])


def test_shares_of_a_paper_sum_to_one_and_influence_follows_them(four, tmp_path):
    model = SCNTM(**SHORT).fit(four, out=tmp_path / "run")
    share = model.contribution_
    paper = np.repeat(np.arange(4), np.diff(four.author_offsets))
    np.testing.assert_allclose(np.bincount(paper, share), [1.0, 1.0, 1.0])
    assert np.all((share[:5] > 0) & (share[:5] < 1))
    interval = model.contribution_interval_
    assert np.all((interval[:, 0] <= share) & (share <= interval[:, 1]))
    expected = np.bincount(four.author_ids, share * model.cited_propensity_[paper])
    np.testing.assert_allclose(model.author_influence_, expected)
    loaded = citeweave.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.contribution_, share)


def test_a_model_of_first_authors_has_no_shares(four):
    model = SCNTM(**SHORT | {"authors": "first"}).fit(four)
    with pytest.raises(AttributeError, match="uses only first authors"):
        _ = model.contribution_


def test_models_without_authors_are_refused(four):
    with pytest.raises(ParameterError, match="'first' for the model"):
        SCNTM(**SHORT, model="bursty-hdp-lda").fit(four)
    with pytest.raises(ParameterError, match="latent categories"):
        SCNTM(**SHORT, categories=2).fit(four)


def test_new_papers_are_below_the_mixture_of_their_authors(four):
    model = SCNTM(**SHORT).fit(four)
    new = corpus([["b", "new"], ["c", "a"], ["new"], None])
    folded = model.fold_in(new, words="none", citations=False)
    nodes, mu = model.group_topic_, model.topic_share_
    names = [group.name for group in model.groups_]
    of = {name: nodes[names.index(name)] for name in "abc"}
    expected = [(of["b"] + mu) / 2, (of["a"] + of["c"]) / 2, mu, nodes[names.index("unknown")]]
    np.testing.assert_allclose(folded.doc_topic, expected, atol=1e-5)
    assert folded.group_posterior[[0]].sum() == pytest.approx(1.0)


def test_three_thousand_authors_take_room_in_proportion():
    def room(number):
        many = corpus([[f"author {i}" for i in range(number)], ["author 1"]])
        data = build_tree(many, SPEC, eta=0, unknown="shared").data
        assert len(data.servers.group) == number
        return sum(array.nbytes for array in data.servers)

    assert room(3000) < 11 * room(300)
    SCNTM(**SHORT).fit(corpus([[f"author {i}" for i in range(3000)], ["author 1"]]))


def test_intervals_of_shares_that_are_nothing_or_all_are_points():
    found = beta_interval(np.array([0.0, 1.0, 0.3]), np.array([0.0, 0.0, 0.1]))
    assert found[:2].tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert found[2, 0] < 0.3 < found[2, 1]
