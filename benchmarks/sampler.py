"""How fast the sampler is, side by side with other systems, from one run.

    python -m benchmarks.sampler --quick                  # a minute or two, tiny corpora
    python -m benchmarks.sampler --full --out results     # the paper's shapes; more than an hour
    python -m benchmarks.sampler --full --hca PATH        # with Buntine's hca too

Each system is a process of its own with the same simulated corpus. After the same number of
iterations the processes take turns on one core, round after round, so that a slow minute of
the machine hits all of them; figures are medians of the rounds with their range, and ratios are
formed inside rounds. tomotopy comes with ``pip install '.[benchmark]'``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.sampler_hca import time_hca
from benchmarks.sampler_plan import FULL, M10, ML, QUICK, Effort, Shape, Task, save_corpus
from benchmarks.sampler_report import describe_machine, to_markdown
from benchmarks.sampler_targets import targets

ROOT = Path(__file__).parent.parent
SECTIONS = ("speed", "cores", "slope", "growth")


class Worker:
    """A started system that waits for its turn."""

    def __init__(self, task: Task, cache: Path) -> None:
        self.task = task
        job = task.as_job() | {"began": time.time()}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.sampler_worker", json.dumps(job)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        )
        self.first = self._answer()
        self.turns: list[dict[str, Any]] = []

    def _answer(self) -> dict[str, Any]:
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line:
            raise SystemExit(f"{self.task.label}: the process ended; its message is above.")
        return dict(json.loads(line))

    def run(self, iterations: int) -> dict[str, Any]:
        """Let it go on; no other worker runs meanwhile."""
        if self.process.stdin is None:
            raise SystemExit(f"{self.task.label}: the process takes no commands.")
        self.process.stdin.write(f"run {iterations}\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """End the process."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()


class Bench:
    """Everything that sections share: where corpora and kernels lie, how much is done."""

    def __init__(self, effort: Effort, folder: Path, hca: Path | None) -> None:
        self.effort = effort
        self.folder = folder
        self.hca = hca
        self.cache = folder / "kernels"
        self.warmed: set[str] = set()
        self.m10 = M10.scaled(effort.scale)
        self.ml = ML.scaled(effort.scale)

    def task(
        self, label: str, shape: Shape, topics: int, *, threads: int = 1, part: float = 1.0
    ) -> Task:
        """Describe a system by its label, as `LACKS` names them, on its corpus."""
        system, kind = label.split()
        burn_in = self.effort.burn_in[_base(shape)]
        return Task(
            label=label,
            system=system,
            model=kind.lower(),
            topics=topics,
            threads=threads,
            corpus=save_corpus(shape.scaled(part), topics, self.folder),
            network_from=burn_in // 2,
        )

    def measure(self, tasks: list[Task], shape: Shape) -> list[dict[str, Any]]:
        """Burn every system in, then let them take turns; return one row a system."""
        turn = self.effort.turn[_base(shape)]
        workers: list[Worker] = []
        try:
            for task in tasks:
                _say(f"{task.label}: K = {task.topics} on {task.corpus.name}, burning in")
                self.warm(task)
                worker = Worker(task, self.cache)
                workers.append(worker)
                worker.run(self.effort.burn_in[_base(shape)] - 1)
            for number in range(self.effort.repeats):
                _say(f"round {number + 1} of {self.effort.repeats}")
                for worker in workers:
                    worker.turns.append(worker.run(turn) | {"iterations": turn})
        finally:
            for worker in workers:
                worker.close()
        return [
            {
                "label": worker.task.label,
                "topics": worker.task.topics,
                "threads": worker.task.threads,
                "corpus": worker.task.corpus.name,
                "turns": worker.turns,
                "peak": worker.turns[-1]["peak"],
            }
            for worker in workers
        ]

    def warm(self, task: Task) -> None:
        """Fill the cache of kernels in a process of its own: compiling takes memory, too."""
        if task.system == "citeweave" and task.model not in self.warmed:
            self._first(task, self.cache)
            self.warmed.add(task.model)

    def first_sweeps(self, task: Task) -> dict[str, float]:
        """Time processes from their start to the end of their first sweep, citations and all.

        Cold: no compiled kernels on disk. Warm: left there by the process before.
        """
        _say(f"{task.label}: first sweep on {task.corpus.name}")
        if task.system != "citeweave":
            return {"warm": self._first(task, self.cache)["first"]}
        with tempfile.TemporaryDirectory(dir=self.folder) as empty:
            cold = self._first(task, Path(empty))
            warm = self._first(task, Path(empty))
        return {"cold": cold["first"], "cold_peak": cold["peak"], "warm": warm["first"]}

    def _first(self, task: Task, cache: Path) -> dict[str, Any]:
        worker = Worker(replace(task, network_from=0), cache)
        worker.close()
        return worker.first


