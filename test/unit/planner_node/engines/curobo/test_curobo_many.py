"""Batches and both arms without a GPU: solvers that answer with straight paths replace cuRobo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    JointGoals,
    OtherArm,
    PlanRequest,
    PoseGoals,
    SceneQuery,
    StraightGoal,
)
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import forward, link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.fallback_engine import EngineLost
from handiwork_planning.process_pool import Problem
from handiwork_planning.search.requests import Deadline, Failed
from planner_node.engines import CpuEngine
from planner_node.engines.curobo import batch_core, dual_arm
from planner_node.engines.curobo.arm_clearance import Apart
from planner_node.engines.curobo.model.buffers import BufferSizes
from planner_node.engines.curobo.model.lane_buffers import LaneScene
from planner_node.engines.curobo.model.spheres import HELD_SPHERES
from planner_node.engines.curobo.solvers import batch_solvers
from planner_node.engines.curobo.solvers.single_solvers import MOMENTS, SEEDS
from planner_node.engines.curobo.solvers.spline import resampled
from support.paths import ROOT
from support.planning.demo_world import box, demo_items, hand_down, world_of

KNOTS = 24


class StraightSolvers:
    """A stand-in for cuRobo: straight paths, or paths through the middle of the seeds."""

    made: list[StraightSolvers] = []  # noqa: RUF012

    def __init__(self, room: BufferSizes, lanes: int, seeds: int) -> None:
        self.room, self.lanes, self.knots, self.seeds = room, lanes, KNOTS, seeds
        self.asked: list[tuple[list[int], Array, Array, Array]] = []
        self.scenes: dict[int, LaneScene] = {}
        self.boxes: dict[int, int] = {}
        self.is_closed = False
        self.made.append(self)

    def update(self, scenes: Sequence[LaneScene]) -> None:
        for scene in scenes:
            self.boxes[scene.lane], self.scenes[scene.lane] = len(scene.rows.boxes), scene

    def optimise(
        self,
        lanes: Sequence[int],
        starts: Array,
        ends: Array,
        base_T_ee: Array,
        seeds: Array | None,
        finetunes: int,
    ) -> list[list[Array]]:
        self.asked.append((list(lanes), starts, ends, base_T_ee))
        assert ends.shape == (len(lanes), self.seeds, starts.shape[1]) and finetunes in (0, 1, 3)
        if seeds is not None:
            assert seeds.shape == (len(lanes), self.seeds, KNOTS, starts.shape[1])
            return [[seeds[b, s] for s in range(self.seeds)] for b in range(len(lanes))]
        return [
            [resampled(np.array([starts[b], ends[b, s]]), KNOTS) for s in range(self.seeds)]
            for b in range(len(lanes))
        ]

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def batch(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> batch_core.BatchCore:
    StraightSolvers.made.clear()
    monkeypatch.setattr(
        batch_core.BatchCore,
        "_made",
        lambda self, _arm, room: StraightSolvers(room, self.lanes, batch_core.LANE_SEEDS),
    )
    return batch_core.BatchCore(robot, Pose.identity(), cuda=None, lanes=3)  # type: ignore[arg-type]


def never() -> bool:
    return False


def problems(robot: Robot, count: int) -> list[Problem]:
    """Return problems with a post that is elsewhere in every world.

    Args:
        robot: The robot.
        count: Number of problems.
    """
    home, found = np.array(robot.arm("").home_q), []
    for i in range(count):
        extra = ("post", (box((0.04, 0.04, 0.3)),), Pose.of((0.35, 0.35 + 0.01 * i, 0.15)))
        goal = PoseGoals((hand_down(robot, 0.45, 0.02 * i, 0.3, 0.1 * i),))
        found.append(Problem(world_of(*demo_items(), extra), PlanRequest("", home, goal, seed=i)))
    return found


def test_every_problem_of_a_batch_is_planned_in_its_own_world(
    batch: batch_core.BatchCore, robot: Robot, bare_engine: CpuEngine
) -> None:
    asked = problems(robot, 7)
    results = batch.plan(asked, never)
    assert [result.seed for result in results] == list(range(7))
    for problem, result in zip(asked, results, strict=True):
        assert result.code is Code.OK and result.trajectory is not None, result.message
        bare_engine.update_world(problem.world)
        verdict = bare_engine.validate("", result.trajectory, SceneQuery(), problem.request.start_q)
        assert verdict.code is Code.OK, verdict.message
        assert isinstance(problem.request.goal, PoseGoals)
        there = forward(robot, "", result.trajectory.q[-1])
        assert there.almost_equal(problem.request.goal.world_T_ee[0], within_m=1e-3, within_rad=1e-3)
    (solvers,) = StraightSolvers.made
    assert [lanes for lanes, *_ in solvers.asked] == [[0, 1, 2], [0, 1, 2], [0]]
    assert set(solvers.boxes.values()) == {8}
    batch.close()
    assert solvers.is_closed


def test_what_cannot_start_fails_alone_and_what_curobo_cannot_do_goes_to_the_cpu(
    batch: batch_core.BatchCore, robot: Robot
) -> None:
    first, second, third = problems(robot, 3)
    home = first.request.start_q
    out = replace(first, request=replace(first.request, start_q=home * np.nan))
    below = forward(robot, "", home)
    line = StraightGoal(Pose.of((0.0, 0.0, -0.05)) @ below)
    straight = replace(second, request=replace(second.request, goal=line))
    results = batch.plan([out, straight, third], never)
    assert [r.code for r in results] == [Code.BAD_NUMBER, Code.OK, Code.OK]
    assert batch.handed_over == 0 and len(StraightSolvers.made[0].asked) == 1


def test_a_wall_that_no_seed_passes_is_left_to_the_cpus_search(
    batch: batch_core.BatchCore, robot: Robot
) -> None:
    wall = ("wall", (box((0.6, 0.02, 0.5)),), Pose.of((0.6, 0.0, 0.25)))
    a = np.array(robot.arm("").home_q)
    b = a.copy()
    a[0], b[0] = -0.7, 0.7
    world = world_of(wall)
    result, open_way = batch.plan(
        [
            Problem(world, PlanRequest("", a, JointGoals(b[None]), budget_s=20.0)),
            Problem(world_of(), PlanRequest("", a, JointGoals(b[None]))),
        ],
        never,
    )
    assert result.code is Code.OK and open_way.code is Code.OK and batch.handed_over == 1
    assert [len(lanes) for lanes, *_ in StraightSolvers.made[0].asked] == [2]


def test_a_stop_ends_a_batch_and_a_larger_world_gets_more_room(
    batch: batch_core.BatchCore, robot: Robot
) -> None:
    assert {r.code for r in batch.plan(problems(robot, 2), lambda: True)} == {Code.CANCELED}
    crowd = [(f"b{i}", (box((0.02, 0.02, 0.02)),), Pose.of((-0.6, 0.0, 0.05 * i))) for i in range(20)]
    one = problems(robot, 1)[0]
    batch.plan([one], never)
    batch.plan([replace(one, world=world_of(*crowd))], never)
    assert [s.room.boxes for s in StraightSolvers.made] == [9, 21] and StraightSolvers.made[0].is_closed


def test_worlds_that_need_too_many_threads_are_the_cpus(
    batch: batch_core.BatchCore, robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd = [(f"b{i}", (box((0.02, 0.02, 0.02)),), Pose.of((-0.6, 0.0, 0.05 * i))) for i in range(20)]
    few, many = problems(robot, 2)
    monkeypatch.setattr(batch_solvers, "MOST_THREADS", 3 * MOMENTS * batch._set.count * 10)
    results = batch.plan([few, replace(many, world=world_of(*crowd))], never)
    assert [r.code for r in results] == [Code.OK, Code.OK] and batch.handed_over == 1
    (solvers,) = StraightSolvers.made
    assert solvers.room.boxes == 9 and [lanes for lanes, *_ in solvers.asked] == [[0]]
    with pytest.raises(ValueError, match="lanes is 5"):
        batch_core.BatchCore(robot, Pose.identity(), cuda=None, lanes=5)  # type: ignore[arg-type]


def test_processes_that_read_and_judge_give_the_same_results(
    batch: batch_core.BatchCore, robot: Robot
) -> None:
    asked = problems(robot, 8)
    asked[4] = replace(asked[4], request=replace(asked[4].request, start_q=asked[4].request.start_q * np.nan))
    shared = batch_core.BatchCore(robot, Pose.identity(), cuda=None, lanes=3, workers=2)  # type: ignore[arg-type]
    try:
        for given in (asked, [replace(p, world=asked[0].world) for p in asked]):
            alone, together = batch.plan(given, never), shared.plan(given, never)
            assert [r.code for r in together] == [r.code for r in alone]
            for one, other in zip(alone, together, strict=True):
                assert (one.trajectory is None) == (other.trajectory is None)
                if one.trajectory is not None and other.trajectory is not None:
                    np.testing.assert_array_equal(one.trajectory.q, other.trajectory.q)
        assert {r.code for r in shared.plan(asked, lambda: True)} == {Code.CANCELED}
    finally:
        shared.close()


def test_a_gpu_that_fails_leaves_processes_that_plan_the_next_batch(
    batch: batch_core.BatchCore, robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_given: object) -> None:
        raise EngineLost("the GPU is out of memory")

    shared = batch_core.BatchCore(robot, Pose.identity(), cuda=None, lanes=3, workers=2)  # type: ignore[arg-type]
    try:
        for core in (batch, shared):
            with monkeypatch.context() as failing:
                failing.setattr(StraightSolvers, "optimise", lost)
                with pytest.raises(EngineLost, match="out of memory"):
                    core.plan(problems(robot, 7), never)
            assert {r.code for r in core.plan(problems(robot, 4), never)} == {Code.OK}
    finally:
        shared.close()


@pytest.fixture(scope="module")
def dual() -> Robot:
    return load_robot(ROOT / "src/robot_description/robots/genie1")


@pytest.fixture
def both(dual: Robot, monkeypatch: pytest.MonkeyPatch) -> dual_arm.TogetherCore:
    monkeypatch.setattr(dual_arm.TogetherCore, "_made", lambda _self, room: StraightSolvers(room, 1, SEEDS))
    arms = tuple(dual.arms)
    return dual_arm.TogetherCore(dual, Pose.identity(), None, (arms[0], arms[1]))  # type: ignore[arg-type]


def at(dual: Robot, arm: str, q: Array) -> Pose:
    """Return the tool in the root's frame.

    Args:
        dual: The robot.
        arm: Name of the arm.
        q: Joint positions, (n,), rad.
    """
    spec = dual.arm(arm)
    return link_poses(dual, dict(zip(spec.joint_names, q.tolist(), strict=True)))[spec.ee_link]


def requests(dual: Robot, turn_rad: float) -> tuple[PlanRequest, PlanRequest]:
    """Return a request for each of the first two arms: to turn the last joint from home.

    Args:
        dual: The robot.
        turn_rad: Angle, rad.
    """
    made = []
    for name, arm in list(dual.arms.items())[:2]:
        q = np.array(arm.home_q)
        q[-1] += turn_rad
        made.append(PlanRequest(name, np.array(arm.home_q), PoseGoals((at(dual, name, q),))))
    return made[0], made[1]


def test_both_arms_move_at_the_same_times_and_end_at_their_goals(
    both: dual_arm.TogetherCore, dual: Robot
) -> None:
    asked = requests(dual, 0.3)
    (a, b), goals = both.plan_both(asked, Deadline.start(never, 10.0))
    np.testing.assert_array_equal(a.t_s, b.t_s)
    assert goals == [0, 0]
    for request, t in zip(asked, (a, b), strict=True):
        assert t.joint_names == dual.arm(request.arm).joint_names
        assert isinstance(request.goal, PoseGoals)
        there = at(dual, request.arm, t.q[-1])
        assert there.almost_equal(request.goal.world_T_ee[0], within_m=1e-3, within_rad=1e-3)
        np.testing.assert_array_equal(t.q[0], request.start_q)
    scene = StraightSolvers.made[-1].scenes[0]
    sizes = {s.link: len(s.radii) for s in dual.spheres if len(s.radii)}
    ends = np.cumsum([sizes.get(link, HELD_SPHERES) for link in scene.links])
    spheres = dict(zip(scene.links, np.split(scene.spheres, ends[:-1]), strict=True))
    for arm in both.arms:
        assert arm.ee_link not in sizes or spheres[arm.ee_link][:, 3].max() > 0.0, "each arm's own sheet"


def test_arms_whose_goals_meet_are_told_so(both: dual_arm.TogetherCore, dual: Robot) -> None:
    left, right = requests(dual, 0.1)
    assert isinstance(left.goal, PoseGoals)
    middle = 0.5 * sum(
        at(dual, r.arm, r.start_q).translation_m
        for r in (left, right)  # type: ignore[misc]
    )
    turned = [at(dual, r.arm, r.start_q).rotation for r in (left, right)]
    meet = [
        replace(r, goal=PoseGoals((Pose.of(middle, rotation),)))
        for r, rotation in zip((left, right), turned, strict=True)
    ]
    with pytest.raises(Failed) as raised:
        both.plan_both((meet[0], meet[1]), Deadline.start(never, 10.0))
    assert raised.value.outcome.code in (Code.GOAL_IN_COLLISION, Code.NO_IK), raised.value.outcome.message


def test_the_distance_of_two_arms_is_what_the_engine_says(dual: Robot) -> None:
    engine = CpuEngine(dual, Pose.identity(), lambda _share, _text: None)
    engine.update_world(World(0.0))
    names = list(dual.arms)[:2]
    arms = [dual.arm(name) for name in names]
    nothing = [OtherArm(arm.name, np.zeros((0, len(arm.joint_names)))) for arm in arms]
    queries = [engine._core.read(arms[k], SceneQuery(others=(nothing[1 - k],))) for k in (0, 1)]
    apart, rng, seen = Apart(dual, (queries[0], queries[1])), np.random.default_rng(2), 0
    for _ in range(200):
        q = [rng.uniform(query.robot.lower, query.robot.upper) for query in queries]
        distance, pair = apart.nearest(q[0][None], q[1][None])
        query = engine._core.read(arms[0], SceneQuery(others=(OtherArm(names[1], q[1][None]),)))
        d = query.distances(q[0], 0.3)
        bodies, shapes = query.robot.group_body, len(query.scene.kind)
        mine = np.flatnonzero(bodies > 0)
        theirs = np.flatnonzero(query.margins[:, shapes:].max(axis=1) > 0.005)
        expected = min(
            d[np.ix_(mine, shapes + theirs)].min(initial=1.0),
            d[np.ix_(theirs, shapes + mine)].min(initial=1.0),
        )
        if expected < 0.25:
            seen += 1
            # The engine covers a standing arm's spheres as they are, its fingers also fully open.
            assert expected - 1e-4 <= distance, (expected, distance, pair)
            assert distance < expected + 0.06, (expected, distance, pair)
    assert seen > 5
