"""Read an `Exploration` into the contents of a report: what is shown, what is not and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

import citeweave
from citeweave.errors import CiteweaveError
from citeweave.explore import graphs
from citeweave.explore.courses import Course, courses
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
"""Papers a topic where there are more than `MANY_TOPICS`."""
MANY_TOPICS = 12
NETWORK_SIZES = ((None, None), (24, 16), (20, 12), (16, 10))
"""Authors and topics of the picture: the first choice that stays narrow enough is taken."""
WIDEST_NETWORK = 1300.0
"""Points; on a page of 60 em, letters of a wider picture are too small to read."""
MAP_TITLES = 1000
"""Papers of the map that carry their titles: those of all would make the page heavy."""
MOST_TOPICS_WITH_PAPERS = 40
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
    charts = {chart.name: chart for chart in chain_charts(run)}
    influence = view.cited_propensity is not None
    papers, papers_note = _papers(view, main)
    categories = frequent(view)
    named = venues(view)
    return Contents(
        title=title or _title(view),
        lede=_lede(view),
        made=f"Made by citeweave {citeweave.__version__}{run.when}",
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
    """Say how papers came to their categories, and how far they can be trusted."""
    shares, told, groups = view.category_probability, view.read_out, view.groups
    if shares is None or groups is None:
        return ""
    used = len(np.unique(shares.argmax(axis=1)))
    text = f"Every paper was drawn into one of {count(len(groups), 'category', 'categories')}"
    text += "." if used == len(groups) else f", of which {used} are in use."
    if told is None:
        return f"{text} How sure: the share of the kept samples, for the likeliest category."
    given = np.asarray(view.corpus.categories)
    label = np.unique(given[given >= 0], return_inverse=True)[1]
    seen = np.isfinite(told.left_out[:, 0])
    right = (told.left_out[seen].argmax(axis=1) == label[seen]).mean()
    sure = float(told.left_out[seen].max(axis=1).mean())
    left = count(int(seen.sum()), "label was", "labels were")
    return (
        f"{text} {count(len(label), 'paper')} kept the label given. To see how far the others can "
        f"be trusted, {left} left out: {percent(right)} of these were told rightly, at a mean "
        f"probability of {percent(sure)}."
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


def _short(
    view: Exploration, topics: tuple[Topic, ...], trends: Trends | None, flow: HeatTable | None
) -> tuple[str, ...]:
    """Say what matters most, in sentences."""
    out = []
    largest = [f"{quoted(topic.name)} ({percent(topic.share, 0)})" for topic in topics[:3]]
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
            f"{percent(flow.kept, 0)} of citations stay within their topic"
            + (f"; the largest flow between two topics: {flow.notes[0]}" if flow.notes else ".")
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
    """Draw authors and topics; the second value says why where it cannot be."""
    try:
        for authors, topics in NETWORK_SIZES:
            graph = graphs.author_topics(view, authors=authors, topics=topics)
            places = graphs.layout(graph)
            if _width(places) <= WIDEST_NETWORK:
                break
    except CiteweaveError as error:
        return None, str(error)
    caption = (
        "Topics are boxes, the stronger in colour the larger; authors are ellipses, the larger the "
        "more influential; a line is as thick as the author’s share in the topic."
    )
    return Figure(network_svg(graph, places), " ".join((caption, *graph.notes))), ""


def _width(places: Mapping[str, tuple[float, float]]) -> float:
    across = [x for x, _ in places.values()]
    return max(across, default=0.0) - min(across, default=0.0)


def draw_map(view: Exploration) -> tuple[Figure | None, str]:
    """Write the map of all papers, which a script draws; the second value is as above."""
    total = view.corpus.n_documents
    if not total:
        return None, "There is no paper to draw."
    caption = (
        f"Each of the {count(total, 'dot')} is a paper; its size grows with its citations. Papers "
        "of a topic stand together, nearest to the other topics they have a part in."
    )
    if total > MAP_TITLES:
        caption += f" The {MAP_TITLES:,} most cited are named when pointed at."
    # "<" is escaped there, so that no title can end the block
    return Figure(Markup(map_json(view, titles=MAP_TITLES)), caption), ""  # noqa: S704


def main_topics(view: Exploration) -> list[int]:
    """Topics that are the strongest of some paper, the largest first; all where none is."""
    return [k for k in view.order if view.papers_of_topic[k] > 0] or view.order


def _small(view: Exploration, main: list[int]) -> str:
    """Name the topics that have no card."""
    small = [k for k in view.order if k not in main]
    if not small:
        return ""
    share = percent(float(view.share[small].sum()))
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
        return f"{which}, those with the most papers first, and what they work on."
    papers = "the papers they are first author of"
    if view.contribution is not None:
        papers = "their papers and by their shares in them"
    return (
        f"{which}, the most influential first. Influence is the sum, over {papers}, of how much "
        "more each is cited than its topics explain (λ⁻, mean 1)."
    )


def _papers(view: Exploration, main: list[int]) -> tuple[tuple[TopicPapers, ...], str]:
    """List a few papers of each topic, those that it is known for first."""
    influence = view.cited_propensity
    venue_of: Sequence[Any] = view.corpus.metadata.get("venue") or [""] * view.corpus.n_documents
    groups = []
    number = PAPERS if len(main) <= MANY_TOPICS else FEWER_PAPERS
    for k in main[:MOST_TOPICS_WITH_PAPERS]:
        # a famous paper is not listed under a topic that it hardly touches
        chosen = view.papers(topic=k, top=number)["paper"].to_list()
        if chosen:
            papers = tuple((view.paper_link(d), str(venue_of[d] or "")) for d in chosen)
            groups.append(TopicPapers(k, view.topic_name(k), papers))
    note = (
        "The papers of each topic by their influence times how much of the topic they are. "
        "Influence (λ⁻) is how much more a paper is cited than its topics explain, 1 for an "
        "average paper; citations are those from papers of the corpus."
        if influence is not None
        else "The papers that are most of each topic."
    )
    left = len(view.order) - len(groups)
    if left > 0:
        note += f" {count(left, 'small topic')} without such papers {_are(left)} left out."
    return tuple(groups), note


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
