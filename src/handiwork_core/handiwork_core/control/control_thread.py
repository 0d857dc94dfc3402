"""The one thread that a plant's controllers belong to, as the rest of a node sees it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

from handiwork_core.control.drivers import ArmDriver, GripperDriver
from handiwork_core.control.goal_slot import GoalSlot
from handiwork_core.control.gripper_controller import GripperGoal, GripperResult
from handiwork_core.control.joint_groups import Plant
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


def done_now(work: Callable[[], T]) -> Future[T]:
    """Run ``work`` at once, on the calling thread."""
    future: Future[T] = Future()
    try:
        future.set_result(work())
    except Exception as error:  # noqa: BLE001 handed on to who waits
        future.set_exception(error)
    return future


def works(thread: ControlThread, name: str) -> bool:
    """Whether an arm, a base or a gripper has a goal without a result."""
    slots = (slots[name] for slots in (thread.arms, thread.grippers) if name in slots)
    return any(slot.busy for slot in slots)


def slots_of(plant: Plant) -> tuple[ArmSlots, GripperSlots]:
    """A goal slot for each arm and each gripper."""
    arms: ArmSlots = {name: GoalSlot(ArmDriver(plant, name)) for name in plant.arms}
    grippers: GripperSlots = {name: GoalSlot(GripperDriver(plant, name)) for name in plant.grippers}
    return arms, grippers
