"""Link prediction: held-out citations, negative pairs, and measures.

A model is fitted to the corpus without the held-out citations and scores pairs of documents (see
`citeweave.evaluate.link_scores`). `auc` asks whether held-out citations score above pairs that
could have been citations judging by degrees, `ranking_scores` whether they are among the best
of all documents.
"""

import numbers
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.split import split_citations
from citeweave.errors import CorpusError, ParameterError
from citeweave.evaluate._arrays import as_pairs, check_integer
from citeweave.evaluate.link_scores import LinkScores

__all__ = [
    "HeldOut",
    "LinkPrediction",
    "RankingScores",
    "auc",
    "hold_out_citations",
    "link_prediction",
    "negative_pairs",
    "new_negative_pairs",
    "ranking_scores",
]

_ROUNDS = 20
_CHUNK_CELLS = 4_000_000  # scores held at a time, 32 MB


class HeldOut(NamedTuple):
    """A corpus without the citations held out, and these citations as rows (citing, cited).

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.evaluate import hold_out_citations
    >>> held_out = hold_out_citations(citeweave.example_corpus(), share=0.1)
    >>> held_out.train.n_citations + len(held_out.pairs)
    300
    """

    train: Corpus
    pairs: np.ndarray


class RankingScores(NamedTuple):
    """Precision and recall at each k, as means over the citing documents.

    Attributes
    ----------
    precision, recall : dict of int to float
        By k: the share of the k best documents that are cited, and the share of the cited documents
        that are among the k best.
    documents : int
        Number of citing documents in the means.

    Examples
    --------
    >>> from citeweave.evaluate import RankingScores
    >>> RankingScores({10: 0.2}, {10: 0.5}, 40).recall[10]
    0.5
    """

    precision: dict[int, float]
    recall: dict[int, float]
    documents: int


class LinkPrediction(NamedTuple):
    """All measures of one set of scores, as returned by `link_prediction`.

    Examples
    --------
    >>> from citeweave.evaluate import LinkPrediction
    >>> LinkPrediction(auc=0.9, precision={10: 0.2}, recall={10: 0.5}, pairs=40).auc
    0.9
    """

    auc: float
    precision: dict[int, float]
    recall: dict[int, float]
    pairs: int


def hold_out_citations(corpus: Corpus, *, share: float = 0.1, seed: int | None = 0) -> HeldOut:
    """Hold out a random share of the citations of a corpus.

    Two documents that cite each other are held out or kept together, so that the remaining
    citation does not reveal the other. All documents stay, some perhaps without a citation.

    Parameters
    ----------
    corpus : Corpus
    share : float
        Share of the pairs of linked documents to hold out, between 0 and 1; at least one is held
        out and one stays.
    seed : int, optional
        The same seed holds out the same citations.

    Returns
    -------
    HeldOut
        The training corpus and the pairs, int32 of shape (n, 2), sorted.

    Examples
    --------
    >>> from citeweave import Corpus
    >>> corpus = Corpus.from_lists(tokens=[["a"]] * 4, citations=[(1, 0), (2, 0), (3, 1), (3, 2)])
    >>> train, pairs = hold_out_citations(corpus, share=0.25)
    >>> train.n_citations, len(pairs)
    (3, 1)
    """
    if not isinstance(share, numbers.Real) or isinstance(share, bool) or not 0 < share < 1:
        raise ParameterError(
            f"'share' must be a number between 0 and 1, the share of citations to hold out. "
            f"Got {share!r} instead."
        )
    return HeldOut(*split_citations(corpus, float(share), _generator(seed)))


def negative_pairs(
    corpus: Corpus, pairs: Any, *, each: int = 1, seed: int | None = 0
) -> np.ndarray:
    """Draw pairs that are not citations, with degrees matched to those of given citations.

    For each pair (i, j), the citing document i is combined with the cited document j' of another
    given pair, drawn at random. Negatives thus cite and are cited as often as held-out citations
    do, so that the number of citations of a document in the training corpus says little. (Drawn
    from all citations, negatives would seem more popular, because none of theirs are held out.) No
    negative is i itself or linked with i in either direction.

    Parameters
    ----------
    corpus : Corpus
        The whole corpus, including the held-out citations.
    pairs : array-like of int, shape (n, 2)
        Held-out citations.
    each : int
        Number of negatives per citation.
    seed : int, optional
        The same seed draws the same pairs.

    Returns
    -------
    ndarray of int32, shape (n * each, 2)
        In the order of `pairs`.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.evaluate import hold_out_citations, negative_pairs
    >>> corpus = citeweave.example_corpus()
    >>> pairs = hold_out_citations(corpus).pairs
    >>> negatives = negative_pairs(corpus, pairs, each=2)
    >>> negatives.shape[0] == 2 * len(pairs), bool((negatives[::2, 0] == pairs[:, 0]).all())
    (True, True)
    """
    documents = corpus.n_documents
    given = as_pairs(pairs, documents, "pairs")
    ends = corpus.citations.astype(np.int64)
    itself = np.arange(documents, dtype=np.int64) * (documents + 1)
    linked = np.concatenate((ends @ [documents, 1], ends @ [1, documents], itself))
    return _matched_negatives(given, linked, documents, each=each, seed=seed)


