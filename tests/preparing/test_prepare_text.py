"""Cleaning, tokens, stop words, thesaurus and language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeweave.errors import ParameterError
from citeweave.preparing.keys import doi_key, numerals, scrub, title_key
from citeweave.preparing.language import LanguageFilter, language_code
from citeweave.preparing.pipeline import WordRules
from citeweave.preparing.settings import Settings
from citeweave.preparing.stopwords import academic_words, read_word_list, stop_words
from citeweave.preparing.text import clean, is_missing, normalise_word, pieces
from citeweave.preparing.thesaurus import read_thesaurus, resolve

GERMAN = (
    "Ein neues Verfahren zur Erkennung von Mustern in großen Datenmengen, das auf neuronalen "
    "Netzen beruht und sich in der Praxis bewährt hat."
)


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("See https://example.org/a?b=c now", "See now"),
        ("Mail me@example.org, www.example.org/x", "Mail ,"),
        (
            "<jats:p>Growth of <i>E. coli</i> &amp; CO<sub>2</sub></jats:p>",
            "Growth of E. coli & CO2",
        ),
        ("a < b and c > d", "a < b and c > d"),
        (
            r"Schr\"odinger and Erd\H{o}s, {\'E}cole \c{c}a {\o}re",
            "Schrödinger and Erdős, École ça øre",
        ),
        (r"On {LaTeX} with $\mathcal{N}=4$ in $AdS_5$ space", "On LaTeX with in AdS space"),
        ("Good work. © 2020 Elsevier B.V. All rights reserved.", "Good work."),
        ("The /spl alpha/-shape", "The -shape"),
        ("<mml:math><mml:mi>x</mml:mi></mml:math> rises", "rises"),
    ],
)
def test_clean(raw, cleaned):
    assert clean(raw) == cleaned


def test_each_cleaning_step_can_be_turned_off():
    raw = "<b>x</b> https://a.org © 2020 The Authors"
    kept = clean(raw, urls=False, markup=False, copyright_notes=False)
    assert kept == raw


@given(st.text(max_size=300))
def test_cleaning_and_tokens_never_fail(text):
    words = pieces(clean(text))
    assert all(piece and piece == piece.lower() for piece in words)
    assert words == pieces(clean(text))


def test_words_keep_digits_and_hyphens_inside():
    text = clean("K-means for p53 in 3D, co\u2010citation; Kolmogorov\u2019s 1941 law")
    assert [normalise_word(p) for p in pieces(text)] == [
        "k-means", "for", "p53", "in", "3d", "", "co-citation", "", "kolmogorov", "", "law",
    ]  # fmt: skip


@pytest.mark.parametrize("text", [None, "", "  ", "[No abstract available]", "N/A"])
def test_missing_abstracts(text):
    assert is_missing(text)
    assert not is_missing("Abstract algebra")


def test_stop_words_spare_words_of_science():
    english = stop_words("en")
    assert {"the", "of", "which"} <= english
    assert not {"computer", "system", "information", "ring", "ai"} & english
    assert {"propose", "article"} <= academic_words("en")
    assert "der" in stop_words("de")
    with pytest.raises(ParameterError, match="no stop words for the language 'xx'"):
        stop_words("xx")


def test_stop_words_from_a_file_and_words_to_keep(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("alpha beta # greek\nGamma\n", encoding="utf-8")
    assert read_word_list(path) == {"alpha", "beta", "gamma"}
    settings = Settings(stop_words=str(path), extra_stop_words=("delta",), keep_words=("beta",))
    rules = WordRules.from_settings(settings)
    assert rules.words("Alpha beta gamma delta the x") == ["", "beta", "", "", "the", ""]
    with pytest.raises(ParameterError, match="cannot be read"):
        read_word_list(tmp_path / "none.txt")


def test_thesaurus_files(tmp_path):
    path = tmp_path / "thesaurus.txt"
    path.write_text("label\treplace by\nNN\tneural net\nneural net\tneural network\nfoo\t\n")
    assert read_thesaurus(path) == {
        "nn": "neural network",
        "neural net": "neural network",
        "foo": "",
    }
    path.write_text("a,b\n\n# remark\nai,AI\n")
    assert read_thesaurus(path) == {"a": "b", "ai": "AI"}
    path.write_text("a\tb\nb\ta\n")
    with pytest.raises(ParameterError, match="circular"):
        read_thesaurus(path)
    assert resolve({}) == {}


def test_language_names_and_codes():
    assert language_code("English") == language_code("eng") == language_code("en-GB") == {"en"}
    assert language_code("English; French") == {"en", "fr"}
    assert language_code(None) == language_code("Klingon") == set()


def test_language_of_documents():
    keep = LanguageFilter("en")
    assert keep.foreign(None, GERMAN) == "de"
    assert keep.foreign("English", GERMAN) is None  # the source's word is believed
    assert keep.foreign("German", "The state of the art of the field") == "de"
    assert keep.foreign(None, "Kurze deutsche Notiz") is None  # too short to tell
    assert keep.foreign(None, "Fault-tolerant quantum computation. " * 4) is None
    assert LanguageFilter(None).foreign("German", GERMAN) is None
    assert LanguageFilter("de").foreign(None, GERMAN) is None
    with pytest.raises(ParameterError, match="'language'"):
        LanguageFilter("qq")


def test_keys():
    assert title_key("The <i>k</i>-Means++: Über Ähnlichkeit!") == "the k means uber ahnlichkeit"
    assert doi_key("doi:10.1000/ABC.") == doi_key("https://doi.org/10.1000/abc") == "10.1000/abc"
    assert doi_key("W123") == doi_key(None) == ""
    assert numerals(title_key("Strings II: 10 dimensions")) == ("ii", "10")
    assert scrub("a\ud800b") == "a?b"
    assert scrub("äöü") == "äöü"
