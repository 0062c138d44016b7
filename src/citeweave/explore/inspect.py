"""The counts behind the topics of one document, as in the paper's worked example.

subsec:modelling_topic_hierarchy: words are customers c of theta, their tables t are customers of
theta', and citations are customers of theta' directly. So ``c(theta') = t(theta) + h``, with h the
number of citations of each topic, and the more numerous words do not outweigh citations.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.errors import NotFoundError
from citeweave.explore.pages import Page
from citeweave.model.attributes import FittedAttributes
from citeweave.model.last_state import last_state
from citeweave.wording import count

if TYPE_CHECKING:
    from citeweave.explore.exploration import Exploration

__all__ = ["Inspection", "InspectionRow", "LevelCounts", "inspect_document"]


@dataclass(frozen=True, slots=True)
class LevelCounts(Page):
    """Counts of a topic at one document level."""

    level: str
    customers: int
    """Customers c."""
    tables: int
    """Tables t."""


@dataclass(frozen=True, slots=True)
class InspectionRow(Page):
    """One topic of the document."""

    topic: int
    name: str
    words: int
    """Number of tokens of the topic."""
    examples: list[str]
    """Its words, the most frequent first."""
    cites: int
    """Number of references of the topic."""
    cited: int
    """Number of citations of the topic that the document receives."""
    drawn: int
    """Sampled self-citations of the topic, if they are unknown; two customers each."""
    levels: list[LevelCounts]
    """Lowest level first: theta, theta'."""
    share: float
    """Posterior mean of theta' over all samples, for comparison."""


@dataclass(frozen=True, slots=True)
class Inspection(Page):
    """Counts of one document in the last state of one chain, as returned by `Exploration.inspect`.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration
    >>> found = Exploration(citeweave.example_model()).inspect(0)
    >>> found.words == sum(row.words for row in found.rows)
    True
    """

    document: int
    id: str
    title: str
    chain: int
    iteration: int
    words: int
    cites: int
    cited: int
    network: bool
    """Whether citations were used by that iteration."""
    citation_level: str | None
    levels: list[str]
    """Document levels, the lowest first."""
    rows: list[InspectionRow]
    by_author: list[dict[str, Any]]
    """If words choose their author: author, topic and number of words."""
    text: list[str]
    """The same in sentences."""


def inspect_document(view: "Exploration", document: int, *, chain: int | None = None) -> Inspection:
    """Read the counts of a document from the last state of a chain.

    Parameters
    ----------
    view : Exploration
    document : int
        Position in the corpus, from 0.
    chain : int, optional
        By default, the chain whose numbering of topics is used.
    """
    d = view.check_paper(document)
    model = view.model
    if not isinstance(model, FittedAttributes):
        raise NotFoundError(
            f"The model '{view.model_name}' has no counts of customers and tables to inspect; "
            "only models that `citeweave fit` has sampled have them."
        )
    number, iteration, state = last_state(model, chain)
    # topics of other chains are shown under the numbers they were matched to
    order = np.asarray(model.combination_["orders"][number])
    spec = model.spec_
    counts = _document_counts(view, state, d)
    topic, path = _tokens(view, state, d)
    network = spec.citations is not None and bool(state["clock"][1])
    none = np.zeros(0, int)
    ends = _citation_topics(view, state, d) if network else (none, none, none)
    rows = []
    for k, own in enumerate(order.tolist()):
        if own < 0:
            continue
        levels = [LevelCounts(name, int(c[own]), int(t[own])) for name, c, t in counts]
        words = np.sort(_words(view, d))[topic == own]
        cites, cited, drawn = (int((end == own).sum()) for end in ends)
        if len(words) or cites or cited or any(level.customers for level in levels):
            rows.append(
                InspectionRow(
                    topic=k,
                    name=view.topic_name(k),
                    words=len(words),
                    examples=_examples(view, words),
                    cites=cites,
                    cited=cited,
                    drawn=drawn,
                    levels=levels,
                    share=float(view.doc_topic[d, k]),
                )
            )
    rows.sort(key=lambda row: (-max((c.customers for c in row.levels), default=0), -row.words))
    found = Inspection(
        document=d,
        id=view.corpus.ids[d],
        title=view.title(d),
        chain=number,
        iteration=iteration,
        words=int(view.corpus.lengths[d]),
        cites=int(view.outgoing.counts[d]),
        cited=int(view.incoming.counts[d]),
        network=network,
        citation_level=spec.citations,
        levels=[name for name, _, _ in counts],
        rows=rows,
        by_author=_by_author(view, d, topic, path, order) if spec.words_choose_author else [],
        text=[],
    )
    found.text.extend(_sentences(found))
    return found


def _words(view: "Exploration", d: int) -> np.ndarray:
    return np.asarray(view.corpus.tokens[view.corpus.offsets[d] : view.corpus.offsets[d + 1]])


