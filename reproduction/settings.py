"""Settings by data set: topics, iterations, and the name of the set in the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = [
    "ITERATIONS",
    "NETWORK_FROM",
    "PAPER",
    "QUICK_ITERATIONS",
    "SETTLED",
    "SIZES",
    "STAGES",
    "DatasetSettings",
    "chain_settings",
    "paper_stages",
    "settings",
]

ITERATIONS = 2000
"""Iterations of a chain, as in the paper; the network is used after `NETWORK_FROM`."""

NETWORK_FROM = 1000

QUICK_ITERATIONS = 100
"""Iterations of a chain with ``--quick``; the network is used from the half on."""


SETTLED, PAPER = "settled", "paper"
STAGES = (SETTLED, PAPER)
"""How chains run: by the defaults of `fit` until they settle, or as in the paper."""


def chain_settings(stages: str, iterations: int) -> dict[str, Any]:
    """Return the parameters of `SCNTM` that chains of a kind have.

    Settled chains have the defaults and run at most this many iterations, without giving up sooner;
    those of the paper run exactly this many, and each paper cites itself once.

    Examples
    --------
    >>> chain_settings("settled", 2000)
    {'iterations': 2000, 'exactly': False, 'give_up': False}
    >>> sorted(chain_settings("paper", 2000))
    ['burst_from', 'exactly', 'iterations', 'network_from', 'self_citations', 'start']
    """
    if stages == SETTLED:
        return {"iterations": iterations, "exactly": False, "give_up": False}
    own = {"iterations": iterations, "exactly": True, "self_citations": "paper"}
    return own | paper_stages(iterations)


def paper_stages(iterations: int) -> dict[str, Any]:
    """Return the stages of the paper's chains: random topics, citations from the half on.

    Examples
    --------
    >>> paper_stages(2000)
    {'network_from': 1000, 'burst_from': 0, 'start': 'random'}
    """
    return {"network_from": iterations // 2, "burst_from": 0, "start": "random"}


@dataclass(frozen=True, kw_only=True)
class DatasetSettings:
    """How a data set is used.

    Attributes
    ----------
    topics : int
        Maximum number of topics; that of the paper, if the paper uses the data set.
    paper_name : str or None
        Its name in the paper's tables; None for a set that the paper does not use.
    stands_for : str
        For a set that differs from the paper's: what it replaces, as shown in tables.
    readable : bool
        Whether its words are words (Cora and CS have numbers instead).
    """

    topics: int
    paper_name: str | None = None
    stands_for: str = ""
    readable: bool = True


_GONE = "replaces {} of the paper, which is no longer available"

_TABLE = {
    "cora": DatasetSettings(topics=7, paper_name="Cora", readable=False),
    "citeseer": DatasetSettings(topics=6, paper_name="CS", readable=False),
    "citeseer-text": DatasetSettings(topics=6, stands_for="the text behind the paper's CS"),
    "pubmed": DatasetSettings(
        topics=3,
        paper_name="PubMed",
        stands_for="the public version, with 500 words instead of the paper's 4,209: perplexities "
        "cannot be compared",
    ),
    "m10": DatasetSettings(
        topics=50,
        paper_name="M10",
        stands_for="the paper's M10 without its abstracts: perplexities cannot be compared",
    ),
    "ieee-vis": DatasetSettings(topics=30, stands_for=_GONE.format("AvS")),
    "hep-th": DatasetSettings(topics=20, stands_for=_GONE.format("ML")),
    "demo": DatasetSettings(topics=15, stands_for="made-up papers, drawn from the model"),
    "simulated-ml": DatasetSettings(topics=20, stands_for="simulated, of the size of ML"),
    "simulated-m10": DatasetSettings(topics=50, stands_for="simulated, of the size of M10"),
    "simulated-avs": DatasetSettings(topics=30, stands_for="simulated, of the size of AvS"),
}

SIZES: dict[str, dict[str, float]] = {
    "simulated-ml": {
        "documents": 139_227,
        "vocabulary": 8_322,
        "authors": 43_643,
        "categories": 1,
        "words_per_document": 59.4,
        "citations": 1_105_462,
    },
    "simulated-m10": {
        "documents": 10_310,
        "vocabulary": 2_956,
        "authors": 6_423,
        "categories": 10,
        "words_per_document": 57.8,
        "citations": 77_222,
    },
    "simulated-avs": {
        "documents": 18_720,
        "vocabulary": 4_770,
        "authors": 11_898,
        "categories": 5,
        "words_per_document": 58.9,
        "citations": 54_601,
    },
}
"""Simulated corpora of the sizes of the paper's unavailable data sets (tbl:datasets)."""


def settings(name: str) -> DatasetSettings:
    """Return the settings of a data set; a corpus of the user's own has at most 20 topics.

    Examples
    --------
    >>> settings("cora").topics, settings("my-own").topics
    (7, 20)
    """
    return _TABLE.get(name, DatasetSettings(topics=20))
