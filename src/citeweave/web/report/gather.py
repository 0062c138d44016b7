"""Read an `Exploration` into the contents of a report: what is shown, what is not and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import citeweave
from citeweave.web.report import method
from citeweave.web.report.charts import columns
from citeweave.web.report.contents import (
    Author,
    Contents,
    Coverage,
    Paper,
    Part,
    Topic,
    TopicPapers,
)
from citeweave.web.report.figures import (
    draw_likelihood,
    draw_map,
    draw_network,
    flow_table,
    trend_table,
)
from citeweave.web.report.run_facts import RunFacts
from citeweave.web.report.tables import carried_tables
from citeweave.web.report.words import count, people, percent, quoted
from citeweave.web.report.years import Course, courses

if TYPE_CHECKING:
    from markupsafe import Markup

    from citeweave.explore import Exploration
    from citeweave.web.report.contents import Flow, Trends

__all__ = ["gather"]

WORDS = 10
AUTHORS = 20
PAPERS = 5
FEWER_PAPERS = 3
"""Papers a topic where there are more than `MANY_TOPICS`."""
MANY_TOPICS = 12
MEMBER = 0.2
"""Weight of a topic from which on a paper is listed under it."""
MOST_TOPICS_WITH_PAPERS = 40
LABELS = 10
PARTS = 3


def gather(
    view: Exploration, *, title: str | None = None, max_papers: int = 4000, tables: bool = True
) -> Contents:
    """Collect all that a report of a run says.

    Parameters
    ----------
    view : Exploration
    title : str, optional
        Heading of the page.
    max_papers : int
        Most papers in the table that the page carries.
    tables : bool
        Whether the page carries tables at all.
    """
    run = RunFacts(view)
    missing = _missing(view)
    course = None
    if view.has_years:
        course = courses(view.years, view.doc_topic)
        if course is None:
            missing["trends"] = "Papers are of fewer than three different years: no trends."
    main = main_topics(view)
    topics = _topics(view, course, main)
    trends = None if course is None else trend_table(view, course, main)
    flow = None if "flow" in missing else flow_table(view, main)
    network, reason = draw_network(view)
    if network is None:
        missing["network"] = reason
    papers_map, reason = draw_map(view)
    if papers_map is None:
        missing["map"] = reason
    likelihood, chains = draw_likelihood(run)
    influence = view.cited_propensity is not None
    papers, papers_note = _papers(view, main)
    categories = _most(view.corpus.category_names, view.corpus.categories)
    venues = _venues(view)
    return Contents(
        title=title or _title(view),
        lede=_lede(view),
        made=f"Made by citeweave {citeweave.__version__}{run.when}",
        figures=_figures(view),
        short=_short(view, topics, trends, flow),
        coverage=_coverage(view),
        topics=topics,
        small_topics=_small(view, main),
        span=None if course is None else (str(course.years[0]), str(course.years[-1])),
        diagnostics=run.diagnostics,
        papers_by_year=_years(view),
        categories=categories,
        venues=venues if venues != categories else (),
        trends=trends,
        authors=_authors(view),
        authors_note=_authors_note(view),
        by_influence=influence,
        papers=papers,
        papers_note=papers_note,
        flow=flow,
        network=network,
        papers_map=papers_map,
        likelihood=likelihood,
        chain_names=chains,
        method=tuple(run.method_text()),
        parameters=tuple(run.parameter_rows()),
        cite=method.CITATIONS,
        bibtex=method.BIBTEX,
        downloads=carried_tables(view, course, flow=flow is not None, max_papers=max_papers)
        if tables
        else (),
        missing=missing,
    )


def _missing(view: Exploration) -> dict[str, str]:
    """Say by section of the page what cannot be shown."""
    found = view.missing
    out = {}
    if "years" in found:
        out["years"] = out["trends"] = found["years"]
    if "authors" in found:
        out["authors"] = found["authors"]
    if view.flow_matrix is None:
        out["flow"] = found.get("citations", "The corpus has no citations between its papers.")
    if "influence" in found:
        out["papers"] = f"{found['influence']} Papers are ranked by how much of a topic they are."
    elif "titles" in found:
        out["papers"] = found["titles"]
    return out


def _title(view: Exploration) -> str:
    """Head a page that nobody has named."""
    number = view.corpus.n_documents
    return f"What {count(number, 'paper')} {_are(number)} about"


def _span(view: Exploration) -> str:
    if not view.has_years:
        return ""
    years = view.year_range
    return f"{years[0]}" if len(years) == 1 else f"{years[0]} to {years[-1]}"


def _lede(view: Exploration) -> str:
    corpus = view.corpus
    parts = []
    if view.has_years:
        parts.append(f"from {_span(view)}" if len(view.year_range) > 1 else f"of {_span(view)}")
    if corpus.n_authors:
        parts.append(f"by {count(corpus.n_authors, 'author')}")
    if corpus.n_citations:
        parts.append(f"with {count(corpus.n_citations, 'citation')} among them")
    text = ", ".join(parts)
    papers = f"{count(corpus.n_documents, 'paper')}{' ' + text if text else ''}."
    return f"{papers} The model found {count(len(view.order), 'topic')}."


def _figures(view: Exploration) -> tuple[tuple[str, str], ...]:
    corpus = view.corpus
    rows = [
        (corpus.n_documents, "papers"),
        (len(view.order), "topics in use"),
        (corpus.n_authors, "authors"),
        (corpus.n_citations, "citations inside"),
        (corpus.vocabulary_size, "different words"),
        (corpus.n_tokens, "words in all"),
    ]
    return tuple((f"{number:,}", name) for number, name in rows if number)


def _short(
    view: Exploration, topics: tuple[Topic, ...], trends: Trends | None, flow: Flow | None
) -> tuple[str, ...]:
    """Say what matters most, in sentences."""
    out = []
    largest = [f"{quoted(topic.name)} ({percent(topic.share)})" for topic in topics[:3]]
    if len(topics) > 1:
        out.append(f"The largest topics are {', '.join(largest[:-1])} and {largest[-1]}.")
    elif topics:
        out.append(f"There is one topic in use: {quoted(topics[0].name)}.")
    if trends is not None and trends.growing:
        out.append(f"Growing most: {trends.growing[0]}.")
    if trends is not None and trends.fading:
        out.append(f"Losing most: {trends.fading[0]}.")
    if flow is not None:
        out.append(
            f"{percent(flow.kept)} of citations stay within their topic"
            + (f"; the largest flow between two topics: {flow.across[0]}" if flow.across else ".")
        )
    influence = view.cited_propensity
    if influence is not None and view.corpus.n_citations:
        best = view.paper_link(int(np.argmax(influence)))
        year = f", {best.year}" if best.year else ""
        out.append(
            f"The most influential paper is “{best.title}” ({people(best.authors)}{year}), "
            f"cited {best.cited:,} time{'' if best.cited == 1 else 's'} inside the corpus."
        )
    return tuple(out)


def _coverage(view: Exploration) -> tuple[Coverage, ...]:
    corpus = view.corpus
    total = max(corpus.n_documents, 1)
    rows = [
        ("a title", sum(1 for title in corpus.titles if title)),
        ("words", int((np.asarray(corpus.lengths) > 0).sum())),
        ("authors", int((np.diff(corpus.author_offsets) > 0).sum())),
        ("a year", int((view.years > 0).sum())),
        ("a label", int((np.asarray(corpus.categories) >= 0).sum())),
        ("citations to papers of the corpus", int((view.outgoing.counts > 0).sum())),
        ("citations from papers of the corpus", int((view.incoming.counts > 0).sum())),
    ]
    return tuple(Coverage(name, number, number / total) for name, number in rows)


def _years(view: Exploration) -> Markup | None:
    if not view.has_years:
        return None
    years = [str(year) for year in view.year_range]
    counts = [int(number) for number in view.papers_by_year]
    most = int(np.argmax(counts))
    return columns(
        years,
        counts,
        label=f"Papers by year, from {years[0]} to {years[-1]}; most in {years[most]}: "
        f"{counts[most]:,}.",
    )


def _most(names: list[str], values: np.ndarray) -> tuple[tuple[str, int], ...]:
    if not names:
        return ()
    counts = np.bincount(values[values >= 0], minlength=len(names))
    best = np.argsort(-counts, kind="stable")[:LABELS]
    return tuple((names[i], int(counts[i])) for i in best.tolist() if counts[i])


def _venues(view: Exploration) -> tuple[tuple[str, int], ...]:
    column: list[Any] | None = view.corpus.metadata.get("venue")
    counts: dict[str, int] = {}
    for venue in column or ():
        if venue:
            counts[str(venue)] = counts.get(str(venue), 0) + 1
    # one venue is nothing to compare, and full references instead of venues nearly all differ
    if len(counts) < 2 or 2 * len(counts) > sum(counts.values()):
        return ()
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(best[:LABELS])


def main_topics(view: Exploration) -> list[int]:
    """Topics that are the strongest of some paper, the largest first; all where none is."""
    return [k for k in view.order if view.papers_of_topic[k] > 0] or view.order


def _small(view: Exploration, main: list[int]) -> str:
    """Name the topics that have no card."""
    small = [k for k in view.order if k not in main]
    if not small:
        return ""
    share = percent(float(view.share[small].sum()), 1)
    names = "; ".join(quoted(view.topic_name(k)) for k in small)
    if len(small) == 1:
        return f"One more topic ({share}) is not the strongest of any paper: {names}."
    return f"{len(small)} more topics ({share} in all) are not the strongest of any paper: {names}."


def _topics(view: Exploration, course: Course | None, main: list[int]) -> tuple[Topic, ...]:
    frame = view.topics(words=WORDS)
    out = []
    for row in frame.iter_rows(named=True):
        k = row["topic"]
        if k not in main:
            continue
        growth = ""
        if course is not None:
            growth = f"{percent(course.early[k], 1)} → {percent(course.late[k], 1)}"
        coherent = row["coherence"]
        out.append(
            Topic(
                topic=k,
                name=row["name"],
                share=row["share"],
                papers=row["papers"],
                words=tuple(row["distinctive"]),
                coherence=None if coherent is None or np.isnan(coherent) else float(coherent),
                trend=() if course is None else tuple(course.smooth[:, k].tolist()),
                growth=growth,
            )
        )
    return tuple(out)


def _authors(view: Exploration) -> tuple[Author, ...]:
    if "authors" in view.missing:
        return ()
    return tuple(
        Author(
            name=row["name"],
            papers=row["papers"],
            influence=row["influence"],
            topics=tuple(
                Part(k, name, share)
                for k, name, share in zip(
                    row["topics"][:PARTS],
                    row["topic_names"][:PARTS],
                    row["weights"][:PARTS],
                    strict=True,
                )
            ),
        )
        for row in view.authors(top=AUTHORS).iter_rows(named=True)
    )


def _authors_note(view: Exploration) -> str:
    number = view.corpus.n_authors
    shown = min(AUTHORS, number)
    which = f"{shown} of {number:,} authors" if shown < number else f"All {number:,} authors"
    if view.author_influence is None:
        return f"{which}, those with the most papers first, and what they work on."
    return (
        f"{which}, the most influential first. Influence is the sum, over the papers they are "
        "first author of, of the propensity to be cited (1 is that of an average paper)."
    )


def _papers(view: Exploration, main: list[int]) -> tuple[tuple[TopicPapers, ...], str]:
    """List a few papers of each topic, those that it is known for first."""
    influence = view.cited_propensity
    venues: list[Any] | None = view.corpus.metadata.get("venue")
    groups = []
    number = PAPERS if len(main) <= MANY_TOPICS else FEWER_PAPERS
    for k in main[:MOST_TOPICS_WITH_PAPERS]:
        weight = np.asarray(view.doc_topic[:, k], np.float64)
        score = weight if influence is None else weight * influence
        # a famous paper is not listed under a topic that it hardly touches
        score = np.where(weight >= MEMBER, score, 0.0)
        papers = []
        for d in _best(score, number):
            link = view.paper_link(d)
            facts = [people(link.authors) if link.authors else "", str(link.year or "")]
            facts.append(str(venues[d] or "") if venues is not None else "")
            papers.append(
                Paper(
                    title=link.title,
                    about=", ".join(fact for fact in facts if fact),
                    influence=link.influence,
                    cited=link.cited if view.corpus.n_citations else None,
                )
            )
        if papers:
            groups.append(TopicPapers(k, view.topic_name(k), tuple(papers)))
    note = (
        "The papers of each topic by their propensity to be cited times how much of the topic they "
        "are. Influence is that propensity, 1 for an average paper; citations are those from "
        "papers of the corpus."
        if influence is not None
        else "The papers that are most of each topic."
    )
    left = len(view.order) - len(groups)
    if left > 0:
        note += f" {count(left, 'small topic')} without such papers {_are(left)} left out."
    return tuple(groups), note


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _best(score: np.ndarray, number: int) -> list[int]:
    number = min(number, len(score))
    if not number:
        return []
    top = np.argpartition(-score, number - 1)[:number]
    return [int(d) for d in top[np.lexsort((top, -score[top]))] if score[d] > 0]
