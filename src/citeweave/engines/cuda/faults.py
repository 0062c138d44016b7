"""Numbers on the device that are not finite: counted in every step, and named if there are any."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from citeweave.engines.core.finite import LEAST_SINGLE, MOST_SINGLE, Watched, fault
from citeweave.errors import RunError

if TYPE_CHECKING:
    from citeweave.engines.cuda.chain import CudaChain

__all__ = ["check_counted"]

_PLACES = slice(13, 16)
"""Of the tally, as in faults.cu."""
_LOST = 16
"""As in common.cuh: topics for which a list had no room."""


def check_counted(chain: "CudaChain", tally: Sequence[int]) -> None:
    """Stop with a `RunError` if ``count_faults`` has found a number that is not finite.

    The kernel looked when the sweeps of the step began; by now the number may have been drawn
    again. The step also stops if a list of topics had no room left.
    """
    if tally[_LOST]:
        raise RunError(
            f"In iteration {chain.iteration + 1} a node got more topics than there is room for, so "
            "counts are wrong. This is a mistake in citeweave: please report it."
        )
    found = tally[_PLACES]
    if not any(found):
        return
    chain.check_numbers(_watched(chain))
    weights, concentrations, rates = found
    raise fault(
        f"{weights} weights, {concentrations} concentrations and {rates} rates were no numbers "
        "when its sweeps began",
        iteration=chain.iteration + 1,
        prior=chain.settings.concentration_prior,
    )


def _watched(chain: "CudaChain") -> Iterator[Watched]:
    """Download what the kernel looked at, one array after the other."""

    def found(name: str, what: str, least: float = 0.0) -> Watched:
        return Watched(what, chain.device.download(chain.arrays[name]), least)

    below = found("word_concentration", "beta", LEAST_SINGLE)
    for place, nodes in enumerate(("corpus", "document-topic")):
        if chain.spec.word_level(nodes) is not None:
            values = below.values[place : place + 1]
            yield below._replace(what=f"beta of the {nodes} level", values=values, first=place)
    yield found("topic_word_concentration", "beta of phi", LEAST_SINGLE)
    yield found("topic_concentration", "beta of topic-side node", LEAST_SINGLE)
    for name, what in (("stay", "A0 of phi"), ("open", "B1 of phi")):
        weights = found(name, what)
        yield weights._replace(values=weights.values.reshape(-1, chain.settings.topics))
    if chain.spec.word_level("corpus") is not None:
        yield found("background_pair", "A0 and B1 of gamma")
    if chain.sparse:
        yield found("guess_root", "the share of topic")
        yield found("guess_mass", "the weight of proposals for word")
    if chain.network_on:
        yield found("cite", "lambda+")
        yield found("cited", "lambda-")
        yield found("topic_scale", "lambdaT")
        yield found("cite_sum", "P", -MOST_SINGLE)
        yield found("cited_sum", "M", -MOST_SINGLE)
