"""Where snapshot sweeps lead a chain that has burned in: differences without the spread of starts.

    python -m benchmarks.parallel_quality drift --data FOLDER --out drift.jsonl
    python -m benchmarks.parallel_quality drift-table drift.jsonl

A sequential chain runs for a while; each kind of chain then continues from its state with draws of
its own. The common start removes most of the spread between seeds, so small differences show; a
second sequential chain measures the spread that is left. With ``--text``, citations are never used,
and all differences come from the words.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.parallel_quality_tables import CONTROL, SEQUENTIAL, Difference, certain, mark
from benchmarks.parallel_quality_tables import mean_and_spread as shown

from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.estimates import add_sample, new_sums, take_means
from citeweave.engines.core.random import new_generator
from citeweave.engines.core.spec import preset
from citeweave.engines.dense.chain import DenseChain
from citeweave.engines.threads import SnapshotChain
from citeweave.errors import ParameterError
from citeweave.model.groups import build_tree

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from citeweave.engines.core.data import Data

ROUNDS = (1, 4, 16)
EVERY = 3
"""Iterations between samples."""


def add_drift_options(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `drift`."""
    parser.add_argument("--data", type=Path, help="folder that contains the corpora's folders")
    parser.add_argument("--corpora", nargs="+", default=["cora", "ieee-vis", "simulated"])
    parser.add_argument("--backends", nargs="+", choices=["cpu", "cuda"], default=["cpu"])
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(5)))
    parser.add_argument("--before", type=int, default=150, help="sequential iterations")
    parser.add_argument("--after", type=int, default=60, help="iterations of each kind")
    parser.add_argument("--text", action="store_true", help="without citations")
    parser.add_argument("--out", type=Path, required=True)


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `drift-table`."""
    parser.add_argument("files", type=Path, nargs="+")


def run_drifts(options: argparse.Namespace) -> None:
    """Continue from states of sequential chains with each kind, and append the results."""
    from benchmarks.parallel_quality import WORK, load_corpus  # noqa: PLC0415 (imports this file)

    kinds: list[tuple[str, int]] = []
    if "cpu" in options.backends:
        kinds += [(CONTROL, 0), *((f"threads, {rounds} per sweep", rounds) for rounds in ROUNDS)]
    if "cuda" in options.backends:
        kinds += [(f"cuda, {rounds} per sweep", rounds) for rounds in ROUNDS]
    done = {_key(line) for line in _read([options.out])}
    spec = preset("cntm-text" if options.text else "scntm")
    for seed in options.seeds:
        for name in options.corpora:
            corpus, _ = load_corpus(name, options.data)
            data = build_tree(corpus, spec, eta=0, unknown="shared").data
            settings = ChainSettings(topics=WORK[name].topics, network_from=options.before // 2)
            head = {"corpus": name, "seed": seed, "text": options.text, "after": options.after}
            wanted = [(SEQUENTIAL, 0), *kinds]
            missing = [k for k in wanted if _key({**head, "backend": k[0]}) not in done]
            if not missing:
                continue
            start = DenseChain(spec, data, settings, seed=seed)
            start.start()
            for _ in range(options.before):
                start.step()
            for number, (backend, rounds) in enumerate(wanted):
                if (backend, rounds) not in missing:
                    continue
                chain = _chain(backend, rounds, data, settings, seed, text=options.text)
                chain.state.random[:] = new_generator(seed, 1 + number)
                start.state.random[:] = chain.state.random
                chain.restore(start.state)
                line = {**head, "backend": backend, "measures": follow(chain, options.after)}
                chain.close()
                with options.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
                print(json.dumps(line), flush=True)


def _chain(
    backend: str, rounds: int, data: Data, settings: ChainSettings, seed: int, *, text: bool
) -> DenseChain:
    spec = preset("cntm-text" if text else "scntm")
    if rounds == 0:
        return DenseChain(spec, data, settings, seed=seed)
    if backend.startswith("threads"):
        return SnapshotChain(spec, data, settings, seed=seed, rounds=rounds)
    from citeweave.engines.cuda import CudaChain  # noqa: PLC0415 (an extra)

    return CudaChain(spec, data, settings, seed=seed, rounds=rounds)


def follow(chain: DenseChain, iterations: int) -> dict[str, float]:
    """Continue a chain and measure the last two thirds of its iterations."""
    tokens, offsets = chain.layout.word, chain.layout.document_start
    sums = new_sums(chain)._replace(citing=np.zeros((0, chain.settings.topics), np.float32))
    infos = []
    for number in range(iterations):
        info = chain.step()
        if number < iterations // 3:
            continue
        infos.append(info)
        if number % EVERY == 0:
            add_sample(chain, sums)
    means = take_means(sums)
    document = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    chance = np.einsum("nk,nk->n", means.documents[0][document], means.topic_word[tokens])
    found = {
        "log likelihood per word": float(np.mean([i.log_likelihood for i in infos])) / len(tokens),
        "training perplexity": float(np.exp(-np.log(chance).mean())),
    }
    if chain.network_on:
        found["acceptance"] = float(np.mean([info.acceptance for info in infos]))
    names = [level.name for level in (*chain.spec.topic_side, *chain.spec.word_side)]
    levels = np.mean([info.concentrations for info in infos], axis=0)
    found |= {f"log beta of {n}": float(np.log(b)) for n, b in zip(names, levels, strict=True)}
    # per sweep and hundred tokens
    repaired = np.asarray(getattr(chain, "repaired", np.zeros(2)), float)
    repaired *= 100 / iterations / len(tokens)
    found |= {"repaired topics, %": float(repaired[0]), "repaired words, %": float(repaired[1])}
    return found


def _read(files: Sequence[Path]) -> list[dict[str, Any]]:
    lines = []
    for path in files:
        if path.exists():
            texts = path.read_text(encoding="utf-8").splitlines()
            lines += [json.loads(text) for text in texts if text.endswith("}")]
    return lines


def _key(line: dict[str, Any]) -> tuple[object, ...]:
    return tuple(line[name] for name in ("corpus", "backend", "seed", "text", "after"))


def write_drift_table(options: argparse.Namespace) -> None:
    """Write differences to the sequential chain as Markdown."""
    lines = _read(options.files)
    if not lines:
        raise ParameterError("The files hold no results; make some with `drift --out`.")
    print("\n".join(drift_tables(lines)))


def drift_tables(lines: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Write a table for each corpus, with and without citations."""
    values: dict[tuple[str, bool], dict[str, dict[int, dict[str, float]]]] = {}
    for line in lines:
        here = values.setdefault((line["corpus"], line["text"]), {})
        here.setdefault(line["backend"], {})[line["seed"]] = line["measures"]
    differences = {
        (place, backend, measure): _difference(place[0], backend, measure, here)
        for place, here in values.items()
        for backend in here
        if backend != SEQUENTIAL
        for measure in _compared(here)
    }
    sure = certain([d for (_, backend, _), d in differences.items() if backend != CONTROL])
    for place, here in values.items():
        corpus, text = place
        seeds = len(here[SEQUENTIAL])
        kind = "words alone" if text else "with citations"
        yield f"\n{corpus}, {kind}, {seeds} seed{'s' if seeds > 1 else ''}:\n"
        backends = [name for name in here if name != SEQUENTIAL]
        yield "| minus sequential | " + " | ".join(backends) + " |"
        yield "| --- |" + " --: |" * len(backends)
        for measure in _compared(here):
            found = [differences[place, backend, measure] for backend in backends]
            cells = [f"{shown(d.values, sign='+')} {mark(d, sure)}".rstrip() for d in found]
            yield f"| {measure} | " + " | ".join(cells) + " |"
        for measure in ("repaired topics, %", "repaired words, %"):
            means = [np.mean([m[measure] for m in here[b].values()]) for b in backends]
            yield f"| {measure} | " + " | ".join(f"{mean:.2f}" for mean in means) + " |"


def _compared(here: dict[str, dict[int, dict[str, float]]]) -> list[str]:
    first = next(iter(here[SEQUENTIAL].values()))
    return [name for name in first if not name.startswith("repaired")]


def _difference(
    corpus: str, backend: str, measure: str, here: dict[str, dict[int, dict[str, float]]]
) -> Difference:
    ours, theirs = here[backend], here[SEQUENTIAL]
    seeds = sorted(set(ours) & set(theirs))
    gaps = tuple(ours[seed][measure] - theirs[seed][measure] for seed in seeds)
    control = [here[CONTROL][s][measure] - theirs[s][measure] for s in here.get(CONTROL, {})]
    spread = float(np.std(control, ddof=1)) if len(control) > 1 else float("nan")
    return Difference(corpus, backend, measure, gaps, spread)
