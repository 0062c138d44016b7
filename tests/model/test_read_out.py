"""Categories read out of words, citations, authors and topics, where some labels are known."""

import threading

import numpy as np
import pytest
from scipy.special import softmax

import citeweave
from citeweave import SCNTM
from citeweave.corpus import Corpus
from citeweave.engines.core.spec import preset
from citeweave.model.evidence import KINDS as OF_WORDS
from citeweave.model.evidence import can_tell, make_evidence
from citeweave.model.few_labels import FewLabels
from citeweave.model.groups import build_tree
from citeweave.model.read_out import EVIDENCE, first_categories, labels_left_out, read_out
from citeweave.model.runner import RunInterrupted

PAPERS, KINDS = 90, 3
KIND = np.arange(PAPERS) % KINDS
LABELLED = np.arange(30)
FIT = {"topics": 6, "iterations": 40, "exactly": True, "seed": 2, "labels": "some"}


def planted(*, noise=0.55, links=160, authors=False):
    """Papers of three kinds; a share of their words and citations says nothing."""
    rng = np.random.default_rng(7)
    own = rng.integers(0, 12, (PAPERS, 12))
    words = [
        [f"w{w}" if rng.random() < noise else f"k{k}-{w}" for w in row]
        for k, row in zip(KIND, own, strict=True)
    ]
    pairs = rng.integers(0, PAPERS, (3 * links, 2))
    kept = (KIND[pairs[:, 0]] == KIND[pairs[:, 1]]) | (rng.random(len(pairs)) < 0.2)
    pairs = [tuple(pair) for pair in pairs[kept & (pairs[:, 0] != pairs[:, 1])][:links].tolist()]
    names = [[f"author {k} {rng.integers(6)}"] for k in KIND] if authors else None
    return Corpus.from_lists(
        tokens=words,
        citations=pairs,
        authors=names,
        categories=[f"kind {KIND[d]}" if d in LABELLED else None for d in range(PAPERS)],
    )


def known_labels():
    known = np.full(PAPERS, -1)
    known[LABELLED] = KIND[LABELLED]
    return known


@pytest.fixture(scope="module")
def corpus():
    return planted()


@pytest.fixture(scope="module")
def evidence(corpus):
    return make_evidence(corpus, known_labels(), np.random.default_rng(3))


@pytest.fixture(scope="module")
def model(corpus):
    return SCNTM(chains=2, **FIT).fit(corpus)


def test_every_label_is_left_out_once_and_every_category_is_taught(evidence):
    assert np.bincount(evidence.part[LABELLED]).tolist() == [6] * 5
    for number in range(5):
        assert can_tell(evidence.seen(number), KINDS)


def test_evidence_of_a_part_does_not_see_its_labels(corpus):
    """Labels that mean nothing cannot be told by what has not seen them."""
    known = np.full(PAPERS, -1)
    known[LABELLED] = np.random.default_rng(1).permutation(KIND[LABELLED])
    evidence = make_evidence(corpus, known, np.random.default_rng(3))
    for kind in range(len(OF_WORDS)):
        told = [evidence.parts[evidence.part[d]].scores[d, :, kind].argmax() for d in LABELLED]
        assert np.mean(told == known[LABELLED]) < 0.6
    begun = [first_categories(evidence, evidence.part[d])[d] for d in LABELLED]
    assert np.mean(begun == known[LABELLED]) < 0.6


def test_chains_begin_with_the_labels_that_they_see(evidence):
    for part in range(5):
        seen = evidence.seen(part)
        begun = first_categories(evidence, part)
        np.testing.assert_array_equal(begun[seen >= 0], seen[seen >= 0])
    np.testing.assert_array_equal(first_categories(evidence, None)[LABELLED], KIND[LABELLED])


