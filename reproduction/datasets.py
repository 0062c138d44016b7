"""The experiment `datasets`: sizes of the data sets next to the paper's (tbl:datasets)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction import paper_figures
from reproduction.base import Cell, Context, Experiment, Outcome, Table, difference
from reproduction.settings import settings

if TYPE_CHECKING:
    from citeweave.corpus import Corpus

__all__ = ["EXPERIMENT"]

_FIGURES = {
    "documents": "papers",
    "citations": "citations",
    "authors": "authors",
    "vocabulary": "vocabulary",
    "words_per_document": "words per paper",
    "percent_repeat": "% repeat",
}

_PROTOCOL = """\
Each set is prepared from its public files with its own settings (`citeweave datasets` lists the
files; LINQS sets are used as they are; the others are tokenised, phrases are joined, and stop
words, common and rare words are removed, as in the paper). Citations are counted within the set,
without self-citations. *% repeat* is the mean share of a paper's distinct words that occur in it
more than once. A dash marks a figure that does not exist for a set: Cora, CS and PubMed have no
authors, and the files of Cora and CS do not say how often a word occurs."""

_OTHERS = (
    "ieee-vis (in place of AvS) and hep-th (in place of ML) are similar literatures, not copies of "
    "them; no figure on them is compared with one on the originals."
)


def run(context: Context) -> Outcome:
    """Describe the sets."""
    rows: list[list[Cell]] = []
    differing: list[list[Cell]] = []
    notes = []
    for name in context.datasets:
        context.say(f"{name}: counted")
        ours = figures(context.corpus(name))
        use = settings(name)
        rows.append([name, "ours", *ours.values()])
        printed = paper_figures.DATASETS.get(use.paper_name or "")
        if printed is not None:
            paper = printed._asdict()
            rows.append([name, f"paper ({use.paper_name})", *paper.values()])
            differing.append(
                [name, *(difference(ours[figure], paper[figure]) for figure in _FIGURES)]
            )
        if use.stands_for:
            notes.append(f"{name}: {use.stands_for}.")
        remark = _remark(name) if name not in context.corpora else ""
        if remark:
            notes.append(f"{name}: {remark}")
    decimals = {"words per paper": 1, "% repeat": 1}
    heads = list(_FIGURES.values())
    tables = [
        Table(
            title="Sizes of the data sets",
            columns=["set", "figures of", *heads],
            rows=rows,
            decimals=decimals,
            notes=notes,
        )
    ]
    if differing:
        tables.append(
            Table(
                title="Ours minus the paper's",
                columns=["set", *heads],
                rows=differing,
                decimals=dict.fromkeys(heads[:4], 0) | decimals,
                signed=heads,
            )
        )
    gone = [name for name in ("ML", "AvS") if name not in _used(context)]
    return Outcome(
        title="Data sets",
        protocol=_PROTOCOL,
        tables=[*tables, _gone_table(gone)],
    )


def figures(corpus: Corpus) -> dict[str, Cell]:
    """Count what the paper's table counts; None if there is nothing to count."""
    summary = corpus.summary()
    counted: dict[str, Cell] = {name: summary[name] for name in _FIGURES}
    return {name: value or None for name, value in counted.items()}


def _used(context: Context) -> set[str]:
    return {settings(name).paper_name or "" for name in context.datasets}


def _remark(name: str) -> str:
    from citeweave.datasets import DATASETS  # noqa: PLC0415 (readers are not needed before)

    return DATASETS[name].remark if name in DATASETS else ""


def _gone_table(names: list[str]) -> Table:
    """Show the paper's rows of sets that are no longer available."""
    return Table(
        title="The paper's data sets that are no longer available",
        columns=["set", *_FIGURES.values()],
        rows=[[name, *paper_figures.DATASETS[name]] for name in names],
        decimals={"words per paper": 1, "% repeat": 1},
        notes=[_OTHERS],
    )


EXPERIMENT = Experiment(
    name="datasets",
    label="tbl:datasets",
    what="Sizes of the data sets.",
    datasets=("cora", "citeseer", "pubmed", "m10", "ieee-vis", "hep-th"),
    quick_datasets=("cora", "citeseer", "m10"),
    run=run,
)
