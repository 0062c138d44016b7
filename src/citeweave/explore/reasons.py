"""Why a paper belongs to a category: its words, linked papers, authors and topics.

If some labels are known, the log odds of a category (against the mean of all) are a sum over the
words of the paper, the papers linked with it, its authors and its topics
(`citeweave.model.read_out`), which is broken down here. If none are known, words are weighted by
how much more probable the category makes them, and papers and authors by belonging to it.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from citeweave.explore.pages import (
    AuthorLink,
    CategoryWeight,
    PaperLink,
    TopicWeight,
    WordReason,
)
from citeweave.model.clusters import SMOOTHING
from citeweave.model.embedding import SCALES
from citeweave.model.evidence import centred
from citeweave.model.read_out import EVIDENCE, ReadOut
from citeweave.model.smoothing import low_pass, normalised_graph, smooth_scales, tfidf

if TYPE_CHECKING:
    from citeweave.explore.exploration import Exploration

__all__ = ["Readings", "category_weights"]

_MOST = 5
_EARLIER_STEPS = 2
"""Number of smoothing steps for the regression in runs of earlier releases."""
_UNLIKELY = 0.01
_TINY = 1e-12


class Readings:
    """The evidence of a run with some labels, to be broken down paper by paper.

    Parameters
    ----------
    view : Exploration
    told : ReadOut
    """

    def __init__(self, view: "Exploration", told: ReadOut) -> None:
        corpus = view.corpus
        self.told = told
        self.labelled = np.asarray(corpus.categories) >= 0
        """bool [D]: papers whose label was given."""
        self.weight = dict(zip(EVIDENCE, np.asarray(told.weights).tolist(), strict=True))
        self.words = tfidf(corpus)
        self.half = low_pass(normalised_graph(corpus, loops=False))
        linked = len(corpus.citations) > 0
        self.half_scales = (SMOOTHING,) if linked else ()
        self.graph: Any = self.half
        self.scales: tuple[int, ...] = SCALES if linked else ()
        if told.carried is None:
            self.graph, self.scales = normalised_graph(corpus, loops=True), (_EARLIER_STEPS,)
        self.regression = centred(np.asarray(told.regression, np.float64))
        self.centres = centred(np.asarray(told.centres, np.float64))
        self.by_regression = self.words @ self.regression
        self.by_likeness = self.words @ self.centres

    def _carried(self, paper: int) -> tuple[Any, Any]:
        """Weight of each paper's words for one paper, in regression and in likeness [1, D]."""
        column = sparse.eye_array(self.words.shape[0], format="csr")[:, [paper]]
        smoothed = smooth_scales(self.graph, column, self.scales).T.tocsr()  # both are symmetric
        halved = smooth_scales(self.half, column, self.half_scales).T.tocsr()
        length = 1.0 if self.told.carried is None else float(self.told.carried[paper])
        scale = self.weight["likeness"] * float(self.told.lengths[paper])
        return smoothed * (self.weight["regression"] * length), halved * scale

    def of_papers(self, paper: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the papers that support or oppose the categories of a paper, and how strongly.

        Returns
        -------
        papers : ndarray of int, shape (n,)
            Includes the paper itself, for its own words.
        weights : ndarray, shape (n, C)
        """
        smoothed, halved = self._carried(paper)
        papers = np.union1d(smoothed.indices, halved.indices)
        first = smoothed[:, papers].toarray().ravel()
        second = halved[:, papers].toarray().ravel()
        weights = first[:, None] * self.by_regression[papers]
        weights += second[:, None] * self.by_likeness[papers]
        return papers, weights

    def of_words(self, paper: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the paper's words (int [n]) and how strongly each supports a category [n, C]."""
        smoothed, halved = self._carried(paper)
        row = self.words[[paper]]
        weights = float(smoothed[0, paper]) * self.regression[row.indices]
        weights += float(halved[0, paper]) * self.centres[row.indices]
        return row.indices, row.data[:, None] * weights

    def odds(self, paper: int) -> dict[str, np.ndarray]:
        """Return the log odds of categories by source of evidence, each [C].

        For a paper without a label, their sum is log p(c) up to a constant.
        """
        papers, weights = self.of_papers(paper)
        own = papers == paper
        return {
            "words": weights[own].sum(axis=0),
            "citations": weights[~own].sum(axis=0),
            "authors": self.weight["authors"] * np.asarray(self.told.authors[paper], np.float64),
            "topics": self.weight["topics"] * np.asarray(self.told.topics[paper], np.float64),
            "share": centred(np.asarray(self.told.intercepts, np.float64)),
        }


def category_weights(view: "Exploration", d: int) -> list[CategoryWeight]:
    """Return the possible categories of a paper, with the evidence for each."""
    shares, groups = view.category_probability, view.groups
    if shares is None or groups is None or view.group_topic is None:
        return []
    readings = view.readings
    odds = {} if readings is None else readings.odds(d)
    found: list[CategoryWeight] = []
    for c in np.argsort(-shares[d], kind="stable").tolist():
        if shares[d, c] < _UNLIKELY and found:
            break
        found.append(
            CategoryWeight(
                category=c,
                name=groups.names[c],
                probability=float(shares[d, c]),
                topics=_topics(view, d, c),
                linked=int((groups.of_document[_linked(view, d)] == c).sum()),
                words=_words(view, d, c),
                papers=_papers(view, d, c),
                authors=_authors(view, d, c),
                odds={name: float(value[c]) for name, value in odds.items()},
            )
        )
    return found


def _linked(view: "Exploration", d: int) -> np.ndarray:
    """Papers that one cites or that cite it, each once."""
    citations = view.corpus.citations
    ends = [citations[view.incoming[d], 0], citations[view.outgoing[d], 1]]
    linked = np.unique(np.concatenate(ends))
    return np.asarray(linked[linked != d])


def _topics(view: "Exploration", d: int, c: int) -> list[TopicWeight]:
    nu = np.asarray(view.group_topic)[c]
    share = np.maximum(np.asarray(view.model.topic_share_, np.float64), _TINY)
    speaks = view.doc_topic[d] * np.log(np.maximum(nu, _TINY) / share)
    return [
        TopicWeight(k, view.topic_name(k), float(speaks[k]))
        for k in np.argsort(-speaks, kind="stable")[:_MOST].tolist()
        if speaks[k] > _UNLIKELY
    ]


def _words(view: "Exploration", d: int, c: int) -> list[WordReason]:
    """Words of the paper that support the category most."""
    if view.readings is not None:
        words, weights = view.readings.of_words(d)
        speaks = weights[:, c]
    else:
        begin, end = view.corpus.offsets[d], view.corpus.offsets[d + 1]
        words, counts = np.unique(np.asarray(view.corpus.tokens[begin:end]), return_counts=True)
        phi = np.asarray(view.topic_word[:, words], np.float64)
        here = np.asarray(view.group_topic)[c] @ phi
        everywhere = np.asarray(view.model.topic_share_, np.float64) @ phi
        speaks = counts * np.log(np.maximum(here, _TINY) / np.maximum(everywhere, _TINY))
    best = np.argsort(-speaks, kind="stable")[:_MOST].tolist()
    return [
        WordReason(view.vocabulary[int(words[i])], float(speaks[i])) for i in best if speaks[i] > 0
    ]


def _papers(view: "Exploration", d: int, c: int) -> list[PaperLink]:
    """Linked papers that support the category most."""
    linked = _linked(view, d)
    if view.readings is not None:
        papers, weights = view.readings.of_papers(d)
        there = np.isin(papers, linked)
        linked, speaks = papers[there], weights[there, c]
    elif view.category_probability is not None:
        speaks = view.category_probability[linked, c]
        speaks = np.where(speaks >= 1.0 / view.category_probability.shape[1], speaks, 0.0)
    best = np.argsort(-speaks, kind="stable")[:_MOST].tolist()
    return [view.paper_link(int(linked[i]), float(speaks[i])) for i in best if speaks[i] > 0]


def _authors(view: "Exploration", d: int, c: int) -> list[AuthorLink]:
    """Return authors whose other papers belong to the category; the score is their mean."""
    corpus, shares = view.corpus, view.category_probability
    if shares is None:
        return []
    begin, end = corpus.author_offsets[d], corpus.author_offsets[d + 1]
    found = []
    for author in corpus.author_ids[begin:end].tolist():
        others = view.papers_of_author[author]
        others = others[others != d]
        if len(others):
            mean = float(shares[others, c].mean())
            if mean >= 1.0 / shares.shape[1]:
                found.append(view.author_link(author, mean))
    return sorted(found, key=lambda link: -(link.score or 0.0))[:_MOST]
