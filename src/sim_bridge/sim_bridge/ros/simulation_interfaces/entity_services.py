"""Objects of the simulated world by simulation_interfaces: find, read, move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import ObjectState
from handiwork_core.scene.loader import SceneObject
from handiwork_ros.conversions import BadMessage, pose_from_msg, pose_to_msg, time_to_msg, vector_to_msg
from sim_bridge.loop.sim_loop import SimLoop
from sim_bridge.loop.simulation_messages import parts_to_set
from sim_bridge.mujoco.spawning import (
    meets_box,
    meets_sphere,
    named_like,
    own_bounds,
)
from sim_bridge.ros.simulation_interfaces.server import (
    FAILED,
    NOT_FOUND,
    OK,
    UNSUPPORTED,
    ServiceRefused,
    put_result,
)
from simulation_interfaces.msg import Bounds, EntityCategory, EntityState

INVALID_POSE_TO_SET = 101
"""A code of SetEntityState."""


class EntityServices:
    """Handlers of services about objects. A handler fills the response.

    It raises ``ServiceRefused`` for invalid requests.

    Args:
        loop: Returns the thread that runs now.
        wait: Waits for a job of the physics thread.
    """

    def __init__(self, loop: Callable[[], SimLoop], wait: Callable[[Any], Any]) -> None:
        self._loop, self._wait = loop, wait

    async def entities(self, request: Any, response: Any) -> None:
        """Handle GetEntities.

        Args:
            request: The request.
            response: Is filled.
        """
        response.entities = [name for name, _ in await self._found(request.filters)]
        put_result(response, OK)

    async def states(self, request: Any, response: Any) -> None:
        """Handle GetEntitiesStates.

        Args:
            request: The request.
            response: Is filled.
        """
        found = await self._found(request.filters)
        response.entities = [name for name, _ in found]
        response.states = [_state_to_msg(state) for _, state in found]
        put_result(response, OK)

    async def state(self, request: Any, response: Any) -> None:
        """Handle GetEntityState.

        Args:
            request: The request.
            response: Is filled.
        """
        _, state = await self._one(request.entity)
        response.state = _state_to_msg(state)
        put_result(response, OK)

    async def info(self, request: Any, response: Any) -> None:
        """Handle GetEntityInfo.

        Args:
            request: The request.
            response: Is filled.
        """
        item, _ = await self._one(request.entity)
        response.info.category.category = _category(item)
        body = item.body
        response.info.description = "fixed" if body.is_static else f"{body.mass_kg:g} kg"
        put_result(response, OK)

    async def bounds(self, request: Any, response: Any) -> None:
        """Handle GetEntityBounds: the box in the object's own axes.

        Args:
            request: The request.
            response: Is filled.
        """
        item, _ = await self._one(request.entity)
        lower, upper = own_bounds(item)
        response.bounds = Bounds(type=Bounds.TYPE_BOX, points=[vector_to_msg(upper), vector_to_msg(lower)])
        put_result(response, OK)

    async def set_state(self, request: Any, response: Any) -> None:
        """Handle SetEntityState; parts without a flag stay as they are, and an acceleration is never set.

        Args:
            request: The request.
            response: Is filled.

        Raises:
            Refused: The object is unknown, or the pose or twist is invalid for it.
        """
        item, state = await self._one(request.entity)
        parts, given = parts_to_set(request), request.state
        wanted = state.world_T_object
        if parts.pose:
            _check_world(given.header.frame_id, INVALID_POSE_TO_SET)
            wanted = read_pose(given.pose, INVALID_POSE_TO_SET)
        linear = np.array([given.twist.linear.x, given.twist.linear.y, given.twist.linear.z])
        angular = np.array([given.twist.angular.x, given.twist.angular.y, given.twist.angular.z])
        if not np.isfinite([linear, angular]).all():
            raise ServiceRefused(FAILED, f"the twist of {item.name!r} is not finite; give numbers")
        if not parts.twist:
            linear, angular = state.world_v_object, state.world_w_object
        elif (item.body.is_static or item.body.articulation is not None) and (linear.any() or angular.any()):
            text = f"{item.name!r} is {'static' if item.body.is_static else 'a part'}; give no twist"
            raise ServiceRefused(FAILED, text)
        loop = self._loop()
        try:
            await self._wait(
                loop.submit(
                    lambda: loop.simulation.world.set_object_state(item.name, wanted, linear, angular)
                )
            )
        except ValueError as error:
            raise ServiceRefused(INVALID_POSE_TO_SET, str(error)) from error
        ignored = "the acceleration is not set: forces make it" if parts.acceleration else ""
        put_result(response, OK, ignored)

    async def _all(self) -> list[tuple[SceneObject, ObjectState]]:
        loop = self._loop()

        def look() -> list[tuple[SceneObject, ObjectState]]:
            world = loop.simulation.world
            states = world.object_states()
            return [(item, states[item.name]) for item in world.scene.objects]

        found: list[tuple[SceneObject, ObjectState]] = await self._wait(loop.submit(look))
        return found

    async def _one(self, name: str) -> tuple[SceneObject, ObjectState]:
        known = {item.name: (item, state) for item, state in await self._all()}
        if name not in known:
            raise ServiceRefused(NOT_FOUND, f"{name[:80]!r} is no object; {nearest(name, sorted(known))}")
        return known[name]

    async def _found(self, filters: Any) -> list[tuple[str, ObjectState]]:
        """Return the objects that pass every filter."""
        if filters.tags.tags:
            raise ServiceRefused(UNSUPPORTED, "objects have no tags; filter by name, category or bounds")
        wanted = {one.category for one in filters.categories}
        every = await self._all()
        try:
            names = set(named_like((item.name for item, _ in every), filters.filter))
        except ValueError as error:
            raise ServiceRefused(FAILED, str(error)) from error
        general = EntityCategory.CATEGORY_OBJECT
        return [
            (item.name, state)
            for item, state in every
            if item.name in names
            and (not wanted or wanted & {general, _category(item)})
            and _meets(item, state.world_T_object, filters.bounds)
        ]


def _meets(item: SceneObject, world_T_object: Pose, bounds: Any) -> bool:
    if bounds.type == Bounds.TYPE_EMPTY:
        return True
    points = np.array([(p.x, p.y, p.z) for p in bounds.points])
    if bounds.type == Bounds.TYPE_CONVEX_HULL:
        raise ServiceRefused(
            UNSUPPORTED, "bounds that are a convex hull are not understood; give a box or a sphere"
        )
    if len(points) != 2 or not np.isfinite(points).all():
        raise ServiceRefused(
            FAILED, f"bounds of type {bounds.type} have two finite points, not {len(points)}"
        )
    if bounds.type == Bounds.TYPE_SPHERE:
        return meets_sphere(item, world_T_object, points[0], float(points[1, 0]))
    box: Array = np.array((points.min(axis=0), points.max(axis=0)))
    return meets_box(item, world_T_object, box)


def _category(item: SceneObject) -> int:
    kinds = EntityCategory
    return int(kinds.CATEGORY_STATIC_OBJECT if item.body.is_static else kinds.CATEGORY_DYNAMIC_OBJECT)


def _state_to_msg(state: ObjectState) -> EntityState:
    message = EntityState(pose=pose_to_msg(state.world_T_object))
    message.header.frame_id, message.header.stamp = "world", time_to_msg(state.stamp_s)
    message.twist.linear = vector_to_msg(state.world_v_object)
    message.twist.angular = vector_to_msg(state.world_w_object)
    return message


def _check_world(frame: str, code: int) -> None:
    if frame not in ("", "world"):
        raise ServiceRefused(code, f"the state is in {frame!r}; give it in 'world'")


def read_pose(message: Any, code: int) -> Pose:
    """Return a pose.

    Args:
        message: The pose message.
        code: Code of the refusal.

    Raises:
        Refused: The message is no pose; with ``code``.
    """
    try:
        return pose_from_msg(message, "pose")
    except BadMessage as error:
        raise ServiceRefused(code, str(error)) from error
