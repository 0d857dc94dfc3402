"""Move object: one goal, as many grasps as it takes; refusals name the field, failures what was tried and the step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import CandidatesRequest, CandidatesResult, CandidateVerdict, Verdict
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import FakePlanner, Fakes
from handiwork_core.testing.gantry import gantry_pose, gantry_q
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.skills.pick_place.move_object import MoveObject, MoveObjectParams
from unit.skill_server.execution.test_executor import CUBE, made, move_cube

UP = (0.0, 0.0, 1.0)
POSE = Pose.of((0.4, -0.3, 0.02 + CUBE / 2), Rotation.from_rpy(0.0, 0.0, 0.5))
ANYHOW = MoveObjectParams(object="cube", container="tray")
GOAL = replace(ANYHOW, object_poses=(POSE,))
TRAY_Y = -0.15
"""The edge of the tray: releases beyond it are at the place."""
WALL = BodyPair("gantry/hand", "wall")


NO_IK = CandidateVerdict(Code.NO_IK, np.zeros((0, 0)), waypoint=0)


def _is_turned_so(world_T_ee: Pose) -> bool:
    """Return True for a pose that the angles of the gantry can express."""
    return gantry_pose(gantry_q(world_T_ee)).distance_to(world_T_ee)[1] < 1e-6


class FromBelow(FakePlanner):
    """Reaches the tray only with a hand that came along the cube's z, which no hand over the upright cube does."""

    def check_candidates(self, request: CandidatesRequest, *, should_stop: Any) -> CandidatesResult:
        """See ``FakePlanner``."""
        result = super().check_candidates(request, should_stop=should_stop)
        turns = [all(map(_is_turned_so, one.world_T_ee)) for one in request.candidates]
        verdicts = [v if good else NO_IK for v, good in zip(result.verdicts, turns, strict=True)]
        result = replace(result, verdicts=tuple(verdicts))
        if not request.scenes[0].attached:
            return result
        ee_T_object = request.scenes[0].attached[0].link_T_object
        if ee_T_object.inverse().rotation.matrix()[2, 2] > 0.3:
            return result
        refused = CandidateVerdict(Code.PATH_BLOCKED, np.zeros((0, 0)), blocking=WALL, waypoint=1)
        verdicts = [
            refused
            if verdict.code is Code.OK and (candidate.world_T_ee[1] @ ee_T_object).translation_m[1] < TRAY_Y
            else verdict
            for candidate, verdict in zip(request.candidates, result.verdicts, strict=True)
        ]
        return replace(result, verdicts=tuple(verdicts))


def cell(seed: int = 0) -> Fakes:
    f = made(seed)
    f.planner = f.context.planner = FromBelow(f.cell)
    return f


def run(f: Fakes, params: MoveObjectParams = GOAL) -> ExecutionResult:
    return run_skill(MoveObject(), params, f.context)


def steps(done: ExecutionResult) -> list[str]:
    return list(dict.fromkeys(report.stage.split(": ")[0] for report in done.stages if ": " in report.stage))


def test_the_object_is_put_down_and_grasped_again_where_no_grasp_serves_the_place() -> None:
    f = cell()
    done = run(f)
    assert done.outcome.ok, done.outcome
    assert steps(done) == ["pick", "put down", "pick again", "place"]
    assert f.cell.poses["cube"].translation_m[1] < TRAY_Y
    assert not f.context.held


def test_no_regrasp_is_made_where_a_grasp_serves_the_place() -> None:
    done = run(made(), ANYHOW)
    assert done.outcome.ok, done.outcome
    assert steps(done) == ["pick", "place"]


@pytest.mark.parametrize("params", [replace(GOAL, regrasp=False), replace(GOAL, max_regrasps=0)])
def test_without_regrasps_the_refusal_says_what_was_tried_and_nothing_moves(params: MoveObjectParams) -> None:
    f = cell()
    done = run(f, params)
    assert done.outcome.code is Code.NO_CANDIDATE
    assert done.outcome.blocking == WALL
    assert "grasps that serve the place: 0 of" in done.outcome.message
    assert "PATH_BLOCKED at place (gantry/hand - wall)" in done.outcome.message
    assert f.arm.followed == 0


