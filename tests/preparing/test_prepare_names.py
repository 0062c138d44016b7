"""Author names: parts, keys, exclusion, and who is who."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeweave.preparing.authors import AuthorRegister
from citeweave.preparing.names import EXCLUSION_WORDS, is_person, parse_author
from citeweave.reading import Author, parse_name
from citeweave.reading.name_parts import parse


@pytest.mark.parametrize(
    ("written", "given_", "family", "short"),
    [
        ("Lee, Bruce A.", "Bruce A.", "Lee", "B. Lee"),
        ("Bruce Lee", "Bruce", "Lee", "B. Lee"),
        ("Lee BA", "BA", "Lee", "B. Lee"),
        ("LEE BA", "BA", "LEE", "B. LEE"),
        ("Lee B. A.", "B. A.", "Lee", "B. Lee"),
        ("D J Gross", "D J", "Gross", "D. Gross"),
        ("F.Bonechi", "F.", "Bonechi", "F. Bonechi"),
        ("J.-B. Zuber", "J.-B.", "Zuber", "J. Zuber"),
        ("Prof. Dr. Ludwig van der Berg", "Ludwig", "van der Berg", "L. van der Berg"),
        ("Berg, Ludwig van der", "Ludwig", "van der Berg", "L. van der Berg"),
        ("Juan de la Cruz", "Juan", "de la Cruz", "J. de la Cruz"),
        ("Yo-Yo Ma, PhD", "Yo-Yo", "Ma", "Y. Ma"),
        ("Jack Ma", "Jack", "Ma", "J. Ma"),
        ("E. Witten (IAS)", "E.", "Witten", "E. Witten"),
        ("王小明", "", "王小明", "王小明"),
        ("J.R. Figueira", "J.R.", "Figueira", "J. Figueira"),
        ("Figueira, J.R.", "J.R.", "Figueira", "J. Figueira"),
        ("Roberts, JR", "JR", "Roberts", "J. Roberts"),
        ("Roberts JR", "JR", "Roberts", "J. Roberts"),
        ("De Souza JR", "JR", "De Souza", "J. De Souza"),
        ("Shaffer AL 3rd", "AL", "Shaffer", "A. Shaffer"),
        ("Gacemi, M.A.", "M.A.", "Gacemi", "M. Gacemi"),
        ("Dongmin MA", "MA", "Dongmin", "M. Dongmin"),
        ("D.R. Morrison", "D.R.", "Morrison", "D. Morrison"),
        ("Alberto S.Cattaneo", "Alberto S.", "Cattaneo", "A. Cattaneo"),
        ("J-M.Maillard", "J-M.", "Maillard", "J. Maillard"),
        ("COSTADEB.O", "O", "COSTADEB", "O. COSTADEB"),
        ("Li B.", "B.", "Li", "B. Li"),
        ("Da Silva T. F.", "T. F.", "Da Silva", "T. Da Silva"),
        ("La Rubia-Garcia MD", "MD", "La Rubia-Garcia", "M. La Rubia-Garcia"),
        ("Madonna", "", "Madonna", "Madonna"),
    ],
)
def test_parts_of_a_name(written, given_, family, short):
    name = parse(written)
    assert (name.given, name.family, name.short) == (given_, family, short)


@pytest.mark.parametrize(
    ("written", "given_", "family"),
    [
        ("Joshua Vander Hook", "Joshua", "Vander Hook"),
        ("Juan Dela Cruz", "Juan", "Dela Cruz"),
        ("Rhys ap Gwilym", "Rhys", "ap Gwilym"),
        ("Maria das Neves", "Maria", "das Neves"),
        ("Anh Do Nguyen", "Anh Do", "Nguyen"),
        ("John Ben Smith", "John Ben", "Smith"),
        ("Wei LI", "Wei", "LI"),
        ("Dongmin MA", "Dongmin", "MA"),
        ("João Silva Filho", "João", "Silva"),
        ("Ana Neto", "Ana", "Neto"),
    ],
)
def test_readers_and_preparation_part_names_alike(written, given_, family):
    name = parse_author(parse_name(written))
    assert (name.given, name.family) == (given_, family)
    turned = parse_name(f"{name.family} {name.suffix}".strip() + f", {name.given}")
    assert parse_author(turned) == name


def test_suffix_is_no_part_of_the_key():
    assert parse("King, Martin Luther, Jr.").suffix == "Jr"
    assert parse("William Gates III").key == parse("Gates, W.").key == "w gates"


def test_accents_are_folded_in_the_key_only():
    assert parse("Müller, Jörg").key == parse("Muller, J").key
    assert parse("Müller, Jörg").display == "Jörg Müller"


def test_dblp_numbers_tell_namesakes_apart():
    assert parse("Wei Chen 0001").key != parse("Wei Chen 0002").key
    assert parse("Wei Chen 0001").display == "Wei Chen 0001"


def test_the_source_parts_are_believed():
    name = parse_author(Author("Maria Garcia Molina", given="Maria", family="Garcia Molina"))
    assert (name.given, name.family) == ("Maria", "Garcia Molina")


@pytest.mark.parametrize("word", EXCLUSION_WORDS)
def test_each_exclusion_word_of_the_paper_excludes(word):
    assert not is_person(f"The {word.title()} of Things")


@pytest.mark.parametrize("name", ["et al.", "Anonymous", "Dr.", "1234", "", "[Anonymous]"])
def test_placeholders_are_no_people(name):
    assert not is_person(name)


def test_exclusion_words_are_whole_words():
    assert is_person("Author Universityson") is False  # "author" is a word of the list
    assert is_person("Anna Universityson")


@given(st.text(max_size=40))
def test_parsing_never_fails_and_is_deterministic(text):
    name = parse(text)
    assert name == parse(text)
    assert isinstance(name.key, str)
    assert isinstance(name.first, str)
    assert isinstance(name.display, str)
    assert isinstance(name.short, str)


def _authors(mode, *mentions, **options):
    register = AuthorRegister(mode, **options)
    numbers = [register.mention(m if isinstance(m, Author) else Author(m)) for m in mentions]
    resolved = register.resolve([[number] for number in numbers if number >= 0])
    who = iter(resolved.of_entry.tolist())
    return [next(who) if number >= 0 else None for number in numbers], resolved, register


def test_initials_merge_as_in_the_paper_and_say_so():
    who, resolved, _ = _authors("initials", "Bruce Lee", "Brett Lee", "B. Lee", "Ann Lee")
    assert who == [0, 0, 0, 1]
    assert resolved.labels == ["B. Lee", "Ann Lee"]
    (merged,) = resolved.merged
    assert merged.names == ("B. Lee", "Brett Lee", "Bruce Lee")
    assert (merged.mentions, merged.first_names) == (3, 2)


def test_fullest_form_is_shown():
    _, resolved, _ = _authors("initials", "LEE, B", "B. Lee", "Lee, Bruce A.", "Bruce Lee")
    assert resolved.labels == ["Bruce A. Lee"]


def test_compatible_keeps_first_names_apart():
    who, _, _ = _authors("compatible", "Bruce Lee", "Brett Lee", "B. Lee")
    assert who == [0, 1, 2]
    who, _, _ = _authors("compatible", "Bruce Lee", "B. Lee", "Lee, B. A.")
    assert who == [0, 0, 0]


def test_full_takes_names_as_written():
    who, resolved, _ = _authors("full", "Bruce Lee", "Lee, Bruce", "B. Lee", "BRUCE LEE")
    assert who == [0, 0, 1, 0]
    assert len(resolved.labels) == 2


def test_ids_win_over_names():
    one = Author("Bruce Lee", id="A1")
    two = Author("Bruce Lee", id="A2")
    renamed = Author("Bruce Li", id="A1", orcid="0000-0001")
    by_orcid = Author("Lee, B.", orcid="0000-0001")
    who, resolved, _ = _authors("initials", one, two, renamed, by_orcid)
    assert who == [0, 1, 0, 0]
    assert len(set(resolved.labels)) == 2
    assert resolved.identified == 2
    assert resolved.merged == []


def test_a_name_joins_the_only_identified_bearer_unless_first_names_differ():
    known = Author("Young Kim", id="A1")
    who, _, _ = _authors("initials", known, "Y. Kim", "Yong-Sun Kim")
    assert who == [0, 0, 1]
    who, _, _ = _authors("initials", known, Author("Yuna Kim", id="A2"), "Y. Kim")
    assert who == [0, 1, 2]


def test_thesaurus_and_exclusion():
    who, resolved, register = _authors(
        "initials",
        "Smith-Jones, A",
        "Alice Smith",
        "Nobody Atall",
        "Some University",
        thesaurus={"a smith-jones": "Smith, Alice", "nobody atall": ""},
        exclusion_words=EXCLUSION_WORDS,
    )
    assert who == [0, 0, None, None]
    assert resolved.labels == ["Alice Smith"]
    assert register.excluded == {"Nobody Atall": 1, "Some University": 1}


@given(
    st.lists(st.text(max_size=12), max_size=8), st.sampled_from(["initials", "compatible", "full"])
)
def test_every_mention_gets_one_author_with_a_unique_label(names, mode):
    who, resolved, _ = _authors(mode, *names)
    assert len(set(resolved.labels)) == len(resolved.labels)
    assert {w for w in who if w is not None} == set(range(len(resolved.labels)))
