"""The function of ``run_policy``: connects, checks, runs the loop, and brings arm and fingers to rest."""

from __future__ import annotations

import contextlib
import json
import math
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, wait
from dataclasses import dataclass

from handiwork_core.contracts.commands import CommandFunction
from handiwork_core.contracts.reactive import Reactive, WatchedConditions
from handiwork_core.contracts.skill import Context, StepFailed, Stopped
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.thresholds import JOINT_REST
from handiwork_core.robot.kinematics import link_poses
from handiwork_policy.loop.runner import PolicyRunner
from handiwork_policy.loop.settings import PolicySettings
from handiwork_policy.protocol.connection import PolicyConnection, connect_policy
from handiwork_policy.protocol.errors import PolicyError, ServerLost, ServerSilent
from handiwork_policy.protocol.worker import InferenceWorker
from handiwork_policy.verdicts import result as ends
from handiwork_policy.verdicts.result import PolicyResult
from skill_server.state import gripper_state

from .judge import MonitorJudge
from .params import RunPolicyParams, settings_of
from .pictures import CameraPictures
from .port import LAG_S, SkillPort

BRAKE_S = 10.0
"""Longest wait for the end of the last schedule, s of steady time."""
FRAMES_S = 3.0
"""Longest wait for the first image of each camera, s of the robot's world."""
POLL_S = 0.05
FINGERS_S = 6.0
"""Longest wait for the end of the fingers' motion, s of steady time."""
VERDICT_S = 3.0
"""Longest wait for the monitor's verdict on the arm at rest, s of steady time; it sends one at least each second."""
CODES = {
    ends.TIME_OVER: Code.CONDITION_FALSE,
    ends.GUARD_REFUSED: Code.TRAJECTORY_REFUSED,
    ends.SERVER_SILENT: Code.UNRESPONSIVE,
    ends.SERVER_FAULT: Code.UNRESPONSIVE,
    ends.CAMERA_FAULT: Code.STALE_WORLD,
    ends.CONTROLLER_REFUSED: Code.CONTROLLER_REFUSED,
    ends.STOPPED: Code.GRIPPER_FAILED,
    ends.SUCCESS: Code.CONDITION_FALSE,
}
"""The end of a run without success -> code; a run that was stopped by its token has the code of that. The last one
is of a condition that was confirmed, and no longer holds once the arm is at rest."""
FIELDS = {ends.SERVER_SILENT: "server", ends.SERVER_FAULT: "server", ends.CAMERA_FAULT: "cameras"}


@dataclass(frozen=True, slots=True, eq=False)
class PolicyFunction(CommandFunction):
    """Runs a policy until its condition is confirmed.

    Attributes:
        params: Parameters of the goal.
    """

    params: RunPolicyParams

    lets_go = True

    def execute(self, context: Context, stage: str) -> None:
        """See ``CommandFunction``."""
        try:
            found = self._run(context)
        except PolicyError as error:
            context.token.check()
            raise StepFailed(refused(error, stage)) from error
        if context.token.is_set():
            raise Stopped(context.token.reason, context.token.detail, data_of(found))
        report = Outcome(Code.OK if found.success else CODES[found.end], reported(found), stage)
        if not found.success:
            raise StepFailed(Outcome(report.code, report.message, stage, FIELDS.get(found.end, "")))
        context.finding = report

    def _run(self, context: Context) -> PolicyResult:
        """Run the loop; all is closed and at rest afterwards.

        Raises:
            PolicyError: Something does not fit, and nothing has moved.
        """
        settings = settings_of(self.params, context.world.snapshot())
        reactive, conditions = needed(context)
        judge = MonitorJudge(conditions, watched(settings, conditions, context), context.clock.now_s())
        with contextlib.ExitStack() as stack:
            pictures = stack.enter_context(opened(settings, context))
            client = connected(self.params.server, settings.server_timeout, context)
            stack.callback(client.close)
            worker = InferenceWorker(client)
            stack.callback(worker.close)
            port = SkillPort(context, reactive, settings.rate_hz, pictures)
            stack.callback(_close_fingers, port)
            runner = PolicyRunner(context.robot, context.arm_spec, settings, port, worker, judge)
            runner.check_metadata(client.metadata())
            runner.prepare(root_pose(context))
            context.token.check()
            found = runner.run()
            wait_for_rest(context, 1.0 / self.params.rate_hz)
            if not context.token.is_set():
                await_verdict(context, judge, is_wanted=found.end == ends.SUCCESS)
                found = runner.look_again(found)
        keep_held(context)
        return found


