"""Another arm as an obstacle: at rest, all along its way, and with the object that it holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    Attachment,
    Engine,
    IkRequest,
    JointGoals,
    OtherArm,
    PlanRequest,
    SceneQuery,
)
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.scene.other_arms import coarse, swept
from handiwork_planning.scene.robot_model import fold, joint_values, link_groups
from planner_node.engines import CpuEngine
from planner_node.pipeline.pipeline import PlanningPipeline, WorldReaders
from planner_node.pipeline.planning_scene import PlanningScene
from planner_node.pipeline.request_checks import RequestRefused
from support.cells.dual_fr3 import write_dual_fr3
from support.planning.demo_world import box, world_of

GONE = OtherArm("right_arm", np.zeros((0, 7)))
BASE = Pose.of((0.2, -0.1, 0.05), Rotation.from_rpy(0.0, 0.0, 0.3))


@pytest.fixture(scope="module")
def dual(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return load_robot(write_dual_fr3(tmp_path_factory.mktemp("dual_fr3")))


@pytest.fixture(scope="module")
def cell(dual: Robot) -> Engine:
    engine = CpuEngine(dual, BASE, lambda _share, _text: None)
    engine.update_world(world_of(("cube", (box((0.05, 0.05, 0.05)),), Pose.of((3.0, 0.0, 0.0)))))
    return engine


def never() -> bool:
    return False


def reach(
    engine: Engine, dual: Robot, arm: str, place: tuple[float, float, float], *others: OtherArm
) -> Array:
    """Return a configuration with the tool centre at a place of the stand's frame [m], pointing down."""
    down = Rotation.from_rpy(np.pi, 0.0, 0.0)
    pose = BASE @ Pose.of((place[0], place[1], place[2] + 0.1034), down)
    request = IkRequest(arm, (pose,), dual.arm(arm).home_q, SceneQuery(others=others))
    found = engine.solve_ik(request, never)
    assert found.codes[0] is Code.OK
    return np.array(found.q[0])


def motion(engine: Engine, arm: str, start: Array, goal: Array, scene: SceneQuery) -> Trajectory:
    result = engine.plan(PlanRequest(arm, start, JointGoals(goal[None]), scene), never)
    assert result.trajectory is not None, result.message
    return result.trajectory


def balls(dual: Robot, arm: str, q: Array) -> Array:
    """Return the spheres (n, 4) of the links that an arm moves, by the core's own forward kinematics."""
    poses = link_poses(dual, dict(zip(dual.arm(arm).joint_names, q.tolist(), strict=True)))
    moved = [s for s in dual.spheres if s.link.startswith(arm[:-3]) and not s.link.endswith("link0")]
    return np.concatenate(
        [np.column_stack([(BASE @ poses[s.link]).apply(s.centers), s.radii]) for s in moved]
    )


def gap(a: Array, b: Array) -> float:
    apart = np.linalg.norm(a[:, None, :3] - b[None, :, :3], axis=2)
    return float((apart - a[:, None, 3] - b[None, :, 3]).min())


@pytest.mark.slow
def test_every_point_on_a_way_is_covered(dual: Robot) -> None:
    arm, rng = dual.arm("left_arm"), np.random.default_rng(3)
    chain = fold(dual, arm, BASE, joint_values(dual, ()))
    groups = [g for g in link_groups(dual, chain) if g.body > 0]
    for _ in range(5):
        a, step = rng.uniform(-1.0, 1.0, 7), rng.uniform(-0.4, 0.4, 7)
        rows = np.array([a, a + step, a + step - 0.3])
        cover = np.concatenate([g.spheres for g in swept(chain, groups, rows)])
        for _ in range(40):
            i, u = int(rng.integers(2)), float(rng.random())
            for ball in balls(dual, "left_arm", rows[i] + u * (rows[i + 1] - rows[i])):
                sticks_out = np.linalg.norm(cover[:, :3] - ball[:3], axis=1) + ball[3] - cover[:, 3]
                assert sticks_out.min() < 1e-9


def test_fewer_spheres_cover_the_many() -> None:
    many = np.column_stack([np.random.default_rng(1).uniform(0.0, 0.1, (500, 3)), np.full(500, 0.01)])
    few = coarse(many)
    assert len(few) < 200
    apart = np.linalg.norm(many[:, None, :3] - few[None, :, :3], axis=2)
    assert ((apart + many[:, None, 3] - few[None, :, 3]).min(axis=1) < 1e-12).all()


def test_an_arm_that_stands_in_the_way_is_named_and_gone_when_the_query_says_so(
    cell: Engine, dual: Robot
) -> None:
    right = reach(cell, dual, "right_arm", (0.5, 0.1, 0.2))
    left = reach(cell, dual, "left_arm", (0.5, 0.12, 0.2), GONE)
    home = dual.arm("left_arm").home_q
    stands = SceneQuery(others=(OtherArm("right_arm", right[None]),))
    blocked = cell.plan(PlanRequest("left_arm", home, JointGoals(left[None]), stands), never)
    assert blocked.code is Code.GOAL_IN_COLLISION
    assert blocked.blocking is not None
    assert any(body.startswith("dual_fr3/right_") for body in blocked.blocking)
    free = motion(cell, "left_arm", home, left, SceneQuery(others=(GONE,)))
    verdict = cell.validate("left_arm", free, stands, home)
    assert verdict.code is Code.TRAJECTORY_REFUSED
    assert verdict.blocking is not None and verdict.blocking.b.startswith("dual_fr3/right_")


