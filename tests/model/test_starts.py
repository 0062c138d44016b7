"""Chains begin where they are told to: at clusters, at topics given, where another run ended."""

import dataclasses
import json
import threading

import numpy as np
import pytest
from model_tools import QUICK, assert_same_bytes, run_contents

import citeweave
from citeweave import SCNTM, simulate
from citeweave.errors import CiteweaveError, ParameterError, RunError
from citeweave.evaluate import nmi
from citeweave.model.clusters import agreed_clusters, cluster_documents
from citeweave.model.embedding import SCALES, embed_words, smooth_words
from citeweave.model.groups import build_tree
from citeweave.model.last_state import last_state
from citeweave.model.parameters import make_plan
from citeweave.model.runner import RunInterrupted
from citeweave.model.smoothing import smooth_scales
from citeweave.model.starts import first_topics
from citeweave.model.stored import load_result

SHORT = QUICK | {"iterations": 6, "network_from": 2, "burst_from": 3, "burn_in": 3, "thin": 1}


@pytest.fixture(scope="module")
def planted():
    """Papers of four topics, and the main topic of each."""
    sizes = {"documents": 150, "words_per_document": 15, "vocabulary": 150, "citations": 900}
    found = simulate(**sizes, topics=4, authors=150, concentrations={"theta_prime": 0.2}, seed=4)
    return found.corpus, found.truth.doc_topic.argmax(axis=1)


def without_citations(corpus):
    none = np.empty((0, 2), corpus.citations.dtype)
    return dataclasses.replace(corpus, citations=none, _stored_fingerprint=None)


def test_words_find_clusters_and_citations_better_ones(planted):
    corpus, truth = planted
    by_words, by_both = (
        nmi(cluster_documents(each, 4, np.random.default_rng(1)), truth)
        for each in (without_citations(corpus), corpus)
    )
    assert 0.1 < by_words < by_both - 0.05


