"""The author-topics network as the paper draws it (fig:ML_graph_cut).

Topics are rectangles with their top words, each in its colour, the stronger the larger its share
(where the paper has one pink for all); authors are ellipses, whose size grows with influence; a
line is as thick as the topic weighs for the author. Weak links are dropped.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from citeweave.errors import ParameterError
from citeweave.explore.graphs.facts import AuthorFacts, PictureFacts, facts_of
from citeweave.explore.graphs.graph import Edge, Graph, Node
from citeweave.explore.graphs.text import clean, shorten_name, text_width, wrap_words
from citeweave.naming import option
from citeweave.wording import count, percent

__all__ = ["author_topics", "topic_node"]

MOST_AUTHORS = 30
MOST_LINKS = 3
"""Links of one author, the strongest; more make a tangle."""

MIN_WEIGHT = 0.15
BY_INFLUENCE = 2 / 3
"""Part of the authors chosen by influence alone; the others lead topics not yet covered."""

WIDEST_LINE = 126.0
WORD_SIZE = 10.0
AUTHOR_SIZES = (9.5, 16.0)
LINE_WIDTHS = (0.8, 7.0)
FAINTEST, STRONGEST = 0.1, 0.4
"""Share of a topic's colour in the fill of its rectangle, by the share of the topic."""


def author_topics(
    view: Any,
    *,
    authors: int | Sequence[int] | None = None,
    topics: int | Sequence[int] | None = None,
    min_weight: float = MIN_WEIGHT,
    words: int = 5,
) -> Graph:
    """Build the network of authors and topics.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    authors : int or sequence of int, optional
        How many authors, or their ids. By default as many as stay legible, at most 30: two thirds
        are the most influential overall, the rest the most influential in topics not yet covered.
    topics : int or sequence of int, optional
        How many topics (the largest), or which. By default those to which the authors are linked.
    min_weight : float
        Links below this weight are dropped, except the strongest of each author.
    words : int
        Number of words in each rectangle.

    Returns
    -------
    Graph
        Nodes of the kinds ``topic`` (value: share) and ``author`` (value: influence).

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore.graphs import author_topics
    >>> graph = author_topics(citeweave.example_model(), authors=4)
    >>> sum(node.kind == "author" for node in graph.nodes)
    4
    """
    if not 0.0 <= min_weight <= 1.0:
        raise ParameterError(
            f"{option('min_weight')} must be between 0 and 1. Got {min_weight!r} instead."
        )
    facts = facts_of(view)
    people = facts.authors
    allowed = _choose_topics(facts, topics)
    rows = _choose_authors(facts, people, authors, allowed)
    links = _choose_links(people, rows, allowed, min_weight)
    reached = {k for _, k, _ in links}
    named = topics is not None and not isinstance(topics, int)
    shown = [k for k in allowed if named or k in reached]
    notes = [
        *_notes(facts, people, rows, shown, measure=people.measure),
        f"Links below {min_weight:g} are dropped, except the strongest one of each author.",
        f"No author has more than {MOST_LINKS} links.",
        *people.notes,
    ]
    largest = max(float(facts.share[k]) for k in facts.topics)
    nodes = [topic_node(facts, k, float(facts.share[k]) / largest, words) for k in shown]
    nodes += _author_nodes(facts, people, rows)
    heaviest = max((weight for *_, weight in links), default=1.0)
    edges = [
        _edge(facts, people, row, k, weight, heaviest) for row, k, weight in links if k in shown
    ]
    return Graph(
        name="author-topics",
        title="Authors and their topics",
        nodes=tuple(nodes),
        edges=tuple(edges),
        notes=tuple(notes),
        legend=(
            *((facts.colours[k], clean(facts.name(k))) for k in shown),
            ("#ffffff", f"author, sized by {_measure_words(people)}"),
        ),
    )


def topic_node(
    facts: PictureFacts, k: int, strength: float, words: int = 5, *, extra: tuple[str, ...] = ()
) -> Node:
    """Make the rectangle of a topic: its name, its words below, tinted by `strength` (0 to 1)."""
    named = clean(facts.name(k, 60))
    terms = [clean(word) for word in facts.words(k, words)]
    heading = wrap_words([part.strip() for part in named.split(",")], WIDEST_LINE, WORD_SIZE * 1.12)
    # a name made of the first words need not be followed by them
    given = {part.strip().casefold() for part in named.split(",")}
    rest = [term for term in terms if term.casefold() not in given]
    lines = (*heading, *wrap_words(rest, WIDEST_LINE, WORD_SIZE), *extra)
    widths = [text_width(line, WORD_SIZE, bold=i < len(heading)) for i, line in enumerate(lines)]
    share = float(facts.share[k])
    return Node(
        kind="topic",
        key=k,
        label=lines,
        title=f"Topic {k} ({percent(share)} of the corpus): {', '.join(terms)}",
        value=share,
        shape="box",
        width=max(widths, default=0.0) + 14.0,
        height=len(lines) * WORD_SIZE * 1.25 + 9.0,
        font_size=WORD_SIZE,
        colour=facts.colours[k],
        tint=FAINTEST + (STRONGEST - FAINTEST) * min(max(strength, 0.0), 1.0),
        group=k,
        heading=len(heading),
    )


