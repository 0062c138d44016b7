"""Input and output of a chain: plain arrays and numbers, the same for all engines."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from citeweave.engines.core.arrays import Array
from citeweave.engines.core.capabilities import CPU
from citeweave.engines.core.spec import LEFT_OUT, ModelSpec

__all__ = [
    "NO_SERVERS",
    "ChainSettings",
    "ClusterWorkers",
    "Data",
    "Info",
    "Request",
    "Servers",
    "StoredWords",
    "WordsOf",
    "read_words",
]

_NOBODY = np.zeros(0, np.int32)


class Servers(NamedTuple):
    """Authors who share papers: the groups of each paper that has several.

    Papers with one group have no entry here; `Data.parents` has it.
    """

    start: Array
    """int64 [documents + 1]: first entry of each document; empty if no paper is shared."""
    group: Array
    """int32 [servers]: place of the group on the lowest level above documents."""
    authors: Array
    """float64 [servers, positions]: number of the paper's authors that the entry represents, by
    position."""


NO_SERVERS = Servers(np.zeros(0, np.int64), _NOBODY, np.zeros((0, 1)))
"""For models in which each paper has a single author."""


class StoredWords(Protocol):
    """Words on disk; each process that needs some of them opens its own."""

    def of_documents(self, documents: Array | None = None) -> Array:
        """Read the tokens of some documents, or of all, one document after the other: int32."""


@dataclass(frozen=True, eq=False)
class WordsOf:
    """The words of some documents, or of all, not yet read."""

    words: StoredWords
    documents: Array | None = None


class Data(NamedTuple):
    """The data of a chain, as plain arrays."""

    tokens: Array | WordsOf
    """int32 [tokens], documents one after the other; or the source to read them from."""
    offsets: Array
    """int64 [documents + 1]."""
    n_words: int
    parents: tuple[Array, ...]
    """By topic-side level below the root: int [nodes], the parent's place one level up."""
    leaf: Array
    """int [paths]: places of the documents' leaf nodes on the last level."""
    leaf_start: Array
    """int64 [documents + 1]."""
    citing: Array
    cited: Array
    unlabelled: Array = _NOBODY
    """int32: papers whose category is sampled; all others keep that of ``parents``."""
    servers: Servers = NO_SERVERS
    """The authors of papers, if all of them count."""


def read_words(data: Data) -> Array:
    """Return the words, reading them if they are not in memory."""
    if isinstance(data.tokens, WordsOf):
        return data.tokens.words.of_documents(data.tokens.documents)
    return data.tokens


class ChainSettings(NamedTuple):
    """How a chain is run."""

    topics: int
    network_from: int = 0
    """Iterations on text alone before citations are used."""
    burst_from: int = 0
    """Iterations without the document-topic level of words (phi') before it joins; honoured by
    chains from `citeweave.engines.staged.open_chain`."""
    concentration: float = 0.1
    """Initial value of every concentration."""
    concentration_prior: tuple[float, float] = (1.0, 1.0)
    """tau_0 and tau_1."""
    propensity_prior: tuple[float, float] = (1.0, 1.0)
    """epsilon_0 and epsilon_1."""
    self_citations: str = LEFT_OUT
    """What is known about x_ii: one of `citeweave.engines.core.spec.SELF_CITATIONS`."""
    category_prior: float = 1.0
    """a of the prior over categories: C of them have shares from Dirichlet(a / C, ..., a / C)."""
    paper_concentration: float | None = None
    """Fixed beta of papers below latent categories; None to sample it."""
    sample_concentrations: bool = True
    sample_propensities: bool = True
    debug: bool = False
    """Check every count against the assignments after each iteration (slow)."""


class ClusterWorkers(NamedTuple):
    """Processes that share a chain, for engines that divide it."""

    number: int = 1
    address: str | None = None
    """Address of their cluster; None for this computer."""
    device: str = CPU
    """Device that each process samples on: its cores, or a GPU."""


class Request(NamedTuple):
    """The request for one chain of a run."""

    spec: ModelSpec
    data: Data
    settings: ChainSettings
    seed: int
    stream: int = 0
    """Number of the chain; each draws its own random stream from the seed."""
    threads: int = 1
    """Threads available to the chain; an engine need not use them."""
    rounds: int = 1
    """Snapshots per sweep, for engines with snapshot sweeps."""
    workers: ClusterWorkers = ClusterWorkers()


class Info(NamedTuple):
    """The report of one step."""

    iteration: int
    log_likelihood: float
    """Training word log likelihood."""
    log_posterior: float
    """Joint log density of words, citations, topics, tables and hyperparameters, up to a
    constant; nan if the engine did not measure it."""
    acceptance: float
    """Share of citation proposals accepted; nan while the network is off."""
    word_acceptance: float
    """Acceptance rate of word moves that the citation exponential affects."""
    blocked: float
    """Share of tokens whose removal was blocked."""
    blocked_citations: float
    topics: int
    """Topics in use."""
    concentrations: tuple[float, ...]
    """Mean by level: topic side root first, then word side."""
    rate: float
    """Expected number of citations, sum of all rates; nan while the network is off."""
    seconds: float
    word_seconds: float
    citation_seconds: float
