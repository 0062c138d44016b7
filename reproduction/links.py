"""The experiment `links`: held-out citations predicted by SCNTM, PMTLM and text similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citeweave.experiments import ModelChoice
from citeweave.experiments.models import TFIDF
from reproduction import measuring
from reproduction.base import Cell, Context, Experiment, Outcome, Table
from reproduction.context import chosen_models

if TYPE_CHECKING:
    from citeweave.experiments import Table as Values

__all__ = ["EXPERIMENT"]

_PROTOCOL = """\
A tenth of the citations (pairs that cite each other together) is held out; a model is fitted to
all papers with the other citations, and then scores pairs of papers. *AUC* is the probability that
a held-out citation scores above a pair without a citation. There are five such pairs for each, with
the same citing paper and the cited paper of another held-out citation, so that degrees carry little
information. Scores therefore use topics only (rates in which all papers have the same propensity to
cite and to be cited); *AUC of rates* includes propensities. *Precision* and *recall at k*: all
papers are ranked for each citing paper by whole rates, except those that it cites in training.
Labels are never used, and all models have at most {topics} topics, whatever the number of classes.

SCNTM (eta = 0), {chains}: the posterior mean rate of a citation.
PMTLM, with and without degree correction: its rate, best of {restarts}
starts by likelihood, with equal weight for words and links. tf-idf: the cosine of the papers'
words. The same citations are held out for all models; each seed holds out another tenth. Mean ±
standard deviation over seeds."""

TOPICS = 30
_RESTARTS = 3
_QUICK_RESTARTS = 2
_PLAIN = "tf-idf cosine"
_NOTES = (
    "The paper does not predict citations, so there are no published figures to compare with.",
    (
        "Computing AUC from topics only, with 30 topics, was decided after first figures with "
        "propensities and fewer topics had been seen on these sets; it applies to all models."
    ),
)


def run(context: Context) -> Outcome:
    """Predict held-out citations of all sets."""
    models = {name: _models(context, name) for name in context.datasets}
    seeds = context.seeds[:2] if context.quick else context.seeds
    values = measuring.run(context, models, protocol="links", seeds=seeds)
    return Outcome(
        title="Link prediction",
        protocol=_PROTOCOL.format(
            chains=context.describe_chains(), restarts=_restarts(context), topics=TOPICS
        ),
        tables=[
            *(_table(name, models[name], values) for name in context.datasets),
            measuring.chains_table([values], models),
        ],
        notes=list(_NOTES),
        seeds=seeds,
        facts={"summary": [row._asdict() for row in values.summary()]},
    )


def _restarts(context: Context) -> int:
    return _QUICK_RESTARTS if context.quick else _RESTARTS


def _models(context: Context, name: str) -> list[ModelChoice]:
    peers = {"topics": TOPICS, "restarts": _restarts(context)}
    models = (
        measuring.choice("scntm", topics=TOPICS, **context.chain(name)),
        ModelChoice("PMTLM", "pmtlm", peers),
        ModelChoice("PMTLM-DC", "pmtlm-dc", peers),
        ModelChoice(_PLAIN, TFIDF),
    )
    wanted = chosen_models(context, [model.kind for model in models])
    return [model for model in models if model.kind in wanted]


def _table(name: str, models: list[ModelChoice], values: Values) -> Table:
    mine = values.select(dataset=name)
    measures = list(dict.fromkeys(row.measure for row in mine.select(where="test")))
    auc = {
        model.name: measuring.value_of(mine, model=model.name, measure="auc") for model in models
    }
    text = auc.get(_PLAIN)
    rows: list[list[Cell]] = []
    for model in models:
        found = [measuring.value_of(mine, model=model.name, measure=m) for m in measures]
        own = auc[model.name]
        if own is None:
            continue  # not finished
        above = own.mean - text.mean if own and text and model.name != _PLAIN else None
        rows.append([model.name, found[0], above, *found[1:]])
    names = {"auc_rates": "AUC of rates"}
    return Table(
        title=f"Held-out citations of {measuring.shown(name)}",
        columns=["model", "AUC", "AUC above tf-idf", *(names.get(m, m) for m in measures[1:])],
        rows=rows,
        signed=("AUC above tf-idf",),
    )


EXPERIMENT = Experiment(
    name="links",
    label="subsec:network",
    what="Prediction of held-out citations, compared with PMTLM and text similarity.",
    datasets=("cora", "citeseer", "ieee-vis", "hep-th"),
    quick_datasets=("demo",),
    run=run,
)
