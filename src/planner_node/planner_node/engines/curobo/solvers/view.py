"""cuRobo's own judgement of configurations, for comparing engines; planning does not use it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array
from planner_node.engines.curobo.device.cuda import Cuda


def look(cuda: Cuda, robot: Any, scene: Any, q: Array) -> tuple[Array, NDArray[np.bool_]]:  # noqa: ANN401
    """Compute tool poses and contacts by cuRobo's model.

    Args:
        cuda: The loaded libraries.
        robot: cuRobo's robot configuration.
        scene: cuRobo's scene collision checker.
        q: Joint positions, (m, n), rad or m.

    Returns:
        base_T_tool, (m, 7): x, y, z in m and wxyz; and whether anything touches there, (m,).
    """
    made = cuda.RobotCollisionCheckerCfg.load_from_config(
        robot_config=robot, scene_collision_checker=scene, collision_activation_distance=0.0
    )
    checker = cuda.RobotCollisionChecker(made)
    rows = cuda.device.to_device(np.ascontiguousarray(q))[:, None]
    world, own = checker.get_scene_self_collision_distance_from_joints(rows)
    touches = (world.reshape(len(q), -1).max(dim=1)[0] > 0.0) | (own.reshape(len(q), -1).max(dim=1)[0] > 0.0)
    tools = checker.get_kinematics(rows).tool_poses
    poses = cuda.torch.cat([tools.position.reshape(-1, 3), tools.quaternion.reshape(-1, 4)], dim=1)
    return poses.double().cpu().numpy(), touches.cpu().numpy().astype(bool)
