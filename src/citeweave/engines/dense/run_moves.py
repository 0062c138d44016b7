"""A joint move: all tokens of one word in one document with one topic change topic together.

phi' couples these tokens. A single token that leaves the others loses most of its weight, so moving
token by token, a run hardly ever reaches a better topic. Here the tokens are removed one after the
other, and added back one after the other with one topic k that is proposed for all of them. Let W_j
be the weight of topic k for the j-th token added, given those before it. Each token is removed with
the distribution of indicators that adding it would use, so the density of a state times the
probability of this removal is the product of the W_j along the way. The move is exact if it is
accepted with probability

    min(1, prod_j W_j(new) q(old) / (prod_j W_j(old) q(new)) exp(-(change of E)))

with q the proposal among the topics that have no token of the word left, a function of the state
after all tokens are removed. If the removal of a token is blocked, the others are restored.

At phi', no token needs to be blocked. All n tokens are removed, and with them all t tables. This
fails only if the last token removed has no table. It has one with probability t / n, so indicators
are drawn given that it has one, and the ratio above gets the factor t(old) / t(new).
"""

import numpy as np

from citeweave.compiled import index, inlined
from citeweave.engines.core.climb import TopicPath, draw_removal, move_customer
from citeweave.engines.core.exponent import commit_change, discard_change, group_change
from citeweave.engines.core.random import uniform
from citeweave.engines.core.word_climb import draw_table_removal
from citeweave.engines.core.word_side import (
    draw_joining_word,
    joining_weights,
    shift_word,
    word_background,
)
from citeweave.engines.dense.document import (
    MOST_JOINT,
    draw_topic_addition,
    refresh_scales,
    topic_moved,
    topic_weight,
)

__all__ = ["move_run"]

_LEAVE, _COME, _UNDO_COME, _UNDO_LEAVE = 0, 1, 2, 3


@inlined
def _token_weight(shape, tables, cache, work, w, k, background):
    """Return the weight of topic k for one more token of word w, in double precision."""
    stay, climb, _, _ = joining_weights(shape, tables, cache, work, w, k, background)
    return np.float64(topic_weight(shape, work, 0, k)) * (stay + climb)


@inlined
def _draw_leaving(rng, shape, words, work, w, k):
    """Draw how far the word of a token of the run had climbed; 0 if its removal is blocked.

    Of c customers of phi' with t tables, the last one removed has a table; the others share t - 1.
    """
    customers, tables = work.run_customers[k], work.run_tables[k]
    if customers > 1 and uniform(rng) * (customers - 1) >= tables - 1:
        return 1
    topic = (words.customers[w, k], words.tables[w, k])
    background = (words.background_customers[w], words.background_tables[w])
    return draw_table_removal(rng, shape, topic, background)


@inlined
def _propose(rng, shape, cache, work, w, n, background):
    """Draw a topic for n tokens among those without the word; ``run_proposal`` keeps the weights.

    The first token has the weight that it would have alone. Later tokens mostly join its table, so
    that for them topics differ only by their own weights in the document.
    """
    n_topics = work.run_proposal.shape[0]
    for k in range(n_topics):
        word = cache.stay[w, k] * cache.inverse[k]
        word += cache.open[w, k] * cache.opening[k] * np.float32(background)
        side = topic_weight(shape, work, 0, k)
        free = np.float32(0.0 if work.run_customers[k] > 0 else 1.0)
        work.run_proposal[k] = free * side * work.burst_opening[k] * word
        work.run_each[k] = side * work.burst_inverse[k]
    for _ in range(1, n):
        for k in range(n_topics):
            work.run_proposal[k] *= work.run_each[k]
    total = 0.0
    for k in range(n_topics):
        total += work.run_proposal[k]
    target = uniform(rng) * total
    drawn = 0
    for k in range(work.run_proposal.shape[0]):
        value = work.run_proposal[k]
        if value > 0.0:
            drawn = k
            if target < value:
                break
            target -= value
    return index(drawn)


