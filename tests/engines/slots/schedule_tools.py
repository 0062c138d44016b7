"""Chains over slots run as runs run them: tables of proposals adapt, then samples are kept."""

import numpy as np
from sparse_tools import make_runner, note_topics, slot_chain, take_sweeps

from citeweave.engines.core.sparse_sweeps import RefreshSchedule
from citeweave.engines.slots.words import word_sweep

RUN_NOTING_TOPICS = make_runner(word_sweep, note_topics)
CAP = 300


def capped_chain(spec, **corpus):
    """Make a chain of a few tokens and as many topics as sparse sweeps have, all of them alike."""
    chain = slot_chain(spec, topics=CAP, **corpus)
    chain.state.parameters.topic_scale[:] = 1.0
    return chain


def sweep(chain, sweeps):
    """Take sweeps with the tables as they are; gives the topics of all tokens and citations."""
    n_citations = len(chain.layout.citing) if chain.spec.citations else 0
    rows = np.zeros((sweeps, len(chain.layout.word) + n_citations), np.int16)
    take_sweeps(chain, sweeps, RUN_NOTING_TOPICS, rows)
    chain.clock[0] += sweeps
    return rows


def run(chain, iterations, burn_in, *, freeze=True, most_listed=64):
    """Run a chain from iteration 0 on by the schedule of a run; gives what is kept of it.

    The engine's own schedule decides where tables are made anew.
    """
    schedule = chain.proposals.schedule = RefreshSchedule()
    chain.clock[0] = 0
    kept = []
    while chain.iteration < iterations:
        keeping = chain.iteration >= burn_in
        if keeping and freeze:
            chain.freeze()
        if schedule.is_due(chain.iteration):
            chain.proposals.refresh(most_listed)
            if chain.spec.citations is not None:
                chain.proposals.before_citations()
        until = chain.iteration + 1
        while until < (iterations if keeping else burn_in) and not schedule.is_due(until):
            until += 1
        rows = sweep(chain, until - chain.iteration)
        if keeping:
            kept.append(rows)
    return np.concatenate(kept)
