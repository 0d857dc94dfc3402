"""The limits of the safety layer as a YAML file, checked strictly at the boundary."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import numpy as np

from handiwork_core.config.dataclass_loader import ConfigError, load, nearest
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot.robot import Robot

Vector = tuple[float, float, float]


class ZoneShape(Enum):
    """Shapes of keep-out zones."""

    BOX = "box"
    CYLINDER = "cylinder"
    HALF_SPACE = "half_space"


class ZoneFrame(Enum):
    """Frames in which a zone may be given."""

    WORLD = "world"
    ROBOT = "robot"


@dataclass(frozen=True, slots=True)
class Zone:
    """A space that no part of an arm may enter.

    Attributes:
        name: Name of the zone in reasons.
        shape: A box, a cylinder about its z axis, or a half-space.
        center: Centre of a box or cylinder, or a point on the surface of a half-space, m.
        size: Edges of a box, or radius, height and 0 of a cylinder, m; not used by a half-space.
        normal: Normal of a half-space, out of the forbidden side.
        rpy_deg: Orientation of a box or cylinder, deg.
        frame: Frame of all these values.
    """

    name: str
    shape: ZoneShape
    center: Vector
    size: Vector = (0.0, 0.0, 0.0)
    normal: Vector = (0.0, 0.0, 1.0)
    rpy_deg: Vector = (0.0, 0.0, 0.0)
    frame: ZoneFrame = ZoneFrame.WORLD

    def __post_init__(self) -> None:
        count = {ZoneShape.BOX: 3, ZoneShape.CYLINDER: 2, ZoneShape.HALF_SPACE: 0}[self.shape]
        if not self.name:
            raise ValueError("name: is empty; give the zone a name for messages")
        if any(edge <= 0.0 for edge in self.size[:count]):
            raise ValueError(f"size: is {self.size}; give {count} lengths above 0 for a {self.shape.value}")
        if self.shape is ZoneShape.HALF_SPACE and not np.linalg.norm(self.normal) > 1e-6:
            raise ValueError(f"normal: is {self.normal}; give a direction, such as [0, 0, 1]")

    def pose(self) -> Pose:
        """Return the pose of the zone in its frame; the z axis of a half-space is its normal."""
        if self.shape is not ZoneShape.HALF_SPACE:
            return Pose.of(self.center, Rotation.from_rpy(*np.radians(self.rpy_deg)))
        z = np.array(self.normal) / np.linalg.norm(self.normal)
        x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
        x /= np.linalg.norm(x)
        return Pose.of(self.center, Rotation.from_matrix(np.column_stack([x, np.cross(z, x), z])))


@dataclass(frozen=True, slots=True)
class ReducedMode:
    """Limits of the reduced mode.

    Attributes:
        tool_speed: Greatest speed of a tool centre point, m/s; ISO 10218-1 says 0.25.
        transition_s: Time for a running motion to slow down before the reduced limits are supervised, s.
    """

    tool_speed: float = 0.25
    transition_s: float = 1.0

    def __post_init__(self) -> None:
        _above_zero(self, "tool_speed", "transition_s")


@dataclass(frozen=True, slots=True)
class SafetyConfig:
    """All limits of the safety layer. Scales are relative to the limits of the robot's description.

    Attributes:
        velocity_scale: Share of each joint's velocity limit.
        acceleration_scale: Share of each joint's acceleration limit.
        effort_scale: Share of each joint's effort limit; 0 turns the limit off.
        effort_time_s: Time for which an effort may exceed its limit, s.
        position_tolerance: Largest distance of a command beyond a joint's position limit, rad or m.
        tool_speed: Greatest speed of a tool centre point, m/s.
        contact_force: Greatest net force between an arm and its surroundings, N; 0 turns both limits off.
        contact_time_s: Time for which the force may exceed it, s; ISO/TS 15066 calls contact quasi-static after 0.5 s.
        transient_force: Greatest net force at any time, N.
        contact_filter_s: Time constant of the filter of measured forces, s.
        heartbeat_timeout_s: Silence of the lease holder that stops its motions, s of steady time.
        stop_scale: Deceleration of a stop, relative to each joint's acceleration limit.
        zone_margin: Distance from a zone at which an arm must have stopped, m.
        reduced: Limits of the reduced mode.
        zones: Keep-out zones.
        keep_clear: Arms to which the zones apply; empty: all.
    """

    velocity_scale: float = 1.05
    acceleration_scale: float = 1.5
    effort_scale: float = 0.95
    effort_time_s: float = 0.25
    position_tolerance: float = 0.002
    tool_speed: float = 3.0
    contact_force: float = 150.0
    contact_time_s: float = 0.5
    transient_force: float = 280.0
    contact_filter_s: float = 0.02
    heartbeat_timeout_s: float = 1.0
    stop_scale: float = 1.0
    zone_margin: float = 0.02
    reduced: ReducedMode = field(default_factory=ReducedMode)
    zones: tuple[Zone, ...] = ()
    keep_clear: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _above_zero(self, "velocity_scale", "acceleration_scale", "tool_speed", "heartbeat_timeout_s")
        _above_zero(self, "stop_scale")
        names = "effort_scale", "effort_time_s", "position_tolerance", "contact_force", "contact_time_s"
        for name in (*names, "contact_filter_s", "zone_margin"):
            if getattr(self, name) < 0.0:
                raise ValueError(f"{name}: is {getattr(self, name)}; give 0 or more")
        if self.stop_scale > self.acceleration_scale:
            text = f"stop_scale: is {self.stop_scale}; keep it within acceleration_scale {self.acceleration_scale}"
            raise ValueError(text)
        if self.transient_force < self.contact_force:
            text = (
                f"transient_force: is {self.transient_force}; give contact_force {self.contact_force} or more"
            )
            raise ValueError(text)
        twice = sorted({z.name for z in self.zones if [y.name for y in self.zones].count(z.name) > 1})
        if twice:
            raise ValueError(f"zones: {twice} are named twice; give each zone a name of its own")


def load_safety(path: Path, robot: Robot) -> SafetyConfig:
    """Read the limits for a robot.

    Args:
        path: YAML file with the keys of ``SafetyConfig``; ``Path("")`` gives the defaults.
        robot: The robot; the file may name its arms.

    Raises:
        ConfigError: The file cannot be read, a key is unknown, or a value is out of range; all faults are listed.
    """
    if path == Path():
        return SafetyConfig()
    config = load(SafetyConfig, path)
    unknown = [name for name in config.keep_clear if name not in robot.arms]
    if unknown:
        hints = [f"keep_clear: {name!r} is no arm; {nearest(name, list(robot.arms))}" for name in unknown]
        raise ConfigError(str(path), hints)
    return config


def _above_zero(values: object, *names: str) -> None:
    for name in names:
        if not getattr(values, name) > 0.0:
            raise ValueError(f"{name}: is {getattr(values, name)}; give a number above 0")


UNSUPERVISED = SafetyConfig(
    velocity_scale=1e6,
    acceleration_scale=1e6,
    effort_scale=0.0,
    position_tolerance=1e6,
    tool_speed=1e6,
    contact_force=0.0,
)
"""Limits that are never reached: for a simulation of hardware behind a safety layer, which has none of its own."""
