"""Prefetch memory before it is needed.

Cited papers are scattered over arrays far larger than caches. A read would wait for them, and the
processor looks ahead only a few topics; a prefetch does not wait.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from citeweave.compiled import numba_config

__all__ = ["prefetch", "prefetch_item"]

_READ, _KEEP, _DATA = 0, 3, 1

if numba_config.DISABLE_JIT:

    def prefetch(array, row, column):
        """Do nothing."""

    def prefetch_item(array, place):
        """Do nothing."""

else:

    def _ask(context, builder, signature, arguments):
        """Prefetch the cache line of an array entry."""
        kind = signature.args[0]
        data = context.make_array(kind)(context, builder, arguments[0])
        place = cgutils.get_item_pointer(
            context, builder, kind, data, list(arguments[1:]), wraparound=False
        )
        place = builder.bitcast(place, cgutils.voidptr_t)
        number = ir.IntType(32)
        kinds = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        ask = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kinds)
        builder.call(ask, [place, number(_READ), number(_KEEP), number(_DATA)])
        return context.get_dummy_value()

    @intrinsic
    def prefetch(typing_context, array, row, column):  # noqa: ARG001 (Numba asks for these names)
        """Prefetch the cache line of ``array[row, column]`` without waiting for it.

        Indices must be in range and not negative.
        """
        return types.void(array, types.uintp, types.uintp), _ask

    @intrinsic
    def prefetch_item(typing_context, array, place):  # noqa: ARG001
        """Prefetch the cache line of ``array[place]`` without waiting for it."""
        return types.void(array, types.uintp), _ask
