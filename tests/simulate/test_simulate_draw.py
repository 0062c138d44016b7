"""Simulated corpora: sizes, planted structure, determinism, cost, and refused parameters."""

import math
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import citeweave.simulate
from citeweave.errors import ParameterError
from citeweave.simulate import simulate


@pytest.fixture(scope="module")
def simulation():
    return simulate(
        documents=800,
        vocabulary=600,
        topics=6,
        authors=150,
        categories=4,
        citations=5000,
        words_per_document=40,
        topic_share=np.full(6, 1 / 6),
        seed=3,
    )


def test_sizes_are_near_what_was_asked(simulation):
    corpus = simulation.corpus
    assert (corpus.n_documents, corpus.vocabulary_size) == (800, 600)
    assert (corpus.n_authors, corpus.n_categories) == (150, 4)
    assert corpus.n_citations == pytest.approx(5000, rel=0.05)
    assert corpus.n_tokens / 800 == pytest.approx(40, rel=0.05)
    teams = np.diff(corpus.author_offsets)
    assert teams.min() == 1
    assert teams.max() <= 4
    assert set(corpus.first_authors.tolist()) == set(range(150))
    assert corpus.report.duplicate_authors == 0


def test_truth_is_aligned_and_normalised(simulation):
    corpus, truth = simulation.corpus, simulation.truth
    assert truth.topic_word.shape == (6, 600)
    assert truth.group_topic.shape == (154, 6)
    assert truth.author_topic.shape == (150, 6)
    assert truth.category_topic.shape == (4, 6)
    assert truth.doc_topic.shape == (800, 6)
    assert truth.doc_topic.dtype == np.float32
    assert truth.token_topic.shape == corpus.tokens.shape
    assert truth.citing_topic.shape == (corpus.n_citations,)
    for rows in (truth.topic_word, truth.group_topic, truth.doc_topic, truth.topic_share[None]):
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-5)
        assert rows.min() >= 0
    assert truth.token_topic.max() < 6
    assert (truth.group == corpus.first_authors).all()


def test_tokens_follow_their_topics(simulation):
    corpus, truth = simulation.corpus, simulation.truth
    # the topic of a token is far likelier under its own document's theta' than under another's
    owner = np.repeat(np.arange(800), corpus.lengths)
    own = truth.doc_topic[owner, truth.token_topic].mean()
    other = truth.doc_topic[(owner + 400) % 800, truth.token_topic].mean()
    assert own > 2 * other
    for k in range(6):
        words = np.bincount(corpus.tokens[truth.token_topic == k], minlength=600)
        correlations = np.corrcoef(np.vstack([words[None], truth.topic_word]))[0, 1:]
        assert correlations.argmax() == k
        assert correlations[k] > 0.8


def test_citations_stay_mostly_within_topics(simulation):
    corpus, truth = simulation.corpus, simulation.truth
    citing, cited = corpus.citations.T
    main = truth.doc_topic.argmax(axis=1)
    assert (main[citing] == main[cited]).mean() > 0.5
    shuffled = np.random.default_rng(0).permutation(cited)
    assert (main[citing] == main[cited]).mean() > 2 * (main[citing] == main[shuffled]).mean()
    assert (truth.citing_topic == main[citing]).mean() > 0.6


def test_some_documents_carry_influence(simulation):
    corpus, truth = simulation.corpus, simulation.truth
    received = np.bincount(corpus.citations[:, 1], minlength=800)
    assert np.sort(received)[-80:].sum() > 0.3 * received.sum()
    assert np.corrcoef(received, truth.cited_propensity)[0, 1] > 0.6


def test_categories_tell_of_topics(simulation):
    corpus, truth = simulation.corpus, simulation.truth
    means = [truth.doc_topic[corpus.categories == e].mean(axis=0) for e in range(4)]
    expected = truth.category_topic
    for e in range(4):
        assert np.abs(means[e] - expected[e]).sum() < np.abs(expected[e] - 1 / 6).sum()


def test_burstiness_repeats_words():
    shares = {
        bursty: simulate(documents=400, seed=1, burstiness=bursty).corpus.summary()[
            "percent_repeat"
        ]
        for bursty in (True, False)
    }
    assert shares[True] > shares[False] + 5


def test_the_seed_decides_everything():
    options = {"documents": 60, "authors": 20, "categories": 3, "citations": 100, "topics": 4}
    first, again, other = (simulate(seed=seed, **options) for seed in (7, 7, 8))
    assert first.corpus.fingerprint == again.corpus.fingerprint
    assert first.corpus.fingerprint != other.corpus.fingerprint
    for name in ("doc_topic", "token_topic", "citing_topic", "topic_scale"):
        left, right = getattr(first.truth, name), getattr(again.truth, name)
        assert left.tobytes() == right.tobytes()


def test_asking_for_citations_does_not_change_the_words():
    without = simulate(documents=50, seed=2).corpus
    with_them = simulate(documents=50, seed=2, citations=60).corpus
    assert without.tokens.tobytes() == with_them.tokens.tobytes()


def test_eta_divides_documents_between_authors_and_categories():
    options = {"documents": 300, "authors": 100, "categories": 5, "seed": 4}
    for eta in (0, 1, 4, math.inf):
        drawn = simulate(eta=eta, **options)
        first = drawn.corpus.first_authors
        significant = np.bincount(first, minlength=100)[first] >= eta
        expected = np.where(significant, first, 100 + drawn.corpus.categories)
        assert drawn.truth.group.tolist() == expected.tolist()


