"""Chains in parts beside the same chain whole."""

from part_runs import differences, run

from citeweave import Corpus, simulate
from citeweave.engines.cluster.in_process import InProcessChain
from citeweave.engines.cluster.plans import make_plan
from citeweave.engines.core.data import ChainSettings, ClusterWorkers, Request
from citeweave.engines.core.spec import preset
from citeweave.model.groups import build_tree

__all__ = ["advance", "differences", "draw_corpus", "in_parts", "in_venues", "plans_of"]
__all__ += ["request_for", "run"]


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


def in_venues(corpus):
    """Give the papers of a corpus venues, which authors are nested in."""
    return Corpus.from_arrays(
        tokens=corpus.tokens,
        offsets=corpus.offsets,
        author_ids=corpus.author_ids,
        author_offsets=corpus.author_offsets,
        citations=corpus.citations,
        metadata={"venue": [["ICML", "JMLR", "NIPS"][d % 3] for d in range(corpus.n_documents)]},
    )


def in_parts(request, workers, threads=1):
    """Open a chain in parts that are threads of this process, each with threads of its own."""
    return InProcessChain.open(
        request._replace(threads=threads * workers, workers=ClusterWorkers(workers))
    )


def plans_of(chain):
    """Make the plans of all parts of a chain."""
    return [make_plan(chain.division, p) for p in range(chain.division.parts)]


def advance(chain, sums, steps, kept=(3, 4, 5)):
    """Take steps up to an iteration, and keep samples of some."""
    while chain.iteration < steps:
        if chain.step().iteration in kept:
            chain.keep_sample(sums)
