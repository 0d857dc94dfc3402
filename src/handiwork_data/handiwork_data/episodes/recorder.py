"""Samples of an episode, taken by the time of the world."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from conditionals_node.expressions.build import Condition
from handiwork_core.contracts.skill import Progress
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.kinematics import link_poses
from handiwork_data.lock_step.cell import LockStepCell
from handiwork_data.lock_step.condition_port import CellMonitor

from .episode import Column, StageSpan

HALF_TICK_S = 0.01


class StateRecorder:
    """Takes samples of a cell at a fixed rate.

    Args:
        cell: The cell.
        monitor: Watches the conditions.
        conditions: The conditions whose values are recorded.
        rate_hz: Samples a second.
    """

    def __init__(
        self, cell: LockStepCell, monitor: CellMonitor, conditions: Sequence[Condition], rate_hz: int
    ) -> None:
        self._cell, self._monitor = cell, monitor
        self._step_s, self._begin_s = 1.0 / rate_hz, cell.now_s()
        self._due_s = self._begin_s
        self.joints = tuple(cell.sim.world.joint_names)
        self.arms = tuple(cell.robot.arms)
        self.objects = tuple(cell.objects)
        self._index = {name: i for i, name in enumerate(self.joints)}
        self._rows: dict[str, list[Array]] = {}
        self._contacts: list[tuple[int, str, str, float]] = []
        self._stages: list[tuple[str, str, str, float]] = []
        for condition in conditions:
            monitor.watch(condition)

    def sample(self) -> None:
        """Take a sample if one is due. Called at every tick of the cell."""
        now_s = self._cell.now_s()
        if now_s + HALF_TICK_S < self._due_s:
            return
        self._due_s += self._step_s
        sim, world = self._cell.sim, self._cell.snapshot()
        measured = sim.world.joints()
        states = [world.states[name].world_T_object for name in self.objects]
        shown = self._monitor.update()
        number = len(self._rows.get("time", ()))
        for name, value in {
            "time": np.array(now_s - self._begin_s),
            "joint_position": measured.position,
            "joint_velocity": measured.velocity,
            "joint_effort": measured.effort,
            "joint_command": (asked := sim.world.references()),
            "ee_pose": np.array([as_row(pose) for pose in self._ee_poses(world.joints.position)]),
            "gripper_width": self._widths(measured.position, is_commanded=False),
            "gripper_command": self._widths(asked, is_commanded=True),
            "object_pose": np.array([as_row(pose) for pose in states]).reshape(-1, 7),
            "condition_value": np.array([int(one.finding.truth) for one in shown], dtype=np.int8),
            "condition_margin": np.array([one.finding.margin for one in shown]),
            "stage": np.array(len(self._stages) - 1),
        }.items():
            self._rows.setdefault(name, []).append(value)
        for contact in world.contacts or ():
            force_n = float(np.linalg.norm(contact.force_on_a_n))
            self._contacts.append((number, contact.a, contact.b, force_n))

    def note(self, skill: str, arm: str, progress: Progress) -> None:
        """Note that a stage is under way.

        Args:
            skill: Name of the skill.
            arm: Name of its arm.
            progress: Its progress.
        """
        if not self._stages or self._stages[-1][:3] != (skill, arm, progress.stage):
            self._stages.append((skill, arm, progress.stage, self._cell.now_s() - self._begin_s))

    def stages(self) -> tuple[StageSpan, ...]:
        """Return the stages up to now; each ends where the next one begins."""
        ends = [*(begin for *_, begin in self._stages[1:]), self._cell.now_s() - self._begin_s]
        return tuple(StageSpan(*one, end_s=end) for one, end in zip(self._stages, ends, strict=True))

    def columns(self) -> dict[str, Column]:
        """Return the samples by name."""
        made: dict[str, Column] = {}
        for name, rows in self._rows.items():
            column = np.array(rows)
            made[name] = column.astype(np.float64) if column.dtype.kind == "f" else column
        made["stage"] = made["stage"].astype(np.int32)
        made["contact_sample"] = np.array([one[0] for one in self._contacts], dtype=np.int32)
        made["contact_bodies"] = np.array([one[1:3] for one in self._contacts], dtype=str).reshape(-1, 2)
        made["contact_force"] = np.array([one[3] for one in self._contacts], dtype=np.float64)
        return made

    def _ee_poses(self, joints: Mapping[str, float]) -> list[Pose]:
        links = tuple(arm.ee_link for arm in self._cell.robot.arms.values())
        poses = link_poses(self._cell.robot, joints, links)
        return [self._cell.scene.world_T_base @ poses[link] for link in links]

    def _widths(self, joints: Array, *, is_commanded: bool) -> Array:
        """Return the opening of each arm's gripper at joint positions of the simulation; nan without a gripper.

        A cup is closed, at its smallest width, when it has a seal; commanded, when it is on.
        """
        found, cups = [], self._cell.sim.world.cups
        for gripper in (self._cell.robot.arms[arm].gripper for arm in self.arms):
            if gripper is None:
                found.append(math.nan)
            elif gripper.suction is None:
                found.append(gripper.width(joints[self._index[gripper.joint]]))
            else:
                cup = cups[gripper.name]
                is_closed = cup.on if is_commanded else bool(cup.object)
                found.append(gripper.min_width_m if is_closed else gripper.max_width_m)
        return np.array(found)


def as_row(pose: Pose) -> Array:
    """Return a pose as x, y, z, m, and the quaternion w, x, y, z, (7,).

    Args:
        pose: The pose.
    """
    return np.concatenate([pose.translation_m, pose.rotation.wxyz])
