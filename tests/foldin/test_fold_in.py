"""Fold-in of corpora into fitted models: matching, groups, links, words, and the truth."""

import math

import numpy as np
import pytest

import citeweave
from citeweave import SCNTM, Corpus, Level, ModelSpec, preset
from citeweave.errors import CorpusError, ParameterError
from citeweave.model import match_topics
from citeweave.model.fold_in import choose_words, level_concentrations

QUICK = {"samples": 40, "burn_in": 10}
METHODS = ["paper", "gibbs"]


def in_words(corpus, **changes):
    """The same documents as lists of strings, in a vocabulary of their own."""
    every = range(corpus.n_documents)
    names = corpus.category_names
    lists = {
        "tokens": [corpus.words(d) for d in every],
        "authors": [corpus.authors(d) for d in every],
        "categories": [names[c] if c >= 0 else None for c in corpus.categories],
        "ids": corpus.ids,
    }
    return Corpus.from_lists(**lists | changes)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("eta", [0, math.inf])
def test_matching_by_name_equals_shared_tables(fit, parts, method, eta):
    options = {"method": method, "links": parts.links.citing, **QUICK}
    fast = fit(eta=eta).fold_in(parts.test, **options)
    slow = fit(eta=eta).fold_in(in_words(parts.test), **options)
    assert slow.doc_topic.tobytes() == fast.doc_topic.tobytes()
    assert slow.doc_word_topic.tobytes() == fast.doc_word_topic.tobytes()
    assert (slow.group_posterior != fast.group_posterior).nnz == 0
    assert fast.matched_citations == len(parts.links.citing)
    assert fast.ignored_citations == parts.test.n_citations


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", ["scntm", "cntm-text", "bursty-hdp-lda", "np-atm"])
def test_rows_are_distributions(fit, parts, model, method):
    found = fit(model=model).fold_in(parts.test, links=parts, method=method, **QUICK)
    assert found.doc_topic.shape == (parts.test.n_documents, 5)
    assert found.doc_topic.min() >= 0
    np.testing.assert_allclose(found.doc_topic.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(found.doc_word_topic.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(found.group_posterior.sum(axis=1), 1, rtol=1e-5)
    assert (found.matched_citations > 0) == (model == "scntm")
    one_level = model in {"bursty-hdp-lda", "np-atm"}
    assert (found.doc_topic.tobytes() == found.doc_word_topic.tobytes()) == one_level
    np.testing.assert_array_equal(found.labels, found.doc_topic.argmax(axis=1))


@pytest.mark.parametrize("method", METHODS)
def test_held_out_documents_find_their_topics(topical, method):
    simulation, parts, models = topical
    model = models[0]
    order, cosines, _ = match_topics(simulation.truth.topic_word, model.topic_word_)
    assert cosines.min() > 0.9
    truth = simulation.truth.doc_topic[parts.test_index].argmax(axis=1)

    def right(**options):
        found = model.fold_in(parts.test, method=method, **options)
        return (found.doc_topic[:, order].argmax(axis=1) == truth).mean()

    prior = right(words="none", citations=False)
    some = right(words=0.3, citations=False)
    assert some > prior + 0.1
    assert right(citations=False) > prior + 0.15
    assert right(words=0.3, links=parts) > max(some + 0.05, 0.6)


@pytest.mark.parametrize("method", METHODS)
def test_held_out_labels_are_inferred(topical, method):
    _, parts, models = topical
    found = models[math.inf].fold_in(parts.test, method=method, links=parts)
    largest = np.bincount(parts.train.categories).max() / parts.train.n_documents
    assert (found.category == parts.test.categories).mean() > largest + 0.1
    assert found.protocol["groups_inferred"] == parts.test.n_documents


def test_transform_is_theta_prime(fit, parts):
    found = fit().fold_in(parts.test, **QUICK)
    assert fit().transform(parts.test, **QUICK).tobytes() == found.doc_topic.tobytes()


def test_a_loaded_model_folds_in_alike(fit, parts, tmp_path):
    fit(eta=math.inf).save(tmp_path / "run")
    parts.test.save(tmp_path / "test")
    loaded = citeweave.load(tmp_path / "run")
    for method in METHODS:
        here = fit(eta=math.inf).fold_in(parts.test, method=method, links=parts, **QUICK)
        there = loaded.fold_in(tmp_path / "test", method=method, links=parts, **QUICK)
        assert there.doc_topic.tobytes() == here.doc_topic.tobytes()
        assert there.protocol == here.protocol
        assert there.category_names == here.category_names
        assert set(there.category_names) <= set(parts.train.category_names)


def test_concentrations_are_means_of_kept_iterations(fit):
    model = fit()
    trace = model.traces_["concentrations"][0, model._result.plan.burn_in :]
    found = level_concentrations(model._result)
    assert list(found) == model.level_names_
    np.testing.assert_allclose(list(found.values()), trace.mean(axis=0))


@pytest.mark.parametrize("eta", [0, 3, math.inf])
@pytest.mark.parametrize("method", METHODS)
def test_hidden_labels_are_never_read(fit, parts, eta, method):
    categories = np.random.default_rng(0).permutation(parts.test.categories)
    names = parts.test.category_names
    other = in_words(parts.test, categories=[names[c] for c in categories])
    none = in_words(parts.test, categories=None)
    options = {"method": method, "links": parts.links, **QUICK}
    found = fit(eta=eta).fold_in(in_words(parts.test), **options)
    for changed in (other, none):
        again = fit(eta=eta).fold_in(changed, **options)
        assert again.doc_topic.tobytes() == found.doc_topic.tobytes()
        assert again.group_posterior.data.tobytes() == found.group_posterior.data.tobytes()
        if eta == 0:
            assert found.category is again.category is None
        else:
            np.testing.assert_array_equal(again.category, found.category)
    if eta == math.inf:
        seen = fit(eta=eta).fold_in(parts.test, **options, labels="seen")
        np.testing.assert_array_equal(seen.category, parts.test.categories)
        assert (seen.category_probability == 1).all()
        assert seen.protocol["labels_used"] == "labels seen (the paper's protocol)"


TRAIN = {
    "tokens": [["a", "b"], ["a"], ["b", "c"], ["c"], ["a", "c", "c"], ["b"]],
    "authors": [["Ann"], ["Ann", "Bo", "Ann"], ["Ann"], ["Bo", "Cy"], None, []],
    "categories": ["x", "x", "y", "y", "x", None],
    "ids": ["p", "q", "r", "s", "t", "u"],
}
NEW = {
    "tokens": [["a", "zebra"], ["zebra", "zebra", "yak"], ["c"], [], ["a"]],
    "authors": [["Ann"], ["Bo"], ["Eve", "Ann"], None, ["Cy", "Bo"]],
    "categories": ["y", "x", "new", None, "y"],
    "ids": ["v", "w", "x", "y", "z"],
}


def place(new=NEW, train=TRAIN, **parameters):
    labels = parameters.pop("labels", "hidden")
    model = SCNTM(topics=2, iterations=8, seed=1, chains=1, **parameters).fit(
        Corpus.from_lists(**train)
    )
    found = model.fold_in(Corpus.from_lists(**new), labels=labels, **QUICK)
    groups = [
        sorted((group.kind, group.name) for group in found.likely_groups(d, 9))
        for d in range(len(new["tokens"]))
    ]
    return model, found, groups


ANN, BO, CY = ("author", "Ann"), ("author", "Bo"), ("author", "Cy")
X, Y = ("category", "x"), ("category", "y")
UNKNOWN, ROOT = ("unknown", "unknown"), ("corpus", "corpus")
MU, _, *BELOW = preset("cntm-text").topic_side
NESTED = ModelSpec(
    "category above author",
    topic_side=(MU, Level("xi", "category", 0.01), Level("nu", "author", 0.01), *BELOW),
    word_side=preset("cntm-text").word_side,
)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"eta": 0}, [[ANN], [BO], [ROOT], [UNKNOWN], [ROOT]]),
        ({"eta": 2}, [[ANN], [X, Y], [X, Y], [X, Y], [X, Y]]),
        ({"eta": 2, "labels": "seen"}, [[ANN], [X], [ROOT], [UNKNOWN], [Y]]),
        ({"eta": math.inf, "labels": "seen"}, [[Y], [X], [ROOT], [UNKNOWN], [Y]]),
        ({"model": "bursty-hdp-lda"}, [[ROOT]] * 5),
        ({"model": "np-atm"}, [[ANN], [BO], [ANN], [UNKNOWN], [BO, CY]]),
        ({"model": NESTED}, [[ANN], [BO], [X, Y], [UNKNOWN], [X, Y]]),
        ({"model": NESTED, "labels": "seen"}, [[ANN], [BO], [ROOT], [UNKNOWN], [Y]]),
    ],
)
def test_groups_fall_back_up_the_tree(parameters, expected):
    _, found, groups = place(**parameters)
    assert groups == expected
    assert found.unseen_authors == 1
    assert found.unseen_words.tolist() == [1, 3, 0, 0, 0]
    assert found.common_unseen == [("zebra", 3), ("yak", 1)]
    assert found.used.tolist() == [True, False, False, False, False, True, True]


