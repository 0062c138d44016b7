"""Do the chains of a run agree? Figures of convergence, and a verdict in plain words.

The questions are, in this order: are there chains at all, are they long enough to be judged, did
they find the same topics, do they still drift, do their log posteriors agree? `citeweave evaluate`,
the explorer and the report all show this verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from citeweave.model.convergence import convergence, split_rhat
from citeweave.model.read_out import LeftOut, labels_left_out
from citeweave.model.traces import shown_trace
from citeweave.model.verdict import Verdict, how_to_go_on, settled_verdict
from citeweave.naming import choice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Diagnostics", "TraceCheck", "Verdict", "judge_chains", "judge_traces", "kept_traces"]

GOOD_RHAT = 1.05
"""Largest R-hat at which chains are said to agree. 1.01 is usual if single parameters are reported
with many digits; topics and shares are read to two."""

FAIR_RHAT = 1.2
"""R-hat above which a chain, or the set of chains, is said to drift still."""

GOOD_AGREEMENT = 0.9
"""Mean cosine of matched topics from which chains are said to have found the same topics."""

FEWEST_DRAWS = 20
"""Minimum number of iterations after burn-in for a verdict."""

FEW_INDEPENDENT = 50
"""Number of effective draws of the log posterior below which estimates are called rough."""

_SHOWN = {
    "best": "The results shown are those of the most likely chain. ",
    "average": "The results shown are the mean of all chains, matched as well as possible. ",
    "consensus": "The results shown are those on which the chains agree. ",
}


class TraceCheck(NamedTuple):
    """Convergence of one trace after burn-in; values are nan for a trace that never moves.

    Examples
    --------
    >>> import numpy as np
    >>> from citeweave.evaluate import judge_traces
    >>> traces = {"log_posterior": np.random.default_rng(1).normal(size=(2, 400))}
    >>> check = judge_traces(traces, burn_in=100).checks[0]
    >>> check.name, check.rhat < 1.1
    ('log posterior', True)
    """

    name: str
    mean: float
    rhat: float
    bulk: float
    tail: float


@dataclass(frozen=True)
class Diagnostics:
    """Diagnostics of the chains of a run, and the verdict on them.

    Attributes
    ----------
    verdict : Verdict
    chains, draws : int
        Number of chains, and of draws after burn-in.
    checks : tuple of TraceCheck
    agreements : tuple of float
        Agreement of each chain with the reference chain.
    drifts : tuple of float

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.evaluate import judge_chains
    >>> found = judge_chains(citeweave.example_model())
    >>> found.chains, len(found.agreements)
    (2, 2)
    """

    verdict: Verdict
    chains: int
    draws: int
    """Iterations of each chain after burn-in."""
    checks: tuple[TraceCheck, ...] = ()
    agreements: tuple[float, ...] = ()
    """Mean cosine of the topics of each chain with those of the best one."""
    drifts: tuple[float, ...] = ()
    """R-hat of the two halves of each chain's log posterior."""


