"""What experiments are given: parts kept, models shared, corpora drawn once, tasks in threads."""

import dataclasses
import threading

import numpy as np
import pytest

from citeweave.errors import ParameterError
from citeweave.simulate import simulate
from reference.patience import PATIENCE
from reproduction import Context
from reproduction.command import _read_numbers
from reproduction.counts import nearest_document
from reproduction.measuring import describe_folds, folds_for
from reproduction.settings import QUICK_ITERATIONS, SIZES


@pytest.fixture(scope="module")
def corpus():
    return simulate(documents=30, vocabulary=40, topics=2, authors=8, citations=40, seed=3).corpus


def test_seeds_count_up():
    assert Context(out="x", runs=3, seed=7).seeds == (7, 8, 9)


def test_lengths_of_chains(tmp_path):
    assert Context(out=tmp_path).chain_length() == 2000
    assert Context(out=tmp_path, quick=True).chain_length() == QUICK_ITERATIONS
    assert Context(out=tmp_path, quick=True, iterations=9).chain_length() == 9


def test_single_sets_have_lengths_and_folds_of_their_own(tmp_path):
    context = Context(
        out=tmp_path,
        datasets=("cora", "pubmed"),
        iterations=600,
        lengths={"pubmed": 150},
        folds={"": 5, "pubmed": 1},
    )
    assert (context.chain_length("cora"), context.chain_length("pubmed")) == (600, 150)
    assert "600 iterations (pubmed 150) at most" in context.describe_chains()
    paper = dataclasses.replace(context, stages="paper")
    assert "exactly 600 iterations (pubmed 150) with the paper's" in paper.describe_chains()
    assert (context.chain("pubmed")["exactly"], paper.chain("pubmed")["exactly"]) == (False, True)
    assert [len(folds_for(context, name)) for name in context.datasets] == [5, 1]
    assert folds_for(context, "cora") == folds_for(Context(out=tmp_path), "cora")[:5]
    assert "folds done: cora 5, pubmed 1" in describe_folds(context)
    with pytest.raises(ParameterError, match="folds"):
        Context(out=tmp_path, folds={"cora": 0})
    with pytest.raises(ParameterError, match="at least 4"):
        Context(out=tmp_path, lengths={"cora": 1})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("600", {"": 600}),
        ("600, pubmed=150", {"": 600, "pubmed": 150}),
        ("x=1", {"x": 1}),
    ],
)
def test_numbers_by_set_are_read(text, found):
    assert _read_numbers("--iterations", text) == found


@pytest.mark.parametrize("text", ["many", "1,2", "cora=", "cora=-1", "cora=1,cora=2"])
def test_other_numbers_are_refused(text):
    with pytest.raises(ParameterError, match="--folds must be a number"):
        _read_numbers("--folds", text)


def test_a_part_is_computed_once(tmp_path):
    context = Context(out=tmp_path)
    calls = []

    def compute():
        calls.append(1)
        return {"value": (1.5, None)}

    first = context.remember("part", {"seed": 1}, compute)
    assert context.remember("part", {"seed": 1}, compute) == first == {"value": [1.5, None]}
    assert len(calls) == 1
    context.remember("part", {"seed": 2}, compute)
    assert len(calls) == 2


def test_a_damaged_part_is_computed_again(tmp_path):
    context = Context(out=tmp_path)
    context.remember("part", {"seed": 1}, lambda: 1)
    (path,) = (tmp_path / "parts").iterdir()
    path.write_text(path.read_text()[:20])
    assert context.remember("part", {"seed": 1}, lambda: 2) == 2


@pytest.mark.parametrize("workers", [1, 3])
def test_results_of_tasks_keep_their_order(tmp_path, workers):
    context = Context(out=tmp_path, workers=workers)
    assert context.map(lambda x: x * x, range(20)) == [x * x for x in range(20)]
    assert context.map(lambda x: x, []) == []


def test_tasks_run_at_a_time(tmp_path):
    # each of the two waits for the other
    meeting = threading.Barrier(2, timeout=PATIENCE)
    context = Context(out=tmp_path, workers=2)
    assert sorted(context.map(lambda _: meeting.wait(), [0, 1])) == [0, 1]


def test_the_first_error_ends_it(tmp_path):
    done = []

    def task(number):
        if number == 0:
            raise ParameterError("no")
        done.append(number)

    with pytest.raises(ParameterError, match="no"):
        Context(out=tmp_path, workers=1).map(task, range(5))
    assert done == []
    with pytest.raises(ParameterError, match="no"):
        Context(out=tmp_path, workers=2).map(task, range(5))


def test_the_same_model_is_fitted_once(tmp_path, corpus):
    corpus.save(tmp_path / "mine")
    told = []
    context = Context(
        out=tmp_path / "out",
        corpora={"mine": tmp_path / "mine"},
        iterations=8,
        progress=told.append,
    )
    first = context.fitted("mine", topics=3)
    again = context.fitted("mine", topics=3)
    np.testing.assert_array_equal(first.doc_topic_, again.doc_topic_)
    assert sum("earlier run" in line for line in told) == 1
    other = context.fitted("mine", topics=3, seed=2)
    assert not np.array_equal(first.doc_topic_, other.doc_topic_)
    assert len(list((tmp_path / "out" / "runs").iterdir())) == 2


def test_a_model_fitted_elsewhere_is_the_same_model(tmp_path, corpus):
    corpus.save(tmp_path / "mine")
    context = Context(out=tmp_path, corpora={"mine": tmp_path / "mine"}, iterations=8)
    on_cpu = dataclasses.replace(context, device="cpu")
    fitted = [one.fitted("mine", topics=3) for one in (context, on_cpu)]
    assert len(list((tmp_path / "runs").iterdir())) == 1
    assert [model.device_ for model in fitted] == ["cpu", "cpu"]


@pytest.mark.parametrize(("name", "value"), [("stages", "late"), ("device", "gpu")])
def test_words_that_are_no_choice_are_refused(tmp_path, name, value):
    with pytest.raises(ParameterError, match=f"'{name}' of an experiment must be one of"):
        Context(out=tmp_path, **{name: value})


def test_a_corpus_of_a_lost_size_is_drawn_once(tmp_path):
    told = []
    first = Context(out=tmp_path, quick=True, progress=told.append).corpus("simulated-m10")
    again = Context(out=tmp_path, quick=True, progress=told.append).corpus("simulated-m10")
    assert first.fingerprint == again.fingerprint
    assert first.n_documents == SIZES["simulated-m10"]["documents"] // 50
    assert told == ["simulated-m10: drawn from the model"]


def test_the_nearest_document_has_the_example_s_sizes():
    corpus = simulate(documents=400, vocabulary=90, topics=2, words_per_document=80, citations=900)
    document = nearest_document(corpus.corpus)
    assert 75 <= corpus.corpus.lengths[document] <= 93
    assert 3 <= (corpus.corpus.citations == document).sum() <= 5
