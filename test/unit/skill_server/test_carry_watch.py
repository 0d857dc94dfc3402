"""A drop is distinguished from a flicker of the contacts, and found at once when the object is far from the hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import BaseSpec
from handiwork_core.testing.fakes import Fakes
from skill_server.execution.execution_state import ExecutionState
from skill_server.execution.grasp_monitor import LOST_AFTER_S, GraspMonitor

from .placing.test_place_choice import made


def monitor(context: Context, *, keeps_hold: bool = True) -> GraspMonitor:
    return GraspMonitor(context, ExecutionState(context.world.snapshot(), keeps_hold=keeps_hold))


def watched(f: Fakes, reports: list[tuple[float, bool]]) -> list[bool]:
    """Return the results of the watch for reports of contacts: (time, whether the fingers touch)."""
    watch, source = monitor(f.context), f.context.world
    world, said = source.snapshot(), []
    for time_s, touches in reports:
        contacts = world.contacts if touches else ()
        shown = replace(world, contacts=contacts, contacts_stamp_s=time_s)
        source.snapshot = lambda shown=shown: shown  # type: ignore[method-assign,misc]
        said.append(watch.dropped())
    return said


@pytest.mark.parametrize(
    ("reports", "said"),
    [
        ([(0.0, True), (0.02, False), (0.04, True)], [False, False, False]),
        # A fast simulation: one report without the contact is not enough, the second is.
        ([(0.0, True), (0.3, False), (0.6, False)], [False, False, True]),
        ([(0.0, True), (0.3, False), (0.3, False), (0.3, False)], [False, False, False, False]),
        ([(0.0, True), *((0.02 * i, False) for i in range(1, 8))], [False] * 6 + [True, True]),
    ],
)
def test_contacts(reports: list[tuple[float, bool]], said: list[bool]) -> None:
    assert watched(made(), reports) == said


def test_an_object_far_from_the_hand_is_gone_whatever_contacts_say() -> None:
    f: Any = made()
    assert not monitor(f.context).dropped()
    f.cell.poses["cube"] = Pose.of((0.4, 0.1, 0.05))
    assert monitor(f.context).dropped()


def test_joints_and_objects_that_are_not_reported_together_make_no_drop() -> None:
    f: Any = made()
    f.cell.poses["cube"] = Pose.of((0.4, 0.1, 0.05))
    source = f.context.world
    world = source.snapshot()
    late = replace(world, joints=replace(world.joints, stamp_s=world.joints.stamp_s + 0.5))
    source.snapshot = lambda: late
    assert not monitor(f.context).dropped()


def test_a_base_that_drives_on_between_two_looks_makes_no_drop() -> None:
    f: Any = made()
    base = BaseSpec("base", "link0", ("base_x", "base_y", "base_yaw"))
    context = replace(f.context, robot=replace(f.context.robot, base=base))
    source, driven = context.world, Pose.of((0.0, 3.0, 0.0))
    world = source.snapshot()
    later = replace(world, joints=replace(world.joints, stamp_s=world.joints.stamp_s + 0.4))
    shown = [world, later]
    source.snapshot = lambda: shown[0] if len(shown) == 1 else shown.pop(0)
    source.world_T_base = lambda: driven
    state = ExecutionState(world)
    assert not GraspMonitor(context, state).dropped()
    shown[:] = [later]
    assert GraspMonitor(context, state).dropped()


def test_an_object_that_may_leave_the_hand_is_not_dropped() -> None:
    f = made()
    f.cell.poses["cube"] = Pose.of((0.4, 0.1, 0.05))
    assert monitor(f.context).dropped()
    assert not monitor(f.context, keeps_hold=False).dropped()


def test_the_limit_leaves_room_for_the_next_report() -> None:
    assert LOST_AFTER_S <= 0.15
