"""A small made-up literature as OpenAlex delivers one: JSON lines of works.

The papers are those of citeweave's demo corpus, drawn from the model itself, so nobody's data are
needed to try the notebook. Put the path of an export of your own in their place.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.simulate import demo_corpus

if TYPE_CHECKING:
    from citeweave.corpus import Corpus

__all__ = ["write_openalex"]

_JOURNALS = {
    "Agriculture": ("Soil and Harvest", "Annals of Crop Research"),
    "Archaeology": ("Journal of Early Settlements", "Field Notes on Antiquity"),
    "Biology": ("Cells and Organisms", "Journal of Living Systems"),
    "Computer Science": ("Computing Letters", "Journal of Data and Retrieval"),
    "Physics": ("Letters on Fields", "Journal of Matter and Space"),
}
_OTHER_JOURNALS = ("Proceedings of the Open Society", "Transactions in {}")


def write_openalex(path: str | Path, *, papers: int = 500, seed: int = 2016) -> Path:
    """Write works to a file, one JSON object a line, with the fields that OpenAlex has.

    Parameters
    ----------
    path : path
        Of the file, ending in ``.jsonl``.
    papers : int
        How many, from 10 to 1,500; of each field of the demo corpus those with the most citations.
    seed : int
        The same seed writes the same file.
    """
    corpus = demo_corpus().corpus
    rng = np.random.default_rng(seed)
    degree = np.bincount(corpus.citations.ravel(), minlength=corpus.n_documents)
    order = np.argsort(-degree, kind="stable")
    rank = np.zeros(corpus.n_documents, int)  # place of a paper within its field
    for field in range(corpus.n_categories):
        mine = order[corpus.categories[order] == field]
        rank[mine] = np.arange(len(mine))
    chosen = np.sort(np.lexsort((-degree, rank))[:papers])
    inside = set(chosen.tolist())
    cited: dict[int, list[int]] = {}
    for citing, other in corpus.citations.tolist():
        if citing in inside:
            cited.setdefault(citing, []).append(other)
    target = Path(path)
    with target.open("w", encoding="utf-8") as file:
        for d in chosen.tolist():
            work = _work(corpus, d, cited.get(d, []), rng)
            file.write(json.dumps(work, ensure_ascii=False) + "\n")
    return target


def _work(corpus: Corpus, d: int, cited: list[int], rng: np.random.Generator) -> dict[str, Any]:
    begin = int(corpus.author_offsets[d])
    end = int(corpus.author_offsets[d + 1])
    field = corpus.category_names[int(corpus.categories[d])]
    journals = _JOURNALS.get(field, _OTHER_JOURNALS)
    return {
        "id": _address("W", d),
        "title": corpus.titles[d],
        "publication_year": int(corpus.metadata["year"][d]),
        "language": "en",
        "authorships": [
            {
                "author": {
                    "id": _address("A", author),
                    "display_name": corpus.author_names[author],
                }
            }
            for author in corpus.author_ids[begin:end].tolist()
        ],
        "primary_location": {
            "source": {"display_name": journals[int(rng.integers(len(journals)))].format(field)}
        },
        "primary_topic": {"field": {"display_name": field}},
        "referenced_works": [_address("W", other) for other in cited],
        "abstract_inverted_index": _inverted(_abstract(corpus, d)),
    }


def _address(kind: str, number: int) -> str:
    return f"https://openalex.org/{kind}{4_000_000 + number}"


def _abstract(corpus: Corpus, d: int) -> str:
    """Make sentences of a dozen words of those that are not in the title."""
    words = corpus.words(d)[int(corpus.title_lengths[d]) :]
    lines = [" ".join(words[i : i + 12]) for i in range(0, len(words), 12)]
    return " ".join(f"{line.capitalize()}." for line in lines)


def _inverted(text: str) -> dict[str, list[int]]:
    """Turn a text into word: places, the form in which OpenAlex gives abstracts."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(text.split()):
        places.setdefault(word, []).append(place)
    return places
