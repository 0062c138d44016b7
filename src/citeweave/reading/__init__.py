"""Read files into records: one small reader per format, chosen by content.

>>> from citeweave.reading import read
"""

from citeweave.reading.identifiers import (
    clean,
    find_doi,
    normalise_doi,
    normalise_orcid,
    normalise_ror,
    parse_year,
)
from citeweave.reading.names import parse_name, parse_names, split_names
from citeweave.reading.problems import FileCounts, Problem
from citeweave.reading.reading import Reading, SourceLike, read
from citeweave.reading.record import Affiliation, Author, Record, Reference, Source, WordsKind
from citeweave.reading.registry import FORMATS
from citeweave.reading.tally import Tally

__all__ = [
    "FORMATS",
    "Affiliation",
    "Author",
    "FileCounts",
    "Problem",
    "Reading",
    "Record",
    "Reference",
    "Source",
    "SourceLike",
    "Tally",
    "WordsKind",
    "clean",
    "find_doi",
    "normalise_doi",
    "normalise_orcid",
    "normalise_ror",
    "parse_name",
    "parse_names",
    "parse_year",
    "read",
    "split_names",
]
