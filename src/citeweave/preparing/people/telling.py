"""Resolve mentions of authors to people: by identifiers, then names, then other evidence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from citeweave.preparing.people.agreeing import (
    WrittenName,
    agreement,
    family_forms,
    written_name,
)
from citeweave.preparing.people.clusters import ClusterRules, agglomerate
from citeweave.preparing.people.evidence import (
    EvidenceWeights,
    PaperFacts,
    candidate_pairs,
    pair_evidence,
)
from citeweave.preparing.people.prior import NamePrior

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from citeweave.reading.name_parts import Name

__all__ = ["Mentions", "compare_by", "tell_people_apart"]


class Mentions(NamedTuple):
    """Entries in lists of authors.

    Attributes
    ----------
    paper : ndarray of int [S]
    name : ndarray of int [S]
        Number of the written name.
    person : ndarray of int [S]
        Mentions with the same number >= 0 are the same person (by an identifier); -1 if unknown.
    marks : list of dict
        Identifiers by kind for each such number; different identifiers of a kind mean different
        people.
    """

    paper: np.ndarray
    name: np.ndarray
    person: np.ndarray
    marks: Sequence[dict[Hashable, Hashable]]


def compare_by(names: Sequence[Name]) -> list[WrittenName]:
    """Convert names to their comparison forms.

    "Mueller" is treated as "Müller" if that also occurs in the corpus.
    """
    aliases: dict[str, str] = {}
    for name in names:
        plain, spelled = family_forms(name)
        if plain != spelled:
            aliases[spelled] = plain
    return [written_name(name, aliases) for name in names]


def tell_people_apart(
    names: Sequence[WrittenName],
    mentions: Mentions,
    facts: PaperFacts,
    *,
    block_of_name: np.ndarray,
    weights: EvidenceWeights = EvidenceWeights(),  # noqa: B008 (immutable)
    rules: ClusterRules = ClusterRules(),  # noqa: B008 (immutable)
) -> np.ndarray:
    """Decide which mentions are the same person.

    Returns
    -------
    ndarray of int64 [S]
        Mentions with the same number are the same person.
    """
    if not len(mentions.paper):
        return np.zeros(0, dtype=np.int64)
    odds = _Odds(names, NamePrior(names))
    node = _nodes(names, mentions, _sure_names(mentions, odds, -rules.least))
    block = block_of_name[mentions.name]
    open_to_doubt = _in_doubt(block, mentions)
    pairs = open_to_doubt[
        candidate_pairs(
            block[open_to_doubt],
            mentions.paper[open_to_doubt],
            facts._replace(institutions=facts.institutions[open_to_doubt]),
        )
    ]
    pairs = pairs[node[pairs[:, 0]] != node[pairs[:, 1]]]
    pairs = _possible(pairs, mentions, odds)
    evidence = pair_evidence(pairs, block, mentions.paper, facts, weights)
    n_nodes = int(node.max()) + 1
    own_names: list[set[int]] = [set() for _ in range(n_nodes)]
    papers: list[set[int]] = [set() for _ in range(n_nodes)]
    marks: list[dict[Hashable, Hashable]] = [{} for _ in range(n_nodes)]
    for number, name, paper, person in zip(
        node.tolist(),
        mentions.name.tolist(),
        mentions.paper.tolist(),
        mentions.person.tolist(),
        strict=True,
    ):
        own_names[number].add(name)
        papers[number].add(paper)
        if person >= 0:
            marks[number] = mentions.marks[person]
    found = agglomerate(
        [len(own) for own in papers],
        own_names,
        papers,
        marks,
        _summed(node[pairs], evidence),
        prior=odds,
        rules=rules,
    )
    of_node = np.array(found, dtype=np.int64)
    return np.asarray(of_node[node])


class _Odds:
    """Prior log-odds of two written names; None if they are incompatible.

    Names in different blocks are not compared: only an identifier can join them.
    """

    def __init__(self, names: Sequence[WrittenName], prior: NamePrior) -> None:
        self.names = names
        self.prior = prior

    def __call__(self, one: int, other: int) -> float | None:
        first, second = self.names[one], self.names[other]
        if first.block != second.block:
            return math.nan
        agreed = agreement(first, second)
        return None if agreed is None else self.prior.log_odds(first, second, agreed)


def _in_doubt(block: np.ndarray, mentions: Mentions) -> np.ndarray:
    """Select the mentions in blocks that identifiers do not resolve completely.

    If all mentions in a block have identifiers of the same kinds, there is nothing to decide.
    """
    kinds: dict[frozenset[Hashable], int] = {}
    of_person = [kinds.setdefault(frozenset(own), len(kinds)) for own in mentions.marks]
    known = mentions.person >= 0
    kind = np.full(len(block), -1, dtype=np.int64)
    kind[known] = np.array(of_person, dtype=np.int64)[mentions.person[known]]
    size = int(block.max()) + 1
    low, high = np.full(size, len(kinds)), np.full(size, -1)
    np.minimum.at(low, block, kind)
    np.maximum.at(high, block, kind)
    told = (low == high) & (low >= 0)
    return np.flatnonzero(~told[block])


def _sure_names(mentions: Mentions, odds: _Odds, least: float) -> set[int]:
    """Find names that surely mean one person: rare, and at most once per paper."""
    places = np.stack([mentions.name, mentions.paper], axis=1)
    found, times = np.unique(places, axis=0, return_counts=True)
    twice = set(found[times > 1, 0].tolist())
    return {
        name
        for name in set(mentions.name.tolist()) - twice
        if (sure := odds(name, name)) is not None and sure >= least
    }


def _summed(pairs: np.ndarray, evidence: np.ndarray) -> Iterator[tuple[int, int, float, int]]:
    """Add up the evidence of each pair of nodes."""
    pairs = np.sort(pairs, axis=1)
    found, place, times = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    total = np.bincount(place.ravel(), weights=evidence, minlength=len(found))
    return zip(
        found[:, 0].tolist(), found[:, 1].tolist(), total.tolist(), times.tolist(), strict=True
    )


def _nodes(names: Sequence[WrittenName], mentions: Mentions, sure: set[int]) -> np.ndarray:
    """Assign initial nodes: mentions that are certainly the same person.

    These share an identifier, a name numbered by DBLP, a `sure` name, or a full name in one paper.
    """
    number: dict[tuple[object, ...], int] = {}
    node = np.zeros(len(mentions.paper), dtype=np.int64)
    for place, (paper, name, person) in enumerate(
        zip(mentions.paper.tolist(), mentions.name.tolist(), mentions.person.tolist(), strict=True)
    ):
        key: tuple[object, ...] = (place,)
        if person >= 0:
            key = ("person", person)
        elif names[name].number or name in sure:
            key = ("name", name)
        elif names[name].first:
            key = ("paper", paper, name)
        node[place] = number.setdefault(key, len(number))
    return node


def _possible(pairs: np.ndarray, mentions: Mentions, odds: _Odds) -> np.ndarray:
    """Drop pairs with incompatible names, and pairs within one paper."""
    pairs = pairs[mentions.paper[pairs[:, 0]] != mentions.paper[pairs[:, 1]]]
    named = np.sort(mentions.name[pairs], axis=1)
    kinds, kind = np.unique(named, axis=0, return_inverse=True)
    fits = np.array([odds(one, other) is not None for one, other in kinds.tolist()], dtype=bool)
    return pairs[fits[kind.ravel()]] if len(pairs) else pairs
