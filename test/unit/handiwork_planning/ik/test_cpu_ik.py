"""Inverse kinematics against plain numpy and scipy's least squares, on random arms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.robot import Robot
from handiwork_planning.ik import (
    multi_start,
    search_state,
    seeding,
    simd_solver,
    single,
)
from handiwork_planning.ik.pose_ik import PoseSearch, flat_poses, solve_pose
from handiwork_planning.kernels.rng import new_state
from handiwork_planning.kernels.simd import LANES
from handiwork_planning.scene.query import Query, Reader
from handiwork_planning.scene.scene import CollisionScene
from support.planning.serial_arms import gap, limits, pose_of, serial_arm, tool_matrix

ARMS = [(5, 0), (6, 0), (6, 1), (7, 0), (7, 1), (14, 0)]


def query_of(robot: Robot) -> Query:
    return Reader(robot, Pose.identity()).read(robot.arm(""), CollisionScene(), SceneQuery())


def inside(robot: Robot, rng: np.random.Generator, count: int) -> Array:
    return rng.uniform(*limits(robot), (count, len(robot.arm("").joint_names)))


def flat(m: Array) -> Array:
    return np.concatenate([m[:3, :3].ravel(), m[:3, 3]])


def search(query: Query, goals: Array, most: int = 1, seed: int = 0) -> PoseSearch:
    return PoseSearch(query, goals, np.zeros((1, len(query.robot.lower))), new_state(seed), most)


@pytest.mark.parametrize(("joints", "slides"), ARMS)
def test_lanes_agree_with_matrices_and_finite_differences(joints: int, slides: int) -> None:
    rng = np.random.default_rng(joints + 10 * slides)
    robot = serial_arm(rng, joints, slides)
    q, goals = inside(robot, rng, LANES), inside(robot, rng, LANES)
    links, w = simd_solver.links_of(query_of(robot).robot), simd_solver.new_lanes(joints)
    w[simd_solver.GOAL : simd_solver.GOAL + 12] = np.array([flat(tool_matrix(robot, g)) for g in goals]).T
    w[simd_solver.JOINTS :: simd_solver.PER_JOINT] = q.T
    simd_solver.advance(w, links)
    for k in range(LANES):
        here, goal = tool_matrix(robot, q[k]), tool_matrix(robot, goals[k])
        np.testing.assert_allclose(w[simd_solver.TOOL : simd_solver.TOOL + 12, k], flat(here), atol=1e-12)
        distance, angle = gap(robot, q[k], goal)
        assert np.sqrt(w[simd_solver.GAP, k]) == pytest.approx(distance, abs=1e-12)
        assert simd_solver.turn_rad(w[simd_solver.TURN, k]) == pytest.approx(angle, abs=1e-9)
        for j in range(joints):
            moved = q[k].copy()
            moved[j] += 1e-6
            d = (tool_matrix(robot, moved) - here) / 1e-6
            spin = d[:3, :3] @ here[:3, :3].T
            expected = [*d[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]]
            first = simd_solver.JOINTS + simd_solver.PER_JOINT * j + simd_solver.COLUMN
            np.testing.assert_allclose(w[first : first + 6, k], expected, atol=1e-5)


def test_a_step_is_damped_least_squares_with_joints_at_limits_frozen() -> None:
    rng = np.random.default_rng(4)
    robot = serial_arm(rng, 7)
    (low, high), q = limits(robot), inside(robot, rng, LANES)
    q[:, 2], q[:, 5] = low[2], high[5]
    w, joint = simd_solver.new_lanes(7), simd_solver.JOINTS + simd_solver.PER_JOINT * np.arange(7)
    w[: simd_solver.TOOL] = flat(tool_matrix(robot, inside(robot, rng, 1)[0]))[:, None]
    w[joint] = q.T
    simd_solver.advance(w, simd_solver.links_of(query_of(robot).robot))
    for k in range(LANES):
        error = w[simd_solver.ERROR : simd_solver.ERROR + 6, k]
        jac = np.array([w[r + simd_solver.COLUMN : r + simd_solver.COLUMN + 6, k] for r in joint]).T
        damping = simd_solver.DAMPING + simd_solver.DAMPING_PER_ERROR * float(error @ error)
        step = jac.T @ np.linalg.solve(jac @ jac.T + damping * np.eye(6), error)
        step *= min(1.0, simd_solver.STEP_RAD / np.abs(step).max())
        np.testing.assert_allclose(w[joint + simd_solver.STEP, k], step, atol=1e-9)
        assert step[2] >= 0.0 and step[5] <= 0.0


@pytest.mark.parametrize(("joints", "slides"), ARMS)
def test_what_a_configuration_reaches_is_reached_within_limits(joints: int, slides: int) -> None:
    rng = np.random.default_rng(joints + 10 * slides)
    robot = serial_arm(rng, joints, slides)
    goals = [tool_matrix(robot, q) for q in inside(robot, rng, 200)]
    found = search(query_of(robot), np.array([flat(g) for g in goals])).run(200, 200, lambda: False)
    assert found.complete and len(np.unique(found.owner)) == len(found.owner) >= 198
    low, high = limits(robot)
    for q, p in zip(found.q, found.owner, strict=True):
        assert max(gap(robot, q, goals[p])) < 2.0 * simd_solver.TOLERANCE_M
        assert (q >= low).all() and (q <= high).all()


def by_scipy(robot: Robot, goal: Array, rng: np.random.Generator) -> float:
    """Return the smallest error [m or rad] that bounded least squares finds from 8 starts."""

    def missing(q: Array) -> Array:
        return (tool_matrix(robot, q)[:3] - goal[:3]).ravel()

    best = np.inf
    for start in inside(robot, rng, 8):
        q = least_squares(missing, start, bounds=limits(robot), xtol=1e-12, ftol=1e-12).x
        best = min(best, max(gap(robot, q, goal)))
        if best < 1e-6:
            break
    return best


@pytest.mark.slow
def test_poses_that_least_squares_reaches_are_found_and_no_others() -> None:
    rng = np.random.default_rng(8)
    robot = serial_arm(rng, 6)
    goals = [tool_matrix(robot, q) for q in inside(robot, rng, 10)]
    for goal in goals[::2]:
        goal[:3, 3] += rng.normal(size=3) * 0.3
    found = search(query_of(robot), np.array([flat(g) for g in goals])).run(300, 99, lambda: False)
    reached = {int(p) for p in found.owner}
    slow = np.array([by_scipy(robot, goal, rng) for goal in goals])
    assert {int(p) for p in np.flatnonzero(slow < 1e-6)} <= reached
    assert 5 <= len(reached) < 10
    missed = [p for p in range(10) if p not in reached]
    assert (found.errors[missed].max(axis=1) > 1e-5).all() and (slow[missed] > 1e-6).all()


def test_closest_error_of_a_pose_out_of_reach_is_true() -> None:
    robot = serial_arm(np.random.default_rng(1), 7)
    reach = sum(np.linalg.norm(j.parent_T_joint.translation_m) for j in robot.joints.values())
    goal = np.eye(4)
    goal[0, 3] = reach + 1.0
    found = search(query_of(robot), flat(goal)[None]).run(100, 1, lambda: False)
    assert len(found.q) == 0 and found.hit[0, 0] < 0
    assert 1.0 <= found.errors[0, 0] < 1.0 + 2.0 * reach and 0.0 <= found.errors[0, 1] <= np.pi


def test_solutions_of_a_pose_are_distinct() -> None:
    rng = np.random.default_rng(2)
    robot = serial_arm(rng, 7)
    goal = tool_matrix(robot, inside(robot, rng, 1)[0])
    found = solve_pose(query_of(robot), pose_of(goal), np.zeros((1, 7)), new_state(1), 200, 16)
    assert len(found.q) == 16
    for i, q in enumerate(found.q):
        assert max(gap(robot, q, goal)) < 2.0 * simd_solver.TOLERANCE_M
        assert all(np.abs(q - other).max() >= multi_start.SAME_RAD for other in found.q[:i])


def test_results_repeat_and_do_not_depend_on_where_a_search_paused() -> None:
    rng = np.random.default_rng(3)
    robot = serial_arm(rng, 7)
    query = query_of(robot)
    goals = np.array([flat(tool_matrix(robot, q)) for q in inside(robot, rng, 30)])
    goals[::3, 9:] += 5.0

    def solved(iterations: int, seed: int) -> tuple[Array, Array, Array]:
        s = search_state.new_search(goals, np.arange(30), np.zeros((1, 7)), 2, query.robot, new_state(seed))
        while not multi_start.work(s, 20, 99, iterations, query.checker):
            pass
        s.found[np.arange(2) >= s.counts[:, None]] = 0.0
        return s.found, s.counts, s.best

    once, paused, other = solved(100_000, 7), solved(1, 7), solved(100_000, 8)
    for a, b in zip(once, paused, strict=True):
        np.testing.assert_array_equal(a, b)
    assert (once[0] != other[0]).any()


def test_a_seed_is_tried_first_and_moved_inside_limits() -> None:
    rng = np.random.default_rng(6)
    robot = serial_arm(rng, 7)
    _, high = limits(robot)
    q = inside(robot, rng, 1)[0]
    q[3] = high[3]
    seed = q.copy()
    seed[3] += 0.01
    found = solve_pose(query_of(robot), pose_of(tool_matrix(robot, q)), seed[None], new_state(0), 1, 1)
    np.testing.assert_allclose(found.q, q[None], atol=1e-4)
    assert (found.q <= high).all()


def test_random_starts_stay_within_one_turn_of_the_seed() -> None:
    robot = serial_arm(np.random.default_rng(0), 6)
    arrays = query_of(robot).robot._replace(lower=np.full(6, -2.0 * np.pi), upper=np.full(6, 2.0 * np.pi))
    links = simd_solver.links_of(arrays)
    for seed in (np.zeros(6), np.full(6, 6.0), np.full(6, -2.0 * np.pi)):
        low, high = seeding.ranges(seed, arrays, links)
        np.testing.assert_allclose(high - low, 2.0 * np.pi)
        assert (low >= arrays.lower).all() and (high <= arrays.upper + 1e-12).all()
        assert (low <= seed).all() and (seed <= high).all()


def test_the_nearest_start_is_what_a_full_scan_says() -> None:
    rng = np.random.default_rng(5)
    robot = serial_arm(rng, 6)
    arrays = query_of(robot).robot
    links = simd_solver.links_of(arrays)
    q, table = seeding.new_table(links, np.array([arrays.lower, arrays.upper]), new_state(3))
    tools = np.array([tool_matrix(robot, x) for x in q])
    goals = np.array([tool_matrix(robot, x) for x in inside(robot, rng, 20)])
    rows = seeding.WINDOW * LANES
    for i, goal in enumerate(goals):
        window = i % seeding.WINDOWS
        far = ((tools[:, :3, 3] - goal[:3, 3]) ** 2).sum(axis=1)
        far += seeding.PER_TURN * ((tools[:, :3, :3] - goal[:3, :3]) ** 2).sum(axis=(1, 2))
        expected = window * rows + int(far[window * rows : (window + 1) * rows].argmin())
        flats = np.array([flat(g) for g in goals])
        assert seeding.nearest_start(table, flats, i, window, np.empty((2, LANES))) == expected


def test_a_single_descent_follows_a_small_step_and_says_what_is_left() -> None:
    rng = np.random.default_rng(9)
    robot = serial_arm(rng, 7)
    query = query_of(robot)
    low, high = limits(robot)
    for start in inside(robot, rng, 20):
        near = np.clip(start + rng.normal(size=7) * 0.01, low, high)
        goal, q, error = tool_matrix(robot, near), start.copy(), np.empty(6)
        assert single.descend(q, flat(goal), query.robot, 20, error)
        assert max(gap(robot, q, goal)) < 2.0 * simd_solver.TOLERANCE_M
        assert np.abs(q - start).max() < 0.5
        goal[0, 3] += 9.0
        assert not single.descend(q, flat(goal), query.robot, 20, error)
        distance, angle = gap(robot, q, goal)
        assert np.linalg.norm(error[:3]) == pytest.approx(distance)
        assert np.linalg.norm(error[3:]) == pytest.approx(angle, abs=1e-9)


def test_poses_become_the_matrices_they_are() -> None:
    robot = serial_arm(np.random.default_rng(7), 6)
    poses = [pose_of(tool_matrix(robot, q)) for q in inside(robot, np.random.default_rng(1), 10)]
    expected = [np.concatenate([p.rotation.matrix().ravel(), p.translation_m]) for p in poses]
    np.testing.assert_allclose(flat_poses(poses), expected, atol=1e-15)
    assert flat_poses([]).shape == (0, 12)
