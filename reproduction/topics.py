"""The experiment `topics`: topics and their top words (tbl:topic_combined)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reproduction import paper_figures
from reproduction.base import Cell, Context, Experiment, Outcome, Table
from reproduction.settings import settings

if TYPE_CHECKING:
    from citeweave.explore import Exploration

__all__ = ["EXPERIMENT"]

WORDS = 5
"""Number of top words of a topic, as in the paper."""

_PROTOCOL = """\
SCNTM (eta = 0), fitted by {chains}. The maximum number of topics is that of the paper, or of the
set's settings. Words are the most probable of phi, estimated as the mean over samples. Topics are
named automatically by their most distinctive words; the paper's names were given by hand. *Share*
is the mean topic share over papers, *papers* those whose largest topic it is, *NPMI* the coherence
of its ten top words on the corpus itself."""


def run(context: Context) -> Outcome:
    """Fit a model to each set with readable words and list its topics."""
    from citeweave.explore import Exploration  # noqa: PLC0415 (loads the compiler)

    tables, notes = [], []
    for name in context.datasets:
        if not settings(name).readable:
            notes.append(f"{name} has numbers in place of words, as in the paper, and is left out.")
            continue
        view = Exploration(context.fitted(name))
        tables.append(_topics(name, view))
        printed = paper_figures.TOPICS.get(settings(name).paper_name or "", ())
        if printed:
            tables.append(_matched(name, view))
    return Outcome(
        title="Topics",
        protocol=_PROTOCOL.format(chains=context.describe_chains()),
        tables=[*tables, _printed()],
        notes=notes,
        seeds=[context.seed],
    )


def _topics(name: str, view: Exploration) -> Table:
    words = view.top_words(WORDS)
    rows: list[list[Cell]] = [
        [
            view.topic_name(k),
            ", ".join(words[k]),
            100 * float(view.share[k]),
            int(view.papers_of_topic[k]),
            float(view.coherence[k]),
        ]
        for k in view.order
    ]
    stands = settings(name).stands_for
    return Table(
        title=f"Topics of {name}" + (f" ({stands})" if stands else ""),
        columns=["topic", "top words", "share, %", "papers", "NPMI"],
        rows=rows,
        decimals={"share, %": 1, "NPMI": 2},
    )


def _matched(name: str, view: Exploration) -> Table:
    """Find our topic for each topic that the paper prints of the same set."""
    paper_name = settings(name).paper_name or ""
    place = {word: number for number, word in enumerate(view.vocabulary)}
    words = view.top_words(WORDS)
    rows: list[list[Cell]] = []
    for topic in paper_figures.TOPICS[paper_name]:
        known = [place[word] for word in topic.words if word in place]
        row: list[Cell] = [topic.label, ", ".join(topic.words), len(known)]
        if known:
            # the topic in use that gives these words the highest total probability
            order = np.array(view.order)
            scores = np.asarray(view.topic_word, float)[order][:, known].sum(axis=1)
            k = int(order[scores.argmax()])
            row += [", ".join(words[k]), 100 * float(scores.max())]
        else:
            row += [None, None]
        rows.append(row)
    return Table(
        title=f"The paper's topics of {paper_name} and the nearest of ours on {name}",
        columns=["paper's label", "paper's words", "known here", "our words", "their share, %"],
        rows=rows,
        decimals={"their share, %": 1},
        notes=[
            (
                "The nearest is the topic that gives the paper's words the highest probability, "
                "'their share'. 'Known here': how many of the five are in our vocabulary."
            ),
        ],
    )


def _printed() -> Table:
    rows = [
        [name, topic.label, ", ".join(topic.words)]
        for name, topics in paper_figures.TOPICS.items()
        for topic in topics
    ]
    return Table(
        title="As printed in the paper (its data sets ML, M10 with abstracts and AvS are no longer "
        "available)",
        columns=["set", "label", "top words"],
        rows=rows,
    )


EXPERIMENT = Experiment(
    name="topics",
    label="tbl:topic_combined",
    what="Topics with their top words.",
    datasets=("ieee-vis", "hep-th", "m10"),
    quick_datasets=("ieee-vis",),
    run=run,
)
