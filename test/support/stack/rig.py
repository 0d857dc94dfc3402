"""Helpers of the system tests: the stack with records of its joints and contacts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from handiwork_msgs.action import Pick, Place, RunSkill
from handiwork_msgs.msg import Contacts
from handiwork_msgs.srv import ResetWorld
from sensor_msgs.msg import JointState

from handiwork_cli.stack.stack import NODES, Stack
from handiwork_core.contracts.skill import Progress
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.thresholds import JOINT_REST
from handiwork_ros.clients.skill_client import GoalHandle, SkillReport
from handiwork_ros.rclpy_support.qos import LATEST

PICK_STAGES = ["select", "open", "approach", "descend", "grasp", "lift"]
PLACE_STAGES = ["select", "transit", "descend", "release", "retreat"]
TERMINAL_S = 2.0
"""Wall time within which every goal ends and the arm rests, whichever node is killed."""
SETTLED = 10
"""So many samples in a row show that the arm has come to rest."""
REST_S = 0.3
"""World time for which an arm at rest must stay so."""
SLOW = Pick.Goal(object="cube", max_velocity_scaling_factor=0.1)
"""Approaches for many seconds, so that nothing ends by itself while a test looks."""
EVENT_S = 30.0
"""Longest wait for something that takes a second or two."""


def wait_for(what: str, is_there: Callable[[], bool], timeout_s: float = EVENT_S) -> None:
    """Wait in steady time.

    Raises:
        AssertionError: The condition did not become true; names it.
    """
    end_s, pause = time.monotonic() + timeout_s, threading.Event()
    while not is_there():
        assert time.monotonic() < end_s, f"not within {timeout_s:g} s: {what}"
        pause.wait(0.005)


@dataclass(frozen=True)
class JointSample:
    """One message of ``joint_states``.

    Its stamp in world time [s], positions of all joints (n,), and the greatest arm speed [rad/s].
    """

    heard_s: float
    stamp_s: float
    positions: Array
    speed: float


class JointRecord:
    """All messages of ``joint_states`` since ``clear``."""

    def __init__(self, node: Any) -> None:
        self._samples: list[JointSample] = []
        node.create_subscription(JointState, "joint_states", self._on_joints, LATEST)

    def _on_joints(self, message: JointState) -> None:
        speeds = [
            abs(v) for name, v in zip(message.name, message.velocity, strict=True) if "finger" not in name
        ]
        stamp = message.header.stamp
        stamp_s = stamp.sec + 1e-9 * stamp.nanosec
        self._samples.append(JointSample(time.monotonic(), stamp_s, np.array(message.position), max(speeds)))

    @property
    def samples(self) -> list[JointSample]:
        """Return all samples, in order."""
        return list(self._samples)

    @property
    def newest(self) -> JointSample:
        """Return the last sample after ``clear``."""
        return self._samples[-1]

    def clear(self) -> None:
        """Forget all samples, and wait for the first new one."""
        self._samples = []
        self.next()

    def next(self) -> JointSample:
        """Return a sample of the world after this call: the second one, as one that was in transit may be older."""
        samples, count = self._samples, len(self._samples)
        wait_for("two messages on joint_states", lambda: len(samples) >= count + 2)
        return samples[count + 1]

    def over(self, world_s: float) -> list[JointSample]:
        """Return the samples of the next ``world_s`` seconds of world time."""
        first, start = self.next(), len(self._samples) - 1
        wait_for(f"{world_s} s of world time", lambda: self._samples[-1].stamp_s >= first.stamp_s + world_s)
        return [first, *self._samples[start:]]

    @property
    def last_s(self) -> float:
        """Return the steady time of the newest sample."""
        return self._samples[-1].heard_s

    def greatest_change(self) -> float:
        """Return the largest distance of any joint from its first position, rad or m."""
        positions = np.array([sample.positions for sample in self._samples])
        return float(np.abs(positions - positions[0]).max())

    def assert_rests(self) -> None:
        """Check that the arm is at rest and stays so."""
        fastest = max(self.over(REST_S), key=lambda sample: sample.speed)
        assert fastest.speed < JOINT_REST, f"a joint moves at {fastest.speed:.3f} rad/s"

    def wait_moving(self, speed: float = 10 * JOINT_REST, timeout_s: float = EVENT_S) -> None:
        """Wait until the arm clearly moves."""
        wait_for("a motion of the arm", lambda: self._samples[-1].speed > speed, timeout_s)

    def _rested(self) -> bool:
        """Check rest over several samples: a swinging arm is at rest for a moment at each end."""
        newest = self._samples[-SETTLED:]
        return len(newest) == SETTLED and all(sample.speed < JOINT_REST for sample in newest)

    def wait_rest(self, since_s: float) -> None:
        """Check that the arm is at rest within the bound after the steady time ``since_s``, and stays so."""
        wait_for("an arm at rest", self._rested)
        moving = [sample.heard_s for sample in self._samples if sample.speed >= JOINT_REST]
        moved_s = max(moving, default=since_s) - since_s
        assert moved_s <= TERMINAL_S, f"the arm moved for {moved_s:.2f} s more"
        self.assert_rests()


class ContactRecord:
    """All pairs of bodies in ``world/contacts`` since ``clear``."""

    def __init__(self, node: Any) -> None:
        self.pairs: set[frozenset[str]] = set()
        self.count = 0
        node.create_subscription(Contacts, "world/contacts", self._on_contacts, LATEST)

    def _on_contacts(self, message: Contacts) -> None:
        self.count += 1
        self.pairs |= {frozenset((contact.a, contact.b)) for contact in message.contacts}

    def clear(self) -> None:
        """Forget all pairs, and wait for new ones."""
        self.pairs, self.count = set(), 0
        wait_for("two messages on world/contacts", lambda: self.count >= 2)

    def of(self, body: str) -> set[str]:
        """Return the bodies that touched ``body``."""
        return {other for pair in self.pairs if body in pair for other in pair - {body}}


class Rig:
    """A running stack and the records of it."""

    def __init__(self, stack: Stack) -> None:
        self.stack, self.client = stack, stack.client
        self.joints = JointRecord(stack.client.node)
        self.contacts = ContactRecord(stack.client.node)

    def reset(self, seed: int = 0, *, randomize: bool = False) -> None:
        """Reset the world to its scene file, and clear the records."""
        answer = self.stack.call(ResetWorld, "sim/reset", ResetWorld.Request(seed=seed, randomize=randomize))
        assert answer.outcome.code == answer.outcome.OK, answer.outcome.message
        self.joints.clear()
        self.contacts.clear()

    def pids(self) -> dict[str, int | None]:
        """Return process ids by node, as the nodes themselves report them."""
        return {name: self.client.signs.pid(name) for name in NODES}

    def wait_restarted(self, node: str, old: int) -> None:
        """Wait until a new process of the node is active."""
        signs = self.client.signs
        wait_for(
            f"a new {node} that is active",
            lambda: signs.pid(node) != old and signs.is_active(node),
            2 * EVENT_S,
        )

    def send_until(self, goal: Pick.Goal | Place.Goal | RunSkill.Goal, stage: str) -> GoalHandle[SkillReport]:
        """Send a goal and return as soon as its feedback names the stage."""
        return send_until(self.client.send, goal, stage)


def send_until(
    send: Callable[..., GoalHandle],
    goal: Pick.Goal | Place.Goal | RunSkill.Goal,
    stage: str,
    timeout_s: float = EVENT_S,
) -> GoalHandle[SkillReport]:
    """Send a goal and return as soon as its feedback names the stage."""
    reached = threading.Event()

    def note(progress: Progress) -> None:
        if progress.stage == stage:
            reached.set()

    run = send(goal, note)
    wait_for(f"stage {stage!r} in the feedback", lambda: reached.is_set() or run.done, timeout_s)
    assert reached.is_set(), f"the goal ended before stage {stage!r}: {run.result(1.0).outcome}"
    return run


def end_in_time(run: GoalHandle, killed_s: float) -> Outcome:
    """Return the outcome of a goal, which must come within the bound after ``killed_s`` (steady) and be no success."""
    outcome = run.result(60.0).outcome
    took_s = time.monotonic() - killed_s
    assert took_s <= TERMINAL_S, f"terminal after {took_s:.2f} s: {outcome}"
    assert not outcome.ok
    assert outcome.message
    return outcome
