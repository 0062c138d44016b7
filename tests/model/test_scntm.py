"""The estimator: attributes, models, degenerate corpora, saving and loading."""

import math
import subprocess
import sys

import numpy as np
import pytest
from model_tools import QUICK

import citeweave
from citeweave import SCNTM, Corpus, Level, preset
from citeweave.errors import CorpusError, RunError
from citeweave.model.stored import load_result

PRESETS = ["scntm", "cntm-text", "bursty-hdp-lda", "np-atm"]


@pytest.fixture(scope="module")
def fitted(small):
    return SCNTM(**QUICK, chains=1).fit(small)


def assert_distributions(array):
    assert np.isfinite(array).all()
    assert array.min() >= 0.0
    np.testing.assert_allclose(array.sum(axis=-1), 1.0, atol=2e-6)


def test_shapes_and_rows(fitted, small):
    n, v, k = small.n_documents, small.vocabulary_size, 4
    shapes = {
        "doc_topic_": (n, k),
        "doc_word_topic_": (n, k),
        "topic_word_": (k, v),
        "background_": (v,),
        "topic_share_": (k,),
        "group_topic_": (len(fitted.groups_), k),
        "citing_topic_": (small.n_citations, k),
    }
    for name, shape in shapes.items():
        array = getattr(fitted, name)
        assert array.shape == shape, name
        assert_distributions(array)
    assert fitted.cite_propensity_.mean() == pytest.approx(1.0)
    assert fitted.cited_propensity_.mean() == pytest.approx(1.0)
    assert (fitted.topic_scale_ > 0).all()
    np.testing.assert_array_equal(fitted.labels_, fitted.doc_topic_.argmax(axis=1))
    assert (fitted.n_iter_, fitted.n_samples_, fitted.seed_) == (30, 5, 5)


def test_traces(fitted):
    traces = fitted.traces_
    assert traces["log_likelihood"].shape == (1, 30)
    assert np.isfinite(traces["log_likelihood"]).all()
    assert traces["concentrations"].shape == (1, 30, 7)
    assert fitted.level_names_ == ["mu", "nu", "theta'", "theta", "gamma", "phi", "phi'"]
    assert np.isnan(traces["acceptance"][0, :8]).all()
    assert fitted.acceptance_ == pytest.approx(traces["acceptance"][0, 8:].mean())
    assert 0.5 < fitted.acceptance_ <= 1.0


def test_influence_is_the_sum_over_first_authors(fitted, small):
    expected = np.zeros(small.n_authors)
    for document, author in enumerate(small.first_authors):
        expected[author] += fitted.cited_propensity_[document]
    np.testing.assert_allclose(fitted.author_influence_, expected)


def test_nothing_before_fitting():
    with pytest.raises(AttributeError, match="not fitted yet"):
        _ = SCNTM().doc_topic_
    assert not hasattr(SCNTM(), "groups_")


def test_fit_transform_and_repr(small, fitted):
    np.testing.assert_array_equal(SCNTM(**QUICK, chains=1).fit_transform(small), fitted.doc_topic_)
    assert "topics in use" in fitted._repr_html_()
    assert "<table>" in SCNTM()._repr_html_()


@pytest.mark.parametrize("model", PRESETS)
def test_every_preset(small, model):
    fit = SCNTM(**QUICK, model=model, chains=1).fit(small)
    assert_distributions(fit.doc_topic_)
    assert_distributions(fit.topic_word_)
    has = {
        "citing_topic_": model == "scntm",
        "acceptance_": model == "scntm",
        "author_influence_": model == "scntm",
        "doc_word_topic_": model in {"scntm", "cntm-text"},
        "group_topic_": model != "bursty-hdp-lda",
        "groups_": model != "bursty-hdp-lda",
    }
    for name, expected in has.items():
        assert hasattr(fit, name) is expected, name
        if not expected:
            with pytest.raises(AttributeError, match=rf"The model '{model}' has (no|only)\b"):
                getattr(fit, name)


def test_category_above_author(small):
    spec = preset("cntm-text")
    mu, *rest = spec.topic_side
    deep = citeweave.ModelSpec("deep", (mu, Level("xi", "category", 0.01), *rest), spec.word_side)
    fit = SCNTM(**QUICK, model=deep, chains=1).fit(small)
    assert list(fit.levels_) == ["xi", "nu"]
    assert fit.groups_ is fit.levels_["nu"]
    for name, groups in fit.levels_.items():
        assert fit.level_topic_[name].shape == (len(groups), 4)
        assert_distributions(fit.level_topic_[name])


