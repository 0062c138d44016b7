"""Print the lowest version that pyproject.toml promises for each dependency, as pins for pip.

An extra is added by naming it: ``python .ci/lowest.py plot``. A dependency without a lower bound is
an error: nobody could say with what it works.
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def pins(extras: list[str]) -> list[str]:
    """Turn ``numpy>=2.1`` into ``numpy==2.1``, for the plain dependencies and those of extras."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    found = []
    for requirement in wanted:
        match = re.fullmatch(r"([A-Za-z0-9._-]+)\s*>=\s*([0-9.]+)(?:\s*,.*)?", requirement)
        if match is None:
            sys.exit(
                f"pyproject.toml: {requirement!r} has no lower bound of the form name>=version"
            )
        found.append(f"{match[1]}=={match[2]}")
    return found


if __name__ == "__main__":
    print("\n".join(pins(sys.argv[1:])))
