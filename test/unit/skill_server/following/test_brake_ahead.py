"""Where a braking arm will rest, and motions that are bent to the place where it does."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.contracts.planning import Attachment
from handiwork_core.control.trajectory_controller import Ending, TrajectoryController
from handiwork_core.control.trajectory_goal import JointLimits, TrajectoryGoal
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.testing.fakes import Cell, fakes
from handiwork_planning.validation.motion_limits import motion
from skill_server.following.brake_ahead import (
    DELAY_S,
    NEAR_RAD,
    RestingWorld,
    begun_at,
    place_of_rest,
)
from skill_server.motions.arm_motions import hand_at
from skill_server.motions.quintic_motion import quintic
from support.paths import ROBOTS

STEP_S = 0.002


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(ROBOTS / "fr3")


def way(robot: Robot, move: Array | None = None) -> Trajectory:
    arm = robot.arm("")
    by = np.array([0.9, -0.5, 0.4, 0.6, -0.3, 0.7, 0.2]) if move is None else move
    return quintic(robot, arm, arm.home_q, arm.home_q + by, 1.0, 1.0)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.8, 0.97])
def test_an_arm_rests_where_its_controller_brings_it_to_rest(robot: Robot, share: float) -> None:
    trajectory, limits = way(robot), JointLimits.of(robot, robot.arm(""))
    controller = TrajectoryController(limits, trajectory.q[0])
    controller.start(TrajectoryGoal.of(trajectory), trajectory.q[0])
    foreseen = None
    while controller.busy:
        now = controller.reference
        if foreseen is None and controller.path_s >= share * trajectory.duration_s:
            foreseen = place_of_rest(trajectory, now.position, limits.acceleration)
            for _ in range(round(DELAY_S / STEP_S)):
                controller.update(controller.reference.position, controller.reference.velocity, STEP_S)
            controller.stop(Ending.CANCELED, "")
        now = controller.reference
        controller.update(now.position, now.velocity, STEP_S)
    assert foreseen is not None
    assert np.abs(foreseen - controller.reference.position).max() < 0.5 * NEAR_RAD


@pytest.mark.parametrize("seed", range(20))
def test_a_bent_motion_begins_at_the_arm_ends_at_its_end_and_keeps_the_limits(
    robot: Robot, seed: int
) -> None:
    trajectory, limits = way(robot), JointLimits.of(robot, robot.arm(""))
    start = trajectory.q[0] + np.random.default_rng(seed).uniform(-NEAR_RAD, NEAR_RAD, 7)
    bent = begun_at(trajectory, start, limits.velocity, limits.acceleration)
    assert bent is not None
    np.testing.assert_allclose(bent.q[0], start)
    np.testing.assert_allclose(bent.q[-1], trajectory.q[-1])
    verdict = motion(robot, robot.arm(""), bent, start)
    assert verdict.code is Code.OK, verdict.message
    assert bent.duration_s < 1.25 * trajectory.duration_s


def test_a_motion_that_begins_elsewhere_is_not_bent(robot: Robot) -> None:
    trajectory, limits = way(robot), JointLimits.of(robot, robot.arm(""))
    for away in (1.01 * NEAR_RAD, np.nan):
        start = trajectory.q[0] + np.array([0.0, away, 0.0, 0.0, 0.0, 0.0, 0.0])
        assert begun_at(trajectory, start, limits.velocity, limits.acceleration) is None


def test_the_world_of_the_choice_has_the_arm_and_what_it_holds_where_they_will_rest() -> None:
    cube = WorldObject("cube", (Shape(ShapeKind.BOX, np.full(3, 0.04), Pose.identity()),), False)
    context = fakes(Cell({"cube": cube}, {"cube": Pose.of((0.4, 0.1, 0.02))}, {"cube": 0.04})).context
    q = context.arm_spec.home_q + 0.1
    world = RestingWorld(context.world, context.robot, context.arm_spec, q, {}).snapshot()
    assert [world.joints.position[name] for name in context.arm_spec.joint_names] == q.tolist()
    assert not any(world.joints.velocity[name] for name in context.arm_spec.joint_names)
    ee_T_cube = Pose.of((0.0, 0.0, 0.1))
    held = {"cube": Attachment("cube", context.arm_spec.ee_link, ee_T_cube)}
    world = RestingWorld(context.world, context.robot, context.arm_spec, q, held).snapshot()
    apart = world.states["cube"].world_T_object.distance_to(hand_at(context, q) @ ee_T_cube)
    assert max(apart) < 1e-9
