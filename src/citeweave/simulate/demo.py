"""The demo corpus: 1,500 made-up papers of ten research areas in readable words.

Text, authors and citations are drawn by `simulate`, so the truth is known; topic k is area k, and
`corpus.category_names[k]` its name. Names, titles and labels are added here.
"""

import tomllib
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.simulate.draw import Simulation, simulate

__all__ = ["demo_corpus", "make_names", "make_titles", "make_topics"]

_DOCUMENTS = 1500
_AUTHORS = 400
_CITATIONS = 8000
_WORDS = 60
_YEARS = (1995, 2024)
_OTHER_LABEL = 0.05  # share of papers filed under an area that is not their main one
_GENERAL = 0.30  # share of a topic that goes to words of all areas
_ELSEWHERE = 0.04  # share of a topic that goes to words of other areas

_INITIALS = "A B C D E F G H I J K L M N O P R S T U V W Y Z".split()  # noqa: SIM905
_SURNAMES = """
Adeyemi Aguilar Ahmed Almeida Andersson Aoki Bakker Banerjee Baptiste Becker Benali Bianchi Carter
Castillo Chen Choi Costa Dahl Davies Demir Diallo Dubois Eriksen Evans Fernandez Fischer Fujita
Garcia Greco Gupta Haddad Hansen Hassan Hoang Horvat Ibrahim Ivanova Iyer Jansen Jensen Johnson
Kamau Kaya Khan Kim Kowalski Kumar Larsen Lee Levi Li Liu Lopez Mahmoud Martin Mbeki Mehta Mensah
Moreau Mori Murphy Mwangi Nakamura Nguyen Nilsson Novak Nwosu Okafor Olsen Ortiz Osei Papadopoulos
Park Patel Pereira Petrov Popescu Qureshi Rahman Ramos Rossi Saito Santos Schmidt Sharma Silva Singh
Smith Suzuki Takahashi Tanaka Tran Turner Vargas Virtanen Walker Wang Weber Wilson Wong Yamamoto
Yilmaz Zhang Zulu
"""

# Function words only: all others in a title are words of the paper.
_TITLES = (
    "{0} and {1} in {2}",
    "{0}, {1} and {2}",
    "{0} with {1} under {2}",
    "On {0} and {1} for {2}",
    "{0} of {1} and {2}",
    "From {0} to {1}: {2}",
    "{0} for {1}",
    "{0} and {1}",
)


def demo_corpus(seed: int = 2016) -> Simulation:
    """Make the demo corpus: papers, authors, areas, years and citations, with the truth.

    Parameters
    ----------
    seed
        The same seed gives the same corpus.

    Returns
    -------
    Simulation
        About 1,500 papers by 400 authors, 8,000 citations, ten categories. A paper's category is
        the area of its main topic, except for one paper in twenty.

    Examples
    --------
    >>> from citeweave.simulate import demo_corpus
    >>> simulation = demo_corpus()
    >>> simulation.corpus.category_names[2]
    'Biology'
    """
    rng = np.random.default_rng([seed, 1])
    names, vocabulary, topic_word = make_topics(rng)
    drawn = simulate(
        documents=_DOCUMENTS,
        topics=len(names),
        authors=_AUTHORS,
        words_per_document=_WORDS,
        citations=_CITATIONS,
        years=_YEARS,
        topic_share=rng.dirichlet(np.full(len(names), 30.0)),
        topic_word=topic_word,
        vocabulary_words=vocabulary,
        concentrations={"nu": 0.5},
        seed=seed,
    )
    truth = drawn.truth
    order, title_lengths, titles = make_titles(drawn, topic_word, rng)
    labels = truth.doc_topic.argmax(axis=1)
    moved = rng.random(_DOCUMENTS) < _OTHER_LABEL
    shift = rng.integers(1, len(names), _DOCUMENTS)
    labels = np.where(moved, (labels + shift) % len(names), labels)
    corpus = Corpus.from_arrays(
        tokens=drawn.corpus.tokens[order],
        offsets=drawn.corpus.offsets,
        vocabulary=vocabulary,
        title_lengths=title_lengths,
        author_ids=drawn.corpus.author_ids,
        author_offsets=drawn.corpus.author_offsets,
        author_names=make_names(_AUTHORS, rng),
        categories=labels,
        category_names=names,
        citations=drawn.corpus.citations,
        ids=[f"demo-{i:04d}" for i in range(_DOCUMENTS)],
        titles=titles,
        metadata={"year": drawn.corpus.metadata["year"]},
        preparation={"made_by": "citeweave.simulate.demo_corpus", "seed": seed},
    )
    return Simulation(corpus, replace(truth, token_topic=truth.token_topic[order]))


