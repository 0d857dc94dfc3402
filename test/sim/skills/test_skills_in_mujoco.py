"""Pick and place with the CPU engine and physics: friction holds the object, and a dropped one falls. No ROS."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from handiwork_core.control.gripper_controller import GripperGoal
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import Robot
from skill_server.execution.run import run_skill
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from skill_server.state import gripper_state
from support.cells.simulated_cell import SimulatedCell

CASES = [("tabletop", "cube", seed) for seed in range(4)] + [
    ("assorted", name, 0) for name in ("can", "ball", "peg", "hammer")
]


@pytest.mark.parametrize(("scene", "name", "seed"), [*CASES, ("blocked", "cube", 0)])
def test_pick_and_place(robot: Robot, engine: Any, scene: str, name: str, seed: int) -> None:
    cell = SimulatedCell(robot, engine, scene, seed)
    context = cell.context(seed)
    run = run_skill(Pick(), PickParams(object=name, seed=seed), context)
    assert run.outcome.ok, run
    run = run_skill(Place(), PlaceParams(container="bin", seed=seed), replace(context, planning_time_s=0.0))
    assert run.outcome.ok, run


def test_a_dropped_object_is_noticed_while_it_is_carried(robot: Robot, engine: Any) -> None:
    cell = SimulatedCell(robot, engine, "tabletop", 0)
    context = cell.context(0)
    assert run_skill(Pick(), PickParams(object="cube"), context).outcome.ok
    validate = cell.validate

    def lose_it(*arguments: Any, **named: Any) -> Any:
        verdict = validate(*arguments, **named)
        cell.sim.world.set_object_pose("cube", Pose.of((0.5, 0.3, 0.03)))
        return verdict

    cell.validate = lose_it  # type: ignore[method-assign]
    outcome = run_skill(
        Place(), PlaceParams(container="bin", max_velocity_scaling_factor=0.2), context
    ).outcome
    assert outcome.code is Code.OBJECT_DROPPED
    assert not context.held


def test_a_drop_ends_the_goal_within_a_fifth_of_a_second(robot: Robot, engine: Any) -> None:
    cell = SimulatedCell(robot, engine, "tabletop", 0)
    context = cell.context(0)
    assert run_skill(Pick(), PickParams(object="cube"), context).outcome.ok
    gripper = cell.spec.gripper
    assert gripper is not None
    axis, follow, noticed = cell.sim.grippers[gripper.name], cell.follow, list[float]()
    touched = [0.0]

    def slip_away(trajectory: Trajectory, *, should_stop: Any) -> Outcome:
        begun = cell.now_s()

        def watched() -> bool:
            if gripper_state.touching_fingers(cell.snapshot(), robot, gripper, "cube"):
                touched[0] = cell.now_s()
            if cell.now_s() > begun + 0.4 and axis.controller.reference < 0.03:
                axis.controller.start(GripperGoal(0.04), axis.controller.reference)
            stop = bool(should_stop())
            if stop:
                noticed.append(cell.now_s())
            return stop

        return follow(trajectory, should_stop=watched)

    cell.follow = slip_away  # type: ignore[method-assign]
    slowly = PlaceParams(container="bin", max_velocity_scaling_factor=0.3)
    outcome = run_skill(Place(), slowly, context).outcome
    assert outcome.code is Code.OBJECT_DROPPED
    assert outcome.stage == "transit"
    assert 0.0 < noticed[0] - touched[0] <= 0.2


def test_a_drop_is_repaired_by_a_new_grasp(robot: Robot, engine: Any) -> None:
    cell = SimulatedCell(robot, engine, "tabletop", 0)
    context = cell.context(0)
    assert run_skill(Pick(), PickParams(object="cube"), context).outcome.ok
    validate, lost = cell.validate, list[str]()

    def lose_it(*arguments: Any, **named: Any) -> Any:
        verdict = validate(*arguments, **named)
        if not lost:
            lost.append("cube")
            cell.sim.world.set_object_pose("cube", Pose.of((0.5, 0.2, 0.0225)))
        return verdict

    cell.validate = lose_it  # type: ignore[method-assign]
    run = run_skill(Place(), PlaceParams(container="bin", recovery="regrasp"), context)
    assert lost
    assert run.outcome.ok, run
    assert [stage.stage for stage in run.stages].count("recover") == 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("moved_after", "by_m"), [(1, 0.06), (2, 0.03)])
def test_a_bin_that_moved_is_followed_with_the_cube_in_the_hand(
    robot: Robot, engine: Any, seed: int, moved_after: int, by_m: float
) -> None:
    """The bin moves once the arm is over it, or in it; there in the direction in which no wall comes to the hand."""
    cell = SimulatedCell(robot, engine, "tabletop", seed)
    context = cell.context(seed)
    assert run_skill(Pick(), PickParams(object="cube", seed=seed), context).outcome.ok
    follow, widths, done = cell.follow, list[float](), list[int]()
    move = cell.move

    def follow_then_move_the_bin(trajectory: Trajectory, *, should_stop: Any) -> Outcome:
        outcome = follow(trajectory, should_stop=should_stop)
        done.append(1)
        if len(done) == moved_after:
            here = cell.snapshot().states["bin"].world_T_object
            beside = cell.snapshot().states["cube"].world_T_object.translation_m - here.translation_m
            cell.sim.world.set_object_pose("bin", Pose.of((0.0, math.copysign(by_m, beside[1]), 0.0)) @ here)
        return outcome

    def note(width_m: float, *, should_stop: Any, **options: Any) -> Outcome:
        widths.append(width_m)
        return move(width_m, should_stop=should_stop, **options)

    cell.follow, cell.move = follow_then_move_the_bin, note  # type: ignore[method-assign]
    params = PlaceParams(container="bin", recovery="regrasp", seed=seed)
    run = run_skill(Place(), params, replace(context, planning_time_s=0.0))
    assert run.outcome.ok, run
    assert [stage.stage for stage in run.stages].count("recover") == 1
    assert len(widths) == 1, "the hand opened once, at the release"
