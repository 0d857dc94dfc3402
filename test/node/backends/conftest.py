"""The simulated node and its client, for every test of a backend."""

from support.nodes.sim_client import client, simulation

__all__ = ["client", "simulation"]
