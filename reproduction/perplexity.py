"""The experiment `perplexity`: training and test papers, all models (tbl:perplexity_combined)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citeweave.evaluate.words import completion_words
from reproduction import measuring
from reproduction.base import Cell, Context, Experiment, Outcome, Table, difference, spread
from reproduction.paper_figures import MODELS, PERPLEXITY
from reproduction.settings import settings

if TYPE_CHECKING:
    from citeweave.corpus import Corpus
    from citeweave.experiments import ModelChoice
    from citeweave.experiments import Table as Values

__all__ = ["EXPERIMENT"]

_MODELS = ("bursty-hdp-lda", "np-atm", "cntm-text", "scntm")

_PROTOCOL = """\
Models are fitted to training papers; chains of {iterations}, the network switched
on at the half, all settings the paper's, topics capped as in the paper.
Sets are divided so: {folds}. Labels are never seen.

*Test*: the topics of a test paper are estimated from some of its words, and from its citations
of training papers where the model has citations, by the paper's method (500 samples); only its
other words are scored, so no word is used for both. Topics are estimated so: {completion}. Words
unknown to the training papers are not scored.

*Train, in sample*: p(w) of all words of training papers under the topics that were learned from
these very words; the paper says that its words are not used twice, but not how it divides
training papers, so this is what compares best. *Train, held out*: a tenth of each paper's words
taken out before fitting (to all papers), and scored afterwards.

p(w) = sum over topics of theta' times phi, as in eq:word_probability. Mean ± standard deviation
(over folds or splits; held-out words: over seeds)."""


def run(context: Context) -> Outcome:
    """Measure all models on all sets."""
    models = {name: _models(context, name) for name in context.datasets}
    folds = {name: measuring.folds_for(context, name) for name in context.datasets}
    divided = measuring.run(context, models, protocol="folds", folds=folds, seeds=context.seeds[:1])
    seeds = context.seeds[:1] if context.quick else context.seeds
    held = measuring.run(context, models, protocol="held-out-words", seeds=seeds)
    return Outcome(
        title="Perplexity",
        protocol=_PROTOCOL.format(
            iterations=context.describe_lengths(),
            folds=measuring.describe_folds(context),
            completion=_completion(context),
        ),
        tables=[_table(name, models[name], divided, held) for name in context.datasets],
        notes=_notes(context, divided),
        seeds=seeds,
        facts={"chain": [row._asdict() for row in divided.summary()]},
    )


def _models(context: Context, name: str) -> list[ModelChoice]:
    """Choose the models that a set has the data for."""
    corpus = context.corpus(name)
    keys = [key for key in _MODELS if not _lacking(key, corpus)]
    topics, iterations = settings(name).topics, context.chain_length(name)
    return [measuring.choice(key, topics=topics, iterations=iterations) for key in keys]


def _lacking(key: str, corpus: Corpus) -> str:
    """Tell what a model needs and a set has not."""
    if key == "np-atm" and corpus.n_authors == 0:
        return "authors"
    if key == "scntm" and corpus.n_citations == 0:
        return "citations"
    return ""


def _table(name: str, models: list[ModelChoice], divided: Values, held: Values) -> Table:
    """Set our figures of one set beside the paper's."""
    paper = PERPLEXITY.get(settings(name).paper_name or "", {})
    keys = {MODELS[key]: key for key in _MODELS}
    rows: list[list[Cell]] = []
    for model in models:
        mine = {"dataset": name, "model": model.name, "measure": "perplexity"}
        train = measuring.value_of(divided, **mine, where="train")
        test = measuring.value_of(divided, **mine, where="test")
        honest = measuring.value_of(held, **mine)
        row: list[Cell] = [model.name]
        if paper:
            printed = paper.get(keys[model.name])
            for ours, figure in (
                (train, printed.train if printed else None),
                (test, printed.test if printed else None),
            ):
                row += [ours, figure, difference(ours, figure)]
            row.insert(4, honest)
        else:
            row += [train, honest, test]
        rows.append(row)
    columns = ["model", "train, in sample", "train, held out", "test"]
    signed: tuple[str, ...] = ()
    if paper:
        signed = ("train, less paper", "test, less paper")
        columns = [
            *("model", "train, in sample", "paper, train", signed[0], "train, held out"),
            *("test", "paper, test", signed[1]),
        ]
    stands_for = settings(name).stands_for
    return Table(
        title=f"Perplexity of {measuring.shown(name)}",
        columns=columns,
        rows=rows,
        decimals=dict.fromkeys(columns[1:], 1),
        notes=[f"{name}: {stands_for}."] if stands_for else [],
        signed=signed,
    )


def _completion(context: Context) -> str:
    """Say which words of test papers are estimated from."""
    by_title = [n for n in context.datasets if completion_words(context.corpus(n)) == "title"]
    halved = [n for n in context.datasets if n not in by_title]
    parts = []
    if by_title:
        parts.append(f"{', '.join(by_title)}: from the words of the title, as in the paper")
    if halved:
        parts.append(
            f"{', '.join(halved)}: from a random half of its words, as there are no titles beside "
            "other words"
        )
    return "; ".join(parts)


def _notes(context: Context, values: Values) -> list[str]:
    notes = []
    for name in context.datasets:
        corpus = context.corpus(name)
        lacking = {key: _lacking(key, corpus) for key in _MODELS}
        notes += [
            f"{name} has no {what}: no {MODELS[key]}." for key, what in lacking.items() if what
        ]
        accepted = measuring.value_of(
            values, dataset=name, model=MODELS["scntm"], measure="acceptance"
        )
        if accepted is not None:
            notes.append(f"{name}: {100 * accepted.mean:.1f} % of citing topics were accepted.")
        notes += _paired(name, values)
    if "pubmed" in context.datasets:
        notes.append(
            "PubMed here has 500 words; the paper's had 4,209, another version that is not to be "
            "had: perplexities of vocabularies of different sizes do not compare."
        )
    if "m10" in context.datasets:
        notes.append(
            "M10 here has titles alone (and no authors); the paper's had abstracts: the figures "
            "do not compare."
        )
    return notes


def _paired(name: str, values: Values) -> list[str]:
    """Compare test perplexities fold by fold: models share folds, so these differ far less."""
    found = values.select(dataset=name, measure="perplexity", where="test")
    own = {row.fold: row.value for row in found.select(model=MODELS["scntm"])}
    lines = []
    for key in _MODELS:
        other = {row.fold: row.value for row in found.select(model=MODELS[key])}
        gaps = [own[fold] - other[fold] for fold in own if fold in other]
        mean = spread(gaps)
        if key == "scntm" or mean is None:
            continue
        lower = sum(gap < 0 for gap in gaps)
        width = "" if mean.sd is None else f" ± {mean.sd:.1f}"
        lines.append(
            f"{name}, test, fold by fold: SCNTM less {MODELS[key]} {mean.mean:+.1f}{width}; lower "
            f"in {lower} of {len(gaps)}."
        )
    return lines


EXPERIMENT = Experiment(
    name="perplexity",
    label="tbl:perplexity_combined",
    what="Perplexity of training and test papers, all models.",
    datasets=("cora", "citeseer", "pubmed", "m10", "ieee-vis", "hep-th"),
    quick_datasets=("demo",),
    run=run,
)
