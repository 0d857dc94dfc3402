"""Random problems in a user's scene: between tool poses near its objects that free configurations reach."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.world import ObjectState, World
from handiwork_core.robot.kinematics import forward, joint_motion, joint_position
from handiwork_core.robot.robot import Joint, Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import Scene, load_scene

from .problems import Problem
from .referee import Referee
from .solids import world_distance
from .sphere_robot import SphereRobot

FR3 = Path(__file__).parents[2] / "src/robot_description/robots/fr3"
CLEAR_M = 0.005
"""Distance of starts and goals from the world, m: a planner with a margin of its own is not refused."""
SELF_M = 0.001
"""Distance of the robot's links from each other, m; some links are always close."""
NEAR_M = 0.15
"""Largest distance of the tool from some object at starts and goals, m: elsewhere most motions are free."""
TRIES = 20_000


def own_problems(
    scene: Path, robot_dir: Path, count: int, seed: int = 0
) -> tuple[SphereRobot, list[Problem]]:
    """Return problems in a scene file, the same ones for the same seed.

    Args:
        scene: The scene file.
        robot_dir: The robot's folder.
        count: Number of problems.
        seed: Seed of the configurations.

    Raises:
        ValueError: the scene leaves the robot no room for that many.
    """
    loaded = load_scene(scene)
    robot = SphereRobot(held_still(load_robot(robot_dir)), loaded.world_T_base, mounted=True)
    free = free_configurations(robot, world_of(loaded), 2 * count, seed)
    problems = [
        Problem(
            f"{loaded.name}/{i:03d}",
            loaded.name,
            world_of(loaded),
            frozen(start),
            frozen(goal[None]),
            robot.world_T_base @ forward(robot.robot, "", goal),
            {},
        )
        for i, (start, goal) in enumerate(zip(free[::2], free[1::2], strict=True))
    ]
    return robot, problems


def world_of(scene: Scene) -> World:
    """Return the scene's objects at their declared places.

    Args:
        scene: The scene.
    """
    still = np.zeros(3)
    return World(
        0.0,
        1,
        {item.name: item.body for item in scene.objects},
        {item.name: ObjectState(item.world_T_object, still, still, 0.0) for item in scene.objects},
    )


def held_still(robot: Robot) -> Robot:
    """Return the robot with every joint that no arm moves fixed in its rest position.

    Args:
        robot: The robot.
    """
    moved = {name for arm in robot.arms.values() for name in arm.joint_names}
    joints = {
        name: joint if name in moved or joint.type is JointKind.FIXED else _fixed(robot, joint)
        for name, joint in robot.joints.items()
    }
    arms = {name: dataclasses.replace(arm, gripper=None) for name, arm in robot.arms.items()}
    return dataclasses.replace(robot, joints=joints, arms=arms)


def free_configurations(robot: SphereRobot, world: World, count: int, seed: int) -> Array:
    """Return configurations (count, dof) within the limits, free by the referee, with the tool near an object.

    Args:
        robot: The robot.
        world: The world.
        count: Number of configurations.
        seed: Seed of the draws.

    Raises:
        ValueError: fewer were found in ``TRIES`` draws.
    """
    referee, arm = Referee(robot.robot, robot.world_T_root, mounted=robot.mounted), robot.robot.arm("")
    joints = [robot.robot.joints[name] for name in arm.joint_names]
    draws = np.random.default_rng(seed).uniform(
        [j.lower for j in joints], [j.upper for j in joints], (TRIES, len(joints))
    )
    found: list[Array] = []
    for q in draws:
        tool = robot.world_T_base @ forward(robot.robot, "", q)
        near = world_distance(world, tool.translation_m[None])[0] < NEAR_M
        to_world, to_self = referee.clearance(q[None], world) if near else (0.0, 0.0)
        if to_world > CLEAR_M and to_self > SELF_M:
            found.append(q)
        if len(found) == count:
            return np.array(found)
    raise ValueError(
        f"{len(found)} of {TRIES} random configurations are free and near an object; make more room"
    )


def _fixed(robot: Robot, joint: Joint) -> Joint:
    rests: Pose = joint.parent_T_joint @ joint_motion(joint, joint_position(robot, joint.name, {}))
    return dataclasses.replace(joint, type=JointKind.FIXED, parent_T_joint=rests, mimic=None)
