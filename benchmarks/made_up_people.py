"""A made-up literature of people whose names are as ambiguous as real ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from citeweave.preparing.people.prior import common_families
from citeweave.reading import Affiliation, Author, Record, Reference, Source

__all__ = ["made_up_works"]

_EAST = (
    "Wei Yan Li Jing Yang Xin Hao Yu Ming Jun Lei Ying Hui Xiao Bo Tao Chao Qiang Fang Na Rui Yi "  # noqa: SIM905
    "Kai Zhen Peng Xiaoming Jianping Zhiwei Yuting Haoran".split()
)
_WEST = (
    "Anna Peter Maria John David Laura Thomas Paul Julia Martin Sarah James Robert Elena Marco "  # noqa: SIM905
    "Karl Ines Hugo Clara Simon Olga Ivan Nina Adam Eva Lucas Irene Victor Alice Oscar".split()
)
_SYLLABLES = [
    a + b for a in ("b", "d", "g", "k", "l", "m", "n", "r", "s", "t", "v") for b in "aeiou"
]


@dataclass
class _Person:
    number: int
    given: str
    middle: str
    family: str
    lab: int
    begins: int
    works: list[int] = field(default_factory=list)


def _families(rng: np.random.Generator, number: int) -> tuple[list[str], np.ndarray]:
    """Give common names with their shares, and rare ones that share the rest by Zipf's law."""
    common = common_families()
    rare = {
        "".join(rng.choice(_SYLLABLES, int(rng.integers(2, 4)))) + "n": None for _ in range(number)
    }
    shares = np.array([share for share, _ in common.values()])
    # three in five authors of such a field bear one of the names of the table
    tail = 1 / np.arange(10, len(rare) + 10)
    weights = np.concatenate([0.6 * shares / shares.sum(), 0.4 * tail / tail.sum()])
    names = [name.title() for name in (*common, *rare)]
    return names, weights / weights.sum()


def made_up_works(*, papers: int = 4000, labs: int = 120, seed: int = 1) -> list[Record]:
    """Draw works with author ids, in the manner of OpenAlex.

    People work in labs of an institution and a field; a paper has two to six authors of one lab and
    sometimes one of another, words of its field, and references to works of the field, a fifth of
    them to the authors' own. One person in ten moves to another lab. Family names are common ones
    with their real shares (`families.tsv`) and made-up rare ones; given names are of some thirty
    for each part of the world. Two in five papers give initials only, half of these all of them.

    Parameters
    ----------
    papers, labs : int
        How many.
    seed : int
    """
    rng = np.random.default_rng(seed)
    families, weights = _families(rng, 1500)
    common = common_families()
    fields = max(labs // 8, 1)
    words = [f"{a}{b}{c}x" for a in _SYLLABLES[:20] for b in _SYLLABLES[:20] for c in "bdfgk"]
    of_field = [rng.choice(len(words), 80, replace=False) for _ in range(fields)]
    people: list[_Person] = []
    teams: list[list[int]] = [[] for _ in range(labs)]
    for lab in range(labs):
        for _ in range(int(rng.integers(4, 14))):
            family = str(rng.choice(families, p=weights))
            group = common.get(family.lower(), (0.0, ""))[1]
            pool = _EAST if group in {"east", "korea", "vietnam"} else _WEST
            middle = str(rng.choice(_WEST)) if pool is _WEST and rng.random() < 0.4 else ""
            person = _Person(
                len(people),
                str(rng.choice(pool)),
                middle,
                family,
                lab,
                int(rng.integers(1990, 2018)),
            )
            people.append(person)
            teams[lab].append(person.number)
            if rng.random() < 0.1:
                teams[int(rng.integers(labs))].append(person.number)
    records: list[Record] = []
    by_field: list[list[int]] = [[] for _ in range(fields)]
    for number in range(papers):
        lab = int(rng.integers(labs))
        own = list(dict.fromkeys(teams[lab]))
        size = min(int(rng.integers(2, 7)), len(own))
        team = [own[i] for i in rng.choice(len(own), size, replace=False)]
        if rng.random() < 0.2:
            team = list(dict.fromkeys([*team, int(rng.integers(len(people)))]))
        topic = lab % fields
        style = int(rng.random() < 0.4) * (1 + int(rng.random() < 0.5))
        chosen = rng.choice(of_field[topic], 30)
        cited = {w for p in team for w in people[p].works[-6:] if rng.random() < 0.2}
        if by_field[topic]:
            cited |= {int(w) for w in rng.choice(by_field[topic], 4)}
        records.append(
            Record(
                f"W{number}",
                Source("made up", number + 1),
                title=" ".join(words[i] for i in chosen[:8]),
                abstract=" ".join(words[i] for i in chosen[8:]),
                authors=tuple(
                    _author(people[p], style, lab if p in own else people[p].lab) for p in team
                ),
                year=min(max(people[p].begins for p in team) + int(rng.integers(0, 15)), 2024),
                venue=f"Journal {topic}-{int(rng.integers(4))}",
                references=tuple(Reference(id=f"W{w}") for w in sorted(cited)),
            )
        )
        by_field[topic].append(number)
        for p in team:
            people[p].works.append(number)
    return records


def _author(person: _Person, style: int, lab: int) -> Author:
    given = [part for part in (person.given, person.middle) if part]
    if style:
        given = [f"{part[0]}." for part in given][: 2 if style == 2 else 1]
    return Author(
        f"{' '.join(given)} {person.family}",
        id=f"A{person.number + 1000}",
        affiliations=(Affiliation(institution=f"University {lab}"),),
    )
