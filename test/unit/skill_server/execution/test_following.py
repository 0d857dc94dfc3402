"""Runs whose target moves while a motion leads to it: followed in hand, bounded, and ended by a cancel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World
from handiwork_core.testing.fakes import Fakes, FakeWorld
from skill_server.execution.command_choice import CommandChoice
from skill_server.execution.run import run_skill
from skill_server.params.following import MOST_FOLLOWED, Following
from skill_server.params.retry_policy import ONE_ATTEMPT
from skill_server.preview.rehearsed_run import preview_skill
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams

from .test_executor import PICK, made, move_cube, pick

APPROACH, DESCENT = 1, 2


class Pondering(Pick):
    """Chooses until its token is set."""

    def commands(self, params: PickParams, context: Context) -> Sequence[Command]:
        while True:
            context.token.check()
            context.token.wait(0.01)


class Vanishing(FakeWorld):
    """A world from which the cube goes right before a look at it; or its pose alone, where it ``stays``."""

    looks = 0

    def __init__(self, f: Fakes, last: float, *, stays: bool) -> None:
        super().__init__(f.cell)
        self.last, self._stays = last, stays

    def snapshot(self) -> World:
        self.looks += 1
        world = super().snapshot()
        if self.looks <= self.last:
            return world
        states = {name: state for name, state in world.states.items() if name != "cube"}
        left = {name: body for name, body in world.objects.items() if self._stays or name != "cube"}
        return replace(world, states=states, objects=left)


class Noisy(FakeWorld):
    """A camera's world: the pose of the cube, and the velocity computed from it, have noise."""

    DEVIATION_M = 0.003

    def __init__(self, f: Fakes) -> None:
        super().__init__(f.cell)
        self._rng = np.random.default_rng(0)

    def snapshot(self) -> World:
        world = super().snapshot()
        state = world.states["cube"]
        pose = state.world_T_object
        seen = replace(
            state,
            world_T_object=Pose.of(
                pose.translation_m + self._rng.normal(0.0, self.DEVIATION_M, 3), pose.rotation
            ),
            world_v_object=self._rng.normal(0.0, 0.05, 3),
            pose_covariance=np.diag([self.DEVIATION_M**2] * 3 + [0.01**2] * 3),
        )
        return replace(world, states={**world.states, "cube": seen})


class Drifting(FakeWorld):
    """A world in which the cube has a velocity."""

    def snapshot(self) -> World:
        world = super().snapshot()
        moving = replace(world.states["cube"], world_v_object=np.array([0.0, 0.05, 0.0]))
        return replace(world, states={**world.states, "cube": moving})


def on_motion(f: Fakes, number: int, at_s: float, act: Callable[[], None]) -> None:
    """Run ``act`` once, in the arm's motion of this number."""
    done: list[float] = []

    def tick(t: float) -> None:
        if f.arm.followed == number and t >= at_s and not done:
            done.append(t)
            act()

    f.arm.on_tick = tick


def stages(run: Any) -> list[str]:
    return [stage.stage for stage in run.stages]


def test_a_cube_nudged_during_the_approach_is_picked_where_it_is_then() -> None:
    f = made()
    on_motion(f, APPROACH, 0.5, lambda: move_cube(f, 0.04))
    run = pick(f)
    assert run.outcome.ok, run.outcome
    assert stages(run).count("approach") == 2 and "recover" not in stages(run)
    assert f.cell.calls.count("gripper.move") == 2, "the open hand is not opened again"
    assert f.planner.plans[-1].scene.attached, "the lift holds the cube"
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("choice-ahead")]


def test_a_cube_nudged_during_the_descent_is_picked_after_a_retreat() -> None:
    f = made()
    on_motion(f, DESCENT, 0.5, lambda: move_cube(f, 0.04))
    run = pick(f)
    assert run.outcome.ok, run.outcome
    assert stages(run).count("recover") == 1
    assert stages(run).count("approach") == 2


def test_a_nudge_within_the_tolerance_changes_nothing() -> None:
    f = made()
    on_motion(f, APPROACH, 0.5, lambda: move_cube(f, 0.015))
    run = pick(f, replace(PICK, follow_tolerance=0.02))
    assert run.outcome.ok, run.outcome
    assert stages(run).count("approach") == 1


def test_a_cube_that_moves_for_ever_ends_the_goal_with_the_arm_at_rest() -> None:
    f = made()
    f.arm.on_tick = lambda _t: move_cube(f, 0.002)
    run = pick(f)
    assert run.outcome.code is Code.OBJECT_MOVED
    assert f"it was followed {MOST_FOLLOWED} times" in run.outcome.message
    assert run.outcome.field_name == "object"
    assert stages(run).count("approach") <= MOST_FOLLOWED + 1
    assert f.arm.stops == 1


