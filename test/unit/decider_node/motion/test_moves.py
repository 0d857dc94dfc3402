"""Motions as states, with the controller of the UR10 and joints that follow it exactly."""

from __future__ import annotations

import numpy as np
import pytest

from decider_node.motion.command import MotionCommand
from decider_node.motion.controller import ReactiveController, Settings
from decider_node.motion.motion_states import Shift
from decider_node.network.decider import Decider, TickContext
from decider_node.network.locks import Locks
from decider_node.stacking.bin import HEIGHT_M
from decider_node.stacking.cell import STANDARD
from decider_node.stacking.seeds import CupSolver
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

UR10 = ROBOTS / "ur10_suction"
CYCLE_S = 0.01
DOWN = Rotation.from_rpy(np.pi, 0.0, 0.0)


class ArmOnly:
    """A context and its cell: an arm whose EE link is moved, without a tool."""

    def __init__(self, at: Pose) -> None:
        robot = load_robot(UR10)
        self.controller = ReactiveController(
            robot, robot.arm(""), Pose.identity(), Settings(clearance_m=0.002)
        )
        q = CupSolver(self.controller, 0.0).configuration(at, None)
        assert q is not None
        self.q: Array = q
        self.target: Pose | None = None
        self.cell = self

    @property
    def tip(self) -> Pose:
        return self.controller.tool_pose(self.q)

    def joints(self) -> Array:
        return self.q.copy()

    def go(self, command: MotionCommand) -> None:
        self.q = self.controller.step(command, self.q, CYCLE_S).q


def shifted(arm: ArmOnly, offset: tuple[float, float, float], distance_m: float) -> Array:
    """Run a shift to its end; return the positions of the tip, (n, 3)."""
    state = Shift[ArmOnly](lambda _: offset, distance_m, 0.5)
    moment = TickContext(arm, 0.0, None, Decider[ArmOnly]("lift"), Locks())
    state.enter(moment)
    path = [arm.tip.translation_m]
    for _ in range(500):
        if state.step(moment) is None:
            return np.array(path)
        path.append(arm.tip.translation_m)
    raise AssertionError(f"not at the end after 5 s, at {path[-1]}")


@pytest.mark.parametrize("heading", [0.0, 1.2, -2.0])
@pytest.mark.parametrize("x", [-0.12, 0.0, 0.12])
def test_a_bin_is_lifted_straight_out_from_between_its_neighbours(x: float, heading: float) -> None:
    turn = Rotation.from_axis_angle((0.0, 0.0, 1.0), heading)
    at = Pose.of((x, 0.6, STANDARD.belt.top_z + HEIGHT_M + 0.25), turn @ DOWN)
    path = shifted(ArmOnly(at), (0.0, 0.0, 0.3), 0.05)
    inside = path[path[:, 2] < at.translation_m[2] + HEIGHT_M]
    assert np.abs(inside[:, :2] - at.translation_m[:2]).max() < 0.008
    assert path[-1, 2] > at.translation_m[2] + 0.24


def test_a_shift_that_is_pushed_aside_comes_back_to_its_line() -> None:
    arm = ArmOnly(Pose.of((0.1, 0.6, 0.1), DOWN))
    state = Shift[ArmOnly](lambda _: (0.0, 0.0, 0.3), 0.01)
    moment = TickContext(arm, 0.0, None, Decider[ArmOnly]("lift"), Locks())
    state.enter(moment)
    start = arm.tip.translation_m
    arm.q = arm.q + 0.02
    arm.controller.begin(arm.q)
    assert np.linalg.norm(arm.tip.translation_m[:2] - start[:2]) > 0.01
    for _ in range(500):
        if state.step(moment) is None:
            break
    assert np.linalg.norm(arm.tip.translation_m - start - (0.0, 0.0, 0.3)) < 0.01


def test_a_shift_with_a_longest_time_ends_on_its_way() -> None:
    arm = ArmOnly(Pose.of((0.7, 0.2, 0.1), DOWN))
    state, locks = Shift[ArmOnly](lambda _: (0.0, 0.0, 0.3), 0.01, longest_s=0.2), Locks()
    decider = Decider[ArmOnly]("lift")
    state.enter(TickContext(arm, 5.0, None, decider, locks))
    begun = arm.tip.translation_m
    for k in range(20):
        assert state.step(TickContext(arm, 5.0 + k * CYCLE_S, None, decider, locks)) is state
    assert state.step(TickContext(arm, 5.2, None, decider, locks)) is None
    assert 0.005 < arm.tip.translation_m[2] - begun[2] < 0.25
