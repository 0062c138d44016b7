"""The result of a run: estimates and traces by name, in memory or on disk."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from citeweave.corpus import Corpus
from citeweave.engines.core.estimates import Sums, take_means
from citeweave.engines.core.row_files import RowMean
from citeweave.engines.core.spec import ModelSpec
from citeweave.model.author_shares import AuthorShares, share_out
from citeweave.model.consensus import consensus_memberships
from citeweave.model.groups import Groups, Tree, known_categories
from citeweave.model.matching import Combination, combine_chains, match_categories
from citeweave.model.parameters import Plan
from citeweave.model.scoring import plug_in_log_likelihood

if TYPE_CHECKING:
    from citeweave.model.read_out import ReadOut
    from citeweave.model.settling import Settlement

__all__ = [
    "TOLD",
    "Result",
    "combine_results",
    "document_topics",
    "name_estimates",
    "row_means",
    "stack_traces",
]

TOLD = "told_"
"""Prefix of the names of evidence for categories."""
_GROUP_FIELDS = ("kind", "label", "documents", "of_document", "parent")


@dataclass(frozen=True, eq=False)
class Result:
    """A fitted model, from which the attributes of `SCNTM` are read."""

    plan: Plan
    parameters: Mapping[str, Any]
    """Parameters at the time of the fit."""
    estimates: Mapping[str, np.ndarray]
    traces: Mapping[str, np.ndarray]
    """By name, [chains, iterations] (concentrations: [chains, iterations, levels])."""
    combination: Combination
    samples: int
    """Number of kept samples over which the estimates are averaged."""
    iterations: int
    open_corpus: Callable[[], Corpus]
    source: str | None = None
    """Path of the corpus, as given."""
    folder: Path | None = None
    states: Sequence[Mapping[str, np.ndarray]] = field(default=())
    """Last state of each chain, unless a run folder contains it."""
    notes: tuple[str, ...] = ()
    settlement: "Settlement | None" = None
    """Whether chains agree; None for runs of earlier releases and unfinished ones."""
    held_out: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Data held out of the corpus before the fit, by name."""
    category_agreements: Sequence[float] = ()
    """For each of several chains with latent categories and no labels, the share of papers that it
    puts into the same category as all chains together."""

    @property
    def spec(self) -> ModelSpec:
        """The model."""
        return self.plan.spec

    @cached_property
    def corpus(self) -> Corpus:
        """The corpus that the model was fitted to."""
        return self.open_corpus()

    @cached_property
    def levels(self) -> dict[str, Groups]:
        """The nodes of each level between the corpus and the documents, upper first."""
        found: dict[str, Groups] = {}
        above: Groups | None = None
        for number, level in enumerate(self.spec.topic_side[1 : self.spec.n_shared], start=1):
            fields: dict[str, Any] = {
                name: self.estimates[f"level{number}_{name}"] for name in _GROUP_FIELDS
            }
            groups = Groups(level=level.name, corpus=self.corpus, above=above, **fields)
            above = None
            if level.divides_papers:
                years = self.plan.period_years
                groups = above = replace(groups, column=level.column, years=years)
            found[level.name] = groups
        return found


class Combined(NamedTuple):
    """Several chains as one."""

    sums: Sums
    how: Combination
    classes: np.ndarray | None = None
    """For a consensus of several chains, the classes of documents."""
    category_agreements: Sequence[float] = ()
    """See `Result`."""