def new_negative_pairs(
    pairs: Any, *, citing: int, cited: int, each: int = 1, seed: int | None = 0
) -> np.ndarray:
    """Draw negative pairs for new documents that cite others; see `negative_pairs`.

    Parameters
    ----------
    pairs : array-like of int, shape (n, 2)
        All citations, as rows (new document, training document).
    citing, cited : int
        Number of new documents, and of training documents.
    each, seed
        As in `negative_pairs`.

    Returns
    -------
    ndarray of int32, shape (n * each, 2)

    Examples
    --------
    >>> from citeweave.evaluate import new_negative_pairs
    >>> new_negative_pairs([(0, 2), (1, 3)], citing=2, cited=4).tolist()
    [[0, 3], [1, 2]]
    """
    given = as_pairs(pairs, citing, "pairs", cited=cited)
    return _matched_negatives(given, given @ [cited, 1], cited, each=each, seed=seed)


def _matched_negatives(
    given: np.ndarray, taken: np.ndarray, documents: int, *, each: int, seed: int | None
) -> np.ndarray:
    """Draw negatives; `taken` are pairs that must not be drawn, as citing * documents + cited."""
    citing = np.repeat(given[:, 0], check_integer(each, "each", lowest=1))
    rng = _generator(seed)
    linked = np.unique(taken.astype(np.int64))
    cited = np.full(len(citing), -1, dtype=np.int64)
    open_ = np.arange(len(citing))
    for _ in range(_ROUNDS):
        if len(open_) == 0:
            break
        drawn = given[rng.integers(len(given), size=len(open_)), 1]
        free = ~_contains(linked, citing[open_] * documents + drawn)
        cited[open_[free]] = drawn[free]
        open_ = open_[~free]
    times = np.bincount(given[:, 1], minlength=documents).astype(np.float64)
    for row in open_.tolist():
        cited[row] = _draw_unlinked(int(citing[row]), linked, times, rng)
    return np.stack([citing, cited], axis=1).astype(np.int32)


def auc(positive: Any, negative: Any) -> float:
    """Probability that a positive scores above a negative, a tie counting half.

    Parameters
    ----------
    positive, negative : array-like
        Scores of held-out citations, and of pairs that are none.

    Examples
    --------
    >>> auc([3.0, 2.0], [1.0, 2.0])
    0.875
    """
    good, bad = _as_scores(positive, "positive"), _as_scores(negative, "negative")
    from scipy.stats import rankdata  # noqa: PLC0415 (slow to import: the explorer starts without)

    ranks = rankdata(np.concatenate((good, bad)))
    below = ranks[: len(good)].sum() - len(good) * (len(good) + 1) / 2.0
    return float(below / (len(good) * len(bad)))


