"""Requests that a careless or hostile client sends to the services of a running stack, and their reversal."""

from __future__ import annotations

import math
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from handiwork_cli.chaos.trials import Fault, FaultKind
from handiwork_core.safety.state import Mode

if TYPE_CHECKING:
    from handiwork_cli.stack.demo_cells import Target
    from handiwork_cli.stack.stack import Stack

COSTLY_FILTER = "(a+)+$"
"""A regular expression for which a backtracking matcher needs exponential time."""
ENDLESS_BODY = "{mass: 1.0, shapes: [{type: mesh, file: /dev/zero}]}"
"""A body whose mesh is a file without an end."""
WALL = "chaos_wall"
"""The name of the body that appears between the object and its container."""
WALL_BODY = "{static: true, shapes: [{type: box, size: [0.02, 0.5, 0.3]}]}"
"""It is thin along its own x, which points from the object to the container."""
WALL_MIDDLE_M = 0.16
"""The height of its middle over the container, m: its lower edge is 1 cm above the ground of both."""
AGAIN_S, LIMIT_S = 0.2, 60.0
"""The period and the longest time of attempts to serve again, s."""
SECOND_LIMIT_S = 120.0
"""The longest time in which a second process of a node must end, s: it loads its modules first, under load."""
TAKEN = 69
"""The exit code of a node whose name is taken."""
RESULT_OK, RESULT_NOT_FOUND = 1, 2
"""Results of simulation_interfaces."""


class NotAsPromisedError(RuntimeError):
    """The stack has done what it should have refused, or does not serve again."""


