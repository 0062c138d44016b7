"""Tasks run once, side by side, and what is done is never done again."""

import dataclasses
import json
import math
import threading

import numpy as np
import pytest

from citeweave.engines.registry import ENGINES
from citeweave.errors import CorpusError, ParameterError, RunError
from citeweave.experiments import (
    PROTOCOLS,
    ModelChoice,
    finished_tasks,
    k_folds,
    make_tasks,
    measure,
    run_tasks,
)
from citeweave.experiments import running as runner_file
from citeweave.experiments.likelihood import exponential_terms_near_one, log_likelihood
from citeweave.experiments.machine import processor
from citeweave.experiments.models import GPU_FROM
from citeweave.model import SCNTM, RunInterrupted
from reference.patience import PATIENCE

SHORT = {"topics": 3, "iterations": 8}
MODELS = [
    ModelChoice("text", "cntm-text", SHORT),
    ModelChoice("network", "scntm", SHORT),
]


@pytest.fixture
def tasks(small):
    return make_tasks(
        {"small": small.fingerprint},
        MODELS,
        seeds=(1, 2),
        protocol="whole",
        version=PROTOCOLS["whole"].version,
    )


def ran(events):
    return [event.task.key for event in events if event.state == "done"]


def test_rows_come_in_the_order_of_tasks_whoever_ran_them(small, tasks, tmp_path):
    corpora = {small.fingerprint: small}
    alone = run_tasks(tasks, corpora, workers=1)
    together = run_tasks(tasks, corpora, workers=2, out=tmp_path)
    read = run_tasks(tasks, corpora, workers=2, out=tmp_path)
    assert alone.rows == together.rows == read.rows
    heads = list(dict.fromkeys((row.model, row.seed) for row in alone))
    assert heads == [("text", 1), ("text", 2), ("network", 1), ("network", 2)]
    measures = {row.measure for row in alone.select(model="network")}
    assert {"purity", "nmi", "adjusted_rand", "acceptance", "topics_in_use"} <= measures
    assert "acceptance" not in {row.measure for row in alone.select(model="text")}
    assert {row.protocol for row in alone} == {"all documents and citations, labels never seen"}


@pytest.mark.parametrize("kind", ["scntm", "cntm-text", "bursty-hdp-lda", "np-atm"])
def test_likelihoods_are_those_that_chains_of_a_run_are_compared_by(small, kind):
    model = SCNTM(topics=3, iterations=8, model=kind, chains=2, combine="best", seed=4).fit(small)
    scores = model.combination_["scores"]
    # estimates are single precision
    assert log_likelihood(model) == pytest.approx(max(scores), rel=1e-5)
    assert abs(scores[0] - scores[1]) > 1e-4 * abs(scores[0])


def test_exponential_terms_near_one_are_counted(small):
    model = SCNTM(topics=3, iterations=8, chains=1, seed=4, exactly=True).fit(small)
    theta = np.asarray(model.doc_topic_, float)
    found = [
        math.exp(
            -model.cite_propensity_[i]
            * model.cited_propensity_[j]
            * model.topic_scale_[k]
            * theta[i, k]
            * theta[j, k]
        )
        for i, j in small.citations
        for k in range(3)
    ]
    share = np.mean(np.array(found) >= 0.99)
    assert 0 < share < 1
    assert exponential_terms_near_one(model) == pytest.approx(share)


def test_tasks_that_are_finished_are_told_from_others(small, tasks, tmp_path):
    assert finished_tasks(tasks, tmp_path) == []
    run_tasks(tasks[:2], {small.fingerprint: small}, out=tmp_path)
    assert finished_tasks(tasks, tmp_path) == tasks[:2]


def test_results_say_where_and_how_chains_ran(small, tasks, tmp_path):
    told = []
    corpora = {small.fingerprint: small}
    for _ in range(2):
        table = run_tasks(tasks[2:3], corpora, out=tmp_path, device="auto", progress=told.append)
    done, kept = (event for event in told if event.state in {"done", "kept"})
    assert (done.machine, kept.machine) == (processor(), processor())
    assert kept.seconds == pytest.approx(done.seconds, abs=1e-3)
    found = {row.measure: row.value for row in table}
    assert (found["gpu"], found["iterations"], found["settled"]) == (0, 8, 0)


def test_the_device_is_no_part_of_a_task_unless_it_is_a_parameter():
    plain, asked = (ModelChoice("m", "scntm", {**SHORT, **own}) for own in ({}, {"device": "cpu"}))
    assert "device" not in plain.as_json()["parameters"]
    assert asked.as_json()["parameters"]["device"] == "cpu"
    assert plain.build(seed=1, device="cuda").device == "cuda"
    assert asked.build(seed=1, device="cuda").device == "cpu"


