"""Place a paper that the model has not seen: topics, similar papers, likely references."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from citeweave.corpus import Corpus
from citeweave.errors import NotFoundError, ParameterError
from citeweave.explore.pages import AuthorLink, PaperLink, PaperPlacement
from citeweave.explore.search import plain_words
from citeweave.explore.similarity import best_of, similarities

if TYPE_CHECKING:
    from citeweave.explore.exploration import Exploration

__all__ = ["Tokenise", "match_vocabulary", "place_paper"]

Tokenise = Callable[[str, str], tuple[Sequence[str], Sequence[str]]]
"""Maps title and abstract to their tokens, as `citeweave.preparing.Pipeline.tokens` does."""

_LONGEST_PHRASE = 4
_AROUND = 300
"""Number of most similar papers whose authors are considered as experts."""


def match_vocabulary(text: str, known: dict[str, int], longest: int = _LONGEST_PHRASE) -> list[str]:
    """Split a text into words, joining those that are a phrase of the vocabulary.

    Examples
    --------
    >>> match_vocabulary("Volume rendering of volumes", {"volume rendering": 0, "volume": 1})
    ['volume rendering', 'of', 'volumes']
    """
    words = plain_words(text)
    found: list[str] = []
    begin = 0
    while begin < len(words):
        for end in range(min(begin + longest, len(words)), begin, -1):
            phrase = " ".join(words[begin:end])
            if phrase in known or end == begin + 1:
                found.append(phrase)
                begin = end
                break
    return found


def place_paper(
    view: "Exploration",
    title: str,
    abstract: str,
    *,
    references: Sequence[int | str],
    tokenise: Tokenise | None,
    number: int,
    seed: int,
) -> PaperPlacement:
    """Fold a paper in and find its neighbours; see `Exploration.place`."""
    notes = []
    if tokenise is None:
        tokens = match_vocabulary(f"{title} . {abstract}", view.word_ids)
        notes.append("Words and phrases were matched with the vocabulary without preprocessing.")
    else:
        tokens = [token for part in tokenise(title, abstract) for token in part]
    known = [view.word_ids[token] for token in tokens if token in view.word_ids]
    cited, unknown = find_references(view, references)
    if not known and not cited:
        raise ParameterError(
            f"None of the {len(tokens)} words of the new paper are in the vocabulary of the "
            f"model, and none of its {len(references)} references are in the corpus, so it cannot "
            "be placed. Add an abstract in the language of the corpus."
        )
    topics, citing = _fold_in(view, np.array(known, np.int32), cited, seed, notes)
    cosines = view.word_vectors.like_words(np.array(known, np.int64))
    score = similarities(view.root_topics, topics, cosines)
    stop = set(view.corpus.preparation.get("stop_words", ()))
    strange = [word for word in tokens if word not in view.word_ids and word not in stop]
    return PaperPlacement(
        topics=view.mixture(topics),
        similar=[view.paper_link(d, score=score[d]) for d in best_of(score, number)],
        likely_cited=_likely_cited(view, citing, cosines, cited, number, notes),
        authors=_authors(view, score, number),
        words_known=len(known),
        words_unknown=len(strange),
        unknown_words=list(dict.fromkeys(strange))[:20],
        references_found=[view.paper_link(d) for d in cited],
        references_unknown=unknown,
        notes=notes,
    )


def find_references(
    view: "Exploration", references: Sequence[int | str]
) -> tuple[list[int], list[str]]:
    """Find references in the corpus by position, id, DOI or title; also return those not found."""
    found: list[int] = []
    unknown: list[str] = []
    for reference in references:
        if isinstance(reference, int):
            found.append(view.check_paper(reference))
            continue
        text = reference.strip()
        if not text:
            continue
        place = view.reference_keys.get(reference_key(text))
        if place is None:
            unknown.append(text)
        else:
            found.append(place)
    return list(dict.fromkeys(found)), unknown


def reference_key(text: str) -> str:
    """Reduce an id, a DOI or a title to a form that does not depend on its spelling."""
    plain = text.strip().casefold()
    for prefix in ("https://doi.org/", "http://dx.doi.org/", "http://doi.org/", "doi:"):
        plain = plain.removeprefix(prefix)
    return " ".join(plain_words(plain))


def reference_keys(view: "Exploration") -> dict[str, int]:
    """Collect the keys of references: titles, DOIs and ids, the most reliable last."""
    corpus = view.corpus
    keys: dict[str, int] = {}
    for column in (corpus.titles, corpus.metadata.get("doi") or [], corpus.ids):
        for place, text in enumerate(column):
            if text:
                keys[reference_key(str(text))] = place
    return keys


def _fold_in(
    view: "Exploration", words: np.ndarray, cited: list[int], seed: int, notes: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Estimate theta, from words and references, and theta', which is used for citations.

    theta' of a paper by an unknown author stays near mu; theta departs further from it.
    """
    corpus = view.corpus
    new = Corpus.from_arrays(
        tokens=words,
        offsets=np.array([0, len(words)], np.int64),
        vocabulary=corpus.vocabulary,
    )
    if hasattr(view.model, "fold_in"):
        links = np.array([(0, d) for d in cited], np.int64).reshape(-1, 2)
        # Gibbs: of 200 IEEE VIS papers folded in by their words it finds the main topic of 77 %,
        # the paper's shortcut, which samples topics independently, of 21 %
        found = view.model.fold_in(new, method="gibbs", links=links, seed=seed, threads=1)
        if cited and not found.matched_citations:
            notes.append(f"The model '{view.model_name}' has no citations: references not used.")
        return (
            np.asarray(found.doc_word_topic[0], np.float64),
            np.asarray(found.doc_topic[0], np.float64),
        )
    if not hasattr(view.model, "transform"):
        raise NotFoundError(f"The model '{view.model_name}' cannot place new papers.")
    if cited:
        notes.append(f"The model '{view.model_name}' places papers by their words alone.")
    only = np.asarray(view.model.transform(new)[0], np.float64)
    return only, only


def _likely_cited(
    view: "Exploration",
    topics: np.ndarray,
    cosines: np.ndarray,
    cited: list[int],
    number: int,
    notes: list[str],
) -> list[PaperLink]:
    """Rank papers by the square root of the citation rate times the similarity of words.

    The rate is lambda-_j sum_k lambdaT_k theta'_k theta'_jk (eq:poisson_likelihood). Alone, it
    favours papers that the whole field cites, and words alone favour papers that are never cited.
    The product finds one and a half times as many true references of known papers as either.
    """
    if view.topic_scale is None or view.cited_propensity is None:
        notes.append(f"The model '{view.model_name}' does not predict citations.")
        return []
    rate = view.cited_propensity * (view.doc_topic @ (view.topic_scale * topics))
    score = np.sqrt(rate) * cosines if cosines.any() else np.sqrt(rate)
    return [view.paper_link(d, score=score[d]) for d in best_of(score, number, cited)]


def _authors(view: "Exploration", score: np.ndarray, number: int) -> list[AuthorLink]:
    """Rank authors by the summed similarities of their papers among the most similar ones."""
    corpus = view.corpus
    if not corpus.n_authors:
        return []
    total: dict[int, float] = {}
    for d in best_of(score, _AROUND):
        begin, end = corpus.author_offsets[d], corpus.author_offsets[d + 1]
        for author in set(corpus.author_ids[begin:end].tolist()):
            total[author] = total.get(author, 0.0) + float(score[d])
    best = sorted(total, key=lambda author: (-total[author], author))[:number]
    return [view.author_link(author, total[author]) for author in best]
