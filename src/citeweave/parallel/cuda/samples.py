"""Sums of posterior means over kept samples, on the device until they are asked for."""

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
    """The sums of one chain since they were last collected."""

    def __init__(self, chain: "CudaChain", shapes: Sums) -> None:
        self._chain = chain
        xp = chain.device.xp
        self._small: dict[str, Any] = {
            name: xp.zeros(getattr(shapes, name).shape, getattr(shapes, name).dtype)
            for name in ("topic_samples", "cite", "cited", "topic_scale")
        }
        self._samples = 0
        arrays = chain.arrays
        for name, place in _NAMES.items():
            shape = getattr(shapes, name)
            arrays[place] = xp.zeros(max(shape.size, 1), shape.dtype)
        arrays["node_mean"] = xp.zeros(max(shapes.nodes.size, 1), np.float64)
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
        """Add all sums to those of the host, and begin anew."""
        download, arrays = self._chain.device.download, self._chain.arrays
        for name, place in _NAMES.items():
            mine = getattr(sums, name)
            if mine.size:
                mine += download(arrays[place]).reshape(mine.shape)
            arrays[place][...] = 0
        for name, array in self._small.items():
            mine = getattr(sums, name)
            mine += download(array)
            array[...] = 0
        sums.samples[0] += self._samples
        self._samples = 0
