"""The admittance controller of the simulation by its messages, and the port of the skills over them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter

from handiwork_core.admittance.settings import AdmittanceSettings
from handiwork_core.contracts.planning import never_stop
from handiwork_core.model.outcome import Code
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.ports.compliance import ComplianceClient
from handiwork_ros.rclpy_support.service_call import call
from sim_bridge.node import SimBridge
from support.nodes.ros_stage import Stage, stage, wait_for
from support.paths import ROBOTS, ROOT

ROBOT = load_robot(ROBOTS / "fr3")
ARM = ROBOT.arm("")
DOWN = AdmittanceSettings(
    (False, False, True, False, False, False),
    stiffness=(500.0, 500.0, 0.0, 50.0, 50.0, 50.0),
    joint_damping=50.0,
)


@contextmanager
def simulated() -> Iterator[tuple[Stage, SimBridge, Node]]:
    with stage() as on:
        values = {"robot_dir": str(ROBOTS / "fr3"), "scene_file": str(ROOT / "config/scenes/contact.yaml")}
        given = [Parameter(name, value=value) for name, value in values.items()]
        bridge = SimBridge(context=on.context, parameter_overrides=given)
        on.add(bridge)
        wait_for(lambda: bridge.is_active, 30.0)
        user = Node("user", context=on.context)
        on.add(user)
        try:
            yield on, bridge, user
        finally:
            bridge.on_stop()


def height_m(bridge: SimBridge) -> float:
    """Return the height of the hand."""
    loop = bridge._running()
    place = loop.submit(lambda: loop.simulation.world.body_pose("fr3/fr3_hand").translation_m[2])
    return float(place.result(60.0))


def test_a_push_moves_the_hand_until_no_axis_is_selected() -> None:
    with simulated() as (_on, bridge, user):
        client = ComplianceClient(user, ARM)
        wait_for(lambda: client.wrench() is not None, 30.0)
        before = height_m(bridge)
        assert client.set_admittance(DOWN, should_stop=never_stop).ok
        push = np.array([0.0, 0.0, 5.0, 0.0, 0.0, 0.0])

        def has_sunk() -> bool:
            client.set_wrench(push)
            return height_m(bridge) < before - 0.005

        wait_for(has_sunk, 60.0)
        questions = user.create_client(GetParameters, f"{ARM.name}_admittance_controller/get_parameters")
        names = ["admittance.selected_axes", "admittance.joint_damping", "admittance.nothing"]
        found = call(user, questions, GetParameters.Request(names=names), timeout_s=30.0)
        assert list(found.values[0].bool_array_value) == [False, False, True, False, False, False]
        assert found.values[1].double_value == 50.0
        assert found.values[2].type == 0
        assert client.release().ok
        wait_for(lambda: not bridge._running().simulation.arms[ARM.name].controller.busy, 30.0)
        assert height_m(bridge) < before - 0.005, "it holds the place that it has reached"


def test_an_arm_without_a_controller_is_refused_in_words() -> None:
    with stage() as on:
        user = Node("user", context=on.context)
        on.add(user)
        client = ComplianceClient(user, ARM)
        silent = client.set_admittance(DOWN, should_stop=never_stop)
        assert silent.code is Code.CONTROLLER_REFUSED
        assert "fr3_arm_force_torque_sensor_broadcaster/wrench is silent" in silent.message
        client._newest = (float("inf"), np.zeros(6))
        absent = client.set_admittance(DOWN, should_stop=never_stop)
        assert absent.code is Code.CONTROLLER_REFUSED
        assert "commanded by position alone cannot yield to a force" in absent.message
