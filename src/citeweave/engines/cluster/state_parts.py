"""A chain's state and sums, divided between its parts and put together again."""

import numpy as np

from citeweave.engines.cluster.plans import PartPlan, own_tokens
from citeweave.engines.core.arrays import Layout, State
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.exchange import ChainPart
from citeweave.engines.core.setting_up import all_arrays

__all__ = ["fill_state", "fill_sums", "part_of_state", "part_of_sums"]


def _rows(array: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Take some rows of an array that may be there for no row at all."""
    return array[rows] if len(array) else array.copy()


def part_of_state(state: State, layout: Layout, plan: PartPlan) -> State:
    """Give the state of one part, copies of what other parts own included."""
    part, tokens = plan.part, own_tokens(layout, plan)
    counts, drawn, parameters = state.topics, state.assignments, state.parameters
    return State(
        topics=counts._replace(
            customers=counts.customers[part.node],
            tables=counts.tables[part.node],
            total_customers=counts.total_customers[part.node],
            total_tables=counts.total_tables[part.node],
        ),
        words=state.words,
        assignments=drawn._replace(
            topic=drawn.topic[tokens],
            burst_table=_rows(drawn.burst_table, tokens),
            citing_topic=_rows(drawn.citing_topic, plan.citation),
            self_topic=_rows(drawn.self_topic, part.document),
        ),
        parameters=parameters._replace(
            topic_concentration=parameters.topic_concentration[part.node],
            cite=_rows(parameters.cite, part.document),
            cited=_rows(parameters.cited, part.document),
        ),
        random=state.random,
        clock=state.clock,
    )


def _owned_nodes(part: ChainPart, sizes: np.ndarray) -> np.ndarray:
    """List the nodes that a part owns, in its own numbers; ``sizes`` are those of its levels."""
    starts = np.cumsum(sizes) - sizes
    spans = zip(starts, part.level_end, strict=True)
    return np.concatenate([np.arange(begin, end) for begin, end in spans])


def fill_state(
    state: State, layout: Layout, plan: PartPlan, found: State, sizes: np.ndarray
) -> None:
    """Write what one part has into the state of the whole chain.

    ``sizes`` (int64 [levels]) are those of the part's levels. What all parts have alike is written
    as each of them has it.
    """
    part, tokens = plan.part, own_tokens(layout, plan)
    mine = _owned_nodes(part, sizes)
    nodes = part.node[mine]
    for whole, one in zip(state.topics[:4], found.topics[:4], strict=True):
        whole[nodes] = one[mine]
    for whole, one in zip(state.words, found.words, strict=True):
        whole[...] = one
    drawn, theirs = state.assignments, found.assignments
    drawn.topic[tokens] = theirs.topic
    if len(drawn.burst_table):
        drawn.burst_table[tokens] = theirs.burst_table
    own = part.document[: part.n_documents]
    made = part.n_citations
    drawn.citing_topic[plan.citation[:made]] = theirs.citing_topic[:made]
    if len(drawn.self_topic):
        drawn.self_topic[own] = theirs.self_topic[: part.n_documents]
    parameters, values = state.parameters, found.parameters
    parameters.topic_concentration[nodes] = values.topic_concentration[mine]
    if len(parameters.cite):
        parameters.cite[own] = values.cite[: part.n_documents]
        parameters.cited[own] = values.cited[: part.n_documents]
    for name in ("topic_word_concentration", "word_concentration", "topic_scale"):
        getattr(parameters, name)[...] = getattr(values, name)
    state.random[:] = found.random
    state.clock[:] = found.clock


def part_of_sums(sums: Sums, plan: PartPlan) -> Sums:
    """Give the sums of one part."""
    part, n_shared = plan.part, len(plan.nodes)
    shared = part.node[: _n_shared(plan, n_shared)]
    return sums._replace(
        nodes=sums.nodes[shared],
        nodes_squared=sums.nodes_squared[shared],
        documents=sums.documents[:, part.document],
        citing=_rows(sums.citing, plan.citation),
        cite=_rows(sums.cite, part.document),
        cited=_rows(sums.cited, part.document),
    )


def _n_shared(plan: PartPlan, n_shared: int) -> int:
    """Count the nodes above documents that a part holds."""
    return 1 + sum(len(parents) for parents in plan.data.parents[: n_shared - 1])


def fill_sums(sums: Sums, plan: PartPlan, found: Sums, sizes: np.ndarray) -> None:
    """Write the sums of what one part owns into those of the whole chain."""
    part = plan.part
    n_shared = len(plan.nodes)
    mine = _owned_nodes(part._replace(level_end=part.level_end[:n_shared]), sizes[:n_shared])
    for name in ("nodes", "nodes_squared"):
        getattr(sums, name)[part.node[mine]] = getattr(found, name)[mine]
    own = part.document[: part.n_documents]
    sums.documents[:, own] = found.documents[:, : part.n_documents]
    if len(sums.citing):
        made = part.n_citations
        sums.citing[plan.citation[:made]] = found.citing[:made]
    if len(sums.cite):
        sums.cite[own] = found.cite[: part.n_documents]
        sums.cited[own] = found.cited[: part.n_documents]
    for name in ("samples", "topic_word", "topic_samples", "background", "topic_scale"):
        getattr(sums, name)[...] = getattr(found, name)


def same_shapes(state: State, other: State) -> bool:
    """Whether two states have arrays of the same shapes."""
    pairs = zip(all_arrays(state), all_arrays(other), strict=True)
    return all(mine.shape == theirs.shape for mine, theirs in pairs)
