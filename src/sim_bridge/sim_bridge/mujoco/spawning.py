"""Objects that are spawned and deleted while a scene runs: their text, names, filters and bounds. Knows no ROS."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

import numpy as np

from handiwork_core.config.dataclass_loader import (
    ConfigError,
    mapping_from_yaml,
    nearest,
    parse,
)
from handiwork_core.intake.limits import (
    FILTER_CHARACTERS,
    GOAL_YAML,
    LARGEST_POSITION_M,
    NAME_CHARACTERS,
    OBJECTS,
)
from handiwork_core.intake.regular_files import DataRoots, FileRefused
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.scene.bounds import box_points
from handiwork_core.scene.layout import world_boxes
from handiwork_core.scene.loader import (
    ObjectSpec,
    Scene,
    SceneObject,
    load_scene,
)
from handiwork_core.scene.words import READERS

FORMAT = "handiwork"
"""The format of an object as in scene files below ``objects.<name>``, or as ``<scene file>#<name>``."""

FILE = "file://"

RE2_BYTES = 1 << 20
"""The memory limit of one compiled filter, bytes."""


class Why(Enum):
    """Reasons why an object cannot be spawned or deleted."""

    NAME_TAKEN = "name taken"
    NAME_INVALID = "name invalid"
    NO_RESOURCE = "no resource"
    UNSUPPORTED_FORMAT = "unsupported format"
    PARSE_ERROR = "parse error"
    ASSET = "asset"
    UNKNOWN = "unknown"
    PART = "part"


class SpawnRefused(HandiworkError, ValueError):
    """An object cannot be spawned or deleted.

    Args:
        why: The reason.
        message: Text that names the thing and what to do.
    """

    def __init__(self, why: Why, message: str) -> None:
        code = Code.UNKNOWN_OBJECT if why is Why.UNKNOWN else Code.BAD_GOAL
        super().__init__(Outcome(code, message))
        self.why = why


@dataclass(frozen=True, slots=True)
class Resource:
    """The source of an object.

    Attributes:
        uri: ``<scene file>#<name>``; empty when there is a text.
        text: The object as scene files write it.
    """

    uri: str = ""
    text: str = ""


def read_object(resource: Resource, name: str, folder: Path, roots: DataRoots) -> SceneObject:
    """Read an object from its text, or from a scene file; its pose is the one written there.

    Args:
        resource: The source.
        name: Name of the object; empty takes that of the URI.
        folder: Folder of files that a text names.
        roots: Folders below which all files must lie.

    Returns:
        The object.

    Raises:
        SpawnRefused: It cannot be read; the message gives the reason.
    """
    if resource.text:
        return _from_text(resource.text, name, folder, roots)
    if not resource.uri:
        raise SpawnRefused(Why.NO_RESOURCE, "neither a URI nor a text is given; give one")
    path, _, found = resource.uri.removeprefix(FILE).partition("#")
    if not found or Path(path).suffix not in (".yaml", ".yml"):
        text = f"{resource.uri!r} is no object of a scene file; write <file>.yaml#<object>"
        raise SpawnRefused(Why.UNSUPPORTED_FORMAT, text)
    try:
        scene = load_scene(roots.locate(path))
    except FileRefused as error:
        raise SpawnRefused(Why.NO_RESOURCE, str(error)) from error
    except ConfigError as error:
        raise SpawnRefused(Why.PARSE_ERROR, str(error)) from error
    for item in scene.objects:
        if item.name == found and item.body.articulation is None:
            body = replace(item.body, name=name or found)
            return replace(item, body=body, randomize=None, variants=())
    names = sorted(item.name for item in scene.objects if item.body.articulation is None)
    raise SpawnRefused(Why.NO_RESOURCE, f"{path} has no object {found!r}; it has {names}")


def _from_text(text: str, name: str, folder: Path, roots: DataRoots) -> SceneObject:
    try:
        written = mapping_from_yaml(text, "resource_string", GOAL_YAML)
        written.setdefault("pose", {"position": [0.0, 0.0, 0.0]})
        spec = parse(ObjectSpec, written, "resource_string", READERS)
    except ConfigError as error:
        raise SpawnRefused(Why.PARSE_ERROR, str(error)) from error
    try:
        return replace(_located(spec, folder, roots).place(name, folder), randomize=None)
    except ValueError as error:
        raise SpawnRefused(Why.ASSET, str(error)) from error


def _located(spec: ObjectSpec, folder: Path, roots: DataRoots) -> ObjectSpec:
    """Return the object with full paths of its files, each below a root."""

    def located(name: str) -> str:
        return str(roots.locate(str(folder / name))) if name else ""

    shapes = tuple(replace(shape, file=located(shape.file)) for shape in spec.shapes)
    return replace(spec, shapes=shapes, usd=located(spec.usd))


