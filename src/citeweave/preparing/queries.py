"""Keyword queries: select publications from a dump by category, like the paper's data sets."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from citeweave.errors import MissingDependencyError, ParameterError
from citeweave.installing import install_package
from citeweave.preparing.keys import title_key
from citeweave.preparing.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from citeweave.reading import Record

__all__ = ["PRESETS", "Query", "QueryCounts"]

#: The queries of the paper's appendix:keywords.
PRESETS = ("ml", "m10", "avs")

_SWITCHES = ("keep_several", "keep_words")


@dataclass(slots=True)
class QueryCounts:
    """Counts of a query: records read, with no category, with several, and per category.

    Examples
    --------
    >>> from citeweave.preparing import Query, QueryCounts
    >>> from citeweave.reading import Record, Source
    >>> query = Query({"Biology": ["amino acid"], "Physics": ["black hole"]})
    >>> works = [Record("a", Source("x", 1), title="Amino acids"), Record("b", Source("x", 2))]
    >>> counts = QueryCounts()
    >>> kept = list(query.select(works, counts=counts))
    >>> counts.read, counts.unmatched, counts.by_category
    (2, 1, {'Biology': 1})
    """

    read: int = 0
    unmatched: int = 0
    several: int = 0
    by_category: dict[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as JSON-serialisable values.

        Examples
        --------
        >>> from citeweave.preparing import QueryCounts
        >>> QueryCounts(read=2, unmatched=1, by_category={"Biology": 1}).as_dict()
        {'read': 2, 'unmatched': 1, 'several': 0, 'by_category': {'Biology': 1}}
        """
        return {
            "read": self.read,
            "unmatched": self.unmatched,
            "several": self.several,
            "by_category": dict(self.by_category),
        }


