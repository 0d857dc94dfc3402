"""The requirements of any engine in the demo world: the same tests run with each that can run on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    Attachment,
    Candidate,
    CandidatesRequest,
    Engine,
    JointGoals,
    PlanRequest,
    PoseGoals,
    SceneQuery,
    StraightGoal,
)
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot.robot import Robot
from planner_node.engines import ENGINES, CpuEngine
from support.planning.demo_world import box, demo_items, hand_down, world_of

FREE = SceneQuery()


@pytest.fixture(scope="module", params=ENGINES, ids=lambda kind: kind.name)
def made_engine(request: pytest.FixtureRequest, robot: Robot) -> Iterator[Engine]:
    kind: type[Engine] = request.param
    why_not = kind.why_not()
    if why_not:
        pytest.skip(f"engine {kind.name!r} cannot run here: {why_not}")
    if kind is CpuEngine:
        yield request.getfixturevalue("bare_engine")
        return
    # Equal requests get equal answers only from equal solvers: these wait while solvers are being built.
    waiting = type(kind.__name__, (kind,), {"waits_for_builds": True})
    engine = waiting(robot, Pose.identity(), lambda _share, _text: None)
    yield engine
    engine.close()


@pytest.fixture
def engine(made_engine: Engine) -> Engine:
    made_engine.update_world(world_of(*demo_items()))
    return made_engine


def never() -> bool:
    return False


def home(robot: Robot) -> Array:
    """Return the home of the only arm, (n,), rad.

    Args:
        robot: The robot.
    """
    return np.array(robot.arm("").home_q)


def good(engine: Engine, request: PlanRequest) -> Trajectory:
    """Plan, and return the trajectory.

    Args:
        engine: The engine.
        request: A request that must succeed.
    """
    result = engine.plan(request, never)
    assert result.code is Code.OK, result.message
    assert result.trajectory is not None
    return result.trajectory


def assert_sound(engine: Engine, robot: Robot, t: Trajectory, request: PlanRequest) -> None:
    """Check start, rest, limits of velocity, acceleration and jerk, and the referee's dense samples.

    Args:
        engine: The engine.
        robot: The robot.
        t: The trajectory.
        request: The request that it answers.
    """
    joints = [robot.joints[n] for n in robot.arm("").joint_names]
    np.testing.assert_allclose(t.q[0], request.start_q, atol=1e-9)
    assert np.abs(t.qd[[0, -1]]).max() < 1e-9
    assert (np.abs(t.qd) <= 1.01 * request.velocity_scaling * np.array([j.velocity for j in joints])).all()
    assert (
        np.abs(t.qdd) <= 1.01 * request.acceleration_scaling * np.array([j.acceleration for j in joints])
    ).all()
    jerk = np.diff(t.qdd, axis=0) / np.diff(t.t_s)[:, None]
    assert (np.abs(jerk) <= 1.01 * request.acceleration_scaling * np.array([j.jerk for j in joints])).all()
    verdict = engine.validate("", t, request.scene, request.start_q)
    assert verdict.code is Code.OK, verdict.message


@pytest.mark.parametrize("seed", range(20))
def test_plans_are_sound_and_repeat(engine: Engine, robot: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = (0.45, -0.35) if seed % 2 else (0.5, 0.15)
    poses = tuple(
        hand_down(
            robot, x + rng.uniform(-0.04, 0.04), y + rng.uniform(-0.04, 0.04), rng.uniform(0.15, 0.3), yaw
        )
        for yaw in rng.uniform(-np.pi, np.pi, 1 + seed % 4)
    )
    scaling = 1.0 if seed % 3 else 0.4
    request = PlanRequest(
        "", home(robot), PoseGoals(poses), velocity_scaling=scaling, acceleration_scaling=scaling, seed=seed
    )
    result = engine.plan(request, never)
    assert result.code is Code.OK and result.trajectory is not None, result.message
    assert_sound(engine, robot, result.trajectory, request)
    reached = forward(robot, "", result.trajectory.q[-1])
    assert reached.almost_equal(poses[result.goal_index], within_m=1e-3, within_rad=1e-3)
    np.testing.assert_array_equal(good(engine, request).q, result.trajectory.q)


def pick(engine: Engine, robot: Robot) -> tuple[Array, Array, Pose]:
    """Return configurations above and at the cube, and the pose above.

    Args:
        engine: The engine.
        robot: The robot.
    """
    above, at = hand_down(robot, 0.5, 0.0, 0.125), hand_down(robot, 0.5, 0.0, 0.025)
    scenes = (FREE, SceneQuery(ignored=frozenset({"cube"})))
    request = CandidatesRequest("", home(robot), (Candidate((above, at)),), scenes)
    verdict = engine.check_candidates(request, never).verdicts[0]
    assert verdict.code is Code.OK
    assert verdict.cost == pytest.approx(
        np.abs(verdict.q[0] - home(robot)).sum() + np.abs(verdict.q[1] - verdict.q[0]).sum()
    )
    return verdict.q[0], verdict.q[1], above


def test_straight_motion_stays_on_its_line(engine: Engine, robot: Robot) -> None:
    start, end, above = pick(engine, robot)
    goal = forward(robot, "", end)
    scene = SceneQuery(ignored=frozenset({"cube"}))
    request = PlanRequest("", start, StraightGoal(goal, 0.001), scene, hold_vec_weight=(1, 1, 1, 1, 1, 0))
    t = good(engine, request)
    assert_sound(engine, robot, t, request)
    for q in t.q:
        pose = forward(robot, "", q)
        assert np.linalg.norm((pose.translation_m - above.translation_m)[:2]) < 0.0011
        assert pose.rotation.angle_to(above.rotation) < 0.01


def test_lift_of_a_touching_object_is_allowed_but_going_deeper_is_not(engine: Engine, robot: Robot) -> None:
    _, q, above = pick(engine, robot)
    ee = forward(robot, "", q)
    held = SceneQuery(
        attached=(Attachment("cube", robot.arm("").ee_link, ee.inverse() @ Pose.of((0.5, 0.0, 0.025))),)
    )
    up = PlanRequest("", q, StraightGoal(above), held)
    assert_sound(engine, robot, good(engine, up), up)
    down = replace(up, goal=StraightGoal(hand_down(robot, 0.5, 0.0, 0.015)))
    result = engine.plan(down, never)
    assert result.code is Code.PATH_BLOCKED and result.blocking is not None
    assert set(result.blocking) == {"cube", "table"}


def swing(robot: Robot) -> tuple[Array, Array]:
    """Return two configurations that differ in the first joint by 2.6 rad.

    Args:
        robot: The robot.
    """
    a = home(robot)
    b = a.copy()
    a[0], b[0] = -1.3, 1.3
    return a, b


def timed(q: Array, robot: Robot, duration_s: float) -> Trajectory:
    """Return a quintic rest-to-rest motion between two rows, computed without the engine.

    Args:
        q: Joint positions of both rows, (2, n), rad.
        robot: The robot.
        duration_s: Duration, s.
    """
    t = np.linspace(0.0, duration_s, int(duration_s * 100) + 1)
    u = (t / duration_s)[:, None]
    d = q[1] - q[0]
    return Trajectory(
        robot.arm("").joint_names,
        t,
        q[0] + (10 * u**3 - 15 * u**4 + 6 * u**5) * d,
        (30 * u**2 - 60 * u**3 + 30 * u**4) * d / duration_s,
        (60 * u - 180 * u**2 + 120 * u**3) * d / duration_s**2,
    )


def test_a_thin_plate_is_never_tunnelled(engine: Engine, robot: Robot) -> None:
    plate = ("plate", (box((1.0, 0.005, 1.2)),), Pose.of((0.75, 0.0, 0.6)))
    engine.update_world(world_of(plate))
    a, b = swing(robot)
    for duration_s in (2.5, 5.0):
        verdict = engine.validate("", timed(np.array([a, b]), robot, duration_s), FREE, a)
        assert verdict.code is Code.TRAJECTORY_REFUSED
        assert verdict.blocking is not None and verdict.blocking.b == "plate"
    request = PlanRequest("", a, JointGoals(b[None]), budget_s=20.0)
    result = engine.plan(request, never)
    if result.code is Code.OK:
        assert result.trajectory is not None
        assert_sound(engine, robot, result.trajectory, request)
    else:
        assert result.code in (Code.PATH_BLOCKED, Code.PLAN_BUDGET)


def test_validate_accepts_a_good_and_refuses_planted_bad_trajectories(engine: Engine, robot: Robot) -> None:
    engine.update_world(world_of())
    a, b = swing(robot)
    t = timed(np.array([a, b]), robot, 3.0)
    assert engine.validate("", t, FREE, a).code is Code.OK
    jump = t.q.copy()
    jump[100:] += 0.1
    bad = {
        "jump": replace(t, q=jump),
        "over speed": timed(np.array([a, b]), robot, 1.0),
        "not at rest": replace(t, t_s=t.t_s[:100], q=t.q[:100], qd=t.qd[:100], qdd=t.qdd[:100]),
        "elsewhere": replace(t, q=t.q + 0.05),
        "names": replace(t, joint_names=t.joint_names[::-1]),
        "nan": replace(t, q=np.full_like(t.q, np.nan)),
        "times": replace(t, t_s=t.t_s[::-1]),
        "lying velocity": replace(t, qd=np.zeros_like(t.qd)),
    }
    for what, trajectory in bad.items():
        assert engine.validate("", trajectory, FREE, a).code is Code.TRAJECTORY_REFUSED, what
    engine.update_world(world_of(("post", (box((0.05, 0.05, 1.0)),), Pose.of((0.32, 0.0, 0.5)))))
    verdict = engine.validate("", t, FREE, a)
    assert verdict.code is Code.TRAJECTORY_REFUSED and verdict.clearance_m < 0.0 and verdict.at > 0
    assert engine.validate("", t, SceneQuery(ignored=frozenset({"post"})), a).code is Code.OK


def test_start_in_collision_names_pair_and_depth(engine: Engine, robot: Robot) -> None:
    hand = forward(robot, "", home(robot))
    engine.update_world(world_of(("block", (box((0.2, 0.2, 0.2)),), Pose.of(hand.translation_m))))
    result = engine.plan(PlanRequest("", home(robot), JointGoals(home(robot)[None])), never)
    assert result.code is Code.START_IN_COLLISION and result.depth_m > 0.0
    assert result.blocking is not None and result.blocking.b == "block"
    verdict = engine.explain("", home(robot), FREE)
    assert verdict.code is Code.START_IN_COLLISION and verdict.clearance_m == pytest.approx(-result.depth_m)


def test_each_failure_has_its_code(engine: Engine, robot: Robot) -> None:
    start = home(robot)
    far = PoseGoals((Pose.of((2.0, 0.0, 0.5)),))
    result = engine.plan(PlanRequest("", start, far), never)
    assert result.code is Code.NO_IK and 0.5 < result.position_error_m < 2.0
    low = PoseGoals((hand_down(robot, 0.5, 0.2, -0.05),))
    result = engine.plan(PlanRequest("", start, low), never)
    assert result.code is Code.GOAL_IN_COLLISION and result.blocking is not None and result.depth_m > 0.0
    outside = start.copy()
    outside[3] = 0.5
    assert engine.plan(PlanRequest("", outside, JointGoals(start[None])), never).code is Code.JOINT_LIMIT
    assert engine.plan(PlanRequest("", start, JointGoals(outside[None])), never).code is Code.JOINT_LIMIT
    assert engine.explain("", outside, FREE).code is Code.JOINT_LIMIT
    held = PlanRequest("", start, JointGoals(start[None] + 0.1), hold_vec_weight=(1, 1, 1, 0, 0, 0))
    assert engine.plan(held, never).code is Code.CONTRADICTION
    turned = Pose.of((0.5, 0.0, 0.4), Rotation.from_rpy(np.pi, 0.0, 0.5))
    held = PlanRequest("", start, PoseGoals((turned,)), hold_vec_weight=(1, 1, 1, 0, 0, 0))
    assert engine.plan(held, never).code is Code.CONTRADICTION
    gone = SceneQuery(attached=(Attachment("ghost", robot.arm("").ee_link, Pose.identity()),))
    assert (
        engine.plan(PlanRequest("", start, JointGoals(start[None]), gone), never).code is Code.UNKNOWN_OBJECT
    )
    assert (
        engine.plan(PlanRequest("", start * np.nan, JointGoals(start[None])), never).code is Code.BAD_NUMBER
    )
    assert engine.plan(PlanRequest("left", start, JointGoals(start[None])), never).code is Code.BAD_GOAL


def test_stop_and_budget_end_the_search(engine: Engine, robot: Robot) -> None:
    a, b = swing(robot)
    front = ("wall", (box((1.5, 0.02, 4.0)),), Pose.of((0.93, 0.0, 0.0)))
    behind = ("back", (box((1.5, 0.02, 4.0)),), Pose.of((-0.93, 0.0, 0.0)))
    lid = ("lid", (box((4.0, 0.02, 2.0)),), Pose.of((0.0, 0.0, 1.8)))
    engine.update_world(world_of(front, behind, lid))
    request = PlanRequest("", a, JointGoals(b[None]), budget_s=0.3)
    result = engine.plan(request, never)
    assert result.code is Code.PLAN_BUDGET and "hit" in result.message
    calls = iter(range(1_000_000))
    stopped = engine.plan(replace(request, budget_s=60.0), lambda: next(calls) > 1)
    assert stopped.code is Code.CANCELED and next(calls) < 10


def test_ignored_and_allowed_bodies_are_no_obstacles(engine: Engine, robot: Robot) -> None:
    gripper = robot.arm("").gripper
    assert gripper is not None
    shut = SceneQuery(gripper_m=((gripper.joint, 0.0),))
    request = PlanRequest("", home(robot), PoseGoals((hand_down(robot, 0.5, 0.0, 0.03),)), shut)
    result = engine.plan(request, never)
    assert (
        result.code is Code.GOAL_IN_COLLISION and result.blocking is not None and result.blocking.b == "cube"
    )
    links = [*gripper.finger_links, robot.arm("").ee_link]
    allowed = frozenset(BodyPair("cube", f"{robot.name}/{link}") for link in links)
    for scene in (replace(shut, ignored=frozenset({"cube"})), replace(shut, allowed=allowed)):
        good(engine, replace(request, scene=scene))
    engine.update_world(world_of(*[i for i in demo_items() if i[0] != "cube"], version=2))
    good(engine, request)
