"""What an engine can do, as it declares it: the registry chooses by this alone."""

from collections.abc import Callable
from typing import NamedTuple

from citeweave import naming
from citeweave.engines.core.spec import MOST_TOPICS, ModelSpec
from citeweave.errors import ParameterError

__all__ = ["CPU", "SEQUENTIAL", "SNAPSHOT", "Capabilities", "any_model"]

SEQUENTIAL = "sequential"
"""Sweeps that move tokens one after the other."""
SNAPSHOT = "snapshot"
"""Sweeps that move many documents at a time, from a snapshot of what they share."""
CPU = "cpu"
"""The device that every machine has."""


def any_model(spec: ModelSpec) -> str | None:  # noqa: ARG001 (one of several predicates)
    """Refuse no model."""
    return None


class Capabilities(NamedTuple):
    """What an engine can do.

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
    """Where it runs, as users ask for it."""
    place: str = ""
    """The same in words for people ("on the GPU"); empty for this process."""
    one_chain: bool = False
    """Whether it has the device to itself, so that chains take turns."""
    most_topics: int = MOST_TOPICS
    best_from: int = 1
    """Topics from which it is chosen where others could do the same; it can do fewer."""
    categories: bool = False
    """Whether it draws papers into categories."""
    word_weights: bool = False
    """Whether the word side may count by a power."""
    by_name: bool = False
    """Whether it is taken only where it is asked for by name."""
    refuses: Callable[[ModelSpec], str | None] = any_model
    """Gives the reason why a model cannot be sampled and what to do instead; None where it can."""

    def refusal(self, spec: ModelSpec, topics: int) -> str | None:
        """Say why so many topics of a model cannot be sampled; None where they can."""
        if not 1 <= topics <= self.most_topics:
            name = naming.parameter("topics", "a model")
            return f"The {name} must be from 1 to {self.most_topics}. Got {topics} instead."
        if spec.draws_categories and not self.categories:
            return (
                "Papers are drawn into categories by sequential sweeps on the CPU alone. "
                "Leave the sweep and the device to the model, or leave the categories out."
            )
        if spec.word_weight != 1.0 and not self.word_weights:
            return (
                "Words weigh less than 1 (word_weight) in sequential sweeps on the CPU alone. "
                "Leave the sweep and the device to the model, or the weight of words at 1."
            )
        return self.refuses(spec)

    def check(self, spec: ModelSpec, topics: int) -> None:
        """Raise a `ParameterError` where so many topics of a model cannot be sampled."""
        reason = self.refusal(spec, topics)
        if reason is not None:
            raise ParameterError(reason)