def combine_results(
    plan: Plan, sums: Sequence[Sums], traces: Sequence[Mapping[str, np.ndarray]], corpus: Corpus
) -> Combined:
    """Average the chains, choose one or find their consensus."""
    likelihoods = []
    for trace in traces:
        values = trace["log_likelihood"][plan.burn_in :]
        likelihoods.append(float(values[~np.isnan(values)].mean()))
    scores = [0.0]  # nothing to compare
    if len(sums) > 1:
        choice = plan.settings.self_citations
        scores = [
            plug_in_log_likelihood(plan.spec, chain, corpus, self_citations=choice)
            for chain in sums
        ]
    known = known_categories(corpus, plan.labels)
    for chain in sums if plan.spec.draws_categories else ():
        # chains leave out some labels and sample them; in the result they are known
        chain.category[known >= 0] = 0.0
        chain.category[known >= 0, known[known >= 0]] = chain.samples[0]
    agreements: Sequence[float] = ()
    if plan.spec.draws_categories and len(sums) > 1:
        # without labels, chains that differ know more together than the best one alone
        agree = plan.combine == "consensus" or (plan.combine == "auto" and not (known >= 0).any())
        agreements = match_categories(sums, int(np.argmax(scores)), known, agree=agree)
    if plan.combine != "consensus" or len(sums) == 1:
        combined, how = combine_chains(sums, likelihoods, scores, combine=plan.combine)
        return Combined(combined, how, category_agreements=agreements)
    memberships = [document_topics(plan.spec, chain) / float(chain.samples[0]) for chain in sums]
    combined, how = combine_chains(sums, likelihoods, scores, memberships, combine="consensus")
    aligned = [member[:, order] for member, order in zip(memberships, how.orders, strict=True)]
    return Combined(combined, how, consensus_memberships(aligned), agreements)


def document_topics(spec: ModelSpec, sums: Sums) -> np.ndarray:
    """Return the topics of documents as seen by citations: theta' if there is one."""
    if spec.words_choose_author:
        return sums.mixture
    seen = spec.n_document - 1 - spec.below_citations if spec.citations is not None else 0
    return np.asarray(sums.documents[seen])


def name_estimates(
    spec: ModelSpec,
    sums: Sums,
    tree: Tree,
    corpus: Corpus,
    classes: np.ndarray | None = None,
    told: "ReadOut | None" = None,
    written: Mapping[str, np.ndarray] | None = None,
) -> dict[str, np.ndarray]:
    """Turn sums (which are overwritten) into the arrays of a run folder.

    ``told`` are the categories inferred from all evidence, if some labels are known.
    Estimates that the workers of a divided chain have ``written`` (`row_means`) are left out; the
    sums need not have their rows.
    """
    levels: Sequence[Groups] = tree.levels
    means = take_means(sums)
    out: dict[str, np.ndarray] = {"topic_share": means.nodes[0]}
    spread = _spread(means)
    if spread is not None:
        out["topic_share_sd"] = spread[0]
    if spec.draws_categories:
        out["category"] = means.category
        if told is not None:
            out["category_share"] = means.category
            out |= {f"{TOLD}{name}": value for name, value in told._asdict().items()}
            out["category"] = out.pop(f"{TOLD}probability")
        levels = [_with_papers(groups, out["category"]) for groups in levels]
    for number, groups in enumerate(levels, start=1):
        out |= {f"level{number}_{name}": getattr(groups, name) for name in _GROUP_FIELDS}
    if classes is not None:
        out["consensus"] = classes.astype(np.float32)
    out["topic_word"] = np.ascontiguousarray(means.topic_word.T)
    out["topic_samples"] = means.topic_samples
    if spec.word_level("corpus"):
        out["background"] = means.background
    if spec.citations is not None:
        out["topic_scale"] = means.topic_scale
    if tree.shares is not None:
        out |= _contributions(tree.shares, means)
    if written is None:
        out |= _rows(spec, means, levels, spread)
    if spec.citations is not None:
        cited = (out if written is None else written)["cited_propensity"]
        out["author_influence"] = _influence(corpus, cited, out.get("contribution"))
    return out


