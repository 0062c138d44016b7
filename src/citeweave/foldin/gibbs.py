"""Fold-in by a collapsed Gibbs sampler of the document's own part of the hierarchy.

The levels above the document (nu of its group) and phi are held at their posterior means; the
counts of theta', theta and phi', their table indicators, the topics of words and of citations and,
if unknown, the group are sampled from their exact conditionals. A customer of the
uppermost document level who opens a table draws from nu, which is fixed: the climb ends there.

The number of training documents that a new one cites is taken as given, because its propensity to
cite is unknown; which ones it cites is modelled. Their probability is lambda-_j sum_k lambdaT_k
theta'_dk theta'_jk over the rate of citing any. Topics are proposed without that denominator, which
a Metropolis-Hastings step corrects for, like the exponential in the main sampler.
"""

import numpy as np

from citeweave.compiled import hot_kernel, inlined, kernel
from citeweave.engines.core.arrays import level_table
from citeweave.engines.core.climb import (
    TopicPath,
    draw_nested_addition,
    draw_removal,
    nested_weight,
)
from citeweave.engines.core.random import uniform
from citeweave.engines.core.stirling import weight_pair
from citeweave.engines.core.word_climb import hand_out_table, leaves_table, next_run
from citeweave.foldin.moves import (
    accept,
    citing_rate,
    empty,
    move_burst,
    new_scratch,
    opening_scales,
    pick,
    shift_customer,
)
from citeweave.foldin.paper import group_posterior

__all__ = ["fold_in_gibbs"]


@inlined
def _weigh_topics(base, tables_of, scratch, node, w):
    """Compute the weights of all topics for a token of a word; return their sum."""
    weights = scratch.weights
    leaf_level = base.discount.shape[0]
    burst_discount, burst_beta = base.burst_discount, base.burst_concentration
    total = 0.0
    for k in range(base.nodes.shape[1]):
        value = nested_weight(weights, base.nodes[node, k], leaf_level, k)
        word = base.word_topic[w, k]
        if burst_beta < np.inf:
            word *= burst_beta + burst_discount * scratch.burst_tables[k]
            if scratch.run_customers[k] > 0:
                stay, opened = weight_pair(
                    level_table(tables_of, leaf_level),
                    scratch.run_customers[k],
                    scratch.run_tables[k],
                )
                word = stay + opened * word
            word /= burst_beta + scratch.tokens[k]
        scratch.mass[k] = value * word
        total += scratch.mass[k]
    return total


@inlined
def _draw_burst(rng, base, tables_of, scratch, w, k):
    """Draw whether a new token of a word opens a table at phi'."""
    if base.burst_concentration == np.inf:
        return 0
    if scratch.run_customers[k] > 0:
        table = level_table(tables_of, base.discount.shape[0])
        stay, opened = weight_pair(table, scratch.run_customers[k], scratch.run_tables[k])
        climb = base.burst_concentration + base.burst_discount * scratch.burst_tables[k]
        climb *= opened * base.word_topic[w, k]
        if uniform(rng) * (stay + climb) < stay:
            return 0
    return 1


