"""The simulator's services: reset, step, pause, move an object, run a belt."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Future as Job
from typing import Any, TypeVar

from handiwork_msgs.srv import ResetWorld, SetBeltVelocity, SetObjectPose, SetPaused, StepWorld

from handiwork_core.model.conveyor import BeltSpec
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_ros.conversions import BadMessage, outcome_to_msg, pose_from_msg
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.safe_callbacks import guard_service
from sim_bridge.loop.sim_loop import SimLoop
from sim_bridge.ros.job_wait import finished
from sim_bridge.ros.publishers import ContractPublishers

LONGEST_STEP_S = 600.0

T = TypeVar("T")


class SimServices:
    """The services ``sim/*``. Handlers work on the physics thread, and wait for it without blocking the executor.

    Args:
        node: Hosts them.
        loop: Returns the thread that runs now.
        publishers: Publish the objects after a reset.
    """

    def __init__(
        self, node: ManagedNode, loop: Callable[[], SimLoop], publishers: ContractPublishers
    ) -> None:
        self._node, self._loop, self._publishers = node, loop, publishers
        for kind, name, handler in (
            (ResetWorld, "sim/reset", self._reset),
            (StepWorld, "sim/step", self._step),
            (SetPaused, "sim/set_paused", self._set_paused),
            (SetObjectPose, "sim/set_object_pose", self._set_object_pose),
            (SetBeltVelocity, "sim/set_belt_velocity", self._set_belt_velocity),
        ):
            self.serve(kind, name, handler)

    def serve(self, kind: Any, name: str, handler: Callable[[Any, Any], Any]) -> None:
        """Create one more service.

        Args:
            kind: Type of the service.
            name: Its name.
            handler: Coroutine of request and response that returns the response, and waits with ``wait``.
        """
        self._node.create_service(kind, name, guard_service(self._node, self._when_active(handler)))

    def _when_active(self, handler: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        async def checked(request: Any, response: Any) -> Any:
            if not self._node.is_active:
                response.outcome = outcome_to_msg(
                    Outcome(Code.NOT_ACTIVE, "sim_bridge is not active; activate it first")
                )
                return response
            return await handler(request, response)

        return checked

    async def wait(self, job: Job[T]) -> T:
        """Wait for a job of the physics thread.

        Args:
            job: The job.

        Returns:
            The job's value; its exception is raised.
        """
        return await finished(self._node, job)

    async def _reset(self, request: Any, response: Any) -> Any:
        loop = self._loop()
        simulation = loop.simulation

        def reset() -> int:
            if request.randomize:
                simulation.reset(simulation.declared.randomized(request.seed), request.seed)
            else:
                simulation.reset(simulation.declared)
            return self._publishers.publish_geometry(simulation)

        if request.seed < 0:
            raise BadMessage("seed", f"is {request.seed}; give 0 or more", Code.BAD_NUMBER)
        try:
            response.world_version = await self.wait(loop.submit(reset))
        except ValueError as error:
            response.outcome = outcome_to_msg(Outcome(Code.BAD_GOAL, str(error), field_name="seed"))
            return response
        response.outcome = outcome_to_msg(OK)
        return response

    async def _step(self, request: Any, response: Any) -> Any:
        if not (math.isfinite(request.duration) and 0.0 < request.duration <= LONGEST_STEP_S):
            raise BadMessage(
                "duration",
                f"is {request.duration}; give more than 0 and at most {LONGEST_STEP_S} s",
                Code.BAD_NUMBER,
            )
        if not self._loop().paused:
            raise BadMessage(
                "duration",
                "cannot be stepped while the world runs; call sim/set_paused first",
                Code.CONTRADICTION,
            )
        await self.wait(self._loop().step(request.duration))
        response.outcome = outcome_to_msg(OK)
        return response

    async def _set_paused(self, request: Any, response: Any) -> Any:
        loop = self._loop()

        def pause() -> None:
            loop.paused = bool(request.paused)

        await self.wait(loop.submit(pause))
        response.outcome = outcome_to_msg(OK)
        return response

    async def _set_object_pose(self, request: Any, response: Any) -> Any:
        loop = self._loop()
        pose = self._pose(request)
        names = [item.name for item in loop.simulation.world.scene.objects]
        if request.object not in names:
            raise BadMessage(
                "object", f"is {request.object!r}; use one of {sorted(names)}", Code.UNKNOWN_OBJECT
            )
        try:
            await self.wait(loop.submit(lambda: loop.simulation.world.set_object_pose(request.object, pose)))
        except ValueError as error:
            raise BadMessage("pose", f"is refused: {error}", Code.BAD_GOAL) from error
        response.outcome = outcome_to_msg(OK)
        return response

    async def _set_belt_velocity(self, request: Any, response: Any) -> Any:
        loop, wanted = self._loop(), request.velocity
        try:
            belt = BeltSpec((wanted.x, wanted.y, wanted.z))
        except ValueError as error:
            raise BadMessage("velocity", str(error), Code.BAD_NUMBER) from error
        names = sorted(item.name for item in loop.simulation.declared.objects if item.belt is not None)
        if request.object not in names:
            raise BadMessage("object", f"is {request.object!r}; the belts are {names}", Code.UNKNOWN_OBJECT)

        def run() -> None:
            loop.simulation.world.belts.run(request.object, belt)
            self._publishers.publish_belts(loop.simulation)

        await self.wait(loop.submit(run))
        response.outcome = outcome_to_msg(OK)
        return response

    def _pose(self, request: Any) -> Pose:
        frame = request.pose.header.frame_id
        if frame != "world":
            raise BadMessage(
                "pose.header.frame_id", f"is {frame!r}; give the pose in 'world'", Code.UNKNOWN_FRAME
            )
        return pose_from_msg(request.pose.pose, "pose.pose")
