"""The worked notebook runs from top to bottom and leaves a report."""

import shutil
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOK = FOLDER / "from-openalex-to-report.ipynb"


# Jupyter's own processes leave sockets to the collector and warn of TCP; neither is ours to mend.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_notebook_runs_and_leaves_a_report(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    if not NOTEBOOK.exists():
        pytest.skip("the notebooks are not beside these tests")
    shutil.copy(FOLDER / "sample_literature.py", tmp_path)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=None, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()  # a cell that fails raises
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    kinds = {kind for out in outputs for kind in out.get("data", {})}
    assert {"text/html", "image/png", "image/svg+xml"} <= kinds
    assert not [out for out in outputs if out.get("name") == "stderr"]
    page = (tmp_path / "openalex-example" / "report.html").read_text(encoding="utf-8")
    assert "A made-up literature of ten fields" in page


def test_the_notebook_shows_no_machine_of_ours() -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    if not NOTEBOOK.exists():
        pytest.skip("the notebooks are not beside these tests")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    text = NOTEBOOK.read_text(encoding="utf-8")
    places = ("/home/", f"{Path.home()}/", "/usr/", "C:\\\\")
    assert not [place for place in places if place in text]
