"""Papers: their topics, their citations, and the topics for which they are cited."""

from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.explore.frames import Columns
from citeweave.explore.pages import AuthorShare, Difference, PaperLink, PaperPage
from citeweave.explore.reasons import category_weights

if TYPE_CHECKING:
    from citeweave.explore.exploration import Exploration

__all__ = ["cited_for", "paper_columns", "paper_link", "paper_page"]

_LIST = 10
_LEAST = 0.05
_MOST = 5
"""Maximum number of citations listed on a page, the most influential first."""
_MEMBER = 0.2
"""Weight of a topic from which a paper is listed under it."""


def cited_for(view: "Exploration") -> np.ndarray | None:
    """Return the mean topics of the citations of each paper [D, K]; nan for papers not cited."""
    topics = view.citing_topic
    if topics is None or not len(topics):
        return None
    corpus, incoming = view.corpus, view.incoming
    sums = np.zeros((corpus.n_documents, view.n_topics), np.float32)
    cited = np.flatnonzero(incoming.counts)
    # rows sorted by cited paper, summed between the starts of papers
    sums[cited] = np.add.reduceat(topics[incoming.members], incoming.start[cited], axis=0)
    sums[cited] /= incoming.counts[cited, None]
    sums[incoming.counts == 0] = np.nan
    return sums


def paper_columns(view: "Exploration", *, topic: int | None, top: int | None) -> Columns:
    """Return the columns of the table of papers, the most influential first.

    For one topic: papers in which its share is at least a fifth, by influence times that share.
    """
    corpus = view.corpus
    influence = view.cited_propensity
    cited = view.incoming.counts
    key = cited if influence is None else influence
    chosen = np.arange(corpus.n_documents)
    if topic is not None:
        k = view.check_topic(topic)
        chosen = np.flatnonzero(view.doc_topic[:, k] >= _MEMBER)
        key = np.maximum(key, 1e-9) * view.doc_topic[:, k]
    chosen = chosen[np.lexsort((chosen, -key[chosen]))][:top]
    main = view.dominant[chosen]
    parts = _parts(view.doc_topic[chosen])
    years = view.years[chosen]
    columns: dict[str, tuple[str, Any]] = {
        "paper": ("int", chosen),
        "id": ("text", [corpus.ids[d] for d in chosen.tolist()]),
        "title": ("text", [view.title(d) for d in chosen.tolist()]),
        "year": ("int", [y or None for y in years.tolist()]),
        "authors": ("texts", [view.author_names(d) for d in chosen.tolist()]),
        "topic": ("int", main),
        "topic_name": ("text", [view.topic_name(k) for k in main.tolist()]),
        "weight": ("float", view.doc_topic[chosen, main]),
        "cited": ("int", cited[chosen]),
        "cites": ("int", view.outgoing.counts[chosen]),
        "cited_propensity": ("float", _take(influence, chosen)),
        "cite_propensity": ("float", _take(view.cite_propensity, chosen)),
        "cited_for": ("int", [None] * len(chosen)),
        "cited_for_name": ("text", [None] * len(chosen)),
        "gap": ("float", [None] * len(chosen)),
        "topics": ("ints", [[k for k, _ in row] for row in parts]),
        "weights": ("floats", [[weight for _, weight in row] for row in parts]),
    }
    shares, groups = view.category_probability, view.groups
    if shares is not None and groups is not None:
        drawn = shares[chosen].argmax(axis=1)
        columns["drawn_category"] = ("text", [groups.names[c] for c in drawn.tolist()])
        columns["drawn_probability"] = ("float", shares[chosen, drawn])
    if topic is not None:
        columns["topic_weight"] = ("float", view.doc_topic[chosen, topic])
    if view.cited_for is not None:
        received = view.cited_for[chosen]
        known = cited[chosen] > 0
        gap = 0.5 * np.abs(received - view.about[chosen]).sum(axis=1)
        best = np.where(known, np.nan_to_num(received).argmax(axis=1), -1).tolist()
        columns["cited_for"] = ("int", [None if k < 0 else k for k in best])
        columns["cited_for_name"] = (
            "text",
            [None if k < 0 else view.topic_name(k) for k in best],
        )
        columns["gap"] = ("float", [float(g) if g == g else None for g in gap.tolist()])  # noqa: PLR0124
    return columns


