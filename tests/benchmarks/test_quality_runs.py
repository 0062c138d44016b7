"""Runs and traces: what is held out, what is measured, and that finished tasks are skipped."""

import argparse
import doctest
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.parallel import draw_data
from benchmarks.parallel_quality import CONTROL, SEQUENTIAL, Task

from benchmarks import parallel_drift, parallel_quality, parallel_trace, parallel_trace_plot
from citeweave import simulate
from citeweave.errors import ParameterError
from citeweave.evaluate import hold_out_citations


def options(path, **changes):
    found = {
        "data": None,
        "corpora": ["simulated"],
        "backends": [SEQUENTIAL, "threads, 4 per sweep"],
        "seeds": [0],
        "iterations": 4,
        "topics": None,
        "threads": 1,
        "minutes": float("inf"),
        "out": path,
    }
    return argparse.Namespace(**(found | changes))


def test_finished_tasks_are_not_run_again(tmp_path, capsys):
    path = tmp_path / "r.jsonl"
    parallel_quality.run_tasks(options(path))
    first = path.read_text(encoding="utf-8")
    lines = parallel_quality.read_lines([path])
    assert [entry["backend"] for entry in lines] == [SEQUENTIAL, "threads, 4 per sweep"]
    for entry in lines:
        found = entry["measures"]
        assert 0 <= found["citing topics correct"] <= 1
        assert 1 < found["training perplexity"] < 1500
        assert 1 < found["test perplexity"] < 1500
        assert {"purity", "NMI", "AUC", "acceptance", "cosine of topics"} <= set(found)
    capsys.readouterr()
    parallel_quality.run_tasks(options(path))
    assert capsys.readouterr().out.startswith("0 tasks to do of 2")
    assert path.read_text(encoding="utf-8") == first


def test_the_truth_is_recovered_from_itself():
    simulation = simulate(documents=90, vocabulary=60, topics=4, authors=9, citations=300, seed=3)
    corpus, truth = simulation.corpus, simulation.truth
    split = corpus.split(test=0.2, seed=1)
    train, _ = hold_out_citations(split.train, share=0.1, seed=1)
    topic = {
        tuple(c): k for c, k in zip(corpus.citations.tolist(), truth.citing_topic, strict=True)
    }
    ends = split.train_index[train.citations]
    order = np.array([2, 0, 3, 1])  # fitted topic j is the true topic order[j]
    place = np.argsort(order)
    one_hot = np.eye(4)[place[[topic[tuple(pair)] for pair in ends.tolist()]]]
    model = SimpleNamespace(
        topic_samples_=np.ones(4),
        topic_share_=np.full(4, 0.25),
        topic_word_=truth.topic_word[order],
        citing_topic_=one_hot,
        labels_=place[truth.doc_topic[split.train_index].argmax(axis=1)],
    )
    found = parallel_quality.recovery(model, truth, corpus, split, train)
    assert found == {
        "cosine of topics": pytest.approx(1.0),
        "citing topics correct": 1.0,
        "main topics correct": 1.0,
    }


def test_the_control_differs_from_the_reference_in_its_seed_alone():
    models = [
        parallel_quality.new_model(Task("cora", name, 2, 3, 9)).get_params()
        for name in (SEQUENTIAL, CONTROL)
    ]
    different = {key for key, value in models[0].items() if models[1][key] != value}
    assert different == {"seed"}


def test_real_corpora_need_a_folder(tmp_path):
    with pytest.raises(ParameterError, match="--data"):
        parallel_quality.run_tasks(options(tmp_path / "r.jsonl", corpora=["cora"]))


def test_words_are_either_kept_or_scored(tmp_path):
    data = draw_data(0.002, 3)
    train, scored = parallel_trace.take_words_out(data, seed=1)
    document = np.repeat(np.arange(len(data.offsets) - 1), np.diff(data.offsets))
    kept = np.repeat(np.arange(len(train.offsets) - 1), np.diff(train.offsets))
    before = np.stack([document, data.tokens])
    after = np.concatenate([[kept, train.tokens], [scored.document, scored.word]], axis=1)
    assert np.array_equal(before[:, np.lexsort(before)], after[:, np.lexsort(after)])
    path = tmp_path / "data.npz"
    parallel_trace.save_data(path, train, scored)
    again, words = parallel_trace.load_data(path)
    for name in set(train._fields) - {"parents", "servers"}:
        assert np.array_equal(getattr(train, name), getattr(again, name))
    assert not len(again.servers.start)
    assert all(map(np.array_equal, train.parents, again.parents))
    assert np.array_equal(words.word, scored.word)


def test_threads_share_one_trace_but_for_its_times(tmp_path):
    train, scored = parallel_trace.take_words_out(draw_data(0.002, 3), seed=1)
    found = {
        name: parallel_trace.trace_chain(
            name, train, scored, topics=3, seed=1, seconds=1e9, iterations=12
        )
        for name in ("sequential", "threads-1", "threads-2")
    }
    by_iteration = [
        {point["iteration"]: point["perplexity"] for point in found[name]["points"]}
        for name in ("threads-1", "threads-2")
    ]
    common = set(by_iteration[0]) & set(by_iteration[1])
    assert {1, 12} <= common
    assert all(by_iteration[0][i] == by_iteration[1][i] for i in common)
    for traced in found.values():
        seconds = [point["seconds"] for point in traced["points"]]
        assert seconds == sorted(seconds)
        assert traced["points"][-1]["iteration"] == 12
    rows = parallel_trace_plot.table(list(found.values()))
    assert len(rows) == 2 + 3
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    parallel_trace_plot.draw([list(found.values())], tmp_path / "t.svg")
    assert "2 threads, 16 snapshots per sweep (12 it.)" in (tmp_path / "t.svg").read_text("utf-8")


def test_drifts_go_on_from_one_state(tmp_path, monkeypatch):
    small = simulate(documents=60, vocabulary=40, topics=3, authors=9, citations=90)
    monkeypatch.setattr(parallel_quality, "load_corpus", lambda *_: (small.corpus, small.truth))
    path = tmp_path / "d.jsonl"
    given = {"data": None, "corpora": ["simulated"], "backends": ["cpu"], "seeds": [0]}
    wanted = argparse.Namespace(**given, before=4, after=6, text=False, out=path)
    parallel_drift.run_drifts(wanted)
    first = path.read_text(encoding="utf-8")
    lines = parallel_drift._read([path])
    repaired = {entry["backend"]: entry["measures"]["repaired words, %"] for entry in lines}
    assert len(lines) == 5
    assert repaired[SEQUENTIAL] == repaired[CONTROL] == 0.0
    parallel_drift.run_drifts(wanted)
    assert path.read_text(encoding="utf-8") == first


@pytest.mark.parametrize("name", ["gpu", "threads", "threads-0", "cuda-x"])
def test_unknown_backends_are_named(name):
    with pytest.raises(ParameterError, match=repr(name)):
        parallel_trace.parse_stage(f"sequential,{name}:3")


@pytest.mark.parametrize("module", [parallel_trace, parallel_trace_plot])
def test_examples_hold(module):
    assert doctest.testmod(module).failed == 0
