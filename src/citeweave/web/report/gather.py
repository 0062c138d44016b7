"""Collect the contents of a report from an `Exploration`, with reasons for missing parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

import citeweave
from citeweave.errors import CiteweaveError
from citeweave.explore import graphs
from citeweave.explore.courses import Course, courses
from citeweave.model.read_out import labels_left_out
from citeweave.web import method
from citeweave.web.chains import chain_charts
from citeweave.web.charts import columns, for_all_screens
from citeweave.web.overview import coverage, figures, frequent, venues
from citeweave.web.pictures import map_json, network_svg
from citeweave.web.report.contents import AuthorRow, Contents, Figure, Part, Topic, TopicPapers
from citeweave.web.run_facts import RunFacts
from citeweave.web.tables import carried_tables, flow_table, trend_table
from citeweave.wording import count, people, percent, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citeweave.explore import Exploration
    from citeweave.web.tables import HeatTable, Trends

__all__ = ["gather"]

WORDS = 10
AUTHORS = 20
PAPERS = 5
FEWER_PAPERS = 3
"""Papers per topic if there are more than `MANY_TOPICS`."""
MANY_TOPICS = 12
NETWORK_SIZES = ((None, None), (24, 16), (20, 12), (16, 10))
"""Numbers of authors and topics to try; the first that keeps the picture narrow enough is used."""
WIDEST_NETWORK = 1300.0
"""In points. On a page 60 em wide, the text of a wider picture would be too small to read."""
MAP_TITLES = 1000
"""Papers on the map that have titles; including all of them would make the page too large."""
MOST_TOPICS_WITH_PAPERS = 40
PARTS = 3


def gather(
    view: Exploration, *, title: str | None = None, max_papers: int = 4000, tables: bool = True
) -> Contents:
    """Collect the contents of the report of a run.

    Parameters
    ----------
    view : Exploration
    title : str, optional
        Title of the page.
    max_papers : int
        Maximum number of papers in the embedded table.
    tables : bool
        Whether to embed tables.
    """
    run = RunFacts(view)
    missing = _missing(view)
    course = None
    if view.has_years:
        course = courses(view.years, view.doc_topic)
        if course is None:
            missing["trends"] = "Trends need papers from at least three different years."
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
    charts = {chart.name: chart for chart in chain_charts(run)}
    influence = view.cited_propensity is not None
    papers, papers_note = _papers(view, main)
    categories = frequent(view)
    named = venues(view)
    return Contents(
        title=title or _title(view),
        lede=_lede(view),
        made=f"Made with citeweave {citeweave.__version__}{run.when}",
        figures=figures(view),
        short=_short(view, topics, trends, flow),
        coverage=coverage(view),
        topics=topics,
        small_topics=_small(view, main),
        span=None if course is None else (str(course.years[0]), str(course.years[-1])),
        diagnostics=run.diagnostics,
        papers_by_year=_years(view),
        categories=categories,
        drawn=tuple(view.category_cards()),
        drawn_note=_drawn_note(view),
        venues=named if named != categories else (),
        trends=trends,
        authors=_authors(view),
        authors_note=_authors_note(view),
        by_influence=influence,
        papers=papers,
        papers_note=papers_note,
        flow=flow,
        network=network,
        papers_map=papers_map,
        likelihood=None if run.shown is None else charts.get(run.shown.name),
        chains=run.diagnostics.chains,
        method=tuple(run.method_text()),
        parameters=tuple(run.parameter_rows()),
        cite=method.CITATIONS,
        bibtex=method.BIBTEX,
        downloads=carried_tables(view, course, max_papers=max_papers) if tables else (),
        missing=missing,
    )


def _drawn_note(view: Exploration) -> str:
    """Explain how papers were assigned to categories, and how reliable that is."""
    shares, told, groups = view.category_probability, view.read_out, view.groups
    if shares is None or groups is None:
        return ""
    used = len(np.unique(shares.argmax(axis=1)))
    text = f"Every paper was assigned to one of {count(len(groups), 'category', 'categories')}"
    text += "." if used == len(groups) else f", of which {used} are in use."
    if told is None:
        return (
            f"{text} Probabilities are the shares of samples that chose the most probable category "
            "or, if there are several chains, say how far the chains agree on it."
        )
    found = labels_left_out(told, view.corpus.categories)
    left = count(found.labels, "label was", "labels were")
    return (
        f"{text} {count(len(told.left_out), 'paper')} kept the label given. To check how reliable "
        f"the others are, {left} held out: {percent(found.right)} of these were predicted "
        f"correctly, with a mean probability of {percent(found.sure)}."
    )


def _missing(view: Exploration) -> dict[str, str]:
    """Return the reasons why sections cannot be shown."""
    found = view.missing
    out = {}
    if "years" in found:
        out["years"] = out["trends"] = found["years"]
    if "authors" in found:
        out["authors"] = found["authors"]
    if view.flow_matrix is None:
        out["flow"] = found.get(
            "citations", "There are no citations between the papers of the corpus."
        )
    if "influence" in found:
        out["papers"] = f"{found['influence']} Papers are ranked by the share of the topic in them."
    elif "titles" in found:
        out["papers"] = found["titles"]
    return out


def _title(view: Exploration) -> str:
    """Return a default title."""
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


def _short(
    view: Exploration, topics: tuple[Topic, ...], trends: Trends | None, flow: HeatTable | None
) -> tuple[str, ...]:
    """Summarise the main findings in sentences."""
    out = []
    largest = [f"{quoted(topic.name)} ({percent(topic.share, 0)})" for topic in topics[:3]]
    if len(topics) > 1:
        out.append(f"The largest topics are {', '.join(largest[:-1])} and {largest[-1]}.")
    elif topics:
        out.append(f"One topic is in use: {quoted(topics[0].name)}.")
    if trends is not None and trends.growing:
        out.append(f"Fastest growing: {trends.growing[0]}.")
    if trends is not None and trends.fading:
        out.append(f"Declining most: {trends.fading[0]}.")
    if flow is not None:
        out.append(
            f"{percent(flow.kept, 0)} of citations stay within their topic"
            + (f"; the largest flow between two topics: {flow.notes[0]}" if flow.notes else ".")
        )
    influence = view.cited_propensity
    if influence is not None and view.corpus.n_citations:
        best = view.paper_link(int(np.argmax(influence)))
        year = f", {best.year}" if best.year else ""
        out.append(
            f"The most influential paper is “{best.title}” ({people(best.authors)}{year}), "
            f"cited {best.cited:,} time{'' if best.cited == 1 else 's'} within the corpus."
        )
    return tuple(out)


def _years(view: Exploration) -> Markup | None:
    if not view.has_years:
        return None
    counts = dict(zip(view.year_range, view.papers_by_year.tolist(), strict=True))
    most = max(counts, key=lambda year: counts[year])
    label = (
        f"Papers by year, from {min(counts)} to {max(counts)}; most in {most}: {counts[most]:,}."
    )
    return for_all_screens(
        columns(counts, label=label, width=940, height=170),
        columns(counts, label=label, width=330, height=150),
    )


def draw_network(view: Exploration) -> tuple[Figure | None, str]:
    """Draw the network of authors and topics; None and a reason if impossible."""
    try:
        for authors, topics in NETWORK_SIZES:
            graph = graphs.author_topics(view, authors=authors, topics=topics)
            places = graphs.layout(graph)
            if _width(places) <= WIDEST_NETWORK:
                break
    except CiteweaveError as error:
        return None, str(error)
    caption = (
        "Boxes are topics; larger topics have stronger colours. Ellipses are authors; their size "
        "grows with influence. The width of a line shows the weight of the topic for the author."
    )
    return Figure(network_svg(graph, places), " ".join((caption, *graph.notes))), ""


def _width(places: Mapping[str, tuple[float, float]]) -> float:
    across = [x for x, _ in places.values()]
    return max(across, default=0.0) - min(across, default=0.0)


def draw_map(view: Exploration) -> tuple[Figure | None, str]:
    """Prepare the map of papers, which a script draws; None and a reason if impossible."""
    total = view.corpus.n_documents
    if not total:
        return None, "There are no papers to draw."
    caption = (
        f"Each of the {count(total, 'dot')} is a paper; its size grows with its citations. Papers "
        "with the same main topic lie together, towards the other topics they are about."
    )
    if total > MAP_TITLES:
        caption += f" Point at one of the {MAP_TITLES:,} most cited papers to see its title."
    # "<" is escaped in it, so that no title can end the script element
    return Figure(Markup(map_json(view, titles=MAP_TITLES)), caption), ""  # noqa: S704


def main_topics(view: Exploration) -> list[int]:
    """Return topics that are the main topic of a paper, largest first; all if none is."""
    return [k for k in view.order if view.papers_of_topic[k] > 0] or view.order


def _small(view: Exploration, main: list[int]) -> str:
    """List the topics that have no card."""
    small = [k for k in view.order if k not in main]
    if not small:
        return ""
    share = percent(float(view.share[small].sum()))
    names = "; ".join(quoted(view.topic_name(k)) for k in small)
    if len(small) == 1:
        return f"One more topic ({share}) is not the main topic of any paper: {names}."
    return (
        f"{len(small)} more topics ({share} in total) are not the main topic of any paper: {names}."
    )


def _topics(view: Exploration, course: Course | None, main: list[int]) -> tuple[Topic, ...]:
    frame = view.topics(words=WORDS)
    out = []
    for row in frame.iter_rows(named=True):
        k = row["topic"]
        if k not in main:
            continue
        growth = ""
        if course is not None:
            growth = f"{percent(course.early[k])} → {percent(course.late[k])}"
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


def _authors(view: Exploration) -> tuple[AuthorRow, ...]:
    if "authors" in view.missing:
        return ()
    return tuple(
        AuthorRow(
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
        return f"{which}, ordered by number of papers, with their topics."
    papers = "the papers on which they are first author"
    if view.contribution is not None:
        papers = "their papers, weighted by their shares"
    return (
        f"{which}, most influential first. An author's influence is the sum over {papers}; the "
        "influence of a paper (λ⁻, mean 1) measures how much more it is cited than its topics "
        "explain."
    )


def _papers(view: Exploration, main: list[int]) -> tuple[tuple[TopicPapers, ...], str]:
    """List a few papers of each topic, best known first."""
    influence = view.cited_propensity
    venue_of: Sequence[Any] = view.corpus.metadata.get("venue") or [""] * view.corpus.n_documents
    groups = []
    number = PAPERS if len(main) <= MANY_TOPICS else FEWER_PAPERS
    for k in main[:MOST_TOPICS_WITH_PAPERS]:
        # do not list a famous paper under a topic that it barely touches
        chosen = view.papers(topic=k, top=number)["paper"].to_list()
        if chosen:
            papers = tuple((view.paper_link(d), str(venue_of[d] or "")) for d in chosen)
            groups.append(TopicPapers(k, view.topic_name(k), papers))
    note = (
        "The papers of each topic, ranked by their influence times their share of the topic. "
        "Influence (λ⁻) measures how much more a paper is cited than its topics explain; 1 is "
        "average. Only citations from papers in the corpus are counted."
        if influence is not None
        else "The papers with the largest share of each topic."
    )
    left = len(view.order) - len(groups)
    if left > 0:
        note += f" {count(left, 'small topic')} without such papers {_are(left)} not shown."
    return tuple(groups), note


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
