"""Words that weigh less than in full: clusters, held-out citations and held-out words by weight.

    python -m benchmarks.tempering --datasets cora citeseer pubmed ieee-vis --out FILE
    python -m benchmarks.tempering --table FILE

Every line of the file (JSON) is one fit of a single chain to a corpus without a tenth of its words
and of its citations: NMI of dominant topics with labels that the fit has not seen, AUC and log
score of the held-out citations, perplexity of the held-out words. Nothing is chosen by labels.
``--table`` prints mean and standard deviation over seeds of what a file holds.
"""

import argparse
import itertools
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from citeweave import SCNTM, datasets
from citeweave.corpus import Corpus
from citeweave.evaluate import auc, clustering_scores, hold_out, negative_pairs, scntm_scores
from citeweave.evaluate.words import plain_perplexity
from citeweave.model.word_weights import WEIGHTS, link_log_score

SHARE = 0.1
"""Share of words and of citations that is held out."""
MEASURES = ("nmi", "auc", "link_score", "perplexity", "topics_in_use", "seconds")


class Fit(NamedTuple):
    """One fit of the study."""

    dataset: str
    topics: int
    """0 for as many as there are labels."""
    seed: int
    weight: float
    iterations: int


def labels_of(corpus: Corpus) -> int:
    """Count the categories that documents have."""
    found = np.asarray(corpus.categories)
    return int(np.unique(found[found >= 0]).size)


def fit_once(corpus: Corpus, fit: Fit) -> dict[str, Any]:
    """Fit one chain and measure it."""
    classes = labels_of(corpus)
    topics = fit.topics or classes
    train, held_out = hold_out(corpus, words=SHARE, citations=SHARE, seed=fit.seed)
    began = time.perf_counter()
    model = SCNTM(
        topics=topics,
        iterations=fit.iterations,
        exactly=True,
        chains=1,
        seed=fit.seed,
        word_weight=fit.weight,
    ).fit(train, held_out=held_out)
    found: dict[str, Any] = fit._asdict() | {"topics": topics}
    found["seconds"] = round(time.perf_counter() - began, 1)
    if classes > 1:
        scores = clustering_scores(model.labels_, np.asarray(corpus.categories))
        found |= {"nmi": round(scores.nmi, 4), "purity": round(scores.purity, 4)}
    pairs = held_out["citations"]
    negatives = negative_pairs(corpus, pairs, each=5, seed=fit.seed)
    scores = scntm_scores(model, propensities=False)
    found["auc"] = round(auc(scores.pairs(pairs), scores.pairs(negatives)), 4)
    document, word = held_out["words"].T
    words = plain_perplexity(model.doc_topic_, model.topic_word_, document, word)
    found["perplexity"] = round(words.value, 1)
    estimates = {
        "doc_topic": model.doc_topic_,
        "cite_propensity": model.cite_propensity_,
        "cited_propensity": model.cited_propensity_,
        "topic_scale": model.topic_scale_,
    }
    found["link_score"] = round(link_log_score(estimates, pairs), 4)
    found["topics_in_use"] = int(np.median(model.traces_["topics"][0, -50:]))
    return found


def planned(arguments: argparse.Namespace) -> list[Fit]:
    """List the fits, seeds outermost: what is cut short has fewer seeds, not fewer weights."""
    every = itertools.product(
        range(1, arguments.seeds + 1), arguments.datasets, arguments.topics, arguments.weights
    )
    return [
        Fit(name, topics, seed, weight, arguments.iterations)
        for seed, name, topics, weight in every
    ]


def _one(fit: Fit) -> dict[str, Any]:
    return fit_once(datasets.load(fit.dataset), fit)


def run(fits: list[Fit], jobs: int) -> Iterator[dict[str, Any]]:
    """Make all fits, so many at a time."""
    if jobs == 1:
        yield from map(_one, fits)
        return
    with get_context("spawn").Pool(jobs, maxtasksperchild=1) as pool:
        yield from pool.imap_unordered(_one, fits, chunksize=1)


def table(lines: list[dict[str, Any]]) -> str:
    """Return mean and standard deviation over seeds, a row for each corpus, size and weight."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        groups[line["dataset"], line["topics"], -line["weight"]].append(line)
    head = ["corpus", "topics", "weight", "seeds", *(name.replace("_", " ") for name in MEASURES)]
    rows = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for (dataset, topics, weight), found in sorted(groups.items()):
        cells = [dataset, str(topics), f"{-weight:g}", str(len(found))]
        for name in MEASURES:
            values = np.array([line[name] for line in found if name in line])
            digits = {"perplexity": 0, "topics_in_use": 1, "seconds": 0}.get(name, 3)
            spread = f" ± {values.std():.{digits}f}" if len(values) > 1 else ""
            cells.append(f"{values.mean():.{digits}f}{spread}" if len(values) else "")
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def main(given: list[str] | None = None) -> None:
    """Read the options and write a line for each fit, or the table of what was written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=["cora", "citeseer", "ieee-vis", "pubmed"])
    parser.add_argument("--weights", nargs="+", type=float, default=list(WEIGHTS))
    parser.add_argument("--topics", nargs="+", type=int, default=[0, 20])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path)
    arguments = parser.parse_args(given)
    if arguments.table is not None:
        print(table([json.loads(text) for text in arguments.table.read_text().splitlines()]))
        return
    if arguments.out is None:
        parser.error("give --out FILE for the lines, or --table FILE")
    with arguments.out.open("a") as file:
        for line in run(planned(arguments), arguments.jobs):
            text = json.dumps(line)
            print(text, flush=True)
            file.write(text + "\n")
            file.flush()


if __name__ == "__main__":
    main()
