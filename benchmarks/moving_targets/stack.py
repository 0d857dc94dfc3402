"""Targets that move in physics: ``python -m benchmarks.moving_targets.stack [--runs 100]``.

The whole stack over MuJoCo in real time. The cube is pushed, or put elsewhere, at a random time while Pick
leads to it, and the tray while Place does. Every run has a seed of its own.
The reaction is the steady time from the message that first shows the target more than 1 cm away to the motion that
replaces the one under way.
"""

# ruff: noqa: ANN401 messages of ROS

from __future__ import annotations

import argparse
import math
import os
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import binomtest

from handiwork_cli.processes.progress import progress
from handiwork_cli.stack.stack import Stack
from handiwork_core.contracts.skill import Progress
from handiwork_core.model.geometry import Array

ARM, TIMEOUT_S = "fr3_arm", 90.0
FIRST_SEED = 5000
"""Seeds from here on were not used in development."""
AWAY_M = 0.01
LEAST_M, MOST_M = 0.01, 0.06
SETTLE_S, REST_MPS, SETTLE_TIMEOUT_S = 0.2, 0.005, 60.0
"""Time of the world after a reset, s, speed of an object at rest, m/s, and the longest steady wait for both, s."""
SLIDE_MPS2 = 0.9 * 9.81
"""Deceleration of an object that slides on the table, m/s^2."""
WITHIN_S = {"pick": ("approach", 1.4), "place": ("transit", 1.4)}
"""Stage from whose begin on a nudge may come, and the longest time after it, s."""
RUNNING, CANCELED = 3, 5
"""The last state of a goal that has not ended, and that of one which was cancelled."""
NO_REACTION = (math.nan, math.nan)
SHOWN_EVERY = 20


def wilson(good: int, of: int) -> str:
    """Return the Wilson interval of 95 % in words.

    Args:
        good: Number of successes.
        of: Number of runs.
    """
    low, high = binomtest(good, of).proportion_ci(method="wilson")
    return f"{good} of {of} ({100 * low:.1f} to {100 * high:.1f} %)"


class Observer:
    """Receives poses of objects and the goals of the arm's controller, with the steady time of each."""

    def __init__(self, stack: Stack) -> None:
        from action_msgs.msg import GoalStatusArray
        from handiwork_msgs.msg import ObjectStates

        from handiwork_ros.rclpy_support.qos import LATCHED, LATEST

        self._lock = threading.Condition()
        self._speed = math.inf
        self.places: dict[str, Array] = {}
        self._from: tuple[str, Array] | None = None
        self.stamp_s = 0.0
        self.away_s = self.replaced_s = (float("nan"), float("nan"))
        self._running: set[bytes] = set()
        self._known: set[bytes] = set()
        self._ended: set[bytes] = set()
        node = stack.client.node
        node.create_subscription(ObjectStates, "world/object_states", self._on_states, LATEST)
        topic = f"{ARM}_controller/follow_joint_trajectory/_action/status"
        node.create_subscription(GoalStatusArray, topic, self._on_status, LATCHED)

    def await_rest(self) -> None:
        """Return once all objects have been shown at rest, some time of the world after the newest message.

        Raises:
            TimeoutError: They do not come to rest.
        """
        with self._lock:
            from_s = self.stamp_s + SETTLE_S
            if not self._lock.wait_for(
                lambda: self.stamp_s >= from_s and self._speed < REST_MPS, SETTLE_TIMEOUT_S
            ):
                raise TimeoutError(
                    f"objects still move at {self._speed:.3f} m/s, or the simulation does not run"
                )

    def expect_nudge(self, name: str) -> None:
        """Note from now on when an object is first seen away from its place, and the next motion after that."""
        with self._lock:
            self._from = name, self.places[name]
            self.away_s = self.replaced_s = (float("nan"), float("nan"))
            self._running = set()

    def reaction_s(self) -> tuple[float, float]:
        """Return the reaction in steady and in the world's time, s; nan where no motion had to be replaced."""
        with self._lock:
            if not self._running:
                return float("nan"), float("nan")
            return self.replaced_s[0] - self.away_s[0], self.replaced_s[1] - self.away_s[1]

    def _on_states(self, message: Any) -> None:
        now_s = time.monotonic()
        with self._lock:
            for state in message.states:
                at = state.pose.position
                self.places[state.name] = np.array([at.x, at.y, at.z])
            stamp = message.header.stamp
            self.stamp_s = stamp.sec + 1e-9 * stamp.nanosec
            twists = [state.twist.linear for state in message.states]
            self._speed = max((math.hypot(v.x, v.y, v.z) for v in twists), default=0.0)
            self._lock.notify_all()
            if self._from is not None and math.isnan(self.away_s[0]):
                name, place = self._from
                if np.linalg.norm(self.places[name] - place) > AWAY_M:
                    self.away_s = now_s, self.stamp_s

    def _on_status(self, message: Any) -> None:
        now_s = time.monotonic()
        with self._lock:
            for item in message.status_list:
                key = bytes(item.goal_info.goal_id.uuid)
                is_due = not math.isnan(self.away_s[0]) and math.isnan(self.replaced_s[0])
                if item.status == CANCELED and is_due and key not in self._ended:
                    self._running.add(key)
                if item.status > RUNNING:
                    self._ended.add(key)
                elif key not in self._known:
                    self._known.add(key)
                    if self._running and is_due:
                        self.replaced_s = now_s, self.stamp_s


