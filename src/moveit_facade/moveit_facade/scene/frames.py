"""The frames that a client of MoveIt may name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Pose
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from moveit_facade.model.error_codes import ErrorCode, RequestError

from .client_scene import ClientScene

PLANNING_FRAME = "world"
"""The frame of poses without one, as ``getPlanningFrame`` of MoveIt returns it."""

LookUp = Callable[[str], Pose]
"""Returns ``world_T_frame`` of a frame of tf, or raises a ``HandiworkError``."""


@dataclass(frozen=True, eq=False)
class Frames:
    """The frames at one state of the robot.

    Attributes:
        robot: The robot.
        world_T_root: Pose of its root link.
        positions: Joint positions by name, rad or m.
        scene: The objects of clients.
        world_T_object: Poses of the objects of the world.
        look_up: Finds the frames of tf.
    """

    robot: Robot
    world_T_root: Pose
    positions: Mapping[str, float]
    scene: ClientScene
    world_T_object: Mapping[str, Pose]
    look_up: LookUp

    def world_T(self, name: str, field: str) -> Pose:
        """Return the pose of a frame.

        Links may be named with or without the robot's name before them. A frame ``<object>/<subframe>`` is one of an
        object of a client. All others are looked up in tf.

        Args:
            name: The frame; empty means the planning frame.
            field: Name of the field in errors.

        Raises:
            RequestError: FRAME_TRANSFORM_FAILURE.
        """
        name = name.lstrip("/")
        if name in ("", PLANNING_FRAME):
            return Pose.identity()
        link = name.removeprefix(f"{self.robot.name}/")
        if link in self.robot.links:
            return self.link(link)
        if (found := self._object(name)) is not None:
            return found
        owner, _, inner = name.rpartition("/")
        item = self.scene.objects.get(owner)
        if item is not None and inner in item.subframes and (found := self._object(owner)) is not None:
            return found @ item.subframes[inner]
        try:
            return self.look_up(name)
        except HandiworkError as error:
            known = [*self.robot.links, *self.scene.objects, *self.world_T_object, PLANNING_FRAME]
            hint = nearest(name[:80], known)
            text = f"{field}: frame {name[:80]!r} is not a link, an object or a frame of tf; {hint}"
            raise RequestError(ErrorCode.FRAME_TRANSFORM_FAILURE, text, "tf") from error

    def link(self, link: str) -> Pose:
        """Return ``world_T_link``.

        Args:
            link: Name of a link.
        """
        return self.world_T_root @ link_poses(self.robot, self.positions, (link,))[link]

    def _object(self, name: str) -> Pose | None:
        body = self.scene.attached.get(name)
        if body is not None:
            return self.link(body.link) @ body.link_T_object
        if name in self.scene.objects:
            return self.scene.objects[name].world_T_object
        return self.world_T_object.get(name)


def checked_link(robot: Robot, name: str, field: str) -> str:
    """Return the name of a link without the robot's name before it.

    Args:
        robot: The robot.
        name: The name as it was sent.
        field: Name of the field in errors.

    Raises:
        RequestError: INVALID_LINK_NAME.
    """
    link = name.removeprefix(f"{robot.name}/")
    if link not in robot.links:
        text = f"{field}: {name[:80]!r} is no link of {robot.name!r}; {nearest(name[:80], list(robot.links))}"
        raise RequestError(ErrorCode.INVALID_LINK_NAME, text)
    return link
