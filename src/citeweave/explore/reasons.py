"""Why a paper belongs to a category: its words, linked papers, authors and topics.

If some labels are known, the log odds of a category (against the mean of all) are a sum over the
words of the paper, the papers linked with it, its authors and its topics
(`citeweave.model.read_out`), which is broken down here. Words, of the paper itself and of papers
linked with it, are compared with those of an average paper, whose log odds count as the share of
the category: words that all papers have say nothing. If none are known, words are weighted by
how much more probable the category makes them, and papers and authors by belonging to it.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

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


_Way = tuple[Any, tuple[int, ...]]
"""How words are carried along citations: a graph, and numbers of steps on it."""


class _Linear(NamedTuple):
    """A kind of evidence that is a sum over words, carried along citations."""

    way: _Way
    of_words: np.ndarray
    """float64 [V, C]: what a word says of categories."""
    of_papers: np.ndarray
    """float64 [D, C]: what the words of a paper say."""
    factors: np.ndarray
    """float64 [D]: by how much this counts for each paper."""
    average: np.ndarray
    """float64 [C]: what all of this says of an average paper."""


class _Carried(NamedTuple):
    """The words that one kind of evidence carries to a paper."""

    weight: Any
    """csr_array [1, D]: by how much the words of each paper count."""
    share: np.ndarray
    """float64, one for each entry of ``weight``: of all words that are carried there."""


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
        # runs of earlier releases have fewer kinds of evidence
        self.weight = dict(zip(EVIDENCE, np.asarray(told.weights).tolist(), strict=False))
        self.words = tfidf(corpus)
        self.mass = np.asarray(self.words.sum(axis=1)).ravel()
        """float64 [D]: sum of the weights of a paper's words."""
        linked = len(corpus.citations) > 0
        half = low_pass(normalised_graph(corpus, loops=False))
        near: _Way = (half, (SMOOTHING,) if linked else ())
        far: _Way = (half, SCALES if linked else ())
        carried = told.carried
        if carried is None:
            far = normalised_graph(corpus, loops=True), (_EARLIER_STEPS,)
            carried = np.ones(corpus.n_documents)
        self.linear = [
            self._linear("regression", far, told.regression, carried),
            self._linear("likeness", near, told.centres, told.lengths),
        ]
        if told.discriminant is not None and told.placed is not None:
            self.linear.append(self._linear("discriminant", far, told.discriminant, told.placed))

    def _linear(self, name: str, way: _Way, table: np.ndarray, lengths: np.ndarray) -> _Linear:
        of_words = centred(np.asarray(table, np.float64))
        of_papers = self.words @ of_words
        factors = self.weight[name] * np.asarray(lengths, np.float64)
        graph, steps = way
        carried = factors[:, None] * smooth_scales(graph, of_papers, steps)
        return _Linear(way, of_words, of_papers, factors, carried.mean(axis=0))

    def _carried(self, paper: int) -> list[_Carried]:
        """Return the words carried to one paper, by kind of evidence."""
        column = sparse.eye_array(self.words.shape[0], format="csr")[:, [paper]]
        ways: list[_Way] = []
        rows: list[Any] = []
        found = []
        for one in self.linear:
            place = next((i for i, way in enumerate(ways) if way is one.way), len(ways))
            if place == len(ways):  # kinds that carry words in the same way share this
                ways.append(one.way)
                graph, steps = one.way  # symmetric
                rows.append(smooth_scales(graph, column, steps).T.tocsr())
            row = rows[place]
            mass = row.data * self.mass[row.indices]
            share = mass / max(float(mass.sum()), _TINY)
            found.append(_Carried(row * one.factors[paper], share))
        return found

    def of_papers(self, paper: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the papers that support or oppose the categories of a paper, and how strongly.

        Returns
        -------
        papers : ndarray of int, shape (n,)
            Includes the paper itself, for its own words.
        weights : ndarray, shape (n, C)
        """
        carried = self._carried(paper)
        papers = np.unique(np.concatenate([one.weight.indices for one in carried]))
        weights = np.zeros((len(papers), self.linear[0].of_words.shape[1]))
        for one, (row, share) in zip(self.linear, carried, strict=True):
            there = np.searchsorted(papers, row.indices)
            weights[there] += row.data[:, None] * one.of_papers[row.indices]
            weights[there] -= share[:, None] * one.average
        return papers, weights

    def of_words(self, paper: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the paper's words (int [n]) and how strongly each supports a category [n, C]."""
        row = self.words[[paper]]
        weights = np.zeros((len(row.indices), self.linear[0].of_words.shape[1]))
        for one, (carried, share) in zip(self.linear, self._carried(paper), strict=True):
            own = carried.indices == paper
            weights += float(carried.data[own].sum()) * one.of_words[row.indices]
            weights -= float(share[own].sum()) / max(self.mass[paper], _TINY) * one.average
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
            "share": self._share(paper),
        }

    def _share(self, paper: int) -> np.ndarray:
        """Return the log odds of an average paper [C]."""
        share = centred(np.asarray(self.told.intercepts, np.float64))
        for one, carried in zip(self.linear, self._carried(paper), strict=True):
            share = share + float(carried.share.sum()) * one.average  # 0 if no words reach it
        return share


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
