"""Lines, arcs and blends through the real stack: the tool's path, by the joints that MuJoCo publishes, is measured."""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped

from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.clients.skill_client import SkillReport
from handiwork_ros.rclpy_support.qos import TF, TF_STATIC
from support.paths import ROBOTS
from support.stack.rig import JointSample, Rig, wait_for
from tf2_msgs.msg import TFMessage

ROBOT = load_robot(ROBOTS / "fr3")
TOOL = "fr3_hand_tcp"
DOWN = [0.0, 1.0, 0.0, 0.0]
A, B, C, D = (np.array(p) for p in ([0.4, -0.2, 0.3], [0.4, 0.1, 0.3], [0.6, 0.1, 0.3], [0.6, -0.1, 0.3]))
RADIUS_M = 0.06
FOLLOWED_M = 0.004
"""How far the simulated drives may be off their commands on the way, m; the planner adds up to 2 mm."""
STILL = 1e-3
CUBE_M = np.array([0.5, 0.12, 0.0225])
"""Place of the cube in the scene file."""


def pose_of(point: Array, **keys: Any) -> dict[str, Any]:
    return {"position": [float(v) for v in point], "quaternion": DOWN, **keys}


def goto(rig: Rig, **keys: Any) -> SkillReport:
    return rig.client.run("goto_pose", {"frame": "world", "tool": TOOL, **keys}, timeout_s=60.0)


def good(rig: Rig, **keys: Any) -> SkillReport:
    report = goto(rig, **keys)
    assert report.outcome.ok, report.outcome
    return report


def measured(samples: list[JointSample], names: list[str]) -> tuple[Array, Array]:
    """Return times (n,) [s] and places (n, 3) [m] of the tool in the world; the FR3's base is its origin."""
    places = [
        link_poses(ROBOT, dict(zip(names, one.positions, strict=True)), (TOOL,))[TOOL].translation_m
        for one in samples
    ]
    return np.array([one.stamp_s for one in samples]), np.array(places)


@pytest.fixture
def names(rig: Rig) -> list[str]:
    """Return the joints in the order of ``joint_states``."""
    from sensor_msgs.msg import JointState

    from handiwork_ros.rclpy_support.qos import LATEST

    found: list[list[str]] = []
    node = rig.client.node
    subscription = node.create_subscription(
        JointState, "joint_states", lambda m: found.append(list(m.name)), LATEST
    )
    wait_for("joint_states", lambda: bool(found))
    node.destroy_subscription(subscription)
    return found[0]


def line_gap(points: Array, corners: list[Array]) -> Array:
    """Return the distance of points (n, 3) from the lines between corners, (n,) m."""
    gaps = []
    for a, b in pairwise(corners):
        d = b - a
        share = np.clip((points - a) @ d / (d @ d), 0.0, 1.0)
        gaps.append(np.linalg.norm(points - a - share[:, None] * d, axis=1))
    return np.asarray(np.min(gaps, axis=0))


def test_a_blended_corner_is_passed_without_a_stop_within_its_radius(rig: Rig, names: list[str]) -> None:
    good(rig, **pose_of(A))
    rig.joints.clear()
    way = [
        pose_of(B, frame="base", blend_radius=RADIUS_M),
        pose_of(C, frame="base", blend_radius=RADIUS_M),
    ]
    report = good(rig, **pose_of(D), motion="lin", waypoints=way)
    assert [stage.name for stage in report.stages][:2] == ["select", "waypoint 1 to go"]
    t, points = measured(rig.joints.samples, names)
    off_m = line_gap(points, [A, B, C, D]).max()
    assert off_m <= RADIUS_M
    ends = np.linalg.norm(points[:, None] - [A, D], axis=2).min(axis=1) > 0.03
    for corner in (B, C):
        cut = np.linalg.norm(points - corner, axis=1).min()
        assert 0.1 * RADIUS_M < cut <= RADIUS_M
    # Away from both ends nothing stops: the tool's speed over 50 ms stays well above rest.
    steps = max(1, int(0.05 / np.median(np.diff(t))))
    speed = np.linalg.norm(points[steps:] - points[:-steps], axis=1) / (t[steps:] - t[:-steps])
    slowest = speed[ends[steps:] & ends[:-steps]].min()
    assert slowest > 0.05
    rig.client.node.get_logger().info(f"off by {1e3 * off_m:.1f} mm, at least {slowest:.2f} m/s")
    straight = [p for p in points if min(np.linalg.norm(p - B), np.linalg.norm(p - C)) > RADIUS_M + 0.005]
    assert line_gap(np.array(straight), [A, B, C, D]).max() <= 0.002 + FOLLOWED_M


