"""Objects that move evenly, as on a belt: their later position, and the time until then."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.contracts.ports import WorldSource
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.thresholds import BELT_REST_MPS
from handiwork_core.model.world import World
from handiwork_core.robot.robot import GripperSpec

CROSSWISE = 0.35
"""The largest cosine between the closing axis and the motion, so that no finger is in the object's way."""


@dataclass(frozen=True)
class PredictedWorld:
    """A world source in which one object is at its later pose; all else is as measured."""

    source: WorldSource
    name: str
    world_T_object: Pose

    def snapshot(self) -> World:
        """See ``WorldSource``."""
        world = self.source.snapshot()
        there = replace(world.states[self.name], world_T_object=self.world_T_object)
        return replace(world, states={**world.states, self.name: there})

    def world_T_base(self) -> Pose:
        """See ``WorldSource``."""
        return self.source.world_T_base()


def closes_across(world_T_ee: Pose, gripper: GripperSpec, velocity: Array) -> bool:
    """Return True when the fingers close across a motion, so that none is in the way of an object that moves.

    Args:
        world_T_ee: The grasp.
        gripper: Names the closing axis.
        velocity: Velocity of the object in the world, (3,), m/s.
    """
    closing = world_T_ee.rotation.matrix()[:, gripper.closing_axis]
    return bool(abs(float(closing @ velocity)) < CROSSWISE * float(np.linalg.norm(velocity)))


def remaining_s(world: World, name: str, point: Array, now_s: float) -> float:
    """Return the time until an object is at a point on its path.

    Args:
        world: Snapshot with the velocity of the object.
        name: Name of the object.
        point: Point in the world, (3,), m.
        now_s: Time of the robot's world.

    Returns:
        The time, s; negative once the object has passed, infinite while it is at rest.
    """
    state = world.states[name]
    speed = float(np.linalg.norm(state.world_v_object))
    if speed < BELT_REST_MPS:
        return float("inf")
    along = state.world_v_object / speed
    way = float((point - state.world_T_object.translation_m) @ along)
    return way / speed - (now_s - state.stamp_s)
