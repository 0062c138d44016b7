"""The experiment `people`: models of all authors of a paper, compared with first authors."""

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
of whose nu serves a part of the paper's tables (docs/understand/authors.md), with one prior of
their shares for all or one by position (first, last, between). *Of {eta} papers or more*: authors
of fewer (in the training papers, in any position) give way to the paper's label, or, where a set
has none, are left out (eta = {eta}; labels of test papers are hidden). Beside them the
non-parametric author-topic model, in which each word chooses one of the paper's authors. All by
{chains}; eta = 0 where nothing else is said.

*Test perplexity* as in the section on perplexity ({folds}): topics of a test paper are estimated
from some of its words and its citations of training papers, by the paper's fold-in or by Gibbs
sampling, and its other words are scored. *AUC*
of held-out citations as in the section on links, with {topics} topics. *Time* is that of an
iteration of the whole model on one core, first author and all authors in turns, median of
{repeats}. Mean ± standard deviation over splits and seeds."""

TOPICS = 30
ETA = 3
_FIRST, _ALL, _BY_POSITION, _SOME, _ATM = (
    "first author",
    "all authors",
    "all authors, by position",
    f"all authors of {ETA} papers or more",
    "non-parametric ATM",
)
_OPTIONS: dict[str, dict[str, Any]] = {
    _FIRST: {"authors": FIRST_AUTHOR},
    _ALL: {"authors": ALL_AUTHORS},
    _BY_POSITION: {"authors": ALL_AUTHORS, "contributions": SHARES_BY_POSITION},
    _SOME: {"authors": ALL_AUTHORS, "eta": ETA},
}
_REPEATS = 15
_PERPLEXITIES = ("test perplexity", "test, Gibbs", "train, in sample")
_TIME = "time per iteration"


def run(context: Context) -> Outcome:
    """Measure the models on all sets."""
    words = {name: _models(context, name, settings(name).topics) for name in context.datasets}
    links = {name: _models(context, name, TOPICS)[:-1] for name in context.datasets}
    divided = measuring.run_folds(context, words)
    seeds = context.seeds[:2] if context.quick else context.seeds
    cited = measuring.run(context, links, protocol="links", seeds=seeds)
    return Outcome(
        title="All authors",
        protocol=_PROTOCOL.format(
            chains=context.describe_chains(),
            folds=measuring.describe_folds(context),
            topics=TOPICS,
            repeats=_REPEATS,
            eta=ETA,
        ),
        tables=[
            *(_table(context, name, words[name], divided, cited) for name in context.datasets),
            *(_tests(context, divided, method) for method in measuring.METHODS),
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
        wanted = {"dataset": name, "model": model.name}
        mine = {**wanted, "measure": "perplexity"}
        rows.append(
            [
                model.name,
                *(
                    measuring.value_of(measuring.folded_in(divided, method=method, **mine))
                    for method in measuring.METHODS
                ),
                measuring.value_of(divided, **mine, where="train"),
                measuring.value_of(cited, **wanted, measure="auc"),
                times.get(model.name),
            ]
        )
    return Table(
        title=f"Authors of {measuring.shown(name)}",
        columns=["model", *_PERPLEXITIES, "AUC", _TIME],
        rows=rows,
        decimals={**dict.fromkeys(_PERPLEXITIES, 1), _TIME: 2},
        notes=["Time: relative to that of the first author."],
    )


def _times(context: Context, name: str) -> dict[str, float]:
    """Time iterations of the whole model, alternating between kinds, relative to the first."""
    key = {"corpus": context.corpus(name).fingerprint, "topics": TOPICS, "repeats": _REPEATS}
    if context.finished and not context.remembers(f"people-times-{name}", key):
        context.missing[f"{name}, time per iteration"] = [1, 1]
        return {}
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


def _tests(context: Context, divided: Values, method: str) -> Table:
    """Compare all authors with the others, split by split."""
    rows: list[tuple[str, str, str, Comparison]] = []
    for name in context.datasets:
        test = measuring.folded_in(divided, method=method, dataset=name, measure="perplexity")
        for one, other in ((_ALL, _FIRST), (_ALL, _ATM), (_SOME, _FIRST), (_SOME, _ALL)):
            found = compare(test.select(model=one), test.select(model=other))
            if found is not None:
                rows.append((name, one, other, found))
    return comparisons_table(
        f"Test perplexity of all authors minus that of others{measuring.by(method)}", rows
    )


EXPERIMENT = Experiment(
    name="people",
    label="sec:model",
    what="All authors of a paper beside its first: perplexity, held-out citations, time.",
    datasets=("ieee-vis", "hep-th"),
    quick_datasets=("demo",),
    run=run,
)