@hot_kernel
def _visit_words(rng, base, tables_of, words, node, scratch, n_links, starting):
    """Visit every token once: remove it, draw topic and tables, and add it back.

    At the start there is nothing to remove.
    """
    counts, weights, row = scratch.counts, scratch.weights, scratch.row
    z, bit = scratch.word_topic, scratch.burst_table
    leaf_level = base.discount.shape[0]
    bursting = base.burst_concentration < np.inf
    correct = n_links > 0 and not starting
    before = citing_rate(base, counts, node) if correct else 0.0
    begin = 0
    while begin < words.shape[0]:
        run = next_run(words, begin, words.shape[0])
        w = run.word
        if not starting:
            for i in range(run.begin, run.end):
                scratch.run_customers[z[i]] += 1
                scratch.run_tables[z[i]] += bit[i]
        for i in range(run.begin, run.end):
            old = z[i]
            old_table = 0
            old_depth = 0
            if not starting:
                if bursting:
                    old_table = leaves_table(
                        rng, scratch.run_customers[old], scratch.run_tables[old]
                    )
                    if old_table < 0:
                        continue
                old_depth = draw_removal(rng, counts, TopicPath(row, old), leaf_level)
                if old_depth == 0:
                    continue
                shift_customer(tables_of, scratch, leaf_level, old, old_depth, -1)
                move_burst(scratch, old, old_table, -1)
            opening_scales(base, scratch)
            k = pick(rng, scratch.mass, _weigh_topics(base, tables_of, scratch, node, w))
            depth = draw_nested_addition(rng, weights, base.nodes[node, k], leaf_level, k)
            shift_customer(tables_of, scratch, leaf_level, k, depth, 1)
            if correct and max(depth, old_depth) >= leaf_level - base.seen:
                after = citing_rate(base, counts, node)
                if accept(rng, before, after, n_links):
                    before = after
                else:
                    shift_customer(tables_of, scratch, leaf_level, k, depth, -1)
                    shift_customer(tables_of, scratch, leaf_level, old, old_depth, 1)
                    move_burst(scratch, old, old_table, 1)
                    continue
            z[i] = k
            move_burst(scratch, k, _draw_burst(rng, base, tables_of, scratch, w, k), 1)
        for i in range(run.begin, run.end):
            hand_out_table(bit, i, scratch, z[i])
        begin = run.end


@hot_kernel
def _visit_links(rng, base, tables_of, links, node, scratch, starting):
    """Visit every citation once: remove its customer at theta' and add it back."""
    counts, weights, y = scratch.counts, scratch.weights, scratch.citing_topic
    n_links = links.shape[0]
    level = base.seen + 1
    correct = n_links > 0 and not starting
    before = citing_rate(base, counts, node) if correct else 0.0
    for e in range(n_links):
        old = y[e]
        old_depth = 0
        if not starting:
            old_depth = draw_removal(rng, counts, TopicPath(scratch.row, old), level)
            if old_depth == 0:
                continue
            shift_customer(tables_of, scratch, level, old, old_depth, -1)
        opening_scales(base, scratch)
        total = 0.0
        for k in range(base.nodes.shape[1]):
            value = nested_weight(weights, base.nodes[node, k], level, k)
            scratch.mass[k] = value * base.cited[links[e], k]
            total += scratch.mass[k]
        k = pick(rng, scratch.mass, total)
        depth = draw_nested_addition(rng, weights, base.nodes[node, k], level, k)
        shift_customer(tables_of, scratch, level, k, depth, 1)
        if correct:
            after = citing_rate(base, counts, node)
            if not accept(rng, before, after, n_links):
                shift_customer(tables_of, scratch, level, k, depth, -1)
                shift_customer(tables_of, scratch, level, old, old_depth, 1)
                continue
            before = after
        y[e] = k


@hot_kernel
def _weigh_groups(base, log_nodes, members, prior, counts, n_links, posterior):
    """Compute p(b | counts): prior_b prod_k nu_bk^t_k rate^-links, t of the uppermost level."""
    top = -np.inf
    for i in range(members.shape[0]):
        value = np.log(prior[i])
        for k in range(log_nodes.shape[1]):
            if counts.tables[0, k] > 0:
                value += counts.tables[0, k] * log_nodes[members[i], k]
        if n_links > 0:
            value -= n_links * np.log(citing_rate(base, counts, members[i]))
        posterior[i] = value
        top = max(top, value)
    total = 0.0
    for i in range(members.shape[0]):
        posterior[i] = np.exp(posterior[i] - top)
        total += posterior[i]
    for i in range(members.shape[0]):
        posterior[i] /= total


