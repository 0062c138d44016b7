"""The kernels' sources: each is used, each names files that are there, none is long."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from citeweave.engines.cuda.program import SLOT_UNITS, UNITS

PACKAGE = Path(str(files("citeweave")))
SOURCES = sorted((PACKAGE / "engines" / "cuda" / "source").iterdir())


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_files_that_comments_point_to_are_there(path):
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"engines/\w+/\w+\.py", text):
        assert (PACKAGE / name).exists(), name
    here = {source.name for source in SOURCES}
    assert set(re.findall(r"\b\w+\.cuh?\b", text)) <= here


def test_every_source_is_part_of_a_program():
    parts = {part for units in (UNITS, SLOT_UNITS) for unit in units.values() for part in unit}
    assert parts | {"common.cuh", "counts.cuh", "warp.cuh"} == {source.name for source in SOURCES}


def test_sources_are_rooms():
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert max(lengths.values()) <= 400
