"""Capabilities that an engine declares, by which the registry chooses."""

from collections.abc import Callable
from typing import NamedTuple

from citeweave import naming
from citeweave.engines.core.spec import MOST_TOPICS, ModelSpec
from citeweave.errors import ParameterError

__all__ = ["CPU", "CUDA", "SEQUENTIAL", "SNAPSHOT", "Capabilities", "any_model"]

SEQUENTIAL = "sequential"
"""Sweeps that sample tokens one after the other."""
SNAPSHOT = "snapshot"
"""Sweeps that sample many documents at the same time, from a snapshot of shared counts."""
CPU = "cpu"
"""The device that every machine has."""
CUDA = "cuda"
"""An NVIDIA GPU."""


def any_model(spec: ModelSpec) -> str | None:  # noqa: ARG001 (one of several predicates)
    """Accept every model."""
    return None


class Capabilities(NamedTuple):
    """Capabilities of an engine.

    Examples
    --------
    >>> from citeweave.engines.core.spec import preset
    >>> able = Capabilities(SEQUENTIAL)
    >>> able.refusal(preset("scntm"), 20) is None
    True
    >>> able.refusal(preset("scntm"), 5000)
    "The 'topics' parameter of a model must be from 1 to 4096. Got 5000 instead."
    """

    sweep: str
    """Kind of sweeps: `SEQUENTIAL` or `SNAPSHOT`."""
    device: str = CPU
    """Name of its device, as users specify it."""
    place: str = ""
    """The device as text for the user ("on the GPU"); empty for this process."""
    one_chain: bool = False
    """Whether a chain needs the whole device, so that chains take turns."""
    most_topics: int = MOST_TOPICS
    best_from: int = 1
    """Number of topics from which it is preferred to others; it also supports fewer."""
    categories: bool = False
    """Whether it supports latent categories."""
    word_weights: bool = False
    """Whether it supports a weight of words below 1."""
    by_name: bool = False
    """Whether it is used only on request."""
    divided: bool = False
    """Whether its chains are `citeweave.engines.protocol.DividedRunningChain`."""
    refuses: Callable[[ModelSpec], str | None] = any_model
    """Returns why a model cannot be sampled and what to do instead; None if it can."""

    def refusal(self, spec: ModelSpec, topics: int) -> str | None:
        """Return why a model with this many topics cannot be sampled; None if it can."""
        if not 1 <= topics <= self.most_topics:
            name = naming.parameter("topics", "a model")
            return f"The {name} must be from 1 to {self.most_topics}. Got {topics} instead."
        if spec.draws_categories and not self.categories:
            return (
                "Latent categories require sequential sweeps on the CPU. Leave the sweep and the "
                "device at their defaults, or fit without categories."
            )
        if spec.word_weight != 1.0 and not self.word_weights:
            return (
                "A word_weight below 1 requires sequential sweeps on the CPU. Leave the sweep and "
                "the device at their defaults, or set word_weight to 1."
            )
        return self.refuses(spec)

    def check(self, spec: ModelSpec, topics: int) -> None:
        """Raise a `ParameterError` if a model with this many topics cannot be sampled."""
        reason = self.refusal(spec, topics)
        if reason is not None:
            raise ParameterError(reason)
