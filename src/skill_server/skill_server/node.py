"""The node ``skill_server``, which offers the skills as actions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from handiwork_msgs.action import Pick, Place
from rclpy.clock import Clock, ClockType

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.contracts.ports import Planner
from handiwork_core.intake.regular_files import data_roots
from handiwork_core.intake.robot_watchdog import SILENCE_S
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.actions.admission import AdmissionQueue
from handiwork_ros.actions.arm_lease import Policy
from handiwork_ros.actions.skill_action_server import SkillActionServer
from handiwork_ros.actions.skill_binding import SkillBinding
from handiwork_ros.liveness.heartbeat import Heartbeats
from handiwork_ros.node.diagnostics import IntakeDiagnoses
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.robot_folder import RobotFolder
from handiwork_ros.node.start_wait import StartWait
from handiwork_ros.node.wall_time_node import action_host_node
from handiwork_ros.ports.planner import PLANNER, PlannerClient
from handiwork_ros.ports.reconnecting_planner import ReconnectingPlanner
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.ports.world_topics import Subscriptions
from handiwork_ros.rclpy_support.safe_callbacks import guard
from handiwork_ros.safety.heartbeat import HeartbeatPublisher
from handiwork_ros.safety.watch import SafetyWatch

from .params.registry import Catalog, load_catalog
from .ros.admission import Gate
from .ros.arm_set import arm_set
from .ros.condition_client import MonitorClient
from .ros.execute_plan_action import execute_plan_binding
from .ros.flight_recording import open_recorder
from .ros.preview_markers import PreviewMarkers
from .ros.previews import PREVIEWS, Previews
from .ros.run_skill_action import run_skill_binding
from .ros.run_task_action import run_task_binding
from .skills import BUILTIN

ACTIONS = {"pick": Pick, "place": Place}
"""The action types of built-in skills; the class of a plug-in may name its own in ``action_type``.