@pytest.mark.parametrize(
    ("kind", "own", "wanted", "words", "there", "device"),
    [
        ("scntm", {}, "auto", GPU_FROM, True, "cuda"),
        ("scntm", {}, "auto", GPU_FROM, False, "cpu"),
        ("scntm", {}, "auto", GPU_FROM - 1, True, "cpu"),
        ("scntm", {}, "cuda", 1, False, "cuda"),  # whoever asks by name is told by the fit
        ("scntm", {}, "cpu", GPU_FROM, True, "cpu"),
        ("scntm", {"categories": 3}, "cuda", GPU_FROM, True, "cpu"),
        ("np-atm", {}, "cuda", GPU_FROM, True, "cpu"),
        ("louvain", {}, "cuda", GPU_FROM, True, "cpu"),
    ],
)
def test_chains_run_where_an_engine_takes_them(
    kind, own, wanted, words, there, device, monkeypatch
):
    def probe():
        if not there:
            raise ParameterError("no GPU")
        return "a GPU"

    monkeypatch.setattr(ENGINES["cuda"], "probe", probe)
    assert ModelChoice("m", kind, own).device(wanted, words) == device


def test_a_second_run_does_only_the_rest(small, tasks, tmp_path):
    corpora = {small.fingerprint: small}
    stop = threading.Event()
    first = []

    def stop_after_one(event):
        first.append(event)
        if event.state == "done":
            stop.set()

    with pytest.raises(RunInterrupted, match=r"Stopped after 1 of 4 tasks\..*continues"):
        run_tasks(tasks, corpora, out=tmp_path, workers=1, progress=stop_after_one, stop=stop)
    assert len(ran(first)) == 1
    second = []
    table = run_tasks(tasks, corpora, out=tmp_path, workers=1, progress=second.append)
    assert [event.state for event in second].count("kept") == 1
    assert sorted(ran(first) + ran(second)) == sorted(task.key for task in tasks)
    assert table.rows == run_tasks(tasks, corpora, workers=1).rows
    third = []
    run_tasks(tasks, corpora, out=tmp_path, progress=third.append)
    assert {event.state for event in third} == {"kept"}


def test_ctrl_c_keeps_what_is_done(small, tasks, tmp_path, monkeypatch):
    events = []
    done = threading.Event()

    def tell(event):
        events.append(event)
        if event.state == "done":
            done.set()

    def interrupted(finished):
        if not done.is_set():
            done.wait(PATIENCE)
            raise KeyboardInterrupt
        for event in finished:
            assert event.wait(PATIENCE)

    monkeypatch.setattr(runner_file, "_wait", interrupted)
    with pytest.raises(RunInterrupted, match="Stopped after"):
        run_tasks(tasks, {small.fingerprint: small}, out=tmp_path, workers=1, progress=tell)
    kept = [json.loads(path.read_text())["key"] for path in (tmp_path / "tasks").iterdir()]
    assert sorted(kept) == sorted(ran(events))
    assert 1 <= len(kept) < len(tasks)


def test_damaged_results_are_made_anew(small, tasks, tmp_path):
    corpora = {small.fingerprint: small}
    right = run_tasks(tasks[:2], corpora, out=tmp_path)
    cut, other = sorted((tmp_path / "tasks").iterdir())
    cut.write_text(cut.read_text()[:40])
    other.write_text(json.dumps(json.loads(other.read_text()) | {"key": "another"}))
    events = []
    assert run_tasks(tasks[:2], corpora, out=tmp_path, progress=events.append).rows == right.rows
    assert len(ran(events)) == 2
    events.clear()
    run_tasks(tasks[:2], corpora, out=tmp_path, progress=events.append, fresh=True)
    assert len(ran(events)) == 2


def test_a_task_that_fails_leaves_the_others(small, tasks, tmp_path, monkeypatch):
    def fail_once(task, corpus, **options):
        if task == tasks[1]:
            raise CorpusError("No good.")
        return measure(task, corpus, **options)

    monkeypatch.setattr(runner_file, "measure", fail_once)
    corpora = {small.fingerprint: small}
    with pytest.raises(RunError, match=r"1 of 4 tasks failed.*text, whole, seed 2.*No good"):
        run_tasks(tasks, corpora, out=tmp_path, workers=1)
    monkeypatch.undo()
    events = []
    run_tasks(tasks, corpora, out=tmp_path, progress=events.append)
    assert ran(events) == [tasks[1].key]