def _parts(weights: np.ndarray) -> list[list[tuple[int, float]]]:
    """Topics of papers with noticeable weights, the largest first, at least one each."""
    best = np.argsort(-weights, axis=1, kind="stable")[:, :_MOST]
    values = np.take_along_axis(weights, best, axis=1)
    sizes = np.maximum((values >= _LEAST).sum(axis=1), 1).tolist()
    return [
        list(zip(topics[:size], row[:size], strict=True))
        for topics, row, size in zip(best.tolist(), values.tolist(), sizes, strict=True)
    ]


def paper_link(
    view: "Exploration", paper: int, score: float | None = None, topic: int | None = None
) -> PaperLink:
    """Return a paper as shown on other pages."""
    influence = view.cited_propensity
    main = int(view.dominant[paper]) if topic is None else topic
    return PaperLink(
        paper=int(paper),
        id=view.corpus.ids[paper],
        title=view.title(paper),
        year=int(view.years[paper]) or None,
        authors=view.author_names(paper),
        topic=main,
        topic_name=view.topic_name(main),
        cited=int(view.incoming.counts[paper]),
        influence=None if influence is None else float(influence[paper]),
        score=None if score is None else float(score),
    )


def paper_page(view: "Exploration", paper: int) -> PaperPage:
    """Collect everything known about one paper."""
    d = view.check_paper(paper)
    corpus = view.corpus
    category = int(corpus.categories[d])
    begin, end = corpus.author_offsets[d], corpus.author_offsets[d + 1]
    received = None if view.cited_for is None else view.cited_for[d]
    if received is not None and np.isnan(received).any():
        received = None
    return PaperPage(
        paper=d,
        id=corpus.ids[d],
        title=view.title(d),
        year=int(view.years[d]) or None,
        authors=[view.author_link(a) for a in corpus.author_ids[begin:end].tolist()],
        category=corpus.category_names[category] if category >= 0 else None,
        metadata={name: column[d] for name, column in corpus.metadata.items() if name != "year"},
        topics=view.mixture(view.doc_topic[d]),
        about=view.mixture(view.about[d]),
        cited_for=[] if received is None else view.mixture(received),
        differences=[] if received is None else _differences(view, d, received),
        cited=int(view.incoming.counts[d]),
        cites=int(view.outgoing.counts[d]),
        cited_propensity=_one(view.cited_propensity, d),
        cite_propensity=_one(view.cite_propensity, d),
        cited_by=_links(view, view.incoming[d], 0),
        references=_links(view, view.outgoing[d], 1),
        similar=view.similar_papers(d, _LIST),
        drawn_categories=category_weights(view, d),
        shares=_shares(view, d),
    )


def _shares(view: "Exploration", d: int) -> list[AuthorShare]:
    """Return the authors of a paper with their shares, if the model estimates them."""
    corpus, share, interval = view.corpus, view.contribution, view.contribution_interval
    if share is None or interval is None:
        return []
    return [
        AuthorShare(
            author=int(corpus.author_ids[i]),
            name=corpus.author_names[corpus.author_ids[i]],
            share=float(share[i]),
            low=float(interval[i, 0]),
            high=float(interval[i, 1]),
        )
        for i in range(int(corpus.author_offsets[d]), int(corpus.author_offsets[d + 1]))
    ]


def _differences(view: "Exploration", d: int, received: np.ndarray) -> list[Difference]:
    about = view.about[d]
    gap = received - about
    best = np.argsort(-np.abs(gap), kind="stable")[:_MOST].tolist()
    return [
        Difference(
            k,
            view.topic_name(k),
            float(about[k]),
            float(received[k]),
            float(gap[k]),
        )
        for k in best
        if abs(gap[k]) >= 0.01
    ]


def _links(view: "Exploration", rows: np.ndarray, end: int) -> list[PaperLink]:
    """Return the papers at one end of citations, with the topics of the citations."""
    papers = np.asarray(view.corpus.citations[rows, end])
    key = view.incoming.counts if view.cited_propensity is None else view.cited_propensity
    order = np.lexsort((papers, -key[papers]))
    topics = view.citing_topic
    links = []
    for place in order.tolist():
        if topics is None:
            links.append(paper_link(view, int(papers[place])))
            continue
        row = topics[rows[place]]
        k = int(row.argmax())
        links.append(paper_link(view, int(papers[place]), score=float(row[k]), topic=k))
    return links


def _one(values: np.ndarray | None, place: int) -> float | None:
    return None if values is None else float(values[place])


def _take(values: np.ndarray | None, places: np.ndarray) -> Any:
    return [None] * len(places) if values is None else values[places]
