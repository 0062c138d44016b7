"""One system on one corpus in a process of its own, driven by `benchmarks.sampler`.

Started with one JSON argument; reads commands from standard input (``run N``, ``quit``) and
answers each with a line of JSON, so that the driver can let systems take turns on one core.
"""

# ruff: noqa: PLC0415  each system imports its own, so that memory and starting times are its own
from __future__ import annotations

import json
import math
import os
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from citeweave.engines.core.data import Info
    from citeweave.engines.dense.chain import DenseChain


FEW_TOPICS_ETA = 0.5
"""Word prior that keeps HDPModel near the true number of topics; its own opens hundreds."""


class System(Protocol):
    """What can be timed."""

    def load(self, job: dict[str, Any]) -> None:
        """Read the corpus and make the model."""

    def run(self, iterations: int) -> dict[str, Any]:
        """Go on so many iterations; return figures."""


class Citeweave:
    """Chains of the SCNTM, or of its text side alone, each on a thread of its own."""

    def load(self, job: dict[str, Any]) -> None:
        """Lay the corpus out as the sampler takes it: eta = 0, so groups are first authors."""
        import numpy as np

        from citeweave.corpus import Corpus
        from citeweave.engines.core.data import ChainSettings, Data
        from citeweave.engines.core.spec import preset
        from citeweave.engines.dense.chain import DenseChain

        corpus = Corpus.load(job["corpus"])
        documents = np.arange(corpus.n_documents)
        first = corpus.first_authors
        unknown = bool((first < 0).any())  # these documents share one more group
        data = Data(
            tokens=corpus.tokens,
            offsets=corpus.offsets,
            n_words=corpus.vocabulary_size,
            parents=(
                np.zeros(corpus.n_authors + unknown, np.int64),
                np.where(first < 0, corpus.n_authors, first),
                documents,
            ),
            leaf=documents,
            leaf_start=np.arange(corpus.n_documents + 1),
            citing=corpus.citations[:, 0],
            cited=corpus.citations[:, 1],
        )
        settings = ChainSettings(topics=job["topics"], network_from=job["network_from"])
        self.tokens, self.citations = corpus.n_tokens, corpus.n_citations
        self.chains = [
            DenseChain(preset(job["model"]), data, settings, seed=1, stream=stream)
            for stream in range(job["threads"])
        ]
        self.started = False

    def _steps(self, chain: DenseChain, iterations: int) -> list[Info]:
        if not self.started:
            chain.start()
        return [chain.step() for _ in range(iterations)]

    def run(self, iterations: int) -> dict[str, Any]:
        """Step every chain; times of sweeps are those of single threads."""
        began = time.perf_counter()
        if len(self.chains) == 1:
            infos = self._steps(self.chains[0], iterations)
        else:
            with ThreadPoolExecutor(len(self.chains)) as pool:
                parts = pool.map(self._steps, self.chains, [iterations] * len(self.chains))
                infos = [info for part in parts for info in part]
        seconds = time.perf_counter() - began
        self.started = True
        networked = [info for info in infos if not math.isnan(info.acceptance)]
        return {
            "seconds": seconds,
            "tokens": self.tokens * len(infos),
            "word_seconds": sum(info.word_seconds for info in infos),
            "citations": self.citations * len(networked),
            "citation_seconds": sum(info.citation_seconds for info in networked),
            "blocked": sum(info.blocked for info in infos) / len(infos),
            "acceptance": _mean([info.acceptance for info in networked]),
            "topics": infos[-1].topics,
        }


class Tomotopy:
    """HDPModel or LDAModel of tomotopy."""

    def load(self, job: dict[str, Any]) -> None:
        """Give tomotopy the same documents, words by name."""
        import tomotopy

        from citeweave.corpus import Corpus

        corpus = Corpus.load(job["corpus"])
        topics, seed = job["topics"], job.get("seed", 1)
        if job["model"] == "hdp":
            self.model = tomotopy.HDPModel(initial_k=topics, seed=seed)
        elif job["model"] == "hdp-few":
            self.model = tomotopy.HDPModel(initial_k=topics, eta=FEW_TOPICS_ETA, seed=seed)
        else:
            self.model = tomotopy.LDAModel(k=topics, seed=seed)
        names = [f"w{word}" for word in range(corpus.vocabulary_size)]
        bounds = corpus.offsets.tolist()
        for begin, end in pairwise(bounds):
            self.model.add_doc([names[word] for word in corpus.tokens[begin:end].tolist()])
        self.tokens = corpus.n_tokens
        self.threads = job["threads"]

    def run(self, iterations: int) -> dict[str, Any]:
        """Train; tomotopy does not report the parts of an iteration."""
        began = time.perf_counter()
        self.model.train(iterations, workers=self.threads)
        return {
            "seconds": time.perf_counter() - began,
            "tokens": self.tokens * iterations,
            "topics": int(getattr(self.model, "live_k", self.model.k)),
        }


SYSTEMS: dict[str, type[Citeweave | Tomotopy]] = {"citeweave": Citeweave, "tomotopy": Tomotopy}


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def peak_memory() -> float:
    """Largest resident size of this process so far, in MB of 10^6 bytes.

    Linux: VmHWM, because ``ru_maxrss`` of a started process can still be its parent's.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / 1e6 if sys.platform == "darwin" else size * 1024 / 1e6


def _answer(**values: Any) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Make the system, take the first sweep, then obey."""
    job = json.loads(sys.argv[1])
    if job["threads"] == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    system: System = SYSTEMS[job["system"]]()
    system.load(job)
    loaded = time.time() - job["began"]
    system.run(1)
    _answer(loaded=loaded, first=time.time() - job["began"], peak=peak_memory())
    for line in sys.stdin:
        command, *rest = line.split()
        if command == "quit":
            break
        _answer(**system.run(int(rest[0])), peak=peak_memory())


if __name__ == "__main__":
    main()