def test_a_cube_whose_camera_is_unplugged_ends_the_goal_with_what_is_not_known() -> None:
    """The cube is still there, and nobody sees it: the state of objects has it no more."""
    f = made()
    f.context.world = world = Vanishing(f, np.inf, stays=True)
    on_motion(f, APPROACH, 0.5, lambda: setattr(world, "last", 0))
    run = pick(f)
    assert run.outcome.code is Code.STALE_WORLD, run.outcome
    assert "the pose of 'cube' is not known any more; check its camera" in run.outcome.message
    assert run.outcome.field_name == "object"
    assert f.arm.stops == 1


def test_a_cube_that_leaves_the_world_ends_the_goal() -> None:
    f = made()

    def take_away() -> None:
        del f.cell.poses["cube"], f.cell.objects["cube"]
        f.cell.width_of = {}

    on_motion(f, APPROACH, 0.5, take_away)
    run = pick(f)
    assert run.outcome.code is Code.OBJECT_MOVED
    assert "'cube' is gone from the world" in run.outcome.message


@pytest.mark.parametrize(
    "params", [replace(PICK, follow_speed=0.0), PickParams(object="cube", grasp_poses=(Pose.identity(),))]
)
def test_goals_that_are_not_followed_end_as_before(params: PickParams) -> None:
    f = made()
    on_motion(f, APPROACH, 0.5, lambda: move_cube(f, 0.04))
    outcome = pick(f, params).outcome
    assert outcome.code is Code.OBJECT_MOVED
    assert outcome.position_error_m == pytest.approx(0.04)


def test_a_run_of_one_attempt_is_not_followed_but_brakes() -> None:
    f = made()
    on_motion(f, APPROACH, 0.5, lambda: move_cube(f, 0.04))
    run = run_skill(Pick(), PICK, f.context, ONE_ATTEMPT)
    assert (run.outcome.code, run.outcome.stage) == (Code.OBJECT_MOVED, "approach")
    assert f.arm.followed == 1


def test_a_cancel_during_the_new_choice_ends_the_run() -> None:
    f = made()

    def nudge() -> None:
        move_cube(f, 0.04)
        f.cell.before = lambda call: (
            f.context.token.set(Code.CANCELED) if call == "planner.check_candidates" else None
        )

    on_motion(f, APPROACH, 0.5, nudge)
    run = pick(f)
    assert run.outcome.code is Code.CANCELED
    assert f.arm.followed == 1 and f.arm.stops == 1
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("choice-ahead")]


@pytest.mark.parametrize(("number", "retreats"), [(4, 0), (5, 1)])
def test_a_container_nudged_during_place_is_followed_with_the_object_in_the_hand(
    number: int, retreats: int
) -> None:
    f = made()
    assert pick(f).outcome.ok
    assert f.arm.followed == 3
    there = Pose.of((0.45, -0.3, 0.01))
    on_motion(f, number, 0.5, lambda: f.cell.poses.update(tray=there))
    run = run_skill(Place(), PlaceParams(container="tray"), f.context)
    assert run.outcome.ok, run.outcome
    assert (stages(run).count("recover"), stages(run).count("transit")) == (retreats, 2)
    assert np.abs(f.cell.poses["cube"].translation_m - there.translation_m)[:2].max() < 0.15


def test_choices_that_nobody_takes_end_at_once() -> None:
    f = made()
    choice = CommandChoice(Pondering(), PICK, f.context, Following(0.01, 0.1))
    choice.begin_early(f.cell.q)
    choice.begin_early(f.cell.q)
    end = threading.Thread(target=choice.forget, daemon=True)
    end.start()
    end.join(20.0)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("choice-ahead")]
    assert not f.context.token.is_set()


@pytest.mark.parametrize("last", range(2, 12))
@pytest.mark.parametrize("stays", [False, True])
def test_a_cube_that_leaves_the_world_during_the_choice_has_moved(last: int, stays: bool) -> None:
    f = made()
    f.context.world = Vanishing(f, last, stays=stays)
    outcome = pick(f).outcome
    expected = Code.STALE_WORLD if stays else Code.OBJECT_MOVED
    assert (outcome.code, outcome.field_name) == (expected, "object"), outcome
    assert f.arm.followed == 0


def test_a_cube_whose_pose_is_noisy_is_picked_without_braking() -> None:
    f = made()
    f.context.world = Noisy(f)
    run = pick(f, replace(PICK, process_valid=False))
    assert run.outcome.ok, run.outcome
    assert stages(run).count("approach") == 1


def test_a_preview_plans_to_where_a_moving_cube_is_measured() -> None:
    f = made()
    f.context.world = Drifting(f.cell)
    result = preview_skill(Pick(), PICK, f.context)
    assert result.outcome.ok, result.outcome
    assert result.plan is not None and f.arm.followed == 0
