"""Tables of a fitted model for the terminal: topics, authors, papers, run statistics."""

import math
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from citeweave.corpus import Corpus
from citeweave.model import SCNTM, describing
from citeweave.model.traces import shown_trace
from citeweave.wording import count

if TYPE_CHECKING:
    from citeweave.baselines import Baseline

__all__ = [
    "author_table",
    "corpus_line",
    "fact_table",
    "make_console",
    "new_table",
    "paper_table",
    "pick_words",
    "run_table",
    "topic_names",
    "topic_order",
    "topic_table",
]

WIDEST = 100
"""Maximum width of tables, to keep lines readable."""

BAR = 8

MORE = "citeweave scan tries other numbers"
FEW_PAPERS = 10
"""Papers per topic below which fewer topics are suggested."""
"""What to do if all topics are in use."""

RULE = box.SIMPLE_HEAD


def make_console(*, stderr: bool = False) -> Console:
    """Create a console without markup, because titles may contain brackets."""
    width = min(shutil.get_terminal_size((80, 24)).columns, WIDEST)
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, width=width)


def corpus_line(corpus: Corpus) -> str:
    """Describe a corpus in one line, omitting what it lacks."""
    parts = [
        count(corpus.n_documents, "paper"),
        f"{count(corpus.n_tokens, 'word')} of {corpus.vocabulary_size:,}",
    ]
    if corpus.n_authors:
        parts.append(count(corpus.n_authors, "author"))
    if corpus.n_categories:
        parts.append(count(corpus.n_categories, "label"))
    if corpus.n_citations:
        parts.append(count(corpus.n_citations, "citation"))
    return ", ".join(parts)


def topic_order(model: "SCNTM | Baseline") -> list[int]:
    """Return the topics in use, largest first."""
    return describing.topic_order(
        describing.topic_shares(model.doc_topic_), np.asarray(model.topic_samples_) > 0
    )


def pick_words(model: "SCNTM | Baseline", number: int) -> list[list[str]]:
    """Choose words that describe each topic: probable in it, and more probable than elsewhere."""
    corpus = model.corpus_
    best = describing.rank_words(
        model.topic_word_,
        describing.topic_shares(model.doc_topic_),
        np.bincount(corpus.tokens, minlength=corpus.vocabulary_size) > 0,
        relevance=describing.RELEVANCE,
        number=number,
    )
    vocabulary = corpus.vocabulary
    return [[vocabulary[word] for word in row] for row in best.tolist()]


def topic_names(model: SCNTM, words: Sequence[Sequence[str]]) -> list[str]:
    """Return short names of topics such as "3 soil, crop"."""
    return [f"{k} {', '.join(words[k][:2])}" for k in range(len(model.topic_share_))]


def new_table(title: str, *, expand: bool = True) -> Table:
    """Create a table in the common style."""
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=RULE,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="dim",
        expand=expand,
    )


def add_figures(table: Table, *names: str) -> None:
    """Add numeric columns, which keep their width when text columns are shortened."""
    for name in names:
        table.add_column(name, justify="right", no_wrap=True, min_width=max(len(name), 5))


