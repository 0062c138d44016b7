"""Countries by code, by name and at the end of addresses."""

from __future__ import annotations

import pytest

from citeweave.countries import country_code, country_in_address, country_name


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("USA", "US"),
        ("U.S.A.", "US"),
        ("United States of America", "US"),
        ("England", "GB"),
        ("Scotland", "GB"),
        ("UK", "GB"),
        ("Peoples R China", "CN"),
        ("P.R. China", "CN"),
        ("people’s republic of china", "CN"),
        ("Fed Rep Ger", "DE"),
        ("Türkiye", "TR"),
        ("Turkey", "TR"),
        ("Cote Ivoire", "CI"),
        ("CÔTE D'IVOIRE", "CI"),
        ("Republic of Korea", "KR"),
        ("Bosnia & Herceg", "BA"),
        ("The Netherlands", "NL"),
        ("de", "DE"),
        ("XK", "XK"),
        ("Ruritania", None),
        ("", None),
        ("ZZ", None),
    ],
)
def test_countries_by_code_and_name(text: str, code: str | None) -> None:
    assert country_code(text) == code


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("Northwestern Univ, Dept Biochem, Evanston, IL 60208 USA.", "US"),
        ("OAK RIDGE NATL LAB,OAK RIDGE,TN 37830.", "US"),
        ("Mayo Clinic, Rochester, MN", "US"),
        ("Rutgers, The State University of New Jersey", "US"),
        ("Univ Coll London, London WC1E 6BT, England", "GB"),
        ("City Univ Hong Kong, Hong Kong, Peoples R China", "HK"),
        ("National Taiwan University, Taipei, Taiwan, ROC", "TW"),
        ("Emory University, Atlanta, Georgia", "US"),
        ("Tbilisi State University, Tbilisi, Georgia", "GE"),
        ("University of Toronto, Toronto, Ontario", "CA"),
        ("EPFL, 1015 Lausanne Switzerland", "CH"),
        ("Univ Papua New Guinea, Port Moresby, Papua N Guinea", "PG"),
        ("Dept of Physics, Jena, Germany. ", "DE"),
        ("University of Bristol,Department of Computer Science,UK", "GB"),
        ("Institute of Physics", None),
        ("", None),
        (",,;.", None),
    ],
)
def test_countries_at_the_end_of_addresses(address: str, code: str | None) -> None:
    assert country_in_address(address) == code


def test_every_country_has_one_code_and_its_name_leads_back() -> None:
    codes = [a + b for a in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" for b in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    known = [code for code in codes if country_name(code) != code]
    assert len(known) == 250  # those of ISO 3166-1, and Kosovo
    assert [country_code(country_name(code)) for code in known] == known
