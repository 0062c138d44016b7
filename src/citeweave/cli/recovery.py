"""How well a fitted model has found the truth that a simulated corpus was drawn from."""

from typing import NamedTuple

import numpy as np

from citeweave.model import SCNTM, match_topics
from citeweave.simulate import Simulation

__all__ = ["Recovery", "Score", "compare"]

FEWEST_PAPERS = 3
"""Authors of fewer papers as first author say too little of themselves to be compared."""


class Score(NamedTuple):
    """A share that was found, beside what guessing the commonest answer would find."""

    found: float
    guessed: float
    compared: int


class Recovery(NamedTuple):
    """The truth beside the estimates."""

    true_topic: np.ndarray
    """For each fitted topic the true one it is matched with, -1 for none."""
    cosines: np.ndarray
    """For each true topic the cosine of its words with those of its match."""
    documents: Score
    """Dominant topics of documents."""
    authors: Score
    """Dominant topics of authors."""
    citations: Score
    """Topics of citations."""

    @property
    def mean_cosine(self) -> float:
        """Mean over the true topics; a topic without a match counts 0."""
        return float(self.cosines.mean())


def compare(model: SCNTM, simulation: Simulation) -> Recovery:
    """Match the topics of a model (with authors and citations) to the truth and count hits."""
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
