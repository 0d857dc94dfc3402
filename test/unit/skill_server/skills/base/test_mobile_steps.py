"""The steps of skills that drive first: elsewhere after what another position may change, the end after all else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from contracts import test_skills
from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.composite import SkillStep
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.testing.fakes import Fakes
from handiwork_core.testing.mobile import FakeBase, mobile_fakes, navigated_fakes
from skill_server.driving.search import PlacementSearch
from skill_server.motions.base_motion import base_q
from skill_server.skills.base.mobile_steps import steps_with_base

BLOCKED, OCCUPIED = Outcome(Code.PATH_BLOCKED, "no way"), Outcome(Code.GOAL_IN_COLLISION, "occupied")
OFF_MAP, TOO_FAR = Outcome(Code.BAD_GOAL, "outside the map"), Outcome(Code.NO_CANDIDATE, "too far")


@dataclass(frozen=True, kw_only=True)
class Params(SkillParams):
    search_time: float = 60.0
    max_attempts: int = 3


class FarOut(Skill[Params]):
    """Can be done where the base is farther than 0.5 m along x."""

    name = "far_out"
    params_type = Params

    def is_feasible(self, params: Params, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        return OK

    def commands(self, params: Params, context: Context) -> Sequence[Command]:
        if base_q(context.robot, context.world.snapshot().joints.position)[0] <= 0.5:
            raise StepFailed(TOO_FAR)
        return ()

    def is_success(self, params: Params, before: World, after: World, context: Context) -> Outcome:
        return OK


def ports(*, is_navigated: bool) -> tuple[Fakes, FakeBase]:
    cell = test_skills.cell()
    cell.poses["cube"] = Pose.of((1.9, 0.2, 0.3))
    if is_navigated:
        made, base, _navigator = navigated_fakes(cell)
    else:
        made, base, _world = mobile_fakes(cell)
    return made, base


def played(
    is_navigated: bool, answer: Callable[[SkillStep, int], Outcome], stops_off: Array | None = None
) -> tuple[list[tuple[str, Array]], Outcome]:
    """Return the steps with the goals of drives, and how it ended; ``answer`` gets a step and the drive's number."""
    made, base = ports(is_navigated=is_navigated)
    steps = steps_with_base("do", PlacementSearch(FarOut(), Params(), 60.0), "cube", made.context)
    done, outcome, drives = list[tuple[str, Array]](), None, 0
    try:
        while True:
            step = next(steps) if outcome is None else steps.send(outcome)
            goal = np.array(step.params.path[-1]) if step.label == "drive" else np.zeros(3)
            drives += step.label == "drive"
            outcome = answer(step, drives)
            if step.label == "drive" and outcome.ok:
                base.q = goal + (0.0 if stops_off is None else stops_off)
            done.append((step.label, goal))
    except StopIteration:
        return done, OK
    except StepFailed as failure:
        return done, failure.outcome


def labels(done: Sequence[tuple[str, Array]]) -> list[str]:
    return [label for label, _ in done if label != "home"]


@pytest.mark.parametrize("is_navigated", [False, True])
def test_it_drives_once_and_does_the_skill(is_navigated: bool) -> None:
    done, ended = played(is_navigated, lambda _step, _n: OK)
    assert (labels(done), ended.code) == (["drive", "do"], Code.OK)


@pytest.mark.parametrize("failed", [BLOCKED, OCCUPIED, OFF_MAP])
def test_where_nav2_does_not_get_is_not_tried_again(failed: Outcome) -> None:
    done, ended = played(True, lambda step, n: failed if step.label == "drive" and n == 1 else OK)
    assert (labels(done), ended.code) == (["drive", "drive", "do"], Code.OK)
    goals = [goal for label, goal in done if label == "drive"]
    assert np.linalg.norm(goals[0] - goals[1]) > 0.04


def test_where_the_skill_failed_after_a_drive_is_not_tried_again_though_nav2_stopped_beside() -> None:
    beside = np.array([-0.15, 0.1, 0.1])
    done, ended = played(True, lambda step, n: TOO_FAR if step.label == "do" and n == 1 else OK, beside)
    assert (labels(done), ended.code) == (["drive", "do", "drive", "do"], Code.OK)
    goals = [goal for label, goal in done if label == "drive"]
    assert np.linalg.norm(goals[0] - goals[1]) > 0.04


@pytest.mark.parametrize("is_navigated", [False, True])
def test_the_last_failure_is_the_end(is_navigated: bool) -> None:
    done, ended = played(is_navigated, lambda step, _n: BLOCKED if step.label == "drive" else OK)
    assert (labels(done), ended.code) == (["drive"] * 3, Code.PATH_BLOCKED)


def test_what_no_other_position_changes_ends_it_at_once() -> None:
    lost = Outcome(Code.OBJECT_DROPPED, "gone")
    done, ended = played(False, lambda step, _n: lost if step.label == "do" else OK)
    assert (labels(done), ended.code) == (["drive", "do"], Code.OBJECT_DROPPED)
    assert played(False, lambda step, _n: OFF_MAP if step.label == "drive" else OK)[1].code is Code.BAD_GOAL
