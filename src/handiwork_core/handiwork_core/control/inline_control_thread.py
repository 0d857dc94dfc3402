"""A control thread for a node whose measurements and goals come on one thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from handiwork_core.control.control_thread import done_now, slots_of, works
from handiwork_core.control.joint_groups import Plant

T = TypeVar("T")
P = TypeVar("P", bound=Plant)


class SameThread(Generic[P]):
    """The goals of a plant, on the executor's thread: measurements come there, and so do goals."""

    def __init__(self, robot: P) -> None:
        self.plant = robot
        self.arms, self.grippers = slots_of(robot)

    @property
    def idle(self) -> bool:
        """True while no goal is without a result."""
        arms = any(slot.busy for slot in self.arms.values())
        return not arms and not any(slot.busy for slot in self.grippers.values())

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Do it now."""
        return done_now(work)

    def works(self, name: str) -> bool:
        """Whether an arm, a base or a gripper follows a goal."""
        return works(self, name)

    def poll(self) -> None:
        """Pass results on; after every measurement."""
        for arm in self.arms.values():
            arm.poll()
        for gripper in self.grippers.values():
            gripper.poll()

    def abort(self, message: str) -> None:
        """End all goals, to rest where the robot still answers."""
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
