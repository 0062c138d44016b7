"""Authors: what they work on, how much they are cited for it, and who is like them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.explore.facts import Z90
from citeweave.explore.frames import Columns
from citeweave.explore.pages import AuthorLink, AuthorPage, TopicWeight
from citeweave.explore.topics import mixture_columns, words_of

if TYPE_CHECKING:
    from citeweave.explore.exploration import Exploration

__all__ = ["author_columns", "author_page", "author_topics", "influence_columns", "sum_by_author"]

_LIST = 10
_WORDS = 5
_LEAST = 0.05
_MOST = 5


def sum_by_author(view: "Exploration", values: np.ndarray, *, shared: bool) -> np.ndarray:
    """Add up values of papers [D] or [D, K] by author.

    With ``shared``, the value of a paper is divided as in the model: among all authors by their
    contributions, or all of it to the first author. Otherwise each author receives all of it.
    """
    corpus, n_authors = view.corpus, view.corpus.n_authors
    part: np.ndarray | float = 1.0
    if not shared:
        paper = view.papers_of_author.members
        author = np.repeat(np.arange(n_authors), view.papers_of_author.counts)
    elif view.contribution is not None:
        paper = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.author_offsets))
        author, part = corpus.author_ids, np.asarray(view.contribution)
    else:
        author = corpus.first_authors
        paper = np.flatnonzero(author >= 0)
        author = author[paper]
    if values.ndim == 1:
        return np.bincount(author, weights=part * values[paper], minlength=n_authors)
    # a column at a time: no copy of a row for each of an author's papers
    return np.stack(
        [
            np.bincount(author, weights=part * values[paper, k], minlength=n_authors)
            for k in range(values.shape[1])
        ],
        axis=1,
    )


def author_topics(view: "Exploration") -> tuple[np.ndarray, np.ndarray]:
    """Topics of every author [authors, K], and their rows in the model's groups.

    nu if the model has a vector for the author (row >= 0), otherwise the mean theta' of their
    papers (row -1): a model may have vectors for first authors only, and not for all authors if eta
    > 0.
    """
    rows = view.group_rows(0, view.corpus.n_authors)
    papers = np.maximum(view.papers_of_author.counts, 1)[:, None]
    topics = (sum_by_author(view, view.doc_topic, shared=False) / papers).astype(np.float32)
    if view.group_topic is not None:
        known = rows >= 0
        topics[known] = view.group_topic[rows[known]]
    return topics, rows


def topic_weights(view: "Exploration", author: int) -> list[TopicWeight]:
    """Return the main topics of an author, with intervals over samples if the model has them."""
    topics, rows = view.author_topics
    row = int(rows[author])
    spread = None if view.group_sd is None or row < 0 else np.asarray(view.group_sd[row])
    return view.mixture(topics[author], spread, most=_MOST, least=_LEAST)


def ranked(view: "Exploration", *, min_papers: int, top: int | None) -> np.ndarray:
    """Rank authors with enough papers by influence, or by papers if there is no influence."""
    papers = view.papers_of_author.counts
    chosen = np.flatnonzero(papers >= max(min_papers, 1))
    influence = view.author_influence
    key = papers if influence is None else influence
    order = np.lexsort((chosen, -papers[chosen], -key[chosen]))
    return chosen[order][:top]


def author_columns(
    view: "Exploration", *, top: int | None, min_papers: int, nearest: int
) -> Columns:
    """Return the columns of the table of authors."""
    chosen = ranked(view, min_papers=min_papers, top=top)
    topics, rows = view.author_topics
    mixtures = [topic_weights(view, author) for author in chosen.tolist()]
    main = topics[chosen].argmax(axis=1)
    weight = topics[chosen, main]
    low, high = _intervals(view, rows[chosen], main, weight)
    words = words_of(view, _WORDS, 1.0)
    names = view.corpus.author_names
    figures = view.literature.figures("authors")
    columns: dict[str, tuple[str, Any]] = {
        "author": ("int", chosen),
        "name": ("text", [names[a] for a in chosen.tolist()]),
        "papers": ("int", view.papers_of_author.counts[chosen]),
        "first_papers": ("int", view.first_papers[chosen]),
        "influence": ("float", _take(view.author_influence, chosen)),
        "influence_all": ("float", _take(view.author_influence_all, chosen)),
        "topic": ("int", main),
        "topic_name": ("text", [view.topic_name(k) for k in main.tolist()]),
        "weight": ("float", weight),
        "weight_low": ("float", low),
        "weight_high": ("float", high),
        "topics_from": ("text", ["model" if row >= 0 else "papers" for row in rows[chosen]]),
        "words": ("texts", [[view.vocabulary[w] for w in words[k].tolist()] for k in main]),
        **mixture_columns(mixtures),
        **{name: ("int", figures[name][chosen]) for name in ("citations", "h_index")},
    }
    if nearest:
        found = [view.nearest_authors(a, nearest) for a in chosen.tolist()]
        columns["nearest"] = ("texts", [[link.name for link in row] for row in found])
    return columns


def influence_columns(view: "Exploration", *, top: int | None, min_papers: int) -> Columns:
    """Return the influence of authors by topic, one row per author and topic."""
    view.require("influence")
    chosen = ranked(view, min_papers=min_papers, top=top)
    by_topic = view.influence_by_topic[chosen]
    row, topic = np.nonzero(by_topic >= 0.005)
    order = np.lexsort((-by_topic[row, topic], row))
    row, topic = row[order], topic[order]
    names = view.corpus.author_names
    return {
        "author": ("int", chosen[row]),
        "name": ("text", [names[a] for a in chosen[row].tolist()]),
        "topic": ("int", topic),
        "topic_name": ("text", [view.topic_name(k) for k in topic.tolist()]),
        "influence": ("float", by_topic[row, topic]),
    }


def author_page(view: "Exploration", author: int) -> AuthorPage:
    """Collect everything known about one author."""
    a = view.people.shown_as(view.check_author(author))
    papers = view.papers_of_author[a]
    topics, rows = view.author_topics
    years = view.years[papers]
    years = years[years > 0]
    order = papers[np.lexsort((papers, -view.years[papers]))]
    influence, everything = view.author_influence, view.author_influence_all
    by_topic: list[TopicWeight] = []
    if influence is not None:
        part = view.influence_by_topic[a]
        by_topic = view.mixture(part, most=8, least=0.01 * max(float(part.sum()), 1e-9))
    main = int(topics[a].argmax())
    words = words_of(view, 10, 1.0)[main]
    figures = view.literature.figures("authors")
    return AuthorPage(
        author=a,
        name=view.corpus.author_names[a],
        papers=len(papers),
        first_papers=int(view.first_papers[a]),
        years=[int(years.min()), int(years.max())] if len(years) else [],
        topics=topic_weights(view, a),
        topics_from="model" if rows[a] >= 0 else "papers",
        words=[view.vocabulary[w] for w in words.tolist()],
        influence=None if influence is None else float(influence[a]),
        influence_all=None if everything is None else float(everything[a]),
        influence_by_topic=by_topic,
        nearest=view.nearest_authors(a, _LIST),
        coauthors=_coauthors(view, a, papers),
        publications=[view.paper_link(d) for d in order.tolist()],
        citations=int(figures["citations"][a]),
        h_index=int(figures["h_index"][a]),
        cited_by=int(figures["cited_by"][a]) if "cited_by" in figures else None,
        institutions=_institutions(view, a),
        joined=_joined(view, a),
    )


def author_link(view: "Exploration", author: int, score: float | None) -> AuthorLink:
    """Return an author as shown on other pages."""
    topics, _ = view.author_topics
    main = int(topics[author].argmax())
    influence = view.author_influence
    return AuthorLink(
        author=int(author),
        name=view.corpus.author_names[author],
        papers=int(view.papers_of_author.counts[author]),
        influence=None if influence is None else float(influence[author]),
        topic=main,
        topic_name=view.topic_name(main),
        score=None if score is None else float(score),
    )


def authors_of_topic(view: "Exploration", topic: int, number: int) -> list[AuthorLink]:
    """Return the authors with the most influence in a topic, or the most work without influence."""
    if not view.corpus.n_authors:
        return []
    score = view.work_by_topic[:, topic]
    if view.author_influence is not None:
        score = view.influence_by_topic[:, topic]
    best = np.argsort(-score, kind="stable")[:number]
    return [author_link(view, a, score[a]) for a in best.tolist() if score[a] > 0]


def _institutions(view: "Exploration", author: int) -> list[dict[str, Any]]:
    """Name the institutions of an author with the papers written there, the most first."""
    found = view.affiliations
    mine = view.corpus.author_ids[found.members[:, 0]] == author
    numbers, counts = np.unique(found.members[mine, 1], return_counts=True)
    order = np.lexsort((numbers, -counts))[:_LIST]
    return [
        {"institution": int(one), "name": found.names[one], "papers": int(papers)}
        for one, papers in zip(numbers[order], counts[order], strict=True)
    ]


def _joined(view: "Exploration", author: int) -> list[dict[str, Any]]:
    """Name the authors of the fitted corpus that are shown as one, with their papers."""
    fitted = view.people.corpus
    members = view.people.joined(author)
    papers = np.bincount(fitted.author_ids, minlength=fitted.n_authors)
    return [
        {"author": one, "name": fitted.author_names[one], "papers": int(papers[one])}
        for one in members
    ]


def _coauthors(view: "Exploration", author: int, papers: np.ndarray) -> list[AuthorLink]:
    corpus = view.corpus
    counts: dict[int, int] = {}
    for d in papers.tolist():
        begin, end = corpus.author_offsets[d], corpus.author_offsets[d + 1]
        for other in set(corpus.author_ids[begin:end].tolist()) - {author}:
            counts[other] = counts.get(other, 0) + 1
    best = sorted(counts, key=lambda other: (-counts[other], other))[: 2 * _LIST]
    return [author_link(view, other, counts[other]) for other in best]


def _intervals(
    view: "Exploration", rows: np.ndarray, topic: np.ndarray, weight: np.ndarray
) -> tuple[list[float | None], list[float | None]]:
    if view.group_sd is None:
        nothing: list[float | None] = [None] * len(rows)
        return nothing, nothing
    half = Z90 * np.asarray(view.group_sd)[rows, topic]
    known = rows >= 0
    low, high = np.maximum(weight - half, 0.0), np.minimum(weight + half, 1.0)
    return (
        [float(x) if ok else None for x, ok in zip(low, known, strict=True)],
        [float(x) if ok else None for x, ok in zip(high, known, strict=True)],
    )


def _take(values: np.ndarray | None, places: np.ndarray) -> Any:
    return [None] * len(places) if values is None else values[places]
