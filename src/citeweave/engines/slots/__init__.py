"""Many topics: sweeps over the topics that matter to a document, on the CPU.

`engines.dense` weighs every topic for every token. Here a sweep visits only the *slots* of a
document, the topics that it or its author has. All other topics are proposed from one table per
word and accepted by Metropolis-Hastings (docs/understand/many-topics.md). The invariant density is
the same.
"""

from citeweave.engines.slots.chain import SparseChain
from citeweave.engines.slots.snapshot import SparseSnapshotChain

__all__ = ["SparseChain", "SparseSnapshotChain"]
