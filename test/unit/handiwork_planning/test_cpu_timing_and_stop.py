"""Repetition, and the time until a stop takes effect."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    Candidate,
    CandidatesRequest,
    Engine,
    IkRequest,
    JointGoals,
    PlanRequest,
    SceneQuery,
)
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import Robot
from support.planning.demo_world import box, hand_down, world_of

RESPONSE_S = 0.5
"""Ten times the allowed duration of a stop, as machines are shared."""


def stopped_after(engine: Engine, work: str, robot: Robot) -> float:
    """Return the seconds from a flag set by another thread until the call returns, which must say CANCELED."""
    flag, raised = threading.Event(), [0.0]

    def raise_flag() -> None:
        raised[0] = time.monotonic()
        flag.set()

    home = np.array(robot.arm("").home_q)
    poses = tuple(hand_down(robot, 0.5, 0.0, 0.3, yaw) for yaw in np.linspace(-3.0, 3.0, 20_000))
    timer = threading.Timer(0.2, raise_flag)
    timer.start()
    if work == "ik":
        far = (hand_down(robot, 2.0, 0.0, 0.3),) * 200_000
        codes = engine.solve_ik(IkRequest("", far, home), flag.is_set).codes
        code = codes[-1]
    elif work == "candidates":
        candidates = tuple(Candidate((pose,)) for pose in poses)
        code = engine.check_candidates(
            CandidatesRequest("", home, candidates, (SceneQuery(),), budget_s=60.0), flag.is_set
        ).code
    else:
        goal = home.copy()
        goal[0] = 1.3
        start = replace_first(home, -1.3)
        request = PlanRequest("", start, JointGoals(goal[None]), budget_s=60.0)
        code = engine.plan(request, flag.is_set).code
    timer.join()
    assert code is Code.CANCELED
    return time.monotonic() - raised[0]


def replace_first(q: np.ndarray, value: float) -> np.ndarray:  # type: ignore[type-arg]
    changed = q.copy()
    changed[0] = value
    return changed


@pytest.mark.parametrize("work", ["ik", "candidates", "plan"])
def test_a_stop_from_another_thread_is_heeded_soon(engine: Engine, robot: Robot, work: str) -> None:
    if work == "plan":
        walls = [((1.5, 0.02, 4.0), (0.93, 0.0, 0.0)), ((1.5, 0.02, 4.0), (-0.93, 0.0, 0.0))]
        lid = ("lid", (box((4.0, 0.02, 2.0)),), Pose.of((0.0, 0.0, 1.8)))
        engine.update_world(
            world_of(*[(f"wall{i}", (box(s),), Pose.of(p)) for i, (s, p) in enumerate(walls)], lid)
        )
    assert stopped_after(engine, work, robot) < RESPONSE_S


def test_twenty_problems_come_out_the_same_twice(engine: Engine, robot: Robot) -> None:
    home, rng = np.array(robot.arm("").home_q), np.random.default_rng(1)
    for seed in range(20):
        goal = home + rng.uniform(-0.5, 0.5, len(home))
        request = PlanRequest("", replace_first(home, -1.0), JointGoals(goal[None]), seed=seed)
        one, two = (engine.plan(replace(request), lambda: False) for _ in range(2))
        assert (one.code, one.message, one.blocking) == (two.code, two.message, two.blocking)
        if one.trajectory is not None and two.trajectory is not None:
            np.testing.assert_array_equal(one.trajectory.q, two.trajectory.q)


def test_a_trajectory_too_long_to_judge_is_refused_unread(engine: Engine, robot: Robot) -> None:
    arm, home = robot.arm(""), np.array(robot.arm("").home_q)
    for count, step, word in ((60_000, 0.01, "samples"), (49_000, 1.0, "configurations")):
        q = np.tile(home, (count, 1))
        q[1:-1:2, 0] += 0.5
        still = np.zeros_like(q)
        verdict = engine.validate(
            "", Trajectory(arm.joint_names, step * np.arange(count), q, still, still), SceneQuery(), home
        )
        assert verdict.code is Code.TRAJECTORY_REFUSED
        assert word in verdict.message
