"""From files to a corpus in Python, and the report: numbers add up, pages are harmless."""

import io
import json
from html.parser import HTMLParser

import pytest

import citeweave
from citeweave.errors import CorpusError, ParameterError
from citeweave.preparing import Query, Records, Report, Settings, read
from citeweave.preparing.page import cell_text
from citeweave.preparing.sections import sections

NASTY = "<script>alert('x')</script> & \"quoted\" <img src=http://example.org/x>"

TABLE = (
    "id,title,abstract,authors,year,references\n"
    'a,Decision trees for soil data,"We prune decision trees, and trees alone.",'
    '"Lee, Bruce; Okri, Ben",2001,\n'
    'b,Random forests of decision trees,Forests are many trees.,"Lee, Brett",2002,a;x9\n'
    "c,Decision trees again,Trees are pruned once more.,University of Nowhere,2003,a;b;c\n"
    'a2,Decision trees for soil data,Trees.,"Lee, Bruce",2001,\n'
)  # fmt: skip


def imported(settings=None):
    return read(io.BytesIO(TABLE.encode())).prepare(settings)


class Tags(HTMLParser):
    """Collects tags, attributes and text of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text.append(data)


def parsed(page):
    tags = Tags()
    tags.feed(page)
    tags.close()
    return tags


def test_read_is_the_readers_stream_that_can_be_prepared():
    records = citeweave.read(io.BytesIO(TABLE.encode()))
    assert isinstance(records, Records)
    assert [record.id for record in records] == ["a", "b", "c", "a2"]
    assert records.records_read == 4
    corpus, report = imported()
    assert corpus.n_documents == report.as_dict()["documents"] == 3


def test_the_numbers_add_up():
    values = imported()[1].as_dict()
    assert values["records_read"] == 4
    assert values["skipped_by_reason"] == {"duplicate of same title": 1}
    assert values["records_read"] + values["records_unreadable"] == (
        values["documents"] + values["records_skipped"]
    )
    assert values["references"] == sum(values["citations_by_fate"].values()) == 5
    assert values["citations_matched"] == 3
    assert values["citations_by_fate"]["self"] == 1
    assert values["citations_by_fate"]["outside"] == 1
    assert values["authors"] == 3  # Bruce Lee, Brett Lee and Ben Okri
    assert values["authors_excluded_mentions"] == 1
    assert values["with_abstract"] == 3
    assert values["as_read"]["with_abstract"] == 4
    assert values["as_read"]["author_mentions"] == 5


def test_unreadable_records_are_counted_apart():
    lines = b'{"id": "a", "title": "Decision trees"}\n{"id": "b", "title": broken\n'
    _, report = read(io.BytesIO(lines)).prepare()
    values = report.as_dict()
    assert (values["records_read"], values["records_unreadable"]) == (1, 1)
    assert values["skipped_by_reason"] == {"could not be read": 1}
    assert values["problems_total"] == len(values["problems"]) == 1
    assert values["problems"][0]["line"] == 2
    assert values["files"][0]["skipped"] == 1


def test_a_query_counts_what_it_leaves_out():
    query = Query({"Soil": ["soil"], "Forest": ["random forest"]})
    corpus, report = read(io.BytesIO(TABLE.encode())).select(query).prepare()
    values = report.as_dict()
    assert values["records_read"] == 4
    assert values["skipped_by_reason"]["no category of the query"] == 1
    assert values["query"]["by_category"] == {"Soil": 2, "Forest": 1}
    assert corpus.category_names == ["Soil", "Forest"]
    assert values["records_read"] == values["documents"] + values["records_skipped"]


def test_settings_that_differ_are_named():
    values = imported(Settings(author_names="full"))[1].as_dict()
    assert values["settings_changed"] == {"author_names": "full"}
    assert values["authors"] == 3


def test_nothing_to_read_is_an_error_with_reasons():
    with pytest.raises(CorpusError, match="Nothing could be read") as error:
        read(io.BytesIO(b"%PDF-1.7 ...")).prepare()
    assert "PDF" in str(error.value)


def test_nothing_left_names_the_file(tmp_path):
    path = tmp_path / "french.csv"
    path.write_text("id,title,language\na,Les arbres,French\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="language") as error:
        read(path).prepare()
    assert str(path) in str(error.value)


def test_json_is_the_same_values_again(tmp_path):
    _, report = imported()
    path = report.save(tmp_path / "import.json")
    assert json.loads(path.read_text(encoding="utf-8")) == report.as_dict()
    assert Report.load(path).as_dict() == report.as_dict()
    assert Report.load(tmp_path).as_dict() == report.as_dict()
    assert [p.name for p in tmp_path.iterdir()] == ["import.json"]


def test_wrong_names_and_places_are_refused(tmp_path):
    _, report = imported()
    with pytest.raises(ParameterError, match=r"\.html or \.json"):
        report.save(tmp_path / "import.txt")
    with pytest.raises(CorpusError, match="cannot be written"):
        report.save(tmp_path / "nowhere" / "import.json")
    (tmp_path / "other.json").write_text('{"format": "else"}', encoding="utf-8")
    with pytest.raises(CorpusError, match="not an import report"):
        Report.load(tmp_path / "other.json")


def test_what_comes_from_files_is_text_on_the_page(tmp_path):
    path = tmp_path / "<b>nasty.csv"
    rows = "".join(f'{i},"{NASTY.replace(chr(34), chr(34) * 2)} {i}","{NASTY[:8]} X",\n'
                   for i in range(6))  # fmt: skip
    path.write_text(f"id,title,authors,x\n{rows}", encoding="utf-8")
    _, report = read(path).prepare(Settings(strip_markup=False, strip_urls=False))
    values = report.as_dict()
    values["longest_phrases"] = [[NASTY, 3]]
    values["warnings"] = [NASTY]
    values["merged_names"] = [{"author": NASTY, "names": [NASTY], "mentions": 1, "first_names": 1}]
    values["problems"] = [
        {"file": NASTY, "line": 1, "field": NASTY, "message": NASTY, "skipped": True}
    ]
    values["skipped_by_reason"] = {NASTY: 1}
    page = parsed(Report.from_dict(values).to_html())
    assert not {"script", "img", "link", "iframe", "base"} & set(page.tags)
    assert page.tags.count("b") == 5  # the figures at the top
    assert sum(NASTY in text for text in page.text) >= 6
    assert any("<b>nasty.csv" in text for text in page.text)


def test_the_page_needs_nothing_from_elsewhere():
    page = imported()[1].to_html()
    tags = parsed(page)
    assert not {"src", "href", "onclick", "onload"} & {name for name, _ in tags.attributes}
    assert "http://" not in page
    assert "https://" not in page
    assert "url(" not in page
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_page_and_sections_say_the_same():
    _, report = imported()
    made = sections(report)
    text = parsed(report.to_html()).text
    for section in made:
        assert section.title in text
        for row in section.rows:
            assert len(row) == len(section.columns)
            assert cell_text(row[0]) in text
    keys = [section.key for section in made]
    assert {"documents", "contents", "authors", "citations", "vocabulary", "files"} <= set(keys)
    assert len(keys) == len(set(keys))


def test_long_lists_are_cut_on_the_page_and_say_so():
    values = imported()[1].as_dict()
    problem = {"file": "f", "line": 1, "field": None, "message": "bad", "skipped": False}
    values |= {"problems": [problem] * 1000, "problems_total": 5000}
    page = Report.from_dict(values).to_html()
    assert page.count("<td>bad</td>") == 300
    assert "And 4,700 more." in page


def test_numbers_of_namesakes_are_no_family_names():
    rows = (
        "id,title,authors\n1,Soil and trees,Sabine Bauer 0001\n2,Trees and soil,S. C. Cheung 0001"
    )
    rows += "\n3,Trees in soil,Sabine Bauer 0001\n4,Soil in trees,Sabine Bauer 0002\n"
    for names in ("initials", "compatible", "full"):
        corpus, _ = read(io.BytesIO(rows.encode())).prepare(Settings(author_names=names))
        assert corpus.n_authors == 3
        assert all(name.count("000") <= 1 for name in corpus.author_names)
        assert corpus.authors(0) == corpus.authors(2) != corpus.authors(3)
