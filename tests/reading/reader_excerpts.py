"""Small excerpts in each format, written for these tests: three papers a file.

The papers are invented. The second of each file is the odd one: no abstract, accents,
an organisation as author, or whatever its format does with such things.
"""

from __future__ import annotations

import io
import json

import openpyxl
import polars as pl
from reader_exports import CROSSREF_WORKS, ENDNOTE, ENDNOTE_XML, PROQUEST, PUBMED_XML

BIBTEX = r"""
Anything outside entries is a comment, even with an @ sign.
@string{jml = "Journal of Made-up Learning"}
@comment{ @article{hidden, title={Not to be read}} }

@article{lim2016,
  author = {Lim, Kar Wai and {The {Topic} and Model Group} and G{\"o}del, Kurt and others},
  title = {{Bayesian} Models of {\'E}tudes \& Citations},
  journal = jml # { (Series A)},
  year = 2016,
  abstract = {We model text,
     and citations, with 10\% of the effort.},
  keywords = {topic models, citations},
  doi = {https://doi.org/10.1234/ABC.1},
}

@inproceedings(second,
  author = "Wray Buntine and Swapnil van der Mishra",
  title = "A title with {"}quotes{"} inside",
  booktitle = {Proc. of Tests}, year = {2011},
  references = {Blei, D.M., Ng, A.Y., Latent things (2003) J. Mach. Learn., 3, pp. 993-1022;
    Teh, Y.W., Hierarchical things; and more (2006) J. Am. Stat., 101}
)
@misc{third, title={Third paper}, year={1999}, language={English}} trailing words
"""

RIS = """\
TY  - JOUR
ID  - r1
TI  - First paper of the RIS file
AU  - Lim, Kar Wai
AU  - Buntine, Wray
PY  - 2016/05/01/
T2  - Journal of Made-up Learning
AB  - An abstract that goes on
over a second line.
KW  - topic models
KW  - citations
DO  - 10.1234/abc.1
LA  - en
ER  -\x20

TY  - CONF
ID  - r2
T1  - Second paper
A1  - Müller, Jürgen
Y1  - 2011//
N2  - Given under N2.
JF  - Proceedings
N1  - References: Blei, D.M., Ng, A.Y., Latent things (2003) JMLR, 3; Teh, Y.W., Others (2006) JASA
ER  -\x20

TY  - THES
ID  - r3
TI  - Third paper
AU  - Chen, C.
PY  - 1999
CR  - Lim KW, 2016, J MADE UP, V1, P2, DOI 10.1234/abc.1
ER  -\x20
"""

WOS = """\
FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Lim, KW
   Buntine, W
AF Lim, Kar Wai
   Buntine, Wray
TI Bayesian models of
   text and citations
SO JOURNAL OF MADE-UP LEARNING
LA English
DE topic models; citations
ID PITMAN-YOR
AB The abstract is wrapped
   over two lines.
OI Buntine, Wray/0000-0002-1825-0097
CR Blei DM, 2003, J MACH LEARN RES, V3, P993, DOI 10.1162/jmlr.2003.3.4-5.993
   [Anonymous], 2010, R LANG ENV STAT COMP
   Teh YW, 2006, J AM STAT ASSOC, V101, P1566
PY 2016
DI 10.1234/abc.1
WC Computer Science, Artificial Intelligence; Statistics
UT WOS:000000000000001
ER

PT C
AU Chen, CC
TI SECOND PAPER
SO PROC OF TESTS
EA JAN 2020
UT WOS:000000000000002
ER

PT J
AU [Anonymous]
TI Third paper
PY 1999
UT WOS:000000000000003
ER

EF
"""

WOS_TAB = (
    "PT\tAU\tAF\tTI\tSO\tDE\tAB\tCR\tPY\tDI\tUT\n"
    'J\tLim, KW; Buntine, W\tLim, Kar Wai; Buntine, Wray\tFirst "quoted paper\tJ MADE UP\t'
    "topics; cites\tAn abstract\tBlei DM, 2003, JMLR, V3; Teh YW, 2006, JASA\t2016\t10.1234/abc.1\t"
    "WOS:1\n"
    "C\tChen, CC\tChen, Changyou\tSecond paper\tPROC\t\t\t\t2011\t\tWOS:2\n"
    "J\tDu, L\tDu, Lan\tThird paper\tJ MADE UP\t\t\t\t1999\t\tWOS:3\n"
)