@dataclass(frozen=True)
class Query:
    """Categories and their keywords.

    A publication matches a keyword if its title, abstract or keywords contain the words of the
    keyword consecutively, regardless of case, number and hyphens. It belongs to a category if it
    matches one of its keywords. It is dropped if it belongs to no category, or to more than one
    (unless `keep_several`, which takes the first).

    Attributes
    ----------
    categories : dict
        Maps categories to keywords.
    name : str
        Name for display.
    keep_several : bool
        Whether to keep publications of several categories.
    keep_words : bool
        Whether to keep the words of the keywords in the vocabulary, however common they are; the
        paper's queries do not.

    Examples
    --------
    >>> query = Query({"Biology": ["amino acid"], "Physics": ["black hole"]})
    >>> query.matches("Amino-acids around us"), query.matches("Holes, black")
    (['Biology'], [])
    """

    categories: Mapping[str, Iterable[str]]
    name: str = "query"
    keep_several: bool = False
    keep_words: bool = True

    def __post_init__(self) -> None:
        """Check the keywords and index them by their first word."""
        index: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for category, keywords in self.categories.items():
            if isinstance(keywords, str) or not all(isinstance(word, str) for word in keywords):
                raise ParameterError(
                    f"Category {category!r} of query {self.name!r} must have a list of keywords. "
                    f"Got {keywords!r} instead."
                )
            for keyword in keywords:
                words = tuple(_singular(word) for word in title_key(keyword).split())
                if not words:
                    raise ParameterError(
                        f"Category {category!r} of query {self.name!r} has an empty keyword, "
                        f"{keyword!r}. Enter words, or remove it."
                    )
                index.setdefault(words[0], []).append((words, category))
        if not index:
            raise ParameterError(
                f"Query {self.name!r} has no keywords. Add a table [categories] with a list of "
                "keywords per category."
            )
        object.__setattr__(self, "_index", index)

    @classmethod
    def preset(cls, name: str) -> Self:
        """Return one of the paper's queries: "ml", "m10" or "avs".

        Examples
        --------
        >>> from citeweave.preparing import Query
        >>> len(Query.preset("m10").categories)
        10
        """
        if name not in PRESETS:
            raise ParameterError(
                f"There is no query preset {name!r}. Did you mean one of: {', '.join(PRESETS)}?"
            )
        folder = resources.files("citeweave.preparing") / "data" / "queries"
        content = tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))
        return cls._from_content(content | {"keep_words": False}, name)

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        r"""Read a query from TOML or YAML: ``name`` and a table ``categories``.

        A table that contains only lists is read as the categories.

        Examples
        --------
        >>> from pathlib import Path
        >>> from citeweave.preparing import Query
        >>> _ = Path("query.toml").write_text('[categories]\nBiology = ["amino acid"]\n')
        >>> Query.from_file("query.toml").matches("Amino acids around us")
        ['Biology']
        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ParameterError(f"The query {str(path)!r} cannot be read: {error}.") from error
        if path.suffix.lower() in {".yaml", ".yml"}:
            content = _yaml(text, path)
        else:
            try:
                content = tomllib.loads(text)
            except tomllib.TOMLDecodeError as error:
                raise ParameterError(f"The query {str(path)!r} is not TOML: {error}.") from error
        return cls._from_content(content, str(path))

    @classmethod
    def _from_content(cls, content: Any, where: str) -> Self:
        if not isinstance(content, dict):
            raise ParameterError(f"The query {where!r} must be a table. Got {content!r} instead.")
        categories = content.get("categories")
        if categories is None and all(isinstance(value, list) for value in content.values()):
            categories, content = content, {}
        unknown = sorted(set(content) - {"name", "description", "categories", *_SWITCHES})
        if unknown or not isinstance(categories, dict):
            found = (
                f"Unknown entry: {unknown[0]!r}." if unknown else "There is no table 'categories'."
            )
            raise ParameterError(
                f"The query {where!r} must have 'categories' and may have 'name', 'description', "
                f"{' and '.join(map(repr, _SWITCHES))}. {found}"
            )
        return cls(
            {str(category): words for category, words in categories.items()},
            name=str(content.get("name", Path(where).stem)),
            **{name: bool(content[name]) for name in _SWITCHES if name in content},
        )

    def matches(self, *texts: str | None) -> list[str]:
        """Return the categories that match the texts of a publication.

        Examples
        --------
        >>> from citeweave.preparing import Query
        >>> Query({"Physics": ["black hole"]}).matches("Two black holes", None)
        ['Physics']
        """
        index: dict[str, list[tuple[tuple[str, ...], str]]] = self.__dict__["_index"]
        found = set()
        for text in texts:
            words = [_singular(word) for word in title_key(clean(text or "")).split()]
            for place, word in enumerate(words):
                for keyword, category in index.get(word, ()):
                    if tuple(words[place : place + len(keyword)]) == keyword:
                        found.add(category)
        return [category for category in self.categories if category in found]

    def names(self, term: str) -> bool:
        """Return whether all words of a term occur in keywords.

        Examples
        --------
        >>> query = Query({"Ecology": ["forest restoration"]})
        >>> query.names("restoration"), query.names("forests"), query.names("forest soil")
        (True, True, False)
        """
        index: dict[str, list[tuple[tuple[str, ...], str]]] = self.__dict__["_index"]
        known = {word for keywords in index.values() for words, _ in keywords for word in words}
        return all(_singular(word) in known for word in title_key(term).split())

    def select(
        self, records: Iterable[Record], *, counts: QueryCounts | None = None
    ) -> Iterator[Record]:
        """Yield the records that match, with their category.

        Parameters
        ----------
        records
            Records of a dump.
        counts
            Receives the counts of what was kept and dropped.

        Examples
        --------
        >>> from citeweave.preparing import Query
        >>> from citeweave.reading import Record, Source
        >>> works = [Record("a", Source("x", 1), title="Amino acids"), Record("b", Source("x", 2))]
        >>> [work.category for work in Query({"Biology": ["amino acid"]}).select(works)]
        ['Biology']
        """
        counts = counts if counts is not None else QueryCounts()
        for record in records:
            counts.read += 1
            found = self.matches(record.title, record.abstract, *record.keywords)
            if not found:
                counts.unmatched += 1
            elif len(found) > 1 and not self.keep_several:
                counts.several += 1
            else:
                counts.by_category[found[0]] = counts.by_category.get(found[0], 0) + 1
                yield replace(record, category=found[0])


def _singular(word: str) -> str:
    """Return a common form for singular and plural; words that only look like plurals are kept.

    Examples
    --------
    >>> [_singular(w) for w in ("properties", "boxes", "genes", "genetics", "mass", "analysis")]
    ['property', 'box', 'gene', 'genetics', 'mass', 'analysis']
    """
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "is", "us", "ics")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("xes", "ches", "shes", "sses", "zes")):
        return word[:-2]
    return word[:-1]


def _yaml(text: str, path: Path) -> Any:
    try:
        import yaml  # type: ignore[import-untyped]  # noqa: PLC0415 (optional)
    except ImportError as error:
        raise MissingDependencyError(
            f"Reading the query {str(path)!r} needs PyYAML: {install_package('pyyaml')}. "
            "Or write the query in TOML."
        ) from error
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ParameterError(f"The query {str(path)!r} is not YAML: {error}.") from error
