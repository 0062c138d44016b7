"""For all tests: nothing depends on the speed of the machine."""

import contextlib

with contextlib.suppress(ImportError):  # a bare machine with a GPU runs the tests that do without
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "any-machine",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
    )
    settings.load_profile("any-machine")
