"""Build, check and time everything on a machine with a GPU, one part after the other.

python -m benchmarks.gpu --out gpu-results
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from citeweave.engines.cuda import CudaDevice
from citeweave.errors import CiteweaveError

ROOT = Path(__file__).parents[1]

PARTS = {
    "checks": ["-m", "pytest", "tests/engines/cuda", "-m", "gpu"],
    "parts of an iteration": ["benchmarks/parallel.py", "--topics", "20", "50", "200"],
    "parts of a chain": ["-m", "benchmarks.cluster", "gpu", "--scale", "1"],
    "ten times the size": ["benchmarks/parallel.py", "--topics", "20", "--scale", "10"],
    "many topics": ["benchmarks/parallel_topics.py", "--topics", "1000", "4096", "--dense"],
    "the whole command": ["-m", "benchmarks.end_to_end"],
    "beside the CPU": ["-m", "benchmarks.parallel_quality", "trace", "--out", "{out}/trace.jsonl"],
}


def main() -> None:
    """Run all parts; show their output, and save it in the output folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("gpu-results"))
    options = parser.parse_args()
    try:
        sys.stdout.write(f"{CudaDevice().describe()}\n")
    except CiteweaveError as error:
        raise SystemExit(f"There is nothing to check here: {error}") from None
    out = options.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    paths = [ROOT / "src", ROOT, ROOT / "benchmarks"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    failed = []
    for name, words in PARTS.items():
        command = [sys.executable, *(word.format(out=out) for word in words)]
        began = time.perf_counter()
        ended = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        said = ended.stdout + ended.stderr
        (out / f"{name.replace(' ', '-')}.txt").write_text(said, encoding="utf-8")
        sys.stdout.write(f"== {name} ({time.perf_counter() - began:.0f} s)\n{said}\n")
        sys.stdout.flush()
        if ended.returncode:
            failed.append(name)
    if failed:
        raise SystemExit(f"Failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
