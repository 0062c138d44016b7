"""The experiment `network`: a snapshot of the author-topics network (fig:ML_graph_cut)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from reproduction.base import Cell, Context, Experiment, Figure, Outcome, Table
from reproduction.settings import settings

if TYPE_CHECKING:
    from citeweave.explore import Exploration

__all__ = ["EXPERIMENT"]

_PROTOCOL = """\
SCNTM (eta = 0), fitted by {chains}. The
model is that of the experiment `topics`. As in the paper, rectangles are topics with their top
words, pinker for larger topics; ellipses are authors, whose size grows with their influence
(the sum of lambda- over the papers that they are first author of); a line is as thick as the
weight of the topic for the author (nu). Weak links are dropped. The paper shows a part of the
network of ML, which is no longer available."""


def run(context: Context) -> Outcome:
    """Fit a model to each set that names authors and draw its network."""
    from citeweave.explore import Exploration  # noqa: PLC0415 (loads the compiler)

    figures, notes, tables = [], [], []
    for name in context.datasets:
        if not context.corpus(name).n_authors:
            notes.append(f"{name} names no authors and is left out.")
            continue
        figure, said = _figure(name, Exploration(context.fitted(name)))
        figures.append(figure)
        tables.append(_strongest(name, figure))
        notes += [f"{name}: {note}" for note in said]
    return Outcome(
        title="Author-topics network",
        protocol=_PROTOCOL.format(chains=context.describe_chains()),
        tables=tables,
        figures=figures,
        notes=notes,
        seeds=[context.seed],
    )


def _figure(name: str, view: Exploration) -> tuple[Figure, list[str]]:
    from citeweave.explore.graphs import author_topics, layout  # noqa: PLC0415

    graph = author_topics(view)
    places = layout(graph, engine="own")  # the same picture on every machine
    graph = graph.placed(places)
    rows: list[list[Cell]] = []
    for edge in graph.edges:
        author, topic = graph.node(edge.source), graph.node(edge.target)
        rows.append([author.text, view.topic_name(topic.key), edge.weight, author.value])
    stands = settings(name).stands_for
    figure = Figure(
        name=name,
        caption=f"Authors and topics of {name}" + (f" ({stands})." if stands else "."),
        drawing="graph",
        data={"graph": asdict(graph)},
        table=Table(
            title=f"Links of the picture of {name}",
            columns=["author", "topic", "weight", "influence"],
            rows=rows,
        ),
    )
    return figure, list(graph.notes)


def _strongest(name: str, figure: Figure, number: int = 10) -> Table:
    """List the strongest links of the most influential authors, for readers without the picture."""
    best = sorted(figure.table.rows, key=lambda row: (-float(row[3]), -float(row[2])))  # type: ignore[arg-type]
    return Table(
        title=f"Strongest links of the most influential authors of {name}",
        columns=figure.table.columns,
        rows=best[:number],
        decimals={"weight": 2, "influence": 1},
    )


EXPERIMENT = Experiment(
    name="network",
    label="fig:ML_graph_cut",
    what="A snapshot of the author-topics network.",
    datasets=("ieee-vis", "hep-th"),
    quick_datasets=("ieee-vis",),
    run=run,
)
