"""Country names: ISO 3166 codes and the spellings used in bibliographic sources."""

import re
import unicodedata
from functools import cache, lru_cache
from importlib.resources import files

__all__ = ["country_code", "country_in_address", "country_name"]

_STATES = (
    "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ "
    "NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY"
)
_STATE_NAMES = (
    "alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii|idaho|"
    "illinois|indiana|iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|"
    "minnesota|mississippi|missouri|montana|nebraska|nevada|new hampshire|new jersey|new mexico|"
    "new york|north carolina|north dakota|ohio|oklahoma|oregon|pennsylvania|rhode island|"
    "south carolina|south dakota|tennessee|texas|utah|vermont|virginia|washington|west virginia|"
    "wisconsin|wyoming"
)
_PROVINCES = "ontario|quebec|british columbia|alberta|manitoba|saskatchewan|nova scotia"
_STATE = re.compile(rf"(?:{_STATES.replace(' ', '|')})(?:\s+\d{{5}}(?:-\d{{4}})?)?")
_STATE_NAME = re.compile(rf"(?:{_STATE_NAMES})(?:\s+\d{{5}}(?:-\d{{4}})?)?")
_ZIP_AND_COUNTRY = re.compile(rf"(?:{_STATES.replace(' ', '|')})\s[\d\s-]*USA", re.IGNORECASE)
# Georgia is also a US state: these are its cities (Tbilisi is not)
_GEORGIAN_CITIES = re.compile(r"\b(?:atlanta|athens|augusta|savannah|macon|decatur|statesboro)\b")
_WITHIN_CHINA = frozenset({"HK", "MO", "TW"})
_LONGEST_TAIL = 400
_PART = re.compile(r"\s*[,;]\s*")
_CODE = re.compile(r"[A-Za-z]{2}")
_POSTAL = re.compile(r"\b[\w-]*\d[\w-]*\b")


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text)
    letters = "".join(c for c in plain if not unicodedata.combining(c)).lower()
    return " ".join(re.sub(r"[^\w&]+", " ", re.sub(r"[.'’]", "", letters)).split())


@cache
def _table() -> tuple[dict[str, str], dict[str, str]]:
    """Return names by code, and codes by normalised name."""
    names: dict[str, str] = {}
    codes: dict[str, str] = {}
    text = files("citeweave").joinpath("countries.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        code, name, *variants = line.split("\t")
        names[code] = name
        for form in (name, *(variants[0].split("|") if variants else ())):
            codes.setdefault(_fold(form), code)
    return names, codes


def country_name(code: str) -> str:
    """Return the common English name of a country; unknown codes are returned unchanged.

    Examples
    --------
    >>> country_name("GB"), country_name("??")
    ('United Kingdom', '??')
    """
    return _table()[0].get(code, code)


@lru_cache(maxsize=10_000)
def country_code(text: str) -> str | None:
    """Return the ISO code of a country given by code or name, or None if unknown.

    Examples
    --------
    >>> country_code("Peoples R China"), country_code("u.s.a."), country_code("Scotland")
    ('CN', 'US', 'GB')
    >>> country_code("cz"), country_code("Ruritania")
    ('CZ', None)
    """
    names, codes = _table()
    text = text.strip()
    if _CODE.fullmatch(text) and text.upper() in names:
        return text.upper()
    return codes.get(_fold(text))


def country_in_address(address: str) -> str | None:
    """Return the ISO code of the country at the end of an address, or None if there is none.

    Examples
    --------
    >>> country_in_address("Northwestern Univ, Dept Biochem, Evanston, IL 60208 USA.")
    'US'
    >>> country_in_address("Emory University, Atlanta, Georgia"), country_in_address("Jena, BRD")
    ('US', None)
    >>> country_in_address("Mayo Clinic, Rochester, MN")
    'US'
    """
    codes = _table()[1]
    parts = [part.strip(" .()[]") for part in _PART.split(address[-_LONGEST_TAIL:])]
    parts = [part for part in parts if part]
    # the country comes last, sometimes followed by a postal code or an e-mail address
    for place in range(len(parts) - 1, max(len(parts) - 4, -1), -1):
        found = _country_of_part(parts[place], codes)
        if found == "GE" and _GEORGIAN_CITIES.search(address.lower()):
            return "US"
        if found == "CN" and place and codes.get(_fold(parts[place - 1])) in _WITHIN_CHINA:
            return codes[_fold(parts[place - 1])]
        if found is not None:
            return found
    return None


def _country_of_part(part: str, codes: dict[str, str]) -> str | None:
    if _ZIP_AND_COUNTRY.fullmatch(part) or _STATE.fullmatch(part):
        return "US"
    folded = _fold(part)
    found = codes.get(folded)
    if found is None and any(map(str.isdigit, folded)):
        # "D-07743 Jena Germany", "Beijing 100190": a name may stand next to the code
        folded = _fold(_POSTAL.sub(" ", part))
        found = codes.get(folded)
    if found is None and _STATE_NAME.fullmatch(folded):
        return "US"
    if found is None and re.fullmatch(_PROVINCES, folded):
        return "CA"
    if found is None and " " in folded:
        # "Lausanne Switzerland": the last words, the longest name first
        words = folded.split()
        for start in range(max(len(words) - 5, 1), len(words)):
            name = " ".join(words[start:])
            if _STATE_NAME.fullmatch(name):
                return "US"
            if len(name) > 2 and name in codes:
                return codes[name]
    return found
