"""The experiment `clustering`: dominant topics against known classes (tbl:clustering)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from citeweave.errors import CorpusError
from citeweave.experiments import ModelChoice, is_installed
from citeweave.experiments import Table as Values
from reproduction import measuring
from reproduction.base import Cell, Context, Experiment, Outcome, Table, difference
from reproduction.context import chosen_models
from reproduction.paper_figures import (
    AGC_NMI,
    CLUSTERING,
    MODELS,
    PMTLM_NMI,
    THESIS_CLUSTERING,
)
from reproduction.settings import PAPER, SETTLED, settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from citeweave.corpus import Corpus
    from reproduction.paper_figures import PurityNMI

__all__ = ["EXPERIMENT"]

CHAINS = 5
QUICK_CHAINS = 2
FEW_SEEDS = 2
"""Number of runs of models that take longest: a consensus of topics, and scikit-learn's LDA."""
CATEGORY_TOPICS = 20
CATEGORY_ITERATIONS = 300
"""Of chains with latent categories, which stay close to the clusters that they begin with."""

_PROTOCOL = """\
Clusters are dominant topics (or latent categories, see below); purity, NMI (over the mean of the
entropies, the paper's formula), adjusted Rand (ARI) and adjusted mutual information (AMI) compare
them with the classes. All models are unsupervised (eta = 0): labels are never seen. No setting of
SCNTM was chosen by them, except how chains with categories begin
(docs/understand/categories.md); the refinement of PMTLM's labels was adopted after NMI on Cora and
CS had been seen (docs/understand/pmtlm.md). Models of ours are fitted by {chains_run}.

*Whole corpus*: fitted to all papers and citations, as many topics as there are classes. Mean ±
standard deviation over {seeds} seeds, each a single chain. {variant} *Categories*: each paper is
drawn into one of as many categories as there are classes (`SCNTM(categories=C)`,
docs/how-to/categories.md), {categories}; these, not dominant topics, are the clusters.
*Likeliest* is the chain that explains words and citations best (topics summed out); *consensus* is
one model combined from {chains} chains (latent classes over the chains' categories or, with {few}
seeds, topics). The other models are fitted with their defaults, taking the best of several starts
by their own criterion (LDA of scikit-learn with {few} seeds); PMTLM-DC also starts from clusters of
words smoothed over citations, from which its search ends higher (docs/understand/pmtlm.md). Louvain
chooses its own number of clusters.

*Test papers*: the paper's protocol. Sets are divided as follows: {folds}. Test papers are folded in
with all of their words and their citations of training papers; with the paper's maximum number of
topics; mean ± standard deviation over folds or splits."""

_ARTEFACT = (
    "The NMI that the paper prints for test papers is an artefact of its computation (on Cora, "
    "purity 0.39 together with NMI 0.63 is impossible): it is shown but not compared. Lim's thesis "
    "has figures of the same models on the whole corpus; compare with these."
)

_MEASURES = {
    "purity": "purity",
    "nmi": "NMI",
    "adjusted_rand": "ARI",
    "adjusted_mutual_information": "AMI",
}

_TEXTS = ("bursty-hdp-lda", "cntm-text")
_FOLDED = ("bursty-hdp-lda", "np-atm", "cntm-text", "scntm")
_PEERS = {
    "pmtlm": "PMTLM",
    "pmtlm-dc": "PMTLM-DC",
    "louvain": "Louvain (citations only)",
    "spectral": "spectral (citations only)",
    "agc": "AGC (words smoothed over citations)",
    "k-means": "k-means on tf-idf (words only)",
    "tomotopy-lda": "LDA of tomotopy (words only)",
    "sklearn-lda": "LDA of scikit-learn (words only)",
}

_WHOLE = ("single", "started", "consensus", "categories", "categories-consensus")
"""Ways of fitting SCNTM to a whole corpus."""

_KINDS = tuple(dict.fromkeys((*_TEXTS, *_FOLDED, *_WHOLE, *_PEERS)))
"""Values of ``--models``; SCNTM itself includes all ways of fitting it, and test papers."""

_VARIANTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    SETTLED: (
        "started from clusters",
        "*Started from clusters*: of papers, by words and citations (docs/understand/starts.md).",
        {"start": "clusters"},
    ),
    PAPER: (
        "network from the start",
        "*Network from the start*: citations count from the first iteration on.",
        {"network_from": 0},
    ),
}
"""Alternative starts of a single chain, by kind of chain: name and description."""

_QUICK = {
    "pmtlm": {"restarts": 2},
    "pmtlm-dc": {"restarts": 2},
    "tomotopy-lda": {"iterations": 200},
    "sklearn-lda": {"iterations": 10},
}


