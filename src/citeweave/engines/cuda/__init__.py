"""Snapshot sweeps on one NVIDIA GPU: the same algorithm as in threads, with kernels of our own."""

from citeweave.engines.cuda.chain import CudaChain
from citeweave.engines.cuda.device import CudaDevice
from citeweave.engines.cuda.program import check_model

__all__ = ["CudaChain", "CudaDevice", "check_model"]
