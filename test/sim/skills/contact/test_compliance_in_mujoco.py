"""Insertion, pressing and wiping in physics: what is reached, with what force, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.thresholds import JOINT_REST
from handiwork_core.robot.robot import Robot
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.execution.run import run_skill
from skill_server.skills.contact.insert import Insert, InsertParams
from skill_server.skills.contact.press import Press, PressParams
from skill_server.skills.contact.wipe import Wipe, WipeParams
from skill_server.skills.motion.goto_pose import GotoPose, GotoPoseParams
from skill_server.skills.pick_place.pick import Pick, PickParams
from support.cells.simulated_cell import SimulatedCell

PATIENCE_S = 120.0
OVERSHOOT = 1.2
GRASP = Pose.of((0.45, 0.15, 0.165), Rotation.from_rpy(np.pi, 0.0, 0.0))
INTO = InsertParams(container="socket", depth=0.01, allowed_planning_time=PATIENCE_S)
ON = PressParams(object="block", duration=0.5, allowed_planning_time=PATIENCE_S)


class ForceCell(SimulatedCell):
    """A cell that keeps the greatest force on the tool of all control periods, N, from ``watch`` on."""

    greatest_n = 0.0

    def watch(self) -> None:
        advance, weight = self.sim.advance, self.sim.force(self.spec.name)

        def measured(steps: int) -> None:
            for _ in range(steps):
                advance(1)
                change = self.sim.force(self.spec.name) - weight
                self.greatest_n = max(self.greatest_n, float(np.linalg.norm(change)))

        self.sim.advance = measured  # type: ignore[method-assign]


def with_peg(robot: Robot, engine: CpuEngine) -> tuple[ForceCell, Context]:
    """Return a cell whose hand holds the peg, and the context of the next run."""
    cell = ForceCell(robot, engine, "insertion", 0)
    context = cell.context(0)
    grasp = PickParams(object="peg", grasp_poses=(GRASP,), grip_force=30.0, allowed_planning_time=PATIENCE_S)
    picked = run_skill(Pick(), grasp, context).outcome
    assert picked.ok, picked
    again = cell.context(0)
    again.held.update(context.held)
    return cell, again


def over_the_block(robot: Robot, engine: CpuEngine) -> ForceCell:
    """Return a cell whose closed hand points down, 5 mm over the block."""
    cell = ForceCell(robot, engine, "contact", 0)
    cell.move(0.0, should_stop=lambda: False)
    goal = GotoPoseParams(position=(0.48, 0.0, 0.1779), allowed_planning_time=PATIENCE_S)
    done = run_skill(GotoPose(), goal, cell.context(0)).outcome
    assert done.ok, done
    return cell


def is_at_rest(cell: SimulatedCell) -> bool:
    cell.sim.advance(100)
    speeds = cell.snapshot().joints.velocity.values()
    return not cell.sim.arms[cell.spec.name].controller.busy and max(map(abs, speeds)) < JOINT_REST


def test_a_peg_finds_a_hole_that_is_not_where_it_was_said_and_keeps_the_force(
    robot: Robot, engine: CpuEngine
) -> None:
    cell, context = with_peg(robot, engine)
    cell.watch()
    done = run_skill(Insert(), replace(INTO, position=(0.0015, 0.0, 0.0)), context).outcome
    assert done.ok, done
    tip = cell.sim.world.body_pose("peg").translation_m - (0.5, -0.15, 0.05 + 0.04)
    assert tip[2] == pytest.approx(-0.01, abs=0.001)
    assert np.abs(tip[:2]).max() < 0.0015
    assert cell.greatest_n < OVERSHOOT * INTO.force_n
    assert is_at_rest(cell)


def test_where_no_hole_is_the_search_ends_in_words_and_the_arm_rests(robot: Robot, engine: CpuEngine) -> None:
    cell, context = with_peg(robot, engine)
    cell.watch()
    wrong = replace(INTO, position=(0.03, 0.0, 0.0), search_radius=0.001)
    done = run_skill(Insert(), wrong, context).outcome
    assert done.code is Code.NOT_REACHED, done
    assert "no hole was found within 1 mm of where it was expected" in done.message
    assert cell.greatest_n < OVERSHOOT * INTO.force_n
    assert is_at_rest(cell)


def test_an_arm_that_cannot_yield_refuses_and_does_not_move(robot: Robot, engine: CpuEngine) -> None:
    cell = over_the_block(robot, engine)
    before = cell.sim.measured(cell.spec.name)
    context = cell.context(0)
    context.compliance = None
    done = run_skill(Press(), ON, context).outcome
    assert done.code is Code.CONTROLLER_REFUSED
    assert "commanded by position alone cannot press with a force" in done.message
    assert cell.sim.measured(cell.spec.name) == pytest.approx(before, abs=1e-4)


def test_the_hand_presses_within_the_band_and_lifts_off(robot: Robot, engine: CpuEngine) -> None:
    cell = over_the_block(robot, engine)
    cell.watch()
    done = run_skill(Press(), ON, cell.context(0)).outcome
    assert done.ok, done
    assert "within 6 to 10 N" in done.message
    assert ON.force_n - ON.band_n < cell.greatest_n < ON.force_n + 2.0 * ON.band_n
    assert is_at_rest(cell)
    assert not any("block" in (one.a, one.b) and "fr3" in one.a + one.b for one in cell.sim.world.contacts())


def test_a_press_into_the_air_says_that_nothing_was_touched(robot: Robot, engine: CpuEngine) -> None:
    cell = over_the_block(robot, engine)
    away = replace(ON, direction=(0.0, 0.0, 1.0), distance=0.005)
    done = run_skill(Press(), away, cell.context(0)).outcome
    assert done.code is Code.NOT_REACHED
    assert "nothing was touched within 5 mm" in done.message
    assert is_at_rest(cell)


def test_a_cancel_while_it_presses_leaves_the_arm_at_rest(robot: Robot, engine: CpuEngine) -> None:
    cell = over_the_block(robot, engine)
    context, wrench, begun_s = cell.context(0), cell.wrench, cell.now_s()

    def canceled() -> Array | None:
        if cell.now_s() > begun_s + 4.0:
            context.token.set(Code.CANCELED)
        return wrench()

    cell.wrench = canceled  # type: ignore[method-assign]
    done = run_skill(Press(), replace(ON, duration=60.0), context).outcome
    assert done.code is Code.CANCELED
    assert is_at_rest(cell)


def test_a_wiping_hand_keeps_the_force_along_the_path(robot: Robot, engine: CpuEngine) -> None:
    cell = over_the_block(robot, engine)
    path = ((-0.03, 0.0, 0.03), (0.03, 0.0, 0.03), (0.03, 0.03, 0.03))
    goal = WipeParams(object="block", points=path, allowed_planning_time=PATIENCE_S)
    cell.watch()
    done = run_skill(Wipe(), goal, cell.context(0)).outcome
    assert done.ok, done
    assert "N on average" in done.message
    hand = cell.sim.world.body_pose("fr3/fr3_hand").translation_m
    assert hand[:2] == pytest.approx((0.48 + 0.03, 0.03), abs=0.002)
    assert is_at_rest(cell)
