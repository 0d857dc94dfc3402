"""A run whose world changes during a motion: the arm brakes, plans again, or reports the obstacle."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import PathGoal, PathRest, PlanResult, Verdict
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.model.supervision import SUPERVISED
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from handiwork_core.testing.gantry import gantry_pose
from handiwork_core.testing.mobile import mobile_fakes
from skill_server.execution.run import run_skill
from skill_server.skills.base.mobile_translate import MobileTranslate, MobileTranslateParams
from skill_server.skills.motion.goto_pose import GotoPose, GotoPoseParams
from skill_server.skills.pick_place.pick import Pick, PickParams

CUBE = 0.045
PICK = PickParams(object="cube")
WALL = BodyPair("gantry/hand", "wall")
BLOCKED = Verdict(Code.TRAJECTORY_REFUSED, "gantry/hand goes 30.0 mm into wall", WALL)


def made() -> Fakes:
    def box(name: str, x: float, y: float, z: float, static: bool) -> WorldObject:
        return WorldObject(name, (Shape(ShapeKind.BOX, np.array([x, y, z]), Pose.identity()),), static)

    objects = {
        "cube": box("cube", CUBE, CUBE, CUBE, False),
        "wall": box("wall", 0.02, 0.4, 0.4, True),
        "table": box("table", 2.0, 2.0, 0.05, True),
    }
    poses = {"cube": (0.4, 0.1, CUBE / 2), "wall": (5.0, 0.0, 0.2), "table": (0.0, 0.0, -0.025)}
    return fakes(Cell(objects, {name: Pose.of(p) for name, p in poses.items()}, {"cube": CUBE}))


def wait_for_checks() -> None:
    """Wait for the end of running checks, before the fake arm moves on."""
    for thread in threading.enumerate():
        if thread.name == "path-check":
            thread.join(20.0)


def on_motion(f: Fakes, number: int, at_s: float, act: Callable[[], None]) -> None:
    """Run ``act`` once, in the arm's motion of this number."""
    done: list[float] = []

    def tick(t: float) -> None:
        if f.arm.followed == number and t >= at_s and not done:
            done.append(t)
            act()
        wait_for_checks()

    f.arm.on_tick = tick


def put_wall(f: Fakes, x: float) -> None:
    f.cell.poses["wall"] = Pose.of((x, 0.0, 0.2))


def pick(f: Fakes) -> Any:
    return run_skill(Pick(), PICK, f.context)


def test_nothing_is_asked_in_a_world_that_stays() -> None:
    f = made()
    assert pick(f).outcome.ok
    assert "planner.validate_rest" not in f.cell.calls
    assert not [thread for thread in threading.enumerate() if thread.name == "path-check"]


def test_an_object_far_away_that_moves_stops_nothing() -> None:
    f = made()
    on_motion(f, 1, 0.5, lambda: put_wall(f, 6.0))
    assert pick(f).outcome.ok
    (rest, _scene), *more = f.planner.rests
    assert not more
    assert rest.changed == {"wall"}
    assert 0.4 < rest.from_s < 0.6
    assert rest.states_stamp_s > 10.0
    assert f.arm.followed == 3, "approach, descend, lift"


def test_a_wall_in_the_way_brakes_the_arm_which_then_goes_around() -> None:
    f = made()
    f.planner.judge = lambda _rest: BLOCKED
    on_motion(f, 1, 0.5, lambda: put_wall(f, 0.4))
    stopped: list[np.ndarray] = []
    plan = f.planner.plan

    def noted(request: Any, *, should_stop: Any) -> PlanResult:
        stopped.append(np.array(request.start_q))
        return plan(request, should_stop=should_stop)

    f.planner.plan = noted  # type: ignore[method-assign]
    run = pick(f)
    assert run.outcome.ok, run.outcome
    assert f.arm.followed == 4, "approach, approach again, descend, lift"
    assert not np.allclose(stopped[1], stopped[0]), "the second plan began where the arm had stopped"


