"""The experiment `people`: all authors of a paper in the model, beside its first author alone."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

from citeweave.experiments import ModelChoice
from citeweave.model import SCNTM
from citeweave.parameters.scntm import ALL_AUTHORS, FIRST_AUTHOR, SHARES_BY_POSITION
from reproduction import measuring
from reproduction.base import Cell, Context, Experiment, Outcome, Table
from reproduction.comparing import Comparison, compare, comparisons_table
from reproduction.settings import settings

if TYPE_CHECKING:
    from citeweave.experiments import Table as Values

__all__ = ["EXPERIMENT"]

_PROTOCOL = """\
Who speaks for a paper: its *first author*, as in the paper of the model, or *all authors*, each
of whose nu serves a part of the paper's tables (docs/authors.md), with one prior of their shares
for all or one by position (first, last, between). Beside them the non-parametric author-topic
model, in which each word chooses one of the paper's authors. All by {chains}; eta = 0.

*Test perplexity* as in the section on perplexity ({folds}): topics of a test paper are estimated
from some of its words and its citations of training papers, and its other words are scored. *AUC*
of held-out citations as in the section on links, with {topics} topics. *Time* is that of an
iteration of the whole model on one core, first author and all authors in turns, median of
{repeats}. Mean ± standard deviation over splits and seeds."""

TOPICS = 30
_FIRST, _ALL, _BY_POSITION, _ATM = (
    "first author",
    "all authors",
    "all authors, by position",
    "non-parametric ATM",
)
_OPTIONS: dict[str, dict[str, Any]] = {
    _FIRST: {"authors": FIRST_AUTHOR},
    _ALL: {"authors": ALL_AUTHORS},
    _BY_POSITION: {"authors": ALL_AUTHORS, "contributions": SHARES_BY_POSITION},
}
_REPEATS = 15


def run(context: Context) -> Outcome:
    """Measure the models on all sets."""
    words = {name: _models(context, name, settings(name).topics) for name in context.datasets}
    links = {name: _models(context, name, TOPICS)[:-1] for name in context.datasets}
    folds = {name: measuring.folds_for(context, name) for name in context.datasets}
    divided = measuring.run(context, words, protocol="folds", folds=folds, seeds=context.seeds[:1])
    seeds = context.seeds[:2] if context.quick else context.seeds
    cited = measuring.run(context, links, protocol="links", seeds=seeds)
    return Outcome(
        title="All authors",
        protocol=_PROTOCOL.format(
            chains=context.describe_chains(),
            folds=measuring.describe_folds(context),
            topics=TOPICS,
            repeats=_REPEATS,
        ),
        tables=[
            *(_table(context, name, words[name], divided, cited) for name in context.datasets),
            _tests(context, divided),
            measuring.chains_table([divided, cited], words),
        ],
        notes=[],
        seeds=seeds,
        facts={"chain": [row._asdict() for row in divided.summary()]},
    )


def _models(context: Context, name: str, topics: int) -> list[ModelChoice]:
    """Choose the models; the author-topic model, which has no citations, comes last."""
    given = {"topics": topics, **context.chain(name)}
    found = [ModelChoice(shown, "scntm", given | own) for shown, own in _OPTIONS.items()]
    atm = measuring.choice("np-atm", **given)
    return [*found, ModelChoice(_ATM, atm.kind, atm.parameters)]


def _table(
    context: Context, name: str, models: list[ModelChoice], divided: Values, cited: Values
) -> Table:
    times = _times(context, name)
    rows: list[list[Cell]] = []
    for model in models:
        mine = {"dataset": name, "model": model.name}
        rows.append(
            [
                model.name,
                measuring.value_of(divided, **mine, measure="perplexity", where="test"),
                measuring.value_of(divided, **mine, measure="perplexity", where="train"),
                measuring.value_of(cited, **mine, measure="auc"),
                times.get(model.name),
            ]
        )
    return Table(
        title=f"Authors of {measuring.shown(name)}",
        columns=["model", "test perplexity", "train, in sample", "AUC", "time of an iteration"],
        rows=rows,
        decimals={"test perplexity": 1, "train, in sample": 1, "time of an iteration": 2},
        notes=["Time: times that of the first author."],
    )


def _times(context: Context, name: str) -> dict[str, float]:
    """Time iterations of the whole model, the two kinds in turns, as multiples of the first."""
    key = {"corpus": context.corpus(name).fingerprint, "topics": TOPICS, "repeats": _REPEATS}
    found: dict[str, float] = context.remember(
        f"people-times-{name}", key, lambda: _measure_times(context, name)
    )
    return found


def _measure_times(context: Context, name: str) -> dict[str, float]:
    corpus = context.corpus(name)
    seconds: dict[str, list[float]] = {shown: [] for shown in (_FIRST, _ALL)}
    for repeat in range(2):
        for shown, taken in seconds.items():
            model = SCNTM(
                topics=TOPICS,
                iterations=5 + _REPEATS,
                network_from=1,
                burst_from=2,
                burn_in=4 + _REPEATS,
                exactly=True,
                chains=1,
                threads=1,
                device="cpu",
                sweep="sequential",
                seed=1 + repeat,
                **_OPTIONS[shown],
            )
            began = time.monotonic()
            model.fit(corpus)
            context.say(f"{name}, {shown}: timed in {time.monotonic() - began:.0f} s")
            taken.extend(model.traces_["seconds"][0, 5:].tolist())
    medians = {shown: statistics.median(taken) for shown, taken in seconds.items()}
    return {shown: value / medians[_FIRST] for shown, value in medians.items()}


def _tests(context: Context, divided: Values) -> Table:
    """Compare all authors with the other two, split by split."""
    rows: list[tuple[str, str, str, Comparison]] = []
    for name in context.datasets:
        wanted = {"dataset": name, "measure": "perplexity", "where": "test"}
        own = divided.select(**wanted, model=_ALL)
        for other in (_FIRST, _ATM):
            found = compare(own, divided.select(**wanted, model=other))
            if found is not None:
                rows.append((name, _ALL, other, found))
    return comparisons_table("Test perplexity of all authors less that of others", rows)


EXPERIMENT = Experiment(
    name="people",
    label="sec:model",
    what="All authors of a paper beside its first: perplexity, held-out citations, time.",
    datasets=("ieee-vis", "hep-th"),
    quick_datasets=("demo",),
    run=run,
)
