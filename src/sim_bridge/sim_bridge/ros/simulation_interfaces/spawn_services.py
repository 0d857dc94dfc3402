"""Objects that are spawned and deleted by simulation_interfaces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.intake.limits import SPAWNED_AT_ONCE
from handiwork_core.intake.regular_files import DataRoots, FileRefused
from handiwork_core.model.geometry import Pose
from handiwork_core.scene.loader import Scene, SceneObject, load_scene
from sim_bridge.loop.readers import Readers, TooManyReaders
from sim_bridge.loop.sim_loop import SimLoop
from sim_bridge.loop.simulation_messages import put_uri, resource_from
from sim_bridge.mujoco.simulation import Simulation
from sim_bridge.mujoco.spawning import (
    FILE,
    Resource,
    SpawnRefused,
    Why,
    free_name,
    read_object,
    with_object,
    without,
)
from sim_bridge.ros.simulation_interfaces.entity_services import read_pose
from sim_bridge.ros.simulation_interfaces.server import (
    FAILED,
    NOT_FOUND,
    OK,
    ServiceRefused,
    put_result,
)
from simulation_interfaces.msg import Spawnable

T = TypeVar("T")

INVALID_POSE, NAMESPACE_INVALID, SOME_FAILED = 109, 105, 150
"""Codes of SpawnEntity and SpawnEntities."""

CODES = {
    Why.NAME_TAKEN: 101,
    Why.NAME_INVALID: 102,
    Why.UNSUPPORTED_FORMAT: 103,
    Why.NO_RESOURCE: 104,
    Why.PARSE_ERROR: 106,
    Why.ASSET: 108,
    Why.UNKNOWN: NOT_FOUND,
    Why.PART: FAILED,
}


class SpawnServices:
    """Handlers of spawning and deleting. A handler fills the response.

    It raises ``ServiceRefused`` for invalid requests.

    Attributes:
        spawned: Names of the objects that were spawned since the start, or since they were last reset.

    Args:
        loop: Returns the thread that runs now.
        wait: Waits for a job of the physics thread.
        publish_geometry: Publishes the objects after a change; runs on the physics thread.
        roots: Folders below which requests may name files.
    """

    def __init__(
        self,
        loop: Callable[[], SimLoop],
        wait: Callable[[Any], Any],
        publish_geometry: Callable[[Any], int],
        roots: DataRoots,
    ) -> None:
        self._roots, self._readers = roots, Readers()
        self._loop, self._wait, self._publish_geometry = loop, wait, publish_geometry
        self.spawned: tuple[str, ...] = ()

    async def spawn(self, request: Any, response: Any) -> None:
        """Handle SpawnEntity of either version.

        Args:
            request: The request.
            response: Is filled.

        Raises:
            Refused: The object cannot be spawned.
        """
        name = await self._spawn(request)
        response.entity_name = name
        put_result(response, OK)

    async def spawn_all(self, request: Any, response: Any) -> None:
        """Handle SpawnEntities. Each object is spawned by itself: a refused one does not prevent the others.

        Args:
            request: The request.
            response: Is filled.

        Raises:
            Refused: There are too many requests.
        """
        from simulation_interfaces.msg import SpawnResult  # 1.2 and older have none

        if len(request.spawn_requests) > SPAWNED_AT_ONCE:
            text = f"{len(request.spawn_requests)} objects are asked for; ask for at most {SPAWNED_AT_ONCE} at once"
            raise ServiceRefused(FAILED, text)
        for one in request.spawn_requests:
            result = SpawnResult()
            try:
                result.entity_name = await self._spawn(one)
                put_result(result, OK)
            except ServiceRefused as refused:
                put_result(result, refused.code, str(refused))
            response.results.append(result)
        bad = [one.result.error_message for one in response.results if one.result.result != OK]
        put_result(response, SOME_FAILED if bad else OK, "; ".join(bad))

    async def delete(self, request: Any, response: Any) -> None:
        """Handle DeleteEntity: delete an object with its parts.

        Args:
            request: The request.
            response: Is filled.

        Raises:
            Refused: There is no such object, it is a part, or a cup holds something.
        """
        loop = self._loop()

        def take_out() -> None:
            world = loop.simulation.world
            world.change(without(world.scene, request.entity))
            self._publish_geometry(loop.simulation)

        await self._change(loop, take_out)
        self.spawned = tuple(name for name in self.spawned if name != request.entity)
        put_result(response, OK)

    async def spawnables(self, request: Any, response: Any) -> None:
        """Handle GetSpawnables: the objects of the running scene's file, and of scene files in ``sources``.

        Args:
            request: The request.
            response: Is filled.

        Raises:
            Refused: There are too many sources, or one cannot be read.
        """
        if len(request.sources) > SPAWNED_AT_ONCE:
            text = f"{len(request.sources)} sources are named; name at most {SPAWNED_AT_ONCE} at once"
            raise ServiceRefused(FAILED, text)
        for source in [self._loop().simulation.declared.source, *request.sources]:
            path = Path(source.removeprefix(FILE))
            try:
                scene = await self._read(partial(self._scene_of, path))
            except (ConfigError, FileRefused) as error:
                raise ServiceRefused(FAILED, str(error)) from error
            for item in scene.objects:
                if item.body.articulation is None:
                    made = Spawnable(description=f"{item.name} of {path.stem}")
                    put_uri(made, f"{FILE}{path.resolve()}#{item.name}")
                    response.spawnables.append(made)
        put_result(response, OK)

    async def _spawn(self, request: Any) -> str:
        if request.entity_namespace:
            raise ServiceRefused(
                NAMESPACE_INVALID, "objects have no interfaces of their own; leave entity_namespace empty"
            )
        loop = self._loop()
        simulation = loop.simulation
        source = resource_from(request)
        given = read_pose(request.initial_pose.pose, INVALID_POSE)
        folder, wanted = (
            Path(simulation.world.scene.source).parent,
            request.name or source.uri.partition("#")[2],
        )

        def named() -> str:
            return free_name(
                wanted, simulation.world.scene, simulation.robot.name, may_rename=request.allow_renaming
            )

        def read() -> SceneObject:
            return read_object(Resource(source.uri, source.text), named(), folder, self._roots)

        try:
            found = await self._read(read)
        except SpawnRefused as refused:
            raise ServiceRefused(CODES[refused.why], str(refused)) from refused

        def take_in() -> str:
            name, scene = named(), simulation.world.scene
            item = replace(found, body=replace(found.body, name=name))
            pose = _in_world(simulation, request.initial_pose.header.frame_id) @ given
            simulation.world.change(with_object(scene, replace(item, world_T_object=pose)))
            self._publish_geometry(simulation)
            return name

        name = str(await self._change(loop, take_in))
        self.spawned = (*self.spawned, name)
        return name

    def _scene_of(self, path: Path) -> Scene:
        return load_scene(self._roots.locate(str(path)))

    async def _read(self, read: Callable[[], T]) -> T:
        """Return the value of a function that reads files, neither on the executor nor on the physics thread."""
        try:
            job = self._readers.submit(read)
        except TooManyReaders as error:
            raise ServiceRefused(FAILED, str(error)) from error
        found: T = await self._wait(job)
        return found

    async def _change(self, loop: SimLoop, change: Callable[[], Any]) -> Any:
        try:
            return await self._wait(loop.submit(change))
        except SpawnRefused as refused:
            raise ServiceRefused(CODES[refused.why], str(refused)) from refused
        except ValueError as error:
            raise ServiceRefused(FAILED, str(error)) from error


def _in_world(simulation: Simulation, frame: str) -> Pose:
    if frame in ("", "world"):
        return Pose.identity()
    states = simulation.world.object_states()
    if frame not in states:
        raise ServiceRefused(INVALID_POSE, f"frame {frame!r} is not 'world' or one of {sorted(states)}")
    return states[frame].world_T_object
