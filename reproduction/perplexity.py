"""The experiment `perplexity`: training and test papers, all models (tbl:perplexity_combined)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citeweave.evaluate.words import completion_words
from reproduction import measuring
from reproduction.base import Cell, Context, Experiment, Outcome, Spread, Table, difference
from reproduction.comparing import Comparison, compare, comparisons_table
from reproduction.context import chosen_models
from reproduction.earlier import without_mark
from reproduction.paper_figures import MODELS, PERPLEXITY
from reproduction.settings import settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citeweave.corpus import Corpus
    from citeweave.experiments import ModelChoice
    from citeweave.experiments import Table as Values

__all__ = ["EXPERIMENT"]

_MODELS = ("bursty-hdp-lda", "np-atm", "cntm-text", "scntm")
_OTHER_ETAS = tuple(key for key, eta in measuring.ETAS.items() if eta)
_KEYS = (*_MODELS, *_OTHER_ETAS)
"""Values of ``--models``."""

_PROTOCOL = """\
Models are fitted to training papers by {chains}. The maximum number of topics is that of the paper.
Sets are divided as follows: {folds}. Only models with eta > 0 use labels, and those of test papers
are hidden.

*Test*: the topics of a test paper are estimated from some of its words, and from its citations of
training papers if the model has citations, by the paper's method (500 samples); only its other
words are scored, so no word is used for both. Topics are estimated as follows: {completion}. Words
unknown to the training papers are not scored. *Test, Gibbs*: the same fits, words and citations,
but topics are estimated by Gibbs sampling of the test paper's own counts (500 samples after 50
sweeps; docs/how-to/fold-in.md). The paper's figures come from its own method: compare them with
*test*.

*Train, in sample*: p(w) of all words of training papers under topics learned from the same words;
the paper says that its words are not used twice, but not how it divides training papers, so this is
the closest comparison. *Train, held out*: a tenth of each paper's words, held out before fitting
(to all papers) and scored afterwards.

