"""A rehearsal asks the planner what the execution asks, and tries candidates as it does; nothing moves."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import OtherArm, PlanRequest
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import Shape, ShapeKind, World, WorldObject
from handiwork_core.testing.fakes import Cell, Fakes, blocked, fakes
from skill_server.coordination.coordinated_ports import SHARED_BUDGET_S
from skill_server.execution.run import run_skill
from skill_server.preview.previewed_skill import execute_plan
from skill_server.preview.rehearsed_run import preview_skill
from skill_server.preview.surroundings import Surroundings
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams

EDGE_M = 0.045
REFUSED = blocked(Code.PATH_BLOCKED, "gantry/hand", "tray")
PICK = PickParams(object="cube")
PLACE = PlaceParams(container="tray")
PLACED_M = (-0.2, 0.1, 0.02 + EDGE_M / 2)
"""Place of the cube on the tray."""


def box(name: str, size: tuple[float, float, float], *, static: bool = False) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.BOX, np.array(size), Pose.identity()),), is_static=static)


@pytest.fixture
def made() -> Fakes:
    objects = {
        "cube": box("cube", (EDGE_M, EDGE_M, EDGE_M)),
        "tray": box("tray", (0.3, 0.3, 0.02), static=True),
    }
    poses = {"cube": Pose.of((0.3, 0.1, EDGE_M / 2)), "tray": Pose.of((-0.2, 0.1, 0.01))}
    return fakes(Cell(objects, poses, {"cube": EDGE_M}))


def seeded(made: Fakes) -> Context:
    """Return the context with random choices from their beginning."""
    return replace(made.context, rng=np.random.default_rng(0))


def asked(made: Fakes) -> list[Any]:
    """Return what each plan was asked for: start, and how the world was to be read."""
    found = [_question(request) for request in made.planner.plans]
    made.planner.plans.clear()
    return found


def _question(request: PlanRequest) -> Any:
    scene = request.scene
    held = [(one.object, one.link_T_object.translation_m.round(6).tolist()) for one in scene.attached]
    width = [(name, round(value, 4)) for name, value in scene.gripper_m]
    return request.start_q.round(6).tolist(), sorted(scene.ignored), held, sorted(scene.allowed), width


def test_the_planner_is_asked_what_the_execution_asks(made: Fakes) -> None:
    assert preview_skill(Pick(), PICK, seeded(made)).outcome.ok
    foreseen = asked(made)
    assert run_skill(Pick(), PICK, seeded(made)).outcome.ok
    assert asked(made) == foreseen
    assert preview_skill(Place(), PLACE, seeded(made)).outcome.ok
    *way, retreat = asked(made)
    assert run_skill(Place(), PLACE, seeded(made)).outcome.ok
    *wanted, last = asked(made)
    assert way == wanted
    assert retreat[:2] == last[:2]
    # The planner knows the object where it is measured: in the hand. It is sent where it was put down.
    assert ([name for name, _ in retreat[2]], last[2]) == (["cube"], [])
    assert np.allclose(retreat[2][0][1], PLACED_M, atol=0.03)


def test_the_next_candidate_is_tried_from_the_measured_arm(made: Fakes) -> None:
    made.planner.refusals = [REFUSED]
    result = preview_skill(Pick(), replace(PICK, test_mode="ik"), made.context)
    assert result.outcome.ok, result
    assert result.plan is not None
    assert [motion.stage for motion in result.plan.motions] == ["approach", "descend", "lift"]
    assert np.array_equal(result.plan.motions[0].trajectory.q[0], made.cell.q)
    assert not made.context.refused


def test_the_stages_are_those_of_the_attempt_that_made_the_plan(made: Fakes) -> None:
    plan, calls = made.planner.plan, count()

    def second(request: PlanRequest, **named: Any) -> Any:
        return REFUSED if next(calls) == 1 else plan(request, **named)

    made.planner.plan = second  # type: ignore[method-assign]
    result = preview_skill(Pick(), PICK, made.context)
    assert result.plan is not None
    assert [stage.stage for stage in result.stages] == [
        "select",
        "open",
        "approach",
        "descend",
        "grasp",
        "lift",
    ]
    assert all(stage.duration_s >= 0.0 for stage in result.stages)
    motions = sum(motion.trajectory.duration_s for motion in result.plan.motions)
    assert motions <= result.duration_s < motions + 3.0


def test_a_moving_bystander_is_not_waited_for(made: Fakes) -> None:
    still = preview_skill(Pick(), PICK, seeded(made))
    source = made.context.world
    snapshot = source.snapshot

    def drifting() -> World:
        world = snapshot()
        ball = replace(world.states["cube"], world_T_object=Pose.of((1.0, 1.0, 0.5)))
        ball = replace(ball, world_v_object=np.array([0.0, 0.2, 0.0]))
        objects = {**world.objects, "ball": box("ball", (0.05, 0.05, 0.05))}
        return replace(world, objects=objects, states={**world.states, "ball": ball})

    source.snapshot = drifting  # type: ignore[method-assign]
    moving = preview_skill(Pick(), PICK, seeded(made))
    assert moving.plan is not None
    assert moving.duration_s == pytest.approx(still.duration_s)


def test_a_lift_that_is_blocked_is_known_before_anything_moves(made: Fakes) -> None:
    plan = made.planner.plan

    def third(request: PlanRequest, **named: Any) -> Any:
        return REFUSED if len(made.planner.plans) >= 2 else plan(request, **named)

    made.planner.plan = third  # type: ignore[method-assign]
    result = preview_skill(Pick(), PICK, made.context)
    assert (result.outcome.code, result.outcome.stage, result.plan) == (Code.PATH_BLOCKED, "lift", None)
    assert (made.cell.in_hand, dict(made.context.held)) == ("", {})


def test_what_the_hand_holds_is_compared_although_the_goal_ignores_it(made: Fakes) -> None:
    assert run_skill(Pick(), PICK, seeded(made)).outcome.ok
    result = preview_skill(Place(), replace(PLACE, ignore_substring=("cube",)), seeded(made))
    assert result.plan is not None, result.outcome
    made.cell.poses["cube"] = Pose.of((0.0, 0.0, 0.012)) @ made.cell.poses["cube"]
    ended = execute_plan(result.plan, made.context)
    assert ended.outcome.code is Code.OBJECT_MOVED
    assert "'cube' moved by 12 mm" in ended.outcome.message


@pytest.mark.parametrize("by_m", [0.0, 0.03])
def test_a_frame_in_which_the_goal_gave_poses_must_be_where_it_was(made: Fakes, by_m: float) -> None:
    table = Pose.of((0.2, 0.0, 0.0))
    frames = Frames({"table": table})
    made.context.frames = frames
    plan = preview_skill(Pick(), PICK, made.context, Surroundings(pose_frames={"table": table})).plan
    assert plan is not None
    frames.poses["table"] = Pose.of((by_m, 0.0, 0.0)) @ table
    ended = execute_plan(plan, made.context)
    assert ended.outcome.ok is not bool(by_m)
    if by_m:
        assert ended.outcome.code is Code.OBJECT_MOVED
        assert "frame 'table' moved by 30 mm" in ended.outcome.message


def test_an_execution_begins_in_the_world_of_its_goal(made: Fakes) -> None:
    plan = preview_skill(Pick(), PICK, seeded(made)).plan
    assert plan is not None
    source, calls = made.context.world, count()
    snapshot = source.snapshot

    def late() -> World:
        """Return the world before the object was put back, as long as the newest message is on its way."""
        world = snapshot()
        if next(calls) > 2:
            return world
        cube = world.states["cube"]
        moved = replace(cube, world_T_object=Pose.of((0.012, 0.0, 0.0)) @ cube.world_T_object)
        return replace(world, stamp_s=world.stamp_s - 0.05, states={**world.states, "cube": moved})

    source.snapshot = late  # type: ignore[method-assign]
    ended = execute_plan(plan, made.context)
    assert ended.outcome.ok, ended.outcome


def test_a_preview_can_be_canceled(made: Fakes) -> None:
    made.cell.before = lambda call: made.context.token.set(Code.CANCELED) if call == "planner.plan" else None
    result = preview_skill(Pick(), PICK, made.context)
    assert (result.outcome.code, result.plan) == (Code.CANCELED, None)


def test_other_arms_are_obstacles(made: Fakes) -> None:
    other = OtherArm("other", np.zeros((1, 6)))
    preview_skill(Pick(), PICK, made.context, Surroundings(lambda: (other,)))
    assert made.planner.plans
    scenes = [request.scene for request in made.planner.plans] + [scene for _, scene in made.planner.rests]
    assert all(scene.others == (other,) for scene in scenes)


@pytest.mark.parametrize("shares", [False, True])
def test_a_preview_leaves_the_planner_to_an_arm_that_works(made: Fakes, shares: bool) -> None:
    params = replace(PICK, allowed_planning_time=4.0)
    result = preview_skill(Pick(), params, made.context, Surroundings(shares_planner=lambda: shares))
    assert result.plan is not None
    assert {request.budget_s for request in made.planner.plans} == {SHARED_BUDGET_S if shares else 4.0}


@dataclass
class Frames:
    """Transforms of tf."""

    poses: dict[str, Pose]

    def known(self) -> Collection[str]:
        return self.poses.keys()

    def lookup(self, target: str, source: str, field: str) -> Pose:
        return self.poses[source]


BUSY = Outcome(Code.BUSY, "arm is busy with 'pick'")


@pytest.mark.parametrize("free", [0, 1, 2, 3])
def test_no_attempt_begins_while_a_goal_moves_the_arm(made: Fakes, free: int) -> None:
    made.planner.refusals = [REFUSED]
    answers = iter([OK] * free)
    around = Surroundings(at_rest=lambda: next(answers, BUSY))
    result = preview_skill(Pick(), replace(PICK, test_mode="ik"), made.context, around)
    assert (result.outcome.code, result.plan is None) == (
        (Code.OK, False) if free == 3 else (Code.BUSY, True)
    )


class Leaving(dict[str, Any]):
    """What the hand holds while a goal puts it down: the names are older than the values."""

    def __iter__(self) -> Iterator[str]:
        return iter(("gone", *super().__iter__()))

    def keys(self) -> Any:
        return tuple(self)


def test_an_object_that_is_put_down_meanwhile_is_not_held(made: Fakes) -> None:
    context = replace(seeded(made), held=Leaving())
    assert preview_skill(Pick(), PICK, context).outcome.ok