def judge_traces(
    traces: Mapping[str, np.ndarray],
    *,
    burn_in: int,
    agreements: Sequence[float] = (),
    level_names: Sequence[str] = (),
    unfinished: str = "",
    how: str = "best",
) -> Diagnostics:
    """Judge the traces of a run.

    Parameters
    ----------
    traces : mapping of str to ndarray, shape (chains, iterations)
        As `SCNTM.traces_`; ``concentrations`` has a third axis, the levels. Chains are judged by
        the joint log posterior, those of earlier releases by the log likelihood.
    burn_in : int
        Number of initial iterations that are not judged.
    agreements : sequence of float
        As `SCNTM.combination_["agreements"]`.
    level_names : sequence of str
        Names of the levels of ``concentrations``.
    unfinished : str
        Progress of an unfinished run ("300 of 500 iterations").
    how : str
        How the chains were combined, as in `SCNTM.combination_["how"]`.

    Examples
    --------
    >>> import numpy as np
    >>> steady = np.random.default_rng(1).normal(size=(2, 400))
    >>> judge_traces({"log_posterior": steady}, burn_in=100, agreements=[1.0, 0.98]).verdict[:2]
    ('good', 'The chains agree')
    """
    shown = shown_trace(traces)
    if shown is None:
        return Diagnostics(
            Verdict(
                "unknown",
                "No chains to judge",
                "This model was not sampled, so there are no chains to compare. Fit it "
                "again from other random starts and compare the results.",
            ),
            chains=0,
            draws=0,
        )
    judged = _after(shown.values, burn_in)
    chains, draws = judged.shape
    if draws < FEWEST_DRAWS:
        text = (
            f"Only {draws} iteration{'s were' if draws != 1 else ' was'} made after burn-in, too "
            "few to say whether the chains have settled. Fit with more iterations."
        )
        verdict = Verdict("poor", "Run longer", text)
        return Diagnostics(_mark(verdict, unfinished), chains, draws, agreements=tuple(agreements))
    checks = tuple(
        TraceCheck(name, *convergence(trace))
        for name, trace in kept_traces(traces, burn_in=burn_in, level_names=level_names)
        if trace.shape[1] >= FEWEST_DRAWS
    )
    drifts = tuple(split_rhat(chain[None, :]) for chain in judged)
    rhat = next(check for check in checks if check.name == shown.words)
    verdict = (
        _judge_one(drifts[0], rhat.bulk, shown.words)
        if chains == 1
        else _judge_several(rhat, drifts, agreements, how)
    )
    return Diagnostics(_mark(verdict, unfinished), chains, draws, checks, tuple(agreements), drifts)


def judge_chains(model: Any) -> Diagnostics:
    """Judge the chains of a fitted model with `judge_traces`.

    Parameters
    ----------
    model : SCNTM or baseline
        A model without traces, such as a baseline, has no chains to judge.

    Returns
    -------
    Diagnostics

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.evaluate import judge_chains
    >>> judge_chains(citeweave.example_model()).verdict.headline
    'Not settled: the chains do not agree yet'
    """
    traces = getattr(model, "traces_", None) or {}
    if shown_trace(traces) is None:
        return judge_traces({}, burn_in=0)
    done, wanted = int(model.n_iter_), int(getattr(model, "iterations_", model.n_iter_))
    combination = model.combination_
    found = judge_traces(
        traces,
        burn_in=model.burn_in_,
        agreements=combination["agreements"],
        level_names=model.level_names_,
        unfinished=f"{done:,} of {wanted:,} iterations" if done < wanted else "",
        how=combination["how"],
    )
    return found if done < wanted else _with_outcome(model, found)


def _with_outcome(model: Any, found: Diagnostics) -> Diagnostics:
    """State whether the chains of a finished run settled, and how to continue it."""
    result = getattr(model, "_result", None)
    settlement = getattr(result, "settlement", None)
    if result is None or settlement is None:
        return found
    asked = result.plan.asked[0] if result.plan.asked else result.plan.iterations
    if settlement.stopped != "exactly":
        told = settled_verdict(
            settlement,
            done=result.iterations,
            asked=asked,
            folder=result.folder,
            categories=result.category_agreements,
            left_out=_left_out(model),
        )
        return replace(found, verdict=told)
    if found.verdict.level == "good":
        return found
    advice = f"{found.verdict.advice} {how_to_go_on(result.folder, asked)}"
    return replace(found, verdict=found.verdict._replace(advice=advice))


def _left_out(model: Any) -> LeftOut | None:
    told = getattr(model, "read_out_", None)
    return None if told is None else labels_left_out(told, model.corpus_.categories)


