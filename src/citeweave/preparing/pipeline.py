"""The text processing of a corpus, for applying it to new documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from citeweave.errors import CorpusError
from citeweave.preparing import text as text_steps
from citeweave.preparing.hyphens import HyphenRules
from citeweave.preparing.segment import Segmenter
from citeweave.preparing.settings import Settings
from citeweave.preparing.stopwords import academic_words, read_word_list, stop_words, term_words
from citeweave.preparing.thesaurus import read_thesaurus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["FORCED_SCORE", "Pipeline", "WordRules", "load_thesaurus"]

FORMAT = 1
#: Score of phrases from the user's thesaurus, higher than any statistic.
FORCED_SCORE = 1e12


class WordRules:
    """Decides which pieces of a text are words, before phrases are found.

    Parameters
    ----------
    settings
        Preparation settings.
    stop
        Words to drop, in lower case.
    inner
        Stop words that may start phrases; dropped only outside phrases.
    """

    def __init__(self, settings: Settings, stop: Iterable[str], inner: Iterable[str] = ()) -> None:
        self.settings = settings
        self.stop = frozenset(stop)
        self.inner = self.stop.intersection(inner)
        self._breaks = self.stop - self.inner
        self._min_length = settings.min_word_length

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Collect the stop words given by the settings."""
        language = settings.language or "en"
        stop: set[str] = set()
        inner: set[str] = set()
        if settings.stop_words == "auto":
            stop |= stop_words(language)
            inner |= term_words(language)
            if settings.academic_stop_words:
                stop |= academic_words(language)
        elif settings.stop_words != "none":
            stop |= read_word_list(settings.stop_words)
        # Words named by the user are dropped everywhere.
        extra = {word.lower() for word in settings.extra_stop_words}
        stop |= extra
        return cls(settings, stop - {word.lower() for word in settings.keep_words}, inner - extra)

    def clean(self, text: str) -> str:
        """Remove what is not prose."""
        return text_steps.clean(
            text,
            urls=self.settings.strip_urls,
            markup=self.settings.strip_markup,
            copyright_notes=self.settings.strip_copyright,
        )

    def word(self, piece: str) -> str:
        """Return the word of a piece; empty for punctuation, numbers and phrase breaks."""
        word = text_steps.normalise_word(piece)
        if len(word) < self._min_length or word in self._breaks or piece in self._breaks:
            return text_steps.BREAK
        return word

    def words(self, text: str) -> list[str]:
        """Return the words of a raw text, with an empty string at each break."""
        return [self.word(piece) for piece in text_steps.pieces(self.clean(text))]


