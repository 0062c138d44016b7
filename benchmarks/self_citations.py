"""What the three choices of ``self_citations`` do to propensities, held-out citations and words.

    python -m benchmarks.self_citations fit --out results.jsonl [--dataset cora] [--seeds 3]
    python -m benchmarks.self_citations table results.jsonl
    python -m benchmarks.self_citations time [--dataset cora]

``fit`` appends a JSON line for every choice and seed; a seed decides which tenth of the citations
and of the words is held out, so that choices are compared seed by seed. What a file holds already
is not run again. ``time`` takes steps of chains of all choices in turn, from one state, and gives
ratios of their seconds.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from citeweave import SCNTM, datasets
from citeweave.engines.core.data import ChainSettings, Request
from citeweave.engines.core.spec import LEFT_OUT, SELF_CITATIONS, ZERO, preset
from citeweave.engines.dense.chain import DenseChain
from citeweave.evaluate import evaluate, hold_out
from citeweave.model.groups import build_tree

TENTH = 0.1


def raw_propensities(folder: Path) -> dict[str, np.ndarray]:
    """Read lambda as the chain has it, before it is put on the scale of mean 1."""
    newest = max((folder / "chains" / "chain-0").glob("*.npz"))
    with np.load(newest) as state:
        wanted = ("parameters.cite", "parameters.cited", "assignments.self_topic")
        return {name: state[f"state.{name}"] for name in wanted}


def measure(
    choice: str, seed: int, *, dataset: str, topics: int, iterations: int
) -> dict[str, Any]:
    """Fit one model and take its measures."""
    train, held = hold_out(datasets.load(dataset), citations=TENTH, words=TENTH, seed=seed)
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room) / "run"
        model = SCNTM(
            topics=topics,
            iterations=iterations,
            network_from=iterations // 3,
            self_citations=choice,
            seed=seed,
            sweep="sequential",
            chains=1,
            exactly=True,
        ).fit(train, out=folder, held_out=held)
        raw = raw_propensities(folder)
        found = evaluate(model, categories=False)
    received = np.bincount(train.citations[:, 1], minlength=train.n_documents)
    influence = model.cited_propensity_
    return {
        "dataset": dataset,
        "choice": choice,
        "seed": seed,
        "mean lambda+": float(raw["parameters.cite"].mean()),
        "influence, uncited": float(influence[received == 0].mean()),
        "influence, cited 10 times": float(influence[(received >= 9) & (received <= 11)].mean()),
        "drawn": int((raw["assignments.self_topic"] >= 0).sum()),
        "AUC": float(found["AUC"]),
        "perplexity": float(found["perplexity, held-out words"]),
    }


def fit(options: argparse.Namespace) -> None:
    """Append what is not in the file yet."""
    out = Path(options.out)
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    done = {(row["dataset"], row["choice"], row["seed"]) for row in map(json.loads, lines)}
    for seed in range(options.seeds):
        for choice in SELF_CITATIONS:
            if (options.dataset, choice, seed) in done:
                continue
            row = measure(
                choice,
                seed,
                dataset=options.dataset,
                topics=options.topics,
                iterations=options.iterations,
            )
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(json.dumps(row), flush=True)


def table(options: argparse.Namespace) -> None:
    """Write means over seeds, and their standard errors, as Markdown."""
    rows = [json.loads(line) for line in Path(options.file).read_text("utf-8").splitlines()]
    names = [name for name in rows[0] if name not in {"dataset", "choice", "seed"}]
    print(f"| data set | choice | {' | '.join(names)} |")
    print(f"|---|---|{'--:|' * len(names)}")
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        for choice in SELF_CITATIONS:
            ours = [row for row in rows if (row["dataset"], row["choice"]) == (dataset, choice)]
            cells = []
            for name in names:
                values = np.array([row[name] for row in ours])
                error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
                cells.append(f"{values.mean():.4g} ± {error:.1g}")
            print(f"| {dataset} | `{choice}` | {' | '.join(cells)} |")


def compare_times(options: argparse.Namespace) -> None:
    """Take steps in turn and print the ratio of seconds, unknown self-citations to known ones."""
    corpus = datasets.load(options.dataset)
    spec = preset("scntm")
    data = build_tree(corpus, spec, eta=0, unknown="shared").data
    chains = {}
    for choice in (ZERO, LEFT_OUT):
        settings = ChainSettings(topics=options.topics, self_citations=choice)
        chains[choice] = DenseChain.open(Request(spec, data, settings, 1))
        chains[choice].start()
    kinds = ("step", "word_seconds", "citation_seconds")
    seconds: dict[str, list[list[float]]] = {choice: [] for choice in chains}
    for _ in range(options.steps):
        for choice, chain in chains.items():
            began = time.perf_counter()
            info = chain.step()
            whole = time.perf_counter() - began
            seconds[choice].append([whole, info.word_seconds, info.citation_seconds])
    took = {choice: np.median(values[5:], axis=0) for choice, values in seconds.items()}
    for kind, before, after in zip(kinds, took[ZERO], took[LEFT_OUT], strict=True):
        print(f"{kind}: {before:.4f} s and {after:.4f} s, ratio {after / before:.3f}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("fit")
    one.add_argument("--out", required=True)
    one.add_argument("--seeds", type=int, default=3)
    one.add_argument("--iterations", type=int, default=300)
    one.set_defaults(run=fit)
    other = commands.add_parser("table")
    other.add_argument("file")
    other.set_defaults(run=table)
    third = commands.add_parser("time")
    third.add_argument("--steps", type=int, default=30)
    third.set_defaults(run=compare_times)
    for each in (one, third):
        each.add_argument("--dataset", default="cora")
        each.add_argument("--topics", type=int, default=20)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
