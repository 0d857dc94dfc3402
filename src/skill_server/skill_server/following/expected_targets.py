"""Compares the targets of a motion with where they were expected when it was chosen. Pure: no ROS, no waiting."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import ObjectState, ShapeKind, World, WorldObject
from handiwork_core.scene.covariance import Deviation, deviation_of

MOVED_M = 0.01
"""Distance by which a target may move after the commands were chosen, where the goal names none."""
TURNED_RAD = 0.2
"""Angle by which a followed target may turn: a grasp across parallel sides corrects less by itself."""
CONFIRMED = 2
"""Reports in a row that must show a target elsewhere: a camera's single outlier does not stop the arm."""
DEVIATIONS = 4.0
"""Standard deviations of the noise of measured poses within which a target has not moved."""
NOISIEST_M, NOISIEST_RAD = 0.03, 0.5
"""Greatest distance and turn that are taken for noise, whatever covariance a source sends."""
EXACT = Deviation(0.0, 0.0)
ROUND = (ShapeKind.SPHERE, ShapeKind.CYLINDER, ShapeKind.CAPSULE)


@dataclass(frozen=True, slots=True)
class TargetChange:
    """A target that is not where it was expected.

    Attributes:
        name: Its name.
        gap_m: Its distance from there, m.
        turn_rad: Its turn, rad.
        is_gone: True when it is no longer in the world, or its pose is no longer known.
    """

    name: str
    gap_m: float = math.nan
    turn_rad: float = math.nan
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class ExpectedTargets:
    """Where the targets of a motion are expected: at rest, or moving on evenly.

    Attributes:
        before: World in which the motion was chosen.
        velocities: Velocity of each target that moves, (3,), m/s in world axes; all others are at rest.
    """

    before: World
    velocities: Mapping[str, Array] = field(default_factory=dict)

    def at(self, name: str, stamp_s: float) -> Pose:
        """Return the expected pose of a target.

        Args:
            name: Its name.
            stamp_s: Time of the robot's world, s.

        Returns:
            world_T_object.
        """
        then = self.before.states[name]
        velocity = self.velocities.get(name)
        if velocity is None:
            return then.world_T_object
        pose = then.world_T_object
        return Pose.of(pose.translation_m + (stamp_s - then.stamp_s) * velocity, pose.rotation)

    def change(
        self, names: Iterable[str], world: World, tolerance_m: float, tolerance_rad: float = math.inf
    ) -> TargetChange | None:
        """Return the first target that is gone, or is farther from its place than allowed.

        The noise of poses with a covariance is allowed in any case.

        Args:
            names: The targets.
            world: Newest snapshot.
            tolerance_m: Allowed distance, m.
            tolerance_rad: Allowed turn, rad; a turn of a round object about its axis does not count.
        """
        for name in names:
            if name not in world.states or name not in self.before.states:
                return TargetChange(name, is_gone=True)
            now = world.states[name]
            expected = self.at(name, now.stamp_s)
            gap_m, turn_rad = expected.distance_to(now.world_T_object)
            noise = noise_between(self.before.states[name], now)
            if gap_m > max(tolerance_m, noise.position_m):
                return TargetChange(name, gap_m, turn_rad)
            most_rad = max(tolerance_rad, noise.rotation_rad)
            if turn_rad > most_rad:
                turn_rad = visible_turn(world.objects.get(name), expected, now.world_T_object)
                if turn_rad > most_rad:
                    return TargetChange(name, gap_m, turn_rad)
        return None


def noise_of(state: ObjectState) -> Deviation:
    """Return the standard deviations of a measured pose; zeros for an exact one.

    Args:
        state: The state.
    """
    return EXACT if state.pose_covariance is None else deviation_of(state.pose_covariance)


def noise_between(a: ObjectState, b: ObjectState) -> Deviation:
    """Return the distance [m] and the turn [rad] that noise alone may put between two measurements of one pose.

    Args:
        a: One measurement.
        b: The other one.
    """
    one, other = noise_of(a), noise_of(b)
    apart_m = DEVIATIONS * math.hypot(one.position_m, other.position_m)
    turn_rad = DEVIATIONS * math.hypot(one.rotation_rad, other.rotation_rad)
    return Deviation(min(apart_m, NOISIEST_M), min(turn_rad, NOISIEST_RAD))


def visible_turn(item: WorldObject | None, a: Pose, b: Pose) -> float:
    """Return the angle between two poses of an object without turns that its shape does not show, rad.

    Args:
        item: The object.
        a: world_T_object.
        b: world_T_object.
    """
    turn_rad = a.distance_to(b)[1]
    if item is None or len(item.shapes) != 1 or item.shapes[0].kind not in ROUND:
        return turn_rad
    shape = item.shapes[0]
    if shape.kind is ShapeKind.SPHERE:
        return 0.0
    axes = [(pose @ shape.object_T_shape).rotation.matrix()[:, 2] for pose in (a, b)]
    return math.acos(min(1.0, abs(float(axes[0] @ axes[1]))))


class TargetWatch:
    """Watches the targets of one motion; the owner asks with each newest snapshot.

    Args:
        expected: Where the targets are expected.
        names: The targets.
        tolerance_m: Distance by which they may be elsewhere, m.
    """

    def __init__(self, expected: ExpectedTargets, names: Iterable[str], tolerance_m: float) -> None:
        self._expected, self._names, self._tolerance_m = expected, tuple(names), tolerance_m
        self._stamps: tuple[float, ...] = ()
        self._reports = 0
        self.fault: TargetChange | None = None
        """The target that moved; None while all are where they are expected."""

    def has_moved(self, world: World) -> bool:
        """Return True once ``CONFIRMED`` reports in a row show a target elsewhere; it stays True.

        Args:
            world: Newest snapshot; one whose reports of the targets are known costs little.
        """
        if self.fault is not None or not self._names:
            return self.fault is not None
        stamps = tuple(world.states[n].stamp_s if n in world.states else world.stamp_s for n in self._names)
        if stamps == self._stamps:
            return False
        self._stamps = stamps
        change = self._expected.change(self._names, world, self._tolerance_m, TURNED_RAD)
        self._reports = self._reports + 1 if change is not None else 0
        if self._reports >= CONFIRMED:
            self.fault = change
        return self.fault is not None
