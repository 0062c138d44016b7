"""Tables of the explorer and the report: heat tables of topics, and downloadable tables."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from citeweave.errors import CiteweaveError
from citeweave.explore import Exploration, to_csv
from citeweave.explore.contributors import KINDS
from citeweave.explore.courses import Course
from citeweave.wording import percent, quoted

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "FRAMES",
    "CarriedTable",
    "HeatCell",
    "HeatRow",
    "HeatTable",
    "Trends",
    "all_tables",
    "carried_tables",
    "flow_table",
    "trend_table",
    "with_mark",
]

MOST_TREND_ROWS = 30
MOST_FLOW_TOPICS = 20
ACROSS = 5
CHANGED = 3
LEAST_CHANGE = 0.005
"""Half a percent of all papers; smaller changes are not reported."""
CLEAR = 3.0
"""Minimum change in standard errors; among many topics, some change by two by chance."""


class HeatCell(NamedTuple):
    """A cell of a heat table: its text, its strength from 0 to 1, and its tooltip."""

    text: str
    strength: float
    title: str
    own: bool = False


class HeatRow(NamedTuple):
    """A row of a heat table for one topic; `last` is the text of an additional last cell."""

    topic: int
    name: str
    cells: tuple[HeatCell, ...]
    last: str = ""


@dataclass(frozen=True)
class HeatTable:
    """Shares by topic.

    Attributes
    ----------
    columns : tuple of (str, str)
        Heading and tooltip of each column.
    rows : tuple of HeatRow
    notes : tuple of str
        Sentences about the most notable cells.
    left_out : int
        Number of topics that are not shown.
    kept : float
        For citation tables: the share of citations that stay within their topic.
    """

    columns: tuple[tuple[str, str], ...]
    rows: tuple[HeatRow, ...]
    notes: tuple[str, ...] = ()
    left_out: int = 0
    kept: float = 0.0


@dataclass(frozen=True)
class Trends:
    """Topic shares over time, and the topics that grew and declined most."""

    table: HeatTable
    growing: tuple[str, ...]
    fading: tuple[str, ...]


def trend_table(view: Exploration, course: Course, topics: Sequence[int]) -> Trends:
    """Arrange topic shares by period as a heat table; topics that peaked early come first."""
    shown = sorted(topics[:MOST_TREND_ROWS], key=lambda k: (course.middle[k], k))
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
                HeatCell(text, share / top, f"{view.topic_name(k)}, {name}: {percent(share)}")
            )
        change = percent(course.late[k] - course.early[k], signed=True)
        rows.append(HeatRow(k, view.topic_name(k), tuple(cells), change.partition("\u00a0")[0]))
    change = course.late - course.early
    least = np.maximum(LEAST_CHANGE, CLEAR * course.error)
    order = sorted(topics, key=lambda k: -change[k])
    return Trends(
        HeatTable(
            columns=tuple((span, "") for span in course.spans),
            rows=tuple(rows),
            left_out=max(len(view.order) - len(shown), 0),
        ),
        growing=tuple(_named(view, course, k) for k in order[:CHANGED] if change[k] > least[k]),
        fading=tuple(
            _named(view, course, k) for k in order[::-1][:CHANGED] if change[k] < -least[k]
        ),
    )


def _named(view: Exploration, course: Course, k: int) -> str:
    return f"{quoted(view.topic_name(k))} ({percent(course.early[k])} → {percent(course.late[k])})"


def flow_table(view: Exploration, topics: Sequence[int]) -> HeatTable | None:
    """Arrange citations between topics as a heat table; None if there are none."""
    matrix = view.flow_matrix
    if matrix is None or not matrix.sum() > 0:
        return None
    flow = np.asarray(matrix, np.float64)
    shown = topics[:MOST_FLOW_TOPICS]
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
                    f"{names[k]} → {names[j]}: {percent(share[k, j])}, "
                    f"about {flow[k, j]:,.0f} citations",
                    own=k == j,
                )
                for j in shown
            ),
        )
        for k in shown
    ]
    pairs = [(k, j) for k in topics for j in topics if k != j]
    pairs.sort(key=lambda pair: -flow[pair])
    across = tuple(
        f"{quoted(names[k])} → {quoted(names[j])}, {percent(share[k, j], 0)} of the citing topic's "
        f"citations (about {flow[k, j]:,.0f})."
        for k, j in pairs[:ACROSS]
        if flow[k, j] >= 1.0
    )
    return HeatTable(
        columns=tuple((str(k), names[k]) for k in shown),
        rows=tuple(rows),
        notes=across,
        kept=float(np.trace(flow) / flow.sum()),
        left_out=max(len(view.order) - len(shown), 0),
    )


def _flow(view: Exploration) -> "pl.DataFrame":
    if view.flow_matrix is None:
        view.require("citations")
    return view.flow()  # type: ignore[no-any-return]


def _contributors(kind: str, view: Exploration) -> "pl.DataFrame":
    return view.contributors(kind)  # type: ignore[no-any-return]


def _network(kind: str, view: Exploration) -> "pl.DataFrame":
    return view.literature.collaborations(kind)  # type: ignore[no-any-return]


FRAMES: dict[str, Callable[[Exploration], Any]] = {
    "topics": lambda view: view.topics(words=20),
    "authors": lambda view: view.authors(),
    "papers": lambda view: view.papers(),
    "citations": lambda view: view.citations(),
    "categories": lambda view: view.categories(),
    "flow": _flow,
    "levels": lambda view: view.levels(),
    **{kind: partial(_contributors, kind) for kind in KINDS if kind != "authors"},
    **{f"{kind}-network": partial(_network, kind) for kind in KINDS if kind != "venues"},
}
"""The downloadable tables, by name."""


def all_tables(view: Exploration) -> "dict[str, pl.DataFrame]":
    """Create all downloadable tables, omitting those that are empty or that the run lacks."""
    tables = {}
    for name, make in FRAMES.items():
        try:
            frame = make(view)
        except CiteweaveError:
            continue  # a run without citations, years, institutions, ...
        if len(frame):
            tables[name] = frame
    return tables


def with_mark(frame: "pl.DataFrame") -> bytes:
    """Write a table as CSV with a byte order mark, which spreadsheets need to detect UTF-8."""
    return b"\xef\xbb\xbf" + to_csv(frame).encode()


class CarriedTable(NamedTuple):
    """A table embedded in the report: file name, title, data URL, size in bytes, note."""

    file: str
    name: str
    address: str
    size: int
    note: str = ""


MOST_AUTHORS = 2000

_COLUMNS = {
    "topics": ("topic", "name", "share", "papers", "coherence", "growth", "words", "distinctive"),
    "authors": (
        *("name", "papers", "first_papers", "influence", "topic_names", "weights", "lows"),
        "highs",
    ),
    "papers": (
        *("id", "title", "year", "authors", "topic", "topic_name", "weight", "cited", "cites"),
        *("cited_propensity", "cite_propensity"),
    ),
}
"""Columns of the embedded tables; the explorer offers all columns."""


def carried_tables(
    view: Exploration, course: Course | None, *, max_papers: int
) -> tuple[CarriedTable, ...]:
    """Create the available tables of topics, authors, papers, trends and citation flow.

    Parameters
    ----------
    view : Exploration
    course : Course, optional
        Topic shares over time.
    max_papers : int
        Maximum number of papers; the most influential ones are included.
    """
    import polars as pl  # noqa: PLC0415 (slow import)

    corpus = view.corpus
    out = [_carried("topics", FRAMES["topics"](view))]
    if "authors" not in view.missing:
        note = ""
        if corpus.n_authors > MOST_AUTHORS:
            note = (
                f"The table of authors contains the first {MOST_AUTHORS:,} of {corpus.n_authors:,}."
            )
        out.append(_carried("authors", view.authors(top=MOST_AUTHORS), note))
    if max_papers > 0:
        note = ""
        if corpus.n_documents > max_papers:
            note = (
                f"The table of papers contains the {max_papers:,} most influential of "
                f"{corpus.n_documents:,}, to keep this page small; `citeweave papers RUN --csv "
                "FILE` writes them all."
            )
        out.append(_carried("papers", view.papers(top=max_papers), note))
    names = _unique([view.topic_name(k) for k in view.order])
    if course is not None:
        shares = course.by_span[:, view.order].T.tolist()
        columns = {"years": list(course.spans), **dict(zip(names, shares, strict=True))}
        out.append(_carried("trends", pl.DataFrame(columns).fill_nan(None)))
    if view.flow_matrix is not None:
        flow = np.asarray(view.flow_matrix)[np.ix_(view.order, view.order)].T.tolist()
        columns = {"citing topic": names, **dict(zip(names, flow, strict=True))}
        out.append(_carried("flow", pl.DataFrame(columns), name="Citation flow"))
    return tuple(out)


def _unique(names: list[str]) -> list[str]:
    """Make column names unique by numbering names that occur more than once."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


def _carried(table: str, frame: "pl.DataFrame", note: str = "", name: str = "") -> CarriedTable:
    wanted = _COLUMNS.get(table, tuple(frame.columns))
    chosen = frame.select([column for column in wanted if column in frame.columns])
    filled = [column for column in chosen.columns if chosen[column].null_count() < len(chosen)]
    content = with_mark(chosen.select(filled or chosen.columns))
    address = f"data:text/csv;charset=utf-8;base64,{base64.b64encode(content).decode()}"
    return CarriedTable(f"{table}.csv", name or table.capitalize(), address, len(content), note)
