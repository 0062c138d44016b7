"""`citeweave serve` as a process of its own, as a user starts it."""

import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from reference.patience import PATIENCE


class Serving:
    """Serve a run on a free port while a block lasts."""

    def __init__(self, run: Path, *options: object) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed with the block)
        command = [sys.executable, "-m", "citeweave.cli.main", "serve", str(run)]
        self.process = subprocess.Popen(
            [*command, "--port", "0", "--no-open", *map(str, options)],
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self.address = ""
        self._said = ""

    def __enter__(self) -> Self:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert " at http" in line, f"it said {line!r} and {self.errors()!r}"
        self.address = line.split(" at ")[1].split()[0]
        return self

    def errors(self) -> str:
        """What was written to standard error."""
        if not self._errors.closed:
            self._errors.seek(0)
            self._said = self._errors.read()
        return self._said

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.errors()
        self._errors.close()
