"""Call every kernel once with the types that requests use, so that no request waits for the compiler."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from handiwork_core.contracts.planning import Report, SceneQuery
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import ObjectState
from handiwork_core.robot.robot import Robot

from .collision import motion_check
from .constraints import cbirrt, constrained_shortcut, pose_constraint
from .distance.mesh_sphere_cover import cover_mesh
from .dynamics.torque_limit import TorqueLimit
from .ik.pose_ik import solve_pose
from .kernels import kinematics
from .kernels.rng import as_bits, new_state
from .scene.query import Query, Reader
from .scene.scene import CollisionScene
from .scene.shape_poses import Placing
from .search import cartesian_line, path_search, rrt_connect
from .timing.parameterization import Limits, parameterise

_TETRAHEDRON = (0.01 * np.eye(4, 3), np.array([(0, 1, 2), (0, 3, 1), (1, 3, 2), (0, 2, 3)]))
_STILL = ObjectState(Pose.identity(), np.zeros(3), np.zeros(3), 0.0)


def warm_up(robot: Robot, world_T_base: Pose, report: Report) -> None:
    """Compile or load all kernels on the robot's first arm in an empty world.

    Args:
        robot: The robot.
        world_T_base: Pose of the robot's root link.
        report: Called before each kernel with the share done, 0 to 1, and the kernel's name.
    """
    arm = next(iter(robot.arms.values()))
    query = Reader(robot, world_T_base).read(arm, CollisionScene(), SceneQuery())
    steps = _steps(query, np.array(arm.home_q))
    steps.append(("torques", lambda: TorqueLimit(robot, world_T_base)))
    for i, (name, step) in enumerate(steps):
        report(i / len(steps), f"kernel {name}")
        step()


def _steps(query: Query, q: Array) -> list[tuple[str, Callable[[], object]]]:
    robot, margins, c = query.robot, query.margins, query.checker
    ones = np.ones(len(q))
    hit, error, pose, state = np.zeros(2, dtype=np.int64), np.zeros(6), np.zeros((1, 12)), new_state(0)
    kinematics.tool_poses(q[None], robot, pose)
    goal, path = pose[0], np.array([q, q + 1e-3, q])
    trees = rrt_connect.plant(q, path, (margins.shape[0], margins.shape[1]), 100)
    return [
        ("pose error", lambda: kinematics.pose_error(goal, goal, error)),
        ("distances", lambda: query.distances(q)),
        ("paths", lambda: motion_check.first_blocked(c, path, hit)),
        (
            "inverse kinematics",
            lambda: solve_pose(query, Pose.identity(), q[None], state, tries=2, most=1),
        ),
        (
            "straight lines",
            lambda: cartesian_line.follow(q, goal, 1e-3, robot, np.empty((2, len(q))), error),
        ),
        ("path search", lambda: path_search.begin(c, q, path, 64, 1, 1, as_bits(0), False)),
        ("longer path search", lambda: path_search.search(c, trees, 1, 1, state)),
        ("timing", lambda: parameterise(path, Limits(ones, ones, ones))),
        ("poses of bodies", lambda: Placing(("",), [1], pose).move({"": _STILL}, pose.copy())),
        ("covers of meshes", lambda: cover_mesh(*_TETRAHEDRON, 0.01)),
        *_held_steps(query, q, path),
    ]


def _held_steps(query: Query, q: Array, path: Array) -> list[tuple[str, Callable[[], object]]]:
    robot, margins, frames, state, c = query.robot, query.margins, query.frames, new_state(0), query.checker
    kept = pose_constraint.hold_of(np.eye(4, 3).ravel(), np.eye(3), (1.0, 1.0, 0.0, 0.0, 0.0, 0.0))
    trees = cbirrt.plant(q, path, (margins.shape[0], margins.shape[1]), 10)
    return [
        ("held components", lambda: pose_constraint.held_gap(kept.start, kept, np.empty(6), np.empty(2))),
        ("held motion", lambda: pose_constraint.held_share(q, kept, robot, frames)),
        ("held search", lambda: cbirrt.grow_held(trees, 1, kept, c, state)),
        ("held cutting", lambda: constrained_shortcut.cut_held(path, 1, kept, c, state)),
        ("held smoothing", lambda: constrained_shortcut.relax(path, kept, c)),
        ("held spacing", lambda: constrained_shortcut.evened(path, 0.1, kept, robot)),
    ]
