"""The reactive controller keeps all limits, follows a moving target, and goes round obstacles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from decider_node.motion.approach import Approach
from decider_node.motion.bounded_step import solve_bounded
from decider_node.motion.command import MotionCommand
from decider_node.motion.controller import ReactiveController, ServoReference
from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

DT = 0.01
DOWN = Rotation.from_rpy(np.pi, 0.0, 0.0)


@pytest.fixture(scope="module")
def fr3() -> Robot:
    return load_robot(ROBOTS / "fr3")


def made(robot: Robot) -> ReactiveController:
    return ReactiveController(robot, robot.arm(""), Pose.identity())


def run(
    controller: ReactiveController, q: Array, command: Callable[[float], MotionCommand], seconds: float
) -> list[ServoReference]:
    """Run an arm that is where it was commanded to be one cycle ago."""
    references = []
    for k in range(round(seconds / DT)):
        references.append(controller.step(command(k * DT), q, DT))
        q = references[-1].q
    return references


def ball(position: tuple[float, float, float], radius_m: float) -> World:
    item = WorldObject("ball", (Shape(ShapeKind.SPHERE, np.array([radius_m]), Pose.identity()),), True)
    still = frozen(np.zeros(3))
    return World(
        0.0, objects={"ball": item}, states={"ball": ObjectState(Pose.of(position), still, still, 0.0)}
    )


def test_a_pose_is_reached_within_all_joint_limits(fr3: Robot) -> None:
    controller, arm = made(fr3), fr3.arm("")
    goal = Pose.of((0.45, -0.3, 0.3), DOWN)
    references = run(controller, arm.home_q, lambda _: MotionCommand(goal), 3.0)
    reached = controller.tool_pose(references[-1].q)
    assert np.linalg.norm(reached.translation_m - goal.translation_m) < 5e-4
    assert reached.rotation.angle_to(goal.rotation) < 5e-3
    joints = [fr3.joints[name] for name in arm.joint_names]
    rates = np.array([np.zeros(7), *(r.rate for r in references)])
    q = np.array([r.q for r in references])
    settings = controller.settings
    velocity = np.array([settings.joint_speed * j.velocity for j in joints])
    acceleration = np.array([settings.joint_acceleration * j.acceleration for j in joints])
    assert (np.abs(rates) <= velocity + 1e-9).all()
    assert (np.abs(np.diff(rates, axis=0)) <= acceleration * DT + 1e-9).all()
    assert (q >= [j.lower for j in joints]).all() and (q <= [j.upper for j in joints]).all()
    assert np.abs(q - arm.home_q).max() > 0.2


def test_what_is_out_of_reach_is_approached_as_far_as_the_limits_let_and_rested_at(fr3: Robot) -> None:
    controller, arm = made(fr3), fr3.arm("")
    low = np.array([fr3.joints[name].lower for name in arm.joint_names])
    beyond = controller.tool_pose(np.where(np.arange(7) == 3, low - 0.4, arm.home_q))
    references = run(controller, arm.home_q, lambda _: MotionCommand(beyond), 8.0)
    assert not references[-1].is_reachable
    assert min(r.q[3] for r in references) >= low[3]
    # It may tremble by this where its spheres and the limits meet.
    last = np.array([r.q for r in references[-100:]])
    assert np.ptp(last, axis=0).max() < 0.03


def test_a_moving_target_is_followed(fr3: Robot) -> None:
    controller, arm = made(fr3), fr3.arm("")
    speed = np.array([0.0, 0.15, 0.0])

    def place(t: float) -> Pose:
        return Pose.of(np.array([0.5, -0.3, 0.3]) + speed * t, DOWN)

    rate = frozen([*speed, 0.0, 0.0, 0.0])
    references = run(controller, arm.home_q, lambda t: MotionCommand(place(t), world_v_target=rate), 4.0)
    errors = [
        np.linalg.norm(controller.tool_pose(r.q).translation_m - place((k + 1) * DT).translation_m)
        for k, r in enumerate(references)
    ]
    assert max(errors[250:]) < 2e-3


def test_an_obstacle_is_kept_clear_of_unless_it_is_off(fr3: Robot) -> None:
    goal = Pose.of((0.5, 0.3, 0.35), DOWN)

    def closest(*off: str) -> float:
        controller, arm = made(fr3), fr3.arm("")
        controller.set_world(ball((0.5, 0.0, 0.3), 0.12))
        controller.set_off(off)
        start = run(controller, arm.home_q, lambda _: MotionCommand(Pose.of((0.5, -0.3, 0.35), DOWN)), 3.0)[
            -1
        ].q
        references = run(controller, start, lambda _: MotionCommand(goal, speed=0.5), 4.0)
        controller.set_off(())
        tips = [controller.tool_pose(r.q).translation_m for r in references]
        return min(float(np.linalg.norm(p - [0.5, 0.0, 0.3])) for p in tips) - 0.12

    assert closest() > 0.0
    assert closest("ball") < 0.0


def test_who_is_pushed_out_of_the_funnel_comes_again(fr3: Robot) -> None:
    controller, arm = made(fr3), fr3.arm("")
    goal = Pose.of((0.5, 0.1, 0.3), DOWN)
    command = MotionCommand(goal, Approach.along((0.0, 0.0, -0.15), 0.005))
    references = run(controller, arm.home_q, lambda _: command, 4.0)
    heights = np.array([controller.tool_pose(r.q).translation_m for r in references])
    beside = np.linalg.norm(heights[:, :2] - [0.5, 0.1], axis=1) > 0.02
    assert heights[beside, 2].min() > 0.3 + 0.03
    pushed = references[-1].q + np.array([0.06, 0, 0, 0, 0, 0, 0])
    again = [controller.tool_pose(r.q).translation_m for r in run(controller, pushed, lambda _: command, 3.0)]
    assert max(p[2] for p in again) > 0.34
    assert np.linalg.norm(again[-1] - goal.translation_m) < 1e-3


def test_the_command_stays_near_what_is_measured(fr3: Robot) -> None:
    controller, arm = made(fr3), fr3.arm("")
    command = MotionCommand(Pose.of((0.5, 0.4, 0.3), DOWN))
    for _ in range(100):
        reference = controller.step(command, arm.home_q, DT)  # an arm that is blocked
    assert np.abs(reference.q - arm.home_q).max() < controller.settings.leash + 0.03


def test_stopping_brakes_at_the_limit(fr3: Robot) -> None:
    controller, arm = made(fr3), fr3.arm("")
    q = run(controller, arm.home_q, lambda _: MotionCommand(Pose.of((0.5, 0.4, 0.3), DOWN)), 0.5)[-1].q
    rates = []
    for _ in range(100):
        reference = controller.stop(q, DT)
        q = reference.q
        rates.append(np.abs(reference.rate).max())
    assert rates[0] > 0.0 and rates[-1] == 0.0
    assert (np.diff(rates) <= 0.0).all()


def test_a_measured_joint_that_is_no_number_is_refused(fr3: Robot) -> None:
    with pytest.raises(ValueError, match="7 finite numbers"):
        made(fr3).step(MotionCommand(Pose.of((0.5, 0.0, 0.3))), np.full(7, np.nan), DT)


def test_the_bounded_step_keeps_all_bounds_and_is_seldom_worse_than_its_neighbours() -> None:
    rng, better = np.random.default_rng(5), 0
    for _ in range(50):
        a = rng.normal(size=(6, 6))
        h, g = a @ a.T + 0.05 * np.eye(6), rng.normal(size=6) * 3.0
        low, high = -rng.uniform(0.1, 1.0, 6), rng.uniform(0.1, 1.0, 6)
        rows, bounds = rng.normal(size=(3, 6)), rng.uniform(0.0, 0.3, 3)
        x = np.empty(6)
        solve_bounded(h.copy(), g, low, high, rows, bounds, 3, x)
        assert (x >= low).all() and (x <= high).all() and (rows @ x <= bounds + 1e-9).all()
        best = 0.5 * x @ h @ x - g @ x
        for _ in range(200):
            y = np.clip(x + rng.normal(size=6) * 0.05, low, high)
            better += (rows @ y <= bounds).all() and 0.5 * y @ h @ y - g @ y < best - 2e-2
    assert better < 100
