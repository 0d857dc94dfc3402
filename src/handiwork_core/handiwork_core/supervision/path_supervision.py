"""Decides when the rest of a motion must be validated again, and whether the arm must brake.

No check is made while nothing changes: a lost planner does not stop a motion that was judged good, as long as the
world stays as it was. Once the world has changed, the rest must be judged within a stated time, or the arm brakes.
The module uses no ROS and no threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.contracts.planning import Verdict
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.supervision import SupervisionSettings
from handiwork_core.model.thresholds import SAME_PLACE_RAD
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import ObjectState, World

EARLY_S = 0.05
"""An arm may be this much ahead of the time since its motion was sent."""
RETRY_S = 0.02
"""Pause before a planner that has not received the newest world yet is asked again."""
SILENT = (Code.PLANNER_LOST, Code.NOT_ACTIVE, Code.CANCELED, Code.OK)
"""Codes of a check that got no answer in time."""


class PathProgress:
    """The position of an arm on its trajectory, by its measured joints.

    Args:
        trajectory: Trajectory that the arm follows.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        self._trajectory = trajectory
        self.path_s = 0.0

    def update(self, q: Array, elapsed_s: float) -> float:
        """Return the time on the trajectory that the arm has reached; it never goes back.

        Args:
            q: Measured configuration, (dof,), rad or m; nan where a joint is not measured, which leaves the time
                unchanged.
            elapsed_s: Time of the robot's world since the motion was sent, s.

        Returns:
            The time on the trajectory, s.
        """
        t = self._trajectory.t_s
        first, last = np.searchsorted(t, (self.path_s, elapsed_s + EARLY_S), side="right")
        rows = self._trajectory.q[max(first - 1, 0) : max(last, first)]
        if np.isfinite(q).all() and len(rows):
            apart = np.abs(rows - q).max(axis=1)
            at = max(first - 1, 0) + int(np.argmax(apart <= apart.min() + SAME_PLACE_RAD))
            self.path_s = max(self.path_s, float(t[at]))
        return self.path_s


@dataclass(frozen=True, slots=True, eq=False)
class _Poses:
    """Objects that count, in one order: positions (n, 3) [m] and orientations (n, 4)."""

    names: tuple[str, ...]
    positions: Array
    turns: Array

    @classmethod
    def of(cls, states: Mapping[str, ObjectState], excluded: frozenset[str]) -> _Poses:
        names = tuple(name for name in states if name not in excluded)
        poses = [states[name].world_T_object for name in names]
        positions = np.array([pose.translation_m for pose in poses]).reshape(-1, 3)
        return cls(names, positions, np.array([pose.rotation.wxyz for pose in poses]).reshape(-1, 4))


@dataclass(frozen=True, slots=True)
class Changes:
    """The differences between two worlds.

    Attributes:
        names: Objects that are new, moved, or of a new version of the geometry.
        is_planners: True if the planner's own obstacles or attachments have changed, whose earlier state is not
            known to a client.
    """

    names: frozenset[str] = frozenset()
    is_planners: bool = False

    def __bool__(self) -> bool:
        return bool(self.names) or self.is_planners

    def __or__(self, other: Changes) -> Changes:
        return Changes(self.names | other.names, self.is_planners or other.is_planners)

    def text(self) -> str:
        """Return the subject of a message about these changes."""
        names = [repr(name) for name in sorted(self.names)[:3]]
        return ", ".join([*names, *(["the planner's own scene"] if self.is_planners else [])])


class WorldChanges:
    """Finds the objects that have changed since a world in which a motion was judged.

    Args:
        world: The judged world.
        excluded: Objects that the motion does not have to avoid: held, ignored, or touched on purpose.
        settings: Least distance and angle of an object that counts as moved.
    """

    def __init__(self, world: World, excluded: Iterable[str], settings: SupervisionSettings) -> None:
        self._excluded, self._settings = frozenset(excluded), settings
        self.take(world)

    def take(self, world: World) -> None:
        """Compare with this world from now on.

        Args:
            world: Newly judged world.
        """
        self._judged, self._seen = world, world
        self._poses = _Poses.of(world.states, self._excluded)
        self._changed = Changes()

    def since(self, world: World) -> Changes:
        """Return what has changed; the call is cheap while nothing is new.

        Args:
            world: Newest snapshot.

        Returns:
            The changes.
        """
        seen = self._seen
        is_same = world.states is seen.states and world.objects is seen.objects
        if not is_same or not _same_planners_scene(world, seen):
            is_planners = _has_own_scene(world) and not _same_planners_scene(world, self._judged)
            self._seen, self._changed = world, Changes(self._compare(world), is_planners)
        return self._changed

    def _compare(self, world: World) -> frozenset[str]:
        poses, before = _Poses.of(world.states, self._excluded), self._poses
        if world.version != self._judged.version:
            return frozenset(name for name in poses.names if name in world.objects)
        if poses.names != before.names:
            known = set(before.names)
            new = frozenset(name for name in poses.names if name not in known and name in world.objects)
            kept = [name for name in poses.names if name in known]
            poses, before = _picked(poses, kept), _picked(before, kept)
        else:
            new = frozenset()
        moved = np.linalg.norm(poses.positions - before.positions, axis=1) > self._settings.distance_m
        alike = np.abs((poses.turns * before.turns).sum(axis=1))
        moved |= alike < np.cos(0.5 * self._settings.angle_rad)
        return new | {name for name, is_moved in zip(poses.names, moved, strict=True) if is_moved}


