"""Whether an arm has arrived at the waypoint of a command: the default of ``Skill.is_subtask_done``."""

from __future__ import annotations

from typing import Protocol

from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Robot


class WaypointTolerances(Protocol):
    """Parameters that say how near to a waypoint is near enough."""

    @property
    def t_eps(self) -> float:
        """The position tolerance of a waypoint, m."""
        ...

    @property
    def o_eps(self) -> float:
        """The angle tolerance of a waypoint, rad."""
        ...


def ee_pose(world: World, robot: Robot, arm: ArmSpec, world_T_base: Pose) -> Pose:
    """Return the pose of the EE link by the measured joints.

    Args:
        world: Snapshot with the joints.
        robot: Robot.
        arm: Arm.
        world_T_base: Pose of the arm's base.

    Returns:
        world_T_ee.
    """
    poses = link_poses(robot, world.joints.position, (arm.base_link, arm.ee_link))
    return world_T_base @ poses[arm.base_link].inverse() @ poses[arm.ee_link]


def arrived_at(target: Pose, here: Pose, t_eps: float, o_eps: float) -> Outcome:
    """Check whether the hand is at a waypoint, in position AND in angle.

    Args:
        target: world_T_ee of the waypoint.
        here: world_T_ee of the hand.
        t_eps: Position tolerance, m.
        o_eps: Angle tolerance, rad.

    Returns:
        OK or NOT_REACHED, with both errors.
    """
    gap_m, turn_rad = here.distance_to(target)
    is_there = gap_m <= t_eps and turn_rad <= o_eps
    text = (
        f"stopped {gap_m * 1e3:.1f} mm and {turn_rad:.3f} rad from the waypoint; "
        f"allowed are t_eps {t_eps * 1e3:.1f} mm and o_eps {o_eps:.3f} rad"
    )
    code = Code.OK if is_there else Code.NOT_REACHED
    return Outcome(code, text, position_error_m=gap_m, angle_error_rad=turn_rad)
