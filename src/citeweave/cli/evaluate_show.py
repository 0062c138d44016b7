"""Print an evaluation: a table per part, the data behind it, and what is missing."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from citeweave.cli.show import add_figures, fact_table, new_table
from citeweave.evaluate import Evaluation, Measure

__all__ = ["print_evaluation"]

TITLES = {
    "clusters": "Clusters against categories",
    "labels": "Inferred categories",
    "words": "Perplexity of words (lower is better)",
    "topics": "Topics",
    "links": "Citation prediction",
    "chains": "Convergence",
}
TFIDF = ", tf-idf cosine"


def print_evaluation(found: Evaluation, run: str, console: Console) -> None:
    """Print all parts of an evaluation."""
    facts = fact_table()
    facts.add_row("run", run)
    facts.add_row("model", found.model)
    facts.add_row("training", f"{found.protocol['training_documents']:,} papers")
    test = found.protocol.get("test")
    if test is not None:
        text = (
            f"{test['documents']:,} papers, {test['citations_of_training_documents']:,} citations "
            "of training papers"
        )
        if test["training_documents_left_out"]:
            text += f" ({test['training_documents_left_out']:,} training papers left out)"
        facts.add_row("test", text)
    for note in found.protocol["notes"]:
        facts.add_row("note", note)
    console.print(facts)
    for part in TITLES:
        known = [measure for measure in found if measure.part == part and measure.known]
        if not known:
            continue
        console.print()
        if part == "chains":
            console.print(_chain_table(known))
        elif part == "links":
            _print_links(known, console)
        else:
            _print_part(part, known, console)
    if found.verdict:
        console.print(found.verdict)
    _print_missing([measure for measure in found if not measure.known], console)


def _format(value: float | None) -> str:
    if value is None:
        return "–"
    if abs(value) >= 100:
        return f"{value:,.1f}"
    return f"{value:.0f}" if float(value).is_integer() and abs(value) > 1 else f"{value:.3f}"


def _short(where: str) -> str:
    return {"training documents": "training", "test documents": "test"}.get(where, where)


def _print_part(part: str, known: Sequence[Measure], console: Console) -> None:
    """Print measures as rows and data sets as columns, or a plain list if the data sets differ."""
    places = list(dict.fromkeys(measure.where for measure in known))
    grid = all(_short(where) in {"training", "test"} for where in places)
    table = new_table(TITLES[part], expand=False)
    table.add_column("", no_wrap=True, min_width=28)
    if not grid:
        add_figures(table, "value")
        for measure in known:
            table.add_row(measure.name, _format(measure.value))
        console.print(table)
        return
    add_figures(table, *(_short(where) for where in places))
    values = {(measure.name, measure.where): measure.value for measure in known}
    for name in dict.fromkeys(measure.name for measure in known):
        cells = [
            _format(values[name, where]) if (name, where) in values else "" for where in places
        ]
        table.add_row(name, *cells)
    console.print(table)
    _print_notes(known, console)


def _print_notes(known: Sequence[Measure], console: Console) -> None:
    """Print what the figures are based on, once per data set and protocol."""
    notes = fact_table()
    for where in dict.fromkeys(measure.where for measure in known):
        here = [measure for measure in known if measure.where == where]
        for how in dict.fromkeys(measure.how for measure in here):
            names = [measure.name for measure in here if measure.how == how]
            several = len({measure.how for measure in here}) > 1
            label = names[0] if several else _short(where)
            notes.add_row(f" {label}", how)
    console.print(notes)


def _print_links(known: Sequence[Measure], console: Console) -> None:
    """Print the scores of the model and of tf-idf side by side, one table per set of citations."""
    for where in dict.fromkeys(measure.where for measure in known):
        here = {measure.name: measure for measure in known if measure.where == where}
        table = new_table(f"{TITLES['links']}: {where}", expand=False)
        table.add_column("", no_wrap=True, min_width=28)
        add_figures(table, "model", "tf-idf cosine")
        for name, measure in here.items():
            if not name.endswith(TFIDF):
                beside = here.get(f"{name}{TFIDF}")
                other = None if beside is None else beside.value
                table.add_row(name, _format(measure.value), _format(other))
        console.print(table)
        notes = fact_table()
        for how in dict.fromkeys(m.how for m in here.values() if not m.name.endswith(TFIDF)):
            first = next(name for name, measure in here.items() if measure.how == how)
            label = "AUC" if first == "AUC" else "ranking"
            notes.add_row(f" {label}", how)
        console.print(notes)


def _chain_table(known: Sequence[Measure]) -> Table:
    columns = ("R-hat", "bulk ESS", "tail ESS")
    values = {(measure.where, measure.name): measure.value for measure in known}
    table = new_table(f"{TITLES['chains']} ({known[0].how})", expand=False)
    table.add_column("trace", no_wrap=True, min_width=28)
    add_figures(table, *columns)
    for where in dict.fromkeys(measure.where for measure in known):
        cells = []
        for name in columns:
            value = values.get((where, name))
            digits = 3 if name == "R-hat" else 0
            cells.append("–" if value is None else f"{value:,.{digits}f}")
        table.add_row(where.removeprefix("trace of "), *cells)
    return table


def _print_missing(missing: Sequence[Measure], console: Console) -> None:
    """List what could not be measured, grouped by reason."""
    if not missing:
        return
    console.print()
    console.print("Not measured", style="bold")
    notes = fact_table()
    for part, how in dict.fromkeys((measure.part, measure.how) for measure in missing):
        same = [m for m in missing if (m.part, m.how) == (part, how)]
        names = ", ".join(dict.fromkeys(measure.name for measure in same))
        places = ", ".join(dict.fromkeys(_short(measure.where) for measure in same))
        notes.add_row(f" {names}", f"{places}: {how}")
    console.print(notes)