def test_clusters_depend_on_the_generator_alone(planted):
    corpus, _ = planted
    one, again, other = (
        cluster_documents(corpus, 6, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert one.tobytes() == again.tobytes()
    assert one.tobytes() != other.tobytes()
    assert set(one) == set(range(6))


@pytest.mark.parametrize("most", [1, 3, 4096])
def test_odd_corpora_have_clusters(most):
    """No more clusters than papers; papers without words, or all the same, are no trouble."""
    corpus = citeweave.Corpus.from_lists(tokens=[["a", "b"], ["a", "b"], [], ["a", "b"]])
    found = cluster_documents(corpus, most, np.random.default_rng(1))
    assert found.shape == (4,)
    assert found.min() >= 0
    assert found.max() < min(most, 4)


def test_embedded_words_keep_the_directions_of_smoothed_words(planted):
    """With as many dimensions as there are words nothing is lost: cosines are the same."""
    corpus, _ = planted
    rng = np.random.default_rng(3)
    smoothed, _ = smooth_words(corpus, rng)
    dense = smooth_scales(smoothed.graph, smoothed.words.toarray(), SCALES)
    dense /= np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-300)
    whole = embed_words(smoothed, rng, corpus.vocabulary_size).rows
    np.testing.assert_allclose(whole @ whole.T, dense @ dense.T, atol=1e-8)
    few = embed_words(smoothed, rng, 5).rows
    left, values, _ = np.linalg.svd(dense, full_matrices=False)
    best = left[:, :5] * values[:5]
    best /= np.linalg.norm(best, axis=1, keepdims=True)
    assert np.corrcoef((few @ few.T).ravel(), (best @ best.T).ravel())[0, 1] > 0.95


def test_scores_and_sums_are_those_of_the_matrix(planted):
    corpus, _ = planted
    rng = np.random.default_rng(3)
    smoothed, sketch = smooth_words(corpus, rng, (1, 3))
    power = smoothed.graph.toarray()
    carried = (power + power @ power @ power) / 2 @ smoothed.words.toarray()
    whole = smoothed.weight[:, None] * carried
    np.testing.assert_allclose(smoothed.scores(np.eye(whole.shape[1])), whole, atol=1e-12)
    np.testing.assert_allclose(smoothed.sums(np.eye(len(whole))), whole.T, atol=1e-12)
    lengths = np.linalg.norm(whole, axis=1)  # as a random projection measures them
    assert 0.9 < lengths.mean() < 1.1
    np.testing.assert_allclose(np.linalg.norm(sketch, axis=1), 1.0)


@pytest.mark.parametrize("most", [1, 3, 4])
def test_odd_corpora_have_agreed_clusters(most):
    corpus = citeweave.Corpus.from_lists(
        tokens=[["a", "b"], ["a", "b"], [], ["a", "c"]], citations=[(0, 1)]
    )
    found = agreed_clusters(corpus, most, np.random.default_rng(1), known=np.full(4, -1))
    assert found.shape == (4,)
    assert found.min() >= 0
    assert found.max() < most


def topics_for(start, corpus, **changes):
    model = SCNTM(**SHORT | {"start": start, "chains": 1} | changes)
    plan = make_plan(model.get_params())
    data = build_tree(corpus, plan.spec, eta=0, unknown="shared").data
    return first_topics(model.start, plan, corpus, data, load_result)


def test_topics_of_documents_are_those_of_their_words(small):
    by_document = np.arange(small.n_documents) % 4
    by_word = np.repeat(by_document, small.lengths)
    for given in (by_document, by_document.tolist(), by_word, by_word.astype(np.uint8)):
        np.testing.assert_array_equal(topics_for(given, small)(0), by_word)
    several = topics_for(np.stack([by_word, 3 - by_word]), small)
    for chain, expected in enumerate([by_word, 3 - by_word, by_word]):
        np.testing.assert_array_equal(several(chain), expected)
    assert topics_for("random", small)(0) is None
    found = [topics_for("clusters", small)(chain) for chain in (0, 0, 1)]
    assert found[0].shape == (small.n_tokens,)
    np.testing.assert_array_equal(found[0], found[1])
    assert (found[0] != found[2]).any()


@pytest.mark.parametrize(
    ("start", "told"),
    [
        (np.zeros(7, int), "each of 70 documents .* Got '7 values of type int64' instead"),
        (np.zeros((2, 2, 70), int), "each of 70 documents .* Got '2 x 2 x 70 values"),
        (np.full(70, 4), "topics from 0 to 3 .* Got 'topics from 4 to 4' instead"),
        (np.full(70, -1), "topics from 0 to 3"),
        ("nowhere/at-all", "or the folder of a run. Got 'nowhere/at-all' instead"),
        (SCNTM(), r"a fitted model. Got SCNTM\(\) instead"),
    ],
)
def test_what_cannot_be_a_start_is_told_in_a_line(start, told, small, tmp_path):
    with pytest.raises(CiteweaveError, match=told) as caught:
        SCNTM(**SHORT | {"start": start}, chains=1).fit(small, out=tmp_path / "run")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_run_begins_where_another_ended(small, tmp_path):
    """Each chain at one of the other's; by its folder or the model itself, which give the same."""
    ended = SCNTM(**SHORT, chains=2).fit(small, out=tmp_path / "ended")
    start = topics_for(tmp_path / "ended", small)
    for chain, place in ((0, 0), (1, 1), (2, 0)):
        arrays = last_state(ended, place).arrays
        document = np.repeat(np.arange(small.n_documents), small.lengths)
        counts = np.zeros((small.n_documents, 4), int)
        np.add.at(counts, (document, start(chain)), 1)
        words = np.zeros((small.vocabulary_size, 4), int)
        np.add.at(words, (small.tokens, start(chain)), 1)
        tokens = np.zeros_like(counts)
        np.add.at(tokens, (document, arrays["assignments.topic"]), 1)
        np.testing.assert_array_equal(counts, tokens)
        assert (words >= arrays["words.customers"]).all()
    SCNTM(**SHORT, start=tmp_path / "ended", chains=1).fit(small, out=tmp_path / "one")
    SCNTM(**SHORT, start=ended, chains=1).fit(small, out=tmp_path / "other")
    assert_same_bytes(run_contents(tmp_path / "one"), run_contents(tmp_path / "other"))
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["plan"]["start"] == manifest["parameters"]["start"] == str(tmp_path / "ended")
    with pytest.raises(
        RunError, match=r"^The run '.*ended' was made with a different corpus \(70 documents"
    ):
        SCNTM(**SHORT, start=tmp_path / "ended", chains=1).fit(without_citations(small))
    with pytest.raises(ParameterError, match="one less than topics"):
        topics_for(ended, small, topics=1)


@pytest.mark.parametrize("start", ["clusters", "given"])
def test_a_started_run_is_resumed_in_the_same_bytes(start, small, tmp_path):
    """Also where it was stopped before the first iteration, and the topics given are gone."""
    given = np.arange(small.n_documents) % 4 if start == "given" else start
    model = SCNTM(**SHORT, start=given, chains=1)
    model.fit(small, out=tmp_path / "whole")

    class AtOnce(threading.Event):
        """Stops when a chain first asks before an iteration, not before it begins."""

        asked = 0

        def is_set(self):
            self.asked += 1
            return self.asked > 1

    with pytest.raises(RunInterrupted):
        SCNTM(**SHORT, start=given, chains=1).fit(small, out=tmp_path / "stopped", stop=AtOnce())
    stored = list((tmp_path / "stopped" / "chains" / "chain-0").glob("*.npz"))
    assert len(stored) == 1
    loaded = citeweave.resume(tmp_path / "stopped")
    assert_same_bytes(run_contents(tmp_path / "whole"), run_contents(tmp_path / "stopped"))
    assert loaded.start == ("clusters" if start == "clusters" else loaded._result.plan.start)
    if start == "given":
        assert loaded.start.startswith("given-")
        with pytest.raises(RunError, match="not stored"):
            SCNTM(**SHORT, start=loaded.start, chains=1).fit(small)
