"""How a token's topic is proposed: from the weights of the slots inside, or from a table."""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.random import uniform
from citeweave.engines.core.stirling import weight_pair
from citeweave.engines.core.word_climb import background_weight, is_long
from citeweave.engines.core.word_side import BLOCK
from citeweave.engines.slots.proposal_tables import draw_proposal, proposal_weight
from citeweave.engines.slots.slots import add_slot, fill_word, slot_weight

__all__ = ["Token", "gamma_weight", "propose", "slot_root_weight"]

_FAST = {"reassoc", "contract", "nsz"}


class Token(NamedTuple):
    """A removed token, as needed to propose its next topic."""

    old: int
    """Slot of its previous topic."""
    background: float
    """Probability of its word under gamma."""
    listed: bool
    """Whether the author of its document is listed."""


@hot_kernel(fastmath=_FAST, forceinline=True)
def _slot_value(shape, slots, b, j, background):
    """Return the weight of the slot at place j of block b, without its own bursts."""
    weight = slots.root_blocks[b, j]
    for level in range(1, len(shape.shared) + len(shape.document)):
        above = slots.scale[level] * weight
        weight = slots.stay_blocks[level, b, j] + slots.open_blocks[level, b, j] * above
    word = slots.word_stay_blocks[b, j] * slots.inverse_blocks[b, j]
    word += slots.word_open_blocks[b, j] * slots.opening_blocks[b, j] * background
    if shape.burst > 0:
        word *= slots.burst_blocks[b, j]
    return weight * word


@hot_kernel(fastmath=_FAST, forceinline=True)
def _weigh_blocks(shape, slots, background, n_blocks):
    """Sum the weights of the slots inside, block by block; return the total."""
    total = np.float32(0.0)
    for b in range(n_blocks):
        mass = np.float32(0.0)
        for j in range(index(BLOCK)):
            mass += slots.inside_blocks[b, j] * _slot_value(shape, slots, b, j, background)
        slots.block_mass[b] = mass
        total += mass
    return total


@inlined
def slot_root_weight(parameters, slots, s):
    """Return the weight at mu of a slot's topic; free topics share the weight of a new one."""
    if slots.customers[0, s] > 0:
        return np.float32(slots.root[s])
    used = slots.total_tables[0]
    new = slots.beta[0] + parameters.topic_discount[0] * used
    return np.float32(new / max(slots.place.shape[0] - used, 1))


@inlined
def _full_weight(shape, tables, parameters, slots, s, background):
    """Return a slot's weight with its bursts, inside or not: W of eq:conditional_posterior."""
    leaf_level = len(shape.shared) + len(shape.document) - 1
    topic = slot_weight(slots, slot_root_weight(parameters, slots, s), leaf_level, s)
    word = slots.word_stay[s] * slots.inverse[s]
    word += slots.word_open[s] * slots.opening[s] * background
    if shape.burst > 0:
        word *= slots.burst_opening[s]
        c = slots.run_customers[s]
        if c > 0:
            stay, opened = weight_pair(tables.burst, c, slots.run_tables[s])
            word *= opened
            word += stay / (parameters.word_concentration[1] + slots.tokens[s])
    return topic * word


@inlined
def _correct_bursts(shape, tables, parameters, slots, z, background, run):
    """Add the burst tables of topics that have the current word already; return the change."""
    change = np.float32(0.0)
    slots.draws[0] += 1
    used = slots.used[0]
    by_slot = is_long(run, used)
    for i in range(used if by_slot else run.end - run.begin):
        s = index(i) if by_slot else index(slots.place[index(z[run.begin + i])])
        c = slots.run_customers[s]
        if c > 0 and slots.corrected[s] != slots.draws[0]:
            slots.corrected[s] = slots.draws[0]
            b = s // index(BLOCK)
            before = _slot_value(shape, slots, b, s - b * index(BLOCK), background)
            full = _full_weight(shape, tables, parameters, slots, s, background)
            more = np.float32(full - before)
            slots.correction[s] = more
            slots.block_mass[b] += more
            change += more
    return change


