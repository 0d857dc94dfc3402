"""Notices while carrying that the object is gone from the hand."""

from __future__ import annotations

from handiwork_core.outcome import Code, Outcome
from handiwork_core.skill import Context, StepFailed

from . import grip

LOST_AFTER_S = 0.2
"""Time of the robot's world without any finger in contact, after which the object counts as dropped."""


class CarryWatch:
    """Looks at each new contact report.

    Cheap enough to be asked all the time from the thread that follows a trajectory.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._touched_s = float("-inf")
        self._name = ""
        self.on = True

    def dropped(self) -> bool:
        """True once the held object has not been touched for ``LOST_AFTER_S``."""
        gripper, name = self._context.arm_spec.gripper, next(iter(self._context.held), "")
        if not self.on or gripper is None or not name:
            return False
        world = self._context.world.snapshot()
        if world.contacts is None:
            return grip.width_m(world, gripper) < gripper.min_width_m + grip.EMPTY_WIDTH_M
        if name != self._name or grip.touching_fingers(world, self._context.robot, gripper, name):
            self._name, self._touched_s = name, world.contacts_stamp_s
        return world.contacts_stamp_s - self._touched_s > LOST_AFTER_S

    def check(self, stage: str) -> None:
        """Raise StepFailed with OBJECT_DROPPED, and forget the object, once it is gone."""
        if self.dropped():
            name = next(iter(self._context.held))
            del self._context.held[name]
            text = f"{name!r} fell out of the hand: no finger has touched it for {LOST_AFTER_S:g} s; pick it again"
            raise StepFailed(Outcome(Code.OBJECT_DROPPED, text, stage))
