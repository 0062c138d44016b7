"""A short walk through the installed package: import, fit, tables, pictures, report, explorer.

It needs nothing but the package itself, so it also runs where only that is installed:
``python tests/smoke.py`` (about a minute, most of it for compiling). CI runs it on each version of
Python: it compiles the kernels of one model once, and most commands share one process.
"""

import contextlib
import csv
import io
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from importlib.resources import files
from pathlib import Path

from citeweave.cli.main import main as run_command

THEMES = (
    ("soil", "crop", "wheat", "irrigation", "harvest", "fertilizer"),
    ("star", "galaxy", "telescope", "spectrum", "redshift", "orbit"),
    ("court", "statute", "contract", "evidence", "appeal", "verdict"),
)
DOWNLOADS = {
    "download/papers.csv": b"\xef\xbb\xbfpaper",
    "download/topics.json": b"[",
    "download/papers.parquet?q=soil": b"PAR1",
    "download/flow.csv": b"\xef\xbb\xbf",
    "picture/map.png": b"\x89PNG",
    "plot/convergence.pdf": b"%PDF",
    "report.html": b"<!doctype html>",
}


def main() -> None:
    """Run all of it in a temporary folder."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="citeweave-smoke-") as name:
        folder = Path(name)
        write_papers(folder / "papers.csv")
        installed = Path(sys.executable).with_name("citeweave")
        command = [installed, "import", "papers.csv", "--out", "corpus", "--report", "import.html"]
        command.append("--quiet")
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with contextlib.chdir(folder):
            citeweave(
                "fit", "corpus", "--topics", "5", "--iterations", "20", "--chains", "2",
                "--seed", "1", "--out", "run",
            )  # fmt: skip
            look()
        serve(folder)
    assert files("citeweave.simulate").joinpath("demo_words.toml").is_file(), "no words of the demo"
    print(f"smoke test passed in {time.monotonic() - began:.0f} s")  # noqa: T201


def write_papers(path: Path) -> None:
    """Write 60 papers of three themes that cite each other, as a plain table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "title", "abstract", "authors", "year", "references"])
        for i in range(60):
            words = THEMES[i % 3]
            title = f"On the {words[i % 6]} of the {words[(i + 1) % 6]}, part {i}"
            abstract = " and the ".join(words[(i * k) % 6] for k in range(1, 25)) + " were studied."
            cited = "; ".join(f"p{j}" for j in (i - 3, i - 6) if j >= 0)
            rows.writerow([f"p{i}", title, abstract, f"Writer {i % 3}, Ada", 1990 + i % 10, cited])


def look() -> None:
    """Look at the run in all the ways that write something."""
    shown = json.loads(citeweave("info", "run", "--json"))
    assert shown, "info --json shows nothing"
    citeweave("papers", "run", "--csv", "papers-out.csv", "--parquet", "papers.parquet")
    citeweave("graph", "run", "--out", "authors.svg", "--out", "authors.png")
    citeweave("plot", "run", "--kind", "time", "--out", "time.png")
    citeweave("evaluate", "run")
    citeweave("report", "run", "--out", "report.html")
    for name in ("papers-out.csv", "papers.parquet", "authors.svg", "time.png", "report.html"):
        assert Path(name).stat().st_size > 100, f"{name} is empty"


def serve(folder: Path) -> None:
    """Fetch pages and downloads from the explorer."""
    command = [sys.executable, "-m", "citeweave", "serve", "run", "--port", "0", "--no-open"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split(" at ")[1].split()[0]
            assert b"<html" in fetch(address)
            assert json.loads(fetch(f"{address}api/papers"))
            for path, begins in DOWNLOADS.items():
                content = fetch(address + path)
                assert content.lower().startswith(begins.lower()), f"{path}: {content[:40]!r}"
        finally:
            process.terminate()


def fetch(address: str) -> bytes:
    """Read a page of the explorer; an answer that is no 200 raises."""
    with urllib.request.urlopen(address, timeout=1200) as answer:  # noqa: S310 (our own server)
        content = io.BytesIO(answer.read())
    return content.getvalue()


def citeweave(*arguments: str) -> str:
    """Run a command in this process; anything but success ends the test."""
    sys.argv = ["citeweave", *arguments]
    shown, told = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(told):
            run_command()
    except SystemExit as ended:
        if ended.code:
            command = " ".join(arguments)
            sys.exit(f"citeweave {command} ended with {ended.code}:\n{told.getvalue()}")
    return shown.getvalue()


if __name__ == "__main__":
    main()
