"""The kind of sweeps of a run, chosen by the corpus alone and never by the machine."""

from citeweave.engines.core.capabilities import SEQUENTIAL, SNAPSHOT
from citeweave.engines.registry import AUTO

__all__ = ["choose_sweep", "default_rounds"]

SMALL_CORPUS = 2_000_000
"""Maximum number of tokens for which ``auto`` uses the sequential sampler, the reference."""

ENOUGH_TOKENS, MANY_ROUNDS = 30, 16
"""Tokens per word and topic with which one snapshot per sweep is enough, and the maximum default
number of snapshots."""


def choose_sweep(
    sweep: str, rounds: int | None, *, tokens: int, documents: int, cells: int
) -> tuple[str, int | None]:
    """Return the kind of sweep and the snapshots per sweep (None for sequential sweeps).

    Neither the number of cores nor that of chains matters: the same seed gives the same bytes
    everywhere. ``cells`` are words of the vocabulary times topics.

    Examples
    --------
    >>> choose_sweep("auto", None, tokens=50_000, documents=2_708, cells=10_031)
    ('sequential', None)
    >>> choose_sweep("auto", None, tokens=8_270_000, documents=139_227, cells=166_440)
    ('snapshot', 1)
    >>> choose_sweep("snapshot", 16, tokens=300, documents=10, cells=100)
    ('snapshot', 10)
    """
    if sweep == AUTO:
        sweep = SNAPSHOT if tokens > SMALL_CORPUS else SEQUENTIAL
    if sweep == SEQUENTIAL:
        return sweep, None
    wanted = default_rounds(tokens, cells) if rounds is None else rounds
    # more rounds than documents make no difference: each round has one document
    return sweep, min(wanted, max(documents, 1))


def default_rounds(tokens: int, cells: int) -> int:
    """Return the default number of snapshots per sweep for a corpus.

    The more tokens there are per word and topic, the less it matters that documents miss each
    other's changes: with 30 tokens one snapshot is enough, with fewer it takes more
    (docs/results/parallel.md).

    Examples
    --------
    Cora with 7 topics, hep-th with 20, the shape of the paper's ML with 20 and with 1,000:

    >>> default_rounds(49_216, 10_031), default_rounds(1_100_000, 64_000)
    (7, 2)
    >>> default_rounds(8_270_000, 166_440), default_rounds(8_270_000, 8_322_000)
    (1, 16)
    """
    return max(1, min(MANY_ROUNDS, -(-ENOUGH_TOKENS * cells // max(tokens, 1))))
