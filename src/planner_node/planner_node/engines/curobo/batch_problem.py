"""One problem of a batch: its scene, spheres and obstacle rows on the GPU, and its goals by turns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.robot import Robot
from handiwork_planning.planner import Core
from handiwork_planning.process_pool import Problem
from handiwork_planning.search.requests import Deadline

from .attempts import ToolPoseGoals
from .model.robot_config import held_links
from .model.scene_rows import Rows, SceneRows
from .model.spheres import SphereSheet, objects_off
from .task import CuroboTask


class Lane:
    """The scene, spheres and obstacle rows of one problem of a batch; they do not change while others are read.

    Args:
        robot: The robot of all problems.
        world_T_root: The robot's root in the world.
    """

    def __init__(self, robot: Robot, world_T_root: Pose) -> None:
        self.core, self._rows = Core(robot, world_T_root), SceneRows(world_T_root)
        self._sheets: dict[str, SphereSheet] = {}
        self.rows: Rows | None = None

    def take(self, problem: Problem, deadline: Deadline) -> CuroboTask:
        """Read a problem.

        Args:
            problem: The world and the request.
            deadline: Limit of the request's time.

        Returns:
            The request made ready for cuRobo.

        Raises:
            Failed: The start, a goal or a number of the request is invalid, or the time is used up.
        """
        self.core.scene.update(problem.world)
        task = CuroboTask.of(self.core, problem.request, deadline)
        self.rows = self._rows.read(
            self.core.scene, problem.world, objects_off(task.request.scene, problem.world)
        )
        return task

    def spheres(self, task: CuroboTask, ends: Array) -> dict[str, Array]:
        """Return the arm's spheres for motions to ``ends``.

        Args:
            task: The problem that ``take`` returned.
            ends: Joint positions at the ends, (k, n), rad or m.

        Returns:
            Link -> centres and radii in the link's frame, (s, 4), m.
        """
        arm = task.arm
        if arm.name not in self._sheets:
            self._sheets[arm.name] = SphereSheet(self.core.robot, arm, held_links((arm,))[arm.name])
        places = np.unique(np.concatenate([task.start[None], ends]), axis=0)
        return self._sheets[arm.name].rows(task.request.scene, self.core.scene.world, task.query, places)


@dataclass(slots=True, eq=False)
class OpenProblem:
    """A problem for which no motion was found yet.

    Attributes:
        place: Its index among all problems.
        lane: Its index on the GPU.
        problem: The world and the request.
        deadline: Limit of the request's time.
        task: The request made ready for cuRobo.
        groups: Its goal configurations by tool pose, nearest first; empty until they are used.
    """

    place: int
    lane: int
    problem: Problem
    deadline: Deadline
    task: CuroboTask
    groups: list[ToolPoseGoals] = field(default_factory=list)

    def group(self, turn: int) -> ToolPoseGoals:
        """Return the goal configurations of a turn, all at one tool pose; the first turn has the nearest pose.

        Args:
            turn: Number of the turn, from 0.
        """
        if not self.groups:
            self.groups = list(self.task.goals.groups(self.task.start))
        return self.groups[turn % len(self.groups)].seeded(turn // len(self.groups))
