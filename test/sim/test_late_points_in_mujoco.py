"""Points of a reactive controller that come late and in bursts move the arm within the safety layer's limits."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from decider_node.motion.command import MotionCommand
from decider_node.motion.controller import ReactiveController, Settings
from decider_node.motion.irregular_ticks import TrajectorySample, UnevenCycles
from handiwork_core.control.goal_refusal import GoalRefused
from handiwork_core.control.trajectory_controller import Reference
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import Scene
from sim_bridge.mujoco.simulation import Simulation
from support.paths import ROBOTS

TICK = 5
"""Control periods between two joint states, as in ``SimLoop``."""
WORK_S, LAG_S = 0.01, 0.01
"""Mean times of a cycle of the node and of the way of its point, s."""


def next_target(rng: np.random.Generator, heading: float) -> MotionCommand:
    """Return a pose anywhere around the arm, the tool down."""
    azimuth, radius = rng.uniform(-1.2, 1.9), rng.uniform(0.45, 1.0)
    at = radius * np.cos(azimuth), radius * np.sin(azimuth), rng.uniform(-0.3, 0.4)
    turn = Rotation.from_axis_angle((0.0, 0.0, 1.0), heading)
    return MotionCommand(Pose.of(at, turn @ Rotation.from_rpy(np.pi, 0.0, 0.0)))


@pytest.mark.parametrize("seed", [0, 1])
def test_a_wrist_that_turns_on_and_on_comes_to_its_limit_without_a_protective_stop(seed: int) -> None:
    rng, robot = np.random.default_rng(seed), load_robot(ROBOTS / "ur10_suction")
    arm, sim = robot.arm(""), Simulation(robot, Scene("empty", "empty", Pose.identity(), ()))
    axis = sim.arms[arm.name]
    cycles = UnevenCycles(ReactiveController(robot, arm, Pose.identity(), Settings(clearance_m=0.002)))
    lower = np.array([robot.joints[name].lower for name in arm.joint_names])
    upper = np.array([robot.joints[name].upper for name in arm.joint_names])
    on_the_way: list[tuple[float, int, float, TrajectorySample]] = []
    command, next_s, busy_s, heading, nearest = None, 0.0, 0.0, 0.0, np.inf
    while sim.world.time_s < 12.0:
        sim.advance(TICK)
        now_s, joints = sim.world.time_s, sim.joints()
        if now_s >= next_s:
            heading += rng.uniform(0.0, 2.5)
            command, next_s = next_target(rng, heading), now_s + rng.uniform(0.3, 2.0)
        if (
            now_s >= busy_s
        ):  # the node takes the newest joints when it is ready for them, and misses those between
            q, rate = joints.position[axis.indices], joints.velocity[axis.indices]
            point = cycles.point(command, now_s, q, rate)
            busy_s = now_s + (rng.exponential(WORK_S) if rng.random() < 0.9 else rng.uniform(0.0, 0.25))
            late_s = rng.exponential(LAG_S) if rng.random() < 0.9 else rng.uniform(0.0, 0.12)
            if point is not None:
                heapq.heappush(on_the_way, (busy_s + late_s, len(on_the_way), now_s, point))
        while on_the_way and on_the_way[0][0] <= now_s:
            _, _, stamp_s, point = heapq.heappop(on_the_way)
            wanted, age_s = Reference(point.q, point.rate), now_s - stamp_s - point.ahead_s
            try:
                axis.controller.stream(wanted, sim.measured(arm.name), age_s)
            except GoalRefused:  # it is older than the stream allows
                continue
        assert not sim.safety.status.is_stopped, sim.safety.status.reason
        reference = axis.controller.reference.position
        nearest = min(nearest, float(np.minimum(upper - reference, reference - lower)[-1]))
    assert nearest < 0.05, f"the wrist stayed {nearest:.2f} rad from its limit, which was not tried"
