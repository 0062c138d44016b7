"""The commands import, query and datasets, and what fit and info make of their results."""

import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from citeweave.cli.fetch_progress import fetching
from citeweave.cli.import_progress import PlainImport, count_line, open_import_display
from citeweave.cli.main import app
from citeweave.corpus import Corpus
from citeweave.datasets import DATASETS, DataFile, Dataset

RIS = """TY  - JOUR
ID  - one
TI  - Decision trees for soil data
AU  - Lee, Bruce
AB  - We prune decision trees grown on soil data, and call them soil trees.
PY  - 2001
ER  -

TY  - JOUR
ID  - two
TI  - Random forests of decision trees
AU  - Okri, Ben
AB  - A random forest is made of many decision trees, and needs no pruning.
PY  - 2002
ER  -
"""
EDGES = "citing\tcited\ntwo\tone\n"
KEYS = (
    "records_read",
    "records_skipped",
    "documents",
    "authors",
    "with_abstract",
    "references",
    "citations_matched",
)


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.ris"
    path.write_text(RIS, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWEAVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CITEWEAVE_DATA", raising=False)
    # an address that refuses at once, so that no test reaches a network
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def call(runner: CliRunner, *words: object, code: int = 0, **more: object) -> str:
    result = runner.invoke(app, [str(word) for word in words], **more)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.output


def refused(runner: CliRunner, *words: object) -> str:
    lines = call(runner, *words, code=2).splitlines()
    assert lines[-1].startswith("citeweave: error: "), lines
    return lines[-1]


def test_import_makes_a_corpus_and_both_reports(runner: CliRunner, export: Path) -> None:
    (export.parent / "links.tsv").write_text(EDGES, encoding="utf-8")
    output = call(runner, "import", export, "--citations", "links.tsv", "--out", "made",
                  "--report", "import.json", "--report", "import.html")  # fmt: skip
    corpus = Corpus.load("made")
    assert (corpus.n_documents, corpus.n_authors, corpus.n_citations) == (2, 2, 1)
    values = json.loads(Path("import.json").read_text(encoding="utf-8"))
    assert [values[key] for key in KEYS] == [2, 0, 2, 2, 2, 1, 1]
    assert values["files"][0]["links"] + values["files"][1]["links"] == 1
    assert "citeweave fit made" in output
    assert max(map(len, output.splitlines())) <= 80
    assert Path("import.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads(Path("made/import.json").read_text(encoding="utf-8")) == values


def test_standard_input_folders_and_several_files(runner: CliRunner, export: Path) -> None:
    call(runner, "import", "-", "--out", "piped", "-q", input=RIS)
    assert Corpus.load("piped").ids == ["one", "two"]
    folder = Path("folder")
    folder.mkdir()
    export.rename(folder / "a.ris")
    (folder / "b.csv").write_text("id,title\nthree,Soil again and again\n", encoding="utf-8")
    call(runner, "import", folder, "--out", "from-folder", "-q")
    call(runner, "import", folder / "a.ris", folder / "b.csv", "--out", "from-files", "-q")
    for name in ("from-folder", "from-files"):
        assert Corpus.load(name).ids == ["one", "two", "three"]


def test_quiet_is_silent(runner: CliRunner, export: Path) -> None:
    assert call(runner, "import", export, "--out", "made", "--quiet") == ""


def test_the_default_name_is_that_of_the_file(runner: CliRunner, export: Path) -> None:
    call(runner, "import", export, "-q")
    call(runner, "import", export, "-q")
    assert Corpus.load("export-corpus").fingerprint == Corpus.load("export-corpus-2").fingerprint


def test_columns_settings_and_options(runner: CliRunner) -> None:
    Path("mine.csv").write_text(
        "nr;Überschrift;wer\n1;Die Bäume im Wald;Lee, Bruce\n2;Der Wald im Jahr;Lee, Brett\n",
        encoding="utf-8",
    )
    Path("prepare.toml").write_text('[prepare]\nauthor_names = "full"\n', encoding="utf-8")
    columns = "id=nr,title=Überschrift,authors=wer"
    call(runner, "import", "mine.csv", "--columns", columns, "--language", "none", "--out", "one",
         "--config", "prepare.toml", "-q")  # fmt: skip
    assert Corpus.load("one").n_authors == 2
    call(runner, "import", "mine.csv", "--columns", columns, "--language", "none", "--out", "two",
         "--config", "prepare.toml", "--names", "initials", "-q")  # fmt: skip
    assert Corpus.load("two").n_authors == 1
    Path("people.csv").write_text(
        "person,name\nB. Lee,Bruce Lee\nB. Lee,Brett Lee\n", encoding="utf-8"
    )
    call(runner, "import", "mine.csv", "--columns", columns, "--language", "none", "--out", "three",
         "--config", "prepare.toml", "--people", "people.csv", "-q")  # fmt: skip
    assert Corpus.load("three").author_names == ["B. Lee"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--format", "bibtx"], "Did you mean 'bibtex'"),
        (["--columns", "title"], "field=column"),
        (["--columns", "titel=x"], "titel"),
        (["--language", "English"], "--language must"),
        (["--names", "short"], "--names must"),
        (["--report", "import.pdf"], ".html or .json"),
        (["--report", "nowhere/further/file.txt"], ".html or .json"),
        (["--config", "nowhere.toml"], "nowhere.toml"),
        (["--people", "nowhere.csv"], "nowhere.csv"),
        (["--citations", "nowhere.tsv"], "nowhere.tsv"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_made(
    runner: CliRunner, export: Path, options: list[str], says: str
) -> None:
    assert says in refused(runner, "import", export, "--out", "made", *options)
    assert not Path("made").exists()


def test_a_wrong_setting_is_told_with_the_nearest(runner: CliRunner, export: Path) -> None:
    Path("prepare.toml").write_text("min_word_cout = 3\n", encoding="utf-8")
    line = refused(runner, "import", export, "--config", "prepare.toml", "--out", "made")
    assert "min_word_count" in line
    assert "prepare.toml" in line


def test_what_is_there_is_kept_unless_overwrite(runner: CliRunner, export: Path) -> None:
    call(runner, "import", export, "--out", "made", "-q")
    assert "--overwrite" in refused(runner, "import", export, "--out", "made")
    call(runner, "import", export, "--out", "made", "--overwrite", "-q")
    Path("thesis").mkdir()
    Path("thesis/chapter.tex").write_text("years of work", encoding="utf-8")
    assert "not a corpus" in refused(runner, "import", export, "--out", "thesis", "--overwrite")
    assert Path("thesis/chapter.tex").exists()
    assert "is not a folder" in refused(runner, "import", export, "--out", export / "below")


def test_nothing_readable_exits_with_the_reasons(runner: CliRunner) -> None:
    Path("paper.pdf").write_bytes(b"%PDF-1.7\n%....")
    Path("page.txt").write_text("<!doctype html><p>Log in", encoding="utf-8")
    line = refused(runner, "import", "paper.pdf", "page.txt", "--out", "made")
    assert "paper.pdf" in line
    assert "PDF" in line
    assert "web page" in line
    assert "nowhere.bib" in refused(runner, "import", "nowhere.bib", "--out", "made")
    assert not Path("made").exists()


def test_bad_records_do_not_cost_the_good_ones(runner: CliRunner) -> None:
    lines = ['{"id": "a", "title": "Soil and trees"}', '{"id": "b", "ti', '{"id": "c", "title": 5']
    Path("mixed.jsonl").write_text("\n".join(lines), encoding="utf-8")
    output = call(runner, "import", "mixed.jsonl", "--out", "made")
    assert "mixed.jsonl:2" in output
    values = json.loads(Path("made/import.json").read_text(encoding="utf-8"))
    assert values["records_read"] == values["documents"] == 1
    assert values["records_skipped"] == values["records_unreadable"] == 2
    assert sum(file["skipped"] for file in values["files"]) == 2


def test_info_shows_the_import(runner: CliRunner, export: Path) -> None:
    call(runner, "import", export, "--out", "made", "-q")
    values = json.loads(call(runner, "info", "made", "--json"))
    assert values["import"]["records_read"] == 2
    assert values["documents"] == 2
    output = call(runner, "info", "made")
    assert "records read" in output
    assert max(map(len, output.splitlines())) <= 80


def test_info_of_a_corpus_without_import(runner: CliRunner, corpus_folder: Path) -> None:
    assert json.loads(call(runner, "info", corpus_folder, "--json"))["import"] is None


def test_fit_takes_raw_files(runner: CliRunner, export: Path) -> None:
    output = call(runner, "fit", export, "--topics", "2", "--iterations", "6", "--out", "RUN",
                  "--seed", "1")  # fmt: skip
    assert "2 records read" in output
    assert Corpus.load("RUN/corpus").ids == ["one", "two"]
    values = json.loads(Path("RUN/corpus/import.json").read_text(encoding="utf-8"))
    assert values["records_read"] == 2


def test_fit_tells_of_names_that_nothing_has(runner: CliRunner) -> None:
    line = refused(runner, "fit", "coraa", "--topics", "2")
    assert "Did you mean the data set 'cora'" in line


def test_wrong_parameters_are_told_before_the_import(runner: CliRunner, export: Path) -> None:
    output = call(runner, "fit", export, "--topics", "0", code=2)
    assert "records read" not in output


def test_query_selects_and_labels(runner: CliRunner, export: Path) -> None:
    Path("trees.toml").write_text(
        '[categories]\nEarth = ["soil"]\nForest = ["random forest"]\n', encoding="utf-8"
    )
    call(runner, "query", export, "--query", "trees.toml", "--out", "made")
    corpus = Corpus.load("made")
    assert corpus.category_names == ["Earth", "Forest"]
    values = json.loads(Path("made/import.json").read_text(encoding="utf-8"))
    assert values["query"]["by_category"] == {"Earth": 1, "Forest": 1}


def test_query_needs_exactly_one_list_of_keywords(runner: CliRunner, export: Path) -> None:
    assert "--preset" in refused(runner, "query", export, "--out", "made")
    assert "--preset" in refused(runner, "query", export, "--preset", "ml", "--query", "x.toml")
    assert "m10" in refused(runner, "query", export, "--preset", "m11", "--out", "made")
    line = refused(runner, "query", export, "--preset", "avs", "--out", "made")
    assert "No documents are left" in line


def test_datasets_are_listed(runner: CliRunner) -> None:
    output = call(runner, "datasets")
    assert all(name in output for name in DATASETS)
    assert output.count("not on this computer") == len(DATASETS)
    assert max(map(len, output.splitlines())) <= 80
    listed = json.loads(call(runner, "datasets", "--json"))
    assert [entry["name"] for entry in listed] == list(DATASETS)
    assert all(entry["place"] is None and entry["files"] for entry in listed)


def test_get_without_network_says_what_to_do(runner: CliRunner, tmp_path: Path) -> None:
    line = refused(runner, "datasets", "get", "m10")
    assert "https://raw.githubusercontent.com/" in line
    assert str(tmp_path / "cache" / "datasets" / "m10" / "docs.txt") in line
    line = refused(runner, "datasets", "get", "hep-th")
    assert "cannot be downloaded" in line
    assert DATASETS["hep-th"].home in line
    assert "Did you mean 'pubmed'" in refused(runner, "datasets", "get", "pubmedd")
    assert "There are no data sets on this computer" in refused(runner, "datasets", "table")


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data set of two documents in the folder of the user's own."""
    content = b"a\t1\t0\tX\nb\t1\t1\tY\n"
    place = tmp_path / "own" / "tiny" / "tiny.content"
    place.parent.mkdir(parents=True)
    place.write_bytes(content)
    place.with_name("tiny.cites").write_text("a\tb\n", encoding="utf-8")
    file = DataFile(
        path="tiny/tiny.content", size=len(content), sha256=hashlib.sha256(content).hexdigest()
    )
    made = Dataset(name="tiny", what="a test", documents=2, licence="none", remark="Made up.",
                   home="https://example.org", source="made", holdings=((file,),))  # fmt: skip
    monkeypatch.setitem(DATASETS, "tiny", made)
    monkeypatch.setenv("CITEWEAVE_DATA", str(tmp_path / "own"))
    return place


def test_a_set_that_is_here_is_got_fitted_and_tabled(runner: CliRunner, tiny: Path) -> None:
    assert str(tiny) in call(runner, "datasets", "get", "tiny")
    assert call(runner, "datasets", "get", "tiny", "-q") == ""
    entry = next(e for e in json.loads(call(runner, "datasets", "--json")) if e["name"] == "tiny")
    assert entry["place"] == str(tiny.parent)
    output = call(runner, "fit", "tiny", "--topics", "2", "--iterations", "6", "--seed", "1")
    assert "1 reference, 1 of them to papers in the corpus" in output
    assert Corpus.load("tiny-run/corpus").n_citations == 1
    assert "Made up." in call(runner, "datasets", "table")
    assert "| **tiny** | 2 | 1 |" in call(runner, "datasets", "table", "--markdown")
    text = runner.invoke(app, ["datasets", "table", "tiny", "--json"]).stdout
    assert json.loads(text)[0]["documents"] == 2


def test_a_folder_goes_before_a_data_set_of_its_name(
    runner: CliRunner, tiny: Path, export: Path
) -> None:
    assert tiny.exists()
    call(runner, "import", export, "--out", "tiny", "-q")
    call(runner, "fit", "tiny", "--topics", "2", "--iterations", "6", "--out", "RUN", "-q")
    assert Corpus.load("RUN/corpus").ids == ["one", "two"]


def test_live_displays_draw_counts() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80)
    with open_import_display(console) as display:
        display("records", 1500, None)
        display("text", 300, 300)
    with fetching(console) as progress:
        assert progress is not None
        progress("https://example.org/docs.txt", 0, 100)
        progress("https://example.org/docs.txt", 100, 100)
    drawn = screen.getvalue()
    assert "1,500 records" in drawn
    assert "300 documents" in drawn
    assert "docs.txt" in drawn


def test_plain_progress_writes_a_line_a_step() -> None:
    written: list[str] = []

    class Screen:
        def out(self, text: str) -> None:
            written.append(text)

    now = [0.0]
    display = PlainImport(Screen(), clock=lambda: now[0])  # type: ignore[arg-type]
    with display:
        for number in range(500, 3001, 500):
            now[0] += 4
            display("records", number, None)
        display("records", 3100, 3100)
        display("text", 0, 3100)
        display("text", 3100, 3100)
        display("citations", 0, 0)
    assert written == [
        "reading: 1,500 records",
        "reading: 3,000 records",
        "reading: 3,100 records",
        "words and phrases: 3,100 documents",
    ]
    assert count_line("saving", 0, None) == ""


def test_a_terminal_without_the_script_shows_question_marks(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,title,authors\n1,Трава,Łukasz Šmíd\n", encoding="utf-8")
    command = [sys.executable, "-m", "citeweave.cli.main", "import", "a.csv", "--out", "made"]
    command += ["--language", "none"]
    env = os.environ | {"PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, check=True)
    assert b"The corpus is in made." in done.stdout
    assert Corpus.load(tmp_path / "made").author_names == ["Łukasz Šmíd"]
    shown = [*command[:3], "info", "made"]
    done = subprocess.run(shown, cwd=tmp_path, env=env, capture_output=True, check=True)
    assert b"?????" in done.stdout
