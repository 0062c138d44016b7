"""The page of levels, and pages of venues that are a level of the model."""

import pytest

from reference.parted import fit_parted
from web.calling import Client, open_client


@pytest.fixture(scope="module")
def parted() -> Client:
    return open_client(fit_parted())


def test_the_page_of_levels(parted: Client) -> None:
    page = parted.get("/levels")
    assert page.status_code == 200
    text = page.text
    assert "Topics by venue" in text
    assert "<b>soil</b>" not in text
    assert "Journal of &lt;b&gt;soil&lt;/b&gt;" in text
    for number in range(3):
        assert f'href="/venues/{number}"' in text
    assert 'href="/levels" aria-current="page"' in text
    assert parted.get("/download/levels.json").status_code == 200


def test_the_page_of_a_venue(parted: Client) -> None:
    text = parted.get("/venues/0").text
    assert "The model’s own estimate" in text
    assert "90 % interval" in text


def test_models_without_levels_have_no_such_page(client: Client) -> None:
    missing = client.get("/levels")
    assert missing.status_code == 404
    assert "--level venue" in missing.text
    text = client.get("/venues").text
    assert "/levels" not in text
    assert "The mean over its papers." in client.get("/venues/0").text
