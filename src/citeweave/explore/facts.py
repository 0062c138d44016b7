"""The basis of all tables: arrays of a fitted model and its corpus, each computed once.

Any model with ``doc_topic_`` and ``topic_word_`` can be explored. Anything else that a model or a
corpus lacks (citations, authors, years) is listed in `Facts.missing` with the reason, so that a
table can omit it and a page can say why.
"""

import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.columns import years_of
from citeweave.errors import NotFoundError, ParameterError
from citeweave.explore.colours import TopicColours
from citeweave.explore.parts import join_parts
from citeweave.explore.wordforms import singular
from citeweave.loading import load
from citeweave.model import Groups
from citeweave.model.describing import topic_order, topic_shares
from citeweave.model.read_out import ReadOut

__all__ = ["Z90", "Facts", "GroupedIds"]

Z90 = 1.6449
"""Half width, in standard deviations, of the interval that holds 90 % of a normal variable."""


class GroupedIds:
    """Pairs (key, member) by key: the members of key i are ``members[start[i]:start[i + 1]]``."""

    def __init__(self, keys: np.ndarray, members: np.ndarray, n_keys: int) -> None:
        order = np.argsort(keys, kind="stable")
        self.members = np.asarray(members)[order]
        self.counts = np.bincount(keys, minlength=n_keys)
        self.start = np.concatenate([[0], np.cumsum(self.counts)])

    def __getitem__(self, key: int) -> np.ndarray:
        """Return the members of one key."""
        return self.members[self.start[key] : self.start[key + 1]]


