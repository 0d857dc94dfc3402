"""What a cell knows of its world: the joint of a drawer, the robot's frame, and a cup right after it was switched."""

from __future__ import annotations

from handiwork_core.contracts.predicate import Truth
from handiwork_core.model.outcome import Code
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.lock_step.cell import LockStepCell
from handiwork_data.lock_step.condition_port import CellMonitor
from handiwork_data.lock_step.controller_ports import CupPort
from support.paths import ROBOTS, ROOT


def test_the_joint_of_a_drawer_is_known_to_conditions() -> None:
    robot = load_robot(ROBOTS / "fr3")
    cell = LockStepCell(robot, load_scene(ROOT / "config/scenes/drawer.yaml"), 10.0)
    cell.tick()
    monitor = CellMonitor(robot, cell)
    found = monitor.now(monitor.make("joint_open(joint=drawer, open_position=0.24, share=0.7)"))
    assert found.truth is Truth.FALSE, found.reason
    assert abs(cell.snapshot().joints.position["drawer"]) < 0.05


def test_a_condition_in_the_frame_of_a_fixed_robot_is_decided() -> None:
    robot = load_robot(ROBOTS / "fr3")
    cell = LockStepCell(robot, load_scene(ROOT / "config/scenes/tabletop.yaml"), 10.0)
    monitor = CellMonitor(robot, cell)
    found = monitor.now(monitor.make("object_left_of(object=cube, reference_object=bin)"))
    assert found.truth is Truth.TRUE, found.reason


def test_the_world_shows_a_cup_right_after_it_was_switched() -> None:
    robot = load_robot(ROBOTS / "ur10_suction")
    cell = LockStepCell(robot, load_scene(ROOT / "config/scenes/ur10_suction_table.yaml"), 10.0)
    gripper = robot.arm("").gripper
    assert gripper is not None
    assert not cell.snapshot().suction[gripper.name].on
    port = CupPort(cell, gripper)
    failed = port.move(gripper.min_width_m, should_stop=lambda: False)
    assert failed.code is Code.NOTHING_GRASPED and "no seal" in failed.message
    assert not cell.snapshot().suction[gripper.name].on
    cell.sim.world.cups[gripper.name].switch(on=True)
    cell.forget_snapshot()
    assert cell.snapshot().suction[gripper.name].on
    assert port.move(gripper.max_width_m, should_stop=lambda: False).ok
    assert not cell.snapshot().suction[gripper.name].on
    refused = port.move(0.0, force_n=5.0, should_stop=lambda: False)
    assert refused.field_name == "grip_force"
