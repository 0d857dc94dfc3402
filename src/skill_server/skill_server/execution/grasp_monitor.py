"""Notices while carrying that the object is gone from the hand, and notes all the time how fast things move."""

from __future__ import annotations

from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from skill_server.state import gripper_state

from .execution_state import ExecutionState

LOST_AFTER_S = 0.1
"""Time of the robot's world without any finger in contact, after which the object counts as dropped."""
LOST_REPORTS = 2
"""Reports of contacts in a row that must miss it: a fast simulation sends few."""
GONE_M, HAND_MPS = 0.1, 2.0
"""An object this far from its place in the hand counts as dropped at once; the hand may have moved this fast between
the reports of joints and of objects, which do not come together."""


class GraspMonitor:
    """Looks at each new contact report, while the state says that what is held must stay in the hand.

    Cheap enough to be asked all the time from the thread that follows a trajectory.
    """

    def __init__(self, context: Context, state: ExecutionState) -> None:
        self._context, self._state = context, state
        self._touched_s = self._seen_s = float("-inf")
        self._missed = 0
        self._name = ""

    def dropped(self) -> bool:
        """True once the held object has not been touched for ``LOST_AFTER_S``. Notes how fast everything is."""
        world = self._context.world.snapshot()
        self._context.fastest.see(world)
        gripper, name = self._context.arm_spec.gripper, next(iter(self._context.held), "")
        if not self._state.keeps_hold or gripper is None or not name:
            return False
        if world.contacts is None and gripper.suction is None:
            return gripper_state.width_m(world, gripper) < gripper.min_width_m + gripper_state.EMPTY_WIDTH_M
        heard_s = gripper_state.stamp_s(world, gripper)
        if name != self._name or gripper_state.touching_fingers(world, self._context.robot, gripper, name):
            self._name, self._touched_s, self._missed = name, heard_s, 0
        elif heard_s > self._seen_s:
            self._missed += 1
        self._seen_s = heard_s
        silent = self._missed >= LOST_REPORTS and heard_s - self._touched_s > LOST_AFTER_S
        return silent or self._is_gone(world, name)

    def _is_gone(self, world: World, name: str) -> bool:
        context = self._context
        if name not in world.states:
            return True
        world_T_base = context.world.world_T_base()
        driven = context.robot.base is not None
        if driven and context.world.snapshot().joints.stamp_s != world.joints.stamp_s:
            return False  # the base went on between the two looks: the next ones tell
        here = gripper_state.attachment(world, context.robot, context.arm_spec, world_T_base, name)
        apart_s = abs(world.joints.stamp_s - world.states[name].stamp_s)
        moved_m = context.held[name].link_T_object.distance_to(here.link_T_object)[0]
        return moved_m > GONE_M + HAND_MPS * apart_s

    def check(self, stage: str) -> None:
        """Forget the held object once it is gone.

        Args:
            stage: Stage of the command, for the failure.

        Raises:
            StepFailed: OBJECT_DROPPED, when it is gone.
        """
        if self.dropped():
            name = next(iter(self._context.held))
            del self._context.held[name]
            item = self._context.world.snapshot().objects.get(name)
            lost = "fell out of the hand; pick it again"
            if item is not None and item.articulation is not None:
                lost = "slipped from the hand; send the goal again, slower or at another part of its handle"
            text = f"{name!r} {lost}"
            raise StepFailed(Outcome(Code.OBJECT_DROPPED, text, stage))
