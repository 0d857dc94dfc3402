"""Sampling and geometry give the same verdicts on pairs; many poses equal one pose at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Joint, Mimic, Robot, Spheres
from handiwork_core.robot_files.loader import load_robot
from robot_description.collision_pairs.many_poses import free_joints, many_link_poses
from robot_description.collision_pairs.pair_sampling import (
    PairKind,
    ignored_pairs,
    judge_pairs,
    neighbours,
    pair_gaps,
)
from support.paths import ROBOTS

FR3 = ROBOTS / "fr3"
Z = np.array([0.0, 0.0, 1.0])


def turning(name: str, parent: str, child: str, x: float, upper: float, mimic: Mimic | None = None) -> Joint:
    return Joint(
        name, JointKind.REVOLUTE, parent, child, Pose.of((x, 0.0, 0.0)), Z, 0.0, upper, 1.0, mimic=mimic
    )


def planar(upper: float, radius: float = 0.05) -> Robot:
    """Three bars of 0.4 m in a plane with a ball at each end: a, b, c, and d at the tip, fixed to c."""
    joints = {
        "ab": turning("ab", "a", "b", 0.4, upper),
        "bc": turning("bc", "b", "c", 0.4, upper),
        "cd": Joint("cd", JointKind.FIXED, "c", "d", Pose.of((0.4, 0.0, 0.0)), Z),
    }
    spheres = tuple(Spheres(link, np.zeros((1, 3)), np.array([radius])) for link in "abcd")
    return Robot("planar", "a", tuple("abcd"), joints, spheres, frozenset(), {}, "")


def test_many_poses_are_the_poses_one_by_one() -> None:
    robot = load_robot(FR3)
    rng = np.random.default_rng(3)
    q = {j.name: rng.uniform(j.lower, j.upper, 20) for j in free_joints(robot)}
    frames = many_link_poses(robot, q)
    for i in range(20):
        for link, pose in link_poses(robot, {name: float(v[i]) for name, v in q.items()}).items():
            assert np.allclose(frames[link][0][i], pose.rotation.matrix(), atol=1e-12)
            assert np.allclose(frames[link][1][i], pose.translation_m, atol=1e-12)


def test_only_the_asked_links_are_worked_out() -> None:
    frames = many_link_poses(load_robot(FR3), {f"fr3_joint{i}": np.zeros(2) for i in (1, 2)}, ("fr3_link2",))
    assert list(frames) == ["fr3_link0", "fr3_link1", "fr3_link2"]


def test_links_of_a_body_and_of_bodies_at_one_joint_are_neighbours() -> None:
    assert neighbours(planar(1.0)) == {("a", "b"), ("b", "c"), ("b", "d"), ("c", "d")}


@pytest.mark.parametrize(
    ("upper", "radius", "kind"),
    [(3.0, 0.05, PairKind.SOMETIMES), (1.0, 0.05, PairKind.NEVER), (0.5, 1.0, PairKind.ALWAYS)],
)
def test_ends_of_a_folding_chain(upper: float, radius: float, kind: PairKind) -> None:
    found = {verdict.pair: verdict for verdict in judge_pairs(planar(upper, radius), samples=1000)}
    assert found["a", "d"].kind is kind
    assert found["a", "b"].kind is PairKind.NEIGHBOURS
    assert (("a", "d") in ignored_pairs(list(found.values()))) == (kind is not PairKind.SOMETIMES)


def test_a_rare_meeting_is_found_by_the_search() -> None:
    # The ends meet at one corner of the range only, which samples do not hit: both joints at a third of a turn.
    robot = planar(2.0 * np.pi / 3.0, 0.005)
    found = {v.pair: v for v in judge_pairs(robot, samples=100)}["a", "d"]
    assert found.share == 0.0
    assert found.nearest_m == pytest.approx(-0.01, abs=3e-3)
    assert found.kind is PairKind.SOMETIMES


def test_a_mimic_joint_moves_with_its_source() -> None:
    robot = planar(3.0)
    folded = {**robot.joints, "bc": turning("bc", "b", "c", 0.4, 3.0, Mimic("ab", -1.0, 0.0))}
    found = {v.pair: v for v in judge_pairs(replace(robot, joints=folded), samples=500)}
    assert found["a", "d"].kind is PairKind.NEVER  # the last bar stays parallel to the first


@pytest.mark.nightly
def test_fr3_pairs_that_never_meet_stay_apart_at_other_samples() -> None:
    robot = load_robot(FR3)
    verdicts = judge_pairs(robot, samples=1500)
    never = [verdict for verdict in verdicts if verdict.kind is PairKind.NEVER]
    assert len(never) >= 5
    assert not any(v.kind is PairKind.ALWAYS for v in verdicts)
    rng = np.random.default_rng(77)
    frames = many_link_poses(robot, {j.name: rng.uniform(j.lower, j.upper, 5000) for j in free_joints(robot)})
    spheres = {item.link: item for item in robot.spheres}
    for verdict in never:
        a, b = verdict.pair
        gap = pair_gaps(frames, spheres[a], spheres[b], 5000).min()
        assert gap > 0.0, f"{verdict} but {gap}"
