"""Normalisers of identifiers and names."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeweave.reading import (
    clean,
    normalise_doi,
    normalise_orcid,
    parse_name,
    parse_names,
    parse_year,
    split_names,
)
from citeweave.reading.latex import plain_text
from citeweave.reading.references import wos_reference
from citeweave.reading.scopus_references import scopus_references


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("10.1000/ABC", "10.1000/abc"),
        ("https://doi.org/10.1000/abc", "10.1000/abc"),
        ("http://dx.doi.org/10.1000%2Fabc", "10.1000/abc"),
        ("doi: 10.1000/abc.", "10.1000/abc"),
        ("(see 10.1016/S0370-2693(97)00001-2)", "10.1016/s0370-2693(97)00001-2"),
        ("10.1161/STROKEAHA.118.021126 [doi]", "10.1161/strokeaha.118.021126"),
        ("10.1.1.1.1484", None),
        ("10.1000/", None),
        ("no", None),
        (None, None),
        (10.1000, None),
    ],
)
def test_doi(text, doi):
    assert normalise_doi(text) == doi


@given(st.text())
def test_normalising_twice_is_normalising_once(text):
    for function in (normalise_doi, clean, normalise_orcid):
        once = function(text)
        assert once is None or function(once) == once


@given(st.text(st.characters(), max_size=50))
def test_clean_text_can_be_stored(text):
    cleaned = clean(text)
    if cleaned is not None:
        cleaned.encode("utf-8")
        assert cleaned == " ".join(cleaned.split())
        assert "\0" not in cleaned


def test_numbers_become_text():
    assert [clean(value) for value in (5, 5.0, 2.5, True, float("nan"), 10**5000, None, [])] == [
        "5",
        "5",
        "2.5",
        *[None] * 5,
    ]


def test_orcid():
    assert normalise_orcid("https://orcid.org/0000-0002-1825-009x") == "0000-0002-1825-009X"
    assert normalise_orcid("0000000218250097") == "0000-0002-1825-0097"
    assert normalise_orcid("12-34") is None


@pytest.mark.parametrize(
    ("value", "year"),
    [
        (2016, 2016),
        (2016.0, 2016),
        ("2016-05-01", 2016),
        ("20160501", 2016),
        ("1 Jan.-Feb. 2019", 2019),
        ("2014//", 2014),
        ("JAN 2020", 2020),
        (dt.date(1999, 1, 1), 1999),
        ("n.d.", None),
        (0, None),
        (99999, None),
        (float("nan"), None),
        (float("inf"), None),
        ("12345678901", None),
        (None, None),
        (True, None),
    ],
)
def test_year(value, year):
    assert parse_year(value) == year


@pytest.mark.parametrize(
    ("text", "given_name", "family", "name"),
    [
        ("Lim, Kar Wai", "Kar Wai", "Lim", "Kar Wai Lim"),
        ("Kar Wai Lim", "Kar Wai", "Lim", "Kar Wai Lim"),
        ("van de Schoot, Rens", "Rens", "van de Schoot", "Rens van de Schoot"),
        ("Jan van der Berg", "Jan", "van der Berg", "Jan van der Berg"),
        ("King, Jr., Martin Luther", "Martin Luther", "King Jr", "Martin Luther King Jr"),
        ("Frederick P. Brooks Jr.", "Frederick P.", "Brooks Jr", "Frederick P. Brooks Jr."),
        ("Phillips J.C.", "J.C.", "Phillips", "J.C. Phillips"),
        ("J.-P. Nominé", "J.-P.", "Nominé", "J.-P. Nominé"),
        ("F.Bonechi", "F.", "Bonechi", "F.Bonechi"),
        ("Aristotle", None, "Aristotle", "Aristotle"),
        ("孙奕昀", None, "孙奕昀", "孙奕昀"),
    ],
)
def test_names(text, given_name, family, name):
    author = parse_name(text)
    assert author is not None
    assert (author.given, author.family, author.name) == (given_name, family, name)


def test_initials_after_the_family_name_only_where_the_source_writes_so():
    plain = parse_name("Wei LI")
    medline = parse_name("Zaidat OO", family_first=True)
    assert plain is not None
    assert medline is not None
    assert (plain.family, medline.family, medline.given) == ("LI", "Zaidat", "OO")


def test_nobody():
    nobody = ["", "  ", "et al.", "others", "[No author name available]", "Anonymous", "Jr", None]
    assert parse_names(nobody) == ()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Pan, Y., Yu, C., Zhang, X.", 3),
        ("Phillips J.C., Braun R., Wang W.", 3),
        ("O'Hara L., de Eyto E.", 2),
        ("Lim, Kar Wai", 1),
        ("Lim, Kar Wai; Buntine, Wray", 2),
        ("Lim, Kar Wai and Buntine, Wray", 2),
        ("Kar Wai Lim, Wray Buntine, Lan Du", 3),
        ("A. One, B. Two and C. Three", 3),
        ("A. One|B. Two", 2),
        ("Livigni A., O'Hara L.", 2),
        ("", 0),
    ],
)
def test_lists_of_names(text, count):
    assert len(split_names(text)) == count


@given(st.text(max_size=200))
def test_names_of_any_text(text):
    for name in split_names(text):
        author = parse_name(name)
        assert author is None or author.name


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"G{\"o}del and G\"odel and G\"{o}del", "Gödel and Gödel and Gödel"),
        (r"{\'E}t{\'e}, \v{C}apek, Erd{\H o}s, \c{c}", "Été, Čapek, Erdős, ç"),
        (r"{\o}re \aa ngstr{\"{o}}m {\ss} {\L}ukasz na{\"\i}ve", "øre ångström ß Łukasz naïve"),
        (r"10\% \& \$5 of \{sets\} in a\_b", "10% & $5 of {sets} in a_b"),
        (r"\emph{styled} {T}ext -- ``quoted''", "styled Text – “quoted”"),
        (r"the $\alpha$-$\beta$ model~of", "the α-β model of"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_latex(latex, text):
    assert plain_text(latex) == text


def test_references_of_web_of_science():
    found = [
        wos_reference(text)
        for text in (
            "Lim KW, 2016, MACH LEARN, V103, P185, DOI 10.1007/s10994-016-5562-3",
            "*R DEV COR TEAM, 2010, R LANG ENV",
            (
                "Chapman PM, 2001, ENVIRON TOXICOL CHEM, V20, P3, "
                "DOI 10.1897/1551-5028(2001)020<0003:ASCIE>2.0.CO;2"
            ),
            "Mille G, 2007, MAR POLLUT, DOI [10.1016/a.b, DOI 10.1016/A.B]",
            "UNESCO",
        )
    ]
    assert [reference.year for reference in found if reference] == [2016, 2010, 2001, 2007, None]
    assert [reference.doi for reference in found if reference] == [
        "10.1007/s10994-016-5562-3",
        None,
        "10.1897/1551-5028(2001)020<0003:ascie>2.0.co;2",
        "10.1016/a.b",
        None,
    ]
    assert wos_reference("  ") is None


def test_references_of_scopus_hold_semicolons():
    references = scopus_references(
        "Hairer, E., Lubich, C., (2002) Geometric Numerical Integration, , Springer; Berlin; "
        "Nakano, Y., Purification of enzymes; its inactivation (1987) Plant Cell, 28, pp. 1-9; "
        "OECD guidelines (2006), http://oecd.org; "
        "Phillips J.C., Braun R., Scalable dynamics, J. Comput. Chem., 26, pp. 1781-1802, (2005)"
    )
    assert [(r.first_author, r.title, r.year) for r in references] == [
        ("Hairer, E.", "Geometric Numerical Integration", 2002),
        ("Nakano, Y.", "Purification of enzymes; its inactivation", 1987),
        (None, "OECD guidelines", 2006),
        ("Phillips J.C.", "Scalable dynamics", 2005),
    ]
    assert scopus_references("") == ()


@given(st.text("A.,;() 2019ab&", max_size=300))
def test_references_of_any_text(text):
    for reference in scopus_references(text):
        assert reference.raw
