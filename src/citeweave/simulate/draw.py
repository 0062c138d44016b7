"""Draw a corpus from the SCNTM (subsec:topic_model, subsec:network), with its true parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.simulate import parameters
from citeweave.simulate._random import new_state
from citeweave.simulate.network import DrawnNetwork, draw_network
from citeweave.simulate.parameters import DrawParameters
from citeweave.simulate.people import (
    add_coauthors,
    choose_groups,
    draw_first_authors,
    draw_labels,
)
from citeweave.simulate.vectors import draw_gem, draw_pyp, draw_pyp_rows
from citeweave.simulate.words import draw_words

__all__ = ["Simulation", "Truth", "simulate"]

# Shapes of the Gamma distributions of mean 1: popularity lambda- is heavy-tailed, so that a few
# documents carry influence; the propensity to cite lambda+ varies less.
_CITE_SHAPE = 2.0
_CITED_SHAPE = 0.4
_TOPIC_SCALE_SHAPE = 5.0
_LENGTH_SHAPE = 8.0


@dataclass(frozen=True)
class Truth:
    """The true parameters of a simulated corpus.

    Attributes
    ----------
    topic_share : ndarray, shape (K,)
        mu.
    group_topic : ndarray of float32, shape (B, K)
        nu of the groups: authors, then categories, or one unknown group if there are neither.
    group : ndarray of int32, shape (D,)
        Group b of each document.
    doc_topic : ndarray of float32, shape (D, K)
        theta'.
    background : ndarray, shape (V,)
        gamma; the mean of the topics if `topic_word` was given.
    topic_word : ndarray, shape (K, V)
        phi.
    token_topic : ndarray of int32, shape (n_tokens,)
        z, aligned to `corpus.tokens`.
    citing_topic : ndarray of int32, shape (n_citations,)
        y, aligned to `corpus.citations`.
    cite_propensity, cited_propensity : ndarray, shape (D,)
        lambda+ and lambda-.
    topic_scale : ndarray, shape (K,)
        lambdaT.
    n_authors : int
        Number of authors, A.

    Examples
    --------
    >>> from citeweave.simulate import simulate
    >>> truth = simulate(documents=20, vocabulary=50, topics=3, authors=5, seed=1).truth
    >>> truth.doc_topic.shape, truth.author_topic.shape
    ((20, 3), (5, 3))
    """

    topic_share: np.ndarray
    group_topic: np.ndarray
    group: np.ndarray
    doc_topic: np.ndarray
    background: np.ndarray
    topic_word: np.ndarray
    token_topic: np.ndarray
    citing_topic: np.ndarray
    cite_propensity: np.ndarray
    cited_propensity: np.ndarray
    topic_scale: np.ndarray
    n_authors: int

    @property
    def author_topic(self) -> np.ndarray:
        """Return nu of the authors, shape (A, K)."""
        return self.group_topic[: self.n_authors]

    @property
    def category_topic(self) -> np.ndarray:
        """Return nu of the categories (or of the one unknown group)."""
        return self.group_topic[self.n_authors :]


@dataclass(frozen=True)
class Simulation:
    """A corpus and its true parameters.

    Examples
    --------
    >>> from citeweave.simulate import simulate
    >>> simulation = simulate(documents=20, vocabulary=50, topics=3, seed=1)
    >>> simulation.corpus.n_documents, simulation.truth.topic_word.shape
    (20, (3, 50))
    """

    corpus: Corpus
    truth: Truth


def simulate(
    *,
    documents: int = 1000,
    vocabulary: int = 2000,
    topics: int = 20,
    authors: int | None = None,
    categories: int | None = None,
    words_per_document: float = 60,
    citations: int | None = None,
    seed: int | None = 0,
    eta: float = 0,
    topic_share: np.ndarray | None = None,
    topic_word: np.ndarray | None = None,
    vocabulary_words: Sequence[str] | None = None,
    discounts: Mapping[str, float] | None = None,
    concentrations: Mapping[str, float] | None = None,
    years: tuple[int, int] | None = None,
    burstiness: bool = True,
) -> Simulation:
    """Draw a corpus from the model.

    The topics of a document come from its first author's nu, or from its category's if the author
    has fewer than `eta` documents or there are no authors. If they come from the author, the
    category (if requested) is drawn afterwards from the document's topics, so it reflects them
    without being part of the model.

    Parameters
    ----------
    documents, vocabulary, topics
        Sizes D, V and K.
    authors, categories
        Sizes of these tables; None or 0 for none.
    words_per_document
        Mean of the documents' lengths, which are negative binomial (and at least 1).
    citations
        Approximate number of citations; None or 0 for none.
    seed
        The same seed gives the same corpus; None uses a new one each time.
    eta
        Author threshold: authors with at least this many documents are significant.
    topic_share
        mu; drawn from a GEM truncated to `topics` if not given.
    topic_word
        phi, shape (topics, vocabulary); drawn if not given.
    vocabulary_words
        The words; "w0", "w1", ... if not given.
    discounts, concentrations
        By level: "mu", "nu", "theta_prime", "theta", "gamma", "phi", "phi_prime"; other levels keep
        their defaults (see `citeweave.simulate.parameters`).
    years
        (first, last): draw a year for each document (in `corpus.metadata["year"]`) and let
        documents cite only documents of earlier years.
    burstiness
        Whether topics are bursty inside documents (phi').

    Returns
    -------
    Simulation
        The corpus and its true parameters.

    Examples
    --------
    >>> from citeweave.simulate import simulate
    >>> simulation = simulate(documents=50, vocabulary=100, topics=3, citations=80, seed=1)
    >>> simulation.corpus.n_documents, simulation.truth.doc_topic.shape
    (50, (50, 3))
    """
    checked = parameters.check(
        documents=documents,
        vocabulary=vocabulary,
        topics=topics,
        authors=authors,
        categories=categories,
        words_per_document=words_per_document,
        citations=citations,
        eta=eta,
        discounts=discounts,
        concentrations=concentrations,
        topic_share=topic_share,
        topic_word=topic_word,
        vocabulary_words=vocabulary_words,
        years=years,
        burstiness=burstiness,
        seed=seed,
    )
    sequence = np.random.SeedSequence(seed)
    with np.errstate(over="ignore"):  # the kernels' random numbers wrap around, compiled or not
        return _draw(checked, sequence, vocabulary_words)


def _draw(
    p: DrawParameters, sequence: np.random.SeedSequence, vocabulary_words: Sequence[str] | None
) -> Simulation:
    # One stream for each part: requesting citations, for example, does not change the words.
    streams = sequence.spawn(6)
    share_rng, word_rng, people_rng, length_rng, network_rng, _ = map(
        np.random.default_rng, streams
    )
    state = new_state(streams[5])

    share = p.topic_share
    if share is None:
        share = draw_gem(p.topics, *p.pyp("mu"), share_rng)
    background, phi = _draw_topics(p, word_rng)

    groups = max(p.authors + p.categories, 1)
    group_topic = np.empty((groups, p.topics), dtype=np.float32)
    draw_pyp_rows(share[None], np.zeros(groups, dtype=np.int64), *p.pyp("nu"), state, group_topic)
    group, first, weights, labels, label_shares = _draw_groups(p, people_rng)
    doc_topic = np.empty((p.documents, p.topics), dtype=np.float32)
    draw_pyp_rows(group_topic, group, *p.pyp("theta_prime"), state, doc_topic)

    offsets = _draw_offsets(p, length_rng)
    tokens = np.empty(offsets[-1], dtype=np.int32)
    token_topic = np.empty(offsets[-1], dtype=np.int32)
    draw_words(
        offsets,
        doc_topic,
        np.cumsum(phi, axis=1),
        p.pyp("theta"),
        p.pyp("phi_prime"),
        p.burstiness,
        state,
        token_topic,
        tokens,
    )

    entries: dict[str, Any] = {}
    if p.authors:
        author_topic = group_topic[: p.authors]
        team, team_offsets = add_coauthors(first, author_topic, weights, people_rng)
        names = [f"author {i}" for i in range(p.authors)]
        entries |= {"author_ids": team, "author_offsets": team_offsets, "author_names": names}
    if p.categories:
        later = labels < 0
        category_topic = group_topic[p.authors :]
        labels[later] = draw_labels(doc_topic[later], category_topic, label_shares, people_rng)
        names = [f"category {i}" for i in range(p.categories)]
        entries |= {"categories": labels, "category_names": names}

    cite, cited, network = _draw_citations(p, share, doc_topic, network_rng, entries)
    corpus = Corpus.from_arrays(
        tokens=tokens,
        offsets=offsets,
        vocabulary=vocabulary_words,
        vocabulary_size=p.vocabulary,
        citations=network.citations,
        **entries,
    )
    truth = Truth(
        topic_share=share,
        group_topic=group_topic,
        group=group.astype(np.int32),
        doc_topic=doc_topic,
        background=background,
        topic_word=phi,
        token_topic=token_topic,
        citing_topic=network.topics,
        cite_propensity=cite,
        cited_propensity=cited,
        topic_scale=network.topic_scale,
        n_authors=p.authors,
    )
    return Simulation(corpus, truth)


def _draw_topics(p: DrawParameters, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw gamma and phi, unless phi is given."""
    if p.topic_word is not None:
        return p.topic_word.mean(axis=0), p.topic_word
    sticks = max(4 * p.vocabulary, 10_000)
    uniform = np.full(p.vocabulary, 1.0 / p.vocabulary)
    background = draw_pyp(uniform, *p.pyp("gamma"), rng, sticks=sticks)
    rows = [draw_pyp(background, *p.pyp("phi"), rng, sticks=sticks) for _ in range(p.topics)]
    return background, np.stack(rows)


def _draw_groups(
    p: DrawParameters, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw the group of each document, and the author or category behind it.

    Returns groups, first authors, productivity, categories (-1: yet to be drawn), and the shares
    of the categories.
    """
    first = np.full(p.documents, -1, dtype=np.int64)
    weights = np.empty(0)
    by_author = np.zeros(p.documents, dtype=bool)
    if p.authors:
        first, weights = draw_first_authors(p.documents, p.authors, rng)
        # without categories, documents can only belong to authors
        by_author = choose_groups(first, p.authors, p.eta if p.categories else 0)
    labels = np.full(p.documents, -1, dtype=np.int64)
    shares = rng.dirichlet(np.full(p.categories, 5.0)) if p.categories else np.ones(1)
    others = ~by_author
    drawn = rng.choice(len(shares), size=p.documents, p=shares)
    if p.categories:
        labels[others] = drawn[others]
    group = np.where(by_author, first, p.authors + drawn)
    return group, first, weights, labels, shares


def _draw_offsets(p: DrawParameters, rng: np.random.Generator) -> np.ndarray:
    """Draw negative binomial lengths, each at least 1, and return their running sums from 0."""
    means = rng.gamma(_LENGTH_SHAPE, p.words_per_document / _LENGTH_SHAPE, p.documents)
    lengths = np.maximum(rng.poisson(means), 1)
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))


def _draw_citations(
    p: DrawParameters,
    share: np.ndarray,
    doc_topic: np.ndarray,
    rng: np.random.Generator,
    entries: dict[str, Any],
) -> tuple[np.ndarray, np.ndarray, DrawnNetwork]:
    """Draw lambda+, lambda-, lambdaT, years and citations.

    lambdaT is inversely proportional to a topic's share, up to a Gamma factor: it strengthens rare
    topics, as in the paper, so that a topic's citations are proportional to its size.
    """
    cite = rng.gamma(_CITE_SHAPE, 1.0 / _CITE_SHAPE, p.documents)
    cited = rng.gamma(_CITED_SHAPE, 1.0 / _CITED_SHAPE, p.documents)
    scale = rng.gamma(_TOPIC_SCALE_SHAPE, 1.0 / _TOPIC_SCALE_SHAPE, p.topics)
    scale /= np.maximum(share, 1e-12)
    years = None
    if p.years is not None:
        years = rng.integers(p.years[0], p.years[1] + 1, p.documents)
        entries["metadata"] = {"year": years}
    network = draw_network(doc_topic, cite, cited, scale, target=p.citations, years=years, rng=rng)
    return cite, cited, network
