"""Perplexity of words: of new documents, of held-out words, and of training words.

No word is both used to estimate topics and scored, except in the figure named "in sample".
"""

import hashlib
import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from citeweave.corpus import Corpus
from citeweave.errors import CorpusError, ParameterError
from citeweave.evaluate._arrays import check_integer
from citeweave.evaluate.words import without_words
from citeweave.naming import option

if TYPE_CHECKING:
    import os

    from citeweave.model import SCNTM, FoldIn

__all__ = ["HeldOutWords", "Perplexity", "hold_out_words", "perplexity"]

_CHUNK = 1 << 15
_VECTORS = ("theta'", "theta")


@dataclass(frozen=True, eq=False)
class Perplexity:
    """How surprising words are to a model: exp(-mean log p(w)); lower is better.

    Attributes
    ----------
    value : float
    log_likelihood : float
        Sum of log p(w) over the words scored.
    n_scored, n_estimated : int
        Number of words scored, and of words from which the topics of the same documents were
        estimated.
    n_unseen : int
        Number of words that are neither, because they are not in the model's vocabulary.
    kind : str
        ``test`` (new documents), ``held-out words`` (of training documents) or ``in sample`` (words
        to which the model was fitted: not comparable with the others).
    protocol : dict
        How it was computed, in words and numbers.
    document_log_likelihood, document_scored : ndarray, shape (D,)
        The same sums for each document.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.evaluate import perplexity
    >>> found = perplexity(citeweave.example_model())
    >>> found.kind, found.n_scored, found.per_document.shape
    ('in sample', 2508, (80,))
    """

    value: float
    log_likelihood: float
    n_scored: int
    n_estimated: int
    n_unseen: int
    kind: str
    protocol: dict[str, Any]
    document_log_likelihood: np.ndarray
    document_scored: np.ndarray

    @property
    def per_document(self) -> np.ndarray:
        """Perplexity of each document, nan where none of its words is scored."""
        scored = np.where(self.document_scored > 0, self.document_scored, np.nan)
        return np.asarray(np.exp(-self.document_log_likelihood / scored))


class HeldOutWords(NamedTuple):
    """Words held out of documents before a model is fitted, for `perplexity`.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.evaluate import hold_out_words
    >>> train, held_out = hold_out_words(citeweave.example_corpus(), share=0.2)
    >>> train.n_tokens + len(held_out.word)
    2508
    """

    document: np.ndarray
    """int64 [tokens]."""
    word: np.ndarray
    """int64 [tokens]."""
    digest: str
    """Hash of the remaining tokens, so that only models fitted to them are scored."""
    share: float
    seed: int


def hold_out_words(
    corpus: Corpus, *, share: float = 0.1, seed: int = 0
) -> tuple[Corpus, HeldOutWords]:
    """Hold out a random share of each document's words.

    Parameters
    ----------
    corpus : Corpus
    share : float
        Share of each document's tokens, between 0 and 1, rounded to the nearest whole number; at
        least one token stays in every document that has any.
    seed : int
        The same seed holds out the same words.

    Returns
    -------
    corpus : Corpus
        The corpus without these words, otherwise unchanged.
    words : HeldOutWords
        The held-out words, for `perplexity`.

    Examples
    --------
    >>> from citeweave import Corpus
    >>> corpus = Corpus.from_lists(tokens=[["a", "b", "c", "d"], ["a"]])
    >>> train, held = hold_out_words(corpus, share=0.5)
    >>> train.lengths.tolist(), held.document.tolist()
    ([2, 1], [0, 0])
    """
    if not isinstance(share, numbers.Real) or isinstance(share, bool) or not 0 < share < 1:
        raise ParameterError(
            "'share' must be a number between 0 and 1, the share of words to hold out. "
            f"Got {share!r} instead."
        )
    check_integer(seed, "seed", lowest=0)
    lengths = corpus.lengths
    document = np.repeat(np.arange(corpus.n_documents), lengths)
    within = np.arange(corpus.n_tokens) - np.repeat(corpus.offsets[:-1], lengths)
    order = np.lexsort((np.random.default_rng(seed).random(corpus.n_tokens), document))
    wanted = np.minimum(np.floor(float(share) * lengths + 0.5), np.maximum(lengths - 1, 0))
    out = np.zeros(corpus.n_tokens, dtype=bool)
    out[order] = within < np.repeat(wanted.astype(np.int64), lengths)
    if not out.any():
        raise CorpusError(
            f"No word is held out at a share of {share}: the longest of the {corpus.n_documents} "
            f"documents has {int(lengths.max(initial=0))} words. Use a larger share."
        )
    train = without_words(corpus, out)
    held = HeldOutWords(
        document=document[out],
        word=corpus.tokens[out].astype(np.int64),
        digest=_digest(train),
        share=float(share),
        seed=int(seed),
    )
    return train, held


