"""The first pass: works of one part of a snapshot are selected, cleaned and written as pieces."""

from __future__ import annotations

import gc
import re
import shutil
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.preparing.collect import document_fields, says_something
from citeweave.preparing.keys import hash64, scrub
from citeweave.preparing.language import LanguageFilter
from citeweave.preparing.names import is_person
from citeweave.preparing.pipeline import WordRules
from citeweave.preparing.snapshot.pieces import DOCUMENT_COLUMNS, Ragged, save_piece
from citeweave.preparing.snapshot.undecoded import decoded_works
from citeweave.preparing.snapshot.words import CompiledColumns
from citeweave.preparing.text import is_missing
from citeweave.reading import clean, normalise_orcid
from citeweave.reading.folding import fold
from citeweave.reading.formats import as_dict, as_list
from citeweave.reading.openalex import countries_of, institutions_of, record_of, short_id
from citeweave.reading.openalex_snapshot import works_of
from citeweave.reading.problems import FileContext, FileCounts, ProblemLog

if TYPE_CHECKING:
    from pathlib import Path

    from citeweave.preparing.settings import Settings
    from citeweave.reading import Affiliation, Record
    from citeweave.reading.where import Where

__all__ = ["read_part"]

PIECE = 25_000
"""Maximum number of works in a piece, which take about 150 MB while they are collected."""

NOT_CHOSEN = "outside the conditions (--where)"
_ID = re.compile(r"[A-Z](\d{1,18})")
_BATCH = 2048
_KEYWORDS_KEPT = 100_000


def read_part(
    path: Path,
    name: str,
    folder: Path,
    settings: Settings,
    where: Where | None = None,
    piece: int = PIECE,
) -> dict[str, Any]:
    """Read one part and write its pieces into a folder.

    Parameters
    ----------
    path, name : Path, str
        The part, and its name in reports.
    folder : Path
        Folder for the numbered pieces; an old one is replaced.
    settings, where
        Settings of the preparation, and conditions on works.
    piece : int
        Works in a piece.

    Returns
    -------
    dict
        Counts for the report, JSON-serialisable.
    """
    shutil.rmtree(folder, ignore_errors=True)
    log = ProblemLog()
    context = FileContext(name, log, FileCounts(name, "openalex"))
    told: dict[str, Counter[str]] = {
        kind: Counter() for kind in ("skipped", "languages", "excluded", "as_read")
    }
    pieces = 0
    rules = WordRules.from_settings(settings)
    collected = _Works(settings, rules, context, told)
    enabled = gc.isenabled()
    gc.disable()  # there are no cycles here, and looking for them takes a third of the time
    try:
        for line, work in decoded_works(works_of(path, context, where)):
            collected.add(work, line)
            if len(collected) == piece:
                collected.save(folder / f"{pieces:05d}")
                pieces += 1
                collected = _Works(settings, rules, context, told)
    finally:
        if enabled:
            gc.enable()
    if len(collected):
        collected.save(folder / f"{pieces:05d}")
        pieces += 1
    seen = told["as_read"].total() and told["as_read"]["works"]
    told["skipped"][NOT_CHOSEN] += context.counts.read - seen
    return {
        "pieces": pieces,
        "counts": asdict(context.counts),
        "problems_total": log.count,
        "problems": [asdict(problem) for problem in log.kept],
        **{kind: {k: n for k, n in counts.items() if n} for kind, counts in told.items()},
    }