class Pipeline:
    """Process the text of a document in the same way as a corpus.

    Parameters
    ----------
    settings
        Preparation settings.
    stop
        Words to drop.
    phrases
        Maps phrases, with words separated by spaces, to their scores.
    thesaurus
        Maps terms in lower case to the term to use, or to "" to drop it.
    hyphens
        Rules for words with hyphens.
    inner
        Words that are dropped only outside phrases.
    vocabulary
        Words to keep; None keeps all.

    Examples
    --------
    >>> pipeline = Pipeline(Settings(), {"the"}, {"decision tree": 90.0}, {})
    >>> pipeline.tokens("The Decision Tree", "Pruning the tree.", ["C4.5"])
    (['decision tree'], ['pruning', 'tree', 'c4'])
    """

    def __init__(
        self,
        settings: Settings,
        stop: Iterable[str],
        phrases: Mapping[str, float],
        thesaurus: Mapping[str, str],
        *,
        hyphens: HyphenRules = HyphenRules(),  # noqa: B008 (immutable)
        inner: Iterable[str] = (),
        vocabulary: Sequence[str] | None = None,
    ) -> None:
        self.settings = settings
        self.rules = WordRules(settings, stop, inner)
        self.phrases = dict(phrases)
        self.thesaurus = dict(thesaurus)
        self._vocabulary = None if vocabulary is None else frozenset(vocabulary)
        self.hyphens = hyphens
        self._join = hyphen_segmenter(hyphens)
        self._segment = Segmenter(self.phrases)

    @classmethod
    def from_preparation(
        cls, preparation: Mapping[str, Any], vocabulary: Sequence[str] | None = None
    ) -> Self:
        """Recreate the pipeline of a corpus from ``corpus.preparation``.

        Raises
        ------
        CorpusError
            The corpus was not created by `prepare`, or only from bags of words.

        Examples
        --------
        >>> from citeweave.preparing import Pipeline, prepare
        >>> from citeweave.reading import Record, Source
        >>> corpus = prepare([Record("w1", Source("x", 1), title="Decision tree pruning")]).corpus
        >>> pipeline = Pipeline.from_preparation(corpus.preparation, corpus.vocabulary)
        >>> pipeline.tokens("Pruning of an apple tree")[0]
        ['pruning', 'tree']
        """
        if preparation.get("format") != FORMAT or "phrases" not in preparation:
            raise CorpusError(
                "This corpus does not say how its text was prepared (its 'preparation' is "
                f"{dict(list(preparation.items())[:3])!r}), so a new document cannot be processed "
                "in the same way. Create the corpus by importing text with citeweave."
            )
        settings = dict(preparation["settings"])
        # The words from these files are stored in the corpus; the files are not needed.
        settings |= {"stop_words": "auto"}
        settings |= dict.fromkeys(("word_thesaurus", "author_thesaurus", "people"))
        return cls(
            Settings.from_dict(settings, where="the corpus"),
            preparation["stop_words"],
            {phrase: float(score) for phrase, score in preparation["phrases"]},
            preparation["word_thesaurus"],
            hyphens=HyphenRules(
                frozenset(preparation["hyphens"]["split"]), dict(preparation["hyphens"]["join"])
            ),
            inner=preparation.get("inner_words", ()),
            vocabulary=vocabulary,
        )

    def as_preparation(self) -> dict[str, Any]:
        """Describe the pipeline in JSON-serialisable form, for `from_preparation`.

        Examples
        --------
        >>> from citeweave.preparing import Pipeline, Settings
        >>> described = Pipeline(Settings(), {"the"}, {"decision tree": 90.0}, {}).as_preparation()
        >>> described["phrases"]
        [['decision tree', 90.0]]
        >>> Pipeline.from_preparation(described).tokens("The decision tree", None)
        (['decision tree'], [])
        """
        return {
            "format": FORMAT,
            "settings": self.settings.as_dict(),
            "stop_words": sorted(self.rules.stop),
            "inner_words": sorted(self.rules.inner),
            "phrases": [[phrase, score] for phrase, score in self.phrases.items()],
            "word_thesaurus": self.thesaurus,
            "hyphens": {"split": sorted(self.hyphens.split), "join": self.hyphens.join},
        }

    def tokens(
        self, title: str | None, abstract: str | None = None, keywords: Iterable[str] = ()
    ) -> tuple[list[str], list[str]]:
        """Return the tokens of a document: those of its title, and those of abstract and keywords.

        As in a corpus, keywords follow the abstract, and only words in the vocabulary are returned.

        Examples
        --------
        >>> from citeweave.preparing import Pipeline, prepare
        >>> from citeweave.reading import Record, Source
        >>> corpus = prepare([Record("w1", Source("x", 1), title="Decision tree pruning")]).corpus
        >>> Pipeline.from_preparation(corpus.preparation).tokens("Pruning of a tree")
        (['pruning', 'tree'], [])
        """
        use = self.settings
        first = self._terms(title) if use.use_title else []
        other = []
        if use.use_abstract and not text_steps.is_missing(abstract):
            other += self._terms(abstract)
        if use.join_keywords:
            for keyword in keywords:
                other += self._terms(keyword)
        return first, other

    def term(self, unit: str) -> str:
        """Return the term that a word or phrase is counted as; empty if it is dropped.

        Examples
        --------
        >>> from citeweave.preparing import Pipeline, Settings
        >>> pipeline = Pipeline(Settings(), set(), {}, {"colour": "color", "et al": ""})
        >>> pipeline.term("colour"), pipeline.term("soil"), pipeline.term("et al")
        ('color', 'soil', '')
        """
        target = self.thesaurus.get(unit)
        if target is None:
            return "" if unit in self.rules.inner else unit
        return target.lower()

    def _terms(self, text: str | None) -> list[str]:
        words = self._join(self.hyphens.split_words(self.rules.words(text or "")))
        terms = (self.term(unit) for unit in self._segment(words) if unit)
        return [t for t in terms if t and (self._vocabulary is None or t in self._vocabulary)]


def hyphen_segmenter(rules: HyphenRules) -> Segmenter:
    """Create a segmenter that joins words usually written with a hyphen."""
    parts = {word.replace("-", " "): float(count) for word, count in rules.join.items()}
    return Segmenter(parts, hyphens=True)


def load_thesaurus(
    settings: Settings, rules: WordRules, hyphens: HyphenRules
) -> tuple[dict[str, str], list[str]]:
    """Read the word thesaurus; return it with the labels that cannot match any text."""
    join = hyphen_segmenter(hyphens)
    if settings.word_thesaurus is None:
        return {}, []
    thesaurus, hopeless = {}, []
    for label, target in read_thesaurus(settings.word_thesaurus).items():
        words = join(hyphens.split_words(rules.words(label)))
        if not all(words) or not 1 <= len(words) <= 3:
            hopeless.append(label)
        else:
            thesaurus[" ".join(words)] = target
    return thesaurus, hopeless
