"""Topics of new documents: from a model and a corpus to the arrays of a fold-in, and back."""

import numbers
import os
from typing import Any

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus
from citeweave.errors import CorpusError, ParameterError
from citeweave.foldin import (
    METHODS,
    Base,
    Documents,
    Means,
    Sets,
    fold_in_documents,
    group_posteriors,
)
from citeweave.model.author_placing import (
    learn_shares,
    mix_nodes,
    mixed_posterior,
    place_among_authors,
)
from citeweave.model.folded import FoldIn, describe
from citeweave.model.groups import KINDS, Groups
from citeweave.model.placing import (
    NodePlacement,
    category_columns,
    category_priors,
    columns_of,
    place_documents,
)
from citeweave.model.results import Result
from citeweave.model.unseen import Translation, common_unseen_words, find_links, translate
from citeweave.naming import choice

__all__ = ["choose_words", "fold_in", "level_concentrations"]

LABELS = ("hidden", "seen")


def choose_words(corpus: Corpus, words: Any, *, seed: int) -> np.ndarray:
    """Choose the tokens that topics are estimated from.

    Parameters
    ----------
    corpus : Corpus
    words : "all", "title", "none" or float
        All tokens, those of titles, none, or a share of each document's tokens drawn at random
        (rounded to the nearest whole number, halves up).
    seed : int
        Seed of the draw.

    Returns
    -------
    ndarray of bool, shape (tokens,)
    """
    if isinstance(words, str) and words in {"all", "none"}:
        return np.full(corpus.n_tokens, words == "all")
    lengths = corpus.lengths
    within = np.arange(corpus.n_tokens) - np.repeat(corpus.offsets[:-1], lengths)
    if isinstance(words, str) and words == "title":
        if not (corpus.title_lengths > 0).any():
            raise CorpusError(
                "The new corpus does not say which words are of titles, so topics cannot be "
                f"estimated from titles. Give a share, as {choice('words=0.5', '--words 0.5')}."
            )
        return np.asarray(within < np.repeat(corpus.title_lengths, lengths))
    is_share = isinstance(words, numbers.Real) and not isinstance(words, bool)
    if not is_share or not 0 < words < 1:
        raise ParameterError(
            "'words' must be 'all', 'title', 'none' or a share between 0 and 1. "
            f"Got {words!r} instead."
        )
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    document = np.repeat(np.arange(corpus.n_documents), lengths)
    order = np.lexsort((rng.random(corpus.n_tokens), document))
    wanted = np.floor(float(words) * lengths + 0.5).astype(np.int64)
    chosen = np.zeros(corpus.n_tokens, dtype=bool)
    chosen[order] = within < np.repeat(wanted, lengths)
    return chosen


def fold_in(
    result: Result,
    new: Corpus | str | os.PathLike[str],
    *,
    words: Any = "all",
    citations: Any = True,
    links: Any = None,
    method: str = "paper",
    labels: str = "hidden",
    samples: int = 500,
    burn_in: int = 50,
    seed: int = 0,
    threads: int | None = None,
) -> FoldIn:
    """Estimate the topics of new documents; see `SCNTM.fold_in`."""
    corpus = new if isinstance(new, Corpus) else Corpus.load(new)
    _check(method=method, labels=labels, citations=citations)
    for name, value, lowest in (
        ("samples", samples, 1),
        ("burn_in", burn_in, 0),
        ("seed", seed, 0),
    ):
        _check_integer(name, value, lowest)
    if threads is not None:
        _check_integer("threads", threads, 1)
    ids = translate(corpus, result.corpus)
    token = ids.word[corpus.tokens]
    known = token >= 0
    used = choose_words(corpus, words, seed=seed) & known
    networked = result.spec.citations is not None
    pairs, ignored = np.zeros((0, 2), np.int64), corpus.n_citations
    if citations and networked:
        pairs, ignored = find_links(links, corpus, result.corpus, both=citations == "both")
    placement = place_documents(result, corpus, ids, labels=labels)
    if result.spec.tables_choose_author:
        placement = place_among_authors(result, corpus, ids, placement, labels=labels)
    base, sets, documents, order = _arrays(result, corpus, token, used, pairs, placement)
    first_mixed = placement.first_mixed
    if first_mixed is not None:
        placement = learn_shares(base, documents, placement, sets.node)
        sets = sets._replace(prior=placement.sets.prior)
        base, sets = mix_nodes(base, sets, first_mixed)
    means = fold_in_documents(
        base,
        sets,
        documents,
        method=method,
        samples=samples,
        burn_in=burn_in,
        seed=seed,
        threads=threads,
    )
    if first_mixed is not None:
        means = mixed_posterior(means, placement)
    levels = tuple(result.levels.values())
    posterior = _posterior(means, placement, columns_of(levels)[-1] + 1)
    category, probability = _categories(result, corpus, ids, base, documents, posterior, placement)
    document = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    burst_word = None
    if len(means.burst_topic):
        burst_word = np.zeros(corpus.n_tokens, np.float32)
        burst_word[order] = means.burst_word
    every = result.spec.words_choose_author or result.spec.tables_choose_author
    authors = corpus.author_ids if every else corpus.first_authors
    authors = np.unique(authors[authors >= 0])
    return FoldIn(
        doc_topic=means.topic,
        doc_word_topic=means.word_topic,
        group_posterior=posterior,
        used=used,
        known=known,
        word=token,
        unseen_words=np.bincount(document[~known], minlength=corpus.n_documents),
        common_unseen=common_unseen_words(corpus, ~known),
        unseen_authors=int(np.count_nonzero(ids.author[authors] < 0)),
        matched_citations=len(pairs),
        ignored_citations=ignored,
        category=category,
        category_probability=probability,
        protocol=describe(
            result.spec.name,
            level_concentrations(result),
            words=words,
            citations=citations if networked else False,
            method=method,
            labels=labels,
            samples=samples,
            burn_in=burn_in,
            seed=seed,
            inferred=int(placement.inferred.sum()),
            exact=len(base.discount) == 0,
        ),
        burst_topic=means.burst_topic if burst_word is not None else None,
        burst_word=burst_word,
        levels=levels,
    )


