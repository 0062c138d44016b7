"""From files to a corpus in one go, and the report of it for people and machines."""

from citeweave.importing.page import html_page
from citeweave.importing.records import Imported, Records, read
from citeweave.importing.report import REPORT_FILE, Report

__all__ = ["REPORT_FILE", "Imported", "Records", "Report", "html_page", "read"]
