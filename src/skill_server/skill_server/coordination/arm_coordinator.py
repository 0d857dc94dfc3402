"""One arm among others: the arms that it must keep clear of, and waiting for an arm that is in its way."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from handiwork_core.contracts.planning import (
    Attachment,
    OtherArm,
    SceneQuery,
    ShouldStop,
)
from handiwork_core.contracts.ports import Clock, WorldSource
from handiwork_core.contracts.skill import Progress
from handiwork_core.model.outcome import BodyPair
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.state import gripper_state
from skill_server.state.scene_query import measured_gripper_joints

from .reservations import MotionReservations, ReservedPath

IDLE_S = 1.0
"""An arm without a skill for this time does not go away by itself, s."""
STUCK_S = 1.0
"""Arms wait for each other when nothing has happened for this time, s."""
LOOK_S = 0.05
AGAIN_S = 0.5
"""A moving arm leaves room behind it: this is the time between two checks whether it is enough, s."""

Report = Callable[[Progress], None]


@dataclass
class ArmTraffic:
    """The coordination of one run of an arm. Only the arm's worker uses it, except for ``held_by``.

    Attributes:
        board: Reservations of all arms.
        robot: Robot with the arms.
        arm: Arm of the run.
        world: Source of the world.
        clock: Time of the robot's world.
        held_by: Returns the recorded held objects of each arm.
        patience_s: Steady time that one run may wait in all, s; tries between two waits count, too.
        together: Arms that the run has besides this one, which move in its own steps alone.
    """

    board: MotionReservations
    robot: Robot
    arm: ArmSpec
    world: WorldSource
    clock: Clock
    held_by: Callable[[str], Mapping[str, Attachment]]
    patience_s: float
    together: frozenset[str] = frozenset()
    why: str = ""
    """The reason why the last wait was without success; empty after a successful one."""
    _report: Report = field(default=lambda _progress: None)
    _progress: Progress = field(default=Progress("", 0, 1, 0.0))
    _waited_s: float = 0.0
    _trying_since_s: float | None = None
    """The steady time at which the last wait ended; None once a try has succeeded or was given up, s."""
    _refused: tuple[str, BodyPair | None] = ("", None)
    _reason: str = ""
    _visit: int | None = None

    def enter(self, report: Report) -> Report:
        """Begin a run.

        Args:
            report: Takes the progress of the run.

        Returns:
            The function to which the run must report.
        """
        self._report, self._waited_s, self._trying_since_s, self.why = report, 0.0, None, ""
        self._visit = self.board.enter(self.arm.name)

        def keep_and_report(progress: Progress) -> None:
            self._progress = progress
            report(progress)

        return keep_and_report

    def leave(self) -> None:
        """End the run."""
        self.board.leave(self.arm.name, self._visit)

    def post(self, trajectory: Trajectory, seen: int) -> bool:
        """See ``MotionReservations.post``.

        Args:
            trajectory: Motion that was judged.
            seen: Count of the motions against which it was judged.

        Returns:
            False when there are newer motions, and this one is not reserved.
        """
        return self.board.post(self.arm.name, trajectory, seen, self._visit)

    def begin(self) -> None:
        """Mark the start of the reserved motion."""
        self.board.begin(self.arm.name, self.clock.now_s(), self._visit)

    def end(self) -> None:
        """Mark the end of the motion: the arm is at rest."""
        self.board.end(self.arm.name, self._visit)

    def others(self) -> tuple[int, tuple[OtherArm, ...]]:
        """Return the other arms, at their configurations and on their paths.

        Returns:
            The count of their motions, which ``post`` takes, and the arms.
        """
        seen, ways = self.board.ways(self.arm.name)
        world, now_s = self.world.snapshot(), self.clock.now_s()
        return seen, tuple(self._other(name, way, world, now_s) for name, way in ways.items())

    def named(self, pair: BodyPair | None, others: tuple[OtherArm, ...]) -> str:
        """Return the other arm to which one of two bodies belongs, as a link or as a held object.

        Args:
            pair: Two bodies; None for none.
            others: Other arms.

        Returns:
            Name of the arm; empty for none.
        """
        for other in others:
            held = {attachment.object for attachment in other.attached}
            if pair is not None and (held & set(pair) or self._links(other.arm) & set(pair)):
                return other.arm
        return ""

    def blocking_arm(self, pair: BodyPair | None, others: tuple[OtherArm, ...]) -> str:
        """Return the arm to which a pair of bodies belongs, else one that moves, else any.

        Args:
            pair: Two bodies; None for none.
            others: Other arms, at least one.

        Returns:
            Name of the arm.
        """
        names = [other.arm for other in others]
        return self.named(pair, others) or next(filter(self.board.moves, names), names[0])

    def wait(self, blocking_arm: str, pair: BodyPair | None, events: int, should_stop: ShouldStop) -> bool:
        """Wait until an event of another arm.

        Args:
            blocking_arm: Arm that is in the way.
            pair: Two bodies that would touch; None when they are not known.
            events: Count of events before the last plan.
            should_stop: True ends the wait.

        Returns:
            True when a new try may succeed; False when waiting has no use, for the reason ``why``, or the run must
            stop.
        """
        between = f" ({pair.a} - {pair.b})" if pair is not None else ""
        moves = self.board.moves(blocking_arm)
        self._report_wait(blocking_arm, f"it {'moves' if moves else 'stands'} in the way{between}")
        begun_s, may_try = time.monotonic(), False
        if self._trying_since_s is not None:
            self._waited_s += begun_s - self._trying_since_s
        try:
            may_try = self._await_event(blocking_arm, between, events, should_stop)
            return may_try
        finally:
            ended_s = time.monotonic()
            self._waited_s += ended_s - begun_s
            self._trying_since_s = ended_s if may_try else None

    def _await_event(self, blocking_arm: str, between: str, events: int, should_stop: ShouldStop) -> bool:
        """Return True when a new try may succeed; False for the reason ``why``, or when the run must stop."""
        begun_s = now_s = time.monotonic()
        while self._waited_s + now_s - begun_s <= self.patience_s:
            if self.board.wait(self.arm.name, blocking_arm, events, LOOK_S, self._visit):
                return not should_stop()
            now_s = time.monotonic()
            self.why = self._why_not(blocking_arm, now_s - begun_s, between)
            if should_stop() or self.why:
                return False
            if now_s - begun_s > AGAIN_S and self.board.moves(blocking_arm):
                return True
        self.why = f"{blocking_arm} was in the way{between} for {self.patience_s:g} s; see what it does"
        return False

    def go_on(self) -> None:
        """Mark that no arm is in the way any more."""
        self.why, self._trying_since_s = "", None
        if self.board.waits_for(self.arm.name):
            self.board.go_on(self.arm.name, self._visit)
            self._report(self._progress)

    def refused_by(self, blocking_arm: str, pair: BodyPair | None) -> None:
        """Note that a trajectory was refused because of an arm that has come into its way since it was planned.

        Args:
            blocking_arm: Name of that arm.
            pair: Two bodies that would touch; None when they are not known.
        """
        self._refused = (blocking_arm, pair)

    def may_try_again(self, refusals: int, should_stop: ShouldStop) -> bool:
        """See ``RightOfWay``.

        Args:
            refusals: Number of refusals in a row.
            should_stop: True ends the wait.

        Returns:
            True when the motion may be tried again.
        """
        if refusals < 2:
            return True
        blocking_arm, pair = self._refused
        # No trajectory was refused where the planner found none: ``why`` says for which arm.
        return bool(blocking_arm) and self.wait(
            blocking_arm, pair, self.board.events(self.arm.name), should_stop
        )

    def should_yield(self) -> bool:
        """See ``RightOfWay``."""
        return self.board.should_yield(self.arm.name)

    def mark_irreversible(self, is_committed: bool) -> None:
        """See ``RightOfWay``.

        Args:
            is_committed: True when the arm has gripped or released something.
        """
        self.board.mark_irreversible(self.arm.name, is_committed, self._visit)

    def yield_until_clear(self, should_stop: ShouldStop) -> None:
        """See ``RightOfWay``.

        Args:
            should_stop: True ends the wait.
        """
        self.board.go_on(self.arm.name, self._visit)
        begun_s, waiting = time.monotonic(), self._waiting_for_me()
        while waiting and not should_stop() and time.monotonic() - begun_s < self.patience_s - self._waited_s:
            events = self.board.events(self.arm.name)
            self._report_wait(waiting[0], "it goes first")
            self.board.wait(self.arm.name, "", events, LOOK_S, self._visit)
            waiting = [name for name in waiting if name in self._waiting_for_me()]
        self._waited_s += time.monotonic() - begun_s

    def _waiting_for_me(self) -> list[str]:
        mine = self.arm.name
        return [name for name in self.board.others(mine) if self.board.waits_for(name) == mine]

    def _why_not(self, blocking_arm: str, here_s: float, between: str) -> str:
        if blocking_arm in self.together and not self.board.moves(blocking_arm):
            return f"{blocking_arm}, which has a part in this goal, stands in the way{between}"
        if here_s > STUCK_S and self.board.should_yield(self.arm.name):
            return (
                f"{self.arm.name} and {blocking_arm} wait for each other{between}; {self.arm.name} makes room"
            )
        if self.board.idle_s(blocking_arm) > IDLE_S and not self.board.moves(blocking_arm):
            return f"{blocking_arm} stands in the way{between} and has nothing to do; move it away, for example home"
        return ""

    def _report_wait(self, blocking_arm: str, reason: str) -> None:
        text = f"waiting for {blocking_arm}: {reason}"
        if text != self._reason or not self.board.waits_for(self.arm.name):
            self._reason = text
            self._report(replace(self._progress, stage=text))

    def _other(self, name: str, way: ReservedPath | None, world: World, now_s: float) -> OtherArm:
        spec = self.robot.arm(name)
        q = gripper_state.arm_q(world, spec)
        rows = q[None] if np.isfinite(q).all() else np.zeros((0, len(q)))
        if way is not None:
            rows = np.concatenate([rows, way.left(now_s, q) if len(rows) else way.q])
        held = tuple(
            attachment
            for attachment in tuple(self.held_by(name).values())
            if attachment.object in world.objects
            and (way is not None or not gripper_state.is_lost(world, self.robot, spec, attachment.object))
        )
        gripper = measured_gripper_joints(world, self.robot, spec.gripper)
        return OtherArm(name, rows, held, gripper)

    def _links(self, arm: str) -> set[str]:
        moved: set[str] = set()
        names = self.robot.arm(arm).joint_names
        for joint in self.robot.joints.values():
            if joint.name in names or joint.parent in moved:
                moved.add(joint.child)
        return {f"{self.robot.name}/{link}" for link in moved}


def with_others(scene: SceneQuery, others: tuple[OtherArm, ...], *, gone: bool = False) -> SceneQuery:
    """Return the scene with the other arms; those that it has already, such as where they will be, stay as they are.

    Args:
        scene: Scene of one arm.
        others: Other arms.
        gone: True: as if they were gone.

    Returns:
        The scene.
    """
    if gone:
        others = tuple(replace(other, q=other.q[:0]) for other in others)
    given = {other.arm for other in scene.others}
    return replace(scene, others=(*scene.others, *(other for other in others if other.arm not in given)))