def ranking_scores(
    scores: LinkScores, train: Corpus | None, pairs: Any, *, k: Sequence[int] = (10, 50)
) -> RankingScores:
    """Rank all documents for each citing document, and find those that it cites.

    The candidates are all documents except the citing one and those that it cites in the training
    corpus. Documents with equal scores are in random order; the expectation over that order is
    returned. Scores are computed for a few citing documents at a time.

    Parameters
    ----------
    scores : LinkScores
        Scores of a model fitted to `train`.
    train : Corpus, optional
        The corpus without the held-out citations; None if the citing documents are not among those
        that may be cited, so that all of these are candidates.
    pairs : array-like of int, shape (n, 2)
        Held-out citations.
    k : sequence of int
        Numbers of best documents to consider.

    Returns
    -------
    RankingScores

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.evaluate import hold_out_citations, ranking_scores, tfidf_scores
    >>> train, pairs = hold_out_citations(citeweave.example_corpus())
    >>> found = ranking_scores(tfidf_scores(train), train, pairs, k=[5, 20])
    >>> found.recall[20] >= found.recall[5]
    True
    """
    documents = scores.n_documents
    if train is not None:
        _check_size(scores, train.n_documents)
    given = as_pairs(pairs, int(scores.citing.shape[0]), "pairs", cited=documents)
    if len(given) == 0:
        raise ParameterError("'pairs' must hold at least one citation. Got none.")
    depths = [check_integer(depth, "k", lowest=1) for depth in k]
    order = np.argsort(given[:, 0], kind="stable")
    rows, starts = np.unique(given[order, 0], return_index=True)
    targets = np.split(given[order, 1], starts[1:])
    known = np.empty((0, 2), dtype=np.int32) if train is None else train.citations
    first = np.searchsorted(known[:, 0], np.arange(scores.citing.shape[0] + 1))
    hits = np.zeros((len(rows), len(depths)))
    step = max(1, _CHUNK_CELLS // documents)
    for begin in range(0, len(rows), step):
        block = scores.rows(rows[begin : begin + step])
        for offset, values in enumerate(block):
            place = begin + offset
            i = rows[place]
            wanted = values[targets[place]]
            if train is not None:
                values[i] = -np.inf
            values[known[first[i] : first[i + 1], 1]] = -np.inf
            for score in wanted:
                above = np.count_nonzero(values > score)
                equal = np.count_nonzero(values == score)
                hits[place] += np.clip((np.array(depths) - above) / equal, 0.0, 1.0)
    sizes = np.array([len(part) for part in targets], dtype=np.float64)
    return RankingScores(
        precision={d: float(hits[:, c].mean() / d) for c, d in enumerate(depths)},
        recall={d: float((hits[:, c] / sizes).mean()) for c, d in enumerate(depths)},
        documents=len(rows),
    )


def link_prediction(
    scores: LinkScores,
    train: Corpus | None,
    pairs: Any,
    negatives: Any,
    *,
    k: Sequence[int] = (10, 50),
) -> LinkPrediction:
    """Return the AUC against negative pairs, and precision and recall at k among all documents.

    Parameters
    ----------
    scores : LinkScores
        Scores of a model fitted to `train`.
    train, pairs
        As returned by `hold_out_citations`; `train` may be None as in `ranking_scores`.
    negatives : array-like of int, shape (m, 2)
        Pairs that are not citations, as drawn by `negative_pairs`.
    k : sequence of int
        As in `ranking_scores`.

    Returns
    -------
    LinkPrediction

    Examples
    --------
    >>> import citeweave
    >>> from citeweave import evaluate
    >>> corpus = citeweave.example_corpus()
    >>> train, pairs = evaluate.hold_out_citations(corpus)
    >>> negatives = evaluate.negative_pairs(corpus, pairs)
    >>> found = evaluate.link_prediction(evaluate.tfidf_scores(train), train, pairs, negatives)
    >>> 0 <= found.auc <= 1, found.pairs == len(pairs)
    (True, True)
    """
    ranking = ranking_scores(scores, train, pairs, k=k)
    return LinkPrediction(
        auc=auc(scores.pairs(pairs), scores.pairs(negatives)),
        precision=ranking.precision,
        recall=ranking.recall,
        pairs=len(pairs),
    )


def _draw_unlinked(
    citing: int, linked: np.ndarray, times: np.ndarray, rng: np.random.Generator
) -> int:
    """Draw from the list of all unlinked documents, if most random draws would hit a linked one.

    Draws are in proportion to `times`, or uniform if all of these are 0.
    """
    documents = len(times)
    everyone = np.arange(documents)
    free = everyone[~_contains(linked, citing * documents + everyone)]
    if len(free) == 0:
        raise CorpusError(
            f"Document {citing} has links with all other documents, so no pair with it can serve "
            "as a negative; leave its citations out of 'pairs'."
        )
    weights = times[free] if times[free].any() else np.ones(len(free))
    return int(rng.choice(free, p=weights / weights.sum()))


def _contains(sorted_keys: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Equals ``np.isin(keys, sorted_keys)``, by bisection."""
    if len(sorted_keys) == 0:
        return np.zeros(len(keys), dtype=bool)
    places = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.asarray(sorted_keys[places] == keys)


def _as_scores(values: Any, name: str) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) == 0 or np.isnan(array).any():
        raise ParameterError(
            f"'{name}' must be a non-empty list of numbers. Got shape {array.shape} with "
            f"{np.count_nonzero(np.isnan(array))} values that are not a number instead."
        )
    return array


def _check_size(scores: LinkScores, documents: int) -> None:
    if scores.n_documents != documents:
        raise ParameterError(
            "'scores' must come from a model of the training corpus. "
            f"Got scores of {scores.n_documents} documents and {documents} in the corpus instead."
        )


def _generator(seed: Any) -> np.random.Generator:
    if seed is not None:
        check_integer(seed, "seed", lowest=0)
    return np.random.default_rng(seed)
