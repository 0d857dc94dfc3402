"""Planning problems from MotionBenchMaker's files, in the product's terms."""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from handiwork_core.contracts.planning import JointGoals, PlanRequest, PoseGoals
from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)

from .sphere_robot import DATA

SCENES = (
    "bookshelf_small",
    "bookshelf_tall",
    "bookshelf_thin",
    "box",
    "cage",
    "table_pick",
    "table_under_pick",
)
SIZES = {
    "cuboid": (ShapeKind.BOX, ("dims",)),
    "cylinder": (ShapeKind.CYLINDER, ("radius", "height")),
    "sphere": (ShapeKind.SPHERE, ("radius",)),
}


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One problem.

    Attributes:
        id: Name of the problem.
        scene: Name of its scene.
        world: The obstacles.
        start: Configuration, (dof,), rad.
        goals: Configurations, (k, dof), rad.
        world_T_ee: Pose of the EE at the first goal.
        clearance: Distances by name, from the file, m; empty for other sources.
    """

    id: str
    scene: str
    world: World
    start: Array
    goals: Array
    world_T_ee: Pose
    clearance: Mapping[str, float]

    def request(self, *, budget_s: float, seed: int, to_pose: bool = False) -> PlanRequest:
        """Return the engine's request: to the joint goals, or to the pose of the first one.

        Args:
            budget_s: Time of the attempt, s.
            seed: Seed of the request.
            to_pose: Plan to the pose.
        """
        goal = PoseGoals((self.world_T_ee,)) if to_pose else JointGoals(self.goals)
        return PlanRequest("", self.start, goal, budget_s=budget_s, seed=seed)


def load_problems(
    robot: str, scenes: Sequence[str] = (), per_scene: int = 0, file: Path | None = None
) -> list[Problem]:
    """Return the valid problems of ``panda`` or ``ur5``, evenly spread over each scene's list when fewer are wanted.

    Args:
        robot: Which file in ``data/``.
        scenes: Names from ``SCENES``; none means all.
        per_scene: Most problems of each scene; 0 means all.
        file: Another file of the same layout (.json or .json.xz).

    Raises:
        KeyError: a scene is not in the file.
    """
    path = file or DATA / f"{robot}.json.xz"
    raw = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    content: dict[str, list[dict[str, Any]]] = json.loads(raw)["scenes"]
    for scene in scenes:
        if scene not in content:
            raise KeyError(f"scene {scene!r} is not one of {sorted(content)}")
    chosen: list[Problem] = []
    for scene in scenes or content:
        good = [item for item in content[scene] if _is_valid(item)]
        count = min(per_scene, len(good)) or len(good)
        chosen += [_problem(scene, good[i]) for i in np.linspace(0, len(good) - 1, count).astype(int)]
    return chosen


def _is_valid(item: dict[str, Any]) -> bool:
    """Check whether a problem is valid, which files say directly, or per sphere model."""
    clearance = item.get("clearance", {})
    return bool(clearance.get("vamp", clearance).get("valid", True))


def _problem(scene: str, item: dict[str, Any]) -> Problem:
    objects: dict[str, WorldObject] = {}
    states: dict[str, ObjectState] = {}
    still = np.zeros(3)
    for group, bodies in item["obstacles"].items():
        for name, body in bodies.items():
            objects[name] = WorldObject(name, (_shape(group, body),), is_static=True)
            states[name] = ObjectState(_pose(body["pose"]), still, still, 0.0)
    goal = item["goal_pose"]
    clearance = item.get("clearance", {})
    return Problem(
        item["id"],
        scene,
        World(0.0, 1, objects, states),
        frozen(item["start"]),
        frozen(item["goal_configs"]),
        _pose(goal["position_xyz"] + goal["quaternion_wxyz"]),
        {k: v for k, v in clearance.items() if isinstance(v, float)},
    )


def _shape(group: str, body: dict[str, Any]) -> Shape:
    kind, keys = SIZES[group]
    return Shape(kind, frozen(np.hstack([body[key] for key in keys])), Pose.identity())


def _pose(row: Sequence[float]) -> Pose:
    """Return the pose of x, y, z, qw, qx, qy, qz."""
    return Pose.of(row[:3], Rotation.from_wxyz(row[3:]))
