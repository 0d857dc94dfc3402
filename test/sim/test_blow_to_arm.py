"""A blow that throws an arm off its path ends the goal, and trips no limit of the safety layer at reduced speed."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.control.goal_refusal import ErrorCode
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.robot.robot import Robot
from handiwork_core.safety.state import Mode
from handiwork_core.scene.loader import load_scene
from sim_bridge.mujoco.simulation import Simulation
from support.paths import ROOT

ARM = "fr3_arm"
OFF_RAD = 0.06
"""The distance from the path at which the blow leaves a joint: more than the tolerance."""


@pytest.mark.parametrize("blow", [2.5, -2.5])
def test_the_arm_brakes_from_no_more_than_the_speed_of_its_path(robot: Robot, blow: float) -> None:
    sim = Simulation(robot, load_scene(ROOT / "config/scenes/tabletop.yaml"))
    sim.safety.set_speed_scale(0.5)
    controller, q = sim.arms[ARM].controller, sim.measured(ARM)
    rows = np.stack([q, q + 0.3 * np.eye(7)[0]])
    controller.start(TrajectoryGoal(controller.limits.names, np.array([0.0, 4.0]), rows), q)
    sim.advance(1000)
    along = float(controller.reference.velocity[0])
    joints = [sim.world.model.joint(f"fr3/{name}") for name in controller.limits.names[:2]]
    for joint in joints:  # both joints swing the hand sideways or down
        sim.world.data.qpos[joint.qposadr] += np.sign(blow) * OFF_RAD
        sim.world.data.qvel[joint.dofadr] = blow
    sim.advance(1)
    assert np.abs(controller.reference.velocity[0]) <= abs(along) + 1e-9
    while controller.busy:
        sim.advance(1)
    result = controller.result
    assert result is not None and result.code is ErrorCode.PATH_TOLERANCE_VIOLATED, result
    assert sim.safety.status.mode is Mode.REDUCED, sim.safety.status
