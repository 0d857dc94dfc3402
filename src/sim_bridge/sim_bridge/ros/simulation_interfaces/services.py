"""simulation_interfaces of the simulated world, when the package is installed, in its installed version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handiwork_core.intake.regular_files import DataRoots
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.wall_time_node import action_host_node
from sim_bridge.loop.sim_loop import SimLoop
from sim_bridge.ros.publishers import ContractPublishers
from sim_bridge.ros.services import SimServices


def serve_standard(
    node: ManagedNode,
    services: SimServices,
    loop: Callable[[], SimLoop],
    publishers: ContractPublishers,
    roots: DataRoots,
) -> bool:
    """Serve all services that the installed definitions have. Names are those of Isaac Sim.

    Args:
        node: Hosts them.
        services: Wait for the physics thread.
        loop: Returns the thread that runs now.
        publishers: Publish the objects after changes.
        roots: Folders below which requests may name files.

    Returns:
        Whether the definitions are installed.
    """
    try:
        from simulation_interfaces import action, srv
    except ImportError:
        node.get_logger().info("simulation_interfaces is not installed: its services are not served")
        return False
    from sim_bridge.ros.simulation_interfaces.entity_services import EntityServices
    from sim_bridge.ros.simulation_interfaces.run_services import RunServices
    from sim_bridge.ros.simulation_interfaces.server import StandardServices
    from sim_bridge.ros.simulation_interfaces.spawn_services import SpawnServices

    entities = EntityServices(loop, services.wait)
    spawns = SpawnServices(loop, services.wait, publishers.publish_geometry, roots)
    runs = RunServices(node, loop, services.wait, publishers.publish_geometry, spawns)
    standard = StandardServices(node, srv)
    rows: tuple[tuple[str, str, Callable[[Any, Any], Any]], ...] = (
        ("GetSimulatorFeatures", "get_simulator_features", runs.features),
        ("GetSimulationState", "get_simulation_state", runs.get_state),
        ("SetSimulationState", "set_simulation_state", runs.set_state),
        ("ResetSimulation", "reset_simulation", runs.reset),
        ("StepSimulation", "step_simulation", runs.step),
        ("GetEntities", "get_entities", entities.entities),
        ("GetEntitiesStates", "get_entities_states", entities.states),
        ("GetEntityState", "get_entity_state", entities.state),
        ("GetEntityInfo", "get_entity_info", entities.info),
        ("GetEntityBounds", "get_entity_bounds", entities.bounds),
        ("SetEntityState", "set_entity_state", entities.set_state),
        ("GetSpawnables", "get_spawnables", spawns.spawnables),
        ("SpawnEntity", "spawn_entity", spawns.spawn),
        ("SpawnEntities", "spawn_entities", spawns.spawn_all),
        ("DeleteEntity", "delete_entity", spawns.delete),
    )
    for kind, name, handler in rows:
        standard.serve(kind, name, handler)
    runs.serve_steps(action_host_node(node), action.SimulateSteps)
    return True