p(w) = sum over topics of theta' times phi, as in eq:word_probability. Mean ± standard deviation
(over folds or splits; held-out words: over seeds)."""


_GIBBS = "test, Gibbs"
_LABELS = ("labels hidden", "labels seen", "labels hidden, Gibbs", "labels seen, Gibbs")
_FOLD_IN = (
    "The paper's fold-in draws the topics of all words independently, from nu of the paper's group "
    "and phi, so the words of a paper do not inform each other about its topics. A hidden group is "
    "inferred from all words and citations together, which partly makes up for this. Therefore eta "
    "> 0 gains over eta = 0, where papers without authors share one group, and hidden labels can "
    "do better than seen ones, which fix the group whatever the words say. A Gibbs sampler has "
    "neither flaw; with it, seen labels are better than hidden ones (docs/how-to/fold-in.md)."
)


def run(context: Context) -> Outcome:
    """Measure all models on all sets."""
    models = {name: _models(context, name) for name in context.datasets}
    with_labels = {name: _label_models(context, name) for name in context.datasets}
    every = {name: [*models[name], *with_labels[name]] for name in context.datasets}
    divided = measuring.run_folds(context, every)
    seeds = context.seeds[:1] if context.quick else context.seeds
    held = measuring.run(context, models, protocol="held-out-words", seeds=seeds)
    return Outcome(
        title="Perplexity",
        protocol=_PROTOCOL.format(
            chains=context.describe_chains(),
            folds=measuring.describe_folds(context),
            completion=_completion(context),
        ),
        tables=[
            *(_table(name, models[name], divided, held) for name in context.datasets),
            *(_tests(context, divided, method) for method in measuring.METHODS),
            *_etas(context, with_labels, divided),
            measuring.chains_table([divided, held], every),
        ],
        notes=_notes(context),
        seeds=seeds,
        facts={"chain": [row._asdict() for row in divided.summary()]},
    )


def _models(context: Context, name: str) -> list[ModelChoice]:
    """Choose the models for which a set has the data."""
    corpus = context.corpus(name)
    wanted = chosen_models(context, _KEYS)
    keys = [key for key in _MODELS if key in wanted and not _lacking(key, corpus)]
    topics = settings(name).topics
    return [measuring.choice(key, topics=topics, **context.chain(name)) for key in keys]


def _label_models(context: Context, name: str) -> list[ModelChoice]:
    """Choose the models that group papers by labels, which are shared with `supervision`."""
    corpus = context.corpus(name)
    if corpus.n_categories < 2 or corpus.n_citations == 0:
        return []
    wanted = [key for key in chosen_models(context, _KEYS) if key in _OTHER_ETAS]
    # without authors eta = 10 is the same model as eta = infinity
    keys = [key for key in wanted if corpus.n_authors or key != "scntm-eta-10"]
    topics = settings(name).topics
    return [measuring.choice(key, topics=topics, **context.chain(name)) for key in keys]


def _lacking(key: str, corpus: Corpus) -> str:
    """Return what a model needs but a data set lacks."""
    if key == "np-atm" and corpus.n_authors == 0:
        return "authors"
    if key == "scntm" and corpus.n_citations == 0:
        return "citations"
    return ""


def _table(name: str, models: list[ModelChoice], divided: Values, held: Values) -> Table:
    """Show our figures of one data set next to the paper's."""
    # perplexities of a set that differs from the paper's cannot be compared
    own = "" if settings(name).stands_for else settings(name).paper_name or ""
    paper = PERPLEXITY.get(own, {})
    keys = {MODELS[key]: key for key in _MODELS}
    rows: list[list[Cell]] = []
    for model in models:
        mine = {"dataset": name, "model": model.name, "measure": "perplexity"}
        train = measuring.value_of(divided, **mine, where="train")
        test, gibbs = (
            measuring.value_of(measuring.folded_in(divided, method=method, **mine))
            for method in measuring.METHODS
        )
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
        rows.append([*row, gibbs])
    columns = ["model", "train, in sample", "train, held out", "test", _GIBBS]
    signed: tuple[str, ...] = ()
    if paper:
        signed = ("train minus paper", "test minus paper")
        columns = [
            *("model", "train, in sample", "paper, train", signed[0], "train, held out"),
            *("test", "paper, test", signed[1], _GIBBS),
        ]
    stands_for = settings(name).stands_for
    return Table(
        title=_title(name),
        columns=columns,
        rows=rows,
        decimals=dict.fromkeys(columns[1:], 1),
        notes=[f"{name}: {stands_for}."] if stands_for else [],
        signed=signed,
    )


def _title(name: str) -> str:
    return f"Perplexity of {measuring.shown(name)}"


def _completion(context: Context) -> str:
    """Describe the words of test papers from which topics are estimated."""
    by_title = [n for n in context.datasets if completion_words(context.corpus(n)) == "title"]
    halved = [n for n in context.datasets if n not in by_title]
    parts = []
    if by_title:
        parts.append(f"{', '.join(by_title)}: from the words of the title, as in the paper")
    if halved:
        parts.append(
            f"{', '.join(halved)}: from a random half of its words, because there are no titles "
            "apart from other words"
        )
    return "; ".join(parts)


def _notes(context: Context) -> list[str]:
    notes = []
    for name in context.datasets:
        corpus = context.corpus(name)
        lacking = {key: _lacking(key, corpus) for key in _MODELS}
        notes += [
            f"{name} has no {what}: no {MODELS[key]}." for key, what in lacking.items() if what
        ]
    if "pubmed" in context.datasets:
        notes.append(
            "PubMed here has 500 words; the paper's had 4,209, in a version that is not "
            "available: perplexities with vocabularies of different sizes cannot be compared."
        )
    if "m10" in context.datasets:
        notes.append(
            "M10 here has only titles (and no authors); the paper's had abstracts, so the figures "
            "cannot be compared."
        )
    return notes


_AIMS = {"cora": 624.0, "citeseer": 1410.0}
"""Upper bound for the test perplexity of SCNTM: its own before chains ran until steady."""


def _conclude(context: Context, tables: Sequence[Table]) -> list[str]:
    """Return a note on how far test perplexity is below or above its aim."""
    if context.quick:
        return []
    shown = {table.title: table for table in tables}
    notes = []
    for name in context.datasets:
        found = {
            way: _against(name, shown[_title(name)], column)
            for way, column in (("the paper's fold-in", "test"), ("Gibbs", _GIBBS))
            if _title(name) in shown
        }
        told = [f"by {way} {text}" for way, text in found.items() if text]
        if told:
            notes.append(f"SCNTM on {name} should be lower in test perplexity: {'; '.join(told)}.")
    return notes


