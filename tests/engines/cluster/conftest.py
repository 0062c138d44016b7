"""Ray for the tests of this folder, started once for each file."""

import pytest


@pytest.fixture(scope="module")
def ray_started():
    """Start Ray on this computer; skip where it is not installed."""
    ray = pytest.importorskip(
        "ray", reason="Ray is not installed (pip install 'citeweave[cluster]')"
    )
    from citeweave.engines.cluster.ray_team import connect_ray

    connect_ray(None, 3)
    yield ray
    ray.shutdown()
