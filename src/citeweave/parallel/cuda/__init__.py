"""Snapshot sweeps on one NVIDIA GPU: the same algorithm as in threads, with kernels of our own."""

from citeweave.parallel.cuda.chain import CudaChain
from citeweave.parallel.cuda.device import CudaDevice
from citeweave.parallel.cuda.program import check_model

__all__ = ["CudaChain", "CudaDevice", "check_model"]