VENUES = {
    "train": ["P", "Q", "Q", "P", "Q", None],
    "new": ["p", "Q", "Q", None, "elsewhere"],
}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        # Ann's node in P; in Q there is none of Bo nor of Eve; papers without a venue share one
        ({"eta": 0}, ["Ann, P", "Q", "Q", "unknown, unknown", "corpus"]),
        ({"eta": math.inf, "labels": "seen"}, ["y, P", "x, Q", "Q", "unknown, unknown", "corpus"]),
        ({"eta": math.inf}, ["x, P|y, P", "x, Q|y, Q", "x, Q|y, Q", "unknown, unknown", "corpus"]),
        ({"model": "np-atm"}, ["Ann, P", "Bo, Q", "Ann, Q", "unknown, unknown", "corpus"]),
    ],
)
def test_groups_are_looked_for_within_the_venue(parameters, expected):
    options = {"model": "scntm"} | parameters
    train = TRAIN | {"metadata": {"venue": VENUES["train"]}}
    new = NEW | {"metadata": {"venue": VENUES["new"]}}
    _, found, groups = place(new, train=train, levels=("venue",), **options)
    assert ["|".join(name for _, name in row) for row in groups] == expected
    np.testing.assert_allclose(found.doc_topic.sum(axis=1), 1.0, rtol=1e-5)


