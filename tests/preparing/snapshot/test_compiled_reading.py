"""What compiled loops read of a snapshot is what the plain readers of other formats read."""

import json
import random

import numpy as np
import polars as pl
import pytest

from citeweave.corpus.canonical import canonical_bytes, canonical_column
from citeweave.preparing.pipeline import WordRules
from citeweave.preparing.settings import Settings
from citeweave.preparing.snapshot import words as compiled_words
from citeweave.preparing.snapshot.undecoded import cited_numbers, decoded_works, texts_of
from citeweave.preparing.snapshot.words import CompiledColumns
from citeweave.preparing.text_columns import TextColumns
from citeweave.reading.narrow_json import narrow_decoder
from citeweave.reading.openalex import abstract_from_index

PARTS = ["topic", "models,", "K-means", "p53", "(the", "of)", "1990", "--", "it's", "l'école"]
PARTS += ["naïve", "co-", "-op", "a-b-c", "don''t", "β-catenin", "3d", "…", "data;data", "é"]
PARTS += ["the", "x_y"]


def indices(number, seed=1):
    rng = random.Random(seed)  # noqa: S311
    for _ in range(number):
        places = {}
        for place in range(rng.randrange(1, 40)):
            places.setdefault(rng.choice(PARTS), []).append(place)
        yield places


def test_abstracts_as_from_an_index():
    found = list(indices(200))
    plain = texts_of([json.dumps(one, ensure_ascii=False).encode() for one in found])
    spaced = texts_of([json.dumps(one, ensure_ascii=False, indent=1).encode() for one in found])
    assert plain == spaced == [abstract_from_index(one) for one in found]


@pytest.mark.parametrize(
    ("index", "text"),
    [
        ({"a": [0], "c": [5], "b": [2]}, "a b c"),
        ({"a": [1], "b": [1, 0]}, "b a b"),
        ({'quoted "word"': [0]}, 'quoted "word"'),
        ({"far": [10**9], "near": [0]}, "near far"),
        ({"A": [0], "&amp;": [1], "B": [2]}, "A & B"),
        ({"a": ["0"]}, None),
        ({"a": []}, None),
        ({"a": [-1]}, "a"),
    ],
)
def test_odd_indices_are_read_as_elsewhere(index, text):
    """Whatever the loop refuses goes the way of works in other files."""
    ((_, work),) = decoded_works([(1, {"abstract_inverted_index": json.dumps(index).encode()})])
    try:
        found = abstract_from_index(work["abstract_inverted_index"]) or work.get("abstract")
    except TypeError:
        found = None
    assert (found or None) == text


def test_a_long_word_many_times_takes_more_room_than_its_index():
    index = {"w" * 5000: list(range(900)), "end": [900]}
    assert texts_of([json.dumps(index).encode()] * 3) == [abstract_from_index(index)] * 3


@pytest.mark.parametrize(
    "cited",
    [
        ["https://openalex.org/W1", 5],
        ["https://openalex.org/A1"],
        ["W12"],
        ["https://openalex.org/W1234567890123456789"],
        ["https://openalex.org/W"],
        "https://openalex.org/W3",
        [["https://openalex.org/W3"]],
    ],
)
def test_lists_of_anything_else_are_not_taken_for_ids(cited):
    good = b'["https://openalex.org/W31","https://openalex.org/W7"]'
    bad = json.dumps(cited, separators=(",", ":")).encode()
    first, middle, last = cited_numbers([good, bad, good])
    assert first.tolist() == last.tolist() == [31, 7]
    assert middle is None
    ((_, work),) = decoded_works([(1, {"referenced_works": bad})])
    assert work["referenced_works"] == cited


def test_words_as_in_an_import_in_memory(monkeypatch):
    small = compiled_words._table
    monkeypatch.setattr(compiled_words, "_table", lambda n, size: small(min(n, 4), min(size, 16)))
    rng = random.Random(2)  # noqa: S311
    made = CompiledColumns(WordRules.from_settings(Settings()))
    monkeypatch.undo()
    expected = TextColumns(made.rules)
    texts = [[" ".join(rng.choices(PARTS, k=rng.randrange(12))) for _ in "ab"] for _ in range(60)]
    for some in (texts[:20], texts[20:]):
        made.add_texts([made.rules.clean(text) for pair in some for text in pair])
    documents = [([expected.add(one)], [expected.add(other)]) for one, other in texts]
    mine, theirs = made.joined_in_order([(1, 2)] * len(texts)), expected.joined(documents)
    assert made.words == expected.words
    for name in ("flat", "offsets", "titles"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))


def test_decoders_agree_with_and_without_msgspec(monkeypatch):
    wanted = {"id": None, "topic": {"field": None}, "people": {"name": None}, "index": None}
    work = {"id": 1, "topic": {"field": {"a": 1}}, "people": [{"name": "é"}], "index": {"a": [0]}}
    odd = [{"topic": "text"}, {"people": [None]}, {"people": {"name": None}}, {"index": None}, [1]]
    lines = [json.dumps(one).encode() for one in (work, *odd)] + [b'{"id": NaN}', b'{"id": "a\tb"}']
    fast = narrow_decoder(wanted, as_bytes=["index"])
    monkeypatch.setitem(__import__("sys").modules, "msgspec", None)
    slow = narrow_decoder(wanted, as_bytes=["index"])
    for line in lines:
        mine, theirs = fast(line), slow(line)
        if isinstance(mine, dict) and isinstance(mine.get("index"), bytes):
            mine["index"] = json.loads(mine["index"])
        assert str(mine) == str(theirs)
    for bad in (b"{", b"", b'{"id": 1} x'):
        for decode in (fast, slow):
            with pytest.raises(ValueError):  # noqa: PT011 (each decoder has words of its own)
                decode(bad)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (["a", None, "", "é"], pl.String),
        ([1, None, -30], pl.Int64),
        ([["a", "éé"], None, [], ["", None]], pl.List(pl.String)),
        ([True, None], pl.Boolean),
        ([1.5, None], pl.Float64),
        ([], pl.String),
        ([None, None], pl.List(pl.String)),
    ],
)
def test_columns_have_the_bytes_of_their_values(values, dtype):
    assert canonical_column(pl.Series(values, dtype=dtype), pl) == canonical_bytes(values)
