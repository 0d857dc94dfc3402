"""A scene as values: the pose of the robot, the objects, and the ranges from which a seed draws their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from handiwork_core.cameras.camera import Camera
from handiwork_core.model.articulation import Articulation
from handiwork_core.model.conveyor import BeltSpec
from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.world import ObjectState, Shape, World, WorldObject

from .bounds import box_points
from .tags import TagSpec

CLEARANCE_M = 0.01
"""Least horizontal distance between a scattered object and all others, m."""

TOUCH_M = 0.001
"""Largest overlap in height of an object with its support, m."""

TRIES = 200
"""Draws for one object before the scene is called impossible."""


@dataclass(frozen=True, slots=True)
class Randomisation:
    """Values that a seed may change; None: left as declared.

    Attributes:
        x: Range in ``world``, m.
        y: Range in ``world``, m.
        z: Range in ``world``, m.
        yaw: Range of a turn about z that replaces the orientation, rad.
        size_scale: Range of a common factor on all sizes; the underside keeps its height.
    """

    x: tuple[float, float] | None = None
    y: tuple[float, float] | None = None
    z: tuple[float, float] | None = None
    yaw: tuple[float, float] | None = None
    size_scale: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for key in ("x", "y", "z", "yaw", "size_scale"):
            bounds = getattr(self, key)
            if bounds is not None and bounds[0] > bounds[1]:
                raise ValueError(
                    f"{key} runs from {bounds[0]} down to {bounds[1]}; write the smaller one first"
                )
        if self.size_scale is not None and self.size_scale[0] <= 0.0:
            raise ValueError(f"size_scale starts at {self.size_scale[0]}; make it more than 0")


@dataclass(frozen=True, slots=True)
class PartDrive:
    """The joint of a part in simulation.

    Attributes:
        start: Position at the beginning, m or rad.
        damping: Damping, Ns/m or Nms/rad.
        friction: Friction, N or Nm.
        drawn: Range from which the position at the beginning is drawn, m or rad; None: ``start``.
    """

    start: float
    damping: float
    friction: float
    drawn: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Asset:
    """The OpenUSD source of an object's solids.

    Attributes:
        file: The file.
        prim: Path of the prim in it; empty: all.
        scale: Factor on all lengths.
    """

    file: Path
    prim: str = ""
    scale: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """Another form that a seed may give an object.

    Attributes:
        label: What it is, in words; empty: the label of the object.
        shapes: Its solids, in the frame of the object.
        mass_kg: Its mass, kg.
        friction: Coefficient of sliding friction.
        color: Red, green, blue, alpha, 0 to 1.
        asset: Source of its appearance, if it comes from an OpenUSD file.
    """

    label: str
    shapes: tuple[Shape, ...]
    mass_kg: float
    friction: float
    color: tuple[float, float, float, float]
    asset: Asset | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SceneObject:
    """An object with its pose.

    Attributes:
        body: Name and solids. An object with ``body.articulation`` comes after its body in a scene.
        world_T_object: Its pose.
        friction: Coefficient of sliding friction.
        color: Red, green, blue, alpha, 0 to 1.
        randomize: Values that a seed may change.
        drive: Drive of an object with ``body.articulation``.
        belt: Motion of its surface.
        asset: Source of its appearance, if it comes from an OpenUSD file.
        contact_s: Time constant of its contacts, s; 0: as hard as the simulation allows.
        contact_m: Depth at which its contacts have become hard, m; 0: they are from the first touch on.
        tags: AprilTags on it.
        label: What it is, in words; empty: its name.
        variants: Other forms that a seed may give it; the declared one is as likely as each of them.
    """

    body: WorldObject
    world_T_object: Pose
    friction: float
    color: tuple[float, float, float, float]
    randomize: Randomisation | None = None
    drive: PartDrive | None = None
    belt: BeltSpec | None = None
    asset: Asset | None = None
    contact_s: float = 0.0
    contact_m: float = 0.0
    tags: tuple[TagSpec, ...] = ()
    label: str = ""
    variants: tuple[Variant, ...] = ()

    @property
    def words(self) -> str:
        """The object in words: its label, or its name."""
        return self.label or self.name.replace("_", " ")

    @property
    def name(self) -> str:
        """Name of the object, unique in the scene."""
        return self.body.name


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """All data that a simulator needs beside the robot. ``source`` is the file of the scene, for messages.

    ``cameras`` are fixed in ``world``, or on links of a robot that suits the scene.
    """

    name: str
    source: str
    world_T_base: Pose
    objects: tuple[SceneObject, ...]
    cameras: tuple[Camera, ...] = ()

    def world_objects(self) -> tuple[WorldObject, ...]:
        """Return the geometry alone."""
        return tuple(item.body for item in self.objects)

    def fixed_world(self) -> World:
        """Return the objects that do not move by themselves or by a push, and the closed parts of articulated ones."""
        fixed = [item for item in self.objects if item.body.is_static or item.body.articulation is not None]
        still = np.zeros(3)
        return World(
            0.0,
            1,
            {item.name: item.body for item in fixed},
            {item.name: ObjectState(item.world_T_object, still, still, 0.0) for item in fixed},
        )

    def randomized(self, seed: int) -> Scene:
        """Scatter every object that has ranges; equal seeds give equal scenes.

        Args:
            seed: The seed.

        Returns:
            A new scene.

        Raises:
            ValueError: An object found no free place in ``TRIES`` draws.
        """
        rng = np.random.default_rng(seed)
        families = [self._family(item) for item in self.objects if item.body.articulation is None]
        placed = {item.name: item for family in families if not _is_drawn(family) for item in family}
        for family in families:
            if _is_drawn(family):
                drawn = self._place(family, rng, list(placed.values()))
                placed |= {item.name: item for item in drawn}
        return replace(self, objects=tuple(placed[item.name] for item in self.objects))

    def _family(self, body: SceneObject) -> tuple[SceneObject, ...]:
        """Return an object and the parts that move on it."""
        parts = (item for item in self.objects if item.body.articulation is not None)
        return (body, *(part for part in parts if _joint(part).body == body.name))

    def _place(
        self, family: tuple[SceneObject, ...], rng: np.random.Generator, others: Sequence[SceneObject]
    ) -> tuple[SceneObject, ...]:
        boxes = np.concatenate([world_boxes(other) for other in others]) if others else np.zeros((0, 2, 3))
        body, *parts = family
        if body.variants:  # once: a form that needs more room is as likely as the others
            family = (_one_of(body, int(rng.integers(len(body.variants) + 1))), *parts)
        for _ in range(TRIES):
            drawn = _draw_family(family, rng)
            if not any(_overlap(world_boxes(item), boxes) for item in drawn):
                return drawn
        key = "variants" if body.variants else "randomize"
        raise ValueError(
            f"{self.source}: objects.{body.name}.{key}: no free place in {TRIES} draws; "
            "widen its ranges or take objects away"
        )


def _is_drawn(family: Sequence[SceneObject]) -> bool:
    return any(item.randomize or item.variants or (item.drive and item.drive.drawn) for item in family)


def _joint(part: SceneObject) -> Articulation:
    assert part.body.articulation is not None
    return part.body.articulation


def _draw_family(family: Sequence[SceneObject], rng: np.random.Generator) -> tuple[SceneObject, ...]:
    body, *parts = family
    if body.randomize is not None:
        body = _draw(body, body.randomize, rng)
    made = [body]
    for part in parts:
        assert part.drive is not None
        drive = part.drive
        if drive.drawn is not None:
            drive = replace(drive, start=float(rng.uniform(*drive.drawn)))
        pose = body.world_T_object @ _joint(part).at(drive.start)
        made.append(replace(part, world_T_object=pose, drive=drive))
    return tuple(made)


def _one_of(item: SceneObject, number: int) -> SceneObject:
    """Return the object as declared for 0, else as the variant of this number; the underside keeps its height."""
    if number == 0:
        return item
    chosen = item.variants[number - 1]
    body = replace(item.body, shapes=chosen.shapes, mass_kg=chosen.mass_kg)
    made = replace(
        item,
        body=body,
        friction=chosen.friction,
        color=chosen.color,
        asset=chosen.asset,
        label=chosen.label or item.label,
    )
    rise_m = float(world_boxes(item)[:, 0, 2].min() - world_boxes(made)[:, 0, 2].min())
    place = item.world_T_object
    return replace(made, world_T_object=Pose.of(place.translation_m + (0.0, 0.0, rise_m), place.rotation))


def world_boxes(item: SceneObject) -> Array:
    """Return axis-aligned boxes of an object's shapes in ``world``.

    Args:
        item: The object.

    Returns:
        Lowest and highest corner of each shape, (shapes, 2, 3), m.
    """
    points = [item.world_T_object.apply(box_points(shape)) for shape in item.body.shapes]
    return np.array([(p.min(axis=0), p.max(axis=0)) for p in points])


def _overlap(one: Array, other: Array) -> bool:
    margin = np.array([CLEARANCE_M, CLEARANCE_M, -TOUCH_M])
    above = one[:, None, 0] - margin < other[None, :, 1]
    below = one[:, None, 1] + margin > other[None, :, 0]
    return bool((above & below).all(axis=-1).any())


def _draw(item: SceneObject, ranges: Randomisation, rng: np.random.Generator) -> SceneObject:
    position = item.world_T_object.translation_m.copy()
    rotation = item.world_T_object.rotation
    body = item.body
    if ranges.size_scale is not None:
        factor = float(rng.uniform(*ranges.size_scale))
        centre_height = float(position[2] - world_boxes(item)[:, 0, 2].min())
        position[2] += (factor - 1.0) * centre_height
        body = replace(body, shapes=tuple(_scaled(shape, factor) for shape in body.shapes))
        if item.asset is not None:
            item = replace(item, asset=replace(item.asset, scale=item.asset.scale * factor))
    for axis, bounds in enumerate((ranges.x, ranges.y, ranges.z)):
        if bounds is not None:
            position[axis] = rng.uniform(*bounds)
    if ranges.yaw is not None:
        rotation = Rotation.from_axis_angle((0.0, 0.0, 1.0), float(rng.uniform(*ranges.yaw)))
    return replace(item, body=body, world_T_object=Pose.of(position, rotation))


def _scaled(shape: Shape, factor: float) -> Shape:
    placed = Pose.of(shape.object_T_shape.translation_m * factor, shape.object_T_shape.rotation)
    vertices = None if shape.vertices is None else frozen(shape.vertices * factor)
    return replace(shape, size=frozen(shape.size * factor), object_T_shape=placed, vertices=vertices)
