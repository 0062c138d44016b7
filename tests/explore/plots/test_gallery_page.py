"""The gallery's pictures are made by the code on its page."""

from pathlib import Path

import pytest

from docs import gallery

pytest.importorskip("matplotlib", reason="needs the extra 'plot': pip install '.[plot]'")


def test_the_code_of_the_page_draws_every_picture_of_the_page(run: Path, tmp_path: Path) -> None:
    drawn = gallery.draw(run, tmp_path)
    assert len(drawn) >= 10
    for path in drawn:
        assert path.read_bytes().startswith(b"\x89PNG")
        assert (gallery.DOCS / "images" / path.name).stat().st_size < 300_000
