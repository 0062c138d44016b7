"""Draw the pictures of the gallery anew, by the code on its page: ``python -m docs.gallery``."""

import argparse
import contextlib
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent
PAGE = DOCS / "gallery" / "index.md"


def blocks() -> Iterator[str]:
    """Give the code of the page, block by block."""
    yield from re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def images() -> list[str]:
    """Name the pictures that the page shows."""
    return re.findall(r"\]\(\.\./images/([\w-]+\.png)\)", PAGE.read_text(encoding="utf-8"))


def draw(run: Path, out: Path) -> list[Path]:
    """Run the code of the page on a run, and put the pictures of the page into a folder."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("citeweave-demo").symlink_to(run.resolve(), target_is_directory=True)
        names: dict[str, object] = {}
        for block in blocks():
            exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 (the page's own lines)
        return [Path(shutil.copy(name, out / name)) for name in images()]


def shrink(picture: Path) -> None:
    """Make a picture small enough for the repository: page width, a palette of colours."""
    from PIL import Image  # noqa: PLC0415 (comes with Matplotlib, which the plots need)

    with Image.open(picture) as full:
        full.thumbnail((1200, 1200))
        full.convert("RGB").quantize(96).save(picture, optimize=True)


def main() -> None:
    """Draw into ``docs/images``, from a run of the demo that is given or made."""
    parser = argparse.ArgumentParser(description="Draw the pictures of the gallery anew.")
    parser.add_argument("--run", type=Path, help="a run of `citeweave demo`; made if not given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = options.run
        if run is None:
            from citeweave.cli.main import app  # noqa: PLC0415 (slow, and not always needed)

            run = Path(folder) / "citeweave-demo"
            app(["demo", "--out", str(run)], standalone_mode=False)
        for path in draw(run, DOCS / "images"):
            shrink(path)
            sys.stdout.write(f"{path.relative_to(DOCS)}\n")


if __name__ == "__main__":
    main()
