"""Moves that end by contact, in physics: where they end, and with what force."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.control.contact_guard import not_measured
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.thresholds import JOINT_REST
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import Robot
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.execution.run import run_skill
from skill_server.skills.contact.move_until_contact import MoveUntilContact, MoveUntilContactParams
from skill_server.skills.motion.goto_pose import GotoPose, GotoPoseParams
from skill_server.skills.pick_place.pick import Pick, PickParams
from support.cells.simulated_cell import SimulatedCell

PATIENCE_S = 120.0
OVERSHOOT = 1.2
"""The greatest force may exceed its bound by this factor."""
TOP_M = 0.06
HAND_M = 0.1129
"""Length of the hand from the origin of its frame to the ends of the fingers, m."""
TOUCH = MoveUntilContactParams(object="block", distance=0.05, allowed_planning_time=PATIENCE_S)


class GreatestForce:
    """The greatest force on the tool that MuJoCo computed in any control period, N."""

    newton = 0.0


@contextmanager
def greatest_force(cell: SimulatedCell) -> Iterator[GreatestForce]:
    """Measure every control period, not only those that a skill looks at."""
    found, advance = GreatestForce(), cell.sim.advance

    def measured(steps: int) -> None:
        for _ in range(steps):
            advance(1)
            found.newton = max(found.newton, float(np.linalg.norm(cell.sim.force(cell.spec.name))))

    cell.sim.advance = measured  # type: ignore[method-assign]
    yield found
    cell.sim.advance = advance  # type: ignore[method-assign]


def over_the_block(robot: Robot, engine: CpuEngine) -> SimulatedCell:
    """Return a cell whose closed hand points down, 10 mm over the block."""
    cell = SimulatedCell(robot, engine, "contact", 0)
    cell.move(0.0, should_stop=lambda: False)
    goal = GotoPoseParams(position=(0.48, 0.0, TOP_M + 0.01 + HAND_M), allowed_planning_time=PATIENCE_S)
    done = run_skill(GotoPose(), goal, cell.context(0)).outcome
    assert done.ok, done
    return cell


@pytest.mark.parametrize("force_n", [5.0, 10.0, 30.0])
def test_the_hand_stops_at_the_block_and_the_force_holds_its_bound(
    robot: Robot, engine: CpuEngine, force_n: float
) -> None:
    cell = over_the_block(robot, engine)
    with greatest_force(cell) as greatest:
        done = run_skill(MoveUntilContact(), replace(TOUCH, force_n=force_n), cell.context(0)).outcome
        cell.sim.advance(250)
    assert done.ok, done
    assert "contact after" in done.message
    hand = cell.sim.world.body_pose("fr3/fr3_hand").translation_m
    assert hand[2] == pytest.approx(TOP_M + HAND_M, abs=0.001)
    assert force_n <= greatest.newton <= OVERSHOOT * force_n


def test_without_a_contact_the_whole_distance_is_gone_and_the_result_says_so(
    robot: Robot, engine: CpuEngine
) -> None:
    cell = over_the_block(robot, engine)
    up = replace(TOUCH, direction=(0.0, 0.0, 1.0), distance=0.02, object="", force_n=30.0)
    done = run_skill(MoveUntilContact(), up, cell.context(0)).outcome
    assert done.code is Code.NOT_REACHED
    assert "no contact with 30 N after 20.0 mm" in done.message


def test_a_cancel_on_the_way_leaves_the_arm_at_rest(robot: Robot, engine: CpuEngine) -> None:
    cell = over_the_block(robot, engine)
    context, began_s, follow = cell.context(0), cell.now_s(), cell.follow

    def canceled(trajectory: Trajectory, *, should_stop: Callable[[], bool]) -> Outcome:
        def stop() -> bool:
            if cell.now_s() > began_s + 1.0:
                context.token.set(Code.CANCELED)
            return should_stop()

        return follow(trajectory, should_stop=stop)

    cell.follow = canceled  # type: ignore[method-assign]
    assert run_skill(MoveUntilContact(), TOUCH, context).outcome.code is Code.CANCELED
    assert max(map(abs, cell.snapshot().joints.velocity.values())) < JOINT_REST


def test_a_robot_that_measures_no_force_refuses_in_words_and_does_not_move(
    robot: Robot, engine: CpuEngine
) -> None:
    cell = over_the_block(robot, engine)
    cell.sim.arms[cell.spec.name].controller.measure_force = not_measured
    before = cell.sim.measured(cell.spec.name)
    done = run_skill(MoveUntilContact(), TOUCH, cell.context(0)).outcome
    assert done.code is Code.CONTROLLER_REFUSED
    assert "no force is measured there: this needs a force-torque sensor" in done.message
    assert cell.sim.measured(cell.spec.name) == pytest.approx(before, abs=1e-4)


@pytest.mark.parametrize("force_n", [10.0, 30.0])
def test_the_fingers_press_with_the_force_of_the_goal(
    robot: Robot, engine: CpuEngine, force_n: float
) -> None:
    cell = SimulatedCell(robot, engine, "tabletop", 0)
    pick = PickParams(object="cube", grip_force=force_n, allowed_planning_time=PATIENCE_S)
    assert run_skill(Pick(), pick, cell.context(0)).outcome.ok
    pressed = [
        float(np.linalg.norm(one.force_on_a_n))
        for one in cell.sim.world.contacts()
        if "cube" in (one.a, one.b) and "finger" in one.a + one.b
    ]
    assert len(pressed) == 2
    assert max(pressed) == pytest.approx(force_n, rel=0.15)


def test_the_wrench_on_a_hand_that_holds_a_cube_is_its_weight(robot: Robot, engine: CpuEngine) -> None:
    cell = SimulatedCell(robot, engine, "tabletop", 0)
    assert run_skill(
        Pick(), PickParams(object="cube", allowed_planning_time=PATIENCE_S), cell.context(0)
    ).outcome.ok
    cell.sim.advance(250)
    force, torque = cell.sim.world.force_sensors[cell.spec.name].wrench()
    hand, cube = cell.sim.world.body_pose("fr3/fr3_hand"), cell.snapshot().states["cube"].world_T_object
    weight = np.array((0.0, 0.0, -9.81 * 0.1))
    assert hand.rotation.matrix() @ force == pytest.approx(weight, abs=0.1)
    arm = cube.translation_m - hand.translation_m
    assert hand.rotation.matrix() @ torque == pytest.approx(np.cross(arm, weight), abs=0.02)
