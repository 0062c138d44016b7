"""Which start and which order of stages finds good topics soonest: one core, one chain at a time.

    python benchmarks/starts.py --out starts.jsonl
    python benchmarks/starts.py --out starts.jsonl --rounds 4    # snapshot chains
    python benchmarks/starts.py --table starts.jsonl

Each chain runs on a corpus that lacks a tenth of its citations and of each document's words. After
so many iterations, from a mean over the latest five samples, it is judged by the coherence of its
topics (mean NPMI of the 10 most probable words), the perplexity of the words held out (under theta
and phi), how well citations held out are told from others (AUC) and, as a look that decides
nothing, by the agreement of documents' dominant topics with categories (NMI). Time is that of the
processor, compiling, start and judging left out (the start's is stated apart). The same chains from
two seeds are compared by the mean cosine of their matched topics.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from citeweave import datasets, simulate
from citeweave.corpus import Corpus
from citeweave.engines.core.data import ChainSettings, Request
from citeweave.engines.core.estimates import Sums, new_sums, take_means
from citeweave.engines.core.spec import preset
from citeweave.engines.dense.chain import DenseChain
from citeweave.engines.staged import open_chain
from citeweave.engines.threads import SnapshotChain
from citeweave.evaluate.clustering import clustering_scores
from citeweave.evaluate.coherence import npmi_coherence
from citeweave.evaluate.holding_out import hold_out
from citeweave.evaluate.link_scores import LinkScores
from citeweave.evaluate.links import auc, negative_pairs
from citeweave.evaluate.words import plain_perplexity
from citeweave.model.clusters import cluster_documents
from citeweave.model.groups import build_tree
from citeweave.model.matching import match_topics

SAMPLES = 5
LOOKS = (60, 100, 200)


class Stages(NamedTuple):
    """A way to begin."""

    start: str
    network_from: int
    burst_from: int

    def __str__(self) -> str:
        """Name it in tables."""
        return f"{self.start}, citations {self.network_from}, bursts {self.burst_from}"


STAGES = (
    Stages("random", 100, 0),  # half the iterations, as it was
    Stages("random", 30, 60),
    Stages("random", 60, 30),
    Stages("clusters", 30, 60),
    Stages("clusters", 0, 0),
)


def corpora() -> dict[str, tuple[int, Any]]:
    """Return topics and a loader by name."""

    def part(name: str, share: float) -> Corpus:
        return datasets.load(name).split(test=1 - share, seed=0).train

    def long() -> Corpus:
        return simulate(
            documents=120,
            words_per_document=1500,
            vocabulary=4000,
            topics=15,
            authors=60,
            citations=600,
            seed=1,
        ).corpus

    return {
        "ieee-vis": (30, lambda: datasets.load("ieee-vis")),
        "hep-th, a tenth": (20, lambda: part("hep-th", 0.1)),
        "long texts, simulated": (20, long),
        "m10 titles": (20, lambda: datasets.load("m10")),
        "cora": (10, lambda: datasets.load("cora")),
    }


def run_chain(
    corpus: Corpus, topics: int, stages: Stages, seed: int, iterations: int, rounds: int = 0
) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Run a chain, and judge it on the way; its sweeps are sequential if there are no rounds."""
    train, held = hold_out(corpus, citations=0.1, words=0.1, seed=0)
    spec = preset("scntm")
    data = build_tree(train, spec, eta=0, unknown="shared").data
    settings = ChainSettings(
        topics=topics, network_from=stages.network_from, burst_from=stages.burst_from
    )
    request = Request(spec, data, settings, seed, rounds=max(rounds, 1))
    chain = open_chain(SnapshotChain if rounds else DenseChain, request)
    began = time.process_time()
    first = None
    if stages.start == "clusters":
        found = cluster_documents(train, topics, np.random.default_rng(seed))
        first = np.repeat(found, train.lengths)
    chain.start(first)
    starting = time.process_time() - began
    seconds = 0.0
    sums = new_sums(chain)
    for iteration in range(1, iterations + 1):
        began = time.process_time()
        info = chain.step()
        seconds += time.process_time() - began
        ahead = min((look - iteration for look in LOOKS if look >= iteration), default=SAMPLES)
        if ahead < SAMPLES:
            chain.keep_sample(sums)
        if ahead == 0:
            chain.collect_samples(sums)
            row = {
                "stages": f"{stages}, {rounds} snapshots" if rounds else str(stages),
                "seed": seed,
                "iteration": iteration,
                "seconds": round(seconds, 2),
                "start seconds": round(starting, 2),
                "topics": info.topics,
                "log posterior": round(info.log_posterior),
            }
            yield row | judge(sums, train, corpus, held), sums.topic_word.T.copy()
            sums = new_sums(chain)