def _check(*, method: str, labels: str, citations: Any) -> None:
    for name, value, allowed in (
        ("method", method, METHODS),
        ("labels", labels, LABELS),
        ("citations", citations, (True, False, "both")),
    ):
        if not isinstance(value, bool | str) or value not in allowed:
            text = " or ".join(repr(one) for one in allowed)
            raise ParameterError(f"'{name}' of a fold-in must be {text}. Got {value!r} instead.")


def _check_integer(name: str, value: Any, lowest: int) -> None:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < lowest:
        raise ParameterError(
            f"'{name}' of a fold-in must be an integer of at least {lowest}. Got {value!r} instead."
        )


def level_concentrations(result: Result) -> dict[str, float]:
    """Return each level's posterior mean concentration over kept iterations of the chains used."""
    trace = np.asarray(result.traces["concentrations"], np.float64)
    if result.combination.how == "best":
        trace = trace[[result.combination.best]]
    kept = trace[:, min(result.plan.burn_in, trace.shape[1] - 1) :]
    rows = kept.reshape(-1, kept.shape[-1])
    rows = rows[np.isfinite(rows).all(axis=1)]
    return dict(zip(result.plan.level_names, rows.mean(axis=0).tolist(), strict=True))


def _arrays(
    result: Result,
    corpus: Corpus,
    token: np.ndarray,
    used: np.ndarray,
    pairs: np.ndarray,
    placement: NodePlacement,
) -> tuple[Base, Sets, Documents, np.ndarray]:
    """Gather the rows of the model that the documents need; ``order`` sorts their tokens."""
    spec, estimates = result.spec, result.estimates
    document = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    order = np.flatnonzero(used)
    order = order[np.lexsort((token[order], document[order]))]
    vocabulary, word = np.unique(token[order], return_inverse=True)
    targets, link = np.unique(pairs[:, 1], return_inverse=True)
    wanted = np.append(placement.sets.node, category_columns(tuple(result.levels.values()))[0])
    columns, node = np.unique(wanted, return_inverse=True)
    node = node[: len(placement.sets.node)]
    cited = np.zeros((0, estimates["topic_share"].shape[0]))
    if len(targets):
        cited = estimates["doc_topic"][targets] * np.float64(estimates["topic_scale"])
        cited /= cited.sum(axis=1, keepdims=True)  # a factor per row changes nothing
    levels = spec.topic_side[spec.n_shared :]
    beta = level_concentrations(result)
    burst = spec.word_level("document-topic")
    base = Base(
        word_topic=_plain(estimates["topic_word"][:, vocabulary].T),
        nodes=_node_rows(result, columns),
        cited=_plain(cited),
        rate=_citing_rates(result),
        discount=np.array([level.discount for level in levels]),
        concentration=np.array([beta[level.name] for level in levels]),
        seen=max(spec.n_document - 1 - spec.below_citations, 0) if spec.citations else 0,
        burst_discount=burst.discount if burst else 0.0,
        burst_concentration=beta[burst.name] if burst else np.inf,
    )
    return (
        base,
        placement.sets._replace(node=node.astype(np.int64)),
        Documents(
            word=word.astype(np.int64),
            start=_starts(document[order], corpus.n_documents),
            link=link.astype(np.int64),
            link_start=_starts(pairs[:, 0], corpus.n_documents),
            group=placement.of_document,
        ),
        order,
    )


