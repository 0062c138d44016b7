"""One interface for all: saved, read back, refused where something else is expected."""

import json

import numpy as np
import pytest

import citeweave
from citeweave.baselines import (
    AGC,
    BASELINES,
    PMTLM,
    SGC,
    Baseline,
    KMeans,
    LabelPropagation,
    LogisticRegression,
    Louvain,
    SpectralClustering,
    make_baseline,
)
from citeweave.errors import ParameterError, RunError
from citeweave.loading import load
from citeweave.model import load as load_scntm
from citeweave.model import resume
from citeweave.model.topic_model import TopicModel
from reference.planted import planted_corpus

FAST = {
    "pmtlm": PMTLM(topics=3, degree_corrected=False, restarts=2, iterations=60, seed=1),
    "pmtlm-dc": PMTLM(topics=3, restarts=2, iterations=60, seed=1),
    "spectral": SpectralClustering(topics=3, seed=1),
    "louvain": Louvain(topics=3, seed=1),
    "agc": AGC(topics=3, restarts=2, most_steps=3, seed=1),
    "k-means": KMeans(topics=3, restarts=2, seed=1),
    "label-propagation": LabelPropagation(seed=1),
    "logistic": LogisticRegression(penalty=0.1, seed=1),
    "sgc": SGC(penalty=0.1, seed=1),
}


@pytest.fixture(scope="module")
def corpus():
    return planted_corpus(groups=3, size=30)


@pytest.mark.parametrize("name", FAST)
def test_saved_and_read_back(name, corpus, tmp_path):
    held = {"citations": np.array([[0, 1]], dtype=np.int32)}
    steps = []
    model = FAST[name].fit(corpus, out=tmp_path / "RUN", progress=steps.append, held_out=held)
    assert model.name == name
    assert steps[-1].done == steps[-1].total
    back = citeweave.load(tmp_path / "RUN")
    assert type(back) is type(model)
    assert back.get_params() == model.get_params()
    for part in ("doc_topic_", "topic_word_", "labels_", "topic_share_", "topic_samples_"):
        assert (getattr(back, part) == getattr(model, part)).all(), part
    assert back.seed_ == 1
    assert back.facts_ == model.facts_
    assert back.held_out_["citations"].tolist() == [[0, 1]]
    links = [(0, 3), (1, 40), (2, 80)]
    new = corpus.subset([1, 2, 3])
    assert back.transform(new, links=links) == pytest.approx(model.transform(new, links=links))
    assert isinstance(back, TopicModel)
    again = back.save(tmp_path / "COPY")
    assert (load(again).doc_topic_ == model.doc_topic_).all()


def test_scntm_has_the_same_interface(corpus, tmp_path):
    model = citeweave.SCNTM(topics=3, iterations=6, seed=1, chains=1)
    assert not isinstance(model, TopicModel)  # not fitted: its attributes are not there
    model.fit(corpus, out=tmp_path / "RUN", held_out={"citations": np.array([[2, 3]])})
    assert isinstance(model, TopicModel)
    back = citeweave.load(tmp_path / "RUN")
    assert isinstance(back, citeweave.SCNTM)
    assert back.held_out_["citations"].tolist() == [[2, 3]]
    in_memory = citeweave.SCNTM(topics=3, iterations=6, seed=1, chains=1).fit(
        corpus, held_out={"citations": np.array([[2, 3]])}
    )
    assert load(in_memory.save(tmp_path / "B")).held_out_["citations"].tolist() == [[2, 3]]


def test_what_belongs_to_scntm_refuses_a_baseline(corpus, tmp_path):
    folder = FAST["louvain"].fit(corpus).save(tmp_path / "RUN")
    for command in (load_scntm, resume):
        with pytest.raises(RunError, match="run of the baseline 'louvain'"):
            command(folder)
    with pytest.raises(RunError, match="already contains a run"):
        FAST["louvain"].fit(corpus, out=folder)
    FAST["louvain"].fit(corpus, out=folder, overwrite=True)


def test_damaged_runs(corpus, tmp_path):
    folder = FAST["spectral"].fit(corpus).save(tmp_path / "RUN")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    del manifest["checksum"]  # as one does who means it
    for change, text in (
        ({"kind": "lsi"}, "model 'lsi', which this release does not know"),
        ({"parameters": {"colour": 1}}, "damaged"),
        ({"status": "running"}, "missing or damaged; fit again"),
    ):
        (folder / "manifest.json").write_text(json.dumps(manifest | change), "utf-8")
        with pytest.raises(RunError, match=text):
            load(folder)
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    (folder / "estimates" / "doc_topic.npy").write_bytes(b"")
    with pytest.raises(RunError, match="missing or damaged"):
        load(folder)
    with pytest.raises(RunError, match="no run folder"):
        load(tmp_path / "nowhere")


def test_baselines_by_name():
    for name, entry in BASELINES.items():
        model = make_baseline(name, seed=3)
        assert isinstance(model, Baseline)
        assert model.name == name
        assert model.get_params() == entry.model(**entry.fixed, seed=3).get_params()
    with pytest.raises(ParameterError, match=r"no baseline 'lsi'\. Did you mean one of: pmtlm-dc"):
        make_baseline("lsi")
    with pytest.raises(ParameterError, match="already determines 'degree_corrected'"):
        make_baseline("pmtlm", degree_corrected=True)
    with pytest.raises(ParameterError, match="Louvain has no parameter 'alpha'"):
        make_baseline("louvain", alpha=1)
    with pytest.raises(AttributeError, match="This Louvain is not fitted yet"):
        _ = Louvain().doc_topic_


@pytest.mark.parametrize("corrected", [True, False], ids=["corrected", "plain"])
def test_pmtlm_places_its_training_documents_where_they_are(corpus, corrected):
    """At a maximum, a document's topics are what its words and links say, the rest held fixed."""
    model = PMTLM(
        topics=3,
        alpha=0.6,
        degree_corrected=corrected,
        restarts=1,
        iterations=4000,
        tolerance=0.0,
        seed=2,
    ).fit(corpus)
    ends = np.concatenate([corpus.citations, corpus.citations[:, ::-1]])
    theta = model.transform(corpus, links=ends)
    assert np.abs(theta - model.doc_topic_).max() < 2e-3
    assert theta.sum(axis=1) == pytest.approx(np.ones(corpus.n_documents))
    by_words = model.transform(corpus)
    assert np.abs(by_words - model.doc_topic_).max() > 0.05
