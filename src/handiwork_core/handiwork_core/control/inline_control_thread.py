"""A control thread for a node that receives measurements and goals on one thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from handiwork_core.control.control_thread import done_now, slots_of, works
from handiwork_core.control.joint_groups import Plant

T = TypeVar("T")
P = TypeVar("P", bound=Plant)


class SameThread(Generic[P]):
    """The goals of a plant, on the executor's thread, which also receives the measurements.

    Args:
        robot: The plant.
    """

    def __init__(self, robot: P) -> None:
        self.plant = robot
        self.arms, self.grippers = slots_of(robot)

    @property
    def idle(self) -> bool:
        """True while no goal is without a result."""
        arms = any(slot.busy for slot in self.arms.values())
        return not arms and not any(slot.busy for slot in self.grippers.values())

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Run ``work`` now.

        Args:
            work: A function without arguments.

        Returns:
            A future that is done.
        """
        return done_now(work)

    def works(self, name: str) -> bool:
        """Check whether an arm, a base or a gripper follows a goal.

        Args:
            name: Its name.

        Returns:
            True while it has a goal without a result.
        """
        return works(self, name)

    def poll(self) -> None:
        """Pass results on; call it after every measurement."""
        for arm in self.arms.values():
            arm.poll()
        for gripper in self.grippers.values():
            gripper.poll()

    def abort(self, message: str) -> None:
        """End all goals; the joints come to rest if the robot still answers.

        Args:
            message: The reason in words.
        """
        for arm in self.arms.values():
            arm.abort(message)
        for gripper in self.grippers.values():
            gripper.abort(message)

    def release(self) -> None:
        """End goals that are being stopped, of a robot that does not answer."""
        for arm in self.arms.values():
            arm.release()
        for gripper in self.grippers.values():
            gripper.release()
