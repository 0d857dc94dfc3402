"""The planner's additions to the received world: its own obstacles, unmodelled ones, and what the robot holds."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence

import numpy as np

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.contracts.planning import Attachment, SceneQuery
from handiwork_core.intake.limits import OBJECTS
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import ObjectState, World, WorldObject
from handiwork_core.voxels.voxel_map import VoxelMap

from .request_checks import RequestRefused

OWN = " (planner's own)"


class PlanningScene:
    """The planner's own obstacles, those that nobody modelled, and attached objects.

    Threads may read it while another changes it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._own: dict[str, tuple[WorldObject, Pose]] = {}
        self._attached: dict[str, Attachment] = {}
        self._voxels: VoxelMap | None = None
        self._changes = 0
        self._attach_changes = 0

    def update(
        self, world: World, add: Sequence[WorldObject], poses: Sequence[Pose], remove: Sequence[str]
    ) -> int:
        """Change the planner's own obstacles: all changes or none. Removal comes first.

        Args:
            world: The received world.
            add: Obstacles to add.
            poses: world_T_object of each of them.
            remove: Names of own obstacles to remove.

        Returns:
            The new version of the merged world.

        Raises:
            Refused: A name to remove is not the planner's own, a name to add is taken, or a count is wrong.
        """
        if len(add) != len(poses):
            raise RequestRefused(
                Code.BAD_GOAL, f"add_poses has {len(poses)} poses for {len(add)} objects", "add_poses"
            )
        with self._lock:
            own = dict(self._own)
            for name in remove:
                if name not in own:
                    hint = nearest(name, sorted(own)) if own else "it has none"
                    text = f"{name!r} is not one of the planner's own obstacles; {hint}"
                    raise RequestRefused(Code.UNKNOWN_OBJECT, text, "remove")
                del own[name]
            for item, pose in zip(add, poses, strict=True):
                if item.name in own or item.name in world.objects:
                    text = f"object {item.name!r} exists; choose another name or remove it first"
                    raise RequestRefused(Code.CONTRADICTION, text, "add")
                own[item.name] = (item, pose)
            if len(own) > OBJECTS:
                text = f"the planner would have {len(own)} own obstacles; at most {OBJECTS} are kept, remove some"
                raise RequestRefused(Code.BAD_GOAL, text, "add")
            self._own = own
            self._changes += 1
            return world.version + self._changes

    def attach(self, attachment: Attachment) -> None:
        """Attach an object. Attaching it again replaces its link and pose.

        Args:
            attachment: The object, its link and its pose there.
        """
        with self._lock:
            self._attached = {**self._attached, attachment.object: attachment}
            self._attach_changes += 1

    def detach(self, name: str) -> None:
        """Detach one object, or all for an empty name.

        Args:
            name: Name of the object.

        Raises:
            Refused: It is not attached.
        """
        with self._lock:
            if name and name not in self._attached:
                text = f"object {name!r} is not attached; attached are {sorted(self._attached)}"
                raise RequestRefused(Code.UNKNOWN_OBJECT, text, "object")
            self._attached = {k: v for k, v in self._attached.items() if name and k != name}
            self._attach_changes += 1

    def see(self, voxels: VoxelMap | None) -> None:
        """Take the obstacles that nobody modelled, as one change of the scene.

        Args:
            voxels: The occupied cells, which replace those before; None: nobody looks any more.
        """
        with self._lock:
            self._voxels = voxels
            self._changes += 1

    def merged(self, world: World) -> World:
        """Return the received world with the planner's own obstacles and those that nobody modelled.

        A received object that took the name of one later does not hide it: both are obstacles.

        Args:
            world: The received world.
        """
        with self._lock:
            own, voxels, version = self._own, self._voxels, world.version + self._changes
        zero = np.zeros(3)
        kept = {f"{n}{OWN}" if n in world.objects else n: found for n, found in own.items()}
        states = {name: ObjectState(pose, zero, zero, world.stamp_s) for name, (_, pose) in kept.items()}
        objects = {name: dataclasses.replace(item, name=name) for name, (item, _) in kept.items()}
        return dataclasses.replace(
            world,
            version=version,
            objects={**objects, **world.objects},
            states={**states, **world.states},
            voxels=voxels,
        )

    def names(self) -> frozenset[str]:
        """Return the names of the planner's own obstacles, plain and as in ``merged`` after a conflict of names."""
        with self._lock:
            return frozenset(name for own in self._own for name in (own, f"{own}{OWN}"))

    def own(self) -> tuple[int, tuple[WorldObject, ...]]:
        """Return the planner's own scene.

        Returns:
            One plus the number of changes of obstacles, unmodelled ones included, and attachments, and the obstacles
            with ``world`` as their frame.
        """
        with self._lock:
            version, own = 1 + self._changes + self._attach_changes, tuple(self._own.values())
        return version, tuple(_in_world(item, pose) for item, pose in own)

    def attached(self, world: World) -> tuple[Attachment, ...]:
        """Return the attached objects in the frames in which their geometry is published.

        The planner's own obstacles are published in the frame ``world``, so that this is the frame that moves with
        the link.

        Args:
            world: The received world.
        """
        with self._lock:
            own, attached = self._own, tuple(self._attached.values())
        return tuple(
            dataclasses.replace(item, link_T_object=item.link_T_object @ own[item.object][1].inverse())
            if item.object in own and item.object not in world.objects
            else item
            for item in attached
        )

    def query(self, scene: SceneQuery) -> SceneQuery:
        """Return the request's scene with the attached objects. The request's own entries have priority.

        Args:
            scene: The request's scene.
        """
        with self._lock:
            attached = dict(self._attached)
        attached.update({item.object: item for item in scene.attached})
        return dataclasses.replace(scene, attached=tuple(attached.values()))


def _in_world(item: WorldObject, world_T_object: Pose) -> WorldObject:
    shapes = tuple(
        dataclasses.replace(shape, object_T_shape=world_T_object @ shape.object_T_shape)
        for shape in item.shapes
    )
    return dataclasses.replace(item, shapes=shapes)
