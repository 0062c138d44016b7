"""The plan of a part, written to be read: from the members of all parts, one item at a time."""

from typing import NamedTuple

import numpy as np


class Members(NamedTuple):
    """Nodes of one level that one part holds."""

    owned: list
    copies: list
    used: list
    """The copies that are ancestors of the part's own documents; of documents, those it cites."""

    @property
    def place(self):
        """The local index of each."""
        return {node: i for i, node in enumerate([*self.owned, *self.copies])}


def owners_of(data, n_shared, part):
    """The part of each node, by level from the root to the documents: that of its first child."""
    owners = [list(part)]
    for level in range(n_shared - 1, 0, -1):
        parents, found = list(data.parents[level]), [0] * len(data.parents[level - 1])
        for child in reversed(range(len(parents))):
            found[parents[child]] = owners[0][child]
        owners.insert(0, found)
    return [[0], *owners]


def members_of(data, n_shared, owners, p):
    """The members of a part, by level from the root to the documents."""
    part = owners[-1]
    pairs = list(zip(data.citing.tolist(), data.cited.tolist(), strict=True))
    own = [d for d in range(len(part)) if part[d] == p]
    out = {j for i, j in pairs if part[i] == p != part[j]}
    into = {i for i, j in pairs if part[j] == p != part[i]}
    levels = [Members(own, sorted(out | into), sorted(out))]
    for level in range(n_shared - 1, 0, -1):
        below, parents = levels[0], data.parents[level].tolist()
        owned = [n for n, owner in enumerate(owners[level]) if owner == p]
        copies = {parents[n] for n in [*below.owned, *below.copies]} - set(owned)
        above_own = below.owned if level == n_shared - 1 else [*below.owned, *below.used]
        used = {parents[n] for n in above_own} - set(owned)
        levels.insert(0, Members(owned, sorted(copies), sorted(used)))
    return [Members([0], [], []), *levels]


def route_of(members, wanted, owner, p):
    """What a part sends to each part, and receives from it: two lists of lists."""
    place = members[p].place
    owned = [[place[n] for n in wanted[q] if owner[n] == p] for q in range(len(members))]
    copies = [[place[n] for n in wanted[p] if owner[n] == q] for q in range(len(members))]
    return owned, copies


def plan_of(data, n_shared, part, p):
    """The plan of a part, but its degrees and rooms, as lists by name."""
    parts = range(max(part) + 1)
    owners = owners_of(data, n_shared, part)
    by_part = [members_of(data, n_shared, owners, q) for q in parts]
    deeper = len(data.parents) - n_shared
    mine = [*by_part[p], *[by_part[p][-1]] * deeper]
    documents = mine[n_shared]
    pairs = list(zip(data.citing.tolist(), data.cited.tolist(), strict=True))
    made = [e for e, (i, _) in enumerate(pairs) if part[i] == p]
    received = [e for e, (i, j) in enumerate(pairs) if part[j] == p != part[i]]
    known = [*made, *received]
    tokens = [data.tokens[data.offsets[d] : data.offsets[d + 1]].tolist() for d in documents.owned]
    lengths = [*map(len, tokens), *[0] * len(documents.copies)]
    starts = np.cumsum([0, 1, *map(len, data.parents)])
    sizes = [len(one.place) for one in mine]
    levels = range(n_shared)
    routes = {
        name: [
            route_of(
                [members[level] for members in by_part],
                [getattr(members[level], kind) for members in by_part],
                owners[level],
                p,
            )
            for level in levels
        ]
        for name, kind in (("nodes", "copies"), ("parents", "used"))
    }
    cited = [members[n_shared] for members in by_part]
    return routes | {
        "tokens": [word for words in tokens for word in words],
        "offsets": np.cumsum([0, *lengths]).tolist(),
        "above": [
            [mine[level].place[data.parents[level][n]] for n in mine[level + 1].place]
            for level in range(len(mine) - 1)
        ],
        "citing": [documents.place[pairs[e][0]] for e in known],
        "cited_documents": [documents.place[pairs[e][1]] for e in known],
        "token_start": [int(data.offsets[d]) for d in documents.owned],
        "document": list(documents.place),
        "node": [
            int(start) + n for start, one in zip(starts, mine, strict=False) for n in one.place
        ],
        "level_end": [sum(sizes[:level]) + len(one.owned) for level, one in enumerate(mine)],
        "cited": route_of(cited, [members.used for members in cited], part, p),
        "citations": (
            [
                [len(made) + n for n, e in enumerate(received) if part[pairs[e][0]] == q]
                for q in parts
            ],
            [[n for n, e in enumerate(made) if part[pairs[e][1]] == q != p] for q in parts],
        ),
        "citation": known,
        "divided": any(m[level].used for m in by_part for level in range(1, n_shared)),
    }
