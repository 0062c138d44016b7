"""Contents of the pages about topics, authors and papers: plain values, ready for JSON."""

from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = [
    "AuthorLink",
    "AuthorPage",
    "AuthorShare",
    "CategoryCard",
    "CategoryWeight",
    "Difference",
    "Page",
    "PaperLink",
    "PaperPage",
    "PaperPlacement",
    "TopicPage",
    "TopicWeight",
    "WordReason",
    "WordWeight",
]


@dataclass(frozen=True, slots=True)
class Page:
    """Base class of all pages and of their parts."""

    def to_dict(self) -> dict[str, Any]:
        """Return the page as plain dictionaries, lists, strings, numbers and None."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class TopicWeight(Page):
    """A topic and its weight, with an interval if there are several samples.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration
    >>> largest = Exploration(citeweave.example_model()).paper(0).topics[0]
    >>> 0 < largest.weight <= 1
    True
    """

    topic: int
    name: str
    weight: float
    low: float | None = None
    """Mean minus 1.64 standard deviations over samples, at least 0."""
    high: float | None = None


@dataclass(frozen=True, slots=True)
class WordWeight(Page):
    """A word of a topic, with its probability and its lift over the corpus.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration
    >>> first, second, *_ = Exploration(citeweave.example_model()).topic(0).words
    >>> first.probability >= second.probability
    True
    """

    word: str
    probability: float
    lift: float
    """Its probability in the topic divided by that in the corpus."""


@dataclass(frozen=True, slots=True)
class PaperLink(Page):
    """A paper as shown on another page.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration
    >>> link = Exploration(citeweave.example_model()).paper_link(0)
    >>> link.id, link.title
    ('example-00', 'Early holocene for ancient dna')
    """

    paper: int
    id: str
    title: str
    year: int | None
    authors: list[str]
    topic: int
    """Its dominant topic or, in a list of citations, the topic of the citation."""
    topic_name: str
    cited: int
    """Number of citations by papers of the corpus."""
    influence: float | None
    """lambda-, its propensity to be cited."""
    score: float | None = None
    """The value by which its list is ranked."""


@dataclass(frozen=True, slots=True)
class AuthorLink(Page):
    """An author as shown on another page.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration
    >>> link = Exploration(citeweave.example_model()).author_link(0)
    >>> link.author, link.name
    (0, 'R. Schmidt')
    """

    author: int
    name: str
    papers: int
    influence: float | None
    topic: int
    topic_name: str
    score: float | None = None
    """The value by which the list is ranked."""


@dataclass(frozen=True, slots=True)
class AuthorShare(Page):
    """An author's share in a paper, in models of all authors."""

    author: int
    name: str
    share: float
    low: float
    """The share is above this value with probability 0.95."""
    high: float


@dataclass(frozen=True, slots=True)
class WordReason(Page):
    """A word of a paper that supports a category."""

    word: str
    weight: float
    """Its contribution to the log odds of the category."""


@dataclass(frozen=True, slots=True)
class CategoryWeight(Page):
    """A possible category of a paper and the reasons for it, in models that infer categories."""

    category: int
    name: str
    probability: float
    """Share of the kept samples or, if some labels are known, probability by all evidence."""
    topics: list[TopicWeight]
    """Topics of the paper that support the category: positive values of theta' log(nu / mu)."""
    linked: int
    """Number of papers of this category that it cites or that cite it."""
    words: list[WordReason] = field(default_factory=list)
    """Its words that support the category most."""
    papers: list[PaperLink] = field(default_factory=list)
    """Linked papers that support it most. The score is their contribution to the log odds if some
    labels are known, otherwise the probability that they belong to the category."""
    authors: list[AuthorLink] = field(default_factory=list)
    """Authors whose other papers belong to it; the score is the mean probability of these."""
    odds: dict[str, float] = field(default_factory=dict)
    """Contributions of words, citations, authors, topics and the share of the category to its log
    odds against the mean of all categories, if some labels are known."""


@dataclass(frozen=True, slots=True)
class CategoryCard(Page):
    """A category that the model infers for papers."""

    category: int
    name: str
    papers: int
    """Number of papers for which it is the most probable category, including labelled ones."""
    labelled: int
    """Number of these with a given label."""
    sure: float | None
    """Mean probability of the category for its unlabelled papers."""
    topics: list[TopicWeight]
    words: list[str]
    """Characteristic words, by p(w | category) log(p(w | category) / p(w))."""
    examples: list[PaperLink]
    """The unlabelled papers that most certainly belong to it; the score is the probability."""


@dataclass(frozen=True, slots=True)
class Difference(Page):
    """Weight of a topic in the words of a paper and in the citations that it receives.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration
    >>> view = Exploration(citeweave.example_model())
    >>> papers = [view.paper(number) for number in range(view.corpus.n_documents)]
    >>> found = next(one for paper in papers for one in paper.differences)
    >>> abs(abs(found.cited_for - found.about) - abs(found.difference)) < 1e-6
    True
    """

    topic: int
    name: str
    about: float
    cited_for: float
    difference: float
    """``cited_for - about``."""


