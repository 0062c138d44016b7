"""Records of publications: what readers give and preparation takes."""

from citeweave.records.identifiers import (
    clean,
    find_doi,
    normalise_doi,
    normalise_orcid,
    parse_year,
)
from citeweave.records.names import parse_name, parse_names, split_names
from citeweave.records.record import Author, Record, Reference, Source, WordsKind

__all__ = [
    "Author",
    "Record",
    "Reference",
    "Source",
    "WordsKind",
    "clean",
    "find_doi",
    "normalise_doi",
    "normalise_orcid",
    "parse_name",
    "parse_names",
    "parse_year",
    "split_names",
]
