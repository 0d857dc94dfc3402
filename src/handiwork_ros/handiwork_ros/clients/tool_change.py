"""The change of a tool while the stack runs: all nodes get the robot with the other tool, or keep the present one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from handiwork_msgs.msg import NodeStatus, SafetyState
from handiwork_msgs.srv import SetSpeedScale
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.robot_files.other_tool import tool_faults
from handiwork_ros.liveness.heartbeat import Heartbeats
from handiwork_ros.node.managed_node import STATUS_PERIOD_S, STATUS_TOPIC
from handiwork_ros.rclpy_support.background_node import BackgroundNode
from handiwork_ros.rclpy_support.qos import LATCHED, STATUS
from handiwork_ros.rclpy_support.service_call import NoAnswer, ServiceClients

ROBOT_DIR = "robot_dir"
SKILL_SERVER = "skill_server"
LAST = (
    SKILL_SERVER,
    "conditionals_node",
    "planner_node",
    "sim_cameras",
    "perception_bridge",
    "suction_driver",
    "safety_node",
    "isaac_bridge",
    "sim_bridge",
    "base_joints",
    "robot_description",
)
"""The nodes in the order in which they stop; all others, such as deciders, stop before them."""
DISCOVERY_S = 10.0
"""The longest wait for the nodes of the stack, s."""
SETTLE_S = 1.5
"""The time in which the last nodes are discovered after the first ones, s."""
ANSWER_S = 30.0
"""The longest wait for a parameter, or for a node to stop or to begin again, s."""


class _Refused(Exception):
    """A node does not do what the change needs; the message says why."""


def change_tool(
    robot_dir: Path,
    *,
    namespace: str | None = None,
    domain_id: int | None = None,
    loading_timeout_s: float = 600.0,
    report: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Give all nodes of the running stack a robot of the same arms with another tool.

    Each node is deactivated, cleaned up, configured and activated; goals that run end with SHUTDOWN, and the arms come
    to rest. If a node does not take the robot, all get the one before.

    Args:
        robot_dir: Folder of the robot with the other tool.
        namespace: Namespace of the stack; see ``SkillClient``.
        domain_id: ROS domain; None: that of the environment.
        loading_timeout_s: Longest wait for a node that loads, s; a planner that compiles kernels takes minutes.
        report: Called with a sentence for each step.

    Returns:
        OK once all nodes are active with the other tool; otherwise why not, and which robot they have.
    """
    background = BackgroundNode("handiwork_tool_change", domain_id=domain_id, namespace=namespace)
    change = _Change(background, loading_timeout_s, report)
    with background:
        try:
            return change.run(robot_dir.resolve())
        except _Refused as error:
            return Outcome(Code.CONTRADICTION, str(error))
        finally:
            change.close()


