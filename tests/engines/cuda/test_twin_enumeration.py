"""Where snapshot sweeps are exact, the kernels' frequencies are those of the listed posterior."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from host_device import EnduringDevice

import citeweave.engines.core.word_side as word_side_module
from citeweave.engines.cuda import CudaChain
from reference.posterior import TinyPosterior
from reference.run import frequencies, marginal, total_variation
from reference.tiny import tiny_chain

CASES = {
    "one paper, scntm": ("scntm", {"documents": ((0, 0, 1, 1),), "groups": (0,), "citations": ()}),
    "one paper, bursty-hdp-lda": (
        "bursty-hdp-lda",
        {"documents": ((0, 0, 1, 1),), "groups": (0,), "citations": ()},
    ),
    "a snapshot a paper, citations both ways": (
        "scntm",
        {
            "documents": ((0, 0), (1,), ()),
            "groups": (0, 0, 1),
            "citations": ((0, 1), (2, 0)),
            "rounds": 3,
        },
    ),
}


def twin(spec, *, rounds=1, **corpus):
    """As ``tiny_chain``, on the kernels' twin."""
    kind = partial(CudaChain, rounds=rounds, device=EnduringDevice())
    modules = {"chain": SimpleNamespace(DenseChain=kind), "word_side": word_side_module}
    chain = tiny_chain(spec, modules=modules, **corpus)
    chain.upload()  # the parameters that were set on the host
    return chain


def tables_of(chain):
    """Give the tables of all nodes as the device has them, dense rows or lists."""
    arrays = chain.arrays
    if not chain.lists:
        return arrays["tables"]
    row, both = arrays["count_row"].reshape(-1, 4), arrays["counts"].reshape(-1, 2)
    lists = chain.host.topics.tables._replace(row=row, topic=arrays["count_topic"], counts=both)
    return np.asarray(lists)


def run(chain, sweeps):
    """Sweep, and note the topic side and the word side of every state."""
    arrays, n_topics = chain.arrays, chain.settings.topics
    networked = chain.spec.citations is not None
    n_citations = len(chain.layout.citing)
    n_tokens = len(chain.layout.word)
    topic_rows, word_rows = [], []
    for _ in range(sweeps):
        if networked:
            chain._draws.weigh()
        chain.sweep_words()
        if networked and n_citations:
            chain.sweep_citations()
        topic = arrays["topic"]
        cited = arrays["citing_topic"][:n_citations] if networked else topic[:0]
        tables = tables_of(chain).ravel()[n_topics:]
        topic_rows.append(np.concatenate([topic, cited, tables]).astype(np.int8))
        words = [topic, arrays["burst_table"][:n_tokens], arrays["word_tables"].ravel()]
        word_rows.append(np.concatenate([*words, arrays["background_tables"]]).astype(np.int8))
    return np.array(topic_rows), np.array(word_rows)


def distances(case, sweeps):
    """Total variation of the assignments, the whole topic side and the word side."""
    spec, corpus = CASES[case]
    chain = twin(spec, **corpus)
    topic_exact, word_exact = TinyPosterior(chain).distribution()
    topic_rows, word_rows = run(chain, sweeps)
    topic_seen, word_seen = frequencies(topic_rows), frequencies(word_rows)
    width = len(chain.layout.word) + (len(chain.layout.citing) if chain.spec.citations else 0)
    return (
        total_variation(marginal(topic_exact, width), marginal(topic_seen, width)),
        total_variation(topic_exact, topic_seen),
        total_variation(word_exact, word_seen),
    )


@pytest.mark.parametrize("case", ["one paper, scntm", "one paper, bursty-hdp-lda"])
def test_frequencies_match_the_posterior(case):
    assignments, topic_side, word_side = distances(case, 30_000)
    assert assignments < 0.03
    assert topic_side < 0.08
    assert word_side < 0.06


@pytest.mark.long
def test_frequencies_match_the_posterior_with_citations():
    """Topics trade places rarely here, so that many sweeps are needed."""
    case = "a snapshot a paper, citations both ways"
    assignments, topic_side, word_side = distances(case, 150_000)
    assert assignments < 0.025
    assert topic_side < 0.045
    assert word_side < 0.025
