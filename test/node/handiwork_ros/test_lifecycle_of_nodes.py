"""A lifecycle manager takes every node of ours through all states, and twice through most."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import SetBool

from conditionals_node.node import ConditionalsNode
from decider_node.node import DeciderNode
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.destroy import destroy_with_actions
from isaac_bridge.node import IsaacBridge
from robot_description.node import RobotDescription
from sim_bridge.node import SimBridge
from suction_driver.node import SuctionDriver
from support.nodes.lifecycle_manager import ACTIVATE, CLEANUP, CONFIGURE, DEACTIVATE, LifecycleManager
from support.nodes.ros_stage import wait_for
from support.paths import ROBOTS, ROOT

SCENES = ROOT / "config/scenes"
FR3 = {"robot_dir": ROBOTS / "fr3", "scene_file": SCENES / "tabletop.yaml"}
UR10 = {"robot_dir": ROBOTS / "ur10_suction", "scene_file": SCENES / "bin_stacking.yaml"}
ISAAC = {**FR3, "interface": "isaac"}
CASES: dict[str, tuple[list[Callable[[], ManagedNode]], dict[str, object]]] = {
    "robot_description": ([RobotDescription], FR3),
    "sim_bridge": ([SimBridge], FR3),
    "sim_bridge as Isaac Sim": ([SimBridge], ISAAC),
    "isaac_bridge": ([SimBridge, IsaacBridge], ISAAC),
    "conditionals_node": ([ConditionalsNode], FR3),
    "decider_node": ([DeciderNode], UR10),
    "suction_driver": ([SuctionDriver], UR10),
}


@contextmanager
def running(makers: list[Callable[[], ManagedNode]], parameters: dict[str, object]) -> Iterator[Node]:
    """The nodes, a manager's node and a valve on one executor; yields the manager's node."""
    words = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
    rclpy.init(args=["--ros-args", "-p", "autostart:=false", *words])
    nodes, peer = [make() for make in makers], Node("manager")
    peer.create_service(SetBool, "vacuum/set", lambda _request, response: response)
    executor, over = SingleThreadedExecutor(), threading.Event()

    def spin() -> None:
        while not over.is_set():
            executor.spin_once(timeout_sec=0.1)

    thread = threading.Thread(target=spin)
    for node in (*nodes, peer):
        executor.add_node(node)
    thread.start()
    try:
        yield peer
    finally:
        over.set()
        thread.join()
        for node in nodes:
            node.begin_shutdown()
            node.end_shutdown()
        executor.shutdown()
        for node in (*nodes, peer):
            destroy_with_actions(node)
        rclpy.shutdown()


@pytest.mark.parametrize("case", CASES)
def test_a_node_goes_through_all_states(case: str) -> None:
    makers, parameters = CASES[case]
    names = [{"SimBridge": "sim_bridge", "IsaacBridge": "isaac_bridge"}.get(m.__name__, "") for m in makers]
    names = names if all(names) else [case]
    with running(makers, parameters) as peer:
        manager = LifecycleManager(peer, names, answer_s=120.0)
        manager.wait_ready()
        for _ in range(2):
            manager.change_all(CONFIGURE)
            assert manager.states() == {"inactive"}
            for _ in range(2):
                manager.change_all(ACTIVATE)
                assert manager.states() == {"active"}
                manager.change_all(DEACTIVATE)
                assert manager.states() == {"inactive"}
            manager.change_all(CLEANUP)
            assert manager.states() == {"unconfigured"}
        manager.change_all(CONFIGURE)
        manager.change_all(ACTIVATE)
        manager.change_all(label="shutdown")
        assert manager.states() == {"finalized"}
        wait_for(lambda: all(manager.events[name][-1:] == ["finalized"] for name in names))
        for name in names:
            assert not manager.change(name, CONFIGURE)
