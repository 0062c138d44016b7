"""Sweeps over many documents at a time: one meaning of "parallel" for threads and GPUs."""

from citeweave.engines.threads.chain import SnapshotChain

__all__ = ["SnapshotChain"]