@dataclass
class Tally:
    """Ends of the runs of one kind."""

    ends: Counter[str] = field(default_factory=Counter)
    reactions_s: list[tuple[float, float]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def note(self, seed: int, outcome: Any, reaction_s: tuple[float, float] = NO_REACTION) -> None:
        """Count one run."""
        self.ends[outcome.code.name] += 1
        if not math.isnan(reaction_s[0]):
            self.reactions_s.append(reaction_s)
        if not outcome.ok:
            self.failed.append(
                f"    seed {seed}: {outcome.code.name} in {outcome.stage!r}: {outcome.message[:230]}"
            )

    def show(self, name: str) -> None:
        """Print the figures."""
        of = sum(self.ends.values())
        if not of:
            return
        print(f"  {name:<28} {wilson(self.ends['OK'], of)}")
        if self.reactions_s:
            for column, what in enumerate(("steady time", "the world's time")):
                taken = 1e3 * np.array(self.reactions_s)[:, column]
                p50, p95 = np.percentile(taken, [50, 95])
                print(f"    reaction in {what}, {len(taken)} runs: p50 {p50:.0f}, p95 {p95:.0f} ms")
        print("".join(f"{line}\n" for line in self.failed), end="", flush=True)


class Bench:
    """The stack with everything that a run needs."""

    def __init__(self, stack: Stack) -> None:
        self.stack, self.seen = stack, Observer(stack)

    def reset(self, seed: int) -> None:
        """Put the world back, with the cube and the tray at places of a seed."""
        from handiwork_msgs.srv import ResetWorld, SetBeltVelocity
        from std_srvs.srv import Trigger

        self.stack.call(SetBeltVelocity, "sim/set_belt_velocity", SetBeltVelocity.Request(object="belt"))
        self.stack.call(Trigger, "safety/recover", Trigger.Request())
        self.stack.call(ResetWorld, "sim/reset", ResetWorld.Request(seed=seed, randomize=True))
        self.seen.await_rest()

    def start(self, verb: str, note: Any, **fields: Any) -> Any:
        """Send a goal."""
        from handiwork_ros.clients.skill_goals import skill_goal

        target = {"pick": "object", "place": "container"}[verb]
        return self.stack.client.send(
            skill_goal(verb, {target: {"pick": "cube", "place": "tray"}[verb], **fields}), note
        )

    def nudged(self, verb: str, rng: np.random.Generator) -> tuple[Any, tuple[float, float]]:
        """Run a skill whose target is nudged on the way; return the outcome, and the reaction [s]."""
        stage, longest_s = WITHIN_S[verb]
        begun, now = threading.Event(), [""]

        def note(progress: Progress) -> None:
            now[0] = progress.stage
            if progress.stage == stage:
                begun.set()

        name = {"pick": "cube", "place": "tray"}[verb]
        self.seen.expect_nudge(name)
        run = self.start(verb, note)
        if begun.wait(20.0):
            time.sleep(float(rng.uniform(0.0, longest_s)))  # noqa: TID251 - the nudge comes at a random time
            # What is put between the fingers would be put into them: there it is pushed.
            self._nudge(name, rng, may_put=now[0] == stage)
        outcome = run.result(TIMEOUT_S).outcome
        return outcome, self.seen.reaction_s()

    def _nudge(self, name: str, rng: np.random.Generator, *, may_put: bool) -> None:
        """Push the object, or put it elsewhere and turn it, by 10 to 60 mm in a random direction."""
        from simulation_interfaces.srv import GetEntityState, SetEntityState

        far, angle, turn = rng.uniform(LEAST_M, MOST_M), rng.uniform(0.0, 2.0 * np.pi), rng.uniform(-0.4, 0.4)
        state = self.stack.call(GetEntityState, "get_entity_state", GetEntityState.Request(entity=name)).state
        along = np.array([np.cos(angle), np.sin(angle)])
        if rng.random() < 0.5 or not may_put:
            speed = math.sqrt(2.0 * SLIDE_MPS2 * far)
            state.twist.linear.x, state.twist.linear.y = (speed * along).tolist()
        else:
            state.pose.position.x += float(far * along[0])
            state.pose.position.y += float(far * along[1])
            half = 0.5 * (2.0 * math.atan2(state.pose.orientation.z, state.pose.orientation.w) + turn)
            state.pose.orientation.z, state.pose.orientation.w = math.sin(half), math.cos(half)
        self.stack.call(SetEntityState, "set_entity_state", SetEntityState.Request(entity=name, state=state))


def nudges(bench: Bench, seeds: range) -> None:
    """Nudge the cube during Pick, then the tray during Place."""
    picks, places = Tally(), Tally()
    for seed in progress(seeds, "moving"):
        rng = np.random.default_rng(seed)
        bench.reset(seed)
        outcome, reaction_s = bench.nudged("pick", rng)
        picks.note(seed, outcome, reaction_s)
        if outcome.ok:
            places.note(seed, *bench.nudged("place", rng))
        if (seed - seeds.start) % SHOWN_EVERY == SHOWN_EVERY - 1 or seed == seeds[-1]:
            print(f"after {seed - seeds.start + 1} runs, load {os.getloadavg()[0]:.1f}:")
            picks.show("pick, nudged object")
            places.show("place, nudged container")


def main() -> None:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100, help="nudged runs")
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    arguments = parser.parse_args()
    with Stack({"real_time_factor": "1", "scene": "moving"}, write=lambda _line: None) as stack:
        stack.wait_active()
        bench = Bench(stack)
        print(
            f"nudges of {LEAST_M * 1e3:.0f} to {MOST_M * 1e3:.0f} mm, load {os.getloadavg()[0]:.1f}:",
            flush=True,
        )
        nudges(bench, range(arguments.seed, arguments.seed + arguments.runs))


if __name__ == "__main__":
    main()
