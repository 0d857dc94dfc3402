"""Parts of articulated objects as a skill sees them: which one is meant, where its joint is, whether it follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from handiwork_core.contracts.commands import ExpectJoint
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.articulation import Articulation, Handle
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from skill_server.params import checks

if TYPE_CHECKING:
    from skill_server.execution.motion_steps import Steps

CATCH_UP_S = 0.5
"""Time of the robot's world in which the measured joint may come to where the hand has brought it."""
POLL_S = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part at one instant: ``position`` of its joint [m or rad]."""

    name: str
    joint: Articulation
    handle: Handle
    world_T_body: Pose
    position: float

    def world_T_part(self, position: float) -> Pose:
        """Where it is at a position of its joint."""
        return self.world_T_body @ self.joint.at(position)

    @property
    def share(self) -> float:
        """0 closed, 1 open."""
        return self.joint.share(self.position)


def part_name(name: str, world: World) -> str:
    """The part of that name, or the only part of the object of that name; else the name itself."""
    item = world.objects.get(name)
    if item is None or item.articulation is not None:
        return name
    parts = [n for n, o in world.objects.items() if o.articulation and o.articulation.body == name]
    return parts[0] if len(parts) == 1 else name


def check_part(field_name: str, name: str, world: World) -> Outcome:
    """Refuse what is no part, has no handle, or whose body is not known."""
    found = checks.known_object(field_name, name, world)
    if not found.ok:
        return found
    part = part_name(name, world)
    joint = world.objects[part].articulation
    if joint is None:
        parts = sorted(n for n, item in world.objects.items() if item.articulation)
        mend = f"use one of {parts}" if parts else "the world has no parts"
        return checks.fault(Code.BAD_GOAL, field_name, f"{name!r} has no joint, or several parts; {mend}")
    if joint.handle is None:
        return checks.fault(Code.BAD_GOAL, field_name, f"{part!r} has no handle; describe one with its joint")
    found = checks.known_object(field_name, part, world)
    if found.ok and (joint.body not in world.objects or joint.body not in world.states):
        text = f"{part!r} belongs to {joint.body!r}, whose pose is not known; wait for object_states"
        return checks.fault(Code.STALE_WORLD, field_name, text)
    return found


def part_of(name: str, world: World) -> Part:
    """The part that a goal means, after ``check_part``.

    Raises:
        StepFailed: it is gone.
    """
    part = part_name(name, world)
    item = world.objects.get(part)
    joint = item.articulation if item else None
    if joint is None or joint.handle is None or part not in world.states or joint.body not in world.states:
        raise StepFailed(Outcome(Code.UNKNOWN_OBJECT, f"{part!r} is gone from the world", "", "object"))
    body = world.states[joint.body].world_T_object
    position = joint.position(body.inverse() @ world.states[part].world_T_object)
    return Part(part, joint, joint.handle, body, position)


def expect_joint(function: ExpectJoint, context: Context, steps: Steps, stage: str) -> None:
    """Return once the measured joint is where it is expected.

    Raises:
        StepFailed: NOT_IN_PLACE with the measured position, when it stays behind.
    """
    until_s = context.clock.now_s() + CATCH_UP_S
    while True:
        part = part_of(function.part, steps.world())
        gap = abs(part.position - function.position)
        if gap <= function.within:
            return
        if context.clock.now_s() >= until_s:
            unit = part.joint.unit
            text = (
                f"{part.name!r} is at {part.position:.3f} {unit} where the hand should have brought it to "
                f"{function.position:.3f} {unit}; it is stuck, or the handle slipped"
            )
            raise StepFailed(Outcome(Code.NOT_IN_PLACE, text, stage))
        steps.pause(POLL_S)
