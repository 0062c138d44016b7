"""Papers drawn into categories, as users meet them."""

import json
import threading

import numpy as np
import pytest

import citeweave
from citeweave import SCNTM
from citeweave.corpus import Corpus
from citeweave.engines.core.spec import preset
from citeweave.engines.registry import ENGINES
from citeweave.errors import CorpusError, ParameterError
from citeweave.evaluate import judge_chains
from citeweave.model.clusters import agreed_clusters, cluster_documents
from citeweave.model.groups import build_tree
from citeweave.model.parameters import make_plan
from citeweave.model.runner import RunInterrupted

GROUPS, PAPERS = 3, 48
KIND = np.arange(PAPERS) % GROUPS


def planted(labelled=()):
    """Papers of three kinds, each with its own words and citations of its own kind."""
    rng = np.random.default_rng(5)
    words = [[f"w{k}-{w}" for w in rng.integers(0, 12, 15)] for k in KIND]
    same = [(i, j) for i in range(PAPERS) for j in range(PAPERS) if i != j and KIND[i] == KIND[j]]
    chosen = rng.choice(len(same), 90, replace=False)
    return Corpus.from_lists(
        tokens=words,
        citations=[same[i] for i in sorted(chosen)],
        categories=[f"kind {KIND[d]}" if d in labelled else None for d in range(PAPERS)],
    )


FIT = {"topics": 6, "iterations": 60, "exactly": True, "seed": 2, "chains": 1}


@pytest.fixture(scope="module")
def corpus():
    return planted()


@pytest.fixture(scope="module")
def model(corpus):
    return SCNTM(categories=GROUPS, **FIT).fit(corpus)


def test_categories_are_the_planted_kinds(model):
    found = model.category_
    assert len(set(found[:GROUPS])) == GROUPS
    assert np.mean(found == found[KIND]) > 0.95


def test_probabilities_are_shares_of_samples(model):
    shares = model.category_probability_
    assert shares.shape == (PAPERS, GROUPS)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-5)
    whole = shares * model.n_samples_
    np.testing.assert_allclose(whole, whole.round(), atol=1e-3)


def test_groups_have_the_papers_of_the_categories(model):
    groups = model.groups_
    assert groups.names == ["category 0", "category 1", "category 2"]
    np.testing.assert_array_equal(groups.of_document, model.category_)
    np.testing.assert_array_equal(groups.documents, np.bincount(model.category_, minlength=3))


def test_models_without_categories_have_none(corpus):
    plain = SCNTM(**(FIT | {"iterations": 8})).fit(corpus)
    with pytest.raises(AttributeError, match="has no latent categories"):
        _ = plain.category_


def test_a_run_that_is_stopped_goes_on_in_the_same_bytes(corpus, model, tmp_path):
    stop = threading.Event()

    def watch(progress):
        if progress.iteration == 50:
            stop.set()

    with pytest.raises(RunInterrupted):
        SCNTM(categories=GROUPS, **FIT).fit(corpus, out=tmp_path / "run", progress=watch, stop=stop)
    resumed = citeweave.resume(tmp_path / "run")
    for name in ("category_probability_", "doc_topic_", "citing_topic_"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(model, name))
    loaded = citeweave.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.category_probability_, model.category_probability_)


def test_chains_are_matched_and_agree(corpus):
    options = FIT | {"chains": 2, "categories": GROUPS}
    for combine in ("average", "consensus"):
        found = SCNTM(**options, combine=combine).fit(corpus).category_probability_
        best = found.argmax(axis=1)
        assert np.mean(best == best[KIND]) > 0.95, combine
        assert found.max(axis=1).mean() > 0.9, combine  # blurred if chains were not matched


def test_it_is_said_how_many_papers_chains_agree_on(corpus, tmp_path):
    options = FIT | {"exactly": False, "iterations": 80, "chains": 3, "categories": GROUPS}
    found = SCNTM(**options).fit(corpus, out=tmp_path / "run")
    assert len(found.category_agreements_) == 3
    assert min(found.category_agreements_) > 0.9
    assert citeweave.load(tmp_path / "run").category_agreements_ == found.category_agreements_
    told = judge_chains(found).verdict
    assert told.level == "good"
    share = 100 * np.mean(found.category_agreements_)
    assert f"{share:.0f} % of the papers" in told.text
    # too many categories for what is there: chains divide it differently
    more = SCNTM(**(options | {"categories": 15, "iterations": 30, "seed": 4})).fit(corpus)
    assert np.mean(more.category_agreements_) < np.mean(found.category_agreements_)


def test_agreement_is_of_several_chains_without_labels(corpus):
    options = FIT | {"iterations": 8}
    assert SCNTM(**options, categories=GROUPS).fit(corpus).category_agreements_ == []
    for labelled in (range(12), range(PAPERS)):  # some, or all
        some = planted(labelled=labelled)
        found = SCNTM(**(options | {"chains": 2}), labels="some").fit(some)
        assert found.category_agreements_ == []
    with pytest.raises(AttributeError, match="has no latent categories"):
        _ = SCNTM(**options).fit(corpus).category_agreements_


def test_several_short_chains_are_the_default():
    for with_categories in ({"categories": GROUPS}, {"labels": "some"}):
        plan = make_plan(SCNTM(**with_categories).get_params())
        assert (plan.chains, plan.iterations, plan.burn_in) == (5, 300, 225)
    plan = make_plan(SCNTM(categories=GROUPS, iterations=700, chains=2).get_params())
    assert (plan.chains, plan.iterations) == (2, 700)
    plan = make_plan(SCNTM().get_params())
    assert (plan.chains, plan.iterations) == (2, 2000)


