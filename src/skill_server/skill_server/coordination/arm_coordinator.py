"""One arm among others: what it must keep clear of, and waiting for an arm that is in its way."""

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
"""An arm without a skill for so long does not go away by itself."""
STUCK_S = 1.0
"""Arms wait for each other when nothing has happened for so long."""
LOOK_S = 0.05
AGAIN_S = 0.5
"""A moving arm leaves room behind it: so often is looked whether it is enough."""

Report = Callable[[Progress], None]


@dataclass
class ArmTraffic:
    """The view of one run of an arm on the board. Used by the arm's worker alone, but for ``held_by``.

    ``held_by``: what each arm has recorded to hold; ``patience_s``: steady time that one run may wait in all.
    """

    board: MotionReservations
    robot: Robot
    arm: ArmSpec
    world: WorldSource
    clock: Clock
    held_by: Callable[[str], Mapping[str, Attachment]]
    patience_s: float
    why: str = ""
    """Why the last wait was in vain, in words; empty after a good one."""
    _report: Report = field(default=lambda _progress: None)
    _progress: Progress = field(default=Progress("", 0, 1, 0.0))
    _waited_s: float = 0.0
    _refused: tuple[str, BodyPair | None] = ("", None)
    _reason: str = ""
    _visit: int | None = None

    def enter(self, report: Report) -> Report:
        """A run begins; returns what it is to report to."""
        self._report, self._waited_s, self.why = report, 0.0, ""
        self._visit = self.board.enter(self.arm.name)

        def heard(progress: Progress) -> None:
            self._progress = progress
            report(progress)

        return heard

    def leave(self) -> None:
        """The run has ended."""
        self.board.leave(self.arm.name, self._visit)

    def post(self, trajectory: Trajectory, seen: int) -> bool:
        """See ``MotionReservations.post``."""
        return self.board.post(self.arm.name, trajectory, seen, self._visit)

    def begin(self) -> None:
        """The posted motion begins."""
        self.board.begin(self.arm.name, self.clock.now_s(), self._visit)

    def end(self) -> None:
        """The arm rests where it is."""
        self.board.end(self.arm.name, self._visit)

    def others(self) -> tuple[int, tuple[OtherArm, ...]]:
        """The other arms where they are and on their ways, and the count that ``MotionReservations.post`` wants."""
        seen, ways = self.board.ways(self.arm.name)
        world, now_s = self.world.snapshot(), self.clock.now_s()
        return seen, tuple(self._other(name, way, world, now_s) for name, way in ways.items())

    def named(self, pair: BodyPair | None, others: tuple[OtherArm, ...]) -> str:
        """The other arm of which one of two bodies is a link or is held, or nothing."""
        for other in others:
            held = {attachment.object for attachment in other.attached}
            if pair is not None and (held & set(pair) or self._links(other.arm) & set(pair)):
                return other.arm
        return ""

    def blocking_arm(self, pair: BodyPair | None, others: tuple[OtherArm, ...]) -> str:
        """The arm that a pair of bodies speaks of, else one that moves, else any."""
        names = [other.arm for other in others]
        return self.named(pair, others) or next(filter(self.board.moves, names), names[0])

    def wait(self, blocking_arm: str, pair: BodyPair | None, events: int, should_stop: ShouldStop) -> bool:
        """Wait until something has changed since ``events``; False when there is no use in it, for ``why``."""
        between = f" ({pair.a} - {pair.b})" if pair is not None else ""
        moves = self.board.moves(blocking_arm)
        self._tell(blocking_arm, f"it {'moves' if moves else 'stands'} in the way{between}")
        begun_s = time.monotonic()
        try:
            while not self.board.wait(self.arm.name, blocking_arm, events, LOOK_S, self._visit):
                here_s = time.monotonic() - begun_s
                self.why = self._why_not(blocking_arm, here_s, between)
                if should_stop() or self.why:
                    return False
                if here_s > AGAIN_S and self.board.moves(blocking_arm):
                    return True
            return not should_stop()
        finally:
            self._waited_s += time.monotonic() - begun_s

    def go_on(self) -> None:
        """Nobody is in the way any more."""
        self.why = ""
        if self.board.waits_for(self.arm.name):
            self.board.go_on(self.arm.name, self._visit)
            self._report(self._progress)

    def refused_by(self, blocking_arm: str, pair: BodyPair | None) -> None:
        """A trajectory was refused because of an arm that has come there since it was planned."""
        self._refused = (blocking_arm, pair)

    def may_try_again(self, refusals: int, should_stop: ShouldStop) -> bool:
        """See ``RightOfWay``."""
        return refusals < 2 or self.wait(*self._refused, self.board.events(self.arm.name), should_stop)

    def should_yield(self) -> bool:
        """See ``RightOfWay``."""
        return self.board.should_yield(self.arm.name)

    def mark_irreversible(self, is_committed: bool) -> None:
        """See ``RightOfWay``."""
        self.board.mark_irreversible(self.arm.name, is_committed, self._visit)

    def yield_until_clear(self, should_stop: ShouldStop) -> None:
        """See ``RightOfWay``."""
        self.board.go_on(self.arm.name, self._visit)
        begun_s, waiting = time.monotonic(), self._waiting_for_me()
        while waiting and not should_stop() and time.monotonic() - begun_s < self.patience_s - self._waited_s:
            events = self.board.events(self.arm.name)
            self._tell(waiting[0], "it goes first")
            self.board.wait(self.arm.name, "", events, LOOK_S, self._visit)
            waiting = [name for name in waiting if name in self._waiting_for_me()]
        self._waited_s += time.monotonic() - begun_s

    def _waiting_for_me(self) -> list[str]:
        mine = self.arm.name
        return [name for name in self.board.others(mine) if self.board.waits_for(name) == mine]

    def _why_not(self, blocking_arm: str, here_s: float, between: str) -> str:
        if self._waited_s + here_s > self.patience_s:
            return f"{blocking_arm} was in the way{between} for {self.patience_s:g} s; see what it does"
        if here_s > STUCK_S and self.board.should_yield(self.arm.name):
            return (
                f"{self.arm.name} and {blocking_arm} wait for each other{between}; {self.arm.name} makes room"
            )
        if self.board.idle_s(blocking_arm) > IDLE_S and not self.board.moves(blocking_arm):
            return f"{blocking_arm} stands in the way{between} and has nothing to do; move it away, for example home"
        return ""

    def _tell(self, blocking_arm: str, reason: str) -> None:
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
    """The scene with the other arms, or as if they were ``gone``."""
    if gone:
        others = tuple(replace(other, q=other.q[:0]) for other in others)
    return replace(scene, others=others)
