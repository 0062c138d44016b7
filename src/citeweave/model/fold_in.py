"""Topics of new documents: from a model and a corpus to the arrays of a fold-in, and back."""

import numbers
import os
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus
from citeweave.errors import CorpusError, ParameterError
from citeweave.foldin import METHODS, Base, Documents, Means, Sets, fold_in_documents
from citeweave.model.groups import KINDS, Groups
from citeweave.model.results import Result
from citeweave.model.unseen import (
    Placement,
    columns_of,
    common_unseen_words,
    find_links,
    place_documents,
    translate,
)

__all__ = ["FoldIn", "LikelyGroup", "choose_words", "fold_in"]

LABELS = ("hidden", "seen")


class LikelyGroup(NamedTuple):
    """A group that a document may belong to."""

    kind: str
    """author, category, unknown, or corpus for the root."""
    name: str
    probability: float


@dataclass(frozen=True, eq=False, repr=False)
class FoldIn:
    """Topics of documents that the model was not fitted to.

    Attributes
    ----------
    doc_topic : ndarray of float32, shape (D, K)
        theta' (the document level that citations see).
    doc_word_topic : ndarray of float32, shape (D, K)
        theta (the last document level); equal to `doc_topic` where the model has only one.
    group_posterior : sparse csr_array, shape (D, B + 1)
        Probability of each group to be the document's. Columns are the rows of `SCNTM.groups_`,
        then those of the levels above, if any; the last is the root.
    used : ndarray of bool, shape (tokens of the new corpus,)
        Which tokens the estimates are made of. Only others may be scored.
    known : ndarray of bool, shape (tokens of the new corpus,)
        Which tokens are words of the model's vocabulary.
    word : ndarray of int64, shape (tokens of the new corpus,)
        The tokens in the model's vocabulary, -1 where unseen.
    unseen_words : ndarray of int64, shape (D,)
        Tokens of each document that the model has no word for.
    common_unseen : list of (str, int)
        The most frequent of these.
    unseen_authors : int
        Authors of the new documents without a training document.
    matched_citations : int
        Citations to training documents that were used.
    ignored_citations : int
        Citations of the new corpus that lead to no training document (to other new ones).
    category : ndarray of int32, shape (D,)
        Most probable category (id in the training corpus), -1 where groups tell none.
    category_probability : ndarray of float32, shape (D,)
        Its probability; nan where there is none.
    protocol : dict
        What was used and how, in words and numbers.
    burst_topic, burst_word : ndarray, or None
        For ``method="gibbs"``: theta and phi' as a further word of the document sees them (see
        `citeweave.foldin.Means`); `burst_word` has an entry a token, 0 where it was not used.
    levels : tuple of Groups
        What the columns of `group_posterior` stand for, upper level first.
    """

    doc_topic: np.ndarray
    doc_word_topic: np.ndarray
    group_posterior: Any
    used: np.ndarray
    known: np.ndarray
    word: np.ndarray
    unseen_words: np.ndarray
    common_unseen: list[tuple[str, int]]
    unseen_authors: int
    matched_citations: int
    ignored_citations: int
    category: np.ndarray
    category_probability: np.ndarray
    protocol: dict[str, Any]
    burst_topic: np.ndarray | None = field(default=None)
    burst_word: np.ndarray | None = field(default=None)
    levels: tuple[Groups, ...] = field(default=())

    @property
    def labels(self) -> np.ndarray:
        """Dominant topic of each document [D]."""
        return np.asarray(self.doc_topic.argmax(axis=1))

    @property
    def category_names(self) -> list[str | None]:
        """Name of each document's most probable category, None where there is none."""
        corpus = self.levels[-1].corpus if self.levels else None
        names = corpus.category_names if corpus is not None else []
        return [names[c] if c >= 0 else None for c in self.category.tolist()]

    def likely_groups(self, document: int, n: int = 3) -> list[LikelyGroup]:
        """Return the most probable groups of one document, the likeliest first."""
        if not 0 <= document < len(self.doc_topic):
            raise ParameterError(
                f"There is no document {document}; positions run from 0 to "
                f"{len(self.doc_topic) - 1}."
            )
        rows = self.group_posterior
        part = slice(rows.indptr[document], rows.indptr[document + 1])
        columns, values = rows.indices[part], rows.data[part]
        order = np.argsort(-values, kind="stable")[:n]
        return [self._group(int(columns[i]), float(values[i])) for i in order]

    def group_names(self, document: int, n: int = 3) -> list[str]:
        """Return the names of `likely_groups`."""
        return [group.name for group in self.likely_groups(document, n)]

    def _group(self, column: int, probability: float) -> LikelyGroup:
        starts = columns_of(self.levels)
        for number, groups in enumerate(self.levels):
            row = column - starts[number]
            if 0 <= row < len(groups):
                return LikelyGroup(KINDS[groups.kind[row]], groups.names[row], probability)
        return LikelyGroup("corpus", "corpus", probability)

    def __repr__(self) -> str:
        """Say how much was folded in and how."""
        return (
            f"FoldIn({len(self.doc_topic):,} documents, {int(self.used.sum()):,} words used, "
            f"{int(self.unseen_words.sum()):,} unseen, {self.matched_citations:,} citations, "
            f"method {self.protocol['method']!r}, labels {self.protocol['labels']!r})"
        )


