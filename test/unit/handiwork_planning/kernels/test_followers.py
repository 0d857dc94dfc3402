"""Joints that follow those of an arm: kinematics, inverse kinematics and collision tests against plain numpy."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from handiwork_core.admittance.arm_kinematics import ArmKinematics
from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.robot import kinematics as slow
from handiwork_core.robot.followers import links_moved_by
from handiwork_core.robot.nearest_pose import nearest_poses
from handiwork_core.robot.robot import Robot
from handiwork_planning.collision.motion_check import first_blocked
from handiwork_planning.constraints.pose_constraint import held_share, hold_of, project
from handiwork_planning.ik.pose_ik import solve_pose
from handiwork_planning.kernels import kinematics
from handiwork_planning.kernels.rng import new_state
from handiwork_planning.scene.query import Query, Reader
from handiwork_planning.scene.robot_model import SphereGroup, fold, joint_values
from handiwork_planning.scene.scene import CollisionScene
from handiwork_planning.validation.robot_bodies import frames_of
from support.planning.led_arms import led_arm, link_matrices

BASE = Pose.of((0.2, 0.1, 0.3), Rotation.from_rpy(0.1, 0.2, 0.3))
ARMS = st.builds(
    lambda seed, joints, followers, rods: led_arm(np.random.default_rng(seed), joints, followers, rods),
    st.integers(0, 10**6), st.integers(2, 6), st.integers(0, 4), st.integers(0, 3),
)  # fmt: skip

PARALLEL = st.builds(
    lambda seed, rods: led_arm(np.random.default_rng(seed), 3, 3, rods, is_parallel=True),
    st.integers(0, 10**6), st.integers(0, 3),
)  # fmt: skip


def query_of(robot: Robot) -> Query:
    return Reader(robot, BASE).read(robot.arm(""), CollisionScene(), SceneQuery())


def configurations(query: Query, count: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(
        query.robot.lower, query.robot.upper, (count, len(query.robot.lower))
    )


@settings(max_examples=60, deadline=None)
@given(ARMS)
def test_tool_and_spheres_are_where_the_transforms_of_the_urdf_put_them(robot: Robot) -> None:
    query, arm = query_of(robot), robot.arm("")
    for q in configurations(query, 5):
        expected, pose, frames = link_matrices(robot, q, BASE), np.empty((1, 12)), query.frames
        kinematics.tool_poses(q[None], query.robot, pose)
        np.testing.assert_allclose(pose[0, :9].reshape(3, 3), expected["ee"][:3, :3], atol=1e-12)
        np.testing.assert_allclose(pose[0, 9:], expected["ee"][:3, 3], atol=1e-12)
        kinematics.forward(q, query.robot.chain, query.robot.joints, query.robot.ratio, frames)
        for g, spheres in enumerate(robot.spheres):
            frame, centre = (
                frames[query.robot.group_body[g]],
                query.robot.spheres[query.robot.group_start[g], :3],
            )
            placed = frame[:9].reshape(3, 3) @ centre + frame[9:]
            link = expected[spheres.link]
            np.testing.assert_allclose(placed, link[:3, :3] @ spheres.centers[0] + link[:3, 3], atol=1e-12)
        own = ArmKinematics(robot, arm).pose_and_jacobian(q)[0]
        np.testing.assert_allclose(BASE.matrix() @ own, expected["ee"], atol=1e-12)
        np.testing.assert_allclose((BASE @ slow.forward(robot, "", q)).matrix(), expected["ee"], atol=1e-12)
        referee = frames_of(robot, arm, BASE, {}, q[None])
        assert all(np.abs(referee[link][0] - expected[link]).max() < 1e-12 for link in robot.links)


@settings(max_examples=40, deadline=None)
@given(ARMS)
def test_the_jacobian_is_the_slope_of_the_pose(robot: Robot) -> None:
    chain, step = ArmKinematics(robot, robot.arm("")), 1e-6
    q = configurations(query_of(robot), 1)[0]
    here, jacobian = chain.pose_and_jacobian(q)
    for j in range(len(q)):
        ahead, behind = (
            chain.pose_and_jacobian(q + sign * step * np.eye(len(q))[j])[0] for sign in (1.0, -1.0)
        )
        slope = (ahead - behind) / (2.0 * step)
        turn = slope[:3, :3] @ here[:3, :3].T
        expected = np.array([*slope[:3, 3], turn[2, 1], turn[0, 2], turn[1, 0]])
        np.testing.assert_allclose(jacobian[:, j], expected, atol=1e-8)
    determinant = np.linalg.det(jacobian @ jacobian.T) if len(q) >= 6 else 0.0
    assert np.isclose(chain.manipulability(q[None])[0], np.sqrt(max(determinant, 0.0)), atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(ARMS)
def test_inverse_kinematics_finds_poses_that_the_arm_can_have_within_all_limits(robot: Robot) -> None:
    query, found = query_of(robot), 0
    apart = query.with_margins(np.full_like(query.margins, -1.0e9))
    for i, q in enumerate(configurations(query, 4)):
        goal = link_matrices(robot, q, BASE)["ee"]
        pose = Pose.of(goal[:3, 3], Rotation.from_matrix(goal[:3, :3]))
        near = np.clip(q + 0.05, query.robot.lower, query.robot.upper)
        answer = solve_pose(apart, pose, near[None], new_state(i), 60, 1)
        for one in answer.q:
            found += 1
            np.testing.assert_allclose(link_matrices(robot, one, BASE)["ee"], goal, atol=5e-5)
            values = joint_positions(robot, one)
            assert all(
                j.lower - 1e-9 <= values[j.name] <= j.upper + 1e-9
                for j in robot.joints.values()
                if j.axis.any()
            )
    assert found == 4


def joint_positions(robot: Robot, q: Array) -> dict[str, float]:
    own = dict(zip(robot.arm("").joint_names, q.tolist(), strict=True))
    laws = {j.name: j.mimic for j in robot.joints.values() if j.mimic is not None}
    led = {name: law.multiplier * own[law.joint] + law.offset for name, law in laws.items()}
    return {name: 0.0 for name in robot.joints} | own | led


@settings(max_examples=40, deadline=None)
@given(ARMS | PARALLEL)
def test_no_sphere_moves_farther_than_its_reach_allows(robot: Robot) -> None:
    query, rng = query_of(robot), np.random.default_rng(1)
    arrays = query.robot
    for a in configurations(query, 10):
        b = a + rng.uniform(-0.2, 0.2, len(a))
        bound = arrays.reach @ np.abs(b - a)[arrays.joints[:, 2]]
        narrow = arrays.levers @ np.abs(b - a)
        assert (narrow <= bound + 1e-12).all()
        before, after = (link_matrices(robot, q, BASE) for q in (a, b))
        for g, s in enumerate(robot.spheres):
            places = [m[s.link][:3, :3] @ s.centers[0] + m[s.link][:3, 3] for m in (before, after)]
            assert np.linalg.norm(places[1] - places[0]) <= narrow[g] + 1e-9


@settings(max_examples=40, deadline=None)
@given(ARMS | PARALLEL)
def test_a_motion_counts_as_free_only_where_no_pair_of_links_meets_on_it(robot: Robot) -> None:
    query, steps = query_of(robot), np.linspace(0.0, 1.0, 60)[:, None]
    pairs = [tuple(pair) for pair in query.robot.pairs]
    rows, hit = configurations(query, 12), np.zeros(2, dtype=np.int64)
    for a, b in itertools.pairwise(rows):
        gaps = np.inf
        for q in a + steps * (b - a):
            at = link_matrices(robot, q, BASE)
            centres = [at[s.link][:3, :3] @ s.centers[0] + at[s.link][:3, 3] for s in robot.spheres]
            gaps = min(gaps, *(float(np.linalg.norm(centres[i] - centres[j])) - 0.04 for i, j in pairs))
        free = first_blocked(query.checker, np.array([a, b]), hit) < 0
        # A test resolves half a millimetre; the samples are coarser than it.
        assert not (free and gaps < -0.001), (gaps, hit)


@settings(max_examples=30, deadline=None)
@given(ARMS)
def test_distances_are_those_of_the_spheres(robot: Robot) -> None:
    query = query_of(robot)
    shapes = len(query.scene.kind)
    q = configurations(query, 1)[0]
    at, d = link_matrices(robot, q, BASE), query.distances(q, 10.0)
    for g, h in query.robot.pairs:
        a, b = robot.spheres[g], robot.spheres[h]
        gap = (
            np.linalg.norm((at[a.link] @ [*a.centers[0], 1.0] - at[b.link] @ [*b.centers[0], 1.0])[:3]) - 0.04
        )
        assert abs(d[g, shapes + h] - gap) < 1e-9


@settings(max_examples=30, deadline=None)
@given(ARMS)
def test_bodies_that_never_move_against_each_other_are_no_pair(robot: Robot) -> None:
    query = query_of(robot)
    moved = links_moved_by(robot.joints, robot.arm("").joint_names)
    for g, s in enumerate(robot.spheres):
        assert (query.robot.group_body[g] > 0) == (s.link in moved)
    for g, h in query.robot.pairs:
        assert query.robot.group_body[g] < query.robot.group_body[h]


@settings(max_examples=30, deadline=None)
@given(ARMS)
def test_a_held_component_keeps_its_value_by_projection(robot: Robot) -> None:
    query = query_of(robot)
    start, q = np.empty((1, 12)), configurations(query, 1)[0]
    kinematics.tool_poses(q[None], query.robot, start)
    hold = hold_of(start[0], np.eye(3), (0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    moved = np.clip(q + 0.05, query.robot.lower, query.robot.upper)
    if project(moved, hold, query.robot, query.frames):
        height = link_matrices(robot, moved, BASE)["ee"][2, 3]
        assert abs(height - start[0, 11]) < 0.002
        assert held_share(moved, hold, query.robot, query.frames) <= 0.05 + 1e-9


@settings(max_examples=20, deadline=None)
@given(ARMS)
def test_the_swept_volume_covers_links_that_follow(robot: Robot) -> None:
    from handiwork_planning.scene.other_arms import swept

    query, arm = query_of(robot), robot.arm("")
    chain = fold(robot, arm, BASE, joint_values(robot, ()))
    names = [s.link for s in robot.spheres]
    bodies = [chain.mounts[name].body for name in names]
    groups = []
    for s, body in zip(robot.spheres, bodies, strict=True):
        mount = chain.mounts[s.link].body_T_link
        centre = mount[:3, :3] @ s.centers[0] + mount[:3, 3]
        groups.append(SphereGroup(s.link, s.link, body, np.array([[*centre, 0.02]])))
    a, b = configurations(query, 2)
    balls: dict[str, list[Array]] = {}
    for group in swept(chain, groups, np.array([a, b])):
        balls.setdefault(group.link, []).append(group.spheres)
    for t in (0.0, 0.31, 0.77, 1.0):
        at = link_matrices(robot, a + t * (b - a), BASE)
        for s, body in zip(robot.spheres, bodies, strict=True):
            if body > 0:
                rows = np.concatenate(balls[s.link])
                place = at[s.link][:3, :3] @ s.centers[0] + at[s.link][:3, 3]
                inside = np.linalg.norm(rows[:, :3] - place, axis=1) + 0.02 - rows[:, 3]
                assert inside.min() < 1e-6


@settings(max_examples=10, deadline=None)
@given(ARMS)
def test_the_nearest_pose_of_one_that_the_arm_can_have_is_that_pose(robot: Robot) -> None:
    arm = robot.arm("")
    query = query_of(robot)
    middle = 0.5 * (query.robot.lower + query.robot.upper)
    q = middle + 0.7 * (configurations(query, 1)[0] - middle)
    wanted = slow.forward(robot, "", q).matrix()
    found = nearest_poses(robot, arm, wanted[None], np.zeros(3))
    assert not found.is_met[0] or found.q.shape == (1, len(q))
    made = slow.forward(robot, "", found.q[0]).matrix()
    np.testing.assert_allclose(made, found.base_T_ee[0], atol=1e-9)
