"""Words that describe topics, labels made of them, and the names that people give to topics."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from citeweave.checksums import check_content, sealed
from citeweave.errors import ParameterError, RunError
from citeweave.explore.shared_file import SharedFile
from citeweave.files import write_atomically
from citeweave.model.describing import rank_words, relevance_scores
from citeweave.runs.folder import NAMES_FILE

__all__ = ["NAMES_FILE", "TopicNames", "make_labels", "short_label"]

_FORMAT = "citeweave-names"
_LONGEST = 80
_LABEL_WORDS = 3
_LABEL_AMONG = 25
_PHRASES_AMONG = 12
_LABEL_RELEVANCE = 0.4  # for a label being distinctive counts for more than being frequent


def make_labels(
    words: Sequence[Sequence[str]], categories: Sequence[str | None] | None = None
) -> list[str]:
    """Label each topic by its two or three most distinctive words; all labels are different.

    Parameters
    ----------
    words : for each topic its words, the most distinctive first
    categories : for each topic the category it belongs to, or None

    Examples
    --------
    >>> make_labels([["volume rendering", "rendering", "volumes", "gpu"]])
    ['volume rendering, gpu']
    >>> make_labels([["gene", "cell"], ["gene", "cell"]], ["Biology", None])
    ['Biology: gene, cell', 'gene, cell']
    """
    labels: list[str] = []
    seen: dict[str, int] = {}
    for number, row in enumerate(words):
        label = ", ".join(_distinct(row)) or "no words"
        category = categories[number] if categories is not None else None
        if category:
            label = f"{category}: {label}"
        seen[label] = seen.get(label, 0) + 1
        labels.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return labels


def short_label(label: str, width: int) -> str:
    """Shorten a label to a width, between words if possible.

    Examples
    --------
    >>> short_label("volume rendering, transfer functions, gpu", 26)
    'volume rendering'
    """
    if len(label) <= width:
        return label
    parts = label.split(", ")
    while len(parts) > 1 and len(", ".join(parts)) > width:
        parts.pop()
    kept = ", ".join(parts)
    return kept if len(kept) <= width else kept[: max(width - 1, 1)].rstrip() + "…"


def _distinct(row: Sequence[str]) -> list[str]:
    """Take words that say something new: no plural, part or longer form of one taken already.

    A phrase near the top stands for the word in it, since it says more.
    """
    phrases = [word for word in row[:_PHRASES_AMONG] if " " in word]
    taken: list[str] = []
    for word in row:
        if len(taken) == _LABEL_WORDS:
            break
        longer = next((phrase for phrase in phrases if word in phrase.split()), word)
        for choice in (longer, word):
            if not any(_related(choice, other) for other in taken):
                taken.append(choice)
                break
    return taken


def _related(word: str, other: str) -> bool:
    parts = [text.replace("-", " ").split() for text in (word, other)]
    stems = [{_stem(part) for part in texts if len(part) > 2} for texts in parts]
    return word == other or bool(stems[0] & stems[1])


def _stem(word: str) -> str:
    """Cut endings roughly: enough to see that two words are forms of one, not to show."""
    plain = word.casefold()
    for ending in ("ies", "es", "s", "y", "e"):
        if plain.endswith(ending) and len(plain) - len(ending) >= 3:
            plain = plain[: -len(ending)]
            break
    return plain[:6]


def label_words(
    topic_word: np.ndarray, share: np.ndarray, occurs: np.ndarray, vocabulary: Sequence[str]
) -> list[list[str]]:
    """Select words for labels among the most probable words of each topic.

    Only those are considered, because the most distinctive words overall are rare ones.
    """
    probable = rank_words(topic_word, share, occurs, relevance=1.0, number=_LABEL_AMONG)
    score = relevance_scores(topic_word, share, occurs, _LABEL_RELEVANCE)
    order = np.argsort(-np.take_along_axis(score, probable, axis=1), axis=1, kind="stable")
    ranked = np.take_along_axis(probable, order, axis=1)
    return [[vocabulary[word] for word in row] for row in ranked.tolist()]


class TopicNames(SharedFile[dict[int, str]]):
    """Names given to topics by people, kept in ``names.json`` of the run.

    Parameters
    ----------
    folder : Path or None
        Folder of the run; None keeps names in memory only.
    chain : int
        The chain whose numbering of topics is used; names for that of another are ignored.
    """

    def __init__(self, folder: Path | None, chain: int = 0) -> None:
        self._chain = chain
        self.note: str | None = None
        super().__init__(None if folder is None else folder / NAMES_FILE, {})

    def get(self, topic: int) -> str | None:
        """Return the name of a topic, or None."""
        return self.content.get(topic)

    def as_dict(self) -> dict[int, str]:
        """Return all names by topic."""
        return dict(self.content)

    def set(self, topic: int, name: str | None) -> None:
        """Name a topic, or remove its name with None or an empty string; saved immediately."""
        text = " ".join((name or "").split())
        if len(text) > _LONGEST or not text.isprintable():
            raise ParameterError(
                f"A topic's name must be of printable characters, {_LONGEST} at most. "
                f"Got {len(text)} characters, {text[:40]!r}, instead."
            )

        def renamed(names: dict[int, str]) -> dict[int, str]:
            others = {number: name for number, name in names.items() if number != topic}
            return others | {topic: text} if text else others

        self.change(renamed)

    def _load(self, path: Path) -> dict[int, str]:
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise
        except OSError as error:
            raise RunError(
                f"'{path}' cannot be read: {error.strerror or error}. Correct its permissions."
            ) from error
        except ValueError as error:
            raise RunError(
                f"'{path}' is not valid JSON ({error}). Correct it, or remove it; the topic names "
                "are then lost."
            ) from error
        if not _is_names(stored):
            raise RunError(
                f"'{path}' is not a list of topic names. Correct it, or remove it; the topic names "
                "are then lost."
            )
        check_content(stored, path, RunError)
        if stored["chain"] != self._chain:
            self.note = (
                f"The names in {NAMES_FILE} were given to the topics of chain {stored['chain']}, "
                f"but the run now shows chain {self._chain}, so they are not used."
            )
            return {}
        return {int(topic): name for topic, name in stored["topics"].items()}

    def _save(self, path: Path, content: dict[int, str]) -> None:
        stored = {
            "format": _FORMAT,
            "version": 1,
            "chain": self._chain,
            "topics": {str(topic): content[topic] for topic in sorted(content)},
        }
        with write_atomically(path) as file:
            file.write(sealed(stored).encode())


def _is_names(stored: Any) -> bool:
    if not isinstance(stored, dict) or stored.get("format") != _FORMAT:
        return False
    topics = stored.get("topics")
    return (
        isinstance(stored.get("chain"), int)
        and isinstance(topics, dict)
        and all(key.isdecimal() and isinstance(name, str) for key, name in topics.items())
    )
