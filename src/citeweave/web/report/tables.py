"""The tables that a page carries inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citeweave.explore.frames import flatten_lists
from citeweave.web.report.downloads import csv_download

if TYPE_CHECKING:
    from citeweave.explore import Exploration
    from citeweave.web.report.contents import Download
    from citeweave.web.report.years import Course

__all__ = ["carried_tables"]

MOST_AUTHORS = 2000

_TOPICS = ("topic", "name", "share", "papers", "coherence", "growth", "words", "distinctive")
_AUTHORS = (
    "name",
    "papers",
    "first_papers",
    "influence",
    "topic_names",
    "weights",
    "lows",
    "highs",
)
_PAPERS = (
    "id",
    "title",
    "year",
    "authors",
    "topic",
    "topic_name",
    "weight",
    "cited",
    "cites",
    "cited_propensity",
    "cite_propensity",
)


def carried_tables(
    view: Exploration, course: Course | None, *, flow: bool, max_papers: int
) -> tuple[Download, ...]:
    """Make the tables of topics, authors, papers, trends and citation flow, as far as they are.

    Parameters
    ----------
    view : Exploration
    course : Course, optional
        The courses of topics over years.
    flow : bool
        Whether there is a citation flow.
    max_papers : int
        Most papers; those of most influence are taken.
    """
    out = [_from_frame("topics.csv", "Topics", view.topics(words=20), _TOPICS)]
    corpus = view.corpus
    if "authors" not in view.missing:
        note = ""
        if corpus.n_authors > MOST_AUTHORS:
            note = f"The table of authors has the first {MOST_AUTHORS:,} of {corpus.n_authors:,}."
        frame = view.authors(top=MOST_AUTHORS)
        out.append(_from_frame("authors.csv", "Authors", frame, _AUTHORS, note))
    if max_papers > 0:
        note = ""
        if corpus.n_documents > max_papers:
            note = (
                f"The table of papers has {max_papers:,} of {corpus.n_documents:,}, the most "
                "influential first, to keep this page small; `citeweave papers RUN --csv` writes "
                "them all."
            )
        frame = view.papers(top=max_papers)
        out.append(_from_frame("papers.csv", "Papers", frame, _PAPERS, note))
    if course is not None:
        names = [view.topic_name(k) for k in view.order]
        rows = [
            [span, *(None if share != share else share for share in row.tolist())]  # noqa: PLR0124 (nan)
            for span, row in zip(course.spans, course.by_span[:, view.order], strict=True)
        ]
        out.append(csv_download("trends.csv", "Trends", ["years", *names], rows))
    matrix = view.flow_matrix
    if flow and matrix is not None:
        names = [view.topic_name(k) for k in view.order]
        rows = [
            [name, *(float(matrix[k, j]) for j in view.order)]
            for k, name in zip(view.order, names, strict=True)
        ]
        out.append(csv_download("flow.csv", "Citation flow", ["citing topic", *names], rows))
    return tuple(out)


def _from_frame(
    file: str, name: str, frame: object, wanted: tuple[str, ...], note: str = ""
) -> Download:
    import polars as pl  # noqa: PLC0415 (loaded already by whoever made the frame)

    assert isinstance(frame, pl.DataFrame)  # noqa: S101 (for the type checker)
    chosen = flatten_lists(frame.select([column for column in wanted if column in frame.columns]))
    filled = [column for column in chosen.columns if chosen[column].null_count() < len(chosen)]
    chosen = chosen.select(filled or chosen.columns)
    return csv_download(file, name, chosen.columns, chosen.rows(), note=note)
