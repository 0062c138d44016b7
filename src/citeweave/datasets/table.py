"""The paper's tbl:datasets, recomputed from the files, next to the printed figures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from citeweave.datasets.loading import load_with_report
from citeweave.datasets.places import find
from citeweave.datasets.registry import DATASETS, Dataset, PaperFigures, find_dataset

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from citeweave.preparing import Imported

__all__ = ["COLUMNS", "TableRow", "dataset_table", "figure", "is_here", "markdown_table"]

COLUMNS = (
    "documents",
    "citations",
    "authors",
    "vocabulary",
    "words_per_document",
    "percent_repeat",
)
_HEADS = ("documents", "citations", "authors", "vocabulary", "words/doc", "% repeat")


@dataclass(frozen=True, kw_only=True)
class TableRow:
    """One data set: figures computed from its files, and those printed in the paper.

    Attributes
    ----------
    name : str
        The data set.
    documents, citations, authors, vocabulary : int
        Counts of the corpus.
    words_per_document, percent_repeat : float
        Mean number of words, and mean share of repeated words in a document.
    records_read : int
        Number of records in the files.
    references : int
        Number of citations in the files, including those to other works and self-citations.
    paper : PaperFigures or None
        Figures printed in the paper.
    remark : str
        Why they differ.

    Examples
    --------
    >>> from citeweave.datasets import TableRow
    >>> row = TableRow(
    ...     name="mine",
    ...     documents=80,
    ...     citations=300,
    ...     authors=16,
    ...     vocabulary=150,
    ...     words_per_document=31.4,
    ...     percent_repeat=20.0,
    ...     records_read=80,
    ...     references=310,
    ...     paper=None,
    ...     remark="",
    ... )
    >>> row.as_dict()["documents"]
    80
    """

    name: str
    documents: int
    citations: int
    authors: int
    vocabulary: int
    words_per_document: float
    percent_repeat: float
    records_read: int
    references: int
    paper: PaperFigures | None
    remark: str

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON-serialisable values.

        Examples
        --------
        >>> from citeweave.datasets import TableRow
        >>> counts = dict.fromkeys(("documents", "authors", "vocabulary", "records_read"), 80)
        >>> counts |= {"citations": 300, "references": 310}
        >>> means = {"words_per_document": 31.4, "percent_repeat": 20.0}
        >>> TableRow(name="mine", **counts, **means, paper=None, remark="").as_dict()["citations"]
        300
        """
        return asdict(self)


def dataset_table(
    names: Sequence[str] | None = None, *, started: Callable[[str], None] | None = None
) -> list[TableRow]:
    """Compute the table for data sets on this computer.

    Parameters
    ----------
    names : sequence of str, or None
        Data sets to include (default: all on this computer); missing ones are downloaded.
    started : callable or None
        Called with each name before the data set is opened.

    Examples
    --------
    >>> from citeweave.datasets import dataset_table
    >>> row = dataset_table(["cora"])[0]
    >>> row.name, row.documents
    ('cora', 2708)
    """
    if names is None:
        chosen = [dataset for dataset in DATASETS.values() if is_here(dataset)]
    else:
        chosen = [find_dataset(name) for name in names]
    rows = []
    for dataset in chosen:
        if started is not None:
            started(dataset.name)
        rows.append(_row(dataset, load_with_report(dataset.name)))
    return rows


def is_here(dataset: Dataset) -> bool:
    """Return whether a data set, with those it needs, is on this computer."""
    return all(find(other) for other in (dataset, *map(find_dataset, dataset.needs)))


def _row(dataset: Dataset, made: Imported) -> TableRow:
    summary, report = made.corpus.summary(), made.report.as_dict()
    return TableRow(
        name=dataset.name,
        documents=summary["documents"],
        citations=summary["citations"],
        authors=summary["authors"],
        vocabulary=summary["vocabulary"],
        words_per_document=round(summary["words_per_document"], 1),
        percent_repeat=round(summary["percent_repeat"], 1),
        records_read=report["records_read"],
        references=report["references"],
        paper=dataset.paper,
        remark=dataset.remark,
    )


def markdown_table(rows: Sequence[TableRow]) -> str:
    """Write the table in Markdown, with the paper's figures in a row below each data set."""
    lines = [
        f"| data set | {' | '.join(_HEADS)} | records | references |",
        f"|---|{'--:|' * (len(_HEADS) + 2)}",
    ]
    for row in rows:
        values = (figure(getattr(row, name)) for name in COLUMNS)
        ends = f"{row.records_read:,} | {row.references:,}"
        lines.append(f"| **{row.name}** | {' | '.join(values)} | {ends} |")
        if row.paper is not None:
            values = (figure(getattr(row.paper, name)) for name in COLUMNS)
            lines.append(f"| in the paper | {' | '.join(values)} | | |")
    lines.append("")
    lines += [f"- **{row.name}**: {row.remark}" for row in rows if row.remark]
    return "\n".join(lines) + "\n"


def figure(value: float | None) -> str:
    """Format a figure; a dash if there is none, as in the paper.

    Examples
    --------
    >>> figure(2708), figure(18.2), figure(0), figure(None)
    ('2,708', '18.2', '–', '–')
    """
    return "–" if not value else f"{value:,}"
