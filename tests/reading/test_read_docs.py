"""docs/reference/formats.md says what the registry holds."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from citeweave.reading import FORMATS, Record

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"


def test_the_table_of_formats_is_the_registry():
    rows = re.findall(r"^\| `([\w-]+)` \| ([^|]+) \|(.*)\|$", DOCS.read_text("utf-8"), re.MULTILINE)
    head = re.search(r"^\| `format=` \| what \|(.*)\|$", DOCS.read_text("utf-8"), re.MULTILINE)
    assert head is not None
    columns = [name.strip().replace(" ", "_") for name in head[1].split("|")]
    documented = {
        name: (
            label,
            {c for c, mark in zip(columns, marks.split("|"), strict=True) if mark.strip()},
        )
        for name, label, marks in rows
    }
    assert documented == {form.name: (form.label, set(form.gives.split())) for form in FORMATS}


def test_what_formats_give_are_fields_of_records():
    names = {field.name for field in fields(Record)} | {"author_ids"}
    for form in FORMATS:
        assert set(form.gives.split()) <= names
