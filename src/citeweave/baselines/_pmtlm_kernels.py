"""The two halves of an EM step of PMTLM, compiled; docs/understand/pmtlm.md derives them.

Kernels here call none from other files, because Numba's cache would not notice a change there.
"""

import math
from typing import NamedTuple

import numpy as np

from citeweave.compiled import kernel

__all__ = ["PmtlmData", "PmtlmParameters", "PmtlmSums", "expect", "maximise", "place"]

_MOST_STEPS = 200
_SMALL = 1e-150  # smaller ones would soon be denormal (slow); products are normal


class PmtlmData(NamedTuple):
    """The observed data.

    Attributes
    ----------
    offsets : ndarray of int64, shape (D + 1,)
        Document d has the entries offsets[d] to offsets[d + 1] of the next two.
    words : ndarray of int32
        Distinct words of each document.
    shares : ndarray
        C_dw / L_d, the share of the document's tokens that are this word.
    first, second : ndarray of int32, shape (E,)
        Ends of each undirected link.
    times : ndarray, shape (E,)
        A_dd', the number of times it occurs.
    """

    offsets: np.ndarray
    words: np.ndarray
    shares: np.ndarray
    first: np.ndarray
    second: np.ndarray
    times: np.ndarray


class PmtlmParameters(NamedTuple):
    """theta [D, K], beta word by topic [V, K], S [D] and eta [K]."""

    doc_topic: np.ndarray
    word_topic: np.ndarray
    popularity: np.ndarray
    topic_scale: np.ndarray


class PmtlmSums(NamedTuple):
    """The results of the E-step for the M-step.

    a_dz = sum_w C_dw h_dw(z) / L_d and b_dz = sum_d' A_dd' q_dd'(z), both [D, K], and
    sum_d C_dw h_dw(z) / L_d, [V, K].
    """

    doc_words: np.ndarray
    doc_links: np.ndarray
    word_topic: np.ndarray


@kernel
def expect(data: PmtlmData, now: PmtlmParameters, sums: PmtlmSums) -> tuple[float, float]:
    """Fill in the sums, and return the log likelihoods of words and of links.

    In plain NumPy, with C the dense shares and A the dense, symmetric links::

        h = theta[:, None, :] * beta[None, :, :]       # [D, V, K], rows scaled to sum to 1
        q = S S' eta theta theta'                      # [D, D, K], the same
        doc_words, doc_links = (C * h).sum(1), (A * q).sum(1)
    """
    theta, beta = now.doc_topic, now.word_topic
    documents, topics = theta.shape
    weights = np.empty(topics)
    sums.doc_words[:] = 0.0
    sums.doc_links[:] = 0.0
    sums.word_topic[:] = 0.0
    by_words = 0.0
    for d in range(documents):
        for entry in range(data.offsets[d], data.offsets[d + 1]):
            w = data.words[entry]
            share = data.shares[entry]
            total = 0.0
            for z in range(topics):
                weights[z] = theta[d, z] * beta[w, z]
                total += weights[z]
            if total > 0.0:
                by_words += share * math.log(total)
                factor = share / total
            else:  # only if alpha = 0 and theta is estimated without the words
                by_words = -math.inf
                weights[:] = 1.0
                factor = share / topics
            for z in range(topics):
                part = factor * weights[z]
                sums.doc_words[d, z] += part
                sums.word_topic[w, z] += part
    by_links = 0.0
    for link in range(len(data.first)):
        i, j = data.first[link], data.second[link]
        times = data.times[link]
        total = 0.0
        for z in range(topics):
            weights[z] = now.topic_scale[z] * theta[i, z] * theta[j, z]
            total += weights[z]
        rate = total * now.popularity[i] * now.popularity[j]
        if rate > 0.0:
            by_links += times * math.log(rate)
            factor = times / total
        else:  # only if alpha = 1 and theta is estimated without the links
            by_links = -math.inf
            weights[:] = 1.0
            factor = times / topics
        for z in range(topics):
            part = factor * weights[z]
            sums.doc_links[i, z] += part
            sums.doc_links[j, z] += part
    for z in range(topics):
        mass = 0.0
        for d in range(documents):
            mass += now.popularity[d] * theta[d, z]
        by_links -= 0.5 * now.topic_scale[z] * mass * mass
    return by_words, by_links


