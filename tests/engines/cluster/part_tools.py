"""Chains in parts beside the same chain whole."""

import numpy as np

from citeweave import simulate
from citeweave.engines.core.data import ChainSettings, Request
from citeweave.engines.core.estimates import new_sums
from citeweave.engines.core.spec import preset
from citeweave.model.groups import build_tree
from citeweave.runs.checkpoint import flatten


def draw_corpus(**changes):
    sizes = {"documents": 60, "words_per_document": 20, "vocabulary": 50, "citations": 160}
    return simulate(**sizes | {"topics": 3, "authors": 14, "seed": 2} | changes).corpus


def request_for(corpus, model="scntm", *, topics=5, rounds=2, levels=(), **settings):
    spec = preset(model)
    for level in levels:
        spec = spec.with_level(level)
    data = build_tree(corpus, spec, eta=0, unknown="shared").data
    chosen = ChainSettings(**({"topics": topics, "network_from": 2} | settings))
    return Request(spec, data, chosen, 1, threads=1, rounds=rounds)


def run(chain, steps=6, kept=(4, 6)):
    """Make some steps and keep samples; gives all that came out, by name."""
    sums = new_sums(chain)
    chain.start()
    infos = []
    for _ in range(steps):
        info = chain.step()
        infos.append([value for name, value in info._asdict().items() if "seconds" not in name])
        if info.iteration in kept:
            chain.keep_sample(sums)
    chain.collect_samples(sums)
    out = flatten(chain.state) | flatten(sums, "sums.")
    numbers = [np.concatenate([np.ravel(np.float64(one)) for one in row]) for row in infos]
    out["infos"] = np.array(numbers)
    chain.close()
    return {name: array.copy() for name, array in out.items()}


def differences(found, expected):
    """Name the arrays whose bytes differ."""
    assert set(found) == set(expected)
    return [
        name
        for name in expected
        if found[name].dtype != expected[name].dtype
        or found[name].tobytes() != expected[name].tobytes()
    ]
