"""Loads scene files, strict YAML, as ``Scene``. ``config/scenes/tabletop.yaml`` shows every common key."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from handiwork_core.cameras.camera_file import CameraFile, check_camera_names
from handiwork_core.config.dataclass_loader import ConfigError, load
from handiwork_core.intake.limits import OBJECTS, SHAPES_PER_OBJECT
from handiwork_core.model.conveyor import BeltSpec
from handiwork_core.model.world import Shape, WorldObject

from .articulations import ArticulationSpec
from .layout import (
    Asset,
    Randomisation,
    Scene,
    SceneObject,
    Variant,
)
from .shapes import (
    GREY,
    Color,
    ContainerSpec,
    PoseSpec,
    ShapeSpec,
    check_look,
)
from .tags import TagSpec, shared_tags
from .usd import usd_shapes
from .words import READERS

__all__ = ["Randomisation", "Scene", "SceneObject", "load_scene"]


@dataclass(frozen=True, slots=True)
class VariantSpec:
    """Another form of an object: one of ``shapes``, ``container`` and ``usd`` with what differs from the object.

    ``label``: what it is, in words, for instructions. ``mass``, kg; 0: that of the object.
    """

    label: str = ""
    shapes: tuple[ShapeSpec, ...] = ()
    container: ContainerSpec | None = None
    usd: str = ""
    prim: str = ""
    mass: float = 0.0
    friction: float | None = None
    color: Color | None = None

    def __post_init__(self) -> None:
        check_solids(self)
        if self.mass < 0.0:
            raise ValueError(f"mass: is {self.mass:g} kg; give a mass above 0, or leave it out")
        check_look(0.0 if self.friction is None else self.friction, self.color or GREY)

    def build(self, item: ObjectSpec, folder: Path) -> Variant:
        """Return the variant as values; reads the files.

        Args:
            item: The object that it is a form of.
            folder: Folder of the scene file.

        Raises:
            ValueError: A file is missing, or is no solid.
        """
        return Variant(
            self.label,
            solids(self, folder),
            self.mass or item.mass,
            item.friction if self.friction is None else self.friction,
            self.color or item.color,
            Asset(folder / self.usd, self.prim) if self.usd else None,
        )


@dataclass(frozen=True, slots=True)
class ObjectSpec:
    """One object as written: ``shapes``, ``container`` or ``usd``; ``mass``, kg, if it can move, else ``static: true``.

    ``contact_time``: the time constant of its contacts, s: 0 is as hard as the simulation allows, 0.02 is rubber.
    ``contact_depth``: what touches it sinks in by about half of this before it is held, m; 0: by some micrometres. Only
    with ``contact_time``.
    ``usd``: an OpenUSD file beside the scene file, each part of which becomes a convex solid; ``prim``: the path of the
    part of it that is used. ``belt``: the surface of a static object moves. ``tags``: AprilTags on it.
    ``label``: what it is, in words. ``variants``: other forms that a seed may give it.
    """

    pose: PoseSpec
    shapes: tuple[ShapeSpec, ...] = ()
    container: ContainerSpec | None = None
    usd: str = ""
    prim: str = ""
    static: bool = False
    mass: float = 0.0
    friction: float = 0.8
    color: Color = GREY
    randomize: Randomisation | None = None
    belt: BeltSpec | None = None
    contact_time: float = 0.0
    contact_depth: float = 0.0
    tags: tuple[TagSpec, ...] = ()
    label: str = ""
    variants: tuple[VariantSpec, ...] = ()

    def __post_init__(self) -> None:
        if self.belt is not None and not self.static:
            raise ValueError("belt: only static objects have one; add static: true, or take it away")
        check_solids(self)
        if self.static == (self.mass > 0.0):
            raise ValueError(
                f"static is {self.static} and mass {self.mass}; give a mass in kg, or static: true without one"
            )
        check_look(self.friction, self.color)
        if self.tags and self.randomize is not None and self.randomize.size_scale is not None:
            raise ValueError("tags: need an object of one size; take size_scale away")
        if self.tags and self.variants:
            raise ValueError("tags: need an object of one form; take variants away")
        if self.variants and self.randomize is not None and self.randomize.z is not None:
            raise ValueError("variants: stand on the ground of the declared form; take randomize.z away")
        if self.static and any(one.mass for one in self.variants):
            raise ValueError("variants: have a mass, and the object is static; take mass or static away")
        if self.contact_time != 0.0 and not 0.002 <= self.contact_time <= 0.2:
            raise ValueError(
                f"contact_time: is {self.contact_time:g} s; give 0.002 to 0.2, or 0 for a hard object"
            )
        if self.contact_depth != 0.0 and not (1e-4 <= self.contact_depth <= 0.02 and self.contact_time > 0.0):
            raise ValueError(
                f"contact_depth: is {self.contact_depth:g} m; give 0.0001 to 0.02 and a contact_time, or 0"
            )

    def place(self, name: str, folder: Path) -> SceneObject:
        """Return the object of a scene in its declared form; reads the files.

        Args:
            name: Name of the object.
            folder: Folder of the scene file.

        Raises:
            ValueError: A file is missing, or is no solid.
        """
        body = WorldObject(name, solids(self, folder), self.static, self.mass)
        asset = Asset(folder / self.usd, self.prim) if self.usd else None
        return SceneObject(
            body,
            self.pose.pose(),
            self.friction,
            self.color,
            self.randomize,
            belt=self.belt,
            asset=asset,
            contact_s=self.contact_time,
            contact_m=self.contact_depth,
            tags=self.tags,
            label=self.label,
        )


def check_solids(spec: ObjectSpec | VariantSpec) -> None:
    """Check that an object or a variant has one source of solids.

    Args:
        spec: The object or variant.

    Raises:
        ValueError: It has none or several, or too many shapes.
    """
    if bool(spec.shapes) + (spec.container is not None) + bool(spec.usd) != 1:
        raise ValueError("needs one of shapes, container and usd; write exactly one of them")
    if len(spec.shapes) > SHAPES_PER_OBJECT:
        raise ValueError(f"shapes: has {len(spec.shapes)}; at most {SHAPES_PER_OBJECT} are taken, join some")
    if spec.prim and not spec.usd:
        raise ValueError("prim: belongs to usd; add the file, or take prim away")


def solids(spec: ObjectSpec | VariantSpec, folder: Path) -> tuple[Shape, ...]:
    """Return the solids of an object or a variant as values; reads the files.

    Args:
        spec: The object or variant.
        folder: Folder of the scene file.

    Raises:
        ValueError: A file is missing, or is no solid.
    """
    if spec.usd:
        return usd_shapes(folder / spec.usd, spec.prim)
    return spec.container.shapes() if spec.container else tuple(shape.build(folder) for shape in spec.shapes)


@dataclass(frozen=True, slots=True)
class SceneSpec:
    """The whole file. ``robot_base`` is the pose of the arm's base link; ``articulations`` have moving parts.

    ``cameras`` are fixed in ``world``, or on a link of the robot with ``link``.
    """

    name: str
    objects: dict[str, ObjectSpec]
    robot_base: PoseSpec = field(default_factory=lambda: PoseSpec((0.0, 0.0, 0.0)))
    articulations: dict[str, ArticulationSpec] = field(default_factory=dict)
    cameras: dict[str, CameraFile] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_camera_names(self.cameras)
        keys = [("objects", name) for name in self.objects]
        count = len(self.objects) + sum(1 + len(item.parts) for item in self.articulations.values())
        if count > OBJECTS:
            raise ValueError(f"objects: the scene has {count} with its parts; at most {OBJECTS} are kept")
        for name, item in self.articulations.items():
            keys += [("articulations", one) for one in (name, *item.parts)]
        taken = set()
        for key, name in keys:
            if not name.replace("_", "").replace("-", "").isalnum() or name == "world":
                raise ValueError(f"{key}: {name!r} is no name; use letters, digits, _ and -, and not 'world'")
            if name in taken:
                raise ValueError(
                    f"{key}: {name!r} appears twice; give every object and part a name of its own"
                )
            taken.add(name)


def load_scene(path: Path) -> Scene:
    """Load a scene file as declared, nothing randomised.

    Args:
        path: The file.

    Raises:
        ConfigError: The file has faults; the error lists all with file, key and remedy.
    """
    spec = load(SceneSpec, path, READERS)
    objects: list[SceneObject] = []
    faults = [f"objects.{one}" for one in shared_tags({n: item.tags for n, item in spec.objects.items()})]
    for name, item in spec.objects.items():
        objects += _placed(item, name, path.parent, faults)
    for name, one in spec.articulations.items():
        objects += _parts(one, name, path.parent, faults)
    if faults:
        raise ConfigError(str(path), faults)
    cameras = tuple(camera.build(name) for name, camera in spec.cameras.items())
    return Scene(spec.name, str(path), spec.robot_base.pose(), tuple(objects), cameras)


def _placed(item: ObjectSpec, name: str, folder: Path, faults: list[str]) -> list[SceneObject]:
    variants = list[Variant]()
    for i, one in enumerate(item.variants):
        try:
            variants.append(one.build(item, folder))
        except ValueError as error:  # noqa: PERF203 - a loop over files
            faults.append(f"objects.{name}.variants[{i}].{'usd' if one.usd else 'shapes'}: {error}")
    try:
        return [replace(item.place(name, folder), variants=tuple(variants))]
    except ValueError as error:
        faults.append(f"objects.{name}.{'usd' if item.usd else 'shapes'}: {error}")
        return []


def _parts(spec: ArticulationSpec, name: str, folder: Path, faults: list[str]) -> list[SceneObject]:
    try:
        return spec.build(name, folder)
    except ValueError as error:
        faults.append(f"articulations.{name}: {error}")
        return []