def test_a_plan_keeps_clear_of_the_whole_way_of_the_other_arm(cell: Engine, dual: Robot) -> None:
    side, middle = ((0.45, -0.45, 0.25), (0.45, 0.0, 0.25))
    way = motion(
        cell,
        "right_arm",
        reach(cell, dual, "right_arm", side),
        reach(cell, dual, "right_arm", middle),
        SceneQuery(),
    )
    scene = SceneQuery(others=(OtherArm("right_arm", way.q[::3]),))
    home = dual.arm("left_arm").home_q
    goal = reach(cell, dual, "left_arm", (0.45, 0.35, 0.3), OtherArm("right_arm", way.q[::3]))
    found = motion(cell, "left_arm", home, goal, scene)
    assert cell.validate("left_arm", found, scene, home).code is Code.OK
    theirs = [balls(dual, "right_arm", q) for q in way.q[::6]]
    assert min(gap(balls(dual, "left_arm", q), other) for q in found.q[::6] for other in theirs) > 0.004


def test_a_path_through_where_the_other_will_be_is_refused_though_it_is_free_now(
    cell: Engine, dual: Robot
) -> None:
    start = reach(cell, dual, "right_arm", (0.45, -0.45, 0.25))
    end = reach(cell, dual, "right_arm", (0.45, 0.1, 0.25))
    left = reach(cell, dual, "left_arm", (0.45, 0.05, 0.25), OtherArm("right_arm", start[None]))
    home = dual.arm("left_arm").home_q
    now = SceneQuery(others=(OtherArm("right_arm", start[None]),))
    made_before = motion(cell, "left_arm", home, left, now)
    assert cell.validate("left_arm", made_before, now, home).code is Code.OK
    way = motion(cell, "right_arm", start, end, SceneQuery())
    later = SceneQuery(others=(OtherArm("right_arm", way.q[::3]),))
    assert cell.validate("left_arm", made_before, later, home).code is Code.TRAJECTORY_REFUSED


def test_what_the_other_arm_holds_is_where_its_hand_is(cell: Engine, dual: Robot) -> None:
    right = reach(cell, dual, "right_arm", (0.5, -0.3, 0.3))
    cell.update_world(world_of(("bar", (box((0.05, 0.6, 0.05)),), Pose.of((0.5, 0.4, 0.3)))))
    left = reach(cell, dual, "left_arm", (0.5, 0.0, 0.3), GONE)
    empty = SceneQuery(others=(OtherArm("right_arm", right[None]),), ignored=frozenset({"bar"}))
    held = Attachment("bar", "right_hand", Pose.of((0.0, 0.0, 0.1)))
    holding = replace(empty, ignored=frozenset(), others=(OtherArm("right_arm", right[None], (held,)),))
    assert cell.explain("left_arm", left, empty).code is Code.OK
    verdict = cell.explain("left_arm", left, holding)
    assert verdict.code is Code.START_IN_COLLISION
    assert verdict.blocking is not None and "bar" in verdict.blocking
    home = dual.arm("left_arm").home_q
    free = motion(cell, "left_arm", home, left, empty)
    assert "bar" in (cell.validate("left_arm", free, holding, home).blocking or ())
    beside = reach(cell, dual, "left_arm", (0.5, 0.4, 0.3), GONE)
    assert cell.explain("left_arm", beside, holding).code is Code.OK  # where it was seen last is no obstacle


def test_the_pipeline_reads_joints_of_other_arms_as_measured(cell: Engine, dual: Robot) -> None:
    world = world_of(("cube", (box((0.05, 0.05, 0.05)),), Pose.of((3.0, 0.0, 0.0))))
    right = reach(cell, dual, "right_arm", (0.5, 0.1, 0.2))
    left = reach(cell, dual, "left_arm", (0.5, 0.12, 0.2), GONE)
    names = dual.arm("right_arm").joint_names
    joints = JointState(0.0, dict(zip(names, right.tolist(), strict=True)))
    readers = WorldReaders(lambda: replace(world, joints=joints), lambda: True, lambda: 0.0)
    pipeline = PlanningPipeline(dual, cell, PlanningScene(), readers, Pose.identity())
    verdict, _ = pipeline.explain(dual.arm("left_arm"), left, SceneQuery(), 0)
    assert verdict.code is Code.START_IN_COLLISION
    assert pipeline.explain(dual.arm("left_arm"), left, SceneQuery(others=(GONE,)), 0)[0].code is Code.OK
    for bad in (
        OtherArm("left_arm", right[None]),
        OtherArm("third_arm", right[None]),
        OtherArm("right_arm", right[None, :6]),
    ):
        with pytest.raises(RequestRefused, match="others"):
            pipeline.explain(dual.arm("left_arm"), left, SceneQuery(others=(bad,)), 0)


def test_a_goal_nearer_to_the_other_arm_than_the_gap_is_no_goal(cell: Engine, dual: Robot) -> None:
    right, home = reach(cell, dual, "right_arm", (0.5, -0.3, 0.3)), dual.arm("left_arm").home_q
    stands = SceneQuery(others=(OtherArm("right_arm", right[None]),))
    at_once, refused = 0, 0
    for y in np.linspace(-0.12, -0.04, 25):
        q = reach(cell, dual, "left_arm", (0.5, float(y), 0.3), GONE)
        look = cell.explain("left_arm", q, stands)
        of_both = look.blocking is not None and "right" in look.blocking.a + look.blocking.b
        result = cell.plan(PlanRequest("left_arm", home, JointGoals(q[None]), stands), never)
        if of_both and look.clearance_m < 0.007:
            refused += 1
            assert result.code is Code.GOAL_IN_COLLISION
        elif result.trajectory is not None:
            at_once += 1
            assert cell.validate("left_arm", result.trajectory, stands, home).code is Code.OK
    assert at_once and refused
