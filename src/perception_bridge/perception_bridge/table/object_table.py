"""The table of objects, strict YAML: labels with their shapes, sources of detections, and settings of the tracker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from handiwork_core.config.dataclass_loader import ConfigError, load, nearest
from handiwork_core.intake.limits import OBJECTS
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import Shape, WorldObject
from handiwork_core.scene.loader import Scene, SceneObject
from handiwork_core.scene.shapes import ContainerSpec, PoseSpec, ShapeSpec
from handiwork_core.scene.tags import TagSpec, shared_tags
from handiwork_core.scene.words import READERS
from perception_bridge.obstacles.settings import ObstacleSettings
from perception_bridge.table.static_frame import StaticFrame, load_frame
from perception_bridge.tracking.settings import TrackingSettings

MOST_SOURCES = 64


class SourceKind(Enum):
    """The kinds of sources."""

    DETECTIONS = "detections"
    POSE = "pose"
    POSE_ARRAY = "pose_array"
    TAGS = "tags"
    TF = "tf"


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """One source as written.

    Attributes:
        type: ``detections`` (vision_msgs/Detection3DArray), ``pose`` (geometry_msgs/PoseStamped), ``pose_array``
            (geometry_msgs/PoseArray), ``tags`` (sensor_msgs/Image, in which AprilTags are found) or ``tf``.
        topic: Its topic; none for tf.
        camera_info: Topic of the image's sensor_msgs/CameraInfo; empty: ``camera_info`` beside the image.
        frame: Frame of the object, for tf.
        label: Label of the object, for all but detections and tags, which have their own.
        position_std: Deviation of a measured position, where the message has no covariance, m.
        rotation_std: The same of a rotation, rad.
    """

    type: str
    topic: str = ""
    camera_info: str = ""
    frame: str = ""
    label: str = ""
    position_std: float = 0.005
    rotation_std: float = 0.05

    def __post_init__(self) -> None:
        kinds = [kind.value for kind in SourceKind]
        if self.type not in kinds:
            raise ValueError(f"type: is {self.type!r}; write one of {', '.join(kinds)}")
        is_tf = self.kind is SourceKind.TF
        if is_tf != bool(self.frame) or is_tf == bool(self.topic):
            raise ValueError(f"a source of type {self.type} needs {'frame' if is_tf else 'topic'} alone")
        if (self.kind in (SourceKind.DETECTIONS, SourceKind.TAGS)) == bool(self.label):
            needs = "has labels of its own" if self.label else "needs a label"
            raise ValueError(f"label: a source of type {self.type} {needs}")
        if self.camera_info and self.kind is not SourceKind.TAGS:
            raise ValueError(f"camera_info: belongs to tags, not to {self.type}; take it away")
        if min(self.position_std, self.rotation_std) <= 0.0:
            raise ValueError("position_std and rotation_std: make them more than 0")

    @property
    def kind(self) -> SourceKind:
        """The kind of the source."""
        return SourceKind(self.type)

    @property
    def info_topic(self) -> str:
        """The topic of the CameraInfo, for tags."""
        folder, slash, _ = self.topic.rpartition("/")
        return self.camera_info or f"{folder}{slash}camera_info"

    @property
    def title(self) -> str:
        """The source in sentences."""
        return f"tf frame {self.frame!r}" if self.kind is SourceKind.TF else self.topic


@dataclass(frozen=True, slots=True)
class LabelSpec:
    """What a label means, as written.

    Attributes:
        shapes: The solids of the object; or
        container: an open box; or
        object: the name of a movable object of the scene file, whose solids and mass it has.
        mass: Its mass, kg.
        count: The greatest number of objects of this label; with more than 1 they are called ``<label>_1`` and so on.
        aliases: Further class ids that mean the same.
        detected_T_object: Pose of the object's frame in the frame that the detector reports.
        tags: AprilTags on it; none: those of the scene's object. Poses by tags are those of the object's own frame.
    """

    shapes: tuple[ShapeSpec, ...] = ()
    container: ContainerSpec | None = None
    object: str = ""
    mass: float = 0.1
    count: int = 1
    aliases: tuple[str, ...] = ()
    detected_T_object: PoseSpec = field(default_factory=lambda: PoseSpec((0.0, 0.0, 0.0)))
    tags: tuple[TagSpec, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.shapes) + (self.container is not None) + bool(self.object) != 1:
            raise ValueError("needs one of shapes, container and object; write exactly one of them")
        if self.mass <= 0.0:
            raise ValueError(f"mass: is {self.mass:g} kg; make it more than 0")
        if not 1 <= self.count <= OBJECTS:
            raise ValueError(f"count: is {self.count}; give 1 to {OBJECTS}")
        if self.tags and self.count > 1:
            raise ValueError(
                f"tags: are those of one object, and count is {self.count}; write a label for each object"
            )


@dataclass(frozen=True, slots=True)
class TableFile:
    """The whole file.

    ``frames``: files of static transforms beside it, such as those of ``handiwork calibrate``. ``obstacles``: where
    depth cameras look for what nobody modelled.
    """

    labels: dict[str, LabelSpec] = field(default_factory=dict)
    sources: tuple[SourceSpec, ...] = ()
    frames: tuple[str, ...] = ()
    tracking: TrackingSettings = field(default_factory=TrackingSettings)
    obstacles: ObstacleSettings = field(default_factory=ObstacleSettings)

    def __post_init__(self) -> None:
        if not self.sources or len(self.sources) > MOST_SOURCES:
            raise ValueError(f"sources: has {len(self.sources)}; give 1 to {MOST_SOURCES}")


@dataclass(frozen=True, slots=True, eq=False)
class Label:
    """What a label means.

    Attributes:
        name: The label.
        objects: The objects that it can be, in the order in which they are given away.
        detected_T_object: Pose of the object's frame in the frame that the detector reports.
        tags: AprilTags on the object.
    """

    name: str
    objects: tuple[WorldObject, ...]
    detected_T_object: Pose
    tags: tuple[TagSpec, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ObjectTable:
    """The table as values.

    Attributes:
        labels: Labels by each class id that means them.
        sources: The sources.
        tracking: Settings of the tracker.
        frames: Static transforms, such as the places of cameras.
        obstacles: Where obstacles that nobody modelled are looked for.
    """

    labels: Mapping[str, Label]
    sources: tuple[SourceSpec, ...]
    tracking: TrackingSettings
    frames: tuple[StaticFrame, ...] = ()
    obstacles: ObstacleSettings = field(default_factory=ObstacleSettings)

    def objects(self) -> dict[str, WorldObject]:
        """Return all objects that can be detected, by name."""
        return {item.name: item for label in self.labels.values() for item in label.objects}

    def tags(self) -> dict[str, tuple[TagSpec, ...]]:
        """Return the tags by label."""
        return {label.name: label.tags for label in self.labels.values() if label.tags}


def load_table(path: Path, scene: Scene) -> ObjectTable:
    """Load the table of objects. Movable objects of the scene that it does not name are labels of their own names.

    Args:
        path: The file.
        scene: The scene, which has the fixed objects, and shapes to which labels refer.

    Raises:
        ConfigError: The file has faults; the error lists all with key and remedy.
    """
    spec = load(TableFile, path, READERS)
    movable = {item.name: item for item in scene.objects if not item.body.is_static}
    faults: list[str] = []
    labels: dict[str, Label] = {}
    for name, one in spec.labels.items():
        label = _label(name, one, movable, path.parent, faults)
        for word in (name, *one.aliases):
            if word in labels:
                faults.append(f"labels.{name}: class id {word!r} means two labels; keep it at one")
            labels[word] = label
    meant = {one.object for one in spec.labels.values()}
    for name, item in movable.items():
        if name not in labels and name not in meant:
            labels[name] = Label(name, (item.body,), Pose.identity(), item.tags)
    for i, source in enumerate(spec.sources):
        if source.label and source.label not in labels:
            known = nearest(source.label, list(labels))
            faults.append(f"sources[{i}].label: no label {source.label!r}; {known}")
    faults += _twice(labels, scene)
    frames = tuple(load_frame(path.parent / name) for name in spec.frames)
    children = [frame.child_frame for frame in frames]
    faults += [
        f"frames: {name!r} is there twice" for name in sorted({c for c in children if children.count(c) > 1})
    ]
    found = ObjectTable(labels, spec.sources, spec.tracking, frames, spec.obstacles)
    faults += [f"labels.{one}" for one in shared_tags(found.tags())]
    if not found.tags() and any(source.kind is SourceKind.TAGS for source in spec.sources):
        faults.append(
            "sources: one finds tags, and no label has any; add tags to labels, or to objects of the scene"
        )
    if faults:
        raise ConfigError(str(path), faults)
    return found


def _label(
    name: str, spec: LabelSpec, movable: Mapping[str, SceneObject], folder: Path, faults: list[str]
) -> Label:
    names = [name] if spec.count == 1 else [f"{name}_{i + 1}" for i in range(spec.count)]
    shapes: tuple[Shape, ...] = ()
    mass, tags = spec.mass, spec.tags
    if spec.object and spec.object not in movable:
        known = nearest(spec.object, list(movable))
        faults.append(f"labels.{name}.object: the scene has no movable object {spec.object!r}; {known}")
    elif spec.object:
        item = movable[spec.object]
        shapes, mass, tags = item.body.shapes, item.body.mass_kg, tags or item.tags
        names = [spec.object] if spec.count == 1 else names
    else:
        try:
            built = (shape.build(folder) for shape in spec.shapes)
            shapes = spec.container.shapes() if spec.container is not None else tuple(built)
        except ValueError as error:
            faults.append(f"labels.{name}.shapes: {error}")
    objects = tuple(WorldObject(one, shapes, is_static=False, mass_kg=mass) for one in names)
    return Label(name, objects, spec.detected_T_object.pose(), tags)


def _twice(labels: Mapping[str, Label], scene: Scene) -> list[str]:
    taken = {item.name for item in scene.objects if item.body.is_static}
    faults = []
    for label in {id(one): one for one in labels.values()}.values():
        for item in label.objects:
            if item.name in taken:
                faults.append(
                    f"labels.{label.name}: an object {item.name!r} is there already; rename the label"
                )
            taken.add(item.name)
    return faults
