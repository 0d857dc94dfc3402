"""One declaration of stages gives the planner's questions, the words of a refusal, and the commands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.commands import (
    AttachObject,
    CloseGripper,
    Command,
    DetachObject,
    Motion,
    OpenGripper,
    UpdatePoseCostMetric,
    UpdateSpecific,
)
from handiwork_core.contracts.planning import CandidatesResult, CandidateVerdict, SceneQuery
from handiwork_core.contracts.skill import StepFailed
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import Fakes
from handiwork_core.testing.gantry import gantry_pose, gantry_q
from skill_server.execution.run import run_skill
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from skill_server.stages.commands import stage_commands
from skill_server.stages.scenes import stage_scenes
from skill_server.stages.selection import choose_stages
from unit.skill_server.execution.test_executor import made

PARAMS = SkillParams()
HERE, THERE = Pose.of((0.3, 0.1, 0.4)), Pose.of((0.3, 0.1, 0.3))
FINGERS = ("gantry/left_finger", "gantry/right_finger", "gantry/hand")
HOLD = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
GRASP = (
    SkillStage("open", functions=(OpenGripper(0.06),)),
    SkillStage("approach", HERE, waypoint="before"),
    SkillStage("descend", THERE, Motion.STRAIGHT, touching=frozenset({"cube"}), hold_vec_weight=HOLD),
    SkillStage("grasp", functions=(CloseGripper(), AttachObject("cube")), dwell_s=0.2),
    SkillStage("lift", HERE, Motion.STRAIGHT, leaving=frozenset({"table"})),
)


def scenes(f: Fakes, stages: tuple[SkillStage, ...], params: SkillParams = PARAMS) -> tuple[SceneQuery, ...]:
    return stage_scenes(stages, params, f.context, f.context.world.snapshot())


def carrying() -> Fakes:
    f = made()
    assert run_skill(Pick(), PickParams(object="cube"), f.context).outcome.ok
    return f


def test_the_scene_of_a_waypoint_follows_from_the_stages_before_it() -> None:
    f = made()
    before, at, after = scenes(f, GRASP)
    assert not before.allowed and not before.ignored
    assert at.allowed == {BodyPair(finger, "cube") for finger in FINGERS}
    assert dict(before.gripper_m) == pytest.approx({"left_finger_joint": 0.03, "right_finger_joint": 0.03})
    assert before.gripper_m == at.gripper_m == after.gripper_m
    assert after.ignored == {"cube"} and not after.allowed


def test_what_is_in_the_hand_stays_attached_until_a_stage_lets_it_go() -> None:
    f = carrying()
    stages = (
        SkillStage("carry", HERE, touching=frozenset({"tray"})),
        SkillStage("release", functions=(OpenGripper(), DetachObject("cube"))),
        SkillStage("retreat", THERE, Motion.STRAIGHT, ignored=frozenset({"table"})),
    )
    carry, retreat = scenes(f, stages, replace(PARAMS, ignore_substring=("tra",)))
    assert [item.object for item in carry.attached] == ["cube"]
    assert carry.allowed == {*(BodyPair(body, "cube") for body in FINGERS), BodyPair("cube", "tray")}
    assert carry.ignored == {"tray"}
    assert not retreat.attached and retreat.ignored == {"tray", "cube", "table"}
    assert dict(retreat.gripper_m)["left_finger_joint"] > dict(carry.gripper_m)["left_finger_joint"]


def test_a_straight_way_off_an_object_may_touch_it_and_the_end_of_a_free_one_may_not() -> None:
    cube = frozenset({"cube"})
    free, straight = (
        SkillStage(name, pose, motion, leaving=cube)
        for name, pose, motion in (("go", HERE, Motion.FREE), ("retreat", THERE, Motion.STRAIGHT))
    )
    first, then = scenes(made(), (free, straight))
    assert not first.allowed
    assert then.allowed == {BodyPair(finger, "cube") for finger in FINGERS}


def test_the_commands_move_through_the_waypoints_that_were_judged() -> None:
    f = made()
    chosen = choose_stages([GRASP], PARAMS, f.context)
    commands = stage_commands(chosen, PARAMS, f.context)
    (asked,) = f.planner.candidates
    moves = [command for command in commands if command.world_T_ee is not None]
    assert [move.world_T_ee for move in moves] == list(asked.candidates[0].world_T_ee)
    assert [move.stage for move in moves] == ["approach", "descend", "lift"]
    assert [move.motion for move in moves] == [Motion.FREE, Motion.STRAIGHT, Motion.STRAIGHT]
    assert [set(move.touching) for move in moves] == [set(), {"cube"}, {"table"}]
    for move in moves:
        assert move.q is not None and move.world_T_ee is not None
        assert gantry_pose(move.q).almost_equal(move.world_T_ee, within_m=1e-9, within_rad=1e-6)


def test_holds_and_ignored_objects_are_set_before_the_first_motion_and_where_they_change() -> None:
    f = made()
    stages = (*GRASP[:4], replace(GRASP[4], ignored=frozenset({"tray"})))
    made_of: list[Command] = list(stage_commands(stages, PARAMS, f.context))
    changes = [(c.stage, c.function) for c in made_of if c.world_T_ee is None]
    assert changes == [
        ("open", OpenGripper(0.06)),
        ("approach", UpdatePoseCostMetric(None)),
        ("approach", UpdateSpecific(frozenset())),
        ("descend", UpdatePoseCostMetric(HOLD)),
        ("grasp", CloseGripper()),
        ("grasp", AttachObject("cube")),
        ("lift", UpdatePoseCostMetric(None)),
        ("lift", UpdateSpecific(frozenset({"tray"}))),
    ]
    assert [c.dwell_s for c in made_of if isinstance(c.function, CloseGripper)] == [0.2]


def test_a_stage_of_joints_is_reached_without_a_question_and_planned_to_its_configuration() -> None:
    f, q = made(), gantry_q(HERE)
    chosen = choose_stages([(SkillStage("home", q=q),)], PARAMS, f.context)
    *_, home = stage_commands(chosen, PARAMS, f.context)
    assert not f.planner.candidates
    assert home.q is q and home.world_T_ee is not None
    assert home.world_T_ee.almost_equal(HERE, within_m=1e-9, within_rad=1e-6)


def test_the_lower_sum_of_costs_is_preferred_and_the_first_among_equals() -> None:
    f = made()
    costs = ((0.5, 0.2), (0.3, 0.2), (0.1, 0.4))
    ways = [
        (SkillStage("a", HERE, cost=a), SkillStage("b", THERE, Motion.STRAIGHT, cost=b)) for a, b in costs
    ]
    chosen = choose_stages(ways, PARAMS, f.context)
    assert [stage.cost for stage in chosen] == [0.3, 0.2]


def test_a_refusal_names_the_waypoint_and_counts_what_was_removed_before() -> None:
    f = made()

    def refuse(request: Any, *, should_stop: Any) -> CandidatesResult:
        bad = [
            CandidateVerdict(Code.NO_IK, np.zeros((0, 0)), waypoint=waypoint)
            for waypoint, _ in zip((0, 1), request.candidates, strict=False)
        ]
        return CandidatesResult(Code.OK, "", tuple(bad))

    f.planner.check_candidates = refuse  # type: ignore[method-assign]
    with pytest.raises(StepFailed) as caught:
        choose_stages([GRASP, GRASP], PARAMS, f.context, removed={"without support": 3})
    words = caught.value.outcome.message
    assert caught.value.outcome.code is Code.NO_CANDIDATE
    assert "none of 5 candidates" in words and "3 without support" in words
    assert "1 NO_IK at before" in words and "1 NO_IK at descend" in words


def test_alternatives_that_cannot_be_compared_are_refused() -> None:
    f = made()
    with pytest.raises(ValueError, match="same stages; the first has"):
        choose_stages([GRASP, GRASP[:-1]], PARAMS, f.context)
    with pytest.raises(StepFailed, match="no candidate"):
        choose_stages([], PARAMS, f.context)


def test_the_way_of_an_open_hand_off_the_object_is_judged_as_it_is_planned() -> None:
    f = made()
    open_hand = PickParams(object="cube", final_gripper_state=1)
    assert run_skill(Pick(), open_hand, f.context).outcome.ok
    judged, planned = f.planner.candidates[0].scenes[-1], f.planner.plans[-1].scene
    assert (judged.ignored, judged.allowed) == (planned.ignored, planned.allowed)
    assert BodyPair("gantry/hand", "cube") in judged.allowed


def test_what_is_inside_of_the_held_object_is_no_obstacle_to_placing_it() -> None:
    f = carrying()
    grain = WorldObject("grain", (Shape(ShapeKind.SPHERE, np.array([0.005]), Pose.identity()),))
    f.cell.objects["grain"], f.cell.poses["grain"] = grain, f.cell.poses["cube"]
    commands = Place().commands(PlaceParams(container="tray"), f.context)
    assert all("grain" in scene.ignored for scene in f.planner.candidates[-1].scenes)
    assert all("grain" in scene.ignored for scene in (plan.scene for plan in f.planner.plans[-1:]))
    held = [c.function.ignored for c in commands if isinstance(c.function, UpdateSpecific)]
    assert held and all("grain" in ignored for ignored in held)
