"""Motions of generated episodes with a heavy object take the time that the joints need, as those of the stack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from handiwork_core.contracts.planning import (
    Attachment,
    JointGoals,
    PathRest,
    PlanRequest,
    SceneQuery,
    never_stop,
)
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.lock_step.cell import LockStepCell
from handiwork_data.lock_step.cell_arms import CellArms
from handiwork_planning.cpu_engine import CpuEngine
from support.paths import ROBOTS, ROOT

ARM = "fr3_arm"
HELD = SceneQuery(attached=(Attachment("cube", "fr3_hand", Pose.of((0.0, 0.0, 0.11))),))
LOW = np.array([0.0, 0.9, 0.0, -1.2, 0.0, 2.1, 0.8])
HIGH = LOW - np.array([0.0, 1.4, 0.0, 0.0, 0.0, 0.0, 0.0])


def test_a_heavy_object_makes_a_motion_slower_and_too_heavy_a_one_impossible() -> None:
    robot, scene = load_robot(ROBOTS / "fr3"), load_scene(ROOT / "config/scenes/tabletop.yaml")
    engine = CpuEngine(robot, scene.world_T_base, lambda _done, _text: None)
    request = PlanRequest(ARM, LOW, JointGoals(HIGH[None]), HELD, budget_s=60.0)
    found = {}
    for mass_kg in (0.0, 2.8, 9.0):
        objects = tuple(
            replace(item, body=replace(item.body, mass_kg=mass_kg or 1e-3)) if item.name == "cube" else item
            for item in scene.objects
        )
        cell = LockStepCell(robot, replace(scene, objects=objects), 10.0)
        ports = CellArms(cell, engine).ports[ARM]
        found[mass_kg] = ports.plan(request, should_stop=never_stop)
    light, heavy, most = (found[mass_kg] for mass_kg in (0.0, 2.8, 9.0))
    assert light.trajectory is not None and heavy.trajectory is not None, (light.message, heavy.message)
    assert heavy.trajectory.duration_s > 1.1 * light.trajectory.duration_s
    assert most.code is Code.PLAN_FAILED and "'cube' (9 kg)" in most.message, most.message
    whole = ports.validate_rest(ARM, heavy.trajectory, HELD, PathRest(0.0), should_stop=never_stop)
    assert whole.code is Code.TRAJECTORY_REFUSED, (
        "a way that is chosen by this judgement is judged with its load"
    )
    assert "'cube' (9 kg)" in whole.message
