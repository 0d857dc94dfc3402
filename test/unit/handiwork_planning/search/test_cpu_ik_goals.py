"""Goal sets and batches of poses in a world: free goals, their poses, and the messages of failures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from handiwork_core.contracts.planning import Engine, IkRequest, SceneQuery
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot.robot import Robot
from handiwork_planning.ik import multi_start, search_state
from handiwork_planning.ik.pose_ik import flat_poses
from handiwork_planning.kernels.rng import new_state
from handiwork_planning.scene.query import Query, Reader
from handiwork_planning.scene.scene import CollisionScene
from handiwork_planning.search import goal_configurations as cpu_goals
from handiwork_planning.search.free_motion import Path
from handiwork_planning.search.goal_configurations import goal_rounds, pose_goals
from handiwork_planning.search.goal_search import MANY, Find, find_any
from handiwork_planning.search.requests import Deadline, Failed
from support.planning.demo_world import box, demo_items, hand_down, world_of


def never() -> bool:
    return False


@pytest.fixture
def query(robot: Robot) -> Query:
    scene = CollisionScene()
    scene.update(world_of(*demo_items()))
    return Reader(robot, Pose.identity()).read(robot.arm(""), scene, SceneQuery())


def home(robot: Robot) -> Array:
    return np.array(robot.arm("").home_q)


def far_away(count: int) -> tuple[Pose, ...]:
    return tuple(Pose.of((2.0 + 0.01 * i, 0.0, 0.5)) for i in range(count))


def above_table(robot: Robot, count: int) -> tuple[Pose, ...]:
    rng = np.random.default_rng(11)
    return tuple(
        hand_down(
            robot,
            rng.uniform(0.35, 0.6),
            rng.uniform(-0.3, 0.3),
            rng.uniform(0.2, 0.4),
            rng.uniform(-3.0, 3.0),
        )
        for _ in range(count)
    )


def assert_reached(robot: Robot, q: Array, pose: Pose) -> None:
    assert forward(robot, "", q).almost_equal(pose, within_m=2e-5, within_rad=2e-5)


def test_goals_reach_their_pose_and_are_free(robot: Robot, engine: Engine, query: Query) -> None:
    poses = far_away(3) + above_table(robot, 40)
    q, owner = pose_goals(query, poses, home(robot)[None], 3, Deadline.start(never, 9.0))
    assert len(q) == len(owner) == cpu_goals.ENOUGH and owner.min() >= 3
    for goal, i in zip(q, owner, strict=True):
        assert_reached(robot, goal, poses[i])
        assert engine.explain("", goal, SceneQuery()).code is Code.OK
    again, same = pose_goals(query, poses, home(robot)[None], 3, Deadline.start(never, 9.0))
    np.testing.assert_array_equal(again, q)
    np.testing.assert_array_equal(same, owner)


def test_one_pose_gets_several_goals(robot: Robot, query: Query) -> None:
    poses = above_table(robot, 1)
    q, owner = pose_goals(query, poses, home(robot)[None], 0, Deadline.start(never, 9.0))
    assert 4 <= len(q) <= cpu_goals.PER_POSE and not owner.any()


def test_rounds_share_nothing_and_leave_no_pose_out(robot: Robot, query: Query) -> None:
    poses = above_table(robot, cpu_goals.ROUND + 88)
    seen: set[bytes] = set()
    owners: set[int] = set()
    for q, owner in goal_rounds(query, poses, home(robot)[None], 0, Deadline.start(never, 60.0)):
        rows = {row.tobytes() for row in q}
        assert len(rows) == len(q) > 0 and not rows & seen
        seen |= rows
        owners |= {int(i) for i in owner}
        for row, i in zip(q[:20], owner[:20], strict=True):
            assert_reached(robot, row, poses[i])
    assert owners == set(range(len(poses)))
    assert len(seen) > 2 * cpu_goals.ENOUGH


def test_one_good_pose_among_many_is_found(robot: Robot, query: Query) -> None:
    poses = list(far_away(1000))
    poses[777] = above_table(robot, 1)[0]
    q, owner = pose_goals(query, tuple(poses), home(robot)[None], 5, Deadline.start(never, 60.0))
    assert (owner == 777).all()
    assert_reached(robot, q[0], poses[777])


def test_failure_of_a_set_is_the_nearest_miss_of_all(robot: Robot, query: Query) -> None:
    poses = tuple(reversed(far_away(700)))
    with pytest.raises(Failed) as all_of_them:
        pose_goals(query, poses, home(robot)[None], 0, Deadline.start(never, 60.0))
    with pytest.raises(Failed) as nearest:
        pose_goals(query, poses[-1:], home(robot)[None], 0, Deadline.start(never, 60.0))
    assert all_of_them.value.outcome.code is nearest.value.outcome.code is Code.NO_IK
    misses = [
        found.value.outcome.position_error_m + found.value.outcome.angle_error_rad
        for found in (all_of_them, nearest)
    ]
    assert misses[0] == pytest.approx(misses[1], abs=0.1)
    inside = (hand_down(robot, 0.5, 0.2, -0.05),)
    with pytest.raises(Failed) as touching:
        pose_goals(query, poses + inside, home(robot)[None], 0, Deadline.start(never, 60.0))
    failed = touching.value
    assert failed.outcome.code is Code.GOAL_IN_COLLISION and "1 of 701 goal poses" in failed.outcome.message
    assert (
        failed.outcome.blocking is not None and failed.outcome.blocking.b == "table" and failed.depth_m > 0.0
    )
    with pytest.raises(Failed) as empty:
        pose_goals(query, (), home(robot)[None], 0, Deadline.start(never, 60.0))
    assert empty.value.outcome.code is Code.BAD_GOAL


def test_a_stop_ends_a_large_goal_set(robot: Robot, query: Query) -> None:
    looks = iter(range(1_000_000))
    deadline = Deadline.start(lambda: next(looks) >= 3, 60.0)
    with pytest.raises(Failed) as stopped:
        pose_goals(query, far_away(5000), home(robot)[None], 0, deadline)
    assert stopped.value.outcome.code is Code.CANCELED and next(looks) == 4


def test_nearest_poses_and_poses_from_anywhere_take_turns(robot: Robot, query: Query) -> None:
    there = forward(robot, "", home(robot))
    poses = [Pose.of(there.translation_m + (0.01 * i, 0.0, 0.0), there.rotation) for i in range(50)]
    poses[20] = Pose.of(there.translation_m, there.rotation @ Rotation.from_rpy(0.0, 0.0, 3.0))
    order = cpu_goals._order(flat_poses(poses), query, home(robot))
    assert sorted(order) == list(range(50))
    assert list(order).index(20) > 10
    assert set(range(8)) <= {int(i) for i in order[:17]} and order[:16].max() > 25


def test_batch_says_for_each_pose_what_became_of_it(robot: Robot, engine: Engine) -> None:
    poses = (*above_table(robot, 30), hand_down(robot, 0.5, 0.2, -0.05), *far_away(1))
    result = engine.solve_ik(IkRequest("", poses, home(robot)), never)
    assert result.codes == (Code.OK,) * 30 + (Code.GOAL_IN_COLLISION, Code.NO_IK)
    for q, pose in zip(result.q[:30], poses, strict=False):
        assert_reached(robot, q, pose)
        assert engine.explain("", q, SceneQuery()).code is Code.OK
    assert np.isnan(result.q[30:]).all()
    assert result.position_error_m[30] < 1e-5 and result.position_error_m[31] > 0.5
    blind = engine.solve_ik(IkRequest("", poses, home(robot), avoid_collision=False), never)
    assert blind.codes == (Code.OK,) * 31 + (Code.NO_IK,)
    again = engine.solve_ik(IkRequest("", poses, home(robot)), never)
    np.testing.assert_array_equal(again.q, result.q)


def test_a_stopped_batch_keeps_what_it_has(robot: Robot, bare_engine: Engine) -> None:
    bare_engine.update_world(world_of(("far", (box((0.1, 0.1, 0.1)),), Pose.of((5.0, 0.0, 0.0)))))
    poses = above_table(robot, 50) + far_away(20_000)
    result = bare_engine.solve_ik(IkRequest("", poses, home(robot)), lambda: True)
    assert result.codes[-1] is Code.CANCELED and result.codes[0] is Code.OK
    for code, q in zip(result.codes, result.q, strict=True):
        assert (code is Code.OK) == bool(np.isfinite(q).all())


def test_an_empty_batch_is_answered(robot: Robot, engine: Engine) -> None:
    result = engine.solve_ik(IkRequest("", (), home(robot)), never)
    assert result.codes == () and result.q.shape == (0, 7)


def test_a_search_asks_for_no_more_than_enough(robot: Robot, query: Query) -> None:
    goals = flat_poses(above_table(robot, 100))
    search = search_state.new_search(
        goals, np.arange(100)[::-1].copy(), home(robot)[None], 4, query.robot, new_state(0)
    )
    assert multi_start.work(search, 50, 10, 100_000, query.checker)
    assert search.counts.sum() == 10 and not search.counts[:50].any()
    assert multi_start.work(search, 50, 1_000, 100_000, query.checker)
    assert (search.counts > 0).all() and search.counts.max() <= 4


def rounds_of(*sizes: int) -> Iterator[tuple[Array, Array]]:
    """Return goals with consecutive numbers, each owned by the pose of ten times its number."""
    first = 0
    for size in sizes:
        numbers = np.arange(first, first + size)
        first += size
        yield numbers[:, None].astype(float), 10 * numbers


def asked(goal: int, refusals: list[Code], seen: list[tuple[int, int, float]]) -> Find:
    """Return a search that fails with the given codes, then reaches goal ``goal``; it notes goals, seed and time."""

    def find(goals: Array, salt: int, deadline: Deadline) -> Path:
        seen.append((len(goals), salt, deadline.budget_s))
        if refusals:
            raise Failed(refusals.pop(0), "refused")
        row = int(np.flatnonzero(goals[:, 0] == goal)[0])
        return Path(goals[[row]], row)

    return find


def test_a_search_that_fails_gets_the_other_poses_too() -> None:
    for refusal in (Code.PATH_BLOCKED, Code.PLAN_BUDGET):
        seen: list[tuple[int, int, float]] = []
        path, pose = find_any(
            rounds_of(32, 50, 9), 100, asked(88, [refusal], seen), Deadline.start(never, 8.0)
        )
        assert pose == 880 and path.points[0, 0] == 88.0
        assert [s[:2] for s in seen] == [(32, 0), (91, 1)]
        assert 3.9 < seen[0][2] < 4.1 and seen[1][2] == 8.0


def test_few_poses_get_one_search_with_all_the_time() -> None:
    seen: list[tuple[int, int, float]] = []
    _, pose = find_any(rounds_of(8), 1, asked(3, [], seen), Deadline.start(never, 8.0))
    assert pose == 30 and seen == [(8, 0, 8.0)]


def test_a_search_is_not_repeated_when_there_is_nothing_more_or_it_was_stopped() -> None:
    for refusal, sizes in ((Code.PATH_BLOCKED, (32,)), (Code.CANCELED, (32, 50))):
        seen: list[tuple[int, int, float]] = []
        with pytest.raises(Failed) as failed:
            find_any(rounds_of(*sizes), 100, asked(0, [refusal], seen), Deadline.start(never, 8.0))
        assert failed.value.outcome.code is refusal and len(seen) == 1


def test_the_second_search_is_not_flooded_with_goals() -> None:
    seen: list[tuple[int, int, float]] = []
    rounds = rounds_of(32, 4000, 1)
    find_any(rounds, 10_000, asked(0, [Code.PLAN_BUDGET], seen), Deadline.start(never, 8.0))
    assert seen[1][0] == MANY and len(next(rounds)[0]) == 1
