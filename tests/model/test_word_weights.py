"""Words that weigh less than in full, as users meet them."""

import io
import threading

import numpy as np
import pytest
from model_tools import QUICK, assert_same_bytes, run_contents
from rich.console import Console

import citeweave
from citeweave import SCNTM
from citeweave.cli.running import _introduce
from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.model import word_weights
from citeweave.model.parameters import make_plan
from citeweave.model.runner import RunInterrupted
from citeweave.model.sweeps import SMALL_CORPUS
from citeweave.model.word_weights import choose_word_weight, link_log_score

WEIGHED = QUICK | {"word_weight": 0.25, "chains": 1, "exactly": True}
LARGE = {"tokens": SMALL_CORPUS + 1, "documents": 1000, "words": 5000}


def plan(**changes):
    return make_plan(SCNTM(**QUICK | {"chains": 1, "exactly": True} | changes).get_params())


@pytest.fixture(scope="module")
def reference(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("weights") / "run"
    SCNTM(**WEIGHED).fit(small, out=folder)
    return folder


def test_a_weight_changes_the_run_and_a_full_one_does_not(small, reference):
    weighed = citeweave.load(reference)
    assert weighed.word_weight_ == 0.25
    full = SCNTM(**WEIGHED | {"word_weight": 1}).fit(small)
    assert full.word_weight_ == 1.0
    usual = SCNTM(**{k: v for k, v in WEIGHED.items() if k != "word_weight"}).fit(small)
    assert np.array_equal(full.doc_topic_, usual.doc_topic_)
    assert not np.array_equal(full.doc_topic_, weighed.doc_topic_)


def test_digests_are_those_of_runs_before_there_was_a_choice():
    assert plan().digest() == plan(word_weight=1).digest()
    assert plan().digest() != plan(word_weight=0.5).digest()
    assert "word_weight" not in str(plan().spec.topic_side)


def test_a_stopped_run_goes_on_in_the_same_bytes(small, reference, tmp_path):
    event = threading.Event()

    def look(progress):
        if progress.iteration >= 20:
            event.set()

    with pytest.raises(RunInterrupted):
        SCNTM(**WEIGHED).fit(small, out=tmp_path / "run", progress=look, stop=event)
    citeweave.resume(tmp_path / "run")
    assert_same_bytes(run_contents(reference), run_contents(tmp_path / "run"))


def test_weighed_words_take_sequential_sweeps():
    assert plan(device="cpu").for_corpus(**LARGE).sweep == "snapshot"
    assert plan(device="cpu", word_weight=0.5).for_corpus(**LARGE).sweep == "sequential"


@pytest.mark.parametrize("topics", [4, 300])
def test_other_engines_refuse(small, topics):
    with pytest.raises(ParameterError, match="sequential sweeps on the CPU"):
        SCNTM(**WEIGHED | {"sweep": "snapshot", "topics": topics}).fit(small)


def test_words_that_weigh_next_to_nothing_do_not_tell_topics():
    rng = np.random.default_rng(4)
    kind, ring = np.arange(60) % 2, np.arange(60) // 30
    tokens = [[f"w{kind[d]}-{w}" for w in rng.integers(0, 8, 40)] for d in range(60)]
    same = [(i, j) for i in range(60) for j in range(60) if i != j and ring[i] == ring[j]]
    pairs = [same[i] for i in sorted(rng.choice(len(same), 60, replace=False))]
    corpus = Corpus.from_lists(tokens=tokens, citations=pairs)
    agreement = {}
    for weight in (1.0, 0.02):
        model = SCNTM(topics=2, iterations=150, exactly=True, chains=1, seed=1, word_weight=weight)
        found = model.fit(corpus).labels_
        agreement[weight] = max(np.mean(found == kind), np.mean(found != kind))
    assert agreement[1.0] > 0.9
    assert agreement[0.02] < 0.75


def test_link_scores_are_log_shares_of_all_rates():
    rng = np.random.default_rng(1)
    made = {
        "doc_topic": rng.dirichlet(np.ones(3), 5),
        "cite_propensity": rng.gamma(1.0, size=5),
        "cited_propensity": rng.gamma(1.0, size=5),
        "topic_scale": rng.gamma(1.0, size=3),
    }
    theta, cite, cited, scale = made.values()
    rates = np.einsum("i,j,ik,jk,k->ij", cite, cited, theta, theta, scale)
    np.fill_diagonal(rates, 0.0)
    pairs = np.array([[0, 1], [3, 2]])
    expected = np.log(rates[[0, 3], [1, 2]] / rates.sum()).mean()
    assert link_log_score(made, pairs) == pytest.approx(expected)


def test_the_weight_with_the_best_score_is_chosen(small, monkeypatch):
    tried = []

    class Fitted:
        estimates = None

    def fit(trial, corpus):
        assert corpus.n_citations < small.n_citations
        assert trial.joined < trial.burn_in < trial.iterations
        tried.append(trial.spec.word_weight)
        return Fitted

    def score(_, pairs):
        assert len(pairs) == small.n_citations - round(0.9 * small.n_citations)
        return -abs(tried[-1] - 0.3)

    monkeypatch.setattr(word_weights, "link_log_score", score)
    found = choose_word_weight(plan(word_weight="auto"), small, fit)
    assert tuple(tried) == word_weights.WEIGHTS
    assert found.weight == 0.25
    assert str(found).startswith("Words weigh 0.25, chosen by")


def test_a_chosen_weight_is_kept_in_the_run(small, tmp_path, monkeypatch):
    monkeypatch.setattr(word_weights, "WEIGHTS", (0.5,))
    model = SCNTM(**WEIGHED | {"word_weight": "auto"}).fit(small, out=tmp_path / "run")
    loaded = citeweave.load(tmp_path / "run")
    assert model.word_weight_ == loaded.word_weight_ == 0.5
    assert loaded.get_params()["word_weight"] == "auto"
    assert any("Words weigh 0.5" in note for note in loaded.notes_)
    assert np.array_equal(
        loaded.doc_topic_, SCNTM(**WEIGHED | {"word_weight": 0.5}).fit(small).doc_topic_
    )


def test_the_command_says_what_words_weigh(small):
    chosen = plan(word_weight="auto").weighing_words(0.25, "Words weigh 0.25, by citations.")
    console = Console(file=io.StringIO(), width=200)
    console.print(_introduce(chosen, small))
    text = console.file.getvalue()
    assert "word weight 0.25" in text
    assert "Words weigh 0.25, by citations." in text
    console.print(_introduce(plan(), small))
    assert console.file.getvalue().count("weigh") == 2


def test_models_without_citations_have_nothing_to_choose_by(small):
    with pytest.raises(ParameterError, match="no citations to choose it by"):
        SCNTM(**WEIGHED | {"word_weight": "auto", "model": "cntm-text"}).fit(small)