MEDLINE = """\

PMID- 10000001
OWN - NLM
DP  - 2016 May
TI  - Guided catheters in a title that goes on over the end of its
      line.
LID - 10.1234/abc.1 [doi]
AB  - BACKGROUND: an abstract
      of two lines.
FAU - Lim, Kar Wai
AU  - Lim KW
AUID- ORCID: 0000-0002-1825-0097
AD  - Somewhere.
FAU - Buntine, Wray
AU  - Buntine W
LA  - eng
JT  - Journal of made-up medicine
OT  - topic models
OT  - citations

PMID- 10000002
DP  - 2011
TI  - Second paper.
AU  - Chen CC
CN  - The Test Group
TA  - J Made Up
MH  - *Humans
AID - 10.1234/abc.2 [doi]
AID - S0000 [pii]

PMID- 10000003
DP  - 1999 Jan-Feb
TI  - Third paper.
LA  - fre
"""

SCOPUS = (
    "\ufeffAuthors,Author(s) ID,Title,Year,Source title,Cited by,DOI,Abstract,Author Keywords,"
    "Index Keywords,Funding Details,Funding Text 1,References,Language of Original Document,EID\n"
    '"Lim K.W., Buntine W.","111;222;","First paper, with a comma",2016,"J. Made Up",5,'
    '"10.1234/abc.1","An abstract\nof two lines","topics; cites","A; B",,,'
    '"Blei, D.M., Ng, A.Y., Latent things (2003) JMLR, 3; Teh, Y.W., Others (2006) JASA","English",'
    "2-s2.0-1\n"
    "[No author name available],[No author id available],Second paper,2011,Proc.,,,"
    '[No abstract available],,"A; B",,,,"English",2-s2.0-2\n'
    '"Pan, Y., Yu, C.",,"Third ""paper""",1999,J,,,,,,,,,"German",2-s2.0-3\n'
)

LENS = (
    '"Lens ID","Title","Date Published","Publication Year","Source Title","Author/s","Abstract",'
    '"Fields of Study","Keywords","DOI","References"\n'
    '"000-1","First paper","2016-05-01",2016,"J Made Up","Kar Wai Lim; Wray Buntine","An abstract",'
    '"Statistics; Computing","topics; cites","10.1234/ABC.1","000-2; 000-9"\n'
    '"000-2","Second paper","",2011,"","","","","","",""\n'
    '"000-3","Third paper","1999-01-01","","J","Lan Du","","","","",""\n'
)

IEEE = (
    '"Document Title",Authors,"Publication Title","Publication Year","Abstract","DOI",PDF Link,'
    '"Author Keywords","IEEE Terms"\n'
    '"First paper","K. W. Lim; W. Buntine","IEEE Tests","2016","An abstract","10.1109/T.1",'
    '"https://ieeexplore.ieee.org/stamp/stamp.jsp?arnumber=6634083","topics;cites","Terms"\n'
    '"Second paper","J. -P. Nominé","IEEE Tests","2011","","","","","Terms;More"\n'
    '"Third paper","","IEEE Tests","1999","","","","",""\n'
)

OPENALEX_CSV = (
    '"id","display_name","abstract","authorships.author.display_name","authorships.author.id",'
    '"authorships.author.orcid","doi","language","publication_year","referenced_works",'
    '"primary_location.source.display_name","primary_topic.display_name"\n'
    '"https://openalex.org/W1","First paper","An abstract","Kar Wai Lim|Wray Buntine",'
    '"https://openalex.org/A1|https://openalex.org/A2","|https://orcid.org/0000-0002-1825-0097",'
    '"https://doi.org/10.1234/ABC.1","en",2016,'
    '"https://openalex.org/W2|https://openalex.org/W9","J Made Up","Topic models"\n'
    '"https://openalex.org/W2","Second paper","","","","","","de",2011,"","",""\n'
    '"https://openalex.org/W3","Third paper","","Lan Du","","","","en",1999,"","",""\n'
)

