"""A control thread (``handiwork_core.control.control_thread``) for whom one thread does all. No ROS."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from handiwork_core.control.control_thread import slots_of
from isaac_bridge.adapter.wired_robot import WiredRobot

T = TypeVar("T")


class SameThread:
    """The robot's goals, on the executor's thread: measurements come there, and so do goals."""

    def __init__(self, robot: WiredRobot) -> None:
        self.plant = robot
        self.arms, self.grippers = slots_of(robot)

    @property
    def idle(self) -> bool:
        """True while no goal is without a result."""
        arms = any(slot.busy for slot in self.arms.values())
        return not arms and not any(slot.busy for slot in self.grippers.values())

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Do it now."""
        future: Future[T] = Future()
        try:
            future.set_result(work())
        except Exception as error:  # noqa: BLE001 handed on to who waits
            future.set_exception(error)
        return future

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
