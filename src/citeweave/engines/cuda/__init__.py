"""Snapshot sweeps on one NVIDIA GPU: the same algorithm as in threads, with kernels of our own."""

from citeweave.engines.cuda.chain import CudaChain
from citeweave.engines.cuda.device import CudaDevice

__all__ = ["CudaChain", "CudaDevice"]
