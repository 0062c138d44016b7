"""The report of the import of a snapshot, compiled from the counts of its parts and shards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.preparing.encode import Encoded
from citeweave.preparing.keys import scrub
from citeweave.preparing.matching import FATES
from citeweave.preparing.report import UNREADABLE, Report
from citeweave.preparing.run import changed_settings, describe_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citeweave.preparing.encode import TextPlan
    from citeweave.preparing.places import ResolvedPlaces
    from citeweave.preparing.settings import Settings
    from citeweave.preparing.snapshot.shards import ShardSums
    from citeweave.reading.openalex_snapshot import SnapshotPart

__all__ = ["begin_report", "finish_report"]

_EXCLUDED_SHOWN = 50
_PROBLEMS_KEPT = 1000


def begin_report(settings: Settings, told: Sequence[dict[str, Any]]) -> Report:
    """Begin the report with the results of reading the parts."""
    report = Report(settings_changed=changed_settings(settings))
    counts = [found["counts"] for found in told]
    report.records_read = sum(one["read"] for one in counts)
    report.records_unreadable = sum(one["skipped"] for one in counts)
    report.skip(UNREADABLE, report.records_unreadable)
    report.files = counts
    for found in told:
        for reason, number in found["skipped"].items():
            report.skip(reason, number)
        for code, number in found["languages"].items():
            dropped = report.languages_dropped
            dropped[code] = dropped.get(code, 0) + number
        for name, number in found["as_read"].items():
            if name != "works":
                report.as_read[name] = report.as_read.get(name, 0) + number
        report.problems_total += found["problems_total"]
        report.problems += found["problems"][: _PROBLEMS_KEPT - len(report.problems)]
    excluded: dict[str, int] = {}
    for found in told:
        for name, number in found["excluded"].items():
            excluded[name] = excluded.get(name, 0) + number
    most = sorted(excluded.items(), key=lambda pair: (-pair[1], pair[0]))[:_EXCLUDED_SHOWN]
    report.authors_excluded = {scrub(name): number for name, number in most}
    report.authors_excluded_mentions = sum(excluded.values())
    return report


def finish_report(
    report: Report,
    parts: Sequence[SnapshotPart],
    plan: TextPlan,
    sums: ShardSums,
    places: ResolvedPlaces,
    authors: tuple[int, int],
) -> None:
    """Add the counts of the finished corpus; `authors` are their number and those with an id."""
    nothing = np.zeros(0, dtype=np.int64)
    describe_words(report, Encoded(nothing, nothing, nothing, **plan.facts))
    report.tokens = sum(one["tokens"] for one in sums.counts)
    report.vocabulary = len(plan.facts["vocabulary"])
    report.documents = sum(one["documents"] for one in sums.counts)
    for name in ("title", "abstract", "keywords", "authors", "year", "category", "affiliation"):
        setattr(report, f"with_{name}", sums.known.get(name, 0))
    report.authors, report.authors_identified = authors
    report.author_mentions = sum(one["author_mentions"] for one in sums.counts)
    report.institutions = len(sums.institutions)
    ids = dict(zip(places.names, places.ids, strict=True))
    report.institutions_identified = sum(bool(ids[name]) for name in sums.institutions)
    report.countries = len(sums.countries)
    by_part = {part.name: sums.fates_of(number) for number, part in enumerate(parts)}
    by_part = {name: fates for name, fates in by_part.items() if any(fates.values())}
    report.citations_by_source = {
        name: {"references": sum(fates.values()), **fates} for name, fates in by_part.items()
    }
    report.citations_by_fate = {
        fate: sum(fates[fate] for fates in by_part.values()) for fate in FATES
    }
    report.references = sum(report.citations_by_fate.values())
    report.citations_matched = sum(one["citations"] for one in sums.counts)
    report.warnings += plan.facts["warnings"]
    empty = sums.missing["empty_documents"]
    if empty:
        report.warnings.append(f"{empty} documents have no words in the vocabulary.")
    if report.references and not report.citations_matched:
        report.warnings.append(
            f"None of the {report.references} references leads to a document in the corpus, so "
            "models will have no citation network."
        )
