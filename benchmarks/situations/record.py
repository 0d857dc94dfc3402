"""Settles each situation in MuJoCo, and records its state."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from conditionals_node.scoring.situations import DATA, load_bodies, load_families, scenes_of
from handiwork_core.control.gripper_controller import GripperGoal
from handiwork_core.control.trajectory_controller import Ending
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.robot.robot import Robot
from handiwork_core.scene.loader import Scene
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation

sys.path.insert(0, str(Path(__file__).parents[2] / "test"))  # the motions of the tests
from support.cells.arm_motion import grasp_pose, move, solve_ik

SETTLE_S = 1.0
"""Time of physics before a situation is recorded, unless it says otherwise, s."""
WIDE_M, SHUT_M = 0.04, 0.0
"""Positions of the fingers, m."""


def pose_of(numbers: Sequence[float]) -> Pose:
    """Return a pose from x, y, z [m] and roll, pitch, yaw [deg]; angles that are left out are 0.

    Args:
        numbers: Three to six numbers.
    """
    x, y, z, roll, pitch, yaw = [*numbers, 0.0, 0.0, 0.0][:6]
    return Pose.of((x, y, z), Rotation.from_rpy(*np.radians((roll, pitch, yaw))))


def scene_with(places: Mapping[str, Sequence[float]]) -> Scene:
    """Return a scene with some of the bodies.

    Args:
        places: Poses by name, see ``pose_of``. The table is there without being named.

    Raises:
        KeyError: There is no such body.
    """
    bodies = load_bodies()
    by_name = {item.name: item for item in bodies.objects}
    objects = [replace(by_name[name], world_T_object=pose_of(numbers)) for name, numbers in places.items()]
    return replace(bodies, objects=(by_name["table"], *objects))


class Recorder:
    """Sets situations up, lets them settle, and takes their state.

    Args:
        robot: The robot beside the table.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot, self._arm = robot, robot.arm("")
        self._q = self._arm.home_q
        self.sim = Simulation(robot, scene_with({}))

    def settle(self, entry: Mapping[str, Any]) -> None:
        """Set a situation up, let the hand act, and let everything settle.

        Args:
            entry: The situation as written, see ``situations.scenes_of``.
        """
        self.sim.reset(scene_with(entry["at"]))
        self._q = self._arm.home_q
        for name, numbers in entry.get("speed", {}).items():
            linear, angular = np.array(numbers[:3]), np.radians([*numbers[3:], 0.0, 0.0, 0.0][:3])
            self.sim.world.set_object_state(name, pose_of(entry["at"][name]), linear, angular)
        for step in entry.get("hand", ()):
            self.act(step)
        self.sim.advance(max(1, round(entry.get("settle", SETTLE_S) / CONTROL_S)))

    def act(self, step: float | str | Sequence[float]) -> None:
        """Do one step of the hand.

        Args:
            step: "open", "close", a time to wait [s], or x, y, z [m] and yaw [deg] of the fingertips.

        Raises:
            RuntimeError: The arm cannot follow.
        """
        if isinstance(step, (int, float)):
            self.sim.advance(round(step / CONTROL_S))
        elif isinstance(step, str):
            self.grip({"open": WIDE_M, "close": SHUT_M}[step])
        else:
            *point, yaw = step
            target = grasp_pose(self._robot, self._arm, np.array(point), np.radians(yaw))
            self.follow(solve_ik(self._robot, self._arm, target, self._q))

    def follow(self, end: Array) -> None:
        """Move the arm.

        Args:
            end: Joint positions, (dof,), rad.

        Raises:
            RuntimeError: The arm cannot follow.
        """
        controller = self.sim.arms[self._arm.name].controller
        speed = float(np.clip(3.0 * np.abs(end - self._q).max(), 0.05, 1.0))  # short ways would jerk
        controller.start(move(self._arm, self._q, end, speed), self.sim.measured(self._arm.name))
        while controller.busy:
            self.sim.advance(1)
        if controller.result is None or controller.result.ending is not Ending.SUCCEEDED:
            raise RuntimeError(f"the arm cannot follow: {controller.result}")
        self._q = end

    def grip(self, position: float) -> None:
        """Move the fingers.

        Args:
            position: Position of each finger, m; 0 is closed.
        """
        (gripper,) = self.sim.grippers.values()
        gripper.controller.start(GripperGoal(position), self.sim.world.joints().position[gripper.indices[0]])
        while gripper.controller.busy:
            self.sim.advance(1)

    def state(self, with_arm: bool) -> dict[str, Any]:
        """Return the present state, see ``situations.world_of``.

        Args:
            with_arm: True to have the joints of the arm too, beside that of the gripper.
        """
        world = self.sim.world
        gripper = self._arm.gripper
        assert gripper is not None
        objects = {
            name: rounded((*one.world_T_object.translation_m, *one.world_T_object.rotation.wxyz), 6)
            + rounded((*one.world_v_object, *one.world_w_object), 5)
            for name, one in world.object_states().items()
        }
        contacts = [
            [one.a, one.b, *rounded(one.force_on_a_n, 4), *rounded(one.point_m, 5)]
            for one in world.contacts()
            if np.linalg.norm(one.force_on_a_n) > 1e-4
        ]
        names = (*self._arm.joint_names, gripper.joint) if with_arm else (gripper.joint,)
        positions = rounded(world.joints().position[world.indices(names)], 6)
        return {"objects": objects, "contacts": contacts, "joints": dict(zip(names, positions, strict=True))}


def rounded(numbers: Sequence[float] | Array, digits: int) -> list[float]:
    """Return numbers with so many digits after the point; no negative zeros.

    Args:
        numbers: The numbers.
        digits: The digits.
    """
    return [round(float(number), digits) + 0.0 for number in numbers]


def record(robot: Robot, only: str = "") -> int:
    """Record the states of all situations.

    Args:
        robot: The robot.
        only: Beginning of the keys that are recorded again; the other states are kept. Empty: all.

    Returns:
        The number of situations.

    Raises:
        RuntimeError: The arm cannot follow in some situations, which are left out.
    """
    path, recorder = DATA / "states.json", Recorder(robot)
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    states, faults = {}, []
    for family in load_families():
        for key, entry in scenes_of(family):
            if not key.startswith(only) and key in kept:
                states[key] = kept[key]
                continue
            try:
                recorder.settle(entry)
            except (RuntimeError, AssertionError) as error:
                faults.append(f"{key}: {error}")
                continue
            states[key] = recorder.state("hand" in entry)
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(state)}" for key, state in states.items())
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    if faults:
        raise RuntimeError("\n".join(faults))
    return len(states)
