"""Similarity of papers (by topics and words) and of authors (by topics)."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus
from citeweave.explore.pages import AuthorLink, PaperLink

if TYPE_CHECKING:
    from citeweave.explore.exploration import Exploration

__all__ = ["WordVectors", "best_of", "nearest_authors", "similar_papers", "similarities"]


class WordVectors:
    """TF-IDF vectors of the papers of a corpus, of length 1, and of any new text."""

    def __init__(self, corpus: Corpus) -> None:
        row = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
        counts = sparse.csr_array(
            (np.ones(corpus.n_tokens, np.float32), (row, np.asarray(corpus.tokens))),
            shape=(corpus.n_documents, corpus.vocabulary_size),
        )
        counts.sum_duplicates()
        held = np.bincount(counts.indices, minlength=corpus.vocabulary_size)
        self.idf = np.log((1 + corpus.n_documents) / (1 + held)).astype(np.float32) + 1
        counts.data = (1 + np.log(counts.data)) * self.idf[counts.indices]
        norm = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
        counts.data /= np.repeat(np.maximum(norm, 1e-9), np.diff(counts.indptr)).astype(np.float32)
        self.matrix = counts

    def like_paper(self, paper: int) -> np.ndarray:
        """Return the cosines of all papers with one of them [D]."""
        begin, end = self.matrix.indptr[paper], self.matrix.indptr[paper + 1]
        vector = np.zeros(self.matrix.shape[1], np.float32)
        vector[self.matrix.indices[begin:end]] = self.matrix.data[begin:end]
        return np.asarray(self.matrix @ vector)

    def like_words(self, words: np.ndarray) -> np.ndarray:
        """Return the cosines of all papers with a text, given as word ids [D]."""
        counts = np.bincount(words, minlength=self.matrix.shape[1]).astype(np.float32)
        vector = np.where(counts > 0, (1 + np.log(np.maximum(counts, 1))) * self.idf, 0)
        length = float(np.linalg.norm(vector))
        return np.asarray(self.matrix @ (vector / max(length, 1e-9)).astype(np.float32))


def similarities(roots: np.ndarray, topics: np.ndarray, cosines: np.ndarray) -> np.ndarray:
    """Return the similarity of all papers to one: the mean over topics and words, 0 to 1.

    The similarity of topics is the Bhattacharyya coefficient, 1 minus the squared Hellinger
    distance. Topics alone cannot distinguish hundreds of papers about the same single topic.
    """
    affinity = roots @ np.sqrt(topics, dtype=np.float32)
    return np.asarray((np.minimum(affinity, 1.0) + cosines) / 2)


def best_of(score: np.ndarray, number: int, leave_out: Any = ()) -> list[int]:
    """Return the positions of the highest scores; ties go to the smaller position."""
    score = np.array(score, np.float64)
    for place in leave_out:
        score[place] = -np.inf
    number = min(number, len(score))
    if number < 1:
        return []
    top = np.argpartition(-score, number - 1)[:number]
    top = top[np.lexsort((top, -score[top]))]
    return [int(i) for i in top if np.isfinite(score[i])]


def similar_papers(view: "Exploration", paper: int, number: int) -> list[PaperLink]:
    """Return the papers most similar to one of the corpus."""
    d = view.check_paper(paper)
    score = similarities(view.root_topics, view.doc_topic[d], view.word_vectors.like_paper(d))
    return [view.paper_link(i, score=score[i]) for i in best_of(score, number, [d])]


def nearest_authors(
    view: "Exploration", author: int, number: int, min_papers: int
) -> list[AuthorLink]:
    """Find authors of the smallest Hellinger distance; the score is that distance."""
    a = view.check_author(author)
    topics, _ = view.author_topics
    mine = np.sqrt(topics[a])
    affinity = np.minimum(np.sqrt(topics) @ mine, 1.0)
    distance = np.sqrt(1.0 - affinity)
    few = np.flatnonzero(view.papers_of_author.counts < min_papers)
    return [view.author_link(i, distance[i]) for i in best_of(-distance, number, [a, *few])]
