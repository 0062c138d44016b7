"""Chains in parts beside the same chain whole."""

from part_runs import differences, run

from citeweave import simulate
from citeweave.engines.core.data import ChainSettings, Request
from citeweave.engines.core.spec import preset
from citeweave.model.groups import build_tree

__all__ = ["differences", "draw_corpus", "request_for", "run"]


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
