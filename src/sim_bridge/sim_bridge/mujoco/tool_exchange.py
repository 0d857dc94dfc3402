"""The exchange of the robot of a running simulation for the same arms with another tool."""

from __future__ import annotations

from handiwork_core.robot.followers import links_moved_by
from handiwork_core.robot.robot import Robot
from sim_bridge.mujoco.simulation import Simulation
from sim_bridge.mujoco.world import MujocoWorld

DEPTH_M = 0.001
"""The depth to which a tool that appears may reach into an object, m: the solver pushes it out gently."""


def continue_with_tool(simulation: Simulation, before: Simulation) -> None:
    """Let a simulation continue where another one ended whose arms have other tools. Both must be idle.

    Args:
        simulation: The simulation that continues, made from the present scene of the other one.
        before: The other one.

    Raises:
        ValueError: A tool touches or holds something, or the other tool would be within something.
    """
    faults = [f"cup {name!r} holds {cup.object!r}" for name, cup in before.world.cups.items() if cup.object]
    if faults := faults or tool_contacts(before.world, 0.0):
        raise ValueError(
            f"the tool of {before.robot.name!r} is not free: {faults[0]}; put it down and move away"
        )
    simulation.continue_from(before)
    if faults := tool_contacts(simulation.world, DEPTH_M):
        text = f"the tool of {simulation.robot.name!r} has no room: {faults[0]}; move the arm away first"
        raise ValueError(text)


def tool_contacts(world: MujocoWorld, depth_m: float) -> list[str]:
    """Describe the contacts of tools with objects.

    Args:
        world: The world.
        depth_m: Depth in m beyond which bodies are in contact.
    """
    tools = {f"{world.robot.name}/{link}" for link in links_of_tools(world.robot)}
    own = {f"{world.robot.name}/{link}" for link in world.robot.links}
    contact, model = world.data.contact, world.model
    found = []
    for (a, b), dist in zip(contact.geom.tolist(), contact.dist.tolist(), strict=True):
        bodies = {model.body(model.geom_bodyid[geom]).name for geom in (a, b)}
        if dist < -depth_m and bodies & tools and bodies - own:
            tool, other = min(bodies & tools), min(bodies - own)
            found.append(f"{tool!r} touches {other!r}")
    return found


def links_of_tools(robot: Robot) -> frozenset[str]:
    """Return the links that the last joint of each arm carries.

    Args:
        robot: The robot.
    """
    return links_moved_by(robot.joints, [arm.joint_names[-1] for arm in robot.arms.values()])
