"""Tables and pages of an exploration for the terminal."""

import shutil
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from citeweave.cli.show import Fitting, add_figures, count, fact_table, new_table
from citeweave.explore import AuthorPage, Exploration, Inspection, PaperPage, TopicPage, TopicWeight
from citeweave.explore.labels import short_label

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "author_page",
    "author_table",
    "category_table",
    "citation_table",
    "crosstab_table",
    "flow_table",
    "influence_table",
    "inspection",
    "notes",
    "paper_page",
    "paper_table",
    "sparkline",
    "topic_page",
    "topic_table",
    "wide_console",
]

WIDEST = 120
_BLOCKS = "▁▂▃▄▅▆▇█"
_TREND = 10
_NAME = 34
_SHORT = 22
_SPACE = "\N{NO-BREAK SPACE}"


def wide_console() -> Console:
    """Make a console that takes text as it is, up to 120 columns."""
    width = min(shutil.get_terminal_size((80, 24)).columns, WIDEST)
    return Console(markup=False, highlight=False, emoji=False, width=width)


def notes(view: Exploration, parts: Sequence[str]) -> list[Text]:
    """Say why columns are empty or left out."""
    lines = [view.missing[part] for part in parts if part in view.missing]
    if view.names.note:
        lines.append(view.names.note)
    return [Text(line, style="dim") for line in lines]


