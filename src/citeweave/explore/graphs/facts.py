"""What pictures need of a fitted model: names and words of topics, authors with their weights.

Pictures take an `Exploration`, a fitted model or a run folder alike. What they need is read from
the model's fitted attributes, so that drawing needs no table library.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.explore.graphs.map_layout import Islands, place_papers

__all__ = ["AuthorFacts", "Facts", "facts_of"]

RELEVANCE = 0.6
"""Weight of a word's probability against its lift over the corpus, as `citeweave fit` has it."""

_AUTHOR = 0  # place in model.groups.KINDS


@dataclass(frozen=True, eq=False)
class AuthorFacts:
    """Authors that can be drawn: the most influential first.

    Attributes
    ----------
    ids : ndarray of int, shape (A,)
        Ids in the corpus.
    weights : ndarray, shape (A, K)
        Topics of each, nu.
    influence : ndarray, shape (A,)
        Sum of lambda- of the papers they are first author of, or the number of these papers.
    measure : str
        Which of the two: ``influence`` or ``papers``.
    papers : ndarray of int, shape (A,)
        How many papers they are first author of.
    notes : tuple of str
    """

    ids: np.ndarray
    weights: np.ndarray
    influence: np.ndarray
    measure: str
    papers: np.ndarray
    notes: tuple[str, ...]


class Facts:
    """A fitted model as pictures see it; made by `facts_of`.

    Attributes
    ----------
    model
        A fitted model: `SCNTM`, or one that has the same attributes.
    """

    def __init__(self, model: Any, name_of: Callable[[int], str] | None = None) -> None:
        self.model = model
        self._name_of = name_of

    @property
    def corpus(self) -> Corpus:
        """The corpus that the model was fitted to."""
        corpus: Corpus = self.model.corpus_
        return corpus

    @cached_property
    def doc_topic(self) -> np.ndarray:
        """Topics of papers theta' [D, K]."""
        return np.asarray(self.model.doc_topic_)

    @cached_property
    def share(self) -> np.ndarray:
        """Share of each topic [K]: mu of the model, else its mean over papers."""
        share = getattr(self.model, "topic_share_", None)
        return np.asarray(self.doc_topic.mean(axis=0) if share is None else share, np.float64)

    @cached_property
    def topics(self) -> list[int]:
        """Topics in use, the largest first."""
        used = np.ones(len(self.share), bool)
        samples = getattr(self.model, "topic_samples_", None)
        if samples is not None:
            used = np.asarray(samples) > 0
        chosen = np.flatnonzero(used)
        return [int(k) for k in chosen[np.argsort(-self.share[chosen], kind="stable")]]

    @cached_property
    def _words(self) -> list[list[str]]:
        phi = np.asarray(self.model.topic_word_, np.float64)
        everywhere = self.share @ phi
        corpus = self.corpus
        occurs = np.bincount(corpus.tokens, minlength=corpus.vocabulary_size) > 0
        tiny = np.finfo(float).tiny
        score = np.log(np.maximum(phi, tiny))
        score -= (1.0 - RELEVANCE) * np.log(np.maximum(everywhere, tiny))
        score[:, ~occurs] = -np.inf
        best = np.argsort(-score, axis=1, kind="stable")[:, : min(20, int(occurs.sum()))]
        vocabulary = corpus.vocabulary
        return [[vocabulary[word].replace("_", " ") for word in row] for row in best.tolist()]

    def words(self, k: int, number: int = 5) -> list[str]:
        """Words that describe a topic, phrases whole."""
        return self._words[k][:number]

    def name(self, k: int) -> str:
        """Name of a topic: the one a person gave it, or its first two words."""
        if self._name_of is not None:
            return " ".join(str(self._name_of(k)).split())
        return ", ".join(self.words(k, 2)) or f"topic {k}"

    @cached_property
    def dominant(self) -> np.ndarray:
        """Dominant topic of each paper [D]."""
        return np.asarray(self.doc_topic.argmax(axis=1))

    @cached_property
    def has_network(self) -> bool:
        """Whether the model has citations."""
        return hasattr(self.model, "cited_propensity_")

    @cached_property
    def cited(self) -> np.ndarray:
        """How likely each paper is to be cited, lambda- [D]; without it, citations it got."""
        if self.has_network:
            return np.asarray(self.model.cited_propensity_, np.float64)
        cited = np.asarray(self.corpus.citations)[:, 1]
        return np.bincount(cited, minlength=self.corpus.n_documents).astype(np.float64)

    @cached_property
    def topic_scale(self) -> np.ndarray:
        """Strength of topics in citing, lambdaT [K]; ones for a model without."""
        return np.asarray(getattr(self.model, "topic_scale_", np.ones(len(self.share))), np.float64)

    @cached_property
    def islands(self) -> Islands:
        """Where papers stand on the map."""
        return place_papers(self.doc_topic)

    @cached_property
    def years(self) -> np.ndarray | None:
        """Year of each paper, not a number where it has none; None where none has."""
        column = self.corpus.metadata.get("year")
        if column is None:
            return None
        years = np.array([_year(value) for value in column])
        return None if np.isnan(years).all() else years

    @cached_property
    def authors(self) -> AuthorFacts:
        """All authors that have topics; an error where there is none."""
        corpus = self.corpus
        first = np.asarray(corpus.first_authors)
        if not corpus.n_authors or not (first >= 0).any():
            raise ParameterError(
                "There are no authors to draw: the corpus has none. "
                "Draw the flow between topics or the map of papers instead."
            )
        papers = np.bincount(first[first >= 0], minlength=corpus.n_authors)
        notes: list[str] = []
        ids, weights = self._author_nodes()
        if not len(ids):
            ids = np.flatnonzero(papers)
            weights = _means_of_papers(first, self.doc_topic, corpus.n_authors)[ids]
            notes.append(
                "The model has no topics of authors: those shown are means over the papers that "
                "each is first author of."
            )
        if self.has_network:
            influence, measure = np.asarray(self.model.author_influence_)[ids], "influence"
        else:
            influence, measure = papers[ids].astype(np.float64), "papers"
            notes.append(
                "The model has no citations, so that influence is not known: "
                "authors are sized by their number of papers."
            )
        order = np.lexsort((ids, -papers[ids], -influence))
        return AuthorFacts(
            ids=ids[order],
            weights=weights[order],
            influence=influence[order],
            measure=measure,
            papers=papers[ids][order],
            notes=tuple(notes),
        )

    def _author_nodes(self) -> tuple[np.ndarray, np.ndarray]:
        try:
            groups, topics = self.model.groups_, self.model.group_topic_
        except AttributeError:
            return np.empty(0, np.int64), np.empty((0, len(self.share)))
        rows = np.flatnonzero(np.asarray(groups.kind) == _AUTHOR)
        return np.asarray(groups.label)[rows], np.asarray(topics)[rows]


