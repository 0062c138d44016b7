"""The paper's fold-in (subsec:estimate_theta): independent topics, half as many tables.

Every sample draws a topic for each word from nu_b phi alone, takes half of the customers as
tables on each level, and reads theta' off the counts. Given the draws, theta' is a multiple of nu
plus a few topics' own shares, so the cost of a sample depends on the document's words and
citations, not on the number of topics.
"""

import numpy as np

from citeweave.compiled import hot_kernel, kernel
from citeweave.engines.core.random import uniform

__all__ = ["fold_in_paper", "fold_in_words_choose", "group_posterior", "infer_groups"]


@hot_kernel
def _search(cumulative, row, target):
    """Find where the running sums of a row pass ``target``; equals searchsorted(right)."""
    low = 0
    high = cumulative.shape[1] - 1
    while low < high:
        middle = (low + high) >> 1
        if cumulative[row, middle] > target:
            high = middle
        else:
            low = middle + 1
    return low


@hot_kernel
def group_posterior(word_topic, nodes, cited, rate, words, links, members, prior, posterior):
    """Compute the posterior of a document's group, with words and citations independent.

    Equals, up to normalisation, ``prior * prod(nodes @ phi[words])`` times the probability that
    these papers are the ones cited, ``prod(nodes @ cited[links] / nodes @ rate)``.
    """
    n_topics = nodes.shape[1]
    if members.shape[0] == 1:
        posterior[0] = 1.0
        return
    top = -np.inf
    for i in range(members.shape[0]):
        node = members[i]
        value = np.log(prior[i])
        if links.shape[0] > 0:
            total = 0.0
            for k in range(n_topics):
                total += nodes[node, k] * rate[k]
            value -= links.shape[0] * np.log(total)
        for n in range(words.shape[0] + links.shape[0]):
            total = 0.0
            if n < words.shape[0]:
                for k in range(n_topics):
                    total += nodes[node, k] * word_topic[words[n], k]
            else:
                for k in range(n_topics):
                    total += nodes[node, k] * cited[links[n - words.shape[0]], k]
            value += np.log(total)
        posterior[i] = value
        top = max(top, value)
    total = 0.0
    for i in range(members.shape[0]):
        posterior[i] = np.exp(posterior[i] - top)
        total += posterior[i]
    for i in range(members.shape[0]):
        posterior[i] /= total


@kernel
def infer_groups(base, documents, which, members, priors, posteriors):
    """Compute the posteriors of some documents' groups, with one prior per document."""
    word_topic, nodes, cited, rate = base.word_topic, base.nodes, base.cited, base.rate
    for i in range(which.shape[0]):
        d = which[i]
        words = documents.word[documents.start[d] : documents.start[d + 1]]
        links = documents.link[documents.link_start[d] : documents.link_start[d + 1]]
        group_posterior(
            word_topic, nodes, cited, rate, words, links, members, priors[i], posteriors[i]
        )


@hot_kernel
def _cumulate(nodes, node, rows, places, out):
    """Compute running sums of nu_k row_k; equals ``cumsum(nu * rows[places], axis=1)``."""
    for n in range(places.shape[0]):
        total = 0.0
        for k in range(nodes.shape[1]):
            total += nodes[node, k] * rows[places[n], k]
            out[n, k] = total


@hot_kernel
def _climb(customers, tables, totals, level, topics, n_touched):
    """Open half as many tables as customers, rounded up, from a level upwards."""
    for upper in range(level, -1, -1):
        totals[upper, 0] = 0
        totals[upper, 1] = 0
        for i in range(n_touched):
            k = topics[i]
            c = customers[upper, k]
            if upper < level:
                c = tables[upper + 1, k]
                customers[upper, k] = c
            t = (c + 1) >> 1
            tables[upper, k] = t
            totals[upper, 0] += c
            totals[upper, 1] += t


@hot_kernel
def _shares(discount, concentration, totals, shares, scales):
    """Compute each level's parent share (alpha T + beta) / (beta + C) and scale 1 / (beta + C)."""
    for level in range(discount.shape[0]):
        scale = 1.0 / (concentration[level] + totals[level, 0])
        scales[level] = scale
        shares[level] = (concentration[level] + discount[level] * totals[level, 1]) * scale


@hot_kernel
def _own(discount, customers, tables, shares, scales, last, k):
    """Return a topic's share beyond that of nu: eq:recover_vector with nu left out."""
    value = 0.0
    for level in range(last + 1):
        counts = customers[level, k] - discount[level] * tables[level, k]
        value = shares[level] * value + counts * scales[level]
    return value


