"""How fast OpenAlex JSON Lines is read, on one core, with works made in the real schema.

Run: ``python benchmarks/read_openalex.py [WORKS]``. The works have the nested objects of
a snapshot (authorships with institutions, locations, topics, concepts, inverted index,
referenced works), 10 to 20 kB each, all of which has to be decoded though little is kept.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

from citeweave.reading import read

_BASE = "https://openalex.org/"


def _author(rng: random.Random, words: list[str], place: str) -> dict[str, Any]:
    number = rng.randrange(10**9, 10**10)
    name = f"{rng.choice(words).title()} {rng.choice(words).title()}"
    institutions = [
        {
            "id": f"{_BASE}I{rng.randrange(10**8)}",
            "display_name": f"University of {rng.choice(words).title()}",
            "ror": f"https://ror.org/{rng.randrange(10**8)}",
            "country_code": "DE",
            "type": "education",
            "lineage": [f"{_BASE}I{rng.randrange(10**8)}" for _ in range(2)],
        }
        for _ in range(rng.choice((1, 1, 2)))
    ]
    return {
        "author_position": place,
        "author": {
            "id": f"{_BASE}A{number}",
            "display_name": name,
            "orcid": f"https://orcid.org/0000-0002-{number % 10000:04d}-{number % 9999:04d}",
        },
        "institutions": institutions,
        "countries": ["DE"],
        "is_corresponding": place == "first",
        "raw_author_name": name,
        "raw_affiliation_strings": [" ".join(rng.choices(words, k=12))],
        "affiliations": [
            {
                "raw_affiliation_string": " ".join(rng.choices(words, k=12)),
                "institution_ids": [item["id"] for item in institutions],
            }
        ],
    }


def _location(rng: random.Random, doi: str, words: list[str]) -> dict[str, Any]:
    return {
        "is_oa": True,
        "landing_page_url": doi,
        "pdf_url": None,
        "source": {
            "id": f"{_BASE}S{rng.randrange(10**8)}",
            "display_name": f"Journal of {rng.choice(words).title()}",
            "issn_l": "1234-5678",
            "issn": ["1234-5678", "8765-4321"],
            "is_oa": False,
            "is_in_doaj": False,
            "is_core": True,
            "host_organization": f"{_BASE}P4310320990",
            "host_organization_name": "Publisher",
            "host_organization_lineage": [f"{_BASE}P4310320990"],
            "host_organization_lineage_names": ["Publisher"],
            "type": "journal",
        },
        "license": None,
        "version": "publishedVersion",
        "is_accepted": True,
        "is_published": True,
    }


def _topic(rng: random.Random, words: list[str]) -> dict[str, Any]:
    return {
        "id": f"{_BASE}T{rng.randrange(10**5)}",
        "display_name": " ".join(rng.choices(words, k=3)),
        "score": rng.random(),
        "subfield": {"id": f"{_BASE}subfields/1702", "display_name": "Artificial Intelligence"},
        "field": {"id": f"{_BASE}fields/17", "display_name": "Computer Science"},
        "domain": {"id": f"{_BASE}domains/3", "display_name": "Physical Sciences"},
    }


def make_work(rng: random.Random, number: int, words: list[str]) -> dict[str, Any]:
    """Return one work with all the parts a work of a snapshot has."""
    doi = f"https://doi.org/10.1234/bench.{number}"
    title = " ".join(rng.choices(words, k=12))
    index: dict[str, list[int]] = {}
    for place, word in enumerate(rng.choices(words, k=rng.randrange(80, 260))):
        index.setdefault(word, []).append(place)
    location = _location(rng, doi, words)
    places = ["first", *["middle"] * rng.randrange(6), "last"]
    year = rng.randrange(1990, 2025)
    return {
        "id": f"{_BASE}W{number}",
        "doi": doi,
        "title": title,
        "display_name": title,
        "publication_year": year,
        "publication_date": f"{year}-05-01",
        "ids": {"openalex": f"{_BASE}W{number}", "doi": doi, "mag": str(number)},
        "language": "en",
        "primary_location": location,
        "type": "article",
        "type_crossref": "journal-article",
        "indexed_in": ["crossref"],
        "open_access": {"is_oa": True, "oa_status": "gold", "oa_url": doi},
        "authorships": [_author(rng, words, place) for place in places],
        "cited_by_count": rng.randrange(200),
        "biblio": {"volume": "1", "issue": "2", "first_page": "3", "last_page": "9"},
        "is_retracted": False,
        "is_paratext": False,
        "primary_topic": _topic(rng, words),
        "topics": [_topic(rng, words) for _ in range(3)],
        "keywords": [
            {"id": f"{_BASE}keywords/{word}", "display_name": word, "score": rng.random()}
            for word in rng.choices(words, k=5)
        ],
        "concepts": [
            {
                "id": f"{_BASE}C{rng.randrange(10**8)}",
                "wikidata": f"https://www.wikidata.org/wiki/Q{rng.randrange(10**6)}",
                "display_name": word,
                "level": level % 5,
                "score": rng.random(),
            }
            for level, word in enumerate(rng.choices(words, k=12))
        ],
        "mesh": [],
        "locations_count": 1,
        "locations": [location],
        "best_oa_location": location,
        "sustainable_development_goals": [],
        "grants": [],
        "referenced_works_count": 40,
        "referenced_works": [
            f"{_BASE}W{rng.randrange(10**10)}" for _ in range(rng.randrange(10, 70))
        ],
        "related_works": [f"{_BASE}W{rng.randrange(10**10)}" for _ in range(10)],
        "abstract_inverted_index": index,
        "counts_by_year": [{"year": 2012 + i, "cited_by_count": i} for i in range(10)],
        "updated_date": "2025-01-01T00:00:00.000000",
        "created_date": "2016-06-24",
    }


def main() -> None:
    """Write the works, read them three times, print the best figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("works", nargs="?", type=int, default=10_000)
    count = parser.parse_args().works
    rng = random.Random(1)  # noqa: S311  figures, not secrets
    words = [
        "".join(rng.choices("abcdefghijklmnoprstuv", k=rng.randrange(3, 11))) for _ in range(3000)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "works.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for number in range(count):
                file.write(json.dumps(make_work(rng, number, words)) + "\n")
        size = path.stat().st_size
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            reading = read(path)
            seen = sum(1 for _ in reading)
            best = min(best, time.process_time() - start)
            if seen != count or reading.problem_count:
                raise SystemExit(f"{seen} of {count} works read, {reading.problems[:1]}")
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{count} works of {size / count / 1000:.1f} kB: {count / best:,.0f} works/s, "
        f"{size / best / 1e6:.0f} MB/s, memory grew by {(after - before) / 1024:.1f} MB"
    )


if __name__ == "__main__":
    main()
