"""The whole examination of a backend: receive, move, judge."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from handiwork_msgs.srv import SetObjectPose, SetPaused
from rclpy.node import Node

from handiwork_check.contract import (
    GROUPS,
    action_rules,
    service_rules,
    topic_rules,
)
from handiwork_check.findings import CheckFinding, failed, missing
from handiwork_check.judge_clock import is_simulated, judge_clock
from handiwork_check.judge_contacts import judge_contacts
from handiwork_check.judge_driver import DriverReading, judge_driver
from handiwork_check.judge_frames import judge_frames
from handiwork_check.judge_joints import amounts, judge_motion, judge_readings
from handiwork_check.judge_tools import judge_gripper, judge_suction
from handiwork_check.judge_topics import judge_interfaces, judge_rates, judge_topics
from handiwork_check.recording import GripperMotion, Recording, SuctionTrial, joined
from handiwork_check.trial_pose import ObjectTrial, grip_trial, suction_trial
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import ObjectState, WorldObject
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot
from handiwork_ros.conversions import BadMessage, outcome_from_msg, pose_to_msg
from handiwork_ros.ports.driver_watch import DriverWatch
from handiwork_ros.ports.frames import FrameBuffer, UnknownFrame

from .listener import Listener
from .mover import Mover

PATIENCE_S = 5.0
"""Longest wait for publishers; most are there after half a second."""

APART_M = 0.004
"""Additional opening of the fingers before they close on an object, m; small, so that it cannot fall far meanwhile."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The extent of an examination.

    Attributes:
        groups: Groups of checks, of ``GROUPS``.
        listen_s: Time of recording, s.
        may_move: Whether the robot may be moved.
    """

    groups: tuple[str, ...] = GROUPS
    listen_s: float = 3.0
    may_move: bool = True


class Examiner:
    """Examines one backend with a ``node`` that another thread spins."""

    def __init__(self, node: Node, robot: Robot) -> None:
        self._robot, self._listener = robot, Listener(node)
        self._frames, self._driver = FrameBuffer(node), DriverWatch(node, robot)
        self._mover = Mover(node, self._listener)

    def examine(self, plan: Plan) -> Iterator[CheckFinding]:
        """Examine the backend.

        Args:
            plan: The extent.

        Yields:
            Findings, as soon as each is known.
        """
        rules = topic_rules(self._robot, is_simulated=True)
        self._listener.await_publishers(rules, PATIENCE_S)
        self._listener.subscribe(rules)
        threading.Event().wait(plan.listen_s)
        self._listener.stop_recording()
        recording = self._listener.recording(rules)
        yield from self._received(plan, recording)
        for name in ("joints", "gripper", "suction"):
            if name not in plan.groups:
                continue
            if not plan.may_move:
                remedy = "run again without --still, with free space around the arm"
                yield missing(f"{name} motion", "nothing was moved, as asked", remedy, required=False)
            elif recording.joints:
                yield from {"joints": self._arms, "gripper": self._grippers, "suction": self._cups}[name](
                    recording
                )

    def _received(self, plan: Plan, recording: Recording) -> Iterator[CheckFinding]:
        rules = topic_rules(self._robot, is_simulated=is_simulated(recording))
        if "topics" in plan.groups:
            yield from judge_topics(rules, recording)
            yield from judge_rates(rules, recording)
            yield from judge_interfaces("action", action_rules(self._robot), recording.actions)
            yield from judge_interfaces("service", service_rules(self._robot), recording.services)
            for topic, fault in self._listener.faults.items():
                yield failed(f"content {topic}", fault, "correct what the sentence names")
        if "clock" in plan.groups:
            yield from judge_clock(recording)
        if "frames" in plan.groups:
            yield from judge_frames(self._robot, recording)
        if "driver" in plan.groups:
            yield from self._drivers(is_simulated=is_simulated(recording))
        if "joints" in plan.groups:
            yield from judge_readings(self._robot, recording)
        if "contacts" in plan.groups:
            yield from judge_contacts(self._robot, recording)

    def _drivers(self, *, is_simulated: bool) -> Iterator[CheckFinding]:
        watch = self._driver
        for arm in self._robot.arms.values():
            if arm.driver is None:
                continue
            topics = {arm.driver.topic(signal.topic) for signal in arm.driver.signals}
            stop = watch.stopped(arm.name)
            reading = DriverReading(
                arm.name,
                arm.driver,
                watch.has_signal(arm.name),
                "" if stop is None else stop.message,
                watch.scaling(arm.name),
                {topic: kind for topic, kind in watch.unreadable.items() if topic in topics},
            )
            yield from judge_driver(reading, is_simulated=is_simulated)

    def _arms(self, recording: Recording) -> Iterator[CheckFinding]:
        for arm in self._robot.arms.values():
            asked = amounts(self._robot, arm, joined(recording.joints))
            yield from judge_motion(self._mover.move_arm(arm, asked))

    def _grippers(self, recording: Recording) -> Iterator[CheckFinding]:
        for arm, tool in self._tools():
            if tool.suction is None:
                home = self._mover.reading(tool)
                widths = (tool.max_width_m, tool.min_width_m)
                motions = [self._mover.move_gripper(tool, tool.position(width)) for width in widths]
                if not any(motion.fault for motion in motions):
                    motions += self._grip(arm, tool, recording)
                    self._mover.move_gripper(tool, home)
                yield from judge_gripper(tool, motions)

    def _cups(self, recording: Recording) -> Iterator[CheckFinding]:
        for arm, tool in self._tools():
            if tool.suction is not None:
                trials = [self._mover.switch(tool, on=on) for on in (True, False)]
                yield from judge_suction(tool.name, [*trials, *self._seal(arm, tool, recording)])

    def _tools(self) -> Iterable[tuple[ArmSpec, GripperSpec]]:
        return [(arm, arm.gripper) for arm in self._robot.arms.values() if arm.gripper is not None]

    def _grip(self, arm: ArmSpec, tool: GripperSpec, recording: Recording) -> list[GripperMotion]:
        """Close on an object that is put between the fingers, if the simulator can do that."""
        trial = self._trial(arm, tool, recording)
        if trial is None:
            return []
        wide = min(tool.max_width_m, trial.width_m + APART_M)
        self._mover.move_gripper(tool, tool.position(wide))
        if not self._pause(True):
            return []
        is_there = self._put(trial.name, trial.world_T_object)
        motion = self._mover.move_gripper(
            tool,
            tool.position(tool.min_width_m),
            object_m=trial.width_m,
            speed=self._robot.joints[tool.joint].velocity,
            begin=lambda: self._pause(False),
        )
        self._restore(trial, recording.states)
        # A paused simulator may put an object without an answer; the contact then shows that it is there.
        return [motion] if is_there or motion.stalled else []

    def _seal(self, arm: ArmSpec, tool: GripperSpec, recording: Recording) -> list[SuctionTrial]:
        """Switch the cup on with an object before it, if the simulator can do that."""
        trial = self._trial(arm, tool, recording)
        if trial is None or not self._pause(True):
            return []
        is_there = self._put(trial.name, trial.world_T_object)
        # The world is paused, so the cup meets the object before it falls; the state is that of the running world.
        self._mover.switch_paused(tool)
        self._pause(False)
        held = self._mover.switch(tool, on=True, held=trial.name)
        freed = self._mover.switch(tool, on=False, held=trial.name)
        self._restore(trial, recording.states)
        felt = held.state is not None and held.state.sealed
        return [held, freed] if is_there or felt else []

    def _trial(self, arm: ArmSpec, tool: GripperSpec, recording: Recording) -> ObjectTrial | None:
        offered = recording.services
        if "/sim/set_paused" not in offered or "/sim/set_object_pose" not in offered:
            return None
        prefix = f"{self._robot.name}/"
        try:
            world_T_tcp = self._frames.lookup("world", prefix + arm.tcp_link)
            ee_R_tcp = self._frames.lookup(prefix + arm.ee_link, prefix + arm.tcp_link).rotation
        except (UnknownFrame, BadMessage):
            return None
        return _chosen(tool, recording.objects, world_T_tcp, ee_R_tcp)

    def _restore(self, trial: ObjectTrial, states: Mapping[str, ObjectState]) -> None:
        if trial.name in states:
            self._put(trial.name, states[trial.name].world_T_object)

    def _put(self, name: str, pose: Pose) -> bool:
        request = SetObjectPose.Request(object=name)
        request.pose.header.frame_id = "world"
        request.pose.pose = pose_to_msg(pose)
        answer = self._mover.ask(SetObjectPose, "sim/set_object_pose", request)
        return answer is not None and outcome_from_msg(answer.outcome).ok

    def _pause(self, paused: bool) -> bool:
        answer = self._mover.ask(SetPaused, "sim/set_paused", SetPaused.Request(paused=paused))
        return answer is not None and outcome_from_msg(answer.outcome).ok


def _chosen(
    tool: GripperSpec, objects: Mapping[str, WorldObject], world_T_tcp: Pose, ee_R_tcp: Rotation
) -> ObjectTrial | None:
    choose = grip_trial if tool.suction is None else suction_trial
    return choose(tool, objects, world_T_tcp, ee_R_tcp)
