"""Fold-in by a collapsed Gibbs sampler of the document's own part of the hierarchy.

The levels above the document (nu of its group) and phi are held at their posterior means; the
counts of theta', theta and phi', their table indicators, the topics of words and of citations and,
where it is not known, the group are sampled from their exact conditionals. A customer of the
uppermost document level who opens a table draws from nu, which is fixed: the climb ends there.

How many training documents a new one cites is taken as given, since its propensity to cite is not
known; which ones it cites is not. The chance of these is lambda-_j sum_k lambdaT_k theta'_dk
theta'_jk over the rate of citing any. Topics are proposed without that denominator, which a
Metropolis-Hastings step puts right, as the main sampler does with its exponential.
"""

import numpy as np

from citeweave.compiled import hot_kernel, kernel
from citeweave.engines.core.arrays import level_table
from citeweave.engines.core.random import uniform
from citeweave.engines.core.stirling import weight_pair
from citeweave.foldin.moves import (
    accept,
    addition_depth,
    citing_rate,
    move_burst,
    move_customer,
    nested_weight,
    opening_scales,
    pick,
    removal_depth,
)
from citeweave.foldin.paper import group_posterior

__all__ = ["fold_in_gibbs"]


@hot_kernel
def _visit_words(
    rng,
    base_arrays,
    tables_of,
    words,
    node,
    counts,
    totals,
    weights,
    scales,
    z,
    bit,
    burst,
    run,
    masses,
    seen,
    n_links,
    starting,
):
    """Visit every token once: it leaves, draws topic and tables, and comes back.

    ``burst`` holds C and T of phi'_dk, ``run`` its customers and tables at the word at hand. At the
    start nobody is there to leave.
    """
    word_topic, nodes, discount, concentration, _, burst_discount, burst_beta = base_arrays
    n_topics = nodes.shape[1]
    leaf = discount.shape[0] - 1
    bursting = burst_beta < np.inf
    correct = n_links > 0 and not starting
    before = citing_rate(base_arrays, counts, totals, node, seen) if correct else 0.0
    begin = 0
    while begin < words.shape[0]:
        w = words[begin]
        end = begin + 1
        while end < words.shape[0] and words[end] == w:
            end += 1
        if not starting:
            for i in range(begin, end):
                run[0, z[i]] += 1
                run[1, z[i]] += bit[i]
        for i in range(begin, end):
            old = z[i]
            old_table = 0
            old_depth = 0
            if not starting:
                if bursting:
                    c = run[0, old]
                    t = run[1, old]
                    if t == c:
                        old_table = 1
                    elif uniform(rng) * c < t:
                        if t == 1:
                            continue
                        old_table = 1
                old_depth = removal_depth(rng, counts, leaf, old)
                if old_depth < 0:
                    continue
                move_customer(tables_of, counts, totals, weights, leaf, old, old_depth, -1)
                move_burst(burst, run, old, old_table, -1)
            opening_scales(discount, concentration, totals, scales)
            total = 0.0
            for k in range(n_topics):
                value = nodes[node, k]
                for level in range(leaf + 1):
                    value = weights[0, level, k] + weights[1, level, k] * scales[level] * value
                word = word_topic[w, k]
                if bursting:
                    word *= burst_beta + burst_discount * burst[1, k]
                    if run[0, k] > 0:
                        stay, opened = weight_pair(
                            level_table(tables_of, leaf + 1), run[0, k], run[1, k]
                        )
                        word = stay + opened * word
                    word /= burst_beta + burst[0, k]
                masses[k] = value * word
                total += masses[k]
            k = pick(rng, masses, total)
            depth = addition_depth(rng, weights, scales, nodes, node, leaf, k)
            move_customer(tables_of, counts, totals, weights, leaf, k, depth, 1)
            if correct and (max(depth, old_depth) >= leaf - seen):
                after = citing_rate(base_arrays, counts, totals, node, seen)
                if accept(rng, before, after, n_links):
                    before = after
                else:
                    move_customer(tables_of, counts, totals, weights, leaf, k, depth, -1)
                    move_customer(tables_of, counts, totals, weights, leaf, old, old_depth, 1)
                    move_burst(burst, run, old, old_table, 1)
                    continue
            z[i] = k
            word_table = 0
            if bursting:
                word_table = 1
                if run[0, k] > 0:
                    stay, opened = weight_pair(
                        level_table(tables_of, leaf + 1), run[0, k], run[1, k]
                    )
                    climb = burst_beta + burst_discount * burst[1, k]
                    climb *= opened * word_topic[w, k]
                    if uniform(rng) * (stay + climb) < stay:
                        word_table = 0
            move_burst(burst, run, k, word_table, 1)
        # who holds a table is forgotten: the first tokens of each topic get the bits
        for i in range(begin, end):
            k = z[i]
            bit[i] = 1 if run[1, k] > 0 else 0
            run[1, k] -= bit[i]
            run[0, k] = 0
        begin = end


