"""Motions with a load keep the effort limits of the joints, by inverse dynamics at and between the samples."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from handiwork_core.contracts.planning import Attachment, OtherArm, SceneQuery
from handiwork_core.model.geometry import Array, Pose, Rotation, frozen
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import Shape, ShapeKind, World, WorldObject
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.dynamics.arm_bodies import ArmMasses
from handiwork_planning.dynamics.inverse_dynamics import joint_torques
from handiwork_planning.dynamics.loads import share_of
from handiwork_planning.dynamics.torque_limit import BELOW, TorqueLimit
from support.paths import ROBOTS
from support.planning.led_arms import led_arm

HELD = Attachment("block", "fr3_hand", Pose.of((0.0, 0.0, 0.13)))
SCENE = SceneQuery(attached=(HELD,))


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(ROBOTS / "fr3")


def world_with(mass_kg: float) -> World:
    shape = Shape(ShapeKind.BOX, frozen((0.06, 0.06, 0.06)), Pose.identity())
    return World(0.0, objects={"block": WorldObject("block", (shape,), mass_kg=mass_kg)})


def raised(robot: Robot, duration_s: float) -> Trajectory:
    """Return a swing of the outstretched arm upwards, in a cosine of time."""
    names, t = robot.arm("").joint_names, np.linspace(0.0, duration_s, 80)
    rate = np.pi / duration_s
    s = 0.5 * (1.0 - np.cos(rate * t))[:, None]
    v, a = (0.5 * rate * np.sin(rate * t))[:, None], (0.5 * rate**2 * np.cos(rate * t))[:, None]
    start: Array = np.array([0.0, 1.4, 0.0, -0.3, 0.0, 1.8, 0.0])
    way = np.array([0.5, -1.2, 0.0, 0.0, 0.0, 0.0, 0.0])
    return Trajectory(names, t, start + s * way, v * way, a * way)


def worst_share(robot: Robot, trajectory: Trajectory, world: World) -> float:
    """Return the greatest share of an effort limit, also between the samples."""
    arm = robot.arm("")
    masses = ArmMasses(robot, arm, {}, Pose.identity())
    rows = [np.array(x) for x in (trajectory.q, trajectory.qd, trajectory.qdd)]
    rows = [np.concatenate([x, 0.5 * (x[1:] + x[:-1])]) for x in rows]
    torque = joint_torques(masses.bodies([(HELD, world.objects["block"])]), masses.gravity, *rows)
    return float((np.abs(torque) / [robot.joints[name].effort for name in arm.joint_names]).max())


def test_a_motion_with_a_load_takes_the_time_that_the_joints_need(robot: Robot) -> None:
    fast, world, limit = raised(robot, 0.45), world_with(2.0), TorqueLimit(robot, Pose.identity())
    assert worst_share(robot, fast, world) > 1.1
    kept, outcome = limit.kept("fr3_arm", fast, SCENE, world)
    assert outcome.ok
    assert BELOW - 0.02 < worst_share(robot, kept, world) < BELOW + 1e-3
    np.testing.assert_array_equal(kept.q, fast.q)
    assert limit.judged("fr3_arm", kept, SCENE, world).ok
    refused = limit.judged("fr3_arm", fast, SCENE, world)
    assert refused.code is Code.TRAJECTORY_REFUSED
    assert "fr3_joint2" in refused.message and "'block' (2 kg)" in refused.message


def test_a_slow_motion_and_an_empty_hand_stay_as_they_are(robot: Robot) -> None:
    limit, fast, slow = TorqueLimit(robot, Pose.identity()), raised(robot, 0.45), raised(robot, 3.0)
    assert limit.kept("fr3_arm", slow, SCENE, world_with(2.0))[0] is slow
    assert limit.kept("fr3_arm", fast, SceneQuery(), world_with(2.0))[0] is fast
    assert limit.kept("fr3_arm", fast, SCENE, world_with(0.0))[0] is fast, "its mass is not known"


def test_what_no_pace_can_carry_is_refused_by_joint_and_load(robot: Robot) -> None:
    limit = TorqueLimit(robot, Pose.identity())
    _, outcome = limit.kept("fr3_arm", raised(robot, 3.0), SCENE, world_with(8.0))
    assert outcome.code is Code.PLAN_FAILED
    for word in ("fr3_joint6", "of its 12 to hold 'block' (8 kg) still", "lighter"):
        assert word in outcome.message


def test_the_direction_of_gravity_counts(robot: Robot) -> None:
    """An arm on a wall has no weight on the joints that bear most of it on the floor."""
    swing, wall_T_robot = (
        raised(robot, 3.0),
        Pose.of((0.0, 0.0, 0.0), Rotation.from_rpy(0.5 * np.pi, 0.0, 0.0)),
    )
    floor = message_of(TorqueLimit(robot, Pose.identity()), swing)
    wall = message_of(TorqueLimit(robot, wall_T_robot), swing)
    assert "fr3_joint6 needs" in floor
    assert "fr3_joint5 needs" in wall


def message_of(limit: TorqueLimit, trajectory: Trajectory) -> str:
    return limit.kept("fr3_arm", trajectory, SCENE, world_with(8.0))[1].message


@pytest.mark.parametrize(("effort", "why"), [(0.0, "no effort limit"), (1.0, "at home the arm alone needs")])
def test_joints_without_a_usable_limit_are_named_and_not_checked(
    robot: Robot, effort: float, why: str
) -> None:
    joints = {**robot.joints, "fr3_joint2": replace(robot.joints["fr3_joint2"], effort=effort)}
    limit = TorqueLimit(replace(robot, joints=joints), Pose.identity())
    assert list(limit.unchecked) == ["fr3_joint2"] and why in limit.unchecked["fr3_joint2"]
    assert "fr3_joint2" not in message_of(limit, raised(robot, 3.0))


@pytest.fixture(scope="module")
def two_arms() -> Robot:
    return load_robot(ROBOTS / "lift2")


@dataclass(frozen=True, slots=True, eq=False)
class Carrying:
    """Both arms of a robot stand at home with their hands on one object.

    Attributes:
        robot: The robot.
        rest: The motion of each arm.
        own: The scene of the arm that has the object attached.
        other: The scene of the other one.
    """

    robot: Robot
    rest: dict[str, Trajectory]
    own: SceneQuery
    other: SceneQuery

    def messages(self, mass_kg: float) -> tuple[str, str]:
        """Return what is said about the motion of the left and of the right arm."""
        limit, world = TorqueLimit(self.robot, Pose.identity()), world_with(mass_kg)
        scenes = {"left_arm": self.own, "right_arm": self.other}
        left, right = (
            limit.judged(arm, self.rest[arm], scene, world).message for arm, scene in scenes.items()
        )
        return left, right


def carrying(robot: Robot, towards_left: float) -> Carrying:
    """Return both arms at home; 0.5 of the way from the right hand to the left one is the middle."""
    t, rest = np.linspace(0.0, 2.0, 20), dict[str, Trajectory]()
    for name, arm in robot.arms.items():
        q, still = np.tile(arm.home_q, (20, 1)), np.zeros((20, 6))
        rest[name] = Trajectory(arm.joint_names, t, q, still, still)
    poses = link_poses(
        robot, {n: v for a in robot.arms.values() for n, v in zip(a.joint_names, a.home_q, strict=True)}
    )
    left, right = poses["fl_link6"], poses["fr_link6"]
    at = Pose.of(right.translation_m + towards_left * (left.translation_m - right.translation_m))
    held = (Attachment("block", "fl_link6", left.inverse() @ at),)
    hands = {name: frozenset({BodyPair(f"lift2/{name}", "block")}) for name in ("fl_link6", "fr_link6")}
    beside = OtherArm("right_arm", rest["right_arm"].q, t_s=t)
    holder = OtherArm("left_arm", rest["left_arm"].q, held, t_s=t)
    return Carrying(
        robot,
        rest,
        SceneQuery(attached=held, allowed=hands["fr_link6"], others=(beside,)),
        SceneQuery(allowed=hands["fr_link6"], others=(holder,)),
    )


def test_only_an_arm_in_the_same_motion_with_its_hand_on_the_object_carries(two_arms: Robot) -> None:
    both, limit, world = carrying(two_arms, 0.5), TorqueLimit(two_arms, Pose.identity()), world_with(40.0)
    stands = (replace(both.own.others[0], t_s=None),)
    texts = [
        limit.judged("left_arm", both.rest["left_arm"], scene, world).message
        for scene in (
            replace(both.own, others=()),
            replace(both.own, others=stands),
            replace(both.own, allowed=frozenset()),
        )
    ]
    assert len(set(texts)) == 1 and "(40 kg)" in texts[0]
    assert "(20 kg, its share)" in both.messages(40.0)[0]


def test_the_second_arm_has_its_share_of_the_load_on_its_torques(two_arms: Robot) -> None:
    """The object is attached to the first arm alone; the second one is judged with its part of it, too."""
    both = carrying(two_arms, 0.5)
    left, right = both.messages(40.0)
    assert "fl_joint" in left and "(20 kg, its share)" in left
    assert "fr_joint" in right and "(20 kg, its share)" in right
    assert both.messages(0.5) == ("", "")
    alone = replace(both.other, allowed=frozenset())
    limit = TorqueLimit(two_arms, Pose.identity())
    assert limit.judged("right_arm", both.rest["right_arm"], alone, world_with(40.0)).ok, "no hand on it"


def test_the_hand_nearer_to_the_centre_of_mass_carries_more_and_none_less_than_half(two_arms: Robot) -> None:
    left, right = carrying(two_arms, 0.75).messages(40.0)
    assert "(30 kg, its share)" in left and "(20 kg, its share)" in right
    left, right = carrying(two_arms, 0.25).messages(40.0)
    assert "(20 kg, its share)" in left and "(30 kg, its share)" in right


def test_shares_follow_leverage_on_the_floor_plan() -> None:
    own, other = np.array([0.0, 0.0, 0.3]), np.array([1.0, 0.0, 0.9])
    assert share_of(own, other, np.array([0.2, 0.4, 0.1])) == pytest.approx(0.8)
    assert share_of(other, own, np.array([0.2, 0.4, 0.1])) == 0.5
    assert (
        share_of(own, other, np.array([-0.1, 0.0, 0.0]))
        == share_of(other, own, np.array([-0.1, 0, 0]))
        == 1.0
    )
    assert share_of(own, own + [0.0, 0.0, 0.5], own) == 1.0


def test_arms_whose_links_follow_their_joints_are_not_checked_and_it_is_said() -> None:
    robot = led_arm(np.random.default_rng(3), joints=4, followers=2, rods=1)
    unchecked = TorqueLimit(robot, Pose.identity()).unchecked
    assert set(unchecked) == set(robot.arm("").joint_names)
    assert all("follow joints of the arm by <mimic>" in why for why in unchecked.values())
