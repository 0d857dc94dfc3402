"""Solutions of the MoveIt Task Constructor: what moves, and what changes in the scene, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sensor_msgs.msg import JointState, MultiDOFJointState

from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.trajectory import Trajectory
from handiwork_ros import conversions as to
from moveit_facade.model.error_codes import ErrorCode, RequestError, error_of
from moveit_facade.paths.start_check import start_fault
from moveit_facade.robot.groups import Group

from .trajectory_reading import trajectory_of

MOST_PARTS = 1000
"""Greatest number of sub-trajectories of one solution."""


@dataclass(frozen=True, eq=False)
class SolutionPart:
    """A sub-trajectory of a solution.

    Attributes:
        group: The group that moves; None if nothing does.
        trajectory: Its motion.
        effect: ``moveit_msgs/msg/PlanningScene`` that is applied after it; None for no change.
    """

    group: Group | None
    trajectory: Trajectory | None
    effect: Any


def solution_parts(
    msg: Any, groups: Mapping[str, Group], mimics: frozenset[str], measured: Mapping[str, float]
) -> list[SolutionPart]:
    """Read ``moveit_task_constructor_msgs/msg/Solution``.

    Args:
        msg: The message.
        groups: The groups by name.
        mimics: Joints that follow others.
        measured: Measured joint positions by name, rad or m.

    Returns:
        Its sub-trajectories in order; the first of an arm begins where the arm is, each other one where it was left.

    Raises:
        RequestError: INVALID_MOTION_PLAN or START_STATE_INVALID, with the number of the sub-trajectory and the reason.
    """
    to.at_most("solution.sub_trajectory", len(msg.sub_trajectory), MOST_PARTS, "sub-trajectories")
    expected, parts = dict(measured), list[SolutionPart]()
    for i, one in enumerate(msg.sub_trajectory):
        with named_part(i, len(msg.sub_trajectory)):
            group, trajectory = _motion(one.trajectory, groups, mimics, expected)
        if group is not None and trajectory is not None:
            expected.update(zip(trajectory.joint_names, trajectory.q[-1].tolist(), strict=True))
        parts.append(SolutionPart(group, trajectory, _effect(one.scene_diff)))
    return parts


@contextmanager
def named_part(index: int, count: int) -> Iterator[None]:
    """Say in the error of a sub-trajectory which one it is.

    Args:
        index: Its index.
        count: The number of all.

    Raises:
        RequestError: The error with its number.
    """
    try:
        yield
    except HandiworkError as error:
        found = error if isinstance(error, RequestError) else error_of(error.outcome, "move_group")
        text = f"sub_trajectory {index + 1} of {count}: {found.outcome.message}"
        raise RequestError(found.value, text, found.source) from error


def _motion(
    msg: Any, groups: Mapping[str, Group], mimics: frozenset[str], expected: Mapping[str, float]
) -> tuple[Group | None, Trajectory | None]:
    """Return group and motion; none for a stage that moves nothing, or is where it has to be."""
    points, names = msg.joint_trajectory.points, list(msg.joint_trajectory.joint_names)
    if not points and not msg.multi_dof_joint_trajectory.points:
        return None, None
    if len(points) == 1 and len(points[0].positions) == len(names) and set(names) <= set(expected):
        why = start_fault(names, list(points[0].positions), expected)
        if why:
            raise RequestError(ErrorCode.START_STATE_INVALID, why, "trajectory_execution")
        return None, None
    return trajectory_of(msg, groups, mimics, expected)


def _effect(scene: Any) -> Any:
    """Return the change of the scene without joint positions: only trajectories move joints."""
    state = scene.robot_state
    state.joint_state, state.multi_dof_joint_state = JointState(), MultiDOFJointState()
    state.is_diff = scene.is_diff = True
    matrix = scene.allowed_collision_matrix
    changes = (
        state.attached_collision_objects,
        scene.world.collision_objects,
        scene.world.octomap.octomap.id or scene.world.octomap.octomap.data,
        matrix.entry_names,
        matrix.default_entry_names,
        scene.object_colors,
        scene.link_padding,
        scene.link_scale,
    )
    return scene if any(len(change) for change in changes) else None
