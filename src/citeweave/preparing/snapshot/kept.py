"""Results of finished steps, stored so that an interrupted import need not repeat them."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, TypeVar

from citeweave.files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["KeptSteps"]

T = TypeVar("T")


class KeptSteps:
    """Steps by name, each computed once and then read from its file.

    Files are written atomically. Anything else that a step writes must exist before it returns; an
    interrupted step is repeated from its beginning.

    Parameters
    ----------
    folder : Path

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = KeptSteps(Path(folder))("sum", lambda: 1 + 1)
    ...     again = KeptSteps(Path(folder))("sum", lambda: 1 / 0)
    >>> first, again
    (2, 2)
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def has(self, name: str) -> bool:
        """Return whether a step is finished."""
        return self._path(name).is_file()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.pickle"

    def __call__(self, name: str, make: Callable[[], T]) -> T:
        """Return the result of a step."""
        path = self._path(name)
        if path.is_file():
            result: T = pickle.loads(path.read_bytes())  # noqa: S301 (written here, by this import)
            return result
        made = make()
        self._folder.mkdir(parents=True, exist_ok=True)
        write_bytes(path, pickle.dumps(made, protocol=pickle.HIGHEST_PROTOCOL))
        return made
