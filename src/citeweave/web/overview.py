"""Key figures of a corpus, for the start page of the explorer and the report."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from citeweave.explore import Exploration
from citeweave.wording import number

__all__ = ["Coverage", "coverage", "figures", "frequent", "venues"]

MOST = 10


class Coverage(NamedTuple):
    """The number and share of papers that have a title, authors, a year and so on."""

    name: str
    papers: int
    share: float


def figures(view: Exploration) -> tuple[tuple[str, str], ...]:
    """Return the names and values of the key figures, omitting what the corpus lacks."""
    corpus = view.corpus
    rows = [
        ("Papers", corpus.n_documents),
        ("Topics in use", len(view.order)),
        ("Authors", corpus.n_authors),
        ("Citations between papers", corpus.n_citations),
        ("Categories", corpus.n_categories),
        ("Distinct words and phrases", corpus.vocabulary_size),
        ("Total words", corpus.n_tokens),
    ]
    out = [(name, number(value)) for name, value in rows if value]
    if view.has_years:
        years = view.year_range
        span = f"{years[0]}" if len(years) == 1 else f"{years[0]}–{years[-1]}"
        out.append(("Years", span))
    return tuple(out)


def coverage(view: Exploration) -> tuple[Coverage, ...]:
    """Count the papers that have titles, words, authors and so on."""
    corpus = view.corpus
    total = max(corpus.n_documents, 1)
    rows = [
        ("a title", sum(1 for title in corpus.titles if title)),
        ("words", int((np.asarray(corpus.lengths) > 0).sum())),
        ("authors", int((np.diff(corpus.author_offsets) > 0).sum())),
        ("a year", int((view.years > 0).sum())),
        ("a label", int((np.asarray(corpus.categories) >= 0).sum())),
        ("references to papers in the corpus", int((view.outgoing.counts > 0).sum())),
        ("citations from papers in the corpus", int((view.incoming.counts > 0).sum())),
    ]
    return tuple(Coverage(name, papers, papers / total) for name, papers in rows)


def frequent(view: Exploration) -> tuple[tuple[str, int], ...]:
    """Return the categories with the most papers."""
    names, values = view.corpus.category_names, np.asarray(view.corpus.categories)
    if not names:
        return ()
    counts = np.bincount(values[values >= 0], minlength=len(names))
    best = np.argsort(-counts, kind="stable")[:MOST]
    return tuple((names[i], int(counts[i])) for i in best.tolist() if counts[i])


def venues(view: Exploration) -> tuple[tuple[str, int], ...]:
    """Return the venues with the most papers, if there is something to compare."""
    column = view.corpus.metadata.get("venue") or ()
    counts = Counter(str(venue) for venue in column if venue)
    # a single venue is not a comparison; and some sources give full references as venues
    if len(counts) < 2 or 2 * len(counts) > sum(counts.values()):
        return ()
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(best[:MOST])
