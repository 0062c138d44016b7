"""Place a new paper: its text is prepared as the corpus was, then the exploration does the rest."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property

from citeweave.errors import CorpusError, ParameterError
from citeweave.explore import Exploration, Placement
from citeweave.prepare import Pipeline
from citeweave.prepare.stopwords import stop_words

__all__ = ["LONGEST_ABSTRACT", "LONGEST_TITLE", "MOST_REFERENCES", "Placer", "vocabulary_words"]

LONGEST_TITLE = 1_000
LONGEST_ABSTRACT = 50_000
MOST_REFERENCES = 1_000
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class Placer:
    """Finds the place of papers that are not in the corpus."""

    def __init__(self, view: Exploration) -> None:
        self._view = view

    @cached_property
    def tokenise(self) -> Callable[[str, str], list[str]]:
        """Turn title and abstract into words of the vocabulary, as the corpus was made."""
        corpus = self._view.corpus
        try:
            pipeline = Pipeline.from_preparation(corpus.preparation)
        except CorpusError:
            # a corpus made from ready words does not say how: look its vocabulary up in the text
            find = vocabulary_words(corpus.vocabulary)
            return lambda title, abstract: [*find(title), *find(abstract)]

        def prepared(title: str, abstract: str) -> list[str]:
            first, other = pipeline.tokens(title, abstract)
            return [*first, *other]

        return prepared

    def place(self, title: str, abstract: str, references: Sequence[str]) -> Placement:
        """Place a paper.

        Parameters
        ----------
        title, abstract : str
            At least one must have words.
        references : sequence of str
            What it cites, each by a title or an identifier of the corpus.
        """
        title, abstract = title.strip(), abstract.strip()
        wanted = [line.strip() for line in references if line.strip()]
        if not title and not abstract:
            raise ParameterError("A title or an abstract is needed; both are empty.")
        for name, text, longest in (
            ("title", title, LONGEST_TITLE),
            ("abstract", abstract, LONGEST_ABSTRACT),
        ):
            if len(text) > longest:
                raise ParameterError(
                    f"The {name} has {len(text):,} characters; at most {longest:,} are read."
                )
        if len(wanted) > MOST_REFERENCES:
            raise ParameterError(
                f"There are {len(wanted):,} references; at most {MOST_REFERENCES:,} are read."
            )
        return self._view.place(title, abstract, wanted, tokenise=self.tokenise)


def vocabulary_words(vocabulary: Sequence[str]) -> Callable[[str], list[str]]:
    """Make what finds the words and phrases of a vocabulary in a text, the longest first.

    Other words are given as they are, so that they can be counted as unknown; stop words are not.

    Examples
    --------
    >>> vocabulary_words(["decision making", "making", "gene"])("Decision-making by a gene")
    ['decision making', 'gene']
    """
    known: dict[tuple[str, ...], str] = {}
    for word in vocabulary:
        parts = tuple(re.split(r"[\s_-]+", word.strip().casefold()))
        known.setdefault(parts, word)
    stop = stop_words("en")
    longest = max((len(parts) for parts in known), default=1)

    def find(text: str) -> list[str]:
        pieces = [
            part for piece in _WORD.findall(text.casefold()) for part in piece.split("-") if part
        ]
        found, place = [], 0
        while place < len(pieces):
            for size in range(min(longest, len(pieces) - place), 0, -1):
                word = known.get(tuple(pieces[place : place + size]))
                if word is None and size > 1:
                    continue
                if word is not None or pieces[place] not in stop:
                    found.append(word or pieces[place])
                place += size
                break
        return found

    return find
