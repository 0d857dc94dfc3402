"""Brings the joints of one action server to rest: cancels its goals, and measures."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from handiwork_core.intake.rest_watch import RestWatch
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.thresholds import JOINT_REST, REST_TIME_S
from handiwork_core.model.world import JointState
from handiwork_ros.rclpy_support.action_call import GoalSequence

from .robot_watch import RobotWatch
from .world import RosWorldSource

POLL_S = 0.01
STANDSTILL_S = 0.5
"""The time after which a world that repeats the same stamp is paused, s; its arm is at rest at any measured speed."""
BRAKE_S = 5.0
"""The longest time to bring the arm to rest, s of steady time."""


class Brake:
    """Cancels goals and waits for rest. Its methods block: call them from a worker thread.

    Args:
        goals: Goals of the action.
        watch: Detects the loss of the robot.
        world: Provides the measured joints.
        joint_names: Joints that the action moves.
        action: Name of the action, for messages.
        what: What it moves, for messages, such as ``the arm``.
        owner: Name of the owner of the joints, for messages.
        brake_s: The longest time to rest, s of steady time.
    """

    def __init__(
        self,
        goals: GoalSequence,
        watch: RobotWatch,
        world: RosWorldSource,
        joint_names: Sequence[str],
        action: str,
        what: str,
        owner: str,
        brake_s: float = BRAKE_S,
    ) -> None:
        self._goals, self._watch, self._world, self._names = goals, watch, world, tuple(joint_names)
        self._action, self._what, self._owner, self._brake_s = action, what, owner, brake_s

    def to_rest(
        self, generation: int, then: Outcome, is_server_lost: Callable[[], bool] = lambda: False
    ) -> Outcome:
        """Cancel, then wait until all goals up to a generation have ended and the joints are at rest.

        An arm that swings out has moments without speed; see ``RestWatch``.

        Args:
            generation: The last generation of goals.
            then: Outcome once all are at rest.
            is_server_lost: Returns True while the server of the goals is gone, so that none of them can end.

        Returns:
            ``then``, or why there is no rest.
        """
        asked_s, rest = time.monotonic(), RestWatch(REST_TIME_S)
        same = (float("-inf"), 0.0)  # a stamp, and when a message with it was received first
        while time.monotonic() < asked_s + self._brake_s:
            running = self._goals.open(generation)
            for run in running:
                run.cancel()
            if self._watch.why_lost:
                return self.lost()
            received_s, stamp_s = self._world.joint_feedback()
            if stamp_s != same[0]:
                same = stamp_s, received_s
            # Compare times of arrival only, because this thread may be delayed between two checks.
            is_frozen = received_s - same[1] > STANDSTILL_S
            joints = self._world.snapshot().joints
            is_at_rest = rest.observe(joints.stamp_s, is_slow=self.is_slow(joints))
            if (not running or is_server_lost()) and (is_frozen or is_at_rest):
                return then
            time.sleep(POLL_S)  # noqa: TID251 - several signals at once
        text = f"{self._what} is not at rest {self._brake_s:.0f} s after the stop was asked of {self._action}"
        return Outcome(Code.UNRESPONSIVE, text)

    def is_slow(self, joints: JointState) -> bool:
        """Return True where no joint moves.

        Args:
            joints: A measurement.
        """
        return all(abs(joints.velocity.get(name, math.inf)) < JOINT_REST for name in self._names)

    def lost(self, why: str = "") -> Outcome:
        """Return ROBOT_LOST with the last known state of the joints.

        Args:
            why: Words before it.
        """
        age_s, speeds = self._world.joint_age_s(), self._world.snapshot().joints.velocity
        mine = [abs(speeds[name]) for name in self._names if name in speeds]
        if not math.isfinite(age_s) or not mine:
            return Outcome(Code.ROBOT_LOST, f"{why}nothing is known of {self._owner}'s joints")
        state = "at rest" if max(mine) < JOINT_REST else f"moving at up to {max(mine):.2f} rad/s"
        if len(mine) < len(self._names) and max(mine) < JOINT_REST:
            state = "at rest as far as their velocities were known"
        return Outcome(Code.ROBOT_LOST, f"{why}{self._owner}'s joints were {state} {age_s:.1f} s ago")