All other skills are called by ``run_skill``.
"""


SIMULATIONS = ("sim_bridge", "isaac_bridge")
"""Nodes that send ``joint_states`` of a simulation, and measure their own delay."""
WATCH_S = 0.1
"""The pause between two checks for conflicting publishers while a goal runs, s of steady time."""


class SkillServer(ManagedNode):
    """Serves every registered skill. Each arm has one lease; its held objects are kept from goal to goal."""

    def __init__(self, **options: Any) -> None:
        super().__init__("skill_server", **options)
        self._robot_dir = Path(RobotFolder(self).path)
        self._robot = load_robot(self._robot_dir)
        policy = self._busy_policy()
        wanted = Subscriptions(contacts=True, planner=True, moving_frames=True)
        self._world = RosWorldSource(self, self._robot, wanted)
        self.diagnostics.add("intake", IntakeDiagnoses(self._world.statistics))
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._watch = self.create_timer(WATCH_S, guard(self, self._end_in_conflict), clock=steady)
        signs, self._wait = Heartbeats(self), StartWait(self)
        self._recorder = open_recorder(self, self._robot, self._robot_dir, self._world.snapshot)
        limit_s = partial(signs.stream_limit_s, SILENCE_S, *SIMULATIONS)
        self._arms = arm_set(
            self, self._robot, self._world, lambda: self._planner(signs), self._recorder, limit_s
        )
        self._safety = SafetyWatch(self, lambda why: self._arms.stop_all(why.code, why.message))
        self._heartbeat = HeartbeatPublisher(self, self._arms.supervised)
        host, leases = action_host_node(self), self._arms.leases
        self._admission = self._admission_queue()
        first = next(iter(leases.values()))
        holds = {**leases, PREVIEWS: self._arms.previews}
        self._servers = [
            SkillActionServer(first, binding, self._admission, node=host, policy=policy, arms=holds)
            for binding in self._bindings(load_catalog(BUILTIN))
        ]

    def _admission_queue(self) -> AdmissionQueue:
        text = "longest time of the check of one goal [s of steady time]"
        limit_s = self.parameter("admission_timeout_s", 2.0, text)
        if not 0.1 <= limit_s <= 60.0:
            fault = f"parameter admission_timeout_s: is {limit_s}; give 0.1 to 60"
            raise ConfigError("node skill_server", [fault])
        return AdmissionQueue(self, limit_s=limit_s, on_change=self._on_admission_change)

    def _on_admission_change(self, text: str) -> None:
        """Publish the status: the node stays ACTIVE, as running goals go on, but it takes no other goals."""
        if self.is_active:
            self.status_text = text
            self.publish_status()

    def _busy_policy(self) -> Policy:
        words = ", ".join(policy.value for policy in Policy)
        try:
            return Policy.of(self.parameter("busy_policy", Policy.REJECT.value, f"of a busy arm: {words}"))
        except ValueError as error:
            raise ConfigError("node skill_server", [f"parameter busy_policy: {error}"]) from error

    def _planner(self, signs: Heartbeats) -> Planner:
        """Return the planner port.

        A goal waits for a planner that restarts, and its arm ends the motion that was judged good.
        """
        text = "how long a goal waits for a lost planner_node [s of steady time]; 0: it ends at once"
        patience_s = self.parameter("planner_patience_s", 40.0, text)
        client = PlannerClient(self, self._robot, signs)
        if patience_s > 0.0:
            return ReconnectingPlanner(client, lambda: signs.is_active(PLANNER), patience_s)
        # A goal whose arm is on a long motion must end soon as well, not when it next needs a plan.
        signs.on_loss(PLANNER, lambda _name: self._arms.stop_all(Code.PLANNER_LOST))
        return client

    def on_prepare(self, report: Report) -> None:
        """Wait for the robot and the world."""
        self._wait.until_none(self._missing, report)

    def on_stop(self) -> None:
        """End the running goals; later goals are refused."""
        text = "the skill server stops serving; send the goal again once it is active"
        self._admission.refuse_all(Outcome(Code.SHUTDOWN, text))
        if self.closing.is_set():
            self._arms.begin_close()
        else:
            self._arms.stop_all(Code.SHUTDOWN)

    def on_close(self) -> None:
        """Join the worker threads."""
        self._admission.close()
        if self.closing.is_set():
            self._arms.end_close()
            if self._recorder is not None:
                self._recorder.close()

    def is_idle(self) -> bool:
        """True when no goal runs."""
        return not (self._arms.is_busy or self._admission.is_busy)

    def exchange_refusal(self) -> str:
        """Return which arm holds an object; see ``ManagedNode.exchange_refusal``."""
        held = {name: runner.held_now() for name, runner in self._arms.runs.items()}
        return next((f"{arm!r} holds {name!r}; put it down first" for arm, name in held.items() if name), "")

    def _end_in_conflict(self) -> None:
        """End the running goals when two publishers send on a topic of one publisher: neither is known to be right."""
        if self._arms.is_busy and (conflict := self._world.conflict()) is not None:
            self._arms.stop_all(conflict.code, conflict.message)

    def _missing(self) -> list[str]:
        seen = {
            "joint_states": bool(self._world.snapshot().joints.position),
            "world/objects": self._world.has_geometry(),
            "/tf_static": f"{self._robot.name}/{self._robot.root_link}" in self._world.frames.known(),
        }
        return [name for name, is_seen in seen.items() if not is_seen]

    def _why_closed(self) -> str:
        return "" if self.is_active else self.status_text or f"its state is {self.state}"

    def _bindings(self, catalog: Catalog) -> Iterator[SkillBinding[Any]]:
        for name, why in catalog.broken.items():
            self.get_logger().error(f"skill {name!r} could not be loaded: {why}")
        timeout_s = self.parameter("world_timeout_s", 2.0, "oldest poses of objects a goal may start on [s]")
        words = "further folders below which goals may name files, separated by colons"
        roots = data_roots(self.parameter("data_roots", "", words), self._robot_dir)
        gate = Gate(
            self._robot,
            self._arms.runs,
            self._world,
            lambda: self.silence_limit_s(timeout_s),
            self._why_closed,
            lambda: self._safety.refusal() or self._arms.driver.refusal(),
            lambda: self._arms.watch.why_refused(),
            roots,
            Previews(self._arms.runs, self._arms.leases, PreviewMarkers(self, self._robot).show),
            self._recorder,
        )
        for skill in catalog.skills.values():
            action = ACTIONS.get(skill.name) or getattr(skill, "action_type", None)
            if action is not None:
                yield gate.typed_binding(skill, action)
        yield run_skill_binding(gate, catalog)
        yield execute_plan_binding(gate)
        yield run_task_binding(gate, catalog, MonitorClient(self))


def main() -> None:
    """Run the node."""
    sys.exit(run(SkillServer))
