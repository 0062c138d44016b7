"""Topics: their words, share, coherence and growth, as a table and as a page each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.explore.facts import Z90
from citeweave.explore.frames import Columns
from citeweave.explore.pages import TopicPage, TopicWeight, WordWeight
from citeweave.model.describing import rank_words

if TYPE_CHECKING:
    from citeweave.explore.exploration import Exploration

__all__ = ["coherence", "growth", "mixture_columns", "topic_columns", "topic_page"]

_LIST = 10


def coherence(view: "Exploration", top: int = 10) -> np.ndarray:
    """Return the NPMI coherence of each topic on the corpus [K]; nan for topics not in use."""
    # the measures take a third of a second to import, which other tables need not wait for
    from citeweave.evaluate import npmi_coherence  # noqa: PLC0415

    out = np.full(view.n_topics, np.nan)
    top = min(top, view.corpus.vocabulary_size)
    if top >= 2:
        out[view.used] = npmi_coherence(view.topic_word[view.used], view.corpus, top=top)
    return out


def growth(shares: np.ndarray, papers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fit lines to the yearly shares of topics, with years weighted by their papers.

    Parameters
    ----------
    shares : ndarray, shape (years, K)
    papers : ndarray, shape (years,)

    Returns
    -------
    slope : ndarray, shape (K,)
        Change of share per year; nan with papers in fewer than three years.
    rate : ndarray, shape (K,)
        Relative growth per year, ``exp(b) - 1`` with b the slope of the log share.
    """
    known = np.flatnonzero(papers > 0)
    n_topics = shares.shape[1]
    if len(known) < 3:
        return np.full(n_topics, np.nan), np.full(n_topics, np.nan)
    weight = papers[known] / papers[known].sum()
    year = known - weight @ known
    scale = weight @ np.square(year)
    tilt = weight * year / scale
    logs = np.log(np.maximum(shares[known], np.finfo(float).tiny))
    return tilt @ shares[known], np.expm1(tilt @ logs)


def words_of(view: "Exploration", number: int, relevance: float) -> np.ndarray:
    """Return word ids of all topics [K, number], with only one of singular and plural."""
    wider = min(2 * number + 10, len(view.vocabulary)) if number >= 1 else number
    ranked = rank_words(
        view.topic_word, view.share, view.word_counts > 0, relevance=relevance, number=wider
    )
    forms = view.singular_forms
    out = np.empty((len(ranked), min(number, ranked.shape[1])), ranked.dtype)
    for row, words in enumerate(ranked.tolist()):
        first: dict[str, int] = {}
        for word in words:
            first.setdefault(forms[word], word)
        kept = list(first.values())
        taken = set(kept)
        # a small vocabulary may have no more to show than the other forms
        kept += [word for word in words if word not in taken]
        out[row] = kept[: out.shape[1]]
    return out


def mixture_columns(mixtures: Sequence[Sequence[TopicWeight]]) -> Columns:
    """Return columns of lists: all topics of each author or category, with intervals."""
    return {
        "topics": ("ints", [[part.topic for part in row] for row in mixtures]),
        "topic_names": ("texts", [[part.name for part in row] for row in mixtures]),
        "weights": ("floats", [[part.weight for part in row] for row in mixtures]),
        "lows": ("floats", [[part.low for part in row] for row in mixtures]),
        "highs": ("floats", [[part.high for part in row] for row in mixtures]),
    }


def topic_columns(view: "Exploration", *, words: int, relevance: float) -> Columns:
    """Return the columns of the table of topics in use, the largest first."""
    order = view.order
    probable, distinctive = words_of(view, words, 1.0), words_of(view, words, relevance)
    low, high = interval(view, "topic_share_", "topic_share_sd_")
    slope, rate = view.growth
    names = view.vocabulary
    citations = view.citations_by_topic
    share_by_year = view.share_by_year
    mu = view.mu
    columns: dict[str, tuple[str, Any]] = {
        "topic": ("int", order),
        "name": ("text", [view.topic_name(k) for k in order]),
        "label": ("text", [view.labels[k] for k in order]),
        "share": ("float", view.share[order]),
        "mu": ("float", pick(mu, order)),
        "mu_low": ("float", pick(low, order)),
        "mu_high": ("float", pick(high, order)),
        "papers": ("int", view.papers_of_topic[order]),
        "citations": ("float", pick(citations, order)),
        "strength": ("float", pick(view.topic_scale, order)),
        "words": ("texts", [[names[w] for w in probable[k].tolist()] for k in order]),
        "distinctive": ("texts", [[names[w] for w in distinctive[k].tolist()] for k in order]),
        "coherence": ("float", view.coherence[order]),
        "slope": ("float", blank(slope[order])),
        "growth": ("float", blank(rate[order])),
        "trend": ("floats", [blank(share_by_year[:, k]) for k in order]),
    }
    nearest = view.nearest_category
    if nearest is not None:
        columns["category"] = ("text", [nearest[k][0] for k in order])
        columns["category_share"] = ("float", [nearest[k][1] for k in order])
    return columns


