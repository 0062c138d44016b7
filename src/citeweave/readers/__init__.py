"""Readers of bibliographic files: one small reader a format, chosen by content.

>>> from citeweave.readers import read
"""

from citeweave.readers.problems import FileCounts, Problem
from citeweave.readers.reading import Reading, SourceLike, read
from citeweave.readers.registry import FORMATS

__all__ = ["FORMATS", "FileCounts", "Problem", "Reading", "SourceLike", "read"]
