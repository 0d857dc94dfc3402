"""One suction interface: the simulated cup and a real valve answer the same client."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handiwork_msgs.srv import SetBeltVelocity
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import SetBool

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.suction import SuctionState
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.ports.robot_watch import RobotWatch
from handiwork_ros.ports.suction import SuctionClient, tool_client
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.ports.world_topics import Subscriptions
from handiwork_ros.rclpy_support.qos import LATEST
from sim_bridge.node import SimBridge
from suction_driver.node import SuctionDriver
from support.nodes.ros_stage import Stage, stage, wait_for
from support.paths import ROBOTS, ROOT

FOLDER = ROBOTS / "ur10_suction"
ROBOT = load_robot(FOLDER)
TOOL = ROBOT.arm("").gripper
assert TOOL is not None
ON, OFF = TOOL.min_width_m, TOOL.max_width_m


class User:
    """A client of the cup with the world from its messages."""

    def __init__(self, on: Stage, *, sim_time: bool) -> None:
        given = [Parameter("use_sim_time", value=sim_time)]
        self.node = Node("user", context=on.context, parameter_overrides=given)
        self.world = RosWorldSource(self.node, ROBOT, Subscriptions(contacts=True))
        assert TOOL is not None
        self.watch = RobotWatch(self.node, self.world)
        self.tool = tool_client(self.node, TOOL, self.world, self.watch)
        assert isinstance(self.tool, SuctionClient)
        on.add(self.node)

    def state(self) -> SuctionState:
        assert TOOL is not None
        found = self.world.snapshot().suction.get(TOOL.name)
        return found if found is not None else SuctionState(-1.0, on=False, sealed=False)

    def move(self, width_m: float) -> Outcome:
        return self.tool.move(width_m, should_stop=lambda: False)


@contextmanager
def simulated(scene: str, robot: Path = FOLDER) -> Iterator[tuple[Stage, SimBridge]]:
    with stage() as on:
        values = {"robot_dir": str(robot), "scene_file": str(ROOT / f"config/scenes/{scene}.yaml")}
        given = [Parameter(name, value=value) for name, value in values.items()]
        node = SimBridge(context=on.context, parameter_overrides=given)
        on.add(node)
        wait_for(lambda: node.is_active, 30.0)
        try:
            yield on, node
        finally:
            node.on_stop()


def put_before_cup(node: SimBridge, gap_m: float) -> None:
    """Put the parcel's top at a distance from the rim; it seals at once if the cup is on."""
    tip = link_poses(ROBOT, {})["suction_tip"]
    turn = Rotation.from_matrix(tip.rotation.matrix() @ np.diag([1.0, -1.0, -1.0]))
    pose = Pose.of(tip.apply(np.array([0.0, 0.0, 0.04 + gap_m])), turn)
    loop = node._running()
    loop.submit(lambda: loop.simulation.world.set_object_pose("parcel", pose)).result(60.0)


@contextmanager
def offered(node: SimBridge, user: User) -> Iterator[None]:
    """Put the parcel before the cup repeatedly, until there is a seal."""
    until = threading.Event()

    def keep_offering() -> None:
        while not until.is_set():
            if not user.state().sealed:
                put_before_cup(node, -0.001)
            until.wait(0.02)

    offering = threading.Thread(target=keep_offering)
    offering.start()
    try:
        yield
    finally:
        until.set()
        offering.join()


def test_the_simulated_cup_seals_tells_its_load_and_lets_go() -> None:
    with simulated("suction") as (on, node):
        user = User(on, sim_time=True)
        wait_for(lambda: user.state().stamp_s > 0.0 and bool(user.world.snapshot().objects))
        empty = user.move(ON)
        assert empty.code is Code.NOTHING_GRASPED
        assert "no seal" in empty.message
        wait_for(lambda: not user.state().on)
        with offered(node, user):
            assert user.move(ON).ok
            wait_for(lambda: user.state().object == "parcel")
        wait_for(lambda: user.state().force_n == pytest.approx(0.4 * 9.81, rel=0.05))
        assert any(
            "parcel" in (c.a, c.b) and "suction_cup" in c.a + c.b
            for c in user.world.snapshot().contacts or ()
        )
        assert user.move(OFF).ok
        wait_for(lambda: not user.state().on and not user.state().sealed)


