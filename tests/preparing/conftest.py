"""Records for tests, and the folder of real data."""

import os
from pathlib import Path

import pytest

from citeweave.reading import Author, Record, Reference, Source


@pytest.fixture
def data_folder():
    folder = os.environ.get("CITEWEAVE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("CITEWEAVE_DATA names no folder with the real data sets")
    return Path(folder)


@pytest.fixture
def make():
    """Make a record from few words; authors and references may be plain strings."""

    def record(ident="a", **fields):
        fields["authors"] = tuple(
            Author(a) if isinstance(a, str) else a for a in fields.get("authors", ())
        )
        fields["references"] = tuple(
            Reference(id=r) if isinstance(r, str) else r for r in fields.get("references", ())
        )
        return Record(ident, fields.pop("source", Source("test", 1)), **fields)

    return record
