"""Measure how well a fitted model recovers the truth behind a simulated corpus."""

from typing import NamedTuple

import numpy as np

from citeweave.model import SCNTM, match_topics
from citeweave.simulate import Simulation

__all__ = ["Recovery", "Score", "compare"]

FEWEST_PAPERS = 3
"""Authors with fewer papers as first author are not compared."""


class Score(NamedTuple):
    """The share recovered, next to the share that guessing the most common answer would give."""

    found: float
    guessed: float
    compared: int


class Recovery(NamedTuple):
    """Comparison of the estimates with the truth."""

    true_topic: np.ndarray
    """For each fitted topic, the matching true topic, or -1."""
    cosines: np.ndarray
    """For each true topic, the cosine similarity of its words with those of its match."""
    documents: Score
    """Main topics of documents."""
    authors: Score
    """Main topics of authors."""
    citations: Score
    """Topics of citations."""

    @property
    def mean_cosine(self) -> float:
        """Mean over the true topics; a topic without a match counts 0."""
        return float(self.cosines.mean())


def compare(model: SCNTM, simulation: Simulation) -> Recovery:
    """Match the topics of a model (with authors and citations) to the truth and score them."""
    truth = simulation.truth
    used = np.flatnonzero(model.topic_samples_ > 0)
    order, cosines, _ = match_topics(truth.topic_word, model.topic_word_[used])
    true_topic = np.full(len(model.topic_share_), -1)
    true_topic[used[order[order >= 0]]] = np.flatnonzero(order >= 0)
    groups = model.groups_
    authors = np.flatnonzero((groups.kind == 0) & (groups.documents >= FEWEST_PAPERS))
    return Recovery(
        true_topic=true_topic,
        cosines=cosines,
        documents=_score(true_topic[model.labels_], truth.doc_topic.argmax(axis=1)),
        authors=_score(
            true_topic[model.group_topic_[authors].argmax(axis=1)],
            truth.author_topic[groups.label[authors]].argmax(axis=1),
        ),
        citations=_score(true_topic[model.citing_topic_.argmax(axis=1)], truth.citing_topic),
    )


def _score(found: np.ndarray, truth: np.ndarray) -> Score:
    if not len(truth):
        return Score(float("nan"), float("nan"), 0)
    guessed = np.bincount(truth).max() / len(truth)
    return Score(float((found == truth).mean()), float(guessed), len(truth))