def _digest(corpus: Corpus) -> str:
    found = hashlib.sha256(np.ascontiguousarray(corpus.tokens, "<i4").tobytes())
    found.update(np.ascontiguousarray(corpus.offsets, "<i8").tobytes())
    return found.hexdigest()


def perplexity(
    model: "SCNTM",
    new: "Corpus | HeldOutWords | str | os.PathLike[str] | None" = None,
    *,
    words: str | float = 0.5,
    vector: str = "theta'",
    burst: bool = False,
    citations: bool | str = True,
    links: Any = None,
    method: str = "paper",
    labels: str = "hidden",
    samples: int = 500,
    burn_in: int = 50,
    seed: int = 0,
    threads: int | None = None,
) -> Perplexity:
    """Measure how well a fitted model predicts words: p(w) = sum_k theta'_dk phi_kw.

    The paper's formula (eq:word_probability) is the default; `vector` and `burst` change it.

    Parameters
    ----------
    model : SCNTM
        Fitted.
    new : Corpus, path, HeldOutWords, or None
        New documents: their topics are estimated from `words` and the others are scored. Words
        held out of the training documents before fitting: scored with the fitted topics. None: the
        training words themselves, scored with the estimates from them (``in sample``).
    words : "title", "none" or float
        Words of new documents from which topics are estimated, see `SCNTM.fold_in`.
    vector : {"theta'", "theta"}
        Topics of documents as used for citations (the paper's formula), or as used for words, which
        is the model's own prediction. They are equal in models with one document level.
    burst : bool
        For new documents, make words more probable that occur among those used for estimation
        (burstiness); applies to theta. Needs ``method="gibbs"`` and word counts: in Boolean
        data no word occurs twice.
    citations, links, method, labels, samples, burn_in, seed, threads
        For new documents, as in `SCNTM.fold_in`.

    Returns
    -------
    Perplexity

    Examples
    --------
    >>> from citeweave import SCNTM, simulate
    >>> corpus = simulate(documents=80, vocabulary=80, topics=3, citations=90, seed=1).corpus
    >>> parts = corpus.split(test=0.25, seed=0)
    >>> model = SCNTM(topics=4, iterations=20, seed=1).fit(parts.train)
    >>> found = perplexity(model, parts.test, words=0.5, links=parts)
    >>> found.n_scored + found.n_estimated == parts.test.n_tokens, 1 < found.value < 80
    (True, True)
    """
    if vector not in _VECTORS:
        raise ParameterError(
            f"'vector' must be {' or '.join(map(repr, _VECTORS))}. Got {vector!r} instead."
        )
    if isinstance(new, HeldOutWords) or new is None:
        if burst:
            raise ParameterError(
                "'burst' is for new documents only: the model stores no phi' of training "
                "documents. Omit it."
            )
        return _of_training(model, new, vector)
    if burst and method != "gibbs":
        raise ParameterError(
            "'burst' needs the table counts of words, which only method='gibbs' has. "
            f"Got method={method!r} instead."
        )
    if isinstance(words, str) and words == "all":
        raise ParameterError(
            f"{option('words')} must leave some to be scored: 'title', 'none' or a share "
            "between 0 and 1. Got 'all' instead."
        )
    corpus = new if isinstance(new, Corpus) else Corpus.load(new)
    found = model.fold_in(
        corpus,
        words=words,
        citations=citations,
        links=links,
        method=method,
        labels=labels,
        samples=samples,
        burn_in=burn_in,
        seed=seed,
        threads=threads,
    )
    document = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    scored = found.known & ~found.used
    theta = found.doc_topic if vector == "theta'" else found.doc_word_topic
    if burst and found.burst_topic is not None:
        theta = found.burst_topic
    added = _burst_mass(found, document, scored) if burst else None
    formula = (
        "p(w) = sum_k theta_dk phi'_dkw, bursts of the words estimated from included"
        if burst
        else _formula(vector)
    )
    return _score(
        model,
        theta,
        document[scored],
        found.word[scored],
        added=added,
        n_estimated=int(found.used.sum()),
        n_unseen=int(np.count_nonzero(~found.known)),
        kind="test",
        protocol={**found.protocol, "scored": "all other words", "formula": formula},
    )


