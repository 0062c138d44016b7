"""The experiment `supervision`: the effect of training labels (tbl:clustering, eta > 0)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citeweave.errors import CorpusError
from reproduction import measuring
from reproduction.base import Cell, Context, Experiment, Outcome, Table, difference
from reproduction.paper_figures import CLUSTERING, MODELS
from reproduction.settings import settings

if TYPE_CHECKING:
    from citeweave.experiments import ModelChoice
    from citeweave.experiments import Table as Values

__all__ = ["EXPERIMENT"]

_PROTOCOL = """\
SCNTM with eta = 0 (no labels), 10 (a paper belongs to its first author if they are first author
of ten papers or more, otherwise to its label) and infinity (always to its label), fitted to
training papers with their labels by {chains}. Sets are divided as follows: {folds}. Test papers are
folded in with all of their words and their citations of training papers.

*Labels hidden*: the label of a test paper is not used. If the model needs it, the group is inferred
from words and citations. The predicted label is the most probable one under the model (for an
author with a group of their own, with the labels of the author's training papers as prior);
accuracy and macro-F1 compare it with the true one. *Labels seen* is the paper's protocol: a test
paper's topics start from those of its own label, and the clusters are then compared with that
label. It says little about new papers and is shown for comparison with the paper's figures.

Clusters are dominant topics. Mean ± standard deviation over folds or splits."""

_ARTEFACT = (
    "The NMI that the paper prints is an artefact of its computation (purity 0.39 together with "
    "NMI 0.63 on Cora is impossible): it is shown but not compared."
)

_MEASURES = {
    "purity": "purity",
    "nmi": "NMI",
    "adjusted_rand": "ARI",
    "accuracy": "accuracy",
    "macro_f1": "macro-F1",
}


def run(context: Context) -> Outcome:
    """Measure the three values of eta on test papers."""
    names = [name for name in context.datasets if _labelled(context, name)]
    if not names:
        raise CorpusError(
            f"None of the sets {', '.join(context.datasets)} has labels, which supervision needs; "
            "choose others with --datasets."
        )
    models = {name: _models(context, name) for name in names}
    values = measuring.run_folds(context, models)
    left = [name for name in context.datasets if name not in names]
    return Outcome(
        title="Supervision by labels",
        protocol=_PROTOCOL.format(
            chains=context.describe_chains(), folds=measuring.describe_folds(context)
        ),
        tables=[
            *(_table(name, models[name], values) for name in names),
            measuring.chains_table([values], models),
        ],
        notes=[
            _ARTEFACT,
            *(f"{name} has no labels and is left out." for name in left),
            *(
                f"{name} has no authors: eta = 10 is the same model as eta = infinity."
                for name in names
                if context.corpus(name).n_authors == 0
            ),
        ],
        seeds=context.seeds[:1],
        facts={"summary": [row._asdict() for row in values.summary()]},
    )


def _labelled(context: Context, name: str) -> bool:
    return context.corpus(name).n_categories > 1


def _models(context: Context, name: str) -> list[ModelChoice]:
    """Without authors eta = 10 is the same model as eta = infinity."""
    keys = [
        key for key in measuring.ETAS if key != "scntm-eta-10" or context.corpus(name).n_authors > 0
    ]
    topics = settings(name).topics
    return [measuring.choice(key, topics=topics, **context.chain(name)) for key in keys]


def _table(name: str, models: list[ModelChoice], values: Values) -> Table:
    paper = CLUSTERING.get(settings(name).paper_name or "", {})
    keys = {MODELS[key]: key for key in measuring.ETAS}
    rows: list[list[Cell]] = []
    for model in models:
        ways = ("hidden", "seen") if model.uses_labels else ("hidden",)
        for way in ways:
            mine = measuring.folded_in(values, labels=way, dataset=name, model=model.name)
            found = {m: measuring.value_of(mine, measure=m) for m in _MEASURES}
            row: list[Cell] = [model.name, way if model.uses_labels else "not used"]
            row += list(found.values())
            if paper:
                printed = paper.get(keys[model.name])
                purity = printed.purity if printed else None
                row += [
                    purity,
                    difference(found["purity"], purity),
                    printed.nmi if printed else None,
                ]
            rows.append(row)
    columns = ["model", "test labels", *_MEASURES.values()]
    if paper:
        columns += ["paper, purity", "purity minus paper", "paper, NMI (artefact)"]
    stands_for = settings(name).stands_for
    return Table(
        title=f"Test papers of {measuring.shown(name)}",
        columns=columns,
        rows=rows,
        notes=[f"{name}: {stands_for}."] if stands_for else [],
        signed=("purity minus paper",) if paper else (),
    )


EXPERIMENT = Experiment(
    name="supervision",
    label="tbl:clustering",
    what="Held-out clustering and classification with labels of training papers.",
    datasets=("cora", "citeseer", "pubmed", "m10", "ieee-vis"),
    quick_datasets=("demo",),
    run=run,
)
