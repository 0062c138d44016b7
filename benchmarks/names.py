"""Accuracy of author disambiguation: precision, recall and B-cubed F1 where the truth is known.

    python -m benchmarks.names                          # all sets that are on this computer
    python -m benchmarks.names works.jsonl scopus.csv   # exports whose author ids are hidden
    python -m benchmarks.names --page docs/how-to/people.md    # update the table of the page

Every set is imported with each rule of `author_names`, with identifiers hidden, and the result is
compared with the truth:

- *ieee-vis*: DBLP distinguishes people by full names and numbers. The numbers are hidden; then
  the names of half of the papers, or of all, are cut to the first initial. Names that DBLP itself
  leaves ambiguous ("A. Kaufman" next to "Arie E. Kaufman") take part but are not scored.
- *hep-th*: names in full whose family name nobody else bears are surely one person's. In a random
  half of the papers they are cut to initials; and 200 of these people get 40 common names, such as
  "Y. Zhang", five people per name.
- *made up*: works in the manner of OpenAlex (`made_up_works`).
- Files of your own with author ids or ORCIDs.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.made_up_people import made_up_works

from citeweave.datasets.places import find
from citeweave.datasets.registry import find_dataset
from citeweave.preparing import Settings, prepare
from citeweave.preparing.authors import AuthorRegister, ResolvedAuthors
from citeweave.preparing.people.agreeing import agreement
from citeweave.preparing.people.prior import common_families
from citeweave.preparing.people.telling import compare_by
from citeweave.reading import Author, Record, read
from citeweave.reading.name_parts import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

RULES = ("initials", "full", "compatible", "evidence")
_MARKS = ("<!-- names -->", "<!-- end of names -->")


@dataclass(frozen=True)
class NameTest:
    """Records as an import sees them, and who wrote them.

    Attributes
    ----------
    name : str
    records : list of Record
        Without identifiers.
    truth : list of (Hashable or None)
        The person of each entry of the lists of authors, one list after the other; None where it
        is not scored.
    """

    name: str
    records: list[Record]
    truth: list[Hashable | None]


def scores(truth: Sequence[Hashable], found: Sequence[Hashable]) -> dict[str, float]:
    """Compare two partitions: pairs that are together, and B-cubed means over entries.

    Examples
    --------
    >>> measured = scores(["a", "a", "b"], [1, 1, 1])
    >>> round(measured["precision"], 3), measured["recall"], round(measured["b3_f1"], 3)
    (0.333, 1.0, 0.714)
    """
    both = Counter(zip(truth, found, strict=True))
    people, authors = Counter(truth), Counter(found)
    joint, of_truth, of_found = (_pairs(counts) for counts in (both, people, authors))
    precision = joint / of_found if of_found else 1.0
    recall = joint / of_truth if of_truth else 1.0
    right = sum(n * n / authors[author] for (_, author), n in both.items()) / max(len(truth), 1)
    whole = sum(n * n / people[person] for (person, _), n in both.items()) / max(len(truth), 1)
    return {
        "precision": precision,
        "recall": recall,
        "f1": _harmonic(precision, recall),
        "b3_precision": right,
        "b3_recall": whole,
        "b3_f1": _harmonic(right, whole),
        "people": len(people),
        "authors": len(authors),
    }


def _pairs(counts: Counter[Any]) -> int:
    return sum(n * (n - 1) // 2 for n in counts.values())


def _harmonic(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0


def resolve(test: NameTest, rule: str) -> list[int]:
    """Import the records by a rule; give the author of every entry."""
    kept: list[ResolvedAuthors] = []
    original = AuthorRegister.resolve

    def recorded(self: AuthorRegister, *args: Any, **options: Any) -> ResolvedAuthors:
        kept.append(original(self, *args, **options))
        return kept[-1]

    settings = Settings(
        author_names=rule,  # type: ignore[arg-type]
        deduplicate=False,
        language=None,
        exclusion_words=(),
        phrases=False,
    )
    AuthorRegister.resolve = recorded  # type: ignore[method-assign]
    try:
        prepare(test.records, settings=settings)
    finally:
        AuthorRegister.resolve = original  # type: ignore[method-assign]
    return [int(author) for author in kept[0].of_entry]


def measure(test: NameTest, rule: str) -> dict[str, Any]:
    """Score one rule on one set."""
    found = resolve(test, rule)
    scored = [place for place, person in enumerate(test.truth) if person is not None]
    values = scores([test.truth[place] for place in scored], [found[place] for place in scored])
    return {"set": test.name, "rule": rule, "entries": len(scored)} | values


def hidden(
    records: Sequence[Record],
    name: str,
    person_of: Callable[[Author], Hashable | None],
    written: Callable[[Author], tuple[str, str]],
    seed: int = 1,
) -> NameTest:
    """Hide who is who: names as `written`, in one way or the other for half of the papers each."""
    rng = np.random.default_rng(seed)
    made, truth = [], []
    for record in records:
        way = int(rng.random() < 0.5)
        authors = [author for author in record.authors if re.search(r"[^\W\d_]", author.name)]
        truth += [person_of(author) for author in authors]
        bare = tuple(
            Author(written(author)[way], affiliations=author.affiliations) for author in authors
        )
        made.append(replace(record, authors=bare))
    return NameTest(name, made, truth)


def initial_form(text: str) -> str:
    """Cut a name to family name and first initial."""
    name = parse(text)
    return f"{name.given[:1]}. {name.family}" if name.given else name.family


def without_number(text: str) -> str:
    """Take DBLP's number of a namesake away."""
    return re.sub(r" \d{4}$", "", text)


