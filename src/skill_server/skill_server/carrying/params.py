"""Parameters of ``carry``, and of the step that moves both arms."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.geometry import Pose
from skill_server.handing.params import TwoHandParams


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryParams(TwoHandParams):
    """Parameters of ``carry``; the arm of the goal grasps first.

    Attributes:
        with_arm: The other arm; empty: the other one of a robot with two.
        position: Where the object's origin goes, x and y in ``frame``, m; its height is that of what it is put on.
        frame: Frame of ``position``: ``world``, ``base``, an object, or any frame of tf.
        yaw: Direction of the object's x axis about the vertical at the end, in the world, deg; None: as it is.
        on: What it is put on; empty: what is below its place, the highest one.
        lift: Height over its start and its place to which it is lifted, m.
        tool_speed: Greatest speed of the hands while they carry, m/s.
    """

    with_arm: str = ""
    position: tuple[float, float]
    frame: str = "world"
    yaw: float | None = None
    on: str = ""
    lift: float = 0.08
    tool_speed: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryStepParams(SkillParams):
    """Parameters of the step in which both arms move what both hold.

    Attributes:
        goal: Parameters of the goal.
        partner: Name of the other arm.
        world_T_object: Pose of the object at the end.
        rests_on: Objects that it may touch there.
    """

    goal: CarryParams
    partner: str
    world_T_object: Pose
    rests_on: frozenset[str]
