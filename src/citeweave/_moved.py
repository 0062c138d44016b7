"""Deprecated names of modules and their members, kept with a warning for one release."""

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["MOVED", "keep_old_names", "renamed"]

_CORE = (
    "arrays",
    "concentrations",
    "estimates",
    "exponent",
    "hierarchy",
    "invariants",
    "likelihood",
    "propensities",
    "random",
    "spec",
    "stirling",
    "word_side",
)
_DENSE = ("chain", "citations", "document", "words")

MOVED: dict[str, str] = {
    "citeweave.sampler": "citeweave.engines",
    "citeweave.sampler._compile": "citeweave.compiled",
    **{f"citeweave.sampler.{name}": f"citeweave.engines.core.{name}" for name in _CORE},
    **{f"citeweave.sampler.{name}": f"citeweave.engines.dense.{name}" for name in _DENSE},
    "citeweave.parallel": "citeweave.engines.threads",
    "citeweave.parallel.cuda": "citeweave.engines.cuda",
    "citeweave.parallel.crew": "citeweave.engines.threads.workers",
    "citeweave.sparse": "citeweave.engines.slots",
    "citeweave.sparse.guesses": "citeweave.engines.slots.proposal_tables",
    "citeweave.sparse.touched": "citeweave.engines.slots.sparse_change",
    "citeweave.sparse.wide": "citeweave.engines.slots.hubs",
    "citeweave.model.devices": "citeweave.model.chains",
    "citeweave.model.checkpoint": "citeweave.runs.checkpoint",
    "citeweave.model.run_folder": "citeweave.runs.folder",
    "citeweave.readers": "citeweave.reading",
    "citeweave.records": "citeweave.reading",
    "citeweave.prepare": "citeweave.preparing",
    "citeweave.importing": "citeweave.preparing",
    "citeweave.importing.tally": "citeweave.reading.tally",
    "citeweave.model.estimator": "citeweave.parameters",
    "citeweave.reproduce": "reproduction",  # outside the package, in the repository
    "citeweave.evaluate.convergence": "citeweave.model.convergence",
    "citeweave.explore.graphs.colours": "citeweave.explore.colours",
}
"""New module names by old name; submodules move with their package."""


def new_name(old: str) -> str | None:
    """Return the current name of a module from an earlier release, or None if it has not moved.

    Examples
    --------
    >>> new_name("citeweave.parallel.cuda.chain"), new_name("citeweave.corpus")
    ('citeweave.engines.cuda.chain', None)
    """
    package, rest = old, ""
    while package:
        if package in MOVED:
            return MOVED[package] + rest
        package, dot, last = package.rpartition(".")
        rest = f"{dot}{last}{rest}"
    return None


class _OldName(Loader):
    """Imports the renamed module in place of the old one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002 (required by the protocol)
        module = import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has set the old name's spec


class _OldNames(MetaPathFinder):
    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 (required by the protocol)
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if not fullname.startswith("citeweave."):
            return None
        name = new_name(fullname)
        if name is None:
            return None
        warnings.warn(
            f"'{fullname}' is now '{name}'; the old name will be removed in the next release.",
            DeprecationWarning,
            stacklevel=2,
        )
        return ModuleSpec(fullname, _OldName(name), is_package=True)


def keep_old_names() -> None:
    """Allow modules to be imported by their old names."""
    if not any(isinstance(finder, _OldNames) for finder in sys.meta_path):
        sys.meta_path.append(_OldNames())


def renamed(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Create a module ``__getattr__`` that resolves old names with a warning.

    Parameters
    ----------
    module : str
        Name of the module.
    names : mapping of str to str
        Maps old names to current ones; names that moved to another module have their full path.
    """

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warnings.warn(
            f"'{module}.{name}' is now '{names[name]}'; the old name will be removed in the next "
            "release.",
            DeprecationWarning,
            stacklevel=2,
        )
        home, _, present = names[name].rpartition(".")
        return getattr(import_module(home or module), present)

    return find