def test_a_curve_goes_on_where_the_arm_braked() -> None:
    f = made()
    f.planner.judge = lambda _rest: BLOCKED
    on_motion(f, 1, 0.5, lambda: put_wall(f, 0.4))
    start = gantry_pose(f.cell.q).translation_m
    goal = GotoPoseParams(position=(start[0], start[1] + 0.4, start[2]), frame="world", motion="lin")
    run = run_skill(GotoPose(), goal, f.context)
    assert run.outcome.ok, run.outcome
    first, again = (plan.goal for plan in f.planner.plans)
    assert isinstance(first, PathGoal)
    assert isinstance(again, PathGoal)
    assert again.world_T_ee == first.world_T_ee[-len(again.world_T_ee) :]
    stopped = gantry_pose(f.planner.plans[1].start_q).translation_m
    ahead = again.world_T_ee[0].translation_m[1] - stopped[1]
    assert 0.0 < ahead < 0.01, "the rest begins right before the hand"
    assert 0.1 < stopped[1] - start[1] < 0.35


def test_what_blocks_the_way_for_good_is_named_with_where_the_arm_stopped() -> None:
    f = made()
    f.context.supervision = replace(SUPERVISED, replans=2)
    f.planner.judge = lambda _rest: BLOCKED
    moves = []

    def shake() -> None:
        moves.append(f.arm.followed)
        put_wall(f, 0.4 + 0.1 * len(moves))

    def tick(t: float) -> None:
        if t > 0.4 and f.arm.followed > len(moves):
            shake()
        wait_for_checks()

    f.arm.on_tick = tick
    run = pick(f)
    assert run.outcome.code is Code.PATH_BLOCKED
    assert run.outcome.stage == "approach"
    assert run.outcome.blocking == WALL
    assert (
        "into wall; the arm braked 0.4" in run.outcome.message and "motion of 1.00 s" in run.outcome.message
    )
    assert f.arm.followed == 3, "sent once and planned again twice"


def test_no_way_around_keeps_the_first_cause() -> None:
    f = made()
    f.planner.judge = lambda _rest: BLOCKED

    def act() -> None:
        put_wall(f, 0.4)
        f.planner.refusals += [PlanResult(Code.GOAL_IN_COLLISION, "the goal lies in the wall")] * 20

    on_motion(f, 1, 0.5, act)
    run = pick(f)
    assert run.outcome.code is Code.PATH_BLOCKED
    assert run.outcome.blocking == WALL
    assert "from there" in run.outcome.message and "the goal lies in the wall" in run.outcome.message


def test_a_lost_planner_stops_no_motion_in_a_world_that_stays_and_any_once_it_has_changed() -> None:
    f = made()
    f.context.supervision = replace(SUPERVISED, answer_s=0.05, replans=0)
    f.planner.judge = lambda _rest: Verdict(Code.PLANNER_LOST, "planner_node fell silent")
    assert pick(f).outcome.ok
    f = made()
    f.context.supervision = replace(SUPERVISED, answer_s=0.05, replans=0)
    f.planner.judge = lambda _rest: Verdict(Code.PLANNER_LOST, "planner_node fell silent")
    on_motion(f, 1, 0.5, lambda: put_wall(f, 0.4))
    tick = f.arm.on_tick

    def slow(t: float) -> None:
        tick(t)
        if t >= 0.5:
            threading.Event().wait(0.01)

    f.arm.on_tick = slow
    run = pick(f)
    assert run.outcome.code is Code.PLANNER_LOST
    assert "'wall' changed" in run.outcome.message and "planner_node fell silent" in run.outcome.message


def braked_for_want_of_a_verdict(late: Verdict) -> Any:
    """Run a pick whose planner answers the check of a wall only after the arm has braked, if it is still asked."""
    f = made()
    f.context.supervision = replace(SUPERVISED, answer_s=0.05, replans=0)
    braked = threading.Event()

    def validate_rest(*_asked: Any, should_stop: Callable[[], bool]) -> Verdict:
        assert braked.wait(20.0)
        for _ in range(10):
            if should_stop():
                return Verdict(Code.CANCELED, "stopped while waiting for the planner")
            threading.Event().wait(0.01)
        return late

    follow = f.arm.follow

    def followed(trajectory: Any, *, should_stop: Callable[[], bool]) -> Any:
        outcome = follow(trajectory, should_stop=should_stop)
        if outcome.code is Code.CANCELED:
            braked.set()
        return outcome

    def tick(t: float) -> None:
        if f.arm.followed == 1 and t >= 0.5:
            put_wall(f, 0.4)
            threading.Event().wait(0.01)

    f.arm.on_tick, f.arm.follow, f.planner.validate_rest = tick, followed, validate_rest
    return pick(f)