def choose_words(corpus: Corpus, words: Any, *, seed: int) -> np.ndarray:
    """Choose the tokens that topics are estimated from.

    Parameters
    ----------
    corpus : Corpus
    words : "all", "title", "none" or float
        All tokens, those of titles, none, or a share of each document's tokens drawn at random
        (rounded to the nearest whole number, halves up).
    seed : int
        Of the draw.

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
                "The new corpus does not say which words are of titles ('title_lengths' are all "
                "0), so topics cannot be estimated from titles. Give a share, as words=0.5."
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
    base, sets, documents, order = _arrays(result, corpus, token, used, pairs, placement)
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
    levels = tuple(result.levels.values())
    posterior = _posterior(means, placement, columns_of(levels)[-1] + 1)
    category, probability = _categories(posterior, levels, result.corpus.n_categories)
    document = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    burst_word = None
    if len(means.burst_topic):
        burst_word = np.zeros(corpus.n_tokens, np.float32)
        burst_word[order] = means.burst_word
    authors = corpus.author_ids if result.spec.words_choose_author else corpus.first_authors
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
        protocol=_protocol(
            result,
            words=words,
            citations=citations if networked else False,
            method=method,
            labels=labels,
            samples=samples,
            burn_in=burn_in,
            seed=seed,
            inferred=int(placement.inferred.sum()),
            base=base,
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
    """Posterior mean of each level's concentration: over kept iterations of the chains used."""
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
    placement: Placement,
) -> tuple[Base, Sets, Documents, np.ndarray]:
    """Gather the rows of the model that the documents need; ``order`` sorts their tokens."""
    spec, estimates = result.spec, result.estimates
    document = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    order = np.flatnonzero(used)
    order = order[np.lexsort((token[order], document[order]))]
    vocabulary, word = np.unique(token[order], return_inverse=True)
    targets, link = np.unique(pairs[:, 1], return_inverse=True)
    columns, node = np.unique(placement.sets.node, return_inverse=True)
    cited = np.zeros((0, estimates["topic_share"].shape[0]))
    if len(targets):
        cited = estimates["doc_topic"][targets] * np.float64(estimates["topic_scale"])
        cited /= cited.sum(axis=1, keepdims=True)  # a factor a row changes nothing
    levels = spec.topic_side[spec.n_shared :]
    beta = level_concentrations(result)
    burst = spec.word_level("document-topic")
    base = Base(
        word_topic=_plain(estimates["topic_word"][:, vocabulary].T),
        nodes=_node_rows(result, columns),
        cited=_plain(cited),
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


def _plain(array: np.ndarray) -> np.ndarray:
    """Copy to a writeable array: kernels are compiled once more for others."""
    return np.array(array, np.float64, order="C")


def _starts(documents: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(documents, minlength=n))]).astype(np.int64)


