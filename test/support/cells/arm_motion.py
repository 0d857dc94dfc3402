"""Kinematics and smooth motions for the tests of the simulation, from the robot's own values."""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import ArmSpec, Robot

PERIOD_S = 0.02


def ee_pose(robot: Robot, arm: ArmSpec, q: Array) -> Pose:
    """Return the pose of the EE link in the arm's base frame."""
    by_child = {joint.child: joint for joint in robot.joints.values()}
    values = dict(zip(arm.joint_names, q, strict=True))
    pose, link = Pose.identity(), arm.ee_link
    while link != arm.base_link:
        joint = by_child[link]
        turned = Pose.identity()
        if joint.type is JointKind.REVOLUTE:
            turned = Pose.of((0, 0, 0), Rotation.from_axis_angle(joint.axis, float(values[joint.name])))
        pose, link = joint.parent_T_joint @ turned @ pose, joint.parent
    return pose


def solve_ik(robot: Robot, arm: ArmSpec, target: Pose, start: Array) -> Array:
    """Return joint positions near ``start`` that bring the EE link to ``target`` in the base frame."""
    lower, upper = (
        np.array([getattr(robot.joints[n], k) for n in arm.joint_names]) for k in ("lower", "upper")
    )

    def error(q: Array) -> Array:
        now = ee_pose(robot, arm, q)
        turn = now.rotation.inverse() @ target.rotation
        return np.concatenate([now.translation_m - target.translation_m, turn.wxyz[1:], 1e-3 * (q - start)])

    found = least_squares(
        error, np.clip(start, lower + 1e-3, upper - 1e-3), bounds=(lower, upper), xtol=1e-10
    )
    gap_m, turn_rad = ee_pose(robot, arm, found.x).distance_to(target)
    assert gap_m < 2e-3, f"no IK for {target.translation_m}"
    assert turn_rad < 5e-3, f"no IK for {target.translation_m}"
    return np.asarray(found.x)


def grasp_pose(robot: Robot, arm: ArmSpec, point_m: Array, yaw: float) -> Pose:
    """Return an EE pose from above whose fingertips meet at ``point_m`` (base frame) and close along ``yaw``."""
    assert arm.gripper is not None
    rotation = Rotation.from_axis_angle((0, 0, 1), yaw) @ Rotation.from_axis_angle((1, 0, 0), np.pi)
    return Pose.of(np.asarray(point_m) + (0.0, 0.0, arm.gripper.tcp_offset_m), rotation)


def move(arm: ArmSpec, start: Array, end: Array, speed: float = 1.0) -> TrajectoryGoal:
    """Make a quintic rest-to-rest motion whose fastest joint reaches ``speed`` [rad/s]."""
    distance = float(np.abs(end - start).max())
    duration = max(1.875 * distance / speed, 0.1)
    t = np.linspace(0.0, duration, max(3, int(np.ceil(duration / PERIOD_S)) + 1))
    u = (t / duration)[:, None]
    q = start + (end - start) * (10 * u**3 - 15 * u**4 + 6 * u**5)
    qd = (end - start) * (30 * u**2 - 60 * u**3 + 30 * u**4) / duration
    return TrajectoryGoal(arm.joint_names, t, q, qd)
