"""Place a new paper: prepare its text like the corpus, then fold it into the model."""

from collections.abc import Sequence
from functools import cached_property

from citeweave.errors import CorpusError, ParameterError
from citeweave.explore import Exploration, PaperPlacement
from citeweave.explore.place import Tokenise, match_vocabulary

__all__ = ["LONGEST_ABSTRACT", "LONGEST_TITLE", "MOST_REFERENCES", "Placer"]

LONGEST_TITLE = 1_000
LONGEST_ABSTRACT = 50_000
MOST_REFERENCES = 1_000


class Placer:
    """Places papers that are not in the corpus."""

    def __init__(self, view: Exploration) -> None:
        self._view = view

    @cached_property
    def tokenise(self) -> Tokenise:
        """Tokenise a title and an abstract in the same way as the corpus."""
        from citeweave.preparing import Pipeline  # noqa: PLC0415 (for the first paper, not at startup)
        from citeweave.preparing.stopwords import stop_words  # noqa: PLC0415

        corpus = self._view.corpus
        try:
            return Pipeline.from_preparation(corpus.preparation).tokens
        except CorpusError:
            # a corpus of ready-made words has no settings: look up its vocabulary in the text
            known, stop = self._view.word_ids, stop_words("en")

        def matched(title: str, abstract: str) -> tuple[list[str], list[str]]:
            first, other = (
                [
                    word
                    for word in match_vocabulary(text, known)
                    if word in known or word not in stop
                ]
                for text in (title, abstract)
            )
            return first, other

        return matched

    def place(self, title: str, abstract: str, references: Sequence[str]) -> PaperPlacement:
        """Place a paper.

        Parameters
        ----------
        title, abstract : str
            At least one of them must contain words.
        references : sequence of str
            The papers it cites, each given by title or by its identifier in the corpus.
        """
        title, abstract = title.strip(), abstract.strip()
        wanted = [line.strip() for line in references if line.strip()]
        if not title and not abstract:
            raise ParameterError("Enter a title or an abstract; both are empty.")
        for name, text, longest in (
            ("title", title, LONGEST_TITLE),
            ("abstract", abstract, LONGEST_ABSTRACT),
        ):
            if len(text) > longest:
                raise ParameterError(
                    f"The {name} has {len(text):,} characters; at most {longest:,} are allowed."
                )
        if len(wanted) > MOST_REFERENCES:
            raise ParameterError(
                f"There are {len(wanted):,} references; at most {MOST_REFERENCES:,} are allowed."
            )
        return self._view.place(title, abstract, references=wanted, tokenise=self.tokenise)
