"""The terms used on the pages, with the symbols of the model."""

from typing import NamedTuple

from citeweave.evaluate.diagnostics import FAIR_RHAT, GOOD_AGREEMENT, GOOD_RHAT

__all__ = ["AGREEMENT", "GLOSSARY", "MAP_TERMS", "Term", "spoken"]


class Term(NamedTuple):
    """A term, its symbol in the model (empty if it has none), and its meaning."""

    word: str
    symbol: str
    meaning: str


AGREEMENT = (
    f"From 0 to 1. At {GOOD_AGREEMENT:g} or above, the chains have found the same topics. Below "
    "that, they divide the literature in different ways: run more iterations or fit fewer topics, "
    "and rely only on topics that all chains share."
)

GLOSSARY = (
    Term(
        "Topic",
        "k",
        "A set of words that papers use together. A paper is a mixture of several topics.",
    ),
    Term(
        "Share of a topic",
        "θ′",
        "Its proportion in a paper or, averaged over papers, in the whole literature.",
    ),
    Term(
        "Influence",
        "λ⁻",
        "How much more a paper is cited within the corpus than its topics alone explain; 1 is "
        "average. An author's influence is the sum over the papers on which they are first author "
        "or, if the model uses all authors, over all their papers weighted by their shares.",
    ),
    Term(
        "h-index",
        "h",
        "For an author, institution, country, venue or funder: the largest h such that h of its "
        "papers are each cited at least h times within this corpus.",
    ),
    Term(
        "Growth",
        "",
        "How fast the number of papers grows per year, fitted over all years of this corpus.",
    ),
    Term(
        "Tendency to cite",
        "λ⁺",
        "How much more a paper cites others than its topics alone explain; 1 is average.",
    ),
    Term(
        "Topic of a citation",
        "y",
        "The topic for which a paper is cited. It may differ from what the cited paper is about.",
    ),
    Term(
        "Supervision",
        "η",
        "At η = 0 authors guide the topics of their papers, at η = ∞ labels do. In between, "
        "authors with at least η papers guide their papers, and labels guide the rest.",
    ),
    Term(
        "Topics of an author or label",
        "ν",
        "What their papers have in common, learned together with the papers.",
    ),
    Term(
        "Concentration",
        "β",
        "How closely one level of the model follows the level above it; small values allow it to "
        "differ more.",
    ),
    Term(
        "Coherence",
        "NPMI",
        "Whether the top words of a topic occur in the same papers, from −1 to 1; good topics "
        "reach 0.1 or more.",
    ),
    Term(
        "Chain",
        "",
        "One run of the sampler from a random start. If several chains arrive at the same result, "
        "it can be trusted.",
    ),
    Term(
        "Agreement of chains",
        "",
        f"Mean cosine similarity between the word distributions of matched topics. {AGREEMENT}",
    ),
    Term(
        "R-hat",
        "R̂",
        f"Whether the chains, and both halves of each chain, agree: up to {GOOD_RHAT:g} is good; "
        f"above {FAIR_RHAT:g}, run longer.",
    ),
    Term(
        "Effective draws",
        "ESS",
        "The number of independent draws that carry the same information as the draws of the "
        "chains. Below 50, small differences mean little.",
    ),
    Term("Sample", "", "A saved state of a chain. Results are means over samples."),
)

MAP_TERMS = (
    Term("Co-citation", "", "Two papers are co-cited once for every paper that cites both."),
    Term(
        "Bibliographic coupling",
        "",
        "Two papers or authors are coupled once for every paper that both cite.",
    ),
    Term("Co-words", "", "Two words co-occur once for every paper that contains both."),
    Term(
        "Fractional counting",
        "",
        "A paper that links n items adds 1/(n − 1) to each pair, so that long reference lists and "
        "large teams do not dominate the map.",
    ),
    Term(
        "Association strength",
        "",
        "How often two items occur together, relative to what would be expected by chance.",
    ),
    Term(
        "Cluster", "", "A group of items with more links to each other than to the rest of the map."
    ),
    Term(
        "Centrality", "", "How strongly the words of a topic co-occur with words of other topics."
    ),
    Term("Density", "", "How strongly the words of a topic co-occur with each other."),
    Term(
        "Main path",
        "",
        "The citations that lie on the most paths from the newest papers to the oldest.",
    ),
)

_LEVELS = {
    "mu": "all topics (μ)",
    "nu": "authors and labels (ν)",
    "theta": "papers (θ)",
    "theta'": "words of papers (θ′)",
    "gamma": "words of the corpus (γ)",
    "phi": "words of topics (φ)",
    "phi'": "words of papers in topics (φ′)",
}
_TRACES = {"topics": "topics in use", "acceptance": "accepted topics of citations"}


def spoken(name: str) -> str:
    """Describe a trace in words, followed by its symbol.

    Examples
    --------
    >>> spoken("concentration of nu"), spoken("log likelihood"), spoken("concentration of journal")
    ('concentration: authors and labels (ν)', 'log likelihood', 'concentration: journal')
    """
    kind, _, level = name.partition(" of ")
    if kind == "concentration" and level:
        return f"concentration: {_LEVELS.get(level, level)}"
    return _TRACES.get(name, name)
