"""Authors joined by users while exploring a run, stored as corrections for the next import."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.people import PEOPLE_FILE, PersonRow, read_people, write_people
from citeweave.corpus.text import TextStore
from citeweave.errors import ParameterError, RunError
from citeweave.explore.shared_file import SharedFile

__all__ = ["PEOPLE_FILE", "JoinedAuthors", "namesakes"]

_NAMESAKES = 20


class JoinedAuthors(SharedFile[list[PersonRow]]):
    """Authors that the user joined into one person, kept in ``people.csv`` of the run.

    The file is an input of ``citeweave import --people``. Until that is done, only the display
    changes, not the fit: papers of a joined author are shown under the other author, whose topics
    in the model still come from their own papers only.

    Parameters
    ----------
    folder : Path or None
        Folder of the run; None keeps them in memory only.
    corpus : Corpus
        Corpus of the run. The file starts with the corrections of its import, so that none is lost.
    """

    def __init__(self, folder: Path | None, corpus: Corpus) -> None:
        self.corpus = corpus
        self._place: dict[str, int] | None = None
        self._groups: tuple[int, dict[str, list[int]]] | None = None
        report = corpus.import_report or {}
        before = [PersonRow(*row) for row in report.get("people", ())]
        super().__init__(None if folder is None else folder / PEOPLE_FILE, before)

    def _load(self, path: Path) -> list[PersonRow]:
        if not path.exists():
            raise FileNotFoundError(path)
        try:
            return read_people(path)
        except ParameterError as error:
            raise RunError(
                f"{error} Correct the file, or remove it and lose the joined authors."
            ) from error

    def _save(self, path: Path, content: list[PersonRow]) -> None:
        write_people(path, content)

    def groups(self) -> dict[str, list[int]]:
        """Return the authors of each person who has several, those with the most papers first."""
        revision = self.revision
        if self._groups is None or self._groups[0] != revision:
            self._groups = revision, self._find_groups()
        return self._groups[1]

    def _find_groups(self) -> dict[str, list[int]]:
        people: dict[str, set[int]] = {}
        for row in self.content:
            author = self._author(row)
            if author is not None:
                people.setdefault(row.person, set()).add(author)
        if not people:
            return {}
        claimed: dict[int, int] = {}
        for authors in people.values():
            for author in authors:
                claimed[author] = claimed.get(author, 0) + 1
        counts = np.bincount(self.corpus.author_ids, minlength=self.corpus.n_authors)
        # an author whom the file divides among people is shown as fitted until the next import
        whole = {
            person: sorted((a for a in own if claimed[a] == 1), key=lambda a: (-counts[a], a))
            for person, own in people.items()
        }
        return {person: own for person, own in whole.items() if len(own) > 1}

    def applied(self) -> Corpus:
        """Return the corpus as shown: author numbers are kept, joined authors have no papers."""
        groups = self.groups()
        if not groups:
            return self.corpus
        shown = np.arange(self.corpus.n_authors, dtype=self.corpus.author_ids.dtype)
        names = list(self.corpus.author_names)
        for person, authors in groups.items():
            shown[authors] = authors[0]
            for author in authors[1:]:
                names[author] = f"{names[author]} (now {person})"
            names[authors[0]] = person
        return replace(
            self.corpus,
            author_ids=shown[self.corpus.author_ids],
            text=_Renamed(self.corpus.text, names),
            _stored_fingerprint=self.corpus.fingerprint,
        )

    def shown_as(self, author: int) -> int:
        """Return the author under whom an author's papers are shown."""
        return next((own[0] for own in self.groups().values() if author in own), author)

    def joined(self, author: int) -> list[int]:
        """Return the authors of the corpus that are shown as this one, if there are several."""
        return next((own for own in self.groups().values() if author in own), [])

    def join(self, author: int, other: int) -> None:
        """Join two authors into one person with the name of the first; saved immediately.

        Raises
        ------
        ParameterError
            They are already one author, or wrote a paper together.
        """
        members = [self.joined(one) or [one] for one in (author, other)]
        if set(members[0]) & set(members[1]):
            raise ParameterError("These two are already one author. Choose another one.")
        together = np.intersect1d(self._papers(members[0]), self._papers(members[1]))
        if len(together):
            title = self.corpus.titles[together[0]] or self.corpus.ids[together[0]]
            raise ParameterError(
                f"Both are authors of {title!r}, so they are two people. Choose another one."
            )
        groups = self.groups()
        called = [person for person, own in groups.items() if author in own]
        person = called[0] if called else self.corpus.author_names[author]
        names = self.corpus.author_names
        gone = {p for p, own in groups.items() if other in own} | {names[one] for one in members[1]}

        def changed(rows: list[PersonRow]) -> list[PersonRow]:
            made = [row._replace(person=person) if row.person in gone else row for row in rows]
            for one in (*members[0], *members[1]):
                made += self._rows(person, one)
            return list({(row.name.casefold(), row.paper.casefold()): row for row in made}.values())

        self.change(changed)

    def separate(self, author: int) -> None:
        """Undo the joining of an author with others; saved immediately."""
        members = self.joined(author)
        if not members:
            raise ParameterError("This author was not joined with another one here.")
        papers = {self.corpus.ids[paper] for paper in self._papers(members).tolist()}
        names = {self.corpus.author_names[one] for one in members}
        # corrections of the import are repeated unchanged
        before = {(row.name, row.paper): row for row in self._nothing}

        def changed(rows: list[PersonRow]) -> list[PersonRow]:
            kept = (row for row in rows if not (row.paper in papers and row.name in names))
            return [before.get((row.name, row.paper), row) for row in kept]

        self.change(changed)

    def _rows(self, person: str, author: int) -> list[PersonRow]:
        name = self.corpus.author_names[author]
        return [
            PersonRow(person, name, self.corpus.ids[paper])
            for paper in self._papers([author]).tolist()
        ]

    def _papers(self, authors: Sequence[int]) -> np.ndarray:
        place = np.flatnonzero(np.isin(self.corpus.author_ids, authors))
        return np.unique(np.searchsorted(self.corpus.author_offsets, place, side="right") - 1)

    def _author(self, row: PersonRow) -> int | None:
        """Find the author whose name in the corpus is that of a row, if there is one."""
        if self._place is None:
            self._place = {ident: place for place, ident in enumerate(self.corpus.ids)}
        paper = self._place.get(row.paper)
        if paper is None:
            return None
        begin, end = self.corpus.author_offsets[paper : paper + 2]
        names = self.corpus.author_names
        team = self.corpus.author_ids[begin:end].tolist()
        return next((one for one in team if names[one] == row.name), None)