def test_a_verdict_that_comes_after_the_arm_has_braked_names_what_blocks_the_way() -> None:
    run = braked_for_want_of_a_verdict(BLOCKED)
    assert run.outcome.code is Code.PATH_BLOCKED, run.outcome
    assert run.outcome.blocking == WALL and "the arm braked" in run.outcome.message


def test_a_path_that_is_found_clear_after_the_arm_has_braked_tells_that_the_verdict_was_late() -> None:
    run = braked_for_want_of_a_verdict(Verdict(Code.OK))
    assert run.outcome.code is Code.PLANNER_LOST, run.outcome
    assert "'wall' changed and the rest of the path was not judged within 0.05 s" in run.outcome.message


def test_a_judge_that_raises_brakes_the_arm() -> None:
    f = made()
    f.context.supervision = replace(SUPERVISED, answer_s=0.05, replans=0)

    def broken(_rest: PathRest) -> Verdict:
        raise ValueError("planted")

    f.planner.judge = broken
    on_motion(f, 1, 0.3, lambda: put_wall(f, 0.4))
    tick = f.arm.on_tick

    def slow(t: float) -> None:
        tick(t)
        if t >= 0.3:
            threading.Event().wait(0.01)

    f.arm.on_tick = slow
    outcome = pick(f).outcome
    assert outcome.code is Code.INTERNAL and "planted" in outcome.message


def test_supervision_can_be_switched_off() -> None:
    f = made()
    f.context.supervision = replace(SUPERVISED, is_on=False)
    f.planner.judge = lambda _rest: BLOCKED
    on_motion(f, 1, 0.5, lambda: put_wall(f, 0.4))
    assert pick(f).outcome.ok
    assert "planner.validate_rest" not in f.cell.calls


@pytest.mark.parametrize("name", ["cube", "ball"])
def test_objects_that_vanish_are_not_asked_about(name: str) -> None:
    f = made()
    f.cell.objects["ball"] = f.cell.objects["cube"]
    f.cell.poses["ball"] = Pose.of((3.0, 0.0, 0.0))
    f.planner.judge = lambda _rest: Verdict(Code.OK)

    def act() -> None:
        del f.cell.objects["ball"], f.cell.poses["ball"]
        put_wall(f, 6.0)

    on_motion(f, 1, 0.5, act)
    run = run_skill(Pick(), replace(PICK, ignore_substring=(name,) if name == "ball" else ()), f.context)
    assert run.outcome.ok, run.outcome
    rest, scene = f.planner.rests[0]
    assert rest.changed == {"wall"} and "ball" not in scene.ignored


@pytest.mark.parametrize("is_planners", [False, True])
@pytest.mark.parametrize(("x", "code"), [(0.55, Code.PATH_BLOCKED), (3.0, Code.OK)])
def test_a_base_brakes_for_what_comes_into_the_rest_of_its_way(
    x: float, code: Code, is_planners: bool
) -> None:
    cell = made().cell
    tall = Shape(ShapeKind.BOX, np.array([0.05, 1.0, 2.0]), Pose.identity())
    cell.objects["wall"] = WorldObject("wall", (tall,), True)
    del cell.objects["table"], cell.poses["table"]
    f, base, _world = mobile_fakes(cell)

    def tick(t: float) -> None:
        if t >= 0.4 and is_planners:
            shape = replace(tall, object_T_shape=Pose.of((x, 0.0, 0.2)))
            f.cell.planner_objects["wall"] = WorldObject("wall", (shape,), True)
            f.cell.planner_version = 2
        elif t >= 0.4:
            put_wall(f, x)
        wait_for_checks()

    base.on_tick = tick
    outcome = run_skill(MobileTranslate(), MobileTranslateParams(target=(0.3, 0.0)), f.context).outcome
    assert outcome.code is code, outcome
    if code is Code.PATH_BLOCKED:
        assert outcome.blocking is not None and "wall" in outcome.blocking
        assert outcome.stage == "drive" and "the arm braked" in outcome.message
        assert 0.0 < base.q[0] < 0.25
    else:
        assert base.q[0] == pytest.approx(0.3)
