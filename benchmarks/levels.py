"""Perplexity of new papers with and without levels of venues and periods.

    python -m benchmarks.levels --datasets ieee-vis --seeds 3 --out FILE

Every line of the file (JSON) is one fit of a single chain to nine tenths of the papers. The others
are scored twice: with topics estimated from half of their words, scoring the other half
(``perplexity``), and without using any words (``unread``), from the nodes above them. The means
over seeds are printed at the end.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from citeweave import SCNTM, datasets, preset
from citeweave.corpus import Corpus
from citeweave.evaluate import perplexity

SCNTM_ALONE = preset("scntm").without("nu")
VARIANTS: dict[str, dict[str, Any]] = {
    "authors": {},
    "venue, authors": {"levels": ("venue",)},
    "period, authors": {"levels": ("period",)},
    "neither": {"model": SCNTM_ALONE},
    "venue": {"model": SCNTM_ALONE, "levels": ("venue",)},
    "period": {"model": SCNTM_ALONE, "levels": ("period",)},
    "venue, period": {"model": SCNTM_ALONE, "levels": ("venue", "period")},
}
"""Levels between the corpus and the papers, upper first, and the parameters that make them."""
MEASURES = ("perplexity", "unread")


def fit_once(
    corpus: Corpus, variant: str, *, topics: int, iterations: int, seed: int
) -> dict[str, Any]:
    """Fit one chain and score the papers that it has not seen."""
    parts = corpus.split(test=0.1, seed=seed)
    began = time.perf_counter()
    model = SCNTM(
        topics=topics,
        iterations=iterations,
        exactly=True,
        chains=1,
        seed=seed,
        **VARIANTS[variant],
    ).fit(parts.train)
    found = {
        "variant": variant,
        "topics": topics,
        "iterations": iterations,
        "seed": seed,
        "seconds": round(time.perf_counter() - began, 1),
        "nodes": [len(groups) for groups in model.levels_.values()],
    }
    for name, words in zip(MEASURES, (0.5, "none"), strict=True):
        found[name] = round(perplexity(model, parts.test, words=words, seed=seed).value, 1)
    return found


def run(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Make all fits, one after the other."""
    for name in arguments.datasets:
        corpus = datasets.load(name)
        for seed in range(1, arguments.seeds + 1):
            for variant in arguments.variants:
                yield {"dataset": name} | fit_once(
                    corpus,
                    variant,
                    topics=arguments.topics,
                    iterations=arguments.iterations,
                    seed=seed,
                )


def summarise(lines: list[dict[str, Any]]) -> list[str]:
    """Return a row for each data set and variant: means and standard deviations over seeds.

    Examples
    --------
    >>> made = {"dataset": "x", "variant": "venue", "unread": 9.0}
    >>> summarise([made | {"perplexity": 7.0}, made | {"perplexity": 8.0}])
    ['| x | venue | 7.5 ± 0.7 | 9.0 ± 0.0 |']
    """
    rows = []
    for key in dict.fromkeys((line["dataset"], line["variant"]) for line in lines):
        mine = [line for line in lines if (line["dataset"], line["variant"]) == key]
        cells = list(key)
        for name in MEASURES:
            values = np.array([line[name] for line in mine])
            spread = values.std(ddof=1) if len(values) > 1 else 0.0
            cells.append(f"{values.mean():,.1f} ± {spread:.1f}")
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def main(given: list[str] | None = None) -> None:
    """Read the options, write a line for each fit, and print the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=["ieee-vis"])
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args(given)
    lines = []
    with arguments.out.open("a") as file:
        for line in run(arguments):
            text = json.dumps(line)
            print(text, flush=True)
            file.write(text + "\n")
            file.flush()
            lines.append(line)
    print("\n".join(summarise(lines)))


if __name__ == "__main__":
    main()