class _Renamed:
    """The strings of a corpus with other names of authors."""

    def __init__(self, text: TextStore, authors: list[str]) -> None:
        self._text = text
        self._authors = authors

    @property
    def metadata_names(self) -> tuple[str, ...]:
        """Names of the further columns of the table of documents."""
        return self._text.metadata_names

    def column(self, table: str, name: str) -> list[Any]:
        """Return one column."""
        return self._authors if table == "authors" else self._text.column(table, name)


def namesakes(corpus: Corpus, author: int) -> list[int]:
    """Find authors with similar names: the same last word, those with the same initial first."""
    names = corpus.author_names
    words = _words(names[author])
    papers = np.bincount(corpus.author_ids, minlength=corpus.n_authors)
    found = [
        other
        for other in range(corpus.n_authors)
        if other != author and papers[other] and _words(names[other])[-1:] == words[-1:]
    ]
    found.sort(key=lambda one: (names[one][:1] != names[author][:1], -papers[one], one))
    return found[:_NAMESAKES]


def _words(name: str) -> list[str]:
    """Split a name, without the suffix of namesakes: "Wei Chen (2)", "Wei Chen 0001"."""
    plain = re.split(r" [(\[]", name, maxsplit=1)[0].casefold().split()
    return [word for word in plain if not word.isdecimal()]