def sparkline(values: Sequence[float | None], width: int = _TREND) -> str:
    """Draw values as a row of blocks, neighbours averaged to fit; a year without papers is blank.

    Examples
    --------
    >>> sparkline([0.0, 0.5, None, 1.0])
    '▁▅ █'
    """
    cells: list[float | None] = []
    number = min(width, len(values))
    for cell in range(number):
        part = values[cell * len(values) // number : (cell + 1) * len(values) // number]
        known = [value for value in part if value is not None]
        cells.append(sum(known) / len(known) if known else None)
    highest = max((value for value in cells if value is not None), default=0.0) or 1.0
    return "".join(
        " " if value is None else _BLOCKS[min(int(8 * value / highest), 7)] for value in cells
    )


def _percent(value: float | None, digits: int = 1) -> str:
    return "" if value is None else f"{100 * value:.{digits}f} %"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{100 * value:+.1f} %"


def _figure(value: float | None, digits: int = 1) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _mixture(weights: Iterable[TopicWeight | tuple[str, float]], width: int = _NAME) -> list[str]:
    parts = []
    for part in weights:
        name, weight = (part.name, part.weight) if isinstance(part, TopicWeight) else part
        parts.append(f"{100 * weight:.0f}{_SPACE}% {short_label(name, width)}")
    return parts


def topic_table(view: Exploration, frame: "pl.DataFrame", most: int) -> Table:
    """List topics: share, papers, trend and words."""
    table = new_table(f"Topics ({len(frame)} in use)")
    add_figures(table, "topic", "share", "papers")
    if view.has_years:
        years = view.year_range
        table.add_column(f"{years[0]}–{years[-1]}", no_wrap=True, min_width=_TREND, style="cyan")
        add_figures(table, "a year")
    add_figures(table, "NPMI")
    table.add_column("name and words", ratio=1)
    for row in frame.head(most).iter_rows(named=True):
        cells = [str(row["topic"]), _percent(row["share"]), f"{row['papers']:,}"]
        if view.has_years:
            cells += [sparkline(row["trend"]), _signed(row["growth"])]
        cells.append(_figure(row["coherence"], 2))
        name = Text(row["name"], style="bold", no_wrap=True, overflow="ellipsis")
        table.add_row(*cells, Group(name, Fitting(row["distinctive"], ", ", lines=2)))
    return table


def topic_page(page: TopicPage) -> list[Any]:
    """Show all about a topic."""
    facts = fact_table()
    facts.add_row("topic", f"{page.topic}: {page.name}")
    if page.renamed:
        facts.add_row("label", page.label)
    facts.add_row("share", f"{_percent(page.share)} ({count(page.papers, 'paper')} mainly)")
    if page.years:
        growth = f", {_signed(page.growth)} a year" if page.growth is not None else ""
        span = f"{page.years[0]} {sparkline(page.trend, 40)} {page.years[-1]}"
        facts.add_row("trend", f"{span}{growth}")
    facts.add_row("coherence", _figure(page.coherence, 2))
    facts.add_row("words", ", ".join(word.word for word in page.words))
    facts.add_row("distinctive", ", ".join(word.word for word in page.distinctive))
    for name, weights in (
        ("similar topics", page.similar[:3]),
        ("cites", page.cites[:5]),
        ("cited by", page.cited_by[:5]),
    ):
        if weights:
            facts.add_row(name, "; ".join(_mixture(weights)))
    if page.categories:
        parts = [f"{row['name']} {_percent(row['share'], 0)}" for row in page.categories]
        facts.add_row("categories", ", ".join(parts))
    if page.authors:
        facts.add_row("authors", ", ".join(author.name for author in page.authors))
    listed = page.influential_papers or page.typical_papers
    return [facts, _paper_list("Influential papers", listed)]


def author_table(view: Exploration, frame: "pl.DataFrame") -> Table:
    """List authors: papers, influence, topics with intervals."""
    by = "influence" if view.author_influence is not None else "papers"
    table = new_table(f"Authors, by {by}")
    add_figures(table, "author", "papers", "first")
    if view.author_influence is not None:
        add_figures(table, "influence")
    table.add_column("name, topics (90 % interval), words", ratio=1)
    for row in frame.iter_rows(named=True):
        cells = [str(row["author"]), f"{row['papers']:,}", f"{row['first_papers']:,}"]
        if view.author_influence is not None:
            cells.append(_figure(row["influence"]))
        parts = [
            TopicWeight(*values)
            for values in zip(
                row["topics"],
                row["topic_names"],
                row["weights"],
                row["lows"],
                row["highs"],
                strict=True,
            )
        ]
        topics = _with_intervals(parts, _SHORT)
        if row["topics_from"] == "papers":
            topics = [f"{topics[0]} *", *topics[1:]]
        lines: list[Any] = [
            Text(row["name"], style="bold", no_wrap=True, overflow="ellipsis"),
            Fitting(topics, "; ", lines=2),
            Fitting(row["words"], ", "),
        ]
        if row.get("nearest"):
            lines.append(Fitting([f"near {row['nearest'][0]}", *row["nearest"][1:]], ", "))
        table.add_row(*cells, Group(*lines))
    if "papers" in frame["topics_from"].to_list():
        table.caption = "* no vector of their own in the model: the mean of their papers"
        table.caption_justify = "left"
    return table


def influence_table(frame: "pl.DataFrame") -> Table:
    """List the influence of authors by topic."""
    table = new_table("Influence of authors by topic")
    table.add_column("author", no_wrap=True, overflow="ellipsis", ratio=1)
    add_figures(table, "influence", "topic")
    table.add_column("name", no_wrap=True, overflow="ellipsis", ratio=2)
    before = None
    for row in frame.iter_rows(named=True):
        name = "" if row["author"] == before else row["name"]
        before = row["author"]
        table.add_row(name, _figure(row["influence"], 2), str(row["topic"]), row["topic_name"])
    return table


def author_page(page: AuthorPage) -> list[Any]:
    """Show all about an author."""
    facts = fact_table()
    facts.add_row("author", f"{page.author}: {page.name}")
    first = f"{page.first_papers:,} as first author"
    span = f", {page.years[0]}–{page.years[1]}" if page.years else ""
    facts.add_row("papers", f"{page.papers:,} ({first}{span})")
    if page.influence is not None:
        whole = _figure(page.influence_all)
        facts.add_row("influence", f"{_figure(page.influence)} ({whole} with co-authored papers)")
        parts = [
            f"{_figure(part.weight)} {short_label(part.name, _NAME)}"
            for part in page.influence_by_topic
        ]
        facts.add_row("influence in", "; ".join(parts))
    source = "" if page.topics_from == "model" else " (from their papers: never first author)"
    facts.add_row("topics", "; ".join(_with_intervals(page.topics)) + source)
    facts.add_row("words", ", ".join(page.words))
    facts.add_row("nearest", ", ".join(author.name for author in page.nearest) or "–")
    facts.add_row("co-authors", ", ".join(author.name for author in page.coauthors[:8]) or "–")
    return [facts, _paper_list("Papers", page.publications[:20])]


def _with_intervals(weights: Sequence[TopicWeight], width: int = _NAME) -> list[str]:
    parts = []
    for part in weights:
        span = ""
        if part.low is not None and part.high is not None:
            span = f"{_SPACE}({100 * part.low:.0f}–{100 * part.high:.0f})"
        name = short_label(part.name, width)
        parts.append(f"{100 * part.weight:.0f}{_SPACE}%{span} {name}")
    return parts


def paper_table(view: Exploration, frame: "pl.DataFrame", topic: int | None) -> Table:
    """List papers: influence, topic, what they are cited for."""
    influence = view.cited_propensity is not None
    title = "Papers" if topic is None else f"Papers of topic {topic}: {view.topic_name(topic)}"
    table = new_table(f"{title}, by {'lambda-' if influence else 'citations'}")
    add_figures(table, "paper")
    if influence:
        add_figures(table, "lambda-")
    if view.cite_propensity is not None:
        add_figures(table, "lambda+")
    add_figures(table, "cited")
    if view.has_years:
        add_figures(table, "year")
    table.add_column("title, topics, cited for", ratio=1)
    for row in frame.iter_rows(named=True):
        cells: list[Any] = [str(row["paper"])]
        if influence:
            cells.append(_figure(row["cited_propensity"]))
        if view.cite_propensity is not None:
            cells.append(_figure(row["cite_propensity"]))
        cells.append(f"{row['cited']:,}")
        if view.has_years:
            cells.append(str(row["year"] or ""))
        names = [view.topic_name(k) for k in row["topics"]]
        topics = _mixture(zip(names, row["weights"], strict=True), _SHORT)
        lines: list[Any] = [Text(row["title"], style="bold", no_wrap=True, overflow="ellipsis")]
        lines.append(Fitting(topics, "; ", lines=2))
        if row["cited_for"] is not None and row["cited_for"] != row["topic"]:
            lines.append(Fitting([f"cited for {row['cited_for_name']}"], ""))
        table.add_row(*cells, Group(*lines))
    return table


def paper_page(page: PaperPage) -> list[Any]:
    """Show all about a paper."""
    facts = fact_table()
    facts.add_row("paper", f"{page.paper}: {page.title}")
    facts.add_row("id", page.id)
    if page.authors:
        facts.add_row("authors", ", ".join(author.name for author in page.authors))
    for name, value in (("year", page.year), ("category", page.category)):
        if value is not None:
            facts.add_row(name, str(value))
    for name in ("venue", "doi"):
        if page.metadata.get(name):
            facts.add_row(name, str(page.metadata[name]))
    facts.add_row("citations", f"cited {page.cited:,} times, cites {page.cites:,} in the corpus")
    if page.cited_propensity is not None:
        citing = f", lambda+ {_figure(page.cite_propensity, 2)}" if page.cite_propensity else ""
        facts.add_row("propensity", f"lambda- {_figure(page.cited_propensity, 2)}{citing} (mean 1)")
    facts.add_row("topics", "; ".join(_mixture(page.topics)))
    parts: list[Any] = [facts]
    if page.differences:
        table = new_table("About against cited for", expand=False)
        table.add_column("topic", no_wrap=True, overflow="ellipsis")
        add_figures(table, "about", "cited for", "difference")
        for row in page.differences:
            shares = (
                _percent(row.about, 0),
                _percent(row.cited_for, 0),
                f"{100 * row.difference:+.0f} points",
            )
            table.add_row(short_label(row.name, 40), *shares)
        parts.append(table)
    for title, links in (
        ("Similar papers", page.similar),
        ("Cited by", page.cited_by[:10]),
        ("References", page.references[:10]),
    ):
        if links:
            parts.append(_paper_list(title, links))
    return parts


def _paper_list(title: str, links: Sequence[Any]) -> Table:
    table = new_table(title)
    add_figures(table, "paper", "cited")
    if any(link.year for link in links):
        add_figures(table, "year")
    table.add_column("title", no_wrap=True, overflow="ellipsis", ratio=3)
    several = len({link.topic for link in links}) > 1
    if several:
        table.add_column("topic", no_wrap=True, overflow="ellipsis", ratio=2)
    for link in links:
        cells = [str(link.paper), f"{link.cited:,}"]
        if any(other.year for other in links):
            cells.append(str(link.year or ""))
        cells.append(link.title)
        if several:
            cells.append(short_label(link.topic_name, _SHORT))
        table.add_row(*cells)
    return table


def citation_table(view: Exploration, frame: "pl.DataFrame") -> Table:
    """List citations with their most probable topics."""
    table = new_table(f"Citations ({len(frame):,} of {view.corpus.n_citations:,})")
    add_figures(table, "citing", "cited")
    table.add_column("who cites whom, and for what", ratio=1)
    columns = [name for name in frame.columns if name.startswith("topic_") and name != "topic_name"]
    for row in frame.iter_rows(named=True):
        parts = sorted(((row[name], int(name[6:])) for name in columns), reverse=True)[:3]
        weights = [(view.topic_name(k), p) for p, k in parts if p >= 0.05]
        lines: list[Any] = [
            Text(row["citing_title"], no_wrap=True, overflow="ellipsis"),
            Text(f"→ {row['cited_title']}", no_wrap=True, overflow="ellipsis"),
            Fitting(_mixture(weights, _SHORT), "; "),
        ]
        table.add_row(str(row["citing"]), str(row["cited"]), Group(*lines))
    return table


def flow_table(view: Exploration, frame: "pl.DataFrame") -> Table:
    """List the largest flows of citations between topics."""
    table = new_table("Citations from topic to topic")
    add_figures(table, "citations")
    if "lift" in frame.columns:
        add_figures(table, "share", "lift")
    for name in ("from", "to"):
        table.add_column(name, no_wrap=True, overflow="ellipsis", ratio=1)
    if "made_for" in frame.columns:
        table.add_column("made for", no_wrap=True, overflow="ellipsis", ratio=1)
    for row in frame.iter_rows(named=True):
        cells = [_figure(row["citations"], 0)]
        if "lift" in frame.columns:
            cells += [_percent(row["share"], 0), _figure(row["lift"], 2)]
        ends = [view.topic_name(row[name]) for name in ("citing_topic", "cited_topic")]
        if "made_for" in frame.columns:
            ends.append(row["made_for_name"])
        table.add_row(*cells, *(Text(end, no_wrap=True, overflow="ellipsis") for end in ends))
    return table


def category_table(view: Exploration, frame: "pl.DataFrame") -> Table:
    """List categories with their topics."""
    how = "by the model" if view.supervised else "means of their papers; the model did not see them"
    table = new_table(f"Categories and their topics ({how})")
    table.add_column("category", no_wrap=True, overflow="ellipsis", min_width=14, ratio=1)
    add_figures(table, "papers")
    table.add_column("topics and words of the main one", ratio=3)
    for row in frame.iter_rows(named=True):
        pairs = zip(row["topic_names"], row["weights"], strict=True)
        lines = Group(Fitting(_mixture(pairs, _SHORT), "; "), Fitting(row["words"], ", "))
        table.add_row(row["name"], f"{row['papers']:,}", lines)
    return table


def crosstab_table(view: Exploration, frame: "pl.DataFrame") -> Table:
    """List topics with their shares in each category, the largest categories first."""
    papers: dict[str, int] = {}
    for name, number in zip(frame["name"], frame["papers"], strict=True):
        papers[name] = papers.get(name, 0) + number
    shown = sorted(papers, key=lambda name: -papers[name])[:6]
    table = new_table("Share of each topic in each category")
    table.add_column("topic", no_wrap=True, overflow="ellipsis", ratio=1)
    for name in shown:
        table.add_column(name, justify="right", no_wrap=True, overflow="ellipsis", max_width=12)
    cells = {(row["name"], row["topic"]): row["share"] for row in frame.iter_rows(named=True)}
    for k in view.order:
        table.add_row(
            f"{k} {short_label(view.topic_name(k), 40)}",
            *(_percent(cells[name, k], 0) for name in shown),
        )
    return table


def inspection(found: Inspection) -> list[Any]:
    """Show the counts of a document as the paper's worked example has them."""
    facts = fact_table()
    facts.add_row("document", f"{found.document}: {found.title}")
    table = new_table("Customers c and tables t of each topic, and its citations h")
    add_figures(table, "topic")
    for level in found.levels:
        add_figures(table, f"c {level}", f"t {level}")
        if level == found.levels[0] and found.citation_level is not None:
            add_figures(table, "h cites", "h cited")
    table.add_column("name and words", ratio=1)
    for row in found.rows:
        cells = [str(row.topic)]
        for place, counts in enumerate(row.levels):
            cells += [str(counts.customers), str(counts.tables)]
            if place == 0 and found.citation_level is not None:
                cells += [str(row.cites), str(row.cited)]
        name = Text(row.name, style="bold", no_wrap=True, overflow="ellipsis")
        table.add_row(*cells, Group(name, Fitting(row.examples, ", ")))
    parts: list[Any] = [facts, table]
    if found.by_author:
        authors = new_table("Words by author", expand=False)
        authors.add_column("author")
        add_figures(authors, "words", "topic")
        authors.add_column("name", no_wrap=True, overflow="ellipsis")
        for entry in found.by_author:
            authors.add_row(
                entry["author"], str(entry["words"]), str(entry["topic"]), entry["name"]
            )
        parts.append(authors)
    return [*parts, *(Text(line) for line in found.text)]
