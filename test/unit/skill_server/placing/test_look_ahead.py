"""A grasp is taken only if the object can be brought to the next place with it, in the scene that Place would have."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.commands import AttachObject, Command
from handiwork_core.contracts.planning import CandidatesRequest, CandidatesResult, CandidateVerdict
from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import BodyPair, Code, Outcome
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import FakePlanner, Fakes
from skill_server.execution.run import run_skill
from skill_server.placing.look_ahead import LEVELS, LookAhead
from skill_server.placing.params import PlaceParams
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place
from skill_server.stages.foreseen import context_after
from unit.skill_server.execution.test_executor import CUBE, made

TRAY = PlaceParams(container="tray", seed=7)
DOWN = Rotation.from_rpy(np.pi, 0.0, 0.0)
OVER, BESIDE = (
    Pose.of((0.4, 0.1, CUBE / 2 + 0.1), DOWN),
    Pose.of((0.4, 0.1 + 0.005, CUBE / 2 + 0.1), DOWN),
)
"""Two grasps of the cube, the second 5 mm beside its middle."""
PICK = PickParams(object="cube", grasp_poses=(OVER, BESIDE), next_place=TRAY)
WALL = BodyPair("gantry/hand", "wall")


@dataclass
class Narrow(FakePlanner):
    """Finds a number of releases feasible that depends on where the object is in the hand."""

    cell: Any
    feasible: dict[float, int] = field(default_factory=dict)
    """Number of feasible releases by the object's place along the hand's y, mm."""

    def __post_init__(self) -> None:
        super().__init__(self.cell)

    def check_candidates(self, request: CandidatesRequest, *, should_stop: Any) -> CandidatesResult:
        """See ``FakePlanner``."""
        result = super().check_candidates(request, should_stop=should_stop)
        if not request.scenes[0].attached:
            return result
        y_mm = abs(round(1e3 * float(request.scenes[0].attached[0].link_T_object.translation_m[1])))
        good = self.feasible[y_mm]
        refused = CandidateVerdict(Code.PATH_BLOCKED, np.zeros((0, 0)), blocking=WALL, waypoint=1)
        verdicts = [v if i < good else refused for i, v in enumerate(result.verdicts)]
        return replace(result, verdicts=tuple(verdicts))


def cell(feasible: dict[float, int]) -> Fakes:
    f = made()
    f.planner = f.context.planner = Narrow(f.cell, feasible)
    return f


def grasped(f: Fakes, params: PickParams = PICK) -> Pose:
    """Return world_T_ee of the chosen grasp."""
    commands = Pick().commands(params, f.context)
    [descent] = [command for command in commands if command.stage == "descend"]
    assert descent.world_T_ee is not None
    return descent.world_T_ee


def refusal(f: Fakes, params: PickParams = PICK) -> Outcome:
    with pytest.raises(StepFailed) as caught:
        Pick().commands(params, f.context)
    return caught.value.outcome


def test_the_best_grasp_is_kept_where_every_grasp_can_reach_the_place() -> None:
    f = cell({0: 64, 5: 64})
    assert grasped(f) is OVER
    assert grasped(f, replace(PICK, next_place=None)) is OVER


def test_a_grasp_that_cannot_reach_the_place_is_not_chosen() -> None:
    assert grasped(cell({0: 0, 5: 64})) is BESIDE


def test_a_refusal_counts_the_grasps_by_what_is_in_the_way_of_the_place() -> None:
    outcome = refusal(cell({0: 0, 5: 0}))
    assert outcome.code is Code.NO_CANDIDATE
    assert outcome.blocking == WALL
    assert outcome.message == (
        "none of 2 candidates can be done: 2 cannot reach the place (PATH_BLOCKED at place (gantry/hand - wall))"
    )


def test_a_grasp_with_a_single_release_is_taken_only_where_no_other_has_more() -> None:
    coarse, _close, least = LEVELS
    assert grasped(cell({0: coarse.enough - 1, 5: coarse.enough})) is BESIDE
    assert grasped(cell({0: least.enough, 5: 0})) is OVER


def test_no_grasp_is_looked_at_closely_before_all_were_looked_at() -> None:
    f = cell({0: 1, 5: 0})
    assert grasped(f) is OVER
    coarse, close, _least = (level.releases for level in LEVELS)
    looks = [len(r.candidates) for r in f.planner.candidates if r.scenes[0].attached]
    assert looks == [coarse, coarse, *4 * [close // 2]]


def test_releases_are_asked_for_in_the_batches_of_place() -> None:
    f = cell({0: 0, 5: 0})
    refusal(f)
    close = [r for r in f.planner.candidates if r.scenes[0].attached][-2:]
    f.planner.candidates.clear()
    f.planner.feasible = {0: 0}
    assert run_skill(Pick(), replace(PICK, grasp_poses=(OVER,), next_place=None), f.context).outcome.ok
    f.context.rng = np.random.default_rng(TRAY.seed)
    with pytest.raises(StepFailed):
        Place().commands(TRAY, f.context)
    asked = [r for r in f.planner.candidates if r.scenes[0].attached][: len(close)]
    assert [len(r.candidates) for r in asked] == [len(r.candidates) for r in close]


def test_a_given_release_suffices_alone() -> None:
    release = Pose.of((0.4, -0.3, 0.3), DOWN)
    only = replace(PICK, next_place=replace(TRAY, place_poses=(release,)))
    assert grasped(cell({0: 1, 5: 64}), only) is OVER


def test_the_planner_is_asked_what_place_asks_when_the_object_is_in_the_hand() -> None:
    f = made()
    assert run_skill(Pick(), replace(PICK, grasp_poses=(OVER,)), f.context).outcome.ok
    foreseen = [request for request in f.planner.candidates if request.scenes[0].attached]
    f.planner.candidates.clear()
    f.context.rng, f.context.seed = np.random.default_rng(TRAY.seed), TRAY.seed
    Place().commands(TRAY, f.context)
    [asked, *_], [before, *_] = f.planner.candidates, foreseen
    assert asked.start_q == pytest.approx(before.start_q, abs=1e-6)
    assert asked.seed == before.seed
    for now, then in zip(asked.scenes, before.scenes, strict=True):
        assert (now.ignored, now.allowed) == (then.ignored, then.allowed)
        assert dict(now.gripper_m) == pytest.approx(dict(then.gripper_m))
        for a, b in zip(now.attached, then.attached, strict=True):
            assert (a.object, a.link) == (b.object, b.link)
            assert a.link_T_object.distance_to(b.link_T_object) == pytest.approx((0.0, 0.0), abs=1e-6)
    for a, b in zip(asked.candidates, before.candidates, strict=False):
        for one, other in zip(a.world_T_ee, b.world_T_ee, strict=True):
            assert one.distance_to(other) == pytest.approx((0.0, 0.0), abs=1e-6)


def test_after_the_time_for_looking_ahead_no_grasp_is_taken_unseen() -> None:
    f = cell({0: 64, 5: 64})
    seconds = iter([0.0, 2.0])
    ahead = LookAhead(TRAY, "cube", f.context, 1.5, steady=lambda: next(seconds))
    outcome = ahead.refusal(Pick().stages(PICK, f.context)[0])
    assert (outcome.code, outcome.field_name) == (Code.PLAN_BUDGET, "allowed_planning_time")
    assert not f.planner.candidates


def test_a_lost_planner_is_no_refusal_of_a_grasp() -> None:
    f = made()

    class Lost(FakePlanner):
        def check_candidates(self, request: CandidatesRequest, *, should_stop: Any) -> CandidatesResult:
            if request.scenes[0].attached:
                return CandidatesResult(Code.PLANNER_LOST, "the planner is gone", ())
            return super().check_candidates(request, should_stop=should_stop)

    f.planner = f.context.planner = Lost(f.cell)
    assert refusal(f).code is Code.PLANNER_LOST


def test_a_place_without_support_refuses_every_grasp() -> None:
    f = made()
    del f.cell.objects["table"]
    aside = replace(TRAY, x_ratio_range=(3.0, 4.0))
    outcome = refusal(f, replace(PICK, next_place=aside))
    assert outcome.code is Code.NO_CANDIDATE
    assert "2 cannot reach the place (nothing carries 'cube' at 'tray'" in outcome.message


def test_the_world_after_stages_has_what_is_held_and_what_is_in_it_where_the_hand_is() -> None:
    f = made()
    ball = WorldObject("ball", (Shape(ShapeKind.SPHERE, np.array([0.004]), Pose.identity()),))
    f.cell.objects["ball"] = ball
    f.cell.poses["ball"] = Pose.of((0.4, 0.11, CUBE / 2))
    stages = Pick().chosen_stages(replace(PICK, next_place=None), f.context)
    after = context_after(stages, f.context)
    world = after.world.snapshot()
    assert world.states["cube"].world_T_object.translation_m == pytest.approx((0.4, 0.1, CUBE / 2 + 0.1))
    assert world.states["ball"].world_T_object.translation_m == pytest.approx((0.4, 0.11, CUBE / 2 + 0.1))
    assert world.states["tray"].world_T_object is f.cell.poses["tray"]
    assert 2.0 * world.joints.position["left_finger_joint"] == pytest.approx(CUBE)
    assert set(after.held) == {"cube"} and not f.context.held
    assert stages[-1].q == pytest.approx([world.joints.position[n] for n in f.context.arm_spec.joint_names])


def test_an_open_hand_takes_nothing_to_a_place() -> None:
    commands = Pick().commands(replace(PICK, final_gripper_state=1), cell({}).context)
    assert not any(isinstance(command.function, AttachObject) for command in commands)
    assert all(isinstance(command, Command) for command in commands)
