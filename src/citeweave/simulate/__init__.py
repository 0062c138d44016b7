"""Corpora drawn from the model, with their true parameters, and the demo corpus."""

import sys
from types import ModuleType
from typing import Any

from citeweave.simulate.demo import demo_corpus
from citeweave.simulate.draw import Simulation, Truth, simulate

__all__ = ["Simulation", "Truth", "demo_corpus", "simulate"]


class _CallableModule(ModuleType):
    """`citeweave.simulate(...)` is the public call, and this package has the same name.

    The call works whichever of the two an import binds to the name.
    """

    def __call__(self, **options: Any) -> Simulation:
        """Draw a corpus: see `simulate`."""
        return simulate(**options)


sys.modules[__name__].__class__ = _CallableModule
