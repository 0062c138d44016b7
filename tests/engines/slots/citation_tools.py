"""Chains whose citations are swept by bits, and what the sweep needs besides."""

from dataclasses import replace

import numpy as np
import pytest

from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.exponent import rebuild_exponent
from citeweave.engines.core.spec import Level, preset
from citeweave.engines.dense.chain import DenseChain
from citeweave.engines.slots.citations import new_citation_work
from citeweave.engines.slots.presence import mark_topics, new_presence
from citeweave.engines.slots.proposal_tables import (
    make_citation_proposal,
    make_word_proposal,
    new_proposal_tables,
)
from citeweave.engines.slots.rates import gather_rates, new_rates
from citeweave.engines.threads.workers import WorkerPool
from reference.loops import loop
from reference.posterior import TinyPosterior
from reference.run import frequencies, marginal, run_chain, total_variation

SPECS = {
    "authors": preset("scntm"),
    "no authors": preset("scntm").without("nu"),
    "fields above authors": replace(
        preset("scntm"),
        topic_side=(
            preset("scntm").topic_side[0],
            Level("field", "group", 0.02),
            *preset("scntm").topic_side[1:],
        ),
    ),
}
MODELS = [
    "authors",
    pytest.param("no authors", marks=pytest.mark.long),  # kernels that no other test needs
    pytest.param("fields above authors", marks=pytest.mark.long),
]


def cited_data(spec, *, documents=60, authors=6, citations=200, seed=3):
    """Draw a corpus whose papers cite papers of their own author, others, and one itself."""
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(12, documents)
    field = rng.integers(3, size=documents)
    tokens = rng.geometric(0.2, lengths.sum()).clip(max=10) + 10 * np.repeat(field, lengths)
    group = rng.integers(authors, size=documents)
    citing = np.sort(rng.integers(documents, size=citations))
    cited = rng.integers(documents, size=citations)
    cited[0] = citing[0]
    places = np.arange(documents)
    shared = {
        1: (np.zeros(documents, int),),
        2: (np.zeros(authors, int), group),
        3: (np.zeros(2, int), np.arange(authors) % 2, group),
    }[spec.n_shared]
    return Data(
        tokens=tokens.astype(np.int32),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        n_words=31,
        parents=(*shared, *(places,) * (spec.n_document - 1)),
        leaf=places,
        leaf_start=np.arange(documents + 1),
        citing=citing.astype(np.int32),
        cited=cited.astype(np.int32),
    )


def cited_chain(model, topics, *, steps=2, **corpus):
    """Make a chain over all topics that has taken a few steps with citations."""
    spec = SPECS[model]
    chain = DenseChain(spec, cited_data(spec, **corpus), ChainSettings(topics=topics), seed=5)
    chain.start()
    for _ in range(steps):
        chain.step()
    return chain


@loop
def gather_all(level, layout, state, exponent, presence, rates):
    """Make bits and sums from the counts."""
    mark_topics(state.topics, presence, 0, presence.shape[0])
    rebuild_exponent(layout, state.topics, state.parameters, level, exponent)
    gather_rates(state.topics, state.parameters, exponent, rates)


def sparse_room(chain):
    """Make what the sweep needs of a chain: work, presence, proposal, rates, its tally."""
    topics = chain.settings.topics
    proposal = new_proposal_tables(
        chain.layout, chain.spec.n_shared, len(chain.state.words.customers), topics
    )
    make_word_proposal(
        WorkerPool(1), chain.shape, chain.layout, chain.tables, chain.state, chain.cache, proposal
    )
    make_citation_proposal(chain.state.parameters, proposal)
    presence, rates = new_presence(len(chain.layout.parent), topics), new_rates(topics)
    gather_all(chain.citation_level, chain.layout, chain.state, chain.exponent, presence, rates)
    work = new_citation_work(topics, len(chain.spec.topic_side))
    return work, presence, proposal, rates, np.zeros(6, np.int64)


def citation_lists(chain):
    """Find out where the citations begin that a paper makes, and which it receives."""
    layout = chain.layout
    made, received = (
        np.bincount(ends, minlength=chain.n_documents) for ends in (layout.citing, layout.cited)
    )
    return (
        np.concatenate([[0], np.cumsum(made)]).astype(np.int64),
        np.concatenate([[0], np.cumsum(received)]).astype(np.int64),
        np.argsort(layout.cited, kind="stable").astype(np.int64),
    )


def distances(chain, runner, sweeps):
    """Total variation of assignments alone, and of assignments with each side's tables."""
    topic_exact, word_exact = TinyPosterior(chain).distribution()
    topic_rows, word_rows = run_chain(chain, runner, sweeps)
    topic_seen, word_seen = frequencies(topic_rows), frequencies(word_rows)
    width = len(chain.layout.word) + len(chain.layout.citing)
    return (
        total_variation(marginal(topic_exact, width), marginal(topic_seen, width)),
        total_variation(topic_exact, topic_seen),
        total_variation(word_exact, word_seen),
    )