class _Works:
    """Collects the works of one piece."""

    def __init__(
        self,
        settings: Settings,
        rules: WordRules,
        context: FileContext,
        told: dict[str, Counter[str]],
    ) -> None:
        self._settings = settings
        self._context = context
        self._told = told
        self._text = CompiledColumns(rules)
        self._language = LanguageFilter(
            settings.language, min_letters=settings.language_min_letters
        )
        self._exclusion_words = settings.exclusion_words + settings.extra_exclusion_words
        self._clean = rules.clean
        self._waiting: list[str] = []
        self._texts_of: list[tuple[int, int]] = []
        self._clean_keywords: dict[str, str] = {}
        self._authors: dict[tuple[Any, Any, Any], int] = {}
        self._author_rows: list[tuple[int, str | None, str | None, str]] = []
        self._place_number: dict[Affiliation, int] = {}
        self._place_count: list[int] = []
        self._known_places: dict[tuple[Any, Any, Any, Any], int] = {}
        self._works: list[int] = []
        self._updated: list[int] = []
        self._teams: list[list[int]] = []
        self._team_places: list[list[int]] = []
        self._other_places: list[list[int]] = []
        self._references: list[np.ndarray] = []
        self._documents: dict[str, list[Any]] = {name: [] for name in DOCUMENT_COLUMNS}

    def __len__(self) -> int:
        return len(self._works)

    def add(self, work: dict[str, Any], line: int) -> None:
        """Add one work."""
        told = self._told
        record = record_of(work, line, self._context)
        cited = work.get("referenced_works")
        if not isinstance(cited, np.ndarray):
            cited = as_list(cited)
        _tally(told["as_read"], record, work, len(cited))
        number = _ID.fullmatch(record.id)
        if number is None:
            self._context.note(line, "the work has no OpenAlex id and was skipped", field="id")
            told["skipped"]["no OpenAlex id"] += 1
            return
        abstract = None if is_missing(record.abstract) else record.abstract
        title = None if is_missing(record.title) else record.title
        if not (
            title or abstract or says_something(record) or work.get("authorships") or len(cited)
        ):
            told["skipped"]["empty record"] += 1
            return
        code = self._language.foreign(record.language, f"{title or ''}. {abstract or ''}")
        if code is not None:
            told["skipped"]["language"] += 1
            told["languages"][code] += 1
            return
        self._works.append(int(number[1]))
        self._updated.append(_day(work.get("updated_date")))
        self._references.append(_references(cited))
        self._add_people(as_list(work.get("authorships")))
        fields = document_fields(record, title, abstract, self._settings)
        self._add_texts(title, abstract, fields["keywords"])
        fields |= {"id": scrub(record.id), "has_abstract": abstract is not None}
        for name in ("keywords", "funders"):
            fields[name] = list(fields[name]) or None
        for name, values in self._documents.items():
            values.append(fields[name])

    def _add_texts(
        self, title: str | None, abstract: str | None, keywords: tuple[str, ...]
    ) -> None:
        use, texts = self._settings, []
        titled = bool(title and use.use_title)
        if title and use.use_title:
            texts.append(self._clean(title))
        if abstract and use.use_abstract:
            texts.append(self._clean(abstract))
        if use.join_keywords:
            texts += map(self._keyword, keywords)
        self._waiting += texts
        self._texts_of.append((int(titled), len(texts)))
        if len(self._waiting) >= _BATCH:
            self._encode()

    def _keyword(self, word: str) -> str:
        found = self._clean_keywords.get(word)
        if found is None:
            found = self._clean(word)
            if len(self._clean_keywords) < _KEYWORDS_KEPT:
                self._clean_keywords[word] = found
        return found

    def _encode(self) -> None:
        self._text.add_texts(self._waiting)
        self._waiting = []

    def _add_people(self, authorships: list[Any]) -> None:
        team: list[int] = []
        loose: list[int] = []
        for authorship in authorships:
            if not isinstance(authorship, dict):
                continue
            person = as_dict(authorship.get("author"))
            written = person.get("display_name") or authorship.get("raw_author_name")
            key = (person.get("id"), written, person.get("orcid"))
            try:
                author = self._authors.get(key)
            except TypeError:  # a list or an object instead of text
                continue
            if author is None:
                author = self._authors[key] = self._new_author(*key)
            if author == _NOBODY:
                continue
            own = self._places_of(authorship)
            if author == _EXCLUDED:
                self._told["excluded"][str(written)] += 1
                loose += own  # the address of an organisation still counts for the paper
            else:
                team.append(author)
                self._team_places.append(own)
        self._teams.append(team)
        self._other_places.append(loose)

    def _new_author(self, ident: Any, written: Any, orcid: Any) -> int:
        name = clean(written)
        if name is None:
            return _NOBODY
        if not is_person(name, self._exclusion_words):
            return _EXCLUDED
        short, orcid = short_id(ident), normalise_orcid(orcid)
        self._author_rows.append((_author_key(short, orcid, name), short, orcid, name))
        return len(self._author_rows) - 1

    def _places_of(self, authorship: dict[str, Any]) -> list[int]:
        """Return the numbers of an author's institutions, or else of the countries."""
        known = self._known_places
        own: list[int] = []
        for item in authorship.get("institutions") or ():
            try:
                key = (
                    *(item.get("display_name"), item.get("country_code")),
                    *(item.get("ror"), item.get("id")),
                )
                number = known.get(key)
            except (AttributeError, TypeError):  # not an object, or one instead of text
                return [*map(self._place, institutions_of(authorship) or countries_of(authorship))]
            if number is None:
                found = institutions_of({"institutions": [item]})
                number = known[key] = self._number_of(found[0]) if found else _NOWHERE
            if number != _NOWHERE:
                own.append(number)
        for number in own:
            self._place_count[number] += 1
        return own or [*map(self._place, countries_of(authorship))]

    def _number_of(self, affiliation: Affiliation) -> int:
        number = self._place_number.setdefault(affiliation, len(self._place_count))
        if number == len(self._place_count):
            self._place_count.append(0)
        return number

    def _place(self, affiliation: Affiliation) -> int:
        number = self._number_of(affiliation)
        self._place_count[number] += 1
        return number

    def save(self, folder: Path) -> None:
        """Write the piece."""
        self._encode()
        joined = self._text.joined_in_order(self._texts_of)
        teams = Ragged.of(self._teams)
        team_places = Ragged.of(self._team_places)
        others = Ragged.of(self._other_places)
        references = Ragged.joined(self._references)
        save_piece(
            folder,
            arrays={
                "works": np.array(self._works, dtype=np.int64),
                "updated": np.array(self._updated, dtype=np.int32),
                "texts": joined.flat,
                "text_offsets": joined.offsets,
                "titles": joined.titles,
                "teams": teams.values,
                "teams_offsets": teams.offsets,
                "team_places": team_places.values,
                "team_places_offsets": team_places.offsets,
                "other_places": others.values,
                "other_places_offsets": others.offsets,
                "references": references.values,
                "references_offsets": references.offsets,
            },
            words=self._text.words,
            authors=self._author_rows,
            places=dict(zip(self._place_number, self._place_count, strict=True)),
            documents=self._documents,
        )


