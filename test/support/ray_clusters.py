"""Clusters of Ray on this machine."""

from __future__ import annotations

from typing import Any

STARTS = 4


def started_cluster() -> Any:
    """Return a cluster with one node. Ray gives a node 30 s to start, which a busy machine may need several times."""
    from ray.cluster_utils import Cluster

    for _ in range(STARTS - 1):
        made = Cluster()
        try:
            made.add_node(num_cpus=1, include_dashboard=False)
            return made
        except Exception as error:  # Ray raises a plain one
            if "timed out during startup" not in str(error):
                raise
            made.shutdown()
    return Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
