"""Contributors to a literature: authors, institutions, countries, venues and funders.

Everything here depends on the corpus only; a fitted model adds topics and influence.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.affiliations import Affiliations
from citeweave.corpus.columns import number_names
from citeweave.countries import country_name
from citeweave.errors import NotFoundError, ParameterError
from citeweave.explore.facts import GroupedIds
from citeweave.naming import option

__all__ = ["KINDS", "Contributors", "contributors_of", "growth_of", "h_index", "singular_of"]

_IMPORT = "import again from an export that has them (docs/reference/formats.md)"
_MISSING = {
    "authors": "The corpus names no authors.",
    "institutions": "The corpus names no institutions (a metadata column 'institutions'); "
    f"{_IMPORT}.",
    "countries": f"The corpus names no countries (a metadata column 'countries'); {_IMPORT}.",
    "venues": "The corpus names no venues (a metadata column 'venue').",
    "funders": f"The corpus names no funders (a metadata column 'funders'); {_IMPORT}.",
}
KINDS = tuple(_MISSING)
"""The kinds of contributors."""

_LEAST_FOR_GROWTH = 5
_FASTEST = 1.0


@dataclass(frozen=True)
class Contributors:
    """All contributors of one kind, with their papers.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    names : sequence of str
    codes : sequence of str
        Identifiers: the ROR of an institution, the ISO code of a country; "" if none.
    countries : sequence of str
        ISO code of the country of each institution; "" if none.
    papers : GroupedIds
        Papers of each contributor, once each.
    n_papers : int
        Number of papers in the corpus.
    """

    kind: str
    names: Sequence[str]
    codes: Sequence[str]
    countries: Sequence[str]
    papers: GroupedIds
    n_papers: int

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Contributor and paper of each contribution, as two arrays of the same length."""
        return np.repeat(np.arange(len(self.names)), self.papers.counts), self.papers.members

    @cached_property
    def of_paper(self) -> GroupedIds:
        """Contributors of each paper."""
        who, paper = self.pairs
        return GroupedIds(paper, who, self.n_papers)

    def check(self, number: int) -> int:
        """Raise an error for a contributor that does not exist."""
        if not 0 <= number < len(self.names):
            raise NotFoundError(
                f"There is no {singular_of(self.kind)} {number}; {self.kind} run from 0 to "
                f"{len(self.names) - 1}."
            )
        return int(number)

    def find(self, text: str) -> int:
        """Find a contributor by number, name, code or part of the name, preferring the largest."""
        if text.strip().isdecimal():
            return self.check(int(text))
        wanted = text.strip().casefold()
        names = [name.casefold() for name in self.names]
        exact = [
            i
            for i, name in enumerate(names)
            if wanted and wanted in (name, self.codes[i].casefold())
        ]
        parts = [i for i, name in enumerate(names) if wanted and wanted in name]
        found = exact or parts
        if not found:
            raise NotFoundError(
                f"There is no {singular_of(self.kind)} {text!r}. Give a number, or a part of "
                "the name."
            )
        return max(found, key=lambda i: (self.papers.counts[i], -i))


def singular_of(kind: str) -> str:
    """Return the singular of a kind.

    Examples
    --------
    >>> singular_of("countries"), singular_of("venues")
    ('country', 'venue')
    """
    return "country" if kind == "countries" else kind.removesuffix("s")


def contributors_of(corpus: Corpus, kind: str) -> Contributors:
    """Find all contributors of a kind.

    Raises
    ------
    NotFoundError
        The corpus has none; the message says what it lacks.

    Examples
    --------
    >>> corpus = Corpus.from_lists(
    ...     tokens=[["a"], ["b"]], metadata={"countries": [["AU", "SG"], ["AU"]]}
    ... )
    >>> found = contributors_of(corpus, "countries")
    >>> found.names, found.papers.counts.tolist()
    (['Australia', 'Singapore'], [2, 1])
    """
    if kind not in KINDS:
        raise ParameterError(
            f"{option('kind')} must be one of {', '.join(KINDS)}. Got {kind!r} instead."
        )
    found = _MAKERS[kind](corpus)
    if not len(found.papers.members):
        raise NotFoundError(f"There are no {kind} to show. {_MISSING[kind]}")
    return found


