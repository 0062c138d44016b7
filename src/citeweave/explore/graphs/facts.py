"""Data of a fitted model for pictures: names and words of topics, authors with their weights.

Pictures accept an `Exploration`, a fitted model or a run folder. Their data is computed here, once
for all pictures of a view.
"""

import weakref
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.errors import NotFoundError
from citeweave.explore.colours import TopicColours
from citeweave.explore.exploration import Exploration
from citeweave.explore.graphs.map_layout import Islands, place_papers
from citeweave.explore.labels import short_label

__all__ = ["AuthorFacts", "PictureFacts", "facts_of"]

RELEVANCE = 0.6
"""Weight of a word's probability against its lift over the corpus, as in `citeweave fit`."""

_AUTHOR = 0  # place in model.groups.KINDS


@dataclass(frozen=True, eq=False)
class AuthorFacts:
    """Authors that can be drawn: the most influential first.

    Attributes
    ----------
    ids : ndarray of int, shape (A,)
        Ids in the corpus.
    weights : ndarray, shape (A, K)
        Topics nu of each author.
    spread : ndarray, shape (A, K), or None
        Standard deviations of the weights over the kept samples, if the run has them.
    influence : ndarray, shape (A,)
        Sum of lambda- of the papers they are first author of, or the number of these papers.
    measure : str
        Which of the two: ``influence`` or ``papers``.
    papers : ndarray of int, shape (A,)
        Number of papers with the author as first author.
    notes : tuple of str
    """

    ids: np.ndarray
    weights: np.ndarray
    spread: np.ndarray | None
    influence: np.ndarray
    measure: str
    papers: np.ndarray
    notes: tuple[str, ...]


class PictureFacts:
    """The data of a fitted model that pictures need; made by `facts_of`."""

    def __init__(self, view: Exploration) -> None:
        self.view = view

    @property
    def model(self) -> Any:
        """The fitted model."""
        return self.view.model

    @property
    def corpus(self) -> Corpus:
        """The corpus to which it was fitted."""
        return self.view.corpus

    @property
    def doc_topic(self) -> np.ndarray:
        """Topics of papers theta' [D, K]."""
        return self.view.doc_topic

    @property
    def share(self) -> np.ndarray:
        """Share of each topic [K]."""
        return self.view.share

    @property
    def colours(self) -> TopicColours:
        """Colour of each topic."""
        return self.view.colours

    @property
    def topics(self) -> list[int]:
        """Topics in use, the largest first."""
        return self.view.order

    @property
    def dominant(self) -> np.ndarray:
        """Main topic of each paper [D]."""
        return self.view.dominant

    @cached_property
    def _words(self) -> list[list[str]]:
        return self.view.top_words(20, relevance=RELEVANCE)

    def words(self, k: int, number: int = 5) -> list[str]:
        """Words that describe a topic, phrases whole."""
        return self._words[k][:number]

    def name(self, k: int, width: int | None = None) -> str:
        """Return the given name or the label of a topic, shortened to a width."""
        name = " ".join(self.view.topic_name(k).split())
        return name if width is None else short_label(name, width)

    @property
    def has_network(self) -> bool:
        """Whether the model estimates propensities to be cited."""
        return self.view.cited_propensity is not None

    @cached_property
    def cited(self) -> np.ndarray:
        """Propensity lambda- of each paper to be cited [D], or its number of citations."""
        propensity = self.view.cited_propensity
        if propensity is not None:
            return np.asarray(propensity, np.float64)
        cited = np.asarray(self.corpus.citations)[:, 1]
        return np.bincount(cited, minlength=self.corpus.n_documents).astype(np.float64)

    @cached_property
    def topic_scale(self) -> np.ndarray:
        """Strength of topics in citing, lambdaT [K]; ones for a model without it."""
        scale = self.view.topic_scale
        return np.ones(len(self.share)) if scale is None else np.asarray(scale, np.float64)

    @property
    def flow(self) -> np.ndarray:
        """Citations from topic to topic [K, K], by theta' of both papers."""
        flow = self.view.flow_matrix
        if flow is None:
            raise NotFoundError(
                "There is no flow between topics to draw: the corpus has no citations among its "
                "papers."
            )
        return flow

    @cached_property
    def islands(self) -> Islands:
        """Positions of papers on the map."""
        return place_papers(self.doc_topic, self.dominant)

    @cached_property
    def authors(self) -> AuthorFacts:
        """All authors with topics; an error if there are none."""
        view = self.view
        view.require("authors")
        papers = view.first_papers
        notes: list[str] = []
        rows = view.group_rows(_AUTHOR, self.corpus.n_authors)
        ids = np.flatnonzero((rows >= 0) & (papers > 0))
        spread = None
        if len(ids) and view.group_topic is not None:
            weights = view.group_topic[rows[ids]]
            spread = None if view.group_sd is None else view.group_sd[rows[ids]]
        else:
            ids = np.flatnonzero(papers)
            weights = self._means_of_papers()[ids]
            notes.append(
                "The model has no topics for authors; those shown are means over their papers as "
                "first author."
            )
        influence, measure = view.author_influence, "influence"
        if influence is None:
            influence, measure = papers.astype(np.float64), "papers"
            notes.append(
                "The model has no citations, so influence is not known: "
                "the size of an author is the number of papers."
            )
        order = np.lexsort((ids, -papers[ids], -influence[ids]))
        ids = ids[order]
        return AuthorFacts(
            ids=ids,
            weights=np.asarray(weights[order]),
            spread=None if spread is None else np.asarray(spread[order]),
            influence=np.asarray(influence[ids]),
            measure=measure,
            papers=papers[ids],
            notes=tuple(notes),
        )

    def _means_of_papers(self) -> np.ndarray:
        first = np.asarray(self.corpus.first_authors)
        known = first >= 0
        sums = np.zeros((self.corpus.n_authors, self.doc_topic.shape[1]))
        np.add.at(sums, first[known], self.doc_topic[known])
        totals = sums.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(sums, totals, out=sums, where=totals > 0))


_KNOWN: weakref.WeakKeyDictionary[Exploration, PictureFacts] = weakref.WeakKeyDictionary()


def facts_of(view: Any) -> PictureFacts:
    """Read a run folder, a fitted model or an `Exploration`, which keeps the facts.

    Parameters
    ----------
    view : path, fitted model, Exploration or PictureFacts
    """
    if isinstance(view, PictureFacts):
        return view
    if not isinstance(view, Exploration):
        return PictureFacts(Exploration(view))
    # cached data must not keep the view alive, so a proxy breaks the cycle
    if view not in _KNOWN:
        _KNOWN[view] = PictureFacts(weakref.proxy(view))
    return _KNOWN[view]
