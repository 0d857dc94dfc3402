"""The order in which a request meets the two sets of spheres, and the growth of room, with solvers that need no GPU."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import JointGoals, PlanRequest
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.search.requests import Deadline
from planner_node.engines.curobo.gpu_core import GpuCore
from planner_node.engines.curobo.model.buffers import BufferSizes
from planner_node.engines.curobo.solvers.spline import resampled
from planner_node.engines.curobo.sphere_set import SphereSet
from support.planning.demo_world import box, demo_items, world_of

KNOTS = 24


class DetourSolvers:
    """Straight paths; with the coarse spheres all of them go beyond a joint limit, so that the checks refuse them."""

    def __init__(self, room: BufferSizes, *, is_good: bool) -> None:
        self.room, self.knots, self.calls, self._is_good = room, KNOTS, 0, is_good

    def begin(self) -> None:
        pass

    def close(self) -> None:
        pass

    def update(self, spheres: Any, rows: Any) -> None:
        assert self.room.holds(rows)

    def update_world(self, rows: Any) -> None:
        assert self.room.holds(rows)

    def set_path_weights(self, weights: tuple[float, ...]) -> None:
        assert len(weights) == 6

    def optimise(
        self, start: Array, ends: Array, _pose: Array, _seeds: object, finetunes: int
    ) -> list[Array]:
        self.calls += 1
        assert finetunes == 0, "one pass by default"
        way = resampled(np.array([start, ends[0]]), KNOTS)
        if not self._is_good:
            way[KNOTS // 2] += 10.0
        return [way]


@pytest.fixture
def core(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> GpuCore:
    def opened(self: GpuCore, arm: ArmSpec, chosen: SphereSet, room: BufferSizes, _report: Any) -> None:
        self._solvers[arm.name, chosen.is_fine] = DetourSolvers(room, is_good=chosen.is_fine)  # type: ignore[assignment]

    monkeypatch.setattr(GpuCore, "_open", opened)
    return GpuCore(robot, Pose.identity(), None, lambda _share, _text: None, waits_for_builds=True)  # type: ignore[arg-type]


def asked(robot: Robot) -> PlanRequest:
    home = np.array(robot.arm("").home_q)
    return PlanRequest("", home, JointGoals(home[None] + 0.1))


def test_a_motion_that_the_checks_refuse_is_planned_again_with_the_fine_spheres(
    core: GpuCore, robot: Robot
) -> None:
    core.scene.update(world_of(*demo_items()))
    core.prepare_world()
    trajectory, goal = core.plan(asked(robot), Deadline.start(lambda: False, 10.0))
    assert goal == 0
    np.testing.assert_allclose(trajectory.q[-1], asked(robot).start_q + 0.1, atol=1e-9)
    arm = next(iter(robot.arms))
    calls = {is_fine: core._solvers[arm, is_fine].calls for is_fine in (False, True)}  # type: ignore[attr-defined]
    assert calls == {False: 1, True: 1}, "one refusal ends the attempts with the coarse spheres"
    assert core.planned_again == 1 and core.handed_over == 0


def test_without_coarse_spheres_the_fine_ones_are_used_at_once(core: GpuCore, robot: Robot) -> None:
    bare = replace(robot, coarse_spheres=())
    plain = GpuCore(bare, Pose.identity(), None, lambda _share, _text: None)  # type: ignore[arg-type]
    plain.plan(asked(robot), Deadline.start(lambda: False, 10.0))
    assert list(plain._solvers) == [(next(iter(robot.arms)), True)]
    assert plain.planned_again == 0 and len(set(plain.sphere_counts)) == 1
    assert core.sphere_counts[0] < core.sphere_counts[1]


def test_the_solvers_of_plans_can_be_left_to_the_first_plan(core: GpuCore, robot: Robot) -> None:
    bare = replace(robot, coarse_spheres=())
    nobody = lambda _share, _text: None  # noqa: E731
    late = GpuCore(bare, Pose.identity(), None, nobody, waits_for_builds=True, builds_now=False)  # type: ignore[arg-type]
    late.scene.update(world_of(*demo_items()))
    late.prepare_world()
    assert not late._solvers and not late.is_building, "kinematics and checks need none"
    late.plan(asked(robot), Deadline.start(lambda: False, 10.0))
    assert list(late._solvers) == [(next(iter(robot.arms)), True)] and late.handed_over == 0
    assert core._solvers


def test_a_world_that_outgrows_the_room_gets_exactly_what_it_needs(core: GpuCore, robot: Robot) -> None:
    arm = next(iter(robot.arms))
    assert core._solvers[arm, False].room == BufferSizes()
    crowd = [(f"b{i}", (box((0.02, 0.02, 0.02)),), Pose.of((-0.6, 0.0, 0.05 * i))) for i in range(20)]
    core.scene.update(world_of(*crowd))
    core.prepare_world()
    assert core._solvers[arm, False].room == BufferSizes(21, 1) and not core.is_building