def _node_rows(result: Result, columns: np.ndarray) -> np.ndarray:
    """Topics of the groups in some columns of a `Placement`."""
    levels = list(result.levels.values())
    starts = columns_of(levels)
    rows = np.zeros((len(columns), result.estimates["topic_share"].shape[0]))
    rows[columns == starts[-1]] = result.estimates["topic_share"]
    for number, groups in enumerate(levels, start=1):
        place = columns - starts[number - 1]
        here = (place >= 0) & (place < len(groups))
        rows[here] = result.estimates[f"level{number}_topic"][place[here]]
    return rows


def _posterior(means: Means, placement: Placement, width: int) -> Any:
    """Give the posterior of groups as sparse rows."""
    sizes = np.diff(means.group_start)
    begin = placement.sets.start[placement.of_document]
    shift = np.repeat(begin - means.group_start[:-1], sizes)
    columns = placement.sets.node[np.arange(len(means.group)) + shift]
    return sparse.csr_array((means.group, columns, means.group_start), shape=(len(sizes), width))


def _categories(
    posterior: Any, levels: tuple[Groups, ...], n_categories: int
) -> tuple[np.ndarray, np.ndarray]:
    """Most probable category of each document: its group's, or that of a node above its group."""
    n_documents = posterior.shape[0]
    of_column = np.full(posterior.shape[1], -1, np.int64)
    starts = columns_of(levels)
    above = np.zeros(0, np.int64)
    for number, groups in enumerate(levels):
        own = np.where(groups.kind == KINDS.index("category"), groups.label, -1)
        if number:
            own = np.where(own < 0, above[groups.parent], own)
        of_column[starts[number] : starts[number] + len(groups)] = own
        above = own
    labels = of_column[posterior.indices]
    rows = np.repeat(np.arange(n_documents), np.diff(posterior.indptr))
    told = labels >= 0
    table = sparse.csr_array(
        (posterior.data[told].astype(np.float64), (rows[told], labels[told])),
        shape=(n_documents, max(n_categories, 1)),
    )
    category = np.asarray(table.argmax(axis=1)).ravel().astype(np.int32)
    best = np.asarray(table.max(axis=1).todense()).ravel().astype(np.float32)
    category[best <= 0] = -1
    best[best <= 0] = np.nan
    return category, best


_WORDS_USED = {
    "all": "all words of each document",
    "title": "the words of titles",
    "none": "no words",
}
_LABELS_USED = {
    "hidden": "labels hidden (categories of new documents are never read; groups are inferred)",
    "seen": "labels seen (the paper's protocol)",
}
_METHOD_USED = {
    "paper": "the paper's: independent topics, tables half the customers (rounded up), mean of "
    "Monte-Carlo samples",
    "gibbs": "collapsed Gibbs sampling of the document's own levels below fixed nu and phi",
}


def _protocol(
    result: Result,
    *,
    words: Any,
    citations: Any,
    method: str,
    labels: str,
    samples: int,
    burn_in: int,
    seed: int,
    inferred: int,
    base: Base,
) -> dict[str, Any]:
    share = f"a random share of {words} of each document's words"
    exact = len(base.discount) == 0
    used = {False: "none", True: "to training documents", "both": "to and from training documents"}
    text = {
        "words_used": _WORDS_USED[words] if isinstance(words, str) else share,
        "citations_used": used[citations],
        "labels_used": _LABELS_USED[labels],
        "method_used": "exact: words are independent given nu and phi"
        if exact
        else _METHOD_USED[method],
    }
    numbers_used: dict[str, Any] = {
        "model": result.spec.name,
        "method": method,
        "words": words,
        "labels": labels,
        "citations": citations,
        "samples": int(samples),
        "burn_in": int(burn_in) if method == "gibbs" else 0,
        "seed": int(seed),
        "groups_inferred": inferred,
        "concentrations": level_concentrations(result),
    }
    return {**numbers_used, **text}