def kept_traces(
    traces: Mapping[str, np.ndarray],
    *,
    burn_in: int,
    level_names: Sequence[str] = (),
    names: Sequence[str] = ("topics", "acceptance"),
) -> Iterator[tuple[str, np.ndarray]]:
    """Return traces after burn-in, [chains, draws], that do not depend on topic numbers.

    These are the main one, those named, and the concentration of each level, with display names.
    """
    shown = shown_trace(traces)
    if shown is not None:
        yield shown.words, _after(shown.values, burn_in)
    for name in names:
        if name in traces:
            yield name.replace("_", " "), _after(traces[name], burn_in)
    if "concentrations" in traces:
        for place, level in enumerate(level_names):
            trace = traces["concentrations"][:, :, place]
            yield f"concentration of {level}", _after(trace, burn_in)


def _after(trace: np.ndarray, burn_in: int) -> np.ndarray:
    """Return the draws after burn-in that all chains have; unfinished chains differ in length."""
    kept = np.asarray(trace, np.float64)[:, burn_in:]
    return np.asarray(kept[:, np.isfinite(kept).all(axis=0)])


def _judge_one(drift: float, independent: float, what: str) -> Verdict:
    several = choice("chains=2", "--chains 2")
    alone = f"With one chain alone, agreement cannot be judged; fit with {several} or more."
    if drift > FAIR_RHAT:
        return Verdict(
            "poor",
            "Run longer",
            f"The {what} still drifts (R-hat {drift:.2f} between the halves of the chain). {alone}",
        )
    if drift > GOOD_RHAT or independent < FEW_INDEPENDENT:
        return Verdict(
            "fair",
            "One chain only: agreement cannot be judged",
            f"The chain has nearly settled (R-hat {drift:.2f} between its halves, "
            f"{independent:.0f} independent draws of the {what}): large figures hold, "
            f"small differences may not. {alone}",
        )
    return Verdict(
        "unknown",
        "One chain only: agreement cannot be judged",
        f"The chain is steady after burn-in (R-hat {drift:.2f} between its halves), but another "
        f"one may settle elsewhere. {alone}",
    )


def _judge_several(
    shown: TraceCheck, drifts: Sequence[float], agreements: Sequence[float], how: str
) -> Verdict:
    worst = min(agreements, default=1.0)
    drifting = max(drifts) > FAIR_RHAT
    matched = f"topics of the chains match with a mean cosine of {worst:.2f}"
    rhat = f"R-hat of the {shown.name} is {shown.rhat:.2f}"
    if worst < GOOD_AGREEMENT and drifting:
        return Verdict(
            "poor",
            "Run longer",
            f"The chains still drift and have not found the same topics (the {matched}, {rhat}). "
            "Fit with more iterations before relying on the topics.",
        )
    if worst < GOOD_AGREEMENT:
        return Verdict(
            "poor",
            "The chains found different topics",
            f"Each chain is steady, but the {matched}, so there is more than one way to divide "
            f"this literature. {_SHOWN.get(how, '')}Look for topics that all chains share, or fit "
            "with fewer topics or more iterations.",
        )
    if shown.rhat <= GOOD_RHAT and not drifting:
        rough = (
            f" With {shown.bulk:.0f} independent draws of the {shown.name}, small "
            "differences between figures mean little."
            if shown.bulk < FEW_INDEPENDENT
            else ""
        )
        return Verdict("good", "The chains agree", f"The {matched}, and {rhat}.{rough}")
    return Verdict(
        "fair",
        "The chains agree on the topics; run longer for exact figures",
        f"The {matched}, but {rhat}: the chains have not settled at the same level yet. Topics, "
        "main areas of authors and large differences can be relied on.",
    )


def _mark(verdict: Verdict, unfinished: str) -> Verdict:
    """State first that a run is not finished, because the verdict may still change."""
    if not unfinished:
        return verdict
    return Verdict(
        "poor" if verdict.level != "unknown" else verdict.level,
        f"This run is not finished: {unfinished}",
        f"So far: {verdict.headline[0].lower()}{verdict.headline[1:]}. {verdict.advice}",
    )
