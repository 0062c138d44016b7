"""New documents of models with all authors: placed below the mixture of their authors."""

import numpy as np

from citeweave.corpus import Corpus
from citeweave.engines.core.authors import expected_contributions
from citeweave.engines.core.data import Servers
from citeweave.foldin import Base, Documents, Means, Sets
from citeweave.model.author_shares import AuthorEntries, find_servers
from citeweave.model.groups import KINDS, Groups
from citeweave.model.placing import NodePlacement, columns_of
from citeweave.model.results import Result
from citeweave.model.unseen import Translation

__all__ = ["learn_shares", "mix_nodes", "mixed_posterior", "place_among_authors"]

_ROUNDS = 10
"""Rounds of expectation maximisation; afterwards, shares change by less than a hundredth."""
_AUTHOR, _CATEGORY = KINDS.index("author"), KINDS.index("category")


def place_among_authors(
    result: Result, new: Corpus, ids: Translation, placement: NodePlacement, *, labels: str
) -> NodePlacement:
    """Place documents below all of their authors that the model knows.

    Parameters
    ----------
    result : Result
    new : Corpus
    ids : Translation
    placement : NodePlacement
        Placement by first authors; documents without known authors keep it.
    labels : {"hidden", "seen"}
        If labels are seen, a document's category replaces authors without a node; otherwise the
        corpus does.

    Returns
    -------
    NodePlacement
        The sets of such documents are mixtures: their members are authors, with the shares that the
        model expects before it sees the document.
    """
    levels = list(result.levels.values())
    *_, start, root = columns_of(levels)
    groups = levels[-1]
    document = np.repeat(np.arange(new.n_documents), np.diff(new.author_offsets))
    column = _columns(groups, _AUTHOR, start, result.corpus.n_authors)
    node = column[np.append(ids.author, -1)[new.author_ids]]
    if labels == "seen" and len(node):
        category = np.append(ids.category, -1)[new.categories]
        table = _columns(groups, _CATEGORY, start, result.corpus.n_categories)
        node = np.where(node < 0, table[category][document], node)
    anybody = np.zeros(new.n_documents, bool)
    anybody[document[node >= 0]] = True
    # for a new author, the corpus's topics are expected
    node = np.where((node < 0) & anybody[document], root, node)
    entries = AuthorEntries(document, node >= 0, node)
    # papers of one author are listed as well; each has a set of its own
    shares = find_servers(new, entries, node, result.plan.contributions, alone=True)
    servers, prior = _match_positions(shares.servers, result.estimates["contribution_prior"])
    counts = np.diff(servers.start) if len(servers.start) else np.zeros(new.n_documents, np.int64)
    mixed = np.flatnonzero(counts)
    before = placement.sets
    n_sets = len(before.start) - 1
    of_document = placement.of_document.copy()
    of_document[mixed] = n_sets + np.arange(len(mixed))
    sets = Sets(
        start=np.concatenate([before.start, before.start[-1] + np.cumsum(counts[mixed])]),
        node=np.concatenate([before.node, servers.group.astype(np.int64)]),
        prior=np.concatenate([before.prior, expected_contributions(servers, prior)]),
    )
    inferred = placement.inferred.copy()
    inferred[mixed] = False
    mass = np.concatenate([np.ones(len(before.node)), servers.authors @ prior])
    return NodePlacement(sets, of_document, inferred, first_mixed=n_sets, mass=mass)


def _match_positions(servers: Servers, prior: np.ndarray) -> tuple[Servers, np.ndarray]:
    """Use the same positions of authors in new papers as in training papers.

    New papers may have at most two authors each while training papers have more, or the other way
    round. A position that no training paper has is expected to contribute as much as the others.
    """
    missing = len(prior) - servers.authors.shape[1]
    authors = np.pad(servers.authors, ((0, 0), (0, max(missing, 0))))
    more = np.full(max(-missing, 0), prior.mean())
    return servers._replace(authors=authors), np.concatenate([prior, more])


def _columns(groups: Groups, kind: int, start: int, size: int) -> np.ndarray:
    """Return the column of each author's or category's node; -1 for none, and as last entry."""
    out = np.full(size + 1, -1, np.int64)
    chosen = np.flatnonzero(groups.kind == kind)
    out[groups.label[chosen]] = start + chosen
    return out


def learn_shares(
    base: Base, documents: Documents, placement: NodePlacement, node: np.ndarray
) -> NodePlacement:
    """Estimate the shares of authors of documents below a mixture from their words.

    Every word and every citation is treated separately: expectation maximisation combines the prior
    with the words and citations that each author explains best.

    Parameters
    ----------
    base : Base
        Contains the rows of all groups that the documents may belong to.
    documents : Documents
    placement : NodePlacement
    node : ndarray of int64
        Rows of ``base.nodes`` of the sets' members.
    """
    sets, prior = placement.sets, placement.mass
    if prior is None:
        return placement
    share = sets.prior.copy()
    for d in np.flatnonzero(placement.of_document >= (placement.first_mixed or 0)).tolist():
        members = slice(*sets.start[placement.of_document[d] :][:2].tolist())
        words = documents.word[documents.start[d] : documents.start[d + 1]]
        links = documents.link[documents.link_start[d] : documents.link_start[d + 1]]
        if members.stop - members.start < 2 or len(words) + len(links) == 0:
            continue
        topics = base.nodes[node[members]]
        chance = np.concatenate(
            [topics @ base.word_topic[words].T, topics @ base.cited[links].T], axis=1
        )
        own = share[members]
        for _ in range(_ROUNDS):
            served = own[:, None] * chance
            own = prior[members] + (served / served.sum(axis=0)).sum(axis=1)
            own /= own.sum()
        share[members] = own
    return placement._replace(sets=sets._replace(prior=share))


def mix_nodes(base: Base, sets: Sets, first_mixed: int) -> tuple[Base, Sets]:
    """Replace each mixed set by one base measure: the mean of its members', by their shares."""
    begin = int(sets.start[first_mixed])
    sizes = np.diff(sets.start[first_mixed:])
    row = np.repeat(np.arange(len(sizes)), sizes)
    mixtures = np.zeros((len(sizes), base.nodes.shape[1]))
    np.add.at(mixtures, row, sets.prior[begin:, None] * base.nodes[sets.node[begin:]])
    alone = Sets(
        start=np.concatenate([sets.start[:first_mixed], begin + np.arange(len(sizes) + 1)]),
        node=np.concatenate([sets.node[:begin], len(base.nodes) + np.arange(len(sizes))]),
        prior=np.concatenate([sets.prior[:begin], np.ones(len(sizes))]),
    )
    return base._replace(nodes=np.concatenate([base.nodes, mixtures])), alone


def mixed_posterior(means: Means, placement: NodePlacement) -> Means:
    """Use the shares of a mixture's members as posteriors of groups for documents below it."""
    sets, of_document = placement.sets, placement.of_document
    sizes = np.diff(sets.start)[of_document]
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    within = np.arange(int(start[-1])) - np.repeat(start[:-1], sizes)
    group = sets.prior[np.repeat(sets.start[of_document], sizes) + within].astype(np.float32)
    plain = np.repeat(of_document < placement.first_mixed, sizes)
    found = np.repeat(of_document < placement.first_mixed, np.diff(means.group_start))
    group[plain] = means.group[found]
    return means._replace(group=group, group_start=start)