def test_a_search_that_finds_nothing_counts_placements_grasps_and_causes() -> None:
    """The cube may be put down on the tray alone, which it cannot reach."""
    f = cell()
    done = run(f, replace(GOAL, regrasp_on="tray", search_time=500.0))
    assert done.outcome.code is Code.NO_CANDIDATE
    text = done.outcome.message
    assert "placements on 'tray' (6 stable orientations, " in text
    assert "put down: 0 of" in text
    assert f.arm.followed == 0


def test_a_search_without_time_says_so_and_nothing_moves() -> None:
    f = cell()
    check = f.planner.check_candidates

    def slow(request: CandidatesRequest, *, should_stop: Any) -> CandidatesResult:
        result = check(request, should_stop=should_stop)
        late = len(f.planner.candidates) > 3
        return CandidatesResult(Code.PLAN_BUDGET, "late", ()) if late else result

    f.planner.check_candidates = slow  # type: ignore[method-assign]
    done = run(f, replace(GOAL, search_time=7.0))
    assert done.outcome.code is Code.PLAN_BUDGET
    assert done.outcome.field_name == "search_time"
    assert "no chain of grasps within search_time 7 s; grasps: " in done.outcome.message
    assert f.arm.followed == 0


def test_an_object_in_the_hand_is_put_down_first_where_its_grasp_does_not_serve_the_place() -> None:
    f = cell()
    f.context.report = lambda p: (
        f.context.token.set(Code.CANCELED) if p.stage == "put down: transit" else None
    )
    assert run(f).outcome.code is Code.CANCELED
    assert set(f.context.held) == {"cube"}
    resumed = cell()
    resumed.cell.q, resumed.cell.in_hand = f.cell.q, f.cell.in_hand
    resumed.cell.hand_T_object, resumed.cell.width_m = f.cell.hand_T_object, f.cell.width_m
    resumed.cell.poses.update(f.cell.poses)
    resumed.context.held.update(f.context.held)
    done = run(resumed)
    assert done.outcome.ok, done.outcome
    assert steps(done) == ["put down", "pick again", "place"]


@pytest.mark.parametrize(
    "stage", ["pick: descend", "put down: transit", "pick again: lift", "place: descend"]
)
def test_a_cancel_stops_the_arm_and_names_the_step(stage: str) -> None:
    f = cell()
    f.context.report = lambda p: f.context.token.set(Code.CANCELED) if p.stage == stage else None
    done = run(f)
    assert (done.outcome.code, done.outcome.stage) == (Code.CANCELED, stage)
    assert f.arm.stops == 1
    assert bool(f.context.held) is (stage != "pick: descend")


def test_a_failed_step_is_named() -> None:
    f = cell()

    def refuse(progress: Any) -> None:
        if progress.stage == "put down: transit":
            f.planner.verdict = Verdict(Code.PATH_BLOCKED, "a wall", WALL)

    f.context.report = refuse
    done = run(f, replace(GOAL, recovery="give_up"))
    assert done.outcome.stage == "put down: transit"
    assert done.outcome.message.startswith("put down: ")
    assert set(f.context.held) == {"cube"}


@pytest.mark.parametrize("code", [Code.PATH_BLOCKED, Code.JOINT_LIMIT])
def test_another_chain_is_searched_after_a_grasp_that_cannot_be_reached(code: Code) -> None:
    f = cell()
    f.planner.refusals = []
    tried = list[str]()
    plan = f.planner.plan

    def refuse_once(request: Any, *, should_stop: Any) -> Any:
        result = plan(request, should_stop=should_stop)
        if not tried:
            tried.append("refused")
            return replace(result, code=code, trajectory=None, message="in the way")
        return result

    f.planner.plan = refuse_once  # type: ignore[method-assign]
    done = run(f)
    assert done.outcome.ok, done.outcome
    assert tried


def no_free_motion(f: Fakes, while_in: str, times: int) -> list[np.ndarray]:
    """Let the planner find no free motion of a step, so many times; return where these were to end."""
    ends, plan, at = list[np.ndarray](), f.planner.plan, [""]
    f.context.report = lambda progress: at.append(progress.stage)

    def refuse(request: Any, *, should_stop: Any) -> Any:
        result = plan(request, should_stop=should_stop)
        if not at[-1].startswith(f"{while_in}: ") or len(ends) >= times or not hasattr(request.goal, "q"):
            return result
        ends.append(request.goal.q[0])
        return replace(result, code=Code.PATH_BLOCKED, trajectory=None, message="in the way")

    f.planner.plan = refuse  # type: ignore[method-assign]
    return ends


