"""Runs of chains, whole or in parts, and what differs between them; needs no table library."""

import numpy as np

from citeweave.engines.core.arrays import flatten
from citeweave.engines.core.estimates import new_sums


def run(chain, steps=6, kept=(4, 6), frozen=None):
    """Make some steps and keep samples; gives all that came out, by name.

    From step ``frozen`` on, nothing adapts any more.
    """
    sums = new_sums(chain)
    chain.start()
    infos = []
    for done in range(steps):
        if done == frozen:
            chain.freeze()
        info = chain.step()
        infos.append([value for name, value in info._asdict().items() if "seconds" not in name])
        if info.iteration in kept:
            chain.keep_sample(sums)
    chain.collect_samples(sums)
    out = flatten(chain.state) | flatten(sums, "sums.")
    out |= {f"proposal.{name}": array for name, array in chain.extra_state().items()}
    numbers = [np.concatenate([np.ravel(np.float64(one)) for one in row]) for row in infos]
    out["infos"] = np.array(numbers)
    chain.close()
    return {name: np.array(array) for name, array in out.items()}  # lists of counts as dense rows


def differences(found, expected):
    """Name the arrays whose bytes differ."""
    assert set(found) == set(expected)
    return [
        name
        for name in expected
        if found[name].dtype != expected[name].dtype
        or found[name].tobytes() != expected[name].tobytes()
    ]
