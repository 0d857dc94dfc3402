"""The transforms of a robot multiply up to its forward kinematics."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Pose
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot_files.loader import load_robot
from robot_description.frames.edges import Pace, PublisherPaces, moving_edges, static_edges
from support.paths import ROBOTS

FR3 = ROBOTS / "fr3"


def test_edges_form_the_tree_of_the_kinematics() -> None:
    robot = load_robot(FR3)
    world_T_base = Pose.of((0.1, 0.2, 0.3))
    positions = {
        "fr3_joint1": 0.3,
        "fr3_joint2": -0.4,
        "fr3_joint3": 0.2,
        "fr3_joint4": -2.0,
        "fr3_joint5": 0.1,
    }
    positions |= {"fr3_joint6": 1.5, "fr3_joint7": 0.6, "fr3_finger_joint1": 0.02}
    edges = [*static_edges(robot, world_T_base), *moving_edges(robot, positions)]
    assert len({edge.child for edge in edges}) == len(edges) == len(robot.links)
    by_child = {edge.child: edge for edge in edges}
    for link, base_T_link in link_poses(robot, positions).items():
        name, pose = f"fr3/{link}", Pose.identity()
        while name != "world":
            pose = by_child[name].parent_T_child @ pose
            name = by_child[name].parent
        assert np.allclose(pose.matrix(), (world_T_base @ base_T_link).matrix(), atol=1e-12)


def test_unmeasured_joints_have_no_edge() -> None:
    edges = moving_edges(load_robot(FR3), {"fr3_finger_joint1": 0.01})
    assert {edge.child for edge in edges} == {"fr3/fr3_leftfinger", "fr3/fr3_rightfinger"}


def test_pace_keeps_thirty_of_a_hundred_and_restarts_after_a_step_back() -> None:
    pace = Pace(30.0)
    assert sum(pace.due(0.01 * i) for i in range(400)) == 100
    assert pace.due(0.5)
    assert not pace.due(0.5)


def test_a_publisher_that_sends_often_does_not_displace_the_frames_of_another() -> None:
    paces, used = PublisherPaces(30.0), {"fr3_joint1": 0, "base_x": 0}
    for i in range(1000):  # the arm at 1000 Hz, the base at 20 Hz right behind it
        used["fr3_joint1"] += paces.due("fr3_joint1", (0, i), i * 1e-3)
        if i % 50 == 0:
            used["base_x"] += paces.due("base_x", (0, i), i * 1e-3)
    assert used["base_x"] == 20
    assert 25 <= used["fr3_joint1"] <= 31


def test_a_message_with_a_stamp_that_came_before_is_not_used_again() -> None:
    paces = PublisherPaces(30.0)
    assert paces.due("base_x", (1, 0), 0.0)
    assert not paces.due("base_x", (1, 0), 1.0)
    assert paces.due("base_x", (1, 5), 2.0)