def make_topics(rng: np.random.Generator) -> tuple[list[str], list[str], np.ndarray]:
    """Return the areas' names, the vocabulary, and a word distribution for each area."""
    text = files("citeweave.simulate").joinpath("demo_words.toml").read_text(encoding="utf-8")
    lists: dict[str, Any] = tomllib.loads(text)
    general = lists["general"].split()
    areas = [
        list(dict.fromkeys([*area["phrases"], *area["words"].split()])) for area in lists["areas"]
    ]
    vocabulary = sorted({word for words in (general, *areas) for word in words})
    place = {word: i for i, word in enumerate(vocabulary)}
    everywhere = np.zeros(len(vocabulary))
    everywhere[[place[word] for word in general]] = _falling(len(general), 60.0, rng)
    rows = np.empty((len(areas), len(vocabulary)))
    for k, words in enumerate(areas):
        own = np.zeros(len(vocabulary))
        own[[place[word] for word in words]] = _falling(len(words), 12.0, rng)
        # each area has its own mixture of the general words
        common = everywhere * rng.gamma(2.0, 0.5, len(vocabulary))
        rows[k] = (1.0 - _GENERAL - _ELSEWHERE) * own + _ELSEWHERE / len(vocabulary)
        rows[k] += _GENERAL * common / common.sum()
    rows /= rows.sum(axis=1, keepdims=True)
    return [area["name"] for area in lists["areas"]], vocabulary, rows


def _falling(count: int, flatness: float, rng: np.random.Generator) -> np.ndarray:
    """Draw weights that decrease along a list at random rates and sum to one."""
    weights = rng.gamma(4.0, 0.25, count) / (np.arange(count) + flatness)
    return np.asarray(weights / weights.sum())


def make_names(count: int, rng: np.random.Generator) -> list[str]:
    """Draw distinct names, such as "M. Okafor"."""
    names = [f"{initial}. {surname}" for surname in _SURNAMES.split() for initial in _INITIALS]
    return [names[i] for i in rng.permutation(len(names))[:count]]


def make_titles(
    drawn: Simulation, topic_word: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Make titles from the papers' own words, which are moved to the front.

    A title takes the words of the main topic that are most frequent in the paper and most
    particular to the topic. Returns the new order of tokens, title lengths and titles.
    """
    corpus, truth = drawn.corpus, drawn.truth
    particular = topic_word / topic_word.sum(axis=0)
    order = np.arange(corpus.n_tokens)
    title_lengths = np.zeros(corpus.n_documents, dtype=np.int64)
    titles = []
    vocabulary = corpus.vocabulary
    templates = rng.integers(0, len(_TITLES), corpus.n_documents).tolist()
    for d, template in enumerate(templates):
        begin, end = int(corpus.offsets[d]), int(corpus.offsets[d + 1])
        tokens = corpus.tokens[begin:end]
        words, first, counts = np.unique(tokens, return_index=True, return_counts=True)
        main = np.bincount(truth.token_topic[begin:end]).argmax()
        best = np.argsort(-counts * particular[main, words], kind="stable")
        wanted = 2 + ("{2}" in _TITLES[template])
        chosen = best[:wanted]
        pieces = [vocabulary[words[i]] for i in chosen]
        # a few papers have only one or two words
        title = _TITLES[template].format(*pieces) if len(pieces) == wanted else " ".join(pieces)
        titles.append(title[:1].upper() + title[1:])
        title_lengths[d] = len(chosen)
        front = first[chosen]
        order[begin:end] = begin + np.concatenate((front, np.delete(np.arange(end - begin), front)))
    return order, title_lengths, titles