def _authors(corpus: Corpus) -> Contributors:
    paper = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.author_offsets))
    pairs = np.stack([np.asarray(corpus.author_ids, np.int64), paper], 1)
    return _made(corpus, "authors", corpus.author_names, np.unique(pairs, axis=0))


def _institutions(corpus: Corpus) -> Contributors:
    found = Affiliations.of(corpus)
    rows = found.institutions[:, ::-1]
    return _made(corpus, "institutions", found.names, rows, found.ids, found.countries)


def _countries(corpus: Corpus) -> Contributors:
    found = Affiliations.of(corpus)
    names = [country_name(code) for code in found.codes]
    return _made(corpus, "countries", names, found.nations[:, ::-1], found.codes)


def _venues(corpus: Corpus) -> Contributors:
    column = corpus.metadata.get("venue") or []
    rows = ([] if name is None else [str(name)] for name in column)
    return _made(corpus, "venues", *number_names(rows))


def _funders(corpus: Corpus) -> Contributors:
    column = corpus.metadata.get("funders") or []
    rows = ([] if row is None else row if isinstance(row, list) else [str(row)] for row in column)
    return _made(corpus, "funders", *number_names(rows))


_MAKERS: dict[str, Callable[[Corpus], Contributors]] = {
    "authors": _authors,
    "institutions": _institutions,
    "countries": _countries,
    "venues": _venues,
    "funders": _funders,
}


def _made(
    corpus: Corpus,
    kind: str,
    names: Sequence[str],
    pairs: np.ndarray,
    codes: Sequence[str] | None = None,
    countries: Sequence[str] | None = None,
) -> Contributors:
    empty = [""] * len(names)
    papers = GroupedIds(pairs[:, 0], pairs[:, 1], len(names))
    return Contributors(kind, names, codes or empty, countries or empty, papers, corpus.n_documents)


def h_index(papers: GroupedIds, cited: np.ndarray) -> np.ndarray:
    """Find for each contributor the largest h such that h papers are cited h times or more.

    Parameters
    ----------
    papers : GroupedIds
    cited : ndarray of int, shape (n_papers,)

    Examples
    --------
    >>> papers = GroupedIds(np.array([0, 0, 0, 1]), np.array([0, 1, 2, 2]), 3)
    >>> h_index(papers, np.array([5, 2, 0])).tolist()
    [2, 0, 0]
    """
    who = np.repeat(np.arange(len(papers.counts)), papers.counts)
    count = cited[papers.members]
    order = np.lexsort((-count, who))
    rank = np.arange(len(who)) - papers.start[who] + 1
    return np.bincount(who, weights=count[order] >= rank, minlength=len(papers.counts)).astype(int)


def growth_of(papers: GroupedIds, years: np.ndarray) -> np.ndarray:
    """Fit the yearly growth of each contributor's papers; nan where there are too few.

    The rate g of a Poisson regression over all years of the corpus, papers ~ (1 + g)^year. Its
    estimate depends on the mean year of the papers alone. Five papers are needed and three years;
    growth is limited to between 1/e and e times per year.

    Parameters
    ----------
    papers : GroupedIds
    years : ndarray of int, shape (n_papers,)
        0 where unknown.
    """
    growth = np.full(len(papers.counts), np.nan)
    known = years[years > 0]
    if not len(known) or known.max() - known.min() < 2:
        return growth
    who = np.repeat(np.arange(len(papers.counts)), papers.counts)
    year = years[papers.members]
    who, year = who[year > 0], year[year > 0] - known.min()
    number = np.bincount(who, minlength=len(growth))
    enough = number >= _LEAST_FOR_GROWTH
    mean = np.bincount(who, weights=year, minlength=len(growth))[enough] / number[enough]
    span = np.arange(known.max() - known.min() + 1)
    rates = np.linspace(-_FASTEST, _FASTEST, 801)
    tilted = np.exp(rates[:, None] * (span - span.mean()))
    growth[enough] = np.expm1(np.interp(mean, tilted @ span / tilted.sum(axis=1), rates))
    return growth