def test_labels_are_told_and_given_ones_are_kept(corpus, evidence):
    found = read_out(evidence, corpus, {})
    np.testing.assert_allclose(found.probability.sum(axis=1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(found.probability[LABELLED], np.eye(KINDS)[KIND[LABELLED]])
    others = np.arange(PAPERS) >= len(LABELLED)
    assert np.mean(found.probability.argmax(axis=1)[others] == KIND[others]) > 0.8
    assert found.left_out.shape == (len(LABELLED), KINDS)
    assert not np.array_equal(found.left_out.argmax(axis=1), np.zeros(len(LABELLED)))


def test_predictions_of_labels_left_out_are_counted(corpus, evidence):
    found = read_out(evidence, corpus, {})
    counted = labels_left_out(found, corpus.categories)
    assert counted.labels == len(LABELLED)
    assert counted.right == np.mean(found.left_out.argmax(axis=1) == KIND[LABELLED])
    found.left_out[:10] = np.nan  # left out by no chain
    assert labels_left_out(found, corpus.categories).labels == len(LABELLED) - 10


def test_likeness_is_evened_by_half_and_kept_so(corpus, evidence):
    """What is kept adds up to the probabilities, and sizes differ half as much as before."""
    found = read_out(evidence, corpus, {})
    scores = np.mean([part.scores for part in evidence.parts], axis=0)
    scale = found.lengths / evidence.lengths
    size = np.log(np.sqrt(np.square(scores[:, :, 1]).mean(axis=1)))
    np.testing.assert_allclose(np.std(np.log(scale) + size), np.std(size) / 2, rtol=1e-4)
    scores[:, :, 1] *= scale[:, None]
    weights = found.weights[[EVIDENCE.index(kind) for kind in OF_WORDS]]
    share = found.intercepts.copy()
    for place, name in ((0, "fitted"), (2, "discriminant")):
        own = np.mean([getattr(part, name).intercepts for part in evidence.parts], axis=0)
        share -= weights[place] * (own - own.mean())
    odds = scores @ weights + share
    others = np.arange(PAPERS) >= len(LABELLED)
    np.testing.assert_allclose(softmax(odds, axis=1)[others], found.probability[others], rtol=1e-4)


def test_evidence_that_is_wrong_of_labels_left_out_has_no_weight(corpus, evidence):
    """Topics that say the opposite are not listened to; such as say the truth are."""
    right = np.eye(KINDS)[KIND] - 1 / KINDS
    told = {
        name: dict.fromkeys(range(5), scores)
        for name, scores in (("for", right), ("against", -right))
    }
    assert read_out(evidence, corpus, told["against"]).weights[3] == 0.0
    found = read_out(evidence, corpus, told["for"])
    assert found.weights[3] > 0.0
    plain = read_out(evidence, corpus, {})
    assert _log_score(found.left_out) > _log_score(plain.left_out)


def _log_score(left_out):
    return np.log(left_out[np.arange(len(LABELLED)), KIND[LABELLED]]).mean()


def test_the_weight_of_evidence_grows_with_its_strength(corpus, evidence, monkeypatch):
    """The prior lowers it, whatever its strength."""
    rng = np.random.default_rng(8)
    truth = np.eye(KINDS)[KIND] - 1 / KINDS
    noise = rng.standard_normal(truth.shape)
    told = [dict.fromkeys(range(5), by * truth + noise) for by in (0.3, 1.0, 3.0)]
    tight = [read_out(evidence, corpus, topics).weights[3] for topics in told]
    assert 0.0 < tight[0] < tight[1] < tight[2]
    monkeypatch.setattr("citeweave.model.read_out.PRECISION", 1.0)
    loose = [read_out(evidence, corpus, topics).weights[3] for topics in told]
    assert all(one < other for one, other in zip(tight, loose, strict=True))


def test_authors_speak_where_they_have_other_papers():
    corpus = planted(noise=0.95, links=40, authors=True)
    evidence = make_evidence(corpus, known_labels(), np.random.default_rng(3))
    found = read_out(evidence, corpus, {})
    assert found.weights[2] > 0.0
    nobody = read_out(evidence, planted(noise=0.95, links=40), {})
    assert nobody.weights[2] == 0.0


def test_each_chain_leaves_out_another_part(corpus, evidence):
    spec = preset("scntm").with_categories()
    data = build_tree(corpus, spec, eta=0, unknown="shared", labels="some").data
    labels = FewLabels(evidence, 3)
    for chain in range(3):
        drawn = set(labels.data(data, chain).unlabelled.tolist())
        out = set(np.flatnonzero(evidence.part == chain).tolist())
        assert drawn == set(data.unlabelled.tolist()) | out
    alone = FewLabels(evidence, 1)
    assert alone.data(data, 0) is data


def test_a_fit_tells_labels_and_says_by_what(model):
    assert np.mean(model.category_ == KIND) > 0.85
    assert model.category_probability_[LABELLED].max(axis=1).tolist() == [1.0] * len(LABELLED)
    assert model.category_share_[LABELLED].max(axis=1).tolist() == [1.0] * len(LABELLED)
    found = model.read_out_
    np.testing.assert_array_equal(found.probability, model.category_probability_)
    assert np.isfinite(found.left_out).all(axis=1).sum() == 12  # two chains, six labels each
    np.testing.assert_array_equal(model.groups_.of_document, model.category_)


def test_a_run_folder_keeps_it(model, tmp_path):
    model.save(tmp_path / "run")
    loaded = citeweave.load(tmp_path / "run")
    for name, value in model.read_out_._asdict().items():
        np.testing.assert_array_equal(getattr(loaded.read_out_, name), value)
    np.testing.assert_array_equal(loaded.category_share_, model.category_share_)


def test_a_run_that_is_stopped_goes_on_in_the_same_bytes(corpus, model, tmp_path):
    """Chains leave out the same labels again, and an unfinished run keeps those that are known."""
    stop = threading.Event()

    def watch(progress):
        if progress.chain == 1 and progress.iteration == 36:
            stop.set()

    with pytest.raises(RunInterrupted):
        SCNTM(chains=2, threads=1, **FIT).fit(
            corpus, out=tmp_path / "run", progress=watch, stop=stop
        )
    unfinished = citeweave.load(tmp_path / "run")
    assert unfinished.category_probability_[LABELLED].max(axis=1).tolist() == [1.0] * len(LABELLED)
    resumed = citeweave.resume(tmp_path / "run")
    for name in ("category_probability_", "category_share_", "doc_topic_"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(model, name))


def test_without_labels_there_is_nothing_to_read_out(corpus):
    model = SCNTM(**(FIT | {"labels": "none", "categories": 3, "iterations": 20})).fit(corpus)
    np.testing.assert_array_equal(model.category_share_, model.category_probability_)
    with pytest.raises(AttributeError, match="two labels of some category"):
        _ = model.read_out_