def _document_counts(
    view: "Exploration", state: Mapping[str, np.ndarray], d: int
) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Name, customers and tables of the document's nodes, the lowest level first.

    Nodes are numbered consecutively: mu, then the nodes of each level, documents last.
    """
    spec = view.model.spec_
    above = 1 + sum(len(groups) for groups in view.model.levels_.values())
    names = [level.name for level in spec.topic_side if level.nodes == "document"]
    found = []
    for number, name in enumerate(names):
        node = above + number * view.corpus.n_documents + d
        found.append((name, state["topics.customers"][node], state["topics.tables"][node]))
    return found[::-1]


def _tokens(
    view: "Exploration", state: Mapping[str, np.ndarray], d: int
) -> tuple[np.ndarray, np.ndarray]:
    """Topics (and chosen authors) of the tokens, which the sampler sorts by word."""
    part = slice(int(view.corpus.offsets[d]), int(view.corpus.offsets[d + 1]))
    return state["assignments.topic"][part], state["assignments.path"][part]


def _citation_topics(
    view: "Exploration", state: Mapping[str, np.ndarray], d: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Topics of the citations that a paper makes and receives, and of its self-citations."""
    topics = state["assignments.citing_topic"]
    drawn = state.get("assignments.self_topic", np.zeros((0, 0)))  # new in this release
    return topics[view.outgoing[d]], topics[view.incoming[d]], drawn[d : d + 1].ravel()


def _examples(view: "Exploration", words: np.ndarray, most: int = 8) -> list[str]:
    kinds, number = np.unique(words, return_counts=True)
    best = np.lexsort((kinds, -number))[:most]
    return [
        view.vocabulary[kinds[i]] + (f" ×{number[i]}" if number[i] > 1 else "")
        for i in best.tolist()
    ]


def _by_author(
    view: "Exploration", d: int, topic: np.ndarray, path: np.ndarray, order: np.ndarray
) -> list[dict[str, Any]]:
    names = list(dict.fromkeys(view.author_names(d))) or ["unknown"]
    number_of = {int(own): k for k, own in enumerate(order) if own >= 0}
    found = []
    pairs, words = np.unique(np.stack([path, topic], axis=1), axis=0, return_counts=True)
    for (author, own), number in zip(pairs.tolist(), words.tolist(), strict=True):
        if own in number_of:
            k = number_of[own]
            found.append(
                {
                    "author": names[author],
                    "topic": k,
                    "name": view.topic_name(k),
                    "words": number,
                }
            )
    return sorted(found, key=lambda row: -row["words"])


def _sentences(found: Inspection) -> list[str]:
    """Describe the counts in sentences, as the paper does."""
    first = (
        f"Document {found.document} has {count(found.words, 'word')}, makes "
        f"{count(found.cites, 'citation')} inside the corpus and receives {found.cited:,}. These "
        f"are the counts of chain {found.chain} after iteration {found.iteration:,}: one sample, "
        "while the other tables show means over all samples."
    )
    lines = [first]
    if not found.levels:
        lines.append("The model has no document level: each word chose one of the authors.")
        return lines
    low = found.levels[0]
    with_words = [row for row in found.rows if row.words]
    lines.append(
        f"Its words are assigned to {count(len(with_words), 'topic')}: "
        + ", ".join(f"c({low}, {row.topic}) = {row.levels[0].customers}" for row in with_words)
        + "."
    )
    if len(found.levels) == 1:
        return lines
    high = found.levels[1]
    lines.append(
        f"They reach {high} by way of their tables: "
        + ", ".join(f"t({low}, {row.topic}) = {row.levels[0].tables}" for row in with_words)
        + "."
    )
    if found.citation_level is None:
        return lines
    if not found.network:
        lines.append("Citations were not used yet in that iteration.")
        return lines
    lines.append(
        f"Citations are customers of {found.citation_level} directly, those made and those "
        f"received{_drawn(found)}, so its customers are the tables below and the citations: "
        + ", ".join(_sum(row, high) for row in found.rows if row.levels[1].customers)
        + "."
    )
    whole = sum(row.levels[0].customers for row in found.rows)
    passed = sum(row.levels[0].tables for row in found.rows)
    if whole and found.citation_level == high:
        lines.append(
            f"So {whole:,} words count as {passed:,} in {high}, next to "
            f"{count(found.cites + found.cited, 'citation')}: the text is diluted."
        )
    return lines


def _drawn(found: Inspection) -> str:
    """Describe the sampled self-citations, if any."""
    number = sum(row.drawn for row in found.rows)
    if number == 0:
        return ""
    return f", and both ends of {count(number, 'self-citation')} drawn by the sampler"


def _sum(row: InspectionRow, level: str) -> str:
    network = row.cites + row.cited + 2 * row.drawn
    return (
        f"c({level}, {row.topic}) = {row.levels[0].tables} + {network} = {row.levels[1].customers}"
    )
