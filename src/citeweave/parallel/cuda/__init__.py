"""Snapshot sweeps on one NVIDIA GPU: the same algorithm as in threads, with kernels of our own."""

from citeweave.parallel.cuda.chain import CudaChain

__all__ = ["CudaChain"]
