"""A cluster of several nodes on one computer, one of which is taken away."""

import pytest
from part_tools import differences, draw_corpus, request_for, run

from citeweave.engines.cluster import ray_team
from citeweave.engines.cluster.chain import RayChain
from citeweave.engines.core.data import ClusterWorkers
from citeweave.engines.threads.chain import SnapshotChain

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture
def cluster():
    pytest.importorskip("ray", reason="Ray is not installed (pip install 'citeweave[cluster]')")
    ray = ray_team.import_ray()
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes = [made.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield made, nodes
    ray.shutdown()
    made.shutdown()


def test_a_node_that_is_taken_away_changes_no_byte(cluster):
    made, nodes = cluster
    wanted = request_for(draw_corpus())
    expected = run(SnapshotChain.open(wanted))
    chain = RayChain.open(wanted._replace(threads=1, workers=ClusterWorkers(2, made.address)))
    first = chain.step

    def step():
        info = first()
        if info.iteration == 3:
            # each node has room for one worker: of two nodes beside the head's one has one at least
            made.remove_node(nodes[-1], allow_graceful=False)
        return info

    chain.step = step
    assert differences(run(chain), expected) == []