def wait_for_rest(context: Context, step_s: float) -> None:
    """Return once the arm rests at the end of the last schedule, or at once when the robot is lost.

    A cancelled run waits for that schedule too, since an arm at rest may still have to begin it; the executor then
    stops the arm.

    Args:
        context: Context of the run.
        step_s: Time between two schedules, s.

    Raises:
        StepFailed: It does not come to rest.
    """
    end_s = time.monotonic() + BRAKE_S
    context.clock.sleep(LAG_S + step_s, should_stop=lambda: _is_lost(context) or time.monotonic() > end_s)
    while not context.token.is_set() and not _is_at_rest(context):
        if time.monotonic() > end_s:
            raise StepFailed(Outcome(Code.UNRESPONSIVE, f"the arm is not at rest within {BRAKE_S:g} s"))
        context.clock.sleep(POLL_S, should_stop=lambda: _is_over(context, end_s))


def _is_over(context: Context, end_s: float) -> bool:
    return context.token.is_set() or time.monotonic() > end_s


def _is_lost(context: Context) -> bool:
    return context.token.is_set() and context.token.reason is Code.ROBOT_LOST


def _is_at_rest(context: Context) -> bool:
    speeds = context.world.snapshot().joints.velocity
    return all(abs(speeds.get(name, math.inf)) < JOINT_REST for name in context.arm_spec.joint_names)


def needed(context: Context) -> tuple[Reactive, WatchedConditions]:
    """Return the ports that a policy needs.

    Args:
        context: Context of the run.

    Raises:
        PolicyError: The robot lacks one.
    """
    reactive, conditions = context.reactive, context.conditions
    if reactive is None or conditions is None:
        what = "a reactive controller" if reactive is None else "a condition monitor"
        raise PolicyError(f"this robot has no {what}, which a policy needs; start the whole stack", "arm")
    if fault := reactive.fault():
        raise PolicyError(fault, "arm")
    return reactive, conditions


def watched(settings: PolicySettings, conditions: WatchedConditions, context: Context) -> list[str]:
    """Return the keys of ``until`` and of the subtasks.

    Args:
        settings: Settings of the loop.
        conditions: The monitor.
        context: Context of the run.

    Raises:
        PolicyError: The monitor does not watch one of them.
    """
    fields = ["until", *(f"subtasks[{i}]" for i in range(len(settings.subtasks)))]
    keys = []
    for field, text in zip(fields, (settings.until, *settings.subtasks), strict=True):
        key, fault = conditions.find(text, should_stop=context.token.is_set)
        context.token.check()
        if fault:
            raise PolicyError(f"{field} is {text!r}: {fault}", field)
        keys.append(key)
    return keys


def connected(address: str, timeout_s: float, context: Context) -> PolicyConnection:
    """Return a connection; a thread of its own makes it, so that a cancelled goal does not wait for a silent server.

    Args:
        address: Address of the server.
        timeout_s: Longest wait for each answer, s of steady time.
        context: Context of the run.

    Raises:
        PolicyError: There is no such server.
        Stopped: The token was set.
    """
    made: Future[PolicyConnection] = Future()

    def work() -> None:
        client: PolicyConnection | None = None
        fault: Exception | None = None
        try:
            client = connect_policy(address, timeout_s)
        except Exception as error:  # noqa: BLE001 - raised again on the thread of the run
            fault = error
        is_wanted = made.set_running_or_notify_cancel()
        if client is None:
            if is_wanted:
                made.set_exception(fault)
        elif is_wanted:
            made.set_result(client)
        else:
            client.close()

    threading.Thread(target=work, name="policy connection", daemon=True).start()
    while not wait((made,), POLL_S).done:
        if context.token.is_set():
            made.cancel()
        context.token.check()
    return made.result()


