"""Both methods of fold-in against listed states of tiny documents."""

import numpy as np
import pytest

from citeweave.errors import ParameterError
from citeweave.foldin import Base, Documents, Sets, fold_in_documents
from citeweave.foldin.arrays import streams
from reference.foldin import independent_groups, list_paper, list_posterior

WORD_TOPIC = np.array([[0.6, 0.1], [0.3, 0.2], [0.1, 0.7]])
NODES = np.array([[0.8, 0.2], [0.25, 0.75], [0.5, 0.5]])
CITED = np.array([[0.9, 0.1], [0.35, 0.65]])
RATE = np.array([3.0, 0.8])
SAMPLES = 250_000


def make_base(levels=2, seen=0, *, burst=True):
    return Base(
        word_topic=WORD_TOPIC,
        nodes=NODES,
        cited=CITED,
        rate=RATE,
        discount=np.linspace(0.3, 0.1, levels),
        concentration=np.linspace(1.5, 0.6, levels),
        seen=seen,
        burst_discount=0.5 if burst else 0.0,
        burst_concentration=0.8 if burst else np.inf,
    )


def one_document(words, links, members, prior):
    sets = Sets(np.array([0, len(members)]), np.array(members), np.array(prior, float))
    documents = Documents(
        word=np.array(words, np.int64),
        start=np.array([0, len(words)]),
        link=np.array(links, np.int64),
        link_start=np.array([0, len(links)]),
        group=np.zeros(1, np.int64),
    )
    return sets, documents


