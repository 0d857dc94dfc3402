"""A request that comes while a node still looks for others of its name is served later, by the built node."""

from __future__ import annotations

import threading

import rclpy
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState

from handiwork_core.contracts.planning import Report
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.unique_name import unique_names_required
from handiwork_ros.rclpy_support.background_node import BackgroundNode
from handiwork_ros.rclpy_support.destroy import destroy_with_actions
from handiwork_ros.rclpy_support.node_executor import NodeExecutor
from support.nodes.ros_stage import wait_for

NAME = "looked_for"


class LateNode(ManagedNode):
    """A node whose constructor goes on after that of its base, as in all of ours."""

    def __init__(self) -> None:
        super().__init__(NAME)
        self.is_built = True

    def on_load(self, report: Report) -> None:
        assert self.is_built


def test_a_transition_asked_for_during_the_search_succeeds() -> None:
    rclpy.init(args=["--ros-args", "-p", "autostart:=false"])
    over, answers = threading.Event(), list[bool]()
    with BackgroundNode("manager", namespace="") as peer:
        client = peer.node.create_client(ChangeState, f"{NAME}/change_state")

        def ask() -> None:
            assert client.wait_for_service(30.0)
            request = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_CONFIGURE))
            # An answer to a client that is not matched yet is lost. A second request during the first is refused.
            while not any(answers) and not over.is_set():
                asked = client.call_async(request)
                asked.add_done_callback(lambda done: answers.append(bool(done.result().success)))
                over.wait(0.2)

        asking = threading.Thread(target=ask)
        asking.start()
        with unique_names_required():
            node = LateNode()
        executor = NodeExecutor()
        executor.add_node(node)
        spinning = threading.Thread(
            target=lambda: [executor.spin_once(0.05) for _ in iter(over.is_set, True)]
        )
        spinning.start()
        try:
            wait_for(lambda: any(answers), 30.0)
        finally:
            over.set()
            asking.join()
            spinning.join()
            node.begin_shutdown()
            node.end_shutdown()
            executor.shutdown()
            destroy_with_actions(node)
            rclpy.shutdown()
