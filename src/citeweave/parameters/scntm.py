"""The parameters of `SCNTM`, each in one place.

A parameter added here becomes a parameter of the class, is checked, and gets an option in
``citeweave fit`` and an entry in the docstring and the manifest. It remains to implement its effect
in `citeweave.model.parameters` and to update the pages (``python docs/tables.py``).
"""

import math
import numbers
import os
from collections.abc import Mapping
from typing import Any

from citeweave.engines.core.spec import (
    DISCOUNT_LIMIT,
    LEFT_OUT,
    MOST_TOPICS,
    PAPER,
    PAPER_LEVELS,
    PRESETS,
    SELF_CITATIONS,
    TOPIC_DISCOUNT,
    WORD_DISCOUNT,
    ZERO,
    Level,
    ModelSpec,
)
from citeweave.parameters.declaring import parameter, table_of
from citeweave.parameters.parametrised import Parametrised, declared
from citeweave.parameters.rules import (
    Rule,
    integer,
    list_of_words,
    number,
    one_of,
    pair,
    text,
    true_or_false,
)

__all__ = [
    "ALL_AUTHORS",
    "BURST_FROM",
    "BURST_SHARE",
    "CATEGORY_CHAINS",
    "CATEGORY_ITERATIONS",
    "CHAINS",
    "CHOOSE_WEIGHT",
    "CLUSTERS",
    "DRAW",
    "EQUAL_SHARES",
    "FIRST_AUTHOR",
    "ITERATIONS",
    "KEPT_SAMPLES",
    "NETWORK_FROM",
    "NETWORK_SHARE",
    "NO_LABELS",
    "PARAMETERS",
    "RANDOM",
    "SHARES_BY_POSITION",
    "SOME_LABELS",
    "TIE",
    "TIED",
    "SCNTMParameters",
    "read_number",
    "self_citations_named",
]

MODEL = "Model"
SAMPLING = "Sampling"

KEPT_SAMPLES = 50
"""Approximate number of samples kept by default."""


RANDOM, CLUSTERS = "random", "clusters"
"""Names of starts."""

NO_LABELS, SOME_LABELS = "none", "some"
"""Whether papers with a label keep it when latent categories are sampled."""

FIRST_AUTHOR, ALL_AUTHORS = "first", "all"
"""Which authors of a paper count."""
EQUAL_SHARES, SHARES_BY_POSITION = "equal", "position"
"""Priors of authors' shares in a paper."""

TIE, DRAW = "auto", "drawn"
"""How the concentration of papers about their latent category is determined."""
TIED = 20.0
"""Default concentration of papers about their category, if it is fixed."""

ITERATIONS, CHAINS = 2000, 2
"""Default length and number of chains."""
CATEGORY_ITERATIONS, CATEGORY_CHAINS = 300, 5
"""The same with latent categories. Chains begin with good clusters and drift away from them, and
several short chains agree on better ones than few long chains find (docs/understand/categories.md).
Five chains leave out every given label once."""

CHOOSE_WEIGHT = "auto"
"""Chooses the weight of words by held-out citations."""

NETWORK_FROM, BURST_FROM = 30, 60
"""Iterations after which citations and burstiness join by default (docs/understand/starts.md)."""
NETWORK_SHARE, BURST_SHARE = 8, 4
"""In short runs, they join after 1/8 and 1/4 of all iterations."""