OPENALEX_WORKS = [
    {
        "id": "https://openalex.org/W1",
        "doi": "https://doi.org/10.1234/ABC.1",
        "title": "First paper",
        "publication_year": 2016,
        "language": "en",
        "primary_location": {"source": {"display_name": "J Made Up"}},
        "authorships": [
            {
                "author": {
                    "id": "https://openalex.org/A1",
                    "display_name": "Kar Wai Lim",
                    "orcid": "https://orcid.org/0000-0002-1825-0097",
                }
            },
            {"author": {"id": "https://openalex.org/A2", "display_name": "Wray Buntine"}},
        ],
        "primary_topic": {"field": {"display_name": "Computer Science"}},
        "keywords": [{"display_name": "Topic model"}],
        "referenced_works": ["https://openalex.org/W2", "https://openalex.org/W9"],
        "abstract_inverted_index": {"We": [0, 3], "model": [1], "text": [2], "do": [4]},
    },
    {
        "id": "https://openalex.org/W2",
        "doi": None,
        "title": None,
        "display_name": "Second paper",
        "publication_year": 2011,
        "authorships": [],
        "primary_location": None,
        "concepts": [{"display_name": "Physics", "level": 0}],
        "referenced_works": [],
        "abstract_inverted_index": None,
    },
    {
        "id": "https://openalex.org/W3",
        "title": "Third paper",
        "publication_year": 1999,
        "authorships": [{"author": {"display_name": "Lan Du"}}],
        "referenced_works": ["https://openalex.org/W1"],
    },
]

S2_PAPERS = [
    {
        "paper_id": "11",
        "title": "First paper",
        "authors": [
            {"first": "Kar", "middle": ["Wai"], "last": "Lim", "suffix": ""},
            {"first": "Wray", "middle": [], "last": "Buntine", "suffix": "Jr"},
        ],
        "abstract": "An abstract",
        "year": 2016,
        "doi": "10.1234/ABC.1",
        "venue": "",
        "journal": "J Made Up",
        "mag_field_of_study": ["Computer Science"],
        "outbound_citations": ["12", "19"],
        "has_outbound_citations": True,
    },
    {"paper_id": "12", "title": "Second paper", "authors": [], "abstract": None, "year": None,
     "outbound_citations": []},
    {"paper_id": "13", "title": "Third paper", "authors": [], "year": 1999,
     "outbound_citations": []},
]  # fmt: skip

ARXIV_PAPERS = [
    {
        "id": "1609.00001",
        "submitter": "Kar Wai Lim",
        "authors": "Kar Wai Lim, Wray Buntine",
        "authors_parsed": [["Lim", "Kar Wai", ""], ["Buntine", "Wray", "Jr"]],
        "title": 'First paper:\n  on G\\"odel',
        "categories": "cs.LG stat.ML",
        "doi": "10.1234/ABC.1",
        "abstract": "  An abstract\nof two lines. ",
        "versions": [{"version": "v1", "created": "Mon, 2 May 2016 19:18:42 GMT"}],
        "update_date": "2017-01-01",
    },
    {"id": "hep-th/9901001", "authors": "C. Chen and L. Du", "title": "Second paper",
     "categories": "hep-th", "abstract": "Abstract", "update_date": "1999-01-05"},
    {"id": "0704.0003", "authors": "L. Du", "authors_parsed": [["Du", "L.", ""]],
     "title": "Third paper", "categories": "math.CO", "abstract": "Abstract",
     "update_date": "2007-04-05"},
]  # fmt: skip

GENERIC_ROWS = [
    {
        "id": "g1",
        "title": "First paper",
        "abstract": "An abstract",
        "authors": ["Kar Wai Lim", "Wray Buntine"],
        "year": 2016,
        "venue": "J Made Up",
        "keywords": ["topics", "cites"],
        "references": ["g2", "10.1234/other"],
        "label": "cs",
    },
    {"id": "g2", "title": "Second paper", "authors": [], "year": None},
    {"id": "g3", "title": "Third paper", "authors": ["L. Du"], "year": 1999},
]

CSV = (
    "key;Title;Abstract;Authors;Publication Year;Journal;Tags\n"
    'g1;First paper;"An ""abstract""\nof two lines";Lim, Kar Wai and Buntine, Wray;2016;J;a, b\n'
    "g2;Second paper;;;;;\n"
    "g3;Third paper;;L. Du;1999;;\n"
)

