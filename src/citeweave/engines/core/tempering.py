"""Weights of seats on the word side if its density is raised to a power zeta.

The target is (topic side) x (word side)^zeta x (citations), on topics and table counts, the word
side being the product over its nodes of (beta|alpha)_T / (beta)_C prod S(c, t) and of 1 / V for
each table of gamma. Given the counts, which customers hold the tables is uniformly distributed for
any zeta. A token is therefore removed as usual, and one more customer changes the density by

    no new table : A0 / (beta + C)^zeta
    new table    : B1 ((beta + alpha T) / (beta + C))^zeta, then one customer more at the parent

    A0 = (S(c+1,t) / S(c,t))^zeta (c+1-t)/(c+1),    B1 = (S(c+1,t+1) / S(c,t))^zeta (t+1)/(c+1)

The weights are nested as for zeta = 1, with each of their terms raised, and every move that is
exact there is exact here (docs/understand/tempering.md).
"""

from citeweave.compiled import hot_kernel, inlined
from citeweave.engines.core.stirling import weight_pair

__all__ = ["raised", "word_pair"]


@inlined
def raised(value, power):
    """Return ``value ** power``, or the value itself if zeta is 1."""
    return value if power == 1.0 else value**power


@inlined
def word_pair(table, power, customers, tables):
    """Return the weights A0 and B1 of a word-side node, without its normaliser."""
    stay, opened = weight_pair(table, customers, tables)
    if power != 1.0 and customers > 0:
        return _raise_pair(stay, opened, power, customers, tables)
    return stay, opened


@hot_kernel
def _raise_pair(stay, opened, power, customers, tables):
    """Raise the ratios of Stirling numbers in A0 and B1, but not the indicator's probability."""
    without = (customers + 1.0 - tables) / (customers + 1.0)
    with_table = (tables + 1.0) / (customers + 1.0)
    return (stay / without) ** power * without, (opened / with_table) ** power * with_table
