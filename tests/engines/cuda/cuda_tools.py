"""Chains on the kernels' host twin, and a corpus that needs no table library."""

import numpy as np
from host_device import HostDevice

from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.spec import preset
from citeweave.engines.cuda import CudaChain
from citeweave.engines.threads import SnapshotChain

FIXED = {"sample_concentrations": False, "sample_propensities": False}


def small_data(spec, *, documents=90, words=50, authors=12, citations=200, seed=3):
    """Draw a corpus whose papers repeat words and cite papers of their own field, some twice over.

    Some papers have no words and some cite a paper of their own author, or themselves.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(25, documents)
    lengths[rng.integers(documents, size=4)] = 0
    field = rng.integers(3, size=documents)
    tokens = [
        np.minimum(rng.geometric(0.12, n) + 10 * f, words) - 1
        for n, f in zip(lengths, field, strict=True)
    ]
    group = (field * (authors // 3) + rng.integers(authors // 3, size=documents)).astype(np.int64)
    citing = np.sort(rng.integers(documents, size=citations))
    order = np.argsort(field, kind="stable")
    place = np.searchsorted(field[order], field[citing])
    cited = order[np.minimum(place + rng.integers(12, size=citations), documents - 1)]
    places = np.arange(documents)
    shared = (
        (np.zeros(authors, np.int64), group) if spec.n_shared > 1 else (np.zeros(documents, int),)
    )
    return Data(
        tokens=np.concatenate(tokens).astype(np.int32),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        n_words=words,
        parents=(*shared, *(places,) * (spec.n_document - 1)),
        leaf=places,
        leaf_start=np.arange(documents + 1),
        citing=citing.astype(np.int32),
        cited=cited.astype(np.int32),
    )


def make(name, *, device=HostDevice, topics=5, rounds=1, seed=1, data=None, **settings):
    """Make a chain of one model: on a device, or in threads where ``device`` is None.

    Self-citations are known unless it is said otherwise: the two draw them from other streams.
    """
    spec = preset(name) if isinstance(name, str) else name
    data = data or small_data(spec)
    usual = {"topics": topics, "debug": True, "self_citations": "paper"}
    chosen = ChainSettings(**(usual | settings))
    if device is None:
        return SnapshotChain(spec, data, chosen, seed=seed, rounds=rounds)
    return CudaChain(spec, data, chosen, seed=seed, rounds=rounds, device=device())
