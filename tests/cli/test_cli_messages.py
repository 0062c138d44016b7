"""On the command line messages name options, in Python arguments; what they advise works."""

import io
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from citeweave import Corpus, read
from citeweave.cli.main import app
from citeweave.errors import CiteweaveError
from citeweave.model import SCNTM, load
from citeweave.preparing import Settings

ROWS = "".join(f"{i},Restoration of forests {chr(97 + i % 26) * 4} soil\n" for i in range(40))
SEARCH = f"id,title\n{ROWS}"
EDGES = "a\tb\nb\tc\nc\ta\n" * 4
PYTHON = re.compile(
    r"\b(?!title=|authors=|abstract=|alpha=|ID=|NAME=|field=)[a-z_]+="  # an argument is set
    r"|\b[a-z]+_[a-z_]+\b"  # a name with underscores
    r"|\bNone\b|\bTrue\b|parameter of|Settings\("
)


def notes_of(done) -> str:
    """All that a command wrote, without the places of files."""
    places = re.sub(r"'?/\S+", "", f"{done.stderr} {done.stdout}")
    return re.sub(r"setting '\w+'", "", places)  # of the file of --config


def invoke(runner, *words: object):
    done = runner.invoke(app, [str(word) for word in words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_words_dropped_as_too_common_are_kept_by_the_option_named(runner, tmp_path) -> None:
    (tmp_path / "s.csv").write_text(SEARCH)
    done = invoke(runner, "import", tmp_path / "s.csv", "--out", tmp_path / "one")
    written = " ".join(done.stdout.split())
    found = re.search(r"To keep them: citeweave import (--keep-words '?[\w ,]+'?)\.", written)
    assert found, done.stdout
    options = shlex.split(found[1])
    invoke(runner, "import", tmp_path / "s.csv", "--out", tmp_path / "two", *options)
    assert set(options[1].split(",")) <= set(Corpus.load(tmp_path / "two").vocabulary)
    assert "restoration" not in Corpus.load(tmp_path / "one").vocabulary


def test_records_are_joined_and_kept_apart_by_options(runner, tmp_path) -> None:
    text = "id,title,authors,year\n" + "".join(
        f'{name},Finding topics in large collections,"Lee, B.",2004\n' for name in "abc"
    ) + 'd,Rivers of the north,"Okri, B.",2001\n'  # fmt: skip
    (tmp_path / "s.csv").write_text(text)
    words = ["import", tmp_path / "s.csv", "--overwrite", "--out", tmp_path / "one"]
    done = invoke(runner, *words)
    assert "Use --keep-apart for records" in " ".join(done.stdout.split())
    assert Corpus.load(tmp_path / "one").ids == ["a", "d"]
    invoke(runner, *words, "--keep-apart", "b", "--join", "c=d")
    assert Corpus.load(tmp_path / "one").ids == ["a", "b"]
    (tmp_path / "p.toml").write_text('join = [["a", "d"]]\nkeep_words = ["river"]\n')
    invoke(runner, *words, "--config", tmp_path / "p.toml")
    assert Corpus.load(tmp_path / "one").ids == ["a"]
    for odd in ("c", "=", "c="):
        done = invoke(runner, *words, "--join", odd)
        assert done.exit_code == 2
        assert "--join must be written ID=ID" in done.stderr


@pytest.fixture(scope="module")
def run_folder(corpus_folder, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("messages") / "run"
    corpus = Corpus.load(corpus_folder)
    SCNTM(topics=3, iterations=4, network_from=1, burn_in=2, seed=1, chains=1).fit(
        corpus, out=folder
    )
    return folder


BAD = [
    *("fit CORPUS --topics 0", "fit CORPUS --chains 0", "fit CORPUS --seed -1"),
    *("fit CORPUS --network-from 99 --iterations 5", "fit CORPUS --burn-in 99 --iterations 5"),
    *("fit CORPUS --rounds 2", "fit CORPUS --sweep sequential --device cuda", "fit CORPUS --eta x"),
    *("fit CORPUS --checkpoint-iterations 0", "fit CORPUS --concentration 1e-9"),
    *("fit CORPUS --model x", "fit CORPUS --thin 0", "fit CORPUS --word-discount 2"),
    *("fit CORPUS --out RUN", "fit CORPUS --hold-out-citations 2", "fit CORPUS --test 3"),
    "fit CORPUS --model lda --topics 0",
    *("resume RUN --threads 0", "resume RUN --device x"),
    *("evaluate RUN --samples 0", "evaluate RUN --words 7", "evaluate RUN --at 0"),
    *("evaluate RUN --labels x", "evaluate RUN --negatives 0", "evaluate RUN --method x"),
    *("evaluate RUN", "evaluate RUN --seed -1", "evaluate RUN --test CORPUS --words title"),
    *("crossvalidate CORPUS --folds 0 --model lda", "crossvalidate CORPUS --seeds 0 --model lda"),
    *("crossvalidate CORPUS --workers 0 --model lda", "crossvalidate CORPUS --words 9"),
    *("crossvalidate CORPUS --labels x", "crossvalidate CORPUS --method x"),
    "crossvalidate CORPUS --splits 0",
    *("graph RUN --min-weight 7", "graph RUN --topics 0", "graph RUN --authors 0"),
    *("graph RUN --kind map --papers 0", "graph RUN --kind flow --min-weight 7"),
    *("graph RUN --layout x", "plot RUN --kind x", "plot RUN --width 0", "graph RUN --dpi 1"),
    *("topics RUN --top 0", "topics RUN --topic 99", "topics RUN --relevance 7"),
    *("papers RUN --top 0", "papers RUN --topic 99", "papers RUN --paper zzz"),
    *("authors RUN --top 0", "authors RUN --author zzz", "authors RUN --min-papers 0"),
    *("citations RUN --top 0", "citations RUN --paper zzz", "report RUN --max-papers 0"),
    *("serve RUN --port 99999999", "import EDGES", "import TABLE", "import TEXT"),
    *("import TABLE --format x", "import SEARCH --language x", "import SEARCH --names x"),
    *("import SEARCH --columns title=No", "import SEARCH --config BAD", "query SEARCH"),
    *("import SEARCH --config STOP", "import SEARCH --config NONE --out NEW"),
    *("import SEARCH --out CORPUS", "verify TEXT", "info TEXT", "fit TEXT", "info RUN"),
]


@pytest.mark.parametrize("line", BAD)
def test_messages_of_commands_name_no_argument_of_python(
    runner: CliRunner, corpus_folder, run_folder, tmp_path, monkeypatch, line
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "EDGES": EDGES,
        "TABLE": "x,y\n1,2\n",
        "TEXT": "neither here nor there\n",
        "SEARCH": SEARCH,
        "BAD": "min_word_count = 'x'\n",
        "STOP": 'language = "ia"\n',
        "NONE": "min_word_count = 1000\n",
    }
    for name, text in files.items():
        (tmp_path / f"{name.lower()}.txt").write_text(text)
    known = {name: f"{name.lower()}.txt" for name in files}
    known |= {"CORPUS": str(corpus_folder), "RUN": str(run_folder)}
    known |= {"SEARCH": "search.csv", "TABLE": "table.csv"}
    for name in ("search", "table"):
        (tmp_path / f"{name}.txt").rename(tmp_path / f"{name}.csv")
    for name in ("bad", "stop", "none"):
        (tmp_path / f"{name}.txt").rename(tmp_path / f"{name}.toml")
        known[name.upper()] = f"{name}.toml"
    done = invoke(runner, *(known.get(word, word) for word in line.split()))
    told = PYTHON.findall(notes_of(done))
    assert not told, f"{told}: {notes_of(done)}"


CALLS = [
    lambda corpus, _: SCNTM(topics=0).fit(corpus),
    lambda corpus, _: SCNTM(iterations=5, network_from=9).fit(corpus),
    lambda corpus, _: SCNTM(iterations=5, burn_in=9).fit(corpus),
    lambda corpus, _: SCNTM(rounds=2).fit(corpus),
    lambda corpus, _: SCNTM(sweep="sequential", device="cuda").fit(corpus),
    lambda corpus, run: SCNTM(iterations=4).fit(corpus, out=run),
    lambda corpus, run: corpus.save(run / "corpus"),
    lambda corpus, _: corpus.split(test=7),
    lambda *_: read(io.BytesIO(b"x,y\n1,2\n")).prepare(),
    lambda *_: read(io.BytesIO(b"neither here nor there\n")).prepare(),
    lambda *_: read(io.BytesIO(EDGES.encode())).prepare(),
    lambda *_: read(io.BytesIO(SEARCH.encode())).prepare(Settings(language="x")),
    lambda *_: read(io.BytesIO(SEARCH.encode())).prepare(Settings(language="ia")),
]


@pytest.mark.parametrize("call", CALLS)
def test_messages_in_python_name_no_option(corpus_folder, run_folder, call) -> None:
    with pytest.raises(CiteweaveError) as caught:
        call(Corpus.load(corpus_folder), run_folder)
    assert "--" not in str(caught.value)


def test_measures_name_what_is_at_hand(run_folder) -> None:
    from citeweave.evaluate import evaluate

    text = str(evaluate(load(run_folder)))
    assert "hold_out(corpus, citations=0.1)" in text
    assert "--" not in text