def judge(
    sums: Sums, train: Corpus, corpus: Corpus, held: dict[str, np.ndarray]
) -> dict[str, float]:
    """Measure what the latest samples are worth."""
    means = take_means(sums)
    used = means.topic_samples > 0
    topic_word, doc_topic = means.topic_word.T, means.documents[0]
    scores = {
        "coherence": float(npmi_coherence(topic_word[used], train).mean()),
        "perplexity": plain_perplexity(means.documents[-1], topic_word, *held["words"].T).value,
    }
    if means.topic_scale.any():
        links = LinkScores(
            doc_topic * (means.cite[:, None] * means.topic_scale), doc_topic * means.cited[:, None]
        )
        pairs = held["citations"]
        others = negative_pairs(corpus, pairs, each=5, seed=0)
        scores["AUC"] = auc(links.pairs(pairs), links.pairs(others))
    if (corpus.categories >= 0).any():
        labels = doc_topic.argmax(axis=1)
        scores["NMI"] = clustering_scores(labels, corpus.categories).nmi
    return {name: round(value, 4) for name, value in scores.items()}


def agreement(one: np.ndarray, other: np.ndarray) -> float:
    """Mean cosine of topics matched by their words."""
    return round(match_topics(one, other)[2], 3)


def main() -> None:
    """Run what is asked for, or show what was run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("starts.jsonl"))
    parser.add_argument("--table", type=Path)
    parser.add_argument("--corpora", nargs="*", default=list(corpora()))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--stages", nargs="*", type=int, default=list(range(len(STAGES))))
    parser.add_argument("--iterations", type=int, default=LOOKS[-1])
    parser.add_argument("--rounds", type=int, default=0, help="snapshots per sweep, 0 for none")
    options = parser.parse_args()
    if options.table is not None:
        print_table([json.loads(line) for line in options.table.read_text().splitlines()])
        return
    small = simulate(documents=20, vocabulary=50, citations=40, seed=1).corpus
    rounds = options.rounds
    for _ in run_chain(small, 4, Stages("clusters", 3, 6), 1, LOOKS[0], rounds):  # compiles
        pass
    with options.out.open("a", encoding="utf-8") as file:
        for name in options.corpora:
            topics, load = corpora()[name]
            corpus = load()
            for stages in (STAGES[number] for number in options.stages):
                last: list[np.ndarray] = []
                for seed in range(1, options.seeds + 1):
                    found = run_chain(corpus, topics, stages, seed, options.iterations, rounds)
                    for row, words in found:
                        if row["iteration"] == options.iterations:
                            last.append(words)
                            if len(last) > 1:
                                row["agreement"] = agreement(last[0], words)
                        file.write(json.dumps({"corpus": name} | row) + "\n")
                        file.flush()


def print_table(rows: list[dict[str, Any]]) -> None:
    """Write the means over seeds as a table of Markdown."""
    kinds = ("seconds", "coherence", "perplexity", "AUC", "NMI", "agreement")
    print("| corpus | stages | iterations |", " | ".join(kinds), "|")
    print("|---|---|" + "---:|" * (len(kinds) + 1))
    places = dict.fromkeys((row["corpus"], row["stages"], row["iteration"]) for row in rows)
    for place in places:
        same = [r for r in rows if (r["corpus"], r["stages"], r["iteration"]) == place]
        cells = []
        for kind in kinds:
            values = [row[kind] for row in same if kind in row]
            if kind == "seconds":
                values = [row["seconds"] + row["start seconds"] for row in same]
            digits = {"seconds": 1, "perplexity": 0}.get(kind, 3)
            cells.append(f"{np.mean(values):.{digits}f}" if values else "")
        print("|", " | ".join([*map(str, place), *cells]), "|")


if __name__ == "__main__":
    main()
