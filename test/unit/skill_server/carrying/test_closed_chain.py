"""Two arms follow an object: no jump, no limit passed, one time law, and the hands keep their places on it."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from skill_server.carrying.arm_chain import ArmChain, PathBroken
from skill_server.carrying.places import leg
from skill_server.carrying.together import CHAIN_M, CHAIN_RAD, Pace, chain_error, divided, joined, timed
from support.paths import ROBOTS

PACE = Pace(1.0, 1.0, 0.2)


@pytest.fixture(scope="module")
def lift2() -> Robot:
    return load_robot(ROBOTS / "lift2")


@pytest.fixture(scope="module")
def chains(lift2: Robot) -> list[ArmChain]:
    poses = link_poses(lift2, {})
    return [ArmChain(lift2, arm, poses[arm.base_link]) for arm in lift2.arms.values()]


def carried(chains: list[ArmChain], moved: Pose) -> list[np.ndarray]:
    """Return the configurations of both arms, from home, while an object between the hands moves and turns."""
    home = [chain.arm.home_q for chain in chains]
    hands = [Pose.from_matrix(chain.hands(q[None])[0]) for chain, q in zip(chains, home, strict=True)]
    start = Pose.of(0.5 * (hands[0].translation_m + hands[1].translation_m))
    way = leg(start, start @ moved)
    return [
        chain.along(q, way @ (start.inverse() @ hand).matrix())
        for chain, q, hand in zip(chains, home, hands, strict=True)
    ]


def test_both_arms_keep_the_hands_in_their_places_within_all_limits(
    lift2: Robot, chains: list[ArmChain]
) -> None:
    moved = Pose.of((0.02, 0.03, 0.03), Rotation.from_rpy(0.0, 0.0, 0.1))
    q = carried(chains, moved)
    arms, hands = (
        [chain.arm for chain in chains],
        [c.hands(one)[:, :3, 3] for c, one in zip(chains, q, strict=True)],
    )
    both = timed(lift2, arms, np.hstack(q), hands, PACE)
    parts = divided(both, arms)
    off_m, off_rad = chain_error(chains, parts)
    assert off_m < CHAIN_M
    assert off_rad < CHAIN_RAD
    assert np.array_equal(parts[0].t_s, parts[1].t_s)
    assert [part.joint_names for part in parts] == [arm.joint_names for arm in arms]
    assert np.abs(both.qd[[0, -1]]).max() < 1e-9
    for j, name in enumerate(both.joint_names):
        assert np.abs(both.qd[:, j]).max() <= 1.001 * lift2.joints[name].velocity
        assert np.abs(both.qdd[:, j]).max() <= 1.001 * lift2.joints[name].acceleration
    for chain, part in zip(chains, parts, strict=True):
        steps = np.linalg.norm(np.diff(chain.hands(part.q)[:, :3, 3], axis=0), axis=1)
        assert (steps / np.diff(part.t_s)).max() <= 1.02 * PACE.tool_speed


def test_a_chain_that_opens_is_measured(lift2: Robot, chains: list[ArmChain]) -> None:
    q = carried(chains, Pose.of((0.0, 0.0, 0.04)))
    arms, hands = (
        [chain.arm for chain in chains],
        [c.hands(one)[:, :3, 3] for c, one in zip(chains, q, strict=True)],
    )
    still = np.repeat(q[1][:1], len(q[1]), axis=0)
    parts = divided(timed(lift2, arms, np.hstack([q[0], still]), hands, PACE), arms)
    assert chain_error(chains, parts)[0] == pytest.approx(0.04, abs=1e-3)


def test_parts_that_follow_each_other_are_one_trajectory_with_a_stop_between(
    lift2: Robot, chains: list[ArmChain]
) -> None:
    q = carried(chains, Pose.of((0.0, 0.0, 0.04)))
    arms, hands = (
        [chain.arm for chain in chains],
        [c.hands(one)[:, :3, 3] for c, one in zip(chains, q, strict=True)],
    )
    up = timed(lift2, arms, np.hstack(q), hands, PACE)
    down = timed(lift2, arms, np.hstack(q)[::-1], hands, PACE)
    both = joined([up, down])
    assert both.duration_s == pytest.approx(up.duration_s + down.duration_s)
    assert (np.diff(both.t_s) > 0.0).all()
    assert np.allclose(both.q[0], both.q[-1])
    assert np.abs(both.qd[len(up.t_s) - 1]).max() < 1e-9


def test_what_is_out_of_reach_is_said_with_the_place_on_the_way(chains: list[ArmChain]) -> None:
    with pytest.raises(PathBroken) as broken:
        carried(chains, Pose.of((0.9, 0.0, 0.0)))
    assert 0 < broken.value.at < 181
    assert "limit" in broken.value.why or "reach" in broken.value.why or "jump" in broken.value.why
