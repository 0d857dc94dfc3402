"""Robot and scene in MuJoCo: objects at rest stay, commands are followed, a grasped object is held by friction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.control.goal_refusal import ErrorCode, GoalRefused
from handiwork_core.control.gripper_controller import GripperGoal, GripperResult
from handiwork_core.control.trajectory_controller import Ending, TrajectoryResult
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation
from support.cells.arm_motion import grasp_pose, move, solve_ik
from support.paths import ROBOTS, ROOT

ARM, GRIPPER, HAND = "fr3_arm", "fr3_gripper", "fr3/fr3_hand"


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(ROBOTS / "fr3")


def simulate(robot: Robot, scene: str = "tabletop", seed: int | None = None) -> Simulation:
    declared = load_scene(ROOT / "config" / "scenes" / f"{scene}.yaml")
    return Simulation(robot, declared if seed is None else declared.randomized(seed))


def follow(simulation: Simulation, goal: TrajectoryGoal) -> tuple[TrajectoryResult, float]:
    """Follow to the end; return the result and the largest distance to the reference, rad."""
    controller = simulation.arms[ARM].controller
    controller.start(goal, simulation.measured(ARM))
    worst = 0.0
    while controller.busy:
        simulation.advance(1)
        worst = max(worst, float(np.abs(controller.reference.position - simulation.measured(ARM)).max()))
    assert controller.result is not None
    return controller.result, worst


def pressed(simulation: Simulation, goal: TrajectoryGoal) -> tuple[float, str]:
    """Follow to the end; return the greatest force of the robot on the cube, N, and why the goal was refused."""
    controller, worst = simulation.arms[ARM].controller, 0.0
    try:
        controller.start(goal, simulation.measured(ARM))
    except GoalRefused as refusal:
        return worst, str(refusal)
    while controller.busy:
        simulation.advance(1)
        for touch in simulation.world.contacts():
            bodies = {touch.a, touch.b}
            if "cube" in bodies and any(body.startswith("fr3/") for body in bodies):
                worst = max(worst, float(np.linalg.norm(touch.force_on_a_n)))
    return worst, ""


def grip(simulation: Simulation, position: float) -> GripperResult:
    controller = simulation.grippers[GRIPPER].controller
    controller.start(GripperGoal(position), float(simulation.world.joints().position[-2]))
    while controller.busy:
        simulation.advance(1)
    assert controller.result is not None
    return controller.result


def speeds(simulation: Simulation) -> Array:
    return np.abs(simulation.world.joints().velocity[simulation.arms[ARM].indices])


def cube_pose(simulation: Simulation) -> Pose:
    return simulation.world.object_states()["cube"].world_T_object


def grasp_and_lift(
    simulation: Simulation, robot: Robot, error: Array, yaw_error: float
) -> tuple[Array, GripperResult]:
    """Pick the cube up from above with a pose error; return the configuration above it and the gripper's result."""
    arm = robot.arm(ARM)
    cube = cube_pose(simulation)
    yaw = float(np.arctan2(cube.matrix()[1, 0], cube.matrix()[0, 0])) + yaw_error
    point = cube.translation_m + error
    above = solve_ik(robot, arm, grasp_pose(robot, arm, point + (0.0, 0.0, 0.1), yaw), arm.home_q)
    at = solve_ik(robot, arm, grasp_pose(robot, arm, point, yaw), above)
    for start, end in ((arm.home_q, above), (above, at)):
        assert follow(simulation, move(arm, start, end))[0].ending is Ending.SUCCEEDED
    result = grip(simulation, 0.0)
    assert follow(simulation, move(arm, at, above))[0].ending is Ending.SUCCEEDED
    return above, result


