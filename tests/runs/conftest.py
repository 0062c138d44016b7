"""Small corpora, drawn once."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "model"))  # for model_tools


@pytest.fixture(scope="session")
def small():
    """Seventy short documents with authors, categories and citations."""
    from model_tools import draw_small

    return draw_small()


@pytest.fixture(scope="session")
def people():
    """Six documents whose groups can be worked out by hand."""
    from model_tools import make_people

    return make_people()
