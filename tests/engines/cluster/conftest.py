"""For the tests of this folder: Ray, started once for each file, and a place for checkpoints."""

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


@pytest.fixture
def folder(tmp_path):
    """Name the folder of a chain in a run, which does not exist yet."""
    place = tmp_path / "run" / "chains" / "chain-0"
    place.parent.mkdir(parents=True)
    return place