def test_an_arc_keeps_its_radius_with_an_interim_point_and_with_a_center(rig: Rig, names: list[str]) -> None:
    middle = np.array([0.5, 0.0, 0.35])
    left, right, top = middle + [0.0, 0.12, 0.0], middle - [0.0, 0.12, 0.0], middle + [0.0, 0.0, 0.12]
    good(rig, **pose_of(left))
    for goal, keys in (
        (right, {"interim": [float(v) for v in top]}),
        (top, {"center": [float(v) for v in middle]}),
    ):
        rig.joints.clear()
        good(rig, **pose_of(goal), motion="circ", **keys)
        _, points = measured(rig.joints.samples, names)
        assert np.linalg.norm(points - middle, axis=1) == pytest.approx(0.12, abs=0.002 + FOLLOWED_M)
        assert np.abs(points[:, 0] - 0.5).max() <= 0.002 + FOLLOWED_M
        assert points[:, 2].min() >= 0.35 - 0.002 - FOLLOWED_M, (
            "the upper half is the one through the interim point"
        )


def test_a_pose_is_relative_to_an_object_and_to_a_moving_frame_of_tf(rig: Rig, names: list[str]) -> None:
    good(rig, position=[0.0, 0.0, 0.15], frame="cube", quaternion=DOWN)
    _, points = measured([rig.joints.next()], names)
    assert points[0, 2] == pytest.approx(CUBE_M[2] + 0.15, abs=0.006)
    assert points[0] == pytest.approx(CUBE_M + [0.0, 0.0, 0.15], abs=0.01)
    with moving_camera(rig):
        good(rig, position=[0.0, 0.0, 0.4], frame="camera", quaternion=DOWN)
        _, points = measured([rig.joints.next()], names)
        assert points[0] == pytest.approx([0.5, 0.1, 0.4], abs=0.01)
    rig.joints.clear()
    rig.joints.over(1.5)
    outcome = goto(rig, position=[0.0, 0.0, 0.5], frame="camera").outcome
    assert (outcome.code, outcome.field_name) == (Code.STALE_WORLD, "frame")
    assert "the newest transform of frame 'camera' is" in outcome.message
    outcome = goto(rig, position=[0.0, 0.0, 0.5], frame="camrea").outcome
    assert (outcome.code, outcome.field_name) == (Code.UNKNOWN_FRAME, "frame")
    assert "did you mean 'camera'" in outcome.message
    assert rig.joints.greatest_change() < STILL


def test_a_pose_is_relative_to_a_camera_that_the_hand_carries(rig: Rig, names: list[str]) -> None:
    good(rig, **pose_of(B))
    mount = TransformStamped(child_frame_id="wrist_camera")
    mount.header.frame_id = "fr3/fr3_hand"
    mount.transform.translation.x, mount.transform.translation.z = 0.05, 0.1034
    publisher = rig.client.node.create_publisher(TFMessage, "/tf_static", TF_STATIC)
    publisher.publish(TFMessage(transforms=[mount]))
    hand = link_poses(ROBOT, dict(zip(names, rig.joints.over(0.5)[-1].positions, strict=True)))["fr3_hand"]
    good(rig, position=[0.05, 0.1, 0.02], frame="wrist_camera", motion="lin")
    _, points = measured([rig.joints.next()], names)
    assert points[0] == pytest.approx(hand.apply((0.1, 0.1, 0.1034 + 0.02)), abs=0.005)
    rig.client.node.destroy_publisher(publisher)


def test_bad_curves_are_refused_by_their_field_and_nothing_moves(rig: Rig) -> None:
    good(rig, **pose_of(A))
    rig.joints.clear()
    near = [pose_of(B, blend_radius=0.2), pose_of(C, blend_radius=0.2)]
    cases = [
        (
            {**pose_of(D), "motion": "lin", "waypoints": near},
            "waypoints[1].blend_radius",
            "the blends overlap",
        ),
        ({**pose_of(B), "motion": "circ", "interim": [0.4, 0.0, 0.3]}, "interim", "on one line"),
        ({**pose_of(B), "tool": "fr3_link4"}, "tool", "before joint fr3_joint5"),
    ]
    for keys, field, words in cases:
        outcome = goto(rig, **keys).outcome
        assert not outcome.ok
        assert outcome.field_name == field
        assert words in outcome.message
    assert rig.joints.greatest_change() < STILL


class moving_camera:
    """Publish a transform of a frame ``camera`` on ``/tf`` 50 times a second, by the clock of the world."""

    def __init__(self, rig: Rig) -> None:
        self._node = rig.client.node
        self._publisher = self._node.create_publisher(TFMessage, "/tf", TF)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._publish)
        self._rig = rig

    def __enter__(self) -> None:
        self._thread.start()
        self._rig.joints.over(0.5)

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _publish(self) -> None:
        while not self._over.wait(0.02):
            link = TransformStamped(child_frame_id="camera")
            link.header.frame_id = "world"
            stamp_s = self._rig.joints.newest.stamp_s
            link.header.stamp.sec = int(stamp_s)
            link.header.stamp.nanosec = int(1e9 * (stamp_s % 1.0))
            link.transform.translation.x, link.transform.translation.y = 0.5, 0.1
            self._publisher.publish(TFMessage(transforms=[link]))
