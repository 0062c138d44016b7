"""Extend a finished run, with the same bytes as a run planned for the total number of iterations.

The extended run has the parameters of the original with more iterations; defaults that depend on
their number (such as when citations join) stay as they were. Its chains begin where the original
began to keep samples, because adaptation was frozen and sums were started there; or at its end if
neither matters.
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
"""Maximum number of iterations added if only minutes are given."""

_STAGES = ("network_from", "burst_from")


def more_iterations(wanted: int | str | None, planned: int) -> int | None:
    """Parse the number of iterations to add: "+1000", or a total number.

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
            f"The 'iterations' to continue with must be '+n' for n more, or a total greater than "
            f"the {planned} of the run. Got {wanted!r} instead."
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
    """Return the parameters of an extended run.

    If the chains agreed, samples are kept for longer; otherwise chains are compared further, and
    samples are then kept for as long as before.

    Parameters
    ----------
    parameters : mapping
        Those of the run.
    plan : Plan
        The plan made from them.
    settlement : Settlement or None
        The settlement of the run; None for runs of earlier releases.
    more : int or None
        Iterations to add.
    minutes : float or None
        Maximum number of minutes to continue.
    start_stored : bool
        Whether the states in which chains began to keep samples are stored; if not, an extended run
        with ``exactly`` keeps only the samples after the original end.
    """
    settled = settlement is not None and settlement.stopped == "settled"
    if minutes is not None and plan.exactly:
        raise fail(
            "minutes",
            "None: the run has a fixed number of iterations; extend it by iterations",
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
        out["give_up"] = False  # a user who extends a run wants all of the iterations
    return out


def starting_points(
    chains: Path, fingerprint: str, shorter: Plan, longer: Plan, settlement: Settlement | None
) -> tuple[dict[int, Checkpoint], str]:
    """Find where the chains of an extended run begin.

    Returns
    -------
    points : dict of int to Checkpoint
        By chain.
    note : str
        Note for the reader if the result differs from that of one long run.

    Raises
    ------
    RunError
        The checkpoints of the original run are missing or damaged.
    """
    points: dict[int, Checkpoint] = {}
    note = ""
    settled = settlement is not None and settlement.stopped == "settled"
    for number in range(shorter.chains):
        folder = chain_folder(chains, number)
        identity = Identity(fingerprint, shorter.digest(), number)
        last, _ = read_latest(folder, identity, by_workers=longer.divided)
        if last is None:
            raise RunError(
                f"The run cannot continue: chain {number} has no checkpoint in '{folder}'. "
                "Fit again."
            )
        begun = read_sampling_start(folder, identity, by_workers=longer.divided)
        at_end = last._replace(sums=None, samples=0, settlement=None)
        if shorter.exactly and longer.burn_in >= last.iteration and not last.proposal:
            points[number] = at_end
        elif begun is not None and begun.iteration <= longer.burn_in:
            points[number] = begun if settled else begun._replace(settlement=None)
        else:
            points[number] = at_end
            note = (
                "Continued from the last state of a run that did not store where it began to keep "
                "samples, so the result differs from that of one long run."
            )
    return points, note
