"""What a page about a topic, an author or a paper holds: plain values, ready for JSON."""

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
    """A topic and its weight, with an interval where samples give one.

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
    """Mean less 1.64 standard deviations over samples, not below 0."""
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
    """Its probability in the topic over that in the corpus."""


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
    """Its dominant topic; in a list of citations the topic of the citation."""
    topic_name: str
    cited: int
    """How often it is cited inside the corpus."""
    influence: float | None
    """lambda-, its propensity to be cited."""
    score: float | None = None
    """What the list that it stands in is ranked by."""


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
    """What the list that they stand in is ranked by."""


@dataclass(frozen=True, slots=True)
class AuthorShare(Page):
    """The share of a paper contributed by an author, in models where all authors count."""

    author: int
    name: str
    share: float
    low: float
    """The share lies above this with probability 0.95."""
    high: float


@dataclass(frozen=True, slots=True)
class WordReason(Page):
    """A word of a paper that supports a category."""

    word: str
    weight: float
    """How much it adds to the log odds of the category."""


@dataclass(frozen=True, slots=True)
class CategoryWeight(Page):
    """A possible category of a paper and the reasons for it, in models that infer categories."""

    category: int
    name: str
    probability: float
    """Share of the kept samples or, where some labels are known, that of all evidence."""
    topics: list[TopicWeight]
    """Topics of the paper that speak for the category: theta' log(nu / mu), those above 0."""
    linked: int
    """Papers that it cites or that cite it, and that are of this category."""
    words: list[WordReason] = field(default_factory=list)
    """Its words that speak most for the category."""
    papers: list[PaperLink] = field(default_factory=list)
    """Linked papers that speak most for it; the score is how much, in log odds where some labels
    are known, else the probability that they are of it."""
    authors: list[AuthorLink] = field(default_factory=list)
    """Authors whose other papers are of it; the score is their mean probability."""
    odds: dict[str, float] = field(default_factory=dict)
    """Where some labels are known: what words, citations, authors, topics and the share of the
    category add to its log odds against the mean of all categories."""


@dataclass(frozen=True, slots=True)
class CategoryCard(Page):
    """A category that the model infers for papers."""

    category: int
    name: str
    papers: int
    """That most probably are of it, those with a label included."""
    labelled: int
    """Of these, papers whose label was given."""
    sure: float | None
    """Mean probability of the category for its other papers."""
    topics: list[TopicWeight]
    words: list[str]
    """That stand for it: p(w | category) log(p(w | category) / p(w))."""
    examples: list[PaperLink]
    """The papers that are surest to be of it, labelled ones aside; the score is how sure."""


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
    """Made of its words; the name where nobody gave another."""
    renamed: bool
    share: float
    """Mean of theta' over all papers."""
    mu: float | None
    mu_low: float | None
    mu_high: float | None
    papers: int
    """That it dominates."""
    citations: float | None
    """Expected number of citations made for this topic."""
    strength: float | None
    """lambdaT."""
    words: list[WordWeight]
    distinctive: list[WordWeight]
    coherence: float
    slope: float | None
    """Points of share a year: 0.01 is one per cent of all papers more each year."""
    growth: float | None
    """Growth of its share in a year: 0.05 is 5 per cent of what it was."""
    years: list[int]
    trend: list[float | None]
    """Its share in each year; None for a year without papers."""
    influential_papers: list[PaperLink]
    typical_papers: list[PaperLink]
    authors: list[AuthorLink]
    similar: list[TopicWeight]
    """Topics of similar words (cosine)."""
    cites: list[TopicWeight]
    """Share of the references of its papers that go to each topic."""
    cited_by: list[TopicWeight]
    """Share of the citations of its papers that come from each topic."""
    categories: list[dict[str, Any]]
    """Category and how much of the topic is in it, where the corpus has categories."""


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
    """First and last year, where years are known."""
    topics: list[TopicWeight]
    topics_from: str
    """``model`` where the author has a topic vector nu, ``papers`` where it is their papers'."""
    words: list[str]
    """Top words of the dominant topic."""
    influence: float | None
    """Sum of lambda- of the papers they are first author of; of all by their shares, where all
    authors count."""
    influence_all: float | None
    """Sum of lambda- of all their papers."""
    influence_by_topic: list[TopicWeight]
    nearest: list[AuthorLink]
    coauthors: list[AuthorLink]
    publications: list[PaperLink]
    """All their papers, the latest first."""
    citations: int = 0
    """Of all their papers, inside the corpus."""
    h_index: int = 0
    """Inside the corpus."""
    cited_by: int | None = None
    """Citations of all their papers by the count of the source."""
    institutions: list[dict[str, Any]] = field(default_factory=list)
    """Where they work: number, name and papers of each institution."""
    joined: list[dict[str, Any]] = field(default_factory=list)
    """Authors of the corpus that were joined to this one: number, name and papers of each."""


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
    """theta', as citations see it."""
    about: list[TopicWeight]
    """theta, the topics of its words."""
    cited_for: list[TopicWeight]
    """Mean topics of the citations that it gets."""
    differences: list[Difference]
    """The largest between the two, the largest first."""
    cited: int
    cites: int
    cited_propensity: float | None
    cite_propensity: float | None
    cited_by: list[PaperLink]
    references: list[PaperLink]
    similar: list[PaperLink]
    drawn_categories: list[CategoryWeight] = field(default_factory=list)
    """Where papers are drawn into categories, those that are at all likely, the likeliest first."""
    shares: list[AuthorShare] = field(default_factory=list)
    """What each author contributes, where all authors count; in their order."""


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
    """By the root of the rate of citing that the model expects, times the likeness of words."""
    authors: list[AuthorLink]
    """By the sum of the similarities of their papers among those most similar."""
    words_known: int
    words_unknown: int
    unknown_words: list[str]
    references_found: list[PaperLink]
    references_unknown: list[str]
    notes: list[str] = field(default_factory=list)
    """What was done and what could not be."""
