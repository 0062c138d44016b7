"""Few labels: what is drawn and hidden, what a method is given, and what is measured of it."""

import dataclasses
import threading

import numpy as np
import pytest

from citeweave.errors import CorpusError, ParameterError
from reproduction import Context, labels
from reproduction.labels import EXPERIMENT, METHODS, Method, draw_labels, hide_labels


@pytest.fixture(scope="module")
def context(context_for):
    return context_for("cora")


@pytest.fixture
def oracle(monkeypatch):
    """Methods that know the truth, or say that they know nothing; each remembers what it saw."""
    seen = []

    def knowing(corpus, seed, settings):
        seen.append((corpus, seed, settings))
        return np.tile(np.eye(corpus.n_categories)[0], (corpus.n_documents, 1))

    methods = {
        "first": Method("always the first", lambda _context, _name: {"a": 1}, knowing),
        "dear": Method("dear", lambda _context, _name: {"a": 2}, knowing, costly=True),
    }
    monkeypatch.setattr(labels, "METHODS", methods)
    return seen


def test_as_many_papers_of_each_class_are_drawn():
    classes = np.array([0] * 50 + [1] * 9 + [2] * 1 + [-1] * 5)
    shown = draw_labels(classes, 6, np.random.default_rng(0))
    assert np.bincount(classes[shown], minlength=3).tolist() == [6, 4, 0]
    again = draw_labels(classes, 6, np.random.default_rng(0))
    assert (shown == again).all()
    assert (shown != draw_labels(classes, 6, np.random.default_rng(1))).any()


def test_the_read_out_is_compared_with_sgc_on_the_same_draws():
    told = {"sgc": [0.7, 0.8], "read-out": [0.8, 0.78, 0.9]}
    values = {
        ("cora", key, draw): {"accuracy": value}
        for key, found in told.items()
        for draw, value in enumerate(found)
    }
    (note,) = labels._less_sgc(["cora", "other"], values)
    assert note.endswith("cora +0.040 ± 0.085, higher in 1 of 2 draws.")
    assert not labels._less_sgc(["other"], values)


def test_hidden_labels_are_gone_and_nothing_else(tiny_corpus):
    shown = np.arange(tiny_corpus.n_documents) % 2 == 0
    hidden = hide_labels(tiny_corpus, shown)
    assert (hidden.categories[~shown] == -1).all()
    assert (hidden.categories[shown] == tiny_corpus.categories[shown]).all()
    assert hidden.n_categories == tiny_corpus.n_categories
    assert hidden.fingerprint != tiny_corpus.fingerprint
    assert (hidden.citations == tiny_corpus.citations).all()


def test_methods_are_measured_on_hidden_labels_alone(context, oracle, tmp_path):
    context = dataclasses.replace(context, out=tmp_path, workers=1, runs=1)
    outcome = EXPERIMENT.run(context)
    (table,) = outcome.tables
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    assert rows["always the first"]["draws"] == 2  # of a quick run
    assert rows["dear"]["draws"] == 1  # as many as runs
    (note,) = table.notes
    same = outcome.facts["values"][0]["accuracy"]
    assert f"on draws 1, which all methods share: always the first {same:.3f}; dear" in note
    truth = context.corpus("cora").categories
    wanted = []
    for corpus, seed, settings in oracle[:2]:
        assert settings == {"a": 1}
        assert seed == context.seed + len(wanted)
        shown = corpus.categories >= 0
        assert np.bincount(corpus.categories[shown]).tolist() == [3, 3, 3]
        wanted.append((truth[~shown] == 0).mean())
    found = rows["always the first"]
    assert found["accuracy"].mean == pytest.approx(np.mean(wanted))
    assert found["calibration error"].mean == pytest.approx(1 - np.mean(wanted))
    first, dear = (oracle[place][0].categories for place in (0, 2))
    assert (first == dear).all()  # the same draws for all methods
    EXPERIMENT.run(context)
    assert len(oracle) == 3  # taken up, not computed again
    assert sum(len(found) for found in context.ran.values()) == 3
    more = dataclasses.replace(context, runs=2, finished=True, missing={})
    (part,) = EXPERIMENT.run(more).tables
    assert part.rows == table.rows  # nothing is fitted for it
    assert len(oracle) == 3
    assert more.missing == {"cora, always the first": [0, 2], "cora, dear": [1, 2]}
    stop = threading.Event()
    stop.set()
    EXPERIMENT.run(dataclasses.replace(context, stop=stop))  # all of it is there
    with pytest.raises(KeyboardInterrupt):
        EXPERIMENT.run(dataclasses.replace(context, stop=stop, labels=2))


def test_every_method_tells_probabilities(context, tiny_corpus):
    shown = draw_labels(tiny_corpus.categories, 5, np.random.default_rng(2))
    given = hide_labels(tiny_corpus, shown)
    told = {}
    for name, method in METHODS.items():
        settings = method.settings(context, "cora")
        found = told[name] = method.tell(given, 1, settings)
        assert found.shape == (tiny_corpus.n_documents, tiny_corpus.n_categories)
        assert found.sum(axis=1) == pytest.approx(np.ones(len(found)), abs=1e-5)
    # papers with a label keep it, the others are not all alike
    for name, different in (("fold-in", 10), ("categories", 2), ("tied", 2), ("read-out", 0)):
        found = told[name]
        assert (found[shown].argmax(axis=1) == tiny_corpus.categories[shown]).all()
        assert np.unique(found[~shown].round(6), axis=0).shape[0] > different


def test_links_of_chosen_papers_lead_to_all_others(tiny_corpus):
    chosen = np.arange(tiny_corpus.n_documents) % 3 == 0
    links = labels._links_of(tiny_corpus, chosen)
    places = np.flatnonzero(chosen)
    found = {(int(places[i]), int(j)) for i, j in links.citing}
    found_back = {(int(j), int(places[i])) for i, j in links.cited}
    pairs = {tuple(pair) for pair in tiny_corpus.citations.tolist()}
    assert found == {pair for pair in pairs if chosen[pair[0]]}
    assert found_back == {pair for pair in pairs if chosen[pair[1]]}


def test_models_and_sets_that_are_not_there(context, tmp_path):
    with pytest.raises(ParameterError, match="has no model 'gcn'"):
        EXPERIMENT.run(dataclasses.replace(context, models=("gcn",)))
    with pytest.raises(ParameterError, match="'labels'"):
        dataclasses.replace(context, labels=0)
    corpus = context.corpus("cora")
    bare = type(corpus).from_arrays(tokens=corpus.tokens, offsets=corpus.offsets)
    bare.save(tmp_path / "bare")
    other = Context(out=tmp_path, datasets=("bare",), corpora={"bare": tmp_path / "bare"})
    with pytest.raises(CorpusError, match="None of the sets bare has labels"):
        EXPERIMENT.run(other)