def _rows(
    spec: ModelSpec, means: Sums, levels: Sequence[Groups], spread: np.ndarray | None
) -> dict[str, np.ndarray]:
    """Return the names of the estimates with one row per document, citation or group."""
    out: dict[str, np.ndarray] = {}
    begin = 1
    for number, groups in enumerate(levels, start=1):
        end = begin + len(groups)
        out[f"level{number}_topic"] = means.nodes[begin:end]
        if spread is not None:
            out[f"level{number}_topic_sd"] = spread[begin:end]
        begin = end
    out["doc_topic"] = document_topics(spec, means)
    if spec.n_document > 1:
        out["doc_word_topic"] = means.documents[-1]
    if spec.citations is not None:
        out["citing_topic"] = means.citing
        out["cite_propensity"] = means.cite
        out["cited_propensity"] = means.cited
    return out


def row_means(spec: ModelSpec, tree: Tree, rows: int) -> list[RowMean]:
    """List the same estimates for the workers of a divided chain, which write them.

    ``rows`` is the approximate number of rows per file.
    """
    out: list[RowMean] = []
    begin = 1
    for number, groups in enumerate(tree.levels, start=1):
        end = begin + len(groups)
        name = f"level{number}_topic"
        out.append(RowMean(name, "nodes", begin, end, rows))
        out.append(RowMean(f"{name}_sd", "nodes", begin, end, rows, spread=True))
        begin = end
    documents, last = len(tree.data.offsets) - 1, spec.n_document - 1
    seen = last - spec.below_citations if spec.citations is not None else 0
    out.append(RowMean("doc_topic", "documents", 0, documents, rows, layer=seen))
    if last > 0:
        out.append(RowMean("doc_word_topic", "documents", 0, documents, rows, layer=last))
    if spec.citations is not None:
        out.append(RowMean("citing_topic", "citing", 0, len(tree.data.citing), rows))
        out.append(RowMean("cite_propensity", "cite", 0, documents, rows))
        out.append(RowMean("cited_propensity", "cited", 0, documents, rows))
    return out


def _contributions(shares: AuthorShares, means: Sums) -> dict[str, np.ndarray]:
    """Return the shares of authors in papers and their spread over samples, by corpus entry."""
    samples = max(int(means.samples[0]), 2)
    variance = means.contribution_squared - np.square(means.contribution)
    spread = np.sqrt(np.maximum(variance, 0.0) * (samples / (samples - 1)))
    alone = shares.entry < 0
    return {
        "contribution": share_out(shares, means.contribution),
        "contribution_sd": np.where(alone, 0.0, share_out(shares, spread)),
        "contribution_prior": means.contribution_prior,
    }


def _influence(corpus: Corpus, cited: np.ndarray, contribution: np.ndarray | None) -> np.ndarray:
    """Sum lambda- over the papers of each author, as first author or weighted by shares."""
    if contribution is None:
        first = corpus.first_authors
        known = first >= 0
        return np.bincount(first[known], weights=cited[known], minlength=corpus.n_authors)
    paper = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.author_offsets))
    weights = contribution * cited[paper]
    return np.bincount(corpus.author_ids, weights=weights, minlength=corpus.n_authors)


def _with_papers(groups: Groups, probability: np.ndarray) -> Groups:
    """Assign papers to their most probable categories."""
    of_document = probability.argmax(axis=1).astype(np.int32)
    documents = np.bincount(of_document, minlength=len(groups)).astype(np.int32)
    return replace(groups, of_document=of_document, documents=documents)


def _spread(means: Sums) -> np.ndarray | None:
    """Return the standard deviation over samples of nodes above documents; None if unknown."""
    samples = int(means.samples[0])
    if samples < 2 or np.isnan(means.nodes_squared).any():
        return None
    variance = means.nodes_squared - np.square(means.nodes)
    # rounding can make a variance of zero slightly negative
    return np.asarray(np.sqrt(np.maximum(variance, 0.0) * (samples / (samples - 1))))


def stack_traces(traces: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Combine the traces of all chains into arrays."""
    return {name: np.stack([trace[name] for trace in traces]) for name in traces[0]}