@pytest.mark.parametrize("scene", ["tabletop", "blocked", "assorted"])
def test_everything_stays_where_it_is_while_nothing_is_commanded(robot: Robot, scene: str) -> None:
    simulation = simulate(robot, scene, seed=1)
    joints, objects = simulation.world.joints().position, simulation.world.object_states()
    simulation.advance(2500)
    assert np.abs(simulation.world.joints().position - joints).max() < 1e-3
    for name, state in simulation.world.object_states().items():
        if name != "ball":  # round things may roll a little
            gap_m, turn_rad = state.world_T_object.distance_to(objects[name].world_T_object)
            assert gap_m < 1e-3, name
            assert turn_rad < 0.01, name


def test_an_object_presses_on_the_table_with_its_weight(robot: Robot) -> None:
    simulation = simulate(robot)
    simulation.advance(500)
    found = [c for c in simulation.world.contacts() if {c.a, c.b} == {"cube", "table"}]
    assert len(found) == 1
    up = found[0].force_on_a_n * (1.0 if found[0].a == "cube" else -1.0)
    assert up == pytest.approx([0.0, 0.0, 0.1 * 9.81], abs=0.02)
    assert found[0].point_m == pytest.approx([0.5, 0.12, 0.0], abs=2e-3)


def test_a_trajectory_is_followed_closely_and_ends_on_its_goal(robot: Robot) -> None:
    simulation, arm = simulate(robot), robot.arm(ARM)
    end = arm.home_q + np.array([0.8, 0.3, -0.5, 0.4, 0.6, 0.5, -0.9])
    result, worst = follow(simulation, move(arm, arm.home_q, end, speed=1.5))
    assert result.ending is Ending.SUCCEEDED
    assert worst < 0.01
    assert np.abs(simulation.measured(ARM) - end).max() < 1e-3


@pytest.mark.parametrize("part", [0.1, 0.3, 0.5, 0.8])
def test_a_canceled_arm_stands_still_within_half_a_second(robot: Robot, part: float) -> None:
    simulation, arm = simulate(robot), robot.arm(ARM)
    goal = move(arm, arm.home_q, arm.home_q + np.array([1.0, 0.3, -0.5, 0.4, 0.6, 0.5, -0.9]), speed=2.0)
    controller = simulation.arms[ARM].controller
    controller.start(goal, arm.home_q)
    simulation.advance(int(part * goal.t_s[-1] / CONTROL_S))
    assert speeds(simulation).max() > 0.01
    controller.stop(Ending.CANCELED, "test")
    simulation.advance(int(0.5 / CONTROL_S))
    assert controller.result is not None
    assert controller.result.ending is Ending.CANCELED
    assert speeds(simulation).max() < 0.01


def test_an_arm_that_runs_into_the_wall_says_so_and_stops(robot: Robot) -> None:
    simulation, arm = simulate(robot, "blocked"), robot.arm(ARM)
    low = solve_ik(robot, arm, grasp_pose(robot, arm, np.array([0.5, 0.12, 0.1]), 0.0), arm.home_q)
    beyond = solve_ik(robot, arm, grasp_pose(robot, arm, np.array([0.5, -0.3, 0.1]), 0.0), low)
    assert follow(simulation, move(arm, arm.home_q, low))[0].ending is Ending.SUCCEEDED
    result, _ = follow(simulation, move(arm, low, beyond))
    assert result.ending is Ending.ABORTED
    assert result.code is ErrorCode.PATH_TOLERANCE_VIOLATED
    assert "fr3_joint" in result.message
    simulation.advance(100)
    assert speeds(simulation).max() < 0.01


@pytest.mark.parametrize("what", ["path_tolerance", "goal_tolerance"])
def test_no_goal_may_lift_the_tolerance_that_bounds_how_hard_the_arm_presses(robot: Robot, what: str) -> None:
    simulation, arm = simulate(robot), robot.arm(ARM)
    top = cube_pose(simulation).translation_m
    above = solve_ik(robot, arm, grasp_pose(robot, arm, top + (0.0, 0.0, 0.12), 0.0), arm.home_q)
    into = solve_ik(robot, arm, grasp_pose(robot, arm, top - (0.0, 0.0, 0.03), 0.0), above)
    assert follow(simulation, move(arm, arm.home_q, above))[0].ending is Ending.SUCCEEDED
    grip(simulation, 0.0)
    goal = move(arm, simulation.measured(ARM), into, speed=0.1)
    lifted = replace(goal, **{what: dict.fromkeys(arm.joint_names, -1.0)})
    force_n, refusal = pressed(simulation, lifted)
    assert force_n == 0.0, f"the cube was pressed with {force_n:.0f} N"
    assert f"fr3_joint1 has {what} -1, which would lift the check" in refusal


