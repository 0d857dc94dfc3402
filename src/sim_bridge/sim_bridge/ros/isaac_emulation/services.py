"""The services of Isaac Sim's bring-up script: reset, pause, step, cups, belts, poses of objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from geometry_msgs.msg import TwistStamped
from std_srvs.srv import SetBool, Trigger

from handiwork_core import isaac_wire as wire
from handiwork_core.model.conveyor import BeltSpec
from handiwork_core.model.geometry import Pose
from handiwork_ros.conversions import transform_from_msg
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.qos import TF
from handiwork_ros.rclpy_support.safe_callbacks import guard
from sim_bridge.loop.isaac_loop import IsaacLoop
from sim_bridge.ros.job_wait import finished
from tf2_msgs.msg import TFMessage


class IsaacServices:
    """Services and topics of ``handiwork_core.isaac_wire`` that change the world; the physics thread does all work.

    Args:
        node: Hosts them.
        loop: Returns the thread that runs now.
        cups: Names of the suction cups, which get a service each.
    """

    def __init__(self, node: ManagedNode, loop: Callable[[], IsaacLoop], cups: Iterable[str]) -> None:
        self._node, self._loop = node, loop
        node.create_subscription(TFMessage, wire.SET_POSES, guard(node, self._take_poses), TF)
        node.create_subscription(TwistStamped, wire.BELT_VELOCITY, guard(node, self._take_belt), TF)
        node.create_service(Trigger, wire.RESET, self._reset)
        node.create_service(SetBool, wire.PAUSE, self._pause)
        node.create_service(Trigger, wire.STEP, self._step)
        for name in cups:
            node.create_service(SetBool, wire.suction_service(name), partial(self._switch, name))

    def _take_poses(self, message: TFMessage) -> None:
        places = [
            (item.child_frame_id, transform_from_msg(item.transform, item.child_frame_id))
            for item in message.transforms
        ]

        def put(name: str, pose: Pose) -> None:
            self._loop().simulation.world.set_object_pose(name, pose)

        for name, pose in places:
            self._do(wire.SET_POSES, partial(put, name, pose))

    def _take_belt(self, message: TwistStamped) -> None:
        name, wanted = message.header.frame_id, message.twist.linear

        def run() -> None:
            self._loop().simulation.world.belts.run(name, BeltSpec((wanted.x, wanted.y, wanted.z)))

        self._do(wire.BELT_VELOCITY, run)

    def _do(self, topic: str, work: Callable[[], None]) -> None:
        """Do what a message asks for. It has no reply, so faults are logged."""

        def tried() -> None:
            try:
                work()
            except (KeyError, ValueError) as error:
                self._node.get_logger().warning(f"{topic}: {error}")

        self._loop().submit(tried)

    async def _reset(self, _request: Any, response: Any) -> Any:
        await finished(self._node, self._loop().submit(self._loop().start_over))
        response.success = True
        return response

    async def _pause(self, request: Any, response: Any) -> Any:
        loop = self._loop()

        def pause() -> None:
            loop.paused = bool(request.data)

        await finished(self._node, loop.submit(pause))
        response.success = True
        return response

    async def _step(self, _request: Any, response: Any) -> Any:
        if not self._loop().paused:
            response.message = "the physics runs; pause it first"
            return response
        await finished(self._node, self._loop().step(wire.FRAME_S))
        response.success = True
        return response

    async def _switch(self, name: str, request: Any, response: Any) -> Any:
        loop = self._loop()
        await finished(
            self._node, loop.submit(lambda: loop.simulation.world.cups[name].switch(on=request.data))
        )
        response.success = True
        return response