class Intrusions:
    """Sends the requests of one fault, waits for its time, and lets the stack serve again.

    Args:
        stack: The running stack.
        target: The object and the container between which a wall appears.
    """

    def __init__(self, stack: Stack, target: Target) -> None:
        self._stack, self._target = stack, target
        self._actions: dict[FaultKind, Callable[[Fault], None]] = {
            FaultKind.COSTLY_FILTER: self._filter,
            FaultKind.ENDLESS_FILE: self._spawn,
            FaultKind.DEACTIVATE: self._deactivate,
            FaultKind.EMERGENCY_STOP: self._stop,
            FaultKind.SECOND_NODE: self._start_second,
            FaultKind.WALL: self._raise_wall,
        }

    def does(self, kind: FaultKind) -> bool:
        """Return whether a kind of fault is one of these.

        Args:
            kind: The kind.
        """
        return kind in self._actions

    def run(self, fault: Fault) -> None:
        """Inject a fault, and undo it when its time is over.

        Args:
            fault: The fault.

        Raises:
            NotAsPromisedError: A bad request was accepted, or the stack does not serve again.
            StackError: A service did not answer.
        """
        self._actions[fault.kind](fault)

    def _filter(self, _fault: Fault) -> None:
        from simulation_interfaces.srv import GetEntities

        request = GetEntities.Request()
        request.filters.filter = COSTLY_FILTER
        self._stack.call(GetEntities, "get_entities", request)

    def _spawn(self, _fault: Fault) -> None:
        from simulation_interfaces.srv import SpawnEntity

        request = SpawnEntity.Request(name="chaos_body")
        resource = getattr(request, "entity_resource", request)  # where newer versions have it
        resource.resource_string = ENDLESS_BODY
        if self._stack.call(SpawnEntity, "spawn_entity", request).result.result == RESULT_OK:
            raise NotAsPromisedError("a body with an endless mesh was spawned")

    def _raise_wall(self, fault: Fault) -> None:
        """Put a wall between the object and its container, and take it away again."""
        from simulation_interfaces.srv import DeleteEntity, SpawnEntity

        request = SpawnEntity.Request(name=WALL)
        resource = getattr(request, "entity_resource", request)  # where newer versions have it
        resource.resource_string = WALL_BODY
        request.initial_pose.header.frame_id = "world"
        request.initial_pose.pose = self._between()
        answer = self._stack.call(SpawnEntity, "spawn_entity", request).result
        if answer.result != RESULT_OK:
            raise NotAsPromisedError(f"{WALL} was refused: {answer.error_message}")
        threading.Event().wait(fault.lasts_s)
        self._again(
            f"{WALL} is still there",
            lambda: (
                self._stack.call(
                    DeleteEntity, "delete_entity", DeleteEntity.Request(entity=WALL)
                ).result.result
                in (RESULT_OK, RESULT_NOT_FOUND)
            ),
        )
        # It may have appeared within the arm, or too near to brake: the safety layer has then stopped the arm.
        self._again("the robot does not recover from the contact with a wall", self._is_released)

    def _between(self) -> Any:
        """Return the pose in the middle of the object and its container, with x from one to the other."""
        from geometry_msgs.msg import Pose

        from simulation_interfaces.srv import GetEntityState

        first, second = (
            self._stack.call(
                GetEntityState, "get_entity_state", GetEntityState.Request(entity=name)
            ).state.pose.position
            for name in (self._target.object, self._target.container)
        )
        yaw, pose = math.atan2(second.y - first.y, second.x - first.x), Pose()
        pose.position.x, pose.position.y = (first.x + second.x) / 2, (first.y + second.y) / 2
        pose.position.z = second.z + WALL_MIDDLE_M
        pose.orientation.z, pose.orientation.w = math.sin(yaw / 2), math.cos(yaw / 2)
        return pose

    def _deactivate(self, fault: Fault) -> None:
        from lifecycle_msgs.msg import Transition

        self._change(fault.target, Transition.TRANSITION_DEACTIVATE)
        threading.Event().wait(fault.lasts_s)
        self._again(f"{fault.target} is not active", lambda: self._is_activated(fault.target))

    def _is_activated(self, node: str) -> bool:
        """Take the next step to the state active, as a lifecycle manager does; return whether it is reached."""
        from lifecycle_msgs.msg import State, Transition
        from lifecycle_msgs.srv import GetState

        state = self._stack.call(GetState, f"{node}/get_state", GetState.Request()).current_state.id
        steps = {
            State.PRIMARY_STATE_UNCONFIGURED: Transition.TRANSITION_CONFIGURE,
            State.PRIMARY_STATE_INACTIVE: Transition.TRANSITION_ACTIVATE,
        }
        if state in steps:
            self._change(node, steps[state])
        return bool(state == State.PRIMARY_STATE_ACTIVE)

    def _change(self, node: str, transition: int) -> Any:
        from lifecycle_msgs.srv import ChangeState

        request = ChangeState.Request()
        request.transition.id = transition
        return self._stack.call(ChangeState, f"{node}/change_state", request)

    def _stop(self, fault: Fault) -> None:
        self._trigger("safety/emergency_stop")
        threading.Event().wait(fault.lasts_s)
        self._again("the robot does not recover from an emergency stop", self._is_released)

    def _is_released(self) -> bool:
        """Reset and recover; return whether the state is NORMAL, which another fault's reversal may have reached."""
        self._trigger("safety/reset")
        answer = self._trigger("safety/recover")
        return bool(answer.success) or answer.message.endswith(Mode.NORMAL.name)

    def _trigger(self, service: str) -> Any:
        from std_srvs.srv import Trigger

        return self._stack.call(Trigger, service, Trigger.Request())

    def _start_second(self, fault: Fault) -> None:
        """Start a second process of a node; it must refuse to run."""
        (command,) = (spec.command for spec in self._stack.specs if spec.label == fault.target)
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            second = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=output)
            try:
                code = second.wait(SECOND_LIMIT_S)
            except subprocess.TimeoutExpired as error:
                raise NotAsPromisedError(
                    f"a second {fault.target} runs beside the first after {SECOND_LIMIT_S:.0f} s;"
                    f" its last line: {last_line(output)!r}"
                ) from error
            finally:
                second.kill()
                second.wait()
            if code != TAKEN:
                raise NotAsPromisedError(
                    f"a second {fault.target} ended with exit code {code}, not {TAKEN};"
                    f" its last line: {last_line(output)!r}"
                )

    def _again(self, what: str, is_done: Callable[[], bool]) -> None:
        """Try until something is done."""
        end_s = time.monotonic() + LIMIT_S
        while not is_done():
            if time.monotonic() > end_s:
                raise NotAsPromisedError(f"{what} after {LIMIT_S:.0f} s")
            threading.Event().wait(AGAIN_S)


def last_line(output: IO[str]) -> str:
    """Return the last line that is not empty of what a process has written to a file; "" without one.

    Args:
        output: The file, which may be read and sought.
    """
    output.seek(0)
    return next((line.strip() for line in reversed(output.readlines()) if line.strip()), "")
