"""Names of authors that are taken as they are, against taking them apart."""

import numpy as np
import polars as pl
import pytest

from citeweave.preparing.names import parse_author
from citeweave.preparing.people.describing import mixed_case
from citeweave.preparing.snapshot.people import _best, _unique
from citeweave.preparing.snapshot.pieces import text_lists
from citeweave.reading import parse_name
from citeweave.reading.name_parts import SUFFIXES, TITLES

GIVEN = ["Maria", "Wray", "Anna", "Prof", "Vandana", "Dela", "Jose"]
FAMILY = ["Buntine", "Smith", "Filho", "Neto", "Junior", "Deschamps", "Vanderberg", "Saint"]


@pytest.mark.parametrize("given", [*GIVEN, *sorted(word.title() for word in TITLES)])
def test_plain_names_are_what_taking_them_apart_gives(given):
    for family in [*FAMILY, *sorted(word.title() for word in SUFFIXES)]:
        for name in (f"{given} {family}", f"{given} K. {family}"):
            author = parse_name(name)
            expected = mixed_case(parse_author(author))
            assert _best([(name, "A1", None, 1)]) == (expected, "A1"), name


def test_the_fullest_form_is_shown():
    forms = [("W. BUNTINE", "A1", None, 9), ("Wray L. Buntine", "A1", "0000-0001", 1)]
    assert _best(forms) == ("Wray L. Buntine", "0000-0001")
    assert _best([("W. BUNTINE", None, None, 1)]) == ("W. Buntine", None)


def test_names_become_unique():
    names = _unique(pl.Series(["Bo Lim", "Bo Lim", "Ann", "Bo Lim (2)", "Bo Lim"]))
    assert names.to_list() == ["Bo Lim", "Bo Lim (3)", "Ann", "Bo Lim (2)", "Bo Lim (4)"]


@pytest.mark.parametrize("mark", ["", "\x1f"])
def test_columns_of_lists(mark):
    rows = [["a", f"b{mark}c"], None, [""], ["x", "", "y"]]
    column = text_lists("keywords", rows)
    assert column.dtype == pl.List(pl.String)
    assert column.to_list() == rows
    assert np.array_equal(text_lists("none", [None, None]).is_null().to_numpy(), [True, True])
