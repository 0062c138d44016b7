"""The corpus: documents as integer arrays, with authors, labels and citations."""

from citeweave.corpus.corpus import Corpus
from citeweave.corpus.report import CorpusReport
from citeweave.corpus.split import Links, Split

__all__ = ["Corpus", "CorpusReport", "Links", "Split"]