class _Change:
    """One change, made from a thread that does not spin the node."""

    def __init__(self, background: BackgroundNode, loading_s: float, report: Callable[[str], None]) -> None:
        self._node, self._loading_s, self._report = background.node, loading_s, report
        self._signs, self._services = Heartbeats(self._node), ServiceClients(self._node)
        self._safety: SafetyState | None = None
        self._changed = threading.Event()
        self._node.create_subscription(NodeStatus, STATUS_TOPIC, lambda _status: self._changed.set(), STATUS)
        self._node.create_subscription(SafetyState, "safety/state", self._on_safety, LATCHED)

    def close(self) -> None:
        self._signs.close()

    def _on_safety(self, message: SafetyState) -> None:
        self._safety = message

    def run(self, robot_dir: Path) -> Outcome:
        """Change the tool, or leave everything as it was."""
        robots = self._found_robots()
        names = sorted(robots, key=lambda name: LAST.index(name) if name in LAST else -1)
        self._refuse_unsettled(names)
        present = robots["robot_description"]
        is_there = _is_same(present, str(robot_dir))
        if all(_is_same(folder, str(robot_dir)) for folder in robots.values()) and self._are_active(names):
            return Outcome(Code.OK, f"all nodes have the robot {robot_dir} already")
        before, after = _loaded(Path(present)), _loaded(robot_dir)
        if not is_there and (faults := tool_faults(before, after)):
            raise _Refused(f"{after.name!r} is not {before.name!r} with another tool: {'; '.join(faults)}")
        scale = self._speed_scale()
        try:
            self._exchange(names, str(robot_dir))
            self._restore_speed(scale)
        except _Refused as error:
            self._go_back(names, present, scale, str(error))
            raise _Refused(f"{error}. All nodes have the robot {before.name!r} as before") from None
        return Outcome(Code.OK, f"{len(names)} nodes have the robot {after.name!r}")

    def _go_back(self, names: Sequence[str], present: str, scale: float, why: str) -> None:
        self._report(f"{why}; going back to {present}")
        try:
            self._exchange(names, present)
            self._restore_speed(scale)
        except _Refused as error:
            raise _Refused(
                f"{why}. The nodes could not go back either: {error}; start the stack again"
            ) from error

    def _exchange(self, names: Sequence[str], robot_dir: str) -> None:
        """Stop each node and give it the robot, then start all of them together, as they wait for each other.

        A node that is active with this robot stays as it is: a simulation that begins again begins with its scene.
        """
        has_robot = {name: _is_same(self._robot_of(name), robot_dir) for name in names}
        names = [name for name in names if not (has_robot[name] and self._signs.is_active(name))]
        for name in names:
            self._unconfigure(name)
            if not has_robot[name]:
                self._set_robot(name, robot_dir)
                self._report(f"{name} has the other robot")
        steps = (Transition.TRANSITION_CONFIGURE, "configure"), (Transition.TRANSITION_ACTIVATE, "activate")
        for transition, word in steps:
            with ThreadPoolExecutor(len(names) or 1) as pool:
                faults = list(pool.map(lambda name: self._fault_of(name, transition, self._loading_s), names))  # noqa: B023 - the pool ends within the turn
            if found := [
                f"{name} did not {word}: {fault}" for name, fault in zip(names, faults, strict=True) if fault
            ]:
                raise _Refused("; ".join(found))
            self._report(f"all nodes did {word}")

    def _found_robots(self) -> dict[str, str]:
        """Return the robot of each node of the stack that has one."""
        end_s = time.monotonic() + DISCOVERY_S
        needed = {"robot_description", SKILL_SERVER}
        while missing := {name for name in needed if not self._signs.is_alive(name)}:
            if time.monotonic() > end_s:
                names = ", ".join(sorted(missing))
                text = f"{names} did not send a status within {DISCOVERY_S:g} s"
                raise _Refused(f"{text}; start the stack, or set its ROS_DOMAIN_ID and --namespace")
            self._pause()
        end_s = time.monotonic() + SETTLE_S
        while time.monotonic() < end_s:
            self._signs.watch(*self._signs.names())
            self._pause()
        alive = [name for name in self._signs.names() if self._signs.is_alive(name)]
        return {name: folder for name in alive if (folder := self._robot_of(name))}

    def _refuse_unsettled(self, names: Sequence[str]) -> None:
        settled = (NodeStatus.UNCONFIGURED, NodeStatus.INACTIVE, NodeStatus.ACTIVE)
        signs = {name: self._signs.sign(name) for name in names}
        for name, sign in signs.items():
            if sign is None or sign.state not in settled:
                words = "" if sign is None else f" ({sign.message})"
                raise _Refused(
                    f"{name} is in a transition{words}; wait until `handiwork status` says that it is active"
                )

    def _speed_scale(self) -> float:
        """Return the speed scale in force, which a start forgets."""
        state = self._safety
        if state is None:
            return 1.0
        if state.state >= SafetyState.PROTECTIVE_STOP:
            raise _Refused(f"the robot is stopped: {state.reason}; end the stop before the tool is changed")
        return float(state.speed_scale)

    def _restore_speed(self, scale: float) -> None:
        if scale >= 1.0:
            return
        answer = self._call(SetSpeedScale, "safety/set_speed_scale", SetSpeedScale.Request(speed_scale=scale))
        if not answer.success:
            raise _Refused(f"the speed scale {scale:g} could not be set again: {answer.message}")

    def _are_active(self, names: Sequence[str]) -> bool:
        return all(self._signs.is_active(name) for name in names)

    def _robot_of(self, name: str) -> str:
        """Return the value of a node's ``robot_dir``; empty for a node without one."""
        answer = self._call(GetParameters, f"{name}/get_parameters", GetParameters.Request(names=[ROBOT_DIR]))
        found = [v.string_value for v in answer.values if v.type == ParameterType.PARAMETER_STRING]
        return found[0] if found else ""

    def _set_robot(self, name: str, robot_dir: str) -> None:
        """Set ``robot_dir`` of an unconfigured node, and wait until its next node has begun."""
        gid = self._signs.gid(name)
        change = [Parameter(ROBOT_DIR, value=robot_dir).to_parameter_msg()]
        result = self._call(
            SetParameters, f"{name}/set_parameters", SetParameters.Request(parameters=change)
        ).results[0]
        if not result.successful:
            raise _Refused(f"{name} refuses the robot: {result.reason}")
        end_s = time.monotonic() + ANSWER_S
        while (
            self._signs.gid(name) == gid or not self._signs.is_alive(name) or not self._is_unconfigured(name)
        ):
            if time.monotonic() > end_s:
                raise _Refused(f"{name} did not begin again within {ANSWER_S:g} s; see its log")
            self._pause()

    def _is_unconfigured(self, name: str) -> bool:
        sign = self._signs.sign(name)
        return sign is not None and sign.state == NodeStatus.UNCONFIGURED

    def _unconfigure(self, name: str) -> None:
        """Bring a node to the state unconfigured."""
        sign = self._signs.sign(name)
        steps = [Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP]
        first = {NodeStatus.ACTIVE: 0, NodeStatus.INACTIVE: 1}.get(
            -1 if sign is None else sign.state, len(steps)
        )
        for transition in steps[first:]:
            if fault := self._fault_of(name, transition, ANSWER_S):
                raise _Refused(f"{name} did not stop: {fault}")

    def _fault_of(self, name: str, transition: int, timeout_s: float) -> str:
        """Change the state of a node, and return why it could not; empty when it could."""
        request = ChangeState.Request(transition=Transition(id=transition))
        try:
            answer = self._call(ChangeState, f"{name}/change_state", request, timeout_s)
        except _Refused as error:
            return str(error)
        sign = self._signs.sign(name)
        return "" if answer.success else (sign.message if sign is not None else "") or "see its log"

    def _call(self, kind: Any, service: str, request: Any, timeout_s: float = ANSWER_S) -> Any:
        answer = self._services.call(kind, service, request, timeout_s)
        if isinstance(answer, NoAnswer):
            raise _Refused(f"{service} did not answer within {timeout_s:g} s")
        return answer

    def _pause(self) -> None:
        """Wait for the next status of a node; a node that is silent sends none."""
        self._changed.wait(STATUS_PERIOD_S)
        self._changed.clear()


def _loaded(folder: Path) -> Robot:
    try:
        return load_robot(folder)
    except ConfigError as error:
        raise _Refused(str(error)) from error


def _is_same(folder: str, other: str) -> bool:
    """Return True for two paths of one folder, such as a link in the share of a package and what it leads to."""
    return Path(folder).resolve() == Path(other).resolve()