def test_a_run_stores_its_length_and_number_of_chains(corpus, tmp_path):
    """So that it stays the same if the defaults change."""
    SCNTM(categories=GROUPS, topics=2, iterations=4).fit(corpus, out=tmp_path / "run")
    stored = json.loads((tmp_path / "run" / "manifest.json").read_text())["parameters"]
    assert (stored["chains"], stored["iterations"]) == (5, 4)


def test_papers_are_tied_to_their_categories_or_drawn(corpus, model):
    options = FIT | {"iterations": 20, "categories": GROUPS}
    tied = SCNTM(**options, paper_concentration=30.0).fit(corpus)
    drawn = SCNTM(**options, paper_concentration="drawn").fit(corpus)
    level = tied.level_names_.index("theta'")
    np.testing.assert_allclose(tied.traces_["concentrations"][0, :, level], 30.0)
    np.testing.assert_allclose(model.traces_["concentrations"][0, :, level], 20.0)  # the default
    assert len(set(drawn.traces_["concentrations"][0, :, level].tolist())) > 1
    for other in ("nu", "theta"):
        drawn = tied.traces_["concentrations"][0, :, tied.level_names_.index(other)]
        assert len(set(drawn.tolist())) > 1


@pytest.mark.parametrize(
    ("given", "held"),
    [
        ({"categories": 3}, 20.0),
        ({"categories": 3, "paper_concentration": 5}, 5.0),
        ({"categories": 3, "paper_concentration": "drawn"}, None),
        ({"categories": 3, "paper_concentration": None}, None),  # as earlier runs have it
        ({"categories": 3, "labels": "some"}, None),
        ({"categories": 3, "labels": "some", "paper_concentration": 5}, 5.0),
        ({}, None),
    ],
)
def test_what_ties_papers_to_their_categories(given, held):
    assert make_plan(SCNTM(**given).get_params()).settings.paper_concentration == held


def test_categories_are_those_that_chains_agree_on_unless_labels_say_them(corpus):
    options = FIT | {"chains": 3, "categories": GROUPS}
    found = SCNTM(**options).fit(corpus)
    agreed = SCNTM(**options, combine="consensus").fit(corpus)
    pairs = set(zip(found.category_.tolist(), agreed.category_.tolist(), strict=True))
    assert len(pairs) == GROUPS  # equal but for their numbers
    chosen = np.sort(found.category_probability_, axis=1)
    np.testing.assert_allclose(chosen, np.sort(agreed.category_probability_, axis=1), atol=1e-5)
    best = SCNTM(**options, combine="best").fit(corpus)
    assert not np.array_equal(best.category_probability_, found.category_probability_)


def test_papers_with_a_label_keep_it():
    labelled = [0, 1, 3, 4, 6, 9]  # none of the third kind
    model = SCNTM(categories=GROUPS, labels="some", **FIT).fit(planted(labelled))
    assert model.groups_.names == ["kind 0", "kind 1", "category 2"]
    assert model.category_[labelled].tolist() == [0, 1, 0, 1, 0, 0]
    assert model.category_probability_[labelled].max(axis=1).tolist() == [1.0] * 6
    assert np.mean(model.category_ == KIND) > 0.95


def test_labels_alone_say_how_many_categories_there_are():
    spec = preset("scntm").with_categories()
    tree = build_tree(planted((0, 1)), spec, eta=0, unknown="shared", labels="some")
    assert tree.levels[0].names == ["kind 0", "kind 1"]
    assert tree.data.unlabelled.tolist() == list(range(2, PAPERS))


def test_clusters_form_around_known_papers(corpus):
    known = np.full(PAPERS, -1)
    known[[1, 2]] = [0, 1]
    found = cluster_documents(corpus, 3, np.random.default_rng(1), known=known)
    assert np.mean(found == np.array([2, 0, 1])[KIND]) > 0.95


def test_runs_of_clusters_agree(corpus):
    known = np.full(PAPERS, -1)
    known[2] = 0
    found = agreed_clusters(corpus, 3, np.random.default_rng(1), known=known)
    assert np.mean(found == found[KIND]) > 0.95
    assert found[2] == 0
    again = agreed_clusters(corpus, 3, np.random.default_rng(1), known=known)
    np.testing.assert_array_equal(found, again)


def test_new_papers_fall_into_categories(corpus, model):
    folded = model.fold_in(corpus, labels="hidden", seed=1)
    likely = [folded.group_names(d)[0] for d in range(6)]
    assert likely == [f"category {c}" for c in model.category_[:6]]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"model": "bursty-hdp-lda"}, "one level between the corpus and the documents"),
        ({"model": "np-atm"}, "one level between the corpus and the documents"),
        ({"eta": 2}, "0 or infinity for a model with latent categories"),
        ({"sweep": "snapshot", "device": "cpu"}, "sequential sweeps on the CPU"),
        ({"categories": 0}, "categories"),
    ],
)
def test_what_cannot_be_is_refused(corpus, wrong, told):
    with pytest.raises(ParameterError, match=told):
        SCNTM(**(FIT | {"categories": 3, "iterations": 4} | wrong)).fit(corpus)


def test_labels_that_are_not_there_are_refused(corpus):
    with pytest.raises(CorpusError, match="No document of the corpus has a label"):
        SCNTM(labels="some", **FIT).fit(corpus)


def test_one_engine_draws_categories():
    spec = preset("scntm").with_categories()
    able = [n for n, one in ENGINES.items() if one.capabilities.refusal(spec, 20) is None]
    assert able == ["dense"]