@kernel
def fold_in_gibbs(base, log_nodes, tables_of, sets, documents, random, span, sweeps, means):
    """Fold in documents ``span[0]`` to ``span[1]`` - 1, one random stream each.

    ``sweeps`` holds the number of sweeps before the first sample and the number of samples;
    ``log_nodes`` is the logarithm of ``base.nodes``; ``tables_of`` holds the ratio tables of the
    document levels and, last, of phi'.
    """
    word_topic, nodes, cited, rate = base.word_topic, base.nodes, base.cited, base.rate
    discount, concentration = base.discount, base.concentration
    burst_discount, burst_beta = base.burst_discount, base.burst_concentration
    first, last = span
    burn_in, samples = sweeps
    n_topics = nodes.shape[1]
    n_levels = discount.shape[0]
    seen = base.seen
    most_words = 0
    most_links = 0
    for d in range(first, last):
        most_words = max(most_words, documents.start[d + 1] - documents.start[d])
        most_links = max(most_links, documents.link_start[d + 1] - documents.link_start[d])
    scratch = new_scratch(n_levels, n_topics, most_words, most_links)
    counts, z, bit = scratch.counts, scratch.word_topic, scratch.burst_table
    tokens, burst_tables = scratch.tokens, scratch.burst_tables
    added = np.zeros(most_words)
    mean = np.empty(n_topics)
    topic_sum = np.empty(n_topics)
    leaf_sum = np.empty(n_topics)
    burst_sum = np.empty(n_topics)
    most_members = np.diff(sets.start).max()
    posterior = np.empty(most_members)
    posterior_sum = np.empty(most_members)
    for d in range(first, last):
        rng = random[d - first]
        begin = documents.start[d]
        words = documents.word[begin : documents.start[d + 1]]
        links = documents.link[documents.link_start[d] : documents.link_start[d + 1]]
        set_begin = sets.start[documents.group[d]]
        members = sets.node[set_begin : sets.start[documents.group[d] + 1]]
        prior = sets.prior[set_begin : set_begin + members.shape[0]]
        n_members = members.shape[0]
        group_posterior(word_topic, nodes, cited, rate, words, links, members, prior, posterior)
        node = members[pick(rng, posterior[:n_members], 1.0)]
        empty(scratch)
        topic_sum[:] = 0.0
        leaf_sum[:] = 0.0
        burst_sum[:] = 0.0
        posterior_sum[:] = 0.0
        added[:] = 0.0
        for sweep in range(-1 - burn_in, samples):
            starting = sweep == -1 - burn_in
            n_links = links.shape[0]
            _visit_words(rng, base, tables_of, words, node, scratch, n_links, starting)
            _visit_links(rng, base, tables_of, links, node, scratch, starting)
            if n_members > 1:
                _weigh_groups(base, log_nodes, members, prior, counts, n_links, posterior)
                node = members[pick(rng, posterior[:n_members], 1.0)]
            if sweep < 0:
                continue
            for k in range(n_topics):
                mean[k] = 0.0
            # given the counts, the group is summed over, which costs no more than drawing it
            for i in range(n_members):
                posterior_sum[i] += posterior[i]
                for k in range(n_topics):
                    mean[k] += posterior[i] * nodes[members[i], k]
            for level in range(n_levels):
                scale = 1.0 / (concentration[level] + counts.total_customers[level])
                share = (
                    concentration[level] + discount[level] * counts.total_tables[level]
                ) * scale
                for k in range(n_topics):
                    own = counts.customers[level, k] - discount[level] * counts.tables[level, k]
                    mean[k] = share * mean[k] + own * scale
                if level == seen:
                    for k in range(n_topics):
                        topic_sum[k] += mean[k]
            for k in range(n_topics):
                leaf_sum[k] += mean[k]
                kept = 1.0
                if burst_beta < np.inf:
                    kept = burst_beta + burst_discount * burst_tables[k]
                    kept /= burst_beta + tokens[k]
                burst_sum[k] += mean[k] * kept
            if burst_beta < np.inf:
                for i in range(words.shape[0]):
                    own = 1.0 - burst_discount * bit[i]
                    added[i] += mean[z[i]] * own / (burst_beta + tokens[z[i]])
        for i in range(n_members):
            means.group[means.group_start[d] + i] = posterior_sum[i] / samples
        for k in range(n_topics):
            means.topic[d, k] = topic_sum[k] / samples
            means.word_topic[d, k] = leaf_sum[k] / samples
            means.burst_topic[d, k] = burst_sum[k] / samples
        run_begin = 0
        while run_begin < words.shape[0]:
            total = 0.0
            run_end = run_begin
            while run_end < words.shape[0] and words[run_end] == words[run_begin]:
                total += added[run_end]
                run_end += 1
            for i in range(run_begin, run_end):
                means.burst_word[begin + i] = total / samples
            run_begin = run_end
