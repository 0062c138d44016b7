"""Snapshot sweeps on one NVIDIA GPU: the same algorithm as in threads, with kernels of our own."""

from citeweave.parallel.cuda.chain import CudaChain, check_model
from citeweave.parallel.cuda.device import CudaDevice

__all__ = ["CudaChain", "CudaDevice", "check_model"]
