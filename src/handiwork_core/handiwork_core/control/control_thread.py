"""The one thread that a plant's controllers belong to, as the rest of a node sees it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

from handiwork_core.control.axes import Plant
from handiwork_core.control.drivers import ArmDriver, GripperDriver
from handiwork_core.control.goal_slot import GoalSlot
from handiwork_core.control.gripper_controller import GripperGoal, GripperResult
from handiwork_core.control.trajectory_controller import TrajectoryResult
from handiwork_core.control.trajectory_goal import TrajectoryGoal

ArmSlots = dict[str, GoalSlot[TrajectoryGoal, TrajectoryResult]]
GripperSlots = dict[str, GoalSlot[GripperGoal, GripperResult]]

T = TypeVar("T")


class ControlThread(Protocol):
    """Owns a plant and its goals; others hand work in with ``submit``."""

    arms: ArmSlots
    grippers: GripperSlots

    @property
    def plant(self) -> Plant:
        """What it moves."""
        ...

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Run ``work`` on this thread soon; from any thread."""
        ...


def slots_of(plant: Plant) -> tuple[ArmSlots, GripperSlots]:
    """A goal slot for each arm and each gripper."""
    arms: ArmSlots = {name: GoalSlot(ArmDriver(plant, name)) for name in plant.arms}
    grippers: GripperSlots = {name: GoalSlot(GripperDriver(plant, name)) for name in plant.grippers}
    return arms, grippers