@pytest.mark.parametrize("unknown", ["shared", "own"])
@pytest.mark.parametrize("eta", [0, 2, "inf"])
def test_documents_that_lack_things(people, eta, unknown):
    corpus = Corpus.from_lists(
        tokens=[*(people.words(d) for d in range(6)), [], ["d"] * 300],
        authors=[*(people.authors(d) for d in range(6)), None, ["Dee"]],
        categories=["x", "x", "y", "y", "x", None, None, "y"],
        citations=people.citations.tolist(),
    )
    # self-citations that are drawn would be something of its own for document 6
    apart = {"self_citations": "zero", "chains": 1}
    fit = SCNTM(**QUICK | apart, eta=eta, unknown=unknown).fit(corpus)
    for name in ("doc_topic_", "doc_word_topic_", "topic_word_", "group_topic_", "citing_topic_"):
        assert_distributions(getattr(fit, name))
    # document 6 has nothing of its own: it follows its group
    group = fit.groups_.of_document[6]
    assert fit.groups_[group].kind == "unknown"
    if unknown == "own":
        np.testing.assert_allclose(fit.doc_topic_[6], fit.group_topic_[group], rtol=1e-5)


def test_no_citations_and_one_topic(people):
    alone = Corpus.from_lists(tokens=[people.words(d) for d in range(6)])
    fit = SCNTM(**QUICK | {"topics": 1}, chains=1).fit(alone)
    np.testing.assert_allclose(fit.doc_topic_, 1.0)
    assert fit.citing_topic_.shape == (0, 1)
    assert np.isnan(fit.acceptance_)
    assert fit.author_influence_.shape == (0,)
    one = SCNTM(**QUICK | {"topics": 1}, chains=1).fit(people)
    np.testing.assert_allclose(one.citing_topic_, 1.0)


def test_wrong_corpora(tmp_path):
    with pytest.raises(CorpusError, match="Got list instead"):
        SCNTM(**QUICK, chains=1).fit([["a", "b"]])
    with pytest.raises(CorpusError, match="no corpus folder"):
        SCNTM(**QUICK, chains=1).fit(tmp_path / "nowhere")


def test_save_and_load(fitted, small, tmp_path):
    path = fitted.save(tmp_path / "run")
    back = citeweave.load(path)
    assert back.get_params() == fitted.get_params()
    for name in fitted._result.estimates:
        np.testing.assert_array_equal(back._result.estimates[name], fitted._result.estimates[name])
    for name, trace in fitted.traces_.items():
        np.testing.assert_array_equal(back.traces_[name], trace)
    assert back.combination_ == fitted.combination_
    assert back.groups_.names == fitted.groups_.names
    assert back.corpus_.fingerprint == small.fingerprint
    assert back.spec_ == fitted.spec_
    assert len(list((path / "chains" / "chain-0").glob("*.npz"))) == 1
    with pytest.raises(ValueError, match="read-only"):
        back.doc_topic_[0, 0] = 2.0
    again = back.save(tmp_path / "again")
    np.testing.assert_array_equal(citeweave.load(again).doc_topic_, fitted.doc_topic_)
    assert citeweave.resume(again).n_samples_ == 5


def test_models_of_ones_own_and_infinite_eta_are_stored(small, tmp_path):
    own = preset("cntm-text").without("phi'")  # for which kernels are compiled: the first stage
    fit = SCNTM(**QUICK, model=own, eta=math.inf, chains=1).fit(small)
    assert set(fit.groups_.kinds) == {"category"}
    assert fit.spec_ == own
    back = citeweave.load(fit.save(tmp_path / "run"))
    assert back.get_params() == fit.get_params()
    assert back.spec_ == fit.spec_
    assert back.groups_.names == fit.groups_.names


def test_what_is_saved_is_what_was_fitted(small, tmp_path):
    fit = SCNTM(**QUICK, chains=1).fit(small)
    fit.set_params(topics=9)
    assert citeweave.load(fit.save(tmp_path / "run")).topics == 4


def test_a_saved_run_is_not_overwritten_by_chance(fitted, tmp_path):
    path = fitted.save(tmp_path / "run")
    with pytest.raises(RunError, match="already contains a run"):
        fitted.save(path)
    assert fitted.save(path, overwrite=True) == path
    with pytest.raises(RunError, match=r"already saved in"):
        citeweave.load(path).save(path, overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_estimates_stay_on_disk_until_asked_for(fitted, tmp_path):
    result = load_result(fitted.save(tmp_path / "run"))
    assert result.estimates._loaded.keys() <= set(result.estimates)
    (tmp_path / "run" / "estimates" / "doc_topic.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(RunError, match="missing or damaged; restore them"):
        citeweave.load(tmp_path / "run")


def test_importing_is_light():
    heavy = ("numba", "numpy", "polars")
    code = f"import sys, citeweave; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_lazy_names():
    assert set(citeweave.__all__) <= set(dir(citeweave))
    for name in citeweave.__all__:
        assert getattr(citeweave, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = citeweave.nothing
