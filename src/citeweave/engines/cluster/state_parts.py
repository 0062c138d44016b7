"""Division of a chain's state and sums between its parts, and their reassembly."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from citeweave.engines.cluster.partition import Division, owned_nodes, owned_rows
from citeweave.engines.cluster.plans import PartPlan
from citeweave.engines.core.arrays import State, flatten
from citeweave.engines.core.compact_rows import CompactRows
from citeweave.engines.core.count_lists import COUNTS, lists_of, put_lists
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.row_files import BY_ROW, Rows, choose_rows, tokens_of
from citeweave.errors import RunError

__all__ = [
    "all_rows",
    "fill",
    "fill_extra",
    "overwrite",
    "own_places",
    "own_rows",
    "owned_arrays",
    "owned_extra",
    "part_of_extra",
    "part_of_state",
    "part_of_sums",
    "shared_arrays",
    "stored_state",
]


def all_rows(plan: PartPlan) -> Rows:
    """Return the indices of all rows that a part holds, including copies of others' rows."""
    part = plan.part
    count = np.diff(plan.data.offsets)[: part.n_documents]
    return Rows(part.document, part.node, plan.citation, plan.token_start, count)


def own_rows(plan: PartPlan) -> Rows:
    """Return the indices of the rows that a part owns, as `owned_rows` does without a plan."""
    part, rows = plan.part, all_rows(plan)
    return rows._replace(
        document=rows.document[: part.n_documents],
        node=rows.node[_owned_nodes(plan)],
        citation=rows.citation[: part.n_citations],
    )


def _owned_nodes(plan: PartPlan) -> np.ndarray:
    """List the local indices of the nodes that a part owns."""
    sizes = np.array([1, *(len(parents) for parents in plan.data.parents)])
    spans = zip(np.cumsum(sizes) - sizes, plan.part.level_end, strict=True)
    return np.concatenate([np.arange(begin, end) for begin, end in spans])


def own_places(plan: PartPlan) -> Rows:
    """Return the positions of the rows that a part owns among those that it holds."""
    part = plan.part
    count = np.diff(plan.data.offsets)[: part.n_documents]
    return Rows(
        np.arange(part.n_documents),
        _owned_nodes(plan),
        np.arange(part.n_citations),
        plan.data.offsets[: part.n_documents],
        count,
    )


def owned_arrays(plan: PartPlan, state: State, sums: Sums | None) -> dict[str, Any]:
    """Return the rows that a part owns of the divided arrays; lists of counts stay lists."""
    return choose_rows(_named(state, sums), own_places(plan))


def shared_arrays(state: State, sums: Sums | None) -> dict[str, np.ndarray]:
    """Return the arrays that are the same in all parts."""
    return {
        name: array
        for name, array in _named(state, sums).items()
        # if documents are not drawn into categories, there are arrays with rows but no columns
        if name not in BY_ROW and (array.size or not len(array))
    }


def _named(state: State, sums: Sums | None) -> dict[str, np.ndarray]:
    found = flatten(state, "state.")
    return found if sums is None else found | flatten(sums, "sums.")


def overwrite(mine: Mapping[str, np.ndarray], found: Mapping[str, np.ndarray]) -> None:
    """Write stored arrays into those of the same name; shapes and types must match."""
    for name, array in mine.items():
        stored = found.get(name)
        if array.size == 0:
            continue
        if stored is None and name == "sums.nodes_squared":
            array[...] = np.nan  # written by a release that did not keep them
        else:
            array[...] = _fitting(name, array, stored)


def stored_state(like: State, found: Mapping[str, Any]) -> State:
    """Return stored arrays as a state with the shapes and types of ``like``.

    Counts of nodes may be lists in one and arrays in the other.
    """
    return _state_of(
        like,
        (
            # earlier releases lack some arrays that are empty here
            array if array.size == 0 else _fitting(name, array, found.get(name))
            for name, array in flatten(like, "state.").items()
        ),
    )


def _fitting(name: str, array: Any, stored: Any) -> Any:
    """Return a stored array, which must have the shape and type of that of the chain."""
    if stored is None or stored.shape != array.shape or stored.dtype != array.dtype:
        there = "missing" if stored is None else f"{stored.dtype} of shape {stored.shape}"
        raise RunError(
            f"The checkpoint does not fit the chain: its array '{name}' is {there} where the "
            f"chain has {array.dtype} of shape {array.shape}."
        )
    return stored


