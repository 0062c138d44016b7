"""A made-up OpenAlex snapshot in the real schema: as many works as asked for, streamed to disk.

Run: ``python -m benchmarks.openalex_snapshot FOLDER WORKS [--layout jsonl|parquet|older]``. The
same works come out for the same seed, in whatever layout. Works have all objects of a snapshot,
some 7 kB each: authorships with institutions and addresses, locations, topics, keywords, concepts,
inverted abstracts of 60 to 260 words, referenced works of which half are in the snapshot. Words
follow Zipf's law by topic with a tail of rare ones, so that the vocabulary goes on growing with
the number of works, as real ones do.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.import_pipeline import STOP_WORDS, VOCABULARY, make_words

if TYPE_CHECKING:
    from collections.abc import Iterator

LAYOUTS = ("jsonl", "parquet", "older")
PART = 400_000
TOPICS = 40
RARE_WORDS = 5_000_000
INSTITUTIONS = 20_000

_BASE = "https://openalex.org/"
_FIELDS = ("Computer Science", "Physics and Astronomy", "Medicine", "Engineering", "Mathematics",
           "Chemistry", "Psychology", "Materials Science")  # fmt: skip
_TYPES = ("article",) * 8 + ("preprint", "book-chapter")
_COUNTRIES = ("US", "CN", "DE", "GB", "FR", "IN", "JP", "BR", "AU", "CA")
_OLD_FIRST = 10**9
_BLOCK = 20


class Snapshot:
    """Makes works by number: work `n` of `total` is the same whichever part it is written to."""

    def __init__(self, total: int, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.total = total
        self.seed = seed
        self.words = make_words(rng)
        self.titles = [word.title() for word in self.words]
        weights = 1.0 / np.arange(1, VOCABULARY + 1) ** 1.05
        self._cumulative = np.cumsum(weights / weights.sum())
        self._ranks = [
            np.concatenate((np.arange(200), 200 + rng.permutation(VOCABULARY - 200)))
            for _ in range(TOPICS)
        ]
        self._topics = [self._topic(number) for number in range(TOPICS)]
        self._institutions = [self._institution(number) for number in range(INSTITUTIONS)]

    def works(self, first: int, last: int) -> Iterator[str]:
        """Return the works of a range as lines of JSON."""
        for start in range(first, last, _BLOCK):
            # a generator for each block, so that works do not depend on where parts are cut
            rng = np.random.default_rng((self.seed, start // _BLOCK))
            for number in range(start, min(start + _BLOCK, last)):
                yield self._work(number, rng)

    def _text(self, rng: np.random.Generator, topic: int, length: int) -> list[str]:
        draws = np.searchsorted(self._cumulative, rng.random(length))
        numbers = self._ranks[topic][np.minimum(draws, VOCABULARY - 1)].tolist()
        kinds = rng.random(length).tolist()
        words = self.words
        out: list[str] = []
        for number, kind in zip(numbers, kinds, strict=True):
            if kind < 0.35:
                out.append(STOP_WORDS[number % len(STOP_WORDS)])
            elif kind < 0.36:
                rare = int(kind * 1e12) % RARE_WORDS
                out.append(f"{words[rare % 5000]}{words[rare // 5000]}")
            elif kind < 0.9:
                out.append(words[number])
            else:  # a phrase: this word is often followed by its partner, with a hyphen or without
                partner = words[(number * 7 + 1) % 2000]
                out += [f"{words[number]}-{partner}"] if kind > 0.99 else [words[number], partner]
        return out

    def _topic(self, number: int) -> str:
        field = _FIELDS[number % len(_FIELDS)]
        name = f"{self.titles[number]} and {self.titles[number + 100]} Studies"
        return json.dumps(
            {
                "id": f"{_BASE}T{10_000 + number}",
                "display_name": name,
                "score": 0.97,
                "subfield": {"id": f"{_BASE}subfields/{1700 + number}", "display_name": name[:12]},
                "field": {"id": f"{_BASE}fields/{10 + number % 8}", "display_name": field},
                "domain": {"id": f"{_BASE}domains/3", "display_name": "Physical Sciences"},
            }
        )

    def _institution(self, number: int) -> str:
        return json.dumps(
            {
                "id": f"{_BASE}I{10_000_000 + number}",
                "display_name": f"University of {self.titles[number]}",
                "ror": f"https://ror.org/0{number:06d}42",
                "country_code": _COUNTRIES[number % len(_COUNTRIES)],
                "type": "education",
                "lineage": [f"{_BASE}I{10_000_000 + number}"],
            }
        )

    def _authorship(self, author: int, place: str) -> str:
        first, last = self.titles[author % 4999], self.titles[author % 29_989]
        where = author % INSTITUTIONS
        orcid = "null"
        if author % 5 < 2:
            orcid = (
                f'"https://orcid.org/0000-000{author % 9}-{author % 9973:04d}-{author % 9967:04d}"'
            )
        home = f"Dept. of {last}, University of {self.titles[where]}, {last} City"
        inside = "" if author % 9 == 0 else self._institutions[where]
        ident = "" if author % 9 == 0 else f'"{_BASE}I{10_000_000 + where}"'
        country = _COUNTRIES[where % len(_COUNTRIES)]
        return (
            f'{{"author_position":"{place}","author":{{"id":"{_BASE}A{5_000_000_000 + author}",'
            f'"display_name":"{first} {last}","orcid":{orcid}}},"institutions":[{inside}],'
            f'"countries":["{country}"],"is_corresponding":{str(place == "first").lower()},'
            f'"raw_author_name":"{first[0]}. {last}","raw_affiliation_strings":["{home}"],'
            f'"affiliations":[{{"raw_affiliation_string":"{home}","institution_ids":[{ident}]}}]}}'
        )

    def _work(self, number: int, rng: np.random.Generator) -> str:
        topic = int(rng.integers(TOPICS))
        field = topic % len(_FIELDS)
        title = " ".join(self._text(rng, topic, 9)).capitalize()
        index = "null"
        if rng.random() < 0.85:
            places: dict[str, list[int]] = {}
            for place, word in enumerate(self._text(rng, topic, int(rng.integers(60, 261)))):
                places.setdefault(word, []).append(place)
            index = json.dumps(places, separators=(",", ":"))
        cites = int(rng.integers(4, 46)) if rng.random() < 0.75 else 0
        inside = (self.total * rng.random(cites // 2) ** 0.5).astype(int) + _OLD_FIRST
        outside = rng.integers(2 * 10**9, 4 * 10**9, size=cites - cites // 2)
        cited = ",".join(f'"{_BASE}W{other}"' for other in (*inside.tolist(), *outside.tolist()))
        related = ",".join(
            f'"{_BASE}W{other}"' for other in rng.integers(10**9, 4 * 10**9, size=10)
        )
        people = (
            (1.2 * self.total * rng.random(int(rng.integers(1, 7))) ** 1.5).astype(int).tolist()
        )
        roles = ["first", *["middle"] * (len(people) - 2), "last"][: len(people)]
        team = ",".join(map(self._authorship, people, roles))
        year = 1980 + int(46 * rng.random() ** 0.5)
        day = f"{1 + number % 12:02d}-{1 + number % 28:02d}"
        doi = f"https://doi.org/10.1234/bench.{number}"
        name = f"{_BASE}W{_OLD_FIRST + number}"
        keywords = ",".join(
            f'{{"id":"{_BASE}keywords/{self.words[k]}","display_name":"{self.titles[k]}","score":0.5}}'
            for k in rng.integers(0, 3000, size=5).tolist()
        )
        concepts = ",".join(
            f'{{"id":"{_BASE}C{10**6 + k}","wikidata":"https://www.wikidata.org/wiki/Q{k}",'
            f'"display_name":"{self.titles[k]}","level":{k % 4},"score":0.4}}'
            for k in rng.integers(0, 3000, size=4).tolist()
        )
        source = f"Journal of {self.titles[topic]} {number % 50}"
        location = (
            f'{{"id":"doi:10.1234/bench.{number}","is_oa":true,"landing_page_url":"{doi}",'
            f'"pdf_url":null,"source":{{"id":"{_BASE}S{10**6 + topic * 50 + number % 50}",'
            f'"display_name":"{source}","issn_l":"1234-5678","issn":["1234-5678"],"is_oa":false,'
            f'"is_in_doaj":false,"is_core":true,"host_organization":"{_BASE}P4310320990",'
            '"host_organization_name":"Publisher","type":"journal"},"license":null,'
            '"version":"publishedVersion","is_accepted":true,"is_published":true}'
        )
        best = location if number % 3 == 0 else "null"
        topics = ",".join(self._topics[k % TOPICS] for k in (topic, topic + 8, topic + 16))
        counts = ",".join(f'{{"year":{2015 + i},"cited_by_count":{i}}}' for i in range(8))
        return (
            f'{{"id":"{name}","doi":"{doi}","title":"{title}","display_name":"{title}",'
            f'"publication_year":{year},"publication_date":"{year}-{day}","ids":{{"openalex":"{name}",'
            f'"doi":"{doi}"}},"language":"en","primary_location":{location},'
            f'"type":"{_TYPES[number % len(_TYPES)]}","indexed_in":["crossref"],'
            f'"open_access":{{"is_oa":true,"oa_status":"gold","oa_url":"{doi}"}},'
            f'"authorships":[{team}],"cited_by_count":{number % 211},"biblio":{{"volume":"1",'
            '"issue":"2","first_page":"3","last_page":"9"},"is_retracted":false,'
            f'"is_paratext":false,"is_xpac":{"true" if number % 20 == 7 else "false"},'
            f'"primary_topic":{self._topics[topic]},"topics":[{topics}],"keywords":[{keywords}],'
            f'"concepts":[{concepts}],"mesh":[],"locations_count":1,"locations":[{location}],'
            f'"best_oa_location":{best},"sustainable_development_goals":[],'
            f'"funders":[{{"id":"{_BASE}F{field}","display_name":"{_FIELDS[field]} Foundation"}}],'
            f'"referenced_works_count":{cites},"referenced_works":[{cited}],'
            f'"related_works":[{related}],"abstract_inverted_index":{index},'
            f'"counts_by_year":[{counts}],"updated_date":"2026-06-{1 + number % 28:02d}T00:00:00",'
            f'"created_date":"2016-06-24"}}'
        )


def write_snapshot(
    folder: Path, works: int, *, layout: str = "jsonl", part: int = PART, seed: int = 1
) -> Path:
    """Write a snapshot in one of the three layouts; give the folder to import."""
    if part % _BLOCK:
        raise ValueError(f"a part must be a multiple of {_BLOCK} works; got {part}")
    made = Snapshot(works, seed)
    top = {"jsonl": "data/jsonl", "parquet": "data/parquet", "older": "data"}[layout]
    entries: list[dict[str, Any]] = []
    for number, first in enumerate(range(0, works, part)):
        last = min(first + part, works)
        suffix = "parquet" if layout == "parquet" else "gz"
        name = f"works/updated_date=2026-06-{1 + number % 28:02d}/part_{number:04d}.{suffix}"
        path = folder / top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if layout == "parquet":
            _write_parquet(path, made.works(first, last))
        else:
            with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file:
                file.writelines(line + "\n" for line in made.works(first, last))
        entries.append(
            {
                "url": f"s3://openalex/{top}/{name}",
                "meta": {"content_length": path.stat().st_size, "record_count": last - first},
            }
        )
    if layout == "older":
        place, content = folder / top / "works" / "manifest", {"entries": entries}
    else:
        place = folder / top / "manifest.json"
        content = {"format": layout, "entities": {"works": {"entries": entries}}}
    place.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return folder


def _write_parquet(path: Path, lines: Iterator[str]) -> None:
    """Write works as rows; the inverted index is a JSON text, as its keys are no columns."""
    import polars as pl  # noqa: PLC0415 (the other layouts need none)

    rows = []
    for line in lines:
        work = json.loads(line)
        index = work["abstract_inverted_index"]
        work["abstract_inverted_index"] = None if index is None else json.dumps(index)
        rows.append(work)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    frame.write_parquet(path, compression="snappy", row_group_size=20_000)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("works", type=int)
    parser.add_argument("--layout", choices=LAYOUTS, default="jsonl")
    parser.add_argument("--part", type=int, default=PART, help="works in a part")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    write_snapshot(
        options.folder, options.works, layout=options.layout, part=options.part, seed=options.seed
    )


if __name__ == "__main__":
    main()