def facts_of(view: Any) -> Facts:
    """Read a run folder, a fitted model or an `Exploration`.

    Parameters
    ----------
    view : path, SCNTM, Exploration or Facts
    """
    if isinstance(view, Facts):
        return view
    if isinstance(view, str | os.PathLike):
        from citeweave.model import load  # noqa: PLC0415 (the compiler, for folders only)

        return Facts(load(view))
    # an Exploration holds a model and names that people gave to topics
    model = getattr(view, "model", None)
    if hasattr(model, "topic_word_"):
        return Facts(model, getattr(view, "topic_name", None))
    if hasattr(view, "topic_word_") and hasattr(view, "doc_topic_"):
        return Facts(view)
    if hasattr(view, "fit"):
        raise ParameterError(
            f"This {type(view).__name__} is not fitted yet; call fit(corpus), or "
            "citeweave.load(folder)."
        )
    raise ParameterError(
        "A picture is drawn of a run folder, a fitted model or an Exploration. "
        f"Got {type(view).__name__} instead."
    )


def _means_of_papers(first: np.ndarray, doc_topic: np.ndarray, n_authors: int) -> np.ndarray:
    known = first >= 0
    sums = np.zeros((n_authors, doc_topic.shape[1]))
    np.add.at(sums, first[known], doc_topic[known])
    totals = sums.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(sums, totals, out=sums, where=totals > 0))


def _year(value: object) -> float:
    try:
        return float(str(value)[:4]) if value is not None else float("nan")
    except ValueError:
        return float("nan")
