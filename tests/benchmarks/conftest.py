"""The benchmarks are no part of the package: they lie beside it in the repository."""

from pathlib import Path

import pytest

if not (Path(__file__).parents[2] / "benchmarks" / "parallel_quality.py").exists():
    pytest.skip("the benchmarks are not beside these tests", allow_module_level=True)
