"""The run of the simulation through the bring-up script's services: pause, steps, belts."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any

from geometry_msgs.msg import TwistStamped
from handiwork_msgs.srv import SetBeltVelocity, SetPaused, StepWorld
from rclpy.callback_groups import CallbackGroup
from std_srvs.srv import SetBool, Trigger

from handiwork_core import isaac_wire as wire
from handiwork_core.model.conveyor import BeltSpec
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.scene.loader import Scene
from handiwork_ros.conversions import BadMessage, outcome_to_msg
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.qos import TF
from handiwork_ros.rclpy_support.safe_callbacks import guard_service
from isaac_bridge.adapter.ros.joints import JointInterface

LONGEST_STEP_S = 600.0

Ask = Callable[[Any, Any], Awaitable[Any]]
"""Calls a client with a request, and returns the response; None when there was none."""


class IsaacRunServices:
    """``sim/set_paused``, ``sim/step`` in whole frames, ``sim/set_belt_velocity``.

    Args:
        node: Hosts them.
        scene: The scene, which names the belts.
        joints: Gets the state of the pause.
        ask: Calls the script's services.
        group: Reentrant group of the services and of the clients that they wait for.
        on_belt: Called with the name of a belt and its new velocity, m/s.
    """

    def __init__(
        self,
        node: ManagedNode,
        scene: Scene,
        joints: JointInterface,
        ask: Ask,
        group: CallbackGroup,
        on_belt: Callable[[str, tuple[float, float, float]], None],
    ) -> None:
        self._joints, self._ask, self._on_belt = joints, ask, on_belt
        self._belts = sorted(item.name for item in scene.objects if item.belt is not None)
        self._pause_client = node.create_client(SetBool, wire.PAUSE, callback_group=group)
        self._step_client = node.create_client(Trigger, wire.STEP, callback_group=group)
        self._belt = node.create_publisher(TwistStamped, wire.BELT_VELOCITY, TF)
        for kind, name, handler in (
            (SetPaused, "sim/set_paused", self._set_paused),
            (StepWorld, "sim/step", self._step),
            (SetBeltVelocity, "sim/set_belt_velocity", self._set_belt_velocity),
        ):
            node.create_service(kind, name, guard_service(node, handler), callback_group=group)

    async def _set_paused(self, request: Any, response: Any) -> Any:
        answer = await self._ask(self._pause_client, SetBool.Request(data=request.paused))
        if answer is None or not answer.success:
            response.outcome = outcome_to_msg(_no_answer(wire.PAUSE))
            return response
        self._joints.is_paused = bool(request.paused)
        response.outcome = outcome_to_msg(OK)
        return response

    async def _step(self, request: Any, response: Any) -> Any:
        if not (math.isfinite(request.duration) and 0.0 < request.duration <= LONGEST_STEP_S):
            text = f"is {request.duration}; give more than 0 and at most {LONGEST_STEP_S} s"
            raise BadMessage("duration", text, Code.BAD_NUMBER)
        outcome = OK
        for _ in range(math.ceil(request.duration / wire.FRAME_S - 1e-6)):
            answer = await self._ask(self._step_client, Trigger.Request())
            if answer is None:
                outcome = _no_answer(wire.STEP)
            elif not answer.success:
                text = f"cannot be stepped: {answer.message}"
                raise BadMessage("duration", text, Code.CONTRADICTION)
            if not outcome.ok:
                break
        response.outcome = outcome_to_msg(outcome)
        return response

    def _set_belt_velocity(self, request: Any, response: Any) -> Any:
        wanted = request.velocity
        try:
            BeltSpec((wanted.x, wanted.y, wanted.z))
        except ValueError as error:
            raise BadMessage("velocity", str(error), Code.BAD_NUMBER) from error
        if request.object not in self._belts:
            text = f"is {request.object!r}; the belts are {self._belts}"
            raise BadMessage("object", text, Code.UNKNOWN_OBJECT)
        outcome = OK if self._belt.get_subscription_count() else _no_answer(wire.BELT_VELOCITY)
        message = TwistStamped()
        message.header.frame_id, message.twist.linear = request.object, wanted
        self._belt.publish(message)
        if outcome.ok:
            self._on_belt(request.object, (wanted.x, wanted.y, wanted.z))
        response.outcome = outcome_to_msg(outcome)
        return response


def _no_answer(name: str) -> Outcome:
    return Outcome(Code.UNRESPONSIVE, f"{name} gave no answer; start the bring-up script of Isaac Sim")