@dataclass(frozen=True, slots=True)
class TopicPage(Page):
    """Everything known about one topic, as returned by `Exploration.topic`.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration
    >>> page = Exploration(citeweave.example_model()).topic(0, words=3)
    >>> page.topic, len(page.words), page.to_dict()["papers"] == page.papers
    (0, 3, True)
    """

    topic: int
    name: str
    label: str
    """Label made of its words; also the name, unless a user has given one."""
    renamed: bool
    share: float
    """Mean of theta' over all papers."""
    mu: float | None
    mu_low: float | None
    mu_high: float | None
    papers: int
    """Number of papers whose main topic it is."""
    citations: float | None
    """Expected number of citations made for this topic."""
    strength: float | None
    """lambdaT, the strength of its citations."""
    words: list[WordWeight]
    distinctive: list[WordWeight]
    coherence: float
    slope: float | None
    """Change of its share per year: 0.01 is one percentage point."""
    growth: float | None
    """Relative growth of its share per year: 0.05 is 5 per cent."""
    years: list[int]
    trend: list[float | None]
    """Its share in each year; None for a year without papers."""
    influential_papers: list[PaperLink]
    typical_papers: list[PaperLink]
    authors: list[AuthorLink]
    similar: list[TopicWeight]
    """Topics with similar words (cosine)."""
    cites: list[TopicWeight]
    """Share of the references of its papers that go to each topic."""
    cited_by: list[TopicWeight]
    """Share of the citations of its papers that come from each topic."""
    categories: list[dict[str, Any]]
    """Categories and the part of the topic in each, if the corpus has categories."""


@dataclass(frozen=True, slots=True)
class AuthorPage(Page):
    """Everything known about one author, as returned by `Exploration.author`.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration
    >>> page = Exploration(citeweave.example_model()).author(0)
    >>> page.name, page.papers == len(page.publications)
    ('R. Schmidt', True)
    """

    author: int
    name: str
    papers: int
    first_papers: int
    years: list[int]
    """First and last year, if years are known."""
    topics: list[TopicWeight]
    topics_from: str
    """``model`` if the author has a topic vector nu, ``papers`` if it is the mean of the papers."""
    words: list[str]
    """Top words of the dominant topic."""
    influence: float | None
    """Sum of lambda- of their papers as first author; in models of all authors, of all papers
    weighted by their shares."""
    influence_all: float | None
    """Sum of lambda- of all their papers."""
    influence_by_topic: list[TopicWeight]
    nearest: list[AuthorLink]
    coauthors: list[AuthorLink]
    publications: list[PaperLink]
    """All their papers, the latest first."""
    citations: int = 0
    """Number of citations of all their papers by papers of the corpus."""
    h_index: int = 0
    """h-index within the corpus."""
    cited_by: int | None = None
    """Number of citations of all their papers, as counted by the source."""
    institutions: list[dict[str, Any]] = field(default_factory=list)
    """Their institutions: number, name and number of papers of each."""
    joined: list[dict[str, Any]] = field(default_factory=list)
    """Authors of the corpus joined with this one: number, name and number of papers of each."""


@dataclass(frozen=True, slots=True)
class PaperPage(Page):
    """Everything known about one paper, as returned by `Exploration.paper`.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration
    >>> page = Exploration(citeweave.example_model()).paper(0)
    >>> page.title, page.cites
    ('Early holocene for ancient dna', 0)
    """

    paper: int
    id: str
    title: str
    year: int | None
    authors: list[AuthorLink]
    category: str | None
    metadata: dict[str, Any]
    """Further columns of the corpus: venue, doi, abstract, keywords, ..."""
    topics: list[TopicWeight]
    """theta', the topics used for citations."""
    about: list[TopicWeight]
    """theta, the topics of its words."""
    cited_for: list[TopicWeight]
    """Mean topics of the citations that it receives."""
    differences: list[Difference]
    """The largest differences between the two, the largest first."""
    cited: int
    cites: int
    cited_propensity: float | None
    cite_propensity: float | None
    cited_by: list[PaperLink]
    references: list[PaperLink]
    similar: list[PaperLink]
    drawn_categories: list[CategoryWeight] = field(default_factory=list)
    """In models that infer categories: the possible ones, the most probable first."""
    shares: list[AuthorShare] = field(default_factory=list)
    """Share of each author, in order, in models of all authors."""


@dataclass(frozen=True, slots=True)
class PaperPlacement(Page):
    """Where a new paper belongs, as returned by `Exploration.place`.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration
    >>> view = Exploration(citeweave.example_model())
    >>> found = view.place("Soil water and nitrogen in rice", references=["example-03"])
    >>> found.references_found[0].id, found.words_unknown
    ('example-03', 2)
    """

    topics: list[TopicWeight]
    """theta, from its words and references."""
    similar: list[PaperLink]
    likely_cited: list[PaperLink]
    """Ranked by the square root of the expected citation rate times the similarity of words."""
    authors: list[AuthorLink]
    """Ranked by the summed similarities of their papers among the most similar ones."""
    words_known: int
    words_unknown: int
    unknown_words: list[str]
    references_found: list[PaperLink]
    references_unknown: list[str]
    notes: list[str] = field(default_factory=list)
    """Notes on how the paper was placed, and on what was not possible."""
