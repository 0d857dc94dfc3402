"""The search for a position of the base: the nearest that serves, with a clear way, and every cause where none does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from contracts import test_skills
from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.planning import Attachment, CandidatesRequest, PlanRequest, SceneQuery
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.testing.mobile import BASE, FakeBase, mobile_fakes
from skill_server.driving.foreseen_base import context_at
from skill_server.driving.search import PlacementSearch
from skill_server.motions.arm_motions import hand
from skill_server.motions.base_motion import base_q

PLACE = np.array([1.9, 0.2, 0.3])


@dataclass
class Reaching(Skill[SkillParams]):
    """Can be done where ``serves`` holds for the position of the base."""

    serves: Callable[[Array], bool]
    code: Code = Code.NO_CANDIDATE
    asked: list[Array] = field(default_factory=list)

    name = "reaching"
    params_type = SkillParams

    def is_feasible(self, params: SkillParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        return OK

    def commands(self, params: SkillParams, context: Context) -> Sequence[Command]:
        q = base_q(context.robot, context.world.snapshot().joints.position)
        self.asked.append(q)
        context.planning_time_s += 0.5
        if not self.serves(q):
            raise StepFailed(Outcome(self.code, "too far"))
        return ()

    def is_success(self, params: SkillParams, before: World, after: World, context: Context) -> Outcome:
        return OK


def context(*, wall_x: float | None = None) -> tuple[Context, FakeBase]:
    cell = test_skills.cell()
    if wall_x is not None:
        cell.objects["wall"] = test_skills.box("wall", (0.05, 9.0, 2.0), static=True)
        cell.poses["wall"] = Pose.of((wall_x, 0.0, 0.0))
    made, base, _world = mobile_fakes(cell)
    return made.context, base


def searched(skill: Reaching, ports: Context, **more: Any) -> PlacementSearch:
    return PlacementSearch(skill, SkillParams(), more.pop("budget_s", 60.0), **more)


def far_out(q: Array) -> bool:
    return bool(q[0] > 0.5)


def test_the_base_stays_where_the_skill_can_be_done() -> None:
    ports, _ = context()
    skill = Reaching(lambda _q: True)
    assert searched(skill, ports).find(PLACE, ports) == ()
    assert len(skill.asked) == 1


def test_the_nearest_position_that_serves_is_taken_and_the_planners_time_is_counted() -> None:
    ports, base = context()
    skill = Reaching(far_out)
    found = searched(skill, ports).find(PLACE, ports)
    goal = found[-1]
    assert far_out(goal)
    others = [q for q in skill.asked if far_out(q)]
    assert min(np.hypot(*q[:2]) for q in others) > np.hypot(*goal[:2]) - 0.2
    assert base.q == pytest.approx(np.zeros(3)), "nothing moves in a search"
    assert ports.planning_time_s == pytest.approx(0.5 * len(skill.asked))


def test_a_position_that_serves_only_exactly_comes_after_one_that_also_serves_beside_it() -> None:
    ports, _ = context()
    exact: list[Array] = []

    def fragile(q: Array) -> bool:
        if far_out(q) and not exact:
            exact.append(q)
        return far_out(q) and (np.array_equal(q, exact[0]) or np.linalg.norm(q - exact[0]) > 0.1)

    chosen = searched(Reaching(fragile), ports).find(PLACE, ports)[-1]
    assert not np.array_equal(chosen, exact[0])
    only = exact[0]
    assert searched(Reaching(lambda q: np.array_equal(q, only)), ports).find(PLACE, ports)[
        -1
    ] == pytest.approx(only)


def test_a_position_that_did_not_serve_after_all_is_left_out() -> None:
    ports, _ = context()
    first = searched(Reaching(far_out), ports).find(PLACE, ports)[-1]
    second = searched(Reaching(far_out), ports, refused=[first, np.zeros(3)]).find(PLACE, ports)[-1]
    assert np.linalg.norm(second - first) > 0.04


def test_where_no_position_serves_every_cause_is_named() -> None:
    ports, _ = context(wall_x=0.6)
    with pytest.raises(StepFailed) as caught:
        searched(Reaching(far_out), ports).find(PLACE, ports)
    outcome = caught.value.outcome
    assert outcome.code is Code.NO_CANDIDATE
    assert "too far" in outcome.message
    assert "the base finds no way there" in outcome.message or "wall" in outcome.message


def test_a_refusal_that_holds_everywhere_ends_the_search_at_once() -> None:
    ports, _ = context()
    skill = Reaching(lambda _q: False, Code.PLANNER_LOST)
    with pytest.raises(StepFailed) as caught:
        searched(skill, ports).find(PLACE, ports)
    assert (caught.value.outcome.code, len(skill.asked)) == (Code.PLANNER_LOST, 1)


def test_a_search_whose_time_is_over_says_so() -> None:
    ports, _ = context()
    with pytest.raises(StepFailed) as caught:
        searched(Reaching(lambda _q: False), ports, budget_s=0.0).find(PLACE, ports)
    assert caught.value.outcome.code is Code.PLAN_BUDGET
    assert "search_time, 0 s" in caught.value.outcome.message


def test_elsewhere_the_robot_what_it_holds_and_the_planners_scenes_are_there() -> None:
    carrying = test_skills.carrying()
    made, _base, _world = mobile_fakes(carrying.cell)
    ports = made.context
    ports.held |= carrying.context.held
    (name,) = ports.held
    before = ports.world.snapshot()
    q = np.array([0.4, -0.2, np.pi / 2])
    there = context_at(ports, q)
    now = there.world.snapshot()
    assert base_q(there.robot, now.joints.position) == pytest.approx(q)
    ee_T_object = hand(ports, before).inverse() @ before.states[name].world_T_object
    moved = hand(there, now).inverse() @ now.states[name].world_T_object
    assert moved.almost_equal(ee_T_object, within_m=1e-9, within_rad=1e-6)
    was = before.states[name].world_T_object
    assert now.states[name].world_T_object.distance_to(was)[0] > 0.1
    assert ports.world.snapshot().states[name].world_T_object.distance_to(was)[0] == 0.0
    asked = list[SceneQuery]()

    class Planner:
        def check_candidates(self, request: CandidatesRequest, *, should_stop: object) -> None:
            asked.extend(request.scenes)

        def plan(self, request: PlanRequest, *, should_stop: object) -> None:
            asked.append(request.scene)

    ports.planner = Planner()  # type: ignore[assignment]
    planner = context_at(ports, q).planner
    start = np.zeros(6)
    planner.check_candidates(CandidatesRequest("arm", start, (), (SceneQuery(),)), should_stop=lambda: False)
    held = SceneQuery(attached=(Attachment(name, "hand", Pose.identity()),), gripper_m=(("base_x", 9.0),))
    planner.plan(PlanRequest("arm", start, None, held), should_stop=lambda: False)  # type: ignore[arg-type]
    assert dict(asked[0].gripper_m) == pytest.approx(dict(zip(BASE.joint_names, q, strict=True)))
    assert dict(asked[1].gripper_m)["base_x"] == 9.0, "what a request names itself has precedence"
    assert asked[1].attached == held.attached
