"""Adapters of others' topic models, and documents placed by their words."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from citeweave.baselines import SklearnLDA, TomotopyHDP, TomotopyLDA
from citeweave.baselines._graph_kernels import place_words
from citeweave.corpus import Corpus
from citeweave.errors import CorpusError, MissingDependencyError, ParameterError
from citeweave.evaluate import nmi
from citeweave.model.unseen import count_words
from reference.planted import planted_corpus

NEEDS = {TomotopyLDA: "tomotopy", TomotopyHDP: "tomotopy", SklearnLDA: "sklearn"}
MODELS = [
    pytest.param(
        kind(**options),
        id=kind.kind,
        marks=pytest.mark.skipif(find_spec(NEEDS[kind]) is None, reason=f"no {NEEDS[kind]} here"),
    )
    for kind, options in (
        (TomotopyLDA, {"topics": 3, "iterations": 200, "seed": 1}),
        (TomotopyHDP, {"topics": 3, "iterations": 100, "eta": 0.5, "seed": 1}),
        (SklearnLDA, {"topics": 3, "iterations": 15, "seed": 1}),
    )
]


@pytest.fixture(scope="module")
def corpus():
    return planted_corpus(groups=3, size=40, length=30, focus=0.8)


@pytest.mark.parametrize("model", MODELS)
def test_planted_topics_are_found_by_words(model, corpus):
    model.fit(corpus)
    assert nmi(model.labels_, corpus.categories) > 0.9
    assert model.doc_topic_.sum(axis=1) == pytest.approx(np.ones(corpus.n_documents), abs=1e-5)
    assert model.topic_word_.sum(axis=1) == pytest.approx(np.ones(len(model.topic_word_)))
    assert model.topic_word_.shape[1] == corpus.vocabulary_size
    again = type(model)(**model.get_params()).fit(corpus)
    assert again.doc_topic_.tobytes() == model.doc_topic_.tobytes()


@pytest.mark.parametrize("model", MODELS)
def test_new_documents_are_placed_by_words_of_any_vocabulary(model, corpus):
    model.fit(corpus)
    theta = model.transform(corpus)
    assert nmi(theta.argmax(axis=1), corpus.categories) > 0.9
    # the same documents with another numbering of words, and a word nobody knows
    words = [[*corpus.words(d), "never seen"] for d in range(corpus.n_documents)]
    renamed = Corpus.from_lists(tokens=words[::-1])
    assert model.transform(renamed)[::-1] == pytest.approx(theta, abs=1e-4)


@pytest.mark.parametrize("model", MODELS)
def test_documents_without_words(model, corpus):
    texts = [corpus.words(d) for d in range(corpus.n_documents)]
    texts[4] = []
    with_gap = Corpus.from_lists(tokens=texts)
    model.fit(with_gap)
    assert model.doc_topic_.shape[0] == corpus.n_documents
    assert np.isfinite(model.doc_topic_).all()
    prior = model._fitted.estimates["prior"]
    assert model.transform(with_gap)[4] == pytest.approx(prior / prior.sum())
    with pytest.raises(CorpusError, match="no words"):
        model.fit(Corpus.from_lists(tokens=[[], []], vocabulary=["a"], citations=[(0, 1)]))


def test_placing_is_that_of_plain_numpy(corpus):
    rng = np.random.default_rng(3)
    counts = count_words(corpus)
    phi = rng.dirichlet(np.ones(corpus.vocabulary_size), size=4)
    prior = np.array([0.1, 0.5, 0.2, 0.3])
    out = np.empty((corpus.n_documents, 4))
    place_words(
        counts.indptr.astype(np.int64),
        counts.indices.astype(np.int64),
        counts.data,
        np.ascontiguousarray(phi.T),
        prior,
        5,
        out,
    )
    for d in (0, 17):
        theta = prior / prior.sum()
        row = counts[[d]].toarray().ravel()
        for _ in range(5):
            q = theta[:, None] * phi
            theta = prior + (row * q / q.sum(axis=0)).sum(axis=1)
            theta /= theta.sum()
        assert out[d] == pytest.approx(theta)


@pytest.mark.skipif(find_spec("tomotopy") is None, reason="no tomotopy here")
def test_tomotopy_is_found_where_warnings_are_errors():
    """Its import fails there with words about a missing part; in a process that has none yet."""
    code = (
        "import warnings, citeweave.baselines.text as text\n"
        "warnings.simplefilter('error')\n"
        "print(text._import('tomotopy', 'tomotopy').__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "tomotopy"), done.stderr


@pytest.mark.parametrize(
    ("kind", "package"), [(TomotopyLDA, "tomotopy"), (SklearnLDA, "sklearn.decomposition")]
)
def test_an_absent_package_is_named_with_its_install_line(kind, package, corpus, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=r"pip install '.*\[benchmark\]'"):
        kind(topics=2).fit(corpus)


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (TomotopyLDA(alpha=0.0), "'alpha' parameter of TomotopyLDA must be a number greater"),
        (TomotopyHDP(topics=1), "at least 2. Got 1"),
        (SklearnLDA(iterations=1.5), "Got 1.5"),
    ],
)
def test_bad_parameters(model, text, corpus):
    with pytest.raises(ParameterError, match=text):
        model.fit(corpus)