CASES = {
    "a repeated word and a citation": (make_base(), (0, 0, 2), (1,), (0,), (1.0,)),
    "a hidden group": (make_base(), (0, 2), (0,), (0, 1), (0.3, 0.7)),
    "two citations, no words": (make_base(), (), (0, 1), (0, 1), (0.5, 0.5)),
    "one level": (make_base(1), (0, 0, 1), (1,), (1,), (1.0,)),
    "no bursts": (make_base(burst=False), (0, 0, 2), (0,), (0, 1), (0.6, 0.4)),
    "three levels, citations in the middle": (make_base(3, 1), (0, 2), (1,), (2,), (1.0,)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("method", "listing"), [("paper", list_paper), ("gibbs", list_posterior)])
def test_means_are_those_of_the_listed_states(case, method, listing):
    base, words, links, members, prior = CASES[case]
    sets, documents = one_document(words, links, members, prior)
    found = fold_in_documents(base, sets, documents, method=method, samples=SAMPLES, seed=4)
    exact = listing(base, words, links, members, np.array(prior))
    # correlated draws: the bound is some five standard errors of the worst case
    np.testing.assert_allclose(found.topic[0], exact.topic, atol=0.004)
    np.testing.assert_allclose(found.word_topic[0], exact.leaf, atol=0.004)
    np.testing.assert_allclose(found.group, exact.group, atol=0.004)
    if method == "gibbs":
        following = WORD_TOPIC @ found.burst_topic[0]
        for word, added in zip(words, found.burst_word, strict=True):
            np.testing.assert_allclose(following[word] + added, exact.next_word[word], atol=0.004)
        unseen = [w for w in range(len(WORD_TOPIC)) if w not in words]
        np.testing.assert_allclose(following[unseen], exact.next_word[unseen], atol=0.004)


def test_the_two_methods_differ_by_more_than_that():
    base, words, links, members, prior = CASES["a repeated word and a citation"]
    rough = list_paper(base, words, links, members, np.array(prior))
    exact = list_posterior(base, words, links, members, np.array(prior))
    assert abs(rough.topic - exact.topic).max() > 0.01
    # and so does leaving out that a citation is one among all that might be made
    even = base._replace(rate=np.ones(2))
    careless = list_posterior(even, words, links, members, np.array(prior))
    assert abs(careless.topic - exact.topic).max() > 0.01


def test_groups_by_the_paper_are_exact_whatever_the_samples():
    base, words, links, members, prior = CASES["a hidden group"]
    sets, documents = one_document(words, links, members, prior)
    found = fold_in_documents(base, sets, documents, samples=1)
    exact = independent_groups(base, words, links, members, np.array(prior))
    np.testing.assert_allclose(found.group, exact, rtol=1e-6)


@pytest.mark.parametrize("method", ["paper", "gibbs"])
def test_nothing_known_leaves_the_groups_own_topics(method):
    base = make_base()
    sets, documents = one_document((), (), (0, 1), (0.25, 0.75))
    found = fold_in_documents(base, sets, documents, method=method, samples=7)
    np.testing.assert_allclose(found.topic[0], 0.25 * NODES[0] + 0.75 * NODES[1], rtol=1e-6)
    np.testing.assert_allclose(found.word_topic[0], found.topic[0], rtol=1e-6)
    np.testing.assert_allclose(found.group, [0.25, 0.75], rtol=1e-6)


def many_documents(n=300):
    rng = np.random.default_rng(1)
    lengths, cites = rng.integers(0, 6, n), rng.integers(0, 3, n)
    word = np.concatenate([np.sort(rng.integers(0, 3, length)) for length in lengths])
    sets = Sets(np.array([0, 1, 3]), np.array([2, 0, 1]), np.array([1.0, 0.4, 0.6]))
    documents = Documents(
        word=word.astype(np.int64),
        start=np.concatenate([[0], np.cumsum(lengths)]),
        link=rng.integers(0, 2, cites.sum()),
        link_start=np.concatenate([[0], np.cumsum(cites)]),
        group=rng.integers(0, 2, n),
    )
    return sets, documents


@pytest.mark.parametrize("method", ["paper", "gibbs"])
def test_threads_and_neighbours_change_nothing(method):
    sets, documents = many_documents()
    options = {"method": method, "samples": 20, "burn_in": 5, "seed": 9}
    one = fold_in_documents(make_base(), sets, documents, threads=1, **options)
    two = fold_in_documents(make_base(), sets, documents, threads=2, **options)
    for first, second in zip(one, two, strict=True):
        assert first.tobytes() == second.tobytes()
    np.testing.assert_allclose(one.topic.sum(axis=1), 1.0, rtol=1e-6)
    np.testing.assert_allclose(one.word_topic.sum(axis=1), 1.0, rtol=1e-6)
    # the first documents alone come out as they do in company
    few = documents._replace(
        start=documents.start[:71], link_start=documents.link_start[:71], group=documents.group[:70]
    )
    alone = fold_in_documents(make_base(), sets, few, threads=1, **options)
    assert alone.topic.tobytes() == one.topic[:70].tobytes()
    other = fold_in_documents(make_base(), sets, documents, **options | {"seed": 10})
    assert other.topic.tobytes() != one.topic.tobytes()


def test_words_that_choose_their_group_need_no_samples():
    base = make_base(0)
    prior = np.array([0.3, 0.7])
    words = (0, 2, 2)
    sets, documents = one_document(words, (), (0, 1), prior)
    found = fold_in_documents(base, sets, documents)
    shares = [prior * (NODES[:2] @ WORD_TOPIC[w]) for w in words]
    share = np.mean([s / s.sum() for s in shares], axis=0)
    np.testing.assert_allclose(found.group, share, rtol=1e-6)
    np.testing.assert_allclose(found.topic[0], share @ NODES[:2], rtol=1e-6)


def test_streams_are_a_function_of_seed_and_document():
    assert streams(3, 0, 10)[4:7].tobytes() == streams(3, 4, 7).tobytes()
    assert len(np.unique(streams(3, 0, 1000))) == 4000
    assert not np.isin(streams(4, 0, 100), streams(3, 0, 1000)).any()


def test_an_unknown_method_is_refused():
    sets, documents = one_document((0,), (), (0,), (1.0,))
    with pytest.raises(ParameterError, match="'method' of a fold-in must be one of paper, gibbs"):
        fold_in_documents(make_base(), sets, documents, method="magic")
