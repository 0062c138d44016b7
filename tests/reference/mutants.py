"""Broken samplers: copies of the kernels with one mistake each, compiled like the real ones."""

import importlib
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import citeweave.engines


@dataclass(frozen=True)
class Mistake:
    """One line of one file of the engines replaced; it must be there exactly once."""

    file: str
    right: str
    wrong: str


MISTAKES = {
    "indicator binomial left out": [
        Mistake(
            "core/stirling.py",
            "entry[:, 0] = (c - t * discount + row) * (c + 1 - t) / (c + 1)",
            "entry[:, 0] = c - t * discount + row",
        ),
        Mistake(
            "core/stirling.py",
            "entry[:-1, 1] = (1.0 + (c - t[1:] * discount) / row[1:]) * t[1:] / (c + 1)",
            "entry[:-1, 1] = 1.0 + (c - t[1:] * discount) / row[1:]",
        ),
    ],
    "blocked removal ignored": [
        Mistake("core/climb.py", "                return 0\n", "                return depth\n"),
        Mistake(
            "core/word_climb.py", "return 1 if tables > 1 else -1", "return 1 if tables > 1 else 0"
        ),
    ],
    "customers leave only with their table": [
        Mistake(
            "core/climb.py",
            "        counts.customers[row, column] += sign\n",
            "        if sign > 0 or step + 1 < depth:\n"
            "            counts.customers[row, column] += sign\n",
        ),
    ],
    "citations without Metropolis-Hastings": [
        Mistake(
            "dense/citations.py",
            "if uniform(rng) < coupling * np.exp(-change):",
            "if uniform(rng) < 2.0:",
        ),
    ],
    "words without the exponential": [
        Mistake(
            "dense/words.py",
            "if change <= 0.0 or uniform(rng) < np.exp(-change):",
            "if change < np.inf:",
        ),
    ],
    "stray lambdaT in its own rate": [
        Mistake(
            "core/propensities.py",
            "rate = prior[1] + exponent.cite_sum[k] * exponent.cited_sum[k]",
            "rate = prior[1] + parameters.topic_scale[k] * exponent.cite_sum[k] "
            "* exponent.cited_sum[k]",
        ),
    ],
}


def load_mutant(name, folder: Path):
    """Copy the sampler under another name, make the mistake, and import it."""
    package = "mutant_" + "".join(c if c.isalnum() else "_" for c in name)
    target = folder / package
    shutil.copytree(
        Path(citeweave.engines.__file__).parent,
        target,
        ignore=shutil.ignore_patterns("__pycache__", "slots", "threads", "cuda"),
    )
    for mistake in MISTAKES[name]:
        path = target / mistake.file
        source = path.read_text()
        assert source.count(mistake.right) == 1, f"{mistake.file} has changed: {mistake.right!r}"
        path.write_text(source.replace(mistake.right, mistake.wrong))
    for path in target.rglob("*.py"):
        path.write_text(path.read_text().replace("citeweave.engines", package))
    sys.path.insert(0, str(folder))
    try:
        importlib.invalidate_caches()
        core, dense = ("word_side", "exponent", "propensities"), ("chain", "words", "citations")
        modules = [f"core.{name}" for name in core] + [f"dense.{name}" for name in dense]
        return {
            name.partition(".")[2]: importlib.import_module(f"{package}.{name}") for name in modules
        }
    finally:
        sys.path.remove(str(folder))