@kernel
def fold_in_paper(base, sets, documents, random, first, last, samples, means):
    """Fold in documents ``first`` to ``last`` - 1, one random stream each."""
    # unpacked once: every access to a tuple counts references
    word_topic, nodes, cited, rate = base.word_topic, base.nodes, base.cited, base.rate
    discount, concentration = base.discount, base.concentration
    n_topics = nodes.shape[1]
    n_levels = discount.shape[0]
    seen = base.seen
    leaf = n_levels - 1
    most_words = 0
    most_links = 0
    for d in range(first, last):
        most_words = max(most_words, documents.start[d + 1] - documents.start[d])
        most_links = max(most_links, documents.link_start[d + 1] - documents.link_start[d])
    word_sums = np.empty((most_words, n_topics))
    link_sums = np.empty((most_links, n_topics))
    customers = np.zeros((n_levels, n_topics), np.int64)
    tables = np.zeros((n_levels, n_topics), np.int64)
    citing = np.zeros(n_topics, np.int64)
    totals = np.zeros((n_levels, 2), np.int64)
    shares = np.empty(n_levels)
    scales = np.empty(n_levels)
    touched = np.empty(n_topics, np.int64)
    is_touched = np.zeros(n_topics, np.uint8)
    own = np.zeros(n_topics)
    topic_sum = np.empty(n_topics)
    leaf_sum = np.empty(n_topics)
    posterior = np.empty(np.diff(sets.start).max())
    for d in range(first, last):
        rng = random[d - first]
        words = documents.word[documents.start[d] : documents.start[d + 1]]
        links = documents.link[documents.link_start[d] : documents.link_start[d + 1]]
        n_words = words.shape[0]
        n_links = links.shape[0]
        begin = sets.start[documents.group[d]]
        end = sets.start[documents.group[d] + 1]
        members = sets.node[begin:end]
        group_posterior(
            word_topic,
            nodes,
            cited,
            rate,
            words,
            links,
            members,
            sets.prior[begin:end],
            posterior,
        )
        topic_sum[:] = 0.0
        leaf_sum[:] = 0.0
        offset = uniform(rng)
        reached = 0.0
        done = 0
        for i in range(members.shape[0]):
            node = members[i]
            means.group[means.group_start[d] + i] = posterior[i]
            reached += posterior[i]
            if n_words + n_links == 0:
                for k in range(n_topics):
                    topic_sum[k] += samples * posterior[i] * nodes[node, k]
                    leaf_sum[k] = topic_sum[k]
                continue
            # systematic sampling: a group gets its share of the samples to within one
            until = samples if i == members.shape[0] - 1 else int(samples * reached + offset)
            if until == done:
                continue
            _cumulate(nodes, node, word_topic, words, word_sums)
            _cumulate(nodes, node, cited, links, link_sums)
            topic_share = 0.0
            leaf_share = 0.0
            for _ in range(until - done):
                n_touched = 0
                for n in range(n_words):
                    k = _search(word_sums, n, uniform(rng) * word_sums[n, n_topics - 1])
                    if is_touched[k] == 0:
                        is_touched[k] = 1
                        touched[n_touched] = k
                        n_touched += 1
                    customers[leaf, k] += 1
                _climb(customers, tables, totals, leaf, touched, n_touched)
                _shares(discount, concentration, totals, shares, scales)
                if n_links > 0:
                    share = 1.0
                    for level in range(seen + 1):
                        share *= shares[level]
                    n_own = n_touched
                    for j in range(n_own):
                        k = touched[j]
                        own[k] = _own(discount, customers, tables, shares, scales, seen, k)
                    for n in range(n_links):
                        # theta' is a mixture of nu's share and the touched topics' own: draw one
                        row = links[n]
                        total = share * link_sums[n, n_topics - 1]
                        for j in range(n_own):
                            total += own[touched[j]] * cited[row, touched[j]]
                        target = uniform(rng) * total
                        k = -1
                        for j in range(n_own):
                            target -= own[touched[j]] * cited[row, touched[j]]
                            if target < 0.0:
                                k = touched[j]
                                break
                        if k < 0:
                            k = _search(link_sums, n, target / share)
                        citing[k] += 1
                        if is_touched[k] == 0:
                            is_touched[k] = 1
                            touched[n_touched] = k
                            n_touched += 1
                    for j in range(n_touched):
                        k = touched[j]
                        customers[seen, k] += citing[k]
                        citing[k] = 0
                    _climb(customers, tables, totals, seen, touched, n_touched)
                    _shares(discount, concentration, totals, shares, scales)
                share = 1.0
                for level in range(n_levels):
                    share *= shares[level]
                    if level == seen:
                        topic_share += share
                leaf_share += share
                for j in range(n_touched):
                    k = touched[j]
                    topic_sum[k] += _own(discount, customers, tables, shares, scales, seen, k)
                    leaf_sum[k] += _own(discount, customers, tables, shares, scales, leaf, k)
                    is_touched[k] = 0
                    for level in range(n_levels):
                        customers[level, k] = 0
                        tables[level, k] = 0
            for k in range(n_topics):
                topic_sum[k] += topic_share * nodes[node, k]
                leaf_sum[k] += leaf_share * nodes[node, k]
            done = until
        for k in range(n_topics):
            means.topic[d, k] = topic_sum[k] / samples
            means.word_topic[d, k] = leaf_sum[k] / samples


@kernel
def fold_in_words_choose(base, sets, documents, first, last, means):
    """Fold in documents in which each word chooses one of the groups (the author-topic model).

    With nu and phi fixed, words are independent, so nothing is sampled: the result is the mean of
    nu over the groups that the words choose, with p(b | w) proportional to prior_b sum_k nu_bk
    phi_kw.
    """
    n_topics = base.nodes.shape[1]
    weight = np.empty(np.diff(sets.start).max())
    share = np.empty(weight.shape[0])
    for d in range(first, last):
        begin = sets.start[documents.group[d]]
        n_members = sets.start[documents.group[d] + 1] - begin
        n_words = documents.start[d + 1] - documents.start[d]
        share[:] = 0.0
        for n in range(documents.start[d], documents.start[d + 1]):
            total = 0.0
            for i in range(n_members):
                value = 0.0
                for k in range(n_topics):
                    phi = base.word_topic[documents.word[n], k]
                    value += base.nodes[sets.node[begin + i], k] * phi
                weight[i] = value * sets.prior[begin + i]
                total += weight[i]
            for i in range(n_members):
                share[i] += weight[i] / (total * n_words)
        for i in range(n_members):
            if n_words == 0:
                share[i] = sets.prior[begin + i]
            means.group[means.group_start[d] + i] = share[i]
        for k in range(n_topics):
            value = 0.0
            for i in range(n_members):
                value += share[i] * base.nodes[sets.node[begin + i], k]
            means.topic[d, k] = value
            means.word_topic[d, k] = value
