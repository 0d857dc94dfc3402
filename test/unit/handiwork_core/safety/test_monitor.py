"""The checks against independent arithmetic: kinematics, tool speed, zones, joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.safety.config import SafetyConfig, Zone, ZoneFrame, ZoneShape
from handiwork_core.safety.contact_forces import net_forces
from handiwork_core.safety.kernel_arrays import Scratch
from handiwork_core.safety.monitor import SafetyMonitor
from handiwork_core.safety.state import Cause, Violation
from handiwork_core.safety.tool_kinematics import forward
from handiwork_core.safety.zone_check import place as place_point
from support.paths import ROBOTS

STEP_S = 0.002
PERCEIVED = SafetyConfig(acceleration_scale=1e6, velocity_scale=1e6, tool_speed=1e6)


def moving(robot: Robot) -> tuple[str, ...]:
    return tuple(joint.name for joint in robot.joints.values() if joint.type is not JointKind.FIXED)


def home(robot: Robot) -> Array:
    named = {n: q for a in robot.arms.values() for n, q in zip(a.joint_names, a.home_q, strict=True)}
    return np.array([named.get(name, 0.0) for name in moving(robot)])


def judged(
    monitor: SafetyMonitor, last: Array, q: Array, rate: Array, was: Array | None = None
) -> Violation | None:
    still = np.zeros(len(q))
    before = rate if was is None else was
    no_effort = np.full(len(q), np.nan)
    return monitor.check(
        q, rate, last, before, last, still, no_effort, 1.0, monitor.config.tool_speed, STEP_S
    )


@pytest.mark.parametrize(
    "name", ["fr3", "fr3_mobile", "fr3_robotiq", "genie1", "lift2", "split_aloha", "ur10_suction"]
)
def test_spheres_and_tools_are_where_the_robots_kinematics_has_them(name: str) -> None:
    robot = load_robot(ROBOTS / name)
    monitor, rng = (
        SafetyMonitor(robot, moving(robot), SafetyConfig(), Pose.identity()),
        np.random.default_rng(0),
    )
    model = monitor.model
    scratch, body, place = Scratch.of(model.tree), model.body, np.zeros(3)
    for _ in range(5):
        q = rng.uniform(-0.5, 0.5, len(model.names))
        forward(model.tree, q, scratch.rotation, scratch.translation)
        centers = []
        for group, frame in enumerate(body.group_frame):
            for sphere in range(body.first[group], body.first[group + 1]):
                place_point(scratch.rotation, scratch.translation, frame, body.sphere_center[sphere], place)
                centers.append(place.copy())
        poses = link_poses(robot, dict(zip(model.names, q.tolist(), strict=True)))
        moved = [item for item in robot.spheres if item.link in model.link_arm]
        assert np.allclose(
            np.array(centers), np.concatenate([poses[i.link].apply(i.centers) for i in moved]), atol=1e-9
        )
        rate, ahead = rng.uniform(-1.0, 1.0, len(q)), 1e-6
        later = link_poses(robot, dict(zip(model.names, (q + ahead * rate).tolist(), strict=True)))
        tools = [arm.tcp_link for arm in robot.arms.values()]
        expected = max(
            float(np.linalg.norm(later[t].translation_m - poses[t].translation_m)) / ahead for t in tools
        )
        assert monitor.fastest_tool(q[None], rate[None]) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("shape", [ZoneShape.BOX, ZoneShape.CYLINDER, ZoneShape.HALF_SPACE])
@pytest.mark.parametrize("frame", list(ZoneFrame))
def test_a_zone_is_kept_from_the_side_that_the_arm_comes_from(shape: ZoneShape, frame: ZoneFrame) -> None:
    """Check that the first command whose stop would come too near is refused, and that no earlier one is."""
    robot = load_robot(ROBOTS / "fr3")
    base = Pose.of((1.0, 2.0, 0.5), Rotation.from_axis_angle((0, 0, 1), 0.7))
    place = np.array([0.0, 0.35 if shape is ZoneShape.HALF_SPACE else 0.45, 0.4])
    world_R = np.array([np.cos(0.7), np.sin(0.7), 0.0]), np.array([-np.sin(0.7), np.cos(0.7), 0.0])
    center = base.apply(place) if frame is ZoneFrame.WORLD else place
    normal = -world_R[1] if frame is ZoneFrame.WORLD else np.array([0.0, -1.0, 0.0])
    turned = (0.0, 0.0, np.degrees(0.7)) if frame is ZoneFrame.WORLD else (0.0, 0.0, 0.0)
    size = {ZoneShape.BOX: (2.0, 0.2, 2.0), ZoneShape.CYLINDER: (0.1, 2.0, 0.0)}.get(shape, (0.0, 0.0, 0.0))
    zone = Zone("side", shape, tuple(center), size, tuple(normal), turned, frame)
    monitor = SafetyMonitor(robot, moving(robot), replace(PERCEIVED, zones=(zone,)), base)
    q, last = home(robot), home(robot)
    rate = np.zeros(len(q))
    rate[0] = 1.0
    for _ in range(1000):
        violation = judged(monitor, last, q, rate)
        if violation is not None:
            break
        last, q = q, q + rate * STEP_S
    assert violation is not None
    assert (violation.cause, violation.subject) == (Cause.ZONE, "side")
    stop = q + rate * 0.5 * 0.1  # 1 rad/s at 10 rad/s^2
    assert near(robot, stop, zone, place) < 0.02 < near(robot, stop - 2.0 * rate * STEP_S, zone, place)


def near(robot: Robot, q: Array, zone: Zone, place: Array) -> float:
    """Return the least distance of a sphere from the zone, which is at ``place`` and faces along -y of the robot."""
    poses = link_poses(robot, dict(zip(moving(robot), q.tolist(), strict=True)))
    least = np.inf
    for item in robot.spheres:
        if item.link == robot.root_link:
            continue
        at = poses[item.link].apply(item.centers) - place
        if zone.shape is ZoneShape.HALF_SPACE:
            distance = -at[:, 1]
        elif zone.shape is ZoneShape.BOX:
            distance = np.linalg.norm(np.maximum(np.abs(at) - [1.0, 0.1, 1.0], 0.0), axis=1)
        else:
            distance = np.linalg.norm(at[:, :2], axis=1) - 0.1
        least = min(least, float((distance - item.radii).min()))
    return least


def test_an_arm_in_a_zone_may_leave_it_and_not_go_deeper() -> None:
    robot = load_robot(ROBOTS / "fr3")
    zone = Zone("front", ZoneShape.HALF_SPACE, (0.3, 0.0, 0.0), normal=(-1.0, 0.0, 0.0))
    monitor = SafetyMonitor(robot, moving(robot), replace(PERCEIVED, zones=(zone,)), Pose.identity())
    q, rate = home(robot), np.zeros(len(home(robot)))
    rate[1] = 0.5  # leaning forward brings the hand, which is in the zone, deeper into it
    assert judged(monitor, q, q - rate * STEP_S, -rate) is None
    violation = judged(monitor, q, q + rate * STEP_S, rate)
    assert violation is not None and violation.subject == "front"


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_command_that_is_no_number_is_refused(number: float) -> None:
    robot = load_robot(ROBOTS / "fr3")
    monitor = SafetyMonitor(robot, moving(robot), SafetyConfig(), Pose.identity())
    q = home(robot)
    bad = q.copy()
    bad[2] = number
    violation = judged(monitor, q, bad, np.zeros(len(q)))
    assert violation is not None
    assert (violation.cause, violation.subject) == (Cause.COMMAND, "fr3_joint3")


def test_a_controller_may_give_its_path_up_and_hold_the_measured_place() -> None:
    robot = load_robot(ROBOTS / "fr3")
    monitor = SafetyMonitor(robot, moving(robot), SafetyConfig(), Pose.identity())
    measured = home(robot)
    last, speed = measured + 0.05, np.full(len(measured), 0.5)
    still = np.zeros(len(measured))
    no_effort = np.full(len(measured), np.nan)
    towards = monitor.check(measured, still, last, speed, measured, still, no_effort, 1.0, 9.0, STEP_S)
    away = monitor.check(last + 0.05, speed, last, speed, measured, still, no_effort, 1.0, 9.0, STEP_S)
    assert towards is None
    assert away is not None and away.cause is Cause.VELOCITY


def test_a_joint_beyond_its_limit_may_come_back() -> None:
    robot = load_robot(ROBOTS / "fr3")
    monitor = SafetyMonitor(robot, moving(robot), SafetyConfig(), Pose.identity())
    q = home(robot)
    q[0] = 2.9
    rate = np.zeros(len(q))
    rate[0] = 0.1
    assert judged(monitor, q, q - rate * STEP_S, -rate) is None
    violation = judged(monitor, q, q + rate * STEP_S, rate)
    assert violation is not None and violation.cause is Cause.POSITION


def test_forces_between_two_bodies_of_one_arm_cancel_and_others_count() -> None:
    bodies = np.array([[1, 2], [0, 1], [2, 3], [1, 2]], dtype=np.int32)
    group = np.array([-1, 0, 0, 1])
    address = np.array([0, 3, 6, -1], dtype=np.int32)
    frame = np.tile(np.eye(3).ravel(), (4, 1))
    force = np.array([9.0, 9.0, 9.0, 5.0, 0.0, 0.0, 0.0, 2.0, 0.0])
    total = np.zeros((2, 3))
    net_forces(bodies, address, frame, force, group, total)
    assert np.allclose(total, [[5.0, -2.0, 0.0], [0.0, 2.0, 0.0]])


def test_a_short_push_is_judged_by_the_transient_limit_and_a_long_one_by_the_lasting_limit() -> None:
    robot = load_robot(ROBOTS / "fr3")
    config = SafetyConfig(contact_force=150.0, transient_force=280.0, contact_time_s=0.5)

    def until_stop(newton: float) -> float:
        monitor = SafetyMonitor(robot, moving(robot), config, Pose.identity())
        force = np.array([[newton, 0.0, 0.0]])
        for period in range(1000):
            if monitor.check_force(force, STEP_S) is not None:
                return period * STEP_S
        return np.inf

    assert until_stop(140.0) == np.inf
    assert 0.5 < until_stop(200.0) < 0.56
    assert until_stop(600.0) < 0.02
