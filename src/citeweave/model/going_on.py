"""A run that is done goes on: to the same bytes as one that was as long from the start.

The longer run's parameters are those of the shorter one with more iterations; what depended on
their number by default (when citations join) stays as it was. Its chains begin where the shorter
run began to keep samples, since there what adapts was frozen and sums began; or at its end, where
neither has a say.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citeweave.errors import ParameterError, RunError
from citeweave.model.parameters import Plan, fail
from citeweave.model.settling import Settlement
from citeweave.naming import choice
from citeweave.runs.checkpoint import (
    Checkpoint,
    Identity,
    chain_folder,
    read_latest,
    read_sampling_start,
)

__all__ = ["longer_parameters", "more_iterations", "starting_points"]

MANY = 10_000
"""Iterations that may be added where only minutes are given."""

_STAGES = ("network_from", "burst_from")


def more_iterations(wanted: int | str | None, planned: int) -> int | None:
    """Read how many iterations are to be added: "+1000", or a number in all.

    Examples
    --------
    >>> more_iterations("+500", 2000), more_iterations(2500, 2000), more_iterations(None, 2000)
    (500, 500, None)
    """
    if wanted is None:
        return None
    number = re.fullmatch(r"(\+?)(\d+)", str(wanted).strip())
    more = 0
    if number is not None and not isinstance(wanted, bool):
        more = int(number[2]) if number[1] else int(number[2]) - planned
    if more < 1:
        raise ParameterError(
            f"The 'iterations' to continue with must be '+n' for n more, or more in all than the "
            f"{planned} of the run. Got {wanted!r} instead."
        )
    return more


def longer_parameters(
    parameters: Mapping[str, Any],
    plan: Plan,
    settlement: Settlement | None,
    *,
    more: int | None,
    minutes: float | None,
    start_stored: bool = True,
) -> dict[str, Any]:
    """Give the parameters of a longer run.

    A run whose chains agreed keeps samples for longer; one whose chains did not goes on comparing
    them, and keeps samples for as long as before.

    Parameters
    ----------
    parameters : mapping
        Those of the run.
    plan : Plan
        The one that was made of them.
    settlement : Settlement or None
        What became of the run; None for one of an earlier release.
    more : int or None
        Iterations to be added.
    minutes : float or None
        Most minutes to go on for.
    start_stored : bool
        Whether the states are there in which chains began to keep samples; if not, a longer run
        of exactly so many iterations keeps those that come after the shorter one.
    """
    settled = settlement is not None and settlement.stopped == "settled"
    if minutes is not None and plan.exactly:
        raise fail(
            "minutes",
            "None: the run makes exactly so many iterations; go on by iterations",
            minutes,
        )
    if more is None and settled:
        more_samples = choice("iterations='+200'", "--iterations +200")
        raise RunError(
            "The chains of this run agree already. To keep more samples, say for how many more "
            f"iterations: {more_samples}."
        )
    added = MANY if more is None else more
    iterations, burn_in = plan.asked or (plan.iterations, plan.burn_in)
    out = dict(parameters) | {"iterations": iterations + added, "minutes": minutes}
    settings = plan.settings._asdict()
    out |= {name: settings[name] for name in _STAGES if name in settings and name in out}
    if plan.exactly and not start_stored:
        out["burn_in"] = max(iterations, 3 * (iterations + added) // 4)
    if not plan.exactly:
        out["burn_in"] = burn_in if settled else burn_in + added
        out["give_up"] = False  # who goes on wants the iterations
    return out


def starting_points(
    chains: Path, fingerprint: str, shorter: Plan, longer: Plan, settlement: Settlement | None
) -> tuple[dict[int, Checkpoint], str]:
    """Find where the chains of a longer run begin.

    Returns
    -------
    points : dict of int to Checkpoint
        By chain.
    note : str
        What a reader should know where it is not as if the run had been longer from the start.

    Raises
    ------
    RunError
        The shorter run's checkpoints are missing or damaged.
    """
    points: dict[int, Checkpoint] = {}
    note = ""
    settled = settlement is not None and settlement.stopped == "settled"
    for number in range(shorter.chains):
        folder = chain_folder(chains, number)
        identity = Identity(fingerprint, shorter.digest(), number)
        last, _ = read_latest(folder, identity)
        if last is None:
            raise RunError(
                f"The run cannot go on: chain {number} has no checkpoint in '{folder}'. Fit again."
            )
        begun = read_sampling_start(folder, identity)
        at_end = last._replace(sums=None, settlement=None)
        if shorter.exactly and longer.burn_in >= last.iteration and not last.proposal:
            points[number] = at_end
        elif begun is not None and begun.iteration <= longer.burn_in:
            points[number] = begun if settled else begun._replace(settlement=None)
        else:
            points[number] = at_end
            note = (
                "Went on from the last state of a run that did not store where it began to keep "
                "samples: not the bytes of one long run."
            )
    return points, note