_EXCLUDED = -1
_NOBODY = -2
_NOWHERE = -1


def _author_key(ident: str | None, orcid: str | None, name: str) -> int:
    """Return the number of an author: the OpenAlex id, or a hash of the ORCID or name."""
    found = _ID.fullmatch(ident or "")
    if found is not None:
        return int(found[1])
    return -1 - (hash64(f"orcid {orcid}" if orcid else f"name {fold(name)}") >> 1)


def _references(cited: list[Any] | np.ndarray) -> np.ndarray:
    """Return the numbers of cited works; anything that is not an OpenAlex id is left out."""
    if isinstance(cited, np.ndarray):
        return cited
    texts = " ".join([item for item in cited if isinstance(item, str)])
    found = [_ID.fullmatch(short_id(item) or "") for item in texts.split()]
    return np.array([int(one[1]) for one in found if one is not None], dtype=np.int64)


def _day(value: Any) -> int:
    """Return a date as a number that increases with the day; 0 if there is none."""
    digits = str(value or "")[:10].replace("-", "")
    return int(digits) if len(digits) == 8 and digits.isdigit() else 0


def _tally(counts: Counter[str], record: Record, work: dict[str, Any], cited: int) -> None:
    """Count the fields of a work, as `Tally` does for records."""
    authorships = as_list(work.get("authorships"))
    counts["works"] += 1
    counts["with_title"] += record.title is not None
    counts["with_abstract"] += record.abstract is not None
    counts["with_keywords"] += bool(record.keywords)
    counts["with_authors"] += bool(authorships)
    counts["with_year"] += record.year is not None
    counts["with_references"] += cited > 0
    counts["author_mentions"] += len(authorships)
    counts["references"] += cited