def _choose_topics(facts: PictureFacts, topics: int | Sequence[int] | None) -> list[int]:
    if topics is None:
        return facts.topics
    if isinstance(topics, int):
        if topics < 1:
            raise ParameterError(f"{option('topics')} must be at least 1. Got {topics} instead.")
        return facts.topics[:topics]
    for k in topics:
        if not 0 <= k < len(facts.share):
            raise ParameterError(
                f"{option('topics')} must be numbers from 0 to {len(facts.share) - 1}. "
                f"Got {k!r} instead."
            )
    return list(dict.fromkeys(int(k) for k in topics))


def _choose_authors(
    facts: PictureFacts,
    people: AuthorFacts,
    authors: int | Sequence[int] | None,
    allowed: list[int],
) -> list[int]:
    """Rows of `people` to be drawn."""
    if authors is not None and not isinstance(authors, int):
        place = {int(author): row for row, author in enumerate(people.ids.tolist())}
        for author in authors:
            if author not in place:
                raise ParameterError(
                    f"{option('authors')} must be ids of authors for whom the model has topics. "
                    f"Got {author!r} instead."
                )
        return list(dict.fromkeys(place[author] for author in authors))
    most = MOST_AUTHORS if authors is None else authors
    if most < 1:
        raise ParameterError(f"{option('authors')} must be at least 1. Got {most} instead.")
    # an author without any of the requested topics would have no link
    strongest = people.weights.argmax(axis=1)
    able = np.flatnonzero(np.isin(strongest, allowed))
    chosen = able[: max(1, round(most * BY_INFLUENCE))].tolist()
    reached = {int(strongest[row]) for row in chosen}
    for k in facts.topics:
        if len(chosen) >= most:
            break
        leaders = able[strongest[able] == k]
        if k in allowed and k not in reached and len(leaders):
            chosen.append(int(leaders[0]))
    taken = set(chosen)
    chosen += [row for row in able.tolist() if row not in taken][: most - len(chosen)]
    return sorted(chosen)


def _choose_links(
    people: AuthorFacts, rows: list[int], allowed: list[int], min_weight: float
) -> list[tuple[int, int, float]]:
    links = []
    for row in rows:
        weights = people.weights[row]
        best = sorted(allowed, key=lambda k: (-weights[k], k))[:MOST_LINKS]
        links += [
            (row, k, float(weights[k]))
            for number, k in enumerate(best)
            if weights[k] >= min_weight or (number == 0 and weights[k] > 0)
        ]
    return links


def _author_nodes(facts: PictureFacts, people: AuthorFacts, rows: list[int]) -> list[Node]:
    names = facts.corpus.author_names
    largest = max((float(people.influence[row]) for row in rows), default=1.0) or 1.0
    nodes = []
    for row in rows:
        author = int(people.ids[row])
        influence = float(people.influence[row])
        # the area of the ellipse follows the influence, but a name must stay readable
        low, high = AUTHOR_SIZES
        size = low + (high - low) * np.sqrt(max(influence, 0.0) / largest)
        name = clean(names[author]) or f"author {author}"
        label = shorten_name(name)
        number = int(people.papers[row])
        known = f"influence {influence:.1f}, " if people.measure == "influence" else ""
        nodes.append(
            Node(
                kind="author",
                key=author,
                label=(label,),
                title=f"{name}: {known}{count(number, 'paper')} as first author",
                value=influence,
                shape="ellipse",
                # an ellipse round a box of text that is wide and low
                width=text_width(label, size) * 1.16 + 12.0,
                height=size * 2.1 + 2.0,
                font_size=float(size),
                colour="#ffffff",
                group=int(people.weights[row].argmax()),
            )
        )
    return nodes


def _edge(
    facts: PictureFacts, people: AuthorFacts, row: int, k: int, weight: float, heaviest: float
) -> Edge:
    low, high = LINE_WIDTHS
    name = facts.corpus.author_names[int(people.ids[row])]
    return Edge(
        source=f"author-{int(people.ids[row])}",
        target=f"topic-{k}",
        weight=weight,
        width=low + (high - low) * weight / heaviest,
        title=f"{clean(name)}: {percent(weight, 0)} {clean(facts.name(k))}",
    )


def _measure_words(people: AuthorFacts) -> str:
    return "influence" if people.measure == "influence" else "number of papers"


def _notes(
    facts: PictureFacts, people: AuthorFacts, rows: list[int], shown: list[int], *, measure: str
) -> list[str]:
    by = "influence (λ⁻ summed over their papers)" if measure == "influence" else "papers"
    notes = []
    if len(rows) < len(people.ids):
        notes.append(f"{len(rows):,} of {len(people.ids):,} authors are shown, by {by}.")
    if len(shown) < len(facts.topics):
        notes.append(f"{len(shown)} of {len(facts.topics)} topics are shown.")
    return notes
