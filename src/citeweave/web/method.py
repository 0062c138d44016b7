"""How the figures came about, in words: the model, its parameters, and what to cite."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import citeweave

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citeweave.corpus import Corpus

__all__ = ["BIBTEX", "CITATIONS", "method_text", "parameter_rows"]

_PLEASE = (
    "This page was made by citeweave. If it supports something you publish, please cite the "
    "software and the paper that describes the model:"
)
_SOFTWARE = (
    f"The citeweave developers: citeweave, version {citeweave.__version__}. Bayesian topic models "
    "of research literature."
)
_PAPER = (
    "K. W. Lim and W. Buntine: Bibliographic analysis on research publications using authors, "
    "categorical labels and the citation network. Machine Learning 103, 185–213 (2016). "
    "doi:10.1007/s10994-016-5554-z"
)
CITATIONS = (_PLEASE, _SOFTWARE, _PAPER)

BIBTEX = f"""@software{{citeweave,
  author  = {{{{The citeweave developers}}}},
  title   = {{citeweave: Bayesian topic models of research literature}},
  version = {{{citeweave.__version__}}}
}}
@article{{lim2016bibliographic,
  author  = {{Lim, Kar Wai and Buntine, Wray}},
  title   = {{Bibliographic analysis on research publications using authors, categorical
             labels and the citation network}},
  journal = {{Machine Learning}},
  volume  = {{103}},
  pages   = {{185--213}},
  year    = {{2016}},
  doi     = {{10.1007/s10994-016-5554-z}}
}}"""

_MODELS = {
    "scntm": "The model is the supervised citation network topic model (SCNTM) of Lim and Buntine. "
    "It explains the words of all papers, {groups}, and the citations between them together: "
    "papers inherit topics from {above}, words come in bursts within a paper, and a citation is "
    "likely where two papers share a topic.",
    "cntm-text": "The model is the citation network topic model of Lim and Buntine without its "
    "citations: papers inherit topics from {above}, and words come in bursts within a paper.",
    "bursty-hdp-lda": "The model is a hierarchical Pitman-Yor topic model of the words alone, in "
    "which words come in bursts within a paper. Authors and citations were not used.",
    "np-atm": "The model is a non-parametric author-topic model: each word of a paper is "
    "attributed to one of its authors. Citations were not used.",
    "pmtlm": "The model is the Poisson mixed-topic link model of Zhu, Yan, Getoor and Moore "
    "(2013): words and undirected links come from the same topics. It is fitted by expectation "
    "maximisation, which gives one best fit and no measure of uncertainty.",
}

_INFLUENCE = (
    "Influence (λ⁻) is how much more a paper is cited than its topics explain, with mean "
    "1 over all papers; that of an author is the sum over the papers they are first author of or, "
    "where all authors count, over all their papers by their shares in them. It "
    "is a property of this corpus, not a judgement of people: papers outside the corpus neither "
    "cite nor are cited."
)

_SHOWN = (
    "topics",
    "eta",
    "iterations",
    "network_from",
    "burst_from",
    "burn_in",
    "thin",
    "chains",
    "combine",
    "unknown",
    "self_citations",
    "alpha",
    "degree_corrected",
    "restarts",
    "seed",
)

_NAMES = {
    "topics": "topics, at most",
    "eta": "supervision: author threshold (η)",
    "iterations": "iterations of each chain",
    "network_from": "citations used from iteration",
    "burst_from": "burstiness used from iteration",
    "burn_in": "burn-in, iterations",
    "thin": "a sample kept every",
    "combine": "chains combined by",
    "unknown": "papers without author and label",
    "self_citations": "papers' citations of themselves",
    "alpha": "weight of words against links",
    "degree_corrected": "popularity of papers",
    "restarts": "random starts",
}


def method_text(
    model_name: str,
    *,
    eta: float | str | None,
    samples: int | None,
    chains: int | None,
    how: str,
    influence: bool,
    all_authors: bool = False,
) -> list[str]:
    """Describe the model and how it was fitted, in a paragraph or two.

    Parameters
    ----------
    model_name : str
        Name of a preset or of a baseline; others are described in general words.
    eta : float or str, optional
        The author threshold, which decides what papers inherit their topics from.
    samples, chains : int, optional
        How many samples of how many chains the estimates are means of; None where not sampled.
    how : str
        How chains were combined, ``average`` or ``best``.
    influence : bool
        Whether the model tells how much papers are cited.
    all_authors : bool
        Whether all authors of a paper count, not its first alone.
    """
    above, groups = _groups(eta, everybody=all_authors)
    text = _MODELS.get(
        model_name.removesuffix("-dc"),
        f"The model is '{model_name}'; see the documentation of citeweave for what it is made of.",
    )
    out = [text.format(above=above, groups=groups)]
    if samples is not None and chains is not None:
        kept = f"{samples:,} sample{'' if samples == 1 else 's'}"
        taken = (
            "one chain"
            if chains == 1
            else f"{chains} chains, their topics matched"
            if how == "average"
            else f"the most likely of {chains} chains"
        )
        out.append(
            "It was fitted by Gibbs sampling from its posterior distribution: figures are means "
            f"over {kept} of {taken}. How many topics are in use is found by the sampler, up to "
            "a bound."
        )
    if model_name.startswith("pmtlm") and influence:
        out.append(
            "Influence is the popularity of a paper in the links of the corpus, citing and being "
            "cited alike, with mean 1 over all papers."
        )
    elif influence:
        out.append(_INFLUENCE)
    return out


def parameter_rows(
    parameters: Mapping[str, Any],
    plan: Mapping[str, Any],
    *,
    model_name: str,
    corpus: Corpus,
    versions: Mapping[str, str],
    notes: Sequence[str] = (),
) -> list[tuple[str, str]]:
    """List what somebody needs to make the same run again.

    Parameters
    ----------
    parameters : mapping
        As given by the user; None where left open.
    plan : mapping
        What was used where parameters were left open.
    model_name : str
    corpus : Corpus
    versions : mapping of str to str
        Programs and their versions.
    notes : sequence of str
        What happened on the way.
    """
    values = dict(parameters) | {name: value for name, value in plan.items() if value is not None}
    rows = [("model", model_name)]
    rows += [
        (_NAMES.get(name, name), _written(values[name]))
        for name in _SHOWN
        if values.get(name) is not None
    ]
    rows.append(("corpus fingerprint", corpus.fingerprint))
    if versions:
        rows.append(("made with", ", ".join(f"{name} {text}" for name, text in versions.items())))
    rows += [("note", note) for note in notes]
    return rows


def _groups(eta: float | str | None, *, everybody: bool) -> tuple[str, str]:
    try:
        number = float("inf" if eta is None else eta)
    except ValueError:
        number = math.inf
    if number == 0:
        return "all their authors" if everybody else "their first author", "their authors"
    if math.isinf(number):
        return "their label", "their labels"
    if everybody:
        some = f"all their authors (of {number:.0f} papers or more) or else their label"
        return some, "their authors and labels"
    return (
        f"their first author (if first author of {number:.0f} papers or more) or else their label",
        "their authors and labels",
    )


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and abs(value) < 1_000_000:
        return f"{value:,}"
    if isinstance(value, float) and math.isinf(value):
        return "infinite (labels)"
    return str(value)
