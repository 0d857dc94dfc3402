"""The simulator's services, which call those of Isaac Sim's bring-up script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import TransformStamped
from handiwork_msgs.srv import ResetWorld, SetObjectPose
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.task import Future
from std_srvs.srv import Trigger

from handiwork_core import isaac_wire as wire
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.scene.loader import Scene
from handiwork_ros.conversions import BadMessage, outcome_to_msg, pose_from_msg, transform_to_msg
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.qos import TF
from handiwork_ros.rclpy_support.safe_callbacks import guard, guard_service
from isaac_bridge.adapter.ros.joints import JointInterface
from isaac_bridge.adapter.ros.world import WorldInterface
from tf2_msgs.msg import TFMessage

ANSWER_S = 10.0
"""The steady time in which the script must answer, and objects reach their poses, s."""

SETTLE_S = 0.25
"""The steady time between a reset and its response, s."""


class SimulatorServices:
    """``sim/reset`` and ``sim/set_object_pose``. ``group`` is for all callbacks that call the script.

    Args:
        node: Hosts them.
        scene: The scene.
        joints: The interface of the joints, which a reset restarts.
        world: The interface of the objects.
    """

    def __init__(
        self, node: ManagedNode, scene: Scene, joints: JointInterface, world: WorldInterface
    ) -> None:
        self._node, self._scene, self._joints, self._world = node, scene, joints, world
        # A handler waits for other callbacks of this node.
        self.group = ReentrantCallbackGroup()
        self._reset_client = node.create_client(Trigger, wire.RESET, callback_group=self.group)
        self._put = node.create_publisher(TFMessage, wire.SET_POSES, TF)
        for kind, name, handler in (
            (ResetWorld, "sim/reset", self._reset),
            (SetObjectPose, "sim/set_object_pose", self._set_object_pose),
        ):
            served = guard_service(node, handler)
            node.create_service(kind, name, served, callback_group=self.group)

    async def ask(self, client: Any, request: Any) -> Any:
        """Call a service.

        Args:
            client: The client.
            request: The request.

        Returns:
            The response; None when the service is not there, or does not answer in ``ANSWER_S``.
        """
        if not client.service_is_ready():
            return None
        answered, asked = Future(), client.call_async(request)
        asked.add_done_callback(lambda future: answered.done() or answered.set_result(future.result()))
        end = self._end_late(answered)
        answer = await answered
        end()
        if answer is None:
            client.remove_pending_request(asked)
        return answer

    def _end_late(self, future: Future, limit_s: float = ANSWER_S) -> Callable[[], None]:
        """Complete a future with None after ``limit_s``; the returned function removes the timer."""
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        ending = guard(self._node, lambda: future.done() or future.set_result(None))
        timer = self._node.create_timer(limit_s, ending, callback_group=self.group, clock=steady)
        return lambda: self._node.destroy_timer(timer)

    async def _reset(self, request: Any, response: Any) -> Any:
        if request.seed < 0:
            raise BadMessage("seed", f"is {request.seed}; give 0 or more", Code.BAD_NUMBER)
        try:
            scene = self._scene.randomized(request.seed) if request.randomize else self._scene
        except ValueError as error:
            response.outcome = outcome_to_msg(Outcome(Code.BAD_GOAL, str(error), field_name="seed"))
            return response
        self._joints.is_muted = True
        try:
            outcome = await self._start_over(scene)
        finally:
            self._joints.is_muted = False
        response.world_version = self._world.publish_geometry()
        response.outcome = outcome_to_msg(outcome)
        return response

    async def _start_over(self, scene: Scene) -> Outcome:
        scaled = [
            new.name
            for new, old in zip(scene.objects, self._scene.objects, strict=True)
            if new.body is not old.body
        ]
        if scaled:
            text = f"objects.{scaled[0]}: a loaded stage keeps its shapes; take randomize.size_scale and variants away"
            return Outcome(Code.UNSUPPORTED, text)
        answer = await self.ask(self._reset_client, Trigger.Request())
        if answer is None or not answer.success:
            why = (
                answer.message if answer is not None else "no answer; start the bring-up script of Isaac Sim"
            )
            return Outcome(Code.UNRESPONSIVE, f"{wire.RESET}: {why}")
        self._world.tracker.forget()
        self._joints.start_over("the world was reset")
        old = self._scene.objects
        changed = [new for new, was in zip(scene.objects, old, strict=True) if new is not was]
        self._put_down({item.name: item.world_T_object for item in changed})
        outcome = await self._until_placed({item.name: item.world_T_object for item in scene.objects})
        await self._settled()
        self._joints.start_over("the world was reset")  # again: the measurements are now of the new world
        return outcome

    async def _settled(self) -> None:
        """Wait until all nodes can have noticed the restarted clock and received joints and objects again."""
        future = Future()
        done = self._end_late(future, SETTLE_S)
        await future
        done()

    def _put_down(self, places: dict[str, Pose]) -> None:
        if not places:
            return
        message = TFMessage()
        for name, pose in places.items():
            frame = TransformStamped(child_frame_id=name, transform=transform_to_msg(pose))
            frame.header.frame_id = "world"
            message.transforms.append(frame)
        self._put.publish(message)

    async def _until_placed(self, places: dict[str, Pose]) -> Outcome:
        elsewhere = await self._world.placed(places, self._end_late)
        if not elsewhere:
            return OK
        text = f"object {elsewhere[0]!r} is not at the requested pose; check that the stage has a prim of that name"
        return Outcome(Code.NOT_IN_PLACE, text)

    async def _set_object_pose(self, request: Any, response: Any) -> Any:
        frame = request.pose.header.frame_id
        if frame != "world":
            text = f"is {frame!r}; give the pose in 'world'"
            raise BadMessage("pose.header.frame_id", text, Code.UNKNOWN_FRAME)
        pose = pose_from_msg(request.pose.pose, "pose.pose")
        names = sorted(item.name for item in self._scene.objects)
        if request.object not in names:
            raise BadMessage("object", f"is {request.object!r}; use one of {names}", Code.UNKNOWN_OBJECT)
        self._put_down({request.object: pose})
        response.outcome = outcome_to_msg(await self._until_placed({request.object: pose}))
        return response