@inlined
def _rate_change(counts, parameters, exponent, work, ends, topics, n, below):
    """Return the change of E caused by the n moved tokens, left pending."""
    for step in range(ends.level + 1):
        for side in range(2):
            customers, tables = 0, 0
            for j in range(n):
                depth = work.run_depths[2 * side, j] - below
                customers += 1 if step < depth else 0
                tables += 1 if step + 1 < depth else 0
            work.run_turnover[step, 2 * side] = customers
            work.run_turnover[step, 2 * side + 1] = tables
    return group_change(counts, parameters, exponent, ends, topics, work.run_turnover)


@inlined
def move_run(shape, tables, state, cache, work, exponent, ends, run, networked):
    """Propose a common new topic for the tokens of one topic of a run, if there are several."""
    rng, counts, words = state.random, state.topics, state.words
    parameters, z = state.parameters, state.assignments.topic
    leaf_level = len(shape.shared) + len(shape.document) - 1
    w = run.word
    old = index(z[run.begin + np.int64(uniform(rng) * (run.end - run.begin))])
    new = old
    n = np.int64(work.run_customers[old])
    tables_before = work.run_tables[old]
    if n < 2 or n > MOST_JOINT:
        return
    ratio = 0.0
    left, came = 0, 0
    accepted = False
    for phase in range(4):
        rounds = n
        if phase == _COME:
            if left < n:
                continue
            background = word_background(shape, words, parameters, cache, w)
            new = _propose(rng, shape, cache, work, w, n, background)
            ratio += np.log(work.run_proposal[old] / work.run_proposal[new])
        elif phase == _UNDO_COME:
            rounds = 0 if accepted else came
        elif phase == _UNDO_LEAVE:
            rounds = 0 if accepted else left
        for i in range(rounds):
            j = i if phase < _UNDO_COME else rounds - 1 - i
            coming = phase in (_COME, _UNDO_LEAVE)
            k = new if phase in (_COME, _UNDO_COME) else old
            path = TopicPath(work.row[0], k)
            kept = 2 if phase in (_COME, _UNDO_COME) else 0
            if phase == _LEAVE:
                topic_depth = draw_removal(rng, counts, path, leaf_level)
                word_depth = _draw_leaving(rng, shape, words, work, w, k)
                if topic_depth == 0 or word_depth == 0:
                    break
                left += 1
            elif phase == _COME:
                if i > 0:
                    refresh_scales(shape, counts, parameters, work, 1)
                    background = word_background(shape, words, parameters, cache, w)
                ratio += np.log(_token_weight(shape, tables, cache, work, w, k, background))
                topic_depth = draw_topic_addition(rng, shape, work, 0, k)
                word_depth = draw_joining_word(
                    rng, shape, tables, words, parameters, cache, work, w, k, background
                )
                came += 1
            else:
                topic_depth = work.run_depths[kept, j]
                word_depth = work.run_depths[kept + 1, j]
            work.run_depths[kept, j] = topic_depth
            work.run_depths[kept + 1, j] = word_depth
            sign = 1 if coming else -1
            move_customer(counts, path, leaf_level, topic_depth, sign)
            topic_moved(shape, tables, counts, parameters, work, 1, path, topic_depth)
            shift_word(shape, tables, words, parameters, cache, work, w, k, word_depth, sign)
            if phase == _LEAVE:
                refresh_scales(shape, counts, parameters, work, 1)
                background = word_background(shape, words, parameters, cache, w)
                ratio -= np.log(_token_weight(shape, tables, cache, work, w, k, background))
        if phase == _COME:
            change = 0.0
            if networked:
                topics = (old, new)
                below = shape.below_citations
                change = _rate_change(counts, parameters, exponent, work, ends, topics, n, below)
            first = tables_before / work.run_tables[new]
            accepted = uniform(rng) < first * np.exp(ratio - change)
            if networked and accepted:
                commit_change(exponent)
            elif networked:
                discard_change(exponent)
    if accepted and new != old:
        for i in range(run.begin, run.end):
            if z[i] == old:
                z[i] = new