def topic_page(view: "Exploration", topic: int, *, words: int, relevance: float) -> TopicPage:
    """Collect everything known about one topic."""
    k = view.check_topic(topic)
    low, high = interval(view, "topic_share_", "topic_share_sd_")
    slope, rate = (blank(values[[k]])[0] for values in view.growth)
    weight = view.doc_topic[:, k]
    influence = view.cited_propensity
    typical = _best(weight, _LIST)
    influential = typical if influence is None else _best(weight * influence, _LIST)
    return TopicPage(
        topic=k,
        name=view.topic_name(k),
        label=view.labels[k],
        renamed=view.names.get(k) is not None,
        share=float(view.share[k]),
        mu=_one(view.mu, k),
        mu_low=_one(low, k),
        mu_high=_one(high, k),
        papers=int(view.papers_of_topic[k]),
        citations=_one(view.citations_by_topic, k),
        strength=_one(view.topic_scale, k),
        words=_weights(view, k, words_of(view, words, 1.0)[k]),
        distinctive=_weights(view, k, words_of(view, words, relevance)[k]),
        coherence=float(view.coherence[k]),
        slope=slope,
        growth=rate,
        years=list(view.year_range),
        trend=blank(view.share_by_year[:, k]),
        influential_papers=[]
        if influence is None
        else [view.paper_link(d, score=weight[d] * influence[d]) for d in influential],
        typical_papers=[view.paper_link(d, score=weight[d]) for d in typical],
        authors=view.authors_of_topic(k, _LIST),
        similar=_similar(view, k),
        cites=_flow(view, k, outward=True),
        cited_by=_flow(view, k, outward=False),
        categories=_categories(view, k),
    )


def _weights(view: "Exploration", k: int, words: np.ndarray) -> list[WordWeight]:
    everywhere = view.word_probability
    return [
        WordWeight(
            view.vocabulary[w], float(view.topic_word[k, w]), float(view.topic_word[k, w] / p)
        )
        for w, p in zip(words.tolist(), everywhere[words].tolist(), strict=True)
    ]


def _similar(view: "Exploration", k: int) -> list[TopicWeight]:
    phi = np.asarray(view.topic_word, np.float64)
    cosine = phi @ phi[k] / (np.linalg.norm(phi, axis=1) * np.linalg.norm(phi[k]))
    others = [j for j in view.order if j != k]
    best = sorted(others, key=lambda j: -cosine[j])[:5]
    return [TopicWeight(j, view.topic_name(j), float(cosine[j])) for j in best]


def _flow(view: "Exploration", k: int, *, outward: bool) -> list[TopicWeight]:
    matrix = view.flow_matrix
    if matrix is None:
        return []
    row = matrix[k] if outward else matrix[:, k]
    total = row.sum()
    return view.mixture(row / total, least=0.02, most=8) if total > 0 else []


def _categories(view: "Exploration", k: int) -> list[dict[str, Any]]:
    matrix = view.category_mass
    if matrix is None or matrix[:, k].sum() <= 0:
        return []
    part = matrix[:, k] / matrix[:, k].sum()
    names = view.corpus.category_names
    return [
        {"category": int(c), "name": names[c], "share": float(part[c])}
        for c in np.argsort(-part, kind="stable")[:5].tolist()
        if part[c] >= 0.02
    ]


def interval(
    view: "Exploration", mean: str, spread: str
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return mean plus and minus 1.64 standard deviations over samples, within [0, 1]."""
    value, sd = getattr(view.model, mean, None), getattr(view.model, spread, None)
    if value is None or sd is None:
        return None, None
    return np.maximum(value - Z90 * sd, 0.0), np.minimum(value + Z90 * sd, 1.0)


def pick(values: np.ndarray | None, order: list[int]) -> Any:
    """Select values by position; None for each if there are no values."""
    return [None] * len(order) if values is None else np.asarray(values)[order]


def blank(values: np.ndarray) -> list[float | None]:
    """Turn nan into None."""
    return [None if value != value else float(value) for value in values.tolist()]  # noqa: PLR0124 (nan)


def _one(values: np.ndarray | None, k: int) -> float | None:
    return None if values is None else float(values[k])


def _best(values: np.ndarray, number: int) -> list[int]:
    number = min(number, len(values))
    top = np.argpartition(-values, number - 1)[:number] if number else np.zeros(0, int)
    return [int(i) for i in top[np.lexsort((top, -values[top]))]]
