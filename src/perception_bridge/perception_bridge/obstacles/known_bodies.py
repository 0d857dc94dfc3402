"""What is known at the time of a look: the robot's own body, and the objects of the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import ObjectState, World, WorldObject
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_planning.kernels.arrays import SceneArrays
from handiwork_planning.scene.scene import CollisionScene


@dataclass(frozen=True, slots=True, eq=False)
class KnownBodies:
    """Bodies whose points are no obstacles.

    Attributes:
        spheres: Spheres of the robot in ``world``, centre and radius, (n, 4), m.
        shapes: Shapes of the objects.
    """

    spheres: Array
    shapes: SceneArrays


def robot_spheres(robot: Robot, world_T_base: Pose, joints: Mapping[str, float]) -> Array:
    """Return the spheres of the robot in ``world``, (n, 4), m.

    Args:
        robot: The robot.
        world_T_base: Pose of its root link.
        joints: Positions of its joints, rad or m.
    """
    sets = [s for s in robot.spheres if len(s.radii)]
    poses = link_poses(robot, dict(joints), tuple(s.link for s in sets))
    rows = [np.column_stack([(world_T_base @ poses[s.link]).apply(s.centers), s.radii]) for s in sets]
    return np.concatenate([np.zeros((0, 4)), *rows])


class KnownObjects:
    """Packs the shapes of objects; those of the last look are kept.

    Use it in one thread.
    """

    def __init__(self) -> None:
        self._scene = CollisionScene()

    def shapes(self, objects: Mapping[str, WorldObject], states: Mapping[str, ObjectState]) -> SceneArrays:
        """Return the shapes of all objects whose pose is known.

        Args:
            objects: Objects by name.
            states: Their states by name.
        """
        self._scene.update(World(0.0, objects=objects, states=states))
        return self._scene.arrays
