"""One problem of a batch: its scene, spheres and obstacle rows on the GPU, and its nearest goal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import World
from handiwork_planning.planner import Core
from handiwork_planning.process_pool import Problem
from handiwork_planning.scene.scene import CollisionScene
from handiwork_planning.search.requests import Deadline

from .attempts import ToolPoseGoals
from .model.scene_rows import Rows, SceneRows
from .model.spheres import objects_off
from .sphere_set import SphereSet
from .task import CuroboTask


class Lane:
    """The scene of one problem of a batch, or of all when they have one world.

    Args:
        world_T_root: The robot's root in the world.
    """

    def __init__(self, world_T_root: Pose) -> None:
        self._scene, self._rows = CollisionScene(), SceneRows(world_T_root)

    def enter(self, core: Core, world: World) -> None:
        """Make the core plan in this scene.

        Args:
            core: The robot and its caches, shared by all lanes.
            world: The world of the scene.
        """
        core.scene = self._scene
        if self._scene.world is not world:
            self._scene.update(world)

    def read(self, core: Core, spheres: SphereSet, problem: Problem, deadline: Deadline) -> OpenProblem:
        """Read a problem in the scene that was entered.

        Args:
            core: The robot and its caches.
            spheres: The spheres with which cuRobo optimises.
            problem: The world and the request.
            deadline: Limit of the request's time.

        Returns:
            The problem made ready for cuRobo.

        Raises:
            Failed: The start, a goal or a number of the request is invalid, or the time is used up.
        """
        request = problem.request
        task = CuroboTask.of(core, request, deadline)
        rows = self._rows.read(self._scene, problem.world, objects_off(request.scene, problem.world))
        group = task.goals.groups(task.start)[0].seeded(0, 1)
        places = np.concatenate([task.start[None], group.ends])
        made = spheres.rows(task.arm, request.scene, self._scene, places)
        return OpenProblem(problem, deadline, task, self, group, rows, made)


@dataclass(frozen=True, slots=True, eq=False)
class OpenProblem:
    """A problem that is ready for cuRobo.

    Attributes:
        problem: The world and the request.
        deadline: Limit of the request's time.
        task: The request made ready for cuRobo.
        scene: Its scene.
        group: The goal configuration that is tried, the nearest.
        rows: Its obstacles.
        spheres: Link -> centres and radii in the link's frame, (s, 4), m.
    """

    problem: Problem
    deadline: Deadline
    task: CuroboTask
    scene: Lane
    group: ToolPoseGoals
    rows: Rows
    spheres: Mapping[str, Array]
