"""Details of one topic, author, paper or document, for the terminal."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from citeweave.cli.explore_show import (
    NAME,
    SHORT,
    mixture,
    sparkline,
    with_intervals,
)
from citeweave.cli.show import Fitting, add_figures, fact_table, new_table
from citeweave.explore import AuthorPage, Inspection, PaperLink, PaperPage, TopicPage
from citeweave.explore.labels import short_label
from citeweave.explore.pages import CategoryWeight
from citeweave.wording import count, number, percent, quoted

__all__ = ["author_page", "inspection", "paper_list", "paper_page", "topic_page"]


def topic_page(page: TopicPage) -> list[Any]:
    """Show the details of a topic."""
    facts = fact_table()
    facts.add_row("topic", f"{page.topic}: {page.name}")
    if page.renamed:
        facts.add_row("label", page.label)
    facts.add_row("share", f"{percent(page.share)} (main topic of {count(page.papers, 'paper')})")
    if page.years:
        growth = f", {percent(page.growth, signed=True)} a year" if page.growth is not None else ""
        span = f"{page.years[0]} {sparkline(page.trend, 40)} {page.years[-1]}"
        facts.add_row("trend", f"{span}{growth}")
    facts.add_row("coherence", number(page.coherence, 2))
    facts.add_row("words", ", ".join(word.word for word in page.words))
    facts.add_row("distinctive", ", ".join(word.word for word in page.distinctive))
    for name, weights in (
        ("similar topics", page.similar[:3]),
        ("cites", page.cites[:5]),
        ("cited by", page.cited_by[:5]),
    ):
        if weights:
            facts.add_row(name, "; ".join(mixture(weights)))
    if page.categories:
        parts = [f"{row['name']} {percent(row['share'], 0)}" for row in page.categories]
        facts.add_row("categories", ", ".join(parts))
    if page.authors:
        facts.add_row("authors", ", ".join(author.name for author in page.authors))
    listed = page.influential_papers or page.typical_papers
    return [facts, paper_list("Influential papers", listed)]


def author_page(page: AuthorPage) -> list[Any]:
    """Show the details of an author."""
    facts = fact_table()
    facts.add_row("author", f"{page.author}: {page.name}")
    first = f"{page.first_papers:,} as first author"
    span = f", {page.years[0]}–{page.years[1]}" if page.years else ""
    facts.add_row("papers", f"{page.papers:,} ({first}{span})")
    if page.institutions:
        names = [f"{one['name']} ({one['papers']:,})" for one in page.institutions]
        facts.add_row("institutions", ", ".join(names))
    facts.add_row("citations", f"{page.citations:,} in the corpus (h-index {page.h_index:,})")
    if page.influence is not None:
        whole = number(page.influence_all, 1)
        counted = f"{number(page.influence, 1)} ({whole} if each paper counts fully)"
        facts.add_row("influence", counted)
        parts = [
            f"{number(part.weight, 1)} {short_label(part.name, NAME)}"
            for part in page.influence_by_topic
        ]
        facts.add_row("influence in", "; ".join(parts))
    source = "" if page.topics_from == "model" else " (from their papers)"
    facts.add_row("topics", "; ".join(with_intervals(page.topics)) + source)
    facts.add_row("words", ", ".join(page.words))
    facts.add_row("nearest", ", ".join(author.name for author in page.nearest) or "–")
    facts.add_row("co-authors", ", ".join(author.name for author in page.coauthors[:8]) or "–")
    return [facts, paper_list("Papers", page.publications[:20])]


def _reasons(one: CategoryWeight) -> str:
    """Show how probable a category is, and why."""
    parts = [f"{one.name} {percent(one.probability, 0)}"]
    if one.odds:
        shown = [f"{name} {value:+.1f}" for name, value in one.odds.items() if abs(value) >= 0.05]
        parts.append(f"log odds by {', '.join(shown)}")
    parts.append(f"{count(one.linked, 'linked paper')} in it")
    if one.words:
        parts.append("words " + ", ".join(reason.word for reason in one.words))
    if one.topics:
        parts.append("topics " + ", ".join(short_label(part.name, NAME) for part in one.topics))
    if one.papers:
        titles = [quoted(short_label(link.title, NAME)) for link in one.papers[:3]]
        parts.append(f"papers {', '.join(titles)}")
    if one.authors:
        parts.append("other papers by " + ", ".join(author.name for author in one.authors[:3]))
    return "; ".join(parts)


def paper_page(page: PaperPage) -> list[Any]:
    """Show the details of a paper."""
    facts = fact_table()
    facts.add_row("paper", f"{page.paper}: {page.title}")
    facts.add_row("id", page.id)
    if page.authors:
        facts.add_row("authors", ", ".join(author.name for author in page.authors))
    for name, value in (("year", page.year), ("category", page.category)):
        if value is not None:
            facts.add_row(name, str(value))
    for one in page.drawn_categories:
        facts.add_row("category", _reasons(one))
    for name in ("venue", "document_type", "institutions", "countries", "funders", "doi"):
        value = page.metadata.get(name)
        if value:
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            facts.add_row(name.replace("_", " "), text)
    facts.add_row("citations", f"cited {page.cited:,} times, cites {page.cites:,} in the corpus")
    if page.cited_propensity is not None:
        told = number(page.cited_propensity, 2)
        if page.cite_propensity is not None:
            citing = number(page.cite_propensity, 2)
            told = f"{number(page.cited_propensity, 2)} (λ⁻), tendency to cite {citing} (λ⁺)"
        facts.add_row("influence", f"{told}; 1 is average")
    facts.add_row("topics", "; ".join(mixture(page.topics)))
    parts: list[Any] = [facts]
    if page.differences:
        table = new_table("Topics: about and cited for", expand=False)
        table.add_column("topic", no_wrap=True, overflow="ellipsis")
        add_figures(table, "about", "cited for", "difference")
        for row in page.differences:
            shares = (
                percent(row.about, 0),
                percent(row.cited_for, 0),
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
            parts.append(paper_list(title, links))
    return parts


def paper_list(title: str, links: Sequence[PaperLink]) -> Table:
    """List papers."""
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
            cells.append(short_label(link.topic_name, SHORT))
        table.add_row(*cells)
    return table


def inspection(found: Inspection) -> list[Any]:
    """Show the counts of a document as in the paper's worked example."""
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
