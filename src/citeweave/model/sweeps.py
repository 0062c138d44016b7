"""Which sweeps a run makes: chosen by the corpus alone, so that no machine changes the result."""

from typing import Any

__all__ = ["AUTO", "KINDS", "OLD_RUNS", "SEQUENTIAL", "SNAPSHOT", "choose_sweep", "default_rounds"]

AUTO = "auto"
SEQUENTIAL = "sequential"
SNAPSHOT = "snapshot"
KINDS = (AUTO, SEQUENTIAL, SNAPSHOT)

OLD_RUNS: dict[str, Any] = {"sweep": SEQUENTIAL, "rounds": None, "device": "cpu"}
"""What the parameters of runs mean that were made before there was a choice."""

SMALL_CORPUS = 2_000_000
"""Tokens up to which ``auto`` stays with the sequential sampler, the reference."""

MANY_ROUNDS = 16
"""Most snapshots a sweep, where nothing is said."""


def choose_sweep(
    sweep: str, rounds: int | None, *, tokens: int, documents: int
) -> tuple[str, int | None]:
    """Give the kind of sweeps and the snapshots a sweep (None for sequential ones).

    Neither the cores of a machine nor the number of chains have a say: the same seed gives the
    same bytes everywhere.

    Examples
    --------
    >>> choose_sweep("auto", None, tokens=50_000, documents=2_708)
    ('sequential', None)
    >>> choose_sweep("auto", None, tokens=8_270_000, documents=139_227)
    ('snapshot', 1)
    >>> choose_sweep("snapshot", 16, tokens=300, documents=10)
    ('snapshot', 10)
    """
    if sweep == AUTO:
        sweep = SNAPSHOT if tokens > SMALL_CORPUS else SEQUENTIAL
    if sweep == SEQUENTIAL:
        return sweep, None
    # more rounds than documents are no different: a round has one document then
    return sweep, min(default_rounds(tokens) if rounds is None else rounds, max(documents, 1))


def default_rounds(tokens: int) -> int:
    """Give the snapshots a sweep of a corpus where the user does not say.

    What documents miss of each other matters less the more tokens there are (docs/threads.md):
    from two million on, where ``auto`` begins to use snapshots, one is enough.

    Examples
    --------
    >>> [default_rounds(tokens) for tokens in (0, 100_000, 250_000, 500_000, 8_270_000)]
    [16, 16, 8, 4, 1]
    """
    return min(MANY_ROUNDS, -(-SMALL_CORPUS // max(tokens, 1)))
