"""What an arm reaches, computed with the CPU engine."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.admittance.arm_kinematics import ArmKinematics
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import ObjectState, Shape, ShapeKind, World, WorldObject
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.reach_map import ReachMap
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.cpu_engine import CpuEngine
from handiwork_planning.reach.analysis import ReachSampling, compute_reach, greatest_reach_m
from handiwork_planning.reach.orientations import sphere_directions
from support.paths import ROBOTS

ROBOT = load_robot(ROBOTS / "fr3")
ARM = ROBOT.arm("")
SAMPLING = ReachSampling(cell_m=0.3, directions=sphere_directions(4), rolls=1)


@pytest.fixture(scope="module")
def found() -> ReachMap:
    return compute_reach(ROBOT, ARM, SAMPLING, workers=1)


def test_the_greatest_reach_is_that_of_the_stretched_arm() -> None:
    """FR3: 0.333 m to the shoulder, and about 0.95 m from there to the TCP."""
    reach = greatest_reach_m(ROBOT, ARM)
    assert 1.2 < reach < 1.3
    rng = np.random.default_rng(1)
    joints = [ROBOT.joints[name] for name in ARM.joint_names]
    for _ in range(200):
        q = {joint.name: rng.uniform(joint.lower, joint.upper) for joint in joints}
        poses = link_poses(ROBOT, q, (ARM.base_link, ARM.tcp_link))
        distance, _angle = poses[ARM.base_link].distance_to(poses[ARM.tcp_link])
        assert distance <= reach + 1e-6


def test_the_arm_reaches_before_itself_and_not_far_away(found: ReachMap) -> None:
    assert found.source.frame == ROBOT.root_link
    assert found.share([(0.45, 0.0, 0.3)], approach=(0.0, 0.0, -1.0)) == [1.0]
    assert found.manipulability_at([(0.45, 0.0, 0.3)])[0] > 0.01
    far = np.linalg.norm(found.centers() - (0.0, 0.0, 0.333), axis=-1) > 1.0
    assert not found.reached[far].any()
    assert (found.reached.sum(axis=-1) > 0).sum() == np.isfinite(found.manipulability).sum()
    assert found.reached.max() <= 1


def test_processes_find_the_same_map(found: ReachMap) -> None:
    again = compute_reach(ROBOT, ARM, SAMPLING, workers=2)
    assert np.array_equal(again.reached, found.reached)
    assert np.array_equal(again.manipulability, found.manipulability, equal_nan=True)


def test_an_engine_that_is_given_finds_nearly_the_same_map(found: ReachMap) -> None:
    """All poses are one block then, with other random starts: a pose that few starts reach may be missed."""
    engine = CpuEngine(ROBOT, Pose.identity(), lambda _share, _text: None)
    again = compute_reach(ROBOT, ARM, SAMPLING, engine=engine)
    assert (again.reached == found.reached).mean() > 0.995
    both = (again.reached == found.reached).all(axis=-1) & np.isfinite(found.manipulability)
    assert np.isfinite(again.manipulability[both]).all()


def test_manipulabilities_of_many_configurations_are_those_of_each() -> None:
    for name in ("fr3", "split_aloha", "fr3_mobile"):
        robot = load_robot(ROBOTS / name)
        arm = next(iter(robot.arms.values()))
        kinematics, joints = ArmKinematics(robot, arm), [robot.joints[n] for n in arm.joint_names]
        low, high = [j.lower for j in joints], [j.upper for j in joints]
        q = np.random.default_rng(0).uniform(low, high, (50, len(joints)))
        for row, one in zip(q, kinematics.manipulability(q), strict=True):
            jacobian = kinematics.pose_and_jacobian(row)[1]
            expected = np.sqrt(max(0.0, np.linalg.det(jacobian @ jacobian.T)))
            assert one == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_places_within_an_obstacle_are_not_reached() -> None:
    """The map is in world, where the base is turned by nothing and raised by half a metre."""
    box = WorldObject(
        "crate", (Shape(ShapeKind.BOX, frozen([0.5, 0.5, 0.5]), Pose.identity()),), is_static=True
    )
    state = ObjectState(Pose.of((0.6, 0.0, 0.9)), np.zeros(3), np.zeros(3), 0.0)
    world = World(0.0, 1, {"crate": box}, {"crate": state})
    base = Pose.of((0.0, 0.0, 0.5))
    sampling = ReachSampling(cell_m=0.3, directions=sphere_directions(1), rolls=1)
    free = compute_reach(ROBOT, ARM, sampling, world_T_base=base, workers=1)
    blocked = compute_reach(ROBOT, ARM, sampling, world_T_base=base, world=world, scene="crate", workers=1)
    assert (blocked.source.frame, blocked.source.scene) == ("world", "crate")
    assert free.share([(0.6, 0.0, 0.9)]) == [1.0]
    assert blocked.share([(0.6, 0.0, 0.9)]) == [0.0]
    assert (blocked.reached <= free.reached).mean() > 0.99
