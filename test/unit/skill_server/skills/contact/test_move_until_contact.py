"""The goal fields of ``move_until_contact``, and its judgement, on fakes; and the force of closing fingers."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.commands import Command, Motion, UpdateSpecific
from handiwork_core.contracts.planning import Verdict
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import Contact, Shape, ShapeKind, WorldObject
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from handiwork_core.testing.gantry import gantry_pose
from skill_server.execution.run import run_skill
from skill_server.motions.step_back import way_back_holding
from skill_server.params import checks
from skill_server.skills.contact.move_until_contact import MoveUntilContact, MoveUntilContactParams
from skill_server.skills.motion.gripper_action import GripperAction, GripperActionParams
from support.paths import ROBOTS

DOWN = MoveUntilContactParams(distance=0.04, force_n=8.0)
WALL = WorldObject(
    "wall", (Shape(ShapeKind.BOX, np.array((0.02, 0.4, 0.4)), Pose.identity()),), is_static=True
)


def run(f: Fakes, params: MoveUntilContactParams = DOWN) -> Outcome:
    return run_skill(MoveUntilContact(), params, f.context).outcome


def sent(f: Fakes, params: MoveUntilContactParams) -> Trajectory:
    """Run a goal and return the motion that the arm was sent."""
    found, follow = list[Trajectory](), f.arm.follow

    def watched(trajectory: Trajectory, **options: object) -> Outcome:
        found.append(trajectory)
        return follow(trajectory, **options)  # type: ignore[arg-type]

    f.arm.follow = watched  # type: ignore[method-assign, assignment]
    run(f, params)
    return found[-1]


def test_the_bound_points_against_the_motion_in_the_frame_of_the_hand() -> None:
    f = fakes(Cell({}, {}))
    hand = gantry_pose(f.cell.q).rotation.matrix()
    bound = sent(f, replace(DOWN, direction=(0.0, 2.0, 0.0))).stop_force
    assert bound is not None
    assert hand @ bound == pytest.approx((0.0, -8.0, 0.0), abs=1e-9)


@pytest.mark.parametrize(("speed", "fastest"), [(0.0, 0.0024), (0.002, 0.002)])
def test_the_hand_is_as_slow_as_its_force_or_the_goal_asks(speed: float, fastest: float) -> None:
    way = sent(fakes(Cell({}, {})), replace(DOWN, speed=speed))
    points = np.array([gantry_pose(q).translation_m for q in way.q])
    speeds = np.linalg.norm(np.diff(points, axis=0), axis=1) / np.diff(way.t_s)
    assert speeds.max() == pytest.approx(fastest)


def test_a_way_within_the_tolerance_of_a_waypoint_is_gone_too() -> None:
    f = fakes(Cell({}, {}))
    assert run(f, replace(DOWN, distance=0.003)).message.startswith("no contact with 8 N after 3.0 mm")


def test_a_contact_on_the_way_is_the_success() -> None:
    f = fakes(Cell({}, {}))
    f.arm.contact_s = 2.0
    found = run(f)
    assert found.ok, found
    assert found.message.startswith("contact after ")


def test_the_whole_distance_without_a_contact_is_not_reached() -> None:
    found = run(fakes(Cell({}, {})))
    assert found.code is Code.NOT_REACHED
    assert found.message.startswith("no contact with 8 N after 40.0 mm, the whole distance")


@pytest.mark.parametrize(
    ("params", "field"),
    [
        (replace(DOWN, direction=(0.0, 0.0, 0.0)), "direction"),
        (replace(DOWN, distance=0.0), "distance"),
        (replace(DOWN, force_n=0.5), "force_n"),
        (replace(DOWN, force_n=float("nan")), "force_n"),
        (replace(DOWN, force_n=500.0), "force_n"),
        (replace(DOWN, speed=0.0025), "speed"),
        (replace(DOWN, object="mat"), "object"),
    ],
)
def test_a_bad_field_is_named_and_nothing_moves(params: MoveUntilContactParams, field: str) -> None:
    f = fakes(Cell({}, {}))
    found = run(f, params)
    assert found.field_name == field
    assert f.arm.followed == 0


def test_the_slowest_force_allows_its_speed() -> None:
    found = run(fakes(Cell({}, {})), replace(DOWN, distance=0.003, force_n=1.0, speed=0.0003))
    assert found.code is Code.NOT_REACHED, found


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ({"stop_force_n": -5.0}, "stop_force_n is -5.0; give 0 or more"),
        ({"stop_force_n": float("nan")}, "stop_force_n is nan; give 0 or more"),
        ({"tool_speed": -0.01}, "tool_speed is -0.01; give 0 or more"),
        ({"stop_force_n": 5.0, "motion": Motion.FREE}, "a force ends straight motions to a pose alone"),
        ({"stop_force_n": 5.0, "world_T_ee": None}, "a force ends straight motions to a pose alone"),
    ],
)
def test_a_command_whose_force_no_motion_would_keep_is_refused(fault: dict[str, Any], text: str) -> None:
    good = Command(
        "touch", UpdateSpecific(frozenset()), Pose.identity(), motion=Motion.STRAIGHT, stop_force_n=5.0
    )
    with pytest.raises(ValueError, match=text):
        replace(good, **fault)


def test_the_way_back_from_a_contact_is_ended_by_no_force() -> None:
    free = Command("approach", UpdateSpecific(frozenset()), Pose.identity())
    touch = replace(free, stage="touch", motion=Motion.STRAIGHT, stop_force_n=5.0, tool_speed=0.001)
    (back,) = way_back_holding((free, touch), frozenset())
    assert (back.stop_force_n, back.tool_speed) == (0.0, 0.0)


def test_a_contact_while_the_arm_brakes_for_another_cause_ends_the_motion_too() -> None:
    cell = Cell({"wall": WALL}, {"wall": Pose.of((5.0, 0.0, 0.2))})
    f = fakes(cell)
    f.planner.judge = lambda _rest: Verdict(Code.TRAJECTORY_REFUSED, "the hand goes into wall")
    follow = f.arm.follow

    def tick(t: float) -> None:
        if t > 0.5:
            cell.poses["wall"] = Pose.of((0.4, 0.0, 0.2))
        for thread in threading.enumerate():
            if thread.name == "path-check":
                thread.join(20.0)

    def touched(trajectory: Trajectory, **options: object) -> Outcome:
        found = follow(trajectory, **options)  # type: ignore[arg-type]
        return Outcome(Code.CONTACT, "touched in the brake") if found.code is Code.CANCELED else found

    f.arm.on_tick, f.arm.follow = tick, touched  # type: ignore[method-assign, assignment]
    found = run(f)
    assert found.ok, found
    assert f.arm.followed == 1, "the arm pressed on"


def test_the_fingers_are_sent_the_force_of_the_goal() -> None:
    f = fakes(Cell({}, {}))
    assert run_skill(
        GripperAction(), GripperActionParams(gripper_state=-1, grip_force=12.0), f.context
    ).outcome.ok
    assert f.gripper.forces == [12.0]


@pytest.mark.parametrize(
    ("robot", "force_n", "is_closing", "code"),
    [
        ("fr3", 0.0, False, None),
        ("fr3", 100.0, True, None),
        ("fr3", 101.0, True, Code.BAD_NUMBER),
        ("fr3", 0.5, True, Code.BAD_NUMBER),
        ("fr3", 20.0, False, Code.CONTRADICTION),
        ("ur10_suction", 20.0, True, Code.UNSUPPORTED),
    ],
)
def test_a_force_that_the_hand_cannot_have_is_refused(
    robot: str, force_n: float, is_closing: bool, code: Code | None
) -> None:
    found = checks.grip_force(force_n, load_robot(ROBOTS / robot).arm(""), is_closing=is_closing)
    assert found == OK if code is None else (found.code is code and found.field_name == "grip_force")


def test_each_walk_of_the_commands_begins_without_a_contact() -> None:
    f = fakes(Cell({}, {}))
    context: Context = f.context
    context.contact = Outcome(Code.CONTACT, "of before")
    assert run(f).code is Code.NOT_REACHED


@pytest.mark.parametrize(
    ("direction", "force_n", "is_refused"),
    [((0.0, 0.0, 1.0), 8.0, True), ((0.0, 0.0, 1.0), 12.0, False), ((0.0, 0.0, -1.0), 8.0, False)],
)
@pytest.mark.parametrize("order", [1, -1])
def test_a_force_that_ends_as_the_hand_leaves_is_no_contact(
    direction: tuple[float, float, float], force_n: float, is_refused: bool, order: int
) -> None:
    f = fakes(Cell({}, {}))
    up, zero, snapshot = np.array((0.0, 0.0, 5.0)), np.zeros(3), f.context.world.snapshot
    pressed = Contact(*("gantry/hand", "table")[::order], order * up, zero)
    f.context.world.snapshot = lambda: replace(snapshot(), contacts=(pressed,))  # type: ignore[method-assign]
    found = run(f, replace(DOWN, direction=direction, force_n=force_n))
    assert (found.code is Code.CONTRADICTION) == is_refused, found
    if is_refused:
        assert "table presses the hand along the motion with 5.0 N" in found.message
        assert (found.field_name, f.arm.followed) == ("force_n", 0)
