"""Latent categories compared with unseen labels, next to dominant topics and starting points.

    python -m benchmarks.categories --datasets cora citeseer --topics 20 50 --seeds 3 --out FILE

Every line of the file (JSON) is one fit of a single chain: purity and NMI of the sampled categories
(or of the dominant topics, for a model without categories) and of the clusters that the chain
started from, and the seconds it took. The variant ``clusters`` has those clusters alone, without a
chain. With ``--hold-out 0.1``, a tenth of words and citations is held out, and the lines also have
their perplexity and AUC. Nothing is chosen by labels.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from citeweave import SCNTM, datasets
from citeweave.corpus import Corpus
from citeweave.evaluate import clustering_scores, evaluate, hold_out
from citeweave.model.clusters import agreed_clusters

CLUSTERS = "clusters"
VARIANTS: dict[str, dict[str, Any]] = {
    "topics": {},
    "topics, text": {"model": "cntm-text"},
    "categories": {"categories": True},
    "categories, text": {"categories": True, "model": "cntm-text"},
    "categories, drawn": {"categories": True, "paper_concentration": "drawn"},
}
"""Models by name; as many categories, or topics where there are none, as the corpus has labels."""


def cluster_once(corpus: Corpus, *, seed: int) -> dict[str, Any]:
    """Measure the clusters from which the first chain of a run with this seed starts."""
    label = np.asarray(corpus.categories)
    classes = int(np.unique(label[label >= 0]).size)
    began = time.perf_counter()
    nobody = np.full(corpus.n_documents, -1)
    start = agreed_clusters(corpus, classes, np.random.default_rng([seed, 0, 1]), known=nobody)
    seconds = round(time.perf_counter() - began, 1)
    scores = clustering_scores(start, label)
    figures = {"start_nmi": round(scores.nmi, 4), "start_purity": round(scores.purity, 4)}
    return {"variant": CLUSTERS, "seed": seed, "seconds": seconds} | figures


def fit_once(
    corpus: Corpus, variant: str, *, topics: int, iterations: int, seed: int, share: float
) -> dict[str, Any]:
    """Fit one chain and measure it."""
    options = dict(VARIANTS[variant])
    classes = int(np.unique(corpus.categories[corpus.categories >= 0]).size)
    drawn = options.pop("categories", False)
    if drawn:
        options["categories"] = classes
    train, held_out = corpus, {}
    if share:
        train, held_out = hold_out(corpus, words=share, citations=share, seed=seed)
    began = time.perf_counter()
    model = SCNTM(
        topics=topics if drawn else classes,
        iterations=iterations,
        exactly=True,
        chains=1,
        seed=seed,
        **options,
    ).fit(train, held_out=held_out)
    found = {
        "variant": variant,
        "topics": topics if drawn else classes,
        "iterations": iterations,
        "seed": seed,
        "held_out": share,
        "seconds": round(time.perf_counter() - began, 1),
    }
    label = np.asarray(corpus.categories)
    clusters = model.category_ if drawn else model.labels_
    scores = clustering_scores(clusters, label)
    found |= {"nmi": round(scores.nmi, 4), "purity": round(scores.purity, 4)}
    start = cluster_once(train, seed=seed)
    found |= {name: start[name] for name in ("start_nmi", "start_purity")}
    if drawn:
        found["sure"] = round(float(model.category_probability_.max(axis=1).mean()), 4)
    if share:
        measures = evaluate(model, seed=seed)
        found["perplexity"] = round(measures["perplexity, held-out words"], 1)
        if "text" not in variant:
            found["auc"] = round(measures["AUC"], 4)
    return found


def run(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Make all fits, one after the other."""
    for name in arguments.datasets:
        folder = None if arguments.corpora is None else arguments.corpora / name
        corpus = datasets.load(name) if folder is None else Corpus.load(folder)
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            for variant in arguments.variants:
                if variant == CLUSTERS:
                    yield {"dataset": name} | cluster_once(corpus, seed=seed)
                    continue
                # without categories there are as many topics as labels
                for topics in arguments.topics if "categories" in variant else arguments.topics[:1]:
                    yield {"dataset": name} | fit_once(
                        corpus,
                        variant,
                        topics=topics,
                        iterations=arguments.iterations,
                        seed=seed,
                        share=arguments.hold_out,
                    )


def main(given: list[str] | None = None) -> None:
    """Read the options and write a line for each fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=["cora", "citeseer"])
    parser.add_argument(
        "--variants", nargs="+", choices=[CLUSTERS, *VARIANTS], default=list(VARIANTS)
    )
    parser.add_argument("--topics", nargs="+", type=int, default=[20])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--corpora", type=Path, help="folder of prepared corpora, by their names")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--hold-out", type=float, default=0.0)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args(given)
    with arguments.out.open("a") as file:
        for line in run(arguments):
            text = json.dumps(line)
            print(text, flush=True)
            file.write(text + "\n")
            file.flush()


if __name__ == "__main__":
    main()
