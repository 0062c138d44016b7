"""The file of corrections about people, which assigns names in papers to persons."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from citeweave.errors import ParameterError
from citeweave.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["PEOPLE_FILE", "PersonRow", "read_people", "write_people"]

PEOPLE_FILE = "people.csv"
"""Name of the file that the explorer keeps in the run folder."""

_COLUMNS = ("person", "name", "paper")
_LONGEST = 300


class PersonRow(NamedTuple):
    """One row of the file.

    Attributes
    ----------
    person : str
        The person, as named in the corpus. Rows with the same text mean the same person, rows with
        different texts different people.
    name : str
        The name as written in papers, or an identifier of the author (ORCID or author id of the
        source).
    paper : str
        Id or DOI of the paper in which the name means this person; "" for all papers.
    line : int
        Line number in the file, from 1; 0 for rows that do not come from a file.
    """

    person: str
    name: str
    paper: str = ""
    line: int = 0


def read_people(path: str | os.PathLike[str]) -> list[PersonRow]:
    r"""Read corrections from a CSV file with the columns person, name and, optionally, paper.

    Raises
    ------
    ParameterError
        The file cannot be read, lacks a column, has a row without person or name, or assigns one
        name (in one paper) to two people.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "people.csv")
    ...     _ = Path(path).write_text("person,name\nMaria Guede,M. R. Guede\n")
    ...     read_people(path)[0].name
    'M. R. Guede'
    """
    where = os.fspath(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(
            f"The file of people {where!r} cannot be read as UTF-8 text: {error}."
        ) from error
    rows: list[PersonRow] = []
    try:
        lines = csv.reader(io.StringIO(text), delimiter="\t" if "\t" in text else ",", strict=True)
        places = _header(next((row for row in lines if any(row)), []), where)
        for row in lines:
            cells = [" ".join(cell.split()) for cell in row]
            if any(cells) and not cells[0].startswith("#"):
                person, name, paper = (
                    cells[place] if 0 <= place < len(cells) else "" for place in places
                )
                rows.append(PersonRow(person, name, paper, lines.line_num))
    except csv.Error as error:
        raise ParameterError(f"The file of people {where!r} is not a table: {error}.") from error
    check_people(rows, where)
    return rows


def _header(row: list[str], where: str) -> tuple[int, ...]:
    names = [cell.strip().lower() for cell in row]
    for column in ("person", "name"):
        if column not in names:
            raise ParameterError(
                f"The file of people {where!r} must start with a header line: person, name and, "
                f"optionally, paper. Got {', '.join(names)[:80]!r} instead."
            )
    return tuple(names.index(column) if column in names else -1 for column in _COLUMNS)


def check_people(rows: Iterable[PersonRow], where: str) -> None:
    """Reject empty rows, and rows that contradict each other."""
    known: dict[tuple[str, str], PersonRow] = {}
    for row in rows:
        for column in ("person", "name"):
            value = getattr(row, column)
            if not value or len(value) > _LONGEST or not value.isprintable():
                raise ParameterError(
                    f"Line {row.line} of {where!r} must have a {column} of at most {_LONGEST} "
                    f"printable characters. Got {value[:40]!r} instead."
                )
        key = (row.name.casefold(), row.paper.casefold())
        before = known.setdefault(key, row)
        if before.person != row.person:
            paper = f" in paper {row.paper!r}" if row.paper else ""
            raise ParameterError(
                f"Lines {before.line} and {row.line} of {where!r} contradict each other: "
                f"{row.name!r}{paper} is {before.person!r} and {row.person!r}. List the papers of "
                "each in the column 'paper', or remove one line."
            )


def write_people(path: str | os.PathLike[str], rows: Iterable[PersonRow]) -> None:
    """Write corrections in the format of `read_people`."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_COLUMNS)
    table.writerows((row.person, row.name, row.paper) for row in rows)
    with write_atomically(Path(path)) as file:
        file.write(text.getvalue().encode("utf-8"))
