"""Messages between the parts of a chain along a `Route`, wherever their counts are stored."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from citeweave.engines.cluster.exchanges import PartExchange, add_packed, pack
from citeweave.engines.cluster.plans import Route

__all__ = ["complete_sums", "fetch_copies", "tell_owners"]


def _spans(lists: Sequence[np.ndarray]) -> Iterator[slice]:
    """Yield the slice of each list within their concatenation."""
    begin = 0
    for one in lists:
        yield slice(begin, begin + len(one))
        begin += len(one)


def _unpack(payload: tuple[np.ndarray, ...], rows: int, topics: int) -> np.ndarray:
    both = np.zeros((2, rows, topics), np.int32)
    add_packed(both, payload)
    return both


def tell_owners(
    exchange: PartExchange,
    route: Route,
    take: Callable[[np.ndarray], np.ndarray],
    add: Callable[[np.ndarray, np.ndarray], None],
) -> None:
    """Send changes of copies to the parts that own the originals.

    Parameters
    ----------
    exchange : PartExchange
    route : Route
    take : callable
        Returns the changes of some copies, customers and tables (int32 [2, rows, topics]), and
        resets them.
    add : callable
        Adds such changes to those of the rows that the part owns; called once per other part.
    """
    changes = take(np.concatenate(route.copies))
    outgoing = [pack(changes[:, span]) for span in _spans(route.copies)]
    for owned, payload in zip(route.owned, exchange.swap_all(outgoing), strict=True):
        if len(owned):
            add(owned, _unpack(payload, len(owned), changes.shape[2]))


def fetch_copies(
    exchange: PartExchange,
    route: Route,
    take: Callable[[np.ndarray], Sequence[np.ndarray]],
    put: Callable[[np.ndarray, Sequence[np.ndarray]], None],
) -> None:
    """Bring copies of counts up to date.

    Parameters
    ----------
    exchange : PartExchange
    route : Route
    take : callable
        Returns some of the rows that the part owns: customers and tables
        (int32 [2, rows, topics]), and further arrays of one number per row.
    put : callable
        Writes the same arrays into the copies that the part holds.
    """
    counts, *more = take(np.concatenate(route.owned))
    topics = counts.shape[2]
    outgoing = [
        (*(array[span] for array in more), *pack(counts[:, span])) for span in _spans(route.owned)
    ]
    found = exchange.swap_all(outgoing)
    n = len(more)
    rows = [
        _unpack(payload[n:], len(copies), topics)
        for copies, payload in zip(route.copies, found, strict=True)
    ]
    numbers = [np.concatenate([payload[i] for payload in found]) for i in range(n)]
    put(np.concatenate(route.copies), [np.concatenate(rows, axis=1), *numbers])


def complete_sums(exchange: PartExchange, route: Route, found: np.ndarray) -> None:
    """Complete the sums of owned nodes and of their copies, in place, over all parts.

    ``found`` (int64 [nodes of a level, ...]) holds the sums that each part has computed by itself.
    """
    partial = exchange.swap([found[copies] for copies in route.copies])
    for owned, came in zip(route.owned, partial, strict=True):
        found[owned] += came
    whole = exchange.swap([found[owned] for owned in route.owned])
    for copies, came in zip(route.copies, whole, strict=True):
        found[copies] = came
