"""Loops around kernels, compiled quickly for one test; the kernels are as users have them.

A loop takes in the machine code of the sweeps that it calls, and Numba would optimise all of that
once more, for a loop whose own work is next to nothing. Here it is not: what is called was
optimised when it was compiled, and stays as it is.
"""

import numba
import numpy as np
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _AsItIs(JITCodeLibrary):
    """Machine code of a function and of those it calls, made without another pass over them."""

    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self):
        pass


class _LoopCompiler(Compiler):
    def __init__(self, typingctx, targetctx, library, *rest):
        super().__init__(
            typingctx, targetctx, library or _AsItIs(targetctx.codegen(), "loop"), *rest
        )


def loop(function):
    """Compile a loop around kernels."""
    return numba.njit(nogil=True, pipeline_class=_LoopCompiler)(function)


@loop
def documents_of(round_, n, rounds):
    """List every ``rounds``-th of n documents from ``round_`` on, with their numbers."""
    docs = np.empty(((n - round_ + rounds - 1) // rounds, 2), np.int64)
    for i in range(docs.shape[0]):
        docs[i] = round_ + i * rounds
    return docs
