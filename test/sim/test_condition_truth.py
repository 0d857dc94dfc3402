"""Conditions against a person's judgement of simulated situations: test/data/conditionals/situations.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from conditionals_node.expressions.build import Builder
from handiwork_core.control.gripper_controller import GripperGoal
from handiwork_core.control.trajectory_controller import Ending
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation
from support.cells.arm_motion import grasp_pose, move, solve_ik
from support.paths import ROBOTS, ROOT

FILE = ROOT / "test" / "data" / "conditionals" / "situations.yaml"
SITUATIONS: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
EXPLAINED: set[str] = set()
"""Situations on which a person and the conditions disagree; docs/explanation/condition-truth.md says why."""

SCENE = """
name: truth
objects:
  table: {static: true, pose: {position: [0.6, 0.0, -0.025]}, shapes: [{type: box, size: [0.8, 1.2, 0.05]}]}
  bin: {static: true, pose: {position: [0.5, -0.3, 0.0]}, container: {inner: [0.22, 0.22, 0.08], wall: 0.01}}
  cube: {mass: 0.1, friction: 0.9, pose: {position: [3, 0, 5]}, shapes: [{type: box, size: [0.04, 0.04, 0.04]}]}
  block: {mass: 0.1, friction: 0.9, pose: {position: [3, 1, 5]}, shapes: [{type: box, size: [0.04, 0.04, 0.04]}]}
  slab: {mass: 0.1, friction: 0.9, pose: {position: [3, 2, 5]}, shapes: [{type: box, size: [0.08, 0.08, 0.02]}]}
  can: {mass: 0.2, friction: 0.9, pose: {position: [3, 3, 5]}, shapes: [{type: cylinder, size: [0.03, 0.10]}]}
  stick: {mass: 0.1, friction: 0.9, pose: {position: [3, 4, 5]}, shapes: [{type: box, size: [0.30, 0.02, 0.02]}]}
  board: {mass: 0.1, friction: 0.9, pose: {position: [3, 5, 5]}, shapes: [{type: box, size: [0.012, 0.10, 0.14]}]}
"""
"""Objects that a situation does not place fall elsewhere."""
SETTLE_S = 1.0


def pose(numbers: list[float]) -> Pose:
    return Pose.of(numbers[:3], Rotation.from_rpy(*np.radians(numbers[3:])))


class Cell:
    """The scene, which is set up again for each situation, and the questions about it."""

    def __init__(self, robot: Robot, folder: Path) -> None:
        path = folder / "truth.yaml"
        path.write_text(SCENE, encoding="utf-8")
        self.robot, self.scene = robot, load_scene(path)
        self.sim, self.builder = Simulation(robot, self.scene), Builder(robot)
        self.objects = {item.name: item.body for item in self.scene.objects}

    def place(self, places: dict[str, list[float]], settle_s: float) -> None:
        self.sim.reset(self.scene)
        for name, numbers in places.items():
            self.sim.world.set_object_pose(name, pose(numbers))
        self.sim.advance(max(1, round(settle_s / CONTROL_S)))

    def snapshot(self) -> World:
        gripper = self.robot.arm("").gripper
        assert gripper is not None
        world, now = self.sim.world, self.sim.world.time_s
        position = world.joints().position[world.indices((gripper.joint,))]
        joints = JointState(now, {gripper.joint: float(position[0])})
        frames = {"robot": self.scene.world_T_base}
        return World(
            now, 1, self.objects, world.object_states(), world.contacts(), now, joints, frames=frames
        )

    def wrong(self, asks: list[list[Any]]) -> list[str]:
        """Return the answers that differ from the label."""
        world, found = self.snapshot(), []
        for name, args, label in asks:
            condition = self.builder.build(name, args)
            finding = condition.expression.decide(lambda leaf, w=world: leaf.predicate.evaluate(w))  # type: ignore[misc]
            if finding.truth.name != str(label).upper():
                found.append(f"{name} {args} is {finding.truth.name}, not {label}: {finding.reason}")
        return found

    def follow(self, start: Array, end: Array) -> None:
        arm = self.robot.arm("")
        controller = self.sim.arms[arm.name].controller
        controller.start(move(arm, start, end), self.sim.measured(arm.name))
        while controller.busy:
            self.sim.advance(1)
        assert controller.result is not None
        assert controller.result.ending is Ending.SUCCEEDED

    def grip(self, position: float) -> None:
        (gripper,) = self.sim.grippers.values()
        gripper.controller.start(GripperGoal(position), self.sim.world.joints().position[gripper.indices[0]])
        while gripper.controller.busy:
            self.sim.advance(1)


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Cell:
    robot = load_robot(ROBOTS / "fr3")
    return Cell(robot, tmp_path_factory.mktemp("truth"))


def placed(cell: Cell) -> Iterator[tuple[str, list[str]]]:
    """Yield name and wrong answers of each placed situation."""
    for family in SITUATIONS["families"]:
        for i, places in enumerate(family["places"]):
            where = {"bin": family["bin"], **places} if "bin" in family else places
            cell.place(where, family.get("settle", SETTLE_S))
            yield f"{family['name']} {i}", cell.wrong(family["asks"])


def grasped(cell: Cell) -> Iterator[tuple[str, list[str]]]:
    """Yield name and wrong answers of each moment of each grasp."""
    robot, arm, moments = cell.robot, cell.robot.arm(""), SITUATIONS["moments"]
    for i, grasp in enumerate(SITUATIONS["grasps"]):
        cell.place({"cube": grasp["cube"]}, 0.3)
        cell.grip(0.04)
        x, y, yaw = grasp["cube"][0], grasp["cube"][1], np.radians(grasp["cube"][5])

        def over(point: tuple[float, float, float], near: Array, yaw: float = yaw) -> Array:
            return solve_ik(robot, arm, grasp_pose(robot, arm, np.array(point), yaw), near)

        above = over((x, y, 0.25), arm.home_q)
        at, across = over((x, y, 0.02), above), over((*grasp["over"], 0.25), above)
        cell.follow(arm.home_q, above)
        cell.follow(above, at)
        yield f"open around it {i}", cell.wrong(moments["open around it"])
        cell.grip(0.0)
        for start, end in ((at, above), (above, across)):
            cell.follow(start, end)
        yield f"held over the bin {i}", cell.wrong(moments["held over the bin"])
        cell.grip(0.04)
        cell.sim.advance(round(SETTLE_S / CONTROL_S))
        yield f"let go into the bin {i}", cell.wrong(moments["let go into the bin"])


def test_conditions_agree_with_a_person(cell: Cell) -> None:
    families = [*SITUATIONS["families"], *({"asks": asks} for asks in SITUATIONS["moments"].values())]
    labels = [label for family in families for _, _, label in family["asks"]]
    assert min(labels.count(True), labels.count(False)) > 40
    found = dict([*placed(cell), *grasped(cell)])
    wrong = {name: answers for name, answers in found.items() if answers}
    assert len(found) >= 100
    assert set(wrong) == EXPLAINED, wrong
    assert len(wrong) <= 0.02 * len(found)
