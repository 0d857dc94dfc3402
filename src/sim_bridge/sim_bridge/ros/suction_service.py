"""The service and the state of a simulated suction cup."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handiwork_msgs.msg import SuctionState
from handiwork_msgs.srv import SetSuction
from rclpy.node import Node

from handiwork_core.model.outcome import OK
from handiwork_core.robot.robot import GripperSpec
from handiwork_ros.conversions import outcome_to_msg, suction_state_to_msg
from handiwork_ros.rclpy_support.qos import LATEST
from sim_bridge.loop.sim_loop import SimLoop
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation
from sim_bridge.ros.services import SimServices


class SuctionService:
    """``<gripper>_controller/set_suction`` and ``<gripper>_controller/suction_state`` of one cup.

    Args:
        node: Publishes the state.
        services: Serve the service.
        loop: Returns the thread that runs now.
        gripper: The cup's gripper.
    """

    def __init__(
        self, node: Node, services: SimServices, loop: Callable[[], SimLoop], gripper: GripperSpec
    ) -> None:
        self._services, self._loop, self._gripper = services, loop, gripper.name
        controller = f"{gripper.name}_controller"
        self._states = node.create_publisher(SuctionState, f"{controller}/suction_state", LATEST)
        services.serve(SetSuction, f"{controller}/set_suction", self._set)

    def publish(self, simulation: Simulation) -> None:
        """Publish the state; runs on the physics thread.

        Args:
            simulation: The simulation.
        """
        self._states.publish(self._state(simulation))

    def _state(self, simulation: Simulation) -> SuctionState:
        world = simulation.world
        return suction_state_to_msg(world.cups[self._gripper].state(world.time_s))

    async def _set(self, request: Any, response: Any) -> Any:
        loop = self._loop()

        def switch() -> SuctionState:
            cup = loop.simulation.world.cups[self._gripper]
            cup.switch(on=request.on)
            if cup.on:
                cup.update(CONTROL_S)
            state = self._state(loop.simulation)
            self._states.publish(state)
            return state

        response.state = await self._services.wait(loop.submit(switch))
        response.outcome = outcome_to_msg(OK)
        return response
