"""One of the robot's two sets of spheres, as the GPU needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.planner import Core
from handiwork_planning.scene.scene import CollisionScene

from .model.robot_config import held_links, robot_config
from .model.spheres import FEW_HELD_SPHERES, HELD_SPHERES, SphereSheet


class SphereSet:
    """The robot with one of its sets of spheres.

    Goals and checks of motions always use the fine set; cuRobo optimises with this one.

    Args:
        robot: The robot.
        world_T_root: The robot's root in the world.
        is_fine: Whether the set is the fine one, and not the coarse one for optimisers.
    """

    def __init__(self, robot: Robot, world_T_root: Pose, *, is_fine: bool) -> None:
        coarse = robot.coarse_spheres
        self.robot = robot if is_fine or not coarse else replace(robot, spheres=coarse)
        self.is_fine = is_fine or not coarse
        self._held = HELD_SPHERES if self.is_fine else FEW_HELD_SPHERES
        self._core = Core(self.robot, world_T_root)
        self._sheets: dict[str, SphereSheet] = {}

    @property
    def count(self) -> int:
        """The number of spheres, those for held objects included."""
        return sum(len(item.radii) for item in self.robot.spheres) + self._held

    @contextmanager
    def config(self, arm: ArmSpec) -> Iterator[dict[str, Any]]:
        """Provide cuRobo's configuration for an arm.

        Args:
            arm: The arm.

        Yields:
            The configuration. The URDF file that it names exists while the context lasts.
        """
        with robot_config(self.robot, (arm,), self._held) as config:
            yield config

    def rows(
        self, arm: ArmSpec, request: SceneQuery, scene: CollisionScene, places: Array
    ) -> dict[str, Array]:
        """Return the spheres for a motion; see ``SphereSheet.rows``.

        Args:
            arm: The arm that plans.
            request: The request's scene.
            scene: The world in packed form.
            places: Joint positions at the start and the ends, (k, n), rad or m.

        Returns:
            Link -> centres and radii in the link's frame, (s, 4), m.

        Raises:
            Failed: UNKNOWN_OBJECT, the request's scene names something unknown.
        """
        self._core.scene = scene
        if arm.name not in self._sheets:
            self._sheets[arm.name] = SphereSheet(self.robot, arm, held_links((arm,))[arm.name], self._held)
        query = self._core.read(arm, request)
        return self._sheets[arm.name].rows(request, scene.world, query, places)
