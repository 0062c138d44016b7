"""For all tests: nothing depends on the speed of the machine, and kernels are compiled once."""

import contextlib
import gc
import os

# Threads of BLAS that wait for each other cost more than the small matrices of tests.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

with contextlib.suppress(ImportError):  # a bare machine with a GPU runs the tests that do without
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "any-machine",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
        # CI judges a change, with the same examples each time; elsewhere new ones are tried
        derandomize=bool(os.environ.get("CI")),
    )
    settings.load_profile("any-machine")

FIRST = (
    "tests/test_fingerprints.py",  # compiles most kernels, for those who come after
    "tests/test_slot_fingerprints.py",  # compiles the others, in the other process
    "tests/engines/dense/test_broken_samplers.py",  # kernels that nobody else has
    "tests/reading",  # no kernels, as those below
    "tests/preparing",
    "tests/datasets",
    "tests/web/test_web_browser.py",
    "tests/engines",
)
"""What is begun first, in this order, so that two workers seldom compile the same kernel at the
same time, and no long file is left for the end."""


def _turn(nodeid: str) -> int:
    places = (i for i, start in enumerate(FIRST) if nodeid.startswith(start))
    return next(places, len(FIRST))


def pytest_configure(config) -> None:
    """Let workers take files in the order given, not those of most tests first.

    Compiling leaves millions of objects for good: the garbage collector looks at them less often.
    """
    gc.set_threshold(20_000, 20, 20)
    if os.environ.get("CITEWEAVE_TEST_COSTS"):
        from costs import Costs

        config.pluginmanager.register(Costs(int(os.environ["CITEWEAVE_TEST_COSTS"])))
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items) -> None:
    """Put what takes longest, and what others build on, first."""
    items.sort(key=lambda item: _turn(item.nodeid))
