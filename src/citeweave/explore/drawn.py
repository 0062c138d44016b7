"""Inferred categories: their size, topics, words and most certain papers."""

from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.explore.frames import Columns
from citeweave.explore.pages import CategoryCard
from citeweave.explore.topics import mixture_columns

if TYPE_CHECKING:
    from citeweave.explore.exploration import Exploration

__all__ = ["category_cards", "drawn_columns"]

_WORDS = 8
_EXAMPLES = 3


def category_cards(view: "Exploration") -> list[CategoryCard]:
    """Describe the inferred categories, the largest first.

    Categories without papers are left out, so there may be fewer than were requested. The list is
    empty if the model does not infer categories.
    """
    shares, groups, nu = view.category_probability, view.groups, view.group_topic
    if shares is None or groups is None or nu is None:
        return []
    best = shares.argmax(axis=1)
    papers = np.bincount(best, minlength=len(groups))
    told = None if view.readings is None else view.readings.labelled
    words = _words(view, np.asarray(nu))
    influence = view.incoming.counts if view.cited_propensity is None else view.cited_propensity
    found = []
    for c in np.argsort(-papers, kind="stable")[: int((papers > 0).sum())].tolist():
        mine = np.flatnonzero(best == c)
        open_ones = mine if told is None else mine[~told[mine]]
        # the most certain papers; among equals, the most cited ones
        order = np.lexsort((open_ones, -influence[open_ones], -shares[open_ones, c].round(2)))
        spread = None if view.group_sd is None else np.asarray(view.group_sd[c])
        sure = float(shares[open_ones, c].mean()) if len(open_ones) else None
        found.append(
            CategoryCard(
                category=c,
                name=groups.names[c],
                papers=int(papers[c]),
                labelled=len(mine) - len(open_ones),
                sure=sure,
                topics=view.mixture(np.asarray(nu[c]), spread),
                words=[view.vocabulary[w] for w in words[c].tolist()],
                examples=[
                    view.paper_link(d, float(shares[d, c]))
                    for d in open_ones[order[:_EXAMPLES]].tolist()
                ],
            )
        )
    return found


def _words(view: "Exploration", nu: np.ndarray) -> np.ndarray:
    """Characteristic words of each category [C, words]: p(w | c) log(p(w | c) / p(w))."""
    phi = np.asarray(view.topic_word, np.float64)
    within = nu @ phi
    overall = np.maximum(np.asarray(view.model.topic_share_, np.float64) @ phi, 1e-300)
    speaks = within * np.log(np.maximum(within, 1e-300) / overall)
    return np.asarray(np.argsort(-speaks, axis=1, kind="stable")[:, :_WORDS])


def drawn_columns(view: "Exploration") -> Columns:
    """Return the columns of the table of inferred categories, the largest first."""
    cards = category_cards(view)
    main = [card.topics[0] for card in cards]
    columns: dict[str, tuple[str, Any]] = {
        "category": ("int", [card.category for card in cards]),
        "name": ("text", [card.name for card in cards]),
        "papers": ("int", [card.papers for card in cards]),
        "labelled": ("int", [card.labelled for card in cards]),
        "sure": ("float", [card.sure for card in cards]),
        "topic": ("int", [part.topic for part in main]),
        "topic_name": ("text", [part.name for part in main]),
        "weight": ("float", [part.weight for part in main]),
        "topics_from": ("text", ["model"] * len(cards)),
        "words": ("texts", [card.words for card in cards]),
        "examples": ("texts", [[one.title for one in card.examples] for card in cards]),
        **mixture_columns([card.topics for card in cards]),
    }
    return columns