@pytest.mark.parametrize("seed", range(4))
def test_friction_alone_holds_the_cube_in_lift_and_swing(robot: Robot, seed: int) -> None:
    simulation, arm = simulate(robot, seed=seed), robot.arm(ARM)
    rng = np.random.default_rng(seed)
    start = cube_pose(simulation)
    above, gripped = grasp_and_lift(
        simulation, robot, rng.uniform(-0.008, 0.008, 3), float(rng.uniform(-0.15, 0.15))
    )
    assert gripped.stalled
    assert not gripped.reached
    assert cube_pose(simulation).translation_m[2] - start.translation_m[2] == pytest.approx(0.1, abs=0.01)
    held = simulation.world.body_pose(HAND).inverse() @ cube_pose(simulation)
    swing = above + np.array([-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    for a, b in ((above, swing), (swing, above)):
        assert follow(simulation, move(arm, a, b, speed=2.0))[0].ending is Ending.SUCCEEDED
    swung = simulation.world.body_pose(HAND).inverse() @ cube_pose(simulation)
    assert held.distance_to(swung)[0] < 0.004
    simulation.advance(1000)
    waited = simulation.world.body_pose(HAND).inverse() @ cube_pose(simulation)
    assert swung.distance_to(waited)[0] < 2e-4
    fingers = {f"fr3/{link}" for link in arm.gripper.finger_links} if arm.gripper else set()
    assert {
        c.a if c.b == "cube" else c.b for c in simulation.world.contacts() if "cube" in (c.a, c.b)
    } == fingers


def test_opening_drops_the_cube_so_nothing_glues_it(robot: Robot) -> None:
    simulation = simulate(robot)
    grasp_and_lift(simulation, robot, np.zeros(3), 0.0)
    lifted = cube_pose(simulation).translation_m[2]
    assert grip(simulation, 0.04).reached
    simulation.advance(500)
    assert lifted > 0.1
    assert cube_pose(simulation).translation_m[2] < 0.03


def test_closing_on_nothing_reaches_the_end(robot: Robot) -> None:
    result = grip(simulate(robot), 0.0)
    assert result.reached
    assert not result.stalled


def test_a_reset_aborts_and_goes_home_while_the_clock_goes_on(robot: Robot) -> None:
    simulation, arm = simulate(robot), robot.arm(ARM)
    controller = simulation.arms[ARM].controller
    controller.start(move(arm, arm.home_q, arm.home_q + 0.3), arm.home_q)
    simulation.advance(200)
    before = simulation.world.time_s
    simulation.reset(simulation.declared.randomized(5))
    assert controller.result is not None
    assert controller.result.ending is Ending.ABORTED
    assert simulation.world.time_s == before
    assert simulation.measured(ARM) == pytest.approx(arm.home_q)
    simulation.advance(500)
    assert simulation.world.time_s > before
    assert simulation.measured(ARM) == pytest.approx(arm.home_q, abs=1e-3)


@pytest.mark.parametrize("name", ["cube", "bin"])
def test_objects_can_be_put_elsewhere(robot: Robot, name: str) -> None:
    simulation = simulate(robot)
    target = Pose.of((0.7, -0.1, 0.0225 if name == "cube" else 0.0))
    simulation.world.set_object_pose(name, target)
    simulation.advance(100)
    pose = simulation.world.object_states()[name].world_T_object
    assert pose.almost_equal(target, within_m=1e-3, within_rad=1e-2)
    with pytest.raises(KeyError, match="'cup' is not one of"):
        simulation.world.set_object_pose("cup", target)