CITESEERX = (
    "1\t10.1.1.1.1\tFirst paper\t[topics,cites]\t[Kar Wai Lim,Wray Buntine]\tAn abstract\t[2,99]\n"
    "2\t10.1.1.1.2\tSecond paper\t[]\t[]\tTabs\tinside\t[]\n"
    "3\t10.1.1.1.3\tThird paper\t[]\t[Lan Du]\t\t[1]\n"
)

LINQS_CONTENT = "31336\t0\t1\t0\t1\tTheory\nabc99\t1\t0\t0\t0\tAgents\n7\t0\t0\t0\t0\tTheory\n"
LINQS_CITES = "31336\tabc99\n7\t31336\nabc99\tabc99\n31336\tunknown\n"
LINQS_NODES = (
    "NODE\tpaper\n"
    "cat=1,2,3:label\tnumeric:w-rat:0.0\tnumeric:w-mouse:0.0\tnumeric:w-x:0.0\tsummary\n"
    "12187484\tlabel=1\tw-rat=0.0939\tw-mouse=0.0107\tsummary=w-rat,w-mouse\n"
    "2344352\tlabel=3\tw-x=0.5\tsummary=w-x\n"
    "3\tlabel=2\tsummary=\n"
)
LINQS_DIRECTED = (
    "DIRECTED\tcites\nNO_FEATURES\n33824\tpaper:12187484\t|\tpaper:2344352\n"
    "1\tpaper:3\t|\tpaper:12187484\n"
)


def json_lines(items: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(item) + "\n" for item in items).encode()


def parquet() -> bytes:
    frame = pl.DataFrame(
        {
            "id": ["g1", "g2", "g3"],
            "title": ["First paper", "Second paper", "Third paper"],
            "authors": [["Kar Wai Lim", "Wray Buntine"], [], ["L. Du"]],
            "year": [2016, None, 1999],
        }
    )
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def excel() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["key", "Title", "Abstract", "Authors", "Publication Year", "Journal"])
    authors = "Lim, Kar Wai and Buntine, Wray"
    book.active.append(["g1", "First paper", "An abstract", authors, 2016, "J"])
    book.active.append(["g2", "Second paper"])
    book.active.append(["g3", "Third paper", None, "L. Du", 1999])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


# Format to a file's name and content, each of three records.
FILES: dict[str, tuple[str, bytes]] = {
    "bibtex": ("papers.bib", BIBTEX.encode()),
    "ris": ("papers.ris", RIS.encode()),
    "wos": ("savedrecs.txt", WOS.encode()),
    "wos-tab": ("savedrecs.txt", WOS_TAB.encode()),
    "medline": ("pubmed.nbib", MEDLINE.encode()),
    "pubmed-xml": ("pubmed.xml", PUBMED_XML.encode()),
    "crossref": ("works.json", json_lines(CROSSREF_WORKS)),
    "endnote": ("export.enw", ENDNOTE.encode()),
    "endnote-xml": ("library.xml", ENDNOTE_XML.encode()),
    "proquest": ("ProQuestDocuments.txt", PROQUEST.encode()),
    "scopus": ("scopus.csv", SCOPUS.encode()),
    "lens": ("lens.csv", LENS.encode()),
    "ieee": ("export.csv", IEEE.encode()),
    "openalex": ("works.jsonl", json_lines(OPENALEX_WORKS)),
    "openalex-csv": ("works.csv", OPENALEX_CSV.encode()),
    "semanticscholar": ("s2.jsonl", json_lines(S2_PAPERS)),
    "arxiv": ("arxiv.json", json_lines(ARXIV_PAPERS)),
    "csv": ("table.csv", CSV.encode()),
    "jsonl": ("rows.jsonl", json_lines(GENERIC_ROWS)),
    "parquet": ("rows.parquet", parquet()),
    "excel": ("rows.xlsx", excel()),
    "citeseerx": ("ml.txt", CITESEERX.encode()),
    "linqs": ("tiny.content", LINQS_CONTENT.encode()),
    "linqs-pubmed": ("Tiny.NODE.paper.tab", LINQS_NODES.encode()),
    "tridnr": ("docs.txt", b"11 First paper\n22 Second paper\n33 Third paper\n"),
}
