"""A small export file, as a person might have it: 48 papers that cite each other."""

import csv
import io
import random

SUBJECTS = {
    "Soil": (
        "soil crop wheat nitrogen water harvest drought grain plough root",
        "field farm yield",
    ),
    "Galaxy": ("galaxy star quasar nova dust halo cluster planet comet moon", "light mass orbit"),
    "Syntax": ("grammar verb clause noun vowel word speech dialect tense case", "rule form sound"),
}


def _words(subject: str) -> list[str]:
    """Make words of a subject, many enough that none is in too many papers to count."""
    first, second = (part.split() for part in SUBJECTS[subject])
    return [*first, *(f"{one}{other}" for one in first for other in second)]


PAPERS = 48


def sample_csv(papers: int = PAPERS) -> bytes:
    """Write a table with titles, abstracts, authors, years, labels and references."""
    draw = random.Random(7)  # noqa: S311 (a sample, not a secret)
    names = list(SUBJECTS)
    text = io.StringIO()
    out = csv.writer(text)
    out.writerow(["id", "title", "abstract", "authors", "year", "category", "references"])
    for i in range(papers):
        subject = names[i % len(names)]
        words = _words(subject)
        earlier = list(range(i % len(names), i, len(names)))
        cited = draw.sample(earlier, min(3, len(earlier)))
        out.writerow(
            [
                f"p{i}",
                f"{subject} studies, part {i}: {' '.join(draw.sample(words, 3))}",
                " ".join(draw.choice(words) for _ in range(30)) + ".",
                f"{subject}er, {'ABCD'[i % 4]}.; Writer, {'XYZ'[i % 3]}.",
                2000 + i // 3,
                subject,
                "; ".join(f"p{j}" for j in cited),
            ]
        )
    return text.getvalue().encode()
