"""The interface to the one thread that owns a plant's controllers, for the rest of a node."""

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
    """Owns a plant and its goals; other threads hand over work with ``submit``."""

    arms: ArmSlots
    grippers: GripperSlots

    @property
    def plant(self) -> Plant:
        """The plant that it controls."""
        ...

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Run ``work`` on this thread soon; may be called from any thread.

        Args:
            work: A function without arguments.

        Returns:
            The future result of ``work``.
        """
        ...


def done_now(work: Callable[[], T]) -> Future[T]:
    """Run ``work`` at once, on the calling thread.

    Args:
        work: A function without arguments.

    Returns:
        A future that is done; it has the result or the exception of ``work``.
    """
    future: Future[T] = Future()
    try:
        future.set_result(work())
    except Exception as error:  # noqa: BLE001 the future raises it
        future.set_exception(error)
    return future


def works(thread: ControlThread, name: str) -> bool:
    """Check whether an arm, a base or a gripper has a goal without a result.

    Args:
        thread: The thread that owns the goals.
        name: Name of the arm, base or gripper.

    Returns:
        True while it has one; False for an unknown name.
    """
    slots = (slots[name] for slots in (thread.arms, thread.grippers) if name in slots)
    return any(slot.busy for slot in slots)


def slots_of(plant: Plant) -> tuple[ArmSlots, GripperSlots]:
    """Return a goal slot for each arm and each gripper.

    Args:
        plant: The plant.

    Returns:
        Slots of the arms and the base, and slots of the grippers, by name.
    """
    arms: ArmSlots = {name: GoalSlot(ArmDriver(plant, name)) for name in plant.arms}
    grippers: GripperSlots = {name: GoalSlot(GripperDriver(plant, name)) for name in plant.grippers}
    return arms, grippers