def run(context: Context) -> Outcome:
    """Cluster whole corpora, and test papers of folds."""
    names = [name for name in context.datasets if context.corpus(name).n_categories > 1]
    if not names:
        raise CorpusError(
            f"None of the sets {', '.join(context.datasets)} has classes to compare clusters with; "
            "choose others with --datasets."
        )
    seeds = context.seeds[:2] if context.quick else context.seeds
    whole = {name: _whole_models(context, name) for name in names}
    values = _cluster_whole(context, whole, seeds)
    divided = {name: found for name in names if (found := _folded_models(context, name))}
    tested = measuring.run_folds(context, divided)
    tables = []
    for name in names:
        if values.select(dataset=name).rows:
            tables.append(_whole_table(name, context.corpus(name), whole[name], values))
        if name in divided:
            tables.append(_folds_table(name, divided[name], tested))
    tables.append(measuring.chains_table([values], whole))
    if divided:
        folded = measuring.chains_table([tested], divided)
        tables.append(replace(folded, title="Chains of folds"))
    return Outcome(
        title="Clustering",
        protocol=_PROTOCOL.format(
            chains_run=context.describe_chains(),
            variant=_VARIANTS[context.stages][1],
            categories=_describe_categories(context),
            seeds=len(seeds),
            chains=_chains(context),
            few=min(FEW_SEEDS, len(seeds)),
            folds=measuring.describe_folds(context),
        ),
        tables=tables,
        notes=_notes(context, names),
        seeds=seeds,
        facts={
            "whole": [row._asdict() for row in values.summary()],
            "folds": [row._asdict() for row in tested.summary()],
        },
    )


def _cluster_whole(
    context: Context, models: dict[str, list[ModelChoice]], seeds: Sequence[int]
) -> Values:
    """Fit models with every seed, and those that take longest with the first few."""
    most = {name: [m for m in some if not _is_slow(m)] for name, some in models.items()}
    slow = {name: [m for m in some if _is_slow(m)] for name, some in models.items()}
    first = measuring.run(context, most, protocol="whole", seeds=seeds)
    second = measuring.run(context, slow, protocol="whole", seeds=seeds[:FEW_SEEDS])
    return Values((*first.rows, *second.rows))


def _is_slow(model: ModelChoice) -> bool:
    return model.kind == "sklearn-lda" or _way(model) == "consensus"


def _chains(context: Context) -> int:
    return QUICK_CHAINS if context.quick else CHAINS


def _whole_models(context: Context, name: str) -> list[ModelChoice]:
    """Choose the requested models of a whole corpus, with one topic per class."""
    wanted = {*chosen_models(context, _KINDS)}
    return [
        model
        for model in _all_models(context, name)
        if model.kind in wanted or _way(model) in wanted
    ]


def _way(model: ModelChoice) -> str | None:
    """Return how SCNTM is fitted to a whole corpus, as an entry of `_WHOLE`."""
    if model.kind != "scntm":
        return None
    combined = "combine" in model.parameters
    if "categories" in model.parameters:
        return "categories-consensus" if combined else "categories"
    if combined:
        return "consensus"
    return "single" if model.name == MODELS["scntm"] else "started"


def _all_models(context: Context, name: str) -> list[ModelChoice]:
    corpus = context.corpus(name)
    topics = corpus.n_categories
    chain = context.chain(name)
    models = [measuring.choice(key, topics=topics, **chain) for key in _TEXTS]
    if corpus.n_citations == 0:
        return [*models, *_peers(context, topics, ("k-means", "tomotopy-lda", "sklearn-lda"))]
    single = measuring.choice("scntm", topics=topics, **chain)
    variant, _, other = _VARIANTS[context.stages]
    early = ModelChoice(f"{single.name}, {variant}", single.kind, {**single.parameters, **other})
    chains = _chains(context)
    several = ModelChoice(
        f"{single.name}, consensus of {chains} chains",
        single.kind,
        {**single.parameters, "chains": chains, "combine": "consensus"},
    )
    drawn = _category_models(context, topics)
    return [*models, single, early, several, *drawn, *_peers(context, topics, _PEERS)]


def _category_models(context: Context, categories: int) -> list[ModelChoice]:
    """Choose models that draw papers into categories: a single chain, and a consensus of some."""
    one = {
        "topics": CATEGORY_TOPICS,
        "categories": categories,
        "iterations": _category_length(context),
        "exactly": True,
    }
    chains = _chains(context)
    several = {**one, "chains": chains, "combine": "consensus"}
    return [
        ModelChoice("SCNTM, categories", "scntm", one),
        ModelChoice(f"SCNTM, categories, consensus of {chains} chains", "scntm", several),
    ]


def _category_length(context: Context) -> int:
    """Return the iterations of chains with categories, which ``--iterations`` can only shorten."""
    return min(context.chain_length(), CATEGORY_ITERATIONS)


def _describe_categories(context: Context) -> str:
    return f"with {CATEGORY_TOPICS} topics, in exactly {_category_length(context)} iterations"


def _peers(context: Context, topics: int, kinds: Iterable[str]) -> list[ModelChoice]:
    """Choose the installed peers, with their defaults."""
    models = []
    for kind in filter(is_installed, kinds):
        parameters = {} if kind == "louvain" else {"topics": topics}
        if context.quick:
            parameters |= _QUICK.get(kind, {})
        models.append(ModelChoice(_PEERS[kind], kind, parameters))
        if kind == "pmtlm-dc":
            begun = {**parameters, "start": "clusters"}
            models.append(ModelChoice(f"{_PEERS[kind]}, started from clusters", kind, begun))
    return models


