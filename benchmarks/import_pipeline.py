"""The whole import, from OpenAlex JSON Lines to a saved corpus: seconds, works per second, memory.

Run: ``python benchmarks/import_pipeline.py [WORKS ...] [--json FILE]``. Works are made in
OpenAlex's schema with text like that of arXiv hep-th: about a hundred words per abstract, a third
of them stop words, Zipf frequencies that depend on a topic, phrases, a dozen references of which
most lead to earlier works. Each size is read, prepared and saved in a process of its own, so that
peak memory is measured separately; the exponent shows how time grows with the number of works.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES = (10_000, 50_000, 200_000)
TOPICS = 40
VOCABULARY = 30_000
STOP_WORDS = ("the", "of", "and", "to", "in", "a", "is", "we", "for", "that", "with", "by", "on",
              "this", "are", "as", "which", "from", "it", "be")  # fmt: skip

_BASE = "https://openalex.org/"
_SYLLABLES = [consonant + vowel for consonant in "bcdfglmnprstv" for vowel in "aeiou"]


def make_words(rng: np.random.Generator) -> list[str]:
    """Make words that no list of stop words holds, all different."""
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        parts = rng.choice(_SYLLABLES, size=int(rng.integers(3, 6)))
        words["".join(parts)] = None
    return list(words)


class Works:
    """Makes works one after the other, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.words = make_words(self.rng)
        weights = 1.0 / np.arange(1, VOCABULARY + 1) ** 1.05
        self.cumulative = np.cumsum(weights / weights.sum())
        # each topic ranks the words its own way, all share the commonest
        self.ranks = [
            np.concatenate((np.arange(200), 200 + self.rng.permutation(VOCABULARY - 200)))
            for _ in range(TOPICS)
        ]

    def text(self, topic: int, length: int) -> list[str]:
        """Return words, every third a stop word; neighbours sometimes form phrases."""
        draws = np.searchsorted(self.cumulative, self.rng.random(length))
        numbers = self.ranks[topic][np.minimum(draws, VOCABULARY - 1)]
        kinds = self.rng.random(length)
        out: list[str] = []
        for number, kind in zip(numbers.tolist(), kinds.tolist(), strict=True):
            if kind < 0.35:
                out.append(STOP_WORDS[number % len(STOP_WORDS)])
            else:
                out.append(self.words[number])
                if kind > 0.9:  # a phrase: this word is often followed by its partner
                    out.append(self.words[(number * 7 + 1) % 2000])
        return out

    def work(self, number: int) -> dict[str, Any]:
        """Make one work with the fields that an import looks at."""
        rng = self.rng
        topic = int(rng.integers(TOPICS))
        title = " ".join(self.text(topic, 8)).capitalize()
        index: dict[str, list[int]] = {}
        for place, word in enumerate(self.text(topic, int(rng.integers(60, 140)))):
            index.setdefault(word, []).append(place)
        cited = (number * rng.random(int(rng.integers(4, 21))) ** 0.5).astype(int).tolist()
        outside = (10**9 + rng.integers(0, 10**8, size=4)).tolist()
        authors = rng.integers(0, 20_000 + number // 4, size=int(rng.integers(1, 5))).tolist()
        return {
            "id": f"{_BASE}W{number}",
            "doi": f"https://doi.org/10.1234/bench.{number}",
            "title": title,
            "display_name": title,
            "publication_year": 1990 + number % 34,
            "language": "en",
            "type": "article",
            "authorships": [
                {
                    "author_position": "middle",
                    "author": {
                        "id": f"{_BASE}A{author}",
                        "display_name": f"{self.words[author % 997].title()} "
                        f"{self.words[author % VOCABULARY].title()}",
                        "orcid": None,
                    },
                    "institutions": [],
                }
                for author in authors
            ],
            "primary_location": {"source": {"display_name": f"Journal {topic % 12}"}},
            "primary_topic": {"field": {"display_name": f"Field {topic % 8}"}},
            "referenced_works": [f"{_BASE}W{other}" for other in [*cited, *outside]],
            "abstract_inverted_index": index,
        }

    def lines(self, works: int) -> Iterator[str]:
        """Yield works as JSON Lines."""
        for number in range(works):
            yield json.dumps(self.work(number)) + "\n"


def run_one(source: Path, out: Path) -> dict[str, Any]:
    """Import one file in this process and measure it."""
    import citeweave  # noqa: PLC0415 (its time and memory belong to the measurement)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    steps: dict[str, float] = {}
    start = time.perf_counter()

    def progress(step: str, _done: int, _total: int | None) -> None:
        steps[step] = time.perf_counter() - start

    corpus, report = citeweave.read(source).prepare(progress=progress)
    prepared = time.perf_counter() - start
    corpus.save(out)
    report.save(out)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "works": report.as_dict()["records_read"],
        "documents": corpus.n_documents,
        "tokens": corpus.n_tokens,
        "vocabulary": corpus.vocabulary_size,
        "citations": corpus.n_citations,
        "seconds": time.perf_counter() - start,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "seconds_reading": steps["records"],
        "seconds_text": steps["text"] - steps["records"],
        "seconds_citations": steps["citations"] - steps["text"],
        "seconds_rest": prepared - steps["citations"],
        "peak_bytes": used.ru_maxrss * 1024,
        "start_bytes": before * 1024,
    }


def exponent(rows: list[dict[str, Any]], key: str) -> float:
    """Slope of log time over log works: 1 is linear."""
    logs = [(math.log(row["works"]), math.log(row[key])) for row in rows]
    slope, _ = np.polyfit([x for x, _ in logs], [y for _, y in logs], 1)
    return float(slope)


def measure(sizes: list[int], seed: int) -> list[dict[str, Any]]:
    """Make each size's file, import it in a new process, and print a row."""
    rows = []
    print(f"{'works':>8} {'MB':>6} {'s':>7} {'cpu s':>7} {'works/s':>8} {'peak GB':>8}  steps")
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="citeweave-bench-") as folder:
            source = Path(folder) / "works.jsonl"
            with source.open("w", encoding="utf-8") as file:
                file.writelines(Works(seed).lines(size))
            command = [sys.executable, __file__, "--worker", str(source), f"{folder}/corpus"]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            row = json.loads(done.stdout) | {"input_bytes": source.stat().st_size}
        rows.append(row)
        steps = ", ".join(
            f"{name} {row[f'seconds_{name}']:.1f}"
            for name in ("reading", "text", "citations", "rest")
        )
        print(
            f"{row['works']:>8,} {row['input_bytes'] / 1e6:>6.0f} {row['seconds']:>7.1f} "
            f"{row['cpu_seconds']:>7.1f} {row['works'] / row['seconds']:>8,.0f} "
            f"{row['peak_bytes'] / 1e9:>8.2f}  {steps}",
            flush=True,
        )
    return rows


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("works", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--worker", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(run_one(*options.worker)))
        return
    rows = measure(options.works, options.seed)
    result: dict[str, Any] = {"python": platform.python_version(), "rows": rows}
    if len(rows) > 1:
        growth = {key: exponent(rows, key) for key in ("seconds", "cpu_seconds")}
        result["exponents"] = growth
        print(
            f"time grows as works^{growth['seconds']:.2f} by the clock, "
            f"works^{growth['cpu_seconds']:.2f} by the processor"
        )
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
