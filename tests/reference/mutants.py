"""Broken samplers: a copy of the kernels in which one mistake at a time can be switched on.

The switch is read while kernels run, so that all mistakes share one compilation; and with none
made the copy is the sampler itself, which shows that it is the mistake that a test sees.
"""

import atexit
import importlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import citeweave.engines

PACKAGE = "mutant_engines"


@dataclass(frozen=True)
class Mistake:
    """Some code of one file, which must be there exactly once, and what it becomes.

    ``MADE`` stands for whether the mistake is to be made.
    """

    file: str
    right: str
    wrong: str


MISTAKES = {
    "indicator binomial left out": [
        Mistake(
            "core/stirling.py",
            "(c - t * discount + row) * (c + 1 - t) / (c + 1)",
            "(c - t * discount + row) * (1.0 if MADE else (c + 1 - t) / (c + 1))",
        ),
        Mistake(
            "core/stirling.py",
            "(1.0 + (c - t[1:] * discount) / row[1:]) * t[1:] / (c + 1)",
            "(1.0 + (c - t[1:] * discount) / row[1:]) * (1.0 if MADE else t[1:] / (c + 1))",
        ),
    ],
    "blocked removal ignored": [
        Mistake(
            "core/climb.py",
            "                return 0\n",
            "                return depth if MADE else 0\n",
        ),
        Mistake(
            "core/word_climb.py",
            "return 1 if tables > 1 else -1",
            "return 1 if tables > 1 else (0 if MADE else -1)",
        ),
    ],
    "customers leave only with their table": [
        Mistake(
            "core/climb.py",
            "        counts.customers[row, column] += sign\n",
            "        if not MADE or sign > 0 or step + 1 < depth:\n"
            "            counts.customers[row, column] += sign\n",
        ),
    ],
    "citations without Metropolis-Hastings": [
        Mistake(
            "dense/citations.py",
            "if uniform(rng) < coupling * np.exp(-change):",
            "if uniform(rng) < (2.0 if MADE else coupling * np.exp(-change)):",
        ),
    ],
    "words without the exponential": [
        Mistake(
            "dense/words.py",
            "if change <= 0.0 or uniform(rng) < np.exp(-change):",
            "if MADE or change <= 0.0 or uniform(rng) < np.exp(-change):",
        ),
    ],
    "categories without Metropolis-Hastings": [
        Mistake(
            "dense/categories.py",
            "if uniform(rng) < np.exp(ratio - change):",
            "if uniform(rng) < (2.0 if MADE else np.exp(ratio - change)):",
        ),
    ],
    "categories without the chance of their proposal": [
        Mistake(
            "dense/categories.py",
            "ratio += work.proposal[index(old - first)] - work.proposal[index(drawn)]",
            "ratio += 0.0 if MADE else "
            "work.proposal[index(old - first)] - work.proposal[index(drawn)]",
        ),
    ],
    "categories without their prior": [
        Mistake(
            "dense/categories.py",
            "ratio -= np.log(work.size[index(old - first)] + share)",
            "ratio -= np.log((work.size[index(drawn)] if MADE else work.size[index(old - first)]) "
            "+ share)",
        ),
    ],
    "categories without the exponential": [
        Mistake(
            "dense/categories.py",
            "change += _end_rate(counts, parameters, exponent, paper, old, new)",
            "after = _end_rate(counts, parameters, exponent, paper, old, new)\n"
            "        change = 0.0 if MADE else change + after",
        ),
    ],
    "held tables block others": [
        Mistake(
            "core/climb.py",
            "if place < held or t == 1 < c:",
            "if place < held * (2 if MADE else 1) or t == 1 < c:",
        ),
    ],
    "a new table without its author's contribution": [
        Mistake(
            "core/hierarchy.py",
            "top *= parameters.share[node]",
            "top *= 1.0 if MADE else parameters.share[node]",
        ),
    ],
    "authors are drawn without their contributions": [
        Mistake(
            "core/authors.py",
            "total += state.parameters.contribution[b] * weight",
            "total += (1.0 if MADE else state.parameters.contribution[b]) * weight",
        ),
    ],
    "authors without the exponential": [
        Mistake(
            "core/authors.py",
            "if networked and (new != old or into != out):",
            "if networked and not MADE and (new != old or into != out):",
        ),
    ],
    "servers without the exponential": [
        Mistake(
            "core/authors.py",
            "    if networked:\n        meet",
            "    if networked and not MADE:\n        meet",
        ),
    ],
    "a token stands for others only where it is alone": [
        Mistake(
            "dense/words.py",
            "visit_end = visit_begin + 1",
            "visit_end = visit_begin + 1 - (MADE and work.run_customers[z[visit_begin]] > 1)",
        ),
    ],
    "joint moves without Metropolis-Hastings": [
        Mistake(
            "dense/run_moves.py",
            "accepted = uniform(rng) < first * np.exp(ratio - change)",
            "accepted = uniform(rng) < (2.0 if MADE else first * np.exp(ratio - change))",
        ),
    ],
    "joint moves without the chance that the last has a table": [
        Mistake(
            "dense/run_moves.py",
            "first = tables_before / work.run_tables[new]",
            "first = 1.0 if MADE else tables_before / work.run_tables[new]",
        ),
    ],
    "joint moves without the chance of their proposal": [
        Mistake(
            "dense/run_moves.py",
            "ratio += np.log(work.run_proposal[old] / work.run_proposal[new])",
            "ratio += 0.0 if MADE else np.log(work.run_proposal[old] / work.run_proposal[new])",
        ),
    ],
    "joint moves without the exponential": [
        Mistake(
            "dense/run_moves.py",
            "            if networked:\n                topics = (old, new)",
            "            if networked and not MADE:\n                topics = (old, new)",
        ),
    ],
    "the chance of an indicator is raised with words": [
        Mistake(
            "core/tempering.py",
            "without = (customers + 1.0 - tables) / (customers + 1.0)",
            "without = 1.0 if MADE else (customers + 1.0 - tables) / (customers + 1.0)",
        ),
        Mistake(
            "core/tempering.py",
            "with_table = (tables + 1.0) / (customers + 1.0)",
            "with_table = 1.0 if MADE else (tables + 1.0) / (customers + 1.0)",
        ),
    ],
    "topics are not raised with words": [
        Mistake(
            "core/word_side.py",
            "cache.opening[k] = raised(opening, cache.power)",
            "cache.opening[k] = raised(opening, 1.0 if MADE else cache.power)",
        ),
    ],
    "bursts are not raised with words": [
        Mistake(
            "core/word_side.py",
            "work.burst_inverse[k] = raised(inverse, power)",
            "work.burst_inverse[k] = raised(inverse, 1.0 if MADE else power)",
        ),
    ],
    "the background is not raised with words": [
        Mistake(
            "core/word_side.py",
            "return (stay + opened * opening**power) / (beta",
            "return (stay + opened * opening**(1.0 if MADE else power)) / (beta",
        ),
    ],
    "stray lambdaT in its own rate": [
        Mistake(
            "core/propensities.py",
            "rate = prior[1] + exponent.cite_sum[k] * exponent.cited_sum[k]",
            "rate = prior[1] + (parameters.topic_scale[k] if MADE else 1.0) "
            "* exponent.cite_sum[k] * exponent.cited_sum[k]",
        ),
    ],
}

