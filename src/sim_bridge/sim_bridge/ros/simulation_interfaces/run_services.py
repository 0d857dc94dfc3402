"""The run of the simulation by simulation_interfaces: features, play and pause, reset, step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node

from handiwork_ros.actions.action_events import ActionEvents
from handiwork_ros.node.managed_node import ManagedNode
from sim_bridge.loop.sim_loop import TICK_S, SimLoop
from sim_bridge.mujoco.spawning import FORMAT
from sim_bridge.ros.simulation_interfaces.server import (
    FAILED,
    OK,
    UNSUPPORTED,
    ServiceRefused,
    put_result,
)
from sim_bridge.ros.simulation_interfaces.spawn_services import SpawnServices
from simulation_interfaces.msg import SimulationState, SimulatorFeatures

TIME, STATE, SPAWNED, ALL = 1, 2, 4, 255
ALREADY_THERE = 101
"""A code of SetSimulationState."""

MOST_STEPS = 60_000
RESULT_TIMEOUT_S = 30

FEATURES = (
    "SPAWNING",
    "DELETING",
    "ENTITY_BOUNDS",
    "ENTITY_BOUNDS_BOX",
    "ENTITY_CATEGORIES",
    "SPAWNING_RESOURCE_STRING",
    "ENTITY_STATE_GETTING",
    "ENTITY_STATE_SETTING",
    "ENTITY_INFO_GETTING",
    "SPAWNABLES",
    "SIMULATION_RESET",
    "SIMULATION_RESET_STATE",
    "SIMULATION_RESET_SPAWNED",
    "SIMULATION_STATE_GETTING",
    "SIMULATION_STATE_SETTING",
    "SIMULATION_STATE_PAUSE",
    "STEP_SIMULATION_SINGLE",
    "STEP_SIMULATION_MULTIPLE",
    "STEP_SIMULATION_ACTION",
    "SPAWNING_ENTITIES",
)
ABOUT = (
    f"Handiwork's MuJoCo world. One step is {TICK_S} s. A format {FORMAT!r} is an object as a scene file writes it, or "
    "<scene file>#<object>. Time never goes back, so no reset has SCOPE_TIME. Entities are objects, not the robot."
)


class RunServices:
    """Handlers of services about the run. A handler fills the response.

    It raises ``ServiceRefused`` for invalid requests.

    Args:
        node: The node, for its state.
        loop: Returns the thread that runs now.
        wait: Waits for a job of the physics thread.
        publish_geometry: Publishes the objects; runs on the physics thread.
        spawns: Knows the spawned objects.
    """

    def __init__(
        self,
        node: ManagedNode,
        loop: Callable[[], SimLoop],
        wait: Callable[[Any], Any],
        publish_geometry: Callable[[Any], int],
        spawns: SpawnServices,
    ) -> None:
        self._node, self._loop, self._wait = node, loop, wait
        self._publish_geometry, self._spawns = publish_geometry, spawns
        self._stepping = False

    def serve_steps(self, host: Node, kind: Any) -> ActionServer:
        """Create the action server of SimulateSteps.

        Args:
            host: The node that hosts it.
            kind: Type of the action.
        """
        events = ActionEvents(host, kind, "simulate_steps")

        async def execute(handle: Any) -> Any:
            events.goal(handle)
            result = await self._simulate(handle)
            events.result(handle, handle.status, result)
            return result

        return ActionServer(
            host,
            kind,
            "simulate_steps",
            execute_callback=execute,
            goal_callback=lambda _goal: GoalResponse.ACCEPT if self._node.is_active else GoalResponse.REJECT,
            cancel_callback=lambda _goal: CancelResponse.ACCEPT,
            result_timeout=RESULT_TIMEOUT_S,
        )

    async def features(self, _request: Any, response: Any) -> None:
        """Handle GetSimulatorFeatures: those that the installed definitions have a number for.

        Args:
            _request: The request, which is empty.
            response: Is filled.
        """
        numbers = [getattr(SimulatorFeatures, name, None) for name in FEATURES]
        response.features.features = [number for number in numbers if number is not None]
        response.features.spawn_formats, response.features.custom_info = [FORMAT], ABOUT

    async def get_state(self, _request: Any, response: Any) -> None:
        """Handle GetSimulationState.

        Args:
            _request: The request, which is empty.
            response: Is filled.
        """
        response.state.state = self._state()
        put_result(response, OK)

    async def set_state(self, request: Any, response: Any) -> None:
        """Handle SetSimulationState: playing and paused.

        Args:
            request: The request.
            response: Is filled.

        Raises:
            Refused: The state is another one, or the present one.
        """
        wanted, loop = request.state.state, self._loop()
        if wanted not in (SimulationState.STATE_PLAYING, SimulationState.STATE_PAUSED):
            raise ServiceRefused(UNSUPPORTED, f"state {wanted} cannot be set; give playing (1) or paused (2)")
        if wanted == self._state():
            raise ServiceRefused(ALREADY_THERE, "it is in this state already")

        def switch() -> None:
            loop.paused = wanted == SimulationState.STATE_PAUSED

        await self._wait(loop.submit(switch))
        put_result(response, OK)

    async def reset(self, request: Any, response: Any) -> None:
        """Handle ResetSimulation: the state, the spawned objects, or both. A reset of the state aborts running goals.

        Args:
            request: The request.
            response: Is filled.

        Raises:
            Refused: The scope has neither of both, or a cup holds something.
        """
        scope = request.scope or ALL
        if not scope & (STATE | SPAWNED):
            raise ServiceRefused(
                UNSUPPORTED, f"scope {scope} cannot be reset: time never goes back; add SCOPE_STATE (2)"
            )
        loop, spawned = self._loop(), self._spawns.spawned
        simulation = loop.simulation

        def reset() -> None:
            now, declared = simulation.world.scene, simulation.declared
            gone = spawned if scope & SPAWNED else ()
            if scope & STATE:
                names = {item.name for item in declared.objects} | set(gone)
                kept = [item for item in now.objects if item.name not in names]
                simulation.reset(replace(declared, objects=(*declared.objects, *kept)))
            else:
                simulation.world.change(
                    replace(now, objects=tuple(i for i in now.objects if i.name not in gone))
                )
            self._publish_geometry(simulation)

        try:
            await self._wait(loop.submit(reset))
        except ValueError as error:
            raise ServiceRefused(FAILED, str(error)) from error
        if scope & SPAWNED:
            self._spawns.spawned = ()
        put_result(response, OK, "time continues: it is never reset" if scope & TIME else "")

    async def step(self, request: Any, response: Any) -> None:
        """Handle StepSimulation.

        Args:
            request: The request.
            response: Is filled.

        Raises:
            Refused: The simulation is not paused, or the number of steps is outside of 1 to MOST_STEPS.
        """
        self._check_steps(request.steps)
        await self._wait(self._loop().step(request.steps * TICK_S))
        put_result(response, OK)

    def _state(self) -> int:
        paused = self._loop().paused
        return int(SimulationState.STATE_PAUSED if paused else SimulationState.STATE_PLAYING)

    def _check_steps(self, steps: int) -> None:
        if not self._loop().paused:
            raise ServiceRefused(FAILED, "the simulation runs; set it to paused (2) first")
        if not 0 < steps <= MOST_STEPS:
            raise ServiceRefused(FAILED, f"{steps} steps are asked for; give 1 to {MOST_STEPS}")

    async def _simulate(self, handle: Any) -> Any:
        from simulation_interfaces.action import SimulateSteps

        result, feedback, steps = SimulateSteps.Result(), SimulateSteps.Feedback(), int(handle.request.steps)
        try:
            self._check_steps(steps)
            if self._stepping:
                raise ServiceRefused(FAILED, "another simulate_steps runs; wait for its end")
        except ServiceRefused as refused:
            put_result(result, refused.code, str(refused))
            handle.abort()
            return result
        self._stepping = True
        try:
            for done in range(1, steps + 1):
                await self._wait(self._loop().step(TICK_S))
                feedback.completed_steps, feedback.remaining_steps = done, steps - done
                handle.publish_feedback(feedback)
                if handle.is_cancel_requested:
                    put_result(result, OK, f"canceled after {done} of {steps} steps")
                    handle.canceled()
                    return result
        finally:
            self._stepping = False
        put_result(result, OK)
        handle.succeed()
        return result
