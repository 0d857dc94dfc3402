"""The home of a new robot is above the table that it stands on."""

from __future__ import annotations

import pytest

from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot_files.loader import load_robot
from robot_description.import_robot.home_search import ABOVE_M, search_home
from support.paths import ROBOTS


@pytest.mark.parametrize("name", ["ur10_suction", "fr3"])
@pytest.mark.parametrize("seed", range(4))
def test_no_link_of_a_home_is_below_the_foot_of_the_arm(name: str, seed: int) -> None:
    robot = load_robot(ROBOTS / name)
    arm = robot.arm("")
    home = search_home(robot, arm.ee_link, arm.joint_names, robot.ignored_pairs, seed)
    assert home is not None
    poses = link_poses(robot, dict(zip(arm.joint_names, home, strict=True)))
    foot = poses[arm.base_link].translation_m[2]
    moved = {robot.joints[joint].child for joint in arm.joint_names[1:]}
    heights = {
        item.link: (poses[item.link].apply(item.centers)[:, 2] - item.radii).min() - foot
        for item in robot.spheres
        if item.link in moved
    }
    assert len(heights) > 3
    assert min(heights.values()) >= ABOVE_M - 1e-6, heights
