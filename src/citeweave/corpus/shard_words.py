"""The words of a sharded corpus, for processes that need only some of them."""

import numpy as np

from citeweave.corpus.shards import ShardArrays, Shards

__all__ = ["ShardWords"]


class ShardWords:
    """The words of a sharded corpus; a process reads those of its own documents.

    Parameters
    ----------
    shards : Shards

    Examples
    --------
    >>> import tempfile
    >>> from citeweave import Corpus
    >>> corpus = Corpus.from_lists(tokens=[["a"], ["b", "a"], ["c"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     loaded = Corpus.load(corpus.save(f"{folder}/corpus", shard=2))
    ...     words = ShardWords(loaded.shards)
    ...     words.of_documents(np.array([1, 2])), words.of_documents()
    (array([1, 0, 2], dtype=int32), array([0, 1, 0, 2], dtype=int32))
    """

    def __init__(self, shards: Shards) -> None:
        self.shards = shards

    def of_documents(self, documents: np.ndarray | None = None) -> np.ndarray:
        """Read the tokens of some or all documents, concatenated.

        Parameters
        ----------
        documents : ndarray of int, optional
            In ascending order; all documents if not given.
        """
        shards = self.shards
        if documents is None:
            return shards.array("tokens")
        found = [np.zeros(0, np.int32)]
        owner = np.searchsorted(shards.ends, documents, side="right")
        for number in np.unique(owner).tolist():
            arrays = ShardArrays(shards, number)  # released afterwards
            local = documents[owner == number] - shards.all[number].first
            offsets = arrays["offsets"]
            begin, count = offsets[local], np.diff(offsets)[local]
            before = np.cumsum(count) - count
            place = np.repeat(begin - before, count) + np.arange(count.sum())
            found.append(arrays["tokens"][place])
        return np.concatenate(found)
