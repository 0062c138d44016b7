"""Authors joined in the explorer: shown at once, kept, undone, taken by the next import."""

import json
from pathlib import Path
from typing import Any

import pytest

from citeweave import Corpus
from citeweave.corpus.people import read_people
from citeweave.explore import Exploration
from citeweave.preparing import Settings, prepare
from citeweave.reading import Author, Record, Source
from web.calling import Client, open_client

GOOD = {"x-citeweave": "1"}


def _author(run: Path, name: str) -> int:
    return Corpus.load(run / "corpus").author_names.index(name)


def _join(client: Client, author: int, other: str, **options: Any) -> Any:
    data = {"token": "secret-token", "other": other}
    return client.post(f"/authors/{author}/join", **({"data": data} | options))


def test_two_authors_are_shown_as_one_and_parted_again(own_run: Path) -> None:
    client = open_client(own_run)
    one, other = _author(own_run, "Author 00"), _author(own_run, "Author 10")
    before = [client.get(f"/api/authors/{number}").json()["papers"] for number in (one, other)]
    total = client.get("/api/authors").json()["total"]
    page = client.get(f"/authors/{one}").text
    assert "Join with another author" in page
    assert '<option value="Author 10">' in page
    answer = _join(client, one, "author 10")
    assert answer.status_code == 303
    shown = int(answer.headers["location"].rsplit("/", 1)[-1])
    both = client.get(f"/api/authors/{other}").json()
    assert (both["author"], both["name"], both["papers"]) == (shown, "Author 00", sum(before))
    assert [entry["name"] for entry in both["joined"]] == ["Author 10", "Author 00"]
    assert client.get("/api/authors").json()["total"] == total - 1
    hidden = one + other - shown
    assert client.get(f"/authors/{hidden}").headers["location"] == f"/authors/{shown}"
    text = client.get(f"/authors/{shown}").text
    assert "Joined by you: Author 10 (5 papers), Author 00 (4 papers)" in text
    assert "--people" in text
    names = [a["name"] for a in client.get("/api/authors?q=author 10").json()["authors"]]
    assert names == []
    # another process that shows the run takes it over
    assert Exploration(own_run).author(other).papers == sum(before)
    answer = client.post(f"/authors/{shown}/separate", data={"token": "secret-token"})
    assert answer.status_code == 303
    again = [client.get(f"/api/authors/{number}").json()["papers"] for number in (one, other)]
    assert again == before
    assert read_people(own_run / "people.csv") == []


def test_joining_by_the_interface(own_run: Path) -> None:
    client = open_client(own_run)
    one, other, third = (_author(own_run, f"Author {area}1") for area in (0, 1, 2))
    answer = client.post(f"/api/authors/{one}/join", json={"other": other}, headers=GOOD)
    assert answer.json()["name"] == "Author 01"
    answer = client.post(f"/api/authors/{third}/join", json={"other": other}, headers=GOOD)
    assert answer.json()["name"] == "Author 21"
    assert len(answer.json()["joined"]) == 3
    for body, status in (({"other": one}, 400), ({"other": 10**6}, 404), ({"other": "x"}, 400)):
        answer = client.post(f"/api/authors/{third}/join", json=body, headers=GOOD)
        assert answer.status_code == status
    answer = client.post(f"/api/authors/{one}/separate", headers=GOOD)
    assert answer.json()["joined"] == []
    assert client.post(f"/api/authors/{one}/separate", headers=GOOD).status_code == 400


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("Reader 2", "so they are two people"),
        ("Autor 11", "Did you mean &#39;Author 11&#39;?"),
        ("", "There is no other author called"),
        ("Author 00", "There is no other author called"),
    ],
)
def test_what_cannot_be_joined_is_explained(own_run: Path, other: str, message: str) -> None:
    client = open_client(own_run)
    answer = _join(client, _author(own_run, "Author 00"), other)
    assert answer.status_code == 400
    assert message in answer.text
    assert not (own_run / "people.csv").exists()


def test_others_cannot_join_authors(own_run: Path) -> None:
    client = open_client(own_run)
    one = _author(own_run, "Author 00")
    for options in (
        {"headers": {"origin": "http://evil.example"}},
        {"headers": {"sec-fetch-site": "cross-site"}},
        {"data": {"token": "wrong", "other": "Author 10"}},
        {"data": {"other": "Author 10"}},
    ):
        assert _join(client, one, "Author 10", **options).status_code == 403
    answer = client.post(f"/api/authors/{one}/join", json={"other": 2})
    assert answer.status_code == 403
    assert client.post(f"/api/authors/{one}/separate").status_code == 403
    assert client.post(f"/authors/{one}/separate", data={"token": ""}).status_code == 403
    assert not (own_run / "people.csv").exists()


def test_the_file_is_the_one_that_an_import_takes(own_run: Path) -> None:
    client = open_client(own_run)
    one, other = _author(own_run, "Author 00"), _author(own_run, "Author 10")
    _join(client, one, "Author 10")
    fitted = Corpus.load(own_run / "corpus")
    works = [
        Record(
            fitted.ids[d],
            Source("test", d),
            title=fitted.titles[d],
            authors=tuple(Author(name) for name in fitted.authors(d)),
        )
        for d in range(fitted.n_documents)
    ]
    settings = Settings(
        people=str(own_run / "people.csv"), deduplicate=False, language=None, exclusion_words=()
    )
    corpus, report = prepare(works, settings=settings)
    assert report.people_unmatched == []
    assert "Author 10" not in corpus.author_names
    mine = {d for d in range(fitted.n_documents) if {one, other} & set(_team(fitted, d))}
    place = corpus.author_names.index("Author 00")
    assert {d for d in range(corpus.n_documents) if place in _team(corpus, d)} == mine


def _team(corpus: Corpus, document: int) -> list[int]:
    begin, end = corpus.author_offsets[document : document + 2]
    return [int(author) for author in corpus.author_ids[begin:end]]


def test_corrections_of_the_import_begin_the_file(own_run: Path) -> None:
    report = {"format": "citeweave-import", "version": 1, "people": [["Ann", "A. Lee", ""]]}
    (own_run / "corpus" / "import.json").write_text(json.dumps(report), encoding="utf-8")
    client = open_client(own_run)
    one = _author(own_run, "Author 00")
    _join(client, one, "Author 10")
    assert read_people(own_run / "people.csv")[0][:3] == ("Ann", "A. Lee", "")
    client.post(f"/authors/{one}/separate", data={"token": "secret-token"})
    assert [row[:3] for row in read_people(own_run / "people.csv")] == [("Ann", "A. Lee", "")]
