"""The rate of the tool, and of points of links, of an arm whose links follow its joints."""

from __future__ import annotations

import numpy as np
import pytest

from decider_node.motion.collision_avoidance import add_point_rate
from decider_node.motion.cycle import tool_rate
from handiwork_core.admittance.arm_kinematics import ArmKinematics
from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.model.geometry import Pose
from handiwork_planning.kernels.kinematics import tool_pose
from handiwork_planning.scene.query import Reader
from handiwork_planning.scene.scene import CollisionScene
from support.planning.led_arms import led_arm, link_matrices

STEP = 1e-6


@pytest.mark.parametrize("seed", range(8))
def test_rates_are_slopes_of_places(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = led_arm(rng, joints=int(rng.integers(2, 7)), followers=2, rods=2)
    query = Reader(robot, Pose.identity()).read(robot.arm(""), CollisionScene(), SceneQuery())
    arrays, n = query.robot, len(query.robot.lower)
    q = rng.uniform(arrays.lower, arrays.upper)
    tool, frames, jacobian = np.empty(12), query.frames, np.empty((6, n))
    tool_pose(q, arrays, frames, tool)
    tool_rate(arrays, frames, tool, jacobian)
    np.testing.assert_allclose(
        jacobian, ArmKinematics(robot, robot.arm("")).pose_and_jacobian(q)[1], atol=1e-12
    )
    direction = np.array([0.6, 0.0, 0.8])
    for g, spheres in enumerate(robot.spheres):
        at = link_matrices(robot, q, Pose.identity())[spheres.link]
        place, rates = at[:3, :3] @ spheres.centers[0] + at[:3, 3], np.zeros(n)
        add_point_rate(
            rates, 2.0, direction, place, arrays.group_body[g], arrays.joints, arrays.ratio, frames
        )
        for j in range(n):
            ahead, behind = (
                link_matrices(robot, q + sign * STEP * np.eye(n)[j], Pose.identity())[spheres.link]
                for sign in (1.0, -1.0)
            )
            slope = ((ahead - behind) @ [*spheres.centers[0], 1.0])[:3] / (2.0 * STEP)
            assert rates[j] == pytest.approx(2.0 * direction @ slope, abs=1e-7)
