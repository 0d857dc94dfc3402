"""The executor: stages, retries, missed waypoints, dropped and moved objects, refused trajectories."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import JointGoals, StraightGoal, Verdict
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import BodyPair, Code, Outcome
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import Cell, Fakes, blocked, fakes
from skill_server.execution.run import run_skill
from skill_server.params.retry_policy import DEFAULT_ATTEMPTS
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams

CUBE = 0.045
PICK = PickParams(object="cube")


def made(seed: int = 0) -> Fakes:
    def box(name: str, x: float, y: float, z: float, static: bool) -> WorldObject:
        return WorldObject(name, (Shape(ShapeKind.BOX, np.array([x, y, z]), Pose.identity()),), static)

    objects = {
        "cube": box("cube", CUBE, CUBE, CUBE, False),
        "tray": box("tray", 0.3, 0.3, 0.02, True),
        "table": box("table", 2.0, 2.0, 0.05, True),
    }
    poses = {"cube": (0.4, 0.1, CUBE / 2), "tray": (0.4, -0.3, 0.01), "table": (0.0, 0.0, -0.025)}
    return fakes(Cell(objects, {name: Pose.of(p) for name, p in poses.items()}, {"cube": CUBE}), seed)


def pick(fakes: Fakes, params: PickParams = PICK) -> Any:
    return run_skill(Pick(), params, fakes.context)


def move_cube(fakes: Fakes, by: float) -> None:
    pose = fakes.cell.poses["cube"]
    fakes.cell.poses["cube"] = Pose.of(pose.translation_m + np.array([by, 0.0, 0.0]), pose.rotation)


def test_pick_then_place_reports_every_stage() -> None:
    f = made()
    reported: list[str] = []
    f.context.report = lambda progress: reported.append(progress.stage)
    run = pick(f)
    assert run.outcome.ok, run.outcome
    assert [s.stage for s in run.stages] == ["select", "open", "approach", "descend", "grasp", "lift"]
    assert list(dict.fromkeys(reported)) == [s.stage for s in run.stages]
    assert all(s.code is Code.OK for s in run.stages)
    assert run.planning_time_s > 0.0
    assert run.duration_s == pytest.approx(sum(s.duration_s for s in run.stages))
    assert set(f.context.held) == {"cube"}
    f.context.planning_time_s = 0.0
    run = run_skill(Place(), PlaceParams(container="tray"), f.context)
    assert run.outcome.ok, run.outcome
    assert [s.stage for s in run.stages] == ["select", "transit", "descend", "release", "retreat"]
    assert not f.context.held
    # Released with its underside place_z_offset over the tray's top.
    assert f.context.release_height_m == pytest.approx(0.02 + 0.01 + CUBE / 2, abs=1e-3)


def test_progress_never_falls_and_ends_at_one() -> None:
    f = made()
    fractions: list[float] = []
    f.context.report = lambda progress: fractions.append(progress.fraction)
    assert pick(f).outcome.ok
    assert fractions == sorted(fractions)
    assert fractions[0] == 0.0
    assert fractions[-1] == 1.0


def test_free_moves_go_to_the_chosen_joints_and_only_the_target_may_be_touched() -> None:
    f = made()
    pick(f)
    approach, descend, lift = f.planner.plans
    assert isinstance(approach.goal, JointGoals)
    assert isinstance(descend.goal, StraightGoal)
    assert not approach.scene.allowed
    assert descend.scene.allowed == {
        BodyPair(f"gantry/{link}", "cube") for link in ("left_finger", "right_finger", "hand")
    }
    assert [a.object for a in lift.scene.attached] == ["cube"]
    assert BodyPair("cube", "table") in lift.scene.allowed
    assert dict(descend.scene.gripper_m)["left_finger_joint"] == pytest.approx(0.04)


def test_a_missed_waypoint_fails_with_its_error() -> None:
    f = made()
    f.arm.miss = np.array([0.012, 0, 0, 0, 0, 0])
    outcome = pick(f).outcome
    assert outcome.code is Code.NOT_REACHED
    assert outcome.stage == "approach"
    assert outcome.position_error_m == pytest.approx(0.012, abs=1e-6)
    assert outcome.angle_error_rad == pytest.approx(0.0, abs=1e-6)
    assert f.arm.stops == 1


def test_a_refused_trajectory_is_not_sent() -> None:
    f = made()
    f.planner.verdict = Verdict(Code.PATH_BLOCKED, "in the way", BodyPair("gantry/hand", "table"))
    outcome = pick(f).outcome
    assert outcome.code is Code.TRAJECTORY_REFUSED
    assert outcome.blocking == BodyPair("gantry/hand", "table")
    assert f.arm.followed == 0


def test_a_candidate_without_free_path_is_replaced_by_another() -> None:
    f = made()
    f.planner.refusals = [blocked(Code.PATH_BLOCKED, "gantry/hand", "tray")]
    assert pick(f).outcome.ok
    first, second = f.planner.plans[0].goal, f.planner.plans[1].goal
    assert isinstance(first, JointGoals)
    assert isinstance(second, JointGoals)
    assert np.abs(first.q - second.q).max() > 0.01


def test_retries_are_bounded_and_told() -> None:
    f = made()
    f.planner.refusals = [blocked(Code.PLAN_FAILED, "gantry/hand", "tray") for _ in range(10)]
    outcome = pick(f).outcome
    assert outcome.code is Code.PLAN_FAILED
    assert len(f.planner.plans) == DEFAULT_ATTEMPTS
    assert f"{DEFAULT_ATTEMPTS} candidates" in outcome.message
    assert f.arm.followed == 0


@pytest.mark.parametrize("code", [Code.PLANNER_LOST, Code.START_IN_COLLISION])
def test_other_refusals_are_final(code: Code) -> None:
    f = made()
    f.planner.refusals = [blocked(code, "gantry/hand", "tray")]
    assert pick(f).outcome.code is code
    assert len(f.planner.plans) == 1


def test_an_object_that_moved_is_not_grasped() -> None:
    f = made()
    f.arm.on_tick = lambda t: move_cube(f, 0.02) if t == 0.5 else None
    outcome = pick(f, replace(PICK, follow_speed=0.0)).outcome
    assert outcome.code is Code.OBJECT_MOVED
    assert outcome.stage == "descend"
    assert outcome.field_name == "object"
    assert outcome.position_error_m == pytest.approx(0.02)


def test_nothing_grasped_when_the_fingers_close_on_air() -> None:
    f = made()
    f.cell.width_of = {}
    outcome = pick(f).outcome
    assert outcome.code is Code.NOTHING_GRASPED
    assert outcome.stage == "grasp"
    assert "0.0 mm" in outcome.message


def test_without_contacts_the_width_is_the_evidence() -> None:
    f = made()
    f.cell.has_contacts = False
    assert pick(f).outcome.ok
    f = made()
    f.cell.has_contacts, f.cell.width_of = False, {}
    assert pick(f).outcome.code is Code.NOTHING_GRASPED


def test_an_object_that_falls_while_carried_ends_the_goal() -> None:
    f = made()
    assert pick(f).outcome.ok
    f.arm.on_tick = lambda t: f.cell.drop() if t > 0.3 else None
    outcome = run_skill(Place(), PlaceParams(container="tray"), f.context).outcome
    assert outcome.code is Code.OBJECT_DROPPED
    assert outcome.stage == "transit"
    assert not f.context.held
    assert f.arm.stops == 1


def test_a_stop_in_mid_motion_keeps_what_is_held() -> None:
    f = made()
    assert pick(f).outcome.ok
    f.arm.on_tick = lambda t: f.context.token.set(Code.PREEMPTED) if t > 0.3 else None
    run = run_skill(Place(), PlaceParams(container="tray"), f.context)
    assert run.outcome.code is Code.PREEMPTED
    assert run.outcome.stage == "transit"
    assert run.stages[-1].code is Code.PREEMPTED
    assert set(f.context.held) == {"cube"}


def test_a_cancel_that_leaves_the_arm_moving_is_not_told_as_canceled() -> None:
    f = made()
    f.arm.on_tick = lambda t: f.context.token.set(Code.CANCELED) if t > 0.3 else None
    f.arm.stop = lambda: Outcome(Code.UNRESPONSIVE, "joint x still moves")  # type: ignore[method-assign]
    outcome = pick(f).outcome
    assert outcome.code is Code.UNRESPONSIVE
    assert "the arm may still move: joint x" in outcome.message


def test_controller_errors_pass_through_with_their_stage() -> None:
    f = made()
    f.arm.follow = lambda _t, *, should_stop: Outcome(Code.PATH_TOLERANCE, "too far off")  # type: ignore[method-assign]
    outcome = pick(f).outcome
    assert (outcome.code, outcome.stage) == (Code.PATH_TOLERANCE, "approach")


def test_old_world_is_refused() -> None:
    f = made()
    new = f.context.world.snapshot
    f.context.world.snapshot = lambda: replace(new(), stamp_s=5.0)  # type: ignore[method-assign]
    assert pick(f).outcome.code is Code.STALE_WORLD


def test_old_contacts_are_refused_as_an_old_world() -> None:
    f = made()
    new = f.context.world.snapshot
    f.context.world.snapshot = lambda: replace(new(), contacts_stamp_s=5.0)  # type: ignore[method-assign]
    outcome = pick(f).outcome
    assert outcome.code is Code.STALE_WORLD
    assert "contacts" in outcome.message


def test_picking_twice_and_placing_nothing_are_refused() -> None:
    f = made()
    outcome = run_skill(Place(), PlaceParams(container="tray"), f.context).outcome
    assert (outcome.code, outcome.field_name) == (Code.CONTRADICTION, "object")
    assert pick(f).outcome.ok
    f.context.held.clear()
    outcome = pick(f).outcome
    assert outcome.code is Code.CONTRADICTION
    assert "already holds 'cube'" in outcome.message


def test_what_is_held_is_found_by_contacts_after_a_restart() -> None:
    f = made()
    assert pick(f).outcome.ok
    f.context.held.clear()
    assert run_skill(Place(), PlaceParams(container="tray"), f.context).outcome.ok


def test_a_miss_of_the_container_is_not_success() -> None:
    f = made()
    assert pick(f).outcome.ok
    params = PlaceParams(container="tray", x_ratio_range=(1.5, 1.6))
    outcome = run_skill(Place(), params, f.context).outcome
    assert outcome.code is Code.NOT_IN_PLACE
    assert outcome.stage == "retreat"


def test_an_object_lost_between_two_goals_can_be_picked_again() -> None:
    f = made()
    assert pick(f).outcome.ok
    f.cell.drop(CUBE / 2)
    f.cell.width_m = 0.08
    outcome = run_skill(Place(), PlaceParams(container="tray"), f.context).outcome
    assert outcome.code is Code.CONTRADICTION
    assert "holds nothing" in outcome.message
    assert pick(f).outcome.ok


@pytest.mark.parametrize(("alarms", "code"), [(1, Code.OK), (2, Code.OK), (9, Code.STALE_WORLD)])
def test_a_false_alarm_of_the_watch_is_no_cancel(alarms: int, code: Code) -> None:
    """The arm stops, the held object is still there, and the motion is planned again from the present configuration."""
    f: Any = made()
    assert pick(f).outcome.ok
    left, follow = [alarms], f.context.arm.follow

    def alarmed(trajectory: Any, *, should_stop: Any) -> Outcome:
        if left[0] > 0:
            left[0] -= 1
            return Outcome(Code.CANCELED, "stopped during the motion")
        return follow(trajectory, should_stop=should_stop)  # type: ignore[no-any-return]

    f.context.arm.follow = alarmed
    assert run_skill(Place(), PlaceParams(container="tray"), f.context).outcome.code is code
