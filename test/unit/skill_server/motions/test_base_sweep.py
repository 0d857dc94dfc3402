"""The sweep of a base judges shapes where they are: those of obstacles, of held objects, and of the planner's own."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.contracts.planning import Attachment
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import JointState, ObjectState, Shape, ShapeKind, World, WorldObject
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.testing.mobile import mobile_gantry
from skill_server.motions.base_sweep import BaseClearance, Touch, base_poses

ROBOT = mobile_gantry()
WAY = np.linspace((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), 26)
FREE = Pose.of((0.0, 0.0, 5.0))


def bar(name: str, size: tuple[float, float, float], object_T_shape: Pose) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.BOX, np.array(size), object_T_shape),))


def touch(
    *objects: tuple[WorldObject, Pose], planners: tuple[WorldObject, ...] = (), held: str = ""
) -> Touch | None:
    zero = np.zeros(3)
    world = World(
        1.0,
        1,
        {item.name: item for item, _ in objects},
        {item.name: ObjectState(pose, zero, zero, 1.0) for item, pose in objects},
        joints=JointState(1.0, {name: 0.0 for name in ROBOT.joints}),
        planner_objects={item.name: item for item in planners},
    )
    link = ROBOT.arm("").ee_link
    grips = {held: Attachment(held, link, Pose.identity())} if held else {}
    return BaseClearance(ROBOT, world, Pose.identity(), frozenset(), grips, WAY[0]).first_touch(WAY)


@pytest.mark.parametrize("is_planners", [False, True])
def test_an_obstacle_counts_where_its_shape_is(is_planners: bool) -> None:
    size = (0.05, 2.0, 2.0)
    near, far = bar("wall", size, Pose.of((0.4, 0.0, 0.0))), bar("wall", size, Pose.of((5.0, 0.0, 0.0)))
    if is_planners:
        assert touch(planners=(near,)) is not None
        assert touch(planners=(far,)) is None
    else:
        found = touch((near, Pose.identity()))
        assert found is not None
        assert found.pair.b == "wall"
        assert touch((far, Pose.identity())) is None
        assert touch((bar("wall", size, FREE), Pose.of((0.4, 0.0, -5.0)))) is not None


def test_a_held_object_counts_where_its_shape_is() -> None:
    hand = link_poses(ROBOT, {name: 0.0 for name in ROBOT.joints})[ROBOT.arm("").ee_link]
    offset = Pose.of((0.0, 0.0, 2.0))
    mast = (bar("mast", (0.1, 0.1, 0.1), offset), Pose.of((9.0, 9.0, 9.0)))
    ahead = (hand @ offset).translation_m + (0.3, 0.0, 0.0)
    post = (bar("post", (0.02, 0.02, 0.02), Pose.identity()), Pose.of(ahead))
    assert touch(post) is None, "the post is beside the robot"
    found = touch(post, mast, held="mast")
    assert found is not None
    assert (found.pair.a, found.pair.b) == ("mast", "post")
    here = (bar("mast", (0.1, 0.1, 0.1), Pose.identity()), mast[1])
    assert touch(post, here, held="mast") is None


def test_the_poses_of_the_base_are_those_of_its_joints() -> None:
    assert ROBOT.base is not None
    root = Pose.of((0.3, -0.2, 0.1), Rotation.from_rpy(0.1, -0.2, 0.7))
    path = np.random.default_rng(0).uniform(-2.0, 2.0, (20, 3))
    turns, origins = base_poses(root, path)
    for q, turn, origin in zip(path, turns, origins, strict=True):
        joints = dict(zip(ROBOT.base.joint_names, q.tolist(), strict=True))
        pose = root @ link_poses(ROBOT, joints)[ROBOT.base.link]
        assert turn == pytest.approx(pose.rotation.matrix(), abs=1e-12)
        assert origin == pytest.approx(pose.translation_m, abs=1e-12)