class Facts:
    """Arrays of a fitted model and its corpus, computed on first use and then kept.

    Parameters
    ----------
    model : fitted model, or path
        `citeweave.SCNTM`, a baseline, or the folder of a run.
    corpus : Corpus, optional
        The corpus of the fit, for models that do not keep it.
    """

    def __init__(
        self, model: Any | str | os.PathLike[str], *, corpus: Corpus | None = None
    ) -> None:
        self.folder: Path | None = None
        if isinstance(model, str | os.PathLike):
            self.folder = Path(model)
            model = load(model)
        for name in ("doc_topic_", "topic_word_"):
            if getattr(model, name, None) is None:
                raise ParameterError(
                    f"Only a fitted model can be explored, one with 'doc_topic_' and "
                    f"'topic_word_'. Got {type(model).__name__}, which lacks {name!r}: fit it "
                    "first, or give the folder of a run."
                )
        found = corpus if corpus is not None else getattr(model, "corpus_", None)
        if found is None:
            raise ParameterError(
                f"{type(model).__name__} does not store its corpus: pass the one it was fitted to "
                "as corpus=."
            )
        if (found.n_documents, found.vocabulary_size) != (
            len(model.doc_topic_),
            model.topic_word_.shape[1],
        ):
            raise ParameterError(
                f"The model was fitted to {len(model.doc_topic_)} documents of "
                f"{model.topic_word_.shape[1]} words. Got a corpus of {found.n_documents} "
                f"documents of {found.vocabulary_size} words instead."
            )
        self.model: Any = model
        self.corpus: Corpus = found
        if self.folder is None:
            result = getattr(model, "_result", None) or getattr(model, "_state", None)
            self.folder = getattr(result, "folder", None)

    def _optional(self, name: str) -> np.ndarray | None:
        value = getattr(self.model, name, None)
        return None if value is None else np.asarray(value)

    @property
    def model_name(self) -> str:
        """Name of the model: "scntm", "pmtlm", ..."""
        spec = getattr(self.model, "spec_", None)
        name = spec.name if spec is not None else getattr(self.model, "name", None)
        return str(name) if name is not None else type(self.model).__name__.lower()

    @cached_property
    def missing(self) -> dict[str, str]:
        """The parts that cannot be shown ("citations", "authors", "years", ...), with reasons."""
        corpus, found = self.corpus, {}
        if not corpus.n_citations:
            found["citations"] = "The corpus has no citations between its papers."
        elif self.citing_topic is None:
            found["citations"] = f"The model '{self.model_name}' has no citing topics."
        if self.cited_propensity is None:
            found["influence"] = f"The model '{self.model_name}' has no propensity to be cited."
        if not corpus.n_authors:
            found["authors"] = "The corpus names no authors."
        if not self.has_years:
            found["years"] = "The corpus has no years (a metadata column 'year')."
        if not corpus.n_categories:
            found["categories"] = "The corpus has no categories."
        if not any(title for title in corpus.titles):
            found["titles"] = "The corpus has no titles; papers are named by their ids."
        if self.group_sd is None:
            found["intervals"] = (
                "The run kept no spread over samples (a model without groups, a single sample, or "
                "a run of an older release)."
            )
        return found

    def require(self, part: str) -> None:
        """Raise `NotFoundError` with the reason if a part is missing."""
        if part in self.missing:
            raise NotFoundError(f"There are no {part} to show. {self.missing[part]}")

    @cached_property
    def doc_topic(self) -> np.ndarray:
        """Topics theta' of papers [D, K]."""
        return np.asarray(self.model.doc_topic_)

    @cached_property
    def about(self) -> np.ndarray:
        """Topics theta of the words of papers [D, K]; theta' for a model of one document level."""
        found = self._optional("doc_word_topic_")
        return self.doc_topic if found is None else found

    @cached_property
    def topic_word(self) -> np.ndarray:
        """Words of topics phi [K, V]."""
        return np.asarray(self.model.topic_word_)

    @property
    def n_topics(self) -> int:
        """Number of topics K, including topics not in use."""
        return int(self.topic_word.shape[0])

    @cached_property
    def used(self) -> np.ndarray:
        """Whether each topic is in use in any sample [K]."""
        samples = self._optional("topic_samples_")
        return np.ones(self.n_topics, bool) if samples is None else samples > 0

    @cached_property
    def share(self) -> np.ndarray:
        """Share of each topic [K]: the mean of theta' over papers."""
        return topic_shares(self.doc_topic)

    @cached_property
    def order(self) -> list[int]:
        """Topics in use, the largest first."""
        return topic_order(self.share, self.used)

    @cached_property
    def colours(self) -> TopicColours:
        """Colour of each topic, the same on all pages and pictures."""
        return TopicColours(self.order)

    @cached_property
    def dominant(self) -> np.ndarray:
        """Main topic of each paper [D], as in ``model.labels_``.

        The largest of theta'; with a consensus of chains, the class, which may differ from it.
        """
        found = self._optional("labels_")
        return np.asarray(self.doc_topic.argmax(axis=1)) if found is None else found

    @cached_property
    def papers_of_topic(self) -> np.ndarray:
        """Number of papers with each topic as their main topic [K]."""
        return np.bincount(self.dominant, minlength=self.n_topics)

    @cached_property
    def word_counts(self) -> np.ndarray:
        """Number of occurrences of each word in the corpus [V]."""
        return np.bincount(self.corpus.tokens, minlength=self.corpus.vocabulary_size)

    @cached_property
    def vocabulary(self) -> list[str]:
        """The words as shown: phrases with spaces."""
        return [word.replace("_", " ").strip() or word for word in self.corpus.vocabulary]

    @cached_property
    def singular_forms(self) -> list[str]:
        """Approximate singular of each word of the vocabulary, to recognise forms of one word."""
        return [singular(word) for word in self.vocabulary]

    @cached_property
    def years(self) -> np.ndarray:
        """Year of each paper [D], 0 where unknown."""
        return years_of(self.corpus)

    @property
    def has_years(self) -> bool:
        """Whether any paper has a year."""
        return bool((self.years > 0).any())

    @cached_property
    def year_range(self) -> range:
        """All years from the first to the last, including those without papers."""
        known = self.years[self.years > 0]
        return range(int(known.min()), int(known.max()) + 1) if len(known) else range(0)

    @cached_property
    def papers_by_year(self) -> np.ndarray:
        """Number of papers in each year of `year_range`."""
        known = self.years[self.years > 0]
        first = self.year_range.start
        return np.bincount(known - first, minlength=len(self.year_range))

    @cached_property
    def share_by_year(self) -> np.ndarray:
        """Mean of theta' over the papers of each year [years, K]; nan for a year without papers."""
        known = np.flatnonzero(self.years > 0)
        sums = np.zeros((len(self.year_range), self.n_topics))
        np.add.at(sums, self.years[known] - self.year_range.start, self.doc_topic[known])
        counts = self.papers_by_year[:, None]
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    @cached_property
    def citing_topic(self) -> np.ndarray | None:
        """Probabilities of the topic y of each citation [E, K]."""
        return self._optional("citing_topic_")

    @cached_property
    def contribution(self) -> np.ndarray | None:
        """Share of each author in each paper, if all authors count [corpus.author_ids]."""
        return self._optional("contribution_")

    @cached_property
    def contribution_interval(self) -> np.ndarray | None:
        """90 % interval of each of these shares [corpus.author_ids, 2]."""
        return self._optional("contribution_interval_")

    @cached_property
    def cited_propensity(self) -> np.ndarray | None:
        """Propensity lambda- of each paper to be cited [D]."""
        found = self._optional("cited_propensity_")
        # the popularity of PMTLM has no direction, but is the closest equivalent
        return self._optional("popularity_") if found is None else found

    @cached_property
    def cite_propensity(self) -> np.ndarray | None:
        """Propensity lambda+ of each paper to cite [D]."""
        return self._optional("cite_propensity_")

    @cached_property
    def topic_scale(self) -> np.ndarray | None:
        """Strength of each topic in citing, lambdaT [K]."""
        return self._optional("topic_scale_")

    @cached_property
    def incoming(self) -> GroupedIds:
        """For each paper the rows of ``corpus.citations`` that cite it."""
        cited = self.corpus.citations[:, 1]
        return GroupedIds(cited, np.arange(len(cited)), self.corpus.n_documents)

    @cached_property
    def outgoing(self) -> GroupedIds:
        """For each paper the rows of ``corpus.citations`` that it makes."""
        citing = self.corpus.citations[:, 0]
        return GroupedIds(citing, np.arange(len(citing)), self.corpus.n_documents)

    @cached_property
    def papers_of_author(self) -> GroupedIds:
        """For each author the papers that name them, once each."""
        corpus = self.corpus
        paper = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.author_offsets))
        pairs = np.unique(np.stack([np.asarray(corpus.author_ids, np.int64), paper], 1), axis=0)
        return GroupedIds(pairs[:, 0], pairs[:, 1], corpus.n_authors)

    @cached_property
    def first_papers(self) -> np.ndarray:
        """Number of papers of each author as first author [authors]."""
        first = self.corpus.first_authors
        return np.bincount(first[first >= 0], minlength=self.corpus.n_authors)

    @cached_property
    def _groups(self) -> tuple[Groups, np.ndarray, np.ndarray | None] | None:
        """Groups with their topics and the spread of these, one row per author or category."""
        found: Groups | None = getattr(self.model, "groups_", None)
        topics = None if found is None else self._optional("group_topic_")
        if found is None or topics is None:
            return None
        return join_parts(found, topics, self._optional("group_topic_sd_"))

    @property
    def groups(self) -> Groups | None:
        """The groups that papers belong to in the model."""
        return None if self._groups is None else self._groups[0]

    @property
    def group_topic(self) -> np.ndarray | None:
        """Topics nu of groups [B, K]."""
        return None if self._groups is None else self._groups[1]

    @property
    def group_sd(self) -> np.ndarray | None:
        """Standard deviation of nu over the kept samples [B, K]."""
        return None if self._groups is None else self._groups[2]

    @cached_property
    def category_probability(self) -> np.ndarray | None:
        """Probability of each category for each paper [D, C], if categories are inferred."""
        return self._optional("category_probability_")

    @cached_property
    def read_out(self) -> ReadOut | None:
        """The evidence behind categories, if they are inferred from some labels."""
        found: ReadOut | None = getattr(self.model, "read_out_", None)
        return found

    @property
    def supervised(self) -> bool:
        """Whether categories are groups of the model."""
        return self.groups is not None and bool((self.groups.kind == 1).any())

    def group_rows(self, kind: int, n_labels: int) -> np.ndarray:
        """Row in `group_topic` of each author (kind 0) or category (1), -1 for none."""
        rows = np.full(n_labels, -1, np.int64)
        if self.groups is not None:
            mine = np.flatnonzero(self.groups.kind == kind)
            rows[self.groups.label[mine]] = mine
        return rows

    def title(self, paper: int) -> str:
        """Return the title of a paper, or its id if it has none."""
        return self.corpus.titles[paper] or self.corpus.ids[paper]

    def check_topic(self, topic: int) -> int:
        """Raise an error for a topic that does not exist."""
        if not 0 <= topic < self.n_topics or not self.used[topic]:
            raise NotFoundError(
                f"There is no topic {topic} in use; those in use are "
                f"{', '.join(map(str, sorted(self.order)))}."
            )
        return int(topic)

    def check_paper(self, paper: int) -> int:
        """Raise an error for a paper that does not exist."""
        if not 0 <= paper < self.corpus.n_documents:
            raise NotFoundError(
                f"There is no paper {paper}; papers run from 0 to {self.corpus.n_documents - 1}."
            )
        return int(paper)

    def check_author(self, author: int) -> int:
        """Raise an error for an author who does not exist."""
        self.require("authors")
        if not 0 <= author < self.corpus.n_authors:
            raise NotFoundError(
                f"There is no author {author}; authors run from 0 to {self.corpus.n_authors - 1}."
            )
        return int(author)
