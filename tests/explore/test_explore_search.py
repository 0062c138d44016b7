"""Search by beginnings of words, and placing a paper that the model has not seen."""

import numpy as np
import pytest

from citeweave.errors import NotFoundError, ParameterError
from citeweave.explore.place import match_vocabulary
from citeweave.explore.search import SearchIndex, plain_words


def index_of(*titles, weights=None):
    fields = [[plain_words(title) for title in titles]]
    return SearchIndex(fields, np.zeros(len(titles)) if weights is None else np.array(weights))


def places(found):
    return [place for place, _ in found]


def test_every_word_must_begin_one_of_the_entry():
    index = index_of("Quantum gravity", "Quantum field theory", "Classical gravity")
    assert places(index.find("quant grav", 9)) == [0]
    assert places(index.find("GRAV", 9)) == [0, 2]
    assert places(index.find("quantum x", 9)) == []
    assert places(index.find("", 9)) == []
    assert places(index.find("?!", 9)) == []
    assert places(index.find("grav", 1)) == [0]


def test_whole_words_and_weights_come_first():
    assert places(index_of("stringent tests", "string tests").find("string", 9)) == [1, 0]
    assert places(index_of("a b", "a b", weights=[0.1, 0.9]).find("a", 9)) == [1, 0]


def test_accents_and_capitals_do_not_matter():
    index = index_of("Rüdiger Straße", "Čapek")
    assert places(index.find("rudiger strasse", 9)) == [0]
    assert places(index.find("capek", 9)) == [1]


@pytest.mark.parametrize("query", ["a" * 10_000, "\x00", "' OR 1=1 --", "(((", "\ud800", "a\u0301"])
def test_strange_queries_find_what_they_find(view, query):
    assert all(hit.kind in {"paper", "author", "topic"} for hit in view.search(query))


def test_nothing_is_indexed_in_an_empty_index():
    index = SearchIndex([[]], np.zeros(0))
    assert (len(index), index.find("a", 3)) == (0, [])


def test_all_kinds_are_found(view):
    title = view.corpus.titles[17]
    assert view.search(title, kinds=("paper",))[0].id == 17
    name = view.corpus.author_names[3]
    hit = view.search(name, kinds=("author",))[0]
    assert (hit.kind, hit.label) == ("author", name)
    word = view.top_words(1)[view.order[0]][0]
    assert view.order[0] in [hit.id for hit in view.search(word, kinds=("topic",))]
    by_id = view.search("10.1000/paper.33", kinds=("paper",))
    assert by_id[0].id == 33
    assert len(view.search("o", limit=5)) <= 5
    theirs = {d for d in range(90) if name in view.corpus.authors(d)}
    assert theirs <= {hit.id for hit in view.search(f"{name} 20", kinds=("paper",), limit=90)}


@pytest.mark.parametrize("options", [{"kinds": ("city",)}, {"kinds": "paper"}, {"limit": 0}])
def test_wrong_options(view, options):
    with pytest.raises(ParameterError, match="must be"):
        view.search("a", **options)


def test_vocabulary_is_matched_longest_first():
    known = {"volume rendering": 0, "volume": 1, "direct volume rendering": 2}
    assert match_vocabulary("Direct volume-rendering of a volume", known) == [
        "direct volume rendering",
        "of",
        "a",
        "volume",
    ]


def words_of(view, d):
    return " ".join(view.corpus.words(d)).replace("_", " ")


def test_the_words_of_a_paper_are_placed_near_it(view):
    d = int(view.corpus.lengths.argmax())
    found = view.place("", words_of(view, d), tokenise=lambda _, text: ([], text.split()))
    assert found.similar[0].paper == d
    assert view.place("", words_of(view, d), tokenise=lambda _, text: ([], text.split())) == found
    assert found.words_known > 0
    assert found.likely_cited
    names = {name for link in found.similar for name in link.authors}
    assert found.authors[0].name in names


def test_a_paper_of_one_clear_topic_is_placed_there(view):
    d = int((view.about.max(axis=1) * (view.corpus.lengths > 5)).argmax())
    found = view.place("", words_of(view, d), tokenise=lambda _, text: ([], text.split()))
    assert found.topics[0].topic == int(view.about[d].argmax())


def test_references_are_found_by_id_doi_title_and_position(view):
    text = words_of(view, 8)
    references = [
        "https://doi.org/10.1000/PAPER.3",
        view.corpus.titles[6].upper(),
        9,
        "10.1000/paper.9",
        "nobody knows",
        " ",
    ]
    found = view.place("A new paper", text, references=references)
    assert [link.paper for link in found.references_found] == [3, 6, 9]
    assert found.references_unknown == ["nobody knows"]
    assert not {3, 6, 9} & {link.paper for link in found.likely_cited}
    assert "paper" in found.unknown_words
    with pytest.raises(NotFoundError, match="There is no paper 400"):
        view.place("x", text, references=[400])


def test_references_change_the_topics(view):
    k = view.order[0]
    near = np.argsort(-view.doc_topic[:, k])[:8].tolist()
    other = int(view.doc_topic[:, k].argmin())
    words = words_of(view, other)
    with_links = view.place("", words, references=near)
    without = view.place("", words)

    def weight(found):
        return sum(part.weight for part in found.topics if part.topic == k)

    assert weight(with_links) > weight(without)


def test_nothing_to_place_by(view):
    with pytest.raises(ParameterError, match="so it cannot be placed"):
        view.place("qqq", "zzz")
    found = view.place("qqq", "", references=[1, 2])  # references alone will do
    assert found.words_known == 0