def _citing_rates(result: Result) -> np.ndarray:
    """Sum lambdaT_k lambda-_j theta'_jk over all training documents; ones without citations."""
    estimates = result.estimates
    if result.spec.citations is None:
        return np.ones(estimates["topic_share"].shape[0])
    reach = np.asarray(estimates["cited_propensity"] @ estimates["doc_topic"], np.float64)
    return np.asarray(estimates["topic_scale"] * reach)


def _plain(array: np.ndarray) -> np.ndarray:
    """Copy to a writeable array: kernels would be compiled again for read-only ones."""
    return np.array(array, np.float64, order="C")


def _starts(documents: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(documents, minlength=n))]).astype(np.int64)


def _node_rows(result: Result, columns: np.ndarray) -> np.ndarray:
    """Return the topics of the groups in some columns of a `NodePlacement`."""
    levels = list(result.levels.values())
    starts = columns_of(levels)
    rows = np.zeros((len(columns), result.estimates["topic_share"].shape[0]))
    rows[columns == starts[-1]] = result.estimates["topic_share"]
    for number, groups in enumerate(levels, start=1):
        place = columns - starts[number - 1]
        here = (place >= 0) & (place < len(groups))
        rows[here] = result.estimates[f"level{number}_topic"][place[here]]
    return rows


def _posterior(means: Means, placement: NodePlacement, width: int) -> Any:
    """Return the posterior of groups as sparse rows."""
    sizes = np.diff(means.group_start)
    begin = placement.sets.start[placement.of_document]
    shift = np.repeat(begin - means.group_start[:-1], sizes)
    columns = placement.sets.node[np.arange(len(means.group)) + shift]
    return sparse.csr_array((means.group, columns, means.group_start), shape=(len(sizes), width))


def _categories(
    result: Result,
    corpus: Corpus,
    ids: Translation,
    base: Base,
    documents: Documents,
    posterior: Any,
    placement: NodePlacement,
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Find the most probable category of each document, and its probability."""
    levels = tuple(result.levels.values())
    columns, labels = category_columns(levels)
    if len(columns) == 0:
        return None, None
    n_documents = corpus.n_documents
    of_column = _labels_above(levels, posterior.shape[1])
    told = of_column[posterior.indices]
    rows = np.repeat(np.arange(n_documents), np.diff(posterior.indptr))
    order = np.flatnonzero(told >= 0)
    # several groups may have one category above them
    key, place = np.unique(
        rows[order] * (result.corpus.n_categories + 1) + told[order], return_inverse=True
    )
    mass = np.bincount(place, weights=posterior.data[order], minlength=len(key))
    document, label = np.divmod(key, result.corpus.n_categories + 1)
    best = np.lexsort((-mass, document))
    document, first = np.unique(document[best], return_index=True)
    category = np.full(n_documents, -1, np.int32)
    probability = np.zeros(n_documents, np.float32)
    category[document] = label[best[first]]
    probability[document] = mass[best[first]]
    left = np.flatnonzero(category < 0)
    if len(left):
        wanted = np.unique(np.append(placement.sets.node, columns))
        members = np.searchsorted(wanted, columns).astype(np.int64)
        author = np.append(ids.author, -1)[corpus.first_authors[left]]
        priors = category_priors(result.corpus, author, labels)
        weights = group_posteriors(base, documents, left, members, priors)
        category[left] = labels[weights.argmax(axis=1)]
        probability[left] = weights.max(axis=1)
    return category, probability


def _labels_above(levels: tuple[Groups, ...], width: int) -> np.ndarray:
    """Return the category of each column: a group's own or that of a node above it; -1 if none."""
    of_column = np.full(width, -1, np.int64)
    starts = columns_of(levels)
    above = np.zeros(0, np.int64)
    for number, groups in enumerate(levels):
        own = np.where(groups.kind == KINDS.index("category"), groups.label, -1)
        if number:
            own = np.where(own < 0, above[groups.parent], own)
        of_column[starts[number] : starts[number] + len(groups)] = own
        above = own
    return of_column