def _burst_mass(found: "FoldIn", document: np.ndarray, scored: np.ndarray) -> np.ndarray:
    """Return what phi' adds to each scored token: the share of its word among those used."""
    if found.burst_word is None:  # a model without document levels has no bursts
        return np.zeros(int(scored.sum()))
    width = int(found.word.max(initial=0)) + 1
    key = document * width + found.word
    seen, first = np.unique(key[found.used], return_index=True)
    mass = np.append(found.burst_word[found.used][first], 0.0)
    place = np.searchsorted(seen, key[scored])
    missing = np.append(seen, -1)[place] != key[scored]
    place[missing] = len(seen)
    return np.asarray(mass[place], np.float64)


def _formula(vector: str) -> str:
    return f"p(w) = sum_k {vector}_dk phi_kw"


def _of_training(model: "SCNTM", held: HeldOutWords | None, vector: str) -> Perplexity:
    corpus = model.corpus_
    formula = {"model": model.spec_.name, "formula": _formula(vector)}
    theta = model.doc_topic_
    if vector == "theta" and model.spec_.n_document > 1:
        theta = model.doc_word_topic_
    if held is None:
        return _score(
            model,
            theta,
            np.repeat(np.arange(corpus.n_documents), corpus.lengths),
            corpus.tokens.astype(np.int64),
            added=None,
            n_estimated=corpus.n_tokens,
            n_unseen=0,
            kind="in sample",
            protocol=formula
            | {"scored": "all training words, the same that the model was learned from"},
        )
    if held.digest != _digest(corpus):
        raise ParameterError(
            "The words were held out of a corpus other than the one the model was fitted to "
            f"({corpus!r}), so it may have learned from them. Fit it to the corpus that "
            "hold_out_words gave with them."
        )
    return _score(
        model,
        theta,
        held.document,
        held.word,
        added=None,
        n_estimated=corpus.n_tokens,
        n_unseen=0,
        kind="held-out words",
        protocol=formula
        | {
            "scored": f"a random share of {held.share} of each training document's words, taken "
            "out before fitting",
            "share": held.share,
            "seed": held.seed,
        },
    )


def _score(
    model: "SCNTM",
    theta: np.ndarray,
    document: np.ndarray,
    word: np.ndarray,
    *,
    added: np.ndarray | None,
    n_estimated: int,
    n_unseen: int,
    kind: str,
    protocol: dict[str, Any],
) -> Perplexity:
    """Sum log(theta_d @ phi_w + added) over tokens."""
    if len(word) == 0:
        raise ParameterError(
            f"No word is left to score: {n_estimated} are used for estimation and {n_unseen} are "
            "not in the model's vocabulary. Give other 'words', or a corpus prepared like the "
            "training corpus."
        )
    vocabulary, place = np.unique(word, return_inverse=True)
    phi = np.ascontiguousarray(model.topic_word_[:, vocabulary].T, np.float64)
    logs = np.empty(len(word))
    for begin in range(0, len(word), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        chance = np.einsum("nk,nk->n", theta[document[part]].astype(np.float64), phi[place[part]])
        if added is not None:
            chance += added[part]
        logs[part] = np.log(chance)
    n_documents = len(theta)
    total = float(logs.sum())
    return Perplexity(
        value=float(np.exp(-total / len(word))),
        log_likelihood=total,
        n_scored=len(word),
        n_estimated=n_estimated,
        n_unseen=n_unseen,
        kind=kind,
        protocol=protocol,
        document_log_likelihood=np.bincount(document, weights=logs, minlength=n_documents),
        document_scored=np.bincount(document, minlength=n_documents),
    )
