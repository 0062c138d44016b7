"""Rows of counts, copied and compared by vector instructions."""

from citeweave.compiled import index, inlined

__all__ = ["copy_row"]


@inlined
def copy_row(mine, r, common, w, n_topics):
    """Copy a row by fours; reading all four before writing makes one vector load and store."""
    into, of = index(r), index(w)
    n = index(n_topics)
    whole = n & ~index(3)
    for k in range(index(0), whole, index(4)):
        k1, k2, k3 = k + index(1), k + index(2), k + index(3)
        x0, x1, x2, x3 = common[of, k], common[of, k1], common[of, k2], common[of, k3]
        mine[into, k] = x0
        mine[into, k1] = x1
        mine[into, k2] = x2
        mine[into, k3] = x3
    for k in range(whole, n):
        mine[into, k] = common[of, k]
