"""A cell with a drawer: its joint is measured, and conditions about it are decided."""

from __future__ import annotations

from handiwork_core.contracts.predicate import Truth
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.lock_step.cell import LockStepCell
from handiwork_data.lock_step.condition_port import CellMonitor
from support.paths import ROBOTS, ROOT


def test_the_joint_of_a_drawer_is_known_to_conditions() -> None:
    robot = load_robot(ROBOTS / "fr3")
    cell = LockStepCell(robot, load_scene(ROOT / "config/scenes/drawer.yaml"), 10.0)
    cell.tick()
    monitor = CellMonitor(robot, cell)
    found = monitor.now(monitor.make("joint_open(joint=drawer, open_position=0.24, share=0.7)"))
    assert found.truth is Truth.FALSE, found.reason
    assert abs(cell.snapshot().joints.position["drawer"]) < 0.05