def _same_planners_scene(a: World, b: World) -> bool:
    """Compare the versions of the planner's own scene, the names of its obstacles, and its attachments.

    A planner that was started again counts from the beginning, so the version alone is not enough. Attachments come
    by a message of their own, so they may arrive after the version.
    """
    return (
        a.planner_version == b.planner_version
        and a.planner_objects.keys() == b.planner_objects.keys()
        and (a.planner_attached is b.planner_attached or a.planner_attached == b.planner_attached == {})
    )


def _has_own_scene(world: World) -> bool:
    """Check whether the planner was given anything since it started: a new one, or a lost one, blocks no path."""
    return world.planner_version > 1


def _picked(poses: _Poses, names: list[str]) -> _Poses:
    rows = [poses.names.index(name) for name in names]
    return _Poses(tuple(names), poses.positions[rows], poses.turns[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """A request to judge whether the rest of the motion is clear.

    Attributes:
        world: World in which it is judged.
        changes: The changes since the last check. If the planner's own scene is among them, all objects count.
        since_s: Steady time at which the oldest of these changes was observed, s.
    """

    world: World
    changes: Changes
    since_s: float


class PathSupervision:
    """Supervision of one running motion.

    Its owner calls ``update`` often, runs the checks that it returns, and passes their verdicts to ``finish``.

    Args:
        world: World in which the motion was judged, or an older one.
        excluded: See ``WorldChanges``.
        settings: See ``SupervisionSettings``.
    """

    def __init__(self, world: World, excluded: Iterable[str], settings: SupervisionSettings) -> None:
        self._settings = settings
        self._changes = WorldChanges(world, excluded, settings)
        self._open: Check | None = None
        self._owed = Changes()
        self._since_s: float | None = None
        self._next_s = float("-inf")
        self._last = Verdict(Code.OK)
        self.checks = 0
        self.fault: Outcome | None = None
        """The reason why the arm must brake; None while it need not."""

    def update(self, world: World, now_s: float) -> Check | None:
        """Compare the newest world with the judged one.

        Args:
            world: Newest snapshot.
            now_s: Steady time, s.

        Returns:
            A check to run now, whose verdict ``finish`` takes; None when none is needed, or one already runs.
        """
        changed = self._unjudged(world, now_s)
        waiting = [s for s in (self._open.since_s if self._open else None, self._since_s) if s is not None]
        oldest_s = min(waiting, default=now_s)
        if self.fault is None and now_s - oldest_s > self._settings.answer_s:
            self.fault = self._unanswered(changed or (self._open.changes if self._open else changed))
        if self.fault is not None or now_s < self._next_s:
            return None
        return self._begin(world, changed, now_s)

    def late_check(self, world: World, now_s: float) -> Check | None:
        """Return a check of what was not judged in time, once the arm has braked for want of a verdict.

        Args:
            world: Newest snapshot.
            now_s: Steady time, s.

        Returns:
            A check to run now, whose verdict ``finish`` takes; None when nothing is left to judge, or one already runs.
        """
        return self._begin(world, self._unjudged(world, now_s), now_s)

    @property
    def is_unanswered(self) -> bool:
        """True while ``fault`` is the want of a verdict; a later verdict may still name what blocks the path."""
        return self.fault is not None and self.fault.code is not Code.PATH_BLOCKED

    @property
    def is_judging(self) -> bool:
        """True while a check has no verdict yet."""
        return self._open is not None

    def _unjudged(self, world: World, now_s: float) -> Changes:
        """Return what has changed since the judged world, and note when that began."""
        changed = self._owed | self._changes.since(world)
        if changed and self._since_s is None:
            self._since_s = now_s
        return changed

    def _begin(self, world: World, changed: Changes, now_s: float) -> Check | None:
        if not changed or self._open is not None:
            return None
        assert self._since_s is not None
        there = Changes(changed.names & frozenset(world.objects), changed.is_planners)
        self._open = Check(world, there, self._since_s)
        self._owed, self._since_s = Changes(), None
        self._changes.take(world)
        if not self._open.changes:  # what had changed is gone
            self._open = None
            return None
        self._next_s = now_s + self._settings.period_s
        self.checks += 1
        return self._open

    def finish(self, verdict: Verdict, now_s: float) -> None:
        """Take the verdict on the check that ``update`` returned; a check without an answer is repeated.

        Args:
            verdict: Answer of the planner.
            now_s: Steady time, s.
        """
        check, self._open, self._last = self._open, None, verdict
        assert check is not None
        if verdict.code is Code.OK:
            return
        if verdict.code is Code.TRAJECTORY_REFUSED:
            text = f"the world changed and the rest of the path is blocked: {verdict.message}"
            self.fault = Outcome(Code.PATH_BLOCKED, text, blocking=verdict.blocking)
            return
        self._owed, self._since_s = self._owed | check.changes, check.since_s
        self._next_s = now_s + RETRY_S

    def _unanswered(self, changed: Changes) -> Outcome:
        last = self._last
        code = Code.PLANNER_LOST if last.code in SILENT else last.code
        why = last.message if last.code is not Code.OK else "the planner did not answer"
        late = f"the rest of the path was not judged within {self._settings.answer_s:g} s"
        text = f"{changed.text()} changed and {late}: {why}"
        return Outcome(code, text)


def at_time(fault: Outcome, path_s: float, duration_s: float) -> Outcome:
    """Return the fault with the time on the trajectory at which the arm braked.

    Args:
        fault: Reason for braking.
        path_s: Time on the trajectory, s.
        duration_s: Duration of the trajectory, s.

    Returns:
        The fault with the longer message.
    """
    text = f"{fault.message}; the arm braked {path_s:.2f} s into a motion of {duration_s:.2f} s"
    return replace(fault, message=text)
