"""Write runs in the format versions that no release has written yet, as examples for the tests.

    PYTHONPATH=src python tests/data/make_formats.py tests/data/since-0.2.tar.gz

The archive is named after the latest release and is never made again: a format that changes once
more gets another version and another run here. The next release stores these runs in an archive of
its own (`make_release.py`); this script then starts again with an empty list.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

from make_release import FIT, literature, pack, write_runs

from citeweave import Corpus
from citeweave.engines.cluster.in_process import InProcessChain
from citeweave.engines.registry import ENGINES

WORKERS: dict[str, Any] = {"engine": "ray", "workers": 2, "threads": 2, "rounds": 2, "chains": 1}
NEW_RUNS: dict[str, dict[str, Any]] = {
    "lists": {"topics": 260, "eta": "inf"},
    "parts": {"topics": 3, **WORKERS},
    "lists-in-parts": {"topics": 260, **WORKERS},
}
"""Counts as lists of topics; checkpoints in parts and estimates by ranges; all of these."""


def main(archive: Path) -> None:
    ENGINES["ray"] = InProcessChain  # workers are threads of this process and write the same files
    with tempfile.TemporaryDirectory() as room:
        out = Path(room) / "runs"
        corpus = Corpus.load(literature().save(Path(room) / "shards", shard=5))
        for name, options in NEW_RUNS.items():
            write_runs(corpus, out, name, FIT | options)
        pack(out, archive)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
