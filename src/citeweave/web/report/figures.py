"""The larger pictures and tables of a report: network, trends, flow, chains."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from citeweave.errors import CiteweaveError
from citeweave.explore import graphs
from citeweave.web.charts import topic_class
from citeweave.web.report.charts import Series, lines
from citeweave.web.report.contents import Flow, HeatCell, HeatRow, Network, Trends
from citeweave.web.report.words import percent, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citeweave.explore import Exploration
    from citeweave.web.report.run_facts import RunFacts
    from citeweave.web.report.years import Course

__all__ = ["draw_likelihood", "draw_map", "draw_network", "flow_table", "trend_table"]

NETWORK_SIZES = ((None, None), (24, 16), (20, 12), (16, 10))
"""Authors and topics of the picture: the first choice that stays narrow enough is taken."""
WIDEST_NETWORK = 1300.0
"""Points; on a page of 60 em, letters of a wider picture are too small to read."""
MAP_PAPERS = 1000
MAP_LINKS = 300
"""Papers and citations of the map: each takes some hundred bytes."""
MOST_TREND_ROWS = 30
MOST_FLOW_TOPICS = 20
ACROSS = 5
CHANGED = 3
LEAST_CHANGE = 0.005
"""Half a per cent of all papers: smaller changes are not named."""
CLEAR = 3.0
"""Standard errors from which on a change is named; of many topics some change by two by chance."""


def draw_network(view: Exploration) -> tuple[Network | None, str]:
    """Draw authors and topics; the second value says why where it cannot be."""
    try:
        for authors, topics in NETWORK_SIZES:
            graph = graphs.author_topics(view, authors=authors, topics=topics)
            places = graphs.layout(graph)
            drawn = graphs.to_svg(graph, places, standalone=False)
            if _width(places) <= WIDEST_NETWORK:
                break
    except CiteweaveError as error:
        return None, str(error)
    caption = (
        "Topics are boxes, the stronger in colour the larger; authors are ellipses, the larger the "
        "more influential; a line is as thick as the author’s share in the topic."
    )
    notes = " ".join(graph.notes)
    # the writer escapes all text that comes from the corpus
    return Network(Markup(drawn), f"{caption} {notes}".strip()), ""  # noqa: S704


def draw_map(view: Exploration) -> tuple[Network | None, str]:
    """Draw the most influential papers as dots, those of a topic together."""
    try:
        graph = graphs.paper_map(view, papers=MAP_PAPERS, links=MAP_LINKS)
        drawn = graphs.to_svg(graph, graphs.layout(graph), standalone=False)
    except CiteweaveError as error:
        return None, str(error)
    # the network has boxes of the same ids; and a topic has one colour throughout the page
    drawn = re.sub(r'(<g class="cw-node[^">]*") id="[a-z]+-\d+"', r"\1", drawn)
    drawn = re.sub(
        r'<g class="(cw-node cw-paper)"([^>]*? data-group="(\d+)")',
        lambda found: f'<g class="{found[1]} {topic_class(int(found[3]))}"{found[2]}',
        drawn,
    )
    caption = (
        "Each dot is a paper, the larger the more it is cited; papers of a topic stand together, "
        "and lines are citations."
    )
    notes = " ".join(graph.notes)
    return Network(Markup(drawn), f"{caption} {notes}".strip()), ""  # noqa: S704 (escaped there)


def _width(places: Mapping[str, tuple[float, float]]) -> float:
    across = [x for x, _ in places.values()]
    return max(across, default=0.0) - min(across, default=0.0)


def trend_table(view: Exploration, course: Course, main: list[int]) -> Trends:
    """Lay shares by years out as a heat table, topics that had their time early first."""
    shown = sorted(main[:MOST_TREND_ROWS], key=lambda k: (course.middle[k], k))
    top = float(np.nanmax(course.by_span[:, shown])) or 1.0
    rows = []
    for k in shown:
        cells = []
        for name, share in zip(course.spans, course.by_span[:, k].tolist(), strict=True):
            if np.isnan(share):
                cells.append(HeatCell("", 0.0, f"{name}: no papers"))
                continue
            text = f"{100 * share:.0f}" if share >= 0.095 else f"{100 * share:.1f}"
            cells.append(
                HeatCell(text, share / top, f"{view.topic_name(k)}, {name}: {100 * share:.1f} %")
            )
        rows.append(HeatRow(k, view.topic_name(k), tuple(cells), _points(course, k)))
    change = course.late - course.early
    least = np.maximum(LEAST_CHANGE, CLEAR * course.error)
    order = sorted(main, key=lambda k: -change[k])
    return Trends(
        spans=course.spans,
        rows=tuple(rows),
        growing=tuple(_named(view, course, k) for k in order[:CHANGED] if change[k] > least[k]),
        fading=tuple(
            _named(view, course, k) for k in order[::-1][:CHANGED] if change[k] < -least[k]
        ),
        left_out=max(len(view.order) - len(shown), 0),
    )


def _points(course: Course, k: int) -> str:
    change = 100 * (course.late[k] - course.early[k])
    return f"{change:+.1f}".replace("-", "−")


def _named(view: Exploration, course: Course, k: int) -> str:
    return (
        f"{quoted(view.topic_name(k))} ({percent(course.early[k], 1)} → "
        f"{percent(course.late[k], 1)})"
    )


def flow_table(view: Exploration, main: list[int]) -> Flow | None:
    """Lay citations from topic to topic out as a heat table; None where there are none."""
    matrix = view.flow_matrix
    if matrix is None or not matrix.sum() > 0:
        return None
    flow = np.asarray(matrix, np.float64)
    shown = main[:MOST_FLOW_TOPICS]
    given = np.maximum(flow.sum(axis=1), np.finfo(float).tiny)
    share = flow / given[:, None]
    top = float(share[np.ix_(shown, shown)].max()) or 1.0
    names = {k: view.topic_name(k) for k in view.order}
    rows = [
        HeatRow(
            k,
            names[k],
            tuple(
                HeatCell(
                    f"{100 * share[k, j]:.0f}" if share[k, j] >= 0.005 else "",
                    float(share[k, j] / top),
                    f"{names[k]} → {names[j]}: {100 * share[k, j]:.1f} %, "
                    f"about {flow[k, j]:,.0f} citations",
                    own=k == j,
                )
                for j in shown
            ),
        )
        for k in shown
    ]
    pairs = [(k, j) for k in main for j in main if k != j]
    pairs.sort(key=lambda pair: -flow[pair])
    across = tuple(
        f"{quoted(names[k])} → {quoted(names[j])}, {percent(share[k, j])} of what the first gives "
        f"(about {flow[k, j]:,.0f} citations)."
        for k, j in pairs[:ACROSS]
        if flow[k, j] >= 1.0
    )
    return Flow(
        columns=tuple((str(k), names[k]) for k in shown),
        rows=tuple(rows),
        across=across,
        kept=float(np.trace(flow) / flow.sum()),
        left_out=max(len(view.order) - len(shown), 0),
    )


def draw_likelihood(run: RunFacts) -> tuple[Markup | None, tuple[str, ...]]:
    """Draw the log likelihood of each chain, with the start of the network and burn-in marked."""
    if not run.sampled:
        return None, ()
    trace = np.asarray(run.traces["log_likelihood"], np.float64)
    reached = np.flatnonzero(np.isfinite(trace).any(axis=0))
    if not len(reached):
        return None, ()
    trace = trace[:, : reached[-1] + 1]
    names = tuple(f"chain {number + 1}" for number in range(len(trace)))
    rules = []
    network, burn_in = run.plan["network_from"], run.plan["burn_in"]
    if network and network < trace.shape[1]:
        rules.append((int(network) + 1, "citations count from here"))
    if burn_in and burn_in < trace.shape[1] and burn_in != network:
        rules.append((int(burn_in) + 1, "samples kept from here"))
    # the climb of the first iterations would press all else into a line
    early = trace[:, min(10, trace.shape[1] - 1) :]
    drawn = lines(
        [Series(name, row) for name, row in zip(names, trace, strict=True)],
        label=f"Log likelihood of {len(names)} chain{'s' if len(names) > 1 else ''} over "
        f"{trace.shape[1]:,} iterations.",
        rules=rules,
        lowest=float(np.nanmin(early)),
    )
    return drawn, names
