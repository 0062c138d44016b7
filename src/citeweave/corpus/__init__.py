"""The corpus: documents as integers, with the authors, labels and citations between them."""

from citeweave.corpus.corpus import Corpus
from citeweave.corpus.report import CorpusReport
from citeweave.corpus.split import Links, Split

__all__ = ["Corpus", "CorpusReport", "Links", "Split"]