def _state_of(like: State, arrays: Iterable[Any]) -> State:
    """Group arrays, in the order of `flatten`, as those of a state."""
    rest = iter(arrays)
    groups = [
        type(group)(*(next(rest) for _ in group)) if isinstance(group, tuple) else next(rest)
        for group in like
    ]
    return State(*groups)  # type: ignore[arg-type]


def _part_of(named: Mapping[str, Any], plan: PartPlan) -> list[Any]:
    chosen = choose_rows(named, all_rows(plan))
    return [chosen.get(name, array) for name, array in named.items()]


def part_of_state(state: State, plan: PartPlan) -> State:
    """Return the state of one part, including copies of rows that other parts own."""
    return _state_of(state, _part_of(flatten(state, "state."), plan))


def part_of_sums(sums: Sums, plan: PartPlan) -> Sums:
    """Return the sums of one part."""
    return Sums(*_part_of(flatten(sums, "sums."), plan))


_BY_GROUP = "listed"
"""The array, of those that chains with many topics need in addition to their state, with one row
per group (node of the lowest level above documents). All others are the same in every part."""


def _groups(plan: PartPlan) -> tuple[np.ndarray, int]:
    """Return the indices of the groups that a part holds, and the number that it owns."""
    level = len(plan.nodes) - 1
    sizes = np.array([1, *(len(parents) for parents in plan.data.parents)])
    first = int(sizes[:level].sum())
    held = plan.part.node[first : first + int(sizes[level])]
    return held - plan.group_start, int(plan.part.level_end[level]) - first


def part_of_extra(extra: Mapping[str, np.ndarray], plan: PartPlan) -> dict[str, np.ndarray]:
    """Return what one part needs in addition to its state."""
    found = dict(extra)
    if _BY_GROUP in found:
        found[_BY_GROUP] = found[_BY_GROUP][_groups(plan)[0]]
    return found


def owned_extra(
    extra: Mapping[str, np.ndarray], plan: PartPlan, *, with_shared: bool
) -> dict[str, np.ndarray]:
    """Return the extra arrays that a part owns, ``with_shared`` with those common to all parts."""
    found = dict(extra) if with_shared else {n: a for n, a in extra.items() if n == _BY_GROUP}
    if _BY_GROUP in found:
        found[_BY_GROUP] = found[_BY_GROUP][: _groups(plan)[1]]
    return found


def fill_extra(
    division: Division, parts: Sequence[Mapping[str, np.ndarray]]
) -> dict[str, np.ndarray]:
    """Assemble what the whole chain needs in addition to its state."""
    found = dict(parts[0])
    if _BY_GROUP in found:
        level = division.n_shared - 1
        found[_BY_GROUP] = np.zeros(len(division.owners[level]), found[_BY_GROUP].dtype)
        for p, part in enumerate(parts):
            found[_BY_GROUP][owned_nodes(division, level, p)] = part[_BY_GROUP]
    return found


def fill(whole: Mapping[str, Any], division: Division, parts: Sequence[Mapping[str, Any]]) -> None:
    """Write what the parts own into the arrays of the same names of the whole chain.

    Arrays that are the same in all parts may be missing from all but one.
    """
    for p, found in enumerate(parts):
        _fill(whole, owned_rows(division, p), found)


def _fill(whole: Mapping[str, Any], rows: Rows, found: Mapping[str, Any]) -> None:
    """Write rows into arrays of the whole chain; counts of nodes may be lists in either."""
    lists = COUNTS[0] in whole and any(
        isinstance(arrays[COUNTS[0]], CompactRows) for arrays in (whole, found)
    )
    if lists:
        listed = lists_of(*(found[name] for name in COUNTS))
        customers, tables = (whole[name] for name in COUNTS)
        put_lists(customers, tables, rows.node, listed)
    for name, array in whole.items():
        if lists and name in COUNTS:
            continue
        if name not in BY_ROW:
            if array.size and name in found:
                array[...] = found[name]
            continue
        kind, axis = BY_ROW[name]
        if not array.shape[axis]:
            continue
        target = (
            tokens_of(rows.token_start, rows.token_count)
            if kind == "token"
            else getattr(rows, kind)
        )
        if name.startswith("sums.") and kind == "node":
            target = target[target < len(array)]
        array[(*(slice(None),) * axis, target)] = found[name]
