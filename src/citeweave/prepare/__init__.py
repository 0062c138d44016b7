"""From records to a corpus: cleaning, matching, phrases, vocabulary, queries."""

from citeweave.prepare.pipeline import Pipeline
from citeweave.prepare.queries import Query, QueryCounts
from citeweave.prepare.report import ImportReport
from citeweave.prepare.run import Prepared, Progress, prepare
from citeweave.prepare.settings import Settings

__all__ = [
    "ImportReport",
    "Pipeline",
    "Prepared",
    "Progress",
    "Query",
    "QueryCounts",
    "Settings",
    "prepare",
]