def read_number(text: str) -> Any:
    """Read a number if it is one; otherwise return the text, which the model checks.

    Examples
    --------
    >>> read_number("3"), read_number("infinity"), read_number("x")
    (3, inf, 'x')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def self_citations_named(value: Any) -> Any:
    """Return the name of a choice of ``self_citations`` that earlier releases stored as a bool.

    Examples
    --------
    >>> self_citations_named(True), self_citations_named(False), self_citations_named("left-out")
    ('paper', 'zero', 'left-out')
    """
    if isinstance(value, bool):
        return PAPER if value else ZERO
    return value


def _is_eta(value: Any) -> bool:
    if isinstance(value, str):
        return value == "inf"
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return real and value >= 0 and (value == math.inf or value == int(value))


def _is_start(value: Any) -> bool:
    """Whether a value may be a start; its contents are checked with the corpus."""
    if isinstance(value, str):
        return bool(value)
    if isinstance(value, list) or hasattr(value, "dtype"):
        import numpy as np  # noqa: PLC0415 (help must not wait for it)

        try:
            return np.asarray(value).dtype.kind in "iu"
        except ValueError:  # rows of different lengths
            return False
    return isinstance(value, os.PathLike) or hasattr(value, "fit")


def _is_model(value: Any) -> bool:
    return isinstance(value, ModelSpec) or (isinstance(value, str) and value in PRESETS)


def _model_from_json(value: Any) -> Any:
    """Return the name of a preset, or the model whose fields `dataclasses.asdict` gave."""
    if not isinstance(value, Mapping):
        return value
    sides = {
        side: tuple(Level(**level) for level in value[side]) for side in ("topic_side", "word_side")
    }
    return ModelSpec(**(dict(value) | sides))


# Outside this range, draws underflow or slice sampling takes forever.
_CONCENTRATION = number(1e-4, 1e6)
_PRIOR = pair("numbers from 0.001 to 10000 (shape, rate)", number(1e-3, 1e4))
_MOST_CATEGORIES = 1000
_MOST_CHAINS = 1000
_MOST_ROUNDS = 10_000
_MOST_ITERATIONS = 10_000_000  # traces, which have a value for each, must fit into memory
_NAMED = one_of(*SELF_CITATIONS)
# True and False are those of earlier releases
_SELF_CITATIONS = _NAMED._replace(
    accepts=lambda value: isinstance(value, bool) or _NAMED.accepts(value)
)
_LEAST_WEIGHT = 0.01
_WEIGHT = number(_LEAST_WEIGHT, 1)
_WORD_WEIGHT = Rule(
    f"a number from {_LEAST_WEIGHT} to 1, or '{CHOOSE_WEIGHT}'",
    lambda value: (isinstance(value, str) and value == CHOOSE_WEIGHT) or _WEIGHT.accepts(value),
)
_PAPER_CONCENTRATION = Rule(
    f"{_CONCENTRATION.values}, '{DRAW}' or '{TIE}'",
    lambda value: (
        value is None  # drawn, in runs that were made before there was a choice
        or (isinstance(value, str) and value in {DRAW, TIE})
        or _CONCENTRATION.accepts(value)
    ),
)
_READY = f"{', '.join(PAPER_LEVELS[:-1])} and {PAPER_LEVELS[-1]}"
_LEVELS = list_of_words()._replace(
    values=f"a list of names, of {_READY} and the metadata columns of the corpus"
)
_MOST_YEARS = 1000
_DISCOUNT = number(0, DISCOUNT_LIMIT, none="the model's own")


@declared
class SCNTMParameters(Parametrised):
    """What a run of `SCNTM` depends on, apart from the corpus."""

    topics: int = parameter(
        20,
        integer(1, MOST_TOPICS),
        "Maximum number of topics; fewer may be used.",
        "Maximum number of topics K; fewer may be used. From 256 on, another kind of sweep is "
        "used.",
        page="understand/many-topics.md",
    )
    eta: float | str = parameter(
        0,
        Rule("an integer of at least 0, or infinity ('inf')", _is_eta),
        "Author threshold: authors with at least this many papers form a group; other papers "
        "are grouped by label. 0: always by author, inf: always by label.",
        "Author threshold. 0: every document belongs to its first author. n >= 1: documents "
        "belong to their first author if that author has at least n documents as first author, "
        "and to their category otherwise. Infinity: every document belongs to its category.",
        group=MODEL,
        read=read_number,
        restore=lambda value: math.inf if value == "inf" else value,
    )
    authors: str = parameter(
        FIRST_AUTHOR,
        one_of(FIRST_AUTHOR, ALL_AUTHORS),
        "Authors from whom a paper takes its topics: first (as in the original paper), or all.",
        f"Authors from whom a paper takes its topics. ``{FIRST_AUTHOR}``: the first author, as "
        f"in the original paper. ``{ALL_AUTHORS}``: every author, with a share in the paper "
        "that is sampled (`contribution_`); authors with fewer than ``eta`` papers are "
        "replaced by the category.",
        group=MODEL,
        before=FIRST_AUTHOR,
        page="understand/authors.md",
    )
    contributions: str = parameter(
        EQUAL_SHARES,
        one_of(EQUAL_SHARES, SHARES_BY_POSITION),
        "Prior of authors' shares in a paper: equal, or by position (first, last, others).",
        f"Prior of authors' shares in a paper, with ``authors='all'``: a Dirichlet distribution "
        f"whose parameter is sampled, either one for all authors (``{EQUAL_SHARES}``), or one "
        f"each for first authors, last authors and those in between (``{SHARES_BY_POSITION}``).",
        group=MODEL,
        before=EQUAL_SHARES,
        page="understand/authors.md",
    )
    categories: int | None = parameter(
        None,
        integer(1, _MOST_CATEGORIES, none="none, or one for each label with labels='some'"),
        "Number of latent categories; each paper is assigned to one, in addition to its topics.",
        "Number of latent categories. Each paper is assigned to one, by its topics and "
        "citations, and the categories replace authors and labels as the level above papers "
        "(`category_`, `category_probability_`). With ``labels='some'`` there are at least as "
        "many as there are labels.",
        group=MODEL,
        before=None,
        page="how-to/categories.md",
    )
    labels: str = parameter(
        NO_LABELS,
        one_of(NO_LABELS, SOME_LABELS),
        "Use of labels with latent categories: none (ignored), or some (papers that have a "
        "label keep it).",
        f"How latent categories use the labels of the corpus. ``{NO_LABELS}``: not at all. "
        f"``{SOME_LABELS}``: papers that have a label keep it, and the others are assigned.",
        group=MODEL,
        before=NO_LABELS,
        page="how-to/categories.md",
    )
    category_prior: float = parameter(
        1.0,
        number(1e-3, 1e6),
        "Weight of the prior over categories, in papers.",
        "Concentration a of the prior over C categories: shares are Dirichlet(a / C, ..., a / C).",
        group=MODEL,
        option="",
        before=1.0,
        page="how-to/categories.md",
    )
    paper_concentration: float | str | None = parameter(
        TIE,
        _PAPER_CONCENTRATION,
        "How closely papers follow the topics of their latent category: a number (higher: more "
        f"closely), {DRAW} (sampled), or {TIE}: {TIED:g} with --labels {NO_LABELS}, otherwise "
        f"{DRAW}.",
        "Concentration of papers' topics (theta') about those of their latent category. A number "
        "is held fixed: the larger, the closer papers follow their category. "
        f"``{DRAW}``: sampled, as for the other levels. ``{TIE}``: {TIED:g} where no labels are "
        "used, which gives better categories but predicts words and citations less well, and "
        f"``{DRAW}`` otherwise.",
        group=MODEL,
        read=read_number,
        before=None,
        page="how-to/categories.md",
    )
    levels: tuple[str, ...] = parameter(
        (),
        _LEVELS,
        f"Level above authors and labels that divides papers: {', '.join(PAPER_LEVELS)}, or a "
        "metadata column; may be repeated, uppermost first.",
        "Levels that divide papers by their metadata, below mu and above all other levels, "
        f"uppermost first: {', '.join(f'``{name}``' for name in PAPER_LEVELS)}, or metadata "
        "columns. Equivalent to ``model=preset(...).with_level(name)``.",
        group=MODEL,
        option="--level",
        before=(),
        page="understand/models.md",
    )
    period_years: int | None = parameter(
        None,
        integer(1, _MOST_YEARS, none="the fewest that give at most ten periods"),
        "Years per period, with --level period.",
        "Width of the periods of the level ``period``; each begins at a multiple of it. If not "
        "given, the smallest of 1, 2, 5, 10, ... that gives at most ten periods.",
        group=MODEL,
        before=None,
        page="understand/models.md",
    )
    iterations: int | None = parameter(
        None,
        integer(
            1,
            _MOST_ITERATIONS,
            none=f"{ITERATIONS}, or {CATEGORY_ITERATIONS} with latent categories",
        ),
        "Maximum number of iterations per chain; chains that agree stop earlier.",
        "Maximum number of iterations per chain. Chains are compared every 50 iterations and "
        "stop when they agree (see ``exactly``).",
        page="understand/settling.md",
    )
    exactly: bool = parameter(
        False,
        true_or_false(),
        "Run exactly that many iterations, whether or not chains agree.",
        "Run exactly ``iterations`` iterations, for experiments; otherwise that number is a "
        "maximum.",
        before=True,
        page="understand/settling.md",
    )
    give_up: bool = parameter(
        True,
        true_or_false(),
        "Stop early if the chains are unlikely to agree within --iterations.",
        "Stop early if chains whose log posteriors agree would not agree on topics within "
        "``iterations``. This is judged at every doubling of the iterations, by extrapolating "
        "twice the gain in agreement since the previous doubling.",
        before=False,
        page="understand/settling.md",
    )
    minutes: float | None = parameter(
        None,
        number(0, above=True, none="no limit"),
        "Time limit in minutes, after which the run ends even if its chains do not agree.",
        "Time limit in minutes, after which samples are kept and the run ends even if its "
        "chains do not agree. When that happens depends on the machine, and so does the exact "
        "result.",
        before=None,
        page="understand/settling.md",
    )
    network_from: int | None = parameter(
        None,
        integer(0, none=f"{NETWORK_FROM}, or 1/{NETWORK_SHARE} of all iterations if that is less"),
        "Iterations on text alone, before citations are used.",
    )
    burst_from: int | None = parameter(
        None,
        integer(0, none=f"{BURST_FROM}, or 1/{BURST_SHARE} of all iterations if that is less"),
        "Iterations before burstiness (phi') is switched on.",
        "Iterations of the model without burstiness (phi', the document-topic level of words). "
        "After them that level is added, and the topics found so far are kept.",
        before=0,
        page="understand/starts.md",
    )
    start: Any = parameter(
        RANDOM,
        Rule(
            f"'{RANDOM}', '{CLUSTERS}', a run or its folder, or topics of documents or of words as "
            "integers",
            _is_start,
        ),
        f"Initial topics of words: {RANDOM}, {CLUSTERS} (of papers, by words and citations), or "
        "those of a run.",
        f"Initial topics of words. ``{RANDOM}``: uniform. ``{CLUSTERS}``: the cluster of their "
        "document, found by k-means on words and citations, separately for each chain. A "
        "fitted model or its folder: the final states of its chains. An array of topics, one "
        "per document or per word, or a row of them per chain.",
        read=str,
        before=RANDOM,
        page="understand/starts.md",
    )
    seed: int | None = parameter(
        None,
        integer(0, none="a fresh one"),
        "Random seed; the same seed gives the same result.",
        "The same seed gives the same estimates, byte for byte; `seed_` holds the seed that was "
        "used.",
    )
    chains: int | None = parameter(
        None,
        integer(1, _MOST_CHAINS, none=f"{CHAINS}, or {CATEGORY_CHAINS} with latent categories"),
        "Number of independent chains. A single chain is judged by comparing its halves.",
        "Number of independent chains, each with its own random stream. A single chain can only "
        "be compared with itself.",
    )
    model: str | ModelSpec = parameter(
        "scntm",
        Rule(f"a ModelSpec or one of {', '.join(map(repr, PRESETS))}", _is_model),
        f"{', '.join(PRESETS)}.",
        "Name of a preset, or a model of your own.",
        group=MODEL,
        read=str,
        restore=_model_from_json,
        page="understand/models.md",
    )
    burn_in: int | None = parameter(
        None,
        integer(0, none="all but the last quarter, or the last 200 if that is less"),
        "Maximum number of iterations before samples are kept.",
        "Iterations before samples are kept. Chains that agree earlier start to keep samples at "
        "once, for as many iterations (``iterations - burn_in``), but never before "
        "`network_from` or `burst_from`.",
        group=SAMPLING,
    )
    thin: int | None = parameter(
        None,
        integer(1, none=f"about {KEPT_SAMPLES} samples"),
        "Iterations between kept samples.",
        "Iterations between kept samples; the last iteration is always kept.",
        group=SAMPLING,
    )
    unknown: str = parameter(
        "shared",
        one_of("shared", "own"),
        "Group of papers with neither author nor label: shared (one for all) or own (one each).",
        "Whether documents with neither author nor category share one group or have one each.",
        group=MODEL,
    )
    combine: str = parameter(
        "auto",
        one_of("auto", "average", "best", "consensus"),
        "How chains are combined: auto, average, best or consensus.",
        "How several chains are combined. ``average`` averages their estimates, with topics "
        "matched by their words; ``best`` takes the estimates of the chain that explains words "
        "and citations best; ``auto`` averages if the chains agree and takes the best one "
        "otherwise (see `combination_`), but latent categories without labels are the classes "
        "that the chains agree on. ``consensus`` is for clustering with chains that "
        "differ: it averages with topics matched by their documents, and `labels_` are the "
        "classes that the chains agree on.",
        group=SAMPLING,
    )
    concentration: float = parameter(
        0.1,
        _CONCENTRATION,
        "Initial value of all concentration parameters.",
        "Initial value of all concentrations beta.",
        group=MODEL,
    )
    concentration_prior: tuple[float, float] = parameter(
        (1.0, 1.0),
        _PRIOR,
        "Shape and rate of the Gamma prior of concentrations.",
        group=MODEL,
        option="",
    )
    propensity_prior: tuple[float, float] = parameter(
        (1.0, 1.0),
        _PRIOR,
        "Shape and rate of the Gamma priors of lambda+, lambda- and lambdaT.",
        group=MODEL,
        option="",
    )
    self_citations: str = parameter(
        LEFT_OUT,
        _SELF_CITATIONS,
        "Citations of papers by themselves, which data do not record: left-out (unknown), zero "
        "(none), or paper (one each, as in the original paper).",
        "How citations of a paper by itself, which no corpus records, enter the likelihood. "
        "``left-out``: they are unknown, and the pairs of a paper with itself are excluded. "
        "``zero``: they are observed to be absent. ``paper``: each document cites itself once, "
        "a simplification of the original paper that amounts to a Gamma(2, 1) prior of the "
        "propensities. True and False, as in earlier releases, mean ``paper`` and ``zero``.",
        group=MODEL,
        restore=self_citations_named,
        page="understand/self-citations.md",
    )
    topic_discount: float | None = parameter(
        None,
        _DISCOUNT,
        f"Discount of all topic levels, {TOPIC_DISCOUNT} in the presets.",
        f"Discount alpha of all levels of the topic side; {TOPIC_DISCOUNT} in the presets.",
        group=MODEL,
    )
    word_discount: float | None = parameter(
        None,
        _DISCOUNT,
        f"Discount of all word levels, {WORD_DISCOUNT} in the presets.",
        f"Discount alpha of all levels of the word side; {WORD_DISCOUNT} in the presets.",
        group=MODEL,
    )
    word_weight: float | str = parameter(
        1.0,
        _WORD_WEIGHT,
        "Weight of words relative to citations: 1 (the model itself), less, or auto (chosen by "
        "held-out citations).",
        "Power zeta to which the likelihood of words is raised, relative to topics and "
        f"citations; 1 is the model itself. ``{CHOOSE_WEIGHT}``: whichever of 1, 1/2, 1/4 and "
        "1/8 lets short chains predict a held-out tenth of the citations best (`word_weight_`). "
        "Values below 1 require sequential sweeps.",
        group=MODEL,
        read=read_number,
        before=1.0,
        page="understand/tempering.md",
    )
    sweep: str = parameter(
        "auto",
        one_of("auto", "sequential", "snapshot"),
        "Kind of sweep: sequential, snapshot (several cores share a sweep), or auto (by corpus "
        "size).",
        "``sequential``: tokens are sampled one after the other. ``snapshot``: many documents "
        "are sampled in parallel, from a snapshot of the counts that they share. ``auto``: "
        "sequential up to two million tokens and snapshot above, on any machine.",
        group=SAMPLING,
        before="sequential",
        page="understand/parallel.md",
    )
    rounds: int | None = parameter(
        None,
        integer(1, _MOST_ROUNDS, none="chosen by corpus size"),
        "Snapshots per sweep, with --sweep snapshot or --device cuda.",
        'Snapshots per sweep, with ``sweep="snapshot"`` or ``device="cuda"``.',
        group=SAMPLING,
        before=None,
    )
    threads: int | None = parameter(
        None,
        integer(1, none="all cores"),
        "Number of cores, used for chains first, then for snapshot sweeps.",
        "Total number of cores. Chains run in parallel first, and the remaining cores are used "
        "by their snapshot sweeps. The estimates do not depend on it.",
        group=SAMPLING,
    )
    device: str = parameter(
        "auto",
        one_of("auto", "cpu", "cuda"),
        "Device for snapshot sweeps: cpu, cuda (an NVIDIA GPU), or auto (a GPU if there is one).",
        "Device for snapshot sweeps. ``auto``: an NVIDIA GPU if there is one that can sample "
        "the model and has enough memory, threads otherwise. ``cuda``: a GPU, for a corpus of "
        "any size; an error if there is none. Sequential sweeps always run on the CPU. A GPU "
        "rounds differently, so the same seed gives the same bytes on one kind of device only. "
        'With ``engine="ray"``, the device of each worker; ``auto`` takes GPUs if there is one for '
        "every worker.",
        group=SAMPLING,
        before="cpu",
        page="understand/parallel.md",
    )
    engine: str = parameter(
        "auto",
        one_of("auto", "ray"),
        "Where chains run: auto (in this process or on its GPU), or ray (on workers that share "
        "each chain).",
        "What makes the sweeps. ``auto`` samples in this process or on its GPU; ``ray`` divides "
        "the papers of a chain between worker processes, on this computer or on a Ray cluster, and "
        "gives the bytes of snapshot sweeps in threads, or on one GPU.",
        group=SAMPLING,
        before="auto",
        page="how-to/cluster.md",
    )
    workers: int | None = parameter(
        None,
        integer(1, none="one"),
        "Workers that share each chain, with --engine ray.",
        'Worker processes that share each chain, with ``engine="ray"``. The estimates do not '
        "depend on it.",
        group=SAMPLING,
        before=None,
        page="how-to/cluster.md",
    )
    address: str | None = parameter(
        None,
        text("the address of a Ray cluster", none="Ray started on this computer"),
        "Address of a Ray cluster to join, such as auto, with --engine ray.",
        "Address of the Ray cluster to join, such as ``auto`` on one of its nodes; Ray is started "
        "on this computer if it is not given.",
        group=SAMPLING,
        before=None,
        page="how-to/cluster.md",
    )


PARAMETERS = table_of(SCNTMParameters)
"""The parameters of `SCNTM` by name."""