def test_another_spot_is_taken_where_the_first_one_cannot_be_reached() -> None:
    f = cell()
    ends = no_free_motion(f, "put down", 2)
    done = run(f, replace(GOAL, max_regrasps=1))
    assert done.outcome.ok, done.outcome
    assert len(ends) == 2
    assert np.abs(ends[0] - ends[1]).max() > 0.02


def test_the_failure_of_the_last_step_is_kept_where_nothing_is_left_to_try() -> None:
    f = made()
    no_free_motion(f, "place", 99)
    done = run(f, replace(ANYHOW, regrasp=False))
    assert done.outcome.message.startswith("place: ")
    assert "then no grasp brings 'cube' to its place" in done.outcome.message
    assert "was tried, and did not bring the object to its place" in done.outcome.message
    assert set(f.context.held) == {"cube"}


def test_an_object_that_moves_during_the_search_is_searched_for_again() -> None:
    f = made()
    check, asked = f.planner.check_candidates, list[int]()

    def push(request: CandidatesRequest, *, should_stop: Any) -> CandidatesResult:
        if not asked:
            move_cube(f, -0.05)
        asked.append(1)
        return check(request, should_stop=should_stop)

    f.planner.check_candidates = push  # type: ignore[method-assign]
    done = run(f, ANYHOW)
    assert done.outcome.ok, done.outcome


@pytest.mark.parametrize("recovery", ["next_candidate", "give_up"])
def test_an_object_that_moves_before_it_is_grasped_is_searched_for_again(recovery: str) -> None:
    """Such as one that falls over when it was put down."""
    f, moved = made(), list[str]()

    def push(progress: Any) -> None:
        if progress.stage == "pick: open" and not moved:
            moved.append(progress.stage)
            move_cube(f, -0.05)

    f.context.report = push
    done = run(f, replace(ANYHOW, recovery=recovery))
    assert moved
    assert done.outcome.code is (Code.OBJECT_MOVED if recovery == "give_up" else Code.OK), done.outcome


def test_an_object_that_moves_in_each_search_is_named_and_nothing_moves() -> None:
    f = made()
    check = f.planner.check_candidates

    def push(request: CandidatesRequest, *, should_stop: Any) -> CandidatesResult:
        move_cube(f, -0.02)
        return check(request, should_stop=should_stop)

    f.planner.check_candidates = push  # type: ignore[method-assign]
    done = run(f, ANYHOW)
    assert done.outcome.code is Code.OBJECT_MOVED, done.outcome
    assert "'cube' moved by " in done.outcome.message
    assert f.arm.followed == 0


def test_up_is_up_in_the_world_where_the_container_is_turned() -> None:
    """The z axis of the crate is level."""
    f = made()
    crate = WorldObject("tray", (Shape(ShapeKind.BOX, np.array([0.3, 0.02, 0.3]), Pose.identity()),), True)
    f.cell.objects["tray"] = crate
    f.cell.poses["tray"] = Pose.of((0.4, -0.3, 0.01), Rotation.from_rpy(np.pi / 2, 0.0, 0.0))
    done = run(f, replace(ANYHOW, up_axis=UP))
    assert done.outcome.ok, done.outcome
    assert f.cell.poses["cube"].rotation.matrix()[2, 2] > np.cos(np.radians(20.0))


PLANE = replace(
    ANYHOW,
    align_pick_obj_axis=(1.0, 0.0, 0.0),
    align_plane_x_axis=(1.0, 0.0, 0.0),
    align_plane_y_axis=UP,
    align_obj_tol_deg=5.0,
)
LEANING = Pose.of((0.4, -0.3, 0.05), Rotation.from_rpy(np.radians(25.0), 0.0, 0.0))


