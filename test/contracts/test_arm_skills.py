"""Every built-in skill keeps the contract: refusals, a stop at every call of a port, bugs in ports, equal seeds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from handiwork_core.contracts.skill import Skill
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.testing.fakes import Fakes, fakes
from handiwork_core.testing.gantry import gantry_pose, gantry_q
from handiwork_core.testing.skill_contract import SkillContract
from skill_server.execution.run import run_skill
from skill_server.skills import BUILTIN
from skill_server.skills.contact.move_until_contact import MoveUntilContact, MoveUntilContactParams
from skill_server.skills.motion.approach_rotate import ApproachRotate, ApproachRotateParams
from skill_server.skills.motion.goto_pose import GotoPose, GotoPoseParams
from skill_server.skills.motion.gripper_action import GripperAction, GripperActionParams
from skill_server.skills.motion.heuristic_skill import HeuristicSkill, HeuristicSkillParams
from skill_server.skills.motion.home import Home, HomeParams
from skill_server.skills.motion.joint_ctrl import JointCtrl, JointCtrlParams
from skill_server.skills.motion.move import Move, MoveParams
from skill_server.skills.motion.scan import Scan, ScanParams
from skill_server.skills.motion.track import Between, Track, TrackParams
from skill_server.skills.motion.wait import Wait, WaitParams
from skill_server.skills.pick_place.dexpick import DexPick, DexPickParams
from skill_server.skills.pick_place.dexplace import DexPlace, DexPlaceParams
from skill_server.skills.pick_place.dynamicpick import DynamicPick, DynamicPickParams
from skill_server.skills.pick_place.fail_pick import FailPick, FailPickParams
from skill_server.skills.pick_place.flip import Flip, FlipParams
from skill_server.skills.pick_place.manualpick import ManualPick, ManualPickParams
from skill_server.skills.pick_place.move_object import MoveObject, MoveObjectParams
from skill_server.skills.pick_place.pour import Pour, PourParams
from skill_server.skills.pick_place.rotate_obj import RotateObj, RotateObjParams
from skill_server.skills.two_arms.carry import Carry, CarryParams
from skill_server.skills.two_arms.handover import Handover, HandoverParams
from skill_server.tool_paths.waypoints import Waypoint
from support.cells.gantry_pair import pair

from . import (
    test_compliant_skills,
    test_mobile_skills,
    test_navigate,
    test_part_skills,
    test_policy_skill,
    test_skills,
)


def suite(
    kind: type[Skill[Any]],
    good: object,
    unknown: object = None,
    *,
    carries: bool = False,
    contact_s: float = math.inf,
) -> type[SkillContract[Any]]:
    """Return the contract's tests of one skill.

    ``unknown`` names an object that does not exist; after ``contact_s`` a force ends a motion that it may end.
    """

    class Suite(SkillContract[Any]):
        run = staticmethod(run_skill)

        def skill(self) -> Skill[Any]:
            return kind()

        def params(self) -> Any:
            return good

        def unknown(self) -> Any:
            return unknown

        def fakes(self, seed: int = 0) -> Fakes:
            made = test_skills.carrying(seed) if carries else fakes(test_skills.cell(), seed)
            made.arm.contact_s = contact_s
            return made

    if unknown is None:
        Suite.test_unknown_object_is_named_and_nothing_moves = None  # type: ignore[method-assign, assignment]
    return Suite


NEAR = Between(min=(-0.1, -0.1, 0.3), max=(0.1, 0.1, 0.4))
TURN = ((0.0, 0.0, 20.0), (0.0, 0.0, 40.0))

TestApproachRotate = suite(
    ApproachRotate,
    ApproachRotateParams(target="tray", distance=0.05),
    ApproachRotateParams(target="tary"),
    carries=True,
)
TestGotoPose = suite(GotoPose, GotoPoseParams(position=(0.4, 0.2, 0.5), max_noise_m=0.01, max_noise_deg=3.0))
TestGotoPoseOnACurve = suite(
    GotoPose,
    GotoPoseParams(
        position=(0.0, 0.1, 0.5),
        frame="tray",
        tool="tcp",
        motion="circ",
        interim=(0.05, 0.1, 0.45),
        waypoints=(
            Waypoint(position=(0.3, 0.0, 0.5), frame="base", motion="ptp"),
            Waypoint(position=(0.1, 0.0, 0.5), blend_radius=0.03),
            Waypoint(position=(0.1, 0.1, 0.5)),
        ),
    ),
)
TestGotoPoseWithObject = suite(
    GotoPose,
    GotoPoseParams(position=(0.4, 0.2, 0.5), position_constraint="object", interp_nums=3),
    GotoPoseParams(position=(0.4, 0.2, 0.5), position_constraint="object", object="cub"),
    carries=True,
)
TestGripperOpen = suite(GripperAction, GripperActionParams(gripper_state=1), carries=True)
TestGripperClose = suite(
    GripperAction, GripperActionParams(gripper_state=-1), GripperActionParams(gripper_state=-1, object="cub")
)
TestHeuristicHome = suite(HeuristicSkill, HeuristicSkillParams(), carries=True)
TestHeuristicJoints = suite(
    HeuristicSkill, HeuristicSkillParams(mode="rel_qpos", value=(0.1, 0.0, 0.05, 0.2, 0.0, 0.0))
)
TestHeuristicHand = suite(HeuristicSkill, HeuristicSkillParams(mode="rel_ee", value=(0.05, 0.1, 0.0)))
TestHome = suite(Home, HomeParams(gripper_state=1))
TestHomeCarrying = suite(Home, HomeParams(), carries=True)
TestJointCtrl = suite(
    JointCtrl, JointCtrlParams(ctrl_list=(("rail_x", 0.1, "delta"), (3, 30.0, "abs")), gripper_state=-1)
)
TestMove = suite(Move, MoveParams(delta_trans=((0.0, 0.0, 0.1), (0.05, 0.0, 0.1))))
TestMoveOnACurve = suite(
    Move, MoveParams(delta_trans=((0.0, 0.0, 0.1), (0.1, 0.0, 0.1)), blend_radii=(0.02,), frame="tray")
)
TestMoveOver = suite(
    Move,
    MoveParams(object="cube", target="tray", straight=False, hold_vec_weight=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0)),
    MoveParams(object="cube", target="tary"),
    carries=True,
)
TestMoveUntilContact = suite(
    MoveUntilContact,
    MoveUntilContactParams(object="tray", distance=0.04),
    MoveUntilContactParams(object="tary"),
    contact_s=1.0,
)
TestPour = suite(
    Pour, PourParams(container="tray", tilt_deg=14.0), PourParams(container="tary"), carries=True
)
TestRotateObj = suite(
    RotateObj,
    RotateObjParams(rotate_obj_euler_delta=TURN, trans_offset=(0.0, 0.0, 0.05), first_motion="move"),
    RotateObjParams(rotate_obj_euler_delta=TURN, object="cub"),
    carries=True,
)
TestRotateObjAfterJoints = suite(
    RotateObj,
    RotateObjParams(rotate_obj_euler_delta=TURN, ctrl_list=(("rail_x", 0.05, "delta"),)),
    RotateObjParams(rotate_obj_euler_delta=TURN, object="cub"),
    carries=True,
)
TestScan = suite(Scan, ScanParams(), ScanParams(object="cub"), carries=True)
TestTrack = suite(
    Track,
    TrackParams(object="tray", way_points_num=2, way_points_trans=NEAR),
    TrackParams(object="tary"),
)
TestWait = suite(Wait, WaitParams(wait_steps=15, gripper_state=1))
TestManualPick = suite(
    ManualPick,
    ManualPickParams(object="cube", manual_adjust_ori=(("z", 5.0),), adjust_trans_offset=(0.0, 0.0, 0.005)),
    ManualPickParams(object="cub"),
)
TestManualPickFromBeside = suite(
    ManualPick,
    ManualPickParams(object="cube", pre_grasp_offset_manual=(0.02, 0.0, 0.03)),
    ManualPickParams(object="cub", pre_grasp_offset_manual=(0.02, 0.0, 0.03)),
)
TestFailPick = suite(FailPick, FailPickParams(object="cube"), FailPickParams(object="cub"))
ABOVE = (0.0, 0.0, 0.1, 0.0, 1.0, 0.0, 0.0)
TestDexPick = suite(
    DexPick,
    DexPickParams(object="cube", pick_poses=(ABOVE,)),
    DexPickParams(object="cub", pick_poses=(ABOVE,)),
)
TestDynamicPickOfWhatStands = suite(
    DynamicPick, DynamicPickParams(object="cube"), DynamicPickParams(object="cub")
)
TestDexPlace = suite(
    DexPlace,
    DexPlaceParams(container="tray", below_tolerance=0.05),
    DexPlaceParams(container="tary"),
    carries=True,
)
TestFlip = suite(
    Flip, FlipParams(container="tray", up_axis=(0.0, 0.0, -1.0)), FlipParams(container="tary"), carries=True
)
UPSIDE_DOWN = Pose.of((0.4, -0.3, 0.0425), Rotation.from_rpy(np.pi, 0.0, 0.0))
"""The pose of a cube on the tray, as the hand holds it."""
TestMoveObject = suite(
    MoveObject,
    MoveObjectParams(object="cube", container="tray"),
    MoveObjectParams(object="cube", container="tary"),
)
TestMoveObjectInTheHand = suite(
    MoveObject,
    MoveObjectParams(object="cube", container="tray", object_poses=(UPSIDE_DOWN,)),
    MoveObjectParams(object="cub", container="tray"),
    carries=True,
)


class TestHandoverInBothHands(SkillContract[HandoverParams]):
    """Both hands hold the cube already, as an earlier goal left it: the other one closes firmly, and this one leaves.

    The way to there is tested in physics.
    """

    run = staticmethod(run_skill)

    def skill(self) -> Handover:
        return Handover()

    def params(self) -> HandoverParams:
        return HandoverParams(object="cube")

    def unknown(self) -> HandoverParams:
        return HandoverParams(object="cub")

    def fakes(self, seed: int = 0) -> Fakes:
        return held_by_both(seed)[0]


class TestCarryInBothHands(SkillContract[CarryParams]):
    """Both hands hold the cube already, as an earlier goal left it: both arms move, and let go.

    The way to there is tested in physics.
    """

    run = staticmethod(run_skill)

    def skill(self) -> Carry:
        return Carry()

    def params(self) -> CarryParams:
        return CarryParams(object="cube", position=(0.41, 0.1), lift=0.01, tool_speed=0.5)

    def unknown(self) -> CarryParams:
        return CarryParams(object="cub", position=(0.45, 0.1))

    def fakes(self, seed: int = 0) -> Fakes:
        return held_from_above(seed)[0]


def held_by_both(seed: int = 0) -> tuple[Fakes, Fakes]:
    """Return the fakes of two gantries whose hands meet at a cube from above and from below."""
    alone = test_skills.carrying(seed)
    given, taken = pair(alone.cell, seed)
    given.cell.q, given.cell.in_hand, given.cell.hand_T_object = (
        alone.cell.q,
        "cube",
        alone.cell.hand_T_object,
    )
    given.context.held.update(alone.context.held)
    given.cell.width_m = taken.cell.width_m = test_skills.CUBE_M
    cube = given.cell.poses["cube"]
    below = cube @ Pose.of((0.0, 0.0, 0.1), Rotation.from_rpy(np.pi, 0.0, 0.0))
    taken.cell.q, taken.cell.in_hand = gantry_q(below), "cube"
    taken.cell.hand_T_object = gantry_pose(taken.cell.q).inverse() @ cube
    return given, taken


def held_from_above(seed: int = 0) -> tuple[Fakes, Fakes]:
    """Return the fakes of two gantries whose hands hold a cube in the same pose, which both can put down."""
    given, taken = held_by_both(seed)
    taken.cell.q, taken.cell.hand_T_object = given.cell.q.copy(), given.cell.hand_T_object
    return given, taken


ELSEWHERE = (
    test_skills.TestPickContract,
    test_skills.TestPlaceContract,
    *test_part_skills.SUITES,
    *test_mobile_skills.SUITES,
    *test_navigate.SUITES,
    *test_compliant_skills.SUITES,
    test_policy_skill.TestRunPolicy,
)


def test_every_built_in_has_contract_tests() -> None:
    suites = [item for name, item in globals().items() if name.startswith("Test")]
    covered = {type(item().skill()) for item in [*suites, *ELSEWHERE]}
    assert covered == set(BUILTIN)
