"""The objects that clients of MoveIt have added, and those that they have attached to links."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import WorldObject
from handiwork_core.voxels.voxel_map import VoxelMap
from moveit_facade.model.error_codes import ErrorCode, RequestError


@dataclass(frozen=True, slots=True, eq=False)
class ClientObject:
    """An object that a client has added.

    Attributes:
        body: Its shapes in its frame.
        world_T_object: Its pose; of an attached one that at the time of the attachment.
        subframes: Poses in the object by name.
        source: The message from which it was made, as it is shown to clients.
    """

    body: WorldObject
    world_T_object: Pose
    subframes: Mapping[str, Pose] = field(default_factory=dict)
    source: object = None


@dataclass(frozen=True, slots=True, eq=False)
class AttachedBody:
    """An object that a client has attached to a link.

    Attributes:
        link: Name of the link.
        link_T_object: Pose of the object there.
        touch_links: Links that may touch it, beside those of the hand.
        weight: Its mass as it was sent, kg.
    """

    link: str
    link_T_object: Pose
    touch_links: tuple[str, ...] = ()
    weight: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class ClientOctomap:
    """The octomap that a client has sent.

    Attributes:
        voxels: What it occupies.
        source: The message from which it was made, as it is shown to clients, in ``world``.
    """

    voxels: VoxelMap
    source: object = None


@dataclass(frozen=True, slots=True)
class SceneChange:
    """The requests to the planner by which one scene becomes another one, in this order.

    Attributes:
        detach: Names of objects.
        remove: Names of obstacles.
        add: Obstacles with their poses.
        attach: Objects with their attachments.
        is_other_octomap: Whether the octomap is another one, or was removed.
    """

    detach: tuple[str, ...]
    remove: tuple[str, ...]
    add: tuple[ClientObject, ...]
    attach: tuple[tuple[str, AttachedBody], ...]
    is_other_octomap: bool = False

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to tell."""
        return not (self.detach or self.remove or self.add or self.attach or self.is_other_octomap)


@dataclass(frozen=True, slots=True, eq=False)
class ClientScene:
    """The additions of clients to the world. Each method returns a new scene; nothing changes in place.

    Attributes:
        objects: Objects by name, the attached ones included.
        attached: Attached objects by name; an object of the world need not be in ``objects``.
        octomap: The octomap; None without one.
    """

    objects: Mapping[str, ClientObject] = field(default_factory=dict)
    attached: Mapping[str, AttachedBody] = field(default_factory=dict)
    octomap: ClientOctomap | None = None

    def added(self, item: ClientObject, world: Collection[str]) -> ClientScene:
        """Return the scene with an object, which replaces one of the same name.

        Args:
            item: The object.
            world: Names of the objects of the world.

        Raises:
            RequestError: The world has an object of this name.
        """
        name = item.body.name
        if name in world:
            text = f"collision object {name!r} is an object of the world; choose another id for yours"
            raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
        attached = {key: value for key, value in self.attached.items() if key != name}
        return replace(self, objects={**self.objects, name: item}, attached=attached)

    def appended(self, item: ClientObject, world: Collection[str]) -> ClientScene:
        """Return the scene with further shapes and subframes of an object; a new name adds it.

        Args:
            item: The additions; their frame is that of the object.
            world: Names of the objects of the world.

        Raises:
            RequestError: See ``added``.
        """
        name = item.body.name
        if name not in self.objects:
            return self.added(item, world)
        old = self.objects[name]
        # The shapes are given in the frame of the message's pose, which need not be that of the object.
        old_T_new = old.world_T_object.inverse() @ item.world_T_object
        shapes = tuple(
            replace(shape, object_T_shape=old_T_new @ shape.object_T_shape) for shape in item.body.shapes
        )
        body = replace(old.body, shapes=(*old.body.shapes, *shapes))
        merged = replace(
            old, body=body, subframes={**old.subframes, **item.subframes}, source=item.source or old.source
        )
        return replace(self, objects={**self.objects, name: merged})

    def moved(self, name: str, world_T_object: Pose, world: Collection[str]) -> ClientScene:
        """Return the scene with an object at another pose.

        Args:
            name: Its name.
            world_T_object: Its pose.
            world: Names of the objects of the world.

        Raises:
            RequestError: There is no such object, or it is one of the world, or it is attached.
        """
        if name in self.attached or name not in self.objects:
            why = "an object of the world" if name in world else "not an object that a client has added"
            why = "attached to a link" if name in self.attached else why
            text = f"collision object {name!r} cannot be moved: it is {why}"
            raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
        moved = replace(self.objects[name], world_T_object=world_T_object)
        return replace(self, objects={**self.objects, name: moved})

    def removed(self, name: str, world: Collection[str]) -> ClientScene:
        """Return the scene without an object; an empty name removes all that are not attached.

        An object of the world stays: what is there remains an obstacle, as after the next message of a perception.

        Args:
            name: Its name.
            world: Names of the objects of the world.

        Raises:
            RequestError: There is no such object.
        """
        if not name:
            return replace(self, objects={k: v for k, v in self.objects.items() if k in self.attached})
        if name in self.objects and name not in self.attached:
            return replace(self, objects={k: v for k, v in self.objects.items() if k != name})
        if name in world:
            return self
        text = f"collision object {name!r} does not exist; get_planning_scene lists the objects"
        raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)

    def with_attached(self, name: str, body: AttachedBody) -> ClientScene:
        """Return the scene with an object attached; attaching it again replaces the link and the pose.

        Args:
            name: Its name.
            body: The attachment.
        """
        return replace(self, attached={**self.attached, name: body})

    def detached(self, names: Collection[str], world_T_link: Mapping[str, Pose]) -> ClientScene:
        """Return the scene with objects detached: those of clients stay where they are now.

        Args:
            names: Names of attached objects.
            world_T_link: Pose of each link that carries one.
        """
        objects = dict(self.objects)
        for name in names:
            if name in objects:
                body = self.attached[name]
                pose = world_T_link[body.link] @ body.link_T_object
                objects[name] = replace(objects[name], world_T_object=pose)
        attached = {k: v for k, v in self.attached.items() if k not in names}
        return replace(self, objects=objects, attached=attached)

    def change_to(self, new: ClientScene) -> SceneChange:
        """Return the requests to the planner by which this scene becomes another one.

        Args:
            new: The other scene.
        """
        replaced = {name for name, item in new.objects.items() if self._differs(name, item)}
        gone = set(self.objects) - set(new.objects)
        remove = (replaced & set(self.objects)) | gone
        detach = {
            name
            for name, body in self.attached.items()
            if new.attached.get(name) is not body or name in remove
        }
        attach = [
            (name, body)
            for name, body in new.attached.items()
            if self.attached.get(name) is not body or name in remove
        ]
        return SceneChange(
            tuple(sorted(detach)),
            tuple(sorted(remove)),
            tuple(new.objects[name] for name in sorted(replaced)),
            tuple(attach),
            self.octomap is not new.octomap,
        )

    def _differs(self, name: str, item: ClientObject) -> bool:
        """Check whether shapes or pose of an object are others."""
        old = self.objects.get(name)
        return old is None or old.body is not item.body or old.world_T_object is not item.world_T_object