def load_records(name: str) -> list[Record]:
    """Read the records of a data set that is on this computer, none where it is not."""
    held = find(find_dataset(name))
    if held is None:
        print(f"{name} is not on this computer: left out", file=sys.stderr)
        return []
    paths = list(zip(held.paths, held.files, strict=True))
    links = [path for path, file in paths if file.citations]
    return list(read(paths[0][0], citations=links or None))


def vis_tests() -> Iterator[NameTest]:
    """IEEE VIS, with names in full, cut in half of the papers, and cut in all."""
    records = load_records("ieee-vis")
    if not records:
        return
    unsure = unsure_names(author.name for record in records for author in record.authors)

    def person(author: Author) -> str | None:
        return None if author.name in unsure else author.name

    def forms(author: Author) -> tuple[str, str]:
        name = without_number(author.name)
        return name, initial_form(name)

    full = hidden(records, "ieee-vis, full names", person, lambda a: forms(a)[:1] * 2)
    short = hidden(records, "ieee-vis, all by initials", person, lambda a: forms(a)[1:] * 2)
    yield full
    yield hidden(records, "ieee-vis, half by initials", person, forms)
    yield short


def unsure_names(written: Iterator[str]) -> set[str]:
    """Find names that could be one person's with another name that DBLP does not tell apart."""
    names = sorted(set(filter(str.strip, written)))
    parsed = [parse(name) for name in names]
    forms = compare_by([name._replace(number="") for name in parsed])
    blocks: dict[str, list[int]] = defaultdict(list)
    for place, form in enumerate(forms):
        blocks[form.block].append(place)
    unsure: set[str] = set()
    for members in blocks.values():
        for i, one in enumerate(members):
            for other in members[:i]:
                told = parsed[one].number and parsed[other].number
                if not told and agreement(forms[one], forms[other]) is not None:
                    unsure |= {names[one], names[other]}
    return unsure


def hep_tests() -> Iterator[NameTest]:
    """Surely single people of hep-th: cut in half of their papers; 200 of them renamed."""
    records = load_records("hep-th")
    if not records:
        return
    people = single_people(records)

    def person(author: Author) -> str | None:
        return people.get(author.name)

    def forms(author: Author) -> tuple[str, str]:
        return author.name, initial_form(author.name) if author.name in people else author.name

    yield hidden(records, "hep-th, half by initials", person, forms)
    papers = Counter(people[a.name] for r in records for a in r.authors if a.name in people)
    frequent = sorted(one for one, number in papers.items() if number >= 5)
    rng = np.random.default_rng(1)
    chosen = rng.permutation(frequent)[:200].tolist()
    common = [f.title() for f in list(common_families())[:8]]
    shared = [f"{initial}. {family}" for family in common for initial in "JSWYX"]
    renamed = {one: shared[i % len(shared)] for i, one in enumerate(chosen)}

    def merged(author: Author) -> tuple[str, str]:
        name = renamed.get(people.get(author.name, ""), author.name)
        return name, name

    def of_merged(author: Author) -> str | None:
        one = people.get(author.name)
        return one if one in renamed else None

    yield hidden(records, "hep-th, five people a name", of_merged, merged)


def single_people(records: Sequence[Record]) -> dict[str, str]:
    """Find written names in full whose family name one first name alone goes with."""
    names = sorted({author.name for record in records for author in record.authors})
    forms = compare_by([parse(name) for name in names])
    firsts: dict[str, set[str]] = defaultdict(set)
    for form in forms:
        firsts[form.family].add(form.first or (form.given[0][0][:1] if form.given else ""))
    return {
        name: form.family
        for name, form in zip(names, forms, strict=True)
        if form.first
        and len(form.family) > 3
        and form.family not in common_families()
        and firsts[form.family] <= {form.first, form.first[0]}
    }


def made_up_tests() -> Iterator[NameTest]:
    """Works of a made-up literature."""
    yield by_ids("made up", made_up_works(papers=4000, seed=1))


def by_ids(name: str, records: Sequence[Record]) -> NameTest:
    """Hide author ids and ORCIDs; authors without either are not scored."""

    def person(author: Author) -> str | None:
        return author.orcid or author.id

    return hidden(records, name, person, lambda author: (author.name, author.name))


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Write results as a table."""
    lines = [
        "| set | mentions | people | rule | authors | precision | recall | F1 | B³ F1 |",
        "|---|--:|--:|---|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        numbers = " | ".join(f"{row[key]:.3f}" for key in ("precision", "recall", "f1", "b3_f1"))
        lines.append(
            f"| {row['set']} | {row['entries']:,} | {row['people']:,} | `{row['rule']}` "
            f"| {row['authors']:,} | {numbers} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure all rules on all sets."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="*", help="exports with author ids, which are hidden")
    parser.add_argument("--rules", nargs="+", choices=RULES, default=RULES)
    parser.add_argument("--json", type=Path, help="append a line for each result to this file")
    parser.add_argument("--page", type=Path, help="put the table between the marks of this page")
    options = parser.parse_args()
    rows = []
    for test in tests(options.files):
        for rule in options.rules:
            rows.append(measure(test, rule))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
            if options.json:
                with options.json.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    print(markdown(rows))
    if options.page:
        page = options.page.read_text(encoding="utf-8")
        before, rest = page.split(_MARKS[0])
        after = rest.split(_MARKS[1])[1]
        made = f"{before}{_MARKS[0]}\n{markdown(rows)}\n{_MARKS[1]}{after}"
        options.page.write_text(made, encoding="utf-8")


def tests(files: Sequence[str]) -> Iterator[NameTest]:
    """Return the files named, or all sets of this benchmark."""
    for file in files:
        yield by_ids(Path(file).name, list(read(file)))
    if not files:
        yield from vis_tests()
        yield from hep_tests()
        yield from made_up_tests()


if __name__ == "__main__":
    main()