@hot_kernel
def _visit_links(
    rng,
    base_arrays,
    tables_of,
    cited,
    seen,
    links,
    node,
    counts,
    totals,
    weights,
    scales,
    y,
    masses,
    starting,
):
    """Visit every citation once: its customer at theta' leaves and comes back."""
    _, nodes, discount, concentration, _, _, _ = base_arrays
    n_links = links.shape[0]
    correct = n_links > 0 and not starting
    before = citing_rate(base_arrays, counts, totals, node, seen) if correct else 0.0
    for e in range(n_links):
        old = y[e]
        old_depth = 0
        if not starting:
            old_depth = removal_depth(rng, counts, seen, old)
            if old_depth < 0:
                continue
            move_customer(tables_of, counts, totals, weights, seen, old, old_depth, -1)
        opening_scales(discount, concentration, totals, scales)
        total = 0.0
        for k in range(nodes.shape[1]):
            value = nested_weight(weights, scales, nodes, node, seen, k)
            masses[k] = value * cited[links[e], k]
            total += masses[k]
        k = pick(rng, masses, total)
        depth = addition_depth(rng, weights, scales, nodes, node, seen, k)
        move_customer(tables_of, counts, totals, weights, seen, k, depth, 1)
        if correct:
            after = citing_rate(base_arrays, counts, totals, node, seen)
            if not accept(rng, before, after, n_links):
                move_customer(tables_of, counts, totals, weights, seen, k, depth, -1)
                move_customer(tables_of, counts, totals, weights, seen, old, old_depth, 1)
                continue
            before = after
        y[e] = k


@hot_kernel
def _weigh_groups(base_arrays, log_nodes, members, prior, counts, totals, seen, n_links, posterior):
    """Fill p(b | counts): prior_b prod_k nu_bk^t_k, t the uppermost level's, by rate^-links."""
    top = -np.inf
    for i in range(members.shape[0]):
        value = np.log(prior[i])
        for k in range(log_nodes.shape[1]):
            if counts[1, 0, k] > 0:
                value += counts[1, 0, k] * log_nodes[members[i], k]
        if n_links > 0:
            value -= n_links * np.log(citing_rate(base_arrays, counts, totals, members[i], seen))
        posterior[i] = value
        top = max(top, value)
    total = 0.0
    for i in range(members.shape[0]):
        posterior[i] = np.exp(posterior[i] - top)
        total += posterior[i]
    for i in range(members.shape[0]):
        posterior[i] /= total


@kernel
def fold_in_gibbs(
    base, log_nodes, tables_of, sets, documents, random, first, last, burn_in, samples, means
):
    """Fold in documents ``first`` to ``last`` - 1, one random stream each.

    ``log_nodes`` is the logarithm of ``base.nodes``; ``tables_of`` has the ratio tables of the
    document levels and, last, of phi'.
    """
    word_topic, nodes, cited, rate = base.word_topic, base.nodes, base.cited, base.rate
    discount, concentration = base.discount, base.concentration
    burst_discount, burst_beta = base.burst_discount, base.burst_concentration
    base_arrays = (word_topic, nodes, discount, concentration, rate, burst_discount, burst_beta)
    n_topics = nodes.shape[1]
    n_levels = discount.shape[0]
    seen = base.seen
    most_words = 0
    most_links = 0
    for d in range(first, last):
        most_words = max(most_words, documents.start[d + 1] - documents.start[d])
        most_links = max(most_links, documents.link_start[d + 1] - documents.link_start[d])
    z = np.zeros(most_words, np.int64)
    bit = np.zeros(most_words, np.int64)
    added = np.zeros(most_words)
    y = np.zeros(most_links, np.int64)
    counts = np.zeros((2, n_levels, n_topics), np.int64)
    totals = np.zeros((2, n_levels), np.int64)
    weights = np.zeros((2, n_levels, n_topics))
    scales = np.empty(n_levels)
    burst = np.zeros((2, n_topics), np.int64)
    run = np.zeros((2, n_topics), np.int64)
    masses = np.empty(n_topics)
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
        counts[:] = 0
        totals[:] = 0
        weights[0] = 0.0
        weights[1] = 1.0
        burst[:] = 0
        topic_sum[:] = 0.0
        leaf_sum[:] = 0.0
        burst_sum[:] = 0.0
        posterior_sum[:] = 0.0
        added[:] = 0.0
        for sweep in range(-1 - burn_in, samples):
            starting = sweep == -1 - burn_in
            _visit_words(
                rng,
                base_arrays,
                tables_of,
                words,
                node,
                counts,
                totals,
                weights,
                scales,
                z,
                bit,
                burst,
                run,
                masses,
                seen,
                links.shape[0],
                starting,
            )
            _visit_links(
                rng,
                base_arrays,
                tables_of,
                cited,
                seen,
                links,
                node,
                counts,
                totals,
                weights,
                scales,
                y,
                masses,
                starting,
            )
            if n_members > 1:
                _weigh_groups(
                    base_arrays,
                    log_nodes,
                    members,
                    prior,
                    counts,
                    totals,
                    seen,
                    links.shape[0],
                    posterior,
                )
                node = members[pick(rng, posterior[:n_members], 1.0)]
            if sweep < 0:
                continue
            for k in range(n_topics):
                mean[k] = 0.0
            # given the counts the group is summed over, which costs no more than drawing it
            for i in range(n_members):
                posterior_sum[i] += posterior[i]
                for k in range(n_topics):
                    mean[k] += posterior[i] * nodes[members[i], k]
            for level in range(n_levels):
                scale = 1.0 / (concentration[level] + totals[0, level])
                share = (concentration[level] + discount[level] * totals[1, level]) * scale
                for k in range(n_topics):
                    own = counts[0, level, k] - discount[level] * counts[1, level, k]
                    mean[k] = share * mean[k] + own * scale
                if level == seen:
                    for k in range(n_topics):
                        topic_sum[k] += mean[k]
            for k in range(n_topics):
                leaf_sum[k] += mean[k]
                kept = 1.0
                if burst_beta < np.inf:
                    kept = (burst_beta + burst_discount * burst[1, k]) / (burst_beta + burst[0, k])
                burst_sum[k] += mean[k] * kept
            if burst_beta < np.inf:
                for i in range(words.shape[0]):
                    own = 1.0 - burst_discount * bit[i]
                    added[i] += mean[z[i]] * own / (burst_beta + burst[0, z[i]])
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
