"""A description of the method: the model, its parameters, and how to cite."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import citeweave

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citeweave.corpus import Corpus

__all__ = ["BIBTEX", "CITATIONS", "method_text", "parameter_rows"]

_PLEASE = (
    "This page was made with citeweave. If you use it in a publication, please cite the software "
    "and the paper that describes the model:"
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
    "It explains the words of all papers, {groups} and the citations between them jointly: "
    "papers inherit topics from {above}, words occur in bursts within a paper, and a citation is "
    "more likely between papers that share a topic.",
    "cntm-text": "The model is the citation network topic model of Lim and Buntine without "
    "citations: papers inherit topics from {above}, and words occur in bursts within a paper.",
    "bursty-hdp-lda": "The model is a hierarchical Pitman-Yor topic model of the words alone, in "
    "which words occur in bursts within a paper. Authors and citations are not used.",
    "np-atm": "The model is a non-parametric author-topic model: each word of a paper is "
    "attributed to one of its authors. Citations are not used.",
    "pmtlm": "The model is the Poisson mixed-topic link model of Zhu, Yan, Getoor and Moore "
    "(2013): words and undirected links come from the same topics. It is fitted by expectation "
    "maximisation, which gives one best fit and no measure of uncertainty.",
}

_INFLUENCE = (
    "Influence (λ⁻) measures how much more a paper is cited than its topics explain, with mean 1 "
    "over all papers. An author's influence is the sum over the papers on which they are first "
    "author or, if the model uses all authors, over all their papers weighted by their shares. It "
    "describes this corpus and is not a judgement of people: only citations between papers of the "
    "corpus count."
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
    "topics": "maximum number of topics",
    "eta": "supervision: author threshold (η)",
    "iterations": "iterations per chain",
    "network_from": "citations used from iteration",
    "burst_from": "burstiness used from iteration",
    "burn_in": "burn-in iterations",
    "thin": "iterations between samples",
    "combine": "chains combined by",
    "unknown": "papers without author or label",
    "self_citations": "citations of a paper to itself",
    "alpha": "weight of words relative to links",
    "degree_corrected": "degree correction",
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
        Name of a preset or a baseline; other models get a general description.
    eta : float or str, optional
        The author threshold, which decides what papers inherit their topics from.
    samples, chains : int, optional
        Numbers of samples and chains behind the estimates; None if the model is not sampled.
    how : str
        How chains were combined, ``average`` or ``best``.
    influence : bool
        Whether the model estimates the influence of papers.
    all_authors : bool
        Whether the model uses all authors of a paper or only the first.
    """
    above, groups = _groups(eta, everybody=all_authors)
    text = _MODELS.get(
        model_name.removesuffix("-dc"),
        f"The model is '{model_name}'; see the citeweave documentation for its description.",
    )
    out = [text.format(above=above, groups=groups)]
    if samples is not None and chains is not None:
        kept = f"{samples:,} sample{'' if samples == 1 else 's'}"
        taken = (
            "one chain"
            if chains == 1
            else f"{chains} chains with matched topics"
            if how == "average"
            else f"the most probable of {chains} chains"
        )
        out.append(
            "It was fitted by Gibbs sampling from its posterior distribution; results are means "
            f"over {kept} from {taken}. The sampler infers the number of topics in use, up to the "
            "given maximum."
        )
    if model_name.startswith("pmtlm") and influence:
        out.append(
            "Influence is a paper's popularity in the links of the corpus, in either direction, "
            "with mean 1 over all papers."
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
    """List everything needed to reproduce the run.

    Parameters
    ----------
    parameters : mapping
        Parameters as given by the user; None if left open.
    plan : mapping
        The values used for parameters that were left open.
    model_name : str
    corpus : Corpus
    versions : mapping of str to str
        Software versions, by name.
    notes : sequence of str
        Notes recorded during the fit.
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
        some = f"all their authors with at least {number:.0f} papers, or else their label"
        return some, "their authors and labels"
    return (
        f"their first author (if first author of {number:.0f} or more papers) or else their label",
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
