"""Snapshot sweeps over many documents at the same time, in threads; the GPU uses the same rules."""

from citeweave.engines.threads.chain import SnapshotChain

__all__ = ["SnapshotChain"]
