"""A small corpus and a model fitted to it, for examples and for trying things out."""

from functools import cache

import numpy as np

from citeweave.corpus import Corpus
from citeweave.model import SCNTM
from citeweave.simulate.demo import make_names, make_titles, make_topics
from citeweave.simulate.draw import simulate

__all__ = ["example_corpus", "example_model"]

_AREAS = ("Agriculture", "Archaeology", "Biology")
_PLACES = (
    ("University of Otago", "NZ"),
    ("Kyoto University", "JP"),
    ("University of Nairobi", "KE"),
    ("Uppsala University", "SE"),
    ("University of Tokyo", "JP"),
)
_VENUES = ("Journal of Examples", "Annals of Small Data")


def example_corpus() -> Corpus:
    """Return 80 made-up papers: words, authors, institutions, venues, years and citations.

    The papers belong to three research areas, which are their categories. The corpus is the same
    every time and takes a moment to make. `citeweave.simulate.demo_corpus` is larger.

    Returns
    -------
    Corpus

    Examples
    --------
    >>> import citeweave
    >>> corpus = citeweave.example_corpus()
    >>> corpus.n_documents, corpus.category_names
    (80, ['Agriculture', 'Archaeology', 'Biology'])
    """
    return _corpus()


def example_model() -> SCNTM:
    """Return a model of three topics, fitted to `example_corpus`.

    It is fitted on first use, in about a second once the kernels are compiled, and is the same
    object from then on. Two short chains are enough to find the three areas, and too few to
    be published.

    Returns
    -------
    SCNTM

    Examples
    --------
    >>> import citeweave
    >>> model = citeweave.example_model()
    >>> model.doc_topic_.shape
    (80, 3)
    """
    return _model()


@cache
def _corpus() -> Corpus:
    rng = np.random.default_rng(1)
    names, words, topic_word = make_topics(rng)
    rows = topic_word[[names.index(area) for area in _AREAS]]
    used = np.argsort(-rows.max(axis=0), kind="stable")[:150]
    rows = rows[:, used] / rows[:, used].sum(axis=1, keepdims=True)
    drawn = simulate(
        documents=80,
        topics=len(_AREAS),
        authors=16,
        words_per_document=30,
        citations=300,
        years=(2015, 2024),
        topic_share=np.full(len(_AREAS), 1.0 / len(_AREAS)),
        topic_word=rows,
        vocabulary_words=[words[i] for i in used],
        concentrations={"nu": 0.5},
        seed=3,
    )
    bare = drawn.corpus
    order, title_lengths, titles = make_titles(drawn, rows, rng)
    teams = np.split(bare.author_ids, bare.author_offsets[1:-1])
    places = [dict.fromkeys(_PLACES[author % len(_PLACES)] for author in team) for team in teams]
    return Corpus.from_arrays(
        tokens=bare.tokens[order],
        offsets=bare.offsets,
        vocabulary=bare.vocabulary,
        title_lengths=title_lengths,
        author_ids=bare.author_ids,
        author_offsets=bare.author_offsets,
        author_names=make_names(bare.n_authors, rng),
        categories=drawn.truth.doc_topic.argmax(axis=1),
        category_names=list(_AREAS),
        citations=bare.citations,
        ids=[f"example-{i:02d}" for i in range(bare.n_documents)],
        titles=titles,
        metadata={
            "year": bare.metadata["year"],
            "institutions": [[name for name, _ in own] for own in places],
            "countries": [list(dict.fromkeys(code for _, code in own)) for own in places],
            "venue": [_VENUES[i % len(_VENUES)] for i in range(bare.n_documents)],
        },
        preparation={"made_by": "citeweave.example_corpus"},
    )


@cache
def _model() -> SCNTM:
    return SCNTM(topics=3, iterations=40, chains=2, seed=1).fit(_corpus())
