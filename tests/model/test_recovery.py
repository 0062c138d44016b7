"""Corpora drawn from the model give back what they were drawn from."""

from typing import NamedTuple

import numpy as np
import pytest

from citeweave import SCNTM
from citeweave.model import match_topics
from citeweave.simulate import simulate

TOPICS = 8


class Recovery(NamedTuple):
    """Shares found right, but for the first, which is the mean cosine of matched topics."""

    cosine: float
    documents: float
    citing: float
    authors: float


def recover(simulation, model, seed):
    corpus, truth = simulation.corpus, simulation.truth
    fit = SCNTM(topics=TOPICS, iterations=300, seed=seed, chains=1, model=model, exactly=True).fit(
        corpus
    )
    order, cosines, _ = match_topics(truth.topic_word, fit.topic_word_)
    documents = fit.doc_topic_[:, order]
    if model == "scntm":
        citing = fit.citing_topic_[:, order]
    else:  # what text alone says of a citation: the topic that both ends share
        citing = documents[corpus.citations[:, 0]] * documents[corpus.citations[:, 1]]
    groups = fit.groups_
    assert set(groups.kinds) == {"author"}
    authors = fit.group_topic_[:, order].argmax(axis=1)
    return Recovery(
        cosine=cosines.mean(),
        documents=(documents.argmax(axis=1) == truth.doc_topic.argmax(axis=1)).mean(),
        citing=(citing.argmax(axis=1) == truth.citing_topic).mean(),
        authors=(authors == truth.author_topic[groups.label].argmax(axis=1)).mean(),
    )


def typical(simulation, model):
    """Medians of five chains: most lose a topic to citations that join early, and stay so."""
    return Recovery(*np.median([recover(simulation, model, seed) for seed in range(5)], axis=0))


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_short_texts_with_many_citations(seed):
    # titles of six words say little, so the network has something to add
    simulation = simulate(
        documents=2000,
        vocabulary=200,
        topics=TOPICS,
        topic_share=np.full(TOPICS, 1 / TOPICS),
        authors=400,
        words_per_document=6,
        citations=20_000,
        seed=seed,
    )
    full = typical(simulation, "scntm")
    text = typical(simulation, "cntm-text")
    assert full.cosine > 0.8
    assert full.documents > text.documents + 0.005
    assert full.citing > max(text.citing + 0.06, 0.8)
    assert full.authors > max(text.authors + 0.05, 0.65)


def test_influence_follows_the_truth():
    simulation = simulate(
        documents=800, vocabulary=200, topics=5, authors=100, citations=8000, seed=4
    )
    fit = SCNTM(topics=5, iterations=200, seed=1, chains=1, exactly=True).fit(simulation.corpus)
    truth = simulation.truth
    # both have mean 1; documents cited often are those that were drawn to be
    assert np.corrcoef(fit.cited_propensity_, truth.cited_propensity)[0, 1] > 0.9
    assert np.corrcoef(fit.cite_propensity_, truth.cite_propensity)[0, 1] > 0.8
    first = simulation.corpus.first_authors
    influence = np.bincount(first, truth.cited_propensity, minlength=100)
    assert np.corrcoef(fit.author_influence_, influence)[0, 1] > 0.9
    # on the reported scale the rates still expect as many citations as there are
    rates = fit.topic_scale_ * (fit.cite_propensity_ @ fit.doc_topic_)
    expected = rates @ (fit.cited_propensity_ @ fit.doc_topic_)
    assert expected == pytest.approx(simulation.corpus.n_citations, rel=0.05)
