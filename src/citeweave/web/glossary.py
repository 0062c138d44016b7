"""The words of the pages, and the symbols of the model behind them."""

from typing import NamedTuple

from citeweave.evaluate.diagnostics import FAIR_RHAT, GOOD_AGREEMENT, GOOD_RHAT

__all__ = ["AGREEMENT", "GLOSSARY", "MAP_TERMS", "Term", "spoken"]


class Term(NamedTuple):
    """A word, its symbol in the papers about the model (empty without one), and what it means."""

    word: str
    symbol: str
    meaning: str


AGREEMENT = (
    f"From 0 to 1. From {GOOD_AGREEMENT:g} on the chains have found the same topics. Below, they "
    "divide the literature in different ways: run more iterations, or fit fewer topics; rely on "
    "the topics that all chains share."
)

GLOSSARY = (
    Term("Topic", "k", "A set of words that papers use together. A paper has several, in shares."),
    Term(
        "Share of a topic",
        "θ′",
        "Its part of a paper or, as a mean over papers, of the whole literature.",
    ),
    Term(
        "Influence",
        "λ⁻",
        "How much more a paper is cited inside the corpus than its topics alone explain; 1 is "
        "average. That of an author is the sum over the papers they are first author of or, where "
        "all authors count, over all their papers by their shares in them.",
    ),
    Term(
        "h-index",
        "h",
        "Of an author, institution, country, venue or funder: h of its papers are cited h times or "
        "more by papers of this corpus.",
    ),
    Term(
        "Growth",
        "",
        "By how much the papers of an institution or country grow in a year, fitted over all years "
        "of this corpus.",
    ),
    Term(
        "Tendency to cite",
        "λ⁺",
        "How much more a paper cites than its topics alone explain; 1 is average.",
    ),
    Term(
        "Topic of a citation",
        "y",
        "What a paper is cited for. It may differ from what the cited paper is about.",
    ),
    Term(
        "Supervision",
        "η",
        "Authors, or labels where η is infinite, guide the topics of their papers. Between, "
        "authors of at least η papers do, and labels for all others.",
    ),
    Term(
        "Topics of an author or label",
        "ν",
        "What their papers have in common, learned with the papers.",
    ),
    Term(
        "Concentration",
        "β",
        "How closely one level of the model follows the one above it; small values let it differ.",
    ),
    Term(
        "Coherence",
        "NPMI",
        "Whether the first words of a topic occur in the same papers, from −1 to 1; good topics "
        "have 0.1 and more.",
    ),
    Term(
        "Chain",
        "",
        "One run of the sampler from a random start. Several that arrive at the same place can be "
        "trusted.",
    ),
    Term("Agreement of chains", "", f"Mean cosine of the words of matched topics. {AGREEMENT}"),
    Term(
        "R-hat",
        "R̂",
        f"Whether chains, and halves of chains, have the same level: up to {GOOD_RHAT:g} is good, "
        f"above {FAIR_RHAT:g} run longer.",
    ),
    Term(
        "Effective draws",
        "ESS",
        "How many independent samples those of the chains are worth; below 50, small differences "
        "mean little.",
    ),
    Term("Sample", "", "A state of a chain that is kept; figures are means over samples."),
)

MAP_TERMS = (
    Term("Co-citation", "", "Two papers are co-cited once for each paper that cites both."),
    Term(
        "Bibliographic coupling",
        "",
        "Two papers, or authors, are coupled once for each paper that both cite.",
    ),
    Term("Co-words", "", "Two words co-occur once for each paper that has both."),
    Term(
        "Fractional counting",
        "",
        "What brings n things together counts 1/(n − 1) for each pair, so that long lists of "
        "references and large teams weigh no more than short and small ones.",
    ),
    Term(
        "Association strength",
        "",
        "How often two things occur together, against how often they would by chance.",
    ),
    Term("Cluster", "", "Things with more links to each other than to the rest of a map."),
    Term("Centrality", "", "How much the words of a topic occur with those of other topics."),
    Term("Density", "", "How much the words of a topic occur with each other."),
    Term(
        "Main path",
        "",
        "The citations through which most paths lead from the newest papers to the oldest.",
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
    """Name a trace in words first, with its symbol second.

    Examples
    --------
    >>> spoken("concentration of nu"), spoken("log likelihood"), spoken("concentration of journal")
    ('concentration: authors and labels (ν)', 'log likelihood', 'concentration: journal')
    """
    kind, _, level = name.partition(" of ")
    if kind == "concentration" and level:
        return f"concentration: {_LEVELS.get(level, level)}"
    return _TRACES.get(name, name)