@inlined
def _pick_slot(shape, slots, background, n_blocks, target, bursting):
    """Return the slot inside at which the running sum passes ``target``; -1 if there is none."""
    for b in range(n_blocks):
        if target >= slots.block_mass[b]:
            target -= slots.block_mass[b]
            continue
        last = -1
        for j in range(index(BLOCK)):
            if slots.inside_blocks[b, j] > 0.0:
                s = b * index(BLOCK) + j
                value = _slot_value(shape, slots, b, j, background)
                if bursting and slots.corrected[s] == slots.draws[0]:
                    value += slots.correction[s]
                last = np.int64(s)
                if target < value:
                    return last
                target -= value
        if last >= 0:  # rounding: the last of the block
            return last
    return -1


@inlined
def gamma_weight(shape, n_words, parameters, slots):
    """Return the probability of the current word under gamma, as this document sees it."""
    stay, opened = slots.background_stay[0], slots.background_open[0]
    return background_weight(shape, n_words, parameters, slots.background_totals, stay, opened)


@inlined
def _outside_scale(shape, parameters, slots, listed):
    """Return s, which turns a word's table into weights of topics outside the document.

    Topics of a listed author count as inside; those of other authors are assumed to be distributed
    as in the corpus.
    """
    above = len(shape.shared) - 1 if len(shape.shared) > 1 else 1
    if listed or len(shape.shared) == 1:
        scale = slots.beta[above] + parameters.topic_discount[above] * slots.total_tables[above]
    else:
        scale = slots.beta[above] + slots.total_customers[above]
    for level in range(above + 1, len(shape.shared) + len(shape.document)):
        scale *= slots.scale[level]
    return scale


@inlined
def propose(rng, model, state, cache, slots, support, proposal, run, token, draw):
    """Propose a topic and accept or reject it.

    Returns the slot, whether it was assigned for this, and whether the proposal was accepted.
    ``draw`` counts topics proposed from tables and rejections.
    """
    shape, tables = model.shape, model.tables
    parameters = state.parameters
    w, old, listed = run.word, token.old, token.listed
    n_blocks = index((slots.used[0] + BLOCK - 1) // BLOCK)
    single = np.float32(token.background)
    mass = _weigh_blocks(shape, slots, single, n_blocks)
    bursting = shape.burst > 0 and run.end - run.begin > 1
    if bursting:
        z = state.assignments.topic
        mass += _correct_bursts(shape, tables, parameters, slots, z, single, run)
    unit = _outside_scale(shape, parameters, slots, listed) * proposal.word_mass[w]
    target = uniform(rng) * (mass + unit)
    picked = -1
    if target < mass:
        picked = _pick_slot(shape, slots, single, n_blocks, np.float32(target), bursting)
    table = proposal.word[w]
    joined = False
    if picked < 0:
        draw[0] += 1
        k = index(draw_proposal(rng, table))
        picked = np.int64(slots.place[k])
        if picked < 0:
            picked = np.int64(
                add_slot(shape, tables, state, cache, support.nodes, slots, k, listed)
            )
            fill_word(cache, support.words, slots, index(picked), w)
            joined = True
    new = index(picked)
    if new != old:
        unit /= np.float64(table[index(table.shape[0] - 1)])
        before = _full_weight(shape, tables, parameters, slots, old, single)
        after = _full_weight(shape, tables, parameters, slots, new, single)
        leaving = before * slots.inside[old] + unit * proposal_weight(table, slots.topic[old])
        coming = after * slots.inside[new] + unit * proposal_weight(table, slots.topic[new])
        if uniform(rng) * (before * coming) >= after * leaving:
            draw[1] += 1
            if joined:
                slots.used[0] -= 1
                slots.place[index(slots.topic[new])] = -1
            return old, False, False
    return new, joined, True
