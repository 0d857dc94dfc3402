"""Drawers, doors and knobs as written in a scene file: a fixed body with moving parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from handiwork_core.model.articulation import Articulation, Handle
from handiwork_core.model.geometry import frozen
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.world import Shape, WorldObject

from .layout import PartDrive, Randomisation, SceneObject
from .shapes import (
    GREY,
    Color,
    ContainerSpec,
    PoseSpec,
    ShapeSpec,
    check_look,
)

LEAST_ANGLE_RAD = math.radians(30.0)
"""Least angle between a handle's bar and the approach of the hand, rad."""


@dataclass(frozen=True, slots=True)
class JointSpec:
    """A joint as written in a scene file.

    Attributes:
        type: Its type.
        axis: Direction in the part's frame, of any length.
        range: Closed and open position, m or rad.
        origin: A point on the axis in the part's frame, m.
        start: Position at the beginning, m or rad; None: closed.
        randomize: Range from which the seed draws the position at the beginning, m or rad.
        damping: Damping, Ns/m or Nms/rad.
        friction: Friction, N or Nm.
    """

    type: JointKind
    axis: tuple[float, float, float]
    range: tuple[float, float]
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    start: float | None = None
    randomize: tuple[float, float] | None = None
    damping: float = 1.0
    friction: float = 0.0

    def __post_init__(self) -> None:
        low, high = self.range
        if not any(self.axis):
            raise ValueError("axis: is zero; write a direction such as [1, 0, 0]")
        if low >= high:
            raise ValueError(
                f"range: runs from {low:g} to {high:g}; write closed, then open, the smaller one first"
            )
        if self.type is JointKind.REVOLUTE and high - low > 2.0 * math.pi:
            raise ValueError(
                f"range: spans {high - low:g} rad; keep it within one turn, which poses can measure"
            )
        if self.start is not None and not low <= self.start <= high:
            raise ValueError(f"start: is {self.start:g}; keep it within the range {low:g} to {high:g}")
        if self.randomize is not None and not low <= self.randomize[0] <= self.randomize[1] <= high:
            raise ValueError(
                f"randomize: is {list(self.randomize)}; write the smaller one first, within {low:g} to {high:g}"
            )
        if min(self.damping, self.friction) < 0.0:
            raise ValueError(
                f"damping: is {self.damping:g} and friction {self.friction:g}; make both 0 or more"
            )

    def drive(self) -> PartDrive:
        """Return the data that a simulator needs."""
        start = self.range[0] if self.start is None else self.start
        return PartDrive(start, self.damping, self.friction, self.randomize)


@dataclass(frozen=True, slots=True)
class HandleSpec:
    """A handle as written in a scene file: a bar in the part's frame.

    Attributes:
        head: One end of the bar, m.
        tail: The other end, m.
        approach: Direction in which a hand comes, across the bar, of any length.
        width: Width of the bar between the fingers, m.
    """

    head: tuple[float, float, float]
    tail: tuple[float, float, float]
    approach: tuple[float, float, float]
    width: float

    def __post_init__(self) -> None:
        bar, approach = np.subtract(self.tail, self.head), np.array(self.approach)
        if not bar.any():
            raise ValueError("tail: equals head; write both ends of the bar")
        if not approach.any():
            raise ValueError("approach: is zero; write a direction such as [1, 0, 0]")
        lengths = float(np.linalg.norm(bar) * np.linalg.norm(approach))
        if abs(float(bar @ approach)) > math.cos(LEAST_ANGLE_RAD) * lengths:
            raise ValueError("approach: runs along the bar; let the hand come across it")
        if self.width <= 0.0:
            raise ValueError(f"width: is {self.width:g}; make it more than 0")

    def build(self) -> Handle:
        """Return the handle as a value."""
        approach = np.array(self.approach)
        return Handle(
            frozen(self.head), frozen(self.tail), frozen(approach / np.linalg.norm(approach)), self.width
        )


@dataclass(frozen=True, slots=True)
class PartSpec:
    """A moving part as written in a scene file: ``shapes``, ``container`` or both.

    ``pose`` is the part's pose in the body at joint position 0; ``mass`` is in kg.
    """

    joint: JointSpec
    mass: float
    pose: PoseSpec = PoseSpec((0.0, 0.0, 0.0))  # noqa: RUF009 - frozen
    shapes: tuple[ShapeSpec, ...] = ()
    container: ContainerSpec | None = None
    handle: HandleSpec | None = None
    friction: float = 0.8
    color: Color = GREY

    def __post_init__(self) -> None:
        if not self.shapes and self.container is None:
            raise ValueError("needs shapes, container or both; write at least one")
        if self.mass <= 0.0:
            raise ValueError(f"mass: is {self.mass:g}; give more than 0 kg")
        check_look(self.friction, self.color)

    def build(self, name: str, body: SceneObject, folder: Path) -> SceneObject:
        """Return the part as an object of a scene; reads the mesh files.

        Args:
            name: Name of the part.
            body: The body on which it moves.
            folder: Folder of the scene file.

        Raises:
            ValueError: A mesh file cannot be read, or is no solid.
        """
        held = self.container.shapes() if self.container else ()
        shapes: tuple[Shape, ...] = (*held, *(shape.build(folder) for shape in self.shapes))
        axis, (lower, upper) = np.array(self.joint.axis), self.joint.range
        joint = Articulation(
            body.name,
            self.joint.type,
            self.pose.pose(),
            frozen(axis / np.linalg.norm(axis)),
            frozen(self.joint.origin),
            lower,
            upper,
            self.handle.build() if self.handle else None,
        )
        drive = self.joint.drive()
        item = WorldObject(name, shapes, mass_kg=self.mass, articulation=joint)
        pose = body.world_T_object @ joint.at(drive.start)
        return SceneObject(item, pose, self.friction, self.color, drive=drive)


@dataclass(frozen=True, slots=True)
class ArticulationSpec:
    """A fixed body, which is an object, with ``parts`` by name, each an object too."""

    pose: PoseSpec
    parts: dict[str, PartSpec]
    shapes: tuple[ShapeSpec, ...]
    friction: float = 0.8
    color: Color = GREY
    randomize: Randomisation | None = None

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("parts: is empty; describe at least one, or write the body under objects")
        if not self.shapes:
            raise ValueError("shapes: is empty; describe what the body is made of")
        if self.randomize is not None and self.randomize.size_scale is not None:
            raise ValueError("randomize: has size_scale, which parts cannot follow; take it away")
        check_look(self.friction, self.color)

    def build(self, name: str, folder: Path) -> list[SceneObject]:
        """Return the body, then its parts; reads the mesh files.

        Args:
            name: Name of the body.
            folder: Folder of the scene file.

        Raises:
            ValueError: A mesh file cannot be read, or is no solid.
        """
        shapes = tuple(shape.build(folder) for shape in self.shapes)
        item = WorldObject(name, shapes, is_static=True)
        body = SceneObject(item, self.pose.pose(), self.friction, self.color, self.randomize)
        return [body, *(part.build(one, body, folder) for one, part in self.parts.items())]
