"""Goals of ``goto_pose`` and ``move`` for tools, in any frame, on lines and arcs, with blends; and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.commands import Command, Motion
from handiwork_core.contracts.planning import Attachment, JointGoals, PathGoal
from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from handiwork_core.testing.gantry import gantry_pose
from skill_server.execution.run import run_skill
from skill_server.params.parsing import parameters_from
from skill_server.skills.motion.goto_pose import GotoPose, GotoPoseParams
from skill_server.skills.motion.move import Move, MoveParams

TRAY = Pose.of((0.4, -0.3, 0.3), Rotation.from_rpy(0.0, 0.0, 0.5 * np.pi))
GOTO: dict[str, Any] = {"position": [0.1, 0.0, 0.2]}


def made() -> Fakes:
    tray = WorldObject("tray", (Shape(ShapeKind.BOX, np.array([0.3, 0.3, 0.02]), Pose.identity()),), True)
    return fakes(Cell({"tray": tray}, {"tray": TRAY}, {}))


def goto(**keys: Any) -> GotoPoseParams:
    return parameters_from(GotoPose(), {**GOTO, **keys}, "", "goal")


def move(**keys: Any) -> MoveParams:
    return parameters_from(Move(), keys, "", "goal")


def verdict(f: Fakes, params: GotoPoseParams | MoveParams) -> Outcome:
    skill: Any = GotoPose() if isinstance(params, GotoPoseParams) else Move()
    return skill.is_feasible(params, f.context.robot, f.context.arm_spec, f.context.world.snapshot())


def moves(f: Fakes, params: GotoPoseParams | MoveParams) -> list[Command]:
    skill: Any = GotoPose() if isinstance(params, GotoPoseParams) else Move()
    return [c for c in skill.commands(params, f.context) if c.world_T_ee is not None]


def points(command: Command) -> Array:
    return np.array([pose.translation_m for pose in command.path])


def test_a_pose_is_relative_to_an_object_with_its_orientation() -> None:
    f = made()
    (command,) = moves(f, goto(frame="tray", quaternion=[0, 1, 0, 0]))
    assert command.world_T_ee is not None
    wanted = TRAY @ Pose.of((0.1, 0.0, 0.2), Rotation.from_wxyz((0, 1, 0, 0)))
    assert command.world_T_ee.almost_equal(wanted, within_m=1e-9, within_rad=1e-6)
    assert run_skill(GotoPose(), goto(frame="tray", quaternion=[0, 1, 0, 0]), f.context).outcome.ok
    assert f.cell.q[:3] == pytest.approx(gantry_q_of(wanted), abs=1e-6)


def gantry_q_of(pose: Pose) -> Array:
    """Return the positions of the three rails (3,) that bring the hand to a place."""
    here = gantry_pose(np.zeros(6)).translation_m
    return np.asarray(pose.translation_m - here)


def test_an_unknown_frame_ends_the_goal_before_anything_moves() -> None:
    f = made()
    outcome = run_skill(GotoPose(), goto(frame="trey"), f.context).outcome
    assert (outcome.code, outcome.field_name) == (Code.UNKNOWN_FRAME, "frame")
    assert "frame 'trey' is not known; did you mean 'tray'" in outcome.message
    outcome = run_skill(Move(), move(delta_trans=[[0, 0, 0.1]], frame="trey"), f.context).outcome
    assert outcome.code is Code.UNKNOWN_FRAME
    assert f.arm.followed == 0


def test_success_is_judged_where_the_frame_was_when_the_motion_was_planned() -> None:
    f = made()

    def push(_t: float) -> None:
        f.cell.poses["tray"] = Pose.of((0.6, -0.3, 0.3), TRAY.rotation)

    f.arm.on_tick = push
    assert run_skill(GotoPose(), goto(frame="tray"), f.context).outcome.ok


def test_a_curve_joins_lines_and_an_arc_and_stops_only_where_nothing_is_blended() -> None:
    f = made()
    here = gantry_pose(f.cell.q).translation_m
    across, up = here + [0.2, 0.0, 0.0], here + [0.2, 0.2, 0.0]
    goal = goto(
        frame="world",
        position=list(map(float, here + [0.0, 0.2, 0.0])),
        motion="circ",
        interim=list(map(float, here + [0.1, 0.3, 0.0])),
        waypoints=[
            {"position": list(map(float, across)), "blend_radius": 0.05},
            {"position": list(map(float, up))},
        ],
    )
    assert verdict(f, goal).ok
    corner, arc = moves(f, goal)
    assert (corner.stage, arc.stage) == ("waypoint 1 to waypoint 2", "go")
    assert corner.motion is arc.motion is Motion.PATH
    gap = np.linalg.norm(points(corner) - across, axis=1).min()
    assert 0.005 < gap <= 0.05
    assert points(corner)[-1] == pytest.approx(up)
    center = here + [0.1, 0.2, 0.0]
    assert np.linalg.norm(points(arc) - center, axis=1) == pytest.approx(0.1, abs=1e-6)
    assert points(arc)[:, 1].max() == pytest.approx(here[1] + 0.3, abs=1e-3)
    result = run_skill(GotoPose(), goal, f.context)
    assert result.outcome.ok, result.outcome
    assert [type(plan.goal) for plan in f.planner.plans] == [PathGoal, PathGoal]


def test_all_points_of_a_goal_refer_to_one_pose_of_a_moving_frame() -> None:
    f = made()

    class Conveyed:
        """A frame that moves between any two lookups."""

        count = 0

        def lookup(self, target: str, source: str, field: str = "") -> Pose:
            self.count += 1
            return Pose.of((0.1 * self.count, 0.0, 0.3))

        def known(self) -> list[str]:
            return ["plate"]

    f.context.frames = Conveyed()
    circle = {"motion": "circ", "center": [0.1, 0.1, 0.2], "position": [0.1, 0.2, 0.2]}
    goal = goto(frame="plate", **circle, waypoints=[{"position": [0.2, 0.1, 0.2], "motion": "ptp"}])
    for shift in (0.1, 0.2):
        free, arc = moves(f, goal)
        assert free.world_T_ee is not None
        assert free.world_T_ee.translation_m == pytest.approx([shift + 0.2, 0.1, 0.5])
        assert np.linalg.norm(points(arc) - [shift + 0.1, 0.1, 0.5], axis=1) == pytest.approx(0.1)


def test_a_free_motion_goes_to_the_configuration_from_which_the_curve_was_judged() -> None:
    f = made()
    goal = goto(motion="lin", waypoints=[{"position": [0.3, 0.1, 0.4], "motion": "ptp"}])
    free, line = moves(f, goal)
    assert (free.motion, line.motion) == (Motion.FREE, Motion.PATH)
    assert free.q is not None
    (candidate,) = f.planner.candidates[-1].candidates
    assert candidate.world_T_ee[0] is free.world_T_ee
    assert candidate.world_T_ee[-1].almost_equal(line.path[-1], within_m=1e-9, within_rad=1e-6)
    assert run_skill(GotoPose(), goal, f.context).outcome.ok
    assert [type(plan.goal) for plan in f.planner.plans] == [JointGoals, PathGoal]


def test_move_blends_offsets_and_goes_on_circles_in_the_axes_of_a_frame() -> None:
    f = made()
    here = gantry_pose(f.cell.q).translation_m
    (command,) = moves(f, move(delta_trans=[[0.2, 0, 0], [0.2, 0.2, 0]], blend_radii=[0.05], frame="tray"))
    # The tray is turned by a quarter: its x is the world's y.
    assert points(command)[-1] == pytest.approx(here + [-0.2, 0.2, 0.0])
    (circle,) = moves(f, move(delta_trans=[[0.0, 0.2, 0]], interim=[[0.1, 0.1, 0]]))
    assert np.linalg.norm(points(circle) - here - [0.0, 0.1, 0.0], axis=1) == pytest.approx(0.1)
    assert run_skill(Move(), move(delta_trans=[[0.0, 0.2, 0]], interim=[[0.1, 0.1, 0]]), f.context).outcome.ok


WAY: dict[str, Any] = {"position": [0.3, 0.1, 0.4]}


@pytest.mark.parametrize(
    ("keys", "field", "words"),
    [
        ({"motion": "line"}, "motion", "did you mean 'lin'"),
        ({"motion": "circ"}, "motion", "needs either interim or center, and has neither"),
        ({"motion": "circ", "interim": [0, 0, 0], "center": [0, 0, 0]}, "motion", "has interim and center"),
        ({"interim": [0, 0, 0]}, "interim", "does nothing for motion 'ptp'"),
        ({"waypoints": [{**WAY, "blend_radius": 0.05}]}, "waypoints[0].blend_radius", "beside a ptp motion"),
        (
            {"waypoints": [{**WAY, "blend_radius": 0.001}], "motion": "lin"},
            "waypoints[0].blend_radius",
            "use 0.01 to 1 m",
        ),
        ({"waypoints": [{**WAY, "quaternion": [1, 1, 0, 0]}]}, "waypoints[0].quaternion", "has norm"),
        ({"waypoints": [{**WAY, "motion": "arc"}]}, "waypoints[0].motion", "'circ'"),
        ({"waypoints": [{"position": [9, 0, 0]}]}, "waypoints[0].position[0]", "use -5 to 5 m"),
        ({"motion": "lin", "interp_nums": 3}, "interp_nums", "leave it out, and write motion lin"),
        ({"waypoints": [WAY] * 101}, "waypoints", "has 101 entries; at most 100 are taken"),
        ({"tool": "left_fingr"}, "tool", "no link, tool frame or object; use one of ['hand', 'tcp', 'tray']"),
        ({"tool": "left_finger"}, "tool", "moves against the hand by joint"),
        ({"tool": "tray", "position_constraint": "object"}, "tool", "leave tool empty"),
    ],
)
def test_a_goal_that_makes_no_sense_is_refused_by_its_field(
    keys: dict[str, Any], field: str, words: str
) -> None:
    found = verdict(made(), goto(**keys))
    assert not found.ok
    named = {one.field_name: one.message for one in found.all}
    assert field in named, named
    assert words in named[field]


@pytest.mark.parametrize(
    ("keys", "field", "words"),
    [
        ({"interim": [[0, 0, 0.1]]}, "interim", "has 1 points for 2 of delta_trans"),
        ({"blend_radii": [0.05, 0.05]}, "blend_radii", "has 2 radii for 1 inner waypoints"),
        ({"blend_radii": [2.0]}, "blend_radii[0]", "use 0.01 to 1 m"),
        ({"blend_radii": [0.05], "straight": False}, "blend_radii", "does nothing here"),
    ],
)
def test_a_move_that_makes_no_sense_is_refused_by_its_field(
    keys: dict[str, Any], field: str, words: str
) -> None:
    found = verdict(made(), move(delta_trans=[[0.1, 0, 0], [0.1, 0.1, 0]], **keys))
    named = {one.field_name: one.message for one in found.all}
    assert words in named.get(field, ""), named


def test_overlapping_blends_and_points_on_a_line_end_the_goal_before_anything_moves() -> None:
    f = made()
    three = [[0.1, 0, 0], [0.1, 0.1, 0], [0.2, 0.1, 0]]
    outcome = run_skill(Move(), move(delta_trans=three, blend_radii=[0.06, 0.06]), f.context).outcome
    assert (outcome.code, outcome.field_name) == (Code.BAD_GOAL, "blend_radii[1]")
    assert "the blends overlap: blend_radii[0] is 0.06 m and blend_radii[1] is 0.06 m" in outcome.message
    outcome = run_skill(Move(), move(delta_trans=[[0.2, 0, 0]], interim=[[0.1, 0, 0]]), f.context).outcome
    assert (outcome.code, outcome.field_name) == (Code.BAD_GOAL, "interim[0]")
    assert "are on one line; move the interim point, or use lin" in outcome.message
    far = [[2.0 * (-1) ** i, 0, 0] for i in range(20)]
    outcome = run_skill(Move(), move(delta_trans=far, blend_radii=[0.0] * 19), f.context).outcome
    assert (outcome.code, outcome.field_name) == (Code.BAD_GOAL, "delta_trans[13]")
    assert "the curve to motion 14 is 54.0 m long, more than 50 m; split it" in outcome.message
    assert f.arm.followed == 0


def test_an_object_that_is_not_held_is_no_tool() -> None:
    f = made()
    with pytest.raises(StepFailed, match="the gripper holds nothing; pick an object first"):
        GotoPose().commands(goto(tool="tray"), f.context)


def test_every_point_of_a_goal_for_the_held_object_is_for_the_object() -> None:
    f, offset = made(), np.array([0.02, 0.0, 0.05])
    f.context.held["tray"] = Attachment("tray", f.context.arm_spec.ee_link, Pose.of(offset))
    hand = gantry_pose(f.cell.q)
    offset = hand.rotation.matrix() @ offset
    start = hand.translation_m + offset
    ways = [list(map(float, start + shift)) for shift in ([0.1, 0.0, 0.0], [0.1, 0.1, 0.0])]
    goal = goto(
        frame="world",
        position=ways[1],
        motion="lin",
        position_constraint="object",
        waypoints=[{"position": ways[0]}],
    )
    first, second = moves(f, goal)
    assert points(first)[-1] + offset == pytest.approx(ways[0])
    assert points(second)[-1] + offset == pytest.approx(ways[1])
