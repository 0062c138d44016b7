"""The experiment `authors`: major authors and their main research area (tbl:author_interest)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reproduction import paper_figures
from reproduction.base import Cell, Context, Experiment, Outcome, Table
from reproduction.settings import settings

if TYPE_CHECKING:
    from citeweave.explore import Exploration

__all__ = ["EXPERIMENT"]

AUTHORS = 12
WORDS = 5

_PROTOCOL = """\
SCNTM (eta = 0), fitted by {chains}. The
model is that of the experiment `topics`. An author's main area is the largest topic of nu, the
author's topic vector, with its weight and the five most probable words of the topic. The table
lists the authors with the largest influence, the sum of lambda- (propensity to be cited, mean 1)
over the papers of which they are first author, with at most two per main topic, so that several
areas appear. The paper does not say how it chose its authors. Topics are named automatically by
distinctive words; the paper's names were given by hand."""


def run(context: Context) -> Outcome:
    """Fit a model to each set that names authors and list some of them."""
    from citeweave.explore import Exploration  # noqa: PLC0415 (loads the compiler)

    tables, notes = [], []
    for name in context.datasets:
        if not context.corpus(name).n_authors:
            notes.append(f"{name} names no authors and is left out.")
            continue
        tables.append(_authors(name, Exploration(context.fitted(name))))
    return Outcome(
        title="Authors",
        protocol=_PROTOCOL.format(chains=context.describe_chains()),
        tables=[*tables, _printed()],
        notes=notes,
        seeds=[context.seed],
    )


def choose(view: Exploration, *, number: int = AUTHORS, each: int = 2) -> list[int]:
    """Choose the most influential authors, at most `each` of the same main topic."""
    topics, _ = view.author_topics
    influence = view.author_influence
    weight = view.first_papers if influence is None else influence
    main = topics.argmax(axis=1)
    chosen: list[int] = []
    taken: dict[int, int] = {}
    for author in np.argsort(-np.asarray(weight), kind="stable").tolist():
        topic = int(main[author])
        if view.first_papers[author] and taken.get(topic, 0) < each:
            taken[topic] = taken.get(topic, 0) + 1
            chosen.append(author)
        if len(chosen) == number:
            break
    return chosen


def _authors(name: str, view: Exploration) -> Table:
    topics, _ = view.author_topics
    words = view.top_words(WORDS)
    influence = view.author_influence
    rows: list[list[Cell]] = []
    for author in choose(view):
        k = int(topics[author].argmax())
        rows.append(
            [
                view.corpus.author_names[author],
                int(view.first_papers[author]),
                None if influence is None else float(influence[author]),
                view.topic_name(k),
                100 * float(topics[author, k]),
                ", ".join(words[k]),
            ]
        )
    stands = settings(name).stands_for
    return Table(
        title=f"Major authors of {name}" + (f" ({stands})" if stands else ""),
        columns=["author", "papers", "influence", "main topic", "weight, %", "top words"],
        rows=rows,
        decimals={"influence": 1, "weight, %": 0},
    )


def _printed() -> Table:
    return Table(
        title="As printed in the paper (M10 with authors and abstracts is no longer available)",
        columns=["author", "topic", "top words"],
        rows=[[row.author, row.topic, ", ".join(row.words)] for row in paper_figures.AUTHORS],
    )


EXPERIMENT = Experiment(
    name="authors",
    label="tbl:author_interest",
    what="Major authors and their main research area.",
    datasets=("ieee-vis", "hep-th"),
    quick_datasets=("ieee-vis",),
    run=run,
)