@pytest.mark.parametrize(
    ("params", "pose", "code"),
    [
        (PLANE, POSE, Code.NOT_IN_PLACE),
        (PLANE, Pose.of(POSE.translation_m), Code.OK),
        (replace(ANYHOW, up_axis=UP), LEANING, Code.NOT_IN_PLACE),
        (replace(ANYHOW, up_axis=UP, up_tol_deg=30.0), LEANING, Code.OK),
    ],
)
def test_an_object_that_settles_otherwise_than_asked_is_not_in_place(
    params: MoveObjectParams, pose: Pose, code: Code
) -> None:
    f = made()
    f.cell.poses["cube"] = pose
    after = f.context.world.snapshot()
    outcome = MoveObject().is_success(params, after, after, f.context)
    assert outcome.code is code, outcome


def test_an_object_is_brought_to_a_pose_of_its_own() -> None:
    f = made()
    done = run(f)
    assert done.outcome.code is Code.OK, done.outcome
    off_m, off_rad = POSE.distance_to(f.cell.poses["cube"])
    assert off_m < 0.03
    assert off_rad < 0.1


@pytest.mark.parametrize(
    ("params", "code", "field"),
    [
        (replace(ANYHOW, object=""), Code.BAD_GOAL, "object"),
        (replace(ANYHOW, object="cub"), Code.UNKNOWN_OBJECT, "object"),
        (replace(ANYHOW, object="table"), Code.BAD_GOAL, "object"),
        (replace(ANYHOW, container="tary"), Code.UNKNOWN_OBJECT, "container"),
        (replace(ANYHOW, container="cube"), Code.CONTRADICTION, "container"),
        (replace(ANYHOW, place_poses=(POSE,)), Code.CONTRADICTION, "place_poses"),
        (replace(ANYHOW, up_axis=(0.0, float("nan"), 1.0)), Code.BAD_NUMBER, "up_axis[1]"),
        (replace(ANYHOW, up_axis=(0.0, 0.0, 1e-200)), Code.BAD_NUMBER, "up_axis"),
        (replace(ANYHOW, up_axis=UP, up_tol_deg=0.0), Code.BAD_NUMBER, "up_tol_deg"),
        (replace(ANYHOW, up_tol_deg=5.0), Code.CONTRADICTION, "up_tol_deg"),
        (replace(ANYHOW, up_axis=UP, align_pick_obj_axis=UP), Code.CONTRADICTION, "align_pick_obj_axis"),
        (replace(ANYHOW, object_poses=(POSE,), up_axis=UP), Code.CONTRADICTION, "up_axis"),
        (replace(GOAL, x_ratio_range=(0.1, 0.2)), Code.CONTRADICTION, "x_ratio_range"),
        (replace(GOAL, position_constraint="gripper"), Code.CONTRADICTION, "position_constraint"),
        (replace(GOAL, offset_place_obj_axis=(0.1, 0.0, 0.0)), Code.CONTRADICTION, "offset_place_obj_axis"),
        (replace(ANYHOW, up_axis=UP, place_direction="horizontal"), Code.CONTRADICTION, "place_direction"),
        (replace(ANYHOW, max_regrasps=-1), Code.BAD_NUMBER, "max_regrasps"),
        (replace(ANYHOW, max_regrasps=5), Code.BAD_NUMBER, "max_regrasps"),
        (replace(ANYHOW, search_time=float("inf")), Code.BAD_NUMBER, "search_time"),
        (replace(ANYHOW, regrasp_on="tabel"), Code.UNKNOWN_OBJECT, "regrasp_on"),
        (replace(ANYHOW, regrasp_on="cube"), Code.BAD_GOAL, "regrasp_on"),
        (replace(ANYHOW, regrasp=False, max_regrasps=1), Code.CONTRADICTION, "max_regrasps"),
        (replace(ANYHOW, x_ratio_range=(0.6, 0.4)), Code.CONTRADICTION, "x_ratio_range[0]"),
        (replace(ANYHOW, recovery="again"), Code.BAD_GOAL, "recovery"),
    ],
)
def test_a_bad_goal_names_its_field_and_nothing_moves(
    params: MoveObjectParams, code: Code, field: str
) -> None:
    f = made()
    outcome = run(f, params).outcome
    assert (outcome.code, outcome.field_name) == (code, field), outcome
    assert f.arm.followed == 0
    assert not outcome.message or not outcome.message.endswith(".")