@kernel
def maximise(sums: PmtlmSums, now: PmtlmParameters, alpha: float, degree_corrected: bool) -> None:  # noqa: FBT001 (kernels take no keywords)
    """Move the parameters uphill, in place: beta and eta in closed form, theta and S by one root.

    For every document the values solve (with c = alpha a + (1 - alpha) b, r = M / T)

        theta_z = c_z / (alpha + (1 - alpha) r_z S),   sum_z theta_z = 1   (degree-corrected),
        theta_z = c_z / (lambda + (1 - alpha) r_z),    sum_z theta_z = 1   (plain, S = 1).
    """
    theta = now.doc_topic
    documents, topics = theta.shape
    slope = np.zeros(topics)  # r
    mass = np.zeros(topics)  # T, then anew
    links = np.zeros(topics)  # M
    for d in range(documents):
        for z in range(topics):
            mass[z] += now.popularity[d] * theta[d, z]
            links[z] += sums.doc_links[d, z]
    for z in range(topics):
        slope[z] = links[z] / mass[z] if mass[z] > 0.0 else 0.0

    rest = 1.0 - alpha
    wanted = np.empty(topics)  # c
    for d in range(documents):
        text = 0.0
        degree = 0.0
        for z in range(topics):
            text += sums.doc_words[d, z]
            degree += sums.doc_links[d, z]
            wanted[z] = 0.0
            if alpha > 0.0:
                wanted[z] += alpha * sums.doc_words[d, z]
            if rest > 0.0:
                wanted[z] += rest * sums.doc_links[d, z]
        _document_topics(wanted, slope, alpha, text, degree, degree_corrected, theta[d])
        if degree_corrected:
            now.popularity[d] = 0.0
            if rest == 0.0:  # theta is not fitted to the links, so no S makes their rates fit
                now.popularity[d] = degree
            elif degree > 0.0:
                pull = 0.0
                for z in range(topics):
                    pull += slope[z] * theta[d, z]
                now.popularity[d] = degree / pull

    mass[:] = 0.0
    for d in range(documents):
        for z in range(topics):
            if theta[d, z] < _SMALL:
                theta[d, z] = 0.0
            mass[z] += now.popularity[d] * theta[d, z]
    for z in range(topics):
        now.topic_scale[z] = links[z] / (mass[z] * mass[z]) if mass[z] > 0.0 else 0.0
    _word_topics(sums.word_topic, now.word_topic)


@kernel
def place(
    data: PmtlmData,
    fitted: PmtlmParameters,
    alpha: float,
    degree_corrected: bool,  # noqa: FBT001 (kernels take no keywords)
    steps: int,
    out: np.ndarray,
) -> None:
    """Estimate the topics of new documents [D_new, K] by the same steps, everything else fixed.

    Here `data.first` are new documents in ascending order and `data.second` the training documents
    that they are linked with. `out` holds the starting point; a document without words and links
    keeps it.
    """
    topics = fitted.doc_topic.shape[1]
    slope = np.zeros(topics)  # r = eta T, which is M / T at the end of a fit
    for d in range(len(fitted.doc_topic)):
        for z in range(topics):
            slope[z] += fitted.popularity[d] * fitted.doc_topic[d, z]
    for z in range(topics):
        slope[z] *= fitted.topic_scale[z]
    rest = 1.0 - alpha
    weights = np.empty(topics)
    wanted = np.empty(topics)
    before = np.empty(topics)
    begin = 0
    for d in range(len(out)):
        end = begin
        while end < len(data.first) and data.first[end] == d:
            end += 1
        for _ in range(steps):
            wanted[:] = 0.0
            text = 0.0
            for entry in range(data.offsets[d], data.offsets[d + 1]):
                total = 0.0
                for z in range(topics):
                    weights[z] = out[d, z] * fitted.word_topic[data.words[entry], z]
                    total += weights[z]
                if total > 0.0:  # no topic has a word that only other documents have
                    text += data.shares[entry]
                    for z in range(topics):
                        wanted[z] += alpha * data.shares[entry] * weights[z] / total
            degree = 0.0
            for link in range(begin, end):
                total = 0.0
                for z in range(topics):
                    other = fitted.doc_topic[data.second[link], z]
                    weights[z] = fitted.topic_scale[z] * out[d, z] * other
                    total += weights[z]
                if total > 0.0:
                    degree += data.times[link]
                    for z in range(topics):
                        wanted[z] += rest * data.times[link] * weights[z] / total
            before[:] = out[d]
            _document_topics(wanted, slope, alpha, text, degree, degree_corrected, out[d])
            change = 0.0
            for z in range(topics):
                change = max(change, abs(out[d, z] - before[z]))
            if change < 1e-6:
                break
        begin = end