def test_categories_alone_and_no_groups_at_all():
    labelled = simulate(documents=100, categories=3)
    assert labelled.truth.group.tolist() == labelled.corpus.categories.tolist()
    plain = simulate(documents=100)
    assert plain.truth.group_topic.shape == (1, 20)
    assert not plain.truth.group.any()
    assert plain.corpus.report.documents_without_category == 100


def test_more_authors_than_documents():
    corpus = simulate(documents=30, authors=200).corpus
    assert corpus.n_authors == 200
    assert len(set(corpus.first_authors.tolist())) == 30


def test_citations_point_to_earlier_years():
    corpus = simulate(documents=300, citations=1500, years=(2000, 2010), seed=5).corpus
    years = np.array(corpus.metadata["year"])
    assert years.min() >= 2000
    assert years.max() <= 2010
    assert (years[corpus.citations[:, 0]] > years[corpus.citations[:, 1]]).all()
    assert corpus.n_citations == pytest.approx(1500, rel=0.06)


def test_given_topics_and_words_are_used():
    phi = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.25, 0.75]])
    drawn = simulate(
        documents=200,
        topics=2,
        topic_word=phi,
        topic_share=[0.9, 0.1],
        vocabulary_words=["a", "b", "c", "d"],
    )
    assert drawn.corpus.vocabulary == ["a", "b", "c", "d"]
    assert ((drawn.corpus.tokens >= 2) == (drawn.truth.token_topic == 1)).all()
    assert drawn.truth.topic_share.tolist() == [0.9, 0.1]


def test_one_topic_one_word_one_document():
    drawn = simulate(documents=1, vocabulary=1, topics=1, words_per_document=3)
    assert not drawn.corpus.tokens.any()
    assert drawn.corpus.n_citations == 0


def test_memory_grows_with_citations_and_not_with_pairs():
    tracemalloc.start()
    simulate(documents=200_000, words_per_document=1, citations=20_000, topics=5)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 500e6  # a bit for each of the 4e10 pairs would take 5 GB


def test_the_module_is_the_function():
    drawn = citeweave.simulate(documents=5, topics=2)
    assert drawn.corpus.n_documents == 5


def test_uncompiled_kernels_give_the_same_corpus():
    script = (
        "from citeweave.simulate import simulate\n"
        "print(simulate(documents=8, vocabulary=20, topics=3, authors=4, citations=10,"
        " words_per_document=6).corpus.fingerprint)"
    )
    prints = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", script],
            env=os.environ | {"NUMBA_DISABLE_JIT": switch},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for switch in ("0", "1")
    ]
    assert prints[0] == prints[1]
    assert len(prints[0].strip()) == 64


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"topics": -1}, "'topics' parameter of simulate must be an integer of at least 1. Got -1"),
        ({"topics": 2.5}, "'topics' .* Got 2.5 instead"),
        ({"documents": 0}, "'documents' .* Got 0 instead"),
        ({"documents": True}, "'documents' .* Got True instead"),
        ({"vocabulary": "x"}, "'vocabulary' .* Got 'x' instead"),
        ({"authors": -3}, "'authors' .* Got -3 instead"),
        ({"categories": -3}, "'categories' .* Got -3 instead"),
        ({"citations": -3}, "'citations' .* Got -3 instead"),
        ({"documents": 10, "citations": 80}, "'citations' .* at most a quarter .* 22 for 10"),
        ({"words_per_document": 0}, "'words_per_document' .* Got 0 instead"),
        ({"words_per_document": math.nan}, "'words_per_document' .* Got nan instead"),
        ({"eta": "x"}, "'eta' .* Got 'x' instead"),
        ({"eta": -1}, "'eta' .* Got -1 instead"),
        ({"seed": -1}, "'seed' .* Got -1 instead"),
        ({"burstiness": "no"}, "'burstiness' .* Got 'no' instead"),
        ({"discounts": {"mu": 1.0}}, r"'discounts\['mu'\]' .* less than 1. Got 1.0 instead"),
        ({"discounts": {"zeta": 0.1}}, "'discounts' .* keys mu, nu.* Got 'zeta' instead"),
        ({"concentrations": {"phi": 0}}, r"'concentrations\['phi'\]' .* Got 0 instead"),
        ({"concentrations": 3}, "'concentrations' .* a dictionary .* Got 3 instead"),
        ({"topics": 2, "topic_share": [0.5, 0.6]}, "'topic_share' .* sum to 1"),
        ({"topics": 2, "topic_share": [1.0]}, r"'topic_share' .* shape \(1,\)"),
        ({"topics": 2, "topic_word": [[1.0, 0.0]]}, r"'topic_word' .* shape \(1, 2\)"),
        ({"topics": 1, "topic_word": [[1.5, -0.5]]}, "'topic_word' .* values from -0.5"),
        ({"topics": 1, "topic_word": [[1.0, "x"]]}, r"'topic_word' .* Got \[\[1.0, 'x'\]\]"),
        (
            {"topics": 1, "topic_word": [[1.0]], "vocabulary_words": ["a", "b"]},
            "'vocabulary_words' .* list of 1 words",
        ),
        ({"years": (2000, 2000)}, r"'years' .* Got \(2000, 2000\) instead"),
        ({"years": 2000}, "'years' .* Got 2000 instead"),
        ({"years": (1.5, 3)}, "'years' .* Got 1.5 instead"),
    ],
)
def test_wrong_parameters_are_named(options, text):
    with pytest.raises(ParameterError, match=text):
        simulate(**options)
