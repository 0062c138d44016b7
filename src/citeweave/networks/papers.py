"""What maps show about papers: year, title, and a short name such as "Heer and Card (2005)"."""

import re
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.columns import years_of
from citeweave.errors import NotFoundError
from citeweave.reading.name_parts import parse

__all__ = [
    "citations_got",
    "mean_years",
    "need_citations",
    "paper_label",
    "paper_name",
    "work_label",
]

LONGEST = 28
_YEAR = re.compile(r"(?:, |\()((?:1[5-9]|20)\d\d)\b")


def mean_years(corpus: Corpus, table: Any) -> np.ndarray:
    """Return the mean year of the papers in which each item occurs, nan if unknown.

    Parameters
    ----------
    corpus : Corpus
    table : csr_array of ones, shape (papers, things)

    Returns
    -------
    ndarray, shape (things,)
    """
    years = years_of(corpus)
    known = (years > 0).astype(float)
    papers = np.asarray(table.T @ known)
    sums = np.asarray(table.T @ years)  # unknown years are 0
    means = np.full(len(papers), np.nan)
    return np.asarray(np.divide(sums, papers, out=means, where=papers > 0))


def citations_got(corpus: Corpus) -> np.ndarray:
    """Return the number of citations of each paper from papers of the corpus [D]."""
    return np.bincount(np.asarray(corpus.citations)[:, 1], minlength=corpus.n_documents)


def need_citations(corpus: Corpus, what: str) -> np.ndarray:
    """Return the citations of a corpus as int64; raise an error if there are none for `what`."""
    if not corpus.n_citations:
        raise NotFoundError(f"There is no {what}: the corpus has no citations among its papers.")
    return np.asarray(corpus.citations, np.int64)


def paper_name(corpus: Corpus, paper: int) -> str:
    """Return the title of a paper, or its id if it has none."""
    return corpus.titles[paper] or corpus.ids[paper]


def work_label(text: str) -> str:
    """Shorten a written reference to a label.

    Examples
    --------
    >>> work_label("Blei DM, 2003, J MACH LEARN RES, V3, P993"), work_label("10.1234/abc")
    ('Blei DM (2003)', '10.1234/abc')
    """
    found = _YEAR.search(text)
    who = text[: found.start()].strip(" ,(") if found else text
    if len(who) > LONGEST:
        who = f"{who[: LONGEST - 1].rstrip()}…"
    return f"{who} ({found[1]})" if found and who else who or text[:LONGEST]


def paper_label(corpus: Corpus, paper: int, year: int) -> str:
    """Return a short label of a paper: family names and year, or the start of its title."""
    families = [parse(name).family or name for name in corpus.authors(paper)[:3]]
    if not families:
        who = paper_name(corpus, paper)
    elif len(families) == 2:
        who = " and ".join(families)
    else:
        who = families[0] + (" et al." if len(families) > 2 else "")
    if len(who) > LONGEST:
        who = f"{who[: LONGEST - 1].rstrip()}…"
    return f"{who} ({year})" if year else who