@contextlib.contextmanager
def opened(settings: PolicySettings, context: Context) -> Iterator[CameraPictures]:
    """Receive images for the time of a ``with`` block, once each camera has sent one.

    Args:
        settings: Settings of the loop.
        context: Context of the run.

    Yields:
        The pictures.

    Raises:
        PolicyError: A camera sends none.
    """
    cameras, clock = context.cameras, context.clock
    pictures = CameraPictures(cameras, settings.cameras)
    if not settings.cameras or cameras is None:
        pictures.pictures()
        yield pictures
        return
    cameras.open([one.image_topic for one in settings.cameras])
    begun_s = clock.now_s()

    def is_time_left() -> bool:
        clock.sleep(POLL_S, should_stop=context.token.is_set)
        context.token.check()
        return clock.now_s() - begun_s < FRAMES_S

    try:
        pictures.await_all(is_time_left)
        yield pictures
    finally:
        cameras.close()


def root_pose(context: Context) -> Pose:
    """Return the pose of the robot's root link in the world.

    Args:
        context: Context of the run.
    """
    robot, base = context.robot, context.arm_spec.base_link
    joints = context.world.snapshot().joints.position
    return context.world.world_T_base() @ link_poses(robot, joints, (base,))[base].inverse()


def await_verdict(context: Context, judge: MonitorJudge, *, is_wanted: bool) -> None:
    """Wait until the monitor has judged the world of now, in which the arm rests; only that counts from now on.

    Args:
        context: Context of the run.
        judge: The monitor.
        is_wanted: True: the condition was confirmed while the arm moved, and is given time to be confirmed again.
    """
    judge.begin(context.clock.now_s())
    end_s = time.monotonic() + VERDICT_S
    while not (judge.look()[0].is_confirmed if is_wanted else judge.is_fresh()):
        if _is_over(context, end_s):
            return
        context.clock.sleep(POLL_S, should_stop=lambda: _is_over(context, end_s))


def keep_held(context: Context) -> None:
    """Write into the context what the hand holds after the run, by measurement.

    Args:
        context: Context of the run.
    """
    world, robot, arm = context.world.snapshot(), context.robot, context.arm_spec
    gripper_state.forget_lost(context, world)
    name = gripper_state.held_by_measurement(world, robot, arm)
    if name and name not in context.held:
        base = context.world.world_T_base()
        context.held[name] = gripper_state.attachment(world, robot, arm, base, name)


def _close_fingers(port: SkillPort) -> None:
    if port.fingers is not None:
        port.fingers.close(FINGERS_S)


def refused(error: PolicyError, stage: str) -> Outcome:
    """Return the outcome of a goal that was refused before anything moved.

    Args:
        error: The fault.
        stage: Stage of the command.
    """
    is_lost = isinstance(error, (ServerSilent, ServerLost))
    code = Code.UNRESPONSIVE if is_lost else Code.BAD_GOAL
    code = Code.STALE_WORLD if error.field.startswith("cameras") else code
    return Outcome(code, f"{error} (nothing has moved)", stage, error.field)


def reported(found: PolicyResult) -> str:
    """Return the verdict as a sentence, and behind it the whole result as JSON; see ``policy_result``.

    Args:
        found: The result.
    """
    return f"{found.message}{data_of(found)}"


def data_of(found: PolicyResult) -> str:
    """Return the whole result as JSON, as it comes behind a sentence.

    Args:
        found: The result.
    """
    return f"{ends.DATA}{json.dumps(_finite(found.as_dict()), separators=(',', ':'))}"


def _finite(value: object) -> object:
    """Return values as JSON has them: a number that is not finite is null."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
