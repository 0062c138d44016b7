"""The page on run folders says what is in one."""

import json
from pathlib import Path

from citeweave import SCNTM

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_on_run_folders_names_every_file(small, tmp_path):
    folder = tmp_path / "run"
    SCNTM(topics=4, iterations=6, seed=1, chains=1).fit(small, out=folder)
    text = (DOCS / "reference" / "run-folder.md").read_text(encoding="utf-8")
    for path in (*(folder / "estimates").iterdir(), *(folder / "traces").iterdir()):
        assert f"`{path.stem}`" in text, path.stem
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in (*manifest, *manifest["plan"]):
        assert f"`{name}`" in text, name
    page = (DOCS / "how-to" / "corpus.md").read_text(encoding="utf-8")
    for name in json.loads((folder / "corpus" / "manifest.json").read_text()):
        assert f"`{name}`" in page, name
