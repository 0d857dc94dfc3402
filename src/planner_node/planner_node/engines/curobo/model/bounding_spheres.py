"""Few spheres around the fine ones, for a first check: where these are clear, the fine ones are clear as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Indices
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.distance.sphere_cover import patch_indices
from handiwork_planning.scene.robot_model import bounding_sphere

from .robot_config import held_links, robot_config
from .spheres import AWAY, coarse

EDGE_M = 0.12
"""Edge of the grid that groups spheres. The FR3 has 43 such spheres in the place of 694. Of random configurations in
the scene of the demo 79 % are clear with these, 80 % with edges of 0.08 m (111 spheres), 86 % with the fine ones."""
HELD_BOUNDS = 4
"""The number of spheres around held objects."""


class BoundingSpheres:
    """The bounding spheres of one arm's robot.

    Args:
        robot: The robot, with its fine spheres.
        arm: The arm.
    """

    def __init__(self, robot: Robot, arm: ArmSpec) -> None:
        self._arm, self._held = arm, held_links((arm,))[arm.name]
        self._parts: dict[str, list[Indices]] = {
            item.link: patch_indices(item.centers, EDGE_M) for item in robot.spheres if len(item.radii)
        }
        few = []
        for item in robot.spheres:
            spheres = self._around(item.link, np.column_stack([item.centers, item.radii]))
            few.append(replace(item, centers=spheres[:, :3], radii=spheres[:, 3]))
        self._robot = replace(robot, spheres=tuple(few), coarse_spheres=())
        self._last: tuple[Mapping[str, Array] | None, dict[str, Array]] = (None, {})

    @contextmanager
    def config(self) -> Iterator[dict[str, Any]]:
        """Provide cuRobo's configuration of the robot with these spheres.

        Yields:
            The configuration. The URDF file that it names exists while the context lasts.
        """
        with robot_config(self._robot, (self._arm,), HELD_BOUNDS) as config:
            yield config

    def rows(self, fine: Mapping[str, Array]) -> dict[str, Array]:
        """Return spheres that contain the fine ones.

        Args:
            fine: Link -> centres and radii in the link's frame, (s, 4), m; see ``SphereSheet.rows``. Radii may be
                negative by an offset.

        Returns:
            The same of these spheres; the same object for the same argument.
        """
        if fine is not self._last[0]:
            self._last = (fine, {link: self._around(link, rows) for link, rows in fine.items()})
        return self._last[1]

    def _around(self, link: str, rows: Array) -> Array:
        if link != self._held:
            parts = [rows[part] for part in self._parts.get(link, [])]
            return np.array([bounding_sphere(part) for part in parts]).reshape(-1, 4)
        found = np.tile(AWAY, (HELD_BOUNDS, 1))
        used = rows[rows[:, 3] > 0.0]
        if len(used):
            few = coarse(used, HELD_BOUNDS)
            found[: len(few)] = few
        return found
