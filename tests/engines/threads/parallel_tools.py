"""Tiny chains of snapshot sweeps."""

from functools import partial
from types import SimpleNamespace

import citeweave.engines.core.word_side as word_side_module
from citeweave.engines.threads import SnapshotChain
from reference.tiny import tiny_chain


def snapshot_chain(spec, *, rounds=1, threads=1, **corpus):
    """As ``tiny_chain``, with snapshot sweeps."""
    modules = {
        "chain": SimpleNamespace(DenseChain=partial(SnapshotChain, rounds=rounds, threads=threads)),
        "word_side": word_side_module,
    }
    return tiny_chain(spec, modules=modules, **corpus)
