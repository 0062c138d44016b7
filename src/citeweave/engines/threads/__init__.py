"""Snapshot sweeps over many documents in parallel threads; the GPU follows the same rules."""

from citeweave.engines.threads.chain import SnapshotChain

__all__ = ["SnapshotChain"]
