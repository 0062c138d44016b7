"""The result of an evaluation: one row per measure, and where and how it was computed."""

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from citeweave.errors import ParameterError
from citeweave.files import write_text

__all__ = ["Evaluation", "Measure", "check_file"]

_ENDINGS = (".json", ".csv", ".md")


def check_file(path: str | os.PathLike[str]) -> Path:
    """Raise an error, before any work is done, if a file has a suffix that cannot be written."""
    target = Path(path)
    if target.suffix not in _ENDINGS:
        raise ParameterError(
            f"An evaluation is written as {', '.join(_ENDINGS)}. Got '{target.name}' instead."
        )
    return target


@dataclass(frozen=True)
class Measure:
    """One measure of a model.

    Attributes
    ----------
    part : str
        Subject: clusters, labels, words, topics, links or chains.
    name : str
        The measure, such as "NMI" or "perplexity, in sample".
    where : str
        The documents, citations or draws from which it was computed.
    value : float, optional
        None if it cannot be computed; `how` then says why.
    how : str
        Description of the protocol, or the reason why there is no value.

    Examples
    --------
    >>> from citeweave.evaluate import Measure
    >>> Measure("clusters", "NMI", "training documents", None, "no categories").known
    False
    """

    part: str
    name: str
    where: str
    value: float | None
    how: str

    @property
    def known(self) -> bool:
        """Whether there is a value."""
        return self.value is not None


@dataclass(frozen=True)
class Evaluation:
    """All measures of one model, tidy: see `table`, `to_dict` and indexing by name.

    Attributes
    ----------
    model : str
        Name of the model.
    measures : tuple of Measure
    verdict : str
        Verdict on the chains, in one line; empty for a model without chains.
    protocol : mapping
        Settings of the evaluation: test documents, labels, words, method, seed.

    Examples
    --------
    >>> found = Evaluation("scntm", (Measure("clusters", "NMI", "training documents", 0.5, "..."),))
    >>> found["NMI"], found.table()[0]["where"]
    (0.5, 'training documents')
    """

    model: str
    measures: tuple[Measure, ...]
    verdict: str = ""
    protocol: Mapping[str, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Measure]:
        """Iterate over the measures."""
        return iter(self.measures)

    def __getitem__(self, key: str | tuple[str, str]) -> float:
        """Return the value of a measure by name, or by (name, where) if there are several.

        If there are several, the first with a value is returned.
        """
        name, where = key if isinstance(key, tuple) else (key, None)
        found = [m for m in self.measures if m.name == name and where in {None, m.where}]
        if not found:
            names = sorted({measure.name for measure in self.measures})
            raise KeyError(f"There is no measure {key!r}; there are: {', '.join(names)}.")
        for measure in found:
            if measure.value is not None:
                return measure.value
        raise KeyError(f"{name} could not be computed: {found[0].how}")

    def table(self) -> list[dict[str, Any]]:
        """Return one row per measure, with the keys part, measure, where, value and how.

        Examples
        --------
        >>> from citeweave.evaluate import Evaluation, Measure
        >>> found = Evaluation("scntm", (Measure("clusters", "NMI", "all documents", 0.5, ""),))
        >>> found.table()[0]["value"]
        0.5
        """
        return [
            {
                "part": measure.part,
                "measure": measure.name,
                "where": measure.where,
                "value": measure.value,
                "how": measure.how,
            }
            for measure in self.measures
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as values for JSON; infinite values become the string "inf".

        Examples
        --------
        >>> from citeweave.evaluate import Evaluation, Measure
        >>> found = Evaluation("scntm", (Measure("clusters", "NMI", "all documents", 0.5, ""),))
        >>> found.to_dict()["model"]
        'scntm'
        """
        rows = [asdict(measure) for measure in self.measures]
        for row in rows:
            if row["value"] is not None and math.isinf(row["value"]):
                row["value"] = "inf"
        return {
            "kind": "evaluation",
            "model": self.model,
            "verdict": self.verdict,
            "protocol": dict(self.protocol),
            "measures": rows,
        }

    def _repr_html_(self) -> str:
        """Show the measures as a table in notebooks, those without a value last with the reason."""
        from citeweave.html import html_table  # noqa: PLC0415 (for notebooks alone)

        rows = [
            (m.part, m.name, m.where, "–" if m.value is None else f"{m.value:.4g}", m.how)
            for m in sorted(self.measures, key=lambda measure: not measure.known)
        ]
        title = f"Evaluation of {self.model}" + (f". {self.verdict}" if self.verdict else "")
        return html_table(["part", "measure", "where", "#value", "how"], rows, caption=title)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the rows to a .json, .csv or .md file (a Markdown table), by its suffix.

        Examples
        --------
        >>> from citeweave.evaluate import Evaluation, Measure
        >>> found = Evaluation("scntm", (Measure("clusters", "NMI", "all documents", 0.5, ""),))
        >>> found.save("measures.csv").name
        'measures.csv'
        """
        target = check_file(path)
        writers = {".json": self._as_json, ".csv": self._as_csv, ".md": self._as_markdown}
        write_text(target, writers[target.suffix]())
        return target

    def _as_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def _as_csv(self) -> str:
        import csv  # noqa: PLC0415 (only where such a file is asked for)
        import io  # noqa: PLC0415

        text = io.StringIO()
        writer = csv.DictWriter(text, ["part", "measure", "where", "value", "how"])
        writer.writeheader()
        writer.writerows(self.table())
        return text.getvalue()

    def _as_markdown(self) -> str:
        lines = ["| measure | where | value | how |", "|---|---|---|---|"]
        for measure in self.measures:
            value = "–" if measure.value is None else f"{measure.value:.4g}"
            lines.append(f"| {measure.name} | {measure.where} | {value} | {measure.how} |")
        if self.verdict:
            lines += ["", self.verdict]
        return "\n".join(lines) + "\n"
