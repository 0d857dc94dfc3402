"""The topics and services of the planning scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from std_srvs.srv import Empty

from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import WorldObject
from handiwork_core.robot.robot import Robot
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.safe_callbacks import guard
from moveit_facade.messages.ros.writing import (
    acm_message,
    attached_message,
    client_object_message,
    robot_state,
    world_object_message,
)
from moveit_facade.model.error_codes import RequestError
from moveit_msgs.msg import AttachedCollisionObject, CollisionObject, PlanningScene, PlanningSceneComponents
from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene

from .errors import guarded, request_error, require_active
from .robot_reading import RobotReader, StartState
from .scene_keeper import SceneKeeper
from .unmodelled_map import UnmodelledMap

PERIOD_S = 0.5
"""The period of ``monitored_planning_scene`` while somebody listens, s of steady time."""
Parts = PlanningSceneComponents


class SceneServices:
    """Serves the planning scene of ``keeper``.

    Args:
        node: Hosts topics and services.
        robot: The robot.
        reader: Reads states of the robot.
        keeper: Keeps the scene.
        unmodelled: What cameras have found.
    """

    def __init__(
        self,
        node: ManagedNode,
        robot: Robot,
        reader: RobotReader,
        keeper: SceneKeeper,
        unmodelled: UnmodelledMap,
    ) -> None:
        self._node, self._robot, self._reader, self._keeper = node, robot, reader, keeper
        self._unmodelled = unmodelled
        group = ReentrantCallbackGroup()
        services: tuple[tuple[Any, str, Any], ...] = (
            (GetPlanningScene, "get_planning_scene", guarded(node, self._get, _unchanged)),
            (ApplyPlanningScene, "apply_planning_scene", guarded(node, self._apply, _unchanged)),
            (Empty, "clear_octomap", guarded(node, self._clear_octomap, _unchanged)),
        )
        for kind, name, handler in services:
            node.create_service(kind, name, handler, callback_group=group)
        topics: tuple[tuple[Any, str, Any], ...] = (
            (PlanningScene, "planning_scene", keeper.apply),
            (CollisionObject, "collision_object", keeper.apply_object),
            (AttachedCollisionObject, "attached_collision_object", keeper.apply_attached),
        )
        for kind, name, take in topics:
            node.create_subscription(kind, name, self._taker(name, take), 100, callback_group=group)
        self._publisher = node.create_publisher(PlanningScene, "monitored_planning_scene", 10)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(PERIOD_S, guard(node, self._publish), group, steady)
        keeper.on_change = self._publish

    def message(self, components: int) -> PlanningScene:
        """Return the planning scene.

        Args:
            components: Sum of values of ``PlanningSceneComponents``; 0 means all, as in MoveIt.

        Raises:
            RequestError: The robot is not known.
        """
        parts, start = components or 0x3FF, self._reader.measured()
        message = PlanningScene(name="handiwork", robot_model_name=self._robot.name, is_diff=False)
        if parts & (Parts.ROBOT_STATE | Parts.ROBOT_STATE_ATTACHED_OBJECTS):
            joints = start.positions if parts & Parts.ROBOT_STATE else {}
            message.robot_state = robot_state(joints, self._attached(start))
        if parts & (Parts.WORLD_OBJECT_NAMES | Parts.WORLD_OBJECT_GEOMETRY):
            shows = bool(parts & Parts.WORLD_OBJECT_GEOMETRY)
            message.world.collision_objects = self._objects(start, with_geometry=shows)
        if parts & Parts.OCTOMAP:
            octomap = self._keeper.scene.objects.octomap
            message.world.octomap = self._unmodelled.message() if octomap is None else octomap.source
        if parts & Parts.ALLOWED_COLLISION_MATRIX:
            message.allowed_collision_matrix = acm_message(self._keeper.scene.acm)
        if parts & Parts.OBJECT_COLORS:
            message.object_colors = list(self._keeper.scene.colors)
        return message

    def _objects(self, start: StartState, *, with_geometry: bool) -> list[CollisionObject]:
        objects, world = self._keeper.scene.objects, start.world
        mine = [
            client_object_message(item, with_geometry=with_geometry)
            for name, item in objects.objects.items()
            if name not in objects.attached
        ]
        others = [
            world_object_message(item, world.states[name].world_T_object, with_geometry=with_geometry)
            for name, item in world.objects.items()
            if name in world.states and name not in objects.attached
        ]
        return [*mine, *others]

    def _attached(self, start: StartState) -> list[AttachedCollisionObject]:
        scene = self._keeper.scene.objects
        found = []
        for name, body in scene.attached.items():
            mine = scene.objects.get(name)
            item: WorldObject | None = mine.body if mine is not None else start.world.objects.get(name)
            subframes: dict[str, Pose] = dict(mine.subframes) if mine is not None else {}
            found.append(attached_message(name, body, item, subframes))
        return found

    async def _get(self, request: Any, response: Any) -> Any:
        response.scene = self.message(int(request.components.components))
        return response

    async def _apply(self, request: Any, response: Any) -> Any:
        await self._keeper.apply(request.scene)
        response.success = True
        return response

    async def _clear_octomap(self, _request: Any, response: Any) -> Any:
        await self._keeper.clear_octomap()
        return response

    def _taker(self, name: str, take: Callable[[Any], Any]) -> Callable[[Any], Any]:
        async def on_message(msg: Any) -> None:
            try:
                require_active(self._node)
                await take(msg)
            except Exception as error:  # noqa: BLE001 - an exception must not end spin()
                found = request_error(self._node, error)
                self._node.get_logger().error(f"{name}: {found.value.name}: {found.outcome.message}")

        return on_message

    def _publish(self) -> None:
        if not self._node.is_active or not self._publisher.get_subscription_count():
            return
        try:
            self._publisher.publish(self.message(0))
        except RequestError as error:
            self._node.get_logger().warning(f"monitored_planning_scene: {error}", throttle_duration_sec=5.0)


def _unchanged(response: Any, _error: RequestError) -> Any:
    return response
