"""The user's word on who is who: joined, split, contradictory, about nobody."""

import pytest

from citeweave.corpus.people import PersonRow, read_people, write_people
from citeweave.errors import ParameterError
from citeweave.preparing import Settings, prepare
from citeweave.reading import Author, Record, Source

NAMES = [
    "Bruce Lee",
    "Lee, B.",
    "Ana Guede",
    "A. Guede-Fernandez",
    Author("Ana Guede", id="A123", orcid="0000-0002-1825-0097"),
    "Ana Guede",
]
MODES = ["evidence", "initials", "compatible", "full"]


def _prepared(tmp_path, table, mode="evidence"):
    path = tmp_path / "people.csv"
    path.write_text(table, encoding="utf-8")
    works = [
        Record(
            f"W{number}",
            Source("test", number),
            title=f"Trees of kind {number}",
            doi=f"10.1000/{number}",
            authors=(name if isinstance(name, Author) else Author(name),),
        )
        for number, name in enumerate(NAMES)
    ]
    corpus, report = prepare(works, settings=Settings(people=str(path), author_names=mode))
    return [corpus.authors(d)[0] for d in range(len(NAMES))], report


@pytest.mark.parametrize("mode", MODES)
def test_names_are_joined_and_called_as_the_file_says(tmp_path, mode):
    table = "person,name\nAna G.,ana guede\nAna G.,Guede-Fernandez A\n"
    names, report = _prepared(tmp_path, table, mode)
    assert names[2:] == ["Ana G."] * 4  # an id yields to the user's word
    assert "Ana G." not in names[:2]
    assert report.people_unmatched == []
    assert report.people == [["Ana G.", "ana guede", ""], ["Ana G.", "Guede-Fernandez A", ""]]


@pytest.mark.parametrize("mode", MODES)
def test_one_name_is_split_by_paper(tmp_path, mode):
    table = (
        "person,name,paper\nOne,Ana Guede,W2\nTwo,A. Guede,https://doi.org/10.1000/5\n"
        "Three,A123,W4\n"
    )
    names, report = _prepared(tmp_path, table, mode)
    assert (names[2], names[5], names[4]) == ("One", "Two", "Three")
    assert report.people_unmatched == []


def test_a_paper_goes_before_a_name(tmp_path):
    table = "name,person,paper\nAna Guede,Ana,\nAna Guede,Another Ana,W5\n"
    names, _ = _prepared(tmp_path, table)
    assert names[2:] == ["Ana", "A. Guede-Fernandez", "Ana", "Another Ana"]


def test_rows_about_nobody_are_told(tmp_path):
    table = "person,name,paper\nX,No Body,\nX,Bruce Lee,W77\nX,Ana Guede,W0\n\n# a remark,,\n"
    names, report = _prepared(tmp_path, table)
    assert "X" not in names
    assert [(row["line"], row["why"]) for row in report.people_unmatched] == [
        (2, "no paper has an author of this name"),
        (3, "there is no such paper"),
        (4, "the paper has no author of this name"),
    ]
    (warning,) = [text for text in report.warnings if "file of people" in text]
    assert "3 rows" in warning
    assert "line 2, 'No Body'" in warning


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("person,name\nA,Ana Guede\nB,ana guede\n", "Lines 2 and 3 .* contradict .*'A' and 'B'"),
        ("person,name,paper\nA,Ana,W1\nB,Ana,w1\n", "in paper 'w1' is 'A' and 'B'"),
        ("name,paper\nA,B\n", "must start with a header line"),
        ("", "must start with a header line"),
        ("person,name\n,Ana\n", "Line 2 .* must have a person"),
        ("person,name\nAna\n", "Line 2 .* must have a name"),
        ('person,name\n"Ana\n', "is not a table"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, table, message):
    with pytest.raises(ParameterError, match=message):
        _prepared(tmp_path, table)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ParameterError, match=r"nowhere.csv' cannot be read"):
        read_people(tmp_path / "nowhere.csv")


def test_what_is_written_is_read_again(tmp_path):
    rows = [PersonRow("Lee, Bruce", "B. Lee", "W1"), PersonRow('"Q"', "Ä. Ö")]
    write_people(tmp_path / "people.csv", rows)
    again = read_people(tmp_path / "people.csv")
    assert [row[:3] for row in again] == [row[:3] for row in rows]
