"""Thesaurus files, which replace names or terms, as in VOSviewer."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from citeweave.errors import ParameterError

__all__ = ["read_thesaurus", "resolve"]

_LABEL = {"label", "from", "term", "name", "old"}
_REPLACE = {"replace by", "replace_by", "to", "replacement", "new"}


def read_thesaurus(path: str | Path) -> dict[str, str]:
    """Read a thesaurus with two tab- or comma-separated columns: label and replacement.

    A header such as VOSviewer's ``label``, ``replace by`` is optional; an empty replacement removes
    the label. Labels are compared case-insensitively.

    Returns
    -------
    dict
        Maps labels in lower case to replacements ("" to remove them); chains are resolved.

    Raises
    ------
    ParameterError
        The file cannot be read, a line has no label, or replacements are circular.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(
            f"The thesaurus {str(path)!r} cannot be read as UTF-8 text: {error}."
        ) from error
    delimiter = "\t" if "\t" in text else ","
    entries: dict[str, str] = {}
    try:
        for row in csv.reader(io.StringIO(text), delimiter=delimiter):
            cells = [" ".join(cell.split()) for cell in row]
            if not any(cells) or cells[0].startswith("#"):
                continue
            second = cells[1] if len(cells) > 1 else ""
            if not entries and cells[0].lower() in _LABEL and second.lower() in _REPLACE:
                continue
            if not cells[0]:
                raise ParameterError(
                    f"The thesaurus {str(path)!r} has a row without a label: {row!r}. "
                    "The first column must contain the label, the second its replacement."
                )
            entries[cells[0].lower()] = second
    except csv.Error as error:
        raise ParameterError(f"The thesaurus {str(path)!r} is not a table: {error}.") from error
    return resolve(entries, where=str(path))


def resolve(entries: dict[str, str], *, where: str = "settings") -> dict[str, str]:
    """Resolve chains of replacements, so that one look-up is sufficient.

    Examples
    --------
    >>> resolve({"nn": "neural net", "neural net": "Neural network"})
    {'nn': 'Neural network', 'neural net': 'Neural network'}
    """
    resolved = {}
    for label, target in entries.items():
        seen, final = {label}, target
        # An entry that only changes case ("ai" to "AI") ends a chain.
        while final.lower() in entries and entries[final.lower()].lower() != final.lower():
            if final.lower() in seen:
                raise ParameterError(
                    f"The thesaurus {where!r} has circular replacements: {label!r} leads back to "
                    f"{final!r}. Remove one of these rows."
                )
            seen.add(final.lower())
            final = entries[final.lower()]
        resolved[label] = entries.get(final.lower(), final)
    return resolved