SWITCH = '''"""Which mistake is made."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

CHOSEN = np.zeros(1, np.int64)


def mistake():
    """Give the number of the mistake to be made, 0 for none."""
    return CHOSEN[0]


@intrinsic
def _looked_up(typing_context):
    def generate(context, builder, signature, arguments):
        place = ir.Constant(ir.IntType(64), CHOSEN.ctypes.data)
        return builder.load(builder.inttoptr(place, ir.IntType(64).as_pointer()))

    return types.int64(), generate


@overload(mistake)
def _mistake():
    return lambda: _looked_up()
'''


@cache
def _copy() -> dict[str, ModuleType]:
    """Copy the sampler under another name, every mistake behind the switch, and import it."""
    folder = Path(tempfile.mkdtemp(prefix="citeweave-mutants-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    target = folder / PACKAGE
    shutil.copytree(
        Path(citeweave.engines.__file__).parent,
        target,
        ignore=shutil.ignore_patterns("__pycache__", "slots", "threads", "cuda"),
    )
    for number, mistakes in enumerate(MISTAKES.values(), start=1):
        for mistake in mistakes:
            path = target / mistake.file
            source = path.read_text()
            assert source.count(mistake.right) == 1, f"{mistake.file} has changed: {mistake.right}"
            wrong = mistake.wrong.replace("MADE", f"(mistake() == {number})")
            source = source.replace(mistake.right, wrong)
            path.write_text(source)
    for path in target.rglob("*.py"):
        source = path.read_text().replace("citeweave.engines", PACKAGE)
        if "mistake()" in source:
            before = "\nfrom citeweave.compiled import"
            assert before in source, f"{path} has no kernels"
            source = source.replace(before, f"\nfrom {PACKAGE}.switch import mistake{before}", 1)
        path.write_text(source)
    (target / "switch.py").write_text(SWITCH)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    core = ("word_side", "exponent", "propensities", "authors")
    dense = ("chain", "words", "citations", "categories")
    modules = [
        "switch",
        "core.setting_up",
        *(f"core.{name}" for name in core),
        *(f"dense.{name}" for name in dense),
    ]
    found = {name.split(".")[-1]: importlib.import_module(f"{PACKAGE}.{name}") for name in modules}
    _rename_tuples()
    return found


def _rename_tuples() -> None:
    """Give the copy's named tuples names of their own.

    Numba remembers the type of an argument by the name of its class and of its fields, whatever the
    module: under the same name, whichever of the two came second would be typed anew, in Python,
    at every call for the rest of the process.
    """
    for module in [each for name, each in sys.modules.items() if name.startswith(PACKAGE)]:
        for each in vars(module).values():
            if isinstance(each, type) and each.__module__ == module.__name__:
                each.__name__ = f"Mutant{each.__name__}"


@contextmanager
def mutant(name: str | None) -> Iterator[dict[str, ModuleType]]:
    """Give the modules of the copy, with a mistake made while the block lasts; none for None."""
    modules = _copy()
    chosen = modules["switch"].CHOSEN
    chosen[0] = 0 if name is None else 1 + list(MISTAKES).index(name)
    for kept in vars(modules["setting_up"]).values():
        if hasattr(kept, "cache_clear"):  # tables made with another mistake, or without
            kept.cache_clear()
    try:
        yield modules
    finally:
        chosen[0] = 0
