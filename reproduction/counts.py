"""The experiment `counts`: the document-topic hierarchy of one paper, count by count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from citeweave.errors import ParameterError
from reproduction import paper_figures
from reproduction.base import Cell, Context, Experiment, Outcome, Table

if TYPE_CHECKING:
    from citeweave.corpus import Corpus
    from citeweave.explore.inspect import Inspection

__all__ = ["EXPERIMENT", "nearest_document"]

_COLUMNS = (
    "topic",
    "c(theta), words",
    "t(theta), tables",
    "h, citations",
    "c(theta') = t + h",
    "t(theta'), tables",
    "share of theta', %",
)

_PROTOCOL = """\
SCNTM (eta = 0), fitted by {chains}. Read
from the last state of the chain, as in the paper's worked example
(subsec:modelling_topic_hierarchy): words are customers c of theta, their tables t are customers
of theta', and citations, made and received, are customers of theta' directly (h). So the text, of
which there is more, does not outweigh the citations. {document} Shares are means over samples,
counts are of one sample."""

_CHOSEN = (
    "Shown is the paper whose numbers of words and citations are nearest to those of the paper's "
    "example (`--document N` shows another)."
)


def run(context: Context) -> Outcome:
    """Fit a model to each set and read the counts of one document."""
    from citeweave.explore import Exploration  # noqa: PLC0415 (loads the compiler)
    from citeweave.explore.inspect import inspect_document  # noqa: PLC0415

    tables, notes, facts = [], [], {}
    for name in context.datasets:
        corpus = context.corpus(name)
        if not corpus.n_citations:
            notes.append(f"{name} has no citations and is left out.")
            continue
        document = _document(context, name, corpus)
        view = Exploration(context.fitted(name))
        found = inspect_document(view, document)
        tables.append(_table(name, found))
        facts[name] = found.to_dict()
    chosen = f"Shown is document {context.document}, counted from 0."
    return Outcome(
        title="Counts of a document",
        protocol=_PROTOCOL.format(
            chains=context.describe_chains(),
            document=_CHOSEN if context.document is None else chosen,
        ),
        tables=[*tables, _printed()],
        notes=notes,
        seeds=[context.seed],
        facts=facts,
    )


def nearest_document(corpus: Corpus) -> int:
    """Find the document whose words and citations are nearest, in ratio, to the paper's example."""
    example = paper_figures.COUNTS
    citations = np.bincount(corpus.citations.ravel(), minlength=corpus.n_documents)
    far = np.abs(np.log((corpus.lengths + 0.5) / example.words))
    far += np.abs(np.log((citations + 0.5) / example.citations))
    return int(far.argmin())


def _document(context: Context, name: str, corpus: Corpus) -> int:
    if context.document is None:
        return nearest_document(corpus)
    if not 0 <= context.document < corpus.n_documents:
        raise ParameterError(
            f"The document of the experiment 'counts' must be from 0 to {corpus.n_documents - 1}, "
            f"the last position in {name}. Got {context.document} instead."
        )
    return context.document


def _table(name: str, found: Inspection) -> Table:
    rows: list[list[Cell]] = []
    for row in found.rows:
        low, high = row.levels
        rows.append(
            [
                f"{row.topic} {row.name}",
                low.customers,
                low.tables,
                row.cites + row.cited,
                high.customers,
                high.tables,
                100 * row.share,
            ]
        )
    if len(found.rows) > 1:
        lows, highs = zip(*(row.levels for row in found.rows), strict=True)
        rows.append(
            [
                "all",
                sum(level.customers for level in lows),
                sum(level.tables for level in lows),
                found.cites + found.cited,
                sum(level.customers for level in highs),
                sum(level.tables for level in highs),
                None,
            ]
        )
    return Table(
        title=f"Document {found.document:,} of {name}: {found.words:,} words, "
        f"{found.cites + found.cited:,} citations",
        columns=_COLUMNS,
        rows=rows,
        decimals={"share of theta', %": 1},
        notes=[f"“{found.title}”", *found.text],
    )


def _printed() -> Table:
    """Show the paper's example, which has two topics and gives no tables of theta'."""
    example = paper_figures.COUNTS
    rows: list[list[Cell]] = [
        [
            f"topic {place + 1}",
            example.word_customers[place],
            example.word_tables[place],
            example.citation_counts[place],
            example.customers[place],
            None,
            None,
        ]
        for place in range(2)
    ]
    return Table(
        title=f"The paper's example: document {example.document} of ML, {example.words} words, "
        f"{example.citations} citations",
        columns=_COLUMNS,
        rows=rows,
    )


EXPERIMENT = Experiment(
    name="counts",
    label="subsec:modelling_topic_hierarchy",
    what="Customer and table counts of a document's topics.",
    datasets=("ieee-vis", "hep-th"),
    quick_datasets=("ieee-vis",),
    run=run,
)
