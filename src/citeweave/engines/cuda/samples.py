"""Sums of posterior means over kept samples, on the device; the host has copies."""

from typing import TYPE_CHECKING

import numpy as np

from citeweave.engines.core.estimates import Sums

if TYPE_CHECKING:
    from citeweave.engines.cuda.chain import CudaChain

__all__ = ["DeviceSums"]

_NAMES = {
    "nodes": "sum_nodes",
    "nodes_squared": "sum_squares",
    "documents": "sum_documents",
    "topic_word": "sum_phi",
    "topic_samples": "sum_topics",
    "background": "sum_background",
    "citing": "sum_citing",
    "cite": "sum_cite",
    "cited": "sum_cited",
    "topic_scale": "sum_scale",
}
"""Device names of the sums that kernels add to."""


_SHARES = ("contribution", "contribution_squared", "contribution_prior")


class DeviceSums:
    """The sums of one chain, initialized from those of the host."""

    def __init__(self, chain: "CudaChain", begin: Sums) -> None:
        self._chain = chain
        self._samples = int(begin.samples[0])
        # contributions are drawn on the host
        self._shares = [getattr(begin, name).copy() for name in _SHARES]
        arrays = chain.arrays
        for name, place in _NAMES.items():
            array = getattr(begin, name)
            # at least one element: an empty array has no address
            arrays[place] = chain.device.put(array if array.size else np.zeros(1, array.dtype))
        chain.device.bind(arrays)

    def add(self) -> None:
        """Add the posterior means of the chain's current state."""
        chain = self._chain
        for level in range(chain.spec.n_shared):
            chain.run("mean_level", level)
        chain.run("mean_documents")
        chain.run("mean_words")
        chain.run("count_topics", blocks=1, threads=256)
        if chain.network_on:
            chain.run("mean_citations", chain.part.n_citations)
            chain.run("add_propensities", *chain.propensity_means())
        if len(chain.layout.server):
            parameters = chain.host.parameters
            shares = parameters.contribution
            added = (shares, np.square(shares), parameters.contribution_prior)
            for mine, more in zip(self._shares, added, strict=True):
                np.add(mine, more, out=mine)
        self._samples += 1

    def collect(self, sums: Sums) -> None:
        """Write all sums into those of the host."""
        download, arrays = self._chain.device.download, self._chain.arrays
        for name, place in _NAMES.items():
            host = getattr(sums, name)
            if host.size:
                host[...] = download(arrays[place]).reshape(host.shape)
        for name, mine in zip(_SHARES, self._shares, strict=True):
            getattr(sums, name)[...] = mine
        sums.samples[0] = self._samples
