"""Snapshot sweeps on one NVIDIA GPU: the same algorithm as in threads, in CUDA kernels."""

from citeweave.engines.cuda.chain import CudaChain
from citeweave.engines.cuda.device import CudaDevice

__all__ = ["CudaChain", "CudaDevice"]
