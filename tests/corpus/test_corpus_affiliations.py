"""Institutions and countries in a corpus: columns there and back, saved, in parts, damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from citeweave import Corpus
from citeweave.corpus.affiliations import Affiliations, affiliation_columns
from citeweave.errors import CorpusError

if TYPE_CHECKING:
    from pathlib import Path

NAMES, IDS, COUNTRIES = ["ANU", "NUS", "Duke"], ["019wvm592", "", ""], ["AU", "SG", ""]


def _corpus() -> Corpus:
    columns = affiliation_columns(
        [[[1], [], [0, 1]], [[]], [[0], [2]]],
        [[], [2], []],
        [[], [], ["FR", "AU"]],
        names=NAMES,
        ids=IDS,
        countries=COUNTRIES,
    )
    return Corpus.from_lists(
        tokens=[["a"], ["b"], ["a", "b"]],
        authors=[["Lim", "Yu", "Du"], ["Chen"], ["Lim", "Buntine"]],
        metadata=columns,
    )


def _facts(corpus: Corpus) -> tuple[set, set, set]:
    found = Affiliations.of(corpus)
    papers = {(paper, found.names[one]) for paper, one in found.institutions.tolist()}
    nations = {(paper, found.codes[one]) for paper, one in found.nations.tolist()}
    people = {
        (corpus.author_names[corpus.author_ids[place]], found.names[one])
        for place, one in found.members.tolist()
    }
    return papers, nations, people


def test_there_and_back() -> None:
    papers, nations, people = _facts(_corpus())
    assert papers == {(0, "NUS"), (0, "ANU"), (1, "Duke"), (2, "ANU"), (2, "Duke")}
    assert nations == {(0, "SG"), (0, "AU"), (2, "AU"), (2, "FR")}
    assert people == {
        ("Lim", "NUS"),
        ("Du", "ANU"),
        ("Du", "NUS"),
        ("Lim", "ANU"),
        ("Buntine", "Duke"),
    }
    found = Affiliations.of(_corpus())
    assert dict(zip(found.names, zip(found.ids, found.countries, strict=True), strict=True)) == {
        "NUS": ("", "SG"),
        "ANU": ("019wvm592", "AU"),
        "Duke": ("", ""),
    }


def test_saved_loaded_and_in_parts(tmp_path: Path) -> None:
    corpus = _corpus()
    corpus.save(tmp_path / "corpus")
    loaded = Corpus.load(tmp_path / "corpus")
    assert _facts(loaded) == _facts(corpus)
    assert loaded.verify() == corpus.fingerprint
    papers, nations, people = _facts(loaded.subset([2]))
    assert papers == {(0, "ANU"), (0, "Duke")}
    assert nations == {(0, "AU"), (0, "FR")}
    assert people == {("Lim", "ANU"), ("Buntine", "Duke")}


def test_a_corpus_without_affiliations_has_none() -> None:
    found = Affiliations.of(Corpus.from_lists(tokens=[["a"]]))
    assert found.names == found.codes == []
    assert found.institutions.shape == found.nations.shape == found.members.shape == (0, 2)


def test_names_alone_are_enough_and_one_text_is_one_name() -> None:
    corpus = Corpus.from_lists(
        tokens=[["a"], ["b"]], metadata={"institutions": ["ANU", None], "countries": [None, "AU"]}
    )
    assert _facts(corpus)[:2] == ({(0, "ANU")}, {(1, "AU")})


@pytest.mark.parametrize("told", [["0", "7"], ["x"], ["0", "0", "0"], ["-9"]])
def test_places_that_are_not_there_are_refused(told: list[str]) -> None:
    corpus = Corpus.from_lists(
        tokens=[["a"]],
        ids=["paper-1"],
        authors=[["Lim", "Du"]],
        metadata={"institutions": [["ANU"]], "author_institutions": [told]},
    )
    with pytest.raises(CorpusError, match=r"author_institutions.*'paper-1'.*2 authors"):
        Affiliations.of(corpus)


def test_arrays_are_sorted_and_unique() -> None:
    found = Affiliations.of(_corpus())
    for rows in (found.institutions, found.nations, found.members):
        assert np.array_equal(rows, np.unique(rows, axis=0))
