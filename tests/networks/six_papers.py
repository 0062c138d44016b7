"""Six papers whose networks are counted by hand in the tests."""

from citeweave.corpus import Corpus

YEARS = [2000, 2001, 2002, 2003, 2004, 2005]
AUTHORS = [["Ann Ash"], ["Ann Ash", "Bo Birch"], ["Bo Birch", "Cy Cedar"]]
AUTHORS += [["Ann Ash", "Bo Birch", "Cy Cedar"], ["Cy Cedar", "Di Dogwood"], ["Di Dogwood"]]
CITATIONS = [(3, 0), (3, 1), (3, 2), (4, 0), (4, 1), (5, 1)]
TOKENS = [["tree"], ["tree", "bark"], ["bark", "root"], ["tree", "root", "bark", "tree"]]
TOKENS += [["leaf"], ["tree", "leaf"]]
KEYWORDS = [["Trees"], ["trees", "Bark"], ["bark", "roots"], ["Trees", "roots", "Bark"]]
KEYWORDS += [None, ["trees"]]
INSTITUTIONS = [["ANU", "NUS"], ["ANU"], ["ANU", "NUS", "UTS"], None, ["UTS"], None]
COUNTRIES = [["AU", "SG"], ["AU"], ["AU", "SG"], None, ["AU"], None]


def make_corpus(**changes: object) -> Corpus:
    """Make the corpus; a part that is None is left out."""
    parts: dict[str, object] = {
        "tokens": TOKENS,
        "authors": AUTHORS,
        "citations": CITATIONS,
        "titles": [f"Paper {d}" for d in range(6)],
        "metadata": {"year": YEARS, "keywords": KEYWORDS}
        | {"institutions": INSTITUTIONS, "countries": COUNTRIES},
    }
    parts |= changes
    return Corpus.from_lists(**{name: part for name, part in parts.items() if part is not None})