def _base(shape: Shape) -> str:
    return shape.name.split(" x ")[0]


def _say(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def speed(bench: Bench) -> list[dict[str, Any]]:
    """All systems side by side on one core."""
    labels = (
        "citeweave scntm",
        "citeweave cntm-text",
        "tomotopy HDP",
        "tomotopy HDP-few",
        "tomotopy LDA",
    )
    cases = [(bench.m10, topics) for topics in bench.effort.topics] + [(bench.ml, 20)]
    blocks = []
    seen: set[str] = set()
    for shape, topics in cases:
        tasks = [bench.task(label, shape, topics) for label in labels]
        # compiling depends on the model alone: once a shape of corpus is enough
        starts = {} if shape.name in seen else {t.label: bench.first_sweeps(t) for t in tasks}
        seen.add(shape.name)
        rows = bench.measure(tasks, shape)
        for row in rows:
            row["first_sweep"] = starts.get(row["label"], {})
        if bench.hca is not None:
            effort = bench.effort
            name = _base(shape)
            rows.append(
                time_hca(
                    bench.hca,
                    tasks[0].corpus,
                    topics=topics,
                    burn_in=effort.burn_in[name],
                    turn=effort.turn[name],
                    repeats=effort.repeats,
                )
            )
        blocks.append({"shape": shape.name, "topics": topics, "rows": rows})
    return blocks


def cores(bench: Bench) -> list[dict[str, Any]]:
    """One core against all of them: independent chains here, shared work in tomotopy."""
    many = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    blocks = []
    for shape, topics in ((bench.m10, 50), (bench.ml, 20)):
        tasks = [
            bench.task(label, shape, topics, threads=threads)
            for label in ("citeweave scntm", "tomotopy HDP", "tomotopy LDA")
            for threads in (1, many)
        ]
        rows = bench.measure(tasks, shape)
        blocks.append({"shape": shape.name, "topics": topics, "rows": rows})
    return blocks


def slope(bench: Bench) -> list[dict[str, Any]]:
    """Cost against size: parts of the ML shape."""
    tasks = [bench.task("citeweave scntm", bench.ml, 20, part=part) for part in bench.effort.parts]
    return [{"shape": bench.ml.name, "topics": 20, "rows": bench.measure(tasks, bench.ml)}]


def growth(bench: Bench) -> list[dict[str, Any]]:
    """Cost against the number of topics, on the M10 shape."""
    tasks = [bench.task("citeweave scntm", bench.m10, topics) for topics in bench.effort.growth]
    return [{"shape": bench.m10.name, "rows": bench.measure(tasks, bench.m10)}]


def main() -> None:
    """Run the sections asked for, print the tables, write them where asked."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.sampler", description="Speed of the sampler, side by side."
    )
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--quick", action="store_true", help="tiny corpora: does it work?")
    size.add_argument("--full", action="store_true", help="the paper's M10 and ML shapes")
    parser.add_argument("--hca", type=Path, help="path of an hca binary")
    parser.add_argument("--out", type=Path, help="folder for sampler.json and sampler.md")
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--repeats", type=int, help="rounds (default: 3 quick, 5 full)")
    parser.add_argument("--burn-in", type=int, help="iterations before measuring, all shapes")
    options = parser.parse_args()
    if options.hca is not None and not options.hca.is_file():
        parser.error(f"there is no hca binary {str(options.hca)!r}")
    for name, value, lowest in (("repeats", options.repeats, 1), ("burn-in", options.burn_in, 2)):
        if value is not None and value < lowest:
            parser.error(f"--{name} must be at least {lowest}, not {value}")
    effort = QUICK if options.quick else FULL
    if options.repeats is not None:
        effort = replace(effort, repeats=options.repeats)
    if options.burn_in is not None:
        effort = replace(effort, burn_in=dict.fromkeys(effort.burn_in, options.burn_in))
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = {
        "machine": describe_machine(),
        "effort": "quick" if options.quick else "full",
        "burn_in": effort.burn_in,
        "turn": effort.turn,
        "repeats": effort.repeats,
    }
    began = time.time()
    markdown = ""
    run_section = {"speed": speed, "cores": cores, "slope": slope, "growth": growth}
    with tempfile.TemporaryDirectory(prefix="citeweave-benchmark-") as folder:
        bench = Bench(effort, Path(folder), options.hca and options.hca.resolve())
        for section in options.sections:
            _say(f"section {section}")
            result[section] = run_section[section](bench)
            result["minutes"] = round((time.time() - began) / 60, 1)
            markdown = to_markdown(result, targets(result))
            if options.out is not None:  # after each section, so that a long run loses nothing
                text = json.dumps(result, indent=1) + "\n"
                (options.out / "sampler.json").write_text(text, encoding="utf-8")
                (options.out / "sampler.md").write_text(markdown, encoding="utf-8")
    print(markdown)


if __name__ == "__main__":
    main()
