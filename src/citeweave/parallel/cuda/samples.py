"""Sums of posterior means over kept samples, on the device: the host has copies."""

from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.sampler.estimates import Sums

if TYPE_CHECKING:
    from citeweave.parallel.cuda.chain import CudaChain

__all__ = ["DeviceSums"]

_NAMES = {
    "nodes": "sum_nodes",
    "nodes_squared": "sum_squares",
    "documents": "sum_documents",
    "topic_word": "sum_phi",
    "background": "sum_background",
    "citing": "sum_citing",
}
"""Device names of the sums that kernels add to."""


class DeviceSums:
    """The sums of one chain, beginning with those of the host."""

    def __init__(self, chain: "CudaChain", begin: Sums) -> None:
        self._chain = chain
        xp = chain.device.xp
        self._small: dict[str, Any] = {
            name: xp.array(getattr(begin, name))
            for name in ("topic_samples", "cite", "cited", "topic_scale")
        }
        self._samples = int(begin.samples[0])
        arrays = chain.arrays
        for name, place in _NAMES.items():
            array = getattr(begin, name).reshape(-1)
            # one element at least: an empty array has no place
            arrays[place] = xp.array(array if array.size else np.zeros(1, array.dtype))
        arrays["node_mean"] = xp.zeros(max(begin.nodes.size, 1), np.float64)
        chain.device.bind(arrays)

    def add(self) -> None:
        """Add the posterior means of the chain's present state."""
        chain, arrays, small = self._chain, self._chain.arrays, self._small
        for level in range(chain.spec.n_shared):
            chain.run("mean_level", level)
        chain.run("mean_documents")
        chain.run("mean_words")
        topics = chain.settings.topics
        small["topic_samples"] += arrays["customers"].ravel()[:topics] > 0
        if chain.network_on:
            chain.run("mean_citations", len(chain.layout.citing))
            # only the products are identified, so the means are set to 1
            cite_scale, cited_scale = arrays["cite"].mean(), arrays["cited"].mean()
            small["cite"] += arrays["cite"] / cite_scale
            small["cited"] += arrays["cited"] / cited_scale
            small["topic_scale"] += arrays["topic_scale"] * (cite_scale * cited_scale)
        self._samples += 1

    def collect(self, sums: Sums) -> None:
        """Write all sums into those of the host."""
        download, arrays = self._chain.device.download, self._chain.arrays
        for name, place in _NAMES.items():
            host = getattr(sums, name)
            if host.size:
                host[...] = download(arrays[place]).reshape(host.shape)
        for name, array in self._small.items():
            getattr(sums, name)[...] = download(array)
        sums.samples[0] = self._samples
