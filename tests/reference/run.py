"""Run a chain's sweeps many times in compiled code and note every state it passes."""

import numpy as np

from citeweave.engines.dense.words import TURNS
from reference.loops import loop


def topic_record_width(chain):
    state = chain.state
    citations = len(chain.layout.citing) if chain.spec.citations else 0
    tables = state.topics.tables[1:].size
    return len(state.assignments.topic) + len(state.assignments.path) + citations + tables


def word_record_width(chain):
    state = chain.state
    background = state.words.background_tables.size if chain.spec.word_level("corpus") else 0
    return (
        len(state.assignments.topic)
        + len(state.assignments.burst_table)
        + state.words.tables.size
        + background
    )


@loop
def _note(records, row, at, values):
    for value in values:
        records[row, at] = value
        at += 1
    return at


def make_runner(word_sweep, citation_sweep, rebuild_exponent):
    """Build the loop around a set of kernels: the real ones, or broken variants of them."""

    @loop
    def run(sweeps, thin, level, model, state, cache, work, exponent, visits, records):
        shape, layout, tables = model
        word_work, citation_work = work
        documents, turns = visits
        topic_rows, word_rows = records
        tally = np.zeros(5, np.int64)
        citation_tally = np.zeros(4, np.int64)
        for sweep in range(sweeps):
            if shape.network > 0:
                rebuild_exponent(layout, state.topics, state.parameters, level, exponent)
            mode = turns[sweep % len(turns)]
            word_sweep(
                shape, layout, tables, state, cache, word_work, exponent, documents, mode, tally
            )
            if shape.network > 0:
                citation_sweep(
                    level, layout, tables, state, citation_work, exponent, citation_tally
                )
            if sweep % thin == thin - 1:
                row = sweep // thin
                at = _note(topic_rows, row, 0, state.assignments.topic)
                at = _note(topic_rows, row, at, state.assignments.path)
                if shape.network > 0:
                    at = _note(topic_rows, row, at, state.assignments.citing_topic)
                _note(topic_rows, row, at, state.topics.tables[1:].ravel())
                at = _note(word_rows, row, 0, state.assignments.topic)
                at = _note(word_rows, row, at, state.assignments.burst_table)
                at = _note(word_rows, row, at, state.words.tables.ravel())
                if shape.background > 0:
                    _note(word_rows, row, at, state.words.background_tables)

    return run


def run_chain(chain, runner, sweeps, *, thin=2):
    """Run and return the visited topic-side and word-side states, one a row."""
    rows = sweeps // thin
    topic_rows = np.zeros((rows, topic_record_width(chain)), np.int8)
    word_rows = np.zeros((rows, word_record_width(chain)), np.int8)
    runner(
        sweeps,
        thin,
        chain.citation_level,
        (chain.shape, chain.layout, chain.tables),
        chain.state,
        chain.cache,
        (chain._work, chain._citation_work),
        chain.exponent,
        ((0, chain.n_documents), TURNS),  # written into the loop they would be types of their own
        (topic_rows, word_rows),
    )
    return topic_rows, word_rows


def distinct_rows(rows, **returned):
    """Do as ``np.unique(rows, axis=0)``, in another order and a twentieth of the time.

    A row is compared as one string of bytes, not entry by entry.
    """
    rows = np.ascontiguousarray(rows)
    whole = rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel()
    keys, *found = np.unique(whole, **returned)
    return keys.view(rows.dtype).reshape(-1, rows.shape[1]), *found


def frequencies(rows):
    keys, counts = distinct_rows(rows, return_counts=True)
    total = counts.sum()
    return {
        tuple(int(x) for x in key): count / total for key, count in zip(keys, counts, strict=True)
    }


def total_variation(exact, seen):
    """Half the sum of absolute differences; states outside the exact support count in full."""
    keys = exact.keys() | seen.keys()
    return 0.5 * sum(abs(exact.get(key, 0.0) - seen.get(key, 0.0)) for key in keys)


def marginal(distribution, width):
    """Sum out all but the first ``width`` entries of the keys."""
    out = {}
    for key, weight in distribution.items():
        out[key[:width]] = out.get(key[:width], 0.0) + weight
    return out
