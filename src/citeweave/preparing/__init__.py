"""Turn records into a corpus: cleaning, matching, phrases, vocabulary, queries and the report."""

from citeweave._moved import renamed
from citeweave.preparing.page import html_page
from citeweave.preparing.pipeline import Pipeline
from citeweave.preparing.queries import Query, QueryCounts
from citeweave.preparing.records import Records, read
from citeweave.preparing.report import REPORT_FILE, Report
from citeweave.preparing.run import Imported, Progress, prepare
from citeweave.preparing.settings import Settings
from citeweave.reading.openalex_snapshot import is_snapshot

__all__ = [
    "REPORT_FILE",
    "Imported",
    "Pipeline",
    "Progress",
    "Query",
    "QueryCounts",
    "Records",
    "Report",
    "Settings",
    "html_page",
    "is_snapshot",
    "prepare",
    "read",
]

__getattr__ = renamed(__name__, {"ImportReport": "Report", "Prepared": "Imported"})