def test_a_bug_is_raised_as_it_is(small, tasks, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(runner_file, "measure", broken)
    with pytest.raises(ZeroDivisionError):
        run_tasks(tasks, {small.fingerprint: small}, workers=2)


def test_a_broken_progress_is_raised_as_it_is(small, tasks):
    def broken(event):
        raise LookupError(event.state)

    with pytest.raises(LookupError, match="started"):
        run_tasks(tasks, {small.fingerprint: small}, workers=1, progress=broken)


def test_the_longest_is_begun_first(small):
    models = [
        ModelChoice("short", "cntm-text", SHORT),
        ModelChoice("two chains", "cntm-text", SHORT | {"chains": 2}),
        ModelChoice("long", "cntm-text", SHORT | {"iterations": 12}),
    ]
    corpora = {"small": small.fingerprint}
    version = PROTOCOLS["whole"].version
    tasks = make_tasks(corpora, models, protocol="whole", version=version)
    events = []
    table = run_tasks(tasks, {small.fingerprint: small}, workers=1, progress=events.append)
    begun = [event.task.model.name for event in events if event.state == "started"]
    assert begun == ["two chains", "long", "short"]
    assert list(dict.fromkeys(row.model for row in table)) == [model.name for model in models]


def test_a_folder_that_cannot_be_written_is_named(small, tasks, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be"):
        run_tasks(tasks[:1], {small.fingerprint: small}, out=tmp_path / "file")


def test_fingerprints_tell_apart_what_decides_numbers_and_nothing_else(tasks):
    one = tasks[0]
    same = dataclasses.replace(
        one, dataset="other name", model=dataclasses.replace(one.model, name="x")
    )
    assert same.key == one.key
    changed = [
        dataclasses.replace(one, corpus="0" * 64),
        dataclasses.replace(one, seed=9),
        dataclasses.replace(one, version=one.version + 1),
        dataclasses.replace(one, protocol="folds"),
        dataclasses.replace(one, options={"words": 0.5}),
        dataclasses.replace(one, fold=k_folds(3)[0]),
        dataclasses.replace(one, fold=k_folds(3)[1]),
        dataclasses.replace(one, fold=k_folds(3, seed=1)[0]),
        dataclasses.replace(one, model=ModelChoice("text", "scntm", SHORT)),
        dataclasses.replace(one, model=ModelChoice("text", "cntm-text", SHORT | {"topics": 4})),
        dataclasses.replace(one, model=ModelChoice("text", "cntm-text", SHORT | {"eta": math.inf})),
    ]
    keys = [one.key, *(task.key for task in changed)]
    assert len(set(keys)) == len(keys)
    assert changed[0].file_name.startswith("small-text-")
    said = dataclasses.replace(one, model=ModelChoice("text", "cntm-text", SHORT | {"eta": 0}))
    assert said.key == one.key  # a default that is written out is the same


def test_fingerprints_outlive_releases(tasks, monkeypatch):
    before = tasks[0].key
    monkeypatch.setattr("citeweave.__version__", "99.0.0")
    later = dataclasses.replace(tasks[0])
    assert later.key == before
    monkeypatch.setattr("citeweave.experiments.tasks.DRAWS_SINCE", "99.0.0")
    assert dataclasses.replace(tasks[0]).key != before


def test_models_with_categories_have_draws_of_their_own(tasks, monkeypatch):
    drawn = dataclasses.replace(tasks[0], model=ModelChoice("m", "scntm", {"categories": 3}))
    plain, before = tasks[0].key, drawn.key
    monkeypatch.setattr("citeweave.experiments.tasks.CATEGORY_DRAWS_SINCE", "99.0.0")
    assert dataclasses.replace(tasks[0]).key == plain
    assert dataclasses.replace(drawn).key != before


def test_what_was_done_before_there_was_a_parameter_is_left_out_of_fingerprints():
    plain, steady = (
        ModelChoice("m", "scntm", {"exactly": False, **own}).as_json()["parameters"]
        for own in ({}, {"give_up": False, "word_weight": 0.5})
    )
    assert {"give_up", "burst_from"} <= set(plain)  # the defaults of today are others
    assert not {"word_weight", "categories"} & set(plain)
    assert set(steady) == set(plain) - {"give_up"} | {"word_weight"}


def test_parameters_that_json_cannot_hold_are_refused(tasks):
    bad = dataclasses.replace(tasks[0], options={"words": object()})
    with pytest.raises(ParameterError, match="as JSON can hold them"):
        _ = bad.key


def test_wrong_tasks_are_refused(small, tasks):
    corpora = {small.fingerprint: small}
    with pytest.raises(ParameterError, match="which is not among those given"):
        run_tasks(tasks, {})
    with pytest.raises(ParameterError, match="'workers' must be"):
        run_tasks(tasks, corpora, workers=0)
    unknown = dataclasses.replace(tasks[0], protocol="wholly")
    with pytest.raises(ParameterError, match=r"no protocol 'wholly'.*whole, folds"):
        measure(unknown, small)
    with pytest.raises(ParameterError, match="asks for version 99"):
        measure(dataclasses.replace(tasks[0], version=99), small)
    with pytest.raises(ParameterError, match="no option 'word'"):
        measure(dataclasses.replace(tasks[0], options={"word": 1}), small)
    with pytest.raises(ParameterError, match="no parameter 'topic'"):
        ModelChoice("x", "scntm", {"topic": 3}).build(seed=1)
    with pytest.raises(ParameterError, match="sets seeds"):
        ModelChoice("x", "scntm", {"seed": 3}).build(seed=1)