def test_new_papers_without_a_column_are_as_those_without_a_value():
    train = TRAIN | {"metadata": {"venue": VENUES["train"]}}
    _, _, groups = place(train=train, levels=("venue",), model="cntm-text")
    assert groups[0] == [UNKNOWN]
    train["metadata"]["venue"][-1] = "P"  # then nobody shares their node
    _, _, groups = place(train=train, levels=("venue",), model="cntm-text")
    assert groups[0] == [ROOT]


def test_priors_of_hidden_groups_are_their_documents():
    model, found, _ = place(eta=math.inf)
    shares = {group.name: group.probability for group in found.likely_groups(3)}
    # document 3 has no words: of the labelled training documents three are x and two are y
    assert shares == pytest.approx({"x": 0.6, "y": 0.4})
    nu = {group.name: row for group, row in zip(model.groups_, model.group_topic_, strict=True)}
    np.testing.assert_allclose(found.doc_topic[3], 0.6 * nu["x"] + 0.4 * nu["y"], rtol=1e-5)
    assert found.category_names[3] == "x"


def test_documents_without_words_have_their_groups_topics():
    model, found, _ = place(eta=0)
    rows = {group.name: row for group, row in zip(model.groups_, model.group_topic_, strict=True)}
    np.testing.assert_allclose(found.doc_topic[3], rows["unknown"], rtol=1e-6)
    # all of Bo's new words are unseen
    np.testing.assert_allclose(found.doc_topic[1], rows["Bo"], rtol=1e-6)


def test_the_labels_of_an_authors_papers_tell_of_the_next():
    _, found, _ = place(new=NEW | {"tokens": [[]] * 5}, eta=2)
    # Ann has two papers of x and one of y; of all labelled papers, 3 of 5 are x
    assert found.category_names[0] == "x"
    assert found.category_probability[0] == pytest.approx((2 + 0.6) / 4)


