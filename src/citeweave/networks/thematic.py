"""The thematic map: how central topics are to a literature, and how dense in themselves."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.errors import NotFoundError, ParameterError
from citeweave.naming import option
from citeweave.networks.counting import co_occurrence, incidence, similarity

__all__ = ["QUADRANTS", "Themes", "themes_of"]

QUADRANTS = ("motor", "niche", "emerging or declining", "basic")
"""High centrality and density; density alone; neither; centrality alone."""


@dataclass(frozen=True, eq=False)
class Themes:
    """Centrality and density of topics.

    Attributes
    ----------
    topics : ndarray of int, shape (n,)
        Numbers of the topics.
    centrality, density : ndarray, shape (n,)
    words : tuple of ndarray of int, length n
        Word ids of each theme.
    links : ndarray, shape (n, n)
        Sum of the equivalence indices between the words of two themes.
    middle : (float, float)
        Medians of centrality and density, where the quadrants meet.

    Examples
    --------
    >>> import numpy as np
    >>> from citeweave.networks import Themes
    >>> values = np.array([1.0, 2.0, 3.0])
    >>> themes = Themes(np.arange(3), values, values, (np.arange(2),) * 3, np.zeros((3, 3)))
    >>> themes.middle, themes.quadrant
    ((2.0, 2.0), ['emerging or declining', 'motor', 'motor'])
    """

    topics: np.ndarray
    centrality: np.ndarray
    density: np.ndarray
    words: tuple[np.ndarray, ...]
    links: np.ndarray

    @property
    def middle(self) -> tuple[float, float]:
        """Medians of centrality and density."""
        return float(np.median(self.centrality)), float(np.median(self.density))

    @property
    def quadrant(self) -> list[str]:
        """Name of the quadrant of each theme; a value on a line counts as high."""
        x, y = self.middle
        return [
            QUADRANTS[(0 if dense else 3) if central else (1 if dense else 2)]
            for central, dense in zip(self.centrality >= x, self.density >= y, strict=True)
        ]


def themes_of(
    corpus: Corpus, topic_word: np.ndarray, topics: np.ndarray, *, words: int = 30
) -> Themes:
    """Measure topics by the co-occurrence of their words (Callon, Courtial and Laville 1991).

    A theme consists of the words that a topic owns: those of its most probable words that are more
    probable in it than in any other topic, at most `words`. Let e_ij = c_ij^2 / (c_i c_j) be the
    equivalence index of two words, counted over papers. The density of a theme of n words is 100
    times the sum of e_ij within it, divided by n; its centrality is 10 times the sum of e_ij
    between its words and those of other themes.

    Parameters
    ----------
    corpus : Corpus
    topic_word : ndarray, shape (K, V)
        Probabilities of words.
    topics : ndarray of int, shape (n,)
        Topics to measure.
    words : int
        Maximum number of words per theme.

    Returns
    -------
    Themes
        Of the topics that own at least two words.

    Examples
    --------
    >>> import citeweave, numpy as np
    >>> from citeweave.networks import themes_of
    >>> model = citeweave.example_model()
    >>> themes = themes_of(model.corpus_, model.topic_word_, np.arange(3), words=10)
    >>> themes.topics.tolist(), themes.links.shape
    ([0, 1, 2], (3, 3))
    """
    if words < 2:
        raise ParameterError(f"{option('words')} must be at least 2. Got {words} instead.")
    owned = _owned_words(np.asarray(topic_word), np.asarray(topics), words)
    kept = [place for place, found in enumerate(owned) if len(found) > 1]
    if not kept:
        raise NotFoundError("There is no thematic map: no topic has two words of its own.")
    chosen = np.concatenate([owned[place] for place in kept])
    theme = np.repeat(np.arange(len(kept)), [len(owned[place]) for place in kept])
    papers = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    table: Any = incidence(papers, corpus.tokens, (corpus.n_documents, corpus.vocabulary_size))
    links, counts = co_occurrence(table, chosen)
    occurrences = np.asarray(table.sum(axis=0))[chosen]
    strength = similarity(links, counts, occurrences, weight="equivalence")
    between = np.zeros((len(kept), len(kept)))
    np.add.at(between, (theme[links[:, 0]], theme[links[:, 1]]), strength)
    inside = np.diag(between).copy()
    np.fill_diagonal(between, 0.0)
    between += between.T
    return Themes(
        topics=np.asarray(topics)[kept],
        centrality=10.0 * between.sum(axis=1),
        density=100.0 * inside / np.bincount(theme),
        words=tuple(owned[place] for place in kept),
        links=between,
    )


def _owned_words(topic_word: np.ndarray, topics: np.ndarray, most: int) -> list[np.ndarray]:
    """Pick the most probable words of each topic that are more probable there than elsewhere."""
    part = topic_word[topics]
    owner = part.argmax(axis=0)
    found = []
    for place, row in enumerate(part):
        own = np.flatnonzero((owner == place) & (row > 0))
        found.append(own[np.argsort(-row[own], kind="stable")[:most]])
    return found
