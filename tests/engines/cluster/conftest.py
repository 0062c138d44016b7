"""Ray for the tests of this folder, started once for each file."""

import pytest


@pytest.fixture(scope="module")
def ray_started():
    """Start Ray with room for three workers; skip where it is not installed."""
    ray = pytest.importorskip(
        "ray", reason="Ray is not installed (pip install 'citeweave[cluster]')"
    )
    from citeweave.engines.cluster.ray_team import connect_ray

    connect_ray(None, 4)
    yield ray
    ray.shutdown()