def test_links_come_in_several_forms(fit, parts):
    model, test = fit(), parts.test
    citing = parts.links.citing
    named = [(test.ids[i], parts.train.ids[j]) for i, j in citing]
    found = [
        model.fold_in(test, links=links, **QUICK)
        for links in (parts, parts.links, citing, citing[::-1], named, citing.tolist())
    ]
    for other in found:
        assert other.doc_topic.tobytes() == found[0].doc_topic.tobytes()
        assert other.matched_citations == len(citing)
    both = model.fold_in(test, links=parts, citations="both", **QUICK)
    together = np.unique(np.concatenate([citing, parts.links.cited]), axis=0)
    assert both.matched_citations == len(together)
    without = model.fold_in(test, links=parts, citations=False, **QUICK)
    assert without.matched_citations == 0
    nothing = model.fold_in(test, links=np.zeros((0, 2), int), **QUICK)
    assert nothing.doc_topic.tobytes() == without.doc_topic.tobytes()


def test_citations_of_training_papers_are_found_by_id():
    corpus = Corpus.from_lists(**TRAIN, citations=[("q", "p"), ("s", "p"), ("t", "r")])
    model = SCNTM(topics=2, iterations=8, seed=1, chains=1).fit(corpus)
    new = {
        "tokens": [["a"], ["a", "b"], ["b"]],
        "ids": ["fresh", "p", "newer"],
        "citations": [("fresh", "p"), ("newer", "fresh")],
    }
    found = model.fold_in(Corpus.from_lists(**new), **QUICK)
    assert (found.matched_citations, found.ignored_citations) == (1, 1)
    # made-up ids say nothing
    made_up = {"tokens": new["tokens"], "citations": [(0, 1), (2, 0)]}
    found = model.fold_in(Corpus.from_lists(**made_up), **QUICK)
    assert (found.matched_citations, found.ignored_citations) == (0, 2)


def test_shares_of_words(parts):
    corpus = parts.test
    for share in (0.1, 0.5, 0.9):
        chosen = choose_words(corpus, share, seed=3)
        counts = np.add.reduceat(chosen.astype(int), corpus.offsets[:-1])
        np.testing.assert_array_equal(counts, np.floor(share * corpus.lengths + 0.5))
        assert (choose_words(corpus, share, seed=3) == chosen).all()
        assert (choose_words(corpus, share, seed=4) != chosen).any()
    assert choose_words(corpus, "all", seed=0).all()
    assert not choose_words(corpus, "none", seed=0).any()


def test_titles(fit):
    new = Corpus.from_lists(tokens=[["w1", "w2", "w3"], ["w4"]], title_lengths=[2, 0])
    found = fit().fold_in(new, words="title", **QUICK)
    assert found.used.tolist() == [True, True, False, False]


WRONG = {
    "words": ({"words": 1.5}, "'words' must be 'all', 'title', 'none' or a share between 0 and 1"),
    "no titles": ({"words": "title"}, "does not say which words are of titles"),
    "method": ({"method": "exact"}, "'method' of a fold-in must be 'paper' or 'gibbs'"),
    "labels": ({"labels": "known"}, "'labels' of a fold-in must be 'hidden' or 'seen'"),
    "citations": ({"citations": "cited"}, "must be True or False or 'both'. Got 'cited'"),
    "samples": ({"samples": 0}, "'samples' of a fold-in must be an integer of at least 1"),
    "threads": ({"threads": 0}, "'threads' of a fold-in must be an integer of at least 1"),
    "shape": ({"links": np.zeros((2, 3), int)}, r"Got an array of shape \(2, 3\)"),
    "range": ({"links": [(0, 400)]}, "positions of training documents from 0 to 399"),
    "id": ({"links": [("0", "nowhere")]}, "there is no (new|training) document with the id"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_options_are_refused(fit, parts, case):
    options, text = WRONG[case]
    with pytest.raises((ParameterError, CorpusError), match=text):
        fit().fold_in(parts.test, **options)


def test_documents_of_a_fold_in_have_bounds(fit, parts):
    found = fit().fold_in(parts.test, **QUICK)
    with pytest.raises(ParameterError, match="no document 100; positions run from 0 to 99"):
        found.likely_groups(100)
    assert repr(found).startswith("FoldIn(100 documents, ")
    assert len(found.group_names(0)) == 1


def test_a_model_must_be_fitted_first(parts):
    with pytest.raises(AttributeError, match="not fitted yet"):
        SCNTM().transform(parts.test)
