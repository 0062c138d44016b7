"""Arrays shared by tables and pages, derived from the model: labels, sums by author, flows.

They are computed on first use and then kept.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from citeweave.corpus.affiliations import Affiliations
from citeweave.explore import authors as _authors
from citeweave.explore import categories as _categories
from citeweave.explore import citations as _citations
from citeweave.explore import papers as _papers
from citeweave.explore import place as _place
from citeweave.explore import topics as _topics
from citeweave.explore.facts import Facts
from citeweave.explore.labels import TopicNames, label_words, make_labels
from citeweave.explore.levels import contributor_estimates
from citeweave.explore.literature import Literature, contributor_topics
from citeweave.explore.pages import TopicWeight
from citeweave.explore.reasons import Readings
from citeweave.explore.similarity import WordVectors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citeweave.explore.exploration import Exploration

__all__ = ["Derived"]

_SUPERVISED_LABEL = 0.5
"""Part of a topic that must be in one category for the topic's label to name it."""


class Derived(Facts):
    """Arrays that `Exploration` derives from a fitted model and its corpus."""

    @property
    def _view(self) -> "Exploration":
        return cast("Exploration", self)

    @cached_property
    def names(self) -> TopicNames:
        """Names given to topics by people."""
        combination: Mapping[str, Any] = getattr(self.model, "combination_", {})
        return TopicNames(self.folder, int(combination.get("best", 0)))

    def topic_name(self, topic: int) -> str:
        """Return the name given to a topic, or its automatic label."""
        return self.names.get(int(topic)) or self.labels[topic]

    @cached_property
    def labels(self) -> list[str]:
        """Automatic label of each topic, including topics not in use."""
        words = label_words(self.topic_word, self.share, self.word_counts > 0, self.vocabulary)
        nearest = self.nearest_category if self.supervised else None
        categories = None
        if nearest is not None:
            categories = [
                name if share is not None and share >= _SUPERVISED_LABEL else None
                for name, share in nearest
            ]
        return make_labels(words, categories)

    @cached_property
    def coherence(self) -> np.ndarray:
        """NPMI coherence of the ten top words of each topic [K]."""
        return _topics.coherence(self._view)

    @cached_property
    def growth(self) -> tuple[np.ndarray, np.ndarray]:
        """Slope and yearly growth of each topic's share [K], nan if years are unknown."""
        return _topics.growth(self.share_by_year, self.papers_by_year)

    @cached_property
    def mu(self) -> np.ndarray | None:
        """Shares of topics mu, if the model has them [K]."""
        return self._optional("topic_share_")

    @cached_property
    def word_probability(self) -> np.ndarray:
        """Probability of each word in the corpus under the model [V]."""
        tiny = np.finfo(float).tiny
        return np.asarray(np.maximum(self.share @ np.asarray(self.topic_word, np.float64), tiny))

    @cached_property
    def author_topics(self) -> tuple[np.ndarray, np.ndarray]:
        """Topics of all authors [authors, K], and their rows in the model's groups (-1: none)."""
        return _authors.author_topics(self._view)

    @cached_property
    def author_influence(self) -> np.ndarray | None:
        """Sum of lambda- over each author's papers [authors].

        Papers are weighted by the author's share if all authors count; otherwise only papers with
        the author as first author are included.
        """
        return self._by_author(shared=True)

    @cached_property
    def author_influence_all(self) -> np.ndarray | None:
        """Sum of lambda- over all papers of each author [authors]."""
        return self._by_author(shared=False)

    def _by_author(self, *, shared: bool) -> np.ndarray | None:
        if self.cited_propensity is None:
            return None
        return _authors.sum_by_author(self._view, self.cited_propensity, shared=shared)

    @cached_property
    def influence_by_topic(self) -> np.ndarray:
        """`author_influence` divided among topics by theta' of the papers [authors, K]."""
        self.require("influence")
        weight = np.asarray(self.cited_propensity)[:, None] * self.doc_topic
        return _authors.sum_by_author(self._view, weight, shared=True)

    @cached_property
    def work_by_topic(self) -> np.ndarray:
        """Sum of theta' over the papers of each author [authors, K]."""
        return _authors.sum_by_author(self._view, self.doc_topic, shared=False)

    @cached_property
    def literature(self) -> Literature:
        """The corpus without the model: its authors, institutions, countries, venues, funders."""
        return Literature(self.corpus)

    @cached_property
    def affiliations(self) -> Affiliations:
        """Institutions and countries of papers and authors, as arrays."""
        return Affiliations.of(self.corpus)

    @cached_property
    def _of_contributors(self) -> "dict[tuple[str, str], np.ndarray]":
        return {}

    def contributor_topics(self, kind: str) -> np.ndarray:
        """Topics of each contributor of a kind [n, K]; kept.

        Those of the model if it has a level for them, otherwise the mean of theta' over their
        papers.
        """
        key = (kind, "topics")
        if key not in self._of_contributors:
            found = self.literature.contributors(kind)
            sums = contributor_topics(found, np.asarray(self.doc_topic, np.float32))
            topics = sums / np.maximum(found.papers.counts, 1)[:, None]
            spread = np.full(topics.shape, np.nan)
            estimates = contributor_estimates(self._view, kind)
            if estimates is not None:
                topics[estimates[0]] = estimates[1]
                spread[estimates[0]] = 0.0 if estimates[2] is None else estimates[2]
            self._of_contributors[key] = topics
            self._of_contributors[kind, "spread"] = spread
        return self._of_contributors[key]

    def contributor_mixture(
        self, kind: str, number: int, *, most: int = 5, least: float = 0.05
    ) -> tuple[list[TopicWeight], bool]:
        """Return the main topics of a contributor, and whether they come from the model.

        Topics from the model have intervals if the run kept several samples.
        """
        topics = self.contributor_topics(kind)[number]
        spread = self._of_contributors[kind, "spread"][number]
        modelled = not np.isnan(spread).any()
        known = spread if modelled and np.any(spread) else None
        return self._view.mixture(topics, known, most=most, least=least), modelled

    def contributor_influence(self, kind: str) -> np.ndarray | None:
        """Sum of lambda- over the papers of each contributor of a kind [n], if the model has it."""
        if self.cited_propensity is None:
            return None
        key = (kind, "influence")
        if key not in self._of_contributors:
            found = self.literature.contributors(kind)
            weight = np.asarray(self.cited_propensity, np.float64)[:, None]
            self._of_contributors[key] = contributor_topics(found, weight)[:, 0]
        return self._of_contributors[key]

    @cached_property
    def cited_for(self) -> np.ndarray | None:
        """Mean topics of the citations that each paper receives [D, K], nan if there are none."""
        return _papers.cited_for(self._view)

    @cached_property
    def root_topics(self) -> np.ndarray:
        """Square roots of theta' [D, K], whose products are Bhattacharyya coefficients."""
        return np.asarray(np.sqrt(self.doc_topic, dtype=np.float32))

    @cached_property
    def word_vectors(self) -> WordVectors:
        """TF-IDF vectors of all papers."""
        return WordVectors(self.corpus)

    @cached_property
    def flow_matrix(self) -> np.ndarray | None:
        """Citations from topic to topic [K, K], by theta' of both papers."""
        return _citations.flow_matrix(self._view) if self.corpus.n_citations else None

    @cached_property
    def citations_by_topic(self) -> np.ndarray | None:
        """Expected number of citations made for each topic [K]."""
        if self.citing_topic is None:
            return None
        return np.asarray(self.citing_topic.sum(axis=0, dtype=np.float64))

    @cached_property
    def category_mass(self) -> np.ndarray | None:
        """Sums of theta' over the papers of each category [categories, K]."""
        return _categories.category_mass(self._view)

    @cached_property
    def readings(self) -> Readings | None:
        """The evidence for categories, if they are inferred from some labels."""
        return None if self.read_out is None else Readings(self._view, self.read_out)

    @cached_property
    def nearest_category(self) -> list[tuple[str | None, float | None]] | None:
        """The category with the largest part of each topic, and how large that part is."""
        return _categories.nearest_category(self._view)

    @cached_property
    def word_ids(self) -> dict[str, int]:
        """Id of each word of the vocabulary."""
        return {word: number for number, word in enumerate(self.corpus.vocabulary)}

    @cached_property
    def reference_keys(self) -> dict[str, int]:
        """Papers by the forms that references to them may take."""
        return _place.reference_keys(self._view)
