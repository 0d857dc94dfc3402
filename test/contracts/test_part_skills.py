"""Open, close and rotate keep the contract; a part that does not follow ends the goal with the measured cause."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.commands import ExpectJoint, UpdateSpecific
from handiwork_core.contracts.planning import (
    CandidatesRequest,
    CandidatesResult,
    CandidateVerdict,
)
from handiwork_core.contracts.skill import Skill
from handiwork_core.model.articulation import Articulation, Handle
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import (
    Shape,
    ShapeKind,
    WorldObject,
    part_positions,
)
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from handiwork_core.testing.skill_contract import MOTION_CALLS, SkillContract
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.skills.articulated.artpreplan import ArtPreplan, ArtPreplanParams
from skill_server.skills.articulated.close import Close, CloseParams
from skill_server.skills.articulated.open import Open, OpenParams
from skill_server.skills.articulated.rotate import Rotate, RotateParams
from skill_server.skills.pick_place.pick import Pick, PickParams

WIDE_M = 0.02
HANDLE = Handle(frozen((0.0, -0.04, 0.0)), frozen((0.0, 0.04, 0.0)), frozen((0.0, 0.0, -1.0)), WIDE_M)
DRAWER = Articulation(
    "chest",
    JointKind.PRISMATIC,
    Pose.of((0.0, 0.0, 0.1)),
    frozen((-1, 0, 0)),
    frozen((0, 0, 0)),
    0.0,
    0.3,
    HANDLE,
)
KNOB = Articulation(
    "stove",
    JointKind.REVOLUTE,
    Pose.of((0.0, 0.0, 0.1)),
    frozen((0, 0, 1)),
    frozen((0, 0, 0)),
    0.0,
    2.0,
    HANDLE,
)
DOOR = replace(KNOB, body="stove", origin=frozen((0.2, 0.0, 0.0)))
BODIES = {"chest": Pose.of((0.5, 0.2, 0.1)), "stove": Pose.of((0.5, -0.3, 0.1))}


def part_cell(drawer: float = 0.0, joints: dict[str, Articulation] | None = None) -> Cell:
    """Return a cell with a chest with a drawer, a stove with a knob, and a pen in the drawer.

    The handles are at the origins of the parts.
    """
    joints = joints or {"drawer": DRAWER, "knob": KNOB}
    box = (Shape(ShapeKind.BOX, np.array([0.1, 0.1, 0.04]), Pose.identity()),)
    objects = {name: WorldObject(name, box, is_static=True) for name in BODIES}
    poses = dict(BODIES)
    for name, joint in joints.items():
        objects[name] = WorldObject(name, box, mass_kg=1.0, articulation=joint)
        poses[name] = BODIES[joint.body] @ joint.at(drawer if name == "drawer" else 0.5)
    small = (Shape(ShapeKind.BOX, np.array([0.01, 0.01, 0.01]), Pose.identity()),)
    objects["pen"], poses["pen"] = WorldObject("pen", small, mass_kg=0.01), poses[next(iter(joints))]
    return Cell(objects, poses, dict.fromkeys(joints, WIDE_M))


def suite(kind: type[Skill[Any]], good: Any, drawer: float = 0.0) -> type[SkillContract[Any]]:
    class Suite(SkillContract[Any]):
        run = staticmethod(run_skill)

        def skill(self) -> Skill[Any]:
            return kind()

        def params(self) -> Any:
            return good

        def unknown(self) -> Any:
            return replace(good, object="drwer")

        def fakes(self, seed: int = 0) -> Fakes:
            return fakes(part_cell(drawer), seed)

    return Suite


TestOpen = suite(Open, OpenParams(object="drawer", fraction=0.3, max_tilt_deg=0.0))
TestClose = suite(Close, CloseParams(object="drawer", max_tilt_deg=0.0), drawer=0.1)
TestRotate = suite(Rotate, RotateParams(object="knob", angle=0.35, max_tilt_deg=0.0))
TestArtPreplan = suite(ArtPreplan, ArtPreplanParams(object="drawer", max_tilt_deg=0.0))
SUITES = (TestArtPreplan, TestOpen, TestClose, TestRotate)


def run(made: Fakes, skill: Skill[Any], params: Any) -> ExecutionResult:
    return run_skill(skill, params, made.context)


def position(made: Fakes, part: str = "drawer") -> float:
    world = made.context.world.snapshot()
    return part_positions(world.objects, world.states)[part]


def test_opened_as_far_as_asked_and_let_go() -> None:
    made = fakes(part_cell())
    assert run(made, Open(), OpenParams(object="drawer", fraction=0.5)).outcome.ok
    assert position(made) == pytest.approx(0.15, abs=1e-6)
    assert not made.context.held
    assert made.cell.width_m == 0.08
    hand = made.context.world.snapshot().joints.position
    assert hand["rail_z"] > 0.3  # back off above the handle


def test_a_body_with_one_part_stands_for_it() -> None:
    made = fakes(part_cell())
    params = OpenParams(object="chest", success_mode="normal", success_threshold=0.2)
    assert run(made, Open(), params).outcome.ok
    assert position(made) > 0.2


def test_the_hand_may_keep_the_handle() -> None:
    made = fakes(part_cell())
    assert run(made, Open(), OpenParams(object="drawer", release=False)).outcome.ok
    assert set(made.context.held) == {"drawer"}
    assert made.cell.in_hand == "drawer"


def test_a_knob_turns_back_too() -> None:
    made = fakes(part_cell())
    assert run(made, Rotate(), RotateParams(object="knob", angle=-0.4)).outcome.ok
    assert position(made, "knob") == pytest.approx(0.1, abs=1e-6)


def test_an_arc_is_followed_in_short_pieces() -> None:
    made = fakes(part_cell(joints={"door": DOOR}))
    commands = Open().commands(OpenParams(object="door", fraction=1.0), made.context)
    looks = [c for c in commands if isinstance(c.function, ExpectJoint)]
    poses = [c.world_T_ee for c in looks]
    centre = BODIES["stove"].apply((0.2, 0.0, 0.1))
    radii = [np.linalg.norm((pose.apply((0.0, 0.0, 0.1)) - centre)[:2]) for pose in poses if pose]
    assert np.ptp(radii) < 1e-9
    turns = [a.rotation.angle_to(b.rotation) for a, b in itertools.pairwise(poses) if a and b]
    assert max(turns) ** 2 * (max(radii) + 0.1) / 8.0 <= 0.002 + 1e-9
    assert isinstance(looks[-1].function, ExpectJoint)
    assert looks[-1].function.position == pytest.approx(2.0)


def test_what_is_open_stays_open_and_nothing_moves() -> None:
    made = fakes(part_cell(drawer=0.28))
    assert run(made, Open(), OpenParams(object="drawer")).outcome.ok
    assert not set(made.cell.calls) & set(MOTION_CALLS)


def test_what_lies_in_the_drawer_is_no_obstacle() -> None:
    commands = Open().commands(OpenParams(object="drawer"), fakes(part_cell()).context)
    ignored = [c.function.ignored for c in commands if isinstance(c.function, UpdateSpecific)]
    assert set(ignored) == {frozenset({"pen"})}


def stuck(made: Fakes) -> None:
    """Keep the joint where it is, while the fingers still touch it."""
    made.cell.carry = lambda: None  # type: ignore[method-assign]


def slipped(made: Fakes) -> None:
    """Let the handle leave the fingers in the first motion with it."""

    def tick(_t: float) -> None:
        if made.cell.in_hand and position(made) > 0.02:
            made.cell.in_hand = ""

    made.arm.on_tick = tick


@pytest.mark.parametrize(("fate", "code"), [(stuck, Code.NOT_IN_PLACE), (slipped, Code.OBJECT_DROPPED)])
def test_a_part_that_does_not_follow_ends_the_goal_with_its_cause(
    fate: Callable[[Fakes], None], code: Code
) -> None:
    made = fakes(part_cell())
    fate(made)
    ended = run(made, Open(), OpenParams(object="drawer", max_lag=0.1)).outcome
    assert ended.code is code, ended
    assert "drawer" in ended.message
    assert ended.stage == "move"
    assert made.arm.stops == 1
    assert position(made) < 0.2


def test_a_part_that_slides_back_is_not_open() -> None:
    made = fakes(part_cell())
    gripper = made.gripper.move

    def move(width_m: float, **named: Any) -> Outcome:
        done = gripper(width_m, **named)
        if not made.cell.in_hand and position(made) > 0.2:
            made.cell.poses["drawer"] = BODIES["chest"] @ DRAWER.at(0.1)
        return done

    made.gripper.move = move  # type: ignore[method-assign]
    ended = run(made, Open(), OpenParams(object="drawer")).outcome
    assert ended.code is Code.NOT_IN_PLACE
    assert "0.33 open" in ended.message


def test_a_grasp_whose_way_the_part_blocks_is_passed_over() -> None:
    made = fakes(part_cell())
    check, swept = made.planner.check_candidates, list[CandidatesRequest]()

    def judged(request: CandidatesRequest, **named: Any) -> CandidatesResult:
        result = check(request, **named)
        if not request.scenes[0].attached:
            return result
        swept.append(request)
        if len(swept) > 2:
            return result
        bad = replace(result.verdicts[0], code=Code.PATH_BLOCKED)
        return replace(result, verdicts=(bad,))

    made.planner.check_candidates = judged  # type: ignore[method-assign]
    assert run(made, Open(), OpenParams(object="drawer")).outcome.ok
    assert len(swept) == 3
    firsts = [request.candidates[0].world_T_ee[0].matrix() for request in swept]
    assert not any(np.allclose(firsts[2], one) for one in firsts[:2])


def test_where_no_way_is_free_the_blocking_cause_is_reported() -> None:
    made = fakes(part_cell())
    check = made.planner.check_candidates

    def judged(request: CandidatesRequest, **named: Any) -> CandidatesResult:
        result = check(request, **named)
        bad = tuple(CandidateVerdict(Code.PATH_BLOCKED, v.q) for v in result.verdicts)
        return replace(result, verdicts=bad) if request.scenes[0].attached else result

    made.planner.check_candidates = judged  # type: ignore[method-assign]
    for skill, params in (
        (Open(), OpenParams(object="drawer")),
        (ArtPreplan(), ArtPreplanParams(object="drawer")),
    ):
        ended = run(made, skill, params).outcome
        assert ended.code is Code.PATH_BLOCKED
        assert "'drawer' in the hand" in ended.message
    assert not set(made.cell.calls) & set(MOTION_CALLS)


NO_HANDLE = {"drawer": replace(DRAWER, handle=None)}
THICK = {"drawer": replace(DRAWER, handle=replace(HANDLE, width_m=0.079))}
BAD: list[tuple[Skill[Any], Any, dict[str, Articulation] | None, Code, str, str]] = [
    (Open(), OpenParams(object="pen"), None, Code.BAD_GOAL, "object", "'drawer', 'knob'"),
    (Open(), OpenParams(object=""), None, Code.BAD_GOAL, "object", "empty"),
    (Open(), OpenParams(object="drawer"), NO_HANDLE, Code.BAD_GOAL, "object", "no handle"),
    (Open(), OpenParams(object="drawer"), THICK, Code.BAD_GOAL, "object", "79 mm wide"),
    (Open(), OpenParams(object="drawer", fraction=1.5), None, Code.BAD_NUMBER, "fraction", "0 to 1"),
    (Open(), OpenParams(object="drawer", tolerance=0.0), None, Code.BAD_NUMBER, "tolerance", "0.001"),
    (Open(), OpenParams(object="drawer", success_mode="zero"), None, Code.BAD_GOAL, "success_mode", "abs"),
    (
        Close(),
        CloseParams(object="drawer", success_mode="normal"),
        None,
        Code.BAD_GOAL,
        "success_mode",
        "zero",
    ),
    (Close(), CloseParams(object="drawer", max_lag=0.0), None, Code.BAD_NUMBER, "max_lag", "0.01"),
    (Rotate(), RotateParams(object="drawer"), None, Code.BAD_GOAL, "object", "slides"),
    (Rotate(), RotateParams(object="knob", angle=1.8), None, Code.CONTRADICTION, "angle", "0 to 2"),
    (Pick(), PickParams(object="drawer"), None, Code.BAD_GOAL, "object", "part of 'chest'"),
]


@pytest.mark.parametrize(("skill", "params", "joints", "code", "field", "text"), BAD)
def test_bad_goals_are_refused_by_field(
    skill: Skill[Any], params: Any, joints: Any, code: Code, field: str, text: str
) -> None:
    made = fakes(part_cell(joints=joints))
    ended = run(made, skill, params).outcome
    assert (ended.code, ended.field_name) == (code, field), ended
    assert text in ended.message
    assert not set(made.cell.calls) & set(MOTION_CALLS)


@pytest.mark.parametrize(
    ("mode", "threshold", "good"),
    [("fraction", 0.0, True), ("zero", 0.005, True), ("dis_to_init", 0.2, True), ("dis_to_init", 0.3, False)],
)
def test_ways_to_judge_a_close(mode: str, threshold: float, good: bool) -> None:
    made = fakes(part_cell(drawer=0.25))
    params = CloseParams(object="drawer", success_mode=mode, success_threshold=threshold)
    assert run(made, Close(), params).outcome.ok is good
