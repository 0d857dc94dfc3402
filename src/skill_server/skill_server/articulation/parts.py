"""Parts of articulated objects for skills: the part that a goal names, the position of its joint, and its pose."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.articulation import Articulation, Handle
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from skill_server.params import checks


@dataclass(frozen=True, slots=True, eq=False)
class PartState:
    """A part at one instant.

    Attributes:
        name: Name of the part.
        joint: Its joint.
        handle: Its handle.
        world_T_body: Pose of the body to which the joint belongs.
        position: Position of the joint, m or rad.
    """

    name: str
    joint: Articulation
    handle: Handle
    world_T_body: Pose
    position: float

    def world_T_part(self, position: float) -> Pose:
        """Return the pose of the part at a position of its joint.

        Args:
            position: Position, m or rad.

        Returns:
            world_T_part.
        """
        return self.world_T_body @ self.joint.at(position)

    @property
    def share(self) -> float:
        """The position as a share of the range: 0 closed, 1 open."""
        return self.joint.share(self.position)


def part_name(name: str, world: World) -> str:
    """Return the part of a name, or the only part of the object of that name.

    Args:
        name: Name of a part or a body.
        world: Snapshot of the world.

    Returns:
        Name of the part; the name itself when there is no such part, or several.
    """
    item = world.objects.get(name)
    if item is None or item.articulation is not None:
        return name
    parts = [n for n, o in world.objects.items() if o.articulation and o.articulation.body == name]
    return parts[0] if len(parts) == 1 else name


def check_part(field_name: str, name: str, world: World) -> Outcome:
    """Refuse an object that is no part, has no handle, or whose body is not known.

    Args:
        field_name: Field of the goal.
        name: Name of a part or a body.
        world: World at the time of the goal.

    Returns:
        OK, or the fault.
    """
    found = checks.known_object(field_name, name, world)
    if not found.ok:
        return found
    part = part_name(name, world)
    joint = world.objects[part].articulation
    if joint is None:
        parts = sorted(n for n, item in world.objects.items() if item.articulation)
        remedy = f"use one of {parts}" if parts else "the world has no parts"
        return checks.fault(Code.BAD_GOAL, field_name, f"{name!r} has no joint, or several parts; {remedy}")
    if joint.handle is None:
        return checks.fault(Code.BAD_GOAL, field_name, f"{part!r} has no handle; describe one with its joint")
    found = checks.known_object(field_name, part, world)
    if found.ok and (joint.body not in world.objects or joint.body not in world.states):
        text = f"{part!r} belongs to {joint.body!r}, whose pose is not known; wait for object_states"
        return checks.fault(Code.STALE_WORLD, field_name, text)
    return found


def part_of(name: str, world: World) -> PartState:
    """Return the part of a goal that ``check_part`` has accepted.

    Args:
        name: Name of a part or a body.
        world: Snapshot of the world.

    Returns:
        The part with its present position.

    Raises:
        StepFailed: The part is gone from the world.
    """
    part = part_name(name, world)
    item = world.objects.get(part)
    joint = item.articulation if item else None
    if joint is None or joint.handle is None or part not in world.states or joint.body not in world.states:
        raise StepFailed(Outcome(Code.UNKNOWN_OBJECT, f"{part!r} is gone from the world", "", "object"))
    body = world.states[joint.body].world_T_object
    position = joint.position(body.inverse() @ world.states[part].world_T_object)
    return PartState(part, joint, joint.handle, body, position)
