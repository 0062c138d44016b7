"""The report of a whole import, from files to corpus, as one document of plain values."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from citeweave import __version__
from citeweave.errors import CorpusError, ParameterError
from citeweave.files import write_atomically
from citeweave.preparing.settings import Settings

if TYPE_CHECKING:
    from citeweave.preparing.counts import ImportReport
    from citeweave.preparing.queries import QueryCounts
    from citeweave.preparing.records import Records

__all__ = ["REPORT_FILE", "Report"]

FORMAT = "citeweave-import"
VERSION = 1

REPORT_FILE = "import.json"
"""Name of the report inside the folder of a corpus."""

UNREADABLE = "could not be read"
NO_CATEGORY = "no category of the query"
SEVERAL = "several categories of the query"


class Report:
    """Everything that an import read, changed, matched or dropped.

    The values are those of `ImportReport`, with what the readers found about the files.
    ``records_read`` counts the records that could be read and ``records_skipped`` all that did
    not become a document of their own; the reasons are in ``skipped_by_reason``, so that

        records_read + records_unreadable == documents + records_skipped.

    ``as_read`` counts what all records held when they came from the files (`Tally`); the other
    counts are those of the documents.

    Examples
    --------
    >>> import io
    >>> from citeweave.preparing import read
    >>> _, report = read(io.BytesIO(b"@book{lim, title={Topic models}}")).prepare()
    >>> values = report.as_dict()
    >>> values["records_read"], values["records_skipped"], values["documents"]
    (1, 0, 1)
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    @classmethod
    def of(
        cls,
        steps: ImportReport,
        records: Records,
        *,
        settings: Settings,
        query: QueryCounts | None = None,
    ) -> Self:
        """Join what preparation reports to what the readers report."""
        reasons = {UNREADABLE: records.records_skipped}
        if query is not None:
            reasons |= {NO_CATEGORY: query.unmatched, SEVERAL: query.several}
        reasons |= steps.dropped
        reasons = {reason: number for reason, number in reasons.items() if number}
        values = steps.as_dict()
        head = {
            "format": FORMAT,
            "version": VERSION,
            "citeweave": __version__,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "records_read": records.records_read,
            "records_unreadable": records.records_skipped,
            "records_skipped": sum(reasons.values()),
            "skipped_by_reason": reasons,
            "as_read": records.as_read,
        }
        plain = Settings().as_dict()
        changed = {k: v for k, v in settings.as_dict().items() if v != plain[k]}
        tail = {
            "files": [asdict(counts) for counts in records.counts.values()],
            "problems_total": records.problem_count,
            "problems": [asdict(problem) for problem in records.problems],
            "query": None if query is None else query.as_dict(),
            "settings_changed": changed,
        }
        left = {k: v for k, v in values.items() if k not in head and k != "dropped"}
        return cls(head | left | tail)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a report that `save` wrote as JSON, or the one in the folder of a corpus."""
        place = Path(path)
        if place.is_dir():
            place /= REPORT_FILE
        try:
            values = json.loads(place.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise CorpusError(f"The import report '{place}' cannot be read: {error}.") from error
        found = values.get("format") if isinstance(values, dict) else None
        if found != FORMAT or values.get("version") != VERSION:
            raise CorpusError(
                f"'{place}' is no import report of version {VERSION}: its format is {found!r}."
            )
        return cls(values)

    def as_dict(self) -> dict[str, Any]:
        """Give all values, as JSON can hold them."""
        return dict(self._values)

    def to_html(self) -> str:
        """Give a page that needs nothing besides itself."""
        from citeweave.preparing.page import html_page  # noqa: PLC0415 (it imports this file)

        return html_page(self)

    def to_json(self) -> str:
        """Give the values as JSON text."""
        return json.dumps(self._values, indent=2, ensure_ascii=False) + "\n"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report, as JSON or as a page by the name's ending; into a folder as JSON.

        Raises
        ------
        ParameterError
            The name ends neither in .json nor in .html.
        CorpusError
            The file cannot be written.
        """
        place = Path(path)
        if place.is_dir():
            place /= REPORT_FILE
        check_report_name(place)
        text = self.to_json() if place.suffix.lower() == ".json" else self.to_html()
        try:
            # a file name may hold bytes that are no text; JSON reads them back as they were
            with write_atomically(place) as file:
                file.write(text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise CorpusError(
                f"The report cannot be written to '{place}': {error.strerror or error}. "
                "Choose another place."
            ) from error
        return place


def check_report_name(path: str | os.PathLike[str]) -> None:
    """Refuse a name that tells no known form, before any work is done for it."""
    if Path(path).suffix.lower() not in {".json", ".html", ".htm"}:
        raise ParameterError(
            f"A report's name must end in .html or .json. Got '{os.fspath(path)}' instead."
        )
