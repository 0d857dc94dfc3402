"""The rest of a motion: when it is judged again, in which scene, and when the arm must brake; without threads."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.contracts.planning import Verdict
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.model.supervision import SupervisionSettings
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.supervision.path_supervision import (
    RETRY_S,
    Check,
    PathProgress,
    PathSupervision,
)
from handiwork_core.testing.fakes import smooth

SETTINGS = SupervisionSettings(period_s=0.05, answer_s=0.5)
OK = Verdict(Code.OK)
REFUSED = Verdict(Code.TRAJECTORY_REFUSED, "arm/hand goes 12.0 mm into wall", BodyPair("arm/hand", "wall"))


def world(version: int = 1, stamp_s: float = 10.0, **poses: Pose) -> World:
    shape, zero = Shape(ShapeKind.BOX, np.full(3, 0.05), Pose.identity()), np.zeros(3)
    objects = {name: WorldObject(name, (shape,)) for name in poses}
    return World(
        stamp_s,
        version,
        objects,
        {name: ObjectState(pose, zero, zero, stamp_s) for name, pose in poses.items()},
    )


def at(x: float, turn_rad: float = 0.0) -> Pose:
    return Pose.of((x, 0.0, 0.0), Rotation.from_axis_angle((0.0, 0.0, 1.0), turn_rad))


def supervised(then: World, *excluded: str) -> PathSupervision:
    return PathSupervision(then, excluded, SETTINGS)


def begun(supervision: PathSupervision, now: World, now_s: float) -> Check:
    check = supervision.update(now, now_s)
    assert check is not None
    return check


def test_a_world_that_stays_as_it_is_asks_for_nothing() -> None:
    supervision = supervised(world(cube=at(0.3), wall=at(1.0)))
    for i in range(1000):
        trembling = at(0.3 + 0.004 * math.sin(i), 0.03 * math.sin(i))
        now = world(stamp_s=10.0 + i, cube=trembling, wall=at(1.0))
        assert supervision.update(now, float(i)) is None
    assert supervision.checks == 0 and supervision.fault is None


@pytest.mark.parametrize(
    ("now", "changed"),
    [
        (world(cube=at(0.306), wall=at(1.0)), {"cube"}),
        (world(cube=at(0.3, math.radians(2.1)), wall=at(1.0)), {"cube"}),
        (world(cube=at(0.3), wall=at(1.0), ball=at(0.5)), {"ball"}),
        (world(2, cube=at(0.3), wall=at(1.0)), {"cube", "wall"}),
        (world(cube=at(0.4), wall=at(0.9)), {"cube", "wall"}),
    ],
)
def test_what_moved_or_is_new_is_judged_in_that_world(now: World, changed: set[str]) -> None:
    check = begun(supervised(world(cube=at(0.3), wall=at(1.0))), now, 5.0)
    assert check.changes.names == changed
    assert check.world is now and check.since_s == 5.0


def obstacles(*names: str) -> dict[str, WorldObject]:
    return {name: WorldObject(name, ()) for name in names}


def test_a_change_of_the_planners_own_scene_is_judged_once_and_against_all() -> None:
    then = replace(world(cube=at(0.3)), planner_version=1)
    supervision = supervised(then)
    now = replace(then, planner_version=2, planner_objects=obstacles("fence"))
    check = begun(supervision, now, 5.0)
    assert check.changes.is_planners
    supervision.finish(OK, 5.1)
    assert supervision.update(replace(now, stamp_s=11.0), 6.0) is None
    restarted = replace(now, planner_objects=obstacles("post"))  # its version counts from 1 once more
    assert begun(supervision, restarted, 7.0).changes.is_planners
    supervision.finish(OK, 7.1)
    attached = replace(restarted, planner_version=3)
    assert begun(supervision, attached, 8.0).changes.is_planners
    supervision.finish(OK, 8.1)
    late = replace(attached, planner_attached={"crate": ("hand", Pose.identity())})
    assert begun(supervision, late, 9.0).changes.is_planners, "attachments may arrive after their version"
    supervision.finish(REFUSED, 9.1)
    assert supervision.fault is not None and supervision.fault.code is Code.PATH_BLOCKED


def test_a_planner_that_lost_its_obstacles_stops_no_motion() -> None:
    then = replace(world(cube=at(0.3)), planner_version=3, planner_objects=obstacles("fence"))
    supervision = supervised(then)
    lost, restarted = (replace(then, planner_version=v, planner_objects={}) for v in (0, 1))
    for now_s, now in enumerate((lost, restarted, restarted), 5):
        assert supervision.update(now, float(now_s)) is None
    assert supervision.fault is None


def test_a_change_of_the_planners_own_scene_that_is_not_judged_in_time_stops_the_motion() -> None:
    then = replace(world(cube=at(0.3)), planner_version=1)
    supervision = supervised(then)
    begun(supervision, replace(then, planner_version=2), 5.0)
    assert supervision.update(replace(then, planner_version=2), 5.0 + SETTINGS.answer_s + 0.1) is None
    assert supervision.fault is not None and supervision.fault.code is Code.PLANNER_LOST
    assert "the planner's own scene changed" in supervision.fault.message


def test_slow_motion_adds_up_to_a_change() -> None:
    supervision = supervised(world(cube=at(0.3)))
    moved = [supervision.update(world(cube=at(0.3 + 0.0011 * i)), float(i)) for i in range(12)]
    assert [check is not None for check in moved].index(True) == 5


@pytest.mark.parametrize(
    "now", [world(wall=at(1.0)), world(2, wall=at(1.0), cube=at(0.9)), world(wall=at(1.0), cube=at(2.0))]
)
def test_what_is_held_ignored_or_gone_matters_not(now: World) -> None:
    supervision = PathSupervision(world(wall=at(1.0), cube=at(0.3)), {"cube", "wall"}, SETTINGS)
    assert supervision.update(now, 1.0) is None
    gone = supervised(world(wall=at(1.0), cube=at(0.3)))
    assert gone.update(world(wall=at(1.0)), 1.0) is None
    assert gone.update(world(wall=at(1.0)), 100.0) is None and gone.fault is None


def test_a_refusal_brakes_the_arm_with_the_pair() -> None:
    supervision = supervised(world(wall=at(1.0)))
    begun(supervision, world(wall=at(0.5)), 1.0)
    supervision.finish(REFUSED, 1.02)
    assert supervision.update(world(wall=at(0.4)), 1.03) is None, "nothing more is asked"
    assert supervision.fault is not None
    assert supervision.fault.code is Code.PATH_BLOCKED
    assert supervision.fault.blocking == BodyPair("arm/hand", "wall")
    assert "12.0 mm into wall" in supervision.fault.message


def test_checks_follow_each_other_and_none_is_lost() -> None:
    supervision = supervised(world(cube=at(0.0)))
    begun(supervision, world(cube=at(0.1)), 1.0)
    assert supervision.update(world(cube=at(0.2)), 1.01) is None, "one runs"
    supervision.finish(OK, 1.02)
    assert supervision.update(world(cube=at(0.2)), 1.03) is None, "not so soon"
    check = begun(supervision, world(cube=at(0.2)), 1.051)
    assert check.since_s == 1.01, "the answer is due from when the change was seen"
    supervision.finish(OK, 1.06)
    assert supervision.update(world(cube=at(0.2)), 2.0) is None


@pytest.mark.parametrize("code", [Code.STALE_WORLD, Code.BUSY, Code.PLANNER_LOST, Code.NOT_ACTIVE])
def test_an_answer_that_says_nothing_is_asked_for_again_and_then_the_arm_brakes(code: Code) -> None:
    supervision, now = supervised(world(wall=at(1.0))), world(wall=at(0.5))
    time_s, asked = 1.0, 0
    while supervision.fault is None:
        if supervision.update(now, time_s) is not None:
            asked += 1
            supervision.finish(Verdict(code, "not now"), time_s + 0.001)
        time_s += 0.01
    assert time_s == pytest.approx(1.5, abs=0.03)
    assert asked >= 0.4 / (RETRY_S + 0.01)
    assert supervision.fault.code is (Code.PLANNER_LOST if code is Code.NOT_ACTIVE else code)
    assert "'wall' changed" in supervision.fault.message
    assert "within 0.5 s: not now" in supervision.fault.message


def test_a_planner_that_never_answers_brakes_the_arm_though_newer_changes_come() -> None:
    supervision = supervised(world(wall=at(1.0)))
    begun(supervision, world(wall=at(0.9)), 1.0)
    for i in range(1, 51):
        supervision.update(world(wall=at(0.9 - 0.01 * i)), 1.0 + 0.01 * i)
    assert supervision.fault is None
    supervision.update(world(wall=at(0.3)), 1.51)
    assert supervision.fault is not None and supervision.fault.code is Code.PLANNER_LOST


def test_a_change_during_a_slow_check_has_its_own_time() -> None:
    supervision = supervised(world(wall=at(1.0)))
    begun(supervision, world(wall=at(0.9)), 1.0)
    supervision.update(world(wall=at(0.8)), 1.1)
    supervision.finish(OK, 1.4)
    begun(supervision, world(wall=at(0.8)), 1.41)
    supervision.update(world(wall=at(0.8)), 1.59)
    assert supervision.fault is None
    supervision.update(world(wall=at(0.8)), 1.61)
    assert supervision.fault is not None, "0.51 s after the second change was seen"


def test_where_the_arm_is_follows_the_measured_joints_and_never_goes_back() -> None:
    path = smooth(np.zeros(6), np.full(6, 1.0), 2.0, 201)
    progress = PathProgress(path)
    for t in np.linspace(0.0, 2.0, 41):
        q = path.sample(float(t) - 0.03)[0]  # servos are late
        found = progress.update(q, float(t))
        assert found <= t + 1e-9
        assert np.abs(path.sample(found)[0] - q).max() < 0.02
    before = progress.path_s
    assert progress.update(path.q[0], 2.0) == before
    assert progress.update(np.full(6, np.nan), 2.0) == before


def test_an_arm_on_a_way_there_and_back_is_on_the_way_there() -> None:
    there = smooth(np.zeros(6), np.full(6, 1.0), 2.0, 201)
    back = replace(
        there,
        t_s=np.concatenate([there.t_s, 2.0 + there.t_s[1:]]),
        q=np.concatenate([there.q, there.q[-2::-1]]),
        qd=np.concatenate([there.qd, -there.qd[-2::-1]]),
        qdd=np.concatenate([there.qdd, there.qdd[-2::-1]]),
    )
    progress = PathProgress(back)
    for t in np.linspace(0.0, 4.0, 401):
        found = progress.update(back.sample(float(t))[0], float(t))
        assert found <= t + 1e-9
        assert np.abs(back.sample(found)[0] - back.sample(float(t))[0]).max() < 0.02
    assert progress.path_s > 3.8