@kernel
def _document_topics(
    wanted: np.ndarray,
    slope: np.ndarray,
    alpha: float,
    text: float,
    degree: float,
    degree_corrected: bool,  # noqa: FBT001 (kernels take no keywords)
    out: np.ndarray,
) -> None:
    """Compute one document's topics from c (which is overwritten); unchanged without data."""
    rest = 1.0 - alpha
    has_text = alpha > 0.0 and text > 0.0
    has_links = rest > 0.0 and degree > 0.0
    if not has_text and not has_links:
        return
    if rest == 0.0 or (degree_corrected and not has_links):
        _scale_to_one(wanted, out)
    elif degree_corrected and has_text:
        _corrected_topics(wanted, slope, alpha, degree, out)
    elif degree_corrected:
        for z in range(len(wanted)):
            wanted[z] = wanted[z] / slope[z] if wanted[z] > 0.0 else 0.0
        _scale_to_one(wanted, out)
    else:
        _plain_topics(wanted, slope, rest, out)


@kernel
def _scale_to_one(values: np.ndarray, out: np.ndarray) -> None:
    """Equals ``out[:] = values / values.sum()``."""
    total = 0.0
    for z in range(len(values)):
        total += values[z]
    for z in range(len(values)):
        out[z] = values[z] / total


@kernel
def _corrected_topics(
    wanted: np.ndarray, slope: np.ndarray, alpha: float, degree: float, out: np.ndarray
) -> None:
    """Solve f(S) = sum_z c_z / (alpha + (1 - alpha) r_z S) = 1 by Newton steps, then theta.

    f is convex and decreasing, and f(degree / max r) >= 1, so the steps approach the root from the
    left and never pass it.
    """
    rest = 1.0 - alpha
    popularity = degree / slope.max()
    for _ in range(_MOST_STEPS):
        value = -1.0
        fall = 0.0
        for z in range(len(wanted)):
            below = alpha + rest * slope[z] * popularity
            part = wanted[z] / below
            value += part
            fall += part * rest * slope[z] / below
        if fall <= 0.0 or value <= 1e-14:
            break
        popularity += value / fall
    for z in range(len(wanted)):
        wanted[z] /= alpha + rest * slope[z] * popularity
    _scale_to_one(wanted, out)


@kernel
def _plain_topics(wanted: np.ndarray, slope: np.ndarray, rest: float, out: np.ndarray) -> None:
    """Solve g(lambda) = sum_z c_z / (lambda + (1 - alpha) r_z) = 1 the same way, then theta.

    If a topic with c_z = 0 is so cheap that lambda would pass -(1 - alpha) r_z, lambda stays there
    and that topic takes the remainder (the condition of Karush, Kuhn and Tucker).
    """
    topics = len(wanted)
    lowest = math.inf  # the smallest r of a topic with c_z > 0
    cheapest = -1
    for z in range(topics):
        if wanted[z] > 0.0:
            lowest = min(lowest, slope[z])
        elif cheapest < 0 or slope[z] < slope[cheapest]:
            cheapest = z
    # lambda + (1 - alpha) lowest: positive, whereas lambda itself would cancel against r
    lifted = 0.0
    for z in range(topics):
        if wanted[z] > 0.0:
            lifted = max(lifted, wanted[z] - rest * (slope[z] - lowest))
    for _ in range(_MOST_STEPS):
        value = -1.0
        fall = 0.0
        for z in range(topics):
            if wanted[z] > 0.0:
                below = lifted + rest * (slope[z] - lowest)
                part = wanted[z] / below
                value += part
                fall += part / below
        if value <= 1e-14:
            break
        lifted += value / fall
    bound = cheapest >= 0 and lifted < rest * (lowest - slope[cheapest])
    if bound:
        lifted = rest * (lowest - slope[cheapest])
    left = 1.0
    for z in range(topics):
        if wanted[z] > 0.0:
            wanted[z] /= lifted + rest * (slope[z] - lowest)
            left -= wanted[z]
    if bound:
        wanted[cheapest] = max(left, 0.0)
    _scale_to_one(wanted, out)


@kernel
def _word_topics(counts: np.ndarray, out: np.ndarray) -> None:
    """Equals ``out[:] = counts / counts.sum(axis=0)``; a topic without words keeps its old ones."""
    words, topics = counts.shape
    total = np.zeros(topics)
    for w in range(words):
        for z in range(topics):
            total[z] += counts[w, z]
    for w in range(words):
        for z in range(topics):
            if total[z] > 0.0:
                share = counts[w, z] / total[z]
                out[w, z] = share if share >= _SMALL else 0.0
