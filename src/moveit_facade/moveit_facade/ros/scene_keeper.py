"""Keeps the additions of clients to the planning scene, and tells them to the planner."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from handiwork_msgs.msg import AttachedObject
from handiwork_msgs.srv import AttachObject, DetachObject, UpdateScene

from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import BodyPair
from handiwork_core.robot.robot import Robot
from handiwork_ros import conversions as to
from handiwork_ros.node.managed_node import ManagedNode
from moveit_facade.messages.ros.object_reading import (
    ADD,
    APPEND,
    MOVE,
    REMOVE,
    client_object,
    has_shapes,
    name_of,
    world_T_object,
)
from moveit_facade.messages.ros.octomap_reading import client_octomap, is_given
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.scene.acm import AllowedCollisions, pair_of
from moveit_facade.scene.client_scene import AttachedBody, ClientOctomap, ClientScene, SceneChange
from moveit_facade.scene.frames import Frames, checked_link

from .octomap_teller import OctomapTeller
from .planner_calls import PlannerCalls
from .robot_reading import RobotReader, StartState
from .turns import Turns
from .unmodelled_map import UnmodelledMap


@dataclass(frozen=True)
class Scene:
    """The planning scene beyond the world.

    Attributes:
        objects: The objects of clients.
        acm: The allowed collision matrix.
        colors: Messages of the colours of objects by name.
    """

    objects: ClientScene
    acm: AllowedCollisions
    colors: tuple[Any, ...] = ()

    def allowed(self, robot: Robot, bodies: Sequence[str]) -> frozenset[BodyPair]:
        """Return the pairs that may touch: of the matrix, and attached objects with their touch links.

        Args:
            robot: The robot.
            bodies: Names of all objects.
        """
        pairs = set(self.acm.exceptions(robot, bodies))
        for name, body in self.objects.attached.items():
            pairs.update(BodyPair(f"{robot.name}/{link}", name) for link in {body.link, *body.touch_links})
        return frozenset(pairs)


class SceneKeeper:
    """The scene of all clients. Changes are applied one after another; a failed one changes nothing.

    Args:
        node: Logs.
        robot: The robot.
        reader: Reads states of the robot.
        planner: The planner.
        maps: Tells the planner what the octomap occupies.
        unmodelled: What cameras have found.
    """

    def __init__(
        self,
        node: ManagedNode,
        robot: Robot,
        reader: RobotReader,
        planner: PlannerCalls,
        maps: OctomapTeller,
        unmodelled: UnmodelledMap,
    ) -> None:
        self._node, self._robot, self._reader, self._planner = node, robot, reader, planner
        self._maps, self._unmodelled = maps, unmodelled
        self.scene = Scene(ClientScene(), AllowedCollisions.of_robot(robot))
        self._turns = Turns()
        self.on_change: Callable[[], None] = lambda: None
        """Called after each change."""

    async def apply(self, msg: Any) -> None:
        """Apply a ``moveit_msgs/msg/PlanningScene``: all of it, or nothing.

        Args:
            msg: The message.

        Raises:
            RequestError: A part is malformed or is not served.
            BadMessage: A number is not finite, or a list is too long.
        """
        await self._change(lambda: self.with_message(self.scene, msg))

    async def apply_object(self, msg: Any) -> None:
        """Apply one ``moveit_msgs/msg/CollisionObject``.

        Args:
            msg: The message.

        Raises:
            RequestError: See ``apply``.
            BadMessage: See ``apply``.
        """
        await self._change(lambda: self._with_objects(self.scene, [msg], "collision_object"))

    async def apply_attached(self, msg: Any) -> None:
        """Apply one ``moveit_msgs/msg/AttachedCollisionObject``.

        Args:
            msg: The message.

        Raises:
            RequestError: See ``apply``.
            BadMessage: See ``apply``.
        """
        await self._change(lambda: self._with_attached(self.scene, [msg], "attached_collision_object"))

    async def clear_octomap(self) -> None:
        """Remove the octomap.

        Raises:
            RequestError: The planner did not take it.
        """
        await self._change(lambda: self._without_octomap(self.scene))

    async def apply_effect(self, msg: Any) -> None:
        """Apply the change of the scene that a sub-trajectory of a task solution has; see ``with_effect``.

        Args:
            msg: ``moveit_msgs/msg/PlanningScene``.

        Raises:
            RequestError: See ``apply``.
            BadMessage: See ``apply``.
        """
        await self._change(lambda: self.with_effect(self.scene, msg))

    def with_effect(self, scene: Scene, msg: Any) -> Scene:
        """Return a scene with the change that a plan has foreseen.

        Where an object of the world was to be is for its source to say: such entries of the message are left out.

        Args:
            scene: The scene.
            msg: ``moveit_msgs/msg/PlanningScene``.

        Raises:
            RequestError: See ``apply``.
            BadMessage: See ``apply``.
        """
        world = set(self._reader.measured().world.objects) - set(scene.objects.objects)
        effect = copy.copy(msg)
        effect.world = copy.copy(msg.world)
        effect.world.collision_objects = [
            item for item in msg.world.collision_objects if item.id not in world
        ]
        return self.with_message(scene, effect)

    async def restore(self) -> None:
        """Tell a planner that was started again all that it has lost.

        Raises:
            RequestError: The planner refused.
        """
        whole = ClientScene().change_to(self.scene.objects)
        if not whole.is_empty:
            await self._tell(whole, self.scene.objects.octomap)

    def with_message(self, scene: Scene, msg: Any) -> Scene:
        """Return a scene with the changes of a message.

        Args:
            scene: The scene.
            msg: ``moveit_msgs/msg/PlanningScene``; without ``is_diff`` it replaces all that clients have added.

        Raises:
            RequestError: See ``apply``.
            BadMessage: See ``apply``.
        """
        self._refuse_unserved(msg)
        if not msg.is_diff:
            attached = scene.objects.detached(list(scene.objects.attached), self._link_poses(scene))
            objects = (
                attached.removed("", ()) if not msg.robot_state.is_diff else scene.objects.removed("", ())
            )
            scene = replace(scene, objects=objects)
        # Attached objects first: a client detaches an object and removes it from the world in one message.
        scene = self._with_attached(scene, msg.robot_state.attached_collision_objects, "robot_state")
        scene = self._with_objects(scene, msg.world.collision_objects, "world.collision_objects")
        if is_given(msg.world.octomap) or not msg.is_diff:
            scene = self._with_octomap(scene, msg.world.octomap)
        matrix = msg.allowed_collision_matrix
        if matrix.entry_names or matrix.default_entry_names:
            scene = replace(scene, acm=self._matrix(matrix))
        if msg.object_colors:
            fresh = {color.id for color in msg.object_colors}
            kept = [color for color in scene.colors if color.id not in fresh]
            scene = replace(scene, colors=(*kept, *msg.object_colors))
        return scene

    async def tell(self, before: ClientScene, after: ClientScene) -> None:
        """Tell the planner other objects for the time of one request; ``scene`` stays. Call it again to undo it.

        Args:
            before: The objects that the planner knows.
            after: Those that it shall know.

        Raises:
            RequestError: The planner refused.
        """
        change = before.change_to(after)
        if not change.is_empty:
            await self._tell(change, after.octomap)

    async def _change(self, compute: Callable[[], Scene]) -> None:
        async with self._turns:
            new = compute()
            change = self.scene.objects.change_to(new.objects)
            if not change.is_empty:
                await self._tell(change, new.objects.octomap)
            self.scene = new
        self.on_change()

    async def _tell(self, change: SceneChange, octomap: ClientOctomap | None) -> None:
        for name in change.detach:
            await self._planner.do("detach_object", DetachObject.Request(object=name))
        if change.remove or change.add:
            request = UpdateScene.Request(
                add=[to.world_object_to_msg(item.body) for item in change.add],
                add_poses=[to.pose_to_msg(item.world_T_object) for item in change.add],
                remove=list(change.remove),
            )
            await self._planner.do("update_scene", request)
        for name, body in change.attach:
            attachment = AttachedObject(object=name, link=body.link, pose=to.pose_to_msg(body.link_T_object))
            request = AttachObject.Request(attachment=attachment, use_current_pose=False)
            await self._planner.do("attach_object", request)
        if change.is_other_octomap:
            await self._maps.tell(octomap)

    def _with_octomap(self, scene: Scene, msg: Any) -> Scene:
        found = None
        if self._unmodelled.is_same(msg):  # a client that changes a part of the scene sends all of it back
            return scene
        if len(msg.octomap.data):
            self._maps.check_alone()
            found = client_octomap(msg, self._frames(scene)[1], "world.octomap")
        return replace(scene, objects=replace(scene.objects, octomap=found))

    def _without_octomap(self, scene: Scene) -> Scene:
        return replace(scene, objects=replace(scene.objects, octomap=None))

    def _refuse_unserved(self, msg: Any) -> None:
        for name, usual in (("link_padding", "padding"), ("link_scale", "scale")):
            for entry in getattr(msg, name):
                neutral = 0.0 if usual == "padding" else 1.0
                if abs(getattr(entry, usual) - neutral) > 1e-9:
                    text = f"{name} of {entry.link_name!r} is {getattr(entry, usual)}; links cannot be resized here"
                    raise RequestError(ErrorCode.UNRECOGNIZED_GOAL_TYPE, text)
        names, fixed = msg.robot_model_name, len(msg.fixed_frame_transforms)
        if names and names != self._robot.name:
            text = f"robot_model_name is {names[:80]!r}; the robot is {self._robot.name!r}"
            raise RequestError(ErrorCode.INVALID_ROBOT_STATE, text)
        to.at_most("fixed_frame_transforms", fixed, 1000, "transforms")

    def _frames(self, scene: Scene) -> tuple[StartState, Frames]:
        start = self._reader.measured()
        return start, self._reader.frames(start, scene.objects)

    def _link_poses(self, scene: Scene) -> dict[str, Pose]:
        links = {body.link for body in scene.objects.attached.values()}
        if not links:
            return {}
        _start, frames = self._frames(scene)
        return {link: frames.link(link) for link in links}

    def _with_objects(self, scene: Scene, messages: Sequence[Any], field: str) -> Scene:
        to.at_most(field, len(messages), 2000, "objects")
        for i, msg in enumerate(messages):
            start, frames = self._frames(scene)
            objects = self._with_object(scene.objects, msg, frames, start, f"{field}[{i}]")
            scene = replace(scene, objects=objects)
        return scene

    def _with_object(
        self, objects: ClientScene, msg: Any, frames: Frames, start: StartState, field: str
    ) -> ClientScene:
        world = start.world.objects
        if msg.operation == REMOVE:
            if msg.id in world:
                text = (
                    f"{msg.id!r} is an object of the world: it stays an obstacle; only its source removes it"
                )
                self._node.get_logger().warning(text)
            return objects.removed(str(msg.id), world)
        if msg.operation == MOVE:
            return objects.moved(name_of(msg, field), world_T_object(msg, frames, field), world)
        if msg.operation not in (ADD, APPEND):
            text = f"{field}.operation is {msg.operation!r}; send ADD, REMOVE, APPEND or MOVE"
            raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
        found = client_object(msg, frames, field)
        for note in found.notes:
            self._node.get_logger().warning(note)
        change = objects.appended if msg.operation == APPEND else objects.added
        return change(found.item, world)

    def _with_attached(self, scene: Scene, messages: Sequence[Any], field: str) -> Scene:
        to.at_most(field, len(messages), 2000, "attached objects")
        for i, msg in enumerate(messages):
            where = f"{field}[{i}]"
            if msg.object.operation == REMOVE:
                scene = self._with_detached(scene, msg, where)
            elif msg.object.operation in (ADD, APPEND):
                scene = replace(scene, objects=self.attached_in(scene, msg, where))
            else:
                text = f"{where}.object.operation is {msg.object.operation!r}; send ADD or REMOVE"
                raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
        return scene

    def _with_detached(self, scene: Scene, msg: Any, field: str) -> Scene:
        attached, name = scene.objects.attached, str(msg.object.id)
        if name and name not in attached:
            text = f"{field}: object {name[:80]!r} is not attached; attached are {sorted(attached)}"
            raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
        link = msg.link_name.removeprefix(f"{self._robot.name}/")
        names = [name] if name else [key for key, body in attached.items() if link in ("", body.link)]
        return replace(scene, objects=scene.objects.detached(names, self._link_poses(scene)))

    def attached_in(self, scene: Scene, msg: Any, field: str, start: StartState | None = None) -> ClientScene:
        """Return the objects with one more attached.

        Args:
            scene: The scene.
            msg: ``moveit_msgs/msg/AttachedCollisionObject``. Without geometry it names an object that exists.
            field: Name of the message in errors.
            start: State of the robot at the attachment; None: the measured one.

        Raises:
            RequestError: There is no such link or object, or the geometry is malformed.
            BadMessage: A pose is malformed.
        """
        start = start or self._reader.measured()
        frames = self._reader.frames(start, scene.objects)
        link, name = (
            checked_link(self._robot, msg.link_name, f"{field}.link_name"),
            name_of(msg.object, field),
        )
        touch = tuple(checked_link(self._robot, one, f"{field}.touch_links") for one in msg.touch_links)
        objects, world = scene.objects, start.world
        if has_shapes(msg.object) and name in world.objects and name not in objects.objects:
            # The world knows its shapes; the message says where the link has it.
            world_T = client_object(msg.object, frames, f"{field}.object").item.world_T_object
        elif has_shapes(msg.object):
            objects = objects.added(client_object(msg.object, frames, f"{field}.object").item, world.objects)
            world_T = objects.objects[name].world_T_object
        elif name in objects.objects:
            world_T = frames.world_T(name, field)
        elif name in world.states:
            world_T = world.states[name].world_T_object
        else:
            text = f"{field}: object {name!r} does not exist; send its geometry, or add it first"
            raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
        body = AttachedBody(link, frames.link(link).inverse() @ world_T, touch, float(msg.weight))
        return objects.with_attached(name, body)

    def _matrix(self, msg: Any) -> AllowedCollisions:
        names, rows = [str(name) for name in msg.entry_names], msg.entry_values
        to.at_most("allowed_collision_matrix.entry_names", len(names), 2000, "names")
        sizes = {len(row.enabled) for row in rows}
        if len(rows) != len(names) or sizes - {len(names)} or len(set(names)) != len(names):
            text = (
                f"allowed_collision_matrix has {len(names)} names and {len(rows)} rows of {sorted(sizes)} values; "
                "send a square matrix with names that differ"
            )
            raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
        if len(msg.default_entry_names) != len(msg.default_entry_values):
            text = (
                f"allowed_collision_matrix has {len(msg.default_entry_names)} default_entry_names and "
                f"{len(msg.default_entry_values)} default_entry_values; send as many of both"
            )
            raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
        allowed = frozenset(
            pair_of(a, names[k])
            for a, row in zip(names, rows, strict=True)
            for k, on in enumerate(row.enabled)
            if on
        )
        defaults = dict(
            zip(map(str, msg.default_entry_names), map(bool, msg.default_entry_values), strict=True)
        )
        matrix = AllowedCollisions(tuple(names), allowed, defaults)
        if refused := matrix.refused_checks(self._robot):
            text = f"{len(refused)} pairs such as {refused[0]} stay without a check: the robot's files leave them out"
            self._node.get_logger().warning(text)
        return matrix