def test_a_belt_is_set_by_its_service() -> None:
    with simulated("belt", ROBOTS / "fr3") as (on, node):
        user = Node("belt_user", context=on.context)
        client = user.create_client(SetBeltVelocity, "sim/set_belt_velocity")
        on.add(user)
        wait_for(client.service_is_ready)

        def ask(name: str, speed: float) -> int:
            request, answers = SetBeltVelocity.Request(object=name), list[Any]()
            request.velocity.y = speed
            on.executor.create_task(
                lambda: client.call_async(request).add_done_callback(lambda f: answers.append(f.result()))
            )
            wait_for(lambda: bool(answers))
            return int(answers[0].outcome.code)

        assert ask("parcel", 0.1) == Code.UNKNOWN_OBJECT
        assert ask("belt", 50.0) == Code.BAD_NUMBER
        assert ask("belt", -0.2) == Code.OK
        world = node._running().simulation.world
        wait_for(lambda: float(world.object_states()["parcel"].world_v_object[1]) < -0.15)


class Valve(Node):
    """A driver of a digital output and a vacuum switch, as on a real robot."""

    def __init__(self, on: Stage) -> None:
        super().__init__("valve", context=on.context)
        self.is_open, self.vacuum, self.works, self.speaks = False, True, True, True
        self.has_joints, self.closes, self.takes_s = True, True, 0.0
        self._joints = self.create_publisher(JointState, "joint_states", LATEST)
        self._switch = self.create_publisher(Bool, "vacuum/ok", LATEST)
        self.create_service(SetBool, "vacuum/set", self._set)
        self.create_timer(0.02, self._publish)
        on.add(self)

    def _publish(self) -> None:
        if self.has_joints:
            names = ROBOT.arm("").joint_names
            joints = JointState(name=names, position=[0.0] * len(names))
            joints.header.stamp = self.get_clock().now().to_msg()
            self._joints.publish(joints)
        if self.speaks:
            self._switch.publish(Bool(data=self.is_open and self.vacuum))

    def _set(self, request: Any, response: Any) -> Any:
        time.sleep(self.takes_s)  # noqa: TID251 - a slow valve
        works = self.works and (self.closes or request.data)
        if works:
            self.is_open = request.data
        response.success, response.message = works, "" if works else "no pressure"
        return response


@contextmanager
def driven() -> Iterator[tuple[Valve, User]]:
    with stage() as on:
        given = [Parameter("robot_dir", value=str(FOLDER))]
        driver, valve = SuctionDriver(context=on.context, parameter_overrides=given), Valve(on)
        on.add(driver)
        wait_for(lambda: driver.is_active, 60.0)
        user = User(on, sim_time=False)
        wait_for(lambda: user.state().stamp_s > 0.0)
        yield valve, user


def test_a_real_valve_and_switch_serve_the_same_client() -> None:
    with driven() as (valve, user):
        assert user.move(ON).ok
        assert valve.is_open
        wait_for(lambda: user.state().sealed)
        assert user.state().object == ""
        valve.speaks = False
        wait_for(lambda: "silent" in user.state().why and not user.state().sealed)
        valve.speaks = True
        wait_for(lambda: user.state().sealed)
        valve.vacuum = False
        wait_for(lambda: not user.state().sealed)
        assert "no vacuum" in user.state().why
        assert user.move(OFF).ok
        assert not valve.is_open
        failed = user.move(ON)
        assert failed.code is Code.NOTHING_GRASPED
        assert not valve.is_open, "a cup that found nothing is switched off"
        valve.works = False
        refused = user.move(ON)
        assert refused.code is Code.GRIPPER_FAILED
        assert "no pressure" in refused.message


def test_the_cup_is_off_when_a_lost_robot_ends_the_wait_for_its_valve() -> None:
    with driven() as (valve, user):
        valve.has_joints, valve.takes_s = False, 0.2
        wait_for(lambda: bool(user.watch.why_lost))
        for vacuum in (True, False):
            valve.vacuum = vacuum
            failed = user.move(ON)
            assert failed.code is Code.GRIPPER_FAILED
            assert "lost" in failed.message
            assert "may still suck" not in failed.message
            assert not valve.is_open
        valve.closes = False
        failed = user.move(ON)
        assert "lost" in failed.message
        assert "may still suck" in failed.message
        assert "no pressure" in failed.message


def test_the_driver_of_a_robot_without_a_cup_stands_by() -> None:
    with stage() as on:
        given = [Parameter("robot_dir", value=str(ROBOTS / "fr3"))]
        driver = SuctionDriver(context=on.context, parameter_overrides=given)
        on.add(driver)
        wait_for(lambda: driver.is_active, 60.0)
        served = {name for name, _ in driver.get_service_names_and_types_by_node("suction_driver", "/")}
        assert not any("set_suction" in name for name in served)