def fact_table() -> Table:
    """Create a table of names and values."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    return table


class Fitting:
    """A list that omits items that do not fit, instead of cutting words."""

    def __init__(self, parts: Sequence[str], separator: str, *, lines: int = 1) -> None:
        self.parts = parts
        self.separator = separator
        self.lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Fill the lines of the column; an item wider than a line is cut."""
        left = list(self.parts)
        for number in range(self.lines):
            line = left.pop(0) if left else ""
            while left and cell_len(f"{line}{self.separator}{left[0]}") <= options.max_width:
                line = f"{line}{self.separator}{left.pop(0)}"
            if line or number == 0:
                yield Text(line, no_wrap=True, overflow="ellipsis")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return the minimum and maximum width."""
        whole = cell_len(self.separator.join(self.parts))
        return Measurement(min(whole, 12), min(whole, options.max_width))


def _bar(share: float, largest: float, width: int = BAR) -> Text:
    """Draw a share as a bar."""
    eighths = round(8 * width * share / largest) if largest > 0 else 0
    whole, part = divmod(eighths, 8)
    blocks = "█" * whole + (" ▏▎▍▌▋▊▉"[part] if part else "")
    return Text(blocks, style="cyan")


def topic_table(
    model: "SCNTM | Baseline",
    words: Sequence[Sequence[str]],
    *,
    areas: Sequence[str] | None = None,
    most: int = 30,
) -> Table:
    """List topics by share (mean theta' over papers), with their papers and words.

    With `areas`, a name per topic, topics that are not the main topic of any paper are only
    counted.
    """
    order = topic_order(model)
    share = describing.topic_shares(model.doc_topic_)
    papers = np.bincount(model.labels_, minlength=len(share))
    shown = [k for k in order if areas is None or papers[k]][:most]
    rest = [k for k in order if k not in shown]
    title = f"Topics ({len(order)} in use"
    if rest:
        title += f", {len(rest)} small ones of {100 * share[rest].sum():.1f} % not shown"
    table = new_table(f"{title})")
    add_figures(table, "topic")
    if areas is None:
        table.add_column("", width=BAR)
    else:
        wide = max(len(area) for area in areas)
        table.add_column("matches", no_wrap=True, style="green", min_width=wide)
    add_figures(table, "share", "papers")
    table.add_column("words", no_wrap=True, overflow="ellipsis", ratio=1)
    for k in shown:
        table.add_row(
            str(k),
            _bar(share[k], share[order[0]]) if areas is None else areas[k],
            f"{100 * share[k]:.1f} %",
            f"{papers[k]:,}",
            Fitting(words[k], ", ", lines=2),
        )
    return table


def mixture(weights: np.ndarray, names: Sequence[str], *, most: int = 3) -> list[str]:
    """Format the main components of a topic mixture: "81 % soil, crop"."""
    weights = np.asarray(weights, float)
    best = [k for k in np.argsort(-weights, kind="stable")[:most] if weights[k] >= 0.05]
    return [f"{100 * weights[k]:.0f} % {names[k]}" for k in best]


def author_table(model: SCNTM, names: Sequence[str], *, most: int = 8) -> Table | None:
    """List the authors with the most papers as first author; None for a model without authors."""
    from citeweave.explore.parts import join_parts  # noqa: PLC0415 (not needed by other tables)

    try:
        groups, topics, _ = join_parts(model.groups_, model.group_topic_, None)
    except AttributeError:
        return None
    authors = np.flatnonzero(groups.kind == 0)
    if not len(authors):
        return None
    best = authors[np.argsort(-groups.documents[authors], kind="stable")[:most]]
    influence = model.author_influence_ if model.spec_.citations is not None else None
    table = new_table("Some authors, by papers as first author")
    wide = min(max(len(groups.names[row]) for row in best.tolist()), 28)
    table.add_column("author", no_wrap=True, overflow="ellipsis", min_width=wide, max_width=28)
    add_figures(table, "papers")
    if influence is not None:
        add_figures(table, "influence")
    table.add_column("topics", no_wrap=True, overflow="ellipsis", ratio=1)
    for row in best.tolist():
        author = groups[row]
        cells = [author.name, f"{author.documents:,}"]
        if influence is not None:
            cells.append(f"{influence[groups.label[row]]:.1f}")
        table.add_row(*cells, Fitting(mixture(topics[row], names), "; "))
    return table


def paper_table(model: SCNTM, names: Sequence[str], *, most: int = 6) -> Table | None:
    """List the most influential papers (λ⁻); None for a model without citations."""
    if model.spec_.citations is None or not model.corpus_.n_citations:
        return None
    corpus = model.corpus_
    cited = np.bincount(corpus.citations[:, 1], minlength=corpus.n_documents)
    influence = np.asarray(model.cited_propensity_)
    table = new_table("Most influential papers (λ⁻: cited more than their topics explain; mean 1)")
    add_figures(table, "influence", "cited")
    years = corpus.metadata.get("year")
    if years is not None:
        add_figures(table, "year")
    table.add_column("title", no_wrap=True, overflow="ellipsis", ratio=3)
    table.add_column("topic", no_wrap=True, overflow="ellipsis", ratio=2)
    for d in np.argsort(-influence, kind="stable")[:most].tolist():
        cells = [f"{influence[d]:.1f}", f"{cited[d]:,}"]
        if years is not None:
            cells.append(str(years[d] if years[d] is not None else ""))
        title = corpus.titles[d] or corpus.ids[d]
        table.add_row(*cells, title, names[int(model.labels_[d])])
    return table


def run_table(model: SCNTM) -> Table:
    """Create a table of run statistics: log posterior, acceptance, samples, agreement, time."""
    table = fact_table()
    for name, value in run_figures(model):
        table.add_row(name, value)
    return table


def posterior_level(model: SCNTM) -> tuple[str, float]:
    """Return the name of the main trace, and its mean after burn-in in the best chain."""
    shown = shown_trace(model.traces_)
    if shown is None:
        return "log posterior", math.nan
    values = shown.values[model.combination_["best"], model.burn_in_ :]
    values = values[np.isfinite(values)]
    return shown.words, float(values.mean()) if len(values) else math.nan


def _on_the_cap(topics: int, papers: int) -> str:
    """Comment on a model that uses all topics it may have; a small corpus has no more for sure.

    Examples
    --------
    >>> _on_the_cap(20, 58)
    'all 20 are in use, for 58 papers; fewer may be clearer: citeweave scan tries other numbers'
    """
    if papers < FEW_PAPERS * topics:
        return (
            f"all {topics} are in use, for {count(papers, 'paper')}; fewer may be clearer: {MORE}"
        )
    return f"all {topics} are in use; there may be more: {MORE}"


def run_figures(model: SCNTM) -> list[tuple[str, str]]:
    """Return the names and values of run statistics, starting with the verdict on the chains."""
    from citeweave.evaluate.diagnostics import judge_chains  # noqa: PLC0415 (slow to import)

    combination = model.combination_
    chains = len(combination["likelihoods"])
    what, level = posterior_level(model)
    tokens = model.corpus_.n_tokens
    figures = [("verdict", judge_chains(model).verdict.text)]
    used = int(np.count_nonzero(np.asarray(model.topic_samples_)))
    if used == model.topics:
        figures.append(("topics", _on_the_cap(used, model.corpus_.n_documents)))
    figures += [("samples kept", f"{model.n_samples_:,} of {count(chains, 'chain')}")]
    if chains > 1:
        others = [a for i, a in enumerate(combination["agreements"]) if i != combination["best"]]
        how = {"average": "averaged", "consensus": "consensus"}.get(
            combination["how"], "best chain used"
        )
        figures.append(
            ("chains agree", f"{min(others):.2f} (cosine similarity of matched topics; {how})")
        )
        if same := model.spec_.draws_categories and model.category_agreements_:
            share = f"{100 * sum(same) / len(same):.0f} % of papers in the same category"
            figures.append(("categories", f"{share}, on average over chains"))
    if tokens:
        figures.append((what, f"{level / tokens:.3f} per word"))
    if model.spec_.citations is not None and not math.isnan(model.acceptance_):
        figures.append(("acceptance", f"{100 * model.acceptance_:.1f} % of proposed citing topics"))
    seconds = np.nansum(model.traces_["seconds"], axis=1)
    figures.append(("sampling time", f"{float(seconds.max()):.1f} s (longest chain)"))
    figures.append(("seed", str(model.seed_)))
    return figures