def _folded_models(context: Context, name: str) -> list[ModelChoice]:
    corpus = context.corpus(name)
    needs = {"np-atm": corpus.n_authors, "scntm": corpus.n_citations}
    topics, chain = settings(name).topics, context.chain(name)
    wanted = chosen_models(context, _KINDS)
    return [
        measuring.choice(key, topics=topics, **chain)
        for key in _FOLDED
        if needs.get(key, 1) > 0 and key in wanted
    ]


def _whole_table(name: str, corpus: Corpus, models: list[ModelChoice], values: Values) -> Table:
    """Show our figures, then those published for the same data set."""
    rows: list[list[Cell]] = []
    for model in models:
        found = [
            measuring.value_of(values, dataset=name, model=model.name, measure=measure)
            for measure in _MEASURES
        ]
        if found[0] is None:
            continue  # not finished
        rows.append([model.name, "here", *found])
        if model.name == MODELS["scntm"]:
            rows.append(_likeliest(name, model, values))
    paper = settings(name).paper_name or ""
    if paper in THESIS_CLUSTERING:
        thesis = THESIS_CLUSTERING[paper]
        rows += [
            ["CNTM with network", "Lim's thesis, table 7.5", thesis.purity, thesis.nmi, None, None],
            ["PMTLM", "as published", None, PMTLM_NMI[paper], None, None],
            ["AGC (graph convolution)", "as published", None, AGC_NMI[paper], None, None],
        ]
        notes = [_less_the_thesis(row, thesis) for row in rows if row[0] == MODELS["scntm"]]
    else:
        notes = []
    return Table(
        title=f"Whole corpus, {measuring.shown(name)}, {corpus.n_categories} classes",
        columns=["model", "figures from", *_MEASURES.values()],
        rows=rows,
        notes=notes,
    )


def _less_the_thesis(single: list[Cell], thesis: PurityNMI) -> str:
    ours = [difference(single[2], thesis.purity), difference(single[3], thesis.nmi)]
    text = ", ".join(
        f"{what} {value:+.3f}"
        for what, value in zip(("purity", "NMI"), ours, strict=True)
        if value is not None
    )
    return f"Single chain minus the thesis's CNTM: {text}."


def _likeliest(name: str, model: ModelChoice, values: Values) -> list[Cell]:
    """Choose the single chain that explains words and citations best, without using labels."""
    mine = values.select(dataset=name, model=model.name)
    chains = mine.select(measure="log_likelihood").rows
    best = max(chains, key=lambda row: row.value)
    found = [measuring.value_of(mine, measure=m, seed=best.seed) for m in _MEASURES]
    return [f"{model.name}, likeliest of {len(chains)} chains", "here", *found]


def _folds_table(name: str, models: list[ModelChoice], values: Values) -> Table:
    """Show figures of test papers next to those of the paper."""
    paper = CLUSTERING.get(settings(name).paper_name or "", {})
    keys = {MODELS[key]: key for key in _FOLDED}
    rows: list[list[Cell]] = []
    for model in models:
        mine = measuring.folded_in(values, dataset=name, model=model.name)
        found = {m: measuring.value_of(mine, measure=m) for m in _MEASURES}
        row: list[Cell] = [model.name, *found.values()]
        if paper:
            printed = paper.get(keys[model.name])
            purity = printed.purity if printed else None
            row += [purity, difference(found["purity"], purity), printed.nmi if printed else None]
        rows.append(row)
    columns = ["model", *_MEASURES.values()]
    signed: tuple[str, ...] = ()
    if paper:
        signed = ("purity minus paper",)
        columns += ["paper, purity", signed[0], "paper, NMI (artefact)"]
    stands_for = settings(name).stands_for
    return Table(
        title=f"Test papers, {measuring.shown(name)}, {settings(name).topics} topics at most",
        columns=columns,
        rows=rows,
        notes=[f"{name}: {stands_for}."] if stands_for else [],
        signed=signed,
    )


def _notes(context: Context, names: list[str]) -> list[str]:
    notes = [
        _ARTEFACT,
        "The paper swaps PMTLM's NMI on Cora and CS; the tables above show the published figures.",
    ]
    notes += [
        f"{name} has no classes and is left out." for name in context.datasets if name not in names
    ]
    absent = [text for kind, text in _PEERS.items() if not is_installed(kind)]
    if absent:
        notes.append(f"Not installed, so not run: {', '.join(absent)}. pip install '.[benchmark]'")
    return notes


EXPERIMENT = Experiment(
    name="clustering",
    label="tbl:clustering",
    what="Purity and NMI of dominant topics: whole corpora, and test papers of folds.",
    datasets=("cora", "citeseer", "pubmed", "m10", "ieee-vis"),
    quick_datasets=("demo",),
    run=run,
)