def _against(name: str, table: Table, column: str) -> str:
    """Compare SCNTM in a table with its aim; empty if it has no figure."""
    cells = {
        without_mark(str(row[0])): row[list(table.columns).index(column)] for row in table.rows
    }
    figures = {model: cell.mean for model, cell in cells.items() if isinstance(cell, Spread)}
    own = figures.pop(MODELS["scntm"], None)
    if own is None:
        return ""
    aims = {}
    if name in _AIMS:
        before = "its own before" + (", by the paper's fold-in" if column == _GIBBS else "")
        aims[f"{_AIMS[name]:,.0f}, {before}"] = _AIMS[name]
    if figures:
        lowest = min(figures, key=figures.__getitem__)
        aims[f"{lowest}, the lowest of the others"] = figures[lowest]
    return ", ".join(
        f"{'reached' if own < aim else 'missed'} by {abs(own - aim):.1f} ({what})"
        for what, aim in aims.items()
    )


def _test_values(
    values: Values, name: str, key: str, labels: str = "hidden", method: str = "paper"
) -> Values:
    """Select test perplexities of a model."""
    return measuring.folded_in(
        values,
        labels=labels,
        method=method,
        dataset=name,
        model=MODELS[key],
        measure="perplexity",
    )


def _tests(context: Context, values: Values, method: str) -> Table:
    """Compare SCNTM with the other models on the same folds, as the paper does."""
    rows: list[tuple[str, str, str, Comparison]] = []
    for name in context.datasets:
        own = _test_values(values, name, "scntm", method=method)
        for key in _MODELS[:-1]:
            found = compare(own, _test_values(values, name, key, method=method))
            if found is not None:
                rows.append((name, MODELS["scntm"], MODELS[key], found))
    return comparisons_table(
        f"Test perplexity of SCNTM minus that of other models{measuring.by(method)}",
        rows,
        notes=["The paper finds SCNTM lower at 5 % on ML, M10 and AvS."],
    )


def _etas(context: Context, models: dict[str, list[ModelChoice]], values: Values) -> list[Table]:
    """Show test perplexity with papers grouped by labels, which the paper only mentions."""
    keys = {MODELS[key]: key for key in _OTHER_ETAS}
    rows: dict[str, list[tuple[str, str, str, Comparison]]] = {m: [] for m in measuring.METHODS}
    figures: list[list[Cell]] = []
    for name in context.datasets:
        own = {m: _test_values(values, name, "scntm", method=m) for m in measuring.METHODS}
        if models[name]:
            cells = [part for m in own.values() for part in (measuring.value_of(m), None)]
            figures.append([name, MODELS["scntm"], *cells])
        for model in models[name]:
            cells = []
            for method, less in own.items():
                hidden, seen = (
                    _test_values(values, name, keys[model.name], labels, method)
                    for labels in ("hidden", "seen")
                )
                cells += [measuring.value_of(hidden), measuring.value_of(seen)]
                found = compare(hidden, less)
                if found is not None:
                    rows[method].append((name, model.name, MODELS["scntm"], found))
            figures.append([name, model.name, *cells])
    if not figures:
        return []
    return [
        Table(
            title="Test perplexity at other eta",
            columns=["set", "model", *_LABELS],
            rows=figures,
            decimals=dict.fromkeys(_LABELS, 1),
            notes=[_FOLD_IN],
        ),
        *(
            comparisons_table(
                f"Test perplexity at other eta minus that of eta = 0{measuring.by(method)}",
                compared,
                notes=["The paper says, without figures, that other eta are significantly worse."],
            )
            for method, compared in rows.items()
            if compared
        ),
    ]


EXPERIMENT = Experiment(
    name="perplexity",
    label="tbl:perplexity_combined",
    what="Perplexity of training and test papers, all models.",
    datasets=("cora", "citeseer", "pubmed", "m10", "ieee-vis", "hep-th"),
    quick_datasets=("demo",),
    run=run,
    conclude=_conclude,
)
