"""What the planner adds to the world that it hears of: its own obstacles and what is attached to the robot."""

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

from .request_checks import Refused

OWN = " (planner's own)"


class PlanningScene:
    """Changed on one thread and read on another; every change is whole."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._own: dict[str, tuple[WorldObject, Pose]] = {}
        self._attached: dict[str, Attachment] = {}
        self._changes = 0

    def update(
        self, heard: World, add: Sequence[WorldObject], poses: Sequence[Pose], remove: Sequence[str]
    ) -> int:
        """Take all of it or nothing; removal comes first. Returns the new version of the world.

        Raises:
            Refused: a name to remove is not the planner's own, a name to add is taken, or counts differ.
        """
        if len(add) != len(poses):
            raise Refused(
                Code.BAD_GOAL, f"add_poses has {len(poses)} poses for {len(add)} objects", "add_poses"
            )
        with self._lock:
            own = dict(self._own)
            for name in remove:
                if name not in own:
                    hint = nearest(name, sorted(own)) if own else "it has none"
                    text = f"{name!r} is not one of the planner's own obstacles; {hint}"
                    raise Refused(Code.UNKNOWN_OBJECT, text, "remove")
                del own[name]
            for item, pose in zip(add, poses, strict=True):
                if item.name in own or item.name in heard.objects:
                    text = f"object {item.name!r} exists; choose another name or remove it first"
                    raise Refused(Code.CONTRADICTION, text, "add")
                own[item.name] = (item, pose)
            if len(own) > OBJECTS:
                text = f"the planner would have {len(own)} own obstacles; at most {OBJECTS} are kept, remove some"
                raise Refused(Code.BAD_GOAL, text, "add")
            self._own = own
            self._changes += 1
            return heard.version + self._changes

    def attach(self, attachment: Attachment) -> None:
        """An object is attached once; attaching it again replaces its pose."""
        with self._lock:
            self._attached = {**self._attached, attachment.object: attachment}

    def detach(self, name: str) -> None:
        """Detach one object, or all for an empty name.

        Raises:
            Refused: it is not attached.
        """
        with self._lock:
            if name and name not in self._attached:
                text = f"object {name!r} is not attached; attached are {sorted(self._attached)}"
                raise Refused(Code.UNKNOWN_OBJECT, text, "object")
            self._attached = {k: v for k, v in self._attached.items() if name and k != name}

    def merged(self, heard: World) -> World:
        """The heard world with the planner's own obstacles.

        A heard object that took the name of one later does not hide it: both are obstacles.
        """
        with self._lock:
            own, version = self._own, heard.version + self._changes
        zero = np.zeros(3)
        kept = {f"{n}{OWN}" if n in heard.objects else n: found for n, found in own.items()}
        states = {name: ObjectState(pose, zero, zero, heard.stamp_s) for name, (_, pose) in kept.items()}
        objects = {name: dataclasses.replace(item, name=name) for name, (item, _) in kept.items()}
        return dataclasses.replace(
            heard, version=version, objects={**objects, **heard.objects}, states={**states, **heard.states}
        )

    def names(self) -> frozenset[str]:
        """Return the planner's own obstacles, by the names that they have in ``merged``."""
        with self._lock:
            return frozenset(name for own in self._own for name in (own, f"{own}{OWN}"))

    def own(self) -> tuple[int, tuple[WorldObject, ...]]:
        """Return how often the planner's own obstacles were changed, and what they are now."""
        with self._lock:
            return self._changes + 1, tuple(item for item, _ in self._own.values())

    def query(self, scene: SceneQuery) -> SceneQuery:
        """The request's scene with what the attach service has attached; the request's own entry wins."""
        with self._lock:
            attached = dict(self._attached)
        attached.update({item.object: item for item in scene.attached})
        return dataclasses.replace(scene, attached=tuple(attached.values()))