def free_name(wanted: str, scene: Scene, robot: str, *, may_rename: bool) -> str:
    """Return a name for a new object.

    Args:
        wanted: The wanted name.
        scene: The scene, whose names are taken.
        robot: Name of the robot, which is taken, too.
        may_rename: Whether another name may be returned when ``wanted`` is taken or empty.

    Returns:
        ``wanted``, or a free name.

    Raises:
        SpawnRefused: The name is empty, taken, too long, or has characters that are not allowed.
    """
    taken = {item.name for item in scene.objects} | {"world", robot}
    if not wanted and not may_rename:
        raise SpawnRefused(Why.NAME_INVALID, "the name is empty; give one, or allow_renaming")
    base = wanted or "object"
    if len(base) > NAME_CHARACTERS:
        text = f"the name has {len(base)} characters; give at most {NAME_CHARACTERS}"
        raise SpawnRefused(Why.NAME_INVALID, text)
    if not base.replace("_", "").replace("-", "").isalnum():
        raise SpawnRefused(Why.NAME_INVALID, f"{base!r} is no name; use letters, digits, _ and -")
    if base in taken and not may_rename:
        raise SpawnRefused(Why.NAME_TAKEN, f"{base!r} is taken; choose another, or allow_renaming")
    number = 2
    name = base
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    return name


def with_object(scene: Scene, item: SceneObject) -> Scene:
    """Return the scene with one more object.

    Args:
        scene: The scene.
        item: The object.

    Raises:
        ValueError: The scene is full, or the object is too far away.
    """
    if len(scene.objects) >= OBJECTS:
        raise ValueError(f"the scene has {len(scene.objects)} objects already; at most {OBJECTS} are kept")
    if np.abs(item.world_T_object.translation_m).max() > LARGEST_POSITION_M:
        place = item.world_T_object.translation_m.tolist()
        raise ValueError(f"position {place} m is too far away; stay within {LARGEST_POSITION_M:g} m")
    return replace(scene, objects=(*scene.objects, item))


def without(scene: Scene, name: str) -> Scene:
    """Return the scene without an object and the parts that move on it.

    Args:
        scene: The scene.
        name: Name of the object.

    Raises:
        SpawnRefused: There is no such object, or it is a part.
    """
    bodies = {item.name: item.body for item in scene.objects}
    if name not in bodies:
        raise SpawnRefused(Why.UNKNOWN, f"{name[:80]!r} is no object; {nearest(name, sorted(bodies))}")
    joint = bodies[name].articulation
    if joint is not None:
        raise SpawnRefused(Why.PART, f"{name!r} moves on {joint.body!r}; delete that")
    kept = [i for i in scene.objects if i.name != name and not _moves_on(i, name)]
    return replace(scene, objects=tuple(kept))


def _moves_on(item: SceneObject, name: str) -> bool:
    return item.body.articulation is not None and item.body.articulation.body == name


def named_like(names: Iterable[str], pattern: str) -> list[str]:
    """Return the names in which a regular expression is found.

    RE2 takes time proportional to the length of the names for any pattern; Python's ``re`` can run without end.

    Args:
        names: The names.
        pattern: Regular expression of RE2; empty finds all names.

    Returns:
        Names in the same order.

    Raises:
        ValueError: The pattern is too long, or no regular expression of RE2.
    """
    if len(pattern) > FILTER_CHARACTERS:
        raise ValueError(f"the filter has {len(pattern)} characters; write at most {FILTER_CHARACTERS}")
    import re2

    options = re2.Options()
    options.max_mem, options.log_errors = RE2_BYTES, False
    try:
        found = re2.compile(pattern, options)
    except re2.error as error:
        # The message of an RE2 error is bytes.
        why = b" ".join(error.args).decode(errors="replace") if error.args else "bad syntax"
        text = f"filter {pattern!r} is no regular expression of RE2: {why}; look-around and back-references are unknown"
        raise ValueError(text) from error
    return [name for name in names if found.search(name)]


def own_bounds(item: SceneObject) -> Array:
    """Return the bounds of an object in its own frame.

    Args:
        item: The object.

    Returns:
        The lowest and the highest corner, (2, 3), m.
    """
    points = np.concatenate([box_points(shape) for shape in item.body.shapes])
    return np.array((points.min(axis=0), points.max(axis=0)))


def meets_box(item: SceneObject, world_T_object: Pose, box: Array) -> bool:
    """Check whether boxes about the solids of an object meet a box.

    Args:
        item: The object.
        world_T_object: Its pose.
        box: The lowest and the highest corner in ``world``, (2, 3), m.
    """
    boxes = world_boxes(replace(item, world_T_object=world_T_object))
    return bool(((boxes[:, 0] <= box[1]) & (boxes[:, 1] >= box[0])).all(axis=1).any())


def meets_sphere(item: SceneObject, world_T_object: Pose, centre: Array, radius_m: float) -> bool:
    """Check whether boxes about the solids of an object meet a sphere.

    Args:
        item: The object.
        world_T_object: Its pose.
        centre: Centre of the sphere in ``world``, (3,), m.
        radius_m: Radius of the sphere, m.
    """
    boxes = world_boxes(replace(item, world_T_object=world_T_object))
    nearest = np.clip(centre, boxes[:, 0], boxes[:, 1])
    return bool((np.linalg.norm(nearest - centre, axis=1) <= radius_m).any())
